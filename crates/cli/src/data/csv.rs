//! Rows of a CSV file with their lines.

use csv_core::{ReadRecordResult, Reader};

/// Most columns of a file.
const COLUMNS_MAX: usize = 65_536;

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Line of the file at which it begins, counted from 1.
    pub line: u64,
    /// Cells without the blanks around them.
    pub cells: Vec<String>,
}

/// What keeps a file from being read, and where: line and character, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Line.
    pub line: u64,
    /// Character of the line.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

/// All rows but empty ones.
pub fn records(text: &[u8]) -> Result<Vec<Record>, Unreadable> {
    let mut all = records_and_empty_lines(text)?;
    all.retain(|record| !record.cells.is_empty());
    Ok(all)
}

/// All rows; an empty line is one without cells. The line break at the end of the file begins no row.
pub fn records_and_empty_lines(text: &[u8]) -> Result<Vec<Record>, Unreadable> {
    if let Some(at) = open_quote(text) {
        let begins = text[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |line_end| line_end + 1);
        let column = 1 + String::from_utf8_lossy(&text[begins..at]).chars().count();
        let message = "the quote is never closed".to_owned();
        return Err(Unreadable { line: 1 + line_breaks(text[..at].iter()), column, message });
    }
    let mut reader = Reader::new();
    // No row is longer than the file.
    let (mut cells, mut ends) = (vec![0; text.len() + 1], vec![0; COLUMNS_MAX]);
    let (mut at, mut found) = (0, Vec::new());
    let (mut filled, mut ended, mut lines_before, mut line) = (0, 0, 0, 1);
    loop {
        let rest = &text[at..];
        if ended == 0 && filled == 0 {
            let breaks = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
            // The second half of a line break belongs to the row before.
            let half = u64::from(at > 0 && text[at - 1] == b'\r' && rest.first() == Some(&b'\n'));
            line = 1 + lines_before + line_breaks(breaks);
            found.extend((1 + lines_before + half..line).map(|line| Record { line, cells: Vec::new() }));
        }
        let (result, read, written, finished) = reader.read_record(rest, &mut cells[filled..], &mut ends[ended..]);
        lines_before += line_breaks(rest[..read].iter());
        (at, filled, ended) = (at + read, filled + written, ended + finished);
        let wrong = |message: String| Err(Unreadable { line, column: 1, message });
        match result {
            // Nothing more to read: the next round is told so by an empty rest.
            ReadRecordResult::InputEmpty => {}
            ReadRecordResult::OutputFull => return wrong("the row is longer than the file".to_owned()),
            ReadRecordResult::OutputEndsFull => return wrong(format!("more than {COLUMNS_MAX} cells in a row")),
            ReadRecordResult::Record => {
                found.push(Record { line, cells: split(&cells, &ends[..ended]) });
                (filled, ended) = (0, 0);
            }
            ReadRecordResult::End => return Ok(found),
        }
    }
}

/// The byte of a quote that is never closed. Only a quote at the beginning of a cell quotes; two inside are one.
fn open_quote(text: &[u8]) -> Option<usize> {
    let (mut open, mut begins, mut at) = (None, true, 0);
    while let Some(byte) = text.get(at) {
        match (open, byte) {
            (Some(_), b'"') if text.get(at + 1) == Some(&b'"') => at += 1,
            (Some(_), b'"') => open = None,
            (None, b'"') if begins => open = Some(at),
            _ => {}
        }
        begins = open.is_none() && matches!(byte, b',' | b'\n' | b'\r');
        at += 1;
    }
    open
}

fn line_breaks<'a>(bytes: impl Iterator<Item = &'a u8>) -> u64 {
    bytes.filter(|byte| **byte == b'\n').count() as u64
}

fn split(cells: &[u8], ends: &[usize]) -> Vec<String> {
    let mut from = 0;
    let cell = |&end: &usize| {
        let text = String::from_utf8_lossy(&cells[from..end]).trim().to_owned();
        from = end;
        text
    };
    ends.iter().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<(u64, Vec<String>)> {
        records(text.as_bytes()).unwrap().into_iter().map(|record| (record.line, record.cells)).collect()
    }

    #[test]
    fn rows_have_their_lines_and_cells_their_quotes_removed() {
        let found = rows("a, b \r\n1,\"x, \"\"y\"\"\"\n\"two\nlines\",\n3,4");
        let expect = [(1, ["a", "b"]), (2, ["1", "x, \"y\""]), (3, ["two\nlines", ""]), (5, ["3", "4"])];
        assert_eq!(found, expect.map(|(line, cells)| (line, cells.map(str::to_owned).to_vec())));
        assert!(rows("").is_empty());
        assert_eq!(rows("a\n\n\n1\n").last(), Some(&(4, vec!["1".to_owned()])));
    }

    #[test]
    fn empty_lines_are_rows_where_they_count_but_not_the_end_of_the_file() {
        let lines = |text: &str| -> Vec<(u64, usize)> {
            let all = records_and_empty_lines(text.as_bytes()).unwrap();
            all.iter().map(|record| (record.line, record.cells.len())).collect()
        };
        assert_eq!(lines("x\n1\n\n2\n"), [(1, 1), (2, 1), (3, 0), (4, 1)]);
        assert_eq!(lines("x\r\n1\r\n\r\n2"), [(1, 1), (2, 1), (3, 0), (4, 1)]);
        assert_eq!(lines("x\n1\n\n"), [(1, 1), (2, 1), (3, 0)]);
    }

    #[test]
    fn a_quote_that_is_never_closed_is_told_where_it_opens() {
        let told = |text: &str| records(text.as_bytes()).map(|rows| rows.len()).map_err(|e| (e.line, e.column));
        assert_eq!(told("x\n\"1\n"), Err((2, 1)));
        assert_eq!(told("x,y\n1,\"2\n3,4\n"), Err((2, 3)));
        assert_eq!(told("x,y\n\"a\"\"\",b\"\n"), Ok(2));
    }
}
