//! From which size on an error does harm: the counterexample with smaller and smaller errors.

use anabranch_explore::explain::{Explanation, Question, Tries};
use anabranch_kernel::{Choice, System};
use anabranch_scenario::file::{ErrorKind, ErrorPlace, ErrorSpec};

use super::Case;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::load::{Override, load_text};
use crate::numbers::short;

/// Halvings of the interval in which the threshold lies: a four-thousandth of the size.
const HALVINGS: usize = 12;
/// An error that does harm at this share of its size does so at any.
const TINY: f64 = 0.001;

/// From which size on one error of the counterexample does harm, all others unchanged.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// Id of the error.
    pub id: String,
    /// Key in the scenario: `error.estimate-jump.jump.radius`.
    pub key: String,
    /// Unit for people.
    pub unit: &'static str,
    /// The size in the scenario; the largest if it has several.
    pub size: f64,
    /// The smallest size that was seen to violate.
    pub violates_at: f64,
    /// The largest size below it that was seen not to; `None` if even the tiniest violates.
    pub passes_at: Option<f64>,
}

/// A size in the scenario that can be made smaller.
#[derive(Clone, Debug, PartialEq)]
struct Size {
    id: String,
    key: String,
    /// In units of the file.
    values: Vec<f64>,
    /// Unit in the file.
    unit: &'static str,
    /// What no error would be: 0, or 1 for factors.
    neutral: f64,
    /// Sizes are whole multiples of this; 0 if any size will do.
    step: f64,
    /// How many of the unit for people are one of the unit in the file.
    shown: (&'static str, f64),
}

/// The thresholds of every error in the counterexample that has a size.
pub fn find(case: &Case<'_>, why: &Explanation) -> Result<Vec<Threshold>, Failure> {
    let space = case.drive.errors();
    let mut thresholds = Vec::new();
    for (site, spec) in case.loaded().spec.errors.iter().enumerate() {
        let used = |choice: &Choice| Some(space.modes(*choice)[site]).filter(|mode| *mode != 0);
        let modes: Vec<u8> = why.minimal.choices.iter().filter_map(used).collect();
        if modes.is_empty() {
            continue;
        }
        for size in sizes(spec, &modes, case.drive.step_s()) {
            thresholds.extend(bisect(case, &why.minimal.choices, &size)?);
        }
    }
    Ok(thresholds)
}

/// The sizes of an error that its used modes depend on.
fn sizes(spec: &ErrorSpec, modes: &[u8], step_s: f64) -> Vec<Size> {
    let metres = |key: &str, values: &[f64]| Size::new(spec, key, values, "m");
    let radians = |key: &str, values: &[f64]| Size { shown: ("°", DEGREES), ..Size::new(spec, key, values, "rad") };
    let ticks = |key: &str, values: &[f64]| Size { step: step_s, ..Size::new(spec, key, values, "s") };
    let mut sizes = match &spec.kind.value {
        ErrorKind::Jump { radius_m, directions, heading_rad, .. } => {
            let positions = radius_m.len() * *directions as usize;
            let turns = modes.iter().any(|mode| usize::from(*mode) > positions);
            let moves = modes.iter().any(|mode| usize::from(*mode) <= positions);
            let radius = moves.then(|| metres("jump.radius", radius_m));
            let heading = turns.then(|| radians("jump.heading", heading_rad));
            radius.into_iter().chain(heading).collect()
        }
        ErrorKind::Drift { position_m, heading_rad, .. } => {
            let position = position_m.map(|size| metres("drift.step", &[size.step]));
            let heading = heading_rad.map(|size| radians("drift.heading", &[size.step]));
            position.into_iter().chain(heading).collect()
        }
        ErrorKind::Delay { by_s } => vec![ticks("delay.by", by_s)],
        ErrorKind::Late { by_s, .. } => vec![ticks("late.by", by_s)],
        ErrorKind::Offset { by } if spec.on.value == ErrorPlace::Steering => vec![radians("offset.by", by)],
        ErrorKind::Offset { by } => vec![Size::new(spec, "offset.by", by, "m/s^2")],
        ErrorKind::Gain { by } => vec![Size { neutral: 1.0, ..Size::new(spec, "gain.by", by, "") }],
        ErrorKind::Displaced { by_m, .. } => vec![metres("displaced.by", &[*by_m])],
        ErrorKind::Leak { by_pa, .. } => {
            vec![Size { shown: ("bar", 1e-5), ..Size::new(spec, "leak.by", by_pa, "Pa") }]
        }
        ErrorKind::Lost { .. }
        | ErrorKind::MessagesLost { .. }
        | ErrorKind::MonitorLost
        | ErrorKind::Flipped { .. }
        | ErrorKind::Missed { .. }
        | ErrorKind::Ghost { .. }
        | ErrorKind::Appears { .. } => Vec::new(),
    };
    sizes.retain(|size| !size.values.is_empty());
    sizes
}

const DEGREES: f64 = 180.0 / std::f64::consts::PI;

impl Size {
    fn new(spec: &ErrorSpec, key: &str, values: &[f64], unit: &'static str) -> Self {
        let id = spec.id.value.clone();
        let key = format!("error.{id}.{key}");
        Self { id, key, values: values.to_vec(), unit, neutral: 0.0, step: 0.0, shown: (unit, 1.0) }
    }

    /// The value farthest from no error.
    fn largest(&self) -> f64 {
        let farther = |a: &&f64, b: &&f64| (*a - self.neutral).abs().total_cmp(&(*b - self.neutral).abs());
        self.values.iter().max_by(farther).copied().unwrap_or(self.neutral)
    }

    fn scaled(&self, value: f64, share: f64) -> f64 {
        let scaled = self.neutral + (value - self.neutral) * share;
        if self.step > 0.0 { (scaled / self.step).round() * self.step } else { scaled }
    }

    /// As `--set` would say it.
    fn at(&self, share: f64) -> Override {
        let text = |value: &f64| match self.unit {
            "" => format!("{}", self.scaled(*value, share)),
            unit => format!("\"{} {unit}\"", plain(self.scaled(*value, share))),
        };
        let texts: Vec<String> = self.values.iter().map(text).collect();
        let value = if texts.len() == 1 { texts[0].clone() } else { format!("[{}]", texts.join(", ")) };
        (self.key.clone(), value)
    }

    /// For people.
    fn show(&self, share: f64) -> f64 {
        self.scaled(self.largest(), share) * self.shown.1
    }
}

/// Without the noise of binary fractions and without exponents.
fn plain(value: f64) -> String {
    short(value, 12)
}

/// Halves the interval between a size that violates and one that does not. `None` if the error cannot be made smaller.
fn bisect(case: &Case<'_>, choices: &[Choice], size: &Size) -> Result<Option<Threshold>, Failure> {
    let shares = |count: usize| 1.0 / count as f64;
    // Whole base cycles from none to all; or as fine as halving makes it.
    let cells = if size.step > 0.0 { ((size.largest() / size.step).round() as usize).max(1) } else { 1 << HALVINGS };
    let (mut passes, mut violates) = (0, cells);
    let tiniest = if size.step > 0.0 { shares(cells) } else { TINY };
    let is_any = match violation(case, choices, size, tiniest)? {
        None => return Ok(None),
        Some(is_violated) => is_violated,
    };
    while !is_any && violates - passes > 1 {
        let middle = passes.midpoint(violates);
        match violation(case, choices, size, middle as f64 * shares(cells))? {
            Some(true) => violates = middle,
            Some(false) => passes = middle,
            // Two of several sizes would become one; what is known so far is told.
            None => break,
        }
    }
    let (violates_at, passes_at) = if is_any {
        (size.show(tiniest), None)
    } else {
        (size.show(violates as f64 * shares(cells)), Some(size.show(passes as f64 * shares(cells))))
    };
    let (id, key, unit) = (size.id.clone(), size.key.clone(), size.shown.0);
    Ok(Some(Threshold { id, key, unit, size: size.show(1.0), violates_at, passes_at }))
}

/// Whether the same errors violate the same requirement at a share of the size; `None` where the scenario refuses it.
fn violation(case: &Case<'_>, choices: &[Choice], size: &Size, share: f64) -> Result<Option<bool>, Failure> {
    let loaded = case.loaded();
    let overrides: Vec<Override> = loaded.overrides.iter().cloned().chain([size.at(share)]).collect();
    let smaller = load_text(&loaded.path, loaded.text.as_bytes(), &overrides, &[]);
    let drive = match smaller.and_then(|smaller| smaller.drive()) {
        Ok(drive) => drive,
        Err(failure) if failure.exit() == Exit::BadInput => return Ok(None),
        Err(failure) => return Err(failure),
    };
    if drive.errors().len() != case.drive.errors().len() {
        return Ok(None);
    }
    let question = Question { system: drive.as_ref(), choices, ..case.question() };
    let tried = Tries::new(question)?.one(choices)?;
    // Below the threshold nothing is violated: the requirement counts here, not only the accident.
    Ok(Some(tried.violation(case.requirement).is_some()))
}
