//! Tracking the trajectory of a driver that does not steer itself.
//!
//! The law is simple on purpose. The reference is the point of the trajectory at this time, linear between two points.
//! Steering is the lateral law of the built-in drivers towards that point; the acceleration is that of the trajectory
//! plus a correction of speed and of the way that is behind or ahead. After its last point the car is held.

use anabranch_bridge::TrajectoryPoint;
use anabranch_driving::follow::{Command, Deviation, Told};
use anabranch_kernel::maths;

use super::ForeignDriver;

/// Speed per metre of way behind the trajectory.
const PER_METRE: f64 = 0.5;
/// Shorter ways have no direction.
const WAY_MIN_M: f64 = 1e-6;

impl ForeignDriver {
    /// The command of this base cycle; the trajectory has at least one point.
    pub(super) fn track(
        &self,
        points: &[TrajectoryPoint],
        time_s: f64,
        told: &Told<f64>,
        gear_sign: f64,
    ) -> Command<f64> {
        let next = points.partition_point(|point| point.time_s <= time_s);
        let held = Command { steering: 0.0, accel: self.speed.hold(), gear_sign };
        let (Some(to), Some(from)) = (points.get(next), points.get(next.saturating_sub(1))) else { return held };
        let span_s = to.time_s - from.time_s;
        let share = if span_s > 0.0 { ((time_s - from.time_s) / span_s).clamp(0.0, 1.0) } else { 0.0 };
        let between = |a: f64, b: f64| a + (b - a) * share;
        let turn = maths::wrap_angle(to.heading_rad - from.heading_rad);
        let heading = from.heading_rad + turn * share;
        let speed_mps = between(from.speed_mps, to.speed_mps);
        let direction = if speed_mps == 0.0 { gear_sign } else { speed_mps.signum() };
        let (sin, cos) = maths::sin_cos(heading);
        let (dx, dy) = (told.x - between(from.x_m, to.x_m), told.y - between(from.y_m, to.y_m));
        let (ahead_m, left_m) = (cos * dx + sin * dy, cos * dy - sin * dx);
        let way_m = maths::hypot(to.x_m - from.x_m, to.y_m - from.y_m);
        let curvature = if way_m > WAY_MIN_M { direction * turn / way_m } else { 0.0 };
        let deviation = Deviation { lateral_m: left_m, heading: maths::wrap_angle(told.heading - heading) };
        let planned = if span_s > 0.0 { (to.speed_mps - from.speed_mps) / span_s } else { 0.0 };
        let wanted_mps = direction * speed_mps - PER_METRE * direction * ahead_m;
        let accel = direction * planned + self.speed.k_speed_per_s * (wanted_mps - direction * told.speed);
        Command {
            steering: self.lateral.steering(curvature, &deviation, direction),
            accel: accel.clamp(-self.speed.brake_max_mps2, self.speed.accel_max_mps2),
            gear_sign: direction,
        }
    }
}
