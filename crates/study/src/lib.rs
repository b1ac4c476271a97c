//! What a study of a system concludes.
//!
//! Every verb collects its [`Evidence`]; [`conclude`] turns it into a [`Conclusion`]. Nothing else decides a verdict, and nobody
//! compares verdicts as text: terminal, machine output, JUnit and HTML read the conclusion. `docs/verdicts.md` has the table of
//! precedence, and a test compares it with what the function does.
//!
//! ```
//! use anabranch_study::{Conclusion, Coverage, Evidence, conclude};
//!
//! let nothing_known = Evidence::default();
//! assert_eq!(conclude(&nothing_known).word(), "not covered");
//! let everything_run = Evidence { coverage: Coverage::NotNeeded, ..Evidence::default() };
//! assert!(matches!(conclude(&everything_run), Conclusion::NotFound { .. }));
//! ```

mod conclusion;
mod coverage;
mod evidence;
mod outcome;
mod stored;

pub use conclusion::{Conclusion, Findings, Ground, Stop, Tone, Unfinished, Unsteady, Why};
pub use coverage::{Coverage, Resolution, Share};
pub use evidence::{Evidence, Musts, Remark, conclude};
pub use outcome::coverage_of;
