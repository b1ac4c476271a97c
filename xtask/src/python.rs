//! The Python kit: an environment of its own below `target`, its types and its tests.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::metadata;
use crate::runner::{self, Report};

/// What the tests need, each with its version.
const REQUIREMENTS: &str = "python/requirements.txt";

/// Name of the bench of the link to Python.
pub const BENCH: &str = "bridge";

fn folder() -> PathBuf {
    metadata::root().join("target/python-venv")
}

/// The interpreter of the environment, run from the folder of the kit.
pub fn python() -> Command {
    let mut command = Command::new(folder().join("bin/python"));
    command.current_dir(metadata::root().join("python"));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// Makes the environment, or finds it as it should be: it is kept as long as the list of packages stays the same.
pub fn prepare() -> Report {
    let (root, folder) = (metadata::root(), folder());
    let stamp = folder.join("requirements.txt");
    let wanted = match fs::read_to_string(root.join(REQUIREMENTS)) {
        Ok(text) => text,
        Err(error) => return Report::failed(format!("{REQUIREMENTS} cannot be read: {error}")),
    };
    if fs::read_to_string(&stamp).is_ok_and(|there| there == wanted) {
        println!("python packages: as they were");
        return Report::default();
    }
    for mut command in [make(&folder), install(&root.join(REQUIREMENTS)), link(&root.join("python/src"))] {
        let report = runner::run(&mut command);
        if report.problem.is_some() {
            return report;
        }
    }
    match fs::write(&stamp, wanted) {
        Ok(()) => Report::default(),
        Err(error) => Report::failed(format!("{} cannot be written: {error}", stamp.display())),
    }
}

fn make(folder: &PathBuf) -> Command {
    let mut command = Command::new("python3");
    command.args(["-m", "venv", "--clear"]).arg(folder);
    command
}

fn install(requirements: &PathBuf) -> Command {
    let mut command = python();
    command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]).arg(requirements);
    command
}

/// The kit is used from its folder, so that a change of it needs no installation. That it can be installed is a test.
fn link(source: &PathBuf) -> Command {
    let mut command = python();
    let code =
        "import sys, sysconfig; open(sysconfig.get_path('purelib') + '/kit.pth', 'w').write(sys.argv[1] + '\\n')";
    command.args(["-c", code]).arg(source);
    command
}

/// The kit is typed strictly.
pub fn types() -> Report {
    runner::run(python().args(["-m", "mypy", "--cache-dir", "../target/mypy", "src"]))
}

/// Everything in `python/tests`.
pub fn tests() -> Report {
    runner::run(python().args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]))
}

/// Steps and saved states through the kit, as ratios to the bare library and the bare system call; then what saved
/// states gain in an exploration.
pub fn bench() -> Result<(), String> {
    let mut build = metadata::cargo();
    build.args(["build", "--release", "--quiet", "--package", "anabranch-cli"]);
    for report in [prepare(), runner::run(&mut build)] {
        report.problem.map_or(Ok(()), Err)?;
    }
    println!("{BENCH}");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| metadata::root().join("target"), PathBuf::from);
    let program = target.join("release").join(format!("anabranch{}", std::env::consts::EXE_SUFFIX));
    let link = runner::run(python().arg("bench/link.py"));
    let gain = runner::run(python().arg("bench/gain.py").arg(program));
    link.problem.or(gain.problem).map_or(Ok(()), Err)
}
