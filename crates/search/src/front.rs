//! Several objectives at once: which outcomes no other one beats, and one number that leads towards all of them.

/// Whether `a` is nowhere worse than `b` and somewhere better. Smaller is more dangerous, which is what is looked for.
pub fn dominates(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(x, y)| x <= y) && a.iter().zip(b).any(|(x, y)| x < y)
}

/// Outcomes that nothing dominates, with their numbers. Of equal ones the first stays.
#[derive(Clone, Debug, Default)]
pub struct Front {
    members: Vec<(u64, Vec<f64>)>,
}

impl Front {
    /// Takes in an outcome, if it belongs.
    pub fn add(&mut self, number: u64, outcome: &[f64]) {
        if self.members.iter().any(|(_, known)| dominates(known, outcome) || known == outcome) {
            return;
        }
        self.members.retain(|(_, known)| !dominates(outcome, known));
        self.members.push((number, outcome.to_vec()));
    }
    /// Numbers of its members, in order.
    pub fn numbers(&self) -> Vec<u64> {
        let mut numbers: Vec<u64> = self.members.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        numbers
    }
}

/// Least and largest of each objective so far, for scales that do not depend on units.
#[derive(Clone, Debug, Default)]
pub struct Extent {
    lo: Vec<f64>,
    hi: Vec<f64>,
}

impl Extent {
    /// Takes in an outcome. What is infinite has no scale.
    pub fn add(&mut self, outcome: &[f64]) {
        self.lo.resize(outcome.len(), f64::INFINITY);
        self.hi.resize(outcome.len(), f64::NEG_INFINITY);
        for ((lo, hi), value) in self.lo.iter_mut().zip(&mut self.hi).zip(outcome) {
            if value.is_finite() {
                *lo = lo.min(*value);
                *hi = hi.max(*value);
            }
        }
    }
    /// The largest weighted distance from the best of each objective (Chebyshev), with a little of the sum.
    pub fn weighed(&self, outcome: &[f64], weights: &[f64]) -> f64 {
        let scaled = outcome.iter().zip(&self.lo).zip(&self.hi).zip(weights).map(|(((value, lo), hi), weight)| {
            let width = if hi > lo { hi - lo } else { 1.0 };
            weight * (value - lo) / width
        });
        let (most, sum) = scaled.fold((f64::NEG_INFINITY, 0.0), |(most, sum), x| (f64::max(most, x), sum + x));
        most + 0.05 * sum
    }
}

/// Weights of the `n`-th direction among `count` objectives: each objective alone first, then mixtures.
pub fn direction(n: u64, count: usize) -> Vec<f64> {
    let n = n as usize;
    if n < count {
        return (0..count).map(|k| if k == n { 1.0 } else { 0.01 }).collect();
    }
    // A Weyl sequence per objective; multiples of different roots never line up.
    let part = |k: usize| {
        let x = (n as f64) * ((k + 2) as f64).sqrt();
        0.05 + x - x.floor()
    };
    let raw: Vec<f64> = (0..count).map(part).collect();
    let sum: f64 = raw.iter().sum();
    raw.iter().map(|w| w / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_keeps_what_nothing_beats() {
        let mut front = Front::default();
        for (number, outcome) in
            [[3.0, 3.0], [1.0, 4.0], [4.0, 1.0], [2.0, 2.0], [2.0, 2.0], [5.0, 5.0]].iter().enumerate()
        {
            front.add(number as u64, outcome);
        }
        assert_eq!(front.numbers(), [1, 2, 3]);
    }
}
