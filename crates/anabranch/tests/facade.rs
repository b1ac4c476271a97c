//! A driver in Rust in the loop of a scenario, through the crate that people depend on.

mod law;

use anabranch::{Answer, DriverInstance, Instance, Op, Scenario, Seen, explore_driver, explore_scenario};
use law::Law;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/narrow-passage.toml");
/// The shortest collision of this scenario has eight segments; one member per cell is enough to find one.
const SHORT: [(&str, &str); 6] = [
    ("explore.until", "8 s"),
    ("must.arrives.by", "8 s"),
    ("explore.keep", "worst"),
    ("explore.merge.x", "1 m"),
    ("explore.rollouts", "0"),
    ("explore.refine", "0"),
];

#[test]
fn the_built_in_law_as_a_driver_in_rust_has_the_same_findings() {
    let scenario = Scenario::read(FILE).unwrap().with(&SHORT).unwrap();
    let built_in = explore_scenario(&scenario).unwrap();
    let own = explore_driver(&scenario, Law::default()).unwrap();
    let collides = |finding: &anabranch::Finding| finding.requirement == "no-contact";
    assert!(built_in.findings.iter().any(collides), "{:?}", built_in.outcome.progress);
    assert_eq!(built_in.findings, own.findings);
    assert_eq!(built_in.outcome.progress, own.outcome.progress);
    assert!(own.not_reproduced.is_empty());
}

#[test]
fn a_panic_is_a_finding_and_the_exploration_goes_on() {
    let scenario = Scenario::read(FILE).unwrap().with(&[("explore.until", "3 s"), ("must.arrives.by", "3 s")]).unwrap();
    let explored = explore_driver(&scenario, Law { panics_beyond_m: Some(0.12), ..Law::default() }).unwrap();
    assert!(explored.outcome.complete());
    assert_eq!(explored.findings[0].requirement, "driver.exception");
    assert!(
        explored.findings.iter().any(|finding| finding.requirement == "arrives"),
        "other runs went on to their end"
    );
}

#[test]
fn branches_are_clones_and_failures_are_told() {
    let mut instance = DriverInstance::new(Law::default());
    let mut answers = Vec::new();
    let seen = Box::new(Seen::default());
    let ops = [
        Op::Reset { branch: 0, begin: Box::default() },
        Op::Save { branch: 0, token: 1 },
        Op::Load { token: 1, branch: 2 },
        Op::Step { branch: 2, seen: seen.clone() },
        Op::Step { branch: 0, seen },
        Op::Load { token: 9, branch: 0 },
        Op::Drop { tokens: vec![1] },
        Op::Load { token: 1, branch: 0 },
    ];
    instance.exchange(&ops, &mut answers).unwrap();
    let failed = |text: &str| Answer::Failed { text: text.to_owned() };
    assert!(matches!(&answers[3], Answer::Decision(decision) if decision.completed));
    assert_eq!(answers[4], failed("there is no branch 0"));
    assert_eq!(answers[5], failed("there is no saved state 9"));
    assert_eq!(answers[7], failed("there is no saved state 1"));
}

#[test]
fn mistakes_in_a_scenario_are_told_with_their_place() {
    let text = "schema = \"anabranch/1\"\nname = \"x\"\n[world]\nstep = 10\n";
    let message = Scenario::from_text("mine.toml", text).unwrap_err().to_string();
    assert!(message.contains("mine.toml") && message.contains("E0104"), "{message}");
    assert!(Scenario::read("nowhere.toml").unwrap_err().to_string().starts_with("nowhere.toml: "));
}
