//! What to try where a run has no answer.

use super::html::Html;
use super::source::Run;

/// One paragraph, one command or key, and what it would change, for each hint.
pub(super) fn put(out: &mut Html, run: &Run) {
    let hints = run.result["hints"].as_array().map_or(&[][..], Vec::as_slice);
    if hints.is_empty() {
        return;
    }
    out.markup("<h2 id=\"hints\">What to try</h2>\n");
    for hint in hints {
        let text = |key: &str| hint[key].as_str().unwrap_or_default().to_owned();
        out.element("p", &text("why")).markup("\n").commands(&[text("try")]);
        if let Some(effect) = hint["effect"].as_str() {
            out.markup("<p class=\"soft\">").text(effect).markup("</p>\n");
        }
    }
}
