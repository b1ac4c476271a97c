//! A summary for people: a narrow column of names and a wide one of texts.

use std::fmt::Write as _;

use crate::escape::escape;
use crate::screen::Paint;

/// Width of the names.
const COLUMN: usize = 11;
/// Width of the texts.
const WIDTH: usize = 100;

/// One line of a summary, or several if its text is long.
pub fn row(paint: &Paint, name: &str, text: &str) -> String {
    format!("{} {}\n", paint.dim(&format!("{name:<COLUMN$}")), wrapped(&escape(text)))
}

/// Lines of at most [`WIDTH`] characters, all but the first indented to the column of texts.
fn wrapped(text: &str) -> String {
    let mut out = String::new();
    let mut length = 0;
    for word in text.split(' ') {
        let wide = word.chars().count();
        if length > 0 && length + 1 + wide > WIDTH {
            let _ = write!(out, "\n{:COLUMN$} ", "");
            length = 0;
        } else if length > 0 {
            out.push(' ');
            length += 1;
        }
        out.push_str(word);
        length += wide;
    }
    out
}

#[cfg(test)]
mod tests {
    use anabranch_scenario::file::Colour;

    use super::*;

    #[test]
    fn long_texts_are_wrapped_under_themselves() {
        let text = row(&Paint(Colour::Off), "name", &"word ".repeat(30));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("name        word") && lines[1].starts_with("            word"), "{text}");
        assert!(lines.len() == 2 && lines.iter().all(|line| line.chars().count() <= COLUMN + 1 + WIDTH), "{text}");
    }
}
