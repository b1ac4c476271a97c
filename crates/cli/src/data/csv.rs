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

/// All rows but empty ones; what is wrong comes with its line.
pub fn records(text: &[u8]) -> Result<Vec<Record>, (u64, String)> {
    let mut reader = Reader::new();
    // No row is longer than the file.
    let (mut cells, mut ends) = (vec![0; text.len() + 1], vec![0; COLUMNS_MAX]);
    let (mut rest, mut found) = (text, Vec::new());
    let (mut filled, mut ended, mut lines_before, mut line) = (0, 0, 0, 1);
    loop {
        if ended == 0 && filled == 0 {
            // Empty lines, and the second half of a line break, lie before the row.
            let breaks = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
            line = 1 + lines_before + line_breaks(breaks);
        }
        let (result, read, written, finished) = reader.read_record(rest, &mut cells[filled..], &mut ends[ended..]);
        lines_before += line_breaks(rest[..read].iter());
        (rest, filled, ended) = (&rest[read..], filled + written, ended + finished);
        match result {
            // Nothing more to read: the next round is told so by an empty rest.
            ReadRecordResult::InputEmpty => {}
            ReadRecordResult::OutputFull => return Err((line, "the row is longer than the file".to_owned())),
            ReadRecordResult::OutputEndsFull => return Err((line, format!("more than {COLUMNS_MAX} cells in a row"))),
            ReadRecordResult::Record => {
                found.push(Record { line, cells: split(&cells, &ends[..ended]) });
                (filled, ended) = (0, 0);
            }
            ReadRecordResult::End => return Ok(found),
        }
    }
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
    }
}
