//! Where things are at the junction.
//!
//! The main road runs along x; its near lane, in which traffic comes from the left, has its centre at y = 0. The car
//! comes along x = 0 from negative y, stops, and turns right into that lane.

use anabranch_kernel::maths;

/// Way of the car before its turn.
pub(crate) const APPROACH_M: f64 = 40.0;
const RADIUS_M: f64 = 6.0;
/// Way of the car at which it has to stand.
pub(crate) const STOP_M: f64 = APPROACH_M - 2.5;
/// Way of the car at which its front enters the lane.
pub(crate) const ENTRY_M: f64 = APPROACH_M + 1.8;
/// Way of the car in its turn.
pub(crate) const TURN_M: f64 = RADIUS_M * std::f64::consts::FRAC_PI_2;
/// Way of the car at which the manoeuvre is completed.
pub(crate) const GOAL_M: f64 = APPROACH_M + TURN_M + 25.0;
/// A car is three discs of this radius, so far apart.
const DISC_M: f64 = 1.0;
const DISC_STEP_M: f64 = 1.5;
/// The hedge stands left of the car's road, between these x.
pub(crate) const HEDGE_X_M: (f64, f64) = (-20.0, -3.0);
/// And ends so far back from the lane's centre.
pub(crate) const HEDGE_END_M: f64 = -40.0;

/// A place with a heading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pose {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// Cosine and sine of the heading.
    pub(crate) ahead: [f64; 2],
}

/// The car after a way.
pub(crate) fn pose_at(way_m: f64, aside_m: f64) -> Pose {
    let since = way_m - APPROACH_M;
    if since <= 0.0 {
        return Pose { x: aside_m, y: since - RADIUS_M, ahead: [0.0, 1.0] };
    }
    if since < TURN_M {
        let (sin, cos) = maths::sin_cos(since / RADIUS_M);
        let radius = RADIUS_M - aside_m;
        return Pose { x: RADIUS_M - radius * cos, y: -RADIUS_M + radius * sin, ahead: [sin, cos] };
    }
    Pose { x: RADIUS_M + since - TURN_M, y: -aside_m, ahead: [1.0, 0.0] }
}

/// Distance between two cars; negative if they overlap.
pub(crate) fn distance_m(a: &Pose, b: &Pose) -> f64 {
    let mut least = f64::INFINITY;
    for i in [-1.0, 0.0, 1.0] {
        for j in [-1.0, 0.0, 1.0] {
            let (step_a, step_b) = (i * DISC_STEP_M, j * DISC_STEP_M);
            let dx = a.x + a.ahead[0] * step_a - b.x - b.ahead[0] * step_b;
            let dy = a.y + a.ahead[1] * step_a - b.y - b.ahead[1] * step_b;
            least = least.min(dx * dx + dy * dy);
        }
    }
    least.sqrt() - 2.0 * DISC_M
}

/// Whether the hedge leaves the line between two places free.
pub(crate) fn sees(from: &Pose, to: &Pose, hedge_m: f64) -> bool {
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    // The part of the line inside of the hedge, axis by axis.
    let slab = |from: f64, change: f64, lo: f64, hi: f64| {
        if change.abs() < 1e-12 {
            return if from > lo && from < hi { (0.0, 1.0) } else { (1.0, 0.0) };
        }
        let (a, b) = ((lo - from) / change, (hi - from) / change);
        (a.min(b), a.max(b))
    };
    let across = slab(from.x, dx, HEDGE_X_M.0, HEDGE_X_M.1);
    let along = slab(from.y, dy, HEDGE_END_M, -hedge_m);
    across.0.max(along.0).max(0.0) >= across.1.min(along.1).min(1.0)
}
