//! How much memory a process and all that came of it hold.

use std::time::Duration;

use crate::clock::now;
use crate::misbehaviour::{Kind, Misbehaviour};
use crate::process::ProcessLimits;

/// Counting shared pages once is slow for many forks; it may take this part of the time.
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
    looked: Option<(std::time::Instant, Duration)>,
}

impl Gauge {
    pub(super) fn new(sentinel: u32) -> Self {
        Self { sentinel, looked: None }
    }
    /// What is held, if it is more than allowed. Forks share most of their pages: each alone is measured quickly, all
    /// together only when their sum could be too much, and not all the time.
    pub(super) fn over(&mut self, limits: ProcessLimits) -> Option<u64> {
        let processes = below(self.sentinel);
        let resident: Vec<u64> = processes.iter().map(|&pid| resident_bytes(pid).unwrap_or(0)).collect();
        let largest = resident.iter().copied().max().unwrap_or(0);
        if largest > limits.memory_bytes {
            return Some(largest);
        }
        if resident.iter().sum::<u64>() <= limits.memory_bytes {
            return None;
        }
        let began = now();
        if self.looked.is_some_and(|(at, took)| at.elapsed() < took * SHARE) {
            return None;
        }
        let sum: u64 = processes.iter().map(|&pid| proportional_bytes(pid).unwrap_or(0)).sum();
        self.looked = Some((began, began.elapsed()));
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

fn resident_bytes(pid: u32) -> Option<u64> {
    kilobytes(&format!("/proc/{pid}/status"), "VmRSS:")
}

fn proportional_bytes(pid: u32) -> Option<u64> {
    kilobytes(&format!("/proc/{pid}/smaps_rollup"), "Pss:")
}

fn kilobytes(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
