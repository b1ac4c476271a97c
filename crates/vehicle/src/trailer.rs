//! A car or tractor with a trailer on a kinematic hitch (S4-23).
//!
//! The tractor is a [`CarModel`] (S4-11). The hitch sits c behind its rear axle (negative: ahead of it, as the fifth wheel
//! of a truck), the trailer's axle d behind the hitch. Its wheels roll without slip, so with φ = θ − θ_t, the angle by
//! which the tractor points left of the trailer:
//!
//! d·θ̇_t = v sin φ − c·θ̇ cos φ
//!
//! In a steady turn of the rear axle with radius R the trailer's axle runs on radius √(R² + c² − d²). Backwards φ = 0 is
//! unstable with the length d: a trailer that is only pushed jack-knifes. At its largest angle the hitch is blocked and
//! the trailer is dragged along, which is never what anybody wants: [`TrailerModel::is_jackknifed`] tells.
//!
//! Integration: the midpoint rule over the way and turn of the tractor's step, second order. Valid where trailers roll
//! without slip and sway: to about 15 m/s.

use anabranch_geometry::{Outline, Point, Pose};
use anabranch_kernel::Visitor;
use anabranch_kernel::maths::{self, Real};
use serde::{Deserialize, Serialize};

use crate::car::{Car, CarModel, CarSpec};

/// Data of a trailer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrailerSpec {
    /// From the tractor's rear axle back to the hitch; negative if the hitch is ahead of the axle.
    pub hitch_behind_m: f64,
    /// From the hitch back to the trailer's axle.
    pub length_m: f64,
    /// Outline relative to the trailer's axle.
    pub outline: Outline,
    /// Largest angle between tractor and trailer, either way: there they touch.
    pub hitch_max_rad: f64,
}

impl TrailerSpec {
    /// A caravan behind a car: 1 m from axle to hitch, 4 m to its axle.
    pub fn caravan() -> Self {
        Self {
            hitch_behind_m: 1.0,
            length_m: 4.0,
            outline: Outline { front_m: 2.8, rear_m: 2.4, half_width_m: 1.15, corner_radius_m: 0.2 },
            hitch_max_rad: 1.2,
        }
    }
    /// A semi-trailer: the fifth wheel sits 0.6 m ahead of the tractor's axle, the trailer's axles 7.7 m behind it.
    pub fn semi() -> Self {
        Self {
            hitch_behind_m: -0.6,
            length_m: 7.7,
            outline: Outline { front_m: 9.3, rear_m: 4.3, half_width_m: 1.275, corner_radius_m: 0.05 },
            hitch_max_rad: 1.5,
        }
    }
    /// A trailer by its name: `caravan` or `semi`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "caravan" => Some(Self::caravan()),
            "semi" => Some(Self::semi()),
            _ => None,
        }
    }
    /// What is wrong with the data, if anything: a scenario says so before it runs.
    pub fn fault(&self) -> Option<&'static str> {
        if !(self.length_m.is_finite() && self.length_m > 0.0) {
            return Some("the trailer's axle must be behind the hitch");
        }
        if !(self.hitch_behind_m.is_finite() && self.hitch_behind_m.abs() < self.length_m) {
            return Some("the hitch must be nearer to the tractor's axle than the trailer is long");
        }
        if !(self.hitch_max_rad > 0.0 && self.hitch_max_rad <= std::f64::consts::FRAC_PI_2) {
            return Some("the largest hitch angle must be above 0 and at most a right angle");
        }
        self.outline.fault()
    }
}

/// The tractor of the semi-trailer truck: 6 m long, 3.7 m between the axles.
pub fn truck() -> CarSpec {
    CarSpec {
        outline: Outline { front_m: 5.1, rear_m: 0.9, half_width_m: 1.275, corner_radius_m: 0.1 },
        wheelbase_m: 3.7,
        steering_max_rad: 0.7,
        steering_rate_max_radps: 0.4,
        steering_lag_s: 0.2,
        accel_max_mps2: 1.2,
        brake_max_mps2: 6.0,
        accel_lag_s: 0.4,
        slip_gain: 1.0,
        gear_change_s: 1.0,
    }
}

/// What of a car with trailer evolves, for one or several side by side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WithTrailer<R> {
    /// The tractor.
    pub car: Car<R>,
    /// Angle by which the tractor points left of the trailer, φ = θ − θ_t.
    pub hitch: R,
}

impl WithTrailer<f64> {
    /// Tractor at a pose with the trailer straight behind it.
    pub fn at(pose: Pose, speed_mps: f64) -> Self {
        Self { car: Car { speed: speed_mps, ..Car::at(pose) }, hitch: 0.0 }
    }
    /// Names the variables of tractor and trailer.
    #[inline]
    pub fn visit<V: Visitor>(&self, v: &mut V) {
        self.car.visit(v);
        Self::visit_hitch(self.hitch, v);
    }
    /// Names what a trailer adds to the tractor. The hitch angle has twice the cell of the heading, because a trailer of 4 m
    /// moves its tail by less than a cell of the position per cell of the heading.
    #[inline]
    pub fn visit_hitch<V: Visitor>(hitch_rad: f64, v: &mut V) {
        v.real("hitch", "rad", 0.04, hitch_rad);
    }
}

impl<R: Real> WithTrailer<R> {
    /// Several side by side.
    #[inline(always)]
    pub fn from_lanes<'c>(vehicle: impl Fn(usize) -> &'c WithTrailer<f64>) -> Self {
        Self { car: Car::from_lanes(|i| &vehicle(i).car), hitch: R::from_lanes(|i| vehicle(i).hitch) }
    }
    /// One of them.
    #[inline(always)]
    pub fn lane(&self, lane: usize) -> WithTrailer<f64> {
        WithTrailer { car: self.car.lane(lane), hitch: self.hitch.lane(lane) }
    }
}

/// A car with trailer prepared for steps of one length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrailerModel {
    /// The tractor.
    pub tractor: CarModel,
    /// The trailer.
    pub trailer: TrailerSpec,
}

impl TrailerModel {
    /// Prepares tractor and trailer for steps of `dt_s`.
    ///
    /// # Panics
    /// If [`CarSpec::fault`] or [`TrailerSpec::fault`] finds one; scenarios ask before.
    pub fn new(tractor: CarSpec, trailer: TrailerSpec, dt_s: f64) -> Self {
        assert_eq!(trailer.fault(), None, "the trailer must be checked when it is loaded");
        Self { tractor: CarModel::new(tractor, dt_s), trailer }
    }
    /// Advances tractor and trailer by one step; arguments and result are those of [`CarModel::step`].
    #[inline(always)]
    pub fn step<R: Real>(&self, state: &mut WithTrailer<R>, steering: R, accel: R, gear_sign: R) -> (R, R) {
        let half = R::splat(0.5);
        let before = state.car;
        let direction = self.tractor.step(&mut state.car, steering, accel, gear_sign);
        let way_m = half * (before.speed + state.car.speed) * R::splat(self.tractor.dt_s);
        let turn = state.car.heading - before.heading;
        let swing = |hitch: R| {
            let (sin, cos) = maths::sin_cos(hitch);
            let pulled = way_m * sin - R::splat(self.trailer.hitch_behind_m) * turn * cos;
            turn - pulled * R::splat(1.0 / self.trailer.length_m)
        };
        let middle = state.hitch + half * swing(state.hitch);
        let hitch_max = R::splat(self.trailer.hitch_max_rad);
        state.hitch = (state.hitch + swing(middle)).clamp(-hitch_max, hitch_max);
        direction
    }
    /// Where the trailer's axle is.
    pub fn trailer_pose(&self, state: &WithTrailer<f64>) -> Pose {
        let hitch = state.car.pose().world_from_local(Point::new(-self.trailer.hitch_behind_m, 0.0));
        let heading = state.car.heading - state.hitch;
        let axle = Pose::new(hitch.x, hitch.y, heading).world_from_local(Point::new(-self.trailer.length_m, 0.0));
        Pose::new(axle.x, axle.y, heading)
    }
    /// Whether tractor and trailer touch at the hitch.
    pub fn is_jackknifed(&self, state: &WithTrailer<f64>) -> bool {
        state.hitch.abs() >= self.trailer.hitch_max_rad
    }
    /// Hitch angle of a steady forward turn whose curvature at the tractor's rear axle is κ: tan-half form of
    /// sin φ − c·κ cos φ = d·κ. `None` where the turn is too sharp for the trailer.
    pub fn steady_hitch_rad(&self, curvature_per_m: f64) -> Option<f64> {
        let (c, d) = (self.trailer.hitch_behind_m * curvature_per_m, self.trailer.length_m * curvature_per_m);
        let reach = (1.0 + c * c).sqrt();
        (d.abs() <= reach).then(|| maths::asin(d / reach) + maths::atan(c))
    }
}
