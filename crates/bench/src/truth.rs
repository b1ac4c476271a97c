//! The table of rules against exhaustive truth for one calm and one aggressive controller, twelve seconds, three choices:
//! how much of the true worst excursion does each rule find, with how many segments?

use anabranch_explore::{Explorer, Keep, Merge, Scope, Settings};
use anabranch_kernel::{CellSize, Chance, Choices, Grid, Seed, SegmentEnd, System, Watch};
use anabranch_scenario::Drive;

use crate::scenario::narrow_passage;
use crate::{Figure, Goal};

const SECONDS: &str = "12 s";

fn world(lateral_gain: &str, heading_gain: &str) -> Drive {
    let overrides = [
        ("world.wall.left.line", r#"[["-60 m", "8 m"], ["20 m", "8 m"]]"#),
        ("world.wall.right.line", r#"[["-60 m", "-8 m"], ["20 m", "-8 m"]]"#),
        ("ego.path", r#"[{ length = "-30 m" }]"#),
        ("ego.goal.x", "-30 m"),
        ("ego.vehicle", "compact"),
        ("ego.driver.lateral_gain", lateral_gain),
        ("ego.driver.heading_gain", heading_gain),
        ("error.estimate-jump.jump.directions", "2"),
        ("must.arrives.by", SECONDS),
        ("explore.until", SECONDS),
    ];
    narrow_passage(&overrides).0
}

fn base(drive: &Drive) -> Settings {
    let settings = Settings::new(drive.variables(), true);
    // Far from the goal nothing but the deadline ends a run, and that is no excursion.
    Settings { scope: Scope::Level, levels_max: 11, ..settings }
}

fn only(drive: &Drive, factor: f64, names: &[(&str, f64)]) -> Merge {
    let size =
        |name: &str| names.iter().find(|n| n.0 == name).map_or(CellSize::Ignore, |n| CellSize::Size(n.1 * factor));
    Merge::Grid(Grid::from_sizes(drive.variables().iter().map(|v| size(&v.name)).collect()))
}

/// Excursion from the middle and segments.
fn explored(drive: &Drive, settings: Settings) -> (f64, u64) {
    let outcome = Explorer::new(drive).settings(settings).run().expect("it can be explored");
    (8.0 - 0.9 - outcome.progress.margin, outcome.progress.segments)
}

fn best_constant(drive: &Drive) -> (f64, u64) {
    let margins = drive.errors().choices().map(|choice| {
        let params = &drive.space().all()[0];
        anabranch_explore::constant(drive, Seed(0), params, choice, 11).expect("it runs").margin
    });
    (8.0 - 0.9 - margins.fold(f64::INFINITY, f64::min), 3 * 11)
}

/// Random runs with about as many segments as `budget`.
fn random(drive: &Drive, budget: u64) -> (f64, u64) {
    let (chance, mut live) = (Chance::new(Seed(0), "truth"), Choices::new());
    let (mut margin, mut segments) = (f64::INFINITY, 0);
    for run in 0.. {
        if segments >= budget {
            break;
        }
        let mut state = drive.start(Seed(0), &drive.space().all()[0]).expect("it starts");
        for level in 0..11 {
            drive.live(&state, &mut live);
            let choice = live[chance.at(run).below(level, live.len() as u64) as usize];
            let mut watch = Watch::off();
            let end = drive.run(&mut state, choice, &mut watch).expect("it runs");
            margin = margin.min(watch.margin);
            segments += 1;
            if end != SegmentEnd::Open {
                break;
            }
        }
    }
    (8.0 - 0.9 - margin, segments)
}

const POSE: [(&str, f64); 3] = [("x", 0.1), ("y", 0.1), ("heading", 0.02)];
const STEERED: [(&str, f64); 4] = [POSE[0], POSE[1], POSE[2], ("steering", 0.02)];

fn rows(drive: &Drive) -> Vec<(&'static str, (f64, u64))> {
    let rule = |keep, merge| explored(drive, Settings { keep, merge, ..base(drive) });
    let every = Merge::Grid(Grid::of(drive.variables()));
    let default = rule(Keep::Extremes, every.clone());
    vec![
        ("best constant error alone", best_constant(drive)),
        ("paper: first arrival, key (x, y, heading)", explored(drive, base(drive).paper(drive.variables()))),
        ("first, grid x 0.5", rule(Keep::First, only(drive, 0.5, &POSE))),
        ("first, key + steering", rule(Keep::First, only(drive, 1.0, &STEERED))),
        ("worst, key (x, y, heading)", rule(Keep::Worst, only(drive, 1.0, &POSE))),
        ("worst, key (x, y, heading), grid x 2", rule(Keep::Worst, only(drive, 2.0, &POSE))),
        ("worst, every variable", rule(Keep::Worst, every)),
        ("extremes, every variable (default)", default),
        ("random runs, as many segments as the default", random(drive, default.1)),
    ]
}

pub(crate) fn run() -> Vec<Figure> {
    let mut figures = Vec::new();
    for (name, lateral, heading) in [("calm", "0.3 1/m^2", "1.1 1/m"), ("aggressive", "2 1/m^2", "1.5 1/m")] {
        let drive = world(lateral, heading);
        let (truth_m, segments) = explored(&drive, Settings { merge: Merge::None, ..base(&drive) });
        println!("  {name}: truth {truth_m:.3} m by {segments} segments");
        for (rule, (found_m, segments)) in rows(&drive) {
            println!("    | {rule} | {:.1} % / {segments} |", 100.0 * found_m / truth_m);
            if rule.contains("(default)") {
                let name = format!("share of the true worst excursion, {name} controller");
                figures.push(Figure::new(name, found_m / truth_m, Goal::AtLeast(0.99)));
            }
        }
    }
    figures
}
