//! A plant, a requirement, and the inputs that may be chosen.

use anabranch_logic::{Formula, Trace};
use serde::{Deserialize, Serialize};

use crate::error::ProblemError;
use crate::input::{Row, parse_rows};
use crate::plant::{Moment, Plant};

/// The requirements, by name: formula, plant, horizon, pieces of constant input (instance 2 of ARCH-COMP: at most one
/// change every 5 s).
const CATALOGUE: &[(&str, Plant, &str)] = &[
    ("cc1", Plant::ChasingCars, "always[0, 100] y5 - y4 <= 40"),
    ("cc2", Plant::ChasingCars, "always[0, 70] eventually[0, 30] y5 - y4 >= 15"),
    ("cc3", Plant::ChasingCars, "always[0, 80] ((always[0, 20] y2 - y1 <= 20) or (eventually[0, 20] y5 - y4 >= 40))"),
    ("cc4", Plant::ChasingCars, "always[0, 65] eventually[0, 30] always[0, 5] y5 - y4 >= 8"),
    (
        "cc5",
        Plant::ChasingCars,
        "always[0, 72] eventually[0, 8] ((always[0, 5] y2 - y1 >= 9) implies (always[5, 20] y5 - y4 >= 9))",
    ),
    (
        "ccx",
        Plant::ChasingCars,
        "(always[0, 50] y2 - y1 > 7.5) and (always[0, 50] y3 - y2 > 7.5) \
         and (always[0, 50] y4 - y3 > 7.5) and (always[0, 50] y5 - y4 > 7.5)",
    ),
    ("at1", Plant::AutomaticTransmission, "always[0, 20] speed < 120"),
    ("at2", Plant::AutomaticTransmission, "always[0, 10] rpm < 4750"),
    ("at51", Plant::AutomaticTransmission, GEAR_HOLDS[0]),
    ("at52", Plant::AutomaticTransmission, GEAR_HOLDS[1]),
    ("at53", Plant::AutomaticTransmission, GEAR_HOLDS[2]),
    ("at54", Plant::AutomaticTransmission, GEAR_HOLDS[3]),
    ("at6a", Plant::AutomaticTransmission, "(always[0, 30] rpm < 3000) implies (always[0, 4] speed < 35)"),
    ("at6b", Plant::AutomaticTransmission, "(always[0, 30] rpm < 3000) implies (always[0, 8] speed < 50)"),
    ("at6c", Plant::AutomaticTransmission, "(always[0, 30] rpm < 3000) implies (always[0, 20] speed < 65)"),
    ("at-speed120", Plant::AutomaticTransmission, "always[0, 30] speed < 120"),
];

/// A gear that was entered is kept for 2.5 s.
const GEAR_HOLDS: [&str; 4] = [
    "always[0, 30] ((gear != 1 and eventually[0.001, 0.1] gear == 1) implies eventually[0.001, 0.1] always[0, 2.5] gear == 1)",
    "always[0, 30] ((gear != 2 and eventually[0.001, 0.1] gear == 2) implies eventually[0.001, 0.1] always[0, 2.5] gear == 2)",
    "always[0, 30] ((gear != 3 and eventually[0.001, 0.1] gear == 3) implies eventually[0.001, 0.1] always[0, 2.5] gear == 3)",
    "always[0, 30] ((gear != 4 and eventually[0.001, 0.1] gear == 4) implies eventually[0.001, 0.1] always[0, 2.5] gear == 4)",
];

/// Seconds of one piece of constant input.
const PIECE_S: f64 = 5.0;

/// A requirement to be falsified by choosing inputs.
///
/// ```
/// use anabranch_problems::Problem;
/// let problem = Problem::named("at-speed120").unwrap();
/// let robustness = problem.robustness_of_text("0 100 0; 15 50 0").unwrap();
/// assert!((robustness - -0.5512).abs() < 0.002);
/// ```
#[derive(Clone, Debug)]
pub struct Problem {
    /// Its name: `cc4`.
    pub name: &'static str,
    /// What is driven.
    pub plant: Plant,
    /// Range of every number of an input: throttle and brake of the first piece, of the second, and so on.
    pub dimensions: Vec<(f64, f64)>,
    /// Pieces of constant input.
    pub pieces: usize,
    /// Simulated seconds.
    pub horizon_s: f64,
    formula: Formula,
}

/// A run that was begun: it can be saved, cloned and continued.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    pub(crate) moment: Moment,
    times_s: Vec<f64>,
    signals: Vec<Vec<f64>>,
}

impl Problem {
    /// The names of all problems.
    pub fn names() -> impl Iterator<Item = &'static str> {
        CATALOGUE.iter().map(|(name, ..)| *name)
    }

    /// The problem of a name.
    ///
    /// # Errors
    /// When there is none.
    pub fn named(name: &str) -> Result<Self, ProblemError> {
        let unknown =
            || ProblemError::Unknown { name: name.to_owned(), known: Self::names().collect::<Vec<_>>().join(", ") };
        let &(name, plant, text) = CATALOGUE.iter().find(|(known, ..)| *known == name).ok_or_else(unknown)?;
        let formula = Formula::parse(text, plant.signals()).map_err(|_| unknown())?;
        let horizon_s = match plant {
            Plant::ChasingCars => 100.0,
            Plant::AutomaticTransmission => 30.0,
        };
        let pieces = (horizon_s / PIECE_S) as usize;
        let dimensions = plant.ranges().into_iter().cycle().take(2 * pieces).collect();
        Ok(Self { name, plant, dimensions, pieces, horizon_s, formula })
    }

    /// The requirement.
    pub fn formula(&self) -> &Formula {
        &self.formula
    }

    /// How long has to be simulated until the requirement is decided.
    pub fn needed_s(&self) -> f64 {
        self.horizon_s.min(self.formula.reach_s())
    }

    /// Robustness of the requirement under an input; negative is falsified. Not a number if the input has the wrong
    /// length.
    pub fn evaluate(&self, input: &[f64]) -> f64 {
        if input.len() != self.dimensions.len() {
            return f64::NAN;
        }
        let mut progress = self.start();
        for values in input.chunks_exact(2) {
            self.advance(&mut progress, [values[0], values[1]]);
        }
        self.finish(progress)
    }

    /// A run at time zero.
    pub fn start(&self) -> Progress {
        let moment = self.plant.start();
        // Room for twice the samples: moments of change are sampled too.
        let room = 2 * (self.needed_s() / self.plant.step_s()) as usize + 2;
        let mut progress = Progress { moment, times_s: Vec::new(), signals: Vec::new() };
        progress.times_s.reserve(if self.plant == Plant::ChasingCars { room } else { 0 });
        progress.signals = self.plant.signals().iter().map(|_| Vec::with_capacity(room)).collect();
        let first: &[f64] = match self.plant {
            Plant::ChasingCars => &[0.0, 10.0, 20.0, 30.0, 40.0],
            Plant::AutomaticTransmission => &[0.0, 1000.0, 1.0],
        };
        record(&mut progress.times_s, &mut progress.signals, 0.0, first);
        progress
    }

    /// Runs one piece under constant inputs. What lies behind the end of the requirement is not simulated.
    pub fn advance(&self, progress: &mut Progress, inputs: [f64; 2]) {
        let piece = (progress.moment.time_s(self.plant) / PIECE_S + 1e-9).floor();
        self.run_until(progress, (piece + 1.0) * PIECE_S, inputs);
    }

    /// Runs to a later time under constant inputs.
    fn run_until(&self, progress: &mut Progress, end_s: f64, inputs: [f64; 2]) {
        let Progress { moment, times_s, signals } = progress;
        moment.run_until(end_s.min(self.needed_s()), inputs, |time_s, values| record(times_s, signals, time_s, values));
    }

    /// Whether nothing that comes can change the robustness any more.
    pub fn is_over(&self, progress: &Progress) -> bool {
        progress.moment.time_s(self.plant) >= self.needed_s() - 1e-9
    }

    /// Robustness at the end of a run.
    pub fn finish(&self, progress: Progress) -> f64 {
        let trace = match self.plant {
            Plant::ChasingCars => Trace::new(progress.times_s, progress.signals),
            Plant::AutomaticTransmission => Trace::even(self.plant.step_s(), progress.signals),
        };
        trace.and_then(|trace| self.formula.robustness(&trace)).unwrap_or(f64::NAN)
    }

    /// Robustness under rows of times and inputs.
    pub fn robustness_of_rows(&self, rows: &[Row]) -> f64 {
        let mut progress = self.start();
        for (index, row) in rows.iter().enumerate() {
            let end_s = rows.get(index + 1).map_or(self.horizon_s, |next| next.from_s.min(self.horizon_s));
            self.run_until(&mut progress, end_s, [row.values[0], row.values[1]]);
        }
        self.finish(progress)
    }

    /// Robustness under an input written as `"0 100 0; 15 50 0"`: times, throttle and brake.
    ///
    /// # Errors
    /// When the text cannot be understood or leaves the ranges.
    pub fn robustness_of_text(&self, text: &str) -> Result<f64, ProblemError> {
        Ok(self.robustness_of_rows(&parse_rows(text, &self.plant.ranges())?))
    }
}

fn record(times_s: &mut Vec<f64>, signals: &mut [Vec<f64>], time_s: f64, values: &[f64]) {
    // The transmission is sampled evenly and needs no times.
    if signals.len() == 5 {
        times_s.push(time_s);
    }
    for (signal, value) in signals.iter_mut().zip(values) {
        signal.push(*value);
    }
}
