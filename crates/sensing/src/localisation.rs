//! Where the car believes to be: the true pose plus the error of the segment (S1-21, S1-22).

use anabranch_kernel::Visitor;
use anabranch_kernel::maths::Real;
use serde::{Deserialize, Serialize};

/// The true pose, with the sine and cosine that the loop has at hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TruePose<R> {
    /// Metres east.
    pub x: R,
    /// Metres north.
    pub y: R,
    /// Radians.
    pub heading: R,
    /// Cosine of the heading.
    pub cos: R,
    /// Sine of the heading.
    pub sin: R,
}

/// The error of the estimate at this moment: x (m), y (m), heading (rad), in both frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoseError<R> {
    /// x forwards, y to the left.
    pub in_car: [R; 3],
    /// x east, y north.
    pub in_world: [R; 3],
}

impl<R: Real> PoseError<R> {
    /// No error.
    pub fn none() -> Self {
        Self { in_car: [R::splat(0.0); 3], in_world: [R::splat(0.0); 3] }
    }
}

/// What the car is told about its pose. Serialisable, because a loop that reads less often than every base cycle
/// keeps the last reading in its state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoseReading<R> {
    /// Metres east.
    pub x: R,
    /// Metres north.
    pub y: R,
    /// Radians.
    pub heading: R,
}

/// Cell sizes of a kept reading: those of the paper's merge grid (S1-9).
pub const READING_CELLS: [f64; 3] = [0.1, 0.1, 0.02];

/// The reading of one moment.
#[inline(always)]
pub fn read<R: Real>(truth: TruePose<R>, error: PoseError<R>) -> PoseReading<R> {
    let [forwards, left, turned] = error.in_car;
    let [east, north, turned_in_world] = error.in_world;
    PoseReading {
        x: truth.x + (truth.cos * forwards - truth.sin * left) + east,
        y: truth.y + (truth.sin * forwards + truth.cos * left) + north,
        heading: truth.heading + (turned + turned_in_world),
    }
}

impl PoseReading<f64> {
    /// Names the variables of a kept reading.
    pub fn visit<V: Visitor>(&self, v: &mut V) {
        let [x, y, heading] = READING_CELLS;
        v.real("x", "m", x, self.x);
        v.real("y", "m", y, self.y);
        v.angle("heading", heading, self.heading);
    }
}

/// When the pose is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Localisation {
    /// Base cycles between two readings, at least 1 (S1-4).
    pub cycle_ticks: u32,
}

impl Localisation {
    /// Whether a reading is due in a base cycle; between them the last one is kept.
    #[inline]
    pub fn is_due(&self, tick: u64) -> bool {
        tick.is_multiple_of(u64::from(self.cycle_ticks))
    }
}

#[cfg(test)]
mod tests {
    use anabranch_geometry::{Point, Pose};
    use anabranch_kernel::maths::{Lanes, sin_cos};
    use proptest::prelude::*;

    use super::*;

    fn truth(pose: Pose) -> TruePose<f64> {
        let (sin, cos) = sin_cos(pose.heading);
        TruePose { x: pose.x, y: pose.y, heading: pose.heading, cos, sin }
    }

    #[test]
    fn left_in_the_frame_of_the_car_turns_with_it() {
        let error = PoseError { in_car: [0.0, 0.1, 0.02], ..PoseError::none() };
        let facing_north = truth(Pose::new(1.0, 2.0, std::f64::consts::FRAC_PI_2));
        let reading = read(facing_north, error);
        assert!((reading.x - 0.9).abs() < 1e-12 && (reading.y - 2.0).abs() < 1e-12);
        assert!((reading.heading - facing_north.heading - 0.02).abs() < 1e-12);
        let world = read(facing_north, PoseError { in_world: [0.0, 0.1, 0.0], ..PoseError::none() });
        assert!((world.x - 1.0).abs() < 1e-12 && (world.y - 2.1).abs() < 1e-12);
    }

    #[test]
    fn a_sensor_reads_in_its_own_cycle() {
        let due: Vec<u64> = (0..10).filter(|&tick| Localisation { cycle_ticks: 4 }.is_due(tick)).collect();
        assert_eq!(due, [0, 4, 8]);
        assert!((0..5).all(|tick| Localisation { cycle_ticks: 1 }.is_due(tick)));
    }

    proptest! {
        #[test]
        fn readings_agree_with_geometry_and_between_lanes(
            poses in prop::array::uniform4((-50.0..50.0_f64, -50.0..50.0_f64, -7.0..7.0_f64)),
            error in prop::array::uniform6(-1.0..1.0_f64),
        ) {
            let [a, b, c, d, e, f] = error;
            let one = |lane: usize| truth(Pose::new(poses[lane].0, poses[lane].1, poses[lane].2));
            let lanes = |part: fn(TruePose<f64>) -> f64| Lanes::<4>::from_lanes(|lane| part(one(lane)));
            let wide_truth = TruePose {
                x: lanes(|t| t.x), y: lanes(|t| t.y), heading: lanes(|t| t.heading),
                cos: lanes(|t| t.cos), sin: lanes(|t| t.sin),
            };
            let wide_error = PoseError { in_car: [a, b, c].map(Lanes::splat), in_world: [d, e, f].map(Lanes::splat) };
            let wide = read(wide_truth, wide_error);
            for (lane, &(x, y, heading)) in poses.iter().enumerate() {
                let alone = read(one(lane), PoseError { in_car: [a, b, c], in_world: [d, e, f] });
                prop_assert_eq!((wide.x.lane(lane), wide.y.lane(lane)), (alone.x, alone.y));
                prop_assert_eq!(wide.heading.lane(lane), alone.heading);
                let expect = Pose::new(x, y, heading).world_from_local(Point::new(a, b));
                prop_assert!((alone.x - expect.x - d).abs() < 1e-9 && (alone.y - expect.y - e).abs() < 1e-9);
            }
        }
    }
}
