//! The frame of a page, and the limit of its size.

use super::PAGE_BYTES_MAX;
use super::html::Html;
use super::inline::Picture;

const HEAD: &str = include_str!("head.html");
const STYLE: &str = include_str!("style.css");
/// Room that is kept for texts; pictures share the rest.
const TEXT_BYTES: usize = 1_200_000;

/// Pictures and texts of a page, and what did not fit.
#[derive(Debug)]
pub(super) struct Budget {
    left: usize,
    pictures: usize,
    pub left_out: Vec<String>,
}

impl Budget {
    pub fn new() -> Self {
        Self { left: PAGE_BYTES_MAX - TEXT_BYTES - STYLE.len(), pictures: 0, left_out: Vec::new() }
    }

    /// Puts a picture with its caption, if it may stand there and there is room.
    pub fn figure(&mut self, out: &mut Html, name: &str, svg: &str, caption: &str) {
        self.pictures += 1;
        let Some(picture) = Picture::of(svg, self.pictures) else {
            self.left_out.push(format!("the picture {name}: it is not one that we drew"));
            return;
        };
        if picture.as_str().len() > self.left {
            let size = picture.as_str().len() / 1_000;
            self.left_out.push(format!("the picture {name}: {size} kB, see the file in the run folder"));
            return;
        }
        self.left -= picture.as_str().len();
        out.markup("<figure>").picture(&picture).element("figcaption", caption).markup("</figure>\n");
    }

    /// At most this much of a long text.
    pub fn text<'t>(&mut self, name: &str, text: &'t str, bytes_max: usize) -> &'t str {
        if text.len() <= bytes_max {
            return text;
        }
        let mut end = bytes_max;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.left_out.push(format!("the end of {name}: {} of {} kB are shown", end / 1_000, text.len() / 1_000));
        &text[..end]
    }
}

/// The whole file.
pub(super) fn frame(title: &str, body: &Html) -> String {
    let mut page = Html::new();
    // The head forbids to load or run anything, whatever a text manages to say.
    page.markup(HEAD)
        .element("title", title)
        .markup("\n<style>\n")
        .markup(STYLE)
        .markup("</style>\n</head>\n<body>\n<main>\n")
        .append(body)
        .markup("</main>\n</body>\n</html>\n");
    page.finish()
}

/// What did not fit, at the end of a page.
pub(super) fn left_out(out: &mut Html, budget: &Budget) {
    out.markup("<h2 id=\"left-out\">Left out of this page</h2>\n");
    if budget.left_out.is_empty() {
        out.element("p", "Nothing.");
        return;
    }
    out.markup("<ul>\n");
    for item in &budget.left_out {
        out.element("li", item);
    }
    out.markup("</ul>\n");
}
