//! When *safe* is said and when not, and that the bounds behind it hold: whatever pairs of runs do, they stay within
//! them.

use std::path::PathBuf;

use crate::worlds::reversing::Ranges;
use anabranch_explore::{Explorer, Keep, Merge, Outcome, Scope, Settings, Soundness};
use anabranch_kernel::{CellSize, Chance, Choice, Contraction, Params, Seed, System, Tube, TubeLevel, Watch};
use anabranch_scenario::drive::DriverMemory;
use anabranch_scenario::file::{Document, Hooks};
use anabranch_scenario::{Drive, DriveState};

/// A shipped scenario with some values changed, and how it asks to be explored.
fn load(name: &str, changes: &[(&str, &str)]) -> (Drive, Settings) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{name}.toml"));
    let mut document = Document::parse(name, &std::fs::read(file).unwrap()).unwrap();
    for (key, value) in changes {
        document.apply_override(key, value).unwrap_or_else(|e| panic!("{e}"));
    }
    let spec = document.read(&Hooks::default()).unwrap_or_else(|e| panic!("{e}"));
    let drive = Drive::assemble(&spec).unwrap();
    let merge = drive.grid(&spec.explore.merge).unwrap().map_or(Merge::None, Merge::Grid);
    let settings =
        Settings { scope: Scope::Level, keep: Keep::Extremes, merge, ..Settings::new(drive.variables(), true) };
    (drive, settings)
}

fn explore(drive: &Drive, settings: Settings) -> Outcome {
    Explorer::new(drive).settings(settings).prove().run().unwrap()
}

#[track_caller]
fn check_not_safe(name: &str, changes: &[(&str, &str)], reason: &str) {
    let (drive, settings) = load(name, changes);
    let outcome = explore(&drive, settings);
    assert!(outcome.complete() && outcome.hits.is_empty(), "{:?}", outcome.progress);
    assert!(!outcome.soundness.is_safe());
    let why = outcome.soundness.why_not().unwrap();
    assert!(why.contains(reason), "{why}");
}

#[test]
fn the_steady_corridor_is_proven_safe() {
    let (drive, settings) = load("steady-corridor", &[]);
    let Soundness::Proven { needed, found, lambda } = explore(&drive, settings).soundness else {
        panic!("{:?}", explore(&drive, load("steady-corridor", &[]).1).soundness)
    };
    assert!(needed > 0.1 && needed < 0.2 && found > 0.3 && lambda < 0.8, "{needed} {found} {lambda}");
}

#[test]
fn the_same_corridor_with_a_decision_in_it_is_not() {
    check_not_safe("steady-corridor-switch", &[], "begin to brake");
}

#[test]
fn too_little_clearance_is_no_proof() {
    let walls = [
        ("world.wall.left.line", r#"[["-40 m", "1.1 m"], ["10 m", "1.1 m"]]"#),
        ("world.wall.right.line", r#"[["-40 m", "-1.1 m"], ["10 m", "-1.1 m"]]"#),
    ];
    check_not_safe("steady-corridor", &walls, "m would be needed");
}

#[test]
fn a_driver_that_does_not_hold_its_line_is_no_proof() {
    let far = [
        ("world.wall.left.line", r#"[["-40 m", "20 m"], ["10 m", "20 m"]]"#),
        ("world.wall.right.line", r#"[["-40 m", "-20 m"], ["10 m", "-20 m"]]"#),
        ("explore.until", "5 s"),
    ];
    let gains = |lateral, heading| {
        let driver: &'static str = match (lateral, heading) {
            ("weak", _) => r#"{ kind = "path-follower", lateral_gain = "0.25 1/m^2", heading_gain = "0.02 1/m" }"#,
            _ => r#"{ kind = "path-follower", lateral_gain = "0.01 1/m^2", heading_gain = "0.05 1/m" }"#,
        };
        [far[0], far[1], far[2], ("ego.driver", driver)]
    };
    check_not_safe("steady-corridor", &gains("weak", "swinging"), "shrink");
    check_not_safe("steady-corridor", &gains("hardly", "any"), "shrink");
}

#[test]
fn what_a_proof_does_not_cover_is_named() {
    let (drive, settings) = load("steady-corridor", &[("explore.until", "4 s")]);
    let why = |settings: Settings| explore(&drive, settings).soundness.why_not().unwrap().to_owned();
    let Merge::Grid(grid) = settings.merge.clone() else { panic!("it merges") };
    let mut sizes = grid.sizes().to_vec();
    sizes[5] = CellSize::Ignore;
    let ignoring = Merge::Grid(anabranch_kernel::Grid::from_sizes(sizes));
    assert!(why(Settings { merge: ignoring, ..settings.clone() }).contains("`steering` was ignored"));
    assert!(why(Settings { order: anabranch_explore::Order::Danger, ..settings.clone() }).contains("breadth"));
    let timeless = Settings { scope: Scope::Visited, levels_max: 3, ..settings.clone() };
    assert!(why(timeless).contains("different times"));
    let budget = anabranch_explore::Budget { states: Some(10), ..Default::default() };
    assert!(why(Settings { budget, ..settings.clone() }).contains("incomplete"));
    let unasked = Explorer::new(&drive).settings(settings).run().unwrap();
    assert!(!unasked.soundness.is_safe());
}

#[test]
fn shipped_scenarios_with_more_to_them_are_never_called_safe() {
    let reasons = [
        ("narrow-passage-timetable", "timetable"),
        ("narrow-passage-drift", "errors remember"),
        ("narrow-passage-calm", "not about clearance"),
        ("replanning-garage", "plans again"),
        ("narrow-passage-actuator-delay", "delayed actuator"),
    ];
    for (name, reason) in reasons {
        let (drive, _) = load(name, &[]);
        let why = drive.contraction(&Tube::default()).unwrap_err().0;
        assert!(why.contains(reason), "{name}: {why}");
    }
}

#[test]
fn every_sequence_run_is_safe_without_any_inequality() {
    let (drive, settings) = load("steady-corridor", &[("explore.until", "3 s")]);
    let outcome = explore(&drive, Settings { merge: Merge::None, ..settings });
    assert_eq!(outcome.soundness, Soundness::Exhaustive { found: outcome.progress.margin });
}

fn reals(drive: &Drive, state: &DriveState) -> Vec<f64> {
    let mut out = Vec::new();
    drive.reals(state, &mut out);
    out
}

fn with_reals(mut state: DriveState, values: &[f64]) -> DriveState {
    let car = &mut state.car.car;
    (car.x, car.y, car.heading, car.speed, car.accel, car.steering) =
        (values[0], values[1], values[2], values[3], values[4], values[5]);
    if let DriverMemory::Path(memory) = &mut state.driver {
        memory.station_m = values[6];
    }
    state
}

const CELLS: [f64; 7] = [0.05, 0.005, 0.002, 0.2, 1.0, 0.005, 0.5];

/// The boxes of some hundred random runs, and the proof about them.
fn proof_over_random_runs(drive: &Drive, levels: u64) -> (Tube, Contraction) {
    let mut tube = Tube { cells: CELLS.to_vec(), levels: vec![TubeLevel::default(); levels as usize] };
    for run in 0..300 {
        let chance = Chance::new(Seed(5), "runs").at(run);
        let mut state = drive.start(Seed(0), &drive.space().all()[0]).unwrap();
        for level in 0..levels {
            tube.levels[level as usize].hold(&reals(drive, &state));
            let choice = Choice(chance.below(level, drive.errors().len() as u64) as u16);
            drive.run(&mut state, choice, &mut Watch::off()).unwrap();
        }
    }
    tube.levels.iter_mut().skip(1).for_each(|level| level.merged = true);
    let contraction = drive.contraction(&tube).unwrap_or_else(|e| panic!("{e}"));
    (tube, contraction)
}

/// Brute force: a run and the run beside it, which is moved within a cell before every segment as merging would; what they
/// differ by, and what their clearances differ by, stays within the bounds. Corners are tried as often as insides.
#[test]
fn no_pair_of_runs_strays_farther_than_proven() {
    const LEVELS: u64 = 8;
    let (drive, _) = load("steady-corridor", &[]);
    let (tube, contraction) = proof_over_random_runs(&drive, LEVELS);
    let (mut closest, mut pairs) = (0.0_f64, 0);
    for pair in 0..1500_u64 {
        let chance = Chance::new(Seed(9), "pairs").at(pair);
        let start = drive.start(Seed(0), &Params(drive.space().all()[0].0.clone())).unwrap();
        let (mut run, mut beside) = (start.clone(), start);
        for level in 0..LEVELS {
            let at = level as usize;
            let differ: Vec<f64> =
                reals(&drive, &run).iter().zip(reals(&drive, &beside)).map(|(a, b)| (a - b).abs()).collect();
            for (index, (&differ, &proven)) in differ.iter().zip(&contraction.strays[at]).enumerate() {
                assert!(differ <= proven, "pair {pair} level {level} variable {index}: {differ} > {proven}");
                if proven > 1e-6 && index != 6 {
                    closest = closest.max(differ / proven);
                }
            }
            let choice = Choice(chance.below(100 + level, drive.errors().len() as u64) as u16);
            let (mut watch, mut watch_beside) = (Watch::off(), Watch::off());
            drive.run(&mut run, choice, &mut watch).unwrap();
            drive.run(&mut beside, choice, &mut watch_beside).unwrap();
            let apart = (watch.margin - watch_beside.margin).abs();
            assert!(apart <= contraction.needed[at], "pair {pair} level {level}: {apart}");
            pairs += 1;
            if at + 1 < LEVELS as usize {
                beside = merged(&drive, &tube, at + 1, beside, &chance);
            }
        }
    }
    assert!(pairs >= 12_000 && closest > 0.2 && closest <= 1.0, "{pairs} pairs came to {closest} of the bounds");
}

/// Another state of the same cell that exploring could have kept instead.
fn merged(drive: &Drive, tube: &Tube, level: usize, state: DriveState, chance: &Chance) -> DriveState {
    let mut values = reals(drive, &state);
    for (index, value) in values.iter_mut().enumerate() {
        let share = match chance.below((level * 50 + index) as u64, 4) {
            0 => -1.0,
            1 => 1.0,
            _ => 2.0 * chance.uniform((level * 50 + 20 + index) as u64) - 1.0,
        };
        let moved = *value + 0.999 * share * tube.step(level, index);
        *value = moved.clamp(tube.levels[level].low[index], tube.levels[level].high[index]);
    }
    with_reals(state, &values)
}

/// Small random worlds: start from rest, 8 s, two jumps, walls at `wall_m`, gains of the driver and of its steering.
fn world(n: u64, gains: [[f64; 2]; 4], radius_m: [f64; 2], wall_m: f64) -> (Drive, Settings) {
    let [lag_s, rate_radps, lateral_gain, heading_gain] = gains;
    let ranges = Ranges {
        seed: Seed(77),
        name: "worlds",
        lag_s,
        rate_radps,
        y_m: [-0.05, 0.05],
        heading_rad: [-0.01, 0.01],
        lateral_gain,
        heading_gain,
        radius_m,
        merge: r#"y = "0.01 m", heading = "0.003 rad", steering = "0.01 rad""#,
    };
    let text = ranges.text(n, wall_m);
    let spec = Document::parse("world.toml", text.as_bytes()).unwrap().read(&Hooks::default());
    let spec = spec.unwrap_or_else(|e| panic!("{e}"));
    let drive = Drive::assemble(&spec).unwrap();
    let merge = Merge::Grid(drive.grid(&spec.explore.merge).unwrap().unwrap());
    let settings =
        Settings { scope: Scope::Level, keep: Keep::Extremes, merge, ..Settings::new(drive.variables(), true) };
    (drive, settings)
}

/// The exhaustive truth beside the proof: what is called safe is, and the worst run is not worse than the inequality
/// allows.
#[test]
fn what_is_proven_is_true() {
    let mut proven = 0;
    for n in 0..24 {
        let gains = [[0.05, 0.15], [1.5, 2.5], [0.2, 0.4], [0.9, 1.3]];
        let (drive, settings) = world(n, gains, [0.02, 0.05], 1.4);
        let outcome = explore(&drive, settings.clone());
        let Soundness::Proven { needed, found, .. } = outcome.soundness else { continue };
        proven += 1;
        let truth = explore(&drive, Settings { merge: Merge::None, ..settings });
        assert!(truth.soundness.is_safe() && truth.progress.margin > 0.0, "world {n}");
        assert!(truth.progress.margin >= found.min(outcome.progress.margin) - needed, "world {n}");
    }
    // So that the test says something: a third of these worlds was proven when it was written.
    assert!(proven >= 8, "only {proven} worlds were proven");
}

/// Worlds with firm gains, slow steering and large jumps, as in the truth bench: no panic, and nothing is safe that
/// touches.
#[test]
fn wild_worlds_are_refused_in_peace() {
    let (mut refused, mut touching) = (0, 0);
    for n in 0..24 {
        let gains = [[0.05, 0.4], [0.4, 0.9], [0.3, 3.0], [0.8, 2.5]];
        let (drive, settings) = world(n, gains, [0.08, 0.2], 1.05);
        let truth = explore(&drive, Settings { merge: Merge::None, ..settings.clone() });
        let outcome = explore(&drive, settings);
        refused += u32::from(!outcome.soundness.is_safe());
        touching += u32::from(!truth.hits.is_empty());
        assert!(truth.hits.is_empty() || !outcome.soundness.is_safe(), "world {n} touches and is called safe");
    }
    assert!(refused >= 20 && touching >= 3, "{refused} refused, {touching} touching");
}
