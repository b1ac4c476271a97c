//! Five cars on a line, the last four keeping their distance: solved in closed form between changes of mode.

use anabranch_kernel::maths::exp;
use serde::{Deserialize, Serialize};

/// What a following car is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Mode {
    Chasing,
    Keeping,
    Braking,
}

/// Everything that evolves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Convoy {
    pub(crate) place: [f64; 5],
    pub(crate) speed: [f64; 5],
    pub(crate) mode: [Mode; 4],
}

/// Pedals of the first car, and what follows from them for a stretch of time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    throttle: f64,
    brake: f64,
    time_s: f64,
    /// e^(−brake·t), and its first and second integral.
    first: [f64; 3],
    /// The same for a braking car.
    braking: [f64; 3],
}

impl Stretch {
    pub(crate) fn new(throttle: f64, brake: f64, time_s: f64) -> Self {
        Self { throttle, brake, time_s, first: decay(brake, time_s), braking: decay(1.0, time_s) }
    }
    /// The same pedals for another time. What braking cars need is left out if nobody brakes.
    fn lasting(&self, time_s: f64, is_braking: bool) -> Self {
        let braking = if is_braking { decay(1.0, time_s) } else { [0.0; 3] };
        Self { time_s, first: decay(self.brake, time_s), braking, ..*self }
    }
}

/// e^(−rate·t) and its first and second integral over t.
fn decay(rate: f64, t: f64) -> [f64; 3] {
    let x = rate * t;
    // Up to here eight terms of the series have all digits, and the quotients below would lose some.
    if x <= 0.1 {
        // Σ (−x)ᵏ / (k + 2)!
        const TERMS: [f64; 8] = [
            1.0 / 362_880.0,
            1.0 / 40_320.0,
            1.0 / 5_040.0,
            1.0 / 720.0,
            1.0 / 120.0,
            1.0 / 24.0,
            1.0 / 6.0,
            1.0 / 2.0,
        ];
        let second = TERMS.iter().fold(0.0, |sum, term| term - x * sum);
        let first = 1.0 - x * second;
        return [1.0 - x * first, t * first, t * t * second];
    }
    let factor = exp(-x);
    let first = (1.0 - factor) / rate;
    [factor, first, (t - first) / rate]
}

impl Convoy {
    pub(crate) const START: Self =
        Self { place: [0.0, 10.0, 20.0, 30.0, 40.0], speed: [0.0; 5], mode: [Mode::Keeping; 4] };

    /// Where everybody is after a stretch without change of mode.
    #[inline(always)]
    fn after(&self, stretch: &Stretch) -> Self {
        let mut next = *self;
        let [factor, first, second] = stretch.first;
        next.speed[0] = self.speed[0] * factor - stretch.throttle * first;
        next.place[0] = self.place[0] + self.speed[0] * first - stretch.throttle * second;
        let t = stretch.time_s;
        for car in 1..5 {
            let (place, speed) = (self.place[car], self.speed[car]);
            (next.place[car], next.speed[car]) = match self.mode[car - 1] {
                Mode::Chasing => (place - (speed + 0.5 * t) * t, speed + t),
                Mode::Keeping => (place + speed * t, speed),
                Mode::Braking => (place - speed * stretch.braking[1], speed * stretch.braking[0]),
            };
        }
        next
    }

    /// The mode that the gap of a car asks for.
    #[inline(always)]
    fn asked(&self, car: usize) -> Mode {
        let gap = self.place[car] - self.place[car - 1];
        match self.mode[car - 1] {
            Mode::Chasing if gap <= 10.0 => Mode::Keeping,
            Mode::Keeping if gap >= 15.0 => Mode::Chasing,
            Mode::Keeping if gap <= 5.0 => Mode::Braking,
            Mode::Braking if gap >= 20.0 => Mode::Chasing,
            mode => mode,
        }
    }
    fn is_settled(&self) -> bool {
        (1..5).all(|car| self.asked(car) == self.mode[car - 1])
    }

    fn is_braking(&self) -> bool {
        self.mode.contains(&Mode::Braking)
    }

    /// The factors of t and t² in the place of a car; `None` if it is no polynomial.
    #[inline(always)]
    fn polynomial(&self, car: usize, stretch: &Stretch) -> Option<[f64; 2]> {
        if car == 0 {
            return (stretch.brake == 0.0).then_some([self.speed[0], -0.5 * stretch.throttle]);
        }
        match self.mode[car - 1] {
            Mode::Chasing => Some([-self.speed[car], -0.5]),
            Mode::Keeping => Some([self.speed[car], 0.0]),
            Mode::Braking => None,
        }
    }

    /// Where one car is after some time without change of mode.
    #[inline(always)]
    fn place_after(&self, car: usize, stretch: &Stretch, t: f64) -> f64 {
        let (place, speed) = (self.place[car], self.speed[car]);
        if car == 0 {
            let [_, first, second] = decay(stretch.brake, t);
            return place + speed * first - stretch.throttle * second;
        }
        match self.mode[car - 1] {
            Mode::Chasing => place - (speed + 0.5 * t) * t,
            Mode::Keeping => place + speed * t,
            Mode::Braking => place - speed * decay(1.0, t)[1],
        }
    }

    /// Advances by a stretch; modes change at the moment when a gap asks for it. Every such moment is shown, with the
    /// time since the beginning of the stretch.
    pub(crate) fn advance(&mut self, stretch: &Stretch, mut show: impl FnMut(f64, &Self)) {
        let end = self.after(stretch);
        if end.is_settled() {
            *self = end;
            return;
        }
        // More changes than this in one stretch are chatter; the rest of the stretch is run without looking.
        const CHANGES_MAX: usize = 64;
        let mut rest = *stretch;
        for _ in 0..CHANGES_MAX {
            let end = self.after(&rest);
            let changes = (1..5).filter(|&car| end.asked(car) != end.mode[car - 1]);
            let first = changes.map(|car| (self.moment(car, &rest, &end), car)).min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((moment, car)) = first else {
                *self = end;
                return;
            };
            let target = end.asked(car);
            *self = self.after(&rest.lasting(moment, self.is_braking()));
            self.mode[car - 1] = target;
            rest = rest.lasting(rest.time_s - moment, self.is_braking());
            if moment > 0.0 && rest.time_s > 0.0 {
                show(stretch.time_s - rest.time_s, self);
            }
        }
        *self = self.after(&rest);
    }

    /// When the gap of a car reaches what makes it change: a false position method that halves the end that stays.
    fn moment(&self, car: usize, stretch: &Stretch, end: &Self) -> f64 {
        const ITERATIONS_MAX: usize = 40;
        const CLOSE_M: f64 = 1e-9;
        let gap_at_end = end.place[car] - end.place[car - 1];
        let limit = match (self.mode[car - 1], gap_at_end >= 15.0) {
            (Mode::Chasing, _) => 10.0,
            (Mode::Keeping, true) => 15.0,
            (Mode::Keeping, false) => 5.0,
            (Mode::Braking, _) => 20.0,
        };
        let beyond = |t: f64| self.place_after(car, stretch, t) - self.place_after(car - 1, stretch, t) - limit;
        let (mut a, mut b) = (0.0, stretch.time_s);
        let (mut at_a, mut at_b) = (self.place[car] - self.place[car - 1] - limit, gap_at_end - limit);
        if at_a * at_b >= 0.0 {
            return if at_b == 0.0 { b } else { a };
        }
        if let (Some(own), Some(other)) = (self.polynomial(car, stretch), self.polynomial(car - 1, stretch))
            && let Some(moment) = first_root(at_a, own[0] - other[0], own[1] - other[1], b)
        {
            return moment;
        }
        for _ in 0..ITERATIONS_MAX {
            let c = b - at_b * (b - a) / (at_b - at_a);
            let at_c = beyond(c);
            if at_c.abs() < CLOSE_M {
                return c;
            }
            if at_c * at_b < 0.0 {
                (a, at_a) = (b, at_b);
            } else {
                at_a *= 0.5;
            }
            (b, at_b) = (c, at_c);
        }
        a.max(b)
    }
}

/// The root of c + b·t + a·t² between zero and `end`, by the formula that does not cancel.
#[inline(always)]
fn first_root(c: f64, b: f64, a: f64, end: f64) -> Option<f64> {
    let inside = |t: f64| t >= 0.0 && t <= end;
    if a == 0.0 {
        return Some(-c / b).filter(|&t| inside(t));
    }
    let root = (b * b - 4.0 * a * c).max(0.0).sqrt();
    let q = -0.5 * (b + if b >= 0.0 { root } else { -root });
    let (one, other) = (q / a, c / q);
    match (inside(one), inside(other)) {
        (true, true) => Some(one.min(other)),
        (true, false) => Some(one),
        (false, true) => Some(other),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_and_formula_agree_where_they_meet() {
        for (rate, t) in [(1.0, 0.1), (0.5, 0.2), (0.02, 5.0)] {
            let (below, above) = (decay(rate, t), decay(rate, t * (1.0 + 1e-12)));
            for (a, b) in below.iter().zip(&above) {
                assert!((a - b).abs() <= 1e-11 * a.abs(), "{below:?} {above:?}");
            }
        }
        assert_eq!(decay(0.0, 3.0), [1.0, 3.0, 4.5]);
    }
}
