//! `run Model.emam --inputs in.csv --outputs out.csv`: a model without a scenario.

use std::path::{Path, PathBuf};

use anabranch_kernel::Seed;
use anabranch_language::syntax::ast::Direction;
use anabranch_language::table::{Column, columns};
use anabranch_language::{Code, Library, Model, Units};
use anabranch_program::{Now, Slot};
use clap::Args;
use serde_json::{Value, json};

use super::files::{Given, shown};
use super::pace::Pace;
use super::table::{Inputs, to_csv};
use super::told;
use crate::escape::escape;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::{Format, Global, Paint, Screen, print_err, print_out};

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
    #[arg(long, value_name = "NUMBER", value_parser = parse_tolerance, help_heading = "Models")]
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

fn parse_tolerance(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "write a number from 0 on, as in 1e-9".to_owned())
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
    /// How it was computed, on how many threads.
    executed: Value,
    outside: Vec<Outside>,
}

/// A port that left its range.
struct Outside {
    slot: Slot,
    port: String,
    range: (f64, f64),
    /// The range in words.
    allowed: String,
    /// Tick, counted from 1, and value.
    first: (usize, f64),
    count: usize,
}

impl Outside {
    fn line(&self) -> String {
        let (Self { port, allowed, first: (tick, value), .. }, times) = (self, self.count);
        let more = if times > 1 { format!(", and {} more", times - 1) } else { String::new() };
        format!("`{port}` is {value} at tick {tick}, outside of its range {allowed}{more}")
    }
}

/// Runs a model over a table and writes what comes out.
pub fn run(path: &Path, over: &Over, global: &Global, screen: &Screen) -> Result<Exit, Failure> {
    let (library, model) = over.given.build(path, Units::Strict)?;
    if screen.format == Format::Human {
        print_err(&told::warnings(model.warnings(), Paint(screen.err)));
    }
    let (ran, stopped) = follow(&library, &model, over, global, screen)?;
    let csv = to_csv(&ran.columns, &ran.rows);
    if let Some(file) = &over.outputs {
        std::fs::write(file, &csv).map_err(|e| Failure::file("write", file, &e))?;
    }
    if screen.format == Format::Human {
        let word = Paint(screen.err).yellow(&format!("warning[{}]", Code::OutOfRange));
        ran.outside.iter().for_each(|outside| print_err(&format!("{word} {}\n", escape(&outside.line()))));
    }
    if let Some(failure) = stopped {
        // The ticks before are a result, wherever results go.
        if over.outputs.is_none() && screen.format == Format::Human {
            print_out(&csv);
        }
        return Err(failure);
    }
    if over.tolerance.is_some() && ran.compared == 0 {
        let help = "name columns of the inputs after out-ports, as in out:y, with the values that are expected";
        return Err(Failure::input("--tolerance compares nothing: no value is expected", help));
    }
    let wrong = over.tolerance.is_some_and(|limit| ran.largest > limit || ran.largest.is_nan());
    let machine = ran.to_json(&library, &model, path, over);
    if over.outputs.is_none() && screen.format == Format::Human {
        print_err(&ran.comparison(&Paint(screen.err), wrong));
    }
    screen.result(
        |paint| match &over.outputs {
            None => csv.clone(),
            Some(file) => ran.human(paint, &model, file, wrong),
        },
        &machine,
    );
    Ok(if wrong { Exit::Findings } else { Exit::Done })
}

/// What came out, and why it stopped if it did not come to its end.
fn follow(
    library: &Library,
    model: &Model,
    over: &Over,
    global: &Global,
    screen: &Screen,
) -> Result<(Ran, Option<Failure>), Failure> {
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
    let mut pace = Pace::new(model.program(), ticks, global.threads());
    screen.detail(&pace.told());
    let mut ran = Ran {
        columns: outputs,
        rows: Vec::new(),
        compared: 0,
        largest: 0.0,
        first: None,
        executed: pace.to_json(),
        outside: Vec::new(),
    };
    let seed = Seed(global.seed.unwrap_or(0));
    let columns = ran.columns.clone();
    let mut memory = model.program().memory();
    for tick in 0..ticks {
        let given = inputs.as_ref().map(|inputs| (inputs, &inputs.rows[tick as usize]));
        for (at, column) in given.iter().flat_map(|(inputs, _)| &inputs.bound.inputs) {
            if let Some(value) = given.as_ref().and_then(|(_, row)| row[*at]) {
                memory.set(column.slot, value);
                ran.look(tick as usize + 1, column, value);
            }
        }
        if let Err(fault) = pace.tick(&mut memory, Now { seed, tick }) {
            let message = format!("tick {}: {}", tick + 1, model.explain(library, &fault));
            let help = "the model stops here; guard the operation, or mend what goes in";
            return Ok((ran, Some(Failure::input(message, help))));
        }
        let row: Vec<f64> = columns.iter().map(|column| memory.get(column.slot)).collect();
        for (column, value) in columns.iter().zip(&row) {
            ran.look(tick as usize + 1, column, *value);
        }
        ran.rows.push(row);
        for (at, column) in given.iter().flat_map(|(inputs, _)| &inputs.bound.expected) {
            if let Some(expected) = given.as_ref().and_then(|(_, row)| row[*at]) {
                ran.compare(tick as usize + 1, column, expected, memory.get(column.slot));
            }
        }
    }
    Ok((ran, None))
}

/// JSON has no infinity.
fn finite(bound: f64) -> Option<f64> {
    bound.is_finite().then_some(bound)
}

impl Ran {
    /// Notes a value outside of the range of its port.
    fn look(&mut self, tick: usize, column: &Column, value: f64) {
        if column.holds(value) {
            return;
        }
        match self.outside.iter_mut().find(|outside| outside.slot == column.slot && outside.port == column.name) {
            Some(outside) => outside.count += 1,
            None => self.outside.push(Outside {
                slot: column.slot,
                port: column.name.clone(),
                range: column.range,
                allowed: column.range_text(),
                first: (tick, value),
                count: 1,
            }),
        }
    }

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
        let head = format!("{}: {ticks} ticks, {numbers} numbers each, in {}\n", model.name(), file.display());
        head + &self.comparison(paint, wrong)
    }

    /// How far what came out is from what was expected; nothing if nothing was.
    fn comparison(&self, paint: &Paint, wrong: bool) -> String {
        let mut out = String::new();
        if self.compared > 0 {
            let word = if wrong { paint.red("differs") } else { paint.green("compared") };
            let largest = if self.largest == 0.0 {
                "no difference".to_owned()
            } else {
                format!("largest difference {:e}", self.largest)
            };
            out += &format!("{word}: {} values, {largest}\n", self.compared);
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
            "executed": self.executed,
            "columns": names,
            "outputs": over.outputs.as_ref().map(|file| shown(file)),
            "rows": rows,
            "compared": { "values": self.compared, "largest_difference": self.largest, "first_difference": first },
            "warnings": told::to_json(library, model.warnings()),
            "outside_of_range": self.outside.iter().map(|outside| json!({
                "port": outside.port, "low": finite(outside.range.0), "high": finite(outside.range.1),
                "tick": outside.first.0, "value": outside.first.1, "values": outside.count,
            })).collect::<Vec<_>>(),
        })
    }
}
