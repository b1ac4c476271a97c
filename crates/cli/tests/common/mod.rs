//! A folder of its own for every test, and the program started in it as a person does.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A car passes a box; a steering error of some seconds makes it touch the box. Measures are given here, so that no
/// other file has a say in the outcome.
pub const PULL: &str = r#"schema = "anabranch/1"
name   = "pull"
about  = "Drive straight ahead past a box; the steering may pull to one side."

[world]
step = "10 ms"
[[world.obstacle]]
id  = "box"
box = { x = "8 m", y = "1.5 m", length = "1 m", width = "1 m" }

[ego]
vehicle = { length = "4.2 m", width = "1.8 m", corner_radius = "0.2 m" }
start   = { x = "0 m", y = "0 m" }
goal    = { x = "10 m", y = "0 m" }
driver  = "path-follower"
path    = [{ length = "10 m" }]

[[error]]
id     = "steering-pulls"
on     = "ego.steering"
offset = { by = "6 deg" }

[explore]
segment = "1 s"
until   = "20 s"

[[must]]
id    = "no-contact"
never = "ego.clearance <= 0 m"
[[should]]
id    = "keeps-5cm"
never = "ego.clearance < 0.05 m"
"#;

/// A folder with `pull.toml` in it.
pub struct Project(TempDir);

/// What a command gave.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Project {
    pub fn new() -> Self {
        let project = Self(tempfile::tempdir().expect("a temporary folder"));
        project.write("pull.toml", PULL);
        project
    }
    pub fn path(&self) -> &Path {
        self.0.path()
    }
    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.file(name), text).expect("a file in a temporary folder");
    }
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }
    /// The program, ready to start here.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_anabranch"));
        command.current_dir(self.path()).args(arguments).env_remove("NO_COLOR");
        command
    }
    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().expect("the program starts"))
    }
    /// Runs with `--format json` and reads the object.
    pub fn json(&self, arguments: &[&str]) -> (i32, Value) {
        let ran = self.run(&[arguments, &["--format", "json"]].concat());
        let value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
        (ran.code, value)
    }
}

impl Ran {
    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code().expect("ended by itself"),
            out: String::from_utf8(output.stdout).expect("UTF-8"),
            err: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}
