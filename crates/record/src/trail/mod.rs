//! The trail of kept states on disk: for every state its parent and the choice that led to it.
//!
//! A state is its path, so this is all that is needed to find it again. Ids count up from 0 in the order of pushing.
//! One file per level, `levels/0000.lvl` (the starts), `0001.lvl`, …; a file appears only when its level is whole, so
//! that resuming means going on after the last file.
//!
//! | bytes | content |
//! |---|---|
//! | 48 | magic `ANALVL01`, level (u32), zero (u32), id of the first node (u64), digest of the file before (u128), checksum (u64) |
//! | 7 each | parent (u40), choice (u16); choice 65535 marks a start and "parent" is its index. A checksum (u64) after every 2 048 nodes and after the last |
//! | any | a note of the explorer, opaque |
//! | 40 | number of nodes (u64), bytes of the note (u64), digest of everything before it (u128), checksum (u64) |
//!
//! All numbers are little-endian. Any flipped bit and any truncation is noticed: by the checksum of the header, the
//! block or the footer when it is used, and by [`TrailReader::verify`] for a whole trail.

mod format;
mod reader;
mod writer;

pub use reader::{Trail, TrailReader};
pub use writer::TrailWriter;

/// Largest id and start index: they are stored in 40 bits.
pub const ID_MAX: u64 = (1 << 40) - 1;

/// How a kept state was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A start of the run.
    Start {
        /// Position in the list of starts.
        index: u64,
    },
    /// The end of a segment.
    Step {
        /// Id of the state at its beginning.
        parent: u64,
        /// Error choice during the segment.
        choice: u16,
    },
}
