//! Findings of the narrow passage, explained: the smallest errors are needed one and all, and the point of no return is
//! where it is said to be.

use anabranch_explore::explain::{Explanation, Limits, Question, Same, explain};
use anabranch_explore::{Explorer, MemoryTrail, NO_PARENT, NoObserver, Settings, Trail, replay};
use anabranch_kernel::{Choice, Seed, SegmentEnd, System};
use anabranch_scenario::Drive;
use anabranch_scenario::file::{Hooks, read_scenario};

const PASSAGE: &[u8] = include_bytes!("../../../scenarios/narrow-passage.toml");
/// Findings that are explained: the first, and some that follow much later.
const EVERY: usize = 90;

fn drive() -> Drive {
    let (_, spec) = read_scenario("narrow-passage.toml", PASSAGE, &Hooks::default()).expect("a shipped scenario");
    Drive::assemble(&spec).expect("a shipped scenario")
}

/// Error sequences that the settings of the paper find, with the requirement that each violates.
fn findings(drive: &Drive) -> Vec<(Vec<Choice>, u16)> {
    let variables = drive.variables();
    let settings = Settings { levels_max: drive.segments(), ..Settings::new(variables, drive.time_matters()) };
    let mut trail = MemoryTrail::default();
    let explorer = Explorer::new(drive).settings(settings.paper(variables));
    let outcome = explorer.run_with(&mut trail, &mut NoObserver).unwrap();
    assert!(outcome.hits.len() > EVERY, "only {} findings", outcome.hits.len());
    let path = |hit: &anabranch_explore::Hit| {
        let (mut node, mut choices) = (hit.parent, vec![hit.choice]);
        loop {
            let (parent, choice) = trail.look(node).unwrap();
            if parent == NO_PARENT {
                choices.reverse();
                return (choices, hit.verdict.requirement);
            }
            choices.push(choice);
            node = parent;
        }
    };
    outcome.hits.iter().step_by(EVERY).map(path).collect()
}

/// Whether the errors, and none after them, violate the requirement; run from the start without saved states.
fn violates(drive: &Drive, choices: &[Choice], requirement: u16) -> bool {
    let mut whole = choices.to_vec();
    whole.resize(drive.segments() as usize, Choice::NONE);
    let run = replay(drive, Seed(0), &drive.space().all()[0], &whole, None).unwrap();
    matches!(run.end, SegmentEnd::Violated(verdicts) if verdicts.iter().any(|v| v.requirement == requirement))
}

fn check(drive: &Drive, why: &Explanation, requirement: u16) {
    let minimal = &why.minimal.choices;
    let run = replay(drive, Seed(0), &drive.space().all()[0], minimal, None).unwrap();
    assert_eq!(run.end, SegmentEnd::Violated(vec![why.verdict]), "certified from the start");
    assert_eq!((why.verdict.requirement, run.segments), (requirement, minimal.len()));
    assert!(why.cost.erroneous >= 2, "no single error drives it into the wall: {minimal:?}");
    for at in (0..minimal.len()).filter(|&at| minimal[at] != Choice::NONE) {
        let mut fewer = minimal.clone();
        fewer[at] = Choice::NONE;
        assert!(!violates(drive, &fewer, requirement), "the error at {at} of {minimal:?} is not needed");
    }
    let boundary = why.no_return.as_ref().expect("without errors it passes").boundary;
    assert!(!violates(drive, &minimal[..boundary], requirement), "before it, nothing more has to go wrong");
    for n in boundary + 1..=minimal.len() {
        assert!(violates(drive, &minimal[..n], requirement), "after it, nothing more has to go wrong either");
    }
    let nearest = why.nearest.as_ref().expect("some sequence nearby passes");
    let passing = replay(drive, Seed(0), &drive.space().all()[0], &nearest.passing.choices, None).unwrap();
    assert_eq!((&passing.end, passing.margin), (&nearest.passing.end, nearest.passing.margin));
    assert!(passing.margin > 0.0);
    let shares: f64 = why.blame.segments.iter().map(|one| one.share.value).sum();
    assert!((shares - why.blame.whole).abs() < 1e-9 && why.blame.whole > 0.3, "{shares} of {}", why.blame.whole);
}

#[test]
fn findings_of_the_narrow_passage_have_a_cause() {
    let drive = drive();
    let params = drive.space().all().remove(0);
    for (choices, requirement) in findings(&drive).iter().take(3) {
        let question = Question {
            system: &drive,
            seed: Seed(0),
            params: &params,
            choices,
            requirement: *requirement,
            same: Same::Requirement,
            segments_max: drive.segments() as usize,
        };
        let one = explain(question, &Limits { holds_max: 10_000, threads: 1, ..Limits::default() }).unwrap();
        check(&drive, &one, *requirement);
        let two = explain(question, &Limits { holds_max: 10_000, threads: 3, ..Limits::default() }).unwrap();
        assert_eq!(one, two, "any number of threads gives one answer");
    }
}
