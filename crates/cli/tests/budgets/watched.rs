//! Runs one combination and watches: what the program says and when, how much memory it takes, and what it leaves behind.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::cases::{Case, Limit, Pace, Phase, Subject};
use crate::common::{PULL, Project};

/// Another build of the program to try.
pub const PROGRAM: &str = "ANABRANCH_PROGRAM";
/// Nothing takes longer than this; what does is ended and reported.
const PATIENCE: Duration = Duration::from_secs(150);
const LOOK: Duration = Duration::from_millis(10);
const PASSAGE: &str = include_str!("../../../../scenarios/narrow-passage.toml");

/// What was seen.
#[derive(Debug, Default)]
pub struct Ran {
    /// Lines on stderr with the seconds since the start.
    pub lines: Vec<(f64, String)>,
    /// When Ctrl-C was pressed.
    pub asked_s: Option<f64>,
    pub ended_s: f64,
    pub code: Option<i32>,
    /// What was printed on stdout, if it is JSON.
    pub result: Value,
    pub out: String,
    pub peak_mb: f64,
    /// What is wrong with what it left behind.
    left: Vec<String>,
}

fn now() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "how long the program takes is what is tested")]
    Instant::now()
}

/// Runs a combination from the start to the end of the program.
pub fn watch(project: &Project, case: &Case) -> Ran {
    prepare(project, case);
    if case.phase == Phase::Resuming {
        // So many that computing them again takes a while.
        let states = if case.subject == Subject::BuiltIn { "states=100000" } else { "states=400" };
        let arguments = ["explore", file(case), "--budget", states, "--rollouts", "1", "--no-pictures", "-q"];
        let first =
            environment(program(project).args(arguments).args(case.more), case).output().expect("the program starts");
        let is_cut_short = [Some(1), Some(5)].contains(&first.status.code());
        assert!(is_cut_short, "{case:?}: {}", String::from_utf8_lossy(&first.stderr));
    }
    let mut command = program(project);
    let mut child = environment(command.args(arguments(case)), case)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let began = now();
    let stderr = lines(child.stderr.take().expect("piped"), began);
    let mut stdout = child.stdout.take().expect("piped");
    let out = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).map(|_| text).unwrap_or_default()
    });
    let mut ran = attend(&mut child, &stderr, project, case, began);
    ran.out = out.join().expect("a reader");
    ran.result = serde_json::from_str(&ran.out).unwrap_or_default();
    ran.peak_mb = ran.peak_mb.max(ran.figure("peak_rss_bytes") / 1e6);
    ran.left = left_behind(project);
    ran
}

fn program(project: &Project) -> Command {
    let Some(other) = std::env::var_os(PROGRAM) else { return project.command(&[]) };
    let mut command = Command::new(other);
    command.current_dir(project.path()).env_remove("NO_COLOR");
    command
}

fn file(case: &Case) -> &'static str {
    match case.subject {
        Subject::BuiltIn => "passage.toml",
        Subject::Driver => "follow.toml",
        Subject::World => "marble.py",
    }
}

fn prepare(project: &Project, case: &Case) {
    project.write("follow.py", include_str!("follow.py"));
    project.write("marble.py", include_str!("marble.py"));
    project.write("passage.toml", PASSAGE);
    let ours = "driver  = { file = \"follow.py\", cycle = \"20 ms\" }";
    let text = PULL.replace("driver  = \"path-follower\"", ours);
    let calm = if case.phase.needs_calm() { text.replace("6 deg", "1 deg") } else { text };
    project.write("follow.toml", &calm);
    if case.phase == Phase::Starting {
        project.write("block", "");
    }
}

fn arguments(case: &Case) -> Vec<String> {
    let mut arguments: Vec<&str> = match case.phase {
        Phase::Resuming => vec!["explore", "--resume"],
        _ => vec!["explore", file(case)],
    };
    arguments.extend(["-v", "--format", "json"]);
    let budget = case.limit.budget();
    arguments.extend(budget.iter().flat_map(|budget| ["--budget", budget]));
    arguments.extend(match (case.subject, case.phase) {
        (_, Phase::Resuming) if case.limit == Limit::CtrlC => &["--budget", "states=1000000"][..],
        // Short runs, so that searching is reached after enough random runs.
        (Subject::Driver, Phase::Searching) => &["--until", "3 s"],
        // Too few random runs for coverage: every sequence is run.
        (Subject::Driver, Phase::Exhausting) => &["--until", "8 s", "--rollouts", "20"],
        (Subject::World, Phase::Exhausting) => &["--rollouts", "20"],
        // What follows is reached sooner.
        (Subject::Driver, Phase::Holding | Phase::Repeating | Phase::Confirming | Phase::Causes) => {
            &["--rollouts", "20"]
        }
        (Subject::Driver, Phase::Writing | Phase::Pictures) => &["--rollouts", "20"],
        _ => &[],
    });
    if case.phase != Phase::Resuming {
        arguments.extend(case.more);
    }
    arguments.into_iter().map(str::to_owned).collect()
}

fn environment<'c>(command: &'c mut Command, case: &Case) -> &'c mut Command {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/python-venv/bin/python");
    assert!(python.is_file(), "there is no {}: `cargo xtask python` prepares it", python.display());
    command
        .env("ANABRANCH_PYTHON", python)
        .env_remove("PYTHONDONTWRITEBYTECODE")
        .env("PYTHONPYCACHEPREFIX", "compiled");
    if let Pace::StepMs(ms) = case.pace {
        command.env("STEP_S", format!("{}", f64::from(ms) / 1e3));
    }
    if case.phase == Phase::Starting {
        command.env("AT_START", "1");
    }
    if case.phase.needs_calm() {
        command.env("LIMIT", "5").env("SEGMENTS", "8");
    }
    command
}

/// Lines that do not begin a stage.
fn is_progress(line: &str) -> bool {
    line.is_empty() || ["level ", "stopping and saving"].iter().any(|begins| line.starts_with(begins))
}

fn lines(stderr: impl Read + Send + 'static, began: Instant) -> Receiver<(f64, String)> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            if sender.send((began.elapsed().as_secs_f64(), line)).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Watches until the program ends; makes the driver slow and presses Ctrl-C when it is time.
fn attend(child: &mut Child, stderr: &Receiver<(f64, String)>, project: &Project, case: &Case, began: Instant) -> Ran {
    let mut ran = Ran::default();
    let mut is_begun = matches!(case.phase, Phase::Any);
    loop {
        match stderr.recv_timeout(LOOK) {
            Ok((at_s, line)) => {
                if case.phase.line().is_some_and(|begins| !is_begun && line.starts_with(begins)) {
                    begin_phase(project, case);
                    is_begun = true;
                }
                ran.lines.push((at_s, line));
                continue;
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
        is_begun |= case.phase == Phase::Starting && project.file("blocked").exists();
        let is_stuck = case.pace != Pace::Hangs || project.file("blocked").exists();
        if case.limit == Limit::CtrlC && is_begun && is_stuck && ran.asked_s.is_none() {
            kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).expect("it runs");
            ran.asked_s = Some(began.elapsed().as_secs_f64());
        }
        ran.peak_mb = ran.peak_mb.max(peak_mb(child.id()).unwrap_or(0.0));
        if let Some(status) = child.try_wait().expect("it was started") {
            ran.ended_s = began.elapsed().as_secs_f64();
            ran.code = status.code();
            ran.lines.extend(stderr.iter());
            return ran;
        }
        if began.elapsed() > PATIENCE {
            ran.left.push("it did not end".to_owned());
            let _ = child.kill();
        }
    }
}

/// The phase has begun: from now on the driver is slow.
fn begin_phase(project: &Project, case: &Case) {
    match case.pace {
        Pace::Hangs => project.write("block", ""),
        Pace::SlowsToMs(ms) => {
            project.write("slow.part", &format!("{}", f64::from(ms) / 1e3));
            std::fs::rename(project.file("slow.part"), project.file("slow")).expect("a file of ours");
        }
        Pace::Quick | Pace::StepMs(_) => {}
    }
}

/// Most memory of a process so far, where the system says so.
fn peak_mb(process: u32) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}

/// What an exploration may not leave: files that were begun, a status that says it still runs, torn results, processes.
fn left_behind(project: &Project) -> Vec<String> {
    let mut left: Vec<String> =
        begun_files(&project.file("runs")).iter().map(|path| format!("{path:?} is left")).collect();
    let json = |name: &str| {
        let text = std::fs::read_to_string(project.file("runs/last").join(name)).ok()?;
        Some(serde_json::from_str::<Value>(&text).unwrap_or(Value::Null))
    };
    if let Some(status) = json("status.json") {
        let phase = &status["phase"];
        if !phase.is_string() || phase == "running" {
            left.push(format!("status.json says {phase}"));
        }
    }
    if json("result.json").is_some_and(|result| !result["verdict"].is_string()) {
        left.push("result.json is torn".to_owned());
    }
    left.extend(living(project).iter().map(|process| format!("process {process} still runs")));
    left
}

fn begun_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".part-")) {
            found.push(path);
        } else if path.is_dir() && !path.is_symlink() {
            found.extend(begun_files(&path));
        }
    }
    found
}

/// Processes of the driver that still run a second after the program has ended.
fn living(project: &Project) -> Vec<String> {
    let all = || -> Vec<String> {
        let entries = std::fs::read_dir(project.file("pids")).into_iter().flatten().flatten();
        let is_alive = |process: &String| {
            let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
            let state = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next());
            state.is_some_and(|state| state != "Z")
        };
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).filter(is_alive).collect()
    };
    let (began, (_keep, timer)) = (now(), channel::<()>());
    while !all().is_empty() && began.elapsed() < Duration::from_secs(1) {
        let _ = timer.recv_timeout(LOOK);
    }
    all()
}

impl Ran {
    pub fn figure(&self, name: &str) -> f64 {
        self.result[name].as_f64().unwrap_or(f64::NAN)
    }
    pub fn verdict(&self) -> String {
        let because = &self.result["conclusion"]["because"];
        format!("{} {because}", self.result["verdict"].as_str().unwrap_or("none"))
    }
    /// The last thing that was begun before the limit struck.
    pub fn stage_at(&self, limit: Limit) -> &str {
        let until_s = match limit {
            Limit::Time(limit_s) => limit_s,
            Limit::CtrlC => self.asked_s.unwrap_or(f64::INFINITY),
            Limit::States(_) | Limit::MemoryMb(_) => return "",
        };
        let mut before = self.lines.iter().filter(|(at_s, line)| *at_s < until_s && !is_progress(line));
        before.next_back().map_or("starting", |(_, line)| line)
    }
    /// All that was said, to understand a failure.
    pub fn story(&self) -> String {
        let lines: Vec<String> = self.lines.iter().map(|(at_s, line)| format!("  {at_s:6.2} {line}")).collect();
        let Self { asked_s, ended_s, code, .. } = self;
        format!("{}\n  asked {asked_s:?} ended {ended_s:.2} code {code:?}", lines.join("\n"))
    }

    /// What contradicts the promises about the result.
    pub fn problems(&self, case: &Case) -> Vec<String> {
        let mut problems = self.left.clone();
        let verdict = self.result["verdict"].as_str().unwrap_or("none");
        let expected: &[i32] = match (case.limit, verdict) {
            (Limit::CtrlC, _) => &[130],
            (_, "violated") => &[1],
            _ => &[5],
        };
        if !self.code.is_some_and(|code| expected.contains(&code)) {
            problems.push(format!("exit code {:?} with verdict {verdict}", self.code));
        }
        let is_reached = |begins: &str| self.lines.iter().any(|(_, line)| line.starts_with(begins));
        let is_pressed = case.limit != Limit::CtrlC || self.asked_s.is_some();
        if !is_pressed || !case.phase.line().is_none_or(is_reached) {
            problems.push("the phase was never reached".to_owned());
        }
        if let Limit::Time(limit_s) = case.limit
            && self.lines.iter().all(|(at_s, _)| *at_s < 0.5 * limit_s)
            && self.ended_s < 0.5 * limit_s
        {
            problems.push("it ended long before its time".to_owned());
        }
        if case.phase != Phase::Starting {
            problems.extend(self.result_problems(verdict));
        }
        problems
    }

    fn result_problems(&self, verdict: &str) -> Vec<String> {
        let mut problems = Vec::new();
        if !["violated", "incomplete"].contains(&verdict) {
            problems.push(format!("the verdict is {verdict}; the last lines: {:?}", self.lines.last()));
        }
        if self.result["complete"] == true && verdict != "violated" {
            problems.push("it calls itself complete".to_owned());
        }
        let found = self.lines.iter().find_map(|(_, line)| line.strip_prefix("confirming ")?.split(' ').next());
        let why = &self.result["conclusion"]["because"]["kind"];
        if verdict != "violated" && found.is_some_and(|count| count != "0") && why != "not-confirmed" {
            problems.push(format!("{found:?} findings were lost: {why}"));
        }
        problems
    }
}
