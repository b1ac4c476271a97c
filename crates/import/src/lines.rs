//! Lines of words, as DARPA's files have them, without comments.

use anabranch_roads::report::{Notes, Span};

/// A word and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<'t> {
    pub text: &'t str,
    pub span: Span,
}

/// A line with at least one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line<'t> {
    pub words: Vec<Word<'t>>,
}

/// All lines that say something.
pub(crate) fn lines(text: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut words: Vec<Word<'_>> = Vec::new();
    let (mut at, mut start, mut comment) = (0, None, false);
    let bytes = text.as_bytes();
    while at <= bytes.len() {
        let rest = &bytes[at..];
        let opens = !comment && rest.starts_with(b"/*");
        let is_end = rest.is_empty() || rest[0] == b'\n';
        if opens || comment || rest.is_empty() || rest[0].is_ascii_whitespace() {
            if let Some(start) = start.take() {
                words.push(Word { text: &text[start..at], span: Span { start, end: at } });
            }
        } else if start.is_none() {
            start = Some(at);
        }
        if is_end && !words.is_empty() {
            lines.push(Line { words: std::mem::take(&mut words) });
        }
        let closes = comment && rest.starts_with(b"*/");
        comment = (comment || opens) && !closes;
        at += if opens || closes { 2 } else { 1 };
    }
    lines
}

impl<'t> Line<'t> {
    /// Its first word.
    pub fn key(&self) -> &'t str {
        self.words[0].text
    }
    /// From its first word to its last.
    pub fn span(&self) -> Span {
        Span { start: self.words[0].span.start, end: self.words[self.words.len() - 1].span.end }
    }
    /// The words behind the first, if there are exactly so many.
    pub fn values<const N: usize>(&self, notes: &mut Notes<'_>) -> Option<[Word<'t>; N]> {
        let values = <[Word<'t>; N]>::try_from(&self.words[1..]).ok();
        if values.is_none() {
            let message = format!("`{}` has {} value(s) here, not {N}", self.key(), self.words.len() - 1);
            notes.add("E0702", self.span(), message, "compare with the other lines of this kind");
        }
        values
    }
}

impl Word<'_> {
    /// As a whole number from 0 on.
    pub fn count(self, notes: &mut Notes<'_>) -> Option<usize> {
        let number = self.text.parse::<u32>().ok().map(|number| number as usize);
        if number.is_none() {
            notes.add("E0703", self.span, format!("`{}` is not a whole number", self.text), "write digits only");
        }
        number
    }
    /// As a number between two limits.
    pub fn real(self, low: f64, high: f64, notes: &mut Notes<'_>) -> Option<f64> {
        let number = self.text.parse::<f64>().ok().filter(|number| number.is_finite());
        let Some(number) = number else {
            notes.add("E0703", self.span, format!("`{}` is not a number", self.text), "write an ordinary number");
            return None;
        };
        if !(low..=high).contains(&number) {
            let help = format!("it lies between {low} and {high}");
            notes.add("E0709", self.span, format!("{number} is out of range"), help);
            return None;
        }
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_left_out_wherever_they_are() {
        let text = "a 1 /* b\nc */ 2\n\n/* d */\r\n e\t3/*f*/4\nend";
        let read: Vec<Vec<&str>> =
            lines(text).iter().map(|line| line.words.iter().map(|word| word.text).collect()).collect();
        assert_eq!(read, [vec!["a", "1"], vec!["2"], vec!["e", "3", "4"], vec!["end"]]);
        let first = &lines(text)[1];
        assert_eq!(&text[first.words[0].span.start..first.words[0].span.end], "2");
    }
}
