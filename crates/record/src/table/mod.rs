//! The graph of an exploration as two tables, for pandas, DuckDB and the comparison of runs.
//!
//! `segments` has one row per segment that was run, in the order of jobs; `states` one row per kept state, in the order
//! of numbers. Rows are written in groups while exploring, so memory stays bounded, and the files get their names only
//! when all is written.
//!
//! ```
//! use anabranch_record::table::*;
//!
//! let folder = tempfile::tempdir().unwrap();
//! let legend = Legend {
//!     errors: vec!["none".to_owned(), "jump: left".to_owned()],
//!     variables: vec![GraphVariable { name: "x".to_owned(), unit: "m".to_owned(), cell: None }],
//! };
//! let mut tables = GraphTables::create(folder.path(), TableFormat::Parquet, legend).unwrap();
//! let row = SegmentRow {
//!     level: 0,
//!     parent: 0,
//!     choice: 1,
//!     fate: SegmentFate::Merged,
//!     cell: Some(0),
//!     key: Some(7),
//!     margin: 0.5,
//!     apart: Some(Difference { share: 0.25, variable: 0 }),
//! };
//! tables.segment(&row);
//! tables.finish(Whole::Yes, &[Some(0.1)]).unwrap();
//! let file = folder.path().join("segments.parquet");
//! assert_eq!(read_segments(&file).unwrap(), [row]);
//! assert_eq!(read_variables(&file).unwrap()[0].cell, Some(0.1));
//! ```

mod columnar;
mod csv;
mod read;
mod sheet;

use std::path::{Path, PathBuf};

pub use read::{read_errors, read_segments, read_states, read_variables};
use serde::{Deserialize, Serialize};

use crate::error::RecordError;
use crate::publish;
use columnar::ParquetSheet;
use csv::CsvSheet;
use sheet::{Column, SEGMENT_COLUMNS, STATE_COLUMNS, Values};

/// File of the table of kept states, without its ending.
pub const STATES: &str = "states";
/// File of the table of segments, without its ending.
pub const SEGMENTS: &str = "segments";
/// Generation of the columns; written into every Parquet file.
pub const GRAPH_SCHEMA: &str = "anabranch.graph/1";
/// Rows that are collected before they are written: about 8 MB, few enough to be nothing beside an exploration.
const GROUP_ROWS: usize = 131_072;

/// How tables are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Columns with types: small, and quick to load.
    Parquet,
    /// Text for everything else.
    Csv,
}

impl TableFormat {
    /// Ending of the file.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Csv => "csv",
        }
    }
}

/// What became of the end of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SegmentFate {
    /// It is continued, or was until a worse one replaced it.
    Kept,
    /// It was like a kept one.
    Merged,
    /// The manoeuvre was completed.
    Goal,
    /// A *must* was violated.
    Violated,
    /// The scenario's time was over.
    TimedOut,
    /// It could not be computed.
    Fault,
}

impl SegmentFate {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 6] = [Self::Kept, Self::Merged, Self::Goal, Self::Violated, Self::TimedOut, Self::Fault];

    /// As in the tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Merged => "merged",
            Self::Goal => "goal",
            Self::Violated => "violated",
            Self::TimedOut => "timed out",
            Self::Fault => "fault",
        }
    }
}

/// A variable of the system, as the columns name it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GraphVariable {
    /// Its name.
    pub name: String,
    /// Unit of its values; empty for plain numbers.
    pub unit: String,
    /// Size of its cells; `None` if it has none.
    pub cell: Option<f64>,
}

/// What the numbers in the columns mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Legend {
    /// Descriptions of the errors, by choice.
    pub errors: Vec<String>,
    /// Variables by number; their cells are given when the tables are finished.
    pub variables: Vec<GraphVariable>,
}

/// How far apart two members of a cell are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The largest difference over all continuous variables, as a share of the cell's size.
    pub share: f64,
    /// Number of the variable with that difference.
    pub variable: u16,
}

/// One segment: from a kept state into a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SegmentRow {
    /// Level of its start.
    pub level: u32,
    /// Number of the kept state it starts from.
    pub parent: u64,
    /// The error during it.
    pub choice: u16,
    /// What became of its end.
    pub fate: SegmentFate,
    /// Number of the cell its end fell into, if it has one.
    pub cell: Option<u32>,
    /// Name of that cell, the same in every run with the same merging.
    pub key: Option<u128>,
    /// Smallest margin during it; for a car the clearance in metres.
    pub margin: f64,
    /// How far its end is from the first kept member of its cell; `None` for that member, and where no variable has cells.
    pub apart: Option<Difference>,
}

/// One kept state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StateRow {
    /// Its number, from 0.
    pub node: u64,
    /// Its level; 0 is the start.
    pub level: u32,
    /// Where it came from; `None` for a start.
    pub parent: Option<u64>,
    /// By which error; of a start its number.
    pub choice: u16,
    /// The cell it is a member of, if there are cells.
    pub cell: Option<u32>,
    /// x, y in metres and heading in radians.
    pub pose: [f64; 3],
}

/// Whether everything that was asked for is in the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whole {
    /// It is.
    Yes,
    /// The exploration ended before.
    No,
}

/// Both tables while they grow.
#[derive(Debug)]
pub struct GraphTables {
    states: Table,
    segments: Table,
    variables: Vec<GraphVariable>,
}

impl GraphTables {
    /// Empty tables in the folder of a run.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn create(folder: &Path, format: TableFormat, legend: Legend) -> Result<Self, RecordError> {
        let table = |name: &str, columns| Table::create(folder, name, format, columns, &legend);
        let (states, segments) = (table(STATES, &STATE_COLUMNS)?, table(SEGMENTS, &SEGMENT_COLUMNS)?);
        Ok(Self { states, segments, variables: legend.variables })
    }

    /// Adds a segment. What the disk refuses is told by [`finish`](Self::finish): recording disturbs nobody.
    pub fn segment(&mut self, row: &SegmentRow) {
        self.segments.push(|values| sheet::put_segment(values, row));
    }

    /// Adds a kept state.
    pub fn state(&mut self, row: &StateRow) {
        self.states.push(|values| sheet::put_state(values, row));
    }

    /// Writes what is left and gives the files their names. `cells` are the cell sizes of the variables, where they have any.
    ///
    /// # Errors
    /// With the first thing that could not be written.
    pub fn finish(mut self, whole: Whole, cells: &[Option<f64>]) -> Result<(), RecordError> {
        self.variables.iter_mut().zip(cells).for_each(|(variable, cell)| variable.cell = *cell);
        let variables = serde_json::json!(self.variables).to_string();
        self.states.finish(whole, variables.clone())?;
        self.segments.finish(whole, variables)
    }
}

/// One table while it grows.
#[derive(Debug)]
struct Table {
    path: PathBuf,
    sheet: Sheet,
    values: Vec<Values>,
    rows: usize,
    failed: Option<RecordError>,
}

#[derive(Debug)]
enum Sheet {
    Parquet(ParquetSheet),
    Csv(CsvSheet),
}

impl Table {
    fn create(
        folder: &Path,
        name: &str,
        format: TableFormat,
        columns: &'static [Column],
        legend: &Legend,
    ) -> Result<Self, RecordError> {
        let path = folder.join(format!("{name}.{}", format.ending()));
        let file = publish::begin(&path)?;
        let sheet = match format {
            TableFormat::Parquet => Sheet::Parquet(ParquetSheet::create(file, &path, columns, legend)?),
            TableFormat::Csv => Sheet::Csv(CsvSheet::create(file, &path, columns, legend)?),
        };
        let values = columns.iter().map(|column| Values::empty(column.kind)).collect();
        Ok(Self { path, sheet, values, rows: 0, failed: None })
    }

    fn push(&mut self, put: impl FnOnce(&mut [Values])) {
        put(&mut self.values);
        self.rows += 1;
        if self.rows == GROUP_ROWS {
            self.write_group();
        }
    }

    fn write_group(&mut self) {
        if self.rows > 0 && self.failed.is_none() {
            let written = match &mut self.sheet {
                Sheet::Parquet(sheet) => sheet.write(&self.path, &self.values),
                Sheet::Csv(sheet) => sheet.write(&self.path, &self.values, self.rows),
            };
            self.failed = written.err();
        }
        self.values.iter_mut().for_each(Values::clear);
        self.rows = 0;
    }

    fn finish(mut self, whole: Whole, variables: String) -> Result<(), RecordError> {
        self.write_group();
        if let Some(error) = self.failed {
            return Err(error);
        }
        let file = match self.sheet {
            Sheet::Parquet(sheet) => sheet.finish(&self.path, whole, variables)?,
            Sheet::Csv(sheet) => sheet.finish(&self.path)?,
        };
        publish::finish(file, &self.path)
    }
}

#[cfg(test)]
mod tests;
