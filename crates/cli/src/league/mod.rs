//! The league table: several drivers under the same errors.

mod comfort;

use std::path::{Path, PathBuf};

use anabranch_kernel::Seed;
use anabranch_scenario::file::variation_file;
use serde_json::{Value, json};

use crate::escape::escape;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt;
use crate::load::{Assembled, Override};
use crate::numbers::{duration, grouped, short};
use crate::project;
use crate::screen::{Global, Paint, Screen, Talk, print_err};
use crate::suite::quick::{Quick, evaluate, folder};
use crate::suite::read;
use crate::usage::WallClock;
use crate::verbs::explore::Explore;
use comfort::{Comfort, MEASURES, measure};

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
    verdict: &'static str,
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
        all.push(Entrant { name, sets: variation(path)? });
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
        Assembled::NoPath(_) => {
            return Ok(Row { name, sets, verdict: "no path", exit: Exit::Findings, quick: None, comfort: None });
        }
    };
    let quick = evaluate(verb, &loaded, &drive, global)?;
    let seed = Seed(global.seed.unwrap_or(0));
    let comfort = measure(&drive, seed, loaded.spec.explore.rollouts.value, global.threads())?;
    if screen.talk >= Talk::Usual {
        print_err(&format!("{}: {} ({})\n", escape(&name), quick.verdict, duration(quick.seconds)));
    }
    screen.event(&json!({ "event": "driver", "driver": name, "verdict": quick.verdict }));
    Ok(Row { name, sets, verdict: quick.verdict, exit: quick.exit, quick: Some(quick), comfort: Some(comfort) })
}

/// Smaller is better: the verdict, then the worst clearance, then the average one.
fn rank(row: &Row) -> (u8, f64, f64) {
    let verdict = match row.verdict {
        "safe" => 0,
        "not found" => 1,
        "incomplete" => 2,
        "violated" => 3,
        _ => 4,
    };
    let worst_m = row.quick.as_ref().map_or(f64::NEG_INFINITY, |quick| quick.worst_clearance_m);
    let mean_m = row.comfort.as_ref().and_then(|comfort| comfort.mean_clearance_m).unwrap_or(f64::NEG_INFINITY);
    (verdict, -worst_m, -mean_m)
}

fn to_json(scenario: &str, rows: &[Row], seconds: f64, run: &str, exit: Exit) -> Value {
    let comfort = |comfort: &Comfort| {
        let mut out = json!({ "runs": comfort.runs, "mean_clearance_m": comfort.mean_clearance_m });
        for (at, (name, unit)) in MEASURES.iter().enumerate() {
            out[name] = json!({ "unit": unit, "worst": comfort.worst[at], "mean": comfort.mean[at] });
        }
        out
    };
    let one = |row: &Row| {
        json!({
            "driver": row.name,
            "set": row.sets,
            "verdict": row.verdict,
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
    let head = [
        "driver",
        "verdict",
        "findings",
        "worst",
        "average",
        "deceleration",
        "lateral",
        "curvature",
        "steering rate",
        "off path",
    ];
    let mut table = vec![head.map(str::to_owned)];
    table.extend(rows.iter().map(cells));
    let widths: [usize; 10] =
        std::array::from_fn(|c| table.iter().map(|row| row[c].chars().count()).max().unwrap_or(0));
    let mut out = format!("{}: drivers under the same errors, best first\n\n", paint.bold(&escape(scenario)));
    for (number, row) in table.iter().enumerate() {
        let left = |column: usize| column < 2;
        let part = |(column, text): (usize, &String)| {
            let wide = widths[column];
            if left(column) { format!("{text:<wide$}") } else { format!("{text:>wide$}") }
        };
        let line = row.iter().enumerate().map(part).collect::<Vec<_>>().join("  ");
        out += &(if number == 0 { paint.dim(line.trim_end()) } else { line.trim_end().to_owned() });
        out += "\n";
    }
    let runs = rows.iter().find_map(|row| row.comfort.as_ref()).map_or(0, |comfort| comfort.runs);
    out += "\nworst: smallest clearance of every explored run [m]; average: mean of the smallest clearance of ";
    out += &format!("{} random runs [m]\n", grouped(runs as u64));
    out += "peaks, worst / mean of these runs: deceleration and lateral acceleration [m/s²], curvature [1/m], ";
    out += "steering rate [deg/s]\n";
    out += "off path, worst / mean: distance to the path for each metre driven [m/m]\n";
    out + &format!("{}; {}\n", duration(seconds), escape(&format!("{run}/league.json")))
}

fn cells(row: &Row) -> [String; 10] {
    let metres = |value: Option<f64>| value.filter(|m| m.is_finite()).map_or_else(|| "–".to_owned(), |m| short(m, 3));
    let quick = row.quick.as_ref();
    let peak = |at: usize, factor: f64| {
        let pair = |c: &Comfort| format!("{} / {}", short(factor * c.worst[at], 2), short(factor * c.mean[at], 2));
        row.comfort.as_ref().map_or_else(|| "–".to_owned(), pair)
    };
    [
        escape(&row.name),
        row.verdict.to_owned(),
        quick.map_or_else(|| "–".to_owned(), |quick| grouped(quick.findings)),
        metres(quick.map(|quick| quick.worst_clearance_m)),
        metres(row.comfort.as_ref().and_then(|comfort| comfort.mean_clearance_m)),
        peak(0, 1.0),
        peak(1, 1.0),
        peak(2, 1.0),
        peak(3, 180.0 / std::f64::consts::PI),
        peak(5, 1.0),
    ]
}
