//! Tables of kits that keep branches in one process or as processes.

use anabranch_bridge::Kind;

/// What is expected of one deed: in one process, and by fork.
pub struct Row {
    pub way: &'static str,
    pub copied: Kind,
    pub forked: Kind,
}

impl Row {
    pub fn in_one_process(&self) -> (&'static str, Kind) {
        (self.way, self.copied)
    }
    pub fn by_fork(&self) -> (&'static str, Kind) {
        (self.way, self.forked)
    }
}

pub const fn alike(way: &'static str, kind: Kind) -> Row {
    Row { way, copied: kind, forked: kind }
}

/// The code writes to the link itself. A branch that is a process reaches its broker only: what cannot be an answer ends the
/// branch, and what could be the beginning of one is waited for.
pub const fn on_the_line(way: &'static str, copied: Kind, forked: Kind) -> Row {
    Row { way, copied, forked }
}
