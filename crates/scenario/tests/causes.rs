//! Causes of the findings of shipped scenarios: few, minimal error by error, and really shared. In release every scenario
//! is looked at; with assertions on, where all is slow, a few, unless `ANABRANCH_ALL_SCENARIOS` is set.

use std::path::PathBuf;

use anabranch_explore::cause::{Accidents, Asked, Cause, Causes, Found, contains, find_causes};
use anabranch_explore::explain::{Limits, Question, Same, explain, single_errors, without_errors};
use anabranch_explore::{self as engine, Budget, Explorer, MemoryTrail, Merge, NO_PARENT, NoObserver, Settings, Trail};
use anabranch_kernel::{Choice, Choices, Seed, SegmentEnd, System, Verdict, Watch};
use anabranch_scenario::Drive;
use anabranch_scenario::file::{Hooks, Keep, ScenarioSpec, read_scenario};

/// States that are enough to find something in every scenario that has something to find.
const STATES: u64 = 20_000;
/// Scenarios that are looked at in a debug build too. The first two kept superfluous errors once.
const ALWAYS: [&str; 4] = ["brake-light-chain", "soft-tyre", "truck-with-trailer", "narrow-passage-eager"];
/// Of the members of a cause every so many are run again.
const SAMPLE: usize = 61;

fn scenario(name: &str) -> (ScenarioSpec, Drive) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(format!("{name}.toml"));
    let bytes = std::fs::read(&file).unwrap();
    let (_, spec) = read_scenario(name, &bytes, &Hooks::default()).unwrap_or_else(|e| panic!("{e}"));
    let drive = Drive::assemble(&spec).unwrap();
    (spec, drive)
}

fn names() -> Vec<String> {
    if cfg!(debug_assertions) && std::env::var_os("ANABRANCH_ALL_SCENARIOS").is_none() {
        return ALWAYS.map(str::to_owned).into();
    }
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> = files
        .filter(|file| file.extension().is_some_and(|e| e == "toml"))
        .map(|file| file.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// What happened: the requirement, who was touched, and with which part of the car, by thirds.
type Accident = (u16, Option<u32>, Option<[i8; 2]>);

struct ByPlace<'a>(&'a Drive);

impl ByPlace<'_> {
    fn accident(&self, verdict: &Verdict) -> Accident {
        let outline = &self.0.car().outline;
        let third = |at: f64, low: f64, high: f64| ((at - low) / (high - low) * 3.0).clamp(0.0, 2.0) as i8 - 1;
        let part = verdict.place.map(|place| {
            let [x, y] = place.on_ego;
            [third(x, -outline.rear_m, outline.front_m), third(y, -outline.half_width_m, outline.half_width_m)]
        });
        (verdict.requirement, verdict.place.map(|place| place.other), part)
    }
}

impl Accidents for ByPlace<'_> {
    type Accident = Accident;
    fn of(&self, found: &Found<'_>) -> Accident {
        self.accident(&found.verdict)
    }
    fn are_mirrored(&self, one: &Accident, other: &Accident) -> bool {
        one.0 == other.0 && one.2.map(|[along, across]| [along, -across]) == other.2
    }
}

/// A start, the error of every segment, and what they violate.
type Violation = (usize, Vec<Choice>, Verdict);

fn findings(spec: &ScenarioSpec, drive: &Drive, states: u64, levels_max: u32) -> (Vec<Violation>, u64) {
    let merge = drive.grid(&spec.explore.merge).unwrap();
    let settings = Settings {
        keep: match spec.explore.keep.value {
            Keep::First => engine::Keep::First,
            Keep::Worst => engine::Keep::Worst,
            Keep::Extremes => engine::Keep::Extremes,
        },
        merge: merge.map_or(Merge::None, Merge::Grid),
        merge_every: spec.explore.merge_every.value,
        budget: Budget { states: Some(states), ..Budget::default() },
        levels_max,
        ..Settings::new(drive.variables(), drive.time_matters())
    };
    let mut trail = MemoryTrail::default();
    let outcome = Explorer::new(drive).settings(settings).run_with(&mut trail, &mut NoObserver).unwrap();
    let path = |hit: &engine::Hit| {
        let (mut node, mut choices) = (hit.parent, vec![hit.choice]);
        loop {
            let (parent, choice) = trail.look(node).unwrap();
            if parent == NO_PARENT {
                choices.reverse();
                return (choice.index(), choices, hit.verdict);
            }
            choices.push(choice);
            node = parent;
        }
    };
    (outcome.hits.iter().map(path).collect(), outcome.progress.segments)
}

fn causes(drive: &Drive, found: &[Violation], work_max: u64, threads: usize) -> Causes<Accident> {
    let findings: Vec<Found<'_>> =
        found.iter().map(|(start, choices, verdict)| Found { start: *start, choices, verdict: *verdict }).collect();
    let asked = Asked {
        system: drive,
        seed: Seed(0),
        starts: &drive.space().all(),
        findings: &findings,
        accidents: &ByPlace(drive),
        segments_max: drive.segments() as usize,
        work_max,
        threads,
        goes_on: &|| true,
    };
    find_causes(&asked).unwrap()
}

/// How a sequence ends, run from the start in the plainest way: what is not live becomes "no error", and after the last
/// choice there is none.
fn end(drive: &Drive, start: usize, choices: &[Choice]) -> SegmentEnd {
    let mut state = drive.start(Seed(0), &drive.space().all()[start]).unwrap();
    let mut live = Choices::new();
    for at in 0..drive.segments() as usize {
        let wanted = choices.get(at).copied().unwrap_or(Choice::NONE);
        drive.live(&state, &mut live);
        let choice = if live.contains(&wanted) { wanted } else { Choice::NONE };
        match drive.run(&mut state, choice, &mut Watch::off()).unwrap() {
            SegmentEnd::Open => {}
            end => return end,
        }
    }
    SegmentEnd::Open
}

fn happens(drive: &Drive, start: usize, choices: &[Choice], accident: &Accident) -> bool {
    let SegmentEnd::Violated(verdicts) = end(drive, start, choices) else { return false };
    verdicts.iter().any(|verdict| ByPlace(drive).accident(verdict) == *accident)
}

/// The accident happens, and without any single error it does not.
fn check_minimal(drive: &Drive, cause: &Cause<Accident>) {
    let Cause { accident, minimal, start, .. } = cause;
    assert!(happens(drive, *start, &minimal.choices, accident), "{}: {accident:?}", drive.name());
    for error in single_errors(drive.errors(), &minimal.choices) {
        let fewer = without_errors(drive.errors(), &minimal.choices, &[error]);
        let gone = !happens(drive, *start, &fewer, accident);
        assert!(gone, "{}: {accident:?} happens without {error:?} of {:?}", drive.name(), minimal.choices);
    }
}

/// Some of the member's errors, all of the kinds of the cause, lead to the same accident.
fn check_shared(drive: &Drive, causes: &Causes<Accident>, cause: &Cause<Accident>, found: &Violation) {
    let (start, choices, _) = found;
    let fewer = causes.kinds.restrict(drive.errors(), choices, &cause.kinds);
    let is_inside = |(at, witness): &&(usize, Vec<Choice>)| at == start && contains(drive.errors(), choices, witness);
    let shares = happens(drive, *start, &fewer, &cause.accident)
        || cause.witnesses.iter().filter(is_inside).any(|(at, witness)| {
            assert!(causes.kinds.in_sequence(witness).is_subset(&cause.kinds));
            happens(drive, *at, witness, &cause.accident)
        });
    assert!(shares, "{}: {choices:?} does not share {:?}", drive.name(), cause.kinds);
}

#[test]
fn with_any_single_error_of_a_minimal_sequence_left_out_that_accident_is_gone() {
    let mut with_findings = 0;
    for name in names() {
        let (spec, drive) = scenario(&name);
        let (found, segments) = findings(&spec, &drive, STATES, u32::MAX);
        let causes = causes(&drive, &found, u64::MAX, 2);
        assert_eq!(causes.unassigned.len(), 0, "{name}: {:?}", causes.unfinished);
        for cause in &causes.causes {
            check_minimal(&drive, cause);
            cause.members.iter().step_by(SAMPLE).for_each(|&at| check_shared(&drive, &causes, cause, &found[at]));
        }
        with_findings += usize::from(!found.is_empty());
        println!(
            "{name}: {} findings of {segments} segments, {} causes ({} with mirror images), {} segments for them",
            found.len(),
            causes.count(),
            causes.causes.len(),
            causes.segments_run
        );
    }
    assert!(with_findings >= ALWAYS.len(), "only {with_findings} scenarios had findings");
}

#[test]
fn the_narrow_passage_has_at_most_four_causes_and_their_members_share_them() {
    let (spec, drive) = scenario("narrow-passage");
    // With assertions on the first eight seconds are enough: half of all findings are there.
    let levels_max = if cfg!(debug_assertions) { 8 } else { u32::MAX };
    let (found, segments) = findings(&spec, &drive, u64::MAX, levels_max);
    assert!(found.len() > 2_000, "{}", found.len());
    let causes = causes(&drive, &found, (segments / 4).min(250_000), 2);
    assert!((1..=4).contains(&causes.count()), "{} causes", causes.count());
    assert_eq!(causes.unassigned.len(), 0, "{:?}", causes.unfinished);
    for cause in &causes.causes {
        check_minimal(&drive, cause);
        cause.members.iter().step_by(SAMPLE).for_each(|&at| check_shared(&drive, &causes, cause, &found[at]));
    }
    let most = causes.causes.iter().map(|cause| cause.members.len()).max().unwrap();
    assert!(most * 10 > found.len() * 4, "one cause and its mirror image have most of them");
}

#[test]
fn any_number_of_threads_finds_the_same_causes() {
    let (spec, drive) = scenario("truck-with-trailer");
    let (found, _) = findings(&spec, &drive, STATES, u32::MAX);
    let [one, three] = [1, 3].map(|threads| causes(&drive, &found, u64::MAX, threads));
    assert_eq!((one.causes, one.segments_run), (three.causes, three.segments_run));
}

/// The explanations of two scenarios that kept errors beside the needed ones.
#[test]
fn no_superfluous_error_is_left_by_explain() {
    for name in ["brake-light-chain", "soft-tyre"] {
        let (spec, drive) = scenario(name);
        let (found, _) = findings(&spec, &drive, STATES, u32::MAX);
        let starts = drive.space().all();
        for (start, choices, verdict) in found.iter().step_by(found.len().div_ceil(3)) {
            let accident = ByPlace(&drive).accident(verdict);
            let is_same = |_: &[Choice], verdict: &Verdict| ByPlace(&drive).accident(verdict) == accident;
            let question = Question {
                system: &drive,
                seed: Seed(0),
                params: &starts[*start],
                choices,
                requirement: verdict.requirement,
                same: Same::Accident(&is_same),
                segments_max: drive.segments() as usize,
            };
            let why = explain(question, &Limits { holds_max: 500, threads: 2, ..Limits::default() }).unwrap();
            assert!(why.superfluous.is_empty(), "{name}: {:?}", why.superfluous);
            let errors = single_errors(drive.errors(), &why.minimal.choices);
            assert!(!errors.is_empty() && errors.len() <= single_errors(drive.errors(), choices).len());
            for error in errors {
                let fewer = without_errors(drive.errors(), &why.minimal.choices, &[error]);
                assert!(!happens(&drive, *start, &fewer, &accident), "{name}: {error:?} is not needed");
            }
        }
    }
}
