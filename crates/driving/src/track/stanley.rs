//! Stanley's law: point the front wheels along the line, and towards it by how far the front axle is off
//! (Thrun et al. 2006; Snider 2009, eq. 3 and 10).
//!
//! δ = −ψ − atan(k·e / (k_soft + v)) + k_yaw·(v·κ − r) + c·v²·κ with heading error ψ and offset e (left positive) at the
//! front axle. The third term damps yaw at speed; the last is the slip that the front tyres need in a curve. Without slip
//! a circle is followed exactly; with slip and c = 0 the steady offset is (k_soft + v)·tan(α)/k to the outside.

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::maths;
use anabranch_vehicle::{CarSpec, SingleTrackSpec};
use serde::{Deserialize, Serialize};

use super::{EgoEstimate, Line};

/// Gains of Stanley's law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StanleySpec {
    /// Rate at which an offset vanishes, k.
    pub k_offset_per_s: f64,
    /// Softens the law at low speed.
    pub k_soft_mps: f64,
    /// Steering per difference of yaw rate.
    pub k_yaw_s: f64,
}

impl StanleySpec {
    /// Offsets halve within a second; steady up to motorway speed.
    pub const CALM: Self = Self { k_offset_per_s: 0.8, k_soft_mps: 1.0, k_yaw_s: 0.05 };
    /// Three times as firm: for towns.
    pub const EAGER: Self = Self { k_offset_per_s: 2.5, k_soft_mps: 1.0, k_yaw_s: 0.05 };
}

/// Stanley's law for one car.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stanley {
    spec: StanleySpec,
    wheelbase_m: f64,
    steering_max_rad: f64,
    front_slip_rad_per_mps2: f64,
}

impl Stanley {
    /// For a car whose front wheels do not slip, or whose slip nobody knows.
    pub fn new(spec: StanleySpec, car: &CarSpec) -> Self {
        let CarSpec { wheelbase_m, steering_max_rad, .. } = *car;
        Self { spec, wheelbase_m, steering_max_rad, front_slip_rad_per_mps2: 0.0 }
    }
    /// For a car whose tyres are known: the front ones carry m·b/L of the lateral acceleration, with slip m·b/(L·C_f).
    pub fn with_tyres(spec: StanleySpec, car: &SingleTrackSpec) -> Self {
        let load_kg = car.mass_kg * car.centre_ahead_m() / car.car.wheelbase_m;
        let front_slip_rad_per_mps2 = load_kg / car.front.stiffness_n_per_rad;
        Self { front_slip_rad_per_mps2, ..Self::new(spec, &car.car) }
    }
    /// Steering angle; `station_m` is the foot of the rear axle.
    pub fn steering(&self, line: &impl Line, station_m: f64, ego: &EgoEstimate) -> f64 {
        let front = ego.pose.world_from_local(Point::new(self.wheelbase_m, 0.0));
        let sample = line.foot_sample(front, station_m + self.wheelbase_m);
        let (lateral_m, heading) = sample.errors(Pose::new(front.x, front.y, ego.pose.heading));
        let speed = ego.speed_mps.max(0.0);
        let towards = maths::atan(self.spec.k_offset_per_s * lateral_m / (self.spec.k_soft_mps + speed));
        let damping = self.spec.k_yaw_s * (speed * sample.curvature_per_m - ego.yaw_rate_radps);
        let slip = self.front_slip_rad_per_mps2 * speed * speed * sample.curvature_per_m;
        (slip + damping - heading - towards).clamp(-self.steering_max_rad, self.steering_max_rad)
    }
}
