//! The graph of an exploration on its way into the tables of the run folder.

use std::path::Path;

use anabranch_explore::{Apart, Edge, Fate, NO_PARENT, Node};
use anabranch_kernel::{CellKey, CellSize, Grid, System, Variable};
use anabranch_record::table::{
    Difference, GraphTables, GraphVariable, Legend, SegmentFate, SegmentRow, StateRow, TableFormat, Whole,
};
use clap::ValueEnum;

use crate::failure::Failure;

/// How the graph is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphFlag {
    /// states.parquet and segments.parquet.
    Parquet,
    /// states.csv and segments.csv; larger, and `report` cannot compare them.
    Csv,
    /// Not at all.
    None,
}

/// Tables that listen to an exploration.
#[derive(Debug)]
pub struct GraphRecorder {
    tables: GraphTables,
    /// Where the next kept state is; it is shown before it is recorded.
    pose: [f64; 3],
}

impl GraphRecorder {
    /// Tables in the folder of a run; nothing if nobody wants them.
    pub fn create<S: System>(folder: &Path, drive: &S, flag: GraphFlag) -> Result<Option<Self>, Failure> {
        let format = match flag {
            GraphFlag::Parquet => TableFormat::Parquet,
            GraphFlag::Csv => TableFormat::Csv,
            GraphFlag::None => return Ok(None),
        };
        let errors = drive.errors().choices().map(|choice| drive.errors().describe(choice)).collect();
        let named = |v: &Variable| GraphVariable { name: v.name.clone(), unit: v.unit.clone(), cell: None };
        let legend = Legend { errors, variables: drive.variables().iter().map(named).collect() };
        Ok(Some(Self { tables: GraphTables::create(folder, format, legend)?, pose: [f64::NAN; 3] }))
    }

    /// Where the state is that is recorded next.
    pub fn kept(&mut self, at: [f64; 3]) {
        self.pose = at;
    }

    /// A kept state.
    pub fn node(&mut self, node: &Node) {
        let parent = (node.parent != NO_PARENT).then_some(node.parent);
        let Node { node, level, choice, cell, .. } = *node;
        self.tables.state(&StateRow { node, level, parent, choice: choice.0, cell, pose: self.pose });
    }

    /// A segment.
    pub fn edge(&mut self, edge: &Edge) {
        let fate = match edge.fate {
            Fate::Kept => SegmentFate::Kept,
            Fate::Merged => SegmentFate::Merged,
            Fate::Goal => SegmentFate::Goal,
            Fate::Violated => SegmentFate::Violated,
            Fate::TimedOut => SegmentFate::TimedOut,
            Fate::Fault => SegmentFate::Fault,
        };
        let key = edge.key.map(|CellKey(key)| key);
        let difference = |apart: Apart| Difference { share: apart.share(), variable: apart.variable };
        let apart = edge.apart.map(difference);
        let Edge { level, parent, choice, cell, margin, .. } = *edge;
        self.tables.segment(&SegmentRow { level, parent, choice: choice.0, fate, cell, key, margin, apart });
    }

    /// Gives the files their names; `grid` are the cells that states were merged by.
    pub fn finish(self, whole: Whole, grid: Option<&Grid>) -> Result<(), Failure> {
        let size = |size: &CellSize| match size {
            CellSize::Size(size) => Some(*size),
            CellSize::Exact | CellSize::Ignore => None,
        };
        let cells: Vec<Option<f64>> = grid.iter().flat_map(|grid| grid.sizes().iter().map(size)).collect();
        Ok(self.tables.finish(whole, &cells)?)
    }
}
