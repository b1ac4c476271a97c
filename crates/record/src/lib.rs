//! What a run leaves behind: its folder, the trail of kept states, findings, traces and pictures.
//!
//! Nothing here knows a road or a car. Files appear whole or not at all ([`publish()`]), what is read back is
//! checked ([`TrailReader`], [`Spill`]), and no file names a machine, a user or an absolute path.
//!
//! ```
//! use anabranch_record::{TrailReader, TrailWriter};
//!
//! let folder = tempfile::tempdir().unwrap();
//! let mut trail = TrailWriter::create(folder.path()).unwrap();
//! let start = trail.push_start(0);
//! trail.end_level().unwrap();
//! let left = trail.push(start, 1);
//! trail.end_level().unwrap();
//! let end = trail.push(left, 2);
//! trail.end_level().unwrap();
//!
//! let trail = TrailReader::open(folder.path()).unwrap();
//! assert_eq!(trail.path_to(end).unwrap().choices, [1, 2]);
//! ```

pub mod clock;
pub mod command;
pub mod error;
pub mod finding;
pub mod graph_diff;
pub mod junit;
pub mod last;
pub mod mcap;
pub mod memo;
pub mod picture;
pub mod publish;
pub mod reference;
pub mod report;
pub mod run_folder;
pub mod spill;
pub mod table;
pub mod trace;
pub mod trail;

pub use command::{quoted, tidy_command};
pub use error::RecordError;
pub use finding::{Contact, ErrorRun, Finding, FindingError, FindingErrorKind, Kept, StartValue, keep};
pub use mcap::{McapTrace, TraceError, TraceWorld};
pub use memo::{MEMO_FILE, Memo, MemoWriter, read_memo};
pub use publish::publish;
pub use reference::{Found, RunReference};
pub use run_folder::{Phase, RunFolder, RunInfo, RunLock, Status};
pub use spill::Spill;
pub use trace::{CsvTrace, cell};
pub use trail::{Node, Trail, TrailReader, TrailWriter};
