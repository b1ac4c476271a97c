//! Text to tokens. Every byte belongs to exactly one token, blanks and comments included.

use super::Span;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Blanks and line ends.
    Space,
    /// `// …` or `/* … */`.
    Comment,
    /// A name or a word of the language; also `°` and `°C`.
    Word,
    /// `1`, `1.5`, `1e-3`, `1'655`.
    Number,
    /// `"…"`.
    Text,
    /// An operator or a bracket.
    Sign(&'static str),
    /// A character that means nothing here.
    Unknown,
    /// After the last byte.
    End,
}

/// A piece of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where it is.
    pub span: Span,
}

/// Signs, longer ones first.
const SIGNS: [&str; 47] = [
    "+/-", "...", "->", "=>", "==", "!=", "~=", "<=", ">=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", ".*", "./",
    ".^", ".'", "::", "{", "}", "(", ")", "[", "]", "<", ">", ",", ";", ":", ".", "=", "+", "-", "*", "/", "\\", "%",
    "^", "'", "!", "~", "|", "#",
];

/// Splits a text into tokens; together they are the text again.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(text.len() / 3 + 1);
    let mut at = 0;
    while at < text.len() {
        let (kind, length) = next(&text[at..]);
        tokens.push(Token { kind, span: Span::new(at, at + length) });
        at += length;
    }
    tokens.push(Token { kind: Kind::End, span: Span::new(at, at) });
    tokens
}

fn next(rest: &str) -> (Kind, usize) {
    let first = rest.chars().next().unwrap_or(' ');
    if first.is_whitespace() || first == '\u{feff}' {
        return (Kind::Space, run(rest, |c| c.is_whitespace() || c == '\u{feff}'));
    }
    if rest.starts_with("//") {
        return (Kind::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if let Some(inside) = rest.strip_prefix("/*") {
        return (Kind::Comment, inside.find("*/").map_or(rest.len(), |end| end + 4));
    }
    if first.is_ascii_digit() {
        return (Kind::Number, number(rest));
    }
    if first == '°' {
        return (Kind::Word, 2 + run(&rest[2..], |c| c == 'C' || c == 'F'));
    }
    if first.is_alphabetic() || first == '_' || first == '$' {
        return (Kind::Word, run(rest, |c| c.is_alphanumeric() || c == '_' || c == '$'));
    }
    if first == '"' {
        let line = rest[1..].find('\n').map_or(rest.len(), |end| end + 1);
        return (Kind::Text, rest[1..line].find('"').map_or(line, |end| end + 2));
    }
    match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        Some(sign) => (Kind::Sign(sign), sign.len()),
        None => (Kind::Unknown, first.len_utf8()),
    }
}

fn run(text: &str, keep: impl Fn(char) -> bool) -> usize {
    text.find(|c| !keep(c)).unwrap_or(text.len())
}

/// Length of the number at the beginning: digits in groups, a fraction, an exponent; or `0x1F`.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| from + bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    if matches!(bytes, [b'0', b'x' | b'X', first, ..] if first.is_ascii_hexdigit()) {
        return 2 + bytes[2..].iter().take_while(|b| b.is_ascii_hexdigit()).count();
    }
    let mut end = digits(0);
    while bytes.get(end) == Some(&b'\'') && digits(end + 1) == end + 4 {
        end += 4;
    }
    if bytes.get(end) == Some(&b'.') && digit(end + 1) {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if digit(end + 1 + sign) {
            end = digits(end + 1 + sign);
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        let all = tokens(text);
        assert_eq!(all.iter().map(|t| &text[t.span.range()]).collect::<String>(), text);
        let shown: Vec<&str> = all
            .iter()
            .filter(|t| !matches!(t.kind, Kind::Space | Kind::Comment | Kind::End))
            .map(|t| &text[t.span.range()])
            .collect();
        assert_eq!(shown, expect);
    }

    #[test]
    fn numbers_words_and_signs_are_told_apart() {
        check("1'655 kg", &["1'655", "kg"]);
        check("0x1FFD:0x", &["0x1FFD", ":", "0", "x"]);
        check("a(1)'*2", &["a", "(", "1", ")", "'", "*", "2"]);
        check("1./x .* 3.5e-2", &["1", "./", "x", ".*", "3.5e-2"]);
        check("15.45° +/- 0.05°", &["15.45", "°", "+/-", "0.05", "°"]);
        check("a->b; // c\n/* d */ e", &["a", "->", "b", ";", "e"]);
        check("5m/s^2", &["5", "m", "/", "s", "^", "2"]);
        check("file::\"/a b\"", &["file", "::", "\"/a b\""]);
        check("/* open", &[]);
        check("a ¤ b", &["a", "¤", "b"]);
    }
}
