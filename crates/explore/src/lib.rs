//! Branch on every error, merge what became alike: exploration of any [`System`](anabranch_kernel::System).
//!
//! The run is divided into segments. From every kept state each live error choice is run for one segment; ends that
//! fall into the same cell are merged and one member, really reached, is continued (S1-1). Work is organised so
//! that any number of threads gives the same graph, bit for bit: segments run in parallel, their ends are merged in
//! the order of jobs.
//!
//! See [`Explorer`] for a running example.

mod apart;
mod breadth;
pub mod cause;
mod cells;
mod checkpoint;
mod closer;
mod cover;
mod coverage;
mod crowd;
mod danger;
mod edge;
mod exhaust;
pub mod explain;
mod explorer;
mod graph;
mod limits;
mod links;
mod modes;
mod on_time;
mod pilot;
mod pool;
pub mod probability;
mod recording;
mod refine;
mod remember;
mod replay;
mod resolution;
mod runner;
mod settings;
mod soundness;
mod table;
mod unmerged;
mod walk;

pub use closer::rollouts_needed;
pub use coverage::{Coverage, Covered, DOUBT, TARGET_SHARE, clopper_pearson};
pub use crowd::Separator;
pub use edge::{
    Apart, Clock, Disk, Drawn, Edge, Fate, LevelReport, MemoryTrail, NO_PARENT, NoClock, NoObserver, Node, Observer,
    Progress, SegmentAt, Stage, Trail,
};
pub use explorer::{ExploreError, Explorer, Outcome, with_threads};
pub use graph::{FaultAt, HITS_MAX, Hit};
pub use limits::Stop;
pub use on_time::OnTime;
pub use recording::Recording;
pub use refine::{RefineEnd, Refinement};
pub use remember::{CHECK_ONE_IN, Memory, MemoryError, Remembering, SegmentSink, Since};
pub use replay::{Replayed, constant, held, replay};
pub use resolution::Resolution;
pub use runner::Profile;
pub use settings::{Budget, Cover, Keep, Merge, Order, Refine, Resolve, Scope, Settings, SettingsError};
pub use soundness::Soundness;
pub use walk::{Target, WalkError, walk};
