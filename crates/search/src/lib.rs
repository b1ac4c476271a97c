//! Finds the most dangerous instance of a scenario: what may vary is a [`Space`], how safe a point is says an
//! [`Objective`], where to look next says an [`Optimiser`], and [`Search`] is the loop between them.
//!
//! Equal seeds and settings give equal evaluations, on any number of threads and after an interruption.
//!
//! ```
//! use anabranch_kernel::Seed;
//! use anabranch_search::{Dimension, Method, Search, Settings, Space};
//!
//! let space = Space::new(vec![
//!     Dimension::real("gap", "m", 5.0, 50.0),
//!     Dimension::one_of("weather", &["clear", "rain", "fog"]),
//! ])?;
//! // A stand-in for a simulation: closest to an accident in fog with a gap of 12 m.
//! let safe_by = |values: &[f64]| (values[0] - 12.0).abs() + 10.0 * (2.0 - values[1]) - 2.0;
//! let optimiser = Method::Auto.build(&space.layout()?, Seed(1), 200)?;
//! let report = Search::new(&space, &safe_by, optimiser, Settings::first(Seed(1), 200))?.run_unsaved();
//! let worst = report.best().expect("something was simulated");
//! assert!(worst.value() < 0.0, "{}", worst.describe(&space));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod baseline;
pub mod dice;
pub mod diversity;
pub mod driver;
mod flight;
pub mod front;
pub mod gauss;
pub mod importance;
pub mod objective;
pub mod optimiser;
pub mod optimisers;
pub mod probes;
pub mod report;
pub mod signal;
pub mod space;
pub mod statistics;
pub mod system_objective;
pub mod tree;

pub use baseline::{Baseline, Contest, Repeats};
pub use diversity::By;
pub use driver::{Edge, Goal, NoEdge, Probes, Progress, Search, SearchError, Settings};
pub use importance::{Importance, importance};
pub use objective::{Objective, Outcome, Question, Trouble};
pub use optimiser::{Method, MethodError, Optimiser, Told};
pub use report::{Accident, Ended, Evaluation, Origin, Report, Step};
pub use signal::{Shape, SignalRange};
pub use space::{Constraint, Dimension, Domain, Group, Kind, Layout, Space, SpaceError};
pub use system_objective::{SystemObjective, choice_dimensions};
pub use tree::{Reuse, TreeReport, TreeSettings, search_tree};
