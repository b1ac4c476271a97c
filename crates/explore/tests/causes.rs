//! Causes of findings in a small world of which every error sequence is run.

use std::collections::BTreeSet;

use anabranch_explore::cause::{Accidents, Asked, Causes, Found, Unfinished, contains, find_causes};
use anabranch_explore::explain::{Limits, Question, Same, explain, single_errors, superfluous, without_errors};
use anabranch_explore::replay;
use anabranch_kernel::{
    Choice, ErrorSpace, Fault, KeyWriter, Mode, Params, Place, Seed, SegmentEnd, Site, System, Variable, Verdict, Watch,
};
use serde::{Deserialize, Serialize};

const LEVELS: u32 = 4;

/// A point between two walls: three pushes to one side, or two while the brake is lost, touch the wall of that side.
struct Corridor {
    errors: ErrorSpace,
    names: Vec<String>,
    variables: Vec<Variable>,
    /// Pushes to the right are so much stronger.
    to_the_right: i32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Point {
    y: i32,
    level: u32,
}

fn corridor(to_the_right: i32) -> Corridor {
    let site = |id: &str, modes: &[&str]| Site {
        id: id.to_owned(),
        modes: modes.iter().map(|name| Mode { name: (*name).to_owned(), size: f64::from(*name != "none") }).collect(),
    };
    let sites = vec![
        site("push", &["none", "left", "right"]),
        site("brake", &["none", "lost"]),
        site("radio", &["none", "loud"]),
    ];
    Corridor {
        errors: ErrorSpace::new(sites, 3).unwrap(),
        names: vec!["no-touch".to_owned()],
        variables: vec![Variable::exact("y"), Variable::exact("level")],
        to_the_right,
    }
}

impl System for Corridor {
    type State = Point;
    fn errors(&self) -> &ErrorSpace {
        &self.errors
    }
    fn variables(&self) -> &[Variable] {
        &self.variables
    }
    fn start(&self, _: Seed, _: &Params) -> Result<Point, Fault> {
        Ok(Point { y: 0, level: 0 })
    }
    fn run(&self, s: &mut Point, choice: Choice, watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
        let modes = self.errors.modes(choice);
        let push = [0, 2, -2 - self.to_the_right][usize::from(modes[0])];
        s.y += push + push.signum() * i32::from(modes[1]);
        s.level += 1;
        watch.see_margin(f64::from(6 - s.y.abs()));
        if s.y.abs() >= 6 {
            let (side, other) = if s.y > 0 { (1.0, 0) } else { (-1.0, 1) };
            let place = Some(Place { on_ego: [0.0, side], in_world: [0.0; 2], other });
            return Ok(SegmentEnd::Violated(vec![Verdict { requirement: 0, tick: u64::from(s.level), place }]));
        }
        Ok(if s.level == LEVELS { SegmentEnd::TimedOut } else { SegmentEnd::Open })
    }
    fn cell(&self, s: &Point, key: &mut KeyWriter<'_>) {
        key.exact(0, s.y as u64);
        key.exact(1, u64::from(s.level));
    }
    fn requirements(&self) -> &[String] {
        &self.names
    }
}

/// Which wall, and with which side.
struct Walls;

impl Accidents for Walls {
    type Accident = (u32, bool);
    fn of(&self, found: &Found<'_>) -> (u32, bool) {
        let place = found.verdict.place.expect("every touch has a place");
        (place.other, place.on_ego[1] > 0.0)
    }
    fn are_mirrored(&self, one: &(u32, bool), other: &(u32, bool)) -> bool {
        one.1 != other.1
    }
}

/// Every error sequence up to its violation.
fn all(system: &Corridor) -> Vec<(Vec<Choice>, Verdict)> {
    let b = system.errors.len();
    let mut found = BTreeSet::new();
    for number in 0..b.pow(LEVELS) {
        let choices: Vec<Choice> = (0..LEVELS).map(|at| Choice((number / b.pow(at) % b) as u16)).collect();
        let run = replay(system, Seed(0), &Params::default(), &choices, None).unwrap();
        if matches!(run.end, SegmentEnd::Violated(_)) {
            found.insert(choices[..run.segments].to_vec());
        }
    }
    let verdict = |choices: &[Choice]| match replay(system, Seed(0), &Params::default(), choices, None).unwrap().end {
        SegmentEnd::Violated(verdicts) => verdicts[0],
        end => panic!("{end:?}"),
    };
    found.into_iter().map(|choices| (choices.clone(), verdict(&choices))).collect()
}

fn causes(
    system: &Corridor,
    found: &[(Vec<Choice>, Verdict)],
    work_max: u64,
    threads: usize,
    goes_on: &(dyn Fn() -> bool + Sync),
) -> Causes<(u32, bool)> {
    let findings: Vec<Found<'_>> =
        found.iter().map(|(choices, verdict)| Found { start: 0, choices, verdict: *verdict }).collect();
    let asked = Asked {
        system,
        seed: Seed(0),
        starts: &[Params::default()],
        findings: &findings,
        accidents: &Walls,
        segments_max: LEVELS as usize,
        work_max,
        threads,
        goes_on,
    };
    find_causes(&asked).unwrap()
}

/// Whether the choices, and no error after them, lead to this wall.
fn touches(system: &Corridor, choices: &[Choice], wall: u32) -> bool {
    let mut whole = choices.to_vec();
    whole.resize(LEVELS as usize, Choice::NONE);
    let run = replay(system, Seed(0), &Params::default(), &whole, None).unwrap();
    matches!(run.end, SegmentEnd::Violated(v) if v[0].place.unwrap().other == wall)
}

#[test]
fn thousands_of_findings_have_two_causes_and_every_one_shares_its_own() {
    let system = corridor(0);
    let found = all(&system);
    assert!(found.len() > 2_000, "{}", found.len());
    let causes = causes(&system, &found, u64::MAX, 2, &|| true);
    assert_eq!((causes.unassigned.len(), &causes.unfinished), (0, &None));
    // Pushes alone, and pushes with the brake; the radio is in most findings and in no cause. The other wall is the mirror.
    assert_eq!(causes.count(), 2);
    let mut members = BTreeSet::new();
    for cause in &causes.causes {
        let kinds: Vec<&str> = cause.kinds.iter().map(|kind| causes.kinds.name(*kind)).collect();
        assert!(!kinds.contains(&"radio: loud"), "{kinds:?}");
        for &at in &cause.members {
            assert!(members.insert(at), "a finding has one cause");
            assert!(cause.kinds.is_subset(&causes.kinds.in_sequence(&found[at].0)), "and every kind of it");
            let fewer = causes.kinds.restrict(&system.errors, &found[at].0, &cause.kinds);
            let is_witnessed = cause.witnesses.iter().any(|(_, w)| contains(&system.errors, &found[at].0, w));
            assert!(touches(&system, &fewer, cause.accident.0) || is_witnessed, "{kinds:?} {:?}", found[at].0);
        }
        for error in single_errors(&system.errors, &cause.minimal.choices) {
            let fewer = without_errors(&system.errors, &cause.minimal.choices, &[error]);
            assert!(!touches(&system, &fewer, cause.accident.0), "{error:?} of {:?}", cause.minimal);
        }
        assert!(cause.witnesses.iter().all(|(_, witness)| touches(&system, witness, cause.accident.0)));
    }
    assert_eq!(members.len(), found.len());
}

#[test]
fn causes_that_only_look_like_mirror_images_stay_apart() {
    // To the right two pushes are enough, to the left it takes three: mirrored, neither does what the other does.
    let system = corridor(1);
    let causes = causes(&system, &all(&system), u64::MAX, 1, &|| true);
    let alone = causes.causes.iter().filter(|cause| cause.kinds.len() == 1).collect::<Vec<_>>();
    assert_eq!(alone.len(), 2);
    assert!(alone.iter().any(|cause| single_errors(&system.errors, &cause.minimal.choices).len() == 2));
    assert!(causes.count() >= 2);
}

#[test]
fn any_number_of_threads_finds_the_same_causes() {
    let system = corridor(0);
    let found = all(&system);
    let [one, three] = [1, 3].map(|threads| causes(&system, &found, u64::MAX, threads, &|| true));
    assert_eq!((one.causes, one.segments_run), (three.causes, three.segments_run));
}

#[test]
fn without_work_or_time_nothing_is_guessed() {
    let system = corridor(0);
    let found = all(&system);
    let little = causes(&system, &found, 1, 1, &|| true);
    assert_eq!(little.unfinished, Some(Unfinished::Work));
    let assigned: usize = little.causes.iter().map(|cause| cause.members.len()).sum();
    assert_eq!(assigned + little.unassigned.len(), found.len());
    assert!(!little.unassigned.is_empty());
    let stopped = causes(&system, &found, u64::MAX, 1, &|| false);
    assert_eq!((stopped.unfinished, stopped.unassigned.len()), (Some(Unfinished::Stopped), found.len()));
}

/// Segments with two errors at once are taken apart, and no explanation has more errors than its finding.
#[test]
fn superfluous_errors_next_to_needed_ones_are_left_out() {
    let system = corridor(0);
    let params = Params::default();
    for (choices, verdict) in all(&system).iter().step_by(37) {
        let wall = verdict.place.unwrap().other;
        let is_same = |_: &[Choice], verdict: &Verdict| verdict.place.is_some_and(|place| place.other == wall);
        let question = Question {
            system: &system,
            seed: Seed(0),
            params: &params,
            choices,
            requirement: 0,
            same: Same::Accident(&is_same),
            segments_max: LEVELS as usize,
        };
        let why = explain(question, &Limits { threads: 1, ..Limits::default() }).unwrap();
        let left = single_errors(&system.errors, &why.minimal.choices);
        assert!(left.len() <= single_errors(&system.errors, choices).len(), "{choices:?}");
        assert_eq!(why.verdict.place.unwrap().other, wall, "the same wall");
        assert!(left.iter().all(|error| error.site != 2), "the radio is never needed: {:?}", why.minimal);
        for error in left {
            assert!(!touches(&system, &without_errors(&system.errors, &why.minimal.choices, &[error]), wall));
        }
        assert!(why.superfluous.is_empty());
    }
}

/// The flag is computed: of a sequence that is not minimal it names what is not needed.
#[test]
fn what_is_not_needed_is_named() {
    let system = corridor(0);
    let params = Params::default();
    let loud = system.errors.find(&[1, 0, 1]).unwrap();
    let left = system.errors.find(&[1, 0, 0]).unwrap();
    let choices = [left, loud, left];
    let question = Question {
        system: &system,
        seed: Seed(0),
        params: &params,
        choices: &choices,
        requirement: 0,
        same: Same::Requirement,
        segments_max: LEVELS as usize,
    };
    let tried = anabranch_explore::explain::Tries::new(question).unwrap().one(&choices).unwrap();
    let named = superfluous(&question, &tried).unwrap();
    assert_eq!(named.iter().map(|error| (error.segment, error.site)).collect::<Vec<_>>(), [(1, 2)]);
}
