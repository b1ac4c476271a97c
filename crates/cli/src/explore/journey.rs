//! One exploration on its way: what is told, saved and confirmed, whatever it is that is explored.

use anabranch_explore::{Budget, Disk, Explorer, Outcome, Settings, Stop};
use anabranch_kernel::{Digest, DigestWriter, Seed, System};
use anabranch_record::table::Whole;
use anabranch_record::{Finding, Phase, RunFolder, RunInfo};
use anabranch_study::{Evidence, Findings, conclude};
use serde_json::json;

use super::candidates::{Candidate, Confirmed, confirmed};
use super::causes::Effort;
use super::drawing::Drawing;
use super::evidence::{Anything, Counted, beyond, evidence};
use super::facts::{Facts, Undone, Used};
use super::graph::{GraphFlag, GraphRecorder};
use super::meter::Meter;
use super::settings::Horizon;
use super::store::{LevelTrail, SpillDisk};
use super::subject::{Drawn, Explored, Extras, Subject};
use super::time_left::TimeLeft;
use super::watcher::{Pictures, Watcher};
use super::{causes, groups, hints, human, why};
use crate::failure::Failure;
use crate::interrupt;
use crate::project;
use crate::report;
use crate::screen::{Paint, Screen};
use crate::usage::{ThisSystem, Usage, WallClock};
use crate::verbs::explore::Concluded;

/// One exploration on its way.
pub struct Journey<'a, S: Subject> {
    /// Who is told.
    pub screen: &'a Screen,
    /// Where the subject comes from.
    pub source: &'a S::Source,
    /// What is explored.
    pub subject: &'a S,
    /// How.
    pub settings: Settings,
    /// How far.
    pub horizon: Horizon,
    /// Seed of all chance.
    pub seed: Seed,
    /// How many threads.
    pub threads: usize,
    /// Runs since the beginning.
    pub clock: WallClock,
    /// CPU seconds that others have used before.
    pub cpu_before_s: f64,
    /// Where everything is left.
    pub folder: RunFolder,
    /// What else is asked.
    pub wishes: S::Wishes,
}

impl<S: Subject> Journey<'_, S> {
    /// Says in the folder what the run was asked to do.
    pub fn write_info(&self) -> Result<(), Failure> {
        let mut info = RunInfo::new(self.subject.name(), S::hash(self.source), self.seed.0, std::env::args());
        let budget = &self.settings.budget;
        let until_s = f64::from(self.horizon.levels) * self.subject.segment_seconds();
        info.code = self.subject.card().and_then(|card| card.code.clone());
        info.limits.insert("until_s".to_owned(), json!(until_s));
        info.limits.insert("time_s".to_owned(), json!(budget.time_ns.map(|ns| ns as f64 * 1e-9)));
        info.limits.insert("states".to_owned(), json!(budget.states));
        info.limits.insert("memory_bytes".to_owned(), json!(budget.memory_bytes));
        self.folder.write_run(&info)?;
        S::save_source(self.source, &self.folder)
    }

    /// Explores, confirms, saves.
    pub fn travel(&self, pictures: Pictures, graph: GraphFlag) -> Result<Concluded, Failure> {
        let meter = Meter::new(self.screen, self.clock, self.horizon.levels, self.subject.segment_seconds());
        let mut watcher = Watcher::new(self.screen, &self.folder, self.clock, meter, pictures);
        watcher.graph = GraphRecorder::create(self.folder.path(), self.subject, graph)?;
        watcher.recording = self.subject.recording();
        let (mut trail, damage) = LevelTrail::recover(&self.folder.levels())?;
        if let Some(damage) = damage {
            self.screen.warn(&format!("{damage}; it and what followed is computed again"));
        }
        if trail.levels_whole() > 0 {
            self.screen.detail(&format!("going on after {} whole levels", trail.levels_whole()));
        }
        let done = S::explore(self, &mut trail, &mut watcher)
            .and_then(|explored| self.conclude(explored, &trail, &mut watcher));
        if let Err(failure) = &done {
            // What ended it is told; that it could not be noted as well is nothing new.
            let _ = watcher.finish(Phase::Failed, 0, &failure.to_string());
        }
        done
    }

    /// Digest of everything that a segment may read: what was named, and the code that it imports.
    fn identity(&self) -> Digest {
        let named = S::hash(self.source);
        let Some(code) = self.subject.card().and_then(|card| card.code.as_deref()) else { return named };
        let mut whole = DigestWriter::new();
        whole.wide(named.0);
        whole.text(code);
        whole.finish()
    }

    /// Explores the subject, or something that precedes it.
    pub fn explore_system<X: System>(
        &self,
        system: &X,
        trail: &mut LevelTrail,
        watcher: &mut Watcher<'_>,
    ) -> Result<Outcome, Failure> {
        let asked = interrupt::listen()?;
        let budget = Budget { time_ns: self.time().for_exploring_ns(), ..self.settings.budget };
        let mut disks = match self.settings.budget.memory_bytes {
            None => None,
            Some(_) => Some([SpillDisk::new_in(self.folder.path())?, SpillDisk::new_in(self.folder.path())?]),
        };
        let mut explorer = Explorer::new(system)
            .settings(Settings { budget, ..self.settings.clone() })
            .seed(self.seed)
            .threads(self.threads)
            .identity(self.identity())
            .clock(&self.clock)
            .interrupt(asked)
            .prove();
        if let Some([first, second]) = &mut disks {
            explorer = explorer.disks([first as &mut dyn Disk, second as &mut dyn Disk]);
        }
        let outcome = explorer.run_with(trail, watcher)?;
        trail.finish()?;
        if let Some(graph) = watcher.graph.take() {
            let whole = if outcome.complete() { Whole::Yes } else { Whole::No };
            graph.finish(whole, outcome.grid.as_ref())?;
        }
        Ok(outcome)
    }

    /// The time budget, and what is left of it.
    pub fn time(&self) -> TimeLeft {
        TimeLeft::new(self.clock, self.settings.budget.time_ns)
    }

    fn conclude(
        &self,
        explored: Explored,
        trail: &LevelTrail,
        watcher: &mut Watcher<'_>,
    ) -> Result<Concluded, Failure> {
        let Explored { outcome, remembered_bytes } = explored;
        let settings = self.settings.settled(&outcome);
        let time = self.time();
        let cpu_s = || ThisSystem.cpu_s().map(|cpu_s| cpu_s - self.cpu_before_s);
        let (explored_wall_s, explored_cpu_s) = (self.clock.seconds(), cpu_s());
        self.screen.detail(&format!("confirming {} findings from the start, without merging", outcome.hits.len()));
        let Confirmed { mut candidates, mut unstable, mut unconfirmed } =
            confirmed(self.subject, self.seed, &outcome, trail, (self.threads, time))?;
        let extras = match S::extras(self, &outcome, (trail, watcher), &mut candidates) {
            // What else could have been told is missing; what was found is not.
            Err(_) if self.subject.gone().is_some() || !time.looks_for_causes() => Extras::default(),
            extras => extras?,
        };
        let effort = Effort { explored: outcome.progress.segments, time, threads: self.threads };
        let (groups, causes, taken_out) = self.grouped(&candidates, effort)?;
        let mut undone = Undone { likelihood: extras.is_likelihood_missing, ..Undone::of(&taken_out) };
        unstable.extend(taken_out.unstable);
        unstable.extend(self.subject.differences());
        let (beyond, beyond_unconfirmed) = beyond(&outcome, Anything::of(groups.len()));
        unconfirmed += taken_out.unconfirmed + beyond_unconfirmed;
        self.subject.write_faults(self.source, &self.folder, self.seed)?;
        let used = Used {
            wall_s: self.clock.seconds(),
            explored_wall_s,
            explored_cpu_s,
            cpu_s: cpu_s(),
            peak_rss_bytes: ThisSystem.peak_rss_bytes(),
        };
        let drawing = std::mem::take(&mut watcher.drawing);
        // Who pressed Ctrl-C waits for what must be saved, not for pictures of a part; resuming draws them.
        undone.pictures = watcher.wants_pictures() && !time.draws();
        let findings = self.found(&groups, beyond);
        let counted = Counted { findings, unstable: &unstable, unconfirmed, cut_short: time.stop() };
        let evidence = evidence(self.subject, (&settings, self.horizon), &outcome, counted);
        let conclusion = conclude(&evidence);
        let mut facts = Facts {
            loaded: self.source,
            drive: self.subject,
            settings: &settings,
            horizon: self.horizon,
            seed: self.seed,
            outcome: &outcome,
            groups: &groups,
            causes,
            undone,
            unstable: &unstable,
            evidence,
            conclusion,
            used,
            run: project::relative(self.folder.path()),
            likely: extras.likely,
            spared: extras.spared,
            remembered_bytes,
            hints: Vec::new(),
        };
        facts.hints = hints::of(&facts, &self.asked()?);
        if watcher.wants_pictures() && !facts.undone.pictures {
            self.draw(&mut facts, drawing, time)?;
        }
        self.publish(facts, watcher)
    }

    /// Findings by cause, saved and explained.
    fn grouped(
        &self,
        candidates: &[Candidate],
        effort: Effort,
    ) -> Result<(Vec<groups::Group>, causes::Summary, groups::TakenOut), Failure> {
        self.screen.detail("looking for causes");
        let (mut groups, causes) = causes::groups(self.subject, self.seed, candidates, effort)?;
        self.screen.detail("writing findings");
        let taken_out = groups::save(&mut groups, &self.folder, self.source, self.subject, (self.seed, effort.time))?;
        self.screen.detail("explaining causes");
        why::tell(&mut groups, self.subject, self.seed, (self.threads, effort.time))?;
        Ok((groups, causes, taken_out))
    }

    /// Draws pictures while there is time.
    fn draw(&self, facts: &mut Facts<'_, S>, drawing: Drawing, time: TimeLeft) -> Result<(), Failure> {
        self.screen.detail("drawing pictures");
        let drawn = S::draw(facts, drawing, &self.folder, time)?;
        facts.undone.pictures = drawn == Drawn::InPart;
        // Ctrl-C may come as late as this, and gives its exit code all the same.
        let interrupted = time.stop().filter(|stop| *stop == Stop::Interrupted);
        facts.evidence.cut_short = facts.evidence.cut_short.take().or(interrupted.map(Into::into));
        Ok(())
    }

    /// What was asked, for hints.
    fn asked(&self) -> Result<hints::Asked, Failure> {
        let mut source = Finding::new(self.subject.name(), S::hash(self.source), self.subject.segment_seconds());
        S::name_source(self.source, &mut source);
        let typed = hints::Typed::of(&self.folder.read_run()?.command, &source);
        let is_measured = self.settings.merge.is_measured();
        let cells = if is_measured { hints::CellsFrom::Measuring } else { hints::CellsFrom::Writing };
        Ok(hints::Asked { typed, cells })
    }

    /// Writes the result where it stays, and says it.
    fn publish(&self, facts: Facts<'_, S>, watcher: &mut Watcher<'_>) -> Result<Concluded, Failure> {
        let machine = facts.to_json();
        self.folder.publish_json("result.json", &machine)?;
        watcher.finish(phase(&facts.evidence, facts.outcome), facts.findings(), facts.conclusion.word())?;
        report::write(&self.folder)?;
        let human = human::text(&facts, &Paint(self.screen.out));
        let (exit, conclusion) = (facts.exit(), facts.conclusion);
        Ok(Concluded { exit, conclusion, machine, human, trouble: None })
    }

    /// What was confirmed. What did not come out the same way again has lost its group, and counts no more.
    fn found(&self, groups: &[groups::Group], beyond: u64) -> Findings {
        let is_fault = |group: &&groups::Group| self.subject.is_fault(group.first.verdict.requirement);
        let faults = groups.iter().filter(is_fault).map(|group| group.count as u64).sum();
        Findings { sequences: groups.iter().map(|group| group.count as u64).sum::<u64>() + beyond, faults }
    }
}

fn phase(evidence: &Evidence, outcome: &Outcome) -> Phase {
    match outcome.stop {
        Some(Stop::Interrupted) => Phase::Interrupted,
        _ if evidence.cut_short == Some(anabranch_study::Stop::Interrupted) => Phase::Interrupted,
        _ if evidence.unconfirmed > 0 && evidence.findings.sequences == 0 => Phase::Incomplete,
        Some(Stop::FirstFinding) => Phase::Done,
        _ if outcome.complete() => Phase::Done,
        _ => Phase::Incomplete,
    }
}
