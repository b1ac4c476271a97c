//! Plant models and their actuators, one per file.
//!
//! | plant | moves by | for |
//! |---|---|---|
//! | [`CarModel`] | rolling without slip, lags of steering and drive, gain of yaw (S4-11) | parking, towns |
//! | [`CarModel`] of [`CarSpec::kinematic`] | rolling without slip, at once | cyclists, yardstick |
//! | [`SingleTrackModel`] | tyre forces and friction | speed, ice (S4-21) |
//! | [`TrailerModel`] | the car, and a trailer that rolls without slip behind it (S4-23) | caravans, trucks |
//!
//! All have one shape: data is checked by `fault`, prepared for a step length by `new`, and `step` advances a plain state,
//! one by one or side by side. [`Plant`] is any of them, for loops that take the vehicle from a file. [`Ground`] says how
//! slippery it is where and when; an error choice can scale that (S2-34).
//!
//! ```
//! use anabranch_vehicle::{Car, CarModel, CarSpec};
//!
//! let model = CarModel::new(CarSpec::compact(), 0.01);
//! let mut car = Car { x: 0.0, y: 0.0, heading: 0.0, speed: 0.0, accel: 0.0, steering: 0.0 };
//! for _ in 0..100 {
//!     model.step(&mut car, 0.0, 1.0, 1.0); // straight on, 1 m/s², forward gear
//! }
//! assert!(car.x > 0.3 && car.speed > 0.8);
//! ```

mod car;
mod ground;
mod plant;
mod single_track;
mod trailer;
mod tyre;

pub use car::{Car, CarModel, CarSpec, CarState, Gear, PRESETS};
pub use ground::{Area, BadGround, Course, FRICTION_MAX, FRICTION_MIN, Ground, Place, Zone};
pub use plant::{Plant, PlantMotion, PlantState};
pub use single_track::{Axle, GRAVITY_MPS2, Inputs, SingleTrack, SingleTrackModel, SingleTrackSpec};
pub use trailer::{TrailerModel, TrailerSpec, WithTrailer, truck};
pub use tyre::{Tyre, grip_across};
