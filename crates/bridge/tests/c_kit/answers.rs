//! The C kit (`c/anabranch.h`) and its examples, built with the system's compiler and asked over a real socket.

use super::kit::{Numbers, SANITISED, Started, begin, build, random_seen, reset, step};
use anabranch_bridge::protocol::{Answer, Decision, Op, Role, Seen, Snapshot, Support, WorldSegment};
use anabranch_driving::follow::{Deviation, LateralGains, LateralLaw, SpeedGains};
use anabranch_vehicle::CarSpec;

const LAW: &str = "examples/c/follow_law.c";
const OWN: &str = "crates/bridge/tests/c/own.c";

fn decision(answer: &Answer) -> &Decision {
    match answer {
        Answer::Decision(decision) => decision,
        other => panic!("{other:?}"),
    }
}

/// The built-in law as `narrow-passage` has it, without its path: one step from what is seen.
struct BuiltIn {
    lateral: LateralLaw,
    speed: SpeedGains,
    completed: bool,
}

impl BuiltIn {
    fn new(car: &CarSpec) -> Self {
        let gains = LateralGains { k_lateral_per_m2: 1.5, k_heading_per_m: 2.0 };
        let speed = SpeedGains::CALM;
        Self { lateral: LateralLaw::new(gains, gains, car, speed.brake_way_m()), speed, completed: false }
    }
    fn step(&mut self, seen: &Seen) -> Decision {
        let (path, direction) = (&seen.path, f64::from(seen.path.direction));
        let deviation = Deviation { lateral_m: path.lateral, heading: path.heading };
        let driven = self.speed.accel(seen.speed * direction, path.remaining, path.speed_max);
        let accel = if self.completed { self.speed.hold() } else { driven };
        let steer = self.lateral.steering(path.curvature, &deviation, direction);
        let arrived = path.sections_left == 0 && self.speed.reached(path.to_end) && seen.speed.abs() < 0.05;
        self.completed |= arrived;
        let key = vec![f64::from(u8::from(self.completed))];
        Decision { steer, accel, completed: self.completed, key, ..Decision::default() }
    }
}

#[test]
fn the_law_in_c_has_the_bits_of_the_built_in_law() {
    let van = CarSpec::van();
    let mut started = Started::new(&build(LAW, &[]), &[], &[]);
    let mut numbers = Numbers(1);
    let mut begin = begin();
    (begin.car.wheelbase_m, begin.car.steering_max_rad) = (van.wheelbase_m, van.steering_max_rad);
    let (mut completed, mut far) = (0, 0);
    for _ in 0..400 {
        let seen: Vec<Seen> = (0..50).map(|_| random_seen(&mut numbers)).collect();
        let mut ops = vec![Op::Reset { branch: 3, begin: begin.clone() }];
        ops.extend(seen.iter().map(|seen| step(3, seen)));
        let answers = started.asker.ask(&ops);
        let mut built_in = BuiltIn::new(&van);
        for (seen, answer) in seen.iter().zip(&answers[1..]) {
            let expected = built_in.step(seen);
            let found = decision(answer);
            let bits = |d: &Decision| (d.steer.to_bits(), d.accel.to_bits(), d.completed, d.key.clone());
            assert_eq!(bits(found), bits(&expected), "{seen:?}");
            completed += usize::from(found.completed);
            far += usize::from(found.steer.abs() < van.steering_max_rad);
        }
    }
    assert!(completed > 1000 && far > 1000, "the inputs reach all parts of the law: {completed} {far}");
    started.bye();
}

/// A tree of branches, saved and loaded, all along; the answers in order.
fn answers_with_saving(snapshot: &str, program: &std::path::Path) -> Vec<Decision> {
    let mut started = Started::new(program, &[], &[("ANABRANCH_SNAPSHOT", snapshot)]);
    let mut numbers = Numbers(5);
    let mut tree = vec![];
    let first = started.asker.ask(&[reset(0), Op::Save { branch: 0, token: 0 }]);
    assert!(matches!(first[1], Answer::Saved { .. }), "{first:?}");
    for level in 0..4_u32 {
        // Three children of each state, side by side in one message.
        let (parents, children) = (3_u32.pow(level), 3_u32.pow(level + 1));
        let mut ops: Vec<Op> =
            (0..children).map(|child| Op::Load { token: 1000 * level + child % parents, branch: child }).collect();
        for _ in 0..3 {
            ops.extend((0..children).map(|child| step(child, &random_seen(&mut numbers))));
        }
        ops.extend((0..children).map(|child| Op::Save { branch: child, token: 1000 * (level + 1) + child }));
        ops.push(Op::Drop { tokens: (0..parents).map(|parent| 1000 * level + parent).collect() });
        let answers = started.asker.ask(&ops);
        assert!(!answers.iter().any(|answer| matches!(answer, Answer::Failed { .. })), "{answers:?}");
        tree.extend(answers.iter().filter_map(|a| if let Answer::Decision(d) = a { Some(d.clone()) } else { None }));
    }
    started.bye();
    tree
}

/// The same tree by running each way from its start again, as a host does with `replay`.
fn answers_by_replay(program: &std::path::Path) -> Vec<Decision> {
    let mut started = Started::new(program, &[], &[("ANABRANCH_SNAPSHOT", "replay")]);
    let card = started.asker.card();
    assert_eq!((card.support, card.snapshot, card.saves_bytes), (Support::Replay, Snapshot::None, false));
    let mut numbers = Numbers(5);
    let mut tree = vec![];
    let mut ways: Vec<Vec<Seen>> = vec![vec![]];
    for level in 0..4_u32 {
        let (parents, children) = (3_usize.pow(level), 3_usize.pow(level + 1));
        let mut next: Vec<Vec<Seen>> = (0..children).map(|child| ways[child % parents].clone()).collect();
        for _ in 0..3 {
            next.iter_mut().for_each(|way| way.push(random_seen(&mut numbers)));
        }
        let mut ops: Vec<Op> = (0..children as u32).map(reset).collect();
        let length = next[0].len();
        for at in 0..length {
            ops.extend(next.iter().enumerate().map(|(branch, way)| step(branch as u32, &way[at])));
        }
        let answers = started.asker.ask(&ops);
        let fresh = children * (1 + length - 3);
        tree.extend(answers[fresh..].iter().map(|answer| decision(answer).clone()));
        ways = next;
    }
    let refused = started.asker.ask(&[Op::Save { branch: 0, token: 1 }]);
    assert!(matches!(&refused[0], Answer::Failed { text } if text.contains("replay")), "{refused:?}");
    started.bye();
    tree
}

#[test]
fn copies_forks_and_replay_give_equal_answers() {
    let law = build(LAW, &[]);
    let by_memory = answers_with_saving("memory", &law);
    assert_eq!(by_memory.len(), 3 * (3 + 9 + 27 + 81));
    assert!(by_memory.iter().any(|decision| decision.completed));
    assert_eq!(answers_with_saving("fork", &law), by_memory);
    assert_eq!(answers_by_replay(&law), by_memory);
}

#[test]
fn code_with_bytes_of_its_own_takes_turns() {
    let own = build(OWN, &SANITISED);
    let by_own = answers_with_saving("own", &own);
    assert_eq!(answers_with_saving("fork", &own), by_own);
    assert_eq!(answers_by_replay(&own), by_own);
    // Without a reset of its own, the first state is what a run begins with.
    assert_eq!(answers_with_saving("own", &build(OWN, &["-DWITHOUT_RESET"])), by_own);
}

#[test]
fn saved_bytes_are_equal_for_equal_memories_and_differ_for_others() {
    let mut started = Started::new(&build(OWN, &[]), &[], &[]);
    let seen = random_seen(&mut Numbers(3));
    let one = started.asker.ask(&[reset(0), step(0, &seen), Op::Save { branch: 0, token: 1 }]);
    let again = started.asker.ask(&[reset(9), step(9, &seen), Op::Save { branch: 9, token: 2 }]);
    let other =
        started.asker.ask(&[Op::Load { token: 1, branch: 4 }, step(4, &seen), Op::Save { branch: 4, token: 3 }]);
    assert_eq!(one[2], again[2]);
    assert_ne!(one[2], other[2]);
    assert!(matches!(&one[2], Answer::Saved { bytes: Some(bytes), .. } if !bytes.is_empty()));
    started.bye();
}

#[test]
fn a_card_says_how_states_are_kept() {
    let law = build(LAW, &[]);
    let check = |snapshot: &str, support, kept, bytes| {
        let mut started = Started::new(&law, &[], &[("ANABRANCH_SNAPSHOT", snapshot)]);
        let card = started.asker.card();
        assert_eq!((card.role, card.support, card.snapshot, card.saves_bytes), (Role::Driver, support, kept, bytes));
        assert_eq!((card.cycle_s, card.key[0].name.as_str(), card.key[0].cell), (Some(0.02), "completed", None));
        started.bye();
    };
    check("memory", Support::Save, Snapshot::Own, true);
    check("auto", Support::Save, Snapshot::Own, true);
    check("fork", Support::Save, Snapshot::Fork, false);
    check("replay", Support::Replay, Snapshot::None, false);
}

#[test]
fn a_wish_that_cannot_be_met_is_an_error() {
    let law = build(LAW, &[]);
    for word in ["own", "sometimes"] {
        let output = std::process::Command::new(&law).env("ANABRANCH_SNAPSHOT", word).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{word}");
        assert!(String::from_utf8_lossy(&output.stderr).starts_with("anabranch: "), "{word}");
    }
}

#[test]
fn failures_are_told_and_the_rest_goes_on() {
    let mut started = Started::new(&build(LAW, &[]), &[], &[]);
    let seen = random_seen(&mut Numbers(2));
    let broken = Op::Reset { branch: 1, begin: Box::default() };
    let ops = [
        reset(0),
        broken,
        step(1, &seen),
        Op::Load { token: 8, branch: 0 },
        Op::Run { branch: 0, modes: vec![], record: false },
        step(0, &seen),
    ];
    let answers = started.asker.ask(&ops);
    let text = |at: usize| match &answers[at] {
        Answer::Failed { text } => text.as_str(),
        other => panic!("{other:?}"),
    };
    assert_eq!(text(1), "a car without a wheelbase");
    assert_eq!(text(2), "there is no branch 1");
    assert_eq!(text(3), "there is no saved state 8");
    assert_eq!(text(4), "a driver runs no segments");
    assert!(matches!(answers[5], Answer::Decision(_)));
    started.bye();
}

#[test]
fn a_class_is_copied_by_its_constructor_and_its_exceptions_are_told() {
    let follow = build("examples/cpp/follow.cpp", &SANITISED);
    let mut started = Started::new(&follow, &[], &[]);
    let card = started.asker.card();
    assert_eq!((card.name.as_str(), card.snapshot, card.saves_bytes), ("follow in C++", Snapshot::Copy, false));
    let broken = started.asker.ask(&[Op::Reset { branch: 1, begin: Box::default() }]);
    assert_eq!(broken[0], Answer::Failed { text: "a car without a wheelbase".to_owned() });
    started.bye();
    assert_eq!(answers_with_saving("copy", &follow), answers_with_saving("fork", &follow));
    assert_eq!(answers_by_replay(&follow), answers_with_saving("copy", &follow));
}

#[test]
fn a_world_with_globals_is_branched_by_processes() {
    let mut started = Started::new(&build("examples/c/toy_world.c", &[]), &[], &[]);
    let card = started.asker.card();
    let world = card.world.unwrap();
    assert_eq!((card.role, card.snapshot, world.segments_max), (Role::World, Snapshot::Fork, 8));
    assert_eq!(world.sites[0].modes, ["none", "left", "right"]);
    let run = |branch: u32, mode: u16| Op::Run { branch, modes: vec![mode], record: mode == 2 };
    let load = |branch: u32| Op::Load { token: 1, branch };
    let ops = [
        reset(0),
        run(0, 1),
        Op::Save { branch: 0, token: 1 },
        load(0),
        load(1),
        load(2),
        run(0, 1),
        run(1, 2),
        run(2, 1),
    ];
    let answers = started.asker.ask(&ops);
    let segment = |at: usize| -> &WorldSegment {
        match &answers[at] {
            Answer::Segment(segment) => segment,
            other => panic!("{other:?}"),
        }
    };
    let (first, left, right, left_again) = (segment(1), segment(6), segment(7), segment(8));
    assert_eq!(left, left_again);
    assert!(left.values[0] < right.values[0] && left.values[0] < first.values[0], "{left:?} {right:?}");
    assert_eq!((left.frames.len(), right.frames.len()), (0, 10));
    assert_eq!(right.frames[9], [right.values[0]]);
    let broken = started.asker.ask(&[run(0, 3), Op::Run { branch: 0, modes: vec![0, 0], record: false }]);
    assert!(matches!(&broken[0], Answer::Failed { text } if text.contains("mode")), "{broken:?}");
    assert!(matches!(&broken[1], Answer::Failed { text } if text.contains("one mode for each site")), "{broken:?}");
    // Pushed to the left for long enough it hits the wall.
    let hits = started.asker.ask(&[&[reset(5)], vec![run(5, 1); 8].as_slice()].concat());
    assert!(hits.iter().any(|hit| matches!(hit, Answer::Segment(segment) if segment.violated == ["wall"])), "{hits:?}");
    started.bye();
}
