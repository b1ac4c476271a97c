//! When requirements are violated, noted and fulfilled.

use anabranch_kernel::maths::{Lanes, Mask, Real};
use anabranch_kernel::{Declarations, Grid, KeyWriter, Variable, from_bytes, to_bytes};
use anabranch_monitors::*;
use proptest::prelude::*;

fn requirements(list: &[(Level, Rule, &str)]) -> Requirements {
    let one = |(i, &(level, rule, text)): (usize, &(Level, Rule, &str))| {
        Requirement::new(&format!("r{i}"), level, rule, text, LOW_SPEED_SIGNALS).unwrap()
    };
    Requirements::new(list.iter().enumerate().map(one).collect(), 0.1).unwrap()
}

fn frame(clearance_m: f64, at_goal: bool) -> [f64; low_speed::COUNT] {
    let mut frame = [0.0; low_speed::COUNT];
    (frame[low_speed::CLEARANCE], frame[low_speed::AT_GOAL]) = (clearance_m, f64::from(at_goal));
    frame
}

/// Judges a run given by clearance and arrival per tick; `end` tells whether the run ends after it.
/// Expects `must@tick` and `should@tick` in order, the end of the run being tick "end".
fn check(level: Level, rule: Rule, text: &str, run: &[(f64, bool)], expect: &str) {
    let requirements = requirements(&[(level, rule, text)]);
    let (mut memory, mut found) = (Memory::default(), Vec::new());
    let mut histories = requirements.histories();
    let mut report = |judgement: Judgement, when: String| {
        found.extend((judgement.violated == 1).then(|| format!("must@{when}")));
        found.extend((judgement.noted == 1).then(|| format!("should@{when}")));
    };
    for (tick, &(clearance_m, at_goal)) in run.iter().enumerate() {
        report(
            requirements.judge(&frame(clearance_m, at_goal), tick as u64, &mut memory, &mut histories),
            tick.to_string(),
        );
    }
    let last = run.last().map_or([0.0; low_speed::COUNT], |&(clearance_m, at_goal)| frame(clearance_m, at_goal));
    report(requirements.finish(&last, &mut memory, &mut histories), "end".to_owned());
    assert_eq!(found.join(" "), expect, "{level:?} {rule:?} {text} {run:?}");
}

#[test]
fn never_and_always_are_judged_every_tick() {
    let run = [(0.3, false), (0.05, false), (0.3, false), (0.04, false)];
    check(Level::Must, Rule::Never, "ego.clearance < 0.1 m", &run, "must@1 must@3");
    check(Level::Must, Rule::Always, "ego.clearance >= 0.1 m", &run, "must@1 must@3");
    check(Level::Should, Rule::Never, "ego.clearance < 0.1 m", &run, "should@1");
    check(Level::Should, Rule::Always, "ego.clearance > 0 m", &run, "");
}

#[test]
fn eventually_has_until_its_deadline_or_the_end() {
    let open = Rule::Eventually { by_ticks: None };
    let by_two = Rule::Eventually { by_ticks: Some(2) };
    let (away, there) = ((1.0, false), (1.0, true));
    check(Level::Must, open, "ego.at_goal", &[away, away, away], "must@end");
    check(Level::Must, open, "ego.at_goal", &[away, there, away], "");
    check(Level::Must, by_two, "ego.at_goal", &[away, away, there, away], "");
    check(Level::Should, by_two, "ego.at_goal", &[away, away, away, there], "should@2");
    check(Level::Must, by_two, "ego.at_goal", &[away, away], "must@end");
    check(Level::Should, open, "ego.at_goal", &[away], "should@end");
}

#[test]
fn the_end_is_judged_once_and_the_start_before_anything_else() {
    let run = [(0.05, false), (0.05, true), (0.3, false)];
    check(Level::Must, Rule::AtFinish, "ego.clearance > 0.1 m", &run, "");
    check(Level::Must, Rule::AtFinish, "ego.at_goal", &run, "must@end");
    check(Level::Should, Rule::AtFinish, "ego.at_goal", &run, "should@end");
    // What holds at the start has nothing to say afterwards.
    check(Level::Must, Rule::AtStart, "ego.at_goal", &run, "");
    let start = requirements(&[
        (Level::Must, Rule::AtStart, "ego.at_goal"),
        (Level::Should, Rule::AtStart, "ego.clearance > 1 m"),
    ]);
    assert!(start.has_start() && !start.has_finish() && !start.time_matters());
    let judged = start.start(&frame(0.5, false), &mut Memory::default(), &mut []);
    assert_eq!((judged.violated, judged.noted), (0b01, 0b10));
    assert_eq!(start.start(&frame(1.5, true), &mut Memory::default(), &mut []), Judgement::default());
    let finish = requirements(&[(Level::Must, Rule::AtFinish, "ego.door_room > 0.6 m")]);
    assert!(finish.time_matters() && finish.signals_used() != 0 && finish.signals_used_on_the_way() == 0);
    let text = "once[0 s, 2 s] ego.at_goal";
    let refused = Requirement::new("r", Level::Must, Rule::AtFinish, text, LOW_SPEED_SIGNALS).unwrap_err();
    assert_eq!((refused.at.offset, refused.at.length), (0, text.len()));
}

/// Looking ahead from the start: the frame before the first base cycle is the first moment.
#[test]
fn a_condition_at_the_start_may_look_ahead() {
    let requirements = requirements(&[(Level::Must, Rule::AtStart, "eventually[0 s, 0.3 s] ego.at_goal")]);
    let whole = |at_goal: bool| {
        let mut whole = frame(1.0, at_goal).to_vec();
        whole.resize(LOW_SPEED_SIGNALS.len(), 0.0);
        whole
    };
    let violated = |arrives: u64| {
        let (mut memory, mut histories) = (Memory::default(), requirements.histories());
        assert_eq!(requirements.start(&whole(arrives == 0), &mut memory, &mut histories), Judgement::default());
        (1..8)
            .find(|&tick| requirements.judge(&whole(tick >= arrives), tick, &mut memory, &mut histories).violated != 0)
    };
    assert_eq!([0, 2, 3, 4].map(violated), [None, None, None, Some(3)]);
}

fn mixed() -> Requirements {
    requirements(&[
        (Level::Must, Rule::Never, "ego.clearance <= 0 m"),
        (Level::Should, Rule::Never, "ego.clearance < 0.1 m"),
        (Level::Must, Rule::Eventually { by_ticks: Some(6) }, "ego.at_goal"),
        (Level::Should, Rule::Eventually { by_ticks: Some(3) }, "ego.clearance > 0.8 m"),
        (Level::Should, Rule::Always, "ego.clearance < 0.9 m"),
    ])
}

fn variables(requirements: &Requirements) -> Vec<Variable> {
    let memory = Memory::default();
    Declarations::of(|v| requirements.visit(("memory", &memory), ("histories", &[]), v)).variables
}

#[test]
fn what_is_remembered_is_in_the_key() {
    let requirements = mixed();
    assert!(requirements.time_matters());
    assert_eq!(requirements.signals_used(), 1 << low_speed::CLEARANCE | 1 << low_speed::AT_GOAL);
    let names: Vec<String> = variables(&requirements).into_iter().map(|v| v.name).collect();
    assert_eq!(names, ["requirements.reached", "requirements.noted"]);
    let grid = Grid::of(&variables(&requirements));
    let key = |memory: &Memory| {
        let mut key = KeyWriter::new(&grid);
        requirements.visit(("memory", memory), ("histories", &[]), &mut key.visitor(&[]));
        key.finish()
    };
    let (mut near, mut there) = (Memory::default(), Memory::default());
    requirements.judge(&frame(0.05, false), 0, &mut near, &mut []);
    requirements.judge(&frame(0.5, true), 0, &mut there, &mut []);
    assert_ne!(key(&near), key(&there));
    assert_ne!(key(&near), key(&Memory::default()));
    assert_eq!(from_bytes::<Memory>(&to_bytes(&near)).unwrap(), near);
}

#[test]
fn verdicts_name_their_requirements() {
    let found = verdicts(0b1010, 7, None);
    assert_eq!(found.iter().map(|v| (v.requirement, v.tick)).collect::<Vec<_>>(), [(1, 7), (3, 7)]);
    let many = vec![mixed().list()[0].clone(); 33];
    assert!(Requirements::new(many, 0.1).unwrap_err().to_string().starts_with("33 requirements; at most 32"));
}

proptest! {
    #[test]
    fn a_quiet_lane_has_nothing_to_report(
        runs in prop::collection::vec(prop::collection::vec((-0.1_f64..1.0, prop::bool::weighted(0.1)), 8), 4),
        starts in prop::collection::vec(0_u64..3, 4),
    ) {
        let requirements = mixed();
        let mut memories = [Memory::default(); 4];
        for tick in 0..8 {
            let frames: Vec<_> = runs.iter().map(|run| frame(run[tick].0, run[tick].1)).collect();
            let wide: Vec<Lanes<4>> =
                (0..low_speed::COUNT).map(|s| Lanes::from_lanes(|lane| frames[lane][s])).collect();
            let ticks = Lanes::from_lanes(|lane| (starts[lane] + tick as u64) as f64);
            let settled = memories.iter().fold(u32::MAX, |all, memory| all & memory.settled());
            let disturbed = requirements.disturbed(&wide, ticks, settled);
            for lane in 0..4 {
                let before = memories[lane];
                let judgement = requirements.judge(&frames[lane], starts[lane] + tick as u64, &mut memories[lane], &mut []);
                let quiet = judgement == Judgement::default() && before == memories[lane];
                prop_assert!(disturbed.lane(lane) || quiet, "lane {lane} at tick {tick}");
            }
        }
    }
}

#[test]
fn a_requirement_for_small_errors_is_not_judged_after_a_large_one() {
    use anabranch_kernel::Choice;
    let hard =
        |id| Requirement::new(id, Level::Must, Rule::Never, "ego.deceleration > 2 m/s^2", LOW_SPEED_SIGNALS).unwrap();
    // The second is meant for small errors; choice 2 is a large one.
    let requirements = Requirements::new(vec![hard("any"), hard("small")], 0.1).unwrap().limited(vec![0, 0, 0b10]);
    let mut frame = [0.0; low_speed::COUNT];
    frame[low_speed::DECELERATION] = 3.0;
    let judged = |choices: &[u16]| {
        let mut memory = Memory::default();
        choices.iter().for_each(|choice| requirements.begin(Choice(*choice), &mut memory));
        let judged = requirements.judge(&frame, 1, &mut memory, &mut []).violated;
        // Side by side, a lane may be named in vain and never left out.
        let disturbed = requirements.disturbed(&frame, 1.0, memory.settled());
        assert!(disturbed || judged == 0);
        (judged, memory)
    };
    assert_eq!(judged(&[0, 1, 1]).0, 0b11);
    assert_eq!(judged(&[0, 2, 0, 0]).0, 0b01);
    // What was exceeded belongs to the key: the two memories have different futures.
    assert_ne!(judged(&[1]).1, judged(&[2]).1);
    assert_eq!(variables(&requirements).last().map(|v| v.name.as_str()), Some("requirements.exceeded"));
    assert!(variables(&Requirements::new(vec![hard("any")], 0.1).unwrap().limited(vec![0, 0])).is_empty());
}

#[test]
fn a_condition_on_a_later_time_is_not_judged_by_a_shorter_run() {
    let open = |text: &str| {
        let list = requirements(&[(Level::Must, Rule::Never, text)]);
        !list.not_judged_within(90).is_empty()
    };
    // 90 base cycles are 9 s.
    assert!(open("time > 12 s and ego.clearance < 1 m"));
    assert!(open("ego.clearance < 1 m and 9 s <= time"));
    assert!(open("2 * time > 4 s"), "what is computed is not looked into");
    assert!(!open("time > 3 s and ego.clearance < 1 m") && !open("ego.clearance < 12 m"));
}
