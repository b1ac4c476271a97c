//! Laws that every error model and every set of them keeps.

use anabranch_errors::*;
use anabranch_kernel::{Choice, Choices, Declarations, Grid, KeyWriter, Variable, from_bytes, to_bytes};
use proptest::prelude::*;

fn targets(grouping: Grouping) -> Targets {
    let obstacles =
        ["cone", "child"].iter().zip([0, 5]).map(|(name, number)| Obstacle { name: (*name).into(), number });
    Targets { obstacles: obstacles.collect(), grouping }
}

/// One example of every shipped model; a new model adds one.
fn examples() -> Vec<Model> {
    let rings = [0.1, 0.2];
    let jump =
        JumpParts { id: "jump", frame: Frame::Car, radii_m: &rings, directions: 8, headings_rad: &[0.02, -0.02] };
    let growth = Growth { rate: 0.07, decay: 0.05, limit: 0.3 };
    let position = PositionDrift { growth, directions: 4 };
    let heading = Growth { rate: 0.01, decay: 0.02, limit: 0.025 };
    let (each, together) = (Grouping::Each, Grouping::Together);
    vec![
        Jump::new(&jump).into(),
        Drift::new("drift", Frame::World, Some(position), Some(heading), 1.0).into(),
        Drift::new("turn", Frame::Car, None, Some(heading), 1.0).into(),
        SensorDelay { id: "old-news".into(), delays_ticks: vec![10, 50], tick_s: 0.01 }.into(),
        ActuatorDelay { id: "slow-brake".into(), delays_ticks: vec![50], tick_s: 0.01 }.into(),
        Steering { id: "steering".into(), offsets_rad: vec![0.03, -0.03], gains: vec![0.5, 0.0] }.into(),
        Acceleration { id: "throttle".into(), offsets_mps2: vec![-0.5, 0.5], gains: vec![0.0] }.into(),
        ObstacleLate { id: "late".into(), targets: targets(each), delays_ticks: vec![20, 50], tick_s: 0.01 }.into(),
        ObstacleDisplaced::new("displaced", targets(together), 0.3, 4).into(),
        ObstacleMissed { id: "missed".into(), targets: targets(each) }.into(),
        ObstacleGhost { id: "ghost".into(), targets: targets(together) }.into(),
        ObstacleFlipped { id: "flipped".into(), targets: targets(each) }.into(),
        SensorLost { id: "lost".into(), sensors: vec![SilentSensor { name: "gps".into(), number: 0 }] }.into(),
        Appears { id: "appears".into(), targets: targets(each) }.into(),
        MessagesLost { id: "silent".into(), senders: vec![("lead".into(), 0), ("lorry".into(), 31)] }.into(),
        MessagesLost { id: "all-silent".into(), senders: Vec::new() }.into(),
        MessagesLate { id: "slow-radio".into(), delays_ticks: vec![4, 10], tick_s: 0.05 }.into(),
        Leak {
            id: "leak".into(),
            wheels: vec![("fl".into(), 0), ("rr".into(), 3)],
            losses_pa: vec![3e4],
            segment_s: 1.0,
            stays: true,
        }
        .into(),
        MonitorLost { id: "monitor".into() }.into(),
        OfSensor { sensor: 1, name: "front".into(), fault: SensorFault::Lost("blind".into()) }.into(),
        OfSensor {
            sensor: 7,
            name: "rear".into(),
            fault: SensorFault::Of(Box::new(ObstacleDisplaced::new("aside", targets(each), 0.3, 4).into())),
        }
        .into(),
    ]
}

fn set(models: Vec<Model>, at_once: usize, per_run: Option<u16>) -> ErrorSet {
    let entries = models.into_iter().map(|model| Entry { model, per_run: None }).collect();
    ErrorSet::new(entries, Limits { at_once, per_run }).unwrap()
}

/// Follows live choices by their position and returns the memory at the end.
fn follow(set: &ErrorSet, picks: &[usize]) -> Memory {
    let (mut memory, mut live) = (set.start(), Choices::new());
    for pick in picks {
        set.live(&memory, &mut live);
        set.begin(live[pick % live.len()], &mut memory);
    }
    memory
}

fn variables(set: &ErrorSet) -> Vec<Variable> {
    Declarations::of(|v| set.visit(&set.start(), v)).variables
}

fn key(set: &ErrorSet, memory: &Memory) -> Option<anabranch_kernel::CellKey> {
    let grid = Grid::of(&variables(set));
    let mut key = KeyWriter::new(&grid);
    set.visit(memory, &mut key.visitor(&[]));
    key.finish()
}

proptest! {
    #[test]
    fn live_choices_have_pairwise_different_outcomes(picks in prop::collection::vec(0_usize..1000, 0..12)) {
        for model in examples() {
            let set = set(vec![model], 1, None);
            let memory = follow(&set, &picks);
            let mut live = Choices::new();
            set.live(&memory, &mut live);
            prop_assert_eq!(live[0], Choice::NONE);
            let outcome = |choice| {
                let mut memory = memory;
                (set.begin(choice, &mut memory), memory)
            };
            for (i, &a) in live.iter().enumerate() {
                for &b in &live[..i] {
                    prop_assert_ne!(outcome(a), outcome(b), "{} and {}", set.space().describe(a), set.space().describe(b));
                }
            }
            // What is not live repeats something that is, up to rounding.
            for choice in set.space().choices().filter(|c| !live.contains(c)) {
                prop_assert!(live.iter().any(|&other| alike(&outcome(choice).0, &outcome(other).0)));
            }
        }
    }

    #[test]
    fn a_drift_stays_within_its_limit(picks in prop::collection::vec(0_usize..1000, 0..40)) {
        let set = set(vec![examples().swap_remove(1)], 1, None);
        let end = set.begin(Choice(1), &mut follow(&set, &picks)).pose_in_world.at(1.0);
        prop_assert!((end[0] * end[0] + end[1] * end[1]).sqrt() <= 0.3 + 1e-9);
        prop_assert!(end[2].abs() <= 0.025);
    }

    #[test]
    fn saved_memory_goes_on_as_if_nothing_had_happened(
        before in prop::collection::vec(0_usize..1000, 0..8),
        after in prop::collection::vec(0_usize..1000, 1..8),
    ) {
        let set = set(examples(), 2, Some(6));
        let mut memory = follow(&set, &before);
        let mut loaded: Memory = from_bytes(&to_bytes(&memory)).unwrap();
        let mut live = Choices::new();
        for pick in after {
            set.live(&memory, &mut live);
            let choice = live[pick % live.len()];
            prop_assert_eq!(set.begin(choice, &mut memory), set.begin(choice, &mut loaded));
            prop_assert_eq!(to_bytes(&memory), to_bytes(&loaded));
            prop_assert!(key(&set, &memory).is_some());
            prop_assert_eq!(key(&set, &memory), key(&set, &loaded));
        }
        prop_assert!(memory.erroneous_segments() <= 6);
    }
}

/// Equal effects, up to the rounding of ramps.
fn alike(a: &Effects, b: &Effects) -> bool {
    let close = |a: &PoseRamp, b: &PoseRamp| a.at(1.0).iter().zip(b.at(1.0)).all(|(a, b)| (a - b).abs() < 1e-8);
    let plain = |e: &Effects| Effects { pose_in_car: PoseRamp::NONE, pose_in_world: PoseRamp::NONE, ..*e };
    close(&a.pose_in_car, &b.pose_in_car) && close(&a.pose_in_world, &b.pose_in_world) && plain(a) == plain(b)
}

#[test]
fn combinations_respect_at_once_and_limits_end_errors() {
    let both = set(examples().drain(3..5).collect(), 2, Some(2));
    assert_eq!(both.space().len(), 3 * 2);
    assert_eq!(both.reach(), Reach { sensor_delay_ticks: 50, actuator_delay_ticks: 50, ..Reach::default() });
    let (mut memory, mut live) = (both.start(), Choices::new());
    for left in [2, 1] {
        both.live(&memory, &mut live);
        assert_eq!(live.len(), 6, "{left} erroneous segments are left");
        let choice = *live.last().unwrap();
        let effects = both.begin(choice, &mut memory);
        assert_eq!((effects.sensor_delay_ticks, effects.actuator_delay_ticks), (50, 50));
    }
    both.live(&memory, &mut live);
    assert_eq!(live, [Choice::NONE]);
    assert_eq!(key(&both, &memory), key(&both, &memory.clone()));
    assert_ne!(key(&both, &memory), key(&both, &both.start()));
}

#[test]
fn a_model_can_have_a_limit_of_its_own() {
    let mut models = examples();
    let (steering, jump) = (models.remove(5), models.remove(0));
    let entries = vec![Entry { model: steering, per_run: Some(1) }, Entry { model: jump, per_run: None }];
    let set = ErrorSet::new(entries, Limits { at_once: 1, per_run: None }).unwrap();
    assert_eq!(variables(&set).iter().map(|v| v.name.as_str()).collect::<Vec<_>>(), ["error.steering.used"]);
    let (mut memory, mut live) = (set.start(), Choices::new());
    set.begin(Choice(1), &mut memory);
    set.live(&memory, &mut live);
    assert_eq!(live.len(), 1 + 18);
    assert!(live[1..].iter().all(|&c| set.space().modes(c)[0] == 0));
}

#[test]
fn a_constant_count_without_limit_does_not_part_states() {
    let set = set(vec![examples().swap_remove(0)], 1, None);
    assert!(variables(&set).is_empty());
    let mut memory = set.start();
    set.begin(Choice(1), &mut memory);
    assert_eq!(memory, set.start());
}

fn refused(models: Vec<Model>, at_once: usize, expect: &str) {
    let entries = models.into_iter().map(|model| Entry { model, per_run: None }).collect();
    let found = ErrorSet::new(entries, Limits { at_once, per_run: None }).unwrap_err().to_string();
    assert!(found.contains(expect), "{found:?} does not say {expect:?}");
}

#[test]
fn sets_that_cannot_be_honoured_are_refused() {
    let steering = |offsets_rad: &[f64]| -> Model {
        Steering { id: "steering".into(), offsets_rad: offsets_rad.to_vec(), gains: vec![] }.into()
    };
    let late = |id: usize| -> Model {
        let targets = targets(Grouping::Each);
        ObstacleLate { id: id.to_string(), targets, delays_ticks: vec![id as u16 + 1], tick_s: 0.01 }.into()
    };
    let growth = Growth { rate: -0.1, decay: 0.0, limit: 1.0 };
    refused(vec![steering(&[0.1]), steering(&[0.2])], 1, "two errors are called `steering`");
    refused(vec![steering(&[])], 1, "no mode besides");
    refused(vec![steering(&[0.1, 0.1])], 1, "mode \"left 5.7296°\" of the error `steering` changes nothing");
    refused(vec![steering(&[0.0])], 1, "changes nothing");
    refused(vec![steering(&[f64::NAN])], 1, "not a finite number");
    refused(vec![Drift::new("d", Frame::Car, None, None, 1.0).into()], 1, "a position or a heading");
    refused(vec![Drift::new("d", Frame::Car, None, Some(growth), 1.0).into()], 1, "positive `rate`");
    refused((0..5).map(late).collect(), 5, "at most 4 errors of late");
    let drift = |id: usize| -> Model {
        Drift::new(&id.to_string(), Frame::Car, None, Some(Growth { rate: 0.1, ..growth }), 1.0).into()
    };
    refused((0..13).map(drift).collect(), 1, "remember too much");
}

#[test]
fn the_empty_set_offers_no_error() {
    let set = ErrorSet::none();
    let mut live = Choices::new();
    set.live(&set.start(), &mut live);
    assert_eq!(live, [Choice::NONE]);
    assert_eq!(set.begin(Choice::NONE, &mut set.start()), Effects::NONE);
}

/// Every sequence, one by one.
fn counted(set: &ErrorSet, memory: &Memory, segments: u32) -> f64 {
    if segments == 0 {
        return 1.0;
    }
    let mut live = Choices::new();
    set.live(memory, &mut live);
    let mut all = 0.0;
    for &choice in &live {
        let mut memory = *memory;
        let _ = set.begin(choice, &mut memory);
        all += counted(set, &memory, segments - 1);
    }
    all
}

#[test]
fn sequences_are_counted_within_the_limits_of_a_run() {
    let steering = || Model::from(Steering { id: "s".into(), offsets_rad: vec![0.03, -0.03], gains: vec![] });
    let throttle = || Model::from(Acceleration { id: "t".into(), offsets_mps2: vec![-0.5], gains: vec![] });
    for (own, other, over_all, at_once) in [
        (None, None, None, 2),
        (Some(1), None, None, 2),
        (Some(2), Some(1), None, 2),
        (Some(2), Some(3), Some(3), 1),
        (None, None, Some(0), 2),
        (Some(9), None, Some(2), 2),
    ] {
        let entries = vec![Entry { model: steering(), per_run: own }, Entry { model: throttle(), per_run: other }];
        let set = ErrorSet::new(entries, Limits { at_once, per_run: over_all }).unwrap();
        for segments in [0, 1, 2, 5] {
            let found = set.sequences(segments);
            let expect = counted(&set, &set.start(), segments);
            assert_eq!((found.count, found.is_exact), (expect, true), "{own:?} {other:?} {over_all:?} {segments}");
        }
    }
    let entry = Entry { model: steering(), per_run: Some(2) };
    let set = ErrorSet::new(vec![entry], Limits { at_once: 1, per_run: None }).unwrap();
    // 1 + 2·100 + 4·(100·99/2): far from 3¹⁰⁰.
    assert_eq!(set.sequences(100).count, 20_001.0);
    // 1 + 2·100 with a limit of one over all errors; a set that has such a limit is not asked.
    assert_eq!(set.sequences_with(100, 1).map(|found| found.count), Some(201.0));
    let limited =
        ErrorSet::new(vec![Entry { model: steering(), per_run: None }], Limits { at_once: 1, per_run: Some(3) });
    assert_eq!(limited.unwrap().sequences_with(100, 1), None);
    assert_eq!(set.limits_in_words(), ["`s` in at most 2 segments"]);
}
