//! How much memory a process and all that came of it hold.

use std::time::{Duration, Instant};

use nix::libc;

use crate::clock::now;
use crate::misbehaviour::{Kind, Misbehaviour};
use crate::process::ProcessLimits;

/// Looking is slow when there are hundreds of forks; it may take one part in so many of the time.
const SHARE: u32 = 20;

/// What is told about too much memory.
pub(super) fn over(bytes: u64, limits: ProcessLimits) -> Misbehaviour {
    let mega = |bytes: u64| bytes >> 20;
    let text = format!("{} MiB of memory; the limit is {} MiB", mega(bytes), mega(limits.memory_bytes));
    Misbehaviour::new(Kind::Memory, text)
}

/// Looks at everything below a sentinel.
#[derive(Debug)]
pub(super) struct Gauge {
    sentinel: u32,
    page_bytes: u64,
    quick: Pause,
    thorough: Pause,
}

/// How long to leave something alone that took a while.
#[derive(Debug, Default)]
struct Pause(Option<(Instant, Duration)>);

impl Pause {
    fn is_over(&self) -> bool {
        self.0.is_none_or(|(ended, took)| ended.elapsed() >= took * SHARE)
    }
    /// Does it and measures how long it takes.
    fn after<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let began = now();
        let done = work();
        self.0 = Some((now(), began.elapsed()));
        done
    }
}

impl Gauge {
    pub(super) fn new(sentinel: u32) -> Self {
        // SAFETY: asks for a constant of the system.
        let page_bytes = u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
        Self { sentinel, page_bytes, quick: Pause::default(), thorough: Pause::default() }
    }
    /// What is held, if it is more than allowed. Forks share most of their pages: each alone is measured quickly, all
    /// together only when their sum could be too much.
    pub(super) fn over(&mut self, limits: ProcessLimits) -> Option<u64> {
        if !self.quick.is_over() {
            return None;
        }
        let (sentinel, page_bytes) = (self.sentinel, self.page_bytes);
        let (processes, resident) = self.quick.after(|| {
            let processes = below(sentinel);
            let resident = processes.iter().map(|&pid| resident_pages(pid).unwrap_or(0) * page_bytes);
            let resident = resident.collect::<Vec<u64>>();
            (processes, resident)
        });
        let largest = resident.iter().copied().max().unwrap_or(0);
        if largest > limits.memory_bytes {
            return Some(largest);
        }
        if resident.iter().sum::<u64>() <= limits.memory_bytes || !self.thorough.is_over() {
            return None;
        }
        let proportional = || processes.iter().map(|&pid| proportional_bytes(pid).unwrap_or(0)).sum();
        let sum: u64 = self.thorough.after(proportional);
        (sum > limits.memory_bytes).then_some(sum)
    }
}

/// All processes below one, as far as this system tells.
fn below(pid: u32) -> Vec<u32> {
    let mut found = children(pid);
    let mut next = 0;
    while next < found.len() {
        found.extend(children(found[next]));
        next += 1;
    }
    found
}

fn children(pid: u32) -> Vec<u32> {
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists = tasks.flatten().filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>()).collect()
}

/// The second number of `statm`: much quicker for the system to tell than `status`.
fn resident_pages(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}

fn proportional_bytes(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
