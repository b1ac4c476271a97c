//! What is asked of a system for the word *safe*: how far a run can stray from the explored run that stands for it.
//!
//! `docs/soundness.md` has the inequality and its proof.

/// Everything explored, as boxes that hold it: what a proof has to cover.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Tube {
    /// Largest difference of two states of one cell, for each of [`crate::System::reals`]; infinite where the grid
    /// does not limit it.
    pub cells: Vec<f64>,
    /// One box per level, level 0 being the starts. Segments begin in each of them.
    pub levels: Vec<TubeLevel>,
}

/// All states that were reached after the same number of segments.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TubeLevel {
    /// Smallest value of each of [`crate::System::reals`].
    pub low: Vec<f64>,
    /// Largest value of each.
    pub high: Vec<f64>,
    /// Whether any of them was merged into another.
    pub merged: bool,
}

impl TubeLevel {
    /// Makes room for one more state.
    pub fn hold(&mut self, reals: &[f64]) {
        if self.low.is_empty() {
            (self.low, self.high) = (reals.to_vec(), reals.to_vec());
        }
        for (index, &value) in reals.iter().enumerate() {
            // What is not a number makes the box infinite, which no proof accepts.
            let (low, high) = if value.is_nan() { (f64::NEG_INFINITY, f64::INFINITY) } else { (value, value) };
            self.low[index] = self.low[index].min(low);
            self.high[index] = self.high[index].max(high);
        }
    }
    /// Largest difference of two of its states, for one of the reals.
    pub fn width(&self, index: usize) -> f64 {
        if self.high[index] == self.low[index] { 0.0 } else { (self.high[index] - self.low[index]).next_up() }
    }
}

impl Tube {
    /// Largest difference that merging at a level can add, for one of the reals.
    pub fn step(&self, level: usize, index: usize) -> f64 {
        let level = &self.levels[level];
        if level.merged { self.cells[index].min(level.width(index)) } else { 0.0 }
    }
}

/// Proven: how far a run can stray from the explored run beside it, and what that costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Contraction {
    /// Factor by which differences shrink per segment, at least, in one norm over all variables that feed back.
    pub lambda: f64,
    /// Margin that the segments of each level need, so that no run beside them violates anything.
    pub needed: Vec<f64>,
    /// Largest difference of each of [`crate::System::reals`] between a run and the explored run beside it, at the start
    /// of each level.
    pub strays: Vec<Vec<f64>>,
}

/// Why nothing is proven: the first obstacle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoProof(pub String);

impl NoProof {
    /// With this reason, a part of a sentence that goes on after "not proven: ".
    pub fn because(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_holds_all_its_states_and_merging_adds_no_more_than_a_cell_or_its_width() {
        let mut level = TubeLevel { merged: true, ..TubeLevel::default() };
        for state in [[0.0, 1.0, 5.0], [0.25, 1.0, 2.0], [0.125, 1.0, 3.0]] {
            level.hold(&state);
        }
        assert_eq!((&level.low[..], &level.high[..]), (&[0.0, 1.0, 2.0][..], &[0.25, 1.0, 5.0][..]));
        let mut tube = Tube { cells: vec![0.5, 0.5, 0.5], levels: vec![level] };
        assert!((tube.step(0, 0) - 0.25).abs() < 1e-15 && tube.step(0, 0) >= 0.25);
        assert_eq!((tube.step(0, 1), tube.step(0, 2)), (0.0, 0.5));
        tube.levels[0].merged = false;
        assert_eq!(tube.step(0, 0), 0.0);
    }

    #[test]
    fn what_is_not_a_number_is_not_forgotten() {
        let mut level = TubeLevel::default();
        [[0.0], [f64::NAN], [1.0]].iter().for_each(|state| level.hold(state));
        assert_eq!(level.width(0), f64::INFINITY);
    }
}
