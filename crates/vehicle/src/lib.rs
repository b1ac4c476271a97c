//! Plant models and their actuators, one per file.
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

pub use car::{Car, CarModel, CarSpec, CarState, Gear, PRESETS};
