//! From sights to detections, with everything that can go wrong on the way: misses, ghosts, displacement, turned
//! headings, latency, lateness (S4-9, S1-19, S1-23 … S1-25).
//!
//! Two roads lead to each imperfection: ordinary chance, drawn by tick and object, and the error choice of the segment,
//! which comes as masks with one bit per object. Only objects with numbers below 32 can have an error of their own.

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::{Chance, Visitor, maths};
use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use super::detection::{DETECTIONS_MAX, Detection, Detections, ReadingLine};
use super::rate::DetectionRate;
use crate::noise::{Noise, NoiseModel, Wander};
use crate::obstacle_sensor::{Late, OBSTACLES_MAX};
use crate::rays::{RaySensor, Scan};

/// An object as it truly is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrueObject {
    /// Its middle and heading.
    pub pose: Pose,
    /// Metres.
    pub length_m: f64,
    /// Metres.
    pub width_m: f64,
}

/// How a sensor turns what it sees into detections.
#[derive(Clone, Debug, PartialEq)]
pub struct DetectorSpec {
    /// Base cycles between two readings, at least 1.
    pub period_ticks: u32,
    /// Readings between seeing and telling.
    pub latency: u16,
    /// The longest latency an error can ask for besides.
    pub latency_more_max: u16,
    /// The longest lateness an error can ask for, in readings.
    pub late_max: u16,
    /// Visible share below which an object is not recognised.
    pub share_min: f64,
    /// How likely an object in sight is detected, by distance.
    pub rate: DetectionRate,
    /// Noise of the position, east and north alike: the white part is each object's own, the wandering part is shared.
    pub position: NoiseModel,
    /// Noise of the heading, in the same way.
    pub heading: NoiseModel,
    /// Probability that a heading is told the wrong way round.
    pub flip: f64,
    /// Probability of a ghost per reading, somewhere in the field of view.
    pub ghost: f64,
    /// Most detections in one reading, at most [`DETECTIONS_MAX`].
    pub detections_max: usize,
}

impl DetectorSpec {
    /// A sensor that tells everything it sees, at once and exactly.
    pub fn perfect() -> Self {
        Self {
            period_ticks: 1,
            latency: 0,
            latency_more_max: 0,
            late_max: 0,
            share_min: 0.0,
            rate: DetectionRate::ALWAYS,
            position: NoiseModel::NONE,
            heading: NoiseModel::NONE,
            flip: 0.0,
            ghost: 0.0,
            detections_max: DETECTIONS_MAX,
        }
    }
}

/// Objects seen at a wrong place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Displacement {
    /// Which objects.
    pub objects: u32,
    /// Metres east and north.
    pub by_m: [f64; 2],
}

/// Errors of the segment.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct DetectionErrors<'a> {
    /// There, but not seen (S1-24).
    pub missed: u32,
    /// Seen the wrong way round.
    pub flipped: u32,
    /// Seen at a wrong place (S1-23).
    pub displaced: &'a [Displacement],
    /// Recognised late, in readings after they came into sight (S1-19).
    pub late: &'a [Late],
    /// Not there, but seen (S1-25).
    pub ghosts: &'a [Detection],
    /// Readings that everything takes longer (S1-19).
    pub latency_more: u16,
    /// The sensor tells nothing at all, and sees nothing.
    pub lost: bool,
}

/// What a detector is told in one base cycle.
#[derive(Clone, Copy, Debug)]
pub struct DetectorInput<'a> {
    /// The sensor that saw.
    pub sensor: &'a RaySensor,
    /// What it saw: a scan of this very base cycle.
    pub scan: &'a Scan,
    /// All objects of the scene, by their numbers.
    pub objects: &'a [TrueObject],
    /// Where the car is.
    pub car: Pose,
    /// Where it believes to be: detections are off by the difference.
    pub believed: Pose,
    /// 1 in clear air; distances count as divided by it, and noise that obeys situations too.
    pub visibility: f64,
    /// The errors of the segment.
    pub errors: DetectionErrors<'a>,
}

/// Behaviour only: what evolves is its [`DetectorState`].
#[derive(Clone, Debug, PartialEq)]
pub struct Detector {
    spec: DetectorSpec,
    position: Noise,
    heading: Noise,
}

/// What a detector remembers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DetectorState {
    line: ReadingLine,
    wander: [Wander; 3],
    /// Readings since each object came into sight; empty where nothing can be late.
    in_sight: ArrayVec<u16, OBSTACLES_MAX>,
}

/// Draws of the sensor itself come before those of the objects.
const OBJECT_DRAWS_FROM: u64 = 32;
/// Draws set aside for each object.
const DRAWS_PER_OBJECT: u64 = 16;
/// First of the draws of a ghost, after those of the shared wandering.
const GHOST_DRAWS_FROM: u64 = 12;

impl Detector {
    /// Prepares a detector for base cycles of one length.
    pub fn new(spec: DetectorSpec, tick_s: f64) -> Self {
        assert!(spec.detections_max <= DETECTIONS_MAX, "at most {DETECTIONS_MAX} detections fit into a reading");
        let period_s = f64::from(spec.period_ticks) * tick_s;
        let (position, heading) = (Noise::new(spec.position, period_s), Noise::new(spec.heading, period_s));
        Self { spec, position, heading }
    }
    /// The state at the start of a run.
    pub fn start(&self, chance: Chance) -> DetectorState {
        let before = chance.at(u64::MAX);
        let counters = if self.spec.late_max == 0 { 0 } else { OBSTACLES_MAX };
        DetectorState {
            line: ReadingLine::new(self.spec.latency + self.spec.latency_more_max, self.spec.detections_max),
            wander: [self.position.start(&before, 0), self.position.start(&before, 1), self.heading.start(&before, 2)],
            in_sight: std::iter::repeat_n(0, counters).collect(),
        }
    }
    /// Whether a reading is due in a base cycle. A scan is needed only then.
    pub fn is_due(&self, tick: u64) -> bool {
        tick.is_multiple_of(u64::from(self.spec.period_ticks))
    }

    /// The reading of a base cycle in which one is due.
    pub fn read(
        &self,
        state: &mut DetectorState,
        input: &DetectorInput<'_>,
        tick: u64,
        chance: Chance,
        out: &mut Detections,
    ) {
        let chance = chance.at(tick);
        for (channel, wander) in (0..).zip(&mut state.wander) {
            let noise = if channel < 2 { &self.position } else { &self.heading };
            noise.advance(wander, &chance, channel);
        }
        if input.errors.lost {
            // Nobody has been in sight when it sees again, and what was on its way is not told either.
            state.in_sight.iter_mut().for_each(|readings| *readings = 0);
            out.clear();
            state.line.pass(out, 0);
            return;
        }
        let late = self.count_sights(state, input);
        let mut found: ArrayVec<(f64, Detection), { 2 * DETECTIONS_MAX }> = ArrayVec::new();
        for sight in input.scan.sights() {
            let bit = 1_u32.checked_shl(sight.target).unwrap_or(0);
            let seen = sight.share >= self.spec.share_min && (input.errors.missed | late) & bit == 0;
            let rate = self.spec.rate.at(sight.nearest_m / input.visibility);
            let first = OBJECT_DRAWS_FROM + DRAWS_PER_OBJECT * u64::from(sight.target);
            if seen && (rate >= 1.0 || chance.uniform(first) < rate) {
                let told = self.told(input, sight.target, bit, &state.wander, &chance);
                keep_nearest(&mut found, self.spec.detections_max, (sight.nearest_m, told));
            }
        }
        let by_chance = self.ghost(input, &chance);
        for ghost in input.errors.ghosts.iter().copied().chain(by_chance) {
            let away_m = Point::new(ghost.x, ghost.y).distance_m(input.believed.point());
            keep_nearest(&mut found, self.spec.detections_max, (away_m, ghost));
        }
        out.clear();
        out.extend(found.iter().map(|(_, detection)| *detection));
        state.line.pass(out, self.spec.latency + input.errors.latency_more);
    }

    /// Counts readings since objects came into sight, and returns those that are recognised too late for this one.
    fn count_sights(&self, state: &mut DetectorState, input: &DetectorInput<'_>) -> u32 {
        let mut late = 0_u32;
        for (number, readings) in (0_u32..).zip(&mut state.in_sight) {
            let seen = (number as usize) < input.objects.len() && input.scan.sight(number).is_some();
            if !seen {
                *readings = 0;
                continue;
            }
            let bit = 1 << number;
            if input.errors.late.iter().any(|group| group.obstacles & bit != 0 && *readings < group.ticks) {
                late |= bit;
            }
            *readings = self.spec.late_max.min(readings.saturating_add(1));
        }
        late
    }

    /// One object as it is told.
    fn told(
        &self,
        input: &DetectorInput<'_>,
        target: u32,
        bit: u32,
        wander: &[Wander; 3],
        chance: &Chance,
    ) -> Detection {
        let object = &input.objects[target as usize];
        let errors = &input.errors;
        let first = OBJECT_DRAWS_FROM + DRAWS_PER_OBJECT * u64::from(target);
        // Channels of four draws each, after the two plain ones.
        let channel = |i: u64| first / 4 + 1 + i;
        let scale = 1.0 / input.visibility;
        let place = seen_from(input, object.pose);
        let (mut x, mut y) = (place.x, place.y);
        x += self.position.told(wander[0], chance, channel(0), scale);
        y += self.position.told(wander[1], chance, channel(1), scale);
        for group in errors.displaced.iter().filter(|group| group.objects & bit != 0) {
            x += group.by_m[0];
            y += group.by_m[1];
        }
        let mut heading = place.heading + self.heading.told(wander[2], chance, channel(2), scale);
        let by_chance = self.spec.flip > 0.0 && chance.uniform(first + 1) < self.spec.flip;
        if by_chance != (errors.flipped & bit != 0) {
            heading += std::f64::consts::PI;
        }
        let heading = maths::wrap_angle(heading);
        Detection { x, y, heading, length_m: object.length_m, width_m: object.width_m }
    }

    /// A ghost of ordinary chance: anywhere in the field of view, as large as a car.
    fn ghost(&self, input: &DetectorInput<'_>, chance: &Chance) -> Option<Detection> {
        let draw = |n: u64| chance.uniform(GHOST_DRAWS_FROM + n);
        if self.spec.ghost == 0.0 || draw(0) >= self.spec.ghost {
            return None;
        }
        let spec = input.sensor.spec();
        let from = input.sensor.pose(input.believed);
        let (sin, cos) = maths::sin_cos(from.heading + (draw(1) - 0.5) * spec.view_rad);
        let range_m = spec.horizon_m * draw(2).sqrt();
        let heading = (draw(3) - 0.5) * std::f64::consts::TAU;
        let (x, y) = (from.x + range_m * cos, from.y + range_m * sin);
        Some(Detection { x, y, heading, length_m: 4.5, width_m: 1.8 })
    }

    /// Names everything that is remembered.
    pub fn visit<V: Visitor>(&self, state: &DetectorState, v: &mut V) {
        v.within("on_its_way", |v| v.field("line", |v| state.line.visit(v)));
        let wanders = [(&self.position, "x", "m"), (&self.position, "y", "m"), (&self.heading, "heading", "rad")];
        for (i, (noise, part, unit)) in wanders.into_iter().enumerate() {
            v.within(part, |v| noise.visit(unit, state.wander[i], format_args!("wander.{i}"), v));
        }
        if state.in_sight.is_empty() {
            v.constant("in_sight", "nothing can be late");
        }
        for (i, &readings) in state.in_sight.iter().enumerate() {
            v.exact(format_args!("in_sight.{i}"), u64::from(readings));
        }
    }
}

/// Where an object seems to be for a car that believes itself elsewhere.
fn seen_from(input: &DetectorInput<'_>, object: Pose) -> Pose {
    let local = input.car.local_from_world(object.point());
    let world = input.believed.world_from_local(local);
    Pose::new(world.x, world.y, object.heading - input.car.heading + input.believed.heading)
}

/// Inserts by distance and drops the farthest one that no longer fits.
fn keep_nearest<const N: usize>(found: &mut ArrayVec<(f64, Detection), N>, most: usize, new: (f64, Detection)) {
    let place = found.iter().position(|(away_m, _)| new.0 < *away_m).unwrap_or(found.len());
    if place < most {
        found.truncate(most - 1);
        found.insert(place, new);
    }
}
