//! Where something is written: spans into the texts a scenario was read from.

/// A piece of one of the texts a scenario was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// Number of the text: 0 is the file, the others are `--set` overrides in their order.
    pub source: u16,
    /// First byte.
    pub start: usize,
    /// First byte behind it.
    pub end: usize,
}

/// A value and where it was written. A default that nobody wrote points at its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located<T> {
    /// What was written, in SI units if it has a dimension.
    pub value: T,
    /// Where it was written.
    pub span: Span,
}

impl<T> Located<T> {
    /// A value with its place.
    pub const fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
    /// The same place with another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Located<U> {
        Located { value: change(self.value), span: self.span }
    }
}

/// A named text with its lines.
#[derive(Clone, Debug)]
pub struct Source {
    /// File name as the user gave it, or `--set`.
    pub name: String,
    /// The whole text.
    pub text: String,
    line_starts: Vec<usize>,
}

/// A place as a person counts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Characters up to the end of the span or of the line, at least 1.
    pub length: usize,
    /// The line without its end.
    pub text: String,
}

impl Source {
    /// A text with its name.
    pub fn new(name: &str, text: String) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(i, _)| i + 1);
        let line_starts = std::iter::once(0).chain(ends).collect();
        Self { name: name.to_owned(), line_starts, text }
    }

    /// Line, column and length of a range of bytes; ranges outside of the text or inside of a character are moved to
    /// the nearest place that exists.
    pub fn place(&self, start: usize, end: usize) -> Place {
        let start = self.text.floor_char_boundary(start);
        let line = self.line_starts.partition_point(|first| *first <= start);
        let first = self.line_starts[line - 1];
        let next = self.line_starts.get(line).copied().unwrap_or(self.text.len());
        let text = self.text[first..next].trim_end_matches(['\n', '\r']);
        let start = start.min(first + text.len());
        let end = self.text.floor_char_boundary(end).clamp(start, first + text.len());
        Place {
            line,
            column: self.text[first..start].chars().count() + 1,
            length: self.text[start..end].chars().count().max(1),
            text: text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_characters_and_clipped_to_the_line() {
        let source = Source::new("a.toml", "x = 1\r\nß = \"é\"\nlast".to_owned());
        let place = |start, end| {
            let place = source.place(start, end);
            (place.line, place.column, place.length, place.text)
        };
        assert_eq!(place(4, 5), (1, 5, 1, "x = 1".to_owned()));
        assert_eq!(place(12, 99), (2, 5, 3, "ß = \"é\"".to_owned()));
        assert_eq!(place(8, 9), (2, 1, 1, "ß = \"é\"".to_owned()));
        assert_eq!(place(99, 120), (3, 5, 1, "last".to_owned()));
    }
}
