//! The tutorial is followed to the letter: every command of its console blocks is run, and its answer is compared.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const PAGE: &str = include_str!("../../../docs/tutorial.md");
/// Nobody follows a tutorial in which a step takes longer; a debug build on a busy machine is granted as much.
const STEP_MAX: Duration = Duration::from_secs(120);
/// What stands for anything in a shown line.
const ANYTHING: char = '…';

/// A command of the page and what it says about the answer.
#[derive(Debug)]
struct Step {
    line: usize,
    command: String,
    code: i32,
    shown: Vec<String>,
}

/// The steps of all console blocks, in order.
fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for (at, line) in page.lines().enumerate() {
        if line.starts_with("```") {
            inside = line == "```console";
            continue;
        }
        if !inside {
            continue;
        }
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { line: at + 1, command: command.to_owned(), code: 0, shown: Vec::new() });
        } else {
            let step = steps.last_mut().expect("a block begins with a command");
            match line.strip_prefix("(exit code ").and_then(|rest| rest.strip_suffix(')')) {
                Some(code) => step.code = code.parse().expect("an exit code is a number"),
                None => step.shown.push(line.to_owned()),
            }
        }
    }
    steps
}

/// Whether a printed line is like a shown one.
fn is_like(printed: &str, shown: &str) -> bool {
    let mut parts = shown.split(ANYTHING);
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = printed.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return rest.is_empty() };
    for part in between {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// The first shown line that is not printed after the ones before it.
fn missing<'s>(printed: &str, shown: &'s [String]) -> Option<&'s String> {
    let mut lines = printed.lines();
    shown.iter().find(|shown| !lines.any(|line| is_like(line, shown)))
}

#[expect(clippy::disallowed_methods, reason = "a step that takes too long is a mistake of the page")]
fn now() -> Instant {
    Instant::now()
}

/// Runs one step in a folder; the answer is the folder of the next step.
fn follow(step: &Step, folder: &Path) -> PathBuf {
    if let Some(name) = step.command.strip_prefix("cd ") {
        return folder.join(name);
    }
    let program = Path::new(env!("CARGO_BIN_EXE_anabranch")).parent().expect("the program is in a folder");
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let path = [program.to_owned()].into_iter().chain(std::env::split_paths(&inherited));
    let begin = now();
    let mut command = Command::new("sh");
    command.arg("-c").arg(&step.command).current_dir(folder);
    command.env("PATH", std::env::join_paths(path).expect("paths without colons")).env("NO_COLOR", "1");
    let output = command.output().expect("there is a shell");
    let place = format!("docs/tutorial.md:{}: {}", step.line, step.command);
    let printed = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8")).concat();
    assert_eq!(output.status.code(), Some(step.code), "{place}\n{printed}");
    if let Some(line) = missing(&printed, &step.shown) {
        panic!("{place}\nshows the line\n{line}\nbut prints\n{printed}");
    }
    assert!(begin.elapsed() < STEP_MAX, "{place} took {:?}", begin.elapsed());
    folder.to_owned()
}

#[test]
fn every_command_of_the_tutorial_does_what_the_page_says() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let steps = steps(PAGE);
    assert!(steps.len() > 15, "{steps:#?}");
    steps.iter().fold(folder.path().to_owned(), |here, step| follow(step, &here));
}

#[test]
fn shown_lines_are_compared_with_gaps() {
    for (printed, shown, like) in [
        ("after 5.46 s: contact", "after … s: …", true),
        ("after 5.46 s: contact", "after … s: … contact", false),
        ("after 5.46 s", "after 5.46 s", true),
        ("after 5.46 s!", "after 5.46 s", false),
        ("tick,time [s],x", "tick,time [s],…", true),
    ] {
        assert_eq!(is_like(printed, shown), like, "{printed:?} and {shown:?}");
    }
    assert_eq!(missing("b\na\n", &["a".into(), "b".into()]), Some(&"b".to_owned()), "in this order");
}
