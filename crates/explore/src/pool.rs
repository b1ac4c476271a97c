//! Saved states that wait for their turn: in memory as long as they fit, on disk beyond.

use std::io;

use anabranch_kernel::{State, from_bytes, to_bytes};

use crate::edge::Disk;

/// Set in places on disk.
const ON_DISK: u64 = 1 << 63;

/// Where a saved state is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(u64);

/// A store of states with a limit on memory.
pub(crate) struct Pool<'d, S> {
    memory: Vec<S>,
    free: Vec<u64>,
    memory_max: usize,
    disk: Option<&'d mut dyn Disk>,
    spilled: u64,
}

impl<'d, S: State> Pool<'d, S> {
    /// A pool that keeps `memory_max` states in memory and the rest on the disk.
    pub(crate) fn new(memory_max: usize, disk: Option<&'d mut dyn Disk>) -> Self {
        Self { memory: Vec::new(), free: Vec::new(), memory_max, disk, spilled: 0 }
    }

    /// Whether another state can be taken.
    pub(crate) fn has_room(&self) -> bool {
        self.disk.is_some() || !self.free.is_empty() || self.memory.len() < self.memory_max
    }

    /// How many states went to disk.
    pub(crate) fn spilled(&self) -> u64 {
        self.spilled
    }

    pub(crate) fn put(&mut self, state: &S) -> io::Result<Place> {
        if let Some(place) = self.free.pop() {
            self.memory[place as usize].clone_from(state);
            return Ok(Place(place));
        }
        if self.memory.len() >= self.memory_max
            && let Some(disk) = &mut self.disk
        {
            self.spilled += 1;
            return Ok(Place(disk.append(&to_bytes(state))? | ON_DISK));
        }
        self.memory.push(state.clone());
        Ok(Place(self.memory.len() as u64 - 1))
    }

    /// A copy of the state at a place.
    pub(crate) fn get(&self, place: Place) -> io::Result<S> {
        if place.0 & ON_DISK == 0 {
            return Ok(self.memory[place.0 as usize].clone());
        }
        let mut bytes = Vec::new();
        let disk = self.disk.as_deref().expect("only a pool with a disk gives places on it");
        disk.read(place.0 & !ON_DISK, &mut bytes)?;
        from_bytes(&bytes).map_err(io::Error::other)
    }

    /// The state at a place is no longer needed.
    pub(crate) fn release(&mut self, place: Place) {
        if place.0 & ON_DISK == 0 {
            self.free.push(place.0);
        }
    }

    pub(crate) fn clear(&mut self) -> io::Result<()> {
        self.memory.clear();
        self.free.clear();
        self.disk.as_deref_mut().map_or(Ok(()), Disk::clear)
    }
}
