//! `test`: the verb for CI. Kept findings first, then stream tests, then every scenario with its own budget.

use std::path::{Path, PathBuf};

use anabranch_kernel::{Digest, System};
use anabranch_record::clock::{now, rfc3339};
use anabranch_record::junit::{self, Suite};
use anabranch_record::report::{TestRun, test_report};
use anabranch_record::{Finding, RunFolder};
use anabranch_scenario::simulation::is_car;
use clap::{Args, Parser};
use serde_json::{Value, json};

use crate::escape::escape;
use crate::exit::Exit;
use crate::explore::settings::{MergeFlag, Pairs, parse_budget};
use crate::explore::world;
use crate::failure::Failure;
use crate::family;
use crate::interrupt;
use crate::load::{Override, parse_override, with_driver};
use crate::model;
use crate::model::files::is_text;
use crate::model::streams::Streams;
use crate::numbers::{duration, short};
use crate::project::{self, FINDINGS};
use crate::screen::{Format, Global, Paint, Screen, print_err, print_out};
use crate::simulate::{Plan, Simulated};
use crate::suite::baseline::Baseline;
use crate::suite::case::{Case, Result as Ended};
use crate::suite::muted;
use crate::suite::row::Row;
use crate::suite::shard::Shard;
use crate::usage::WallClock;
use crate::verbs::check::select;
use crate::verbs::explore::Explore;

/// Folder of scenarios in a project.
const SCENARIOS: &str = "scenarios";

/// Test a project: kept findings first, then stream tests of models, then its scenarios.
#[derive(Args, Debug)]
pub struct Test {
    /// Scenario files, streams, or folders with scenarios and models; scenarios/ of this project if left out, and the
    /// models of this folder. Kept findings are always tested.
    #[arg(value_name = "FILE|DIR")]
    pub paths: Vec<PathBuf>,
    /// Only cases whose file has this text in its name.
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// Only this part of all cases, as in 2/8. Which part a case is in depends on its name alone.
    #[arg(long, value_name = "K/N")]
    pub shard: Option<Shard>,
    /// Write the results as JUnit XML.
    #[arg(long, value_name = "FILE.xml")]
    pub junit: Option<PathBuf>,
    /// Write one HTML file of the whole test run, with pictures of what was found.
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Fail every scenario with a failing cell that its earlier run had not; a run, or a folder of runs.
    #[arg(long, value_name = "RUN|DIR")]
    pub baseline: Option<PathBuf>,
    /// Another driver instead of the scenario's: a built-in one by name, a file, or the address of a running one.
    #[arg(long, value_name = "FILE")]
    pub driver: Option<String>,
    /// Change a value of every case, as in ego.safety_distance="0.4 m"; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_override)]
    pub sets: Vec<Override>,
    /// Limits of each scenario, as in time=10min,states=1000,memory=2GB.
    #[arg(long, value_name = "LIMITS", value_parser = parse_budget)]
    pub budget: Option<Pairs>,
    /// What is for models.
    #[command(flatten)]
    pub given: model::Given,
}

/// `explore` with what it takes when nothing is said.
#[derive(Parser)]
struct Defaults {
    #[command(flatten)]
    explore: Explore,
}

/// The files of both parts.
struct Selected {
    findings: Vec<PathBuf>,
    scenarios: Vec<PathBuf>,
}

impl Test {
    /// Tests and tells.
    pub fn run(&self, global: &Global, screen: &Screen) -> Result<Exit, Failure> {
        let (clock, started) = (WallClock::start(), rfc3339(now()));
        interrupt::listen()?;
        let selected = self.select()?;
        // Before anything is run: new runs must not become their own measure.
        let baseline = self.baseline.as_deref().map(Baseline::read).transpose()?;
        let findings = each(&selected.findings, screen, |file| self.finding(file, global));
        let here = [PathBuf::from(".")];
        let paths = if self.paths.is_empty() { &here } else { self.paths.as_slice() };
        let streams = Streams::run(paths, &self.given, &|name| self.wanted(name), global.threads())?;
        streams.cases.iter().for_each(|case| tell(case, screen));
        let verb = self.explore();
        let members: Vec<PathBuf> = selected.scenarios.iter().flat_map(|file| family::members(file)).collect();
        let scenarios = each(&members, screen, |file| {
            let row = Row::evaluate(&verb, file, &[], global, &muted(screen));
            baseline.iter().fold(Case::of_row(row), |case, baseline| baseline.judge(case))
        });
        let all = || findings.iter().chain(&streams.cases).chain(&scenarios);
        let exit = exit_of(all());
        // One time for the terminal, the page and machines.
        let seconds = clock.seconds();
        if let Some(path) = &self.junit {
            let suite = |name: &str, cases: &[Case]| {
                let cases = cases.iter().map(Case::to_junit).collect();
                Suite { name: name.to_owned(), cases }
            };
            let mut suites = vec![suite("findings", &findings), suite("scenarios", &scenarios)];
            suites.extend((!streams.is_empty()).then(|| suite("streams", &streams.cases)));
            let xml = junit::to_xml(&suites);
            anabranch_record::publish(path, &xml)?;
        }
        let machine = self.to_json(&findings, &streams, &scenarios, seconds, exit);
        if let Some(path) = &self.report {
            let line = counted(all(), seconds);
            let command = anabranch_record::tidy_command(std::env::args());
            let run = TestRun { tested: &machine, summary: &line, command, started };
            let page = test_report(&run, |run| RunFolder::open(Path::new(run)).ok());
            anabranch_record::publish(path, page.as_bytes())?;
        }
        screen.result(|paint| summary(all(), seconds, paint) + &streams.summary(paint), &machine);
        Ok(exit)
    }

    fn explore(&self) -> Explore {
        let mut explore = Defaults::parse_from(["explore", "."]).explore;
        explore.sets.clone_from(&self.sets);
        explore.driver.clone_from(&self.driver);
        explore.budget.clone_from(&self.budget);
        explore.no_pictures = self.report.is_none();
        // Cells that were measured change with the driver, and runs with other cells cannot be compared with a baseline.
        explore.merge = Some(MergeFlag::Declared);
        explore
    }

    fn select(&self) -> Result<Selected, Failure> {
        let folder = Path::new(SCENARIOS);
        let usual = if folder.is_dir() { folder } else { Path::new(".") };
        let paths = if self.paths.is_empty() { vec![usual.to_owned()] } else { self.paths.clone() };
        let scenarios = select(&paths)?.into_iter().filter(|path| !is_text(path) && !is_car(path)).collect();
        Ok(Selected { findings: self.chosen(kept()?), scenarios: self.chosen(scenarios) })
    }

    fn chosen(&self, files: Vec<PathBuf>) -> Vec<PathBuf> {
        files.into_iter().filter(|file| self.wanted(&name_of(file))).collect()
    }

    fn wanted(&self, name: &str) -> bool {
        self.filter.as_ref().is_none_or(|text| name.contains(text.as_str()))
            && self.shard.is_none_or(|shard| shard.has(name))
    }

    /// Replays a kept finding with the scenario of today.
    fn finding(&self, file: &Path, global: &Global) -> Case {
        let clock = WallClock::start();
        let name = name_of(file);
        match self.replay(file, global) {
            Err(failure) => Case { word: "does not apply".to_owned(), ..Case::error(&name, failure, clock.seconds()) },
            Ok(again) => judge(&name, &again, clock.seconds()),
        }
    }

    fn replay(&self, file: &Path, global: &Global) -> Result<Again, Failure> {
        if let Some(again) = world::replay_kept(file, global)? {
            if self.driver.is_some() || !self.sets.is_empty() {
                return Err(Failure::input(
                    "--driver and --set are about scenarios, and this was found in a world",
                    "",
                ));
            }
            return Ok(again);
        }
        let found = project::find(&file.display().to_string(), &with_driver(&self.sets, self.driver.as_ref()))?;
        let drive = found.loaded.drive()?;
        let plan = Plan::of(&found, &drive, global.seed)?;
        let run: Simulated = plan.simulate()?;
        let violated = run.verdict.map(|v| drive.requirements()[usize::from(v.requirement)].clone());
        let machine = plan.to_json("anabranch.replay/1", &run);
        Ok(Again { finding: found.finding.clone(), hash: found.loaded.hash, run: machine, violated })
    }

    fn to_json(&self, findings: &[Case], streams: &Streams, scenarios: &[Case], seconds: f64, exit: Exit) -> Value {
        let all = || findings.iter().chain(&streams.cases).chain(scenarios);
        let count = |result: Ended| all().filter(|case| case.result == result).count();
        // A stream is told flat: what was tested, how it ended, and where it failed first.
        let stream = |case: &Case| {
            let mut value = case.details.clone();
            if value.is_null() {
                value = json!({ "file": case.name, "passed": false, "reason": case.message });
            }
            value["result"] = case.to_json()["result"].clone();
            value["message"] = json!(case.message);
            value["seconds"] = json!(case.seconds);
            value
        };
        json!({
            "schema": "anabranch.test/1",
            "exit": exit.code(),
            "passed": count(Ended::Passed),
            "failed": count(Ended::Failed),
            "incomplete": count(Ended::Incomplete),
            "not_covered": count(Ended::NotCovered),
            "nothing_to_judge": count(Ended::NothingToJudge),
            "errors": count(Ended::Error),
            "not_run": count(Ended::NotRun),
            "wall_s": seconds,
            "findings": findings.iter().map(Case::to_json).collect::<Vec<_>>(),
            "streams": streams.cases.iter().map(stream).collect::<Vec<_>>(),
            "coverage": streams.coverage_json(),
            "failing_components": streams.failing_json(),
            "scenarios": scenarios.iter().map(Case::to_json).collect::<Vec<_>>(),
            "report": self.report.as_ref().map(|path| project::relative(path)),
            "junit": self.junit.as_ref().map(|path| project::relative(path)),
        })
    }
}

/// A case is called by its file, written alike on every system, so that a shard has the same cases everywhere.
fn name_of(file: &Path) -> String {
    project::relative(file).replace('\\', "/").trim_start_matches("./").to_owned()
}

/// The kept findings of this project, in order.
fn kept() -> Result<Vec<PathBuf>, Failure> {
    let folder = Path::new(FINDINGS);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let refused = |e: std::io::Error| Failure::file("read", folder, &e);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(refused)? {
        files.push(entry.map_err(refused)?.path());
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    Ok(files)
}

/// Runs every case, tells each as it finishes, and stops at Ctrl-C.
fn each(files: &[PathBuf], screen: &Screen, run: impl Fn(&Path) -> Case) -> Vec<Case> {
    let one = |file: &PathBuf| {
        if interrupt::is_asked() {
            return Case::not_run(&name_of(file));
        }
        let case = run(file);
        tell(&case, screen);
        case
    };
    files.iter().map(one).collect()
}

/// Tells a case as it finishes.
fn tell(case: &Case, screen: &Screen) {
    if let Some(failure) = &case.failure {
        print_err(&failure.render(screen.err));
    }
    let mut event = case.to_json();
    event["event"] = json!("case");
    screen.event(&event);
    if screen.format == Format::Human {
        print_out(&case.line(&Paint(screen.out)));
    }
}

/// A kept finding that was run again, in the scenario or the world of today.
#[derive(Debug)]
pub struct Again {
    /// What was found.
    pub finding: Finding,
    /// Digest of where it was run.
    pub hash: Digest,
    /// What the run gave, for machines.
    pub run: Value,
    /// The requirement that it violated.
    pub violated: Option<String>,
}

fn judge(name: &str, again: &Again, seconds: f64) -> Case {
    let Again { finding, hash, run, violated } = again;
    let changed = *hash != finding.scenario_hash;
    let note = if changed { "; the scenario has changed since it was found" } else { "" };
    let time = short(run["time_s"].as_f64().unwrap_or(0.0), 3);
    let (result, word, message) = match violated {
        Some(id) if *id == finding.requirement => {
            (Ended::Failed, "still fails", format!("`{id}` is violated after {time} s{note}"))
        }
        Some(id) => {
            let then = &finding.requirement;
            (Ended::Failed, "still fails", format!("`{id}` is violated after {time} s, no longer `{then}`{note}"))
        }
        None => (Ended::Passed, "fixed", format!("`{}` is not violated any more{note}", finding.requirement)),
    };
    let mut details = run.clone();
    details["scenario_has_changed"] = json!(changed);
    Case {
        name: name.to_owned(),
        result,
        word: word.to_owned(),
        message: format!("{word}: {message}"),
        again: format!("anabranch replay {name}"),
        seconds,
        exit: if result == Ended::Failed { Exit::Findings } else { Exit::Done },
        failure: None,
        details,
    }
}

fn exit_of<'c>(cases: impl Iterator<Item = &'c Case>) -> Exit {
    let exits: Vec<Exit> = cases.map(|case| case.exit).collect();
    if exits.is_empty() { Exit::Nothing } else { Exit::of(&exits) }
}

fn summary<'c>(cases: impl Iterator<Item = &'c Case> + Clone, seconds: f64, paint: &Paint) -> String {
    let total = cases.clone().count();
    if total == 0 {
        return "nothing to test: no kept finding, no stream and no scenario was selected\n".to_owned();
    }
    let mut out = String::new();
    for case in cases.clone().filter(|case| case.result != Ended::Passed) {
        if out.is_empty() {
            out += "\n";
        }
        out += &format!("{} {}\n", paint.bold(&escape(&case.name)), escape(case.first_line()));
        // The whole of a mistake in a file was told when it was met.
        for line in case.message.lines().skip(1).filter(|_| case.failure.is_none()) {
            out += &format!("  {}\n", escape(line));
        }
        if !case.again.is_empty() {
            out += &format!("  {}\n", paint.cyan(&escape(&case.again)));
        }
    }
    out + "\n" + &counted(cases, seconds)
}

/// `3 cases: 2 passed, 1 failed; 4.2 s`.
fn counted<'c>(cases: impl Iterator<Item = &'c Case> + Clone, seconds: f64) -> String {
    let total = cases.clone().count();
    let count = |result: Ended| cases.clone().filter(|case| case.result == result).count();
    let kinds = [
        (Ended::Failed, "failed"),
        (Ended::Error, "could not be run"),
        (Ended::Incomplete, "incomplete"),
        (Ended::NotCovered, "not covered"),
        (Ended::NothingToJudge, "with nothing to judge"),
        (Ended::NotRun, "not run"),
    ];
    let mut parts = vec![format!("{} passed", count(Ended::Passed))];
    parts.extend(kinds.iter().filter(|(r, _)| count(*r) > 0).map(|(r, word)| format!("{} {word}", count(*r))));
    let noun = if total == 1 { "case" } else { "cases" };
    format!("{total} {noun}: {}; {}\n", parts.join(", "), duration(seconds))
}
