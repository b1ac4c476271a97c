//! The explorer's trail and disks on the files of a run.

use std::io;
use std::path::Path;

use anabranch_explore::{Disk, NO_PARENT, Trail};
use anabranch_kernel::Choice;
use anabranch_record::{Node, RecordError, Spill, TrailWriter};

use crate::failure::Failure;

/// The trail in the folder of the run.
#[derive(Debug)]
pub struct LevelTrail {
    writer: TrailWriter,
    /// Starts are a level of their own.
    starts_open: bool,
    nodes_open: bool,
}

impl LevelTrail {
    /// The trail of this folder, empty or of an earlier process; says what of it was damaged and will be computed again.
    pub fn recover(folder: &Path) -> Result<(Self, Option<RecordError>), Failure> {
        let (writer, damage) = TrailWriter::recover(folder)?;
        Ok((Self { writer, starts_open: false, nodes_open: false }, damage))
    }

    /// Levels that need not be explored again.
    pub fn levels_whole(&self) -> usize {
        self.writer.whole().levels().saturating_sub(1)
    }

    /// Publishes what is not published yet; an order without levels ends none by itself.
    pub fn finish(&mut self) -> Result<(), Failure> {
        if self.starts_open || self.nodes_open {
            self.writer.end_level()?;
        }
        (self.starts_open, self.nodes_open) = (false, false);
        Ok(())
    }
}

fn other(error: RecordError) -> io::Error {
    io::Error::other(error.to_string())
}

impl Trail for LevelTrail {
    fn push(&mut self, parent: u64, choice: Choice) -> io::Result<u64> {
        if parent == NO_PARENT {
            self.starts_open = true;
            return Ok(self.writer.push_start(u64::from(choice.0)));
        }
        if self.starts_open {
            self.writer.end_level().map_err(other)?;
            self.starts_open = false;
        }
        self.nodes_open = true;
        Ok(self.writer.push(parent, choice.0))
    }

    fn end_level(&mut self, note: &[u8]) -> io::Result<()> {
        if self.starts_open {
            // Nothing was kept; the starts have a level of their own all the same.
            self.writer.end_level().map_err(other)?;
        }
        (self.starts_open, self.nodes_open) = (false, false);
        self.writer.end_level_with(note).map_err(other)
    }

    fn keeps_notes(&self) -> bool {
        true
    }

    fn resume(&mut self) -> io::Result<Vec<Vec<u8>>> {
        let mut notes = Vec::new();
        for level in 1..self.writer.whole().levels() {
            let note = self.writer.whole().note(level).map_err(other)?;
            if note.is_empty() {
                break;
            }
            notes.push(note);
        }
        let levels = if notes.is_empty() { 0 } else { 1 + notes.len() };
        self.writer.go_back_to(levels).map_err(other)?;
        Ok(notes)
    }

    fn len(&self) -> u64 {
        self.writer.next_id()
    }

    fn look(&self, node: u64) -> io::Result<(u64, Choice)> {
        Ok(match self.writer.node(node).map_err(other)? {
            Node::Start { index } => (NO_PARENT, Choice(u16::try_from(index).map_err(io::Error::other)?)),
            Node::Step { parent, choice } => (parent, Choice(choice)),
        })
    }
}

/// Saved states that do not fit into memory.
#[derive(Debug)]
pub struct SpillDisk(Spill);

impl SpillDisk {
    /// On the disk of a folder; nothing is left behind.
    pub fn new_in(folder: &Path) -> Result<Self, Failure> {
        Ok(Self(Spill::new_in(folder)?))
    }
}

impl Disk for SpillDisk {
    fn append(&mut self, record: &[u8]) -> io::Result<u64> {
        self.0.append(record).map_err(other)
    }
    fn read(&self, place: u64, record: &mut Vec<u8>) -> io::Result<()> {
        self.0.read(place, record).map_err(other)
    }
    fn clear(&mut self) -> io::Result<()> {
        self.0.clear().map_err(other)
    }
}
