//! Opening branches: from the start, from a saved state that is still there, or by running the path again.

use std::collections::BTreeMap;

use anabranch_bridge::protocol::Branch;
use anabranch_bridge::{Answer, Kind, Misbehaviour, Op, Seat, Support, Token};
use anabranch_kernel::{Choice, Digest, Fault, Seed, SegmentEnd, Watch, to_bytes};

use super::super::Drive;
use super::super::state::DriveState;
use super::ForeignDriver;
use super::lockstep::{Broken, Lane, LaneEnd, memory_of, word};
use super::memory::Live;

/// What revived branches must lead to.
struct Place<'s> {
    state: &'s DriveState,
    branch: Branch,
}

/// A branch that was run again.
struct Revived {
    /// What went wrong on the way.
    wrong: Option<Broken>,
    /// How the branch begins, if no step was due on the way.
    opening: Option<Op>,
}

impl Drive {
    /// Makes every lane ready for its first step.
    ///
    /// # Errors
    /// When the instance as a whole misbehaved.
    pub(super) fn open_lanes(
        &self,
        driver: &ForeignDriver,
        seat: &mut Seat<'_>,
        lanes: &mut [Lane<'_, '_, '_>],
    ) -> Result<(), Broken> {
        for lane in lanes.iter_mut().filter(|lane| way(&lane.state).is_empty()) {
            lane.opening = Some(driver.reset(&lane.state, lane.branch));
        }
        if driver.card().support == Support::Save {
            return self.load_lanes(driver, seat, lanes);
        }
        let again: Vec<usize> = (0..lanes.len()).filter(|&at| !way(&lanes[at].state).is_empty()).collect();
        let places: Vec<Place<'_>> =
            again.iter().map(|&at| Place { state: &lanes[at].state, branch: lanes[at].branch }).collect();
        let revived = self.revive(driver, seat, &places)?;
        for (at, revived) in again.into_iter().zip(revived) {
            lanes[at].opening = revived.opening;
            lanes[at].end = revived.wrong.map(LaneEnd::Misbehaved);
        }
        Ok(())
    }

    /// Loads what is saved; what is not there any more is run again once, saved, and loaded by all that need it.
    fn load_lanes(
        &self,
        driver: &ForeignDriver,
        seat: &mut Seat<'_>,
        lanes: &mut [Lane<'_, '_, '_>],
    ) -> Result<(), Broken> {
        let mut missing: BTreeMap<(u16, u64, Vec<Choice>), Vec<usize>> = BTreeMap::new();
        for (at, lane) in lanes.iter().enumerate().filter(|(_, lane)| !way(&lane.state).is_empty()) {
            if let Some(token) = live(&lane.state).filter(|token| seat.holds(token)) {
                // It must still be there when the others have been run again.
                seat.pin(token);
            } else {
                let seed = lane.state.foreign().map_or(0, |memory| memory.seed);
                missing.entry((lane.state.start, seed, way(&lane.state).to_vec())).or_default().push(at);
            }
        }
        if !missing.is_empty() {
            let groups: Vec<Vec<usize>> = missing.into_values().collect();
            self.restore(driver, seat, lanes, &groups)?;
        }
        for lane in lanes.iter_mut().filter(|lane| lane.end.is_none() && lane.opening.is_none()) {
            let token = live(&lane.state).map(Token::id).expect("what was missing was restored");
            lane.opening = Some(Op::Load { token, branch: lane.branch });
        }
        Ok(())
    }

    /// Runs the path of each group again and saves where it leads.
    fn restore(
        &self,
        driver: &ForeignDriver,
        seat: &mut Seat<'_>,
        lanes: &mut [Lane<'_, '_, '_>],
        groups: &[Vec<usize>],
    ) -> Result<(), Broken> {
        let places: Vec<Place<'_>> =
            (0..).zip(groups).map(|(branch, group)| Place { state: &lanes[group[0]].state, branch }).collect();
        let revived = self.revive(driver, seat, &places)?;
        let mut ops = Vec::new();
        let mut tokens = Vec::new();
        for (branch, revived) in (0..).zip(&revived) {
            ops.extend(revived.opening.clone());
            tokens.push(seat.next_token());
            ops.push(Op::Save { branch, token: tokens[branch as usize] });
        }
        let mut answers = Vec::new();
        seat.exchange(&ops, &mut answers).map_err(|what| Broken { what, asked: ops.clone() })?;
        let saves = ops.iter().zip(answers).filter(|(op, _)| matches!(op, Op::Save { .. }));
        let saves: Vec<(&Op, Answer)> = saves.collect();
        for (((op, answer), revived), (group, token)) in saves.into_iter().zip(revived).zip(groups.iter().zip(tokens)) {
            let saved = match (revived.wrong, answer) {
                (Some(broken), _) => Err(broken),
                (None, Answer::Saved { bytes, .. }) => {
                    let bytes = bytes.map(|bytes| Digest::of(&bytes));
                    let known = lanes[group[0]].state.foreign().and_then(|memory| memory.bytes);
                    match known == bytes {
                        true => {
                            let saved = seat.saved(token);
                            seat.pin(&saved);
                            Ok(Live(Some(saved)))
                        }
                        false => Err(differs("the bytes of its saved state")),
                    }
                }
                (None, Answer::Failed { text }) => {
                    Err(Broken { what: Misbehaviour::new(Kind::BrokenPromise, text), asked: vec![op.clone()] })
                }
                (None, other) => {
                    let text = format!("`save` was answered by {}", word(&other));
                    Err(Broken { what: Misbehaviour::new(Kind::WrongSequence, text), asked: vec![op.clone()] })
                }
            };
            for &at in group {
                match &saved {
                    Ok(live) => memory_of(&mut lanes[at].state).live = live.clone(),
                    Err(broken) => lanes[at].end = Some(LaneEnd::Misbehaved(broken.again())),
                }
            }
        }
        Ok(())
    }

    /// Runs the paths of some states from the start; says of each in what it differs.
    ///
    /// # Errors
    /// When the instance as a whole misbehaved.
    pub(super) fn differ_from_start(
        &self,
        driver: &ForeignDriver,
        seat: &mut Seat<'_>,
        states: &[DriveState],
    ) -> Result<Vec<Option<Misbehaviour>>, Broken> {
        let places: Vec<Place<'_>> = (0..).zip(states).map(|(branch, state)| Place { state, branch }).collect();
        let revived = self.revive(driver, seat, &places)?;
        Ok(revived.into_iter().map(|revived| revived.wrong.map(|broken| broken.what)).collect())
    }

    /// Runs paths from the start in branches that stay open, and compares where they lead.
    fn revive(
        &self,
        driver: &ForeignDriver,
        seat: &mut Seat<'_>,
        places: &[Place<'_>],
    ) -> Result<Vec<Revived>, Broken> {
        // The longest first: those that go on are then a beginning of the list.
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by_key(|&at| std::cmp::Reverse(way(places[at].state).len()));
        let mut watches: Vec<Watch<'_>> = places.iter().map(|_| Watch::off()).collect();
        let mut lanes = Vec::with_capacity(places.len());
        for (&at, watch) in order.iter().zip(&mut watches) {
            let Place { state, branch } = places[at];
            let seed = state.foreign().map_or(0, |memory| memory.seed);
            let start = self.start_state(Seed(seed), &driver.starts[usize::from(state.start)]).map_err(unstartable)?;
            let mut lane = Lane::new(start, Choice::NONE, watch, branch);
            lane.opening = Some(driver.reset(&lane.state, branch));
            lanes.push(lane);
        }
        let longest = order.first().map_or(0, |&at| way(places[at].state).len());
        for segment in 0..longest {
            let going = order.partition_point(|&at| way(places[at].state).len() > segment);
            for (lane, &at) in lanes[..going].iter_mut().zip(&order) {
                lane.choice = way(places[at].state)[segment];
                lane.end = lane.end.take().filter(|end| !matches!(end, LaneEnd::Ran(Ok(SegmentEnd::Open))));
            }
            self.lockstep(driver, seat, &mut lanes[..going])?;
        }
        let mut revived: Vec<Option<Revived>> = places.iter().map(|_| None).collect();
        for (lane, &at) in lanes.into_iter().zip(&order) {
            revived[at] = Some(Revived { wrong: compare(&lane, places[at].state), opening: lane.opening });
        }
        Ok(revived.into_iter().flatten().collect())
    }
}

impl Broken {
    /// The same for another lane.
    fn again(&self) -> Self {
        Self { what: self.what.clone(), asked: self.asked.clone() }
    }
}

impl ForeignDriver {
    fn reset(&self, state: &DriveState, branch: Branch) -> Op {
        let seed = state.foreign().map_or(0, |memory| memory.seed);
        let begin = anabranch_bridge::Begin { seed, ..self.begins[usize::from(state.start)].clone() };
        Op::Reset { branch, begin: Box::new(begin) }
    }
}

fn way(state: &DriveState) -> &[Choice] {
    state.foreign().map_or(&[], |memory| memory.way())
}

fn live(state: &DriveState) -> Option<&Token> {
    state.foreign()?.live.0.as_deref()
}

fn unstartable(fault: Fault) -> Broken {
    Broken { what: Misbehaviour::new(Kind::NoStart, fault.to_string()), asked: Vec::new() }
}

fn differs(what: &str) -> Broken {
    let text = format!("the same steps from the start led elsewhere: {what} differ");
    Broken { what: Misbehaviour::new(Kind::Nondeterministic, text), asked: Vec::new() }
}

/// Whether a path led where it led before, bit for bit.
fn compare(lane: &Lane<'_, '_, '_>, before: &DriveState) -> Option<Broken> {
    match &lane.end {
        None | Some(LaneEnd::Ran(Ok(SegmentEnd::Open))) => {}
        Some(LaneEnd::Misbehaved(Broken { what, asked })) => {
            let text = format!("the same steps from the start ended otherwise: {what}");
            let what = Misbehaviour { kind: Kind::Nondeterministic, text, output: what.output.clone() };
            return Some(Broken { what, asked: asked.clone() });
        }
        Some(LaneEnd::Ran(end)) => {
            let what = Misbehaviour::new(
                Kind::Nondeterministic,
                format!("the same steps from the start ended otherwise: {end:?}"),
            );
            return Some(Broken { what, asked: Vec::new() });
        }
    }
    let mut now = lane.state.clone();
    if let Some(memory) = before.foreign() {
        memory_of(&mut now).bytes = memory.bytes;
    }
    (to_bytes(&now) != to_bytes(before)).then(|| differs(&first_difference(&now, before)))
}

/// The first variable in which two states differ.
fn first_difference(now: &DriveState, before: &DriveState) -> String {
    let values = |state: &DriveState| {
        let car = &state.car.car;
        let mut all: Vec<(String, f64)> = [
            ("steer", state.command.steering_rad),
            ("accel", state.command.accel_mps2),
            ("x", car.x),
            ("y", car.y),
            ("heading", car.heading),
            ("speed", car.speed),
            ("steering", car.steering),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        let values = state.foreign().map_or(&[][..], |memory| &memory.values);
        all.extend(values.iter().enumerate().map(|(index, value)| (format!("key {index}"), *value)));
        all
    };
    let (now, before) = (values(now), values(before));
    let differs = now.iter().zip(&before).find(|((_, a), (_, b))| a.to_bits() != b.to_bits());
    match differs {
        Some(((name, now), (_, before))) => format!("`{name}` ({before} and then {now})"),
        None => "its states".to_owned(),
    }
}
