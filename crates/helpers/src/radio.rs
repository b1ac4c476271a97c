//! Messages between cars: where they are, how fast, and whether they brake. A discrete-event simulation.
//!
//! Every sender tells its state once in a period. Who was near enough when it was sent gets it after a latency, if it is not lost. What is
//! on its way is a queue of events; an event happens in the first base cycle that is not before its time, and events of the same base
//! cycle in the order of (sent, sender), whatever came into the queue first. A message that was overtaken by a newer one of the same
//! sender is thrown away.
//!
//! A car tells the acceleration it had on average since its message before; the first one tells none.

use anabranch_kernel::units::Dimension;
use anabranch_kernel::{Chance, Continuous, Discrete, Visitor, maths};
use serde::{Deserialize, Serialize};

use crate::helper::{Around, Helper, Nearby, SignalFact, next_multiple};

/// Name of its chance.
const CHANCE: &str = "helper.radio";
/// Latencies are counted up to the next base cycle; rounding of decimal fractions is none.
const ROUNDING: f64 = 1e-6;

/// Who sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Senders {
    /// Everybody who drives.
    All,
    /// These, by rising numbers.
    Named(Vec<u32>),
}

/// How messages travel.
#[derive(Clone, Debug, PartialEq)]
pub struct RadioSpec {
    /// Length of a base cycle.
    pub tick_s: f64,
    /// Nobody farther than this hears a message; measured from middle to middle when it is sent.
    pub range_m: f64,
    /// Base cycles between two messages of a sender, at least 1.
    pub period_ticks: u32,
    /// Every message takes so long.
    pub latency_s: f64,
    /// And by chance up to so much longer, evenly.
    pub jitter_s: f64,
    /// Share of messages that are lost by chance.
    pub loss: f64,
    /// A message older than this is forgotten.
    pub keep_ticks: u32,
    /// Who sends.
    pub senders: Senders,
}

impl RadioSpec {
    /// Ten messages a second over 300 m, with 20 ms under way, none lost, believed for half a second.
    pub fn usual(tick_s: f64) -> Self {
        let ticks = |seconds: f64| (seconds / tick_s).round().max(1.0) as u32;
        Self {
            tick_s,
            range_m: 300.0,
            period_ticks: ticks(0.1),
            latency_s: 0.02,
            jitter_s: 0.0,
            loss: 0.0,
            keep_ticks: ticks(0.5),
            senders: Senders::All,
        }
    }
}

/// What a car tells.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who.
    pub sender: u32,
    /// When.
    pub sent_tick: u32,
    /// Its middle, east.
    pub x_m: f64,
    /// Its middle, north.
    pub y_m: f64,
    /// Counter-clockwise from east.
    pub heading_rad: f64,
    /// Along its heading.
    pub speed_mps: f64,
    /// Negative brakes.
    pub accel_mps2: f64,
    /// Half its length.
    pub half_length_m: f64,
}

/// A message on its way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OnItsWay {
    /// The base cycle in which it arrives.
    pub due_tick: u32,
    /// What it says.
    pub message: Message,
}

/// What of the radio evolves.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct RadioState {
    /// Messages on their way, by (due, sent, sender).
    pub on_their_way: Vec<OnItsWay>,
    /// The newest message that arrived of each sender, by sender.
    pub heard: Vec<Message>,
    /// How fast senders were when they last sent, by sender: the next message tells what has changed.
    pub sent_mps: Vec<(u32, f64)>,
}

/// Messages between cars.
#[derive(Clone, Debug, PartialEq)]
pub struct Radio {
    spec: RadioSpec,
}

impl Radio {
    /// Takes its numbers as they are; scenarios check them.
    pub fn new(spec: RadioSpec) -> Self {
        Self { spec: RadioSpec { period_ticks: spec.period_ticks.max(1), ..spec } }
    }
    /// Its numbers.
    pub fn spec(&self) -> &RadioSpec {
        &self.spec
    }
    /// How old a message is, in seconds.
    pub fn age_s(&self, message: &Message, tick: u32) -> f64 {
        f64::from(tick.saturating_sub(message.sent_tick)) * self.spec.tick_s
    }

    fn sends(&self, other: &Nearby) -> bool {
        match &self.spec.senders {
            Senders::All => other.drives,
            Senders::Named(numbers) => numbers.binary_search(&other.number).is_ok(),
        }
    }

    /// Everybody sends who does.
    fn send(&self, state: &mut RadioState, around: &Around<'_>) {
        let chance = Chance::new(around.seed, CHANCE).at(u64::from(around.tick));
        let mut sent_mps = Vec::new();
        for other in around.others.iter().filter(|other| self.sends(other)) {
            let before = state.sent_mps.binary_search_by_key(&other.number, |(number, _)| *number);
            let period_s = f64::from(self.spec.period_ticks) * self.spec.tick_s;
            let accel_mps2 = before.map_or(0.0, |at| (other.speed_mps - state.sent_mps[at].1) / period_s);
            sent_mps.push((other.number, other.speed_mps));
            let draw = 2 * u64::from(other.number);
            let is_near = maths::hypot(other.x_m - around.car.x_m, other.y_m - around.car.y_m) <= self.spec.range_m;
            let is_silent =
                around.wrong.all_silent || other.number < u32::BITS && around.wrong.silent >> other.number & 1 == 1;
            if !is_near || is_silent || chance.uniform(draw) < self.spec.loss {
                continue;
            }
            let takes_s = self.spec.latency_s + self.spec.jitter_s * chance.uniform(draw + 1);
            let takes_ticks = (takes_s / self.spec.tick_s - ROUNDING).ceil().max(0.0) as u32;
            let due_tick = around.tick + takes_ticks + u32::from(around.wrong.late_ticks);
            state.on_their_way.push(OnItsWay { due_tick, message: told(other, around.tick, accel_mps2) });
        }
        state.sent_mps = sent_mps;
        state.on_their_way.sort_unstable_by_key(|one| (one.due_tick, one.message.sent_tick, one.message.sender));
    }

    /// Everything arrives that is due.
    fn arrive(state: &mut RadioState, tick: u32) {
        let due = state.on_their_way.partition_point(|one| one.due_tick <= tick);
        for OnItsWay { message, .. } in state.on_their_way.drain(..due) {
            match state.heard.binary_search_by_key(&message.sender, |known| known.sender) {
                Ok(at) if state.heard[at].sent_tick < message.sent_tick => state.heard[at] = message,
                Ok(_) => {}
                Err(at) => state.heard.insert(at, message),
            }
        }
    }
}

fn told(other: &Nearby, tick: u32, accel_mps2: f64) -> Message {
    Message {
        sender: other.number,
        sent_tick: tick,
        x_m: other.x_m,
        y_m: other.y_m,
        heading_rad: other.heading_rad,
        speed_mps: other.speed_mps,
        accel_mps2,
        half_length_m: other.half_length_m,
    }
}

/// The variables of messages of one list.
struct MessageVariables {
    sender: Discrete,
    sent: Discrete,
    x: Continuous,
    y: Continuous,
    heading: Continuous,
    speed: Continuous,
    acceleration: Continuous,
}

impl MessageVariables {
    fn declare<V: Visitor>(v: &mut V) -> Self {
        Self {
            sender: v.discrete("sender"),
            sent: v.discrete("sent"),
            x: v.continuous("x", "m", 0.5),
            y: v.continuous("y", "m", 0.5),
            heading: v.continuous("heading", "rad", 0.05),
            speed: v.continuous("speed", "m/s", 0.5),
            acceleration: v.continuous("acceleration", "m/s^2", 0.5),
        }
    }
}

impl Message {
    fn put<V: Visitor>(&self, variables: &MessageVariables, v: &mut V) {
        v.put_exact(variables.sender, u64::from(self.sender));
        v.put_exact(variables.sender, self.half_length_m.to_bits());
        v.put_exact(variables.sent, u64::from(self.sent_tick));
        v.put(variables.x, self.x_m);
        v.put(variables.y, self.y_m);
        v.put_angle(variables.heading, self.heading_rad);
        v.put(variables.speed, self.speed_mps);
        v.put(variables.acceleration, self.accel_mps2);
    }
}

impl Helper for Radio {
    type State = RadioState;

    fn start(&self) -> RadioState {
        RadioState::default()
    }
    fn due_tick(&self, state: &RadioState, tick: u32) -> u32 {
        let arrives = state.on_their_way.first().map_or(u32::MAX, |one| one.due_tick);
        let forgets = state.heard.iter().map(|message| message.sent_tick + self.spec.keep_ticks + 1).min();
        next_multiple(self.spec.period_ticks, tick).min(arrives).min(forgets.unwrap_or(u32::MAX)).max(tick)
    }
    fn advance(&self, state: &mut RadioState, around: &Around<'_>) {
        if around.tick.is_multiple_of(self.spec.period_ticks) {
            self.send(state, around);
        }
        Self::arrive(state, around.tick);
        state.heard.retain(|message| around.tick - message.sent_tick <= self.spec.keep_ticks);
    }
    fn visit<V: Visitor>(&self, state: &RadioState, v: &mut V) {
        v.within("radio", |v| {
            // How many there are comes first, so that no list can be taken for another one.
            let due = v.discrete("due");
            v.put_exact(due, state.on_their_way.len() as u64);
            v.within("under_way", |v| {
                let variables = MessageVariables::declare(v);
                for one in &state.on_their_way {
                    v.put_exact(due, u64::from(one.due_tick));
                    one.message.put(&variables, v);
                }
            });
            v.within("heard", |v| {
                let variables = MessageVariables::declare(v);
                v.put_exact(variables.sender, state.heard.len() as u64);
                state.heard.iter().for_each(|message| message.put(&variables, v));
            });
            let (sender, sent_speed) = (v.discrete("sender"), v.continuous("sent_speed", "m/s", 0.5));
            v.put_exact(sender, state.sent_mps.len() as u64);
            for &(number, speed_mps) in &state.sent_mps {
                v.put_exact(sender, u64::from(number));
                v.put(sent_speed, speed_mps);
            }
        });
    }
    fn signals(&self) -> &'static [SignalFact] {
        &[
            ("radio.received", Dimension::Number),
            ("radio.under_way", Dimension::Number),
            ("radio.age", Dimension::Time),
            ("radio.braking", Dimension::Acceleration),
        ]
    }
    fn show(&self, state: &RadioState, tick: u32, out: &mut [f64]) {
        let age_s = state.heard.iter().map(|message| self.age_s(message, tick)).fold(f64::INFINITY, f64::min);
        let braking_mps2 = state.heard.iter().map(|message| -message.accel_mps2).fold(0.0, f64::max);
        let values = [state.heard.len() as f64, state.on_their_way.len() as f64, age_s, braking_mps2];
        out.iter_mut().zip(values).for_each(|(place, value)| *place = value);
    }
}
