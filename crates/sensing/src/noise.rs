//! How a sensor errs when nothing is broken: bias, white noise, and noise that remembers (S4-8, S2-12).
//!
//! Noise is no error choice. It is drawn from [`Chance`] by component and tick, so it is the same in every branch, and
//! only what remembers (the wandering part) is state.

use std::fmt::Display;

use anabranch_kernel::{Chance, Visitor, maths};
use serde::{Deserialize, Serialize};

/// Whether the situation (an urban canyon, a tunnel) acts on a noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Situations {
    /// The noise is the same everywhere.
    Ignored,
    /// Zones scale the noise.
    Obeyed,
}

/// The noise of one number, in the unit of that number.
///
/// `told = truth + bias + scale · (white · n + wander)`, where `n` is a fresh standard normal number, `wander` follows
/// the Gauss–Markov recursion of [`Wander`], and `scale` comes from the zone the car is in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseModel {
    /// Always added; as large as one likes (S4-8).
    pub bias: f64,
    /// Standard deviation of the white part.
    pub white: f64,
    /// Standard deviation of the wandering part, in the long run.
    pub wander: f64,
    /// Time after which the wandering part is correlated with itself by 1/e.
    pub wander_s: f64,
    /// Whether zones scale it.
    pub situations: Situations,
}

impl NoiseModel {
    /// No noise at all.
    pub const NONE: Self = Self { bias: 0.0, white: 0.0, wander: 0.0, wander_s: 1.0, situations: Situations::Ignored };

    /// White noise of a standard deviation.
    pub const fn white(deviation: f64) -> Self {
        Self { white: deviation, ..Self::NONE }
    }
    /// Time-correlated (Gauss–Markov) noise.
    pub const fn correlated(deviation: f64, time_s: f64) -> Self {
        Self { wander: deviation, wander_s: time_s, ..Self::NONE }
    }
    /// The same noise about another mean.
    #[must_use]
    pub const fn biased(self, bias: f64) -> Self {
        Self { bias, ..self }
    }
    /// The same noise, scaled by zones.
    #[must_use]
    pub const fn situational(self) -> Self {
        Self { situations: Situations::Obeyed, ..self }
    }
    /// Variance in the long run at scale 1, without the bias.
    pub fn variance(&self) -> f64 {
        self.white * self.white + self.wander * self.wander
    }
    /// What is wrong with the numbers, if anything: a scenario says so before it runs.
    pub fn fault(&self) -> Option<&'static str> {
        let all = [self.bias, self.white, self.wander, self.wander_s];
        if !all.iter().all(|number| number.is_finite()) {
            return Some("a number of the noise is not finite");
        }
        if self.white < 0.0 || self.wander < 0.0 {
            return Some("a standard deviation is negative");
        }
        (self.wander > 0.0 && self.wander_s <= 0.0).then_some("the correlation time must be positive")
    }
}

/// A noise prepared for readings of one period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    model: NoiseModel,
    /// e^(−dt/τ): what is kept of the wandering part from reading to reading.
    keep: f64,
    /// √(1 − keep²) · σ: what is added to it.
    fresh: f64,
}

/// The wandering part of a noise: state. It stays at zero for noise that remembers nothing.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Wander(pub f64);

/// One reading's worth of chance: two standard normal numbers, from `n` and `n + 1` of the stream.
const DRAWS_PER_READING: u64 = 2;

impl Noise {
    /// Prepares a noise for readings every `period_s` seconds.
    ///
    /// # Panics
    /// If [`NoiseModel::fault`] finds one; scenarios ask before.
    pub fn new(model: NoiseModel, period_s: f64) -> Self {
        assert_eq!(model.fault(), None, "the noise must be checked when it is loaded");
        let keep = maths::exp(-period_s / model.wander_s);
        Self { model, keep, fresh: (1.0 - keep * keep).sqrt() * model.wander }
    }
    /// What it was prepared from.
    pub fn model(&self) -> &NoiseModel {
        &self.model
    }
    /// The wandering part at the start of a run, drawn from its long-run distribution.
    pub fn start(&self, chance: &Chance, channel: u64) -> Wander {
        if self.model.wander == 0.0 {
            return Wander::default();
        }
        Wander(self.model.wander * chance.normal(DRAWS_PER_READING * channel))
    }
    /// What is added to the truth in this reading. `channel` tells the numbers of one component apart; `scale` is 1
    /// unless a zone says otherwise.
    #[inline]
    pub fn draw(&self, wander: &mut Wander, chance: &Chance, channel: u64, scale: f64) -> f64 {
        self.advance(wander, chance, channel);
        self.told(*wander, chance, channel, scale)
    }
    /// Moves the wandering part on by one reading.
    #[inline]
    pub fn advance(&self, wander: &mut Wander, chance: &Chance, channel: u64) {
        if self.model.wander != 0.0 {
            wander.0 = self.keep * wander.0 + self.fresh * chance.normal(DRAWS_PER_READING * channel);
        }
    }
    /// What is added to the truth, given the wandering part: several numbers of one sensor may share it.
    #[inline]
    pub fn told(&self, wander: Wander, chance: &Chance, channel: u64, scale: f64) -> f64 {
        let mut noise = wander.0;
        if self.model.white != 0.0 {
            noise += self.model.white * chance.normal(DRAWS_PER_READING * channel + 1);
        }
        let scale = match self.model.situations {
            Situations::Ignored => 1.0,
            Situations::Obeyed => scale,
        };
        self.model.bias + scale * noise
    }
    /// Names the wandering part, which the state has at a path; cells of a quarter of its deviation. Noise that does not wander
    /// has no variable.
    pub fn visit<V: Visitor>(&self, unit: &str, wander: Wander, path: impl Display, v: &mut V) {
        if self.model.wander == 0.0 {
            return v.constant(path, "its noise does not wander");
        }
        v.real("wander", unit, 0.25 * self.model.wander, wander.0);
    }
}

#[cfg(test)]
mod tests {
    use anabranch_kernel::Seed;

    use super::*;

    fn draws(model: NoiseModel, period_s: f64, count: u64) -> Vec<f64> {
        let noise = Noise::new(model, period_s);
        let chance = Chance::new(Seed(3), "test");
        let mut wander = noise.start(&chance.at(u64::MAX), 0);
        (0..count).map(|tick| noise.draw(&mut wander, &chance.at(tick), 0, 1.0)).collect()
    }
    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }
    /// Correlation of a series with itself, `lag` readings later.
    fn correlation(values: &[f64], lag: usize) -> f64 {
        let mean = mean(values);
        let product = |a: f64, b: f64| (a - mean) * (b - mean);
        let all: f64 = values.iter().map(|&v| product(v, v)).sum();
        values.iter().zip(&values[lag..]).map(|(&a, &b)| product(a, b)).sum::<f64>() / all
    }

    #[test]
    fn one_step_of_the_recursion_is_the_formula() {
        // By hand: τ = 2 s, dt = 1 s gives e^(−1/2) = 0.6065306597 and √(1 − e^(−1)) = 0.7950600976.
        let noise = Noise::new(NoiseModel::correlated(3.0, 2.0), 1.0);
        let chance = Chance::new(Seed(1), "gauss-markov").at(5);
        let mut wander = Wander(2.0);
        let told = noise.draw(&mut wander, &chance, 0, 1.0);
        let expect = 0.606_530_659_7 * 2.0 + 0.795_060_097_6 * 3.0 * chance.normal(0);
        assert!((told - expect).abs() < 1e-9 && wander.0 == told);
    }

    #[test]
    fn white_noise_forgets_and_wandering_noise_fades_with_its_time() {
        let white = draws(NoiseModel::white(0.5).biased(2.0), 0.1, 40_000);
        assert!((mean(&white) - 2.0).abs() < 0.01);
        assert!(correlation(&white, 1).abs() < 0.02);
        let wander = draws(NoiseModel::correlated(0.5, 1.0), 0.1, 200_000);
        let variance = mean(&wander.iter().map(|v| v * v).collect::<Vec<_>>());
        assert!((variance.sqrt() - 0.5).abs() < 0.02, "{variance}");
        // After one correlation time (ten readings) e^(−1) = 0.368 is left.
        assert!((correlation(&wander, 10) - 0.368).abs() < 0.03, "{}", correlation(&wander, 10));
    }

    #[test]
    fn zones_scale_only_noise_that_obeys_them_and_never_the_bias() {
        let chance = Chance::new(Seed(1), "scale").at(9);
        let draw = |model: NoiseModel, scale| Noise::new(model, 0.1).draw(&mut Wander(0.0), &chance, 0, scale);
        let model = NoiseModel::white(1.0).biased(10.0);
        assert_eq!(draw(model, 4.0), draw(model, 1.0));
        let (once, fourfold) = (draw(model.situational(), 1.0) - 10.0, draw(model.situational(), 4.0) - 10.0);
        assert!((fourfold - 4.0 * once).abs() < 1e-12);
    }

    #[test]
    fn noise_that_remembers_nothing_leaves_no_trace_in_the_state() {
        let noise = Noise::new(NoiseModel::white(1.0), 0.1);
        let mut wander = noise.start(&Chance::new(Seed(1), "white"), 0);
        noise.draw(&mut wander, &Chance::new(Seed(1), "white").at(4), 0, 1.0);
        assert_eq!(wander, Wander::default());
        let declared = anabranch_kernel::Declarations::of(|v| noise.visit("m", wander, "wander.0", v));
        assert!(declared.variables.is_empty());
        assert_eq!(declared.leaves, [anabranch_kernel::Leaf::constant("wander.0", "its noise does not wander")]);
    }

    #[test]
    fn senseless_noise_is_told() {
        assert!(NoiseModel::white(-1.0).fault().is_some());
        assert!(NoiseModel::correlated(1.0, 0.0).fault().is_some());
        assert!(NoiseModel::white(f64::NAN).fault().is_some());
        assert_eq!(NoiseModel::NONE.fault(), None);
    }
}
