//! Starting a command, showing what it writes, and keeping the lines in which test runners count.

use std::io::{BufRead, BufReader, IsTerminal, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

/// Tests counted by a runner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed, or ran out of time.
    pub failed: u64,
    /// Tests that were not run.
    pub skipped: u64,
}

impl Counts {
    /// Adds another runner's counts.
    pub fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

/// What a step says at its end.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Tests counted on the way.
    pub counts: Counts,
    /// Why it failed, if it did.
    pub problem: Option<String>,
}

impl Report {
    /// A failure before any test was counted.
    pub fn failed(problem: String) -> Self {
        Self { counts: Counts::default(), problem: Some(problem) }
    }
}

/// Runs a command to its end. Its output is passed on line by line; the counts are those of the runners inside.
pub fn run(command: &mut Command) -> Report {
    if std::io::stderr().is_terminal() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let shown = shown(command);
    let mut child = match command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) => return Report::failed(format!("`{shown}` did not start: {error}")),
    };
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let counts = thread::scope(|scope| {
        let out = scope.spawn(|| pass_on(out, &mut std::io::stdout()));
        let mut counts = pass_on(err, &mut std::io::stderr());
        counts.add(out.join().expect("copying lines does not panic"));
        counts
    });
    let problem = match child.wait() {
        Ok(status) if status.success() => None,
        Ok(status) => Some(format!("`{shown}` ended with {status}")),
        Err(error) => Some(format!("`{shown}` was lost: {error}")),
    };
    Report { counts, problem }
}

fn shown(command: &Command) -> String {
    let words = command.get_args().map(|word| word.to_string_lossy().into_owned());
    let program = Path::new(command.get_program()).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    std::iter::once(program).chain(words).collect::<Vec<_>>().join(" ")
}

fn pass_on(from: Option<impl Read>, to: &mut impl Write) -> Counts {
    let mut counts = Counts::default();
    let Some(from) = from else { return counts };
    for line in BufReader::new(from).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        // A closed terminal must not end the checks.
        let _ = writeln!(to, "{line}");
        counts.add(count(&line));
    }
    counts
}

/// The counts of one line, if it is the summary of nextest or of the standard test runner; else none.
fn count(line: &str) -> Counts {
    let plain = without_colour(line);
    // An indented result is what a failed test had printed; its runner counts it.
    let Some(rest) = plain.trim().strip_prefix("Summary [").or_else(|| plain.strip_prefix("test result: ")) else {
        return Counts::default();
    };
    let words: Vec<&str> = rest.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let before = |name: &str| -> u64 {
        words.windows(2).filter(|pair| pair[1] == name).filter_map(|pair| pair[0].parse::<u64>().ok()).sum()
    };
    Counts {
        passed: before("passed"),
        failed: before("failed") + before("timed"),
        skipped: before("skipped") + before("ignored"),
    }
}

fn without_colour(line: &str) -> String {
    let mut plain = String::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            chars.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(c);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_of_both_runners_are_counted() {
        let check = |line: &str, passed, failed, skipped| {
            assert_eq!(count(line), Counts { passed, failed, skipped }, "{line}");
        };
        check("     Summary [   0.012s] 31 tests run: 31 passed, 0 skipped", 31, 0, 0);
        check("     Summary [   9.1s] 31/40 tests run: 28 passed (1 slow), 2 failed, 1 timed out, 9 skipped", 28, 3, 9);
        check(
            "\u{1b}[32;1m     Summary\u{1b}[0m [ 1s] \u{1b}[1m3\u{1b}[0m tests run: \u{1b}[1m3\u{1b}[0m passed",
            3,
            0,
            0,
        );
        check("test result: ok. 7 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.31s", 7, 0, 2);
        check("    test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 193 filtered out", 0, 0, 0);
        check("5 passed in a message of somebody else", 0, 0, 0);
    }

    #[test]
    fn a_command_that_fails_is_named_with_its_words() {
        assert_eq!(run(crate::metadata::cargo().arg("--version")), Report::default());
        let message = run(crate::metadata::cargo().args(["build", "--no-such-flag"])).problem.unwrap();
        assert!(message.starts_with("`cargo build --no-such-flag` ended with"), "{message}");
    }
}
