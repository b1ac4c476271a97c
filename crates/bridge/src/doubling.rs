//! Which of the segments that were run are run a second time, and what their first run gave.
//!
//! A segment is addressed by the digest of its path. Those with the smallest addresses are held: which ones these are follows
//! from what was run, and not from time, threads or instances. A path that is run a second time doubles every segment on it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anabranch_kernel::{Choice, Digest, DigestWriter, Twice};

/// Segments that are doubled where there are that many: code that differs in one segment of a thousand differs in one
/// of these with a probability of 99 %.
pub const DOUBLED: u64 = 4_600;
/// Segments that are doubled even where fewer were run at first.
const DOUBLED_MIN: u64 = 200;

/// Address of a path: where it begins, and the choices.
pub fn address(seed: u64, params: &[f64], path: &[Choice]) -> u128 {
    let mut digest = DigestWriter::new();
    digest.number(seed);
    digest.number(params.len() as u64);
    params.iter().for_each(|value| digest.real(*value));
    path.iter().for_each(|choice| digest.number(choice.index() as u64));
    let Digest(address) = digest.finish();
    address
}

/// Segments that may be run a second time, with what their first run gave.
#[derive(Debug)]
pub struct Sample<R> {
    held: Mutex<BTreeMap<u128, R>>,
    seen: AtomicU64,
    has_dropped: AtomicBool,
}

impl<R> Default for Sample<R> {
    fn default() -> Self {
        Self { held: Mutex::default(), seen: AtomicU64::new(0), has_dropped: AtomicBool::new(false) }
    }
}

impl<R: Clone> Sample<R> {
    /// A segment was run. Returns what an earlier run of the same path gave, if that is held.
    pub fn offer(&self, address: u128, record: impl FnOnce() -> R) -> Option<R> {
        self.seen.fetch_add(1, Ordering::Relaxed);
        let mut held = self.lock();
        let is_full = held.len() as u64 >= DOUBLED;
        if is_full && held.last_key_value().is_some_and(|(last, _)| address > *last) {
            self.has_dropped.store(true, Ordering::Relaxed);
            return None;
        }
        if let Some(earlier) = held.get(&address) {
            return Some(earlier.clone());
        }
        held.insert(address, record());
        if is_full {
            held.pop_last();
            self.has_dropped.store(true, Ordering::Relaxed);
        }
        None
    }
    /// Segments that were run, those that were run more than once counted each time.
    pub fn seen(&self) -> u64 {
        self.seen.load(Ordering::Relaxed)
    }
    /// Whether every segment that was run is held.
    pub fn is_whole(&self) -> bool {
        !self.has_dropped.load(Ordering::Relaxed)
    }
    /// Everything that is held, by its address.
    pub fn all(&self) -> BTreeMap<u128, R> {
        self.lock().clone()
    }
    /// Forgets everything.
    pub fn clear(&self) {
        self.lock().clear();
        self.seen.store(0, Ordering::Relaxed);
        self.has_dropped.store(false, Ordering::Relaxed);
    }
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u128, R>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The paths to run a second time, in order: as a share as much as was run, at most [`DOUBLED`]. `beginnings` has the addresses of all beginnings of a path, the path
    /// itself last.
    pub fn plan(&self, how_much: Twice, beginnings: impl Fn(&R) -> Vec<u128>) -> Vec<R> {
        self.plan_up_to(how_much, self.seen().clamp(DOUBLED_MIN, DOUBLED), beginnings)
    }
    /// The same with another share.
    pub fn plan_up_to(&self, how_much: Twice, share: u64, beginnings: impl Fn(&R) -> Vec<u128>) -> Vec<R> {
        let held = self.all();
        let mut ways: Vec<(&R, Vec<u128>)> = held.values().map(|record| (record, beginnings(record))).collect();
        let everything = how_much == Twice::Whole && self.is_whole();
        if everything {
            // The longest first: they double most of the others on their way.
            ways.sort_by_key(|(_, way)| std::cmp::Reverse(way.len()));
        }
        let (mut planned, mut covered, mut repeated) = (Vec::new(), BTreeSet::new(), 0);
        for (record, way) in ways {
            let is_enough = match how_much {
                Twice::Whole => !everything && covered.len() as u64 >= DOUBLED,
                Twice::Share => repeated >= share,
            };
            if is_enough {
                break;
            }
            if way.last().is_some_and(|own| !covered.contains(own)) {
                repeated += way.len() as u64;
                covered.extend(way);
                planned.push(record.clone());
            }
        }
        planned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Path = Vec<Choice>;

    fn beginnings(path: &Path) -> Vec<u128> {
        (1..=path.len()).map(|end| address(7, &[], &path[..end])).collect()
    }
    /// A sample of all paths of some length with two choices.
    fn tree(length: u32) -> Sample<Path> {
        let sample = Sample::default();
        for level in 1..=length {
            for number in 0..1_u32 << level {
                let path: Path = (0..level).map(|bit| Choice((number >> bit & 1) as u16)).collect();
                assert_eq!(sample.offer(address(7, &[], &path), || path.clone()), None);
            }
        }
        sample
    }
    fn covered(plan: &[Path]) -> usize {
        plan.iter().flat_map(beginnings).collect::<BTreeSet<u128>>().len()
    }

    #[test]
    fn a_small_tree_is_doubled_as_a_whole_by_its_longest_paths() {
        let plan = tree(5).plan(Twice::Whole, beginnings);
        assert_eq!((plan.len(), covered(&plan)), (32, 62));
        assert!(plan.iter().all(|path| path.len() == 5));
    }

    #[test]
    fn of_a_large_tree_enough_segments_are_doubled() {
        let sample = tree(13);
        assert!(!sample.is_whole());
        let whole = covered(&sample.plan(Twice::Whole, beginnings)) as u64;
        assert!((DOUBLED..DOUBLED + 13).contains(&whole), "{whole}");
        let share: usize = sample.plan(Twice::Share, beginnings).iter().map(Vec::len).sum();
        assert!((DOUBLED..DOUBLED + 13).contains(&(share as u64)), "{share}");
    }

    #[test]
    fn which_paths_are_held_does_not_depend_on_the_order_in_which_they_were_run() {
        let forwards = tree(13).all();
        let backwards = Sample::default();
        for level in (1..=13_u32).rev() {
            for number in (0..1_u32 << level).rev() {
                let path: Path = (0..level).map(|bit| Choice((number >> bit & 1) as u16)).collect();
                backwards.offer(address(7, &[], &path), || path.clone());
            }
        }
        assert_eq!(forwards, backwards.all());
        assert_eq!(backwards.seen(), (1 << 14) - 2);
    }

    #[test]
    fn a_path_that_is_run_again_is_handed_out_for_comparison() {
        let sample = tree(3);
        let path = vec![Choice(1), Choice(0)];
        assert_eq!(sample.offer(address(7, &[], &path), || unreachable!("it is held")), Some(path));
    }
}
