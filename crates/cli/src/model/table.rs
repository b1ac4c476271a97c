//! Tables that go in and come out: CSV, one row per tick.

use std::path::Path;

use anabranch_language::table::{Bound, Column, bind};
use anabranch_language::{Class, Code, Model};
use anabranch_scenario::file::{Diagnostic, Report};

use crate::data::csv::{Record, records_and_empty_lines};
use crate::failure::Failure;

/// What goes in at each tick, and what is expected to come out.
#[derive(Debug)]
pub struct Inputs {
    /// Which column of the file is which number.
    pub bound: Bound,
    /// Cells of each row by their place in the file; `None` where a cell is empty, which keeps the last value.
    pub rows: Vec<Vec<Option<f64>>>,
}

impl Inputs {
    /// Reads a file for a model.
    pub fn read(model: &Model, path: &Path) -> Result<Self, Failure> {
        let text = std::fs::read(path).map_err(|e| Failure::file("read", path, &e))?;
        let file = File { name: path.display().to_string(), text: String::from_utf8_lossy(&text).into_owned() };
        let mut records = records_and_empty_lines(&text).map_err(|e| {
            let told = file.told(Code::TableCell, e.line, 0, e.message, "close it, or leave it out".to_owned());
            Failure::Located(Report::new(vec![Diagnostic { column: e.column, length: 1, ..told }]))
        })?;
        let Some(first) = records.iter().position(|record| !record.cells.is_empty()) else {
            return Err(Failure::input(format!("`{}` is empty", file.name), "the first row names the ports"));
        };
        let mut rows = records.split_off(first + 1);
        let heading = &Record { line: records[first].line, cells: joined(&records[first].cells) };
        // An empty line is an empty cell where rows have one cell, and nothing where they have several.
        match heading.cells.len() {
            1 => rows.iter_mut().for_each(|row| row.cells.resize(row.cells.len().max(1), String::new())),
            _ => rows.retain(|row| !row.cells.is_empty()),
        }
        let bound = bind(model, &heading.cells).map_err(|wrong| {
            let one = |w: anabranch_language::table::HeadingError| {
                file.told(Code::TableColumn, heading.line, w.at.unwrap_or(0), w.message, w.help)
            };
            Failure::Located(Report::new(wrong.into_iter().map(one).collect()))
        })?;
        let rows = file.rows(&bound, heading, &rows)?;
        Ok(Self { bound, rows })
    }
}

/// The file, for messages.
struct File {
    name: String,
    text: String,
}

impl File {
    fn rows(&self, bound: &Bound, heading: &Record, rows: &[Record]) -> Result<Vec<Vec<Option<f64>>>, Failure> {
        let mut wrong = Vec::new();
        let mut all = Vec::new();
        for row in rows {
            if row.cells.len() != heading.cells.len() {
                let message = format!("{} cells in a table of {} columns", row.cells.len(), heading.cells.len());
                let help = "each row has a cell for each column; an empty one keeps the last value".to_owned();
                wrong.push(self.told(Code::TableCell, row.line, 0, message, help));
                continue;
            }
            let mut values = vec![None; heading.cells.len()];
            for (at, column) in bound.inputs.iter().chain(&bound.expected) {
                match row.cells[*at].as_str() {
                    "" => {}
                    cell => match column.read(cell) {
                        Ok(value) => values[*at] = Some(value),
                        Err(message) => {
                            wrong.push(self.told(Code::TableCell, row.line, *at, message, String::new()));
                        }
                    },
                }
            }
            all.push(values);
        }
        if wrong.is_empty() { Ok(all) } else { Err(Failure::Located(Report::new(wrong))) }
    }

    /// A mistake in a cell.
    fn told(&self, code: Code, line: u64, cell: usize, message: String, help: String) -> Diagnostic {
        let number = usize::try_from(line).unwrap_or(1).max(1);
        let source_line = self.text.lines().nth(number - 1).unwrap_or("").to_owned();
        let (column, length) = place(&source_line, cell);
        Diagnostic {
            code: code.text(),
            file: self.name.clone(),
            line: number,
            column,
            length,
            message,
            help,
            source_line,
        }
    }
}

/// Cells of a heading in which `m[2,1]` was taken apart at its comma, put together again.
fn joined(cells: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut open = false;
    for cell in cells {
        match all.last_mut().filter(|_| open) {
            Some(last) => *last = format!("{last},{cell}"),
            None => all.push(cell.clone()),
        }
        open = all.last().is_some_and(|last| last.matches(['[', '(']).count() > last.matches([']', ')']).count());
    }
    all
}

/// Column, counted from 1, and length of a cell of a line, in characters. Commas in quotes and brackets part nothing.
fn place(line: &str, cell: usize) -> (usize, usize) {
    let (mut quoted, mut depth, mut at, mut start) = (false, 0, 0, 0);
    for (i, c) in line.chars().enumerate() {
        match c {
            '"' => quoted = !quoted,
            '[' | '(' if !quoted => depth += 1,
            ']' | ')' if !quoted => depth -= 1,
            ',' if !quoted && depth <= 0 => {
                if at == cell {
                    return (start + 1, (i - start).max(1));
                }
                (at, start) = (at + 1, i + 1);
            }
            _ => {}
        }
    }
    if at == cell { (start + 1, line.chars().count().saturating_sub(start).max(1)) } else { (1, 1) }
}

/// What came out, as a table.
pub fn to_csv(columns: &[Column], rows: &[Vec<f64>]) -> String {
    let heading: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
    let mut out = heading.join(",") + "\n";
    for row in rows {
        let cells: Vec<String> = columns.iter().zip(row).map(|(column, value)| cell(column, *value)).collect();
        out += &(cells.join(",") + "\n");
    }
    out
}

fn cell(column: &Column, value: f64) -> String {
    match &column.class {
        Class::Choice(choices) if value >= 0.0 && value < choices.values.len() as f64 => {
            choices.values[value as usize].clone()
        }
        // The shortest digits that are read as the same number again.
        _ => format!("{value}"),
    }
}

fn quoted(name: &str) -> String {
    if name.contains(',') { format!("\"{name}\"") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_brackets_do_not_part_a_heading() {
        let cells: Vec<String> = "x|m[1|1]|m(2|1)|y".split('|').map(str::to_owned).collect();
        assert_eq!(joined(&cells), ["x", "m[1,1]", "m(2,1)", "y"]);
        assert_eq!(place("x,m[1,1],yy,z", 2), (10, 2));
        assert_eq!(place("x,\"m[1,1]\",yy", 1), (3, 8));
    }
}
