//! From what a scenario says may vary to a space of points, and back to values of the scenario.

use anabranch_kernel::System;
use anabranch_scenario::Drive;
use anabranch_scenario::file::{Code, Document, Over, Range, VarySpec};
use anabranch_search::{Dimension, Domain, Shape, SignalRange, Space, SpaceError};

use super::instance::{Instance, Workshop};
use super::rules::{self, Named};
use super::scorer::Scorer;
use crate::failure::Failure;
use crate::load::Loaded;

/// The path that stands for how many `[[object]]` are there.
pub const OBJECTS: &str = "objects";
/// Changes of an error in a run if nobody says.
const ERROR_POINTS_USUAL: usize = 8;

/// What a dimension stands for.
#[derive(Clone, Debug)]
pub enum Part {
    /// A value of the scenario from a range.
    Value {
        /// Its path.
        key: String,
        /// The range.
        range: Range,
        /// Whether it counts something.
        counts: bool,
    },
    /// A value of the scenario in steps; the dimension is the number of the step.
    Step {
        /// Its path.
        key: String,
        /// The range.
        range: Range,
        /// Width of a step.
        step: f64,
        /// Whether it counts something.
        counts: bool,
    },
    /// One of several values, as TOML.
    OneOf {
        /// Its path.
        key: String,
        /// The values.
        values: Vec<String>,
    },
    /// How many objects there are.
    Objects,
    /// One of the values of a start axis.
    Start {
        /// Number of the axis.
        axis: usize,
    },
    /// The mode of an error during a stretch of the run.
    Mode {
        /// Number of the site.
        site: usize,
    },
    /// Nothing: there is one instance.
    Nothing,
    /// A control point of a signal.
    Point {
        /// Number of the signal.
        signal: usize,
    },
}

/// An error whose size goes over time.
#[derive(Clone, Debug)]
pub struct ErrorSignal {
    /// The id of the error.
    pub id: String,
    /// `offset` or `gain`.
    pub kind: &'static str,
    /// Its range.
    pub range: Range,
    /// What the search knows about it.
    pub signal: SignalRange,
}

/// All that varies.
#[derive(Debug)]
pub struct Varied {
    /// For the search.
    pub space: Space,
    /// What each dimension stands for.
    pub parts: Vec<Part>,
    /// Signals in their order.
    pub signals: Vec<ErrorSignal>,
    /// Stretches of errors in a run.
    pub stretches: usize,
}

impl Varied {
    /// What varies in a scenario.
    ///
    /// # Errors
    /// With the place of a range that leads nowhere or leaves what the scenario allows.
    pub fn of(loaded: &Loaded, drive: &Drive, scorer: Scorer) -> Result<Self, Failure> {
        let spec = &loaded.spec.search;
        let segments = drive.segments() as usize;
        let usual = segments.min(ERROR_POINTS_USUAL);
        let stretches = spec.error_points.map_or(usual, |points| (points.value as usize).min(segments));
        let mut varied = Self { space: Space::default(), parts: Vec::new(), signals: Vec::new(), stretches };
        let mut dimensions = Vec::new();
        for vary in &spec.vary {
            varied.value(loaded, drive, vary, &mut dimensions)?;
        }
        // The explorer runs all starts and all errors itself, and a tree all errors.
        let starts = if matches!(scorer, Scorer::Graph { .. }) { &[][..] } else { &drive.space().axes };
        for (axis, values) in starts.iter().enumerate().filter(|(_, axis)| axis.values.len() > 1) {
            let labels: Vec<String> = values.values.iter().map(|value| format!("{value} {}", values.unit)).collect();
            let labels: Vec<&str> = labels.iter().map(|label| label.trim()).collect();
            dimensions.push(Dimension::one_of(&values.name, &labels));
            varied.parts.push(Part::Start { axis });
        }
        match scorer {
            Scorer::Run => varied.modes(drive, &mut dimensions),
            Scorer::Tree { .. } if dimensions.is_empty() && varied.signals.is_empty() => {
                // One instance, the scenario as it is; the tree does all the work.
                dimensions.push(Dimension::whole("instance", "", 0, 0));
                varied.parts.push(Part::Nothing);
            }
            Scorer::Tree { .. } | Scorer::Graph { .. } => {}
        }
        let names = varied.named(&dimensions);
        varied.space = Space::new(dimensions).map_err(|error| empty(loaded, &error))?;
        for (number, signal) in varied.signals.iter().enumerate() {
            varied.parts.extend((0..signal.signal.points).map(|_| Part::Point { signal: number }));
            varied.space = varied.space.with_signal(signal.signal.clone()).map_err(|error| empty(loaded, &error))?;
        }
        for rule in &spec.require {
            let read = rules::rule(&rule.value, &names).map_err(|(message, help)| {
                Failure::Located(loaded.document.diagnostic(Code::Expression, rule.span, message, &help).into())
            })?;
            varied.space = varied.space.with_constraint(&rule.value, read);
        }
        varied.space.layout().map_err(|error| empty(loaded, &error))?;
        varied.check_ends(loaded)?;
        Ok(varied)
    }

    /// Whether nothing varies but the errors of the scenario as it is.
    pub fn is_one_instance(&self) -> bool {
        matches!(self.parts[..], [Part::Nothing])
    }

    /// What conditions may speak about, dimension by dimension.
    fn named(&self, dimensions: &[Dimension]) -> Vec<Named> {
        let named = |(dimension, part): (&Dimension, &Part)| {
            let (from, each) = match part {
                Part::Step { range, step, .. } => (range.lo, *step),
                _ => (0.0, 1.0),
            };
            let is_number = !matches!(dimension.domain, Domain::OneOf(_));
            Named { name: dimension.name.clone(), unit: dimension.unit.clone(), from, each, is_number }
        };
        dimensions.iter().zip(&self.parts).map(named).collect()
    }

    /// Values as the scenario has them: those in steps are no longer numbers of steps.
    pub fn plain(&self, values: &[f64]) -> Vec<f64> {
        let plain = |(part, value): (&Part, &f64)| match part {
            Part::Step { range, step, .. } => range.lo + step * value,
            _ => *value,
        };
        self.parts.iter().zip(values).map(plain).collect()
    }

    /// A point in words.
    pub fn describe(&self, values: &[f64]) -> String {
        self.space.describe(&self.plain(values))
    }

    fn modes(&mut self, drive: &Drive, dimensions: &mut Vec<Dimension>) {
        for (number, site) in drive.errors().sites().iter().enumerate() {
            if self.signals.iter().any(|signal| signal.id == site.id) {
                continue;
            }
            let labels: Vec<&str> = site.modes.iter().map(|mode| mode.name.as_str()).collect();
            for stretch in 0..self.stretches {
                dimensions.push(Dimension::one_of(&format!("error.{}[{stretch}]", site.id), &labels));
                self.parts.push(Part::Mode { site: number });
            }
        }
    }

    fn value(
        &mut self,
        loaded: &Loaded,
        drive: &Drive,
        vary: &VarySpec,
        dimensions: &mut Vec<Dimension>,
    ) -> Result<(), Failure> {
        let key = loaded.document.full_path(&vary.key.value)?;
        let counts = loaded.document.counts(&key);
        let (dimension, part) = match vary.over.value.clone() {
            Over::Signal { range, points, is_linear } => {
                return self.signal(loaded, drive, vary, range, (points, is_linear));
            }
            _ if key == OBJECTS => (objects(loaded, vary)?, Part::Objects),
            Over::Range(range) if counts => {
                let whole = Dimension::whole(&key, "", range.lo.ceil() as i64, range.hi.floor() as i64);
                (whole, Part::Value { key, range, counts })
            }
            Over::Range(range) => {
                (Dimension::real(&key, &range.unit, range.lo, range.hi), Part::Value { key, range, counts })
            }
            Over::Steps { range, step } => {
                let last = ((range.hi - range.lo) / step + 1e-9).floor() as i64;
                (Dimension::whole(&key, &range.unit, 0, last), Part::Step { key, range, step, counts })
            }
            Over::OneOf(values) => {
                let labels: Vec<&str> = values.iter().map(|value| value.trim_matches('"')).collect();
                (Dimension::one_of(&key, &labels), Part::OneOf { key, values: values.clone() })
            }
        };
        dimensions.push(dimension);
        self.parts.push(part);
        Ok(())
    }

    fn signal(
        &mut self,
        loaded: &Loaded,
        drive: &Drive,
        vary: &VarySpec,
        range: Range,
        (points, is_linear): (usize, bool),
    ) -> Result<(), Failure> {
        let wrong = |message: String, help: &str| {
            Failure::Located(loaded.document.diagnostic(Code::BadRange, vary.key.span, message, help).into())
        };
        let help =
            "signals go over errors of the kinds `offset` and `gain`, as in error.pull = { range = .., points = 4 }";
        let id = vary.key.value.strip_prefix("error.").unwrap_or_default();
        let kind = loaded.document.error_kind(id).filter(|kind| matches!(*kind, "offset" | "gain"));
        let Some(kind) = kind else {
            return Err(wrong(format!("`{}` is no error that can be a signal", vary.key.value), help));
        };
        if kind == "gain" && range.lo < 0.0 {
            return Err(wrong("a gain is not negative".to_owned(), help));
        }
        let signal = SignalRange {
            name: format!("error.{id}"),
            unit: range.unit.clone(),
            lo: range.lo,
            hi: range.hi,
            points,
            shape: if is_linear { Shape::Linear } else { Shape::Constant },
            horizon_seconds: f64::from(drive.segments()) * drive.segment_seconds(),
        };
        self.signals.push(ErrorSignal { id: id.to_owned(), kind, range, signal });
        Ok(())
    }

    /// Both ends of every range, and every alternative, alone: what the scenario refuses there is told with its place.
    fn check_ends(&self, loaded: &Loaded) -> Result<(), Failure> {
        let workshop = Workshop::new(loaded);
        for vary in &loaded.spec.search.vary {
            let key = loaded.document.full_path(&vary.key.value)?;
            let values: Vec<String> = match &vary.over.value {
                _ if key == OBJECTS => {
                    let Over::Range(range) = &vary.over.value else { continue };
                    vec![loaded.document.first_objects(range.lo as usize)]
                }
                Over::Range(range) if loaded.document.counts(&key) => {
                    vec![range.whole_text(range.lo.ceil()), range.whole_text(range.hi.floor())]
                }
                Over::Range(range) | Over::Steps { range, .. } => vec![range.text(range.lo), range.text(range.hi)],
                Over::OneOf(values) => values.clone(),
                Over::Signal { .. } => continue,
            };
            let key = if key == OBJECTS { "object".to_owned() } else { key };
            for value in values {
                if let Err(report) = workshop.reads(&[(key.clone(), value.clone())]) {
                    let first = report.diagnostics.first();
                    let message = first.map_or_else(String::new, |d| d.message.clone());
                    let message = format!("`{}` cannot be {}: {message}", vary.key.value, value.trim_matches('"'));
                    let help = first.map_or("", |d| d.help.as_str());
                    let code = if first.is_some_and(|d| d.code == Code::BadOverride.text()) {
                        Code::BadOverride
                    } else {
                        Code::BadRange
                    };
                    let span = if code == Code::BadOverride { vary.key.span } else { vary.over.span };
                    return Err(Failure::Located(loaded.document.diagnostic(code, span, message, help).into()));
                }
            }
        }
        Ok(())
    }

    /// What a point of the space means in the scenario.
    pub fn instance(&self, document: &Document, values: &[f64]) -> Instance {
        let mut instance = Instance::default();
        let mut points: Vec<Vec<f64>> = vec![Vec::new(); self.signals.len()];
        for (part, value) in self.parts.iter().zip(values) {
            match part {
                Part::Value { key, range, counts } => {
                    let text = if *counts { range.whole_text(*value) } else { range.text(*value) };
                    instance.set.push((key.clone(), text));
                }
                Part::Step { key, range, step, counts } => {
                    let value = range.lo + step * value;
                    let text = if *counts { range.whole_text(value) } else { range.text(value) };
                    instance.set.push((key.clone(), text));
                }
                Part::OneOf { key, values } => {
                    let text = values.get(*value as usize).cloned().unwrap_or_default();
                    instance.set.push((key.clone(), text));
                }
                // Before all others: they may name an object.
                Part::Objects => {
                    instance.set.insert(0, ("object".to_owned(), document.first_objects(*value as usize)));
                }
                Part::Start { axis } => instance.starts.push((*axis, *value as usize)),
                Part::Mode { site } => match instance.modes.iter_mut().find(|(known, _)| known == site) {
                    Some((_, modes)) => modes.push(*value as u8),
                    None => instance.modes.push((*site, vec![*value as u8])),
                },
                Part::Nothing => {}
                Part::Point { signal } => points[*signal].push(*value),
            }
        }
        for (signal, points) in self.signals.iter().zip(points) {
            instance.signals.push((signal.clone(), points));
        }
        instance.drop_absent(document);
        instance
    }
}

fn objects(loaded: &Loaded, vary: &VarySpec) -> Result<Dimension, Failure> {
    let most = loaded.document.object_count();
    let wrong = |message: String| {
        let help = "write how many, as in objects = \"0 .. 3\"; those of the file are counted from its beginning";
        Failure::Located(loaded.document.diagnostic(Code::BadRange, vary.over.span, message, help).into())
    };
    match &vary.over.value {
        Over::Range(range) if range.unit.is_empty() && range.lo >= 0.0 && range.hi <= most as f64 => {
            Ok(Dimension::whole(OBJECTS, "", range.lo.ceil() as i64, range.hi.floor() as i64))
        }
        Over::Range(_) => Err(wrong(format!("the scenario has {most} objects"))),
        _ => Err(wrong("how many objects there are is a range".to_owned())),
    }
}

fn empty(loaded: &Loaded, error: &SpaceError) -> Failure {
    let help = "add [search] with vary = { .. }, or --vary ego.start.y=\"-0.3 m .. 0.3 m\"";
    let span = loaded.spec.search.span;
    Failure::Located(loaded.document.diagnostic(Code::BadRange, span, error.to_string(), help).into())
}
