//! Many segments tick by tick together: one message carries the steps of all of them.

use std::sync::Arc;

use anabranch_bridge::protocol::Branch;
use anabranch_bridge::{Answer, Decision, Kind, Misbehaviour, Op, Seat};
use anabranch_driving::follow::Told;
use anabranch_kernel::{Choice, Digest, Fault, SegmentEnd, Watch};
use anabranch_vehicle::{Car, Gear};

use super::super::Drive;
use super::super::state::{DriveState, DriverMemory, HeldCommand};
use super::super::street::OnStreet;
use super::super::tick::Scratch;
use super::ForeignDriver;
use super::check::check;
use super::memory::{ForeignMemory, Live};
use super::moves::Effort;
use super::seen::Sight;
use super::twice::{Said, Word};

/// Whether the driver's state is saved after the last step of the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Saving {
    /// The branch stays open, or is not needed any more.
    No,
    /// Under a token.
    Token,
}

/// How a lane ended.
#[derive(Debug)]
pub(super) enum LaneEnd {
    /// As segments do.
    Ran(Result<SegmentEnd, Fault>),
    /// The driver did something wrong.
    Misbehaved(Broken),
}

/// A misbehaviour with what was asked last.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) what: Misbehaviour,
    pub(super) asked: Vec<Op>,
}

/// One segment on its way.
pub(super) struct Lane<'d, 'w, 'r> {
    pub(super) state: DriveState,
    pub(super) choice: Choice,
    pub(super) watch: &'w mut Watch<'r>,
    /// Number of the branch in the instance.
    pub(super) branch: Branch,
    /// How the branch begins; `None` once it has.
    pub(super) opening: Option<Op>,
    pub(super) saving: Saving,
    /// What the driver said, if it will be compared.
    pub(super) said: Option<Vec<Said>>,
    pub(super) end: Option<LaneEnd>,
    pub(super) now: Option<Now<'d>>,
}

/// What a lane works with during its segment.
pub(super) struct Now<'d> {
    pub(super) scratch: Scratch<'d>,
    told: Told<f64>,
    /// Gear of the path where the last step was asked.
    direction: f64,
    /// The tick of the last step in this segment.
    last_step: Option<u32>,
    /// Of a part of the car, in this cycle.
    pub(super) effort: Effort,
    /// What roads need, where there are any.
    pub(super) street: Option<OnStreet>,
}

impl<'w, 'r> Lane<'_, 'w, 'r> {
    pub(super) fn new(state: DriveState, choice: Choice, watch: &'w mut Watch<'r>, branch: Branch) -> Self {
        Self { state, choice, watch, branch, opening: None, saving: Saving::No, said: None, end: None, now: None }
    }
    pub(super) fn misbehaved(&mut self, what: Misbehaviour, asked: &[&Op]) {
        let asked = asked.iter().map(|op| (*op).clone()).collect();
        self.end = Some(LaneEnd::Misbehaved(Broken { what, asked }));
    }
    fn memory(&mut self) -> &mut ForeignMemory {
        memory_of(&mut self.state)
    }
}

/// What a state has of its driver.
pub(super) fn memory_of(state: &mut DriveState) -> &mut ForeignMemory {
    let extras = state.extras.as_mut().expect("a driver from outside has extras");
    extras.foreign.as_mut().expect("a driver from outside has a memory")
}

/// The operations of one message, and which lane each belongs to.
#[derive(Default)]
pub(super) struct Message {
    pub(super) ops: Vec<Op>,
    pub(super) lanes: Vec<usize>,
    answers: Vec<Answer>,
}

impl Drive {
    /// Runs one segment in all lanes.
    ///
    /// # Errors
    /// When the instance as a whole misbehaved; where it is one lane that did, the lane says so.
    pub(super) fn lockstep<'d>(
        &'d self,
        driver: &ForeignDriver,
        seat: &mut Seat<'_>,
        lanes: &mut [Lane<'d, '_, '_>],
    ) -> Result<(), Broken> {
        for lane in lanes.iter_mut().filter(|lane| lane.end.is_none()) {
            self.begin_lane(lane);
        }
        let ran = self.step_lanes(driver, seat, lanes);
        for lane in lanes.iter_mut() {
            let on = lane.now.as_mut().and_then(|now| now.street.take());
            if let Some((street, on)) = self.street.as_ref().zip(on) {
                street.leave(on, &mut lane.state);
            }
        }
        ran?;
        for lane in lanes.iter_mut() {
            if lane.end.is_none() {
                lane.end = Some(LaneEnd::Ran(Ok(self.end_segment(&mut lane.state, lane.watch))));
            }
            let choice = lane.choice;
            lane.memory().went(choice);
        }
        Ok(())
    }

    /// The base cycles of a segment, or of as much of it as the lanes last.
    fn step_lanes<'d>(
        &'d self,
        driver: &ForeignDriver,
        seat: &mut Seat<'_>,
        lanes: &mut [Lane<'d, '_, '_>],
    ) -> Result<(), Broken> {
        let mut message = Message::default();
        for cycle in 0..self.segment_ticks {
            message.ops.clear();
            message.lanes.clear();
            for (index, lane) in lanes.iter_mut().enumerate().filter(|(_, lane)| lane.end.is_none()) {
                match &self.part {
                    Some(_) => self.ask_part(seat, cycle, lane, (index, &mut message)),
                    None => self.ask(driver, seat, cycle, lane, (index, &mut message)),
                }
            }
            if !message.ops.is_empty() {
                let sent = seat.exchange(&message.ops, &mut message.answers);
                sent.map_err(|what| Broken { what, asked: message.ops.clone() })?;
                self.hear(driver, seat, lanes, &mut message)?;
            }
            for lane in lanes.iter_mut().filter(|lane| lane.end.is_none()) {
                self.drive_lane(driver, lane);
            }
            if lanes.iter().all(|lane| lane.end.is_some()) {
                break;
            }
        }
        Ok(())
    }

    fn begin_lane<'d>(&'d self, lane: &mut Lane<'d, '_, '_>) {
        let mut scratch = self.begin_segment(&mut lane.state, lane.choice, lane.watch);
        let street = self.street.as_ref();
        let mut street = street.map(|street| self.enter_street(street, &mut lane.state, &mut scratch, lane.watch));
        let ended = match &mut street {
            Some(on) => on.ended.take(),
            None => self.open_run(&mut lane.state, &scratch, lane.watch),
        };
        lane.end = ended.map(|end| LaneEnd::Ran(Ok(end)));
        let (first, end) = (lane.state.tick, lane.state.tick + self.segment_ticks);
        let last_step = (first..end).rev().find(|tick| tick.is_multiple_of(self.control_ticks));
        let told = Told { x: 0.0, y: 0.0, heading: 0.0, speed: 0.0 };
        lane.now = Some(Now { scratch, told, direction: 1.0, last_step, effort: Effort::default(), street });
    }

    /// Senses, and where the driver is due, adds its step to the message.
    fn ask(
        &self,
        driver: &ForeignDriver,
        seat: &mut Seat<'_>,
        cycle: u32,
        lane: &mut Lane<'_, '_, '_>,
        (index, message): (usize, &mut Message),
    ) {
        let now = lane.now.as_mut().expect("the segment was begun");
        let state = &mut lane.state;
        let (told, perceived) = match self.street.as_ref().zip(now.street.as_mut()) {
            Some((street, on)) => (self.sense_on_street(street, on, state, cycle, &now.scratch), None),
            None => (self.sense(state, cycle, &now.scratch), self.look(state, &now.scratch)),
        };
        now.told = told;
        if !state.tick.is_multiple_of(self.control_ticks) {
            return;
        }
        let mut sight = Sight { told, perceived, scratch: &now.scratch, street: now.street.as_mut() };
        let seen = self.seen(driver, state, &mut sight);
        now.direction = f64::from(seen.path.direction);
        let branch = lane.branch;
        let before = message.ops.len();
        message.ops.extend(lane.opening.take());
        message.ops.push(Op::Step { branch, seen: Box::new(seen) });
        if lane.saving == Saving::Token && now.last_step == Some(state.tick) {
            message.ops.push(Op::Save { branch, token: seat.next_token() });
        }
        message.lanes.resize(message.lanes.len() + message.ops.len() - before, index);
    }

    /// Gives every lane its answers.
    fn hear(
        &self,
        driver: &ForeignDriver,
        seat: &mut Seat<'_>,
        lanes: &mut [Lane<'_, '_, '_>],
        message: &mut Message,
    ) -> Result<(), Broken> {
        let Message { ops, lanes: of, answers } = message;
        for ((op, &index), answer) in ops.iter().zip(of.iter()).zip(answers.drain(..)) {
            let lane = &mut lanes[index];
            // The branch is lost, but what it saved must be known to be dropped.
            let is_open = lane.end.is_none();
            match (op, answer) {
                (Op::Step { .. }, Answer::Decision(decision)) if is_open => self.apply(driver, lane, op, decision),
                (Op::Move { .. }, answer @ Answer::Moved(_)) if is_open => self.take_move(driver, lane, op, answer),
                (Op::Save { token, .. }, Answer::Saved { bytes, attributes }) => {
                    let live = Live(Some(seat.saved(*token)));
                    if is_open {
                        let memory = lane.memory();
                        attributes.iter().for_each(|noted| driver.hidden_attributes.note(noted, &memory.values));
                        (memory.live, memory.bytes) = (live, bytes.map(|bytes| Digest::of(&bytes)));
                    }
                }
                (Op::Reset { .. } | Op::Load { .. }, Answer::Done {}) => {}
                (_, Answer::Failed { text }) if is_open => {
                    let what = match op {
                        Op::Load { .. } | Op::Save { .. } => Misbehaviour::new(Kind::BrokenPromise, text),
                        _ => Misbehaviour::of_failure(&text, text.as_str()),
                    };
                    lane.misbehaved(what, &[op]);
                }
                (_, answer) if is_open => {
                    let text = format!("an operation was answered by {}", word(&answer));
                    let what = Misbehaviour::new(Kind::WrongSequence, text);
                    return Err(Broken { what, asked: ops.clone() });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes what the driver wants.
    fn apply(&self, driver: &ForeignDriver, lane: &mut Lane<'_, '_, '_>, op: &Op, decision: Decision) {
        if let Err(what) = check(driver.card(), &decision) {
            return lane.misbehaved(what, &[op]);
        }
        let tick = lane.state.tick;
        if let Some(said) = &mut lane.said {
            said.push(Said { tick, what: Word::Decision(decision.clone()) });
        }
        let direction = lane.now.as_ref().map_or(1.0, |now| now.direction);
        let state = &mut lane.state;
        state.command = HeldCommand { steering_rad: decision.steer, accel_mps2: decision.accel };
        state.car.gear = Gear::of_sign(decision.gear.map_or(direction, f64::from));
        state.driver = DriverMemory::Foreign { completed: decision.completed };
        let memory = memory_of(state);
        memory.live = Live::default();
        memory.bytes = None;
        memory.values = decision.key;
        if memory.trajectory.as_slice() != decision.trajectory {
            memory.trajectory = Arc::new(decision.trajectory);
        }
    }

    /// The rest of the base cycle.
    fn drive_lane<'d>(&'d self, driver: &ForeignDriver, lane: &mut Lane<'d, '_, '_>) {
        let ended = match &self.part {
            Some(part) => self.move_lane(part, lane),
            None => self.follow_lane(driver, lane),
        };
        lane.end = ended.transpose().map(LaneEnd::Ran);
    }

    /// With what the driver wants.
    fn follow_lane<'d>(
        &'d self,
        driver: &ForeignDriver,
        lane: &mut Lane<'d, '_, '_>,
    ) -> Result<Option<SegmentEnd>, Fault> {
        let now = lane.now.as_mut().expect("the segment was begun");
        let state = &mut lane.state;
        if let Some(memory) = state.foreign().filter(|memory| !memory.trajectory.is_empty()) {
            let time_s = f64::from(state.tick) * self.model.dt_s;
            let command = driver.track(&memory.trajectory, time_s, &now.told, state.car.gear.sign());
            state.command = HeldCommand { steering_rad: command.steering, accel_mps2: command.accel };
            state.car.gear = Gear::of_sign(command.gear_sign);
        }
        let (steering, accel) = self.commanded(state, &now.scratch);
        match self.street.as_ref().zip(now.street.as_mut()) {
            Some((street, on)) => self.act_on_street(street, on, state, &mut now.scratch, lane.watch, |handed| {
                street.vehicle.step(handed, steering, accel)
            }),
            None => self.act_by(state, &mut now.scratch, lane.watch, |car, gear_sign| {
                self.model.step(car, steering, accel, gear_sign)
            }),
        }
    }

    /// The car is moved by somebody, on roads or off them.
    pub(super) fn act_in_lane<'d>(
        &'d self,
        lane: &mut Lane<'d, '_, '_>,
        moved: impl FnOnce(&mut Car<f64>, f64) -> (f64, f64),
    ) -> Result<Option<SegmentEnd>, Fault> {
        let now = lane.now.as_mut().expect("the segment was begun");
        let state = &mut lane.state;
        match self.street.as_ref().zip(now.street.as_mut()) {
            Some((street, on)) => self.act_on_street(street, on, state, &mut now.scratch, lane.watch, |handed| {
                moved(handed.car, handed.gear_sign)
            }),
            None => self.act_by(state, &mut now.scratch, lane.watch, moved),
        }
    }
}

/// What kind of answer it is.
pub(super) fn word(answer: &Answer) -> &'static str {
    match answer {
        Answer::Card(_) => "a card",
        Answer::Done {} => "`done`",
        Answer::Decision(_) => "a decision",
        Answer::Moved(_) => "a move",
        Answer::Segment(_) => "a segment",
        Answer::Saved { .. } => "`saved`",
        Answer::Points { .. } => "points",
        Answer::Failed { .. } => "`failed`",
    }
}
