//! `replay` of a finding in a world: the same errors again, from the start, in a new instance.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use anabranch_bridge::{Straight, WorldSystem};
use anabranch_kernel::{Choice, Params, Recorder, SegmentEnd, System};
use anabranch_record::{CsvTrace, Kept};
use serde_json::{Value, json};

use super::found::FoundInWorld;
use crate::errors_table::ErrorsTable;
use crate::escape::escape;
use crate::exit::Exit;
use crate::explore::subject::Subject;
use crate::failure::Failure;
use crate::numbers::short;
use crate::outside::{self, Patience};
use crate::project::{self, FINDINGS};
use crate::screen::{Global, Paint, Screen};
use crate::simulate::first_verdict;
use crate::verbs::replay::{Compared, Replay, mark_what_matters, told, told_kept};
use crate::verbs::test::Again as KeptAgain;

/// Replays a finding, if it is one of a world.
pub fn replay(verb: &Replay, global: &Global, screen: &Screen) -> Result<Option<Exit>, Failure> {
    let patience = if verb.debug { Patience::Endless } else { Patience::Usual };
    let Some(found) = FoundInWorld::open(&verb.reference, global, patience)? else { return Ok(None) };
    refuse(verb)?;
    if let Some(warning) = found.warning() {
        screen.warn(&warning);
    }
    let again = Again { verb, found: &found, choices: found.whole_run() };
    again.run(screen).map(Some)
}

/// A kept finding with the world of today, for `test`: what the run gave, and what it violated.
pub fn replay_kept(file: &Path, global: &Global) -> Result<Option<KeptAgain>, Failure> {
    let Some(found) = FoundInWorld::open(&file.display().to_string(), global, Patience::Usual)? else {
        return Ok(None);
    };
    let run = found.world.straight(found.seed, &Params::default(), &found.whole_run(), None)?;
    let violated = found.violated(&run.end).map(|(id, _)| id.to_owned());
    let run = to_json(&found, &run, None);
    Ok(Some(KeptAgain { hash: found.program.hash, finding: found.finding, run, violated }))
}

fn refuse(verb: &Replay) -> Result<(), Failure> {
    let mcap = verb.trace.as_ref().is_some_and(|path| path.extension().is_some_and(|ending| ending == "mcap"));
    let asked = [
        (verb.driver.is_some(), "--driver is about scenarios, and this finding is one of a world"),
        (!verb.sets.is_empty(), "--set is about scenarios, and this finding is one of a world"),
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
    found: &'a FoundInWorld,
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
    fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        let run = self.traced()?;
        let compared = self.compare(&run);
        let twice = if self.verb.twice { Some(self.first_difference()?) } else { None };
        let kept = if self.verb.keep { Some(self.keep(&run)?) } else { None };
        let mut machine = to_json(self.found, &run, self.verb.trace.as_deref());
        machine["finding"] = json!(project::relative(&self.found.path));
        machine["kept"] = json!(kept.as_ref().map(|kept| project::relative(&kept.path)));
        machine["same_as_found"] = json!(compared == Compared::Same);
        machine["twice"] = twice.map_or(
            Value::Null,
            |difference| json!({ "equal": difference.is_none(), "first_difference_segment": difference }),
        );
        let human = |paint: &Paint| {
            let told = told(paint, &self.found.finding, compared, twice);
            self.human(paint, &run) + &told + &kept.as_ref().map_or_else(String::new, told_kept)
        };
        screen.result(human, &machine);
        let unstable = compared == Compared::NotReproducible || matches!(twice, Some(Some(_)));
        let violated = matches!(run.end, SegmentEnd::Violated(_));
        Ok(Exit::of(&[
            if unstable { Exit::NotReproducible } else { Exit::Done },
            if violated { Exit::Findings } else { Exit::Done },
        ]))
    }

    /// Writes the finding to the project, as this replay saw it.
    fn keep(&self, run: &Straight) -> Result<Kept, Failure> {
        let found = self.found;
        let Some((requirement, tick)) = found.violated(&run.end) else {
            let message = "nothing is violated any more, so there is nothing to keep";
            return Err(Failure::input(message, "replay it without --keep"));
        };
        let mut finding = found.finding.clone();
        finding.scenario_hash = found.program.hash;
        finding.seed = found.seed.0;
        finding.requirement = requirement.to_owned();
        (finding.tick, finding.time_s) = (tick, tick as f64 * found.world.tick_s());
        if finding.errors.iter().all(|run| run.matters.is_none()) {
            mark_what_matters(&mut finding, &found.path);
        }
        Ok(anabranch_record::keep(Path::new(FINDINGS), &finding)?)
    }

    fn straight(&self, recorder: Option<&mut dyn Recorder>) -> Result<Straight, Failure> {
        Ok(self.found.world.straight(self.found.seed, &Params::default(), &self.choices, recorder)?)
    }

    fn traced(&self) -> Result<Straight, Failure> {
        let Some(path) = &self.verb.trace else { return self.straight(None) };
        let refused = |e: std::io::Error| Failure::file("write", path, &e);
        let file = BufWriter::new(File::create(path).map_err(refused)?);
        let mut trace = CsvTrace::new(file, self.found.world.signals(), self.found.world.tick_s());
        let run = self.straight(Some(&mut trace as &mut dyn Recorder))?;
        trace.finish().map_err(refused)?;
        Ok(run)
    }

    fn compare(&self, run: &Straight) -> Compared {
        let found = self.found;
        Compared::of(&found.finding, found.seed, found.program.hash, found.violated(&run.end))
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
        let world = &self.found.world;
        let ticks = (world.segment_seconds() / world.tick_s()).round().max(1.0) as u64;
        let by_frame = differs.map(|((tick, _), _)| (tick.saturating_sub(1) / ticks) as usize + 1);
        let ends_alike = (&run.end, run.segments) == (&again.end, again.segments) && first.0.len() == second.0.len();
        let values_alike = run.state.values() == again.state.values();
        let at_the_end = (!ends_alike || !values_alike).then(|| run.segments.min(again.segments));
        Ok(by_frame.or(at_the_end))
    }

    fn human(&self, paint: &Paint, run: &Straight) -> String {
        let world = &self.found.world;
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
        out += &table(world, run).human("    ");
        out += &format!("  world            {}\n", escape(&outside::world_line(world)));
        if let Some(wrong) = world.fault_at(run.state.path()) {
            out += &format!("  it said          {}\n", escape(&wrong.text.replace('\n', " ")));
        }
        if let Some(path) = &self.verb.trace {
            out += &format!("  trace            {}\n", escape(&path.display().to_string()));
        }
        out
    }
}

fn table(world: &WorldSystem, run: &Straight) -> ErrorsTable {
    ErrorsTable::of_choices(world.errors(), run.state.path(), world.segment_seconds())
}

/// What a run gave, for machines.
fn to_json(found: &FoundInWorld, run: &Straight, trace: Option<&Path>) -> Value {
    let (world, verdict) = (&found.world, first_verdict(&run.end));
    let word = match run.end {
        SegmentEnd::Violated(_) => "violated",
        SegmentEnd::Goal => "completed",
        SegmentEnd::Open | SegmentEnd::TimedOut => "not completed",
    };
    let time_s = run.segments as f64 * world.segment_seconds();
    json!({
        "schema": "anabranch.replay/1",
        "scenario": world.name(),
        "scenario_hash": found.program.hash.to_string(),
        "program": project::relative(&found.program.path),
        "verdict": word,
        "requirement": verdict.map(|v| world.requirements()[usize::from(v.requirement)].clone()),
        "completed": run.end == SegmentEnd::Goal,
        "tick": verdict.map_or_else(|| (time_s / world.tick_s()).round() as u64, |v| v.tick),
        "time_s": time_s,
        "worst_clearance_m": null,
        "worst_margin": run.margin,
        "contact": null,
        "segments": run.segments,
        "errors": table(world, run).to_json(),
        "seed": found.seed.0,
        "trace": trace.map(|path| path.display().to_string()),
        "world": outside::world_json(world),
    })
}
