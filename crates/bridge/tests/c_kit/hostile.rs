//! The C kit among enemies: malformed messages, broken links, crashing branches, hosts that are killed.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::kit::{Asker, Numbers, SANITISED, Started, build, random_seen, reset, socket_path, step};
use anabranch_bridge::PROTOCOL;
use anabranch_bridge::protocol::{Answer, Op, Reply, Request};

const LAW: &str = "examples/c/follow_law.c";
const ROGUE: &str = "crates/bridge/tests/c/rogue.c";
/// Little is held back by the sanitiser, so that growing memory is ours.
const SANITISER: (&str, &str) =
    ("ASAN_OPTIONS", "quarantine_size_mb=1:detect_leaks=1:allocator_release_to_os_interval_ms=0");

/// Memory of a process in bytes, as the system counts it.
#[cfg(target_os = "linux")]
fn resident_bytes(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/statm")).unwrap();
    text.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

/// Changes a message as noise and mischief would.
fn spoil(message: &mut Vec<u8>, numbers: &mut Numbers) {
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(message.len().max(1));
        match numbers.below(7) {
            _ if message.is_empty() => message.push(numbers.bits() as u8),
            0 => message.truncate(at),
            1 => message[at] ^= 1 << numbers.below(8),
            2 => message[at] = numbers.bits() as u8,
            // Headers of long lists, maps, texts and blobs.
            3 => message[at] = [0xdd, 0xdf, 0xdb, 0xc6, 0xc9, 0xdc, 0xde, 0x9f, 0x8f, 0xbf][numbers.below(10)],
            4 => message.insert(at, numbers.bits() as u8),
            5 => {
                message.remove(at);
            }
            _ => {
                let piece = message[at..].to_vec();
                message.extend(piece);
            }
        }
    }
}

fn verbs(numbers: &mut Numbers) -> Vec<Op> {
    vec![
        Op::Describe {},
        reset(0),
        Op::Load { token: 1, branch: 0 },
        step(0, &random_seen(numbers)),
        Op::Run { branch: 0, modes: vec![0], record: true },
        Op::Save { branch: 0, token: 1 },
        Op::Drop { tokens: vec![1, 2, 3] },
    ]
}

/// Asks `rounds` malformed questions of each verb; every one is answered, and afterwards the program is as healthy as before.
fn fuzz(program: &Path, snapshot: &str, rounds: usize) {
    let mut started = Started::new(program, &[], &[("ANABRANCH_SNAPSHOT", snapshot), SANITISER]);
    let mut numbers = Numbers(99);
    let mut located = 0;
    let mut before = None;
    for round in 0..rounds {
        for verb in verbs(&mut numbers) {
            let request = Request { anabranch: PROTOCOL, seq: round as u64, ops: vec![verb] };
            let mut message = rmp_serde::to_vec_named(&request).unwrap();
            spoil(&mut message, &mut numbers);
            let bytes = started.asker.raw(&message).expect("every message is answered");
            let reply: Reply = rmp_serde::from_slice(&bytes).expect("a reply of this protocol");
            let at_byte = |answer: &Answer| matches!(answer, Answer::Failed { text } if text.contains(" at byte "));
            located += usize::from(reply.answers.iter().any(at_byte));
        }
        if round == rounds / 4 {
            before = Some(resident_bytes(started.child.id()));
        }
    }
    let grown = resident_bytes(started.child.id()).saturating_sub(before.unwrap());
    assert!(grown < 16 << 20, "{grown} bytes more than after a quarter of the messages");
    assert!(located > rounds, "{located} of {} messages had their mistake located", 7 * rounds);
    let run = Op::Run { branch: 0, modes: vec![0], record: false };
    let answers = started.asker.ask(&[reset(0), step(0, &random_seen(&mut numbers)), run]);
    let sound = |answer: &Answer| matches!(answer, Answer::Decision(_) | Answer::Segment(_));
    assert_eq!(answers.iter().filter(|answer| sound(answer)).count(), 1, "{answers:?}");
    started.bye();
}

#[cfg(target_os = "linux")]
#[test]
fn ten_thousand_malformed_requests_of_each_kind_do_no_harm() {
    fuzz(&build(LAW, &SANITISED), "memory", 10_000);
}

#[cfg(target_os = "linux")]
#[test]
fn malformed_requests_do_no_harm_to_forks_and_worlds() {
    fuzz(&build(LAW, &SANITISED), "fork", 300);
    fuzz(&build("examples/c/toy_world.c", &SANITISED), "auto", 300);
}

#[test]
fn broken_links_are_closed_and_the_next_one_is_served() {
    let path = socket_path("bound");
    let endpoint = format!("ipc://{}", path.display());
    let mut child = Command::new(build(ROGUE, &[]))
        .arg("none")
        .env("ROGUE_ENDPOINT", &endpoint)
        .env_remove("ANABRANCH_ENDPOINT")
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let connect = || eventually(|| UnixStream::connect(&path).ok());
    let mut numbers = Numbers(4);
    let mut greeting = [0_u8; 64 + 27];
    (greeting[0], greeting[9], greeting[10]) = (0xff, 0x7f, 3);
    greeting[12..16].copy_from_slice(b"NULL");
    greeting[64..].copy_from_slice(b"\x04\x19\x05READY\x0bSocket-Type\0\0\0\x03REQ");
    for round in 0..300 {
        let mut stream = connect();
        let mut noise = greeting.to_vec();
        match round % 3 {
            // Noise instead of a greeting.
            0 => spoil(&mut noise, &mut numbers),
            // A frame that claims to be enormous.
            1 => noise.extend([1, 0, 2, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
            // Noise instead of frames.
            _ => noise.extend((0..40).map(|_| numbers.bits() as u8)),
        }
        // It may hang up while we are still talking.
        let _ = stream.write_all(&noise);
    }
    let mut asker = Asker::greet(connect()).unwrap();
    assert_eq!(asker.card().name, "rogue");
    assert_eq!(asker.ask(&[Op::Bye {}]), [Answer::Done {}]);
    assert!(child.wait().unwrap().success());
    assert!(!path.exists(), "the socket is cleared away");
}

#[test]
fn nothing_listens_beyond_this_machine() {
    for endpoint in [concat!("tcp://0.0.", "0.0:5599"), "tcp://example:5599", "udp://127.0.0.1:5599", "ipc://"] {
        let rogue = build(ROGUE, &[]);
        let output = Command::new(rogue).arg("none").env("ROGUE_ENDPOINT", endpoint).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{endpoint}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(endpoint), "{endpoint}");
    }
}

#[test]
fn a_ping_is_answered_and_further_frames_are_passed_over() {
    use std::io::Read;
    let mut started = Started::new(&build(LAW, &[]), &[], &[]);
    started.asker.stream.write_all(b"\x04\x09\x04PING\0\x64hi").unwrap();
    let mut pong = [0_u8; 9];
    started.asker.stream.read_exact(&mut pong).unwrap();
    assert_eq!(&pong, b"\x04\x07\x04PONGhi");
    // The empty frame, the body, and a blob behind it.
    let request = Request { anabranch: PROTOCOL, seq: 5, ops: vec![Op::Drop { tokens: vec![] }] };
    let body = rmp_serde::to_vec_named(&request).unwrap();
    let mut message = vec![1, 0, 1, body.len() as u8];
    message.extend(body);
    message.extend([0, 3, 9, 9, 9]);
    started.asker.stream.write_all(&message).unwrap();
    let mut head = [0_u8; 4];
    started.asker.stream.read_exact(&mut head).unwrap();
    let mut reply = vec![0; usize::from(head[3])];
    started.asker.stream.read_exact(&mut reply).unwrap();
    assert_eq!(rmp_serde::from_slice::<Reply>(&reply).unwrap().answers, [Answer::Done {}]);
    started.bye();
}

#[test]
fn a_branch_that_crashes_takes_no_other_with_it() {
    let rogue = build(ROGUE, &[]);
    for (misbehaviour, word) in [("segfault", "signal 11"), ("abort", "signal 6"), ("exit", "exit status 3")] {
        let mut started = Started::new(&rogue, &[misbehaviour], &[("ANABRANCH_SNAPSHOT", "fork")]);
        let seen = |tick: u64| anabranch_bridge::Seen { tick, ..Default::default() };
        let ops = [reset(0), reset(1), step(0, &seen(9)), step(1, &seen(5)), step(0, &seen(10)), step(1, &seen(6))];
        let answers = started.asker.ask(&ops);
        // The rogue misbehaves from tick 10 on: branch 0 crashes, branch 1 does not notice.
        let Answer::Failed { text } = &answers[4] else { panic!("{answers:?}") };
        assert!(text.starts_with("crash: ") && text.contains(word), "{text}");
        assert!(matches!((&answers[3], &answers[5]), (Answer::Decision(_), Answer::Decision(_))), "{answers:?}");
        let gone = started.asker.ask(&[step(0, &seen(11))]);
        assert_eq!(gone, [Answer::Failed { text: "there is no branch 0".to_owned() }]);
        started.bye();
    }
}

/// Asks again until there is an answer; a minute is for machines that are very busy.
fn eventually<T>(mut ask: impl FnMut() -> Option<T>) -> T {
    for _ in 0..6000 {
        if let Some(answer) = ask() {
            return answer;
        }
        std::thread::park_timeout(Duration::from_millis(10));
    }
    panic!("it did not happen");
}

/// Processes that have this word in their environment, zombies left out.
#[cfg(target_os = "linux")]
fn alive_with(word: &str) -> Vec<u32> {
    let mut found = vec![];
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.windows(word.len()).any(|window| window == word.as_bytes()) {
            found.push(pid);
        }
    }
    found
}

/// The host that is to be killed: it prepares ten branches and a saved state, lets one of them hang, and waits.
#[cfg(target_os = "linux")]
fn host_that_is_killed(mark: &str) {
    let environment = [("ANABRANCH_SNAPSHOT", "fork"), ("ANABRANCH_TEST_MARK", mark)];
    let mut started = Started::new(&build(ROGUE, &[]), &["hang"], &environment);
    let mut ops: Vec<Op> = (0..10).map(reset).collect();
    ops.extend([Op::Save { branch: 0, token: 1 }, Op::Load { token: 1, branch: 0 }]);
    started.asker.ask(&ops);
    let late = anabranch_bridge::Seen { tick: 10, ..Default::default() };
    let _ = started.asker.try_ask(&[step(3, &late)]);
}

#[cfg(target_os = "linux")]
#[test]
fn no_process_outlives_a_host_that_is_killed() {
    // This program is started once more, as the host.
    if let Ok(mark) = std::env::var("ANABRANCH_TEST_MARK") {
        return host_that_is_killed(&mark);
    }
    let mark = format!("c-kit-{}", std::process::id());
    let mut host: Child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "hostile::no_process_outlives_a_host_that_is_killed"])
        .env("ANABRANCH_TEST_MARK", &mark)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let word = format!("ANABRANCH_TEST_MARK={mark}");
    // The host, the broker, the first process, ten branches and a saved state.
    eventually(|| (alive_with(&word).len() == 14).then_some(()));
    host.kill().unwrap();
    host.wait().unwrap();
    eventually(|| alive_with(&word).is_empty().then_some(()));
}
