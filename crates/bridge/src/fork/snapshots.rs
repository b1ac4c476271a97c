//! Paused processes in the order of their last use, and no more of them than allowed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::link::Link;
use crate::restore::Limits;

/// Number of a use that never comes.
const NEVER_USED: u64 = u64::MAX;

/// A paused process. It ends with the last clone of its state, or earlier if others need its room.
#[derive(Debug)]
pub struct Snapshot {
    link: Mutex<Option<Link>>,
    last_use: AtomicU64,
    home: Arc<Snapshots>,
}

/// All snapshots of one [`Fork`](super::Fork).
#[derive(Debug)]
pub(super) struct Snapshots {
    most: usize,
    uses: Mutex<Uses>,
}

#[derive(Debug, Default)]
struct Uses {
    next: u64,
    by_last_use: BTreeMap<u64, Weak<Snapshot>>,
}

impl Snapshots {
    pub(super) fn new(most: usize) -> Self {
        Self { most, uses: Mutex::default() }
    }
    pub(super) fn len(&self) -> usize {
        self.uses().by_last_use.len()
    }
    pub(super) fn processes(&self) -> Vec<u32> {
        // Upgraded first and looked at later: dropping the last owner takes the same lock.
        let kept: Vec<_> = self.uses().by_last_use.values().filter_map(Weak::upgrade).collect();
        kept.iter().filter_map(|snapshot| snapshot.link().as_ref().map(|l| l.pid().as_raw().unsigned_abs())).collect()
    }
    /// Makes a process that has run a segment a snapshot, and gives up the least recently used beyond the limit.
    pub(super) fn keep(self: &Arc<Self>, link: Link) -> Arc<Snapshot> {
        let snapshot = Arc::new(Snapshot {
            link: Mutex::new(Some(link)),
            last_use: AtomicU64::new(NEVER_USED),
            home: Arc::clone(self),
        });
        self.touch(&snapshot);
        let mut given_up = Vec::new();
        let mut uses = self.uses();
        while uses.by_last_use.len() > self.most
            && let Some((_, oldest)) = uses.by_last_use.pop_first()
        {
            given_up.extend(oldest.upgrade());
        }
        drop(uses);
        given_up.iter().for_each(|snapshot| drop(snapshot.link().take()));
        snapshot
    }
    /// A process in the state of the snapshot: a fork of it, or itself if nobody else holds it.
    pub(super) fn load(&self, handle: Arc<Snapshot>, limits: &Limits) -> Option<Link> {
        match Arc::try_unwrap(handle) {
            Ok(only) => only.link().take(),
            Err(shared) => {
                let branched = shared.link().as_ref()?.branch(limits);
                self.touch(&shared);
                branched.ok()
            }
        }
    }
    fn touch(&self, snapshot: &Arc<Snapshot>) {
        let mut uses = self.uses();
        let now = uses.next;
        uses.next += 1;
        let before = snapshot.last_use.swap(now, Ordering::Relaxed);
        if before == NEVER_USED || uses.by_last_use.remove(&before).is_some() {
            uses.by_last_use.insert(now, Arc::downgrade(snapshot));
        }
    }
    fn uses(&self) -> MutexGuard<'_, Uses> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Snapshot {
    fn link(&self) -> MutexGuard<'_, Option<Link>> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        self.home.uses().by_last_use.remove(&self.last_use.load(Ordering::Relaxed));
    }
}
