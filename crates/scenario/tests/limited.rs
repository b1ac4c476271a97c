//! Requirements that are meant for errors up to a size, in a scenario whose branches run side by side (S1-55).

use anabranch_explore::{Explorer, Merge, Outcome, Settings};
use anabranch_kernel::{System, contract};
use anabranch_scenario::Drive;
use anabranch_scenario::file::{Hooks, read_scenario};

/// A car passes a box; 6° of steering error are enough to touch it, 1° are not.
const PULL: &str = r#"schema = "anabranch/1"
name   = "pull"
[world]
step = "10 ms"
[[world.obstacle]]
id  = "box"
box = { x = "8 m", y = "1.5 m", length = "1 m", width = "1 m" }
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
jump = { radius = "0.05 m", directions = 2, heading = "0.2 deg" }
[errors]
at_once = 1
[explore]
until = "9 s"
[[must]]
id    = "no-contact"
never = "ego.clearance <= 0 m"
GIVEN
"#;

fn drive(given: &str) -> Drive {
    let text = PULL.replace("GIVEN", given);
    let (_, spec) = read_scenario("pull.toml", text.as_bytes(), &Hooks::default()).unwrap_or_else(|e| panic!("{e}"));
    Drive::assemble(&spec).unwrap()
}

fn explore(drive: &Drive) -> Outcome {
    let settings = Settings {
        merge: Merge::Grid(anabranch_kernel::Grid::of(drive.variables()).scaled(2.0)),
        rollouts: 100,
        ..Settings::new(drive.variables(), drive.time_matters())
    };
    let outcome = Explorer::new(drive).settings(settings).run().unwrap();
    assert!(outcome.complete());
    outcome
}

#[test]
fn what_takes_a_large_error_is_no_finding() {
    let check = |given: &str, is_found: bool| {
        let outcome = explore(&drive(given));
        assert_eq!(outcome.progress.findings > 0, is_found, "{given}");
        // Random runs meet it rarely, but never where it is none.
        assert!(is_found || outcome.coverage.violations.is_empty(), "{given}");
        assert_eq!(outcome.constant_errors_violate.is_empty(), !is_found, "{given}");
    };
    check("", true);
    check("given = { pulls = \"6 deg\" }", true);
    check("given = { pulls = \"1 deg\" }", false);
    check("given = { pulls = \"0 deg\" }", false);
    // Errors that are not named, and sizes of another kind, are not limited.
    check("given = { jumps = \"0.01 m\" }", true);
    check("given = { jumps = [\"0.01 m\", \"0.1 deg\"], pulls = \"6 deg\" }", true);
}

#[test]
fn that_a_limit_was_exceeded_belongs_to_the_key() {
    let name = |drive: &Drive| drive.variables().iter().any(|variable| variable.name == "requirements.exceeded");
    assert!(name(&drive("given = { pulls = \"1 deg\" }")));
    // Without a limit that can be exceeded there is nothing to remember.
    assert!(!name(&drive("")) && !name(&drive("given = { pulls = \"6 deg\" }")));
}

#[test]
fn side_by_side_and_one_by_one_agree_and_the_contract_holds() {
    let wide = drive("given = { pulls = \"1 deg\" }");
    contract::check_contract(&wide, 6, 40).unwrap_or_else(|e| panic!("{e}"));
    let mut single = wide.clone();
    single.set_side_by_side(false);
    assert_eq!(explore(&wide).digest, explore(&single).digest);
}

#[test]
fn a_heading_is_limited_by_an_angle() {
    let exceeded = |given: &str| {
        let drive = drive(given);
        let mut state = drive.start(anabranch_kernel::Seed(0), &drive.space().all()[0]).unwrap();
        let turned = drive.errors().choices().find(|c| drive.errors().describe(*c).contains("heading")).unwrap();
        let before = state.monitors.settled();
        drive.run(&mut state, turned, &mut anabranch_kernel::Watch::off()).unwrap();
        state.monitors.settled() != before
    };
    assert!(exceeded("given = { jumps = \"0.1 deg\" }"));
    assert!(!exceeded("given = { jumps = \"0.3 deg\" }") && !exceeded("given = { jumps = \"0 m\" }"));
}
