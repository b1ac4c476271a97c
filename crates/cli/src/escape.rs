//! Text from files and from outside must not steer a terminal, nor look like a line that the program wrote.

/// Stands for a line break in a text that is shown on one line.
const BREAK: char = '⏎';

/// The text on one line, with every control character made visible; tabs become blanks.
pub fn escape(text: &str) -> String {
    text.chars().map(shown).collect()
}

/// As [`escape`], for texts that may have several lines: all but the first are indented.
pub fn escape_lines(text: &str) -> String {
    text.lines().map(escape).collect::<Vec<_>>().join("\n    ")
}

fn shown(c: char) -> char {
    match c {
        '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => BREAK,
        '\t' => ' ',
        // Marks that reorder text or take no room could make it read as something else.
        '\u{061C}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}' => {
            '\u{FFFD}'
        }
        c if c.is_control() => '\u{FFFD}',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_do_not_pass() {
        assert_eq!(escape("a\x1b[31mb\u{9b}c\u{202E}\td\u{200F}"), "a\u{FFFD}[31mb\u{FFFD}c\u{FFFD} d\u{FFFD}");
    }

    #[test]
    fn a_name_stays_on_its_line() {
        assert_eq!(escape("calm\nverdict  safe\r\u{2028}x"), "calm⏎verdict  safe⏎⏎x");
        assert_eq!(escape_lines("it said\r\nverdict  safe"), "it said\n    verdict  safe");
    }
}
