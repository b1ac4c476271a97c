//! What may vary: ranges, whole numbers, alternatives and error signals, with constraints among them.
//!
//! Optimisers see only the unit cube and a [`Layout`]; objectives see only values. The space translates.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::signal::SignalRange;

/// Most dimensions of a space. Beyond it a mistake is likelier than a wish, and CMA-ES would need gigabytes.
pub const DIMENSIONS_MAX: usize = 4096;

/// The values one dimension may take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Domain {
    /// Every number from `lo` to `hi`.
    Real {
        /// Smallest value.
        lo: f64,
        /// Largest value.
        hi: f64,
    },
    /// Every whole number from `lo` to `hi`, both included.
    Whole {
        /// Smallest value.
        lo: i64,
        /// Largest value.
        hi: i64,
    },
    /// One of several alternatives without an order; the value is its position.
    OneOf(Vec<String>),
}

/// One thing that varies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dimension {
    /// Key in the scenario: `ego.start.y`.
    pub name: String,
    /// Unit of the values.
    pub unit: String,
    /// What they may be.
    pub domain: Domain,
}

impl Dimension {
    /// A continuous range.
    pub fn real(name: &str, unit: &str, lo: f64, hi: f64) -> Self {
        Self { name: name.into(), unit: unit.into(), domain: Domain::Real { lo, hi } }
    }
    /// A range of whole numbers.
    pub fn whole(name: &str, unit: &str, lo: i64, hi: i64) -> Self {
        Self { name: name.into(), unit: unit.into(), domain: Domain::Whole { lo, hi } }
    }
    /// Alternatives without an order.
    pub fn one_of(name: &str, labels: &[&str]) -> Self {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        Self { name: name.into(), unit: String::new(), domain: Domain::OneOf(labels) }
    }
    fn check(&self) -> Result<(), SpaceError> {
        let name = || self.name.clone();
        match &self.domain {
            Domain::Real { lo, hi } if !lo.is_finite() || !hi.is_finite() => {
                Err(SpaceError::NotFinite { name: name(), lo: *lo, hi: *hi })
            }
            Domain::Real { lo, hi } if lo > hi => {
                Err(SpaceError::Backwards { name: name(), lo: lo.to_string(), hi: hi.to_string() })
            }
            Domain::Whole { lo, hi } if lo > hi => {
                Err(SpaceError::Backwards { name: name(), lo: lo.to_string(), hi: hi.to_string() })
            }
            Domain::OneOf(labels) if labels.is_empty() => Err(SpaceError::NoAlternative { name: name() }),
            _ => Ok(()),
        }
    }
    /// How an optimiser should treat it.
    fn kind(&self) -> Kind {
        match &self.domain {
            Domain::Real { .. } => Kind::Real,
            Domain::Whole { lo, hi } => Kind::Whole(hi.abs_diff(*lo).saturating_add(1)),
            Domain::OneOf(labels) => Kind::OneOf(labels.len() as u64),
        }
    }
    /// The value at a place of the unit interval.
    pub fn value(&self, unit: f64) -> f64 {
        let unit = unit.clamp(0.0, 1.0);
        match &self.domain {
            Domain::Real { lo, hi } => (lo * (1.0 - unit) + hi * unit).clamp(*lo, *hi),
            Domain::Whole { lo, hi } => (*lo as f64 + bucket(unit, hi.abs_diff(*lo).saturating_add(1))).min(*hi as f64),
            Domain::OneOf(labels) => bucket(unit, labels.len() as u64),
        }
    }
    /// The place of a value in the unit interval; for whole numbers and alternatives the middle of their share.
    pub fn unit(&self, value: f64) -> f64 {
        let place = match &self.domain {
            Domain::Real { lo, hi } if hi > lo => (value - lo) / (hi - lo),
            Domain::Real { .. } => 0.5,
            Domain::Whole { lo, hi } => (value - *lo as f64 + 0.5) / (hi.abs_diff(*lo) as f64 + 1.0),
            Domain::OneOf(labels) => (value + 0.5) / labels.len() as f64,
        };
        place.clamp(0.0, 1.0)
    }
}

/// Which of `count` equal shares of the unit interval a place lies in.
fn bucket(unit: f64, count: u64) -> f64 {
    (unit * count as f64).floor().min(count.saturating_sub(1) as f64)
}

/// How an optimiser treats a dimension of the unit cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Continuous.
    Real,
    /// So many steps, in order.
    Whole(u64),
    /// So many alternatives, without an order.
    OneOf(u64),
}

/// Dimensions that are the control points of one signal, in the order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// The first dimension.
    pub start: usize,
    /// How many.
    pub len: usize,
}

/// What an optimiser knows about a space: the shape of its unit cube, and nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Layout {
    /// One per dimension.
    pub kinds: Vec<Kind>,
    /// The signals among them.
    pub groups: Vec<Group>,
}

impl Layout {
    /// So many continuous dimensions and no signal.
    pub fn real(dimensions: usize) -> Self {
        Self { kinds: vec![Kind::Real; dimensions], groups: Vec::new() }
    }
    /// Number of dimensions.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }
    /// True for a space of no dimension.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }
}

/// The rule of a constraint: zero or less where it is kept, otherwise how far it is broken.
pub type Rule = Arc<dyn Fn(&[f64]) -> f64 + Send + Sync>;

/// A relation that points must keep; others are not simulated.
#[derive(Clone)]
pub struct Constraint {
    /// For messages and counts.
    pub name: String,
    /// How far it is broken at a point.
    pub broken_by: Rule,
}

impl std::fmt::Debug for Constraint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Constraint").field("name", &self.name).finish_non_exhaustive()
    }
}

/// All that varies in a search.
#[derive(Clone, Debug, Default)]
pub struct Space {
    dimensions: Vec<Dimension>,
    signals: Vec<(SignalRange, Group)>,
    constraints: Vec<Constraint>,
}

/// A space in which nothing can be searched.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SpaceError {
    /// A bound is infinite or not a number.
    #[error("`{name}`: the range {lo} … {hi} is not finite; give two numbers")]
    NotFinite {
        /// The dimension.
        name: String,
        /// Its lower bound.
        lo: f64,
        /// Its upper bound.
        hi: f64,
    },
    /// The bounds are in the wrong order.
    #[error("`{name}`: the range {lo} … {hi} is backwards; write the smaller number first")]
    Backwards {
        /// The dimension.
        name: String,
        /// Its lower bound.
        lo: String,
        /// Its upper bound.
        hi: String,
    },
    /// A choice among nothing.
    #[error("`{name}`: there is nothing to choose from; name at least one alternative")]
    NoAlternative {
        /// The dimension.
        name: String,
    },
    /// A signal without control points or without time.
    #[error("signal `{name}`: {why}")]
    Signal {
        /// The signal.
        name: String,
        /// What is wrong, and how to go on.
        why: String,
    },
    /// One name, two dimensions.
    #[error("`{name}` varies twice; remove one of the ranges")]
    Twice {
        /// The name.
        name: String,
    },
    /// Nothing varies.
    #[error("nothing varies: the space is empty; give at least one value a range")]
    Empty,
    /// Too much varies.
    #[error("{found} dimensions are more than the {DIMENSIONS_MAX} a search can handle; use fewer control points")]
    TooMany {
        /// How many there are.
        found: usize,
    },
    /// A point of the wrong length.
    #[error("a point has {found} values, the space has {expected} dimensions")]
    Length {
        /// Dimensions.
        expected: usize,
        /// Values.
        found: usize,
    },
}

impl Space {
    /// A space of these dimensions.
    ///
    /// # Errors
    /// With the first range that is wrong.
    pub fn new(dimensions: Vec<Dimension>) -> Result<Self, SpaceError> {
        let mut space = Self::default();
        for dimension in dimensions {
            space.add(dimension)?;
        }
        Ok(space)
    }
    fn add(&mut self, dimension: Dimension) -> Result<(), SpaceError> {
        dimension.check()?;
        if self.dimensions.iter().any(|other| other.name == dimension.name) {
            return Err(SpaceError::Twice { name: dimension.name });
        }
        if self.dimensions.len() == DIMENSIONS_MAX {
            return Err(SpaceError::TooMany { found: DIMENSIONS_MAX + 1 });
        }
        self.dimensions.push(dimension);
        Ok(())
    }
    /// The space with a signal more, as one dimension per control point.
    ///
    /// # Errors
    /// When the signal has no control point, no time or a wrong range.
    pub fn with_signal(mut self, signal: SignalRange) -> Result<Self, SpaceError> {
        signal.check()?;
        let group = Group { start: self.dimensions.len(), len: signal.points };
        if group.start + group.len > DIMENSIONS_MAX {
            return Err(SpaceError::TooMany { found: group.start + group.len });
        }
        for n in 0..signal.points {
            self.add(Dimension::real(&format!("{}[{n}]", signal.name), &signal.unit, signal.lo, signal.hi))?;
        }
        self.signals.push((signal, group));
        Ok(self)
    }
    /// The space with a constraint more. The rule says how far a point breaks it; zero or less is kept.
    #[must_use]
    pub fn with_constraint(mut self, name: &str, rule: impl Fn(&[f64]) -> f64 + Send + Sync + 'static) -> Self {
        self.constraints.push(Constraint { name: name.into(), broken_by: Arc::new(rule) });
        self
    }
    /// All dimensions, those of signals included.
    pub fn dimensions(&self) -> &[Dimension] {
        &self.dimensions
    }
    /// The signals, with their dimensions.
    pub fn signals(&self) -> &[(SignalRange, Group)] {
        &self.signals
    }
    /// The constraints.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }
    /// What an optimiser may know.
    ///
    /// # Errors
    /// When nothing varies.
    pub fn layout(&self) -> Result<Layout, SpaceError> {
        if self.dimensions.is_empty() {
            return Err(SpaceError::Empty);
        }
        let kinds = self.dimensions.iter().map(Dimension::kind).collect();
        let groups = self.signals.iter().filter(|(_, g)| g.len > 1).map(|(_, group)| *group).collect();
        Ok(Layout { kinds, groups })
    }
    /// Values of a point of the unit cube.
    pub fn values(&self, unit: &[f64]) -> Vec<f64> {
        self.dimensions.iter().zip(unit).map(|(dimension, u)| dimension.value(*u)).collect()
    }
    /// The point of the unit cube that has these values.
    ///
    /// # Errors
    /// When there are too few or too many values.
    pub fn unit(&self, values: &[f64]) -> Result<Vec<f64>, SpaceError> {
        if values.len() != self.dimensions.len() {
            return Err(SpaceError::Length { expected: self.dimensions.len(), found: values.len() });
        }
        Ok(self.dimensions.iter().zip(values).map(|(dimension, value)| dimension.unit(*value)).collect())
    }
    /// The first constraint that a point breaks, and how far. A rule that gives no number is broken endlessly.
    pub fn broken(&self, values: &[f64]) -> Option<(usize, f64)> {
        self.constraints.iter().enumerate().find_map(|(n, constraint)| {
            let by = (constraint.broken_by)(values);
            let by = if by.is_nan() { f64::INFINITY } else { by };
            (by > 0.0).then_some((n, by))
        })
    }
    /// A point in words: `ego.start.y = 1.5 m, weather = rain`.
    pub fn describe(&self, values: &[f64]) -> String {
        let words = self.dimensions.iter().zip(values).map(|(dimension, value)| match &dimension.domain {
            Domain::OneOf(labels) => {
                format!("{} = {}", dimension.name, labels.get(*value as usize).map_or("?", |label| label.as_str()))
            }
            _ if dimension.unit.is_empty() => format!("{} = {value}", dimension.name),
            _ => format!("{} = {value} {}", dimension.name, dimension.unit),
        });
        words.collect::<Vec<_>>().join(", ")
    }
}
