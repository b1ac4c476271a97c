//! What the operating system knows about processes, files and memory.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Environment variable that marks the processes of one test.
pub const MARK: &str = "ANABRANCH_TEST_MARK";

/// Tests that count processes, files and memory run one after another where they share a process.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A mark of this test alone; others run beside it, in this process or in others.
pub fn mark_of_test() -> String {
    format!("{} {:?}", std::process::id(), std::thread::current().id())
}

/// Numbers of all processes that carry the mark and still run.
pub fn marked(mark: &str) -> BTreeSet<i32> {
    let wanted = format!("{MARK}={mark}");
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers
        .filter(|pid| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|&byte| byte == 0).any(|entry| entry == wanted.as_bytes())
        })
        .collect()
}

/// Direct children of this process, sentinels included.
pub fn children() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists.map(|list| list.split_whitespace().count()).sum()
}

/// Open files of this process.
pub fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Threads of this process.
pub fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// Resident kilobytes of a process.
pub fn resident_kb(pid: &str) -> u64 {
    let status = std::fs::read_to_string(Path::new("/proc").join(pid).join("status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// Looks again and again until it holds; the wait has an end, and its length decides nothing but failure.
#[expect(clippy::disallowed_methods, reason = "other processes end when they end; a test waits for it, with a limit")]
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(20), "not within 20 s: {what}");
        std::thread::yield_now();
    }
}
