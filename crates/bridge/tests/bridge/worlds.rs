//! A foreign simulator under the explorer: the same graph whatever it can save, however many there are, and whatever happens.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use anabranch_bridge::{
    Answer, Card, Factory, Fleet, FleetLimits, Instance, Kind, MergeRule, Misbehaviour, Op, Support, WorldSystem,
};
use anabranch_explore::{Explorer, Settings};
use anabranch_kernel::contract::check_contract;
use anabranch_kernel::{CellKey, Choice, Grid, Job, KeyWriter, Params, Recorder, Seed, SegmentEnd, System, Watch};

use super::machine::{alone, children};
use super::rogue;
use super::toy::Toy;

/// What a toy does in its old age.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Well,
    /// Ends when it is pushed to the right after being pushed to the left.
    CrashesOnLeftRight,
    /// Ends after so many segments, whatever they are.
    Wears(u32),
    /// Answers with a number that is none when pushed to the left twice.
    NanOnLeftLeft,
    /// Says something else in every instance.
    Moody,
    /// Forgets what it saved.
    LoadFails,
    /// Cannot save once it was pushed to the left.
    SaveFails,
    /// Remembers a push to the left only as long as nobody saves it.
    SavesTooLittle,
}

#[derive(Debug)]
struct Toys {
    support: Support,
    fate: Fate,
    names_values: bool,
    started: Arc<AtomicU32>,
}

struct Fated {
    toy: Toy,
    fate: Fate,
    /// Last mode per branch.
    last: std::collections::BTreeMap<u32, u16>,
    saved: std::collections::BTreeMap<u32, u16>,
    segments: u32,
    number: u32,
}

impl Factory for Toys {
    fn start(&self) -> Result<Box<dyn Instance>, Misbehaviour> {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let mut toy = Toy::world(self.support);
        if !self.names_values {
            toy.card.world.as_mut().unwrap().merge.clear();
        }
        let (last, saved) = Default::default();
        Ok(Box::new(Fated { toy, fate: self.fate, last, saved, segments: 0, number }))
    }
}

impl Fated {
    fn run(&mut self, branch: u32, mode: u16, answer: &mut Answer) -> Result<(), Misbehaviour> {
        let before = self.last.insert(branch, mode).unwrap_or(0);
        self.segments += 1;
        let Answer::Segment(segment) = answer else { return Ok(()) };
        if self.toy.card.world.as_ref().unwrap().merge.is_empty() {
            segment.values.clear();
        }
        match self.fate {
            Fate::SavesTooLittle if before == 0 && mode == 2 => {
                segment.violated = vec![self.toy.card.world.as_ref().unwrap().requirements[0].clone()];
                Ok(())
            }
            Fate::CrashesOnLeftRight if (before, mode) == (1, 2) => Err(Misbehaviour::new(Kind::Crash, "bang")),
            Fate::Wears(limit) if self.segments > limit => Err(Misbehaviour::new(Kind::Crash, "worn out")),
            Fate::NanOnLeftLeft if (before, mode) == (1, 1) => {
                segment.values[0] = f64::NAN;
                Ok(())
            }
            Fate::Moody => {
                segment.values[0] += f64::from(self.number) * 1e-3;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl Instance for Fated {
    fn card(&self) -> &Card {
        &self.toy.card
    }
    fn seconds(&self) -> f64 {
        0.0
    }
    fn exchange(&mut self, ops: &[Op], answers: &mut Vec<Answer>) -> Result<(), Misbehaviour> {
        for op in ops {
            let mut one = Vec::new();
            self.toy.exchange(std::slice::from_ref(op), &mut one)?;
            let memory = |of: Option<&u16>| of.copied().unwrap_or(0);
            match op {
                Op::Run { branch, modes, .. } => self.run(*branch, modes[0], &mut one[0])?,
                Op::Save { branch, .. } if self.fate == Fate::SaveFails && memory(self.last.get(branch)) == 1 => {
                    one[0] = Answer::Failed { text: "no room".to_owned() };
                }
                Op::Load { branch, .. } if self.fate == Fate::SavesTooLittle => self.last.extend([(*branch, 0)]),
                Op::Load { .. } if self.fate == Fate::LoadFails => one[0] = Answer::Failed { text: "lost".to_owned() },
                Op::Load { token, branch } => self.last.extend([(*branch, memory(self.saved.get(token)))]),
                Op::Reset { branch, .. } => self.last.extend([(*branch, 0)]),
                Op::Save { branch, token } => self.saved.extend([(*token, memory(self.last.get(branch)))]),
                _ => {}
            }
            answers.append(&mut one);
        }
        Ok(())
    }
}

fn toys(support: Support, fate: Fate) -> Toys {
    Toys { support, fate, names_values: true, started: Arc::default() }
}

fn system(factory: impl Factory + 'static, limits: FleetLimits) -> WorldSystem {
    WorldSystem::new(Fleet::new(Box::new(factory), limits).unwrap()).unwrap()
}

fn limits(instances: usize, tokens_max: usize) -> FleetLimits {
    FleetLimits { instances, tokens_max }
}

/// Digest, findings and faults of an exploration.
fn explored(system: &WorldSystem, threads: usize) -> (String, usize, u64) {
    let mut settings = Settings::new(system.variables(), system.time_matters());
    settings.levels_max = 6;
    let outcome = Explorer::new(system).settings(settings).threads(threads).run().unwrap();
    assert_eq!(outcome.fault_count, 0, "{:?}", outcome.faults);
    (format!("{:?}", outcome.digest), outcome.hits.len(), outcome.progress.segments)
}

#[test]
fn the_graph_is_the_same_for_any_support_any_number_of_instances_and_any_threads() {
    let expect = explored(&system(toys(Support::Save, Fate::Well), limits(1, 1000)), 1);
    assert!(expect.1 > 0, "the wall is found");
    for (support, instances, tokens_max, threads) in [
        (Support::Save, 2, 1000, 2),
        (Support::Save, 3, 5, 7),
        (Support::Save, 1, 0, 1),
        (Support::Replay, 1, 1000, 1),
        (Support::Replay, 3, 1000, 2),
        (Support::None, 2, 1000, 2),
    ] {
        let got = explored(&system(toys(support, Fate::Well), limits(instances, tokens_max)), threads);
        assert_eq!(got, expect, "{support:?}, {instances} instances, {tokens_max} saved states, {threads} threads");
    }
}

#[test]
fn a_world_in_another_process_gives_the_same_graph() {
    let _alone = alone();
    let expect = explored(&system(toys(Support::Save, Fate::Well), limits(1, 1000)), 1);
    for (mode, instances) in [("world", 1), ("world", 2), ("world-replay", 2)] {
        assert_eq!(explored(&system(rogue(mode), limits(instances, 1000)), 2), expect, "{mode}");
    }
    assert_eq!(children(), 0);
}

#[test]
fn foreign_worlds_keep_the_contract_of_every_system() {
    for support in [Support::Save, Support::Replay, Support::None] {
        check_contract(&system(toys(support, Fate::Well), limits(2, 4)), 4, 5).unwrap();
    }
    for fate in [Fate::CrashesOnLeftRight, Fate::Wears(20), Fate::NanOnLeftLeft, Fate::LoadFails] {
        check_contract(&system(toys(Support::Save, fate), limits(2, 100)), 6, 5)
            .unwrap_or_else(|broken| panic!("{fate:?}: {broken}"));
    }
}

fn driven(system: &WorldSystem, path: &[u16]) -> (SegmentEnd, anabranch_bridge::WorldState) {
    let mut state = system.start(Seed(0), &Params::default()).unwrap();
    let mut end = SegmentEnd::Open;
    for &choice in path {
        end = system.run(&mut state, Choice(choice), &mut Watch::off()).unwrap();
    }
    (end, state)
}

fn requirement(system: &WorldSystem, end: &SegmentEnd) -> String {
    match end {
        SegmentEnd::Violated(verdicts) => system.requirements()[usize::from(verdicts[0].requirement)].clone(),
        other => format!("{other:?}"),
    }
}

#[test]
fn only_the_guilty_branch_of_a_message_gets_the_verdict() {
    let system = system(toys(Support::Save, Fate::CrashesOnLeftRight), limits(1, 1000));
    let (_, left) = driven(&system, &[1]);
    let (_, none) = driven(&system, &[0]);
    let mut jobs: Vec<Job<_>> = [(&none, 0), (&left, 1), (&none, 2), (&left, 2), (&none, 1), (&left, 0)]
        .map(|(s, c)| Job::new(s.clone(), Choice(c)))
        .into();
    system.run_many(&mut jobs);
    let ends: Vec<String> = jobs.iter().map(|job| requirement(&system, job.end.as_ref().unwrap())).collect();
    assert_eq!(ends, ["Open", "Open", "Open", "driver.crash", "Open", "Open"]);
    assert_eq!(system.fault_at(&[Choice(1), Choice(2)]).unwrap().text, "bang");
    assert!(system.incidents().is_empty());
}

#[test]
fn wear_of_an_instance_is_no_verdict_on_a_path_but_is_told() {
    let expect = explored(&system(toys(Support::Save, Fate::Well), limits(1, 1000)), 1);
    let worn = system(toys(Support::Save, Fate::Wears(40)), limits(1, 1000));
    assert_eq!(explored(&worn, 1), expect);
    assert!(worn.fleet().times().restarts > 3);
    let alone = system(toys(Support::Save, Fate::Wears(3)), limits(1, 1000));
    let (end, _) = driven(&alone, &[0, 1, 0, 2]);
    assert_eq!(requirement(&alone, &end), "driver.crash", "four segments are too many from the start, too");
}

#[test]
fn numbers_that_are_none_end_their_branch_by_kind() {
    let system = system(toys(Support::Save, Fate::NanOnLeftLeft), limits(1, 1000));
    let (end, state) = driven(&system, &[1, 1]);
    assert_eq!(requirement(&system, &end), "driver.not-a-number");
    assert!(state.values().iter().all(|value| value.is_finite()));
    assert_eq!(system.fleet().times().restarts, 0);
}

#[test]
fn a_path_that_reports_something_else_when_it_is_run_again_is_not_deterministic() {
    let system = system(toys(Support::Save, Fate::Moody), limits(1, 1000));
    let (_, mut state) = driven(&system, &[1, 2]);
    system.fleet().seat(0).end();
    let end = system.run(&mut state, Choice(0), &mut Watch::off()).unwrap();
    assert_eq!(requirement(&system, &end), "driver.nondeterministic");
    let told = system.fault_at(state.path()).unwrap().text;
    assert!(told.starts_with("the same path gave `x` = "), "{told}");
}

#[test]
fn a_state_that_cannot_be_loaded_is_rebuilt_and_people_are_told() {
    let expect = explored(&system(toys(Support::Save, Fate::Well), limits(1, 1000)), 1);
    let forgetful = system(toys(Support::Save, Fate::LoadFails), limits(1, 1000));
    assert_eq!(explored(&forgetful, 1), expect);
    assert!(
        forgetful.incidents().iter().all(|wrong| wrong.kind == Kind::BrokenPromise)
            && !forgetful.incidents().is_empty()
    );
}

#[test]
fn without_named_values_memory_counts_exactly_or_nothing_is_merged() {
    let rule = |support| {
        let toys = Toys { names_values: false, ..toys(support, Fate::Well) };
        let system = system(toys, limits(1, 1000));
        check_contract(&system, 2, 4).unwrap();
        system.merge_rule()
    };
    assert_eq!(rule(Support::Save), MergeRule::Memory);
    assert_eq!(rule(Support::Replay), MergeRule::Never);
}

fn key(system: &WorldSystem, state: &anabranch_bridge::WorldState) -> CellKey {
    let grid = Grid::of(system.variables());
    let mut writer = KeyWriter::new(&grid);
    system.cell(state, &mut writer);
    writer.finish().unwrap()
}

#[test]
fn a_state_that_could_not_be_saved_is_like_no_other_where_memory_counts() {
    let toys = Toys { names_values: false, ..toys(Support::Save, Fate::SaveFails) };
    let system = system(toys, limits(1, 1000));
    assert_eq!(system.merge_rule(), MergeRule::Memory);
    let paths: [&[u16]; 5] = [&[1], &[2, 1], &[0, 1], &[2, 0, 1], &[1, 0, 1]];
    let keys: Vec<CellKey> = paths.iter().map(|path| key(&system, &driven(&system, path).1)).collect();
    for (n, key) in keys.iter().enumerate() {
        assert!(!keys[..n].contains(key), "{:?} has the key of another one", paths[n]);
    }
    assert_eq!(key(&system, &driven(&system, &[0]).1), key(&system, &driven(&system, &[0]).1));
    let incidents = system.incidents();
    assert!(incidents.iter().any(|wrong| wrong.to_string().contains("no room")), "{incidents:?}");
}

#[test]
fn a_straight_run_agrees_with_saved_states_unless_these_forget() {
    let well = system(toys(Support::Save, Fate::Well), limits(1, 1000));
    let path = [1, 2, 1, 1].map(Choice);
    let straight = well.straight(Seed(0), &Params::default(), &path, None).unwrap();
    let (end, state) = driven(&well, &[1, 2, 1, 1]);
    assert_eq!((straight.end, straight.segments, straight.state.values()), (end, 4, state.values()));

    let forgets = system(toys(Support::Save, Fate::SavesTooLittle), limits(1, 1000));
    let (end, _) = driven(&forgets, &[1, 2]);
    assert!(matches!(end, SegmentEnd::Violated(_)), "{end:?}");
    let straight = forgets.straight(Seed(0), &Params::default(), &[1, 2].map(Choice), None).unwrap();
    assert_eq!(straight.end, SegmentEnd::Open, "without a load nothing is forgotten");
}

#[derive(Default)]
struct Frames(Vec<(u64, Vec<f64>)>);

impl Recorder for Frames {
    fn frame(&mut self, tick: u64, values: &[f64]) {
        self.0.push((tick, values.to_vec()));
    }
}

#[test]
fn a_recorded_segment_shows_its_signals_and_changes_nothing() {
    let system = system(toys(Support::Save, Fate::Well), limits(1, 1000));
    let (_, plain) = driven(&system, &[1, 2]);
    let (_, mut state) = driven(&system, &[1]);
    let mut frames = Frames::default();
    let mut watch = Watch::recording(&mut frames);
    system.run(&mut state, Choice(2), &mut watch).unwrap();
    assert!(watch.margin < 0.6);
    assert_eq!(state.values(), plain.values());
    let ticks: Vec<u64> = frames.0.iter().map(|(tick, _)| *tick).collect();
    assert_eq!(ticks, [5, 6, 7, 8]);
    assert_eq!(frames.0[3].1, state.values(), "signals and values are the same two numbers here");
}
