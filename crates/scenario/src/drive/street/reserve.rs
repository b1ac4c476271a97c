//! The reserve that responsibility-sensitive safety leaves to everybody near (S3-14, S3-32).

use anabranch_kernel::maths;
use anabranch_monitors::{InLane, along_curve, rss_reserve_m};

use super::Street;
use super::others::Other;
use super::signals::Moment;

impl Street {
    /// The smallest reserve to anybody, in the frame of the lane that the car is on; infinite if nobody is near. Ahead and behind the
    /// lane is taken to go on with its curvature at the car. `rear_m` is from the rear axle back to the end of all that is drawn.
    pub(super) fn reserve_m(&self, moment: &Moment<'_>, rear_m: f64) -> f64 {
        let (car, on) = (moment.car, moment.on);
        let curvature_per_m = self.network.lane(on.lane).curvature(on.place.station_m);
        let half_length_m = 0.5 * (moment.outline.front_m + rear_m);
        let (sin, cos) = maths::sin_cos(car.heading);
        let to_middle_m = moment.outline.front_m - half_length_m;
        let middle = [car.x + to_middle_m * cos, car.y + to_middle_m * sin];
        let half_m = [half_length_m, moment.outline.half_width_m];
        let own = turned([0.0; 2], on.turned_rad, half_m, car.speed);
        let along_rad = car.heading - on.turned_rad;
        let (along_sin, along_cos) = maths::sin_cos(along_rad);
        let reserve_m = |other: &Other| {
            let (x, y) = (other.pose.x - middle[0], other.pose.y - middle[1]);
            let ahead = [along_cos * x + along_sin * y, along_cos * y - along_sin * x];
            let (at_m, lane_turned_rad) = along_curve(ahead, curvature_per_m);
            let turn_rad = other.pose.heading - along_rad - lane_turned_rad;
            let half_m = [other.half_length_m, other.half_width_m];
            rss_reserve_m(&own, &turned(at_m, turn_rad, half_m, other.speed_mps))
        };
        moment.others.iter().map(reserve_m).fold(f64::INFINITY, f64::min)
    }
}

/// Somebody who is turned by an angle from his lane.
fn turned(at_m: [f64; 2], turn_rad: f64, half_m: [f64; 2], speed_mps: f64) -> InLane {
    let (sin, cos) = maths::sin_cos(turn_rad);
    let [length_m, width_m] = half_m;
    InLane {
        at_m,
        half_m: [length_m * cos.abs() + width_m * sin.abs(), length_m * sin.abs() + width_m * cos.abs()],
        velocity_mps: [speed_mps * cos, speed_mps * sin],
        crosses: sin.abs(),
    }
}
