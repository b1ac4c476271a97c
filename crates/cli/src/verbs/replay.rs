//! `replay`: a finding again, from the start, without saved states and without merging.

use std::path::{Path, PathBuf};

use anabranch_kernel::{Digest, DigestWriter, Fault, Recorder, Seed, SegmentEnd, System, Verdict, Watch, state_digest};
use anabranch_record::{Contact, ErrorRun, Finding, Kept};
use clap::Args;
use serde_json::{Value, json};

use crate::escape::escape;
use crate::exit::Exit;
use crate::explain::files::Files;
use crate::explore::world;
use crate::failure::Failure;
use crate::load::{Override, parse_override, with_driver};
use crate::numbers::short;
use crate::outside::Patience;
use crate::project::{self, FINDINGS, Found};
use crate::screen::{Global, Paint, Screen};
use crate::search::junction;
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
    /// Another driver instead of the scenario's: a built-in one by name, a file, or the address of a running one.
    #[arg(long, value_name = "FILE")]
    pub driver: Option<String>,
    /// Wait for the driver for as long as it takes, so that a person can set breakpoints in it.
    #[arg(long)]
    pub debug: bool,
    /// Change a value of the scenario, as in ego.start.y="0.1 m"; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_override)]
    pub sets: Vec<Override>,
    /// Write every signal of every base cycle: as MCAP for viewers if the name ends in .mcap, else as CSV.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
}

/// How the replay compares with the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// Same requirement on the same tick.
    Same,
    /// Something else, and the scenario was changed.
    Changed,
    /// Something else, from the same text.
    NotReproducible,
}

impl Compared {
    /// From the finding and what was run today: its seed, the digest of where it comes from, requirement and tick.
    pub fn of(finding: &Finding, seed: Seed, hash: Digest, violated: Option<(&str, u64)>) -> Self {
        let same = violated == Some((finding.requirement.as_str(), finding.tick));
        let changed = seed.0 != finding.seed || hash != finding.scenario_hash;
        match (same, changed) {
            (true, _) => Self::Same,
            (false, true) => Self::Changed,
            (false, false) => Self::NotReproducible,
        }
    }
}

impl Replay {
    /// Replays and tells how it ended.
    pub fn run(&self, global: &Global, screen: &Screen) -> Result<Exit, Failure> {
        if let Some(exit) = junction::replay(self, screen)? {
            return Ok(exit);
        }
        if let Some(exit) = world::replay(self, global, screen)? {
            return Ok(exit);
        }
        let mut found = project::find(&self.reference, &with_driver(&self.sets, self.driver.as_ref()))?;
        if self.debug {
            found.loaded.patience = Patience::Endless;
            screen.warn(&debug_hint(&found));
        }
        if let Some(warning) = &found.warning {
            screen.warn(warning);
        }
        let drive = found.loaded.drive()?;
        let plan = Plan { trace: self.trace.clone(), ..Plan::of(&found, &drive, global.seed)? };
        let run = plan.simulate()?;
        let compared = self.compare(&found, plan.seed, run.verdict, drive.requirements());
        let twice = if self.twice { Some(first_difference(&plan)?) } else { None };
        let kept = if self.keep { Some(self.keep(&found, &plan, run.verdict)?) } else { None };
        let mut machine = plan.to_json("anabranch.replay/1", &run);
        machine["finding"] = json!(project::relative(&found.path));
        machine["same_as_found"] = json!(compared == Compared::Same);
        machine["twice"] = twice.map_or(
            Value::Null,
            |difference| json!({ "equal": difference.is_none(), "first_difference_segment": difference }),
        );
        machine["kept"] = json!(kept.as_ref().map(|kept| project::relative(&kept.path)));
        let human = |paint: &Paint| {
            let told = told(paint, &found.finding, compared, twice);
            plan.human(paint, &run) + &told + &kept.as_ref().map_or_else(String::new, told_kept)
        };
        screen.result(human, &machine);
        let unstable = compared == Compared::NotReproducible || matches!(twice, Some(Some(_)));
        let exits = [
            if unstable { Exit::NotReproducible } else { Exit::Done },
            if run.verdict.is_some() { Exit::Findings } else { Exit::Done },
        ];
        Ok(Exit::of(&exits))
    }

    /// Writes the finding to the project, as this replay saw it.
    fn keep(&self, found: &Found, plan: &Plan<'_>, verdict: Option<Verdict>) -> Result<Kept, Failure> {
        let Some(verdict) = verdict else {
            let message = "nothing is violated any more, so there is nothing to keep";
            return Err(Failure::input(message, "replay it without --set, or without --keep"));
        };
        let mut finding = found.finding.clone();
        finding.scenario_file = project::relative(&found.loaded.path);
        finding.scenario_hash = found.loaded.hash;
        finding.set = found.loaded.overrides.clone();
        finding.seed = plan.seed.0;
        finding.requirement = plan.drive.requirements()[usize::from(verdict.requirement)].clone();
        finding.tick = verdict.tick;
        finding.time_s = verdict.tick as f64 * plan.drive.step_s();
        finding.contact = verdict.place.map(Contact::from);
        if finding.errors.iter().all(|run| run.matters.is_none()) {
            mark_what_matters(&mut finding, &found.path);
        }
        Ok(anabranch_record::keep(Path::new(FINDINGS), &finding)?)
    }

    fn compare(&self, found: &Found, seed: Seed, verdict: Option<Verdict>, ids: &[String]) -> Compared {
        let violated = verdict.map(|v| (ids[usize::from(v.requirement)].as_str(), v.tick));
        Compared::of(&found.finding, seed, found.loaded.hash, violated)
    }
}

/// How to stop a driver at a breakpoint.
fn debug_hint(found: &Found) -> String {
    let how = "python3 -m debugpy --listen 5678 --wait-for-client av.py, or gdb -p PID";
    match &found.loaded.spec.ego.driver.outside {
        None => "--debug: the driver is built in; there is nothing to attach to".to_owned(),
        Some(_) => format!(
            "no deadline holds. Put a breakpoint() into the driver where it listens on another terminal, or start it yourself \
             under a debugger ({how}) and name its address: --driver tcp://127.0.0.1:5555"
        ),
    }
}

/// How it compares with the file, and with itself.
pub fn told(paint: &Paint, finding: &Finding, compared: Compared, twice: Option<Option<usize>>) -> String {
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

/// Where a finding was kept.
pub fn told_kept(kept: &Kept) -> String {
    let there = if kept.is_new { "" } else { " (it was kept before)" };
    format!("  kept             {}{there}\n", escape(&project::relative(&kept.path)))
}

/// What is known about which errors matter: `explain` leaves it beside the finding, segment by segment of that finding. Its
/// smallest sequence says nothing here, because its errors can be others at other times.
pub fn mark_what_matters(finding: &mut Finding, path: &Path) {
    let Ok(text) = std::fs::read_to_string(Files::beside(path).why) else { return };
    let Ok(why) = serde_json::from_str::<Value>(&text) else { return };
    let Some(matters) = why["found"]["matters"].as_array() else { return };
    if why["scenario_hash"] != finding.scenario_hash.to_string() {
        return;
    }
    let needed: Vec<bool> = matters.iter().map(|matters| matters.as_bool().unwrap_or(false)).collect();
    let mut at = 0;
    let mut marked: Vec<ErrorRun> = Vec::new();
    for run in &finding.errors {
        for _ in 0..run.segments {
            let matters = Some(needed.get(at).copied().unwrap_or(false) && !run.modes.is_empty());
            at += 1;
            match marked.last_mut() {
                Some(last) if last.modes == run.modes && last.matters == matters => last.segments += 1,
                _ => marked.push(ErrorRun { segments: 1, matters, ..run.clone() }),
            }
        }
    }
    finding.errors = marked;
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_kernel::Digest;
    use serde_json::json;

    #[test]
    fn what_matters_is_read_from_the_explanation_of_this_finding_and_not_from_its_smallest_sequence() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("finding.toml");
        let run = |segments, mode: &str| ErrorRun {
            segments,
            modes: vec![("pull".to_owned(), mode.to_owned())],
            matters: None,
            line: 0,
        };
        let mut finding = Finding::new("pull", Digest::of(b"x"), 1.0);
        finding.errors = vec![run(2, "left"), run(1, "right")];
        // The smallest sequence has its error in the last segment, where this finding does not need one.
        let mut smallest = finding.clone();
        smallest.errors = vec![ErrorRun { modes: Vec::new(), ..run(2, "left") }, run(1, "left")];
        std::fs::write(folder.path().join("minimal.toml"), smallest.to_toml()).expect("a file");
        let marks =
            |finding: &Finding| finding.errors.iter().map(|run| (run.segments, run.matters)).collect::<Vec<_>>();
        let mut unknown = finding.clone();
        mark_what_matters(&mut unknown, &path);
        assert_eq!(marks(&unknown), [(2, None), (1, None)], "nobody has explained it");
        let why =
            |hash: Digest| json!({ "scenario_hash": hash.to_string(), "found": { "matters": [false, true, false] } });
        std::fs::write(folder.path().join("why.json"), why(Digest::of(b"y")).to_string()).expect("a file");
        mark_what_matters(&mut unknown, &path);
        assert_eq!(marks(&unknown), [(2, None), (1, None)], "it is about another scenario");
        std::fs::write(folder.path().join("why.json"), why(finding.scenario_hash).to_string()).expect("a file");
        mark_what_matters(&mut finding, &path);
        assert_eq!(marks(&finding), [(1, Some(false)), (1, Some(true)), (1, Some(false))]);
    }
}
