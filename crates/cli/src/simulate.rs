//! One simulation from the start, and how it is told.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anabranch_explore::{Replayed, replay};
use anabranch_kernel::{Choice, Digest, Params, Recorder, Seed, SegmentEnd, System, Verdict, state_digest};
use anabranch_record::CsvTrace;
use anabranch_scenario::{Drive, DriveState};
use serde_json::{Value, json};

use crate::errors_table::ErrorsTable;
use crate::escape::escape;
use crate::explore::contact;
use crate::failure::Failure;
use crate::load::Loaded;
use crate::numbers::short;
use crate::outside;
use crate::project::{self, Found};
use crate::report::trace_mcap;
use crate::screen::Paint;

/// What to simulate.
#[derive(Debug)]
pub struct Plan<'a> {
    /// The scenario as it was read.
    pub loaded: &'a Loaded,
    /// Its loop.
    pub drive: &'a Drive,
    /// Seed of all chance.
    pub seed: Seed,
    /// Start values.
    pub params: Params,
    /// Errors; after the last the run goes on without any.
    pub choices: Vec<Choice>,
    /// Where to write the signals.
    pub trace: Option<PathBuf>,
}

/// How it ended.
#[derive(Debug)]
pub struct Simulated {
    end: SegmentEnd,
    /// The first violated requirement.
    pub verdict: Option<Verdict>,
    ticks: u64,
    worst_clearance_m: f64,
    should: Vec<String>,
    digest: Digest,
    choices: Vec<Choice>,
}

impl<'a> Plan<'a> {
    /// A finding in the scenario of today, with another seed if one is given.
    pub fn of(found: &'a Found, drive: &'a Drive, seed: Option<u64>) -> Result<Self, Failure> {
        project::check_segments(&found.finding, drive)?;
        let choices = project::in_file(&found.path, found.finding.choices(drive.errors()))?;
        let params = project::params_of(&found.finding, &found.path, drive)?;
        let seed = Seed(seed.unwrap_or(found.finding.seed));
        Ok(Self { loaded: &found.loaded, drive, seed, params, choices, trace: None })
    }
}

impl Plan<'_> {
    /// Runs it.
    pub fn simulate(&self) -> Result<Simulated, Failure> {
        let choices = self.whole_run();
        let run = match &self.trace {
            None => replay(self.drive, self.seed, &self.params, &choices, None)?,
            Some(path) => self.traced(path, &choices)?,
        };
        let verdict = first_verdict(&run.end);
        let ids = self.drive.requirements();
        let mut should: Vec<String> = run.notes.iter().map(|note| ids[usize::from(note.requirement)].clone()).collect();
        should.dedup();
        let ticks = verdict.map_or(u64::from(run.state.tick), |v| v.tick);
        let digest = state_digest(&run.state);
        let choices = choices[..run.segments].to_vec();
        Ok(Simulated { end: run.end, verdict, ticks, worst_clearance_m: run.margin, should, digest, choices })
    }

    /// Runs it and writes the trace in the form that its name asks for.
    fn traced(&self, path: &Path, choices: &[Choice]) -> Result<Replayed<DriveState>, Failure> {
        let refused = |e: std::io::Error| Failure::file("write", path, &e);
        let record = |recorder: &mut dyn Recorder| replay(self.drive, self.seed, &self.params, choices, Some(recorder));
        if path.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("mcap")) {
            let mut trace = open_trace(path, self.drive)?;
            let run = record(&mut trace)?;
            trace.finish().map_err(refused)?;
            return Ok(run);
        }
        let file = BufWriter::new(File::create(path).map_err(refused)?);
        let start = self.drive.space().all().iter().position(|params| *params == self.params).unwrap_or(0);
        let mut trace = trace_mcap::begin(file, self.loaded, self.drive, start, choices)?;
        let run = record(&mut trace)?;
        if let SegmentEnd::Violated(verdicts) = &run.end {
            verdicts.iter().for_each(|verdict| trace_mcap::say(&mut trace, self.drive, verdict));
        }
        trace.finish().map_err(refused)?;
        Ok(run)
    }

    /// The errors, and none from then on until the scenario's time is over.
    pub fn whole_run(&self) -> Vec<Choice> {
        whole_run(self.drive, &self.choices)
    }

    /// For people.
    pub fn human(&self, paint: &Paint, run: &Simulated) -> String {
        let time = format!("{} s", short(run.ticks as f64 * self.drive.step_s(), 3));
        let name = paint.bold(&escape(self.drive.name()));
        let mut out = match (&run.end, &run.verdict) {
            (SegmentEnd::Violated(_), Some(verdict)) => {
                let id = escape(&self.drive.requirements()[usize::from(verdict.requirement)]);
                let place = contact::sentence(self.loaded, self.drive, verdict.place.as_ref());
                format!("{name}: {} `{id}` after {time}{place}\n", paint.red("violated"))
            }
            (SegmentEnd::Goal, _) => format!("{name}: {} after {time}\n", paint.green("manoeuvre completed")),
            _ => format!("{name}: {} after {time}\n", paint.yellow("manoeuvre not completed")),
        };
        if run.worst_clearance_m.is_finite() {
            out += &format!("  worst clearance  {} m\n", short(run.worst_clearance_m, 3));
        }
        for id in &run.should {
            out += &format!("  should           `{}` was violated (reported only)\n", escape(id));
        }
        if run.choices.iter().any(|choice| *choice != Choice::NONE) {
            out += "  errors\n";
            out += &self.table(run).human("    ");
        }
        if let Some(driver) = self.drive.foreign() {
            out += &format!("  {:<17}{}\n", driver.word(), escape(&outside::card_line(driver)));
            out += &format!("  its time         {}\n", escape(&outside::health(driver, self.loaded.patience)));
            let start = self.drive.space().all().iter().position(|params| *params == self.params).unwrap_or(0);
            if let Some(fault) = driver.fault_on(start, &run.choices) {
                out += &format!("  it said          {}\n", escape(&fault.text.replace('\n', " ")));
            }
        }
        if let Some(path) = &self.trace {
            out += &format!("  trace            {}\n", escape(&path.display().to_string()));
        }
        out
    }

    /// For machines; the caller adds what it knows.
    pub fn to_json(&self, schema: &str, run: &Simulated) -> Value {
        let id = |v: &Verdict| self.drive.requirements()[usize::from(v.requirement)].clone();
        let mut object = json!({
            "schema": schema,
            "scenario": self.drive.name(),
            "scenario_hash": self.loaded.hash.to_string(),
            "verdict": run.word(),
            "requirement": run.verdict.as_ref().map(id),
            "completed": run.end == SegmentEnd::Goal,
            "tick": run.ticks,
            "time_s": run.ticks as f64 * self.drive.step_s(),
            "worst_clearance_m": run.worst_clearance_m,
            "contact": run.verdict.and_then(|v| v.place).map(|place| contact::to_json(self.loaded, self.drive, &place)),
            "should_violated": run.should,
            "segments": run.choices.len(),
            "errors": self.table(run).to_json(),
            "state_digest": run.digest.to_string(),
            "seed": self.seed.0,
            "trace": self.trace.as_ref().map(|path| path.display().to_string()),
        });
        if let Some(driver) = self.drive.foreign() {
            object["driver"] = outside::health_json(driver);
        }
        object
    }

    fn table(&self, run: &Simulated) -> ErrorsTable {
        ErrorsTable::of_choices(self.drive.errors(), &run.choices, self.drive.segment_seconds())
    }
}

impl Simulated {
    /// *violated*, *completed* or *not completed*.
    pub fn word(&self) -> &'static str {
        match self.end {
            SegmentEnd::Violated(_) => "violated",
            SegmentEnd::Goal => "completed",
            SegmentEnd::Open | SegmentEnd::TimedOut => "not completed",
        }
    }
}

/// The errors, and none from then on until the scenario's time is over.
pub fn whole_run(drive: &Drive, choices: &[Choice]) -> Vec<Choice> {
    let mut whole = choices.to_vec();
    whole.resize(whole.len().max(drive.segments() as usize), Choice::NONE);
    whole
}

/// The first violated requirement of an end.
pub fn first_verdict(end: &SegmentEnd) -> Option<Verdict> {
    match end {
        SegmentEnd::Violated(verdicts) => verdicts.first().copied(),
        _ => None,
    }
}

fn open_trace(path: &Path, drive: &Drive) -> Result<CsvTrace<BufWriter<File>>, Failure> {
    let file = File::create(path).map_err(|e| Failure::file("write", path, &e))?;
    Ok(CsvTrace::new(BufWriter::new(file), drive.signals(), drive.step_s()))
}
