//! Tasks of the project: `cargo xtask help`.

mod metadata;
mod python;
mod rooms;
mod runner;
mod soak;
mod steps;
mod tidy;

use std::process::ExitCode;

const HELP: &str = "\
Tasks of the project

  cargo xtask check          fmt, clippy, tests, doctests, rooms, tidy: run it before every change you hand in
  cargo xtask test           what CI runs from a clean clone: the Python kit, check, then golden digests and verdicts in release
  cargo xtask python         the Python kit alone: its packages, types and tests
  cargo xtask bench [NAME]   build release and measure; all benches, or the one named
  cargo xtask soak [NAME]    the full doses behind docs/trust.md, for hours: verdicts, kills, bits, faults
  cargo xtask rooms          compare the crates with the rooms table in docs/ARCHITECTURE.md
  cargo xtask tidy           the house rules that no compiler checks
  cargo xtask help           this text
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        [] | ["help" | "-h" | "--help"] => {
            print!("{HELP}");
            Ok(())
        }
        ["check"] => steps::run_all("check", steps::check()),
        ["test"] => steps::run_all("test", steps::test()),
        ["python"] => steps::run_all("python", steps::python()),
        ["bench"] => steps::bench(None),
        ["bench", name] => steps::bench(Some(name)),
        ["soak"] => soak::run(None),
        ["soak", name] => soak::run(Some(name)),
        ["rooms"] => rooms::check_workspace().map(|line| println!("{line}")),
        ["tidy"] => tidy::check_workspace().map(|line| println!("{line}")),
        other => Err(format!("`{}` is not a task; `cargo xtask help` lists them", other.join(" "))),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
