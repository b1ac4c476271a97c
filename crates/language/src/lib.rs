//! The component & connector language: controllers, sensors and actuators as text (S2-13).
//!
//! [`syntax`] reads files, [`units`] knows SI, [`Library`] knows a folder of models, [`model`] gives them meaning, and
//! what comes out is one flat program ([`Model::program`]). [`stream`] runs tests.
//!
//! ```
//! use anabranch_language::{Library, Model, Options};
//!
//! let text = "package cars; component Limit(Q(0 km/h : 300 km/h) top = 90 km/h) {
//!     ports in Q(-oo m/s : oo m/s) wish, out Q(-oo m/s : oo m/s) speed;
//!     implementation Math { speed = min(wish, top); }
//! }";
//! let library = Library::of([("Limit.emam".into(), text.to_owned())]);
//! let model = Model::build(&library, "cars.Limit", &Options::default()).map_err(|told| told[0].to_string())?;
//! let (wish, speed) = (model.port("wish").unwrap().slots.start, model.port("speed").unwrap().slots.start);
//!
//! let program = model.program();
//! let mut memory = program.memory();
//! memory.set(wish, 40.0);
//! program.tick(&mut memory, Default::default()).map_err(|fault| program.explain(&fault))?;
//! assert_eq!(memory.get(speed), 25.0);
//! # Ok::<(), String>(())
//! ```

mod check;
pub mod diagnostic;
mod flat;
mod format;
pub mod library;
mod lower;
pub mod model;
pub mod stream;
pub mod syntax;
pub mod table;
pub mod units;

pub use check::{check, check_file, check_library};
pub use diagnostic::{Code, Diagnostic, Severity};
pub use format::format;
pub use library::Library;
pub use model::build::{Executed, Model, ModelPort, Options};
pub use model::env::Units;
pub use model::ty::{Class, Ty};
pub use stream::{Outcome, StreamResult, run_stream_tests};
