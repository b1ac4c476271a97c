//! A summary for people: a narrow column of names and a wide one of texts.

use crate::escape::escape;
use crate::screen::Paint;

/// Width of the names.
const COLUMN: usize = 11;
/// Width of the texts.
const WIDTH: usize = 100;

/// One line of a summary, or several if its text is long.
pub fn row(paint: &Paint, name: &str, text: &str) -> String {
    block(paint, name, &wrapped(&escape(text), WIDTH))
}

/// A name and lines, all but the first indented to the column of texts.
pub fn block(paint: &Paint, name: &str, lines: &[String]) -> String {
    format!("{} {}\n", paint.dim(&format!("{name:<COLUMN$}")), lines.join(&format!("\n{:COLUMN$} ", "")))
}

/// Lines of at most so many characters, unless a word is longer.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let (mut lines, mut length) = (vec![String::new()], 0);
    for word in text.split(' ') {
        let wide = word.chars().count();
        if length > 0 && length + 1 + wide > width {
            lines.push(String::new());
            length = 0;
        }
        let line = lines.last_mut().expect("there is a first line");
        if length > 0 {
            line.push(' ');
            length += 1;
        }
        line.push_str(word);
        length += wide;
    }
    lines
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
