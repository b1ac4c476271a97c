//! Memory per visited state beyond the frontier, at 1, 1.5 and 2 · 10⁷ states, in a process of its own each.

use std::io;
use std::process::Command;

use anabranch_explore::{Explorer, Keep, LevelReport, NO_PARENT, Observer, Scope, Settings, Trail};
use anabranch_kernel::{Choice, System};
use anabranch_record::TrailWriter;
use anabranch_record::trail::Node;

use crate::counters::Ours;
use crate::{Figure, Goal};

/// Argument that makes this program measure one size and end.
pub(crate) const CHILD: &str = "measure-memory-of";

const SIZES: [(&str, &[u8]); 3] = [
    ("1e7", &[10, 10, 10, 10, 10, 10, 10]),
    ("1.5e7", &[10, 10, 10, 10, 10, 10, 15]),
    ("2e7", &[10, 10, 10, 10, 10, 10, 20]),
];

/// Parents on disk, as in every run folder.
struct DiskTrail(TrailWriter);

impl Trail for DiskTrail {
    fn push(&mut self, parent: u64, choice: Choice) -> io::Result<u64> {
        Ok(if parent == NO_PARENT { self.0.push_start(choice.index() as u64) } else { self.0.push(parent, choice.0) })
    }
    fn end_level(&mut self, note: &[u8]) -> io::Result<()> {
        self.0.end_level_with(note).map_err(io::Error::other)
    }
    fn len(&self) -> u64 {
        self.0.next_id()
    }
    fn look(&self, node: u64) -> io::Result<(u64, Choice)> {
        Ok(match self.0.node(node).map_err(io::Error::other)? {
            Node::Start { index } => (NO_PARENT, Choice(index as u16)),
            Node::Step { parent, choice } => (parent, Choice(choice)),
        })
    }
}

/// The largest two levels that were in memory at the same time.
#[derive(Default)]
struct Frontier {
    last: u64,
    largest: u64,
}

impl Observer for Frontier {
    fn level(&mut self, report: &LevelReport) {
        self.largest = self.largest.max(self.last + report.kept);
        self.last = report.kept;
    }
}

/// A number of `/proc/self/status` in bytes.
fn status_bytes(field: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).unwrap_or(f64::NAN) * 1024.0
}

/// Explores one size and prints bytes per visited state beyond the frontier.
pub(crate) fn child(size: &str) {
    let moduli = SIZES.iter().find(|s| s.0 == size).expect("a size of the list").1;
    let system = Ours::new(moduli);
    let folder = std::env::temp_dir().join(format!("anabranch-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the trail");
    let mut trail = DiskTrail(TrailWriter::create(&folder).expect("a trail on disk"));
    let mut frontier = Frontier::default();
    let settings = Settings { scope: Scope::Visited, keep: Keep::Worst, ..Settings::new(system.variables(), false) };
    let before = status_bytes("VmRSS:");
    let outcome = Explorer::new(&system).settings(settings).run_with(&mut trail, &mut frontier).expect("it explores");
    let states: u64 = moduli.iter().map(|&m| u64::from(m)).product();
    assert_eq!(outcome.progress.states, states);
    // A waiting state is itself, its place and its origin.
    let waiting_bytes = frontier.largest * (8 + 2 * 24);
    let _ = std::fs::remove_dir_all(&folder);
    println!("{}", (status_bytes("VmHWM:") - before - waiting_bytes as f64) / states as f64);
}

pub(crate) fn run() -> Vec<Figure> {
    let program = std::env::current_exe().expect("this program has a path");
    let measure = |size: &str| {
        let output = Command::new(&program).args([CHILD, size]).output().expect("this program can be started");
        String::from_utf8_lossy(&output.stdout).trim().parse::<f64>().unwrap_or(f64::NAN)
    };
    SIZES
        .iter()
        .map(|(size, _)| {
            let name = format!("bytes per visited state beyond the frontier at {size} states");
            Figure::new(name, measure(size), Goal::AtMost(48.0))
        })
        .collect()
}
