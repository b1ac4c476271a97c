//! Ten thousand malformed messages of each kind: no panic, flat memory, and the place of what is wrong.

use std::io::{self, Cursor, Read, Write};
use std::time::Duration;

use anabranch_bridge::protocol::{BODY_BYTES_MAX, Reply, Request};
use anabranch_bridge::zmtp::{Link, LinkError, Side, Stream};
use anabranch_bridge::{
    Answer, Begin, Decision, Instance, Op, Seen, Support, TrajectoryPoint, WorldSegment, body, checks, serve,
};
use anabranch_kernel::{Chance, Seed};

use super::machine::{alone, resident_kb};
use super::toy::Toy;

const MESSAGES: u64 = 10_000;

/// Numbers that depend on the message alone, so a failure repeats: its number is in the panic.
struct Dice(Chance, u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.1 += 1;
        self.0.below(self.1, limit.max(1) as u64) as usize
    }
    fn byte(&mut self) -> u8 {
        // Markers of MessagePack more often than chance would have them.
        const MARKERS: [u8; 12] = [0xc0, 0xc1, 0xc4, 0xc6, 0xca, 0xcb, 0xd9, 0xdb, 0xdc, 0xdd, 0xde, 0xdf];
        if self.below(2) == 0 { MARKERS[self.below(MARKERS.len())] } else { self.below(256) as u8 }
    }
}

/// A valid message with one to four injuries, or noise.
fn mutated(valid: &[u8], dice: &mut Dice) -> Vec<u8> {
    if dice.below(20) == 0 {
        let length = dice.below(200);
        return (0..length).map(|_| dice.byte()).collect();
    }
    let mut bytes = valid.to_vec();
    for _ in 0..=dice.below(3) {
        let at = dice.below(bytes.len());
        match dice.below(6) {
            0 => bytes.truncate(at),
            1 if !bytes.is_empty() => bytes[at] = dice.byte(),
            2 if !bytes.is_empty() => bytes[at] ^= 1 << dice.below(8),
            3 => bytes.insert(at, dice.byte()),
            4 if !bytes.is_empty() => drop(bytes.remove(at)),
            _ => {
                let end = (at + dice.below(30)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                let to = dice.below(bytes.len());
                bytes.splice(to..to, piece);
            }
        }
    }
    bytes
}

fn requests() -> Vec<(&'static str, Op)> {
    let mut begin = Begin { params: vec![1.0], walls: vec![[0.0; 4]], ..Begin::default() };
    begin.path.samples.push([1.0; 5]);
    vec![
        ("describe", Op::Describe {}),
        ("reset", Op::Reset { branch: 1, begin: Box::new(begin) }),
        ("load", Op::Load { token: 70_000, branch: 2 }),
        (
            "step",
            Op::Step { branch: 1, seen: Box::new(Seen { objects: vec![Default::default(); 2], ..Seen::default() }) },
        ),
        ("run", Op::Run { branch: 1, modes: vec![0, 1, 300], record: true }),
        ("save", Op::Save { branch: 1, token: 9 }),
        ("drop", Op::Drop { tokens: vec![1, 2, 3] }),
        ("bye", Op::Bye {}),
    ]
}

fn replies() -> Vec<(&'static str, Answer)> {
    let decision = Decision {
        trajectory: vec![TrajectoryPoint::default(); 2],
        key: vec![1.0],
        gear: Some(-1),
        ..Decision::default()
    };
    let segment = WorldSegment {
        values: vec![0.5; 2],
        violated: vec!["wall".to_owned()],
        frames: vec![vec![1.0; 2]; 2],
        ..Default::default()
    };
    vec![
        ("card", Answer::Card(Box::new(Toy::world(Support::Save).card))),
        ("done", Answer::Done {}),
        ("decision", Answer::Decision(decision)),
        ("segment", Answer::Segment(Box::new(segment))),
        ("saved", Answer::Saved { bytes: Some(vec![1; 20].into()), attributes: None }),
        ("failed", Answer::Failed { text: "an exception".to_owned() }),
    ]
}

fn located(text: &str) -> bool {
    text.starts_with("byte ") && text[5..].starts_with(|c: char| c.is_ascii_digit())
}

/// Mutates one valid message many times; `try_one` says how it was taken. Returns how many were refused.
fn barrage(name: &str, valid: &[u8], mut try_one: impl FnMut(&[u8]) -> Option<String>) -> u64 {
    let mut refused = 0;
    for n in 0..MESSAGES {
        let mut dice = Dice(Chance::new(Seed(4), name).at(n), 0);
        let bytes = mutated(valid, &mut dice);
        if let Some(text) = try_one(&bytes) {
            assert!(located(&text), "{name} {n}: {text}");
            refused += 1;
        }
    }
    refused
}

#[test]
fn malformed_replies_are_refused_with_their_place() {
    let _alone = alone();
    let card = Toy::driver(Support::Save).card;
    let mut memory_kb = 0;
    for (name, answer) in replies() {
        let mut valid = Vec::new();
        let answers = vec![Answer::Done {}, answer];
        body::encode(&Reply { anabranch: 1, seq: 300, answers, seconds: Some(0.5) }, &mut valid);
        let op = Op::Step { branch: 0, seen: Box::default() };
        let refused = barrage(name, &valid, |bytes| match body::decode::<Reply>(bytes) {
            Ok(reply) => {
                // What can be read is looked at like any other answer: that must not panic either.
                let _ = checks::check_kinds(std::slice::from_ref(&op), &reply.answers);
                reply.answers.iter().for_each(|answer| drop(checks::check_answer(&card, &op, answer)));
                None
            }
            Err(wrong) => Some(wrong.text),
        });
        assert!(refused > MESSAGES / 2, "{name}: only {refused} were refused");
        memory_kb = if memory_kb == 0 { resident_kb("self") } else { memory_kb };
    }
    assert!(resident_kb("self") < memory_kb + (8 << 10), "memory grew");
}

#[test]
fn malformed_requests_are_answered_with_their_place() {
    let _alone = alone();
    let mut toy = Toy::driver(Support::Save);
    let (mut reply, mut answers) = (Vec::new(), Vec::new());
    let mut memory_kb = 0;
    for (name, op) in requests() {
        let mut valid = Vec::new();
        body::encode(&Request { anabranch: 1, seq: 300, ops: vec![Op::Describe {}, op] }, &mut valid);
        barrage(name, &valid, |bytes| {
            serve::answer(&mut toy, bytes, &mut reply, &mut answers).unwrap();
            let told: Reply = body::decode(&reply).unwrap();
            match (body::decode::<Request>(bytes), &told.answers[..]) {
                (Err(wrong), [Answer::Failed { text }]) => {
                    assert!(text.ends_with(&wrong.text), "{text}");
                    Some(wrong.text)
                }
                (Ok(_), _) => None,
                (Err(_), other) => panic!("{other:?}"),
            }
        });
        memory_kb = if memory_kb == 0 { resident_kb("self") } else { memory_kb };
    }
    assert!(resident_kb("self") < memory_kb + (8 << 10), "memory grew");
    assert_eq!(toy.card().name, "toy");
}

/// A connection whose other side has said everything already.
struct Said(Cursor<Vec<u8>>);

impl Read for Said {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}
impl Write for Said {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
impl Stream for Said {
    fn limit_reading(&self, _limit: Option<Duration>) -> io::Result<()> {
        Ok(())
    }
    fn limit_writing(&self, _limit: Option<Duration>) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn malformed_links_end_in_an_error_for_both_sides() {
    let _alone = alone();
    let mut greeting = vec![0; 64];
    (greeting[0], greeting[9], greeting[10], greeting[11]) = (0xff, 0x7f, 3, 1);
    greeting[12..16].copy_from_slice(b"NULL");
    for (side, kind) in [(Side::Req, b"REP"), (Side::Rep, b"REQ")] {
        let mut valid = greeting.clone();
        valid.extend_from_slice(b"\x04\x19\x05READY\x0bSocket-Type\x00\x00\x00\x03");
        valid.extend_from_slice(kind);
        valid.extend_from_slice(b"\x04\x07\x04PING\x00\x05\x01\x00\x01\x04body\x00\x04blob");
        let talk = |bytes: &[u8]| -> Result<(), LinkError> {
            let mut link = Link::open(Box::new(Said(Cursor::new(bytes.to_vec()))), side, BODY_BYTES_MAX, None)?;
            link.receive(&mut Vec::new(), None).map(|_| ())
        };
        talk(&valid).unwrap();
        let memory_kb = resident_kb("self");
        let mut failed = 0;
        for n in 0..MESSAGES {
            let mut dice = Dice(Chance::new(Seed(5), "link").at(n), 0);
            failed += u64::from(talk(&mutated(&valid, &mut dice)).is_err());
        }
        assert!(failed > MESSAGES / 4, "{failed}");
        assert!(resident_kb("self") < memory_kb + (8 << 10), "memory grew");
    }
}
