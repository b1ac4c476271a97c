//! `replay` of a finding in a world: the same errors again, from the start, in a new instance.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use anabranch_bridge::{Straight, WorldSystem};
use anabranch_kernel::{Choice, Params, Recorder, Seed, SegmentEnd, System};
use anabranch_record::{CsvTrace, Finding};
use serde_json::{Value, json};

use super::Program;
use crate::errors_table::ErrorsTable;
use crate::escape::escape;
use crate::exit::Exit;
use crate::explore::subject::Subject;
use crate::failure::Failure;
use crate::numbers::short;
use crate::outside::{self, Patience};
use crate::project;
use crate::screen::{Global, Paint, Screen};
use crate::simulate::first_verdict;
use crate::verbs::replay::{Compared, Replay, told};

/// Replays a finding, if it is one of a world.
pub fn replay(verb: &Replay, global: &Global, screen: &Screen) -> Result<Option<Exit>, Failure> {
    let path = project::finding_path(&verb.reference)?;
    let finding = project::read_finding(&path)?;
    if !project::names_program(&finding) {
        return Ok(None);
    }
    refuse(verb)?;
    let program = Program::open(Path::new(&finding.scenario_file))?;
    let patience = if verb.debug { Patience::Endless } else { Patience::Usual };
    let world = program.start(1, patience)?;
    if program.hash != finding.scenario_hash {
        screen.warn(&format!("`{}` has changed since this was found; replaying anyway", finding.scenario_file));
    }
    project::check_segments(&finding, &world)?;
    let mut choices = project::in_file(&path, finding.choices(world.errors()))?;
    choices.resize(choices.len().max(world.segments_max() as usize), Choice::NONE);
    let seed = Seed(global.seed.unwrap_or(finding.seed));
    let again = Again { verb, world: &world, program: &program, finding: &finding, seed, choices };
    again.run(&path, screen).map(Some)
}

fn refuse(verb: &Replay) -> Result<(), Failure> {
    let mcap = verb.trace.as_ref().is_some_and(|path| path.extension().is_some_and(|ending| ending == "mcap"));
    let asked = [
        (verb.driver.is_some(), "--driver is about scenarios, and this finding is one of a world"),
        (!verb.sets.is_empty(), "--set is about scenarios, and this finding is one of a world"),
        (verb.keep, "--keep is for findings of scenarios; `test` does not start worlds"),
        (mcap, "a world has no scene for viewers; write the trace as CSV"),
    ];
    match asked.iter().find(|(is_asked, _)| *is_asked) {
        None => Ok(()),
        Some((_, message)) => Err(Failure::input(*message, "")),
    }
}

/// A finding on its way to be seen again.
struct Again<'a> {
    verb: &'a Replay,
    world: &'a WorldSystem,
    program: &'a Program,
    finding: &'a Finding,
    seed: Seed,
    choices: Vec<Choice>,
}

/// Everything that a run showed, to be compared.
#[derive(Default, PartialEq)]
struct Frames(Vec<(u64, Vec<u64>)>);

impl Recorder for Frames {
    fn frame(&mut self, tick: u64, values: &[f64]) {
        self.0.push((tick, values.iter().map(|value| value.to_bits()).collect()));
    }
}

impl Again<'_> {
    fn run(&self, path: &Path, screen: &Screen) -> Result<Exit, Failure> {
        let run = self.traced()?;
        let compared = self.compare(&run);
        let twice = if self.verb.twice { Some(self.first_difference()?) } else { None };
        let mut machine = self.to_json(&run);
        machine["finding"] = json!(project::relative(path));
        machine["same_as_found"] = json!(compared == Compared::Same);
        machine["twice"] = twice.map_or(
            Value::Null,
            |difference| json!({ "equal": difference.is_none(), "first_difference_segment": difference }),
        );
        screen.result(|paint| self.human(paint, &run) + &told(paint, self.finding, compared, twice), &machine);
        let unstable = compared == Compared::NotReproducible || matches!(twice, Some(Some(_)));
        let violated = matches!(run.end, SegmentEnd::Violated(_));
        Ok(Exit::of(&[
            if unstable { Exit::NotReproducible } else { Exit::Done },
            if violated { Exit::Findings } else { Exit::Done },
        ]))
    }

    fn straight(&self, recorder: Option<&mut dyn Recorder>) -> Result<Straight, Failure> {
        Ok(self.world.straight(self.seed, &Params::default(), &self.choices, recorder)?)
    }

    fn traced(&self) -> Result<Straight, Failure> {
        let Some(path) = &self.verb.trace else { return self.straight(None) };
        let refused = |e: std::io::Error| Failure::file("write", path, &e);
        let file = BufWriter::new(File::create(path).map_err(refused)?);
        let mut trace = CsvTrace::new(file, self.world.signals(), self.world.tick_s());
        let run = self.straight(Some(&mut trace as &mut dyn Recorder))?;
        trace.finish().map_err(refused)?;
        Ok(run)
    }

    fn compare(&self, run: &Straight) -> Compared {
        let violated = first_verdict(&run.end);
        let violated = violated.map(|v| (self.world.requirements()[usize::from(v.requirement)].as_str(), v.tick));
        Compared::of(self.finding, self.seed, self.program.hash, violated)
    }

    /// The first segment, from 1, in which a second run differs from a first one.
    fn first_difference(&self) -> Result<Option<usize>, Failure> {
        let look = || -> Result<(Frames, Straight), Failure> {
            let mut frames = Frames::default();
            let run = self.straight(Some(&mut frames))?;
            Ok((frames, run))
        };
        let ((first, run), (second, again)) = (look()?, look()?);
        let differs = first.0.iter().zip(&second.0).find(|(a, b)| a != b);
        let ticks = (self.world.segment_seconds() / self.world.tick_s()).round().max(1.0) as u64;
        let by_frame = differs.map(|((tick, _), _)| (tick.saturating_sub(1) / ticks) as usize + 1);
        let ends_alike = (&run.end, run.segments) == (&again.end, again.segments) && first.0.len() == second.0.len();
        let values_alike = run.state.values() == again.state.values();
        let at_the_end = (!ends_alike || !values_alike).then(|| run.segments.min(again.segments));
        Ok(by_frame.or(at_the_end))
    }

    fn human(&self, paint: &Paint, run: &Straight) -> String {
        let world = self.world;
        let verdict = first_verdict(&run.end);
        let time_s = run.segments as f64 * world.segment_seconds();
        let (name, time) = (paint.bold(&escape(world.name())), short(time_s, 3));
        let mut out = match (&run.end, verdict) {
            (SegmentEnd::Violated(_), Some(verdict)) => {
                let id = escape(&world.requirements()[usize::from(verdict.requirement)]);
                format!("{name}: {} `{id}` after {time} s\n", paint.red("violated"))
            }
            (SegmentEnd::Goal, _) => format!("{name}: {} after {time} s\n", paint.green("completed")),
            _ => format!("{name}: {} after {time} s\n", paint.green("nothing violated")),
        };
        if run.margin.is_finite() {
            out += &format!("  worst margin     {}\n", short(run.margin, 3));
        }
        out += "  errors\n";
        out += &self.table(run).human("    ");
        out += &format!("  world            {}\n", escape(&outside::world_line(world)));
        if let Some(wrong) = world.fault_at(run.state.path()) {
            out += &format!("  it said          {}\n", escape(&wrong.text.replace('\n', " ")));
        }
        if let Some(path) = &self.verb.trace {
            out += &format!("  trace            {}\n", escape(&path.display().to_string()));
        }
        out
    }

    fn table(&self, run: &Straight) -> ErrorsTable {
        ErrorsTable::of_choices(self.world.errors(), run.state.path(), self.world.segment_seconds())
    }

    fn to_json(&self, run: &Straight) -> Value {
        let (world, verdict) = (self.world, first_verdict(&run.end));
        let word = match run.end {
            SegmentEnd::Violated(_) => "violated",
            SegmentEnd::Goal => "completed",
            SegmentEnd::Open | SegmentEnd::TimedOut => "not completed",
        };
        let time_s = run.segments as f64 * world.segment_seconds();
        json!({
            "schema": "anabranch.replay/1",
            "scenario": world.name(),
            "scenario_hash": self.program.hash.to_string(),
            "program": project::relative(&self.program.path),
            "verdict": word,
            "requirement": verdict.map(|v| world.requirements()[usize::from(v.requirement)].clone()),
            "completed": run.end == SegmentEnd::Goal,
            "tick": verdict.map_or_else(|| (time_s / world.tick_s()).round() as u64, |v| v.tick),
            "time_s": time_s,
            "worst_clearance_m": null,
            "worst_margin": run.margin,
            "contact": null,
            "segments": run.segments,
            "errors": self.table(run).to_json(),
            "seed": self.seed.0,
            "trace": self.verb.trace.as_ref().map(|path| path.display().to_string()),
            "world": outside::world_json(world),
        })
    }
}
