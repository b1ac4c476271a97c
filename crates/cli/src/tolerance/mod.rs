//! The tolerance map: how large may each error be without any reachable failure? The number for a specification.

mod channel;
mod search;

use anabranch_kernel::units::Dimension;
use anabranch_record::picture::{Mark, TolerancePanel, png, tolerance_plot};
use serde_json::{Value, json};

use crate::escape::escape;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::load::{Assembled, Loaded, no_path};
use crate::numbers::{duration, grouped, short};
use crate::project;
use crate::screen::{Global, Paint, Screen, Talk, print_err};
use crate::suite::quick::{evaluate, folder};
use crate::usage::WallClock;
use crate::verbs::explore::Explore;
use channel::{Channel, channels};
use search::{Sample, Tolerance, search};

/// Pixels per pixel of the SVG.
const SCALE: f32 = 1.5;
/// Digits of a size that people see.
const DIGITS: usize = 4;

/// Measures the tolerance of the channels that were asked for.
pub fn explore(verb: &Explore, asked: &[String], global: &Global, screen: &Screen) -> Result<Exit, Failure> {
    let clock = WallClock::start();
    let mut loaded = verb.load(&verb.scenario, &verb.whole.overrides()?)?;
    let spec = loaded.spec.clone();
    let chosen = choose(&channels(&spec), asked)?;
    let mut found = Vec::new();
    for channel in &chosen {
        let tolerance = search(channel, |size| {
            loaded.spec = channel.apply(&spec, size);
            let sample = sample(verb, &loaded, size, global)?;
            tell_progress(screen, channel, &sample);
            Ok(sample)
        });
        found.push(tolerance?);
    }
    loaded.spec = spec;
    let folder = folder(&loaded, "tolerance", global)?;
    let name = &loaded.spec.name.value;
    let svg = tolerance_plot(&format!("{name}: tolerated error sizes"), &found.iter().map(panel).collect::<Vec<_>>());
    folder.publish("tolerance.svg", svg.as_bytes())?;
    folder.publish("tolerance.png", &png(&svg, SCALE)?)?;
    let run = project::relative(folder.path());
    let machine = to_json(name, &found, clock.seconds(), &run);
    folder.publish_json("tolerance.json", &machine)?;
    screen.result(|paint| human(name, &found, clock.seconds(), &run, paint), &machine);
    Ok(if found.iter().any(|tolerance| tolerance.has_gap) { Exit::Incomplete } else { Exit::Done })
}

/// `all`, the id of an error, `estimate-jump.radius`, or a whole path.
fn choose(known: &[Channel], asked: &[String]) -> Result<Vec<Channel>, Failure> {
    let mut chosen: Vec<Channel> = Vec::new();
    for text in asked {
        let id = format!("{text}.");
        let is_meant = |c: &&Channel| text == "all" || c.name == *text || c.path == *text || c.name.starts_with(&id);
        let meant: Vec<&Channel> = known.iter().filter(is_meant).collect();
        if meant.is_empty() {
            let names: Vec<&str> = known.iter().map(|channel| channel.name.as_str()).collect();
            let names = if names.is_empty() { "no error with a size".to_owned() } else { names.join(", ") };
            let message = format!("--tolerance: there is no error size `{text}`");
            return Err(Failure::input(message, format!("this scenario has {names}; `all` are all of them")));
        }
        for channel in meant {
            if !chosen.contains(channel) {
                chosen.push(channel.clone());
            }
        }
    }
    Ok(chosen)
}

fn sample(verb: &Explore, loaded: &Loaded, size: f64, global: &Global) -> Result<Sample, Failure> {
    let drive = match loaded.assemble()? {
        Assembled::Drive(drive) => drive,
        Assembled::NoPath(why) => return Err(no_path(&why)),
    };
    let quick = evaluate(verb, loaded, &drive, global)?;
    if quick.exit == Exit::Interrupted {
        let message = "interrupted; a tolerance that is not finished is none".to_owned();
        return Err(Failure::Plain { exit: Exit::Interrupted, message, help: String::new() });
    }
    let (worst_clearance_m, segments) = (quick.worst_clearance_m, quick.segments);
    Ok(Sample { size, conclusion: quick.conclusion, worst_clearance_m, segments })
}

fn tell_progress(screen: &Screen, channel: &Channel, sample: &Sample) {
    if screen.talk >= Talk::Usual {
        print_err(&format!(
            "{} {}: {}\n",
            escape(&channel.name),
            sized(channel, sample.size),
            sample.conclusion.word()
        ));
    }
    let (name, size, verdict) = (&channel.name, sample.size, sample.conclusion.word());
    screen.event(&json!({ "event": "size", "channel": name, "size": size, "verdict": verdict }));
}

/// The unit that people read, and how many of it an SI unit has.
fn unit(dimension: Dimension) -> (&'static str, f64) {
    match dimension {
        Dimension::Angle => ("deg", 180.0 / std::f64::consts::PI),
        Dimension::Number => ("", 1.0),
        other => (other.si(), 1.0),
    }
}

fn sized(channel: &Channel, size: f64) -> String {
    let (unit, factor) = unit(channel.dimension);
    format!("{} {unit}", short(size * factor, DIGITS)).trim_end().to_owned()
}

/// What `--set` takes for this size: one value or a list, numbers without quotes.
fn setting(channel: &Channel, size: f64) -> String {
    let quoted = |value: &f64| match channel.dimension {
        Dimension::Number => sized(channel, *value),
        _ => format!("\"{}\"", sized(channel, *value)),
    };
    let values: Vec<String> = channel.values_at(size).iter().map(quoted).collect();
    match values.as_slice() {
        [one] => one.clone(),
        several => format!("'[{}]'", several.join(", ")),
    }
}

fn panel(tolerance: &Tolerance) -> TolerancePanel {
    let (unit, factor) = unit(tolerance.channel.dimension);
    let mark = |sample: &Sample| match (sample.passes(), sample.fails()) {
        (true, _) => Mark::Passes,
        (_, true) => Mark::Fails,
        _ => Mark::Undecided,
    };
    let x_title =
        if unit.is_empty() { tolerance.channel.name.clone() } else { format!("{} [{unit}]", tolerance.channel.name) };
    TolerancePanel {
        x_title,
        points: tolerance.samples.iter().map(|s| (s.size * factor, s.worst_clearance_m, mark(s))).collect(),
        nominal: tolerance.channel.nominal * factor,
        passes_to: tolerance.passes_to.map(|size| size * factor),
        fails_from: tolerance.fails_from.map(|size| size * factor),
    }
}

fn to_json(scenario: &str, found: &[Tolerance], seconds: f64, run: &str) -> Value {
    let sample = |s: &Sample| {
        json!({
            "size": s.size, "verdict": s.conclusion.word(), "conclusion": s.conclusion, "worst_clearance_m": s.worst_clearance_m, "segments": s.segments,
        })
    };
    let one = |tolerance: &Tolerance| {
        json!({
            "channel": tolerance.channel.name,
            "key": tolerance.channel.path,
            "unit": tolerance.channel.dimension.si(),
            "nominal": tolerance.channel.nominal,
            "passes_to": tolerance.passes_to,
            "fails_from": tolerance.fails_from,
            "resolution": tolerance.resolution,
            "monotone": tolerance.is_monotone,
            "complete": !tolerance.has_gap,
            "samples": tolerance.samples.iter().map(sample).collect::<Vec<_>>(),
        })
    };
    json!({
        "schema": "anabranch.tolerance/1",
        "scenario": scenario,
        "channels": found.iter().map(one).collect::<Vec<_>>(),
        "wall_s": seconds,
        "run": run,
    })
}

fn human(scenario: &str, found: &[Tolerance], seconds: f64, run: &str, paint: &Paint) -> String {
    let head = ["error size", "in the scenario", "passes up to", "fails from", "resolution", "segments"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(found.iter().map(cells));
    let widths: [usize; 6] = std::array::from_fn(|c| rows.iter().map(|row| row[c].chars().count()).max().unwrap_or(0));
    let mut out = format!(
        "{}: the largest size of each error without reachable failure, all else as in the scenario\n\n",
        paint.bold(&escape(scenario))
    );
    for (number, row) in rows.iter().enumerate() {
        let parts: Vec<String> = row.iter().zip(widths).map(|(text, wide)| format!("{text:<wide$}")).collect();
        let line = parts.join("  ").trim_end().to_owned();
        out += &(if number == 0 { paint.dim(&line) } else { line });
        out += "\n";
    }
    for tolerance in found {
        out += &remarks(tolerance, paint);
    }
    out + &format!(
        "\n{} explorations in {}; {}\n",
        found.iter().map(|t| t.samples.len()).sum::<usize>(),
        duration(seconds),
        escape(&format!("{run}/tolerance.svg, tolerance.json"))
    )
}

fn cells(tolerance: &Tolerance) -> [String; 6] {
    let channel = &tolerance.channel;
    let size = |size: Option<f64>, none: &str| size.map_or_else(|| none.to_owned(), |size| sized(channel, size));
    [
        escape(&channel.name),
        sized(channel, channel.nominal),
        size(tolerance.passes_to, "nothing"),
        size(tolerance.fails_from, if tolerance.has_gap { "not decided" } else { "not found" }),
        sized(channel, tolerance.resolution),
        grouped(tolerance.samples.iter().map(|sample| sample.segments).sum()),
    ]
}

fn remarks(tolerance: &Tolerance, paint: &Paint) -> String {
    let name = escape(&tolerance.channel.name);
    let mut out = String::new();
    let first = tolerance.samples.first().filter(|sample| sample.fails());
    if let Some(sample) = first {
        let word = paint.toned(sample.conclusion.tone(), sample.conclusion.word());
        out += &format!("  {name}: {word} without this error too\n");
    }
    if !tolerance.is_monotone {
        out += &format!("  {name}: {}, some larger sizes pass again\n", paint.yellow("not monotone"));
    }
    if let Some(open) = tolerance.samples.iter().find(|sample| !sample.passes() && !sample.fails()) {
        let (word, reason) = (open.conclusion.word(), escape(&open.conclusion.reason()));
        let word = paint.toned(open.conclusion.tone(), word);
        out += &format!("  {name}: {word}, some sizes could not be decided: {reason}\n");
    }
    if let Some(size) = tolerance.fails_from.filter(|size| *size > 0.0) {
        let setting = setting(&tolerance.channel, size);
        out += &format!("  {}\n", paint.cyan(&format!("--set {}={setting}", tolerance.channel.path)));
    }
    out
}
