//! Any of the vehicles, for loops that take theirs from a file.

use anabranch_geometry::Pose;
use anabranch_kernel::{Visitor, maths};
use serde::{Deserialize, Serialize};

use crate::car::{Car, CarModel, CarSpec};
use crate::single_track::{Inputs, SingleTrack, SingleTrackModel};
use crate::trailer::{TrailerModel, WithTrailer};

/// A vehicle prepared for steps of one length.
///
/// ```
/// use anabranch_geometry::Pose;
/// use anabranch_vehicle::{Inputs, Plant, SingleTrackModel, SingleTrackSpec};
///
/// let plant = Plant::SingleTrack(SingleTrackModel::new(SingleTrackSpec::compact(), 0.01));
/// let mut state = plant.start(Pose::new(0.0, 0.0, 0.0), 30.0);
/// for _ in 0..100 {
///     plant.step(&mut state, &Inputs { steering: 0.01, accel: 0.0, gear_sign: 1.0, friction: 0.9 });
/// }
/// assert!(plant.motion(&state).yaw_rate_radps > 0.05);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Plant {
    /// The paper's car (S4-11); of [`CarSpec::kinematic`], the bare bicycle.
    Car(CarModel),
    /// With tyres.
    SingleTrack(SingleTrackModel),
    /// With a trailer.
    Trailer(TrailerModel),
}

/// What of a vehicle evolves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum PlantState {
    /// The paper's car.
    Car(Car<f64>),
    /// With tyres.
    SingleTrack(SingleTrack<f64>),
    /// With a trailer.
    Trailer(WithTrailer<f64>),
}

/// How a vehicle moves: the truth that sensors read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlantMotion {
    /// Pose of the rear axle.
    pub pose: Pose,
    /// Speed along the vehicle, negative backwards.
    pub speed_mps: f64,
    /// Speed of the rear axle across the vehicle, to the left.
    pub slide_mps: f64,
    /// Counter-clockwise.
    pub yaw_rate_radps: f64,
    /// Angle of the front wheels.
    pub steering_rad: f64,
    /// What drive and brake work for, in the direction of positive speed.
    pub accel_mps2: f64,
}

impl Plant {
    /// The car, or the tractor: outline, actuators and limits.
    pub fn spec(&self) -> &CarSpec {
        match self {
            Self::Car(model) => &model.spec,
            Self::SingleTrack(model) => &model.spec.car,
            Self::Trailer(model) => &model.tractor.spec,
        }
    }
    /// Length of a step.
    pub fn dt_s(&self) -> f64 {
        match self {
            Self::Car(model) => model.dt_s,
            Self::SingleTrack(model) => model.dt_s(),
            Self::Trailer(model) => model.tractor.dt_s,
        }
    }
    /// Whether friction makes a difference to it: only to tyres. A scenario that slips under another vehicle is in error.
    pub fn feels_friction(&self) -> bool {
        matches!(self, Self::SingleTrack(_))
    }
    /// At a pose, rolling straight on.
    pub fn start(&self, pose: Pose, speed_mps: f64) -> PlantState {
        match self {
            Self::Car(_) => PlantState::Car(Car { speed: speed_mps, ..Car::at(pose) }),
            Self::SingleTrack(_) => PlantState::SingleTrack(SingleTrack::at(pose, speed_mps)),
            Self::Trailer(_) => PlantState::Trailer(WithTrailer::at(pose, speed_mps)),
        }
    }
    /// Advances a vehicle by one step and returns cosine and sine of its new heading.
    ///
    /// # Panics
    /// If the state is that of another kind of vehicle.
    #[inline]
    pub fn step(&self, state: &mut PlantState, inputs: &Inputs<f64>) -> (f64, f64) {
        match (self, state) {
            (Self::Car(model), PlantState::Car(car)) => {
                model.step(car, inputs.steering, inputs.accel, inputs.gear_sign)
            }
            (Self::SingleTrack(model), PlantState::SingleTrack(car)) => model.step(car, inputs),
            (Self::Trailer(model), PlantState::Trailer(car)) => {
                model.step(car, inputs.steering, inputs.accel, inputs.gear_sign)
            }
            _ => unreachable!("a vehicle keeps its kind for the whole run"),
        }
    }
    /// How it moves.
    pub fn motion(&self, state: &PlantState) -> PlantMotion {
        let car = state.car();
        let spec = self.spec();
        let rolling = car.speed * spec.slip_gain * maths::tan(car.steering) / spec.wheelbase_m;
        let (slide_mps, yaw_rate_radps) = match state {
            PlantState::SingleTrack(state) => (state.slide, state.yaw_rate),
            PlantState::Car(_) | PlantState::Trailer(_) => (0.0, rolling),
        };
        PlantMotion {
            pose: car.pose(),
            speed_mps: car.speed,
            slide_mps,
            yaw_rate_radps,
            steering_rad: car.steering,
            accel_mps2: car.accel,
        }
    }
}

impl PlantState {
    /// The car, or the tractor.
    pub fn car(&self) -> &Car<f64> {
        match self {
            Self::Car(car) => car,
            Self::SingleTrack(state) => &state.car,
            Self::Trailer(state) => &state.car,
        }
    }
    /// Names its variables, which depend on the kind of the vehicle.
    #[inline]
    pub fn visit<V: Visitor>(&self, v: &mut V) {
        match self {
            Self::Car(car) => car.visit(v),
            Self::SingleTrack(state) => state.visit(v),
            Self::Trailer(state) => state.visit(v),
        }
    }
}
