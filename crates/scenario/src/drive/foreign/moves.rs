//! A part of the car from outside: an actuator between command and car, or the car itself.
//!
//! The driver is built in and decides here; what its command becomes, outside. Everything else is as for a driver from
//! outside: many segments go tick by tick together, and a state holds its path, what was reported, and a handle.

use std::sync::Arc;

use anabranch_bridge::checks::check_answer;
use anabranch_bridge::protocol::{CarNow, Moved, Push};
use anabranch_bridge::{Answer, Op, Seat};
use anabranch_kernel::{Fault, SegmentEnd, maths};

use super::super::Drive;
use super::ForeignDriver;
use super::lockstep::{Lane, Message, Saving, memory_of};
use super::memory::Live;
use super::twice::{Said, Word};
use crate::file::PartKind;

/// A part of the car from outside, running.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// Which one.
    pub(crate) kind: PartKind,
    /// Its code; shared, because its instances are.
    pub(crate) code: Arc<ForeignDriver>,
}

/// What a part was given and what it made of it, in one base cycle.
#[derive(Debug, Default)]
pub(super) struct Effort {
    steering: f64,
    moved: Moved,
}

impl Drive {
    /// Senses and decides, and adds what reaches the part to the message.
    pub(super) fn ask_part(
        &self,
        seat: &mut Seat<'_>,
        cycle: u32,
        lane: &mut Lane<'_, '_, '_>,
        (index, message): (usize, &mut Message),
    ) {
        let now = lane.now.as_mut().expect("the segment was begun");
        let state = &mut lane.state;
        match self.street.as_ref().zip(now.street.as_mut()) {
            Some((street, on)) => {
                let told = self.sense_on_street(street, on, state, cycle, &now.scratch);
                let ended = self.decide_on_street(street, on, state, &told, &mut now.scratch);
                debug_assert!(ended.is_none(), "a model and a part from outside exclude each other");
            }
            None => {
                let told = self.sense(state, cycle, &now.scratch);
                let perceived = self.look(state, &now.scratch);
                let ended = self.decide_if_due(state, &told, perceived, &mut now.scratch);
                debug_assert!(ended.is_none(), "a model and a part from outside exclude each other");
            }
        }
        let (steer, accel) = self.commanded(state, &now.scratch);
        now.effort.steering = steer;
        let (car, gear) = (state.car.car, state.car.gear.sign());
        let push = Push {
            time: f64::from(state.tick) * self.model.dt_s,
            tick: u64::from(state.tick),
            steer,
            accel,
            gear: gear as i8,
            car: CarNow {
                x: car.x,
                y: car.y,
                heading: car.heading,
                speed: car.speed,
                steer: car.steering,
                accel: car.accel * gear,
            },
        };
        let (branch, before) = (lane.branch, message.ops.len());
        message.ops.extend(lane.opening.take());
        message.ops.push(Op::Move { branch, push: Box::new(push) });
        if lane.saving == Saving::Token && cycle + 1 == self.segment_ticks {
            message.ops.push(Op::Save { branch, token: seat.next_token() });
        }
        message.lanes.resize(message.lanes.len() + message.ops.len() - before, index);
    }

    /// Takes what the part made of it.
    pub(super) fn take_move(&self, code: &ForeignDriver, lane: &mut Lane<'_, '_, '_>, op: &Op, answer: Answer) {
        if let Err(what) = check_answer(code.card(), op, &answer) {
            return lane.misbehaved(what, &[op]);
        }
        let Answer::Moved(moved) = answer else { unreachable!("the caller looked") };
        let tick = lane.state.tick;
        if let Some(said) = &mut lane.said {
            said.push(Said { tick, what: Word::Moved((*moved).clone()) });
        }
        let memory = memory_of(&mut lane.state);
        (memory.live, memory.bytes) = (Live::default(), None);
        memory.values.clone_from(&moved.key);
        lane.now.as_mut().expect("the segment was begun").effort.moved = *moved;
    }

    /// The rest of the base cycle, with what the part made of the command.
    pub(super) fn move_lane<'d>(
        &'d self,
        part: &Part,
        lane: &mut Lane<'d, '_, '_>,
    ) -> Result<Option<SegmentEnd>, Fault> {
        let now = lane.now.as_mut().expect("the segment was begun");
        let Effort { steering, moved } = std::mem::take(&mut now.effort);
        let number = |value: Option<f64>| value.expect("what a part must give was looked for");
        match part.kind {
            PartKind::Actuator => {
                let (steering, accel) = (number(moved.steer), number(moved.accel));
                self.act_in_lane(lane, |car, gear_sign| self.model.roll(car, steering, accel, gear_sign))
            }
            PartKind::Plant => {
                let most = self.model.spec.steering_max_rad;
                self.act_in_lane(lane, |car, gear_sign| {
                    let speed = number(moved.speed);
                    let rate = (speed - car.speed) / self.model.dt_s;
                    car.accel = moved.accel.map_or(rate, |accel| accel * gear_sign);
                    car.steering = moved.steer.unwrap_or_else(|| steering.clamp(-most, most));
                    (car.x, car.y, car.heading) = (number(moved.x), number(moved.y), number(moved.heading));
                    car.speed = speed;
                    let (sin, cos) = maths::sin_cos(car.heading);
                    (cos, sin)
                })
            }
        }
    }
}
