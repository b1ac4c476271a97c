//! The built-in optimisers, one per file. Each is plain data: what evolves can be saved between two batches.

mod annealing;
mod auto;
mod bayes;
mod cma;
mod cross_entropy;
mod halton;
mod moves;
mod nelder_mead;
mod random;
mod signal_descent;
mod sobol;
mod sobol_table;

pub use annealing::Annealing;
pub use auto::Auto;
pub use bayes::Bayes;
pub use cma::{CmaEs, Restarts};
pub use cross_entropy::CrossEntropy;
pub use halton::Halton;
pub use nelder_mead::NelderMead;
pub use random::UniformRandom;
pub use signal_descent::{SignalDescent, Tuning};
pub use sobol::Sobol;
