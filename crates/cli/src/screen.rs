//! Where results and progress go: stdout is the result, stderr is progress.

use std::io::{IsTerminal, Write};

use anabranch_scenario::file::Colour;
use anabranch_study::Tone;
use clap::{Args, ValueEnum};
use serde_json::Value;

use crate::escape::escape_lines;
use crate::exit::Exit;

/// Form of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people; may change at any time.
    Human,
    /// One JSON object.
    Json,
    /// One JSON object per line: events, then the result.
    Jsonl,
}

/// When to use terminal colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Most threads: more than any machine has, fewer than any refuses.
const THREADS_MAX: i64 = 1024;

/// Options of every verb.
#[derive(Args, Clone, Debug)]
pub struct Global {
    /// Say less: no progress.
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Global options")]
    pub quiet: bool,
    /// Say more: what is being done at the moment.
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub verbose: bool,
    /// Colours; NO_COLOR is honoured.
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true, help_heading = "Global options")]
    pub color: When,
    /// Form of the result on stdout.
    #[arg(long, value_name = "FORM", default_value = "human", global = true, help_heading = "Global options")]
    pub format: Format,
    /// Threads; results do not depend on it. All cores if left out.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=THREADS_MAX), global = true, help_heading = "Global options")]
    pub jobs: Option<u16>,
    /// Work as if started in this folder.
    #[arg(short = 'C', long = "directory", value_name = "DIR", global = true, help_heading = "Global options")]
    pub directory: Option<std::path::PathBuf>,
    /// Seed of all chance in the scenario and in random runs.
    #[arg(long, value_name = "N", global = true, help_heading = "Global options")]
    pub seed: Option<u64>,
    /// Let a driver run on another machine; the link is neither encrypted nor authenticated.
    #[arg(long, global = true, help_heading = "Global options")]
    pub allow_remote: bool,
}

impl Global {
    /// Threads to use; 0 is all cores.
    pub fn threads(&self) -> usize {
        self.jobs.map_or(0, usize::from)
    }
}

/// What a verb knows about its surroundings.
#[derive(Clone, Debug)]
pub struct Screen {
    /// Form of the result.
    pub format: Format,
    /// Colours on stdout.
    pub out: Colour,
    /// Colours on stderr.
    pub err: Colour,
    /// How much is said on stderr.
    pub talk: Talk,
}

/// How much is said on stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Talk {
    /// Warnings and errors only.
    Quiet,
    /// Progress too.
    Usual,
    /// Everything.
    Verbose,
}

impl Screen {
    /// The surroundings that the options and the environment describe.
    pub fn new(global: &Global) -> Self {
        let talk = match (global.quiet, global.verbose) {
            (true, _) => Talk::Quiet,
            (false, false) => Talk::Usual,
            (false, true) => Talk::Verbose,
        };
        let colour = |terminal: bool| match global.color {
            When::Always => Colour::On,
            When::Never => Colour::Off,
            When::Auto if terminal && !colours_refused() => Colour::On,
            When::Auto => Colour::Off,
        };
        Self {
            format: global.format,
            out: colour(std::io::stdout().is_terminal()),
            err: colour(std::io::stderr().is_terminal()),
            talk,
        }
    }

    /// Prints a result in the form that was asked for; a closed pipe is nobody's mistake.
    pub fn result(&self, human: impl FnOnce(&Paint) -> String, machine: &Value) {
        let text = match self.format {
            Format::Human => human(&Paint(self.out)),
            Format::Json => format!("{machine:#}\n"),
            Format::Jsonl => format!("{machine}\n"),
        };
        print_out(&text);
    }

    /// Prints an event; only `jsonl` has them.
    pub fn event(&self, event: &Value) {
        if self.format == Format::Jsonl {
            print_out(&format!("{event}\n"));
        }
    }

    /// A line on stderr for those who want to know more.
    pub fn detail(&self, text: &str) {
        if self.talk == Talk::Verbose {
            print_err(&format!("{}\n", escape_lines(text)));
        }
    }

    /// A warning on stderr, always.
    pub fn warn(&self, text: &str) {
        let paint = Paint(self.err);
        print_err(&format!("{}: {}\n", paint.yellow("warning"), escape_lines(text)));
    }
}

/// Writes to stdout. A reader that has gone away is no reason to complain; a result that does not fit on the disk must
/// not look like one that was delivered.
pub fn print_out(text: &str) {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(refused) if refused.kind() != std::io::ErrorKind::BrokenPipe => {
            print_err(&format!("error: cannot write the result to the standard output: {refused}\n"));
            std::process::exit(i32::from(Exit::BadInput.code()));
        }
        _ => {}
    }
}

/// Writes to stderr; a reader that has gone away is no reason to stop.
pub fn print_err(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// <https://no-color.org>: set and not empty.
fn colours_refused() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Colours, or none.
#[derive(Clone, Copy, Debug)]
pub struct Paint(pub Colour);

impl Paint {
    fn with(self, code: &str, text: &str) -> String {
        match self.0 {
            Colour::On => format!("\x1b[{code}m{text}\x1b[0m"),
            Colour::Off => text.to_owned(),
        }
    }
    /// Headings.
    pub fn bold(self, text: &str) -> String {
        self.with("1", text)
    }
    /// What is less important.
    pub fn dim(self, text: &str) -> String {
        self.with("2", text)
    }
    /// Violations.
    pub fn red(self, text: &str) -> String {
        self.with("1;31", text)
    }
    /// Warnings and what is incomplete.
    pub fn yellow(self, text: &str) -> String {
        self.with("1;33", text)
    }
    /// What is fine.
    pub fn green(self, text: &str) -> String {
        self.with("1;32", text)
    }
    /// A verdict in its colour; the word says the same.
    pub fn toned(self, tone: Tone, text: &str) -> String {
        match tone {
            Tone::Good => self.green(text),
            Tone::Bad => self.red(text),
            Tone::Open => self.yellow(text),
        }
    }
    /// Commands to paste.
    pub fn cyan(self, text: &str) -> String {
        self.with("36", text)
    }
}
