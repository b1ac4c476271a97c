//! Reading the tables of a run back.

use std::fs::File;
use std::path::Path;

use parquet::column::reader::ColumnReader;
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::columnar::{ERRORS_KEY, VARIABLES_KEY, failed};
use super::{Difference, GraphVariable, SegmentFate, SegmentRow, StateRow};
use crate::error::RecordError;

/// Every segment of a run, in the order of jobs.
///
/// # Errors
/// When the file is missing, damaged or another table.
pub fn read_segments(path: &Path) -> Result<Vec<SegmentRow>, RecordError> {
    let file = open(path)?;
    let variables = variables_of(&file).map_err(RecordError::json(path))?;
    let mut rows = Vec::new();
    for group in 0..file.metadata().num_row_groups() {
        let columns = Group { file: &file, group };
        segments_of(&columns, &variables, &mut rows).map_err(failed(path))?;
    }
    Ok(rows)
}

/// Every kept state of a run, by number.
///
/// # Errors
/// When the file is missing, damaged or another table.
pub fn read_states(path: &Path) -> Result<Vec<StateRow>, RecordError> {
    let file = open(path)?;
    let mut rows = Vec::new();
    for group in 0..file.metadata().num_row_groups() {
        let columns = Group { file: &file, group };
        states_of(&columns, &mut rows).map_err(failed(path))?;
    }
    Ok(rows)
}

/// Descriptions of all errors, by choice.
///
/// # Errors
/// When the file is missing, damaged or without them.
pub fn read_errors(path: &Path) -> Result<Vec<String>, RecordError> {
    let file = open(path)?;
    serde_json::from_str(about(&file, ERRORS_KEY).unwrap_or_default()).map_err(RecordError::json(path))
}

/// All variables of the system, by number; none in tables of versions that did not write them.
///
/// # Errors
/// When the file is missing or damaged.
pub fn read_variables(path: &Path) -> Result<Vec<GraphVariable>, RecordError> {
    variables_of(&open(path)?).map_err(RecordError::json(path))
}

fn variables_of(file: &SerializedFileReader<File>) -> Result<Vec<GraphVariable>, serde_json::Error> {
    about(file, VARIABLES_KEY).map_or_else(|| Ok(Vec::new()), serde_json::from_str)
}

/// What the file says about itself under this key.
fn about<'f>(file: &'f SerializedFileReader<File>, key: &str) -> Option<&'f str> {
    let all = file.metadata().file_metadata().key_value_metadata()?;
    all.iter().find(|one| one.key == key)?.value.as_deref()
}

fn open(path: &Path) -> Result<SerializedFileReader<File>, RecordError> {
    let file = File::open(path).map_err(RecordError::io("read", path))?;
    SerializedFileReader::new(file).map_err(failed(path))
}

fn segments_of(group: &Group<'_>, variables: &[GraphVariable], rows: &mut Vec<SegmentRow>) -> Result<(), ParquetError> {
    let (level, parent, choice) = (group.narrow("level")?, group.wide("parent")?, group.narrow("choice")?);
    let (fate, cell) = (group.fates("fate")?, group.narrow("cell")?);
    let (high, low, margin) = (group.wide("key_high")?, group.wide("key_low")?, group.real("margin_m")?);
    let apart = group.differences(variables)?;
    for at in 0..level.len() {
        let key = high[at].zip(low[at]).map(|(high, low)| u128::from(high) << 64 | u128::from(low));
        rows.push(SegmentRow {
            level: level[at].ok_or_else(nothing)?,
            parent: parent[at].ok_or_else(nothing)?,
            choice: choice_of(choice[at])?,
            fate: fate[at],
            cell: cell[at],
            key,
            margin: margin[at],
            apart: apart[at],
        });
    }
    Ok(())
}

fn states_of(group: &Group<'_>, rows: &mut Vec<StateRow>) -> Result<(), ParquetError> {
    let (node, level, parent) = (group.wide("node")?, group.narrow("level")?, group.wide("parent")?);
    let (choice, cell) = (group.narrow("choice")?, group.narrow("cell")?);
    let (x, y, heading) = (group.real("x_m")?, group.real("y_m")?, group.real("heading_rad")?);
    for at in 0..node.len() {
        rows.push(StateRow {
            node: node[at].ok_or_else(nothing)?,
            level: level[at].ok_or_else(nothing)?,
            parent: parent[at],
            choice: choice_of(choice[at])?,
            cell: cell[at],
            pose: [x[at], y[at], heading[at]],
        });
    }
    Ok(())
}

fn nothing() -> ParquetError {
    ParquetError::General("a number is missing".to_owned())
}

fn choice_of(value: Option<u32>) -> Result<u16, ParquetError> {
    value
        .and_then(|choice| u16::try_from(choice).ok())
        .ok_or_else(|| ParquetError::General("a choice is missing or too large".to_owned()))
}

/// One group of rows, column by column.
struct Group<'f> {
    file: &'f SerializedFileReader<File>,
    group: usize,
}

impl Group<'_> {
    fn column(&self, name: &str) -> Result<(ColumnReader, usize), ParquetError> {
        let reader = self.file.get_row_group(self.group)?;
        let columns = reader.metadata().columns();
        let at = columns.iter().position(|column| column.column_path().string() == name);
        let at = at.ok_or_else(|| ParquetError::General(format!("there is no column `{name}`")))?;
        let rows = usize::try_from(reader.metadata().num_rows()).map_err(|_| nothing())?;
        Ok((reader.get_column_reader(at)?, rows))
    }

    fn narrow(&self, name: &str) -> Result<Vec<Option<u32>>, ParquetError> {
        match self.column(name)? {
            (ColumnReader::Int32ColumnReader(mut column), rows) => {
                let (there, values) = all(&mut column, rows)?;
                Ok(spread(&there, values.into_iter().map(i32::cast_unsigned), rows))
            }
            _ => Err(other_type(name)),
        }
    }

    fn wide(&self, name: &str) -> Result<Vec<Option<u64>>, ParquetError> {
        match self.column(name)? {
            (ColumnReader::Int64ColumnReader(mut column), rows) => {
                let (there, values) = all(&mut column, rows)?;
                Ok(spread(&there, values.into_iter().map(i64::cast_unsigned), rows))
            }
            _ => Err(other_type(name)),
        }
    }

    fn real(&self, name: &str) -> Result<Vec<f64>, ParquetError> {
        match self.column(name)? {
            (ColumnReader::DoubleColumnReader(mut column), rows) => {
                let (_, values) = all(&mut column, rows)?;
                if values.len() == rows { Ok(values) } else { Err(nothing()) }
            }
            _ => Err(other_type(name)),
        }
    }

    fn words(&self, name: &str) -> Result<Vec<Option<ByteArray>>, ParquetError> {
        match self.column(name)? {
            (ColumnReader::ByteArrayColumnReader(mut column), rows) => {
                let (there, words) = all(&mut column, rows)?;
                Ok(spread(&there, words.into_iter(), rows))
            }
            _ => Err(other_type(name)),
        }
    }

    fn fates(&self, name: &str) -> Result<Vec<SegmentFate>, ParquetError> {
        let fate = |word: &Option<ByteArray>| {
            let word = word.as_ref().ok_or_else(nothing)?.data();
            let known = SegmentFate::ALL.into_iter().find(|fate| fate.word().as_bytes() == word);
            known.ok_or_else(|| ParquetError::General("a fate is not known".to_owned()))
        };
        self.words(name)?.iter().map(fate).collect()
    }

    fn shares(&self, name: &str) -> Result<Vec<Option<f64>>, ParquetError> {
        match self.column(name)? {
            (ColumnReader::DoubleColumnReader(mut column), rows) => {
                let (there, values) = all(&mut column, rows)?;
                Ok(spread(&there, values.into_iter(), rows))
            }
            _ => Err(other_type(name)),
        }
    }

    /// How far apart merged states were. Tables of earlier versions do not say.
    fn differences(&self, variables: &[GraphVariable]) -> Result<Vec<Option<Difference>>, ParquetError> {
        if !self.has("apart")? {
            let rows = self.file.get_row_group(self.group)?.metadata().num_rows();
            return Ok(vec![None; usize::try_from(rows).map_err(|_| nothing())?]);
        }
        let number = |word: &ByteArray| {
            let at = variables.iter().position(|variable| variable.name.as_bytes() == word.data());
            let unknown = || ParquetError::General("a variable is not known".to_owned());
            at.and_then(|at| u16::try_from(at).ok()).ok_or_else(unknown)
        };
        let difference = |(share, word): (Option<f64>, Option<ByteArray>)| {
            let variable = word.as_ref().map(number).transpose()?;
            Ok(share.zip(variable).map(|(share, variable)| Difference { share, variable }))
        };
        self.shares("apart")?.into_iter().zip(self.words("apart_variable")?).map(difference).collect()
    }

    fn has(&self, name: &str) -> Result<bool, ParquetError> {
        let reader = self.file.get_row_group(self.group)?;
        Ok(reader.metadata().columns().iter().any(|column| column.column_path().string() == name))
    }
}

fn other_type(name: &str) -> ParquetError {
    ParquetError::General(format!("the column `{name}` has another type"))
}

type Typed<T> = parquet::column::reader::ColumnReaderImpl<T>;

/// For each row whether there is a value (empty if there always is), and the values.
fn all<T: DataType>(column: &mut Typed<T>, rows: usize) -> Result<(Vec<i16>, Vec<T::T>), ParquetError> {
    let (mut there, mut values) = (Vec::new(), Vec::new());
    let mut done = 0;
    while done < rows {
        let (read, _, _) = column.read_records(rows - done, Some(&mut there), None, &mut values)?;
        if read == 0 {
            return Err(ParquetError::General("its end is missing".to_owned()));
        }
        done += read;
    }
    Ok((there, values))
}

fn spread<T>(there: &[i16], values: impl Iterator<Item = T>, rows: usize) -> Vec<Option<T>> {
    let mut values = values;
    (0..rows).map(|row| if there.get(row).is_none_or(|level| *level == 1) { values.next() } else { None }).collect()
}
