//! Misbehaviour of code that speaks the protocol correctly: wrong values, wrong lists, crashes, floods.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use anabranch_bridge::{Answer, Card, Endpoint, Instance, Misbehaviour, Op, Support, serve};

use crate::toy::Toy;

/// The third step is the one that goes wrong.
const FATEFUL_STEP: u32 = 3;
/// Longer than any test waits.
const FOR_EVER: Duration = Duration::from_secs(1000);

type Deed = fn(&[Op], &mut Vec<Answer>);

/// Behaves until the fateful step.
struct Rogue {
    toy: Toy,
    steps: u32,
    deed: Deed,
}

impl Instance for Rogue {
    fn card(&self) -> &Card {
        self.toy.card()
    }
    fn exchange(&mut self, ops: &[Op], answers: &mut Vec<Answer>) -> Result<(), Misbehaviour> {
        self.toy.exchange(ops, answers)?;
        self.steps += ops.iter().filter(|op| matches!(op, Op::Step { .. } | Op::Run { .. })).count() as u32;
        if self.steps >= FATEFUL_STEP {
            (self.deed)(ops, answers);
        }
        Ok(())
    }
    fn seconds(&self) -> f64 {
        0.0
    }
}

/// Alters the decisions.
fn decisions(answers: &mut [Answer], alter: impl Fn(&mut anabranch_bridge::Decision)) {
    for answer in answers {
        if let Answer::Decision(decision) = answer {
            alter(decision);
        }
    }
}

fn replace(ops: &[Op], answers: &mut [Answer], matches: fn(&Op) -> bool, by: &Answer) {
    for (op, answer) in ops.iter().zip(answers) {
        if matches(op) {
            *answer = by.clone();
        }
    }
}

fn failed(text: &str) -> Answer {
    Answer::Failed { text: text.to_owned() }
}

/// A sleeper in a group of its own, so that ending our group does not end it.
fn sleeper() {
    let _ = Command::new("sleep").arg("1000").process_group(0).spawn();
}

fn flood(mut out: impl Write) {
    let line = [b'x'; 4096];
    while out.write_all(&line).is_ok() {}
}

fn blow_up() {
    let mut hoard: Vec<Vec<u8>> = Vec::new();
    loop {
        hoard.push(vec![1; 4 << 20]);
        std::hint::black_box(&hoard);
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn deed(mode: &str) -> Option<Deed> {
    Some(match mode {
        "exit" => |_, _| std::process::exit(3),
        "exit-quietly" => |_, _| std::process::exit(0),
        "abort" => |_, _| std::process::abort(),
        "panic" => |_, _| panic!("a bug of the driver"),
        "hang" => |_, _| std::thread::sleep(FOR_EVER),
        "spin" => |_, _| loop {
            std::hint::spin_loop();
        },
        "late" => |_, _| std::thread::sleep(Duration::from_millis(200)),
        "nan" => |_, answers| decisions(answers, |decision| decision.steer = f64::NAN),
        "infinite" => |_, answers| decisions(answers, |decision| decision.accel = f64::INFINITY),
        "nan-key" => |_, answers| decisions(answers, |decision| decision.key[0] = f64::NAN),
        "out-of-range" => |_, answers| decisions(answers, |decision| decision.steer = 3.0),
        "gear" => |_, answers| decisions(answers, |decision| decision.gear = Some(0)),
        "key-length" => |_, answers| decisions(answers, |decision| decision.key.push(1.0)),
        "trajectory" => |_, answers| {
            decisions(answers, |decision| decision.trajectory = vec![anabranch_bridge::TrajectoryPoint::default(); 2]);
        },
        "too-few" => |_, answers| drop(answers.pop()),
        "too-many" => |_, answers| answers.push(Answer::Done {}),
        "other-kind" => |ops, answers| replace(ops, answers, |op| matches!(op, Op::Step { .. }), &Answer::Done {}),
        "exception" => {
            |ops, answers| replace(ops, answers, |op| matches!(op, Op::Step { .. }), &failed("division by zero"))
        }
        "load-fails" => |ops, answers| replace(ops, answers, |op| matches!(op, Op::Load { .. }), &failed("lost it")),
        "save-fails" => |ops, answers| replace(ops, answers, |op| matches!(op, Op::Save { .. }), &failed("disk full")),
        "flood-stdout" => |_, _| flood(std::io::stdout()),
        "flood-stderr" => |_, _| flood(std::io::stderr()),
        "memory" => |_, _| blow_up(),
        "orphans" => |_, _| {
            sleeper();
            std::process::exit(1);
        },
        _ => return None,
    })
}

/// Runs one of the modes here, if it is one.
pub fn misbehave(mode: &str) -> Option<Result<(), String>> {
    match mode {
        "exit-at-start" => {
            eprintln!("no module named numpy");
            std::process::exit(7);
        }
        "never-connects" => std::thread::sleep(FOR_EVER),
        // Behaves, but has helpers that would stay.
        "helpers" => (0..3).for_each(|_| sleeper()),
        _ => {}
    }
    let mut toy = Toy::driver(Support::Save);
    if mode == "other-protocol" {
        toy.card.protocol = 2;
    }
    if mode == "bad-card" {
        toy.card.key[0].cell = Some(-1.0);
    }
    let deed = match mode {
        "helpers" | "other-protocol" | "bad-card" => |_: &[Op], _: &mut Vec<Answer>| {},
        _ => deed(mode)?,
    };
    let result = Endpoint::from_environment().and_then(|endpoint| serve(&mut Rogue { toy, steps: 0, deed }, &endpoint));
    Some(result.map_err(|error| error.to_string()))
}
