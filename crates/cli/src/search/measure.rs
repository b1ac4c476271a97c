//! What is made small: the clearance, the distance to others, the time to collision, the reserve of responsibility-sensitive safety,
//! the margin of a formula, or a sum of these.

use anabranch_kernel::{Recorder, Signal, System};
use anabranch_logic::{Formula, Trace};
use anabranch_scenario::Drive;
use anabranch_scenario::file::{Code, Located, Span};

use crate::failure::Failure;
use crate::load::Loaded;

/// A time to collision (s) or a reserve (m) beyond this counts as this: nothing is near.
const LEAST_MAX: f64 = 1000.0;
/// Words for the smallest value of a signal that there is on roads only, and what the signal is.
const WORDS: [(&str, &str, &str); 3] = [
    ("ttc", "ego.ttc", "time to collision"),
    ("rss", "ego.rss_reserve", "reserve by responsibility-sensitive safety"),
    ("distance", "ego.others_distance", "distance to others"),
];

/// One objective.
#[derive(Clone, Debug)]
pub struct Measure {
    /// As written.
    pub text: String,
    kind: MeasureKind,
}

#[derive(Clone, Debug)]
enum MeasureKind {
    /// Smallest margin that the loop itself reports.
    Clearance,
    /// Smallest value of a signal.
    Least(usize),
    /// Margin of a formula over the whole run.
    Formula(Box<Formula>),
    /// Sum of others, each with its weight.
    Sum(Vec<(f64, MeasureKind)>),
}

impl Measure {
    /// The objectives of a search: those of the command line, else those of the scenario, else clearance.
    ///
    /// # Errors
    /// With the place of what cannot be understood.
    pub fn all(loaded: &Loaded, drive: &Drive, given: &[String]) -> Result<Vec<Self>, Failure> {
        let of_file = &loaded.spec.search.objective;
        if !given.is_empty() {
            let read = |text: &String| {
                Self::read(text, drive, loaded)
                    .map_err(|(message, help)| Failure::input(format!("--objective: `{text}`: {message}"), help))
            };
            return given.iter().map(read).collect();
        }
        if of_file.is_empty() {
            return Ok(vec![Self { text: "clearance".to_owned(), kind: MeasureKind::Clearance }]);
        }
        let read = |Located { value, span }: &Located<String>| {
            let located = |(message, help): (String, String)| located(loaded, *span, message, &help);
            Self::read(value, drive, loaded).map_err(located)
        };
        of_file.iter().map(read).collect()
    }

    /// Whether an objective is a formula over signals; the loop then needs all of them.
    pub fn reads_signals(loaded: &Loaded, given: &[String]) -> bool {
        let is_formula = |text: &str| text != "clearance" && WORDS.iter().all(|(word, ..)| text != *word);
        let has_formula = |text: &str| text.split(JOIN).any(|part| is_formula(weighed(part).1));
        match given {
            [] => loaded.spec.search.objective.iter().any(|objective| has_formula(&objective.value)),
            given => given.iter().any(|text| has_formula(text)),
        }
    }

    fn read(text: &str, drive: &Drive, loaded: &Loaded) -> Result<Self, (String, String)> {
        let kind = match text.contains(JOIN) {
            false => MeasureKind::read(text.trim(), drive, loaded)?,
            true => {
                let part = |part| -> Result<(f64, MeasureKind), (String, String)> {
                    let (weight, text) = weighed(part);
                    let kind = MeasureKind::read(text, drive, loaded)
                        .map_err(|(message, help)| (format!("in `{text}`: {message}"), help))?;
                    Ok((weight, kind))
                };
                MeasureKind::Sum(text.split(JOIN).map(part).collect::<Result<_, _>>()?)
            }
        };
        // Long sums are written over several lines, and told in one.
        Ok(Self { text: text.split_whitespace().collect::<Vec<_>>().join(" "), kind })
    }

    /// Whether the frames of a run are needed.
    pub fn needs_frames(&self) -> bool {
        !matches!(self.kind, MeasureKind::Clearance)
    }

    /// The value of a run; no number where its frames are none.
    pub fn value(&self, margin: f64, trace: Option<&Trace>) -> f64 {
        self.kind.value(margin, trace)
    }
}

/// What stands between the parts of a sum, and behind the weight of one.
const JOIN: char = ';';
const TIMES: &str = " times ";

/// A part of a sum: its weight, and what it is.
fn weighed(part: &str) -> (f64, &str) {
    let weight = |text: &str| text.trim().parse().ok().filter(|weight: &f64| weight.is_finite());
    let (weight, rest) =
        part.split_once(TIMES).and_then(|(first, rest)| Some((weight(first)?, rest))).unwrap_or((1.0, part));
    (weight, rest.trim())
}

impl MeasureKind {
    fn read(text: &str, drive: &Drive, loaded: &Loaded) -> Result<Self, (String, String)> {
        let at = |name: &str| drive.signals().iter().position(|signal: &Signal| signal.name == name);
        match (text, WORDS.iter().find(|(word, ..)| *word == text)) {
            ("clearance", _) => Ok(Self::Clearance),
            (_, Some((_, signal, what))) => {
                at(signal).map(Self::Least).ok_or_else(|| (format!("there is a {what} on roads only"), String::new()))
            }
            _ => {
                let formula = Formula::parse(text, &loaded.spec.signal_table()).map_err(|error| {
                    let help = error.suggestion.unwrap_or_else(|| {
                        "an objective is `clearance`, `distance`, `ttc`, `rss`, a formula such as `always ego.speed < 50 km/h`, or a sum of \
                         these: `distance; 0.3 times rss`"
                            .to_owned()
                    });
                    (error.message, help)
                })?;
                if !has_finite_value(&formula, drive) {
                    let help = "factors are too large, or it says nothing about the time of a run".to_owned();
                    return Err(("this has no finite value".to_owned(), help));
                }
                Ok(Self::Formula(Box::new(formula)))
            }
        }
    }

    fn value(&self, margin: f64, trace: Option<&Trace>) -> f64 {
        match (self, trace) {
            (Self::Clearance, _) => margin,
            (Self::Sum(parts), _) => parts.iter().map(|(weight, part)| weight * part.value(margin, trace)).sum(),
            (Self::Least(signal), Some(trace)) => trace.signal(*signal).iter().copied().fold(LEAST_MAX, f64::min),
            (Self::Formula(formula), Some(trace)) => formula.robustness(trace).unwrap_or(f64::NAN),
            (Self::Least(_) | Self::Formula(_), None) => f64::NAN,
        }
    }
}

/// Whether a formula has a value on a whole run of plain numbers: what overflows there would be no number in every run.
fn has_finite_value(formula: &Formula, drive: &Drive) -> bool {
    let ticks = (f64::from(drive.segments()) * drive.segment_seconds() / drive.step_s()).round() as usize;
    let signals = vec![vec![1.0; ticks.max(2)]; drive.signals().len()];
    let value = Trace::even(drive.step_s(), signals).ok().and_then(|trace| formula.robustness(&trace).ok());
    value.is_some_and(f64::is_finite)
}

fn located(loaded: &Loaded, span: Span, message: String, help: &str) -> Failure {
    Failure::Located(loaded.document.diagnostic(Code::Expression, span, message, help).into())
}

/// Signals of a run, one list each. Infinite numbers are kept within what can be compared.
#[derive(Debug, Default)]
pub struct Frames {
    signals: Vec<Vec<f64>>,
}

impl Frames {
    /// As a trace; nothing where a value is no number.
    pub fn into_trace(self, step_s: f64) -> Option<Trace> {
        Trace::even(step_s, self.signals).ok()
    }
}

/// What is infinite in a signal, for formulas that subtract.
const FAR: f64 = 1e6;

impl Recorder for Frames {
    fn frame(&mut self, _tick: u64, values: &[f64]) {
        self.signals.resize(values.len(), Vec::new());
        for (signal, value) in self.signals.iter_mut().zip(values) {
            signal.push(if value.is_nan() { *value } else { value.clamp(-FAR, FAR) });
        }
    }
}
