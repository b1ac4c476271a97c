//! A writer of HTML in which text from files cannot become markup.

use std::fmt::Write as _;

/// A piece of a page. Markup is written in the program; everything else goes through [`text`](Self::text).
#[derive(Clone, Debug, Default)]
pub(super) struct Html(String);

impl Html {
    pub fn new() -> Self {
        Self::default()
    }

    /// Markup; only what stands in the source of this program.
    pub fn markup(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Text of any origin.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.0.push_str(&escape(text));
        self
    }

    /// An element around text.
    pub fn element(&mut self, name: &'static str, text: &str) -> &mut Self {
        let text = escape(text);
        write!(self.0, "<{name}>{text}</{name}>").expect("writing to a string");
        self
    }

    /// An attribute after markup that ends inside of a tag: ` name="value"`.
    pub fn attribute(&mut self, name: &'static str, value: &str) -> &mut Self {
        let value = escape(value);
        write!(self.0, " {name}=\"{value}\"").expect("writing to a string");
        self
    }

    /// A picture that [`super::inline`] has looked through.
    pub fn picture(&mut self, picture: &super::inline::Picture) -> &mut Self {
        self.0.push_str(picture.as_str());
        self
    }

    pub fn append(&mut self, other: &Self) -> &mut Self {
        self.0.push_str(&other.0);
        self
    }

    /// A row of a table: the first cell names it.
    pub fn row(&mut self, name: &str, value: &str) -> &mut Self {
        self.markup("<tr><th scope=\"row\">").text(name).markup("</th><td>").text(value).markup("</td></tr>\n")
    }

    /// A table with a header.
    pub fn table(&mut self, caption: &str, header: &[&str], rows: &[Vec<String>]) -> &mut Self {
        self.markup("<div class=\"scroll\"><table>").element("caption", caption).markup("<thead><tr>");
        for name in header {
            self.markup("<th scope=\"col\">").text(name).markup("</th>");
        }
        self.markup("</tr></thead><tbody>\n");
        for row in rows {
            self.markup("<tr>");
            for cell in row {
                self.element("td", cell);
            }
            self.markup("</tr>\n");
        }
        self.markup("</tbody></table></div>\n")
    }

    /// Commands, one per line.
    pub fn commands(&mut self, lines: &[String]) -> &mut Self {
        self.markup("<pre>").text(&lines.join("\n")).markup("</pre>\n")
    }

    pub fn finish(self) -> String {
        self.0
    }
}

/// Markup becomes text; control characters and marks that reorder text become visible.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => {
                out.push('\u{FFFD}');
            }
            c if c.is_control() => out.push('\u{FFFD}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        let mut page = Html::new();
        page.element("p", "<script>alert('x')</script> & \"\u{1b}\u{202E}").attribute("title", "\" onload=\"x");
        let page = page.finish();
        assert!(!page.contains("<script") && !page.contains("onload=\"") && !page.contains('\u{202E}'), "{page}");
        assert!(page.starts_with("<p>&lt;script&gt;alert(&#39;x&#39;)"), "{page}");
    }
}
