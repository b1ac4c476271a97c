//! The league table: several drivers under the same errors.

mod comfort;

use std::path::{Path, PathBuf};

use anabranch_kernel::Seed;
use anabranch_scenario::file::variation_file;
use anabranch_study::{Conclusion, Evidence, Tone, conclude};
use serde_json::{Value, json};

use crate::escape::escape;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt;
use crate::load::{Assembled, Override, with_driver};
use crate::numbers::{duration, grouped, short};
use crate::project;
use crate::screen::{Global, Paint, Screen, Talk, print_err};
use crate::suite::quick::{Quick, evaluate, folder};
use crate::suite::read;
use crate::usage::WallClock;
use crate::verbs::explore::Explore;
use comfort::{Comfort, MEASURES, measure, position};

/// What the scenario itself is called in the table.
const OWN: &str = "as in the scenario";

/// A driver and what it has different.
struct Entrant {
    name: String,
    sets: Vec<Override>,
}

/// A driver and how it did.
struct Row {
    name: String,
    sets: Vec<Override>,
    conclusion: Conclusion,
    exit: Exit,
    quick: Option<Quick>,
    comfort: Option<Comfort>,
}

/// Lets every driver run under the same errors and ranks them.
pub fn explore(verb: &Explore, files: &[PathBuf], global: &Global, screen: &Screen) -> Result<Exit, Failure> {
    let clock = WallClock::start();
    let before = verb.whole.overrides()?;
    let mut rows = Vec::new();
    for entrant in entrants(files)? {
        rows.push(run(verb, entrant, &before, global, screen)?);
        if interrupt::is_asked() {
            break;
        }
    }
    rows.sort_by(|a, b| rank(a).partial_cmp(&rank(b)).expect("ranks are numbers"));
    let loaded = verb.load(&verb.scenario, &before)?;
    let folder = folder(&loaded, "league", global)?;
    let (name, where_to) = (&loaded.spec.name.value, project::relative(folder.path()));
    let exit = Exit::of(&rows.iter().map(|row| row.exit).collect::<Vec<_>>());
    let machine = to_json(name, &rows, clock.seconds(), &where_to, exit);
    folder.publish_json("league.json", &machine)?;
    screen.result(|paint| human(name, &rows, clock.seconds(), &where_to, paint), &machine);
    Ok(exit)
}

fn entrants(files: &[PathBuf]) -> Result<Vec<Entrant>, Failure> {
    let mut all = vec![Entrant { name: OWN.to_owned(), sets: Vec::new() }];
    for path in files {
        let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        if all.iter().any(|other| other.name == name) {
            let message = format!("--league: two drivers are called `{name}`");
            return Err(Failure::input(message, "give their files different names"));
        }
        // A table of what is different, or a driver itself: a model, a program, a module.
        let is_table = path.extension().is_some_and(|extension| extension == "toml");
        let sets = if is_table { variation(path)? } else { with_driver(&[], Some(&path.display().to_string())) };
        all.push(Entrant { name, sets });
    }
    Ok(all)
}

fn variation(path: &Path) -> Result<Vec<Override>, Failure> {
    Ok(variation_file(&path.display().to_string(), &read(path)?)?)
}

fn run(
    verb: &Explore,
    entrant: Entrant,
    before: &[Override],
    global: &Global,
    screen: &Screen,
) -> Result<Row, Failure> {
    let Entrant { name, sets } = entrant;
    let all: Vec<Override> = before.iter().chain(&sets).cloned().collect();
    let loaded = verb.load(&verb.scenario, &all)?;
    let drive = match loaded.assemble()? {
        Assembled::Drive(drive) => drive,
        Assembled::NoPath(why) => {
            let conclusion = conclude(&Evidence::without_path(format!("planner found no path: {why}")));
            let exit = Exit::of_conclusion(&conclusion);
            return Ok(Row { name, sets, conclusion, exit, quick: None, comfort: None });
        }
    };
    let quick = evaluate(verb, &loaded, &drive, global)?;
    let seed = Seed(global.seed.unwrap_or(0));
    let comfort = measure(&drive, seed, loaded.spec.explore.rollouts.value, global.threads())?;
    if screen.talk >= Talk::Usual {
        print_err(&format!("{}: {} ({})\n", escape(&name), quick.conclusion.word(), duration(quick.seconds)));
    }
    screen.event(&json!({ "event": "driver", "driver": name, "verdict": quick.conclusion.word() }));
    let (conclusion, exit) = (quick.conclusion.clone(), quick.exit);
    Ok(Row { name, sets, conclusion, exit, quick: Some(quick), comfort: Some(comfort) })
}

/// Smaller is better: the verdict, then the worst clearance, then the average one.
fn rank(row: &Row) -> (u8, f64, f64) {
    let worst_m = row.quick.as_ref().map_or(f64::NEG_INFINITY, |quick| quick.worst_clearance_m);
    let mean_m = row.comfort.as_ref().and_then(|comfort| comfort.mean_clearance_m).unwrap_or(f64::NEG_INFINITY);
    (row.conclusion.rank(), -worst_m, -mean_m)
}

fn to_json(scenario: &str, rows: &[Row], seconds: f64, run: &str, exit: Exit) -> Value {
    let comfort = |comfort: &Comfort| {
        let mut out =
            json!({ "runs": comfort.runs, "arrived": comfort.arrived, "mean_clearance_m": comfort.mean_clearance_m });
        for (at, (name, unit)) in MEASURES.iter().enumerate() {
            out[name] = json!({ "unit": unit, "worst": comfort.worst[at], "mean": comfort.mean[at] });
        }
        out
    };
    let one = |row: &Row| {
        json!({
            "driver": row.name,
            "set": row.sets,
            "verdict": row.conclusion.word(),
            "conclusion": row.conclusion,
            "findings": row.quick.as_ref().map(|quick| quick.findings),
            "worst_clearance_m": row.quick.as_ref().map(|quick| quick.worst_clearance_m),
            "segments": row.quick.as_ref().map(|quick| quick.segments),
            "seconds": row.quick.as_ref().map(|quick| quick.seconds),
            "random_runs": row.comfort.as_ref().map(comfort),
        })
    };
    json!({
        "schema": "anabranch.league/1",
        "scenario": scenario,
        "exit": exit.code(),
        "drivers": rows.iter().map(one).collect::<Vec<_>>(),
        "wall_s": seconds,
        "run": run,
    })
}

fn human(scenario: &str, rows: &[Row], seconds: f64, run: &str, paint: &Paint) -> String {
    let runs = rows.iter().find_map(|row| row.comfort.as_ref()).map_or(0, |comfort| comfort.runs);
    let mut out = format!("{}: drivers under the same errors, best first\n\n", paint.bold(&escape(scenario)));
    let head = ["driver", "verdict", "findings", "worst [m]", "average [m]", "arrived"];
    out += &table(2, &head, rows.iter().map(outcome), paint);
    for row in rows.iter().filter(|row| row.conclusion.tone() == Tone::Open) {
        let (name, word, reason) = (escape(&row.name), row.conclusion.word(), escape(&row.conclusion.reason()));
        out += &format!("{name}: {}: {reason}, which is no pass\n", paint.toned(Tone::Open, word));
    }
    out += &format!("\n{} random runs each, worst / mean of them: how smoothly\n", grouped(runs as u64));
    let smooth = [
        Column { head: "deceleration [m/s²]", measure: "deceleration", factor: 1.0 },
        Column { head: "lateral [m/s²]", measure: "lateral_acceleration", factor: 1.0 },
        Column { head: "jerk, rms [m/s³]", measure: "jerk_rms", factor: 1.0 },
        Column { head: "steering [deg/s]", measure: "steering_rate", factor: DEGREES },
    ];
    out += &measured(&smooth, rows, paint);
    out += "\nhow well it kept to its line, and whether it moved on\n";
    let line = [
        Column { head: "off line [m/m]", measure: "deviation_per_metre", factor: 1.0 },
        Column { head: "squared [m²]", measure: "path_mse", factor: 1.0 },
        Column { head: "wobble [1/s]", measure: "wobble", factor: 1.0 },
        Column { head: "stalled [s]", measure: "stalled", factor: 1.0 },
        Column { head: "door [m]", measure: "door_room", factor: 1.0 },
    ];
    out += &measured(&line, rows, paint);
    out += "\nworst: smallest clearance of every explored run; average: mean of the smallest clearance of the random runs\n";
    out += "off line: distance to the path, or on roads to the middle of the lane, for each metre driven\n";
    out + &format!("{}; {}\n", duration(seconds), escape(&format!("{run}/league.json")))
}

const DEGREES: f64 = 180.0 / std::f64::consts::PI;

/// A column of a measure.
struct Column {
    head: &'static str,
    measure: &'static str,
    factor: f64,
}

/// The drivers again, with some of their measures.
fn measured(columns: &[Column], rows: &[Row], paint: &Paint) -> String {
    let head: Vec<&str> = std::iter::once("driver").chain(columns.iter().map(|column| column.head)).collect();
    let cells = |row: &Row| {
        let pair = |column: &Column| {
            let (at, decimals) = (position(column.measure), if column.measure == "path_mse" { 4 } else { 2 });
            let of = |value: f64| short(column.factor * value, decimals);
            row.comfort.as_ref().map_or_else(|| "–".to_owned(), |c| format!("{} / {}", of(c.worst[at]), of(c.mean[at])))
        };
        std::iter::once(escape(&row.name)).chain(columns.iter().map(pair)).collect()
    };
    table(1, &head, rows.iter().map(cells), paint)
}

/// Aligned columns; the first ones are words and stand on the left.
fn table(words: usize, head: &[&str], rows: impl Iterator<Item = Vec<String>>, paint: &Paint) -> String {
    let mut all = vec![head.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()];
    all.extend(rows);
    let wide = |column: usize| all.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(wide).collect();
    let mut out = String::new();
    for (number, row) in all.iter().enumerate() {
        let cell = |(column, text): (usize, &String)| {
            let wide = widths[column];
            if column < words { format!("{text:<wide$}") } else { format!("{text:>wide$}") }
        };
        let line = row.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ");
        out += &(if number == 0 { paint.dim(line.trim_end()) } else { line.trim_end().to_owned() });
        out += "\n";
    }
    out
}

/// What was found about a driver.
fn outcome(row: &Row) -> Vec<String> {
    let none = || "–".to_owned();
    let metres = |value: Option<f64>| value.filter(|m| m.is_finite()).map_or_else(none, |m| short(m, 3));
    let (quick, comfort) = (row.quick.as_ref(), row.comfort.as_ref());
    vec![
        escape(&row.name),
        row.conclusion.word().to_owned(),
        quick.map_or_else(none, |quick| grouped(quick.findings)),
        metres(quick.map(|quick| quick.worst_clearance_m)),
        metres(comfort.and_then(|comfort| comfort.mean_clearance_m)),
        comfort.map_or_else(none, |comfort| format!("{} of {}", comfort.arrived, comfort.runs)),
    ]
}
