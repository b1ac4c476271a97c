//! A disk that fails at one chosen call: the shim of `shim.c`, and what a run folder holds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::common::{Project, Ran};

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No room, from this call on.
    Full,
    /// An I/O error, once.
    Broken,
    /// Not at all: a write that does half of what was asked, which every caller must expect.
    Short,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::Full, Self::Broken, Self::Short];

    fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Broken => "broken",
            Self::Short => "short",
        }
    }
}

/// One call that changed something below `runs/`.
#[derive(Clone, Debug)]
pub struct Call {
    /// From 1.
    pub number: usize,
    /// Whether it was let through.
    pub passed: bool,
    /// What it did, and to what.
    pub what: String,
}

/// The shim, built once for all tests of this binary.
fn shim() -> &'static Path {
    static BUILT: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = BUILT.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("shim.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/faults/shim.c");
        let flags = ["-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"];
        let built = Command::new("cc").args(flags).arg(&path).arg(source).output();
        let built = built.expect("a C compiler named `cc`");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        (folder, path)
    });
    path
}

/// Runs the program with call number `at` failing, or none if it is 0; says what it did to the disk.
pub fn run(project: &Project, arguments: &[&str], at: usize, kind: Kind) -> (Ran, Vec<Call>) {
    let log = project.file("calls.log");
    let runs = std::fs::canonicalize(project.path()).expect("the project").join("runs");
    let mut command = project.command(arguments);
    command.env("LD_PRELOAD", shim()).env("FAULT_UNDER", runs).env("FAULT_LOG", &log);
    command.env("FAULT_AT", at.to_string()).env("FAULT_KIND", kind.word());
    let ran = Ran::of(command.output().expect("the program starts"));
    assert_ne!(ran.code, 99, "the shim could not be installed: {}", ran.err);
    let text = std::fs::read_to_string(&log).expect("the shim writes its log");
    std::fs::remove_file(&log).expect("the log can be removed");
    (ran, text.lines().map(call).collect())
}

fn call(line: &str) -> Call {
    let mut words = line.splitn(3, ' ');
    let number = words.next().and_then(|word| word.parse().ok()).expect("a number");
    Call { number, passed: words.next() == Some("passed"), what: words.next().unwrap_or_default().to_owned() }
}

/// Every file below a folder with its bytes.
pub fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(at) = open.pop() {
        for entry in std::fs::read_dir(&at).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() {
                open.push(entry);
            } else {
                let name = entry.strip_prefix(folder).expect("inside").to_string_lossy().into_owned();
                all.insert(name, std::fs::read(&entry).expect("a file"));
            }
        }
    }
    all
}
