//! Pictures inside of a page: only drawings, no code and no addresses.

use roxmltree::Document;

/// Elements that our pictures are made of.
const ELEMENTS: [&str; 8] = ["svg", "title", "rect", "circle", "path", "text", "clipPath", "g"];
/// Attributes that our pictures have.
const ATTRIBUTES: [&str; 26] = [
    "width",
    "height",
    "viewBox",
    "role",
    "font-family",
    "x",
    "y",
    "cx",
    "cy",
    "r",
    "d",
    "fill",
    "fill-opacity",
    "stroke",
    "stroke-width",
    "stroke-opacity",
    "stroke-dasharray",
    "stroke-linejoin",
    "stroke-linecap",
    "font-size",
    "text-anchor",
    "transform",
    "id",
    "clip-path",
    "aria-label",
    "aria-hidden",
];

/// An SVG that may stand in a page.
#[derive(Clone, Debug)]
pub(super) struct Picture(String);

impl Picture {
    /// Looks through an SVG of a run folder, which somebody else may have written; `number` keeps the names of its parts
    /// apart from those of other pictures in the page.
    pub fn of(svg: &str, number: usize) -> Option<Self> {
        let document = Document::parse(svg).ok()?;
        let root = document.root_element();
        if root.tag_name().name() != "svg" || document.descendants().any(|node| node.is_pi()) {
            return None;
        }
        for node in document.descendants().filter(roxmltree::Node::is_element) {
            let known = ELEMENTS.contains(&node.tag_name().name());
            let fine = |attribute: roxmltree::Attribute<'_, '_>| {
                attribute.namespace().is_none()
                    && ATTRIBUTES.contains(&attribute.name())
                    && (!attribute.value().contains("url(") || attribute.value().starts_with("url(#clip"))
            };
            if !known || !node.attributes().all(fine) {
                return None;
            }
        }
        // From the root element on: what comes before may be a declaration of types.
        let body = &svg[root.range()];
        let body = body.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1);
        let named = body
            .replace("id=\"clip", &format!("id=\"p{number}-clip"))
            .replace("url(#clip", &format!("url(#p{number}-clip"));
        // Whoever wrote other names of spaces or entities did not draw this with us.
        let foreign = ["xmlns", "<!", "http:", "https:"].iter().any(|word| named.contains(word));
        (!foreign).then_some(Self(named))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{Levels, level_plot};

    #[test]
    fn our_pictures_pass_and_get_names_of_their_own() {
        let svg = level_plot(&Levels { title: "<b>".into(), rows: Vec::new() });
        let picture = Picture::of(&svg, 3).unwrap();
        assert!(picture.as_str().starts_with("<svg width") && !picture.as_str().contains("http"));
        let clipped = "<svg><clipPath id=\"clip1\"><rect/></clipPath><g clip-path=\"url(#clip1)\"/></svg>";
        assert!(Picture::of(clipped, 3).unwrap().as_str().contains("url(#p3-clip1)"));
    }

    #[test]
    fn code_and_addresses_do_not_pass() {
        for bad in [
            "<svg><script>alert(1)</script></svg>",
            "<svg onload=\"alert(1)\"/>",
            "<svg><image href=\"http://somewhere/x.png\"/></svg>",
            "<svg><rect fill=\"url(http://somewhere/x)\"/></svg>",
            "<svg><a xmlns:xlink=\"http://www.w3.org/1999/xlink\" xlink:href=\"x\"/></svg>",
            "<svg><foreignObject/></svg>",
            "<svg><style>@import 'x'</style></svg>",
            "<html/>",
            "<svg",
        ] {
            assert!(Picture::of(bad, 1).is_none(), "{bad}");
        }
    }
}
