//! Serving, connecting, recording, and what is claimed.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use anabranch_bridge::protocol::{Request, Snapshot};
use anabranch_bridge::zmtp::{Link, LinkError, Side};
use anabranch_bridge::{
    Answer, Begin, Card, ConnectFactory, Deadlines, Endpoint, Factory, Fleet, FleetLimits, Instance, Kind,
    Misbehaviour, Op, Probe, Reach, RecordingFactory, ReplayFactory, Seen, Support, body, check_claims, serve,
};

use super::machine::alone;
use super::rogue;
use super::toy::Toy;

const LIMIT: Option<Duration> = Some(Duration::from_secs(10));

/// Both ends of a link after the greeting.
fn pair() -> (Link, Link) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let other = std::thread::spawn(move || Link::open(Box::new(theirs), Side::Rep, 1 << 20, LIMIT).unwrap());
    (Link::open(Box::new(ours), Side::Req, 1 << 20, LIMIT).unwrap(), other.join().unwrap())
}

#[test]
fn messages_of_any_length_and_their_blobs_arrive_whole() {
    let (mut asks, mut answers) = pair();
    let mut got = Vec::new();
    for length in [0, 1, 255, 256, 65_536, 300_000] {
        let body: Vec<u8> = (0..length).map(|n| n as u8).collect();
        let sender = std::thread::scope(|scope| {
            scope.spawn(|| asks.send(&body, &[b"blob", &body], LIMIT));
            answers.receive(&mut got, LIMIT)
        });
        assert_eq!(sender.unwrap(), [b"blob".to_vec(), body.clone()]);
        assert_eq!(got, body);
        answers.send(b"yes", &[], LIMIT).unwrap();
        assert!(asks.receive(&mut got, LIMIT).unwrap().is_empty());
        assert_eq!(got, b"yes");
    }
}

#[test]
fn a_message_over_the_limit_is_refused_with_all_its_frames_counted() {
    let (mut asks, mut answers) = pair();
    let half = vec![0; 600 << 10];
    std::thread::scope(|scope| {
        scope.spawn(|| asks.send(&half, &[&half], LIMIT));
        let refused = answers.receive(&mut Vec::new(), LIMIT).unwrap_err();
        assert!(matches!(refused, LinkError::Oversized { .. }), "{refused}");
        drop(answers);
    });
}

#[test]
fn a_heartbeat_is_answered_and_does_not_disturb_the_answer() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut wire = theirs.try_clone().unwrap();
    let other = std::thread::spawn(move || Link::open(Box::new(theirs), Side::Rep, 1 << 20, LIMIT).unwrap());
    let mut asks = Link::open(Box::new(ours), Side::Req, 1 << 20, LIMIT).unwrap();
    let _answers = other.join().unwrap();
    wire.write_all(b"\x04\x0a\x04PING\x00\x05abc\x01\x00\x00\x02ok").unwrap();
    let mut got = Vec::new();
    asks.receive(&mut got, LIMIT).unwrap();
    assert_eq!(got, b"ok");
    let mut pong = [0; 10];
    wire.read_exact(&mut pong).unwrap();
    assert_eq!(&pong, b"\x04\x08\x04PONGabc");
}

/// A toy behind a socket of its own, served by a thread.
fn served(endpoint: &str) -> (String, std::thread::JoinHandle<()>) {
    let endpoint = Endpoint::bind(endpoint).unwrap();
    let address = endpoint.address().unwrap().to_string();
    (address, std::thread::spawn(move || serve(&mut Toy::driver(Support::Save), &endpoint).unwrap()))
}

fn step(branch: u32) -> Op {
    Op::Step { branch, seen: Box::new(Seen::default()) }
}

fn reset(branch: u32) -> Op {
    Op::Reset { branch, begin: Box::new(Begin::default()) }
}

#[test]
fn a_running_program_is_connected_to_one_host_at_a_time() {
    let (address, thread) = served("tcp://127.0.0.1:0");
    let factory = ConnectFactory::new(&address, Reach::Loopback, Deadlines::default()).unwrap();
    assert_eq!(factory.warning(), None);
    let mut first = factory.start().unwrap();
    assert_eq!(factory.start().map(|_| ()).unwrap_err().kind, Kind::NoStart, "branches of two hosts would mix");
    let mut answers = Vec::new();
    first.exchange(&[reset(0), step(0)], &mut answers).unwrap();
    assert!(matches!(answers[1], Answer::Decision(_)));
    drop(first);
    let mut second = factory.start().expect("the program goes on when a host leaves");
    second.exchange(&[Op::Bye {}], &mut answers).unwrap();
    thread.join().unwrap();
    assert_eq!(factory.start().map(|_| ()).unwrap_err().kind, Kind::NoStart, "the old link is still held");
    drop(second);
    let gone = factory.start().map(|_| ()).unwrap_err();
    assert!(gone.text.contains("is the program running?"), "{gone}");
}

#[test]
fn another_machine_is_refused_unless_allowed_and_then_warned_about() {
    let refused = ConnectFactory::new("tcp://192.0.2.1:5555", Reach::Loopback, Deadlines::default()).unwrap_err();
    assert!(refused.to_string().contains("not on this machine"), "{refused}");
    let allowed = ConnectFactory::new("tcp://192.0.2.1:5555", Reach::Remote, Deadlines::default()).unwrap();
    assert!(allowed.warning().unwrap().contains("neither encrypted nor authenticated"));
}

#[test]
fn a_request_that_cannot_be_read_is_answered_with_its_place() {
    let mut toy = Toy::driver(Support::Save);
    let (mut reply, mut answers) = (Vec::new(), Vec::new());
    serve::answer(&mut toy, b"\x81\xa3ops\x01", &mut reply, &mut answers).unwrap();
    let told: anabranch_bridge::protocol::Reply = body::decode(&reply).unwrap();
    assert_eq!((told.seq, told.answers.len()), (0, 1));
    let mut other = Vec::new();
    body::encode(&Request { anabranch: 2, seq: 5, ops: Vec::new() }, &mut other);
    serve::answer(&mut toy, &other, &mut reply, &mut answers).unwrap();
    let told: anabranch_bridge::protocol::Reply = body::decode(&reply).unwrap();
    assert!(matches!(&told.answers[..], [Answer::Failed { text }] if text.contains("version 2")), "{told:?}");
}

#[test]
fn a_tape_answers_like_the_program_and_says_where_it_was_asked_something_else() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let recording = RecordingFactory::new(Box::new(rogue("driver")), folder.path());
    let ops = [reset(0), step(0), Op::Save { branch: 0, token: 1 }];
    let (mut first, mut again) = (Vec::new(), Vec::new());
    let mut live = recording.start().unwrap();
    live.exchange(&ops, &mut first).unwrap();
    live.exchange(&[Op::Load { token: 1, branch: 0 }, step(0)], &mut again).unwrap();
    drop(live);
    let replay = ReplayFactory::new(folder.path());
    let mut played = replay.start().unwrap();
    let mut answers = Vec::new();
    played.exchange(&ops, &mut answers).unwrap();
    assert_eq!(answers, first);
    let mut other = Seen::default();
    other.path.lateral = 0.25;
    let asked = [Op::Load { token: 1, branch: 0 }, Op::Step { branch: 0, seen: Box::new(other) }];
    let differs = played.exchange(&asked, &mut answers).unwrap_err();
    assert_eq!(
        differs.text,
        "message 2, operation 1 (`step`) is not the recorded one: `step.seen.path.lateral` is 0.25 instead of 0.0"
    );
    let tape = folder.path().join("0001.link");
    let mut bytes = std::fs::read(&tape).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&tape, bytes).unwrap();
    let mut damaged = ReplayFactory::new(folder.path()).start().unwrap();
    damaged.exchange(&ops, &mut answers).unwrap();
    let told = damaged.exchange(&ops, &mut answers).unwrap_err();
    assert!(told.text.contains("record 2 at byte") && told.text.contains("checksum"), "{told}");
}

/// Forgets to save one thing, or remembers what it should not.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lie {
    None,
    LoadBeginsAnew,
    OneMemoryForAll,
    ResetKeepsMemory,
    BytesWithAge,
    Memoryless,
}

#[derive(Debug)]
struct Liars(Lie);

struct Liar {
    toy: Toy,
    lie: Lie,
    asked: u64,
}

impl Factory for Liars {
    fn start(&self) -> Result<Box<dyn Instance>, Misbehaviour> {
        let mut toy = Toy::driver(Support::Save);
        toy.card.snapshot = Snapshot::Own;
        toy.card.memoryless = self.0 == Lie::Memoryless;
        Ok(Box::new(Liar { toy, lie: self.0, asked: 0 }))
    }
}

impl Instance for Liar {
    fn card(&self) -> &Card {
        &self.toy.card
    }
    fn seconds(&self) -> f64 {
        0.0
    }
    fn exchange(&mut self, ops: &[Op], answers: &mut Vec<Answer>) -> Result<(), Misbehaviour> {
        for op in ops {
            self.asked += 1;
            let altered = match (op, self.lie) {
                (Op::Load { branch, .. }, Lie::LoadBeginsAnew) => reset(*branch),
                (Op::Step { seen, .. }, Lie::OneMemoryForAll) => Op::Step { branch: 0, seen: seen.clone() },
                (Op::Reset { .. }, Lie::ResetKeepsMemory) if self.asked > 1 => Op::Drop { tokens: Vec::new() },
                (op, _) => op.clone(),
            };
            let mut one = Vec::new();
            self.toy.exchange(&[altered], &mut one)?;
            if let (Answer::Saved { bytes: Some(bytes), .. }, Lie::BytesWithAge) = (&mut one[0], self.lie) {
                bytes.extend(self.asked.to_le_bytes());
            }
            answers.append(&mut one);
        }
        Ok(())
    }
}

#[test]
fn claims_that_are_not_kept_are_told_each_in_its_sentence() {
    let broken = |lie: Lie| -> Vec<&'static str> {
        let fleet = Fleet::new(Box::new(Liars(lie)), FleetLimits::default()).unwrap();
        let claims = check_claims(&fleet, &Probe::of(fleet.card())).unwrap();
        assert!(claims.len() >= 7);
        claims.into_iter().filter(|claim| claim.broken.is_some()).map(|claim| claim.claim).collect()
    };
    assert_eq!(broken(Lie::None), [""; 0]);
    assert!(broken(Lie::LoadBeginsAnew).contains(&"a loaded state continues like the one that was saved"));
    assert!(broken(Lie::OneMemoryForAll).contains(&"branches beside each other do not disturb each other"));
    assert!(broken(Lie::ResetKeepsMemory).contains(&"`reset` begins the same run again"));
    assert_eq!(broken(Lie::BytesWithAge), ["equal histories have equal canonical bytes"]);
    assert_eq!(broken(Lie::Memoryless), ["it has no memory: the answer depends on what it sees alone"]);
}

#[test]
fn a_broken_claim_says_where_the_answers_differ() {
    let fleet = Fleet::new(Box::new(Liars(Lie::LoadBeginsAnew)), FleetLimits::default()).unwrap();
    let claims = check_claims(&fleet, &Probe::of(fleet.card())).unwrap();
    let told: Vec<String> = claims.iter().map(ToString::to_string).collect();
    let expect = "BROKEN  a loaded state continues like the one that was saved \
                  (nondeterministic: the answer to step 6 differs: `decision.key[0]` is 1.0 instead of 7.0)";
    assert!(told.contains(&expect.to_owned()), "{told:#?}");
}

#[test]
fn claims_of_a_process_are_tried_over_the_link() {
    let _alone = alone();
    for mode in ["driver", "world", "world-replay"] {
        let fleet = Fleet::new(Box::new(rogue(mode)), FleetLimits::default()).unwrap();
        let claims = check_claims(&fleet, &Probe::of(fleet.card())).unwrap();
        assert!(claims.iter().all(|claim| claim.broken.is_none()), "{mode}: {claims:?}");
    }
}
