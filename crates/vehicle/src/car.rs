//! A car as a bicycle: kinematics, understeer by a gain, lags and limits of steering and drive (S4-11).
//!
//! With the rear axle at (x, y), heading θ, speed v, acceleration a, steering angle δ, commands δ_c and a_c:
//!
//! ẋ = v cos θ, ẏ = v sin θ, θ̇ = G_s (v / L) tan δ, δ̇ = (δ_c − δ) / T_δ, v̇ = a, ȧ = (a_c − a) / T_a
//!
//! with |δ| ≤ δ_max, |δ̇| ≤ δ̇_max, and a_c between full brake and full drive. Valid where tyres roll rather than slide:
//! up to about 4 m/s² across; beyond that G_s < 1 stands for the loss of grip.

use anabranch_geometry::{Outline, Point, Pose};
use anabranch_kernel::Visitor;
use anabranch_kernel::maths::{self, Real};
use serde::{Deserialize, Serialize};

/// Data of one type of car.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CarSpec {
    /// Outline relative to the rear axle.
    pub outline: Outline,
    /// Distance of the axles, L.
    pub wheelbase_m: f64,
    /// Largest steering angle of the front wheels, either way.
    pub steering_max_rad: f64,
    /// Fastest change of the steering angle.
    pub steering_rate_max_radps: f64,
    /// Time constant of the steering, T_δ; 0 follows at once.
    pub steering_lag_s: f64,
    /// Strongest drive.
    pub accel_max_mps2: f64,
    /// Strongest brake (positive).
    pub brake_max_mps2: f64,
    /// Time constant of drive and brake, T_a; 0 follows at once.
    pub accel_lag_s: f64,
    /// Part of the kinematic yaw rate that the tyres deliver, G_s in [0, 1].
    pub slip_gain: f64,
    /// Time a gear change takes at standstill.
    pub gear_change_s: f64,
}

/// Names of the cars that come with the product.
pub const PRESETS: [&str; 3] = ["compact", "estate", "van"];

impl CarSpec {
    /// A compact car, 4.2 m by 1.8 m.
    pub fn compact() -> Self {
        Self {
            outline: Outline { front_m: 3.45, rear_m: 0.75, half_width_m: 0.9, corner_radius_m: 0.35 },
            wheelbase_m: 2.6,
            steering_max_rad: 0.6,
            steering_rate_max_radps: 0.6,
            steering_lag_s: 0.1,
            accel_max_mps2: 3.0,
            brake_max_mps2: 8.0,
            accel_lag_s: 0.15,
            slip_gain: 1.0,
            gear_change_s: 0.5,
        }
    }
    /// An estate car, 4.8 m by 1.84 m.
    pub fn estate() -> Self {
        Self {
            outline: Outline { front_m: 3.8, rear_m: 1.0, half_width_m: 0.92, corner_radius_m: 0.35 },
            wheelbase_m: 2.85,
            steering_max_rad: 0.58,
            ..Self::compact()
        }
    }
    /// A delivery van, 5.9 m by 2.0 m.
    pub fn van() -> Self {
        Self {
            outline: Outline { front_m: 4.6, rear_m: 1.3, half_width_m: 1.0, corner_radius_m: 0.2 },
            wheelbase_m: 3.65,
            steering_max_rad: 0.62,
            steering_rate_max_radps: 0.5,
            steering_lag_s: 0.15,
            accel_max_mps2: 2.0,
            brake_max_mps2: 7.0,
            accel_lag_s: 0.25,
            slip_gain: 1.0,
            gear_change_s: 0.8,
        }
    }
    /// The same car as a bare kinematic bicycle (S4-6): rolls without slip and does at once what it is told.
    #[must_use]
    pub fn kinematic(&self) -> Self {
        // 100 rad/s turn the wheels from lock to lock within a step of 15 ms.
        Self { steering_lag_s: 0.0, accel_lag_s: 0.0, slip_gain: 1.0, steering_rate_max_radps: 100.0, ..*self }
    }
    /// A car by its name in [`PRESETS`].
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "compact" => Some(Self::compact()),
            "estate" => Some(Self::estate()),
            "van" => Some(Self::van()),
            _ => None,
        }
    }
    /// What is wrong with the data, if anything: a scenario says so before it runs.
    pub fn fault(&self) -> Option<&'static str> {
        let positive = [self.wheelbase_m, self.steering_rate_max_radps, self.accel_max_mps2, self.brake_max_mps2];
        let not_negative = [self.steering_lag_s, self.accel_lag_s, self.gear_change_s];
        if !positive.iter().all(|&v| v.is_finite() && v > 0.0) {
            return Some("wheelbase, steering rate, drive and brake must be positive");
        }
        if !not_negative.iter().all(|&v| v.is_finite() && v >= 0.0) {
            return Some("lags and the gear change must not be negative");
        }
        // Half a right angle more would let the yaw rate of one tick leave the range of the series in `half_turn`.
        if !(self.steering_max_rad > 0.0 && self.steering_max_rad <= 1.2) {
            return Some("the largest steering angle must be above 0 and at most 1.2 rad");
        }
        if !(0.0..=1.0).contains(&self.slip_gain) {
            return Some("the slip gain must be in [0, 1]");
        }
        self.outline.fault()
    }
    /// Sharpest curve the car can drive, per metre.
    pub fn curvature_max_per_m(&self) -> f64 {
        self.slip_gain * maths::tan(self.steering_max_rad) / self.wheelbase_m
    }
    /// Middle of the front axle of a car at a pose.
    pub fn front_axle(&self, pose: Pose) -> Point {
        pose.world_from_local(Point::new(self.wheelbase_m, 0.0))
    }
}

/// What of a car evolves continuously, for one car or several side by side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Car<R> {
    /// Rear axle, metres east.
    pub x: R,
    /// Rear axle, metres north.
    pub y: R,
    /// Radians counter-clockwise from east, not wrapped.
    pub heading: R,
    /// Metres per second; negative is backwards.
    pub speed: R,
    /// Metres per second squared, in the direction of positive speed; 0 at standstill.
    pub accel: R,
    /// Angle of the front wheels in radians; positive turns left when driving forwards.
    pub steering: R,
}

impl Car<f64> {
    /// A car standing at a pose with straight wheels.
    pub fn at(pose: Pose) -> Self {
        Self { x: pose.x, y: pose.y, heading: pose.heading, speed: 0.0, accel: 0.0, steering: 0.0 }
    }
    /// Where it is.
    pub fn pose(&self) -> Pose {
        Pose::new(self.x, self.y, self.heading)
    }
    /// Names its variables. Cells of the pose are the paper's (S1-9).
    #[inline]
    pub fn visit<V: Visitor>(&self, v: &mut V) {
        v.real("x", "m", 0.1, self.x);
        v.real("y", "m", 0.1, self.y);
        v.angle("heading", 0.02, self.heading);
        v.real("speed", "m/s", 0.2, self.speed);
        v.real("accel", "m/s^2", 1.0, self.accel);
        // The wheels do not turn round: their angle is a plain number.
        v.real("steering", "rad", 0.1, self.steering);
    }
}

impl<R: Real> Car<R> {
    /// Several cars side by side.
    #[inline(always)]
    pub fn from_lanes<'c>(car: impl Fn(usize) -> &'c Car<f64>) -> Self {
        Self {
            x: R::from_lanes(|i| car(i).x),
            y: R::from_lanes(|i| car(i).y),
            heading: R::from_lanes(|i| car(i).heading),
            speed: R::from_lanes(|i| car(i).speed),
            accel: R::from_lanes(|i| car(i).accel),
            steering: R::from_lanes(|i| car(i).steering),
        }
    }
    /// One of the cars.
    #[inline(always)]
    pub fn lane(&self, lane: usize) -> Car<f64> {
        Car {
            x: self.x.lane(lane),
            y: self.y.lane(lane),
            heading: self.heading.lane(lane),
            speed: self.speed.lane(lane),
            accel: self.accel.lane(lane),
            steering: self.steering.lane(lane),
        }
    }
}

/// The direction the drive works in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Gear {
    /// Forwards.
    Forward,
    /// Backwards.
    Reverse,
}

impl Gear {
    /// +1 forwards, −1 backwards.
    pub fn sign(self) -> f64 {
        match self {
            Self::Forward => 1.0,
            Self::Reverse => -1.0,
        }
    }
    /// The gear for a direction of travel.
    pub fn of_sign(sign: f64) -> Self {
        if sign < 0.0 { Self::Reverse } else { Self::Forward }
    }
}

/// Everything of a car that evolves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CarState {
    /// The continuous part.
    pub car: Car<f64>,
    /// The gear engaged.
    pub gear: Gear,
}

impl CarState {
    /// A car standing at a pose, in forward gear.
    pub fn at(pose: Pose) -> Self {
        Self { car: Car::at(pose), gear: Gear::Forward }
    }
    /// Names its variables: those of the car, then the gear.
    #[inline]
    pub fn visit<V: Visitor>(&self, v: &mut V) {
        self.car.visit(v);
        v.exact("gear", u64::from(self.gear == Gear::Reverse));
    }
}

/// A car prepared for steps of one length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CarModel {
    /// Its data.
    pub spec: CarSpec,
    /// Length of a step.
    pub dt_s: f64,
    steering_share: f64,
    pub(crate) accel_share: f64,
    steering_step_max_rad: f64,
    turn_per_m: f64,
}

impl CarModel {
    /// Prepares a car for steps of `dt_s`.
    ///
    /// # Panics
    /// If [`CarSpec::fault`] finds one or the step is not positive; scenarios ask before.
    pub fn new(spec: CarSpec, dt_s: f64) -> Self {
        assert_eq!(spec.fault(), None, "the car must be checked when it is loaded");
        assert!(dt_s > 0.0 && dt_s.is_finite(), "a step takes time");
        Self {
            spec,
            dt_s,
            steering_share: lag_share(spec.steering_lag_s, dt_s),
            accel_share: lag_share(spec.accel_lag_s, dt_s),
            steering_step_max_rad: spec.steering_rate_max_radps * dt_s,
            turn_per_m: spec.slip_gain / spec.wheelbase_m,
        }
    }

    /// Advances a car by one step and returns cosine and sine of its new heading (the exact bits of
    /// [`maths::sin_cos`]), which distance queries need anyway.
    ///
    /// `accel_command` counts along the gear: positive drives, negative brakes. Brakes hold the car at standstill and
    /// never reverse it; a car that still rolls against its gear is braked to zero first.
    #[inline(always)]
    pub fn step<R: Real>(&self, car: &mut Car<R>, steering_command: R, accel_command: R, gear_sign: R) -> (R, R) {
        let steering = self.steer(car.steering, steering_command);
        let accel = self.accelerate(car.speed * gear_sign, car.accel * gear_sign, accel_command);
        self.roll(car, steering, accel, gear_sign)
    }

    /// As [`step`](Self::step), behind an actuator of somebody else: the angle that the front wheels have at the end of the step,
    /// and the acceleration along the gear during it.
    #[inline(always)]
    pub fn roll<R: Real>(&self, car: &mut Car<R>, steering: R, accel: R, gear_sign: R) -> (R, R) {
        let half = R::splat(0.5);
        let (speed, accel) = self.drive(car.speed * gear_sign, accel);
        let (speed, accel) = (speed * gear_sign, accel * gear_sign);

        // Trapezoid of speed and steering: exact for constant acceleration, second order otherwise.
        let way_m = half * (car.speed + speed) * R::splat(self.dt_s);
        let turn = way_m * R::splat(self.turn_per_m) * maths::tan(half * (car.steering + steering));
        car.heading = car.heading + turn;
        let (sin, cos) = maths::sin_cos(car.heading);
        let (half_sin, half_cos) = half_turn(turn);
        // Move along the heading in the middle of the step, which is half the turn before the new one.
        car.x = car.x + way_m * (cos * half_cos + sin * half_sin);
        car.y = car.y + way_m * (sin * half_cos - cos * half_sin);
        (car.speed, car.accel, car.steering) = (speed, accel, steering);
        (cos, sin)
    }

    /// First-order lag, sampled exactly, with limits of rate and angle.
    #[inline(always)]
    pub(crate) fn steer<R: Real>(&self, steering: R, command: R) -> R {
        let angle_max = R::splat(self.spec.steering_max_rad);
        let step_max = R::splat(self.steering_step_max_rad);
        let wanted = command.clamp(-angle_max, angle_max);
        let share = R::splat(self.steering_share);
        steering.approach_within(wanted, share, step_max).clamp(-angle_max, angle_max)
    }

    /// Acceleration of drive and brake after a step, counted along the gear.
    #[inline(always)]
    fn accelerate<R: Real>(&self, speed: R, accel: R, command: R) -> R {
        let wanted = command.clamp(R::splat(-self.spec.brake_max_mps2), R::splat(self.spec.accel_max_mps2));
        // Against the gear, drive and brake both work towards standstill.
        let wanted = R::select(speed.lt(R::splat(0.0)), wanted.abs(), wanted);
        accel.approach(wanted, R::splat(self.accel_share))
    }

    /// Speed and acceleration after a step, both counted along the gear.
    #[inline(always)]
    fn drive<R: Real>(&self, speed: R, accel: R) -> (R, R) {
        let zero = R::splat(0.0);
        let rolls_back = speed.lt(zero);
        let next = speed + accel * R::splat(self.dt_s);
        let stands = (next.le(zero) & !rolls_back) | (zero.le(next) & rolls_back);
        (R::select(stands, zero, next), R::select(stands, zero, accel))
    }
}

/// Share of the way to its target that a lag covers in a step: 1 − exp(−dt/T), the exact solution for a constant
/// command, and therefore stable for every step; 1 without a lag.
fn lag_share(lag_s: f64, dt_s: f64) -> f64 {
    if lag_s > 0.0 { 1.0 - maths::exp(-dt_s / lag_s) } else { 1.0 }
}

/// Sine and cosine of half of a turn by their series: below 10⁻¹² off for turns up to 0.2 rad per step, which is a
/// compact car at 75 m/s with full lock and 10 ms.
#[inline(always)]
pub(crate) fn half_turn<R: Real>(turn: R) -> (R, R) {
    let h = R::splat(0.5) * turn;
    let z = h * h;
    let one = R::splat(1.0);
    let sin = h * (one - z * (R::splat(1.0 / 6.0) - z * R::splat(1.0 / 120.0)));
    let cos = one - z * (R::splat(0.5) - z * (R::splat(1.0 / 24.0) - z * R::splat(1.0 / 720.0)));
    (sin, cos)
}
