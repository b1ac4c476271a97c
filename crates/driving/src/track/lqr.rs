//! Optimal feedback for following a path, with gains by speed (S4-10; Snider 2009, section 3.2).
//!
//! The errors are those of the linear car about the line: offset e and its rate, heading ψ and its rate, and the angle δ
//! of the wheels, which lags behind its command. Where tyres are known, e and ψ are taken at the centre of mass and obey
//! the linear single-track; else at the rear axle, rolling without slip. The feed-forward is what the linear car needs on
//! a circle: δ = L·κ + K·v²·κ at heading ψ = −b·κ + (m·a/(L·C_r))·v²·κ, with the curvature where the car will be when
//! its wheels have followed. A jump of curvature, which no wheels can follow, is smeared over the way that they take to
//! turn, centred on it, so that errors on both sides cancel. So there is no steady error in curves; without
//! it (Snider's plain LQR) the steady error is −(δ·(1 + k_δ) + k_ψ·ψ)/k_e.
//!
//! The line is that of the rear axle, as for all trackers, and curvature is that where the rear axle is: with the centre of
//! mass on the line, b further on, a car would steer early and cut corners, by b²·κ/2 even when nothing changes any more.
//! While curvature changes, the linear car with its rear axle on the line needs beyond that of a circle the angle
//! v·κ̇·((m·b² + I)/(L·C_f) − (m·a·b − I)/(L·C_r) + m·a/C_r): its wheels turn earlier by the quotient of both.

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::maths;
use anabranch_vehicle::{CarSpec, SingleTrackSpec};
use serde::{Deserialize, Serialize};

use super::riccati::{NotSolvable, gains, sample};
use super::{EgoEstimate, Line};

/// Gains are solved at these distances of speed and are linear in between.
const SPEED_STEP_MPS: f64 = 1.0;
/// Slowest and fastest speed with gains of its own.
const SPEEDS_MPS: [f64; 2] = [1.0, 70.0];
/// Wheels that follow at once are modelled with this lag: a lag of zero is no differential equation.
const LAG_MIN_S: f64 = 0.01;

/// Curvature is the mean over at least this way each way, and over what is driven in at most this time each way.
const SMEAR_MIN_M: f64 = 0.25;
const SMEAR_MAX_S: f64 = 0.5;

/// What is known of a car for steering it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LateralCar {
    /// It rolls without slip.
    Rolling(CarSpec),
    /// Its tyres are known.
    Tyres(SingleTrackSpec),
}

/// How large errors may be against each other: each costs its square over the square of these.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LqrWeights {
    /// Offset.
    pub offset_m: f64,
    /// Heading.
    pub heading_rad: f64,
    /// Steering command beyond the feed-forward, as the curvature it makes times v² (what passengers feel).
    pub lateral_mps2: f64,
}

impl LqrWeights {
    /// Smooth.
    pub const CALM: Self = Self { offset_m: 1.0, heading_rad: 0.5, lateral_mps2: 1.0 };
    /// Close to the line.
    pub const EAGER: Self = Self { offset_m: 0.5, heading_rad: 0.3, lateral_mps2: 2.0 };
}

/// Whether steering anticipates the curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FeedForward {
    /// By what the linear car needs on a circle.
    Circle,
    /// Not at all: plain feedback.
    None,
}

/// Gains of offset, its rate, heading, its rate, and wheel angle.
type Row = [f64; 5];

/// An optimal path tracker for one car.
#[derive(Clone, Debug, PartialEq)]
pub struct LqrPath {
    rows: Vec<Row>,
    feed_forward: FeedForward,
    wheelbase_m: f64,
    steering_max_rad: f64,
    steering_lag_s: f64,
    steering_rate_max_radps: f64,
    /// Point whose errors are fed back, ahead of the rear axle.
    ahead_m: f64,
    understeer_rad_per_mps2: f64,
    rear_slip_rad_per_mps2: f64,
    /// Angle beyond that of a circle, per speed and change of curvature per second.
    lead_m_s: f64,
}

impl LqrPath {
    /// Solves the gains for a car that is told a new angle every `cycle_s`.
    ///
    /// # Errors
    /// [`NotSolvable`] if a car cannot be steered at some speed (weights that are not positive).
    pub fn new(car: &LateralCar, weights: &LqrWeights, cycle_s: f64) -> Result<Self, NotSolvable> {
        let steps = ((SPEEDS_MPS[1] - SPEEDS_MPS[0]) / SPEED_STEP_MPS) as u32;
        let speed = |i: u32| SPEEDS_MPS[0] + SPEED_STEP_MPS * f64::from(i);
        let rows = (0..=steps).map(|i| row(car, weights, cycle_s, speed(i))).collect::<Result<_, _>>()?;
        let spec = match car {
            LateralCar::Rolling(spec) => spec,
            LateralCar::Tyres(spec) => &spec.car,
        };
        let (ahead_m, understeer_rad_per_mps2, rear_slip_rad_per_mps2, lead_m_s) = match car {
            LateralCar::Rolling(_) => (0.0, 0.0, 0.0, 0.0),
            LateralCar::Tyres(tyres) => {
                let load_kg = tyres.mass_kg * tyres.front_axle_ahead_m / spec.wheelbase_m;
                let rear_slip = load_kg / tyres.rear.stiffness_n_per_rad;
                (tyres.centre_ahead_m(), tyres.understeer_rad_per_mps2(), rear_slip, lead_m_s(tyres))
            }
        };
        Ok(Self {
            rows,
            feed_forward: FeedForward::Circle,
            wheelbase_m: spec.wheelbase_m,
            steering_max_rad: spec.steering_max_rad,
            steering_lag_s: spec.steering_lag_s,
            steering_rate_max_radps: spec.steering_rate_max_radps,
            ahead_m,
            understeer_rad_per_mps2,
            rear_slip_rad_per_mps2,
            lead_m_s,
        })
    }
    /// The same tracker with or without anticipation.
    #[must_use]
    pub fn with_feed_forward(self, feed_forward: FeedForward) -> Self {
        Self { feed_forward, ..self }
    }
    /// Gains at a speed: of offset, its rate, heading, its rate, and wheel angle. Zero where an error is not fed back.
    pub fn gains_at(&self, speed_mps: f64) -> [f64; 5] {
        let place = ((speed_mps - SPEEDS_MPS[0]) / SPEED_STEP_MPS).clamp(0.0, (self.rows.len() - 1) as f64);
        let index = (place as usize).min(self.rows.len() - 2);
        let share = place - index as f64;
        std::array::from_fn(|i| self.rows[index][i] + share * (self.rows[index + 1][i] - self.rows[index][i]))
    }
    /// Wheel angle and heading error at which the linear car stays on a circle.
    pub fn on_circle(&self, curvature_per_m: f64, speed_mps: f64) -> (f64, f64) {
        let lateral_mps2 = speed_mps * speed_mps * curvature_per_m;
        let steering = maths::atan(self.wheelbase_m * curvature_per_m) + self.understeer_rad_per_mps2 * lateral_mps2;
        (steering, self.rear_slip_rad_per_mps2 * lateral_mps2 - self.ahead_m * curvature_per_m)
    }
    /// Half the way over which curvature is smeared: what the wheels need to turn by its change within about a second.
    fn smear_half_m(&self, line: &impl Line, station_m: f64, speed_mps: f64) -> f64 {
        let reach_m = SMEAR_MAX_S * speed_mps;
        let [from, to] = [-reach_m, reach_m].map(|ahead_m| line.at(station_m + ahead_m).curvature_per_m);
        let turn_s = self.wheelbase_m * (to - from).abs() / self.steering_rate_max_radps;
        SMEAR_MIN_M + speed_mps * (0.5 * turn_s).min(SMEAR_MAX_S)
    }
    /// Steering angle; `station_m` is the foot of the rear axle.
    pub fn steering(&self, line: &impl Line, station_m: f64, ego: &EgoEstimate) -> f64 {
        let (errors, steering) = match self.feed_forward {
            FeedForward::Circle => self.anticipating(line, station_m, ego),
            FeedForward::None => (self.plain_errors(line, station_m, ego), 0.0),
        };
        let k = self.gains_at(ego.speed_mps.max(0.0));
        let correction: f64 = k.iter().zip(errors).map(|(gain, error)| gain * error).sum();
        (steering - correction).clamp(-self.steering_max_rad, self.steering_max_rad)
    }
    /// Errors against a car whose rear axle is on the line, and the angle that it is told. That car heads along the line where its
    /// rear axle is, turned in by the slip of its rear tyres.
    fn anticipating(&self, line: &impl Line, station_m: f64, ego: &EgoEstimate) -> (Row, f64) {
        let speed = ego.speed_mps.max(0.0);
        let sample = line.foot_sample(ego.pose.point(), station_m);
        let (rear_m, heading) = sample.errors(ego.pose);
        let half_m = self.smear_half_m(line, sample.station_m, speed);
        let at = |ahead_s: f64| mean_curvature(line, sample.station_m + speed * ahead_s, half_m);
        // Its tyres take a moment to turn it, and before them its wheels.
        let lead_s = self.lead_m_s * speed / (self.wheelbase_m + self.understeer_rad_per_mps2 * speed * speed);
        let [curvature, led, soon] = [0.0, lead_s, lead_s + self.steering_lag_s].map(at);
        let change_per_s = if lead_s > 0.0 { (led - curvature) / lead_s } else { 0.0 };
        let slip_per_curvature = self.rear_slip_rad_per_mps2 * speed * speed;
        let slip = slip_per_curvature * curvature;
        let (sin, cos) = maths::sin_cos(heading);
        let turned_rate = ego.yaw_rate_radps - speed * curvature - slip_per_curvature * change_per_s;
        let errors = [
            rear_m + self.ahead_m * maths::sin(heading - slip),
            speed * sin + ego.slide_mps * cos + self.ahead_m * turned_rate,
            heading - slip,
            turned_rate,
            ego.steering_rad - self.on_circle(led, speed).0,
        ];
        (errors, self.on_circle(soon, speed).0)
    }
    /// Errors of the point whose errors are fed back against the line itself.
    fn plain_errors(&self, line: &impl Line, station_m: f64, ego: &EgoEstimate) -> Row {
        let speed = ego.speed_mps.max(0.0);
        let point = ego.pose.world_from_local(Point::new(self.ahead_m, 0.0));
        let sample = line.foot_sample(point, station_m + self.ahead_m);
        let (offset_m, heading) = sample.errors(Pose::new(point.x, point.y, ego.pose.heading));
        let across = ego.slide_mps + self.ahead_m * ego.yaw_rate_radps;
        let (sin, cos) = maths::sin_cos(heading);
        let turned_rate = ego.yaw_rate_radps - speed * sample.curvature_per_m;
        [offset_m, speed * sin + across * cos, heading, turned_rate, ego.steering_rad]
    }
}

/// What a change of curvature asks of the wheels, beyond a circle.
fn lead_m_s(car: &SingleTrackSpec) -> f64 {
    let (a, b, m, length_m) = (car.front_axle_ahead_m, car.centre_ahead_m(), car.mass_kg, car.car.wheelbase_m);
    let (front, rear) = (car.front.stiffness_n_per_rad, car.rear.stiffness_n_per_rad);
    let inertia = car.yaw_inertia_kgm2;
    (m * b * b + inertia) / (length_m * front) - (m * a * b - inertia) / (length_m * rear) + m * a / rear
}

/// Mean curvature about a station: change of heading per way.
fn mean_curvature(line: &impl Line, station_m: f64, half_m: f64) -> f64 {
    let [from, to] = [-half_m, half_m].map(|ahead_m| line.at(station_m + ahead_m).pose.heading);
    maths::wrap_angle(to - from) / (2.0 * half_m)
}

/// Solves the gains at one speed.
fn row(car: &LateralCar, weights: &LqrWeights, cycle_s: f64, speed: f64) -> Result<Row, NotSolvable> {
    let square = |size: f64| cycle_s / (size * size);
    let (offset, heading) = (square(weights.offset_m), square(weights.heading_rad));
    // An angle δ makes the lateral acceleration v²·δ/L; slower than 3 m/s it is not acceleration that limits steering.
    let felt = |wheelbase_m: f64| square(weights.lateral_mps2 * wheelbase_m / (speed * speed).max(9.0));
    match car {
        LateralCar::Rolling(spec) => {
            let lag_s = spec.steering_lag_s.max(LAG_MIN_S);
            let turn = speed * spec.slip_gain / spec.wheelbase_m;
            let a = [[0.0, speed, 0.0], [0.0, 0.0, turn], [0.0, 0.0, -1.0 / lag_s]];
            let held = sample::<3, 4>(&a, &[0.0, 0.0, 1.0 / lag_s], cycle_s);
            let k = gains(&held.a, &held.b, &[offset, heading, 0.0], felt(spec.wheelbase_m))?;
            Ok([k[0], 0.0, k[1], 0.0, k[2]])
        }
        LateralCar::Tyres(spec) => {
            let lag_s = spec.car.steering_lag_s.max(LAG_MIN_S);
            // ė = v + u·ψ turns the linear car's (v, r) into errors: ë and ψ̈ feel ė − u·ψ in place of v.
            let ([across, turning], push) = spec.linear(speed);
            let a = [
                [0.0, 1.0, 0.0, 0.0, 0.0],
                [0.0, across[0], -across[0] * speed, across[1] + speed, push[0]],
                [0.0, 0.0, 0.0, 1.0, 0.0],
                [0.0, turning[0], -turning[0] * speed, turning[1], push[1]],
                [0.0, 0.0, 0.0, 0.0, -1.0 / lag_s],
            ];
            let held = sample::<5, 6>(&a, &[0.0, 0.0, 0.0, 0.0, 1.0 / lag_s], cycle_s);
            gains(&held.a, &held.b, &[offset, 0.0, heading, 0.0, 0.0], felt(spec.car.wheelbase_m))
        }
    }
}
