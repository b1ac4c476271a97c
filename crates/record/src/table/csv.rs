//! Tables as CSV.

use std::fmt::Write as _;
use std::io::{BufWriter, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use super::sheet::{Column, Kind, NO_WORD, Values};
use super::{Legend, SegmentFate};
use crate::error::RecordError;
use crate::trace::cell as quoted;

/// Rows of text; nothing is an empty cell.
#[derive(Debug)]
pub(super) struct CsvSheet {
    out: BufWriter<NamedTempFile>,
    columns: &'static [Column],
    /// Descriptions, ready to be written.
    errors: Vec<String>,
    /// Names, ready to be written.
    variables: Vec<String>,
}

impl CsvSheet {
    pub fn create(
        file: NamedTempFile,
        path: &Path,
        columns: &'static [Column],
        legend: &Legend,
    ) -> Result<Self, RecordError> {
        let mut out = BufWriter::new(file);
        let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
        writeln!(out, "{}", names.join(",")).map_err(RecordError::io("write", path))?;
        let errors = legend.errors.iter().map(|error| quoted(error)).collect();
        let variables = legend.variables.iter().map(|variable| quoted(&variable.name)).collect();
        Ok(Self { out, columns, errors, variables })
    }

    pub fn write(&mut self, path: &Path, values: &[Values], rows: usize) -> Result<(), RecordError> {
        let mut line = String::new();
        // Where the next value of each column is; rows without one do not have any.
        let mut next = vec![0; values.len()];
        for row in 0..rows {
            line.clear();
            for (at, values) in values.iter().enumerate() {
                if at > 0 {
                    line.push(',');
                }
                self.put(&mut line, self.columns[at].kind, values, row, &mut next[at]);
            }
            line.push('\n');
            self.out.write_all(line.as_bytes()).map_err(RecordError::io("write", path))?;
        }
        Ok(())
    }

    fn put(&self, line: &mut String, kind: Kind, values: &Values, row: usize, next: &mut usize) {
        let written = match values {
            Values::Narrow { there, values } if there[row] == 1 => {
                *next += 1;
                write!(line, "{}", values[*next - 1].cast_unsigned())
            }
            Values::Wide { there, values } if there[row] == 1 => {
                *next += 1;
                write!(line, "{}", values[*next - 1].cast_unsigned())
            }
            Values::Share { there, values } if there[row] == 1 => {
                *next += 1;
                write!(line, "{}", values[*next - 1])
            }
            Values::Narrow { .. } | Values::Wide { .. } | Values::Share { .. } => Ok(()),
            Values::Real(values) => write!(line, "{}", values[row]),
            Values::Word(words) if kind == Kind::Fate => {
                line.write_str(SegmentFate::ALL[usize::from(words[row])].word())
            }
            Values::Word(words) if words[row] == NO_WORD => Ok(()),
            Values::Word(words) if kind == Kind::VariableOrNothing => {
                line.write_str(&self.variables[usize::from(words[row])])
            }
            Values::Word(words) => line.write_str(&self.errors[usize::from(words[row])]),
        };
        written.expect("writing to a string");
    }

    pub fn finish(self, path: &Path) -> Result<NamedTempFile, RecordError> {
        self.out.into_inner().map_err(|e| RecordError::io("write", path)(e.into_error()))
    }
}
