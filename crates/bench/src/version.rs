//! `anabranch --version` answers at once.

use std::process::Command;

use crate::timing::wall_s;
use crate::{Figure, Goal};

pub(crate) fn run() -> Vec<Figure> {
    let binary = std::env::current_exe().expect("this program has a path").with_file_name("anabranch");
    let mut times_ms: Vec<f64> = Vec::new();
    for _ in 0..21 {
        let before = wall_s();
        let Ok(output) = Command::new(&binary).arg("--version").output() else {
            eprintln!("  build the command line first: cargo build --release");
            return Vec::new();
        };
        assert!(output.status.success(), "--version failed");
        times_ms.push((wall_s() - before) * 1e3);
    }
    times_ms.sort_by(f64::total_cmp);
    vec![Figure::new("milliseconds until --version has answered (median of 21)", times_ms[10], Goal::AtMost(20.0))]
}
