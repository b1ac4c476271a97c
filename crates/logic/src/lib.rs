//! Signal temporal logic: conditions over time, with margins.
//!
//! Formulas extend the language of requirements by arithmetic and by operators that look ahead and back:
//!
//! ```
//! use anabranch_kernel::units::Dimension;
//! use anabranch_logic::{Formula, SignalKind, Trace};
//! let table = [("speed", SignalKind::Real(Dimension::Speed)), ("braking", SignalKind::Truth)];
//! let text = "always[0 s, 20 s] (speed > 50 km/h implies eventually[0 s, 2 s] braking)";
//! let formula = Formula::parse(text, &table).unwrap();
//!
//! let trace = Trace::even(1.0, vec![vec![10.0, 15.0, 15.0, 14.0, 12.0], vec![0.0, 0.0, 0.0, 1.0, 1.0]]).unwrap();
//! assert!(formula.holds(&trace).unwrap());
//! assert_eq!(formula.robustness(&trace), Ok(1.0));
//!
//! let error = Formula::parse("always[0 s, 20 m] (speed < 120 km/h)", &table).unwrap_err();
//! assert_eq!((error.at.offset, error.at.length), (12, 4));
//! ```

mod atom;
mod check;
mod dense;
mod error;
mod formula;
mod lexer;
mod line;
mod online;
mod parser;
mod sampled;
pub mod text;
mod trace;

pub use atom::Reading;
pub use error::TraceError;
pub use formula::{Bounds, Comparison, Formula, Link, Node, SignalKind, Term, Window};
pub use line::Line;
pub use online::{Memory, Monitor, Scratch};
pub use text::{FormulaError, Span};
pub use trace::{TIME_TOLERANCE_S, Trace};
