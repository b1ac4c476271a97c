//! Children that die, hang or are left alone. Every test ends what it starts.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::Duration;

use anabranch_bridge::toy::Toy;
use anabranch_bridge::{ChildSystem, Fork, InProcess, Limits, Program, Replay, Restore};
use anabranch_kernel::{Choice, Fault, Params, Seed, System, Watch, to_bytes};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

const SHORT: Limits = Limits { answer_within: Duration::from_millis(300), snapshots_max: 32 };
const FLAWED: Choice = Choice(3);

fn program(flaw: &str) -> Program {
    Program::new(env!("CARGO_BIN_EXE_toy_child")).with(flaw)
}
fn replay(flaw: &str, limits: Limits) -> ChildSystem<Replay> {
    ChildSystem::new(Replay::new(program(flaw), limits).unwrap()).unwrap()
}
fn fork(flaw: &str, limits: Limits) -> ChildSystem<Fork> {
    ChildSystem::new(Fork::new(program(flaw), limits).unwrap()).unwrap()
}

fn pid(id: u32) -> Pid {
    Pid::from_raw(i32::try_from(id).unwrap())
}
/// Neither running nor a zombie of somebody else; waits for it, because the end of a process takes a moment.
fn is_gone(target: Pid) -> bool {
    (0..500).any(|_| {
        let gone = reaped(target) || kill(target, None) == Err(Errno::ESRCH);
        if !gone {
            std::thread::sleep(Duration::from_millis(10));
        }
        gone
    })
}
fn kill_now(id: u32) {
    kill(pid(id), Signal::SIGKILL).unwrap();
}

/// Runs twelve segments, killing what `victims` picks before each; every state equals the reference.
fn check_kills<R: Restore>(system: &ChildSystem<R>, victims: impl Fn(usize, &[u32]) -> Vec<u32>) {
    let reference = ChildSystem::new(InProcess::new(Toy::default())).unwrap();
    let (seed, params) = (Seed(11), Params(vec![0.2]));
    let mut expected = reference.start(seed, &params).unwrap();
    let mut state = system.start(seed, &params).unwrap();
    for segment in 0..12 {
        victims(segment, &system.restore().processes()).into_iter().for_each(kill_now);
        let choice = Choice(segment as u16 % 3);
        // Held during every other segment, so that going on in place and going on by a fork both occur.
        let before = (segment % 2 == 0).then(|| state.clone());
        let there = system.run(&mut state, choice, &mut Watch::off());
        assert_eq!(there, reference.run(&mut expected, choice, &mut Watch::off()), "segment {segment}");
        assert_eq!(to_bytes(&state), to_bytes(&expected), "segment {segment}");
        drop(before);
    }
}

#[test]
fn a_killed_child_is_replaced_and_replayed_with_equal_results() {
    check_kills(&replay("", Limits::default()), |_, all| all.to_vec());
}

#[test]
fn a_killed_snapshot_zygote_or_sentinel_is_replayed_with_equal_results() {
    check_kills(&fork("", Limits::default()), |_, all| all[2..].to_vec());
    check_kills(&fork("", Limits::default()), |_, all| vec![all[1]]);
    check_kills(&fork("", Limits::default()), |_, all| vec![all[0]]);
    check_kills(&fork("", Limits::default()), |segment, all| if segment % 3 == 0 { all.to_vec() } else { vec![] });
}

/// A segment that cannot be computed is a fault; the state stays where it was and goes on with another choice.
fn check_fault<R: Restore>(system: &ChildSystem<R>, says: &str) {
    let mut state = system.start(Seed(0), &Params(vec![0.0])).unwrap();
    system.run(&mut state, Choice(1), &mut Watch::off()).unwrap();
    let before = to_bytes(&state);
    for _ in 0..2 {
        let end = system.run(&mut state, FLAWED, &mut Watch::off());
        assert!(matches!(&end, Err(Fault::External(text)) if text.contains(says)), "{end:?}");
        assert_eq!(to_bytes(&state), before);
    }
    system.run(&mut state, Choice(0), &mut Watch::off()).unwrap();
    assert_eq!(state.path().choices, [Choice(1), Choice(0)]);
}

#[test]
fn a_segment_that_hangs_is_a_fault_within_the_deadline() {
    check_fault(&replay("hangs", SHORT), "did not answer within 300ms");
    check_fault(&fork("hangs", SHORT), "did not answer within 300ms");
}

#[test]
fn a_segment_that_kills_its_process_is_a_fault() {
    check_fault(&replay("aborts", SHORT), "gone");
    check_fault(&fork("aborts", SHORT), "gone");
}

#[test]
fn a_snapshot_ends_with_the_last_clone_of_its_state() {
    let system = fork("", Limits::default());
    let state = system.start(Seed(0), &Params(vec![0.0])).unwrap();
    let copy = state.clone();
    let snapshot = pid(system.restore().processes()[2]);
    drop(state);
    assert_eq!(system.restore().snapshots_kept(), 1);
    assert_eq!(kill(snapshot, None), Ok(()));
    drop(copy);
    assert!(is_gone(snapshot));
    assert_eq!(system.restore().snapshots_kept(), 0);
}

#[test]
fn nothing_is_left_when_the_system_is_dropped_before_its_states() {
    let replay = replay("", Limits::default());
    let fork = fork("", Limits::default());
    let params = Params(vec![0.0]);
    let states: Vec<_> = (0..10).map(|seed| fork.start(Seed(seed), &params).unwrap()).collect();
    replay.start(Seed(0), &params).unwrap();
    let all = [replay.restore().processes(), fork.restore().processes()].concat();
    assert_eq!(all.len(), 1 + 2 + 10);
    drop((replay, fork));
    assert!(all.into_iter().all(|id| is_gone(pid(id))));
    drop(states);
}

/// The process ids after a word at the beginning of a line, once that many lines were written.
fn pids_after(word: &str, lines: usize, from: impl Read) -> Vec<u32> {
    let text = BufReader::new(from).lines().map_while(Result::ok);
    let said = text.filter_map(|line| line.split_once(word).map(|(_, pids)| pids.to_owned())).take(lines);
    said.flat_map(|pids| pids.split_whitespace().map(|id| id.parse().unwrap()).collect::<Vec<_>>()).collect()
}

#[test]
fn nothing_is_left_when_the_host_is_killed_even_while_segments_hang() {
    // Orphans come to us and not to the machine's first process, which in some containers never reaps.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    nix::sys::prctl::set_child_subreaper(true).unwrap();
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", HOST_TEST, "--nocapture"])
        .env(HOST_VARIABLE, "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (stdout, stderr) = host.stdout.take().zip(host.stderr.take()).unwrap();
    let idle = pids_after("pids:", 1, stdout);
    let hanging = pids_after("hangs:", 2, stderr);
    host.kill().unwrap();
    host.wait().unwrap();
    assert_eq!((idle.len(), hanging.len()), (3 + 1, 2), "sentinel, zygote, snapshot, child on pipes; two hang");
    for id in [idle, hanging].concat().into_iter().map(pid) {
        assert!(is_gone(id), "{id} is left");
    }
}

/// Whether a process was a zombie that only waited for us.
fn reaped(id: Pid) -> bool {
    matches!(waitpid(id, Some(WaitPidFlag::WNOHANG)), Ok(status) if status != WaitStatus::StillAlive)
}

const HOST_TEST: &str = "a_host_that_is_killed_by_another_test";
const HOST_VARIABLE: &str = "ANABRANCH_TEST_HOST";

/// The body of the killed host; does nothing by itself.
#[test]
fn a_host_that_is_killed_by_another_test() {
    if std::env::var_os(HOST_VARIABLE).is_none() {
        return;
    }
    let limits = Limits { answer_within: Duration::from_secs(20), snapshots_max: 8 };
    let (fork, replay) = (fork("hangs", limits), replay("hangs", limits));
    let (mut forked, mut replayed) =
        (fork.start(Seed(0), &Params(vec![0.0])).unwrap(), replay.start(Seed(0), &Params(vec![0.0])).unwrap());
    let kept = forked.clone();
    std::thread::scope(|scope| {
        let pids = [fork.restore().processes(), replay.restore().processes()].concat();
        println!("pids: {}", pids.iter().map(u32::to_string).collect::<Vec<_>>().join(" "));
        scope.spawn(|| fork.run(&mut forked, FLAWED, &mut Watch::off()));
        scope.spawn(|| replay.run(&mut replayed, FLAWED, &mut Watch::off()));
    });
    drop(kept);
}
