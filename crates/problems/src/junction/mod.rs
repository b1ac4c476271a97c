//! A right turn with a stop sign at a T-junction, with a car from the left (S3-16, S3-17).
//!
//! The car sees with a camera whose range, rate and delay depend on time of day and weather; a hedge hides what comes. The
//! other car sees and brakes too. Nothing is drawn: a lower rate means that more frames pass until something is believed.

mod instance;
mod outcome;
mod sight;
mod system;
mod triage;
mod world;

use anabranch_kernel::{Declarations, ErrorSpace, Signal, Visitor};
use serde::{Deserialize, Serialize};

pub use instance::{Instance, JUNCTION_AXES, JUNCTION_RANGES};
pub use outcome::Outcome;
pub use sight::{JunctionCar, JunctionSight};
use triage::Change;
pub use triage::{BlindCornerNote, Cause, Fault as AtFault, Triage};
use world::{APPROACH_M, ENTRY_M, GOAL_M, Pose, STOP_M, TURN_M, distance_m, pose_at, sees};

/// Seconds of a tick, and ticks of a segment.
const TICK_S: f64 = 0.05;
const SEGMENT_TICKS: u32 = 20;
/// The run ends after 20 s.
const TICKS_MAX: u32 = 400;
/// A frame of the camera every two ticks.
const FRAME_TICKS: u32 = 2;
/// How far the camera sees cars and signs in full light.
const CAR_RANGE_M: f64 = 140.0;
const SIGN_RANGE_M: f64 = 40.0;
/// Frames of full light that make something believed.
const EVIDENCE: f64 = 2.0;
const COMFORT: f64 = 2.5;
const HARD: f64 = 7.0;
const START_UP: f64 = 2.0;
const CURVE_MPS: f64 = 5.0;
/// How long the car stands before it goes.
const STAND_S: f64 = 1.0;
/// It goes if nobody whom it sees arrives within this time.
const GAP_S: f64 = 4.5;
/// And one who takes no chances.
const GAP_PATIENT_S: f64 = 12.0;
/// How long the other driver needs to react, and how hard he brakes.
const REACTION_S: f64 = 0.8;
const OTHER_BRAKE: f64 = 8.0;

/// From the line to where the two would meet, for a car that does not stop (s).
const TO_MEET_S: f64 = 1.5;
/// Farther apart makes no difference (m).
const APART_MOST_M: f64 = 200.0;
/// What the car is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// It comes, and would turn without stopping.
    Coming,
    /// It has seen the sign and stops.
    Stopping,
    /// It stands for so many ticks.
    Standing(u32),
    /// It turns.
    Turning,
}

/// Everything that evolves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JunctionState {
    pub(crate) tick: u32,
    pub(crate) phase: Phase,
    /// Way and speed of the car.
    pub(crate) way_m: f64,
    pub(crate) speed_mps: f64,
    /// x and speed of the other car.
    pub(crate) other_x: f64,
    pub(crate) other_mps: f64,
    /// What the camera has gathered about the sign and the other car, and since when each is believed.
    sign_evidence: f64,
    car_evidence: f64,
    pub(crate) sign_tick: Option<u32>,
    pub(crate) car_tick: Option<u32>,
    /// When the other driver first saw a reason to brake.
    pub(crate) noticed_tick: Option<u32>,
    /// When the other car could first be seen, when the car entered the lane, when it last moved, when they met.
    pub(crate) visible_tick: Option<u32>,
    pub(crate) entry_tick: Option<u32>,
    pub(crate) moved_tick: u32,
    pub(crate) hit_tick: Option<u32>,
    /// Smallest distance and smallest reserve against the safe distance so far.
    pub(crate) distance_min_m: f64,
    pub(crate) reserve_min_m: f64,
    /// How far before the lane the car could still have stood when it learned of the sign; smallest value so far.
    pub(crate) late_min_m: f64,
    /// How far the other car was from where it would meet this one, when this one came to the line.
    pub(crate) apart_m: Option<f64>,
}

/// The scenario with one instance; as a system its errors are frames that the camera loses.
#[derive(Clone, Debug)]
pub struct Junction {
    instance: Instance,
    change: Change,
    errors: ErrorSpace,
    declared: Declarations,
    requirements: Vec<String>,
    signals: Vec<Signal>,
}

impl Default for Junction {
    fn default() -> Self {
        Self::new(Instance::default())
    }
}

impl JunctionState {
    /// Seconds since the start.
    pub fn time_s(&self) -> f64 {
        f64::from(self.tick) * TICK_S
    }
    /// Whether they have met.
    pub fn has_hit(&self) -> bool {
        self.hit_tick.is_some()
    }
    /// Names its variables.
    fn visit<V: Visitor>(&self, v: &mut V) {
        v.time("tick");
        v.real("way", "m", 0.1, self.way_m);
        v.real("speed", "m/s", 0.1, self.speed_mps);
        v.real("other.x", "m", 0.1, self.other_x);
        v.real("other.speed", "m/s", 0.1, self.other_mps);
        v.real("evidence.sign", "", 0.25, self.sign_evidence);
        v.real("evidence.car", "", 0.25, self.car_evidence);
        v.real("distance-min", "m", 0.1, self.distance_min_m);
        v.real("reserve-min", "m", 0.5, self.reserve_min_m.min(1e6));
        v.real("late-min", "m", 0.5, self.late_min_m.min(1e6));
        v.real("apart", "m", 0.5, self.apart_m.unwrap_or(-1.0));
        let phase = match self.phase {
            Phase::Coming => 0,
            Phase::Stopping => 1,
            Phase::Turning => 2,
            Phase::Standing(ticks) => 3 + u64::from(ticks),
        };
        let when = |tick: Option<u32>| tick.map_or(0, |tick| 1 + u64::from(tick));
        v.exact("phase", phase);
        v.exact("sign", when(self.sign_tick));
        v.exact("car", when(self.car_tick));
        v.exact("noticed", when(self.noticed_tick));
        v.exact("visible", when(self.visible_tick));
        v.exact("entry", when(self.entry_tick));
        v.exact("moved", u64::from(self.moved_tick));
        v.exact("hit", when(self.hit_tick));
    }
}

impl Junction {
    /// The scenario of an instance.
    pub fn new(instance: Instance) -> Self {
        let errors = ErrorSpace::of_one_site("camera", &["none", "frames lost"]);
        let signals = [("way", "m"), ("speed", "m/s"), ("other.x", "m"), ("other.speed", "m/s"), ("distance", "m")];
        let signals = signals.iter().map(|(name, unit)| Signal::new(name, unit)).collect();
        let mut junction = Self {
            instance,
            change: Change::default(),
            errors,
            declared: Declarations::default(),
            requirements: vec!["no-accident".to_owned()],
            signals,
        };
        junction.declared = Declarations::of(|v| junction.begin().visit(v));
        junction
    }
    /// The scenario of as many numbers as there are [`JUNCTION_AXES`]; `None` if there are more or fewer, or one is not finite.
    pub fn from_numbers(numbers: &[f64]) -> Option<Self> {
        Instance::from_numbers(numbers).map(Self::new)
    }
    /// The same with something changed, to ask what would have been.
    fn changed(&self, change: Change) -> Self {
        Self { change, ..self.clone() }
    }
    /// The instance.
    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// The state at time zero.
    pub fn begin(&self) -> JunctionState {
        let mut state = JunctionState {
            tick: 0,
            phase: Phase::Coming,
            way_m: self.instance.along_m + 1.0,
            speed_mps: self.instance.approach_mps,
            other_x: -self.instance.other_m,
            other_mps: self.instance.other_mps,
            sign_evidence: 0.0,
            car_evidence: 0.0,
            sign_tick: None,
            car_tick: None,
            noticed_tick: None,
            visible_tick: None,
            entry_tick: None,
            moved_tick: 0,
            hit_tick: None,
            distance_min_m: 0.0,
            reserve_min_m: f64::MAX,
            late_min_m: f64::MAX,
            apart_m: None,
        };
        state.distance_min_m = distance_m(&self.car(&state), &self.other(&state));
        state
    }

    /// Runs to the end without lost frames.
    pub fn run_all(&self) -> Outcome {
        let mut state = self.begin();
        self.run_on(&mut state, |_| {});
        self.outcome(&state)
    }
    /// All states of a run without lost frames, one per tick.
    pub fn states(&self) -> Vec<JunctionState> {
        let mut state = self.begin();
        let mut all = vec![state];
        self.run_on(&mut state, |state| all.push(*state));
        all
    }
    fn run_on(&self, state: &mut JunctionState, mut see: impl FnMut(&JunctionState)) {
        while state.hit_tick.is_none() && state.tick < TICKS_MAX && state.way_m < GOAL_M {
            self.tick(state, true);
            see(state);
        }
    }
    /// Whether nobody is hit.
    fn ends_well(&self) -> bool {
        let mut state = self.begin();
        self.run_on(&mut state, |_| {});
        state.hit_tick.is_none()
    }
    /// What a map should carry about this corner, if the hedge hides traffic of this speed for too long (S3-19): the place is that
    /// from which a car of this speed can still stand before the lane.
    pub fn blind_corner(&self) -> Option<BlindCornerNote> {
        let approach_mps = self.instance.approach_mps;
        let way_to_stand_m = approach_mps * self.delay_s() + approach_mps * approach_mps / (2.0 * HARD);
        let eye = eye(&pose_at(ENTRY_M - way_to_stand_m, self.instance.aside_m));
        let traffic_mps = self.instance.other_mps;
        // Whoever goes needs this long to be out of the way, and to have looked before.
        let needs_m = traffic_mps * GAP_S;
        let is_seen = |m: f64| sees(&eye, &Pose { x: -m, y: 0.0, ahead: [1.0, 0.0] }, self.instance.hedge_m);
        let sees_m = (1..=1000).map(|n| 0.2 * f64::from(n)).take_while(|m| is_seen(*m)).last().unwrap_or(0.0);
        (sees_m < needs_m).then_some(BlindCornerNote { x: eye.x, y: eye.y, sees_m, needs_m, traffic_mps })
    }
    /// The light that the camera has.
    fn light(&self) -> f64 {
        if self.change.by_day { 1.0 } else { self.instance.light() }
    }
    /// What came of a run.
    pub fn outcome(&self, state: &JunctionState) -> Outcome {
        Outcome {
            distance_m: state.distance_min_m,
            reserve_m: state.reserve_min_m,
            late_m: state.late_min_m,
            apart_m: state.apart_m.unwrap_or(APART_MOST_M).min(APART_MOST_M),
            time_s: f64::from(state.tick) * TICK_S,
            triage: state.hit_tick.map(|_| Triage::of(self, state)),
        }
    }

    pub(crate) fn car(&self, state: &JunctionState) -> Pose {
        pose_at(state.way_m, self.instance.aside_m)
    }
    pub(crate) fn other(&self, state: &JunctionState) -> Pose {
        Pose { x: state.other_x, y: self.instance.other_aside_m, ahead: [1.0, 0.0] }
    }
    /// Seconds from a picture to what is known of it.
    fn delay_s(&self) -> f64 {
        0.1 + 0.4 * (1.0 - self.light())
    }
    pub(crate) fn is_believed(&self, since: Option<u32>, tick: u32) -> bool {
        since.is_some_and(|since| f64::from(tick - since) * TICK_S >= self.delay_s())
    }

    fn tick(&self, state: &mut JunctionState, has_frame: bool) {
        let (car, other) = (self.car(state), self.other(state));
        let is_open = sees(&eye(&car), &other, self.instance.hedge_m);
        let is_visible = is_open || self.change.no_hedge;
        if is_visible && state.other_x < car.x + 5.0 {
            state.visible_tick.get_or_insert(state.tick);
        }
        if has_frame && state.tick.is_multiple_of(FRAME_TICKS) {
            self.look(state, &car, &other, is_visible);
        }
        if state.phase == Phase::Coming {
            let speed_mps = state.speed_mps;
            let way_to_stand_m = speed_mps * self.delay_s() + speed_mps * speed_mps / (2.0 * HARD);
            state.late_min_m = state.late_min_m.min(ENTRY_M - state.way_m - way_to_stand_m);
        }
        let acceleration = self.decide(state);
        let other_acceleration = self.other_driver(state, &car, is_open);
        let jitter = 0.1 * self.instance.jitter * if state.speed_mps > 0.0 { 1.0 } else { 0.0 };
        advance(&mut state.way_m, &mut state.speed_mps, acceleration + jitter);
        advance(&mut state.other_x, &mut state.other_mps, other_acceleration);
        state.tick += 1;
        if state.speed_mps > 0.2 {
            state.moved_tick = state.tick;
        }
        if state.way_m > STOP_M - 1.0 && state.apart_m.is_none() {
            state.apart_m = Some((state.other_x + TO_MEET_S * state.other_mps).abs());
        }
        if state.way_m > ENTRY_M {
            state.entry_tick.get_or_insert(state.tick);
        }
        self.judge(state);
    }

    /// A frame of the camera: evidence grows the faster the better the thing can be seen.
    fn look(&self, state: &mut JunctionState, car: &Pose, other: &Pose, is_visible: bool) {
        let light = self.light();
        // Full certainty within half the range, none beyond it.
        let clarity = |distance_m: f64, range_m: f64| (2.0 - 2.0 * distance_m / (range_m * light)).clamp(0.0, 1.0);
        let to_sign = (STOP_M + 3.0 - state.way_m).max(0.0);
        if state.way_m < STOP_M + 3.0 {
            state.sign_evidence += clarity(to_sign, SIGN_RANGE_M);
        }
        if state.sign_evidence >= EVIDENCE {
            state.sign_tick.get_or_insert(state.tick);
        }
        let is_ahead = other.x < car.x + 5.0;
        let to_other = anabranch_kernel::maths::hypot(other.x - car.x, other.y - car.y);
        if is_visible && is_ahead {
            state.car_evidence += clarity(to_other, CAR_RANGE_M);
        }
        if state.car_evidence >= EVIDENCE {
            state.car_tick.get_or_insert(state.tick);
        }
    }

    /// The driver under test: what it does with what it believes.
    fn decide(&self, state: &mut JunctionState) -> f64 {
        let knows_sign = self.change.knows_sign || self.is_believed(state.sign_tick, state.tick);
        let gap_s = if self.change.waits { GAP_PATIENT_S } else { GAP_S };
        let knows_car = self.is_believed(state.car_tick, state.tick);
        let arrival_s = if state.other_x > 5.0 { f64::INFINITY } else { -state.other_x / state.other_mps.max(0.1) };
        let is_conflict = knows_car && arrival_s < gap_s && arrival_s > -0.5;
        match state.phase {
            Phase::Coming if knows_sign => {
                // Too late to stand outside of the lane: better clear it than stand in it.
                let is_past = state.way_m > ENTRY_M + 0.5 * TURN_M;
                state.phase = if is_past { Phase::Turning } else { Phase::Stopping };
            }
            Phase::Stopping if state.speed_mps < 0.05 => state.phase = Phase::Standing(0),
            Phase::Standing(ticks) => {
                let is_ready = f64::from(ticks) * TICK_S >= STAND_S && !is_conflict;
                state.phase = if is_ready { Phase::Turning } else { Phase::Standing(ticks + 1) };
            }
            _ => {}
        }
        let towards = |target_mps: f64| ((target_mps - state.speed_mps) * 2.0).clamp(-COMFORT, START_UP);
        match state.phase {
            Phase::Coming => {
                let to_curve = (APPROACH_M - state.way_m).max(0.0);
                let limit = (CURVE_MPS * CURVE_MPS + 2.0 * COMFORT * to_curve).sqrt().min(self.instance.approach_mps);
                if is_conflict && state.way_m < ENTRY_M { -HARD } else { towards(limit) }
            }
            Phase::Stopping => {
                let to_stop = STOP_M - state.way_m;
                let needed = state.speed_mps * state.speed_mps / (2.0 * to_stop.max(0.05));
                if to_stop <= 0.0 || needed > COMFORT {
                    -needed.clamp(COMFORT, HARD)
                } else {
                    towards(self.instance.approach_mps).min(0.0)
                }
            }
            Phase::Standing(_) => -HARD,
            Phase::Turning => {
                let is_turning = state.way_m < APPROACH_M + TURN_M;
                if is_conflict && state.way_m < ENTRY_M {
                    -HARD
                } else {
                    towards(if is_turning { CURVE_MPS } else { self.instance.cruise_mps })
                }
            }
        }
    }

    /// The other driver brakes for what he sees in his lane or on its way into it (S3-17).
    fn other_driver(&self, state: &mut JunctionState, car: &Pose, is_visible: bool) -> f64 {
        let is_coming_out = state.way_m > ENTRY_M - 1.0 && (state.speed_mps > 0.3 || car.y > -3.5);
        let is_before_him = car.x > state.other_x && state.speed_mps < state.other_mps;
        if is_visible && is_coming_out && is_before_him {
            state.noticed_tick.get_or_insert(state.tick);
        } else if !is_coming_out || !is_before_him {
            state.noticed_tick = None;
        }
        let reaction_s = REACTION_S + 0.6 * (1.0 - self.instance.light());
        let has_reacted = state.noticed_tick.is_some_and(|since| f64::from(state.tick - since) * TICK_S >= reaction_s);
        if has_reacted { -OTHER_BRAKE } else { 0.0 }
    }

    /// Distance, and the reserve against the distance that the one behind would need (S3-32).
    fn judge(&self, state: &mut JunctionState) {
        let (car, other) = (self.car(state), self.other(state));
        let distance_m = distance_m(&car, &other);
        state.distance_min_m = state.distance_min_m.min(distance_m);
        if distance_m <= 0.0 {
            state.hit_tick.get_or_insert(state.tick);
        }
        if state.way_m > ENTRY_M && car.x > state.other_x {
            let along = state.speed_mps * car.ahead[0];
            let needed = safe_distance_m(state.other_mps, along);
            state.reserve_min_m = state.reserve_min_m.min(distance_m - needed);
        }
    }
}

/// The camera looks out of the front.
fn eye(car: &Pose) -> Pose {
    Pose { x: car.x + car.ahead[0], y: car.y + car.ahead[1], ..*car }
}

fn advance(place_m: &mut f64, speed_mps: &mut f64, acceleration: f64) {
    let next = (*speed_mps + acceleration * TICK_S).max(0.0);
    *place_m += 0.5 * (*speed_mps + next) * TICK_S;
    *speed_mps = next;
}

/// Distance that the car behind needs so as to stop in time, whatever the one in front does: S. Shalev-Shwartz,
/// S. Shammah, A. Shashua, "On a formal model of safe and scalable self-driving cars", 2017, lemma 2.
pub fn safe_distance_m(behind_mps: f64, ahead_mps: f64) -> f64 {
    let (reaction_s, accelerates, brakes_least, brakes_most) = (REACTION_S, START_UP, 4.0, 8.0);
    let later_mps = behind_mps + reaction_s * accelerates;
    let way = behind_mps * reaction_s + 0.5 * accelerates * reaction_s * reaction_s;
    (way + later_mps * later_mps / (2.0 * brakes_least) - ahead_mps * ahead_mps / (2.0 * brakes_most)).max(0.0)
}
