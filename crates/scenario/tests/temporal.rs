//! Requirements about more than one moment, in a scenario: what they find, and that they are part of the state.

use anabranch_explore::{Explorer, Merge, Outcome, Scope, Settings};
use anabranch_kernel::{Grid, System, contract};
use anabranch_scenario::Drive;
use anabranch_scenario::file::{Hooks, read_scenario};

/// A car passes a box; its estimate jumps, its steering pulls.
const PASS: &str = r#"schema = "anabranch/1"
name   = "pass"
[world]
step = "10 ms"
[[world.obstacle]]
id  = "box"
box = { x = "6 m", y = "1.9 m", length = "1 m", width = "1 m" }
[ego]
vehicle = { length = "4.2 m", width = "1.8 m", corner_radius = "0.2 m" }
start   = { x = "0 m", y = "0 m" }
goal    = { x = "10 m", y = "0 m" }
path    = [{ length = "10 m" }]
[[error]]
id     = "pulls"
on     = "ego.steering"
offset = { by = ["1 deg", "6 deg"] }
[[error]]
id   = "jumps"
on   = "ego.localisation"
jump = { radius = "0.1 m", directions = 2 }
[errors]
at_once = 1
[explore]
until = "5 s"
[[must]]
id    = "r"
RULE
"#;

fn drive(rule: &str) -> Drive {
    let text = PASS.replace("RULE", rule);
    let (_, spec) = read_scenario("pass.toml", text.as_bytes(), &Hooks::default()).unwrap_or_else(|e| panic!("{e}"));
    Drive::assemble(&spec).unwrap()
}

fn explore(drive: &Drive, merge: Merge, threads: usize) -> Outcome {
    let settings = Settings { merge, ..Settings::new(drive.variables(), drive.time_matters()) };
    let outcome = Explorer::new(drive).settings(settings).threads(threads).run().unwrap();
    assert!(outcome.complete());
    outcome
}

const RULES: [&str; 6] = [
    r#"always = "ego.clearance > 50 cm or eventually[0 s, 1.5 s] ego.clearance > 1 m""#,
    r#"always = "ego.clearance > 50 cm or eventually[0 s, 4.5 s] time > 4 s""#,
    r#"never = "historically[0 s, 1 s] ego.lateral_error < -12 cm""#,
    r#"always = "ego.speed > 1 mph implies once[0 s, 5 s] ego.speed < 0.5 m/s""#,
    r#"eventually = "always[0 s, 1 s] abs(ego.lateral_error) < 8 cm""#,
    r#"always = "ego.lateral_error > -15 cm until ego.x > 3 m""#,
];

#[test]
fn merged_and_exhaustive_exploration_agree() {
    let mut violated = 0;
    // Without merging every sequence of five segments is run: not for all of them.
    let rules = &RULES[..4];
    for rule in rules {
        let drive = drive(rule);
        let truth = explore(&drive, Merge::None, 2).progress.findings > 0;
        let merged = explore(&drive, Merge::Grid(Grid::of(drive.variables())), 2).progress.findings > 0;
        assert_eq!(merged, truth, "{rule}");
        violated += usize::from(truth);
    }
    assert!(violated >= 1 && violated < rules.len(), "{violated} of {} can be violated", rules.len());
}

/// Of each kind of requirement and signal: whether two states that differ in nothing but time can be judged differently.
#[test]
fn time_matters_where_a_requirement_depends_on_it_and_nowhere_else() {
    let check = |rule: &str, expect: bool| {
        let drive = drive(rule);
        assert_eq!(drive.time_matters(), expect, "{rule}");
        let visited = Settings { scope: Scope::Visited, ..Settings::new(drive.variables(), drive.time_matters()) };
        let refused = Explorer::new(&drive).settings(visited).run().err();
        assert_eq!(refused.is_some(), expect, "{rule}: {refused:?}");
    };
    for rule in [
        r#"never = "time > 4 s and ego.speed < 1 m/s""#,
        r#"never = "4 s<time and ego.speed < 1 m/s""#,
        r#"always = "abs(time - 3 s) > 1 s or ego.lateral_error < 10 cm""#,
        r#"never = "ego.x > 2 m/s * time + 3 m""#,
        r#"eventually = "ego.at_goal""#,
        "eventually = \"ego.at_goal\"\nby = \"5 s\"",
        r#"at_finish = "ego.lateral_error < 5 cm""#,
        r#"never = "once[0 s, 1 s] ego.clearance < 10 cm""#,
        r#"never = "ego.path_mse > 1 m^2""#,
        r#"never = "ego.jerk_rms > 9 m/s^3""#,
        r#"never = "ego.steering_rate_rms > 2 rad/s""#,
    ] {
        check(rule, true);
    }
    for rule in [
        r#"never = "ego.contact""#,
        r#"at_start = "time <= 0 s""#,
        r#"never = "ego.standing > 4 s""#,
        r#"never = "ego.stalled > 4 s""#,
        r#"never = "ego.wobble > 3 Hz""#,
        r#"never = "ego.driven > 30 m""#,
        r#"never = "ego.deviation_per_metre > 5""#,
        r#"never = "ego.jerk_peak > 90 m/s^3""#,
        r#"never = "ego.steering_rate > 9 rad/s""#,
        r#"never = "ego.commanded_steering > 2 rad""#,
        r#"never = "ego.door_room < -1 m""#,
    ] {
        check(rule, false);
    }
}

/// A car stands before an obstacle: nothing changes any more but the time, which the requirement names.
#[test]
fn a_limit_in_time_is_reached_by_a_car_that_stands() {
    let rule = r#"never = "time > 9 s and ego.speed < 0.01 m/s""#;
    let text = PASS.replace("RULE", rule).replace("\"1.9 m\", length = \"1 m\"", "\"0 m\", length = \"1 m\"");
    let text = text.replace("width = \"1 m\" }", "width = \"1 m\" }\nknown = false").replace("5 s", "12 s");
    let (_, spec) = read_scenario("pass.toml", text.as_bytes(), &Hooks::default()).unwrap_or_else(|e| panic!("{e}"));
    let drive = Drive::assemble(&spec).unwrap();
    let merged = explore(&drive, Merge::Grid(Grid::of(drive.variables())), 2);
    assert!(merged.progress.findings > 0);
}

#[test]
fn histories_are_saved_loaded_and_keyed() {
    for rule in RULES {
        let drive = drive(rule);
        contract::check_contract(&drive, 3, 5).unwrap_or_else(|e| panic!("{rule}: {e}"));
        assert!(drive.variables().iter().any(|variable| variable.name == "requirements.r.counts"));
    }
    let drive = drive(RULES[0]);
    let digest = |threads: usize| explore(&drive, Merge::Grid(Grid::of(drive.variables())), threads).digest;
    assert!([2, 3, 7].into_iter().all(|threads| digest(threads) == digest(1)));
}

#[test]
fn what_is_wrong_with_a_window_is_located() {
    let refuse = |rule: &str, piece: &str, message: &str| {
        let text = PASS.replace("RULE", rule);
        let report =
            read_scenario("pass.toml", text.as_bytes(), &Hooks::default()).map(|_| ()).unwrap_err().to_string();
        assert!(report.contains(message), "{report}");
        assert!(report.contains(piece), "{report}");
    };
    refuse(r#"always = "eventually[2 s, 1 s] ego.at_goal""#, "2 s, 1 s", "ends before it begins");
    refuse(r#"always = "eventually[0 s, 20 m] ego.at_goal""#, "20 m", "does not measure time");
    refuse(r#"always = "ego.at_goal since[0 s] ego.contact""#, "[0 s]", "missing between two times");
}
