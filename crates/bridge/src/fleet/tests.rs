//! A fleet of counters that remember what they were asked.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::*;
use crate::checks::no_card;
use crate::misbehaviour::Kind;
use crate::protocol::{Answer, Decision, Op, Seen, Support};

/// Counts its steps; `saved` is what lives in it. Fails as a whole when a step has the time −1.
struct Counter {
    card: Card,
    branches: BTreeMap<u32, u64>,
    saved: BTreeMap<u32, u64>,
    log: Arc<Mutex<Vec<Op>>>,
}

#[derive(Debug, Default)]
struct Counters {
    log: Arc<Mutex<Vec<Op>>>,
    started: AtomicU64,
    changes_its_name: bool,
    changes_its_code: bool,
}

impl Factory for Counters {
    fn start(&self) -> Result<Box<dyn Instance>, Misbehaviour> {
        let n = self.started.fetch_add(1, Ordering::Relaxed);
        let name = if self.changes_its_name { format!("counter {n}") } else { "counter".to_owned() };
        let code = Some(if self.changes_its_code { format!("code {n}") } else { "code".to_owned() });
        let card = Card { name, code, support: Support::Save, ..no_card() };
        Ok(Box::new(Counter { card, branches: BTreeMap::new(), saved: BTreeMap::new(), log: self.log.clone() }))
    }
}

impl Instance for Counter {
    fn card(&self) -> &Card {
        &self.card
    }
    fn seconds(&self) -> f64 {
        0.0
    }
    fn exchange(&mut self, ops: &[Op], answers: &mut Vec<Answer>) -> Result<(), Misbehaviour> {
        self.log.lock().unwrap().extend_from_slice(ops);
        for op in ops {
            answers.push(match op {
                Op::Load { token, branch } => match self.saved.get(token) {
                    Some(&count) => {
                        self.branches.insert(*branch, count);
                        Answer::Done {}
                    }
                    None => Answer::Failed { text: "unknown".to_owned() },
                },
                Op::Step { seen, .. } if seen.time < 0.0 => return Err(Misbehaviour::new(Kind::Crash, "bang")),
                Op::Step { branch, seen } => {
                    *self.branches.entry(*branch).or_default() += 1;
                    Answer::Decision(Decision { steer: seen.time, ..Decision::default() })
                }
                Op::Save { branch, token } => {
                    self.saved.insert(*token, self.branches[branch]);
                    Answer::Saved { bytes: None, attributes: None }
                }
                Op::Drop { tokens } => {
                    self.saved.retain(|token, _| !tokens.contains(token));
                    Answer::Done {}
                }
                _ => Answer::Done {},
            });
        }
        Ok(())
    }
}

fn fleet(tokens_max: usize) -> (Fleet, Arc<Mutex<Vec<Op>>>) {
    let counters = Counters::default();
    let log = counters.log.clone();
    (Fleet::new(Box::new(counters), FleetLimits { instances: 1, tokens_max }).unwrap(), log)
}

fn step(time: f64) -> Op {
    Op::Step { branch: 0, seen: Box::new(Seen { time, ..Seen::default() }) }
}

fn save_one(seat: &mut Seat<'_>) -> Arc<Token> {
    let id = seat.next_token();
    seat.ask(&[step(0.0), Op::Save { branch: 0, token: id }]).unwrap();
    seat.saved(id)
}

fn load(seat: &mut Seat<'_>, token: &Token) -> Result<Answer, Misbehaviour> {
    assert!(seat.holds(token));
    seat.ask(&[Op::Load { token: token.id(), branch: 0 }, step(0.0)]).unwrap().swap_remove(0)
}

#[test]
fn a_state_that_is_about_to_be_loaded_is_not_forgotten_in_the_same_message() {
    let (fleet, log) = fleet(2);
    let mut seat = fleet.seat(0);
    let tokens: Vec<_> = (0..3).map(|_| save_one(&mut seat)).collect();
    // Three live, two are allowed: the newest would go with the next message, which is the one that loads it.
    assert_eq!(load(&mut seat, &tokens[2]), Ok(Answer::Done {}));
    let forgotten = log.lock().unwrap().iter().any(|op| matches!(op, Op::Drop { tokens } if tokens == &[2]));
    assert!(forgotten, "the next one went instead");
    assert!(seat.holds(&tokens[0]) && !seat.holds(&tokens[1]) && seat.holds(&tokens[2]));
}

#[test]
fn beyond_the_limit_what_was_continued_goes_first_and_then_the_last_in_the_line() {
    let (fleet, _) = fleet(3);
    let mut seat = fleet.seat(0);
    let held =
        |seat: &Seat<'_>, tokens: &[Arc<Token>]| tokens.iter().map(|token| seat.holds(token)).collect::<Vec<_>>();
    let mut tokens: Vec<_> = (0..3).map(|_| save_one(&mut seat)).collect();
    load(&mut seat, &tokens[1]).unwrap();
    tokens.push(save_one(&mut seat));
    seat.ask(&[step(0.0)]).unwrap();
    assert_eq!(held(&seat, &tokens), [true, false, true, true], "the second was continued");
    tokens.push(save_one(&mut seat));
    seat.ask(&[step(0.0)]).unwrap();
    assert_eq!(held(&seat, &tokens), [true, false, true, true, false], "nobody was continued: the first wait on");
}

#[test]
fn a_pinned_state_stays_while_others_are_rebuilt_and_no_longer() {
    let (fleet, _) = fleet(1);
    let mut seat = fleet.seat(0);
    let tokens: Vec<_> = (0..2).map(|_| save_one(&mut seat)).collect();
    seat.pin(&tokens[1]);
    // Rebuilding another state takes many messages, none of which loads this one.
    let others: Vec<_> = (0..3).map(|_| save_one(&mut seat)).collect();
    seat.ask(&[step(0.0)]).unwrap();
    assert!(seat.holds(&tokens[1]) && !seat.holds(&tokens[0]) && others.iter().all(|other| !seat.holds(other)));
    assert_eq!(load(&mut seat, &tokens[1]), Ok(Answer::Done {}));
    drop(seat);
    let mut seat = fleet.seat(0);
    let last = save_one(&mut seat);
    seat.ask(&[step(0.0)]).unwrap();
    assert!(!seat.holds(&tokens[1]) && seat.holds(&last));
}

#[test]
fn a_state_is_freed_with_its_last_handle_but_not_while_it_is_being_loaded() {
    let (fleet, log) = fleet(100);
    let mut seat = fleet.seat(0);
    let token = save_one(&mut seat);
    let id = token.id();
    drop(token);
    let answers = seat.ask(&[Op::Load { token: id, branch: 0 }]).unwrap();
    assert_eq!(answers[0], Ok(Answer::Done {}));
    seat.ask(&[step(0.0)]).unwrap();
    assert!(log.lock().unwrap().iter().any(|op| matches!(op, Op::Drop { tokens } if tokens == &[id])));
}

#[test]
fn what_lived_in_an_ended_instance_is_gone_and_the_next_one_works() {
    let (fleet, _) = fleet(100);
    let mut seat = fleet.seat(0);
    let token = save_one(&mut seat);
    assert_eq!(seat.ask(&[step(-1.0)]).unwrap_err().kind, Kind::Crash);
    assert!(!seat.holds(&token));
    let fresh = save_one(&mut seat);
    assert!(!seat.holds(&token) && seat.holds(&fresh), "generations tell them apart");
    let next = save_one(&mut seat);
    assert_ne!(fresh.id(), next.id(), "a number that was given out before the start is not given out again");
    drop(token);
    seat.ask(&[step(0.0)]).unwrap();
    assert!(seat.holds(&fresh), "the old handle frees nothing of the new instance");
    drop(seat);
    assert_eq!(fleet.times().restarts, 1);
}

#[test]
fn a_wrong_number_concerns_its_branch_alone() {
    let (fleet, _) = fleet(100);
    let answers = fleet.seat(0).ask(&[step(0.1), step(f64::NAN), step(9.0)]).unwrap();
    let kinds: Vec<Option<Kind>> = answers.iter().map(|answer| answer.as_ref().err().map(|wrong| wrong.kind)).collect();
    assert_eq!(kinds, [None, Some(Kind::NotANumber), Some(Kind::OutOfRange)]);
    assert_eq!(fleet.times().restarts, 0);
}

#[test]
fn an_instance_that_describes_itself_differently_after_a_restart_breaks_its_promise() {
    let counters = Counters { changes_its_name: true, ..Counters::default() };
    let fleet = Fleet::new(Box::new(counters), FleetLimits::default()).unwrap();
    let mut seat = fleet.seat(0);
    seat.end();
    assert_eq!(seat.ask(&[step(0.0)]).unwrap_err().kind, Kind::BrokenPromise);
}

/// What the code did before and what it does now are not one run, and the change is not a fault of the code.
#[test]
fn an_instance_with_other_code_than_the_first_one_is_not_started() {
    let counters = Counters { changes_its_code: true, ..Counters::default() };
    let fleet = Fleet::new(Box::new(counters), FleetLimits::default()).unwrap();
    let mut seat = fleet.seat(0);
    seat.end();
    let refused = seat.ask(&[step(0.0)]).unwrap_err();
    assert!(refused.kind == Kind::NoStart && refused.text.contains("its code has changed"), "{refused}");
}

#[test]
fn late_steps_are_counted_and_fail_only_where_asked_for() {
    let (counting, _) = fleet(100);
    let counting = counting.with_latency(Latency::Counted(Duration::ZERO));
    counting.seat(0).ask(&[step(0.0), step(0.0)]).unwrap();
    assert_eq!(counting.times().late_steps, 2);
    let (failing, _) = fleet(100);
    let failing = failing.with_latency(Latency::Failure(Duration::ZERO));
    assert_eq!(failing.seat(0).ask(&[step(0.0)]).unwrap_err().kind, Kind::Late);
    let (patient, _) = fleet(100);
    patient.seat(0).ask(&[step(0.0)]).unwrap();
    assert_eq!(patient.times().late_steps, 0);
}
