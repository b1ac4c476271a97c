//! A state in another process keeps every promise a state in this process keeps, by replay and by fork.

use anabranch_bridge::toy::Toy;
use anabranch_bridge::{ChildSystem, InProcess, Limits, Program, Replay, Restore};
use anabranch_kernel::contract::check_contract;
use anabranch_kernel::{
    Chance, Choice, Fault, Job, Params, Seed, SegmentEnd, System, Watch, from_bytes, state_digest, to_bytes,
};

const RUNS: u64 = 6;
const LENGTH: usize = 12;

fn program() -> Program {
    Program::new(env!("CARGO_BIN_EXE_toy_child"))
}

fn reference() -> ChildSystem<InProcess<Toy>> {
    ChildSystem::new(InProcess::new(Toy::default())).unwrap()
}

fn replay(program: Program) -> ChildSystem<Replay> {
    ChildSystem::new(Replay::new(program, Limits::default()).unwrap()).unwrap()
}

#[cfg(unix)]
fn fork(limits: Limits) -> ChildSystem<anabranch_bridge::Fork> {
    ChildSystem::new(anabranch_bridge::Fork::new(program(), limits).unwrap()).unwrap()
}

/// Every state of a small tree: bytes, digest and end. Each branch goes on from a clone.
fn tree(system: &impl System, depth: usize) -> Vec<(Vec<u8>, String)> {
    let mut seen = Vec::new();
    let mut level = vec![system.start(Seed(7), &Params(vec![0.2])).unwrap()];
    for _ in 0..depth {
        let branch = |state| system.errors().choices().map(move |choice| Job::new(Clone::clone(state), choice));
        let mut jobs: Vec<_> = level.iter().flat_map(branch).collect();
        system.run_many(&mut jobs);
        seen.extend(jobs.iter().map(|job| {
            let text = format!("{:?} {:?} {}", state_digest(&job.state), job.end, job.margin.to_bits());
            (to_bytes(&job.state), text)
        }));
        level = jobs.into_iter().filter(|job| job.end == Ok(SegmentEnd::Open)).map(|job| job.state).collect();
    }
    seen
}

fn check(system: &ChildSystem<impl Restore>) {
    let report = check_contract(system, RUNS, LENGTH).unwrap();
    assert_eq!(report, check_contract(&reference(), RUNS, LENGTH).unwrap(), "runs end where the reference ends");
    assert!(report.segments >= RUNS as usize, "{report:?}");
    let (here, there) = (tree(&reference(), 4), tree(system, 4));
    let violated = here.iter().filter(|(_, text)| text.contains("Violated")).count();
    assert!(violated > 5 && here.len() > 200, "{violated} of {} segments violated", here.len());
    assert!(here == there, "bytes, digests, ends and margins are those of the same toy in this process");
}

#[test]
fn a_driver_in_this_process_keeps_the_contract() {
    check(&reference());
}

#[test]
fn a_replayed_child_keeps_the_contract_and_equals_the_driver_in_this_process() {
    check(&replay(program()));
}

#[cfg(unix)]
#[test]
fn a_forked_child_keeps_the_contract_and_equals_the_driver_in_this_process() {
    check(&fork(Limits::default()));
}

#[cfg(unix)]
#[test]
fn given_up_snapshots_are_replayed_with_equal_results() {
    let system = fork(Limits { snapshots_max: 3, ..Limits::default() });
    assert!(tree(&reference(), 4) == tree(&system, 4));
    let start = system.start(Seed(1), &Params(vec![0.0])).unwrap();
    let mut jobs: Vec<_> = (0..8).map(|n| Job::new(start.clone(), Choice(n % 4))).collect();
    system.run_many(&mut jobs);
    assert_eq!(system.restore().snapshots_kept(), 3);
    assert_eq!(system.restore().processes().len(), 2 + 3);
}

#[cfg(unix)]
#[test]
fn bytes_saved_under_one_way_continue_equal_under_every_other() {
    let (in_process, replay, fork) = (reference(), replay(program()), fork(Limits::default()));
    let mut saved = to_bytes(&in_process.start(Seed(3), &Params(vec![-0.2])).unwrap());
    for segment in 0..12_u64 {
        let choice = Choice(Chance::new(Seed(5), "choices").below(segment, 4) as u16);
        let next = continued(&in_process, &saved, choice);
        assert_eq!(next, continued(&replay, &saved, choice), "by replay, segment {segment}");
        assert_eq!(next, continued(&fork, &saved, choice), "by fork, segment {segment}");
        saved = next;
    }
}

fn continued(system: &impl System, saved: &[u8], choice: Choice) -> Vec<u8> {
    fn loaded<S: System>(_: &S, saved: &[u8]) -> S::State {
        from_bytes(saved).unwrap()
    }
    let mut state = loaded(system, saved);
    system.run(&mut state, choice, &mut Watch::off()).unwrap();
    to_bytes(&state)
}

#[cfg(unix)]
#[test]
fn many_threads_share_one_child_and_its_snapshots() {
    let (system, expected) = (fork(Limits { snapshots_max: 24, ..Limits::default() }), tree(&reference(), 3));
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(|| tree(&system, 3) == expected)).collect();
        assert!(workers.into_iter().all(|worker| worker.join().unwrap()));
    });
}

#[test]
fn a_driver_that_does_not_repeat_itself_breaks_the_contract_loudly() {
    let system = replay(program().with("drifts"));
    let mut state = system.start(Seed(0), &Params(vec![0.0])).unwrap();
    let end = system.run(&mut state, Choice(0), &mut Watch::off());
    assert!(matches!(&end, Err(Fault::Contract(text)) if text.contains("clock")), "{end:?}");
}

#[test]
fn a_number_that_is_none_is_a_numeric_fault_and_a_missing_program_an_external_one() {
    let system = replay(program().with("babbles"));
    let mut state = system.start(Seed(0), &Params(vec![0.0])).unwrap();
    let end = system.run(&mut state, Choice(3), &mut Watch::off());
    assert_eq!(end, Err(Fault::Numeric("speed is NaN".to_owned())));
    assert!(system.start(Seed(0), &Params(vec![])).is_err_and(|fault| fault.to_string().contains("refused")));
    let missing = Replay::new(Program::new("no-such-program"), Limits::default());
    assert!(matches!(missing, Err(Fault::External(text)) if text.contains("no-such-program")));
}
