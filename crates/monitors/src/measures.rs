//! Measures that add up over a run (S2-18, S2-52 … S2-54): how far it went, how well it kept to its line, how smoothly, whether it moves on.
//!
//! They are signals like all others, behind those of the frame. What they remember is a [`Measured`] in the state and in the merge
//! key, and only where somebody reads them.

use anabranch_kernel::Visitor;
use anabranch_kernel::units::Dimension;
use serde::{Deserialize, Serialize};

use crate::lately::{Lately, LatelyReads};
use crate::signals::SignalKind::{self, Real};

/// Positions of the measures behind the other signals of a frame.
pub mod measure {
    /// Way driven, forwards and backwards.
    pub const DRIVEN: usize = 0;
    /// Distance to the line, over the driven way, for each driven metre; 0 within the first metre.
    pub const DEVIATION_PER_METRE: usize = 1;
    /// Mean of the squared distance to the line, over time.
    pub const PATH_MSE: usize = 2;
    /// Largest jerk so far, either way.
    pub const JERK_PEAK: usize = 3;
    /// Root of the mean squared jerk so far.
    pub const JERK_RMS: usize = 4;
    /// How fast the wheels turn; positive is to the left.
    pub const STEERING_RATE: usize = 5;
    /// Root of its mean square so far.
    pub const STEERING_RATE_RMS: usize = 6;
    /// How long the car has been within half a metre of one place other than its goal.
    pub const STALLED: usize = 7;
    /// Steering angle that the driver asks for.
    pub const COMMANDED_STEERING: usize = 8;
    /// Acceleration that the driver asks for, along its gear.
    pub const COMMANDED_ACCELERATION: usize = 9;
    /// The smaller of the next two.
    pub const DOOR_ROOM: usize = 10;
    /// How far the left door can be opened, across the car.
    pub const DOOR_ROOM_LEFT: usize = 11;
    /// How far the right door can be opened.
    pub const DOOR_ROOM_RIGHT: usize = 12;
    /// How many there are on roads.
    pub const ROAD_COUNT: usize = 13;
    /// How long the car has stood elsewhere than at its goal. On roads it is a signal of its own.
    pub const STANDING: usize = 13;
    /// How often the steering turns back, per second. On roads it is a signal of its own.
    pub const WOBBLE: usize = 14;
    /// How many there are at low speed.
    pub const LOW_SPEED_COUNT: usize = 15;

    /// Those that have something to remember.
    pub const REMEMBERED: u32 = (1 << DRIVEN)
        | (1 << DEVIATION_PER_METRE)
        | (1 << PATH_MSE)
        | (1 << JERK_PEAK)
        | (1 << JERK_RMS)
        | (1 << STEERING_RATE)
        | (1 << STEERING_RATE_RMS)
        | (1 << STALLED)
        | (1 << STANDING)
        | (1 << WOBBLE);
    /// Means over time: how much a moment counts depends on how long the run is already.
    pub const OVER_TIME: u32 = (1 << PATH_MSE) | (1 << JERK_RMS) | (1 << STEERING_RATE_RMS);
    /// Those that need the distance to the line.
    pub const OF_LINE: u32 = (1 << DEVIATION_PER_METRE) | (1 << PATH_MSE);
    /// Those that need the jerk.
    pub const OF_JERK: u32 = (1 << JERK_PEAK) | (1 << JERK_RMS);
    /// Those about doors.
    pub const OF_DOORS: u32 = (1 << DOOR_ROOM) | (1 << DOOR_ROOM_LEFT) | (1 << DOOR_ROOM_RIGHT);
}

/// Names and kinds of the measures, in their order; those beyond [`measure::ROAD_COUNT`] are for low speed only.
pub(crate) const MEASURES: [(&str, SignalKind); measure::LOW_SPEED_COUNT] = [
    ("ego.driven", Real(Dimension::Length)),
    ("ego.deviation_per_metre", Real(Dimension::Number)),
    ("ego.path_mse", Real(Dimension::Area)),
    ("ego.jerk_peak", Real(Dimension::Jerk)),
    ("ego.jerk_rms", Real(Dimension::Jerk)),
    ("ego.steering_rate", Real(Dimension::AngularSpeed)),
    ("ego.steering_rate_rms", Real(Dimension::AngularSpeed)),
    ("ego.stalled", Real(Dimension::Time)),
    ("ego.commanded_steering", Real(Dimension::Angle)),
    ("ego.commanded_acceleration", Real(Dimension::Acceleration)),
    ("ego.door_room", Real(Dimension::Length)),
    ("ego.door_room.left", Real(Dimension::Length)),
    ("ego.door_room.right", Real(Dimension::Length)),
    ("ego.standing", Real(Dimension::Time)),
    ("ego.wobble", Real(Dimension::Rate)),
];

/// The share of deviations in the driven way counts only for runs that went somewhere.
const WAY_MIN_M: f64 = 1.0;
/// Whoever has not left a circle of this radius has not moved on.
const STALLED_M: f64 = 0.5;
/// Longer is alike.
const STALLED_MAX_S: f64 = 600.0;

/// What measures are made of in one base cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredMoment {
    /// Place of the rear axle.
    pub at: [f64; 2],
    /// Speed; negative is backwards.
    pub speed_mps: f64,
    /// Distance to the line: the path at low speed, the middle of the lane on roads.
    pub off_m: f64,
    /// Angle of the wheels.
    pub steering_rad: f64,
    /// Change of the acceleration.
    pub jerk_mps3: f64,
    /// The car stands at its goal.
    pub at_goal: bool,
}

/// What measures remember.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    ticks: u32,
    driven_m: f64,
    /// Distance to the line, summed over the driven way.
    off_way_m2: f64,
    /// Sums over base cycles.
    off_squares_m2: f64,
    jerk_squares: f64,
    rate_squares: f64,
    jerk_peak_mps3: f64,
    steering_rad: f64,
    rate_radps: f64,
    /// Where the car was when it last moved on, and since how many base cycles it has been near.
    from: [f64; 2],
    stalled_ticks: u32,
    lately: Lately,
}

impl Measured {
    /// Before anything happened.
    pub fn start(at: [f64; 2], steering_rad: f64) -> Self {
        Self { from: at, steering_rad, ..Self::default() }
    }

    /// One base cycle.
    pub fn step(&mut self, now: &MeasuredMoment, step_s: f64) {
        self.ticks += 1;
        let way_m = now.speed_mps.abs() * step_s;
        self.driven_m += way_m;
        self.off_way_m2 += now.off_m.abs() * way_m;
        self.off_squares_m2 += now.off_m * now.off_m;
        self.jerk_squares += now.jerk_mps3 * now.jerk_mps3;
        self.jerk_peak_mps3 = self.jerk_peak_mps3.max(now.jerk_mps3.abs());
        self.rate_radps = (now.steering_rad - self.steering_rad) / step_s;
        self.rate_squares += self.rate_radps * self.rate_radps;
        self.steering_rad = now.steering_rad;
        let (dx, dy) = (now.at[0] - self.from[0], now.at[1] - self.from[1]);
        if now.at_goal || dx * dx + dy * dy > STALLED_M * STALLED_M {
            (self.from, self.stalled_ticks) = (now.at, 0);
        } else {
            self.stalled_ticks = (self.stalled_ticks + 1).min((STALLED_MAX_S / step_s) as u32);
        }
        self.lately.step(now.speed_mps, now.steering_rad, now.at_goal, step_s);
    }

    fn mean(&self, sum: f64) -> f64 {
        sum / f64::from(self.ticks.max(1))
    }
    fn deviation_per_metre(&self) -> f64 {
        if self.driven_m < WAY_MIN_M { 0.0 } else { self.off_way_m2 / self.driven_m }
    }

    /// Fills in the measures that are remembered; `out` begins with the first measure.
    pub fn fill(&self, step_s: f64, out: &mut [f64]) {
        out[measure::DRIVEN] = self.driven_m;
        out[measure::DEVIATION_PER_METRE] = self.deviation_per_metre();
        out[measure::PATH_MSE] = self.mean(self.off_squares_m2);
        out[measure::JERK_PEAK] = self.jerk_peak_mps3;
        out[measure::JERK_RMS] = self.mean(self.jerk_squares).sqrt();
        out[measure::STEERING_RATE] = self.rate_radps;
        out[measure::STEERING_RATE_RMS] = self.mean(self.rate_squares).sqrt();
        out[measure::STALLED] = f64::from(self.stalled_ticks) * step_s;
        if let [standing, wobble] = &mut out[measure::ROAD_COUNT..] {
            *standing = self.lately.standing_s(step_s);
            *wobble = self.lately.wobble_hz();
        }
    }

    /// How bad the remembered measures among these look: for the choice of members of a cell that are continued.
    pub fn worst(&self, kept: u32) -> [f64; 2] {
        let of = |mask: u32, value: f64| if kept & mask == 0 { 0.0 } else { value };
        let line = of(measure::OF_LINE, self.off_way_m2 + self.off_squares_m2);
        let smooth = of(measure::OF_JERK, self.jerk_squares) + of(1 << measure::STEERING_RATE_RMS, self.rate_squares);
        [line, smooth]
    }

    fn lately_reads(kept: u32) -> LatelyReads {
        let has = |at: usize| kept >> at & 1 == 1;
        LatelyReads { standing: has(measure::STANDING), wobble: has(measure::WOBBLE) }
    }

    /// Names what the kept measures need; the rest is not in the key. How fast the wheels turn is behind what the car itself has.
    pub fn visit<V: Visitor>(&self, kept: u32, step_s: f64, v: &mut V) {
        let has = |at: usize| kept >> at & 1 == 1;
        let needs_way = has(measure::DRIVEN) || has(measure::DEVIATION_PER_METRE);
        // Within the first metre the share is not told yet, but what is summed counts later.
        let share = self.off_way_m2 / self.driven_m.max(WAY_MIN_M);
        let (path_mse_m2, jerk_rms) = (self.mean(self.off_squares_m2), self.mean(self.jerk_squares).sqrt());
        let rate_rms = self.mean(self.rate_squares).sqrt();
        v.within("measure", |v| {
            let mut one = |is_kept: bool, field: &str, (name, unit, cell): (&str, &str, f64), value: f64| match is_kept
            {
                true => v.real(name, unit, cell, value),
                false => v.unread(field, "no requirement reads it"),
            };
            one(needs_way, "driven_m", ("driven", "m", 0.5), self.driven_m);
            one(has(measure::DEVIATION_PER_METRE), "off_way_m2", ("deviation_per_metre", "", 0.005), share);
            one(has(measure::PATH_MSE), "off_squares_m2", ("path_mse", "m^2", 0.0025), path_mse_m2);
            one(has(measure::JERK_PEAK), "jerk_peak_mps3", ("jerk_peak", "m/s^3", 0.5), self.jerk_peak_mps3);
            one(has(measure::JERK_RMS), "jerk_squares", ("jerk_rms", "m/s^3", 0.1), jerk_rms);
            one(has(measure::STEERING_RATE_RMS), "rate_squares", ("steering_rate_rms", "rad/s", 0.01), rate_rms);
            let stalled_s = f64::from(self.stalled_ticks) * step_s;
            one(has(measure::STALLED), "stalled_ticks", ("stalled", "s", 0.5), stalled_s);
            one(has(measure::STALLED), "from.0", ("stalled.x", "m", 0.1), self.from[0]);
            one(has(measure::STALLED), "from.1", ("stalled.y", "m", 0.1), self.from[1]);
        });
        v.unread("rate_radps", "it is computed anew in every base cycle");
        v.derived("ticks", "the time of the run");
        v.derived("steering_rad", "the car");
        v.field("lately", |v| self.lately.visit(Self::lately_reads(kept), v));
    }
    /// Computes again what follows from the time and from the car.
    pub fn derive(&mut self, ticks: u32, steering_rad: f64) {
        (self.ticks, self.steering_rad) = (ticks, steering_rad);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STILL: MeasuredMoment =
        MeasuredMoment { at: [0.0; 2], speed_mps: 0.0, off_m: 0.0, steering_rad: 0.0, jerk_mps3: 0.0, at_goal: false };

    fn after(ticks: u32, step_s: f64, moment: impl Fn(u32) -> MeasuredMoment) -> [f64; measure::LOW_SPEED_COUNT] {
        let mut measured = Measured::start([0.0; 2], 0.0);
        (0..ticks).for_each(|tick| measured.step(&moment(tick), step_s));
        let mut out = [0.0; measure::LOW_SPEED_COUNT];
        measured.fill(step_s, &mut out);
        out
    }

    /// 10 m at 2 m/s, the first half 0.2 m beside the line: 5 m · 0.2 m / 10 m, and half the time 0.04 m². The same for every step (E18).
    #[test]
    fn deviation_is_per_driven_metre_whatever_the_step() {
        for step_s in [0.01, 0.05] {
            let ticks = (5.0 / step_s) as u32;
            let off = |tick: u32| MeasuredMoment {
                speed_mps: -2.0,
                off_m: if tick < ticks / 2 { -0.2 } else { 0.0 },
                ..STILL
            };
            let out = after(ticks, step_s, off);
            assert!((out[measure::DRIVEN] - 10.0).abs() < 1e-9);
            assert!((out[measure::DEVIATION_PER_METRE] - 0.1).abs() < 1e-9, "{out:?}");
            assert!((out[measure::PATH_MSE] - 0.02).abs() < 1e-9, "{out:?}");
        }
        let short = after(4, 0.1, |_| MeasuredMoment { speed_mps: 2.0, off_m: 1.0, ..STILL });
        assert_eq!(short[measure::DEVIATION_PER_METRE], 0.0, "0.8 m are no way yet");
    }

    #[test]
    fn jerk_and_steering_rate_by_hand() {
        let out = after(4, 0.1, |tick| MeasuredMoment {
            jerk_mps3: [3.0, -4.0, 0.0, 0.0][tick as usize],
            steering_rad: [0.02, 0.02, 0.02, -0.01][tick as usize],
            ..STILL
        });
        assert_eq!((out[measure::JERK_PEAK], out[measure::JERK_RMS]), (4.0, 2.5));
        assert!((out[measure::STEERING_RATE] + 0.3).abs() < 1e-12);
        assert!((out[measure::STEERING_RATE_RMS] - (0.13_f64 / 4.0).sqrt()).abs() < 1e-12);
    }

    /// Driving to and fro on one spot is not moving on, whatever the speed; standing at the goal is no stall.
    #[test]
    fn a_car_that_goes_to_and_fro_is_stalled() {
        let to_and_fro =
            after(100, 0.1, |tick| MeasuredMoment { at: [0.3 * f64::from(tick % 2), 0.0], speed_mps: 3.0, ..STILL });
        assert!((to_and_fro[measure::STALLED] - 10.0).abs() < 1e-9);
        let onwards =
            after(100, 0.1, |tick| MeasuredMoment { at: [0.3 * f64::from(tick), 0.0], speed_mps: 3.0, ..STILL });
        assert!(onwards[measure::STALLED] < 0.3, "{onwards:?}");
        let arrived = after(100, 0.1, |_| MeasuredMoment { at_goal: true, ..STILL });
        assert_eq!(arrived[measure::STALLED], 0.0);
    }
}
