//! Inputs over time, given by a few control points.

use serde::{Deserialize, Serialize};

use crate::space::SpaceError;

/// What an input does between its control points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shape {
    /// Holds the value of the piece: n control points are n pieces of equal length.
    Constant,
    /// Goes straight from point to point: the first control point is at the start, the last at the end.
    Linear,
}

/// An input over time whose control points vary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignalRange {
    /// Name of the input.
    pub name: String,
    /// Unit of its values.
    pub unit: String,
    /// Smallest value.
    pub lo: f64,
    /// Largest value.
    pub hi: f64,
    /// Number of control points.
    pub points: usize,
    /// What it does between them.
    pub shape: Shape,
    /// Time from its start to its end.
    pub horizon_seconds: f64,
}

impl SignalRange {
    /// What a signal must keep to besides its range.
    pub(crate) fn check(&self) -> Result<(), SpaceError> {
        let wrong = |why: &str| Err(SpaceError::Signal { name: self.name.clone(), why: why.into() });
        let least = if self.shape == Shape::Linear { 2 } else { 1 };
        if self.points < least {
            return wrong(&format!("{} control points are too few; it needs at least {least}", self.points));
        }
        if !self.horizon_seconds.is_finite() || self.horizon_seconds <= 0.0 {
            return wrong(&format!("a horizon of {} s is no time; give a positive number", self.horizon_seconds));
        }
        Ok(())
    }
    /// The value at a time, for these values at the control points. Before the start and after the end it holds.
    pub fn at(&self, points: &[f64], seconds: f64) -> f64 {
        let (Some(first), Some(last)) = (points.first(), points.last()) else { return self.lo };
        let along = seconds / self.horizon_seconds;
        if along.is_nan() || along <= 0.0 {
            return *first;
        }
        match self.shape {
            Shape::Constant => points.get((along * points.len() as f64) as usize).copied().unwrap_or(*last),
            Shape::Linear => {
                let place = along * (points.len() - 1) as f64;
                let (before, part) = (place.floor() as usize, place - place.floor());
                match (points.get(before), points.get(before + 1)) {
                    (Some(a), Some(b)) => a * (1.0 - part) + b * part,
                    _ => *last,
                }
            }
        }
    }
    /// When each piece or control point begins.
    pub fn times(&self) -> Vec<f64> {
        let gaps = if self.shape == Shape::Linear { self.points.saturating_sub(1).max(1) } else { self.points };
        (0..self.points).map(|n| self.horizon_seconds * n as f64 / gaps as f64).collect()
    }
}
