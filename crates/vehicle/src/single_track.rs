//! A car as a dynamic single-track: its tyres slip, so it answers at speed as a real car does (S4-21).
//!
//! Beside the actuators of [`CarModel`] (S4-11) the body has speed u along, v across (at the centre of mass) and yaw rate
//! r; the centre of mass lies a behind the front and b ahead of the rear axle:
//!
//! m (u̇ − r v) = X_f cos δ − Y_f sin δ + X_r
//! m (v̇ + r u) = Y_f cos δ + X_f sin δ + Y_r
//! I ṙ = a (Y_f cos δ + X_f sin δ) − b Y_r
//!
//! Side forces Y follow from slip and load by [`Tyre`]; load shifts with the acceleration by h/L; drive and brake forces X
//! are shared between the axles and limited by grip (a car with traction control and anti-lock brakes).
//!
//! **Integration.** Slip reacts the faster the slower the car: the eigenvalue is near −C/(m u), −200/s at 1 m/s, and no
//! explicit step of 10 ms survives that. We take the linearly implicit two-stage scheme ROS2 (Verwer, Spee, Blom and
//! Hundsdorfer 1999; γ = 1 − 1/√2): second order whatever is taken for the Jacobian, and L-stable. So the model needs no
//! switch to kinematics at low speed: as the car slows down slip dies out within a step, what remains is rolling without
//! slip, and every state changes continuously through standstill.
//!
//! Valid on level ground for speeds and slips of road cars either way; without roll, camber and combined-slip subtleties.

use anabranch_geometry::Pose;
use anabranch_kernel::Visitor;
use anabranch_kernel::maths::{self, Real};
use serde::{Deserialize, Serialize};

use crate::car::{Car, CarModel, CarSpec, half_turn};
use crate::tyre::{Tyre, grip_across};

/// Gravity.
pub const GRAVITY_MPS2: f64 = 9.81;
/// Below this speed along a wheel slip is counted as if at this speed: keeps the quotient finite at standstill, where the
/// force is then that of a viscous damper so stiff that nothing visible moves.
const SLIP_SPEED_MIN_MPS: f64 = 0.5;
/// Traction control and anti-lock brakes leave this much of the grip unused along, so that a third remains across.
const ALONG_SHARE_MAX: f64 = 0.95;
/// An axle keeps at least this share of its static load, however hard the car brakes.
const LOAD_SHARE_MIN: f64 = 0.05;
/// γ of ROS2.
const GAMMA: f64 = 1.0 - std::f64::consts::FRAC_1_SQRT_2;

/// One axle, both wheels together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axle {
    /// Cornering stiffness of both wheels, newtons per radian of slip angle.
    pub stiffness_n_per_rad: f64,
    /// Share of the driving force, in [0, 1].
    pub drive_share: f64,
    /// Share of the braking force, in [0, 1].
    pub brake_share: f64,
    /// How much of the friction of the ground its tyres take, in (0, 1]: 1 unless something is wrong with them.
    pub grip: f64,
}

/// Data of a car with tyres.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SingleTrackSpec {
    /// Outline, actuators and limits. Its slip gain must be 1: here tyres decide.
    pub car: CarSpec,
    /// Mass with load.
    pub mass_kg: f64,
    /// Inertia about the vertical axis.
    pub yaw_inertia_kgm2: f64,
    /// From the centre of mass forwards to the front axle.
    pub front_axle_ahead_m: f64,
    /// Height of the centre of mass; 0 leaves load transfer out.
    pub centre_height_m: f64,
    /// Front axle.
    pub front: Axle,
    /// Rear axle.
    pub rear: Axle,
    /// How side force grows with slip.
    pub tyre: Tyre,
}

impl SingleTrackSpec {
    /// The compact car with front drive, slightly understeering: 1.5 mrad per m/s².
    pub fn compact() -> Self {
        Self {
            car: CarSpec::compact(),
            mass_kg: 1300.0,
            yaw_inertia_kgm2: 1900.0,
            front_axle_ahead_m: 1.1,
            centre_height_m: 0.53,
            front: Axle { stiffness_n_per_rad: 120_000.0, drive_share: 1.0, brake_share: 0.65, grip: 1.0 },
            rear: Axle { stiffness_n_per_rad: 125_000.0, drive_share: 0.0, brake_share: 0.35, grip: 1.0 },
            tyre: Tyre::Brush,
        }
    }
    /// The estate car with rear drive.
    pub fn estate() -> Self {
        Self {
            car: CarSpec::estate(),
            mass_kg: 1750.0,
            yaw_inertia_kgm2: 3100.0,
            front_axle_ahead_m: 1.35,
            centre_height_m: 0.56,
            front: Axle { stiffness_n_per_rad: 145_000.0, drive_share: 0.0, brake_share: 0.6, grip: 1.0 },
            rear: Axle { stiffness_n_per_rad: 170_000.0, drive_share: 1.0, brake_share: 0.4, grip: 1.0 },
            tyre: Tyre::Brush,
        }
    }
    /// The loaded delivery van with rear drive.
    pub fn van() -> Self {
        Self {
            car: CarSpec::van(),
            mass_kg: 3000.0,
            yaw_inertia_kgm2: 8200.0,
            front_axle_ahead_m: 1.85,
            centre_height_m: 0.9,
            front: Axle { stiffness_n_per_rad: 170_000.0, drive_share: 0.0, brake_share: 0.55, grip: 1.0 },
            rear: Axle { stiffness_n_per_rad: 230_000.0, drive_share: 1.0, brake_share: 0.45, grip: 1.0 },
            tyre: Tyre::Brush,
        }
    }
    /// A car by its name in [`crate::PRESETS`].
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
        let positive =
            [self.mass_kg, self.yaw_inertia_kgm2, self.front.stiffness_n_per_rad, self.rear.stiffness_n_per_rad];
        if !positive.iter().all(|&v| v.is_finite() && v > 0.0) {
            return Some("mass, inertia and stiffness must be positive");
        }
        if !(self.front_axle_ahead_m > 0.0 && self.front_axle_ahead_m < self.car.wheelbase_m) {
            return Some("the centre of mass must lie between the axles");
        }
        if !(self.centre_height_m >= 0.0 && self.centre_height_m < self.car.wheelbase_m) {
            return Some("the centre of mass must lie above the ground and lower than the wheelbase is long");
        }
        if ![self.front.grip, self.rear.grip].iter().all(|grip| *grip > 0.0 && *grip <= 1.0) {
            return Some("the grip of tyres is a share of the friction of the ground, in (0, 1]");
        }
        let halves = |front: f64, rear: f64| {
            (0.0..=1.0).contains(&front) && (0.0..=1.0).contains(&rear) && (front + rear - 1.0).abs() < 1e-9
        };
        if !(halves(self.front.drive_share, self.rear.drive_share)
            && halves(self.front.brake_share, self.rear.brake_share))
        {
            return Some("the shares of drive and of brake must be in [0, 1] and add up to 1");
        }
        if self.car.slip_gain != 1.0 {
            return Some("a car with tyres has slip gain 1; its tyres decide how it slips");
        }
        self.car.fault()
    }
    /// From the rear axle forwards to the centre of mass.
    pub fn centre_ahead_m(&self) -> f64 {
        self.car.wheelbase_m - self.front_axle_ahead_m
    }
    /// Understeer gradient of the linear range, K = (m/L)·(b/C_f − a/C_r): steering angle beyond the kinematic one per
    /// lateral acceleration, in rad per m/s². Positive understeers.
    pub fn understeer_rad_per_mps2(&self) -> f64 {
        let (a, b) = (self.front_axle_ahead_m, self.centre_ahead_m());
        self.mass_kg / self.car.wheelbase_m * (b / self.front.stiffness_n_per_rad - a / self.rear.stiffness_n_per_rad)
    }
    /// The linear dynamics about straight driving at a speed: d/dt (v, r) = A·(v, r) + B·δ with v across at the centre
    /// of mass (Snider 2009, eq. 18).
    pub fn linear(&self, speed_mps: f64) -> ([[f64; 2]; 2], [f64; 2]) {
        let (a, b, m, i) = (self.front_axle_ahead_m, self.centre_ahead_m(), self.mass_kg, self.yaw_inertia_kgm2);
        let (front, rear, u) = (self.front.stiffness_n_per_rad, self.rear.stiffness_n_per_rad, speed_mps);
        let across = [-(front + rear) / (m * u), (b * rear - a * front) / (m * u) - u];
        let turning = [(b * rear - a * front) / (i * u), -(a * a * front + b * b * rear) / (i * u)];
        ([across, turning], [front / m, a * front / i])
    }
}

/// What of a car with tyres evolves, for one or several side by side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SingleTrack<R> {
    /// Pose of the rear axle, speed along the car, drive and steering. The acceleration is what drive and brake ask for.
    pub car: Car<R>,
    /// Speed of the rear axle across the car, to the left; 0 when its wheels roll without slip.
    pub slide: R,
    /// Radians per second, counter-clockwise.
    pub yaw_rate: R,
}

impl SingleTrack<f64> {
    /// A car at a pose, rolling straight on.
    pub fn at(pose: Pose, speed_mps: f64) -> Self {
        Self { car: Car { speed: speed_mps, ..Car::at(pose) }, slide: 0.0, yaw_rate: 0.0 }
    }
    /// Names its variables. Cells of what it shares with the plain car are the same.
    #[inline]
    pub fn visit<V: Visitor>(&self, v: &mut V) {
        self.car.visit(v);
        Self::visit_slide(self.slide, self.yaw_rate, v);
    }
    /// Names what tyres add to the plain car: 0.1 m/s across or 0.05 rad/s more move a car by a cell of its pose within one
    /// to two seconds.
    #[inline]
    pub fn visit_slide<V: Visitor>(slide_mps: f64, yaw_rate_radps: f64, v: &mut V) {
        v.real("slide", "m/s", 0.1, slide_mps);
        v.real("yaw_rate", "rad/s", 0.05, yaw_rate_radps);
    }
}

impl<R: Real> SingleTrack<R> {
    /// Several cars side by side.
    #[inline(always)]
    pub fn from_lanes<'c>(car: impl Fn(usize) -> &'c SingleTrack<f64>) -> Self {
        Self {
            car: Car::from_lanes(|i| &car(i).car),
            slide: R::from_lanes(|i| car(i).slide),
            yaw_rate: R::from_lanes(|i| car(i).yaw_rate),
        }
    }
    /// One of the cars.
    #[inline(always)]
    pub fn lane(&self, lane: usize) -> SingleTrack<f64> {
        SingleTrack { car: self.car.lane(lane), slide: self.slide.lane(lane), yaw_rate: self.yaw_rate.lane(lane) }
    }
}

/// What a vehicle gets in one step, after all errors: commands and ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inputs<R> {
    /// Commanded angle of the front wheels in radians.
    pub steering: R,
    /// Commanded acceleration along the gear in m/s²: positive drives, negative brakes.
    pub accel: R,
    /// Gear: +1 forwards, −1 backwards.
    pub gear_sign: R,
    /// Friction coefficient μ of the ground below it, positive ([`crate::Ground`]).
    pub friction: R,
}

/// A car with tyres prepared for steps of one length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SingleTrackModel {
    /// Its data.
    pub spec: SingleTrackSpec,
    /// Its actuators.
    actuators: CarModel,
}

/// What stays the same within a step: forces along and grip across, per axle.
struct Footing<R> {
    along_front_n: R,
    along_rear_n: R,
    grip_front_n: R,
    grip_rear_n: R,
    brakes: R,
}

/// Velocities of the body: along, and across at the rear axle, and turning.
#[derive(Clone, Copy)]
struct Flow<R> {
    along: R,
    slide: R,
    turning: R,
}

impl SingleTrackModel {
    /// Prepares a car for steps of `dt_s`.
    ///
    /// # Panics
    /// If [`SingleTrackSpec::fault`] finds one or the step is not positive; scenarios ask before.
    pub fn new(spec: SingleTrackSpec, dt_s: f64) -> Self {
        assert_eq!(spec.fault(), None, "the car must be checked when it is loaded");
        Self { spec, actuators: CarModel::new(spec.car, dt_s) }
    }
    /// The same car with tyres that are not as they should be: factors of stiffness and grip, front and rear, in (0, 1].
    #[must_use]
    pub fn with_tyres(&self, [front, rear]: [[f64; 2]; 2]) -> Self {
        let weakened = |axle: Axle, [stiffness, grip]: [f64; 2]| Axle {
            stiffness_n_per_rad: axle.stiffness_n_per_rad * stiffness,
            grip: axle.grip * grip,
            ..axle
        };
        let spec = SingleTrackSpec {
            front: weakened(self.spec.front, front),
            rear: weakened(self.spec.rear, rear),
            ..self.spec
        };
        Self { spec, actuators: self.actuators }
    }
    /// Length of a step.
    pub fn dt_s(&self) -> f64 {
        self.actuators.dt_s
    }

    /// Advances a car by one step and returns cosine and sine of its new heading. Brakes hold the car at standstill and
    /// never reverse it; a car that still rolls against its gear is braked to zero first.
    #[inline(always)]
    pub fn step<R: Real>(&self, state: &mut SingleTrack<R>, inputs: &Inputs<R>) -> (R, R) {
        let (half, dt) = (R::splat(0.5), R::splat(self.actuators.dt_s));
        let car = state.car;
        let steering = self.actuators.steer(car.steering, inputs.steering);
        let (accel, rolls_back) = self.ask(&car, inputs);
        // What drive and brake do in the middle of the step: second order.
        let middle = half * (car.accel * inputs.gear_sign + accel);
        let footing = self.footing(&car, middle, rolls_back, inputs);
        let before = Flow { along: car.speed, slide: state.slide, turning: state.yaw_rate };
        let after = self.flow(before, [car.steering, steering], &footing);
        let (after, stands) = self.settle(before, after, &footing, inputs.friction);

        let turn = half * (before.turning + after.turning) * dt;
        let way_m = half * (before.along + after.along) * dt;
        let side_m = half * (before.slide + after.slide) * dt;
        let heading = car.heading + turn;
        let (sin, cos) = maths::sin_cos(heading);
        let (half_sin, half_cos) = half_turn(turn);
        // Along the heading in the middle of the step, which is half the turn before the new one.
        let (sin_middle, cos_middle) = (sin * half_cos - cos * half_sin, cos * half_cos + sin * half_sin);
        state.car = Car {
            x: car.x + way_m * cos_middle - side_m * sin_middle,
            y: car.y + way_m * sin_middle + side_m * cos_middle,
            heading,
            speed: after.along,
            accel: R::select(stands, R::splat(0.0), accel * inputs.gear_sign),
            steering,
        };
        (state.slide, state.yaw_rate) = (after.slide, after.turning);
        (cos, sin)
    }

    /// Acceleration along the gear that drive and brake work for after their lag, and where the car rolls against it.
    #[inline(always)]
    fn ask<R: Real>(&self, car: &Car<R>, inputs: &Inputs<R>) -> (R, R::Mask) {
        let spec = &self.spec.car;
        let wanted = inputs.accel.clamp(R::splat(-spec.brake_max_mps2), R::splat(spec.accel_max_mps2));
        let rolls_back = (car.speed * inputs.gear_sign).lt(R::splat(0.0));
        let wanted = R::select(rolls_back, wanted.abs(), wanted);
        ((car.accel * inputs.gear_sign).approach(wanted, R::splat(self.actuators.accel_share)), rolls_back)
    }

    /// Loads, forces along and what grip they leave across.
    #[inline(always)]
    fn footing<R: Real>(&self, car: &Car<R>, accel: R, rolls_back: R::Mask, inputs: &Inputs<R>) -> Footing<R> {
        let spec = &self.spec;
        let (zero, gravity) = (R::splat(0.0), R::splat(GRAVITY_MPS2));
        let brakes = rolls_back | accel.lt(zero);
        let body_accel = R::select(brakes, -accel.abs() * car.speed.sign(), accel * inputs.gear_sign);
        let grip = inputs.friction * gravity;
        let held = body_accel.clamp(-grip, grip);
        let (length, height) = (spec.car.wheelbase_m, spec.centre_height_m);
        let weight = |arm_m: f64| GRAVITY_MPS2 * spec.mass_kg * arm_m / length;
        let shift = held * R::splat(spec.mass_kg * height / length);
        let load =
            |arm_m: f64, shift: R| (R::splat(weight(arm_m)) + shift).max(R::splat(LOAD_SHARE_MIN * weight(arm_m)));
        let axle = |axle: &Axle, load_n: R| {
            let share = R::select(brakes, R::splat(axle.brake_share), R::splat(axle.drive_share));
            let grip_n = inputs.friction * R::splat(axle.grip) * load_n;
            let most_n = R::splat(ALONG_SHARE_MAX) * grip_n;
            let along_n = (R::splat(spec.mass_kg) * body_accel * share).clamp(-most_n, most_n);
            (along_n, grip_across(grip_n, along_n))
        };
        let (along_front_n, grip_front_n) = axle(&spec.front, load(spec.centre_ahead_m(), -shift));
        let (along_rear_n, grip_rear_n) = axle(&spec.rear, load(spec.front_axle_ahead_m, shift));
        let brakes = R::select(brakes, R::splat(1.0), zero);
        Footing { along_front_n, along_rear_n, grip_front_n, grip_rear_n, brakes }
    }

    /// One step of ROS2 for the three velocities, with the steering angle before and after it.
    #[inline(always)]
    fn flow<R: Real>(&self, before: Flow<R>, steering: [R; 2], footing: &Footing<R>) -> Flow<R> {
        let dt = R::splat(self.actuators.dt_s);
        let (rate, slopes) = self.rates(before, steering[0], footing);
        let [[j11, j12], [j21, j22]] = slopes;
        let step = R::splat(GAMMA * self.actuators.dt_s);
        let one = R::splat(1.0);
        let (m11, m12, m21, m22) = (one - step * j11, -(step * j12), -(step * j21), one - step * j22);
        let share = one / (m11 * m22 - m12 * m21);
        let solve =
            |slide: R, turning: R| ((m22 * slide - m12 * turning) * share, (m11 * turning - m21 * slide) * share);

        let along_first = dt * rate.along;
        let (slide_first, turning_first) = solve(dt * rate.slide, dt * rate.turning);
        let there = Flow {
            along: before.along + along_first,
            slide: before.slide + slide_first,
            turning: before.turning + turning_first,
        };
        let (rate, _) = self.rates(there, steering[1], footing);
        let two = R::splat(2.0);
        let (slide_second, turning_second) =
            solve(dt * rate.slide - two * slide_first, dt * rate.turning - two * turning_first);
        let (most, rest) = (R::splat(1.5), R::splat(0.5));
        Flow {
            along: before.along + rest * (along_first + dt * rate.along),
            slide: before.slide + most * slide_first + rest * slide_second,
            turning: before.turning + most * turning_first + rest * turning_second,
        }
    }

    /// Time derivatives of the velocities, and how those across and turning depend on each other.
    #[inline(always)]
    fn rates<R: Real>(&self, flow: Flow<R>, steering: R, footing: &Footing<R>) -> (Flow<R>, [[R; 2]; 2]) {
        let spec = &self.spec;
        let (a, b, length) = (spec.front_axle_ahead_m, spec.centre_ahead_m(), R::splat(spec.car.wheelbase_m));
        let (per_mass, per_inertia) = (1.0 / spec.mass_kg, 1.0 / spec.yaw_inertia_kgm2);
        let slow = R::splat(SLIP_SPEED_MIN_MPS);
        let (sin, cos) = maths::sin_cos(steering);
        let front_across = flow.slide + length * flow.turning;
        let rolling = (flow.along * cos + front_across * sin).abs().max(slow);
        let front_slip = (front_across * cos - flow.along * sin) / rolling;
        let rear_rolling = flow.along.abs().max(slow);
        let rear_slip = flow.slide / rear_rolling;
        let front_chord = spec.tyre.chord(spec.front.stiffness_n_per_rad, front_slip, footing.grip_front_n);
        let rear_chord = spec.tyre.chord(spec.rear.stiffness_n_per_rad, rear_slip, footing.grip_rear_n);
        let side_front_n = -(front_chord * front_slip);
        let rear_n = -(rear_chord * rear_slip);
        let front_n = side_front_n * cos + footing.along_front_n * sin;
        let along_n = footing.along_front_n * cos - side_front_n * sin + footing.along_rear_n;

        let across = flow.slide + R::splat(b) * flow.turning;
        // A force at the front moves the rear axle by 1/m − a·b/I, one at the rear by 1/m + b²/I.
        let (by_front, by_rear) = (R::splat(per_mass - a * b * per_inertia), R::splat(per_mass + b * b * per_inertia));
        let rate = Flow {
            along: flow.turning * across + along_n * R::splat(per_mass),
            slide: front_n * by_front + rear_n * by_rear - flow.turning * flow.along,
            turning: front_n * R::splat(a * per_inertia) - rear_n * R::splat(b * per_inertia),
        };
        let front_slope = front_chord * cos * cos / rolling;
        let rear_slope = rear_chord / rear_rolling;
        let slopes = [
            [-(front_slope * by_front) - rear_slope * by_rear, -flow.along - front_slope * length * by_front],
            [
                rear_slope * R::splat(b * per_inertia) - front_slope * R::splat(a * per_inertia),
                -(front_slope * length * R::splat(a * per_inertia)),
            ],
        ];
        (rate, slopes)
    }

    /// Lets brakes stop the car where they can within the step, and then hold what is left of slide and turn.
    #[inline(always)]
    fn settle<R: Real>(
        &self,
        before: Flow<R>,
        after: Flow<R>,
        footing: &Footing<R>,
        friction: R,
    ) -> (Flow<R>, R::Mask) {
        let (zero, dt) = (R::splat(0.0), R::splat(self.actuators.dt_s));
        let braked = (footing.along_front_n + footing.along_rear_n).abs() * (dt * R::splat(1.0 / self.spec.mass_kg));
        let free = after.along + before.along.sign() * braked;
        let stands = zero.lt(footing.brakes) & free.abs().le(braked);
        let hold = friction * dt * R::splat(GRAVITY_MPS2);
        let still =
            stands & after.slide.abs().le(hold) & (after.turning * R::splat(self.spec.car.wheelbase_m)).abs().le(hold);
        let flow = Flow {
            along: R::select(stands, zero, after.along),
            slide: R::select(still, zero, after.slide),
            turning: R::select(still, zero, after.turning),
        };
        (flow, stands)
    }
}
