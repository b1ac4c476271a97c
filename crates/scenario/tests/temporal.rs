//! Requirements about more than one moment, in a scenario: what they find, and that they are part of the state.

use anabranch_explore::{Explorer, Merge, Outcome, Settings};
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
