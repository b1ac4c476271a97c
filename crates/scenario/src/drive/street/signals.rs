//! Signals that only roads have.

use anabranch_geometry::Outline;
use anabranch_kernel::maths;
use anabranch_monitors::{Following, road};
use anabranch_vehicle::Car;

use super::Street;
use super::others::Other;
use super::rules::{OnLane, Passed};

/// Who is farther aside than the widths of both and this is not ahead.
const BESIDE_M: f64 = 0.1;

/// What the signals of one base cycle are made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment<'a> {
    pub car: &'a Car<f64>,
    pub outline: &'a Outline,
    pub on: &'a OnLane,
    pub passed: Passed,
    pub others: &'a [Other],
    pub impact_mps: f64,
}

impl Street {
    /// Fills in the part of a frame that only roads have.
    pub(super) fn signal(&self, moment: &Moment<'_>, frame: &mut [f64]) {
        let truth = |yes: bool| f64::from(u8::from(yes));
        let on = moment.on;
        let ahead = nearest_ahead(moment.car, moment.outline, moment.others);
        frame[road::TTC] = ahead.map_or(f64::INFINITY, |ahead| ahead.ttc_s());
        frame[road::HEADWAY] = ahead.map_or(f64::INFINITY, |ahead| ahead.headway_s());
        frame[road::GAP] = ahead.map_or(f64::INFINITY, |ahead| ahead.gap_m);
        frame[road::LANE_OFFSET] = on.place.lateral_m;
        let (sin, cos) = maths::sin_cos(on.turned_rad);
        let side = |x_m: f64| on.place.lateral_m + x_m * sin;
        let farthest_m = side(moment.outline.front_m).abs().max(side(-moment.outline.rear_m).abs());
        frame[road::OFF_LANE] = truth(farthest_m + moment.outline.half_width_m * cos.abs() > 0.5 * on.width_m);
        frame[road::WRONG_WAY] = truth(Self::is_against(on));
        frame[road::RED_LIGHT] = truth(moment.passed.red);
        frame[road::STOP_LINE] = truth(moment.passed.stop);
        let limit_mps = self.network.lane(on.lane).limit_mps(on.place.station_m);
        frame[road::OVER_LIMIT] = (moment.car.speed - limit_mps).max(0.0);
        frame[road::STATION] = on.place.station_m;
        frame[road::IMPACT_SPEED] = moment.impact_mps;
    }
}

/// Who would be touched first by a car that drives straight on; by hand: boxes in the frame of the car.
pub(super) fn nearest_ahead(car: &Car<f64>, outline: &Outline, others: &[Other]) -> Option<Following> {
    let (sin, cos) = maths::sin_cos(car.heading);
    let mut nearest: Option<Following> = None;
    for other in others {
        let (dx, dy) = (other.pose.x - car.x, other.pose.y - car.y);
        let (along_m, aside_m) = (cos * dx + sin * dy, cos * dy - sin * dx);
        if along_m <= 0.0 {
            continue;
        }
        let (turned_sin, turned_cos) = maths::sin_cos(other.pose.heading - car.heading);
        let half_along_m = other.half_length_m * turned_cos.abs() + other.half_width_m * turned_sin.abs();
        let half_aside_m = other.half_length_m * turned_sin.abs() + other.half_width_m * turned_cos.abs();
        if aside_m.abs() > outline.half_width_m + half_aside_m + BESIDE_M {
            continue;
        }
        let gap_m = along_m - half_along_m - outline.front_m;
        let following = Following { gap_m, speed_mps: car.speed, ahead_mps: other.speed_mps * turned_cos };
        if nearest.is_none_or(|known| gap_m < known.gap_m) {
            nearest = Some(following);
        }
    }
    nearest
}

#[cfg(test)]
mod tests {
    use super::super::others::Shape;
    use super::*;
    use anabranch_geometry::Pose;
    use anabranch_vehicle::CarSpec;

    fn other(x: f64, y: f64, heading: f64, speed_mps: f64) -> Other {
        let pose = Pose::new(x, y, heading);
        Other { number: 0, pose, speed_mps, half_length_m: 2.0, half_width_m: 1.0, shape: Shape::Kind(0) }
    }

    #[test]
    fn who_is_ahead_is_found_by_boxes() {
        let outline = CarSpec::compact().outline;
        let car = Car { speed: 10.0, ..Car::at(Pose::new(0.0, 0.0, 0.0)) };
        let gap_m = 30.0 - 2.0 - outline.front_m;
        let found = nearest_ahead(&car, &outline, &[other(30.0, 0.0, 0.0, 4.0), other(15.0, 4.0, 0.0, 0.0)]).unwrap();
        assert!((found.gap_m - gap_m).abs() < 1e-9);
        assert!((found.ttc_s() - gap_m / 6.0).abs() < 1e-9);
        // Across the way its width is its length: it reaches 2 m aside.
        let crossing = nearest_ahead(&car, &outline, &[other(15.0, 2.5, std::f64::consts::FRAC_PI_2, 3.0)]).unwrap();
        assert!((crossing.gap_m - (15.0 - 1.0 - outline.front_m)).abs() < 1e-9 && crossing.ahead_mps.abs() < 1e-9);
        assert!(nearest_ahead(&car, &outline, &[other(-5.0, 0.0, 0.0, 4.0)]).is_none());
    }
}
