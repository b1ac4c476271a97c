//! Picks a method by what varies and how much may be simulated.

use anabranch_kernel::Seed;
use serde::{Deserialize, Serialize};

use super::{Annealing, Bayes, CmaEs, Restarts, SignalDescent};
use crate::optimiser::{Optimiser, Told, plain_data};
use crate::space::{Kind, Layout};

/// The methods it picks from.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Picked {
    Signals(SignalDescent),
    Cma(CmaEs),
    Bayes(Bayes),
    Annealing(Annealing),
}

/// One method, chosen once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Auto {
    picked: Picked,
}

impl Auto {
    /// Chooses for a space and a budget of simulations.
    pub fn new(layout: Layout, seed: Seed, budget: u64) -> Self {
        let dimensions = layout.len() as u64;
        let only_real = layout.kinds.iter().all(|kind| *kind == Kind::Real);
        let picked = if !layout.groups.is_empty() {
            Picked::Signals(SignalDescent::new(layout, seed))
        } else if dimensions <= 12 && budget <= 150 {
            Picked::Bayes(Bayes::new(layout, seed))
        } else if only_real && budget >= 50 * dimensions {
            Picked::Cma(CmaEs::new(layout, seed, Restarts::LargeAndSmall))
        } else {
            Picked::Annealing(Annealing::new(layout, seed))
        };
        Self { picked }
    }
    /// The name of the method that was chosen.
    pub fn chosen(&self) -> &str {
        self.inner().name()
    }
    fn inner(&self) -> &dyn Optimiser {
        match &self.picked {
            Picked::Signals(one) => one,
            Picked::Cma(one) => one,
            Picked::Bayes(one) => one,
            Picked::Annealing(one) => one,
        }
    }
    fn inner_mut(&mut self) -> &mut dyn Optimiser {
        match &mut self.picked {
            Picked::Signals(one) => one,
            Picked::Cma(one) => one,
            Picked::Bayes(one) => one,
            Picked::Annealing(one) => one,
        }
    }
}

impl Optimiser for Auto {
    fn name(&self) -> &str {
        "auto"
    }
    fn ask(&mut self, at_most: usize) -> Vec<Vec<f64>> {
        self.inner_mut().ask(at_most)
    }
    fn tell(&mut self, told: &[Told]) {
        self.inner_mut().tell(told);
    }
    fn hears_late(&self) -> bool {
        self.inner().hears_late()
    }
    fn restart(&mut self) {
        self.inner_mut().restart();
    }
    plain_data!();
}
