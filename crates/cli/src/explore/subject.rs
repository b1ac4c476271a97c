//! What can be explored from the command line: a scenario's loop, or a whole world from outside.

use std::fmt::Debug;
use std::io::Cursor;
use std::path::Path;

use anabranch_bridge::{Card, Kind};
use anabranch_errors::Sequences;
use anabranch_explore::probability::Asked;
use anabranch_explore::{Outcome, Recording, Remembering, Settings, Stop, replay};
use anabranch_kernel::{Choice, Digest, Fault, Params, Place, Recorder, Seed, SegmentEnd, System};
use anabranch_record::{CsvTrace, Finding, RunFolder, publish};
use anabranch_scenario::Drive;
use anabranch_scenario::drive::foreign::{ForeignDriver, Merging};
use anabranch_study::Musts;
use serde_json::Value;

use super::candidates::Candidate;
use super::contact::{self, Sector};
use super::drawing::Drawing;
use super::evidence::is_cut_off;
use super::facts::Facts;
use super::journey::Journey;
use super::probability::{self, Likely, Wanted};
use super::settings::Horizon;
use super::since::{Before, Keeper, Spared};
use super::store::LevelTrail;
use super::time_left::TimeLeft;
use super::watcher::Watcher;
use super::{human, pictures};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::load::Loaded;
use crate::outside::{self, Unstable};
use crate::project;
use crate::report::trace_mcap;
use crate::screen::Paint;

/// What the explorer found, and how much it left for a later run.
pub struct Explored {
    /// What it found.
    pub outcome: Outcome,
    /// Bytes of segments for a later run.
    pub remembered_bytes: Option<u64>,
}

/// What only some subjects can tell.
#[derive(Debug, Default)]
pub struct Extras {
    /// How likely failures are.
    pub likely: Option<Likely>,
    /// What an earlier run spared this one.
    pub spared: Option<Spared>,
    /// Whether there was no time to say how likely failures are.
    pub is_likelihood_missing: bool,
}

/// What the smallest margin of a subject is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Margin {
    /// `clearance`.
    pub name: &'static str,
    /// With a space before it; empty where nobody said.
    pub unit: &'static str,
}

/// The memory of code from outside, where states are compared by the whole of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeMemory {
    /// The variable that it is.
    pub variable: String,
    /// Whose memory it is, in a word.
    pub whose: &'static str,
    /// How that code would name the attributes that count.
    pub example: &'static str,
}

/// Whether all pictures were drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// They were.
    All,
    /// There was no time for some.
    InPart,
}

/// A system that a person can explore, and what is said about it.
pub trait Subject: System + Sized {
    /// Where it comes from.
    type Source: Debug;
    /// What else can be asked about it.
    type Wishes;
    /// What people call its source.
    const NOUN: &'static str;
    /// What its smallest margin is called.
    const MARGIN: Margin;
    /// Whether `--set` changes it.
    const IS_SCENARIO: bool = false;

    /// Its name.
    fn name(&self) -> &str;
    /// Seconds of a base cycle.
    fn step_s(&self) -> f64;
    /// Segments until a run is over.
    fn segments(&self) -> u32;
    /// Digest of everything it comes from.
    fn hash(source: &Self::Source) -> Digest;
    /// Leaves its source in the folder of the run, which then is the last one.
    fn save_source(source: &Self::Source, folder: &RunFolder) -> Result<(), Failure>;
    /// Says in a finding where it comes from.
    fn name_source(source: &Self::Source, finding: &mut Finding);
    /// Commands that show a finding again.
    fn commands(source: &Self::Source, finding: &Path) -> Vec<String>;

    /// Whether there is anything to judge, and whether runs that were cut off judged all of it.
    fn musts(&self, horizon: Horizon, outcome: &Outcome) -> Musts;
    /// Limits of its error model, in words.
    fn error_limits(&self) -> Vec<String>;
    /// How many error sequences of so many segments it has, from one start.
    fn sequences(&self, segments: u32) -> Sequences {
        Sequences { count: (self.errors().len() as f64).powi(segments as i32), is_exact: true }
    }
    /// How many it would have with errors in at most so many segments of a run; nothing where nobody can ask for that.
    fn sequences_with(&self, segments: u32, per_run: u16) -> Option<Sequences> {
        let _ = (segments, per_run);
        None
    }

    /// What code from outside says of itself, where some takes part.
    fn card(&self) -> Option<&Card> {
        None
    }
    /// The memory of code from outside, where states are compared by the whole of it.
    fn whole_memory(&self) -> Option<WholeMemory> {
        None
    }
    /// Whether code from outside takes part, so that a second answer may differ from the first.
    fn is_outside(&self) -> bool;
    /// Why code from outside is gone for good, if it is.
    fn gone(&self) -> Option<Fault> {
        None
    }
    /// The kind of misbehaviour behind a requirement.
    fn kind_of(&self, requirement: u16) -> Option<Kind>;
    /// Whether a verdict is about a fault of the code under test, not about a requirement.
    fn is_fault(&self, requirement: u16) -> bool {
        self.kind_of(requirement).is_some()
    }
    /// What code from outside did wrong on a path, in its words.
    fn fault_text(&self, start: usize, choices: &[Choice]) -> Option<String>;
    /// What code from outside answered otherwise when it was asked a second time.
    fn differences(&self) -> Vec<Unstable> {
        Vec::new()
    }
    /// What is not compared when states are merged, apart from variables that were ignored on purpose; nothing where
    /// everything is.
    fn not_compared(&self) -> Option<String> {
        None
    }
    /// Why merged states went apart, where they differ in what is not compared.
    fn parted(&self) -> Option<String> {
        None
    }
    /// Leaves the evidence of all misbehaviour in the folder of the run.
    fn write_faults(&self, source: &Self::Source, folder: &RunFolder, seed: Seed) -> Result<(), Failure>;

    /// Runs a path from the start; says how it ended and after how many segments.
    fn run_from_start(
        &self,
        seed: Seed,
        params: &Params,
        choices: &[Choice],
        recorder: Option<&mut dyn Recorder>,
    ) -> Result<(SegmentEnd, usize), Fault>;

    /// The part of the car that a place is at, where there is a car.
    fn sector(&self, place: &Place) -> Option<Sector> {
        let _ = place;
        None
    }
    /// A place in words; empty where there is none.
    fn place_words(&self, source: &Self::Source, place: Option<&Place>) -> String {
        let _ = (source, place);
        String::new()
    }
    /// A place for machines.
    fn place_json(&self, source: &Self::Source, place: &Place) -> Value {
        let _ = (source, place);
        Value::Null
    }

    /// Keeps the whole graph, where somebody needs it.
    fn recording(&self) -> Option<Recording> {
        None
    }
    /// Explores it.
    fn explore(
        journey: &Journey<'_, Self>,
        trail: &mut LevelTrail,
        watcher: &mut Watcher<'_>,
    ) -> Result<Explored, Failure> {
        let outcome = journey.explore_system(journey.subject, trail, watcher)?;
        Ok(Explored { outcome, remembered_bytes: None })
    }
    /// What else can be told; new findings are added to the candidates.
    fn extras(
        journey: &Journey<'_, Self>,
        outcome: &Outcome,
        seen: (&LevelTrail, &mut Watcher<'_>),
        candidates: &mut Vec<Candidate>,
    ) -> Result<Extras, Failure> {
        let _ = (journey, outcome, seen, candidates);
        Ok(Extras::default())
    }
    /// Draws its pictures, if it has any, as long as there is time.
    fn draw(facts: &Facts<'_, Self>, drawing: Drawing, folder: &RunFolder, time: TimeLeft) -> Result<Drawn, Failure> {
        let _ = (facts, drawing, folder, time);
        Ok(Drawn::All)
    }
    /// Further traces of a finding beside the one of all signals.
    fn write_traces(
        &self,
        source: &Self::Source,
        candidate: &Candidate,
        seed: Seed,
        folder: &Path,
    ) -> Result<(), Failure> {
        let _ = (source, candidate, seed, folder);
        Ok(())
    }
    /// More text between findings and summary.
    fn text(facts: &Facts<'_, Self>, paint: &Paint) -> String {
        let _ = (facts, paint);
        String::new()
    }
    /// More rows of the summary.
    fn rows(facts: &Facts<'_, Self>) -> Vec<(&'static str, String)>;
    /// More for machines.
    fn add_to(facts: &Facts<'_, Self>, object: &mut Value);
}

/// A trace of all signals of a path.
pub fn trace<S: Subject>(subject: &S, candidate: &Candidate, seed: Seed) -> Result<Vec<u8>, Failure> {
    let mut trace = CsvTrace::new(Vec::new(), subject.signals(), subject.step_s());
    let params = &subject.space().all()[candidate.start];
    subject.run_from_start(seed, params, &candidate.choices, Some(&mut trace as &mut dyn Recorder))?;
    trace.finish().map_err(|e| Failure::file("write", Path::new("trace.csv"), &e))
}

/// Whether segments are left for a later run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// They are.
    Segments,
    /// They are not.
    Nothing,
}

/// What else can be asked about the loop of a scenario.
pub struct Wishes {
    /// How likely failures are.
    pub wanted: Wanted,
    /// An earlier run.
    pub before: Option<Before>,
    /// Whether segments are left for a later run.
    pub keeps: Keeps,
}

impl Subject for Drive {
    type Source = Loaded;
    type Wishes = Wishes;
    const NOUN: &'static str = "scenario";
    const MARGIN: Margin = Margin { name: "clearance", unit: " m" };
    const IS_SCENARIO: bool = true;

    fn name(&self) -> &str {
        Drive::name(self)
    }
    fn step_s(&self) -> f64 {
        Drive::step_s(self)
    }
    fn segments(&self) -> u32 {
        Drive::segments(self)
    }
    fn hash(source: &Loaded) -> Digest {
        source.hash
    }
    fn save_source(source: &Loaded, folder: &RunFolder) -> Result<(), Failure> {
        project::save_scenario(folder, source)
    }
    fn name_source(source: &Loaded, finding: &mut Finding) {
        finding.scenario_file = project::relative(&source.path);
        finding.set = source.overrides.clone();
    }
    fn commands(source: &Loaded, finding: &Path) -> Vec<String> {
        human::commands_of_scenario(source, finding)
    }
    fn musts(&self, horizon: Horizon, outcome: &Outcome) -> Musts {
        if !self.requirement_list().has_must() {
            return Musts::Missing("the scenario has no [[must]], so no run can violate anything".to_owned());
        }
        let open = if is_cut_off(horizon, outcome) { self.not_judged_within(horizon.levels) } else { Vec::new() };
        if open.is_empty() { Musts::Judged } else { Musts::NotJudged(open.into_iter().map(str::to_owned).collect()) }
    }
    fn error_limits(&self) -> Vec<String> {
        Drive::error_limits(self)
    }
    fn sequences(&self, segments: u32) -> Sequences {
        Drive::sequences(self, segments)
    }
    fn sequences_with(&self, segments: u32, per_run: u16) -> Option<Sequences> {
        Drive::sequences_with(self, segments, per_run)
    }
    fn card(&self) -> Option<&Card> {
        self.foreign().map(ForeignDriver::card)
    }
    fn whole_memory(&self) -> Option<WholeMemory> {
        let code = self.foreign().filter(|code| matches!(code.merging(), Merging::Bytes | Merging::Off))?;
        let (variable, whose) = (format!("{}_memory", code.word()), code.word());
        Some(WholeMemory { variable, whose, example: "key = {\"integral\": 0.02}" })
    }
    fn is_outside(&self) -> bool {
        self.foreign().is_some()
    }
    fn gone(&self) -> Option<Fault> {
        self.foreign().and_then(ForeignDriver::gone)
    }
    fn kind_of(&self, requirement: u16) -> Option<Kind> {
        self.foreign().and_then(|driver| driver.kind_of(requirement))
    }
    fn is_fault(&self, requirement: u16) -> bool {
        Drive::is_fault(self, requirement)
    }
    fn fault_text(&self, start: usize, choices: &[Choice]) -> Option<String> {
        Some(self.foreign()?.fault_on(start, choices)?.text)
    }
    fn differences(&self) -> Vec<Unstable> {
        let all = self.foreign().map_or_else(Vec::new, ForeignDriver::differences);
        all.into_iter().map(|(start, choices, text)| Unstable { start, choices, text }).collect()
    }
    fn not_compared(&self) -> Option<String> {
        self.foreign().and_then(ForeignDriver::not_compared)
    }
    fn write_faults(&self, source: &Loaded, folder: &RunFolder, seed: Seed) -> Result<(), Failure> {
        outside::write_faults(folder, source, self, seed.0).map(|_| ())
    }
    fn run_from_start(
        &self,
        seed: Seed,
        params: &Params,
        choices: &[Choice],
        recorder: Option<&mut dyn Recorder>,
    ) -> Result<(SegmentEnd, usize), Fault> {
        replay(self, seed, params, choices, recorder).map(|run| (run.end, run.segments))
    }
    fn sector(&self, place: &Place) -> Option<Sector> {
        Some(contact::sector(self, place))
    }
    fn place_words(&self, source: &Loaded, place: Option<&Place>) -> String {
        contact::sentence(source, self, place)
    }
    fn place_json(&self, source: &Loaded, place: &Place) -> Value {
        contact::to_json(source, self, place)
    }
    fn recording(&self) -> Option<Recording> {
        Wanted::recording(self)
    }

    fn explore(
        journey: &Journey<'_, Self>,
        trail: &mut LevelTrail,
        watcher: &mut Watcher<'_>,
    ) -> Result<Explored, Failure> {
        let keeper = match journey.wishes.keeps {
            Keeps::Segments => Some(Keeper::open(&journey.folder, journey.subject)?),
            Keeps::Nothing => None,
        };
        let mut system = Remembering::new(journey.subject);
        if let Some(since) = journey.wishes.before.as_ref().and_then(Before::since) {
            system = system.since(since);
        }
        if let Some(keeper) = &keeper {
            system = system.keeping(keeper);
        }
        let outcome = journey.explore_system(&system, trail, watcher)?;
        if let Some(fault) = system.broken() {
            let (exit, help) = (Exit::Bug, "explore without --since, and please send us the scenario".to_owned());
            return Err(Failure::Plain { exit, message: fault.to_string(), help });
        }
        let remembered_bytes = keeper.map(Keeper::finish).transpose()?;
        Ok(Explored { outcome, remembered_bytes })
    }

    fn extras(
        journey: &Journey<'_, Self>,
        outcome: &Outcome,
        (trail, watcher): (&LevelTrail, &mut Watcher<'_>),
        candidates: &mut Vec<Candidate>,
    ) -> Result<Extras, Failure> {
        let (drive, seed) = (journey.subject, journey.seed);
        let recording = watcher.recording.take();
        let is_wanted = recording.is_some();
        let graph = recording.filter(|_| outcome.stop != Some(Stop::Interrupted));
        let likely = graph
            .map(|graph| likely(journey, &journey.settings.settled(outcome), &graph, candidates))
            .transpose()?
            .flatten();
        let is_likelihood_missing = is_wanted && likely.is_none();
        let before = journey.wishes.before.as_ref();
        let spared = before.map(|before| before.spared(drive, seed, &outcome.progress, trail)).transpose()?;
        Ok(Extras { likely, spared, is_likelihood_missing })
    }
    fn draw(facts: &Facts<'_, Self>, drawing: Drawing, folder: &RunFolder, time: TimeLeft) -> Result<Drawn, Failure> {
        pictures::draw(facts, drawing, folder, time)
    }
    fn write_traces(&self, source: &Loaded, candidate: &Candidate, seed: Seed, folder: &Path) -> Result<(), Failure> {
        let mut trace = trace_mcap::begin(Cursor::new(Vec::new()), source, self, candidate.start, &candidate.choices)?;
        let params = &self.space().all()[candidate.start];
        replay(self, seed, params, &candidate.choices, Some(&mut trace as &mut dyn Recorder))?;
        trace_mcap::say(&mut trace, self, &candidate.verdict);
        let bytes = trace.finish().map_err(|e| Failure::file("write", Path::new("trace.mcap"), &e))?;
        Ok(publish(&folder.join("trace.mcap"), &bytes.into_inner())?)
    }
    fn text(facts: &Facts<'_, Self>, paint: &Paint) -> String {
        probability::most_likely(facts, paint)
    }
    fn rows(facts: &Facts<'_, Self>) -> Vec<(&'static str, String)> {
        human::rows_of_scenario(facts)
    }
    fn add_to(facts: &Facts<'_, Self>, object: &mut Value) {
        if let Some(driver) = facts.drive.foreign() {
            object["driver"] = outside::health_json(driver);
        }
        if let Some(likely) = &facts.likely {
            object["probability"] = probability::to_json(facts, likely);
        }
        if let Some(spared) = &facts.spared {
            spared.add_to(object, facts.drive);
        }
    }
}

/// How likely failures are; those that were not known become findings.
fn likely(
    journey: &Journey<'_, Drive>,
    settings: &Settings,
    graph: &Recording,
    candidates: &mut Vec<Candidate>,
) -> Result<Option<Likely>, Failure> {
    let Wanted { samples, most_likely } = journey.wishes.wanted;
    let (seed, threads) = (journey.seed, journey.threads);
    let asked = Asked { settings, seed, threads, samples, most_likely };
    let candidates = (candidates, journey.time());
    let found = probability::compute(journey.screen, journey.subject, graph, &asked, candidates)?;
    found.map(|found| probability::save(found, &journey.folder, journey.source, journey.subject, &asked)).transpose()
}
