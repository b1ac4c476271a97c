//! The contract at the centre of Anabranch: what a closed loop must offer so that it can be
//! branched on errors, saved, restored, merged and judged.
//!
//! A [`System`] is behaviour and never changes. Everything that evolves is one value, its
//! [`State`]. Errors come in as [`Choice`]s, randomness is a function of place and time
//! ([`Chance`]), and likeness of two states is decided by a key ([`KeyWriter`], [`Grid`]).
//!
//! ```
//! use anabranch_kernel::*;
//!
//! /// A walker on a line that drifts by the error it is told.
//! struct Walker { errors: ErrorSpace, variables: Vec<Variable> }
//! impl System for Walker {
//!     type State = i64;
//!     fn errors(&self) -> &ErrorSpace { &self.errors }
//!     fn variables(&self) -> &[Variable] { &self.variables }
//!     fn start(&self, _seed: Seed, _params: &Params) -> Result<i64, Fault> { Ok(0) }
//!     fn run(&self, x: &mut i64, choice: Choice, _watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
//!         *x += [0, -1, 1][choice.index()];
//!         Ok(if x.abs() > 2 { SegmentEnd::violated(0, 0) } else { SegmentEnd::Open })
//!     }
//!     fn cell(&self, x: &i64, key: &mut KeyWriter<'_>) { key.exact(0, *x as u64); }
//! }
//! let walker = Walker {
//!     errors: ErrorSpace::of_one_site("push", &["none", "left", "right"]),
//!     variables: vec![Variable::exact("x")],
//! };
//! let mut state = walker.start(Seed(0), &Params::default()).unwrap();
//! for _ in 0..3 {
//!     walker.run(&mut state, Choice(2), &mut Watch::off()).unwrap();
//! }
//! assert_eq!(state, 3);
//! ```

pub mod chance;
pub mod contract;
pub mod digest;
pub mod errors;
pub mod key;
pub mod leaf;
pub mod likelihood;
pub mod maths;
pub mod parts;
pub mod state;
pub mod system;
pub mod tube;
pub mod units;
pub mod visit;
pub mod watch;

pub use chance::{Chance, Seed};
pub use digest::{Digest, DigestWriter};
pub use errors::{Choice, Choices, ErrorSpace, ErrorSpaceError, Mode, Site};
pub use key::{CELL_SLACK, CellKey, CellSize, Grid, KeyReader, KeyWriter, OffsetGrid, Reading, Variable};
pub use leaf::{Leaf, LeafRole};
pub use likelihood::{Chain, Likelihood, Process, ProcessError};
pub use parts::{Part, Parts, Reads, Recall};
pub use state::{State, StateError, from_bytes, state_digest, to_bytes, write_bytes};
pub use system::{
    AXES_MAX, About, Axis, Danger, Fault, Job, Margin, ParamSpace, Params, Place, SegmentEnd, System, Twice, Verdict,
    Verdicts,
};
pub use tube::{Contraction, NoProof, Tube, TubeLevel};
pub use visit::{Continuous, Declarations, Declarer, Discrete, KeyVisitor, Visitor};
pub use watch::{Recorder, Signal, Watch};
