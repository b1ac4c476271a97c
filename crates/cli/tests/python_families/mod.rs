//! Verdicts about worlds written in Python against exhaustive truth, which is computed in plain Python without Anabranch's search.
//! These families were written once and nothing was tuned on them. Every test run asks about two of them; `cargo xtask soak
//! families` asks about all, with longer runs. The table goes to `docs/trust.md`.

mod sums;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anabranch_kernel::{Chance, Seed};
use serde_json::Value;

use crate::common::{Project, Ran};
use sums::{Case, Said, Sum, is_rare};

const WORLDS_PY: &str = include_str!("families.py");
const FAMILIES: [&str; 5] = ["Thermostat", "StickSlip", "Platoon", "Gearbox", "Tracking"];
/// In every test run. The others are kept apart: nobody looks at them while the program is changed.
const USUAL: [&str; 2] = ["Thermostat", "Platoon"];
/// Worlds of a family in every test run; `ANABRANCH_FAMILY_WORLDS` asks for another number, of all families. An exploration starts
/// about 35 new instances, to compare what they report, and takes more than a second for that alone.
const WORLDS: u64 = 100;
/// Depths of the limits below the true worst, in resolutions; the fifth limit is drawn between 0.85 and 1.1 of the worst.
const DEPTHS: [f64; 4] = [0.5, 1.5, 3.0, 10.0];
/// Resolutions as shares of the worst. Where the program chooses, the share only places the limit.
const ASKED: [Asked; 3] = [Asked::Share(0.01), Asked::Share(0.001), Asked::Default { limit_share: 0.005 }];
/// Resolutions times limits.
const CASES: u64 = 15;
/// Segments that worlds have in addition where a dose is asked for: 3¹⁰ or 4⁸ sequences instead of 3⁸ or 4⁶.
const LONGER: u32 = 2;

/// Which resolution a case asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Asked {
    Share(f64),
    Default { limit_share: f64 },
}

/// One world and what is asked about it.
#[derive(Clone, Copy, Debug)]
struct Question {
    family: &'static str,
    number: u64,
    /// Segments in addition to those of its family.
    longer: u32,
}

/// What running every sequence of a world gives.
#[derive(Clone, Copy, Debug)]
struct Truth {
    worst: f64,
    segments: f64,
}

impl Question {
    /// The cases in turns.
    fn case(&self) -> u64 {
        self.number % CASES
    }
    fn asked(&self) -> Asked {
        ASKED[(self.case() % 3) as usize]
    }
    /// The resolution that places the limit.
    fn depth_unit(&self, worst: f64) -> f64 {
        let (Asked::Share(share) | Asked::Default { limit_share: share }) = self.asked();
        share * worst
    }
    fn limit(&self, worst: f64) -> f64 {
        match DEPTHS.get((self.case() / 3) as usize) {
            Some(depth) => worst - depth * self.depth_unit(worst),
            None => worst * (0.85 + 0.25 * Chance::new(Seed(self.number), self.family).uniform(self.case())),
        }
    }

    fn truth(&self, project: &Project) -> Truth {
        let (number, longer) = (self.number.to_string(), self.longer.to_string());
        let mut command = Command::new(python());
        command.current_dir(project.path()).args(["families.py", self.family, &number, &longer]);
        let ran = Ran::of(in_python(&mut command).output().expect("Python starts"));
        let truth: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{self:?}: {e}: {ran:?}"));
        let figure = |key: &str| truth[key].as_f64().expect("a number");
        Truth { worst: figure("worst"), segments: figure("segments") }
    }

    /// Explores as a person does, and reads the typed conclusion.
    fn answer(&self, project: &Project) -> Case {
        let (Self { family, number, longer }, truth) = (*self, self.truth(project));
        let (worst, limit) = (truth.worst, self.limit(truth.worst));
        let file = format!("{}-{number}.py", family.to_lowercase());
        project.write(&file, &format!("import families\n\nworld = families.{family}({number}, {longer}, {limit:?})\n"));
        let depth = match self.asked() {
            Asked::Share(share) => vec!["--resolution".to_owned(), format!("{:?}", share * worst)],
            Asked::Default { .. } => Vec::new(),
        };
        let mut command = project.command(&["explore", &file, "-j", "1", "--graph", "none", "--format", "json"]);
        let ran = Ran::of(in_python(command.args(depth)).output().expect("the program starts"));
        let found: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{self:?}: {e}: {ran:?}"));
        let said = Said::of(&found["conclusion"]).unwrap_or_else(|| panic!("{self:?}: {found}"));
        assert!(found["ignored"] == Value::Array(Vec::new()), "{self:?}: {found}");
        let segments = ["/segments", "/coverage/segments", "/resolution/segments"];
        let segments: f64 = segments.iter().filter_map(|at| found.pointer(at)?.as_f64()).sum();
        let stated = found.pointer("/resolution/asked").and_then(Value::as_f64);
        let resolution = stated.unwrap_or_else(|| self.depth_unit(worst));
        let case = Case {
            depth: (worst - limit) / resolution,
            said,
            cost: segments / truth.segments,
            resolution: resolution / worst,
            is_hundredth: self.asked() == Asked::Share(0.01),
        };
        if case.is_notable() {
            println!("{self:?} {case:?} limit {limit:?}: {} {}", found["conclusion"], found["resolution"]);
        }
        case
    }
}

/// The interpreter with the kit; a test that needs it fails without it.
fn python() -> PathBuf {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/python-venv/bin/python");
    assert!(python.is_file(), "there is no {}: `cargo xtask python` prepares it", python.display());
    python
}

/// Lets it find the interpreter, and lets that keep its compiled files, as it does for users: dozens of instances start
/// in each exploration.
fn in_python(command: &mut Command) -> &mut Command {
    command
        .env("ANABRANCH_PYTHON", python())
        .env_remove("PYTHONDONTWRITEBYTECODE")
        .env("PYTHONPYCACHEPREFIX", "compiled")
}

/// The answers, in the order of the questions; as many explorations side by side as there are cores.
fn answers(project: &Project, questions: &[Question]) -> Vec<Case> {
    let (next, cases) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some((at, question)) = next_of(questions, &next) {
                    let case = question.answer(project);
                    cases.lock().unwrap_or_else(PoisonError::into_inner).push((at, case));
                }
            });
        }
    });
    let mut cases = cases.into_inner().unwrap_or_else(PoisonError::into_inner);
    cases.sort_by_key(|(at, _)| *at);
    cases.into_iter().map(|(_, case)| case).collect()
}

fn next_of<'q>(questions: &'q [Question], next: &AtomicUsize) -> Option<(usize, &'q Question)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    Some((at, questions.get(at)?))
}

/// What is promised about a family.
fn check(family: &str, sum: &Sum) {
    assert_eq!((sum.wrong_safe, sum.alarms), (0, 0), "{family}: wrong verdicts");
    assert!(sum.open as f64 <= 0.1 * sum.cases as f64, "{family}: {} of {} without a verdict", sum.open, sum.cases);
    assert!(sum.coarsest <= 0.0101, "{family}: a resolution of {} of the worst", sum.coarsest);
    assert!(is_rare(sum.missed, sum.failing, 0.02), "{family}: {} of {} missed", sum.missed, sum.failing);
}

#[test]
fn worlds_in_python_state_a_resolution_that_holds() {
    let dose = std::env::var("ANABRANCH_FAMILY_WORLDS").ok().and_then(|worlds| worlds.parse().ok());
    let (families, worlds, longer) = dose.map_or((&USUAL[..], WORLDS, 0), |dose| (&FAMILIES[..], dose, LONGER));
    let project = Project::new();
    project.write("families.py", WORLDS_PY);
    let (mut sums, mut all) = (Vec::new(), Vec::new());
    for &family in families {
        let questions: Vec<Question> = (0..worlds).map(|number| Question { family, number, longer }).collect();
        let cases = answers(&project, &questions);
        let sum = Sum::of(&cases);
        println!("{}", sum.row(family));
        sums.push((family, sum));
        all.extend(cases);
    }
    let sum = Sum::of(&all);
    println!("{}", sum.row("all"));
    for (family, sum) in &sums {
        check(family, sum);
    }
    assert!(is_rare(sum.missed, sum.failing, 0.01), "{} of {} missed", sum.missed, sum.failing);
    assert!(is_rare(sum.deeper, sum.stated, 0.01), "{} of {} deeper than stated", sum.deeper, sum.stated);
    // Short runs have so few sequences that random runs alone are as many.
    assert!(dose.is_none() || sum.median_cost <= 0.35, "median cost {}", sum.median_cost);
}
