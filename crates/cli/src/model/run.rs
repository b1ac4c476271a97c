//! `run Model.emam --inputs in.csv --outputs out.csv`: a model without a scenario.

use std::path::{Path, PathBuf};

use anabranch_kernel::Seed;
use anabranch_language::syntax::ast::Direction;
use anabranch_language::table::{Column, columns};
use anabranch_language::{Library, Model, Units};
use anabranch_program::Now;
use clap::Args;
use serde_json::{Value, json};

use super::files::{Given, shown};
use super::table::{Inputs, to_csv};
use super::told;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::{Format, Paint, Screen, print_err};

/// What `run` takes for a model.
#[derive(Args, Clone, Debug, Default)]
pub struct Over {
    /// What goes in: CSV, one row per tick, columns named after ports (`in:` before them is allowed), values in SI.
    #[arg(long, value_name = "FILE.csv", help_heading = "Models")]
    pub inputs: Option<PathBuf>,
    /// Where to write what comes out, as CSV; standard output if left out.
    #[arg(long, value_name = "FILE.csv", help_heading = "Models")]
    pub outputs: Option<PathBuf>,
    /// How many ticks to run a model that has no in-ports.
    #[arg(long, value_name = "N", conflicts_with = "inputs", help_heading = "Models")]
    pub ticks: Option<u64>,
    /// Fail if an `out:` column of the inputs differs by more than this from what comes out.
    #[arg(long, value_name = "NUMBER", help_heading = "Models")]
    pub tolerance: Option<f64>,
    /// Folders and parameters.
    #[command(flatten)]
    pub given: Given,
}

impl Over {
    /// Whether anything was said that only models understand.
    pub fn is_given(&self) -> bool {
        self.inputs.is_some() || self.outputs.is_some() || self.ticks.is_some() || self.tolerance.is_some()
    }
}

/// Most ticks without a table: what comes out is kept in memory.
const TICKS_MAX: u64 = 10_000_000;

/// What came out, and how it compares.
struct Ran {
    columns: Vec<Column>,
    rows: Vec<Vec<f64>>,
    compared: usize,
    largest: f64,
    /// Tick, port, expected, got.
    first: Option<(usize, String, f64, f64)>,
}

/// Runs a model over a table and writes what comes out.
pub fn run(path: &Path, over: &Over, seed: u64, screen: &Screen) -> Result<Exit, Failure> {
    let (library, model) = over.given.build(path, Units::Strict)?;
    if screen.format == Format::Human {
        print_err(&told::warnings(model.warnings(), Paint(screen.err)));
    }
    let ran = follow(&library, &model, over, seed)?;
    let csv = to_csv(&ran.columns, &ran.rows);
    if let Some(file) = &over.outputs {
        std::fs::write(file, &csv).map_err(|e| Failure::file("write", file, &e))?;
    }
    let wrong = over.tolerance.is_some_and(|limit| ran.largest > limit || ran.largest.is_nan());
    let machine = ran.to_json(&library, &model, path, over);
    screen.result(
        |paint| match &over.outputs {
            None => csv.clone(),
            Some(file) => ran.human(paint, &model, file, wrong),
        },
        &machine,
    );
    Ok(if wrong { Exit::Findings } else { Exit::Done })
}

fn follow(library: &Library, model: &Model, over: &Over, seed: u64) -> Result<Ran, Failure> {
    let inputs = match (&over.inputs, over.ticks) {
        (Some(file), _) => Some(Inputs::read(model, file)?),
        (None, ticks) => {
            let names: Vec<String> = columns(model)
                .into_iter()
                .filter(|column| column.direction == Direction::In)
                .map(|column| column.name)
                .collect();
            if !names.is_empty() {
                let help = format!("--inputs FILE.csv with the columns {}", names.join(","));
                return Err(Failure::input("the model has in-ports, and nothing goes in", help));
            }
            if ticks.is_none() {
                return Err(Failure::input("how long shall the model run?", "it has no in-ports: --ticks N"));
            }
            None
        }
    };
    let ticks = inputs.as_ref().map_or(over.ticks.unwrap_or(0), |inputs| inputs.rows.len() as u64);
    if ticks > TICKS_MAX {
        return Err(Failure::input(format!("{ticks} ticks are too many"), format!("at most {TICKS_MAX}")));
    }
    let outputs = columns(model).into_iter().filter(|column| column.direction == Direction::Out).collect();
    let mut ran = Ran { columns: outputs, rows: Vec::new(), compared: 0, largest: 0.0, first: None };
    let program = model.program();
    let mut memory = program.memory();
    for tick in 0..ticks {
        let row = inputs.as_ref().map(|inputs| (inputs, &inputs.rows[tick as usize]));
        for (at, column) in row.iter().flat_map(|(inputs, _)| &inputs.bound.inputs) {
            if let Some(value) = row.as_ref().and_then(|(_, row)| row[*at]) {
                memory.set(column.slot, value);
            }
        }
        program.tick(&mut memory, Now { seed: Seed(seed), tick }).map_err(|fault| {
            let message = format!("tick {}: {}", tick + 1, model.explain(library, &fault));
            Failure::input(message, "the model stops here; guard the operation, or mend what goes in")
        })?;
        ran.rows.push(ran.columns.iter().map(|column| memory.get(column.slot)).collect());
        for (at, column) in row.iter().flat_map(|(inputs, _)| &inputs.bound.expected) {
            if let Some(expected) = row.as_ref().and_then(|(_, row)| row[*at]) {
                ran.compare(tick as usize + 1, column, expected, memory.get(column.slot));
            }
        }
    }
    Ok(ran)
}

impl Ran {
    fn compare(&mut self, tick: usize, column: &Column, expected: f64, got: f64) {
        self.compared += 1;
        let difference = (got - expected).abs();
        if difference != 0.0 && self.first.is_none() {
            self.first = Some((tick, column.name.clone(), expected, got));
        }
        if difference > self.largest || difference.is_nan() {
            self.largest = difference;
        }
    }

    fn human(&self, paint: &Paint, model: &Model, file: &Path, wrong: bool) -> String {
        let (ticks, numbers) = (self.rows.len(), self.columns.len());
        let mut out = format!("{}: {ticks} ticks, {numbers} numbers each, in {}\n", model.name(), file.display());
        if self.compared > 0 {
            let word = if wrong { paint.red("differs") } else { paint.green("compared") };
            out += &format!("{word}: {} values, largest difference {:e}\n", self.compared, self.largest);
        }
        if let Some((tick, port, expected, got)) = &self.first {
            out += &format!("  first at tick {tick}, {port}: expected {expected}, got {got}\n");
        }
        out
    }

    fn to_json(&self, library: &Library, model: &Model, path: &Path, over: &Over) -> Value {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let first = self
            .first
            .as_ref()
            .map(|(tick, port, expected, got)| json!({ "tick": tick, "port": port, "expected": expected, "got": got }));
        let rows = over.outputs.is_none().then_some(&self.rows);
        json!({
            "schema": "anabranch.run-model/1",
            "model": model.name(),
            "file": shown(path),
            "ticks": self.rows.len(),
            "atomic_components": model.order().len(),
            "columns": names,
            "outputs": over.outputs.as_ref().map(|file| shown(file)),
            "rows": rows,
            "compared": { "values": self.compared, "largest_difference": self.largest, "first_difference": first },
            "warnings": told::to_json(library, model.warnings()),
        })
    }
}
