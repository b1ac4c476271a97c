//! Worlds that do not give the same answers twice: caught by running segments again from the start in a new instance.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anabranch_bridge::doubling::DOUBLED;
use anabranch_bridge::{Answer, Card, Factory, Fleet, FleetLimits, Instance, Misbehaviour, Op, Support, WorldSystem};
use anabranch_explore::{Explorer, Merge, Outcome, Settings, Soundness};
use anabranch_kernel::{Chance, Choice, Job, Params, Seed, System, Twice};

use super::toy::Toy;

/// What is wrong with a world.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Flaw {
    Nothing,
    /// In one segment of so many, at random, the last digits of `v` are others.
    OneOf(u64),
    /// A counter that all branches of an instance share.
    Counter,
    /// An instance remembers for good that it was once pushed to the left.
    Flag,
    /// A push to the left is forgotten when a state is loaded.
    Forgets,
}

#[derive(Debug)]
struct Flawed {
    support: Support,
    flaw: Flaw,
    seed: u64,
    /// Segments so far, of all instances.
    segments: Arc<AtomicU64>,
}

struct One {
    toy: Toy,
    flaw: Flaw,
    chance: Chance,
    segments: Arc<AtomicU64>,
    counter: u32,
    flag: bool,
    lefts: BTreeMap<u32, u32>,
}

impl Factory for Flawed {
    fn start(&self) -> Result<Box<dyn Instance>, Misbehaviour> {
        let mut toy = Toy::world(self.support);
        let world = toy.card.world.as_mut().expect("the toy is a world");
        // Far from its walls, or nobody would say *safe*.
        world.segments_max = 20;
        let chance = Chance::new(Seed(self.seed), "flaw");
        let (counter, flag, lefts) = Default::default();
        Ok(Box::new(One { toy, flaw: self.flaw, chance, segments: self.segments.clone(), counter, flag, lefts }))
    }
}

impl Instance for One {
    fn card(&self) -> &Card {
        &self.toy.card
    }
    fn seconds(&self) -> f64 {
        0.0
    }
    fn exchange(&mut self, ops: &[Op], answers: &mut Vec<Answer>) -> Result<(), Misbehaviour> {
        let first = answers.len();
        self.toy.exchange(ops, answers)?;
        for (op, answer) in ops.iter().zip(&mut answers[first..]) {
            match (op, answer) {
                (Op::Reset { branch, .. } | Op::Load { branch, .. }, _) => {
                    self.lefts.insert(*branch, 0);
                }
                (Op::Run { branch, modes, .. }, Answer::Segment(segment)) => {
                    self.counter += 1;
                    let number = self.segments.fetch_add(1, Ordering::Relaxed);
                    let lefts = self.lefts.entry(*branch).or_default();
                    *lefts += u32::from(modes[0] == 1);
                    let is_wrong = match self.flaw {
                        Flaw::Nothing => false,
                        Flaw::OneOf(n) => self.chance.below(number, n) == 0,
                        Flaw::Counter => self.counter.is_multiple_of(7),
                        Flaw::Flag => self.flag,
                        Flaw::Forgets => *lefts > 1,
                    };
                    self.flag |= modes[0] == 1;
                    segment.values[1] += f64::from(u8::from(is_wrong)) * 1e-9;
                    (segment.violated, segment.margin) = (Vec::new(), Some(1.0));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn world(support: Support, flaw: Flaw, seed: u64, instances: usize) -> WorldSystem {
    let factory = Flawed { support, flaw, seed, segments: Arc::default() };
    let limits = FleetLimits { instances, tokens_max: 100_000 };
    WorldSystem::new(Fleet::new(Box::new(factory), limits).unwrap()).unwrap()
}

/// Every error sequence of some segments; a proof is asked for.
fn exhaustive(system: &WorldSystem, levels: u32) -> Outcome {
    let mut settings = Settings::new(system.variables(), system.time_matters());
    (settings.levels_max, settings.merge) = (levels, Merge::None);
    Explorer::new(system).settings(settings).threads(2).prove().run().unwrap()
}

fn random_runs(system: &WorldSystem, seed: u64, runs: u64) {
    let start = system.start(Seed(seed), &Params::default()).unwrap();
    let mut jobs: Vec<Job<_>> = (0..runs).map(|_| Job::new(start.clone(), Choice::NONE)).collect();
    for segment in 0..8 {
        for (n, job) in (0..).zip(&mut jobs) {
            job.choice = Choice(Chance::new(Seed(seed), "runs").at(n).below(segment, 3) as u16);
        }
        system.run_many(&mut jobs);
    }
}

fn every_path_once(system: &WorldSystem, levels: u32) {
    let mut states = vec![system.start(Seed(0), &Params::default()).unwrap()];
    for _ in 0..levels {
        let child = |state| (0..3).map(move |choice| Job::new(Clone::clone(state), Choice(choice)));
        let mut jobs: Vec<Job<_>> = states.iter().flat_map(child).collect();
        system.run_many(&mut jobs);
        states = jobs.into_iter().map(|job| job.state).collect();
    }
}

#[test]
fn a_world_that_keeps_its_word_is_safe_and_everything_was_run_twice() {
    for (support, instances) in [(Support::Save, 1), (Support::Save, 3), (Support::Replay, 2), (Support::None, 1)] {
        let system = world(support, Flaw::Nothing, 0, instances);
        system.check(Seed(0));
        let outcome = exhaustive(&system, 4);
        assert_eq!(system.differences(), []);
        assert!(matches!(outcome.soundness, Soundness::Exhaustive { .. }), "{:?}", outcome.soundness);
        assert_eq!(system.doubled(), 81 * 4, "{support:?}: paths of four segments");
        if support != Support::None {
            assert_eq!(system.fleet().times().restarts, 0, "{support:?}: nothing went wrong");
        }
    }
}

#[test]
fn without_a_check_or_without_time_to_run_twice_nothing_is_safe() {
    let system = world(Support::Save, Flaw::Nothing, 0, 1);
    let outcome = exhaustive(&system, 3);
    let why = outcome.soundness.why_not().expect("a reason");
    assert!(why.contains("was not checked"), "{why}");

    let system = world(Support::Save, Flaw::Nothing, 0, 1);
    system.check(Seed(0));
    assert!(system.objections()[0].contains("no segment"), "{:?}", system.objections());
    random_runs(&system, 0, 10);
    let left = AtomicU64::new(3);
    let goes_on = || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
    system.run_twice(Twice::Whole, &goes_on);
    assert!(system.objections()[0].contains("only 24 segments"), "{:?}", system.objections());
}

#[test]
fn memory_that_branches_share_is_caught_every_time() {
    for flaw in [Flaw::Counter, Flaw::Flag, Flaw::Forgets] {
        for levels in [2, 4, 6] {
            let system = world(Support::Save, flaw, 0, 1 + levels as usize % 3);
            let outcome = exhaustive(&system, levels);
            let found = system.differences();
            assert!(!found.is_empty(), "{flaw:?}, {levels} levels");
            assert!(found.iter().any(|one| one.text.contains("`v` was")), "{found:?}");
            assert!(found[0].text.contains("snapshot = \"fork\""), "{found:?}");
            assert!(!outcome.soundness.is_safe());
        }
        let broken: Vec<String> =
            world(Support::Save, flaw, 0, 1).check(Seed(0)).iter().map(ToString::to_string).collect();
        assert!(broken.iter().any(|claim| claim.starts_with("BROKEN")), "{flaw:?}: {broken:?}");
    }
}

#[test]
fn a_world_that_differs_in_one_of_a_thousand_segments_is_caught() {
    let trials: u64 = std::env::var("ANABRANCH_TRIALS").map_or(10, |text| text.parse().expect("a number of trials"));
    let mut missed = Vec::new();
    for trial in 0..trials {
        let system = world(Support::Save, Flaw::OneOf(1000), trial, 1);
        every_path_once(&system, 8);
        assert_eq!(system.differences(), [], "nothing was run twice so far");
        system.run_twice(Twice::Share, &|| true);
        if system.differences().is_empty() {
            assert!(system.doubled() >= DOUBLED, "{} segments in trial {trial}", system.doubled());
            missed.push(trial);
        }
    }
    println!("{} of {trials} trials caught, missed: {missed:?}", trials - missed.len() as u64);
    assert!(missed.len() as u64 * 100 <= trials, "{missed:?}");
}

#[test]
fn what_is_run_twice_does_not_depend_on_threads_or_instances() {
    let doubled = |instances: usize| {
        let system = world(Support::Save, Flaw::Nothing, 0, instances);
        exhaustive(&system, 8);
        system.doubled()
    };
    let expect = doubled(1);
    assert!(expect >= DOUBLED);
    assert_eq!([doubled(2), doubled(3)], [expect; 2]);
}
