//! Text from files and from outside must not steer a terminal.

/// The text with every control character made visible; tabs become blanks.
pub fn escape(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' => '\n',
        '\t' => ' ',
        // Marks that reorder text could make it read as something else.
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => '\u{FFFD}',
        c if c.is_control() => '\u{FFFD}',
        c => c,
    };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_do_not_pass() {
        assert_eq!(escape("a\x1b[31mb\u{9b}c\u{202E}\td\ne"), "a\u{FFFD}[31mb\u{FFFD}c\u{FFFD} d\ne");
    }
}
