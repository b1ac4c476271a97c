//! M2: keeping a constant time gap to what is ahead (S4-13).
//!
//! Eq. (3): `S_des = l_lead + T·ẋ_host`, `S_act = x_lead − x_host`, `δ = S_des − S_act`,
//! `a_cmd = −(1/h)·(−Ṡ_act + λ·δ)`.
//!
//! Positions are those of the same point of both cars (here: front bumpers), so `S_act − l_lead` is the free gap.
//!
//! **Where a platoon is stable.** With equal cars the motion of one follows from the motion of the one ahead by
//! `G(s) = (s + λ) / (h·s² + (1 + λT)·s + λ)`. `|G(jω)| ≤ 1` for all ω holds exactly when
//! `0 ≤ h²ω² + 2λ(T − h) + λ²T²` for all ω, which is `h ≤ T·(1 + λT/2)`: [`GapControl::is_string_stable`].

use serde::{Deserialize, Serialize};

/// The coefficients of M2.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GapControl {
    /// Time gap T, seconds.
    pub time_gap_s: f64,
    /// h, seconds: small is aggressive.
    pub response_s: f64,
    /// λ, per second: how quickly an error of the gap is closed.
    pub closing_per_s: f64,
}

/// What a car sees ahead of it in its lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ahead {
    /// `S_act`: from the host's front to the leader's front, metres.
    pub spacing_m: f64,
    /// Speed of the leader along the lane.
    pub speed_mps: f64,
    /// `l_lead`: length of the leader, with whatever should stay free at a standstill.
    pub length_m: f64,
}

impl GapControl {
    /// Values of an attentive driver: stable as a platoon, and able to stop behind a standing queue.
    pub const ATTENTIVE: Self = Self { time_gap_s: 1.4, response_s: 1.4, closing_per_s: 0.35 };

    /// `a_cmd` of Eq. (3), metres per second squared, without limits.
    #[inline(always)]
    pub fn accel_mps2(&self, speed_mps: f64, ahead: Ahead) -> f64 {
        self.accel_with_time_gap_mps2(self.time_gap_s, speed_mps, ahead)
    }
    /// The same with another T, for a driver who accepts less for a while.
    #[inline(always)]
    pub fn accel_with_time_gap_mps2(&self, time_gap_s: f64, speed_mps: f64, ahead: Ahead) -> f64 {
        let desired_m = ahead.length_m + time_gap_s * speed_mps;
        let delta_m = desired_m - ahead.spacing_m;
        let spacing_rate_mps = ahead.speed_mps - speed_mps;
        -(1.0 / self.response_s) * (-spacing_rate_mps + self.closing_per_s * delta_m)
    }
    /// Whether a disturbance shrinks from car to car at every frequency: `h ≤ T·(1 + λT/2)`.
    pub fn is_string_stable(&self) -> bool {
        self.response_s <= self.time_gap_s * (1.0 + 0.5 * self.closing_per_s * self.time_gap_s)
    }
    /// `|G(jω)|`: what is left of a swing of angular frequency ω after one car.
    pub fn gain(&self, omega_per_s: f64) -> f64 {
        let (lambda, w2) = (self.closing_per_s, omega_per_s * omega_per_s);
        let real = lambda - self.response_s * w2;
        let damping = 1.0 + lambda * self.time_gap_s;
        ((w2 + lambda * lambda) / (real * real + damping * damping * w2)).sqrt()
    }
    /// What is wrong with the values, if anything.
    pub fn fault(&self) -> Option<&'static str> {
        let all = [self.time_gap_s, self.response_s, self.closing_per_s];
        (!all.iter().all(|v| v.is_finite() && *v > 0.0)).then_some("time gap, response and closing must be positive")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_kernel::maths;

    #[test]
    fn the_command_is_that_of_equation_3() {
        // By hand: T = 1.5, h = 2, λ = 0.4; 20 m/s behind a 5 m long car at 18 m/s, fronts 30 m apart.
        // S_des = 5 + 30 = 35, δ = 5, Ṡ = −2: a = −(1/2)(2 + 0.4·5) = −2.
        let control = GapControl { time_gap_s: 1.5, response_s: 2.0, closing_per_s: 0.4 };
        let ahead = Ahead { spacing_m: 30.0, speed_mps: 18.0, length_m: 5.0 };
        assert_eq!(control.accel_mps2(20.0, ahead), -2.0);
        // At the desired gap and equal speed nothing is to be done.
        let ahead = Ahead { spacing_m: 35.0, speed_mps: 20.0, length_m: 5.0 };
        assert_eq!(control.accel_mps2(20.0, ahead), 0.0);
        // 10 m too far, leader 1 m/s faster: a = (1/2)(1 + 4) = 2.5.
        let ahead = Ahead { spacing_m: 45.0, speed_mps: 21.0, length_m: 5.0 };
        assert_eq!(control.accel_mps2(20.0, ahead), 2.5);
    }

    #[test]
    fn the_gain_crosses_one_where_the_condition_says() {
        // T = 1, λ = 0.5: the limit is h = 1.25.
        for (response_s, stable) in [(0.8, true), (1.25, true), (1.26, false), (2.0, false)] {
            let control = GapControl { time_gap_s: 1.0, response_s, closing_per_s: 0.5 };
            assert_eq!(control.is_string_stable(), stable, "h = {response_s}");
            let largest = (1..4000).map(|i| control.gain(f64::from(i) * 1e-3)).fold(0.0, f64::max);
            assert_eq!(largest <= 1.0 + 1e-12, stable, "h = {response_s}: {largest}");
        }
    }

    /// Largest swing of the last of 20 cars over that of the leader, which swings at ω around 20 m/s; steps of 10 ms.
    fn amplification(control: GapControl, omega_per_s: f64) -> f64 {
        const CARS: usize = 20;
        let (dt_s, mut speed, mut position) = (0.01, [20.0; CARS + 1], [0.0; CARS + 1]);
        for (i, position) in position.iter_mut().enumerate() {
            *position = -(i as f64) * (5.0 + control.time_gap_s * 20.0);
        }
        let mut swing = 0.0_f64;
        for tick in 0..60_000 {
            let before = (speed, position);
            speed[0] = 20.0 + 0.1 * maths::sin(omega_per_s * f64::from(tick) * dt_s);
            for (i, speed) in speed.iter_mut().enumerate().skip(1) {
                let ahead =
                    Ahead { spacing_m: before.1[i - 1] - before.1[i], speed_mps: before.0[i - 1], length_m: 5.0 };
                *speed += dt_s * control.accel_mps2(before.0[i], ahead);
            }
            position.iter_mut().zip(&speed).for_each(|(position, speed)| *position += dt_s * speed);
            if tick > 45_000 {
                swing = swing.max((speed[CARS] - 20.0).abs());
            }
        }
        swing / 0.1
    }

    #[test]
    fn a_platoon_of_20_damps_or_amplifies_as_theory_says() {
        for response_s in [1.0, 2.0] {
            let control = GapControl { time_gap_s: 1.0, response_s, closing_per_s: 0.5 };
            let seen = amplification(control, 0.35);
            let theory = (0..20).fold(1.0, |product, _| product * control.gain(0.35));
            assert!((seen / theory - 1.0).abs() < 0.08, "h = {response_s}: {seen} but theory says {theory}");
            assert_eq!(seen < 1.0, control.is_string_stable());
        }
    }
}
