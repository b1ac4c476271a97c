//! The one trait of all optimisers: ask for points, tell what became of them.

use anabranch_kernel::{Seed, StateError};
use serde::{Deserialize, Serialize};

use crate::optimisers::{
    Annealing, Auto, Bayes, CmaEs, CrossEntropy, Halton, NelderMead, Restarts, SignalDescent, Sobol, UniformRandom,
};
use crate::space::Layout;

/// What became of a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// The point of the unit cube that was asked.
    pub point: Vec<f64>,
    /// How safe it was: smaller is more dangerous. Never NaN; infinite where nothing could be computed.
    pub value: f64,
}

/// Proposes points of the unit cube and learns from their values.
///
/// Between `tell` and the next `ask` the state can be saved; an optimiser restored from it continues bit for bit.
pub trait Optimiser: Send {
    /// For tables and messages.
    fn name(&self) -> &str;
    /// The next points, at most `at_most`. An optimiser that must hear first gives fewer; none only while it hears late.
    fn ask(&mut self, at_most: usize) -> Vec<Vec<f64>>;
    /// What became of points, in the order they were asked: of all points of the last `ask`, or one by one for those who
    /// hear late.
    fn tell(&mut self, told: &[Told]);
    /// Whether it can be asked again before it has heard of everything it asked for. Then no core waits for the slowest
    /// simulation of a batch.
    fn hears_late(&self) -> bool {
        false
    }
    /// Starts somewhere else, for instance because what was found here is known by now.
    fn restart(&mut self);
    /// Everything that evolves, as bytes.
    fn save(&self) -> Vec<u8>;
    /// Goes back to what was saved.
    ///
    /// # Errors
    /// When the bytes are not those of this optimiser.
    fn restore(&mut self, bytes: &[u8]) -> Result<(), StateError>;
}

/// The optimisers that are built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Method {
    /// Independent uniform points: the baseline.
    Random,
    /// Scrambled Halton points.
    Halton,
    /// Scrambled Sobol points.
    Sobol,
    /// Simulated annealing.
    Annealing,
    /// CMA-ES, restarted with growing populations.
    CmaEs,
    /// CMA-ES, restarted with large and small populations in turn.
    CmaEsBipop,
    /// Cross-entropy method.
    CrossEntropy,
    /// Nelder–Mead simplex with restarts.
    NelderMead,
    /// Bayesian optimisation with a Gaussian process.
    Bayes,
    /// Descent over stretches of signals.
    SignalDescent,
    /// Picks by dimension and budget.
    Auto,
}

impl Method {
    /// All, in the order of help texts.
    pub const ALL: [Self; 11] = [
        Self::Auto,
        Self::Random,
        Self::Halton,
        Self::Sobol,
        Self::Annealing,
        Self::CmaEs,
        Self::CmaEsBipop,
        Self::CrossEntropy,
        Self::NelderMead,
        Self::Bayes,
        Self::SignalDescent,
    ];
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Random => "random",
            Self::Halton => "halton",
            Self::Sobol => "sobol",
            Self::Annealing => "annealing",
            Self::CmaEs => "cma-es",
            Self::CmaEsBipop => "cma-es-bipop",
            Self::CrossEntropy => "cross-entropy",
            Self::NelderMead => "nelder-mead",
            Self::Bayes => "bayes",
            Self::SignalDescent => "signal-descent",
        }
    }
    /// The method of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
    /// An optimiser for a space and a budget of simulations.
    ///
    /// # Errors
    /// When the method cannot search such a space.
    pub fn build(self, layout: &Layout, seed: Seed, budget: u64) -> Result<Box<dyn Optimiser>, MethodError> {
        if layout.is_empty() {
            return Err(MethodError { method: self, why: "the space has no dimension".into() });
        }
        let layout = layout.clone();
        Ok(match self {
            Self::Random => Box::new(UniformRandom::new(layout, seed)),
            Self::Halton => Box::new(Halton::new(layout, seed)),
            Self::Sobol => Box::new(Sobol::new(layout, seed).map_err(|why| MethodError { method: self, why })?),
            Self::Annealing => Box::new(Annealing::new(layout, seed)),
            Self::CmaEs => Box::new(CmaEs::new(layout, seed, Restarts::Growing)),
            Self::CmaEsBipop => Box::new(CmaEs::new(layout, seed, Restarts::LargeAndSmall)),
            Self::CrossEntropy => Box::new(CrossEntropy::new(layout, seed)),
            Self::NelderMead => Box::new(NelderMead::new(layout, seed)),
            Self::Bayes => Box::new(Bayes::new(layout, seed)),
            Self::SignalDescent => Box::new(SignalDescent::new(layout, seed)),
            Self::Auto => Box::new(Auto::new(layout, seed, budget)),
        })
    }
}

/// A method that cannot search a space.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("method `{}`: {why}", method.name())]
pub struct MethodError {
    /// The method.
    pub method: Method,
    /// Why not, and how to go on.
    pub why: String,
}

/// Saving and restoring of an optimiser that is plain data. Its name stands before its bytes, so that those of another
/// method are refused.
macro_rules! plain_data {
    () => {
        fn save(&self) -> Vec<u8> {
            let mut bytes = self.name().as_bytes().to_vec();
            anabranch_kernel::write_bytes(self, &mut bytes);
            bytes
        }
        fn restore(&mut self, bytes: &[u8]) -> Result<(), anabranch_kernel::StateError> {
            // No state has no bytes, so what has another name is an error too.
            *self = anabranch_kernel::from_bytes(bytes.strip_prefix(self.name().as_bytes()).unwrap_or_default())?;
            Ok(())
        }
    };
}
pub(crate) use plain_data;
