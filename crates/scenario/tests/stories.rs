//! What each shipped scenario promises in its comments, checked.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anabranch_explore::{
    self as engine, Explorer, MemoryTrail, Merge, NoObserver, Order, Outcome, Scope, Settings, Trail, replay,
};
use anabranch_kernel::{Choice, Params, Seed, SegmentEnd, System};
use anabranch_scenario::file::{Document, Hooks, Keep, ScenarioSpec};
use anabranch_scenario::{AssembleError, Drive};

const NO_CONTACT: &str = "no-contact";

fn spec(name: &str, overrides: &[(&str, &str)]) -> ScenarioSpec {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(format!("{name}.toml"));
    let mut document = Document::parse(name, &std::fs::read(file).unwrap()).unwrap_or_else(|e| panic!("{e}"));
    for (path, value) in overrides {
        document.apply_override(path, value).unwrap_or_else(|e| panic!("{e}"));
    }
    document.read(&Hooks::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// A scenario, ready to explore as its file says.
struct Story {
    drive: Drive,
    settings: Settings,
}

/// What an exploration found, and how to get there.
struct Told {
    outcome: Outcome,
    trail: MemoryTrail,
}

impl Story {
    fn of(name: &str) -> Self {
        Self::with(name, &[])
    }

    fn with(name: &str, overrides: &[(&str, &str)]) -> Self {
        let spec = spec(name, overrides);
        let drive = Drive::assemble(&spec).unwrap_or_else(|e| panic!("{name}: {e}"));
        let merge = drive.grid(&spec.explore.merge).expect("the file names variables that exist");
        let defaults = Settings::new(drive.variables(), drive.time_matters());
        let keep = match spec.explore.keep.value {
            Keep::First => engine::Keep::First,
            Keep::Worst => engine::Keep::Worst,
            Keep::Extremes => engine::Keep::Extremes,
        };
        let scope = if drive.time_matters() { Scope::Level } else { Scope::Visited };
        let settings = Settings { keep, scope, merge: merge.map_or(Merge::None, Merge::Grid), ..defaults };
        Self { drive, settings }
    }

    fn paper(mut self) -> Self {
        self.settings = self.settings.paper(self.drive.variables());
        self
    }
    fn levels(mut self, levels: u32) -> Self {
        self.settings.levels_max = levels;
        self
    }

    fn explore(&self) -> Told {
        let mut trail = MemoryTrail::default();
        let explorer = Explorer::new(&self.drive).settings(self.settings.clone());
        let outcome = explorer.run_with(&mut trail, &mut NoObserver).unwrap();
        Told { outcome, trail }
    }

    /// Runs error choices, then goes on without error; returns what was violated.
    fn violated(&self, choices: &[Choice]) -> Vec<String> {
        let mut choices = choices.to_vec();
        choices.resize(choices.len().max(self.drive.segments() as usize), Choice::NONE);
        let run = replay(&self.drive, Seed(0), &self.start(), &choices, None).unwrap();
        match run.end {
            SegmentEnd::Violated(verdicts) => {
                verdicts.iter().map(|v| self.drive.requirements()[usize::from(v.requirement)].clone()).collect()
            }
            _ => Vec::new(),
        }
    }
    fn start(&self) -> Params {
        self.drive.space().all()[0].clone()
    }

    /// The choice with this description.
    fn choice(&self, description: &str) -> Choice {
        let errors = self.drive.errors();
        let found = errors.choices().find(|&choice| errors.describe(choice) == description);
        found.unwrap_or_else(|| {
            panic!("no {description:?} in {:?}", errors.choices().map(|c| errors.describe(c)).collect::<Vec<_>>())
        })
    }

    /// Constant errors that violate, by description.
    fn constants(&self, told: &Told) -> Vec<String> {
        told.outcome.constant_errors_violate.iter().map(|&choice| self.drive.errors().describe(choice)).collect()
    }
}

impl Told {
    /// The choices of every finding that violates a requirement.
    fn sequences(&self, story: &Story, requirement: &str) -> Vec<Vec<Choice>> {
        let number = story.drive.requirements().iter().position(|id| id == requirement).unwrap();
        let hits = self.outcome.hits.iter().filter(|hit| usize::from(hit.verdict.requirement) == number);
        hits.map(|hit| {
            let mut path = self.trail.path(hit.parent).unwrap().1;
            path.push(hit.choice);
            path
        })
        .collect()
    }
    fn findings(&self) -> u64 {
        assert!(self.outcome.complete());
        self.outcome.progress.findings
    }
}

#[track_caller]
fn assert_found_but_no_constant(story: &Story, told: &Told) {
    assert!(!told.sequences(story, NO_CONTACT).is_empty(), "{} finds no contact", story.drive.name());
    assert_eq!(story.constants(told), [""; 0], "{}", story.drive.name());
}

#[test]
fn every_scenario_passes_without_errors() {
    for name in [
        "curved-parking",
        "first-steps",
        "late-obstacle",
        "narrow-passage",
        "narrow-passage-actuator-delay",
        "narrow-passage-calm",
        "narrow-passage-drift",
        "narrow-passage-eager",
        "narrow-passage-starts",
        "narrow-passage-timetable",
        "replanning-garage",
        "small-obstacle",
        "sudden-obstacle",
    ] {
        assert_eq!(Story::of(name).violated(&[]), [""; 0], "{name}");
    }
}

/// S1-40, S1-42, S1-44: the numbers of the paper, in kind and in size.
#[test]
fn narrow_passage_explored_as_in_the_paper() {
    let story = Story::of("narrow-passage").paper();
    let told = story.explore();
    assert_found_but_no_constant(&story, &told);
    let progress = &told.outcome.progress;
    assert!((2_000..=10_000).contains(&progress.segments), "{progress:?}");
    assert!(progress.segments_from_start >= 10 * progress.segments, "{progress:?}");
    let (levels, choices) = (story.drive.segments(), story.drive.errors().choices().count() as u128);
    assert!(u128::from(levels) * choices.pow(levels) > 1_000_000_000_000, "{choices} choices, {levels} levels");
    let last = told.outcome.first_hit.unwrap();
    assert!(last < progress.segments, "exploration goes on after a finding (S1-41)");
}

/// S1-41: the estimate is off to one side, flips to the other, and the car hits a wall.
#[test]
fn the_narrow_passage_is_touched_when_the_estimate_changes_sides() {
    let story = Story::of("narrow-passage").paper();
    let sequences = story.explore().sequences(&story, NO_CONTACT);
    let side = |choice: &Choice| {
        let name = story.drive.errors().describe(*choice);
        ["left", "right"].into_iter().find(|side| name.contains(side))
    };
    assert!(!sequences.is_empty());
    for sequence in sequences {
        let sides: Vec<&str> = sequence.iter().filter_map(side).collect();
        assert!(sides.contains(&"left") && sides.contains(&"right"), "{sequence:?}");
    }
}

#[test]
fn danger_first_finds_the_narrow_passage_ten_times_sooner() {
    let first = |order| {
        let mut story = Story::of("narrow-passage").levels(8);
        (story.settings.order, story.settings.stop_on_first) = (order, true);
        story.explore().outcome.first_hit.unwrap()
    };
    let (breadth, danger) = (first(Order::Breadth), first(Order::Danger));
    assert!(danger * 10 <= breadth, "danger {danger}, breadth {breadth}");
}

/// S1-43: quiet seconds, one side, the other side, contact; at any other time the same errors do no harm.
#[test]
fn small_obstacle_is_touched_at_one_time_only() {
    let story = Story::of("small-obstacle");
    let told = story.explore();
    assert_found_but_no_constant(&story, &told);
    let only_then = |choices: &Vec<Choice>| {
        let quiet = choices.iter().take_while(|&&choice| choice == Choice::NONE).count();
        let errors = &choices[quiet..];
        (0..story.drive.segments() as usize)
            .filter(|&other| other != quiet)
            .all(|other| story.violated(&[&vec![Choice::NONE; other], errors].concat()).is_empty())
    };
    let shaped: Vec<_> = told.sequences(&story, NO_CONTACT).into_iter().filter(|c| is_one_side_then_other(c)).collect();
    assert!(shaped.iter().any(only_then), "{} findings have the shape", shaped.len());
}

/// At least four seconds without error, at least two to one side, then the other side until the end.
fn is_one_side_then_other(choices: &[Choice]) -> bool {
    let quiet = choices.iter().take_while(|&&choice| choice == Choice::NONE).count();
    let runs: Vec<&[Choice]> = choices[quiet..].chunk_by(|a, b| a == b).collect();
    quiet >= 4 && runs.len() == 2 && runs[0].len() >= 2 && runs[1][0] != Choice::NONE
}

/// S1-46.
#[test]
fn curved_parking_is_planned_and_found() {
    assert!(spec("curved-parking", &[]).ego.path.is_none());
    let story = Story::of("curved-parking");
    let arcs = story.drive.path(0).arcs();
    assert!(arcs.iter().any(|arc| arc.curvature_per_m.abs() > 0.1 && arc.length_m < -3.0), "{arcs:?}");
    let told = story.levels(12).explore();
    assert!(told.findings() > 100);

    let story = Story::of("curved-parking").paper();
    let told = story.explore();
    assert_found_but_no_constant(&story, &told);
    assert!((2_000..=6_000).contains(&told.outcome.progress.segments), "{:?}", told.outcome.progress);
}

/// S1-36: a larger safety distance closes the gap, and that is an outcome.
#[test]
fn a_larger_safety_distance_leaves_no_path() {
    let with = |distance| Drive::assemble(&spec("curved-parking", &[("ego.safety_distance", distance)]));
    assert!(with("0.2 m").is_ok() && with("0.3 m").is_ok());
    assert!(matches!(with("0.4 m"), Err(AssembleError::NoPath(_))));
}

/// S1-47, Figure 4: 3 paths after one step, 9 after two, and two of their ends merge.
#[test]
fn first_steps_has_nine_leaves_and_merges_two() {
    let story = Story::of("first-steps");
    assert_eq!(story.drive.segments(), 5);
    let told = story.explore();
    assert_eq!(told.findings(), 0);
    let levels: Vec<_> = told.outcome.levels.iter().map(|l| (l.segments, l.kept, l.merged)).collect();
    assert_eq!(levels[..2], [(3, 3, 0), (9, 8, 1)]);
}

/// S1-22.
#[test]
fn a_drift_is_found_in_the_narrow_passage() {
    let story = Story::of("narrow-passage-drift").levels(8);
    let told = story.explore();
    assert!(told.findings() > 0);
    let whole = Story::of("narrow-passage-drift");
    for choice in whole.drive.errors().choices() {
        assert_eq!(whole.violated(&vec![choice; whole.drive.segments() as usize]), [""; 0], "{choice:?}");
    }
}

/// S1-29: late actuators and jumps, in the same second only.
#[test]
fn actuator_delay_needs_a_jump_in_the_same_second() {
    let told = Story::with("narrow-passage-actuator-delay", &[("errors.at_once", "1")]).explore();
    assert_eq!(told.findings(), 0);
    let story = Story::of("narrow-passage-actuator-delay").levels(8);
    let told = story.explore();
    let late = |choice: &Choice| story.drive.errors().describe(*choice).contains("actuators-late");
    for sequence in told.sequences(&story, NO_CONTACT) {
        assert!((1..=2).contains(&sequence.iter().filter(|c| late(c)).count()), "{sequence:?}");
    }
    assert!(told.findings() > 0);
}

/// S1-19, S1-20: neither alone.
#[test]
fn late_eyes_and_late_brakes_collide_together_only() {
    let story = Story::of("late-obstacle");
    let told = story.explore();
    assert!(!told.sequences(&story, NO_CONTACT).is_empty());
    assert_eq!(story.constants(&told), ["box-late: box 0.5 s late + actuators-late: 0.5 s late"]);
    for harmless in [("errors.at_once", "1"), ("ego.obstacle_sensor.range", "9 m")] {
        assert_eq!(Story::with("late-obstacle", &[harmless]).explore().findings(), 0, "{harmless:?}");
    }
}

/// S1-26, S1-54: the driver makes up for one wrong actuator value, not for two; comfort suffers first.
#[test]
fn weak_brakes_need_a_second_error() {
    let story = Story::of("weak-brakes");
    let told = story.explore();
    assert!(!told.sequences(&story, NO_CONTACT).is_empty());
    assert!(story.constants(&told).iter().all(|constant| constant.contains(" + ")), "{:?}", story.constants(&told));
    let one = Story::with("weak-brakes", &[("errors.at_once", "1")]).explore();
    assert_eq!(one.findings(), 0);
    assert!(one.outcome.note_count > 0, "hard braking is noted where contact is not yet possible");
}

/// S1-55: hard braking is a finding if small errors are enough for it, and none if it takes large ones.
#[test]
fn a_requirement_for_small_errors_is_violated_by_small_errors_alone() {
    let id = "gentle-if-only-biased";
    let findings = |never: &str, given: &str| -> Vec<String> {
        let table = format!("{{ id = \"{id}\", never = \"ego.deceleration > {never}\"{given} }}");
        let story = Story::with("weak-brakes", &[(&format!("must.{id}"), &table)]);
        let sequences = story.explore().sequences(&story, id);
        sequences.iter().flatten().map(|choice| story.drive.errors().describe(*choice)).collect()
    };
    let given = ", given = { weak = 0, box-late = \"0 s\" }";
    assert!(findings("2.5 m/s^2", given).is_empty());
    assert!(!findings("2.5 m/s^2", "").is_empty(), "large errors do violate it");
    let small = findings("2 m/s^2", given);
    assert!(small.iter().any(|errors| errors.contains("biased")), "{small:?}");
    assert!(small.iter().all(|errors| !errors.contains("weak") && !errors.contains("box-late")), "{small:?}");
}

#[test]
fn a_driver_that_plans_again_goes_around_the_box() {
    let longer = [("ego.driver.replan", "1 s"), ("explore.until", "14 s")];
    let story = Story::with("late-obstacle", &longer);
    let quiet = vec![Choice::NONE; story.drive.segments() as usize];
    let run = replay(&story.drive, Seed(0), &story.start(), &quiet, None).unwrap();
    assert!(run.margin > 0.0 && run.state.car.car.y.abs() > 1.0, "{:?}", run.state.car);
}

/// S1-28: the moment matters.
#[test]
fn a_ball_appears_at_a_bad_moment() {
    let story = Story::of("sudden-obstacle");
    let appears = story.choice("ball-appears: ball appears");
    let touched = |errors: &[Choice]| {
        let after = |second: usize| [&vec![Choice::NONE; second], errors].concat();
        (0..12).filter(|&second| !story.violated(&after(second)).is_empty()).collect::<BTreeSet<usize>>()
    };
    let alone = touched(&[appears]);
    let missed = touched(&[story.choice("ball-appears: ball appears + ball-missed: ball missed")]);
    assert!(!alone.is_empty() && !alone.contains(&0), "{alone:?}");
    assert!(alone.is_subset(&missed) && missed.len() > alone.len() && !missed.contains(&0), "{missed:?}");
    assert!(story.explore().findings() > 0);
}

/// S1-34: one world, two controllers.
#[test]
fn the_calm_driver_passes_where_the_eager_one_fails() {
    let calm = Story::of("narrow-passage-calm");
    assert_eq!(calm.explore().findings(), 0);
    let eager = Story::of("narrow-passage-eager");
    assert_found_but_no_constant(&eager, &eager.explore());
    let same = Story::with("narrow-passage-calm", &[("ego.driver", "eager")]);
    let digest = |story: &Story| story.explore().outcome.digest;
    assert_eq!(digest(&same.levels(6)), digest(&eager.levels(6)), "only the driver differs");
}

/// S1-52.
#[test]
fn six_starts_are_explored_together() {
    let story = Story::of("narrow-passage-starts");
    assert_eq!(story.drive.space().all().len(), 6);
    let told = story.explore();
    assert_found_but_no_constant(&story, &told);
    let starts: BTreeSet<usize> = told.outcome.hits.iter().map(|hit| told.trail.path(hit.parent).unwrap().0).collect();
    assert!(starts.len() > 1, "{starts:?}");
}

/// S1-50.
#[test]
fn a_timetable_fails_as_well() {
    let story = Story::of("narrow-passage-timetable");
    assert_found_but_no_constant(&story, &story.explore());
}

/// S1-51: an error bends the path itself.
#[test]
fn planning_again_passes_with_less_room() {
    let end = |story: &Story, choices: &[Choice]| {
        let run = replay(&story.drive, Seed(0), &story.start(), choices, None).unwrap();
        run.state.extras.and_then(|extras| extras.own_path).map(|path| path.arcs().to_vec())
    };
    let story = Story::of("replanning-garage").levels(6);
    let left = story.choice("estimate-jump: left 0.1 m");
    let quiet = [Choice::NONE; 4];
    let disturbed = [Choice::NONE, Choice::NONE, left, left];
    assert!(end(&story, &quiet).is_some() && end(&story, &quiet) != end(&story, &disturbed));
    assert_eq!(story.explore().findings(), 0);
}

/// The accident at the T-junction: none at noon, whatever is missed; one that daylight prevents at midnight.
#[test]
fn the_accident_at_the_t_junction_takes_more_than_a_missed_car() {
    let story = Story::of("t-junction-accident");
    assert_eq!(story.explore().findings(), 0);
    let point = [
        ("ego.start.station", "119.10314448217443 m"),
        ("ego.start.speed", "14.504624805538858 m/s"),
        ("object.other.station", "39.808867312852804 m"),
        ("object.other.speed", "8 m/s"),
        ("world.clouds", "0.19951244240479288"),
        ("world.obstacle.hedge.box.x", "-25.39199443923454 m"),
    ];
    let at = |minute: &'static str| [&point[..], &[("world.time_of_day", minute)]].concat();
    assert_eq!(Story::with("t-junction-accident", &at("0 min")).violated(&[]), [NO_CONTACT]);
    assert_eq!(Story::with("t-junction-accident", &at("720 min")).violated(&[]), [""; 0]);
}
