//! `replay`: a finding again, from the start, without saved states and without merging.

use std::path::{Path, PathBuf};

use anabranch_kernel::{Digest, DigestWriter, Fault, Recorder, Seed, SegmentEnd, System, Verdict, Watch, state_digest};
use clap::Args;
use serde_json::{Value, json};

use crate::escape::escape;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::load::{Override, parse_override};
use crate::numbers::short;
use crate::project::{self, FINDINGS, Found};
use crate::screen::{Global, Paint, Screen};
use crate::simulate::Plan;

/// Run a finding again, exactly.
#[derive(Args, Debug)]
pub struct Replay {
    /// `last#1`, `FOLDER#2`, or a finding file.
    #[arg(value_name = "FINDING")]
    pub reference: String,
    /// Run it twice and compare every base cycle and every saved state.
    #[arg(long)]
    pub twice: bool,
    /// Copy the finding to findings/ of this project.
    #[arg(long)]
    pub keep: bool,
    /// Change a value of the scenario, as in ego.start.y="0.1 m"; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_override)]
    pub sets: Vec<Override>,
    /// Write every signal of every base cycle: as MCAP for viewers if the name ends in .mcap, else as CSV.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
}

/// How the replay compares with the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compared {
    /// Same requirement on the same tick.
    Same,
    /// Something else, and the scenario was changed.
    Changed,
    /// Something else, from the same text.
    NotReproducible,
}

impl Replay {
    /// Replays and tells how it ended.
    pub fn run(&self, global: &Global, screen: &Screen) -> Result<Exit, Failure> {
        let found = project::find(&self.reference, &self.sets)?;
        if let Some(warning) = &found.warning {
            screen.warn(warning);
        }
        let drive = found.loaded.drive()?;
        project::check_segments(&found.finding, &drive)?;
        let choices = project::in_file(&found.path, found.finding.choices(drive.errors()))?;
        let params = project::params_of(&found.finding, &found.path, &drive)?;
        let seed = Seed(global.seed.unwrap_or(found.finding.seed));
        let plan = Plan { loaded: &found.loaded, drive: &drive, seed, params, choices, trace: self.trace.clone() };
        let run = plan.simulate()?;
        let compared = self.compare(&found, seed, run.verdict, drive.requirements());
        let twice = if self.twice { Some(first_difference(&plan)?) } else { None };
        let kept = if self.keep { Some(keep(&found, screen)?) } else { None };
        let mut machine = plan.to_json("anabranch.replay/1", &run);
        machine["finding"] = json!(project::relative(&found.path));
        machine["same_as_found"] = json!(compared == Compared::Same);
        machine["twice"] = twice.map_or(
            Value::Null,
            |difference| json!({ "equal": difference.is_none(), "first_difference_segment": difference }),
        );
        machine["kept"] = json!(kept);
        let human = |paint: &Paint| {
            let told = told(paint, &found, compared, twice);
            let kept = kept.as_ref().map_or_else(String::new, |path| format!("  kept             {}\n", escape(path)));
            plan.human(paint, &run) + &told + &kept
        };
        screen.result(human, &machine);
        let unstable = compared == Compared::NotReproducible || matches!(twice, Some(Some(_)));
        let exits = [
            if unstable { Exit::NotReproducible } else { Exit::Done },
            if run.verdict.is_some() { Exit::Findings } else { Exit::Done },
        ];
        Ok(Exit::of(&exits))
    }

    fn compare(&self, found: &Found, seed: Seed, verdict: Option<Verdict>, ids: &[String]) -> Compared {
        let finding = &found.finding;
        let same =
            verdict.is_some_and(|v| v.tick == finding.tick && ids[usize::from(v.requirement)] == finding.requirement);
        let changed = seed.0 != finding.seed || found.loaded.hash != finding.scenario_hash;
        match (same, changed) {
            (true, _) => Compared::Same,
            (false, true) => Compared::Changed,
            (false, false) => Compared::NotReproducible,
        }
    }
}

fn told(paint: &Paint, found: &Found, compared: Compared, twice: Option<Option<usize>>) -> String {
    let finding = &found.finding;
    let expected =
        format!("`{}` on tick {} ({} s)", escape(&finding.requirement), finding.tick, short(finding.time_s, 3));
    let mut out = match compared {
        Compared::Same => format!("  as found         the same verdict on the same tick ({})\n", finding.tick),
        Compared::Changed => format!("  {}   with the scenario of then: {expected}\n", paint.yellow("not as found")),
        Compared::NotReproducible => format!("  {} it was {expected}\n", paint.red("not reproducible")),
    };
    match twice {
        None => {}
        Some(None) => out += "  twice            every base cycle and every saved state is equal\n",
        Some(Some(segment)) => {
            out += &format!("  {} the second run differs in segment {segment}\n", paint.red("not reproducible"));
        }
    }
    out
}

/// Digests every frame.
#[derive(Default)]
struct FrameDigest(DigestWriter);

impl Recorder for FrameDigest {
    fn frame(&mut self, tick: u64, values: &[f64]) {
        self.0.number(tick);
        values.iter().for_each(|value| self.0.real(*value));
    }
}

/// The first segment, from 1, in which a second run differs from the first.
fn first_difference(plan: &Plan<'_>) -> Result<Option<usize>, Failure> {
    let (first, second) = (segment_digests(plan)?, segment_digests(plan)?);
    let differ = first.iter().zip(&second).position(|(a, b)| a != b);
    let lengths = (first.len() != second.len()).then(|| first.len().min(second.len()));
    Ok(differ.or(lengths).map(|at| at + 1))
}

/// Digest of the frames and of the end state of every segment.
fn segment_digests(plan: &Plan<'_>) -> Result<Vec<(Digest, Digest)>, Fault> {
    let mut state = plan.drive.start(plan.seed, &plan.params)?;
    let mut digests = Vec::new();
    for choice in plan.whole_run() {
        let mut frames = FrameDigest::default();
        let end = plan.drive.run(&mut state, choice, &mut Watch::recording(&mut frames))?;
        digests.push((frames.0.finish(), state_digest(&state)));
        if end != SegmentEnd::Open {
            break;
        }
    }
    Ok(digests)
}

/// Copies the finding to the project; an equal file stays as it is.
fn keep(found: &Found, screen: &Screen) -> Result<String, Failure> {
    let folder = Path::new(FINDINGS);
    std::fs::create_dir_all(folder).map_err(|e| Failure::file("make", folder, &e))?;
    let path = folder.join(format!("{}-{}.toml", found.finding.scenario, found.name));
    let text = std::fs::read_to_string(&found.path).map_err(|e| Failure::file("read", &found.path, &e))?;
    let sets = found.loaded.overrides.iter().map(|(key, value)| format!("# found with --set {key}={value}\n"));
    let text = escape(&sets.collect::<String>()) + &text;
    match std::fs::read(&path) {
        Ok(there) if there != text.as_bytes() => {
            let message = format!("`{}` exists and is another finding; nothing was copied", path.display());
            return Err(Failure::input(message, "rename or remove it first"));
        }
        Ok(_) => {}
        Err(_) => anabranch_record::publish(&path, text.as_bytes())?,
    }
    if !found.loaded.overrides.is_empty() {
        screen.warn("this was found with --set; give the same --set when you replay the kept file");
    }
    Ok(path.display().to_string())
}
