//! How what is said lies in the memory of a module: version 1 of `c/anabranch_wasm.h`.
//!
//! Plain doubles, addresses and counts of 32 bits, little-endian, aligned to 8 bytes. The fixed part comes first and
//! lists follow it; `ab_decision` comes last, so that one block holds all of a step.

use crate::checks::TRAJECTORY_POINTS_MAX;
use crate::misbehaviour::{Kind, Misbehaviour};
use crate::protocol::{Begin, Decision, ObjectSeen, Seen, TrajectoryPoint};

/// What `anabranch_version` must return.
pub(super) const VERSION: i32 = 1;
const DECISION_BYTES: usize = 48;
const POINT_BYTES: usize = 40;

/// A block of bytes that will lie at a known address.
#[derive(Debug, Default)]
pub(super) struct Block {
    address: u32,
    bytes: Vec<u8>,
    /// Where the addresses of lists stand, until they are known.
    lists: Vec<usize>,
}

impl Block {
    /// What was written.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
    /// Writes what a run begins with.
    pub(super) fn begin(&mut self, address: u32, begin: &Begin) {
        self.clear(address);
        self.bytes.extend_from_slice(&begin.seed.to_le_bytes());
        let (start, goal, car) = (&begin.start, &begin.goal, &begin.car);
        self.reals(&[begin.cycle_s, begin.until_s]);
        self.reals(&[start.x, start.y, start.heading, start.speed]);
        self.reals(&[goal.x, goal.y, goal.heading, goal.tolerance_m]);
        self.reals(&[car.wheelbase_m, car.length_m, car.width_m, car.rear_overhang_m]);
        self.reals(&[car.steering_max_rad, car.steering_rate_max_radps, begin.path.length_m]);
        let path = &begin.path;
        let counts = [path.sections.len(), path.samples.len(), begin.walls.len(), begin.params.len()];
        for count in counts.into_iter().chain([begin.scenario.len()]) {
            self.later(count);
        }
        // Added at the end: modules built with an older header do not look here.
        let route = self.pointer();
        self.words([begin.route.len() as u32]);
        self.list(0);
        for section in &path.sections {
            self.reals(&[section.start_m, section.end_m, f64::from(section.direction)]);
        }
        self.list(1);
        path.samples.iter().for_each(|sample| self.reals(sample));
        self.list(2);
        begin.walls.iter().for_each(|wall| self.reals(wall));
        self.list(3);
        self.reals(&begin.params);
        self.list(4);
        self.text(&begin.scenario);
        self.route(route, &begin.route);
    }
    /// Writes what the sensors say and an empty decision; returns where the decision lies.
    pub(super) fn step(&mut self, address: u32, seen: &Seen, key_count: usize) -> u32 {
        self.clear(address);
        let (pose, path, goal) = (&seen.pose, &seen.path, &seen.goal);
        self.reals(&[seen.time, seen.tick as f64, pose.x, pose.y, pose.heading]);
        self.reals(&pose.covariance);
        self.reals(&[seen.speed, seen.steer, f64::from(seen.gear)]);
        self.reals(&[path.station, path.lateral, path.heading, path.curvature, path.remaining, path.speed_max]);
        self.reals(&[f64::from(path.direction), f64::from(path.section), f64::from(path.sections_left)]);
        self.reals(&[goal.ahead, goal.left, goal.heading]);
        let occupancy = seen.occupancy.as_deref();
        self.reals(&[occupancy.map_or(0.0, |around| around.cell_m)]);
        let (columns, rows) = occupancy.map_or((0, 0), |around| (around.columns, around.rows));
        self.later(columns as usize);
        self.words([rows, 0]);
        self.later(seen.objects.len());
        // Added at the end: modules built with an older header do not look here.
        self.reals(&[path.to_end]);
        let (velocities, road, plain) = (self.pointer(), self.pointer(), self.pointer());
        self.words([0]);
        if let Some(around) = occupancy {
            self.list(0);
            self.bytes.extend_from_slice(&around.cells);
        }
        self.list(1);
        for object in &seen.objects {
            let ObjectSeen { id, x, y, heading, speed, length, width, .. } = *object;
            self.reals(&[f64::from(id), x, y, heading, speed, length, width]);
        }
        self.points_here(velocities);
        seen.objects.iter().for_each(|object| self.reals(&[object.vx, object.vy]));
        if let Some(seen) = seen.road.as_deref() {
            self.road(road, seen);
        }
        if let Some(told) = seen.plain.as_deref() {
            self.align();
            self.points_here(plain);
            self.reals(&told.numbers());
        }
        self.decision(key_count)
    }

    /// An empty decision and the place for its key. Zero is what a driver that sets nothing decides; a value of the key
    /// that was not set is none.
    fn decision(&mut self, key_count: usize) -> u32 {
        self.align();
        let here = self.here();
        self.reals(&[0.0; 4]);
        self.words([here.wrapping_add(DECISION_BYTES as u32), key_count as u32, 0, 0]);
        for _ in 0..key_count {
            self.reals(&[f64::NAN]);
        }
        here
    }
    fn clear(&mut self, address: u32) {
        self.address = address;
        self.bytes.clear();
        self.lists.clear();
    }
    fn here(&self) -> u32 {
        self.address.wrapping_add(self.bytes.len() as u32)
    }
    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
    }
    pub(super) fn reals(&mut self, values: &[f64]) {
        for value in values {
            self.bytes.extend_from_slice(&value.to_le_bytes());
        }
    }
    pub(super) fn words<const N: usize>(&mut self, values: [u32; N]) {
        for value in values {
            self.bytes.extend_from_slice(&value.to_le_bytes());
        }
    }
    /// The address of a list, not yet known, and its length.
    fn later(&mut self, count: usize) {
        self.lists.push(self.bytes.len());
        self.words([0, count as u32]);
    }
    /// The list begins here.
    fn list(&mut self, index: usize) {
        self.points_here(self.lists[index]);
    }
    /// An address that is null until it is known; returns where it stands.
    pub(super) fn pointer(&mut self) -> usize {
        self.words([0]);
        self.bytes.len() - 4
    }
    /// What an address points to begins here.
    pub(super) fn points_here(&mut self, pointer: usize) {
        self.align();
        let here = self.here();
        self.bytes[pointer..pointer + 4].copy_from_slice(&here.to_le_bytes());
    }
    /// A text with the zero that ends it.
    pub(super) fn text(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(0);
    }
}

/// Reads the decision at an address, with a key of so many values.
///
/// # Errors
/// When it points to where nothing is.
pub(super) fn read_decision(memory: &[u8], address: u32, key_count: usize) -> Result<Decision, Misbehaviour> {
    let at = address as usize;
    let fixed = memory.get(at..at + DECISION_BYTES + 8 * key_count).ok_or_else(|| outside("the decision", at))?;
    let real = |index: usize| f64::from_le_bytes(fixed[8 * index..8 * index + 8].try_into().expect("eight bytes"));
    let word = |at: usize| u32::from_le_bytes(fixed[at..at + 4].try_into().expect("four bytes"));
    Ok(Decision {
        steer: real(0),
        accel: real(1),
        gear: gear(real(2))?,
        completed: completed(real(3))?,
        trajectory: read_trajectory(memory, word(40), word(44))?,
        key: (0..key_count).map(|index| real(DECISION_BYTES / 8 + index)).collect(),
    })
}

fn gear(value: f64) -> Result<Option<i8>, Misbehaviour> {
    match value {
        1.0 => Ok(Some(1)),
        -1.0 => Ok(Some(-1)),
        0.0 => Ok(None),
        _ => Err(odd("gear", value, "1, -1 or 0")),
    }
}

fn completed(value: f64) -> Result<bool, Misbehaviour> {
    match value {
        1.0 => Ok(true),
        0.0 => Ok(false),
        _ => Err(odd("completed", value, "0 or 1")),
    }
}

fn read_trajectory(memory: &[u8], address: u32, count: u32) -> Result<Vec<TrajectoryPoint>, Misbehaviour> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if count as usize > TRAJECTORY_POINTS_MAX {
        let text = format!("a trajectory of {count} points; {TRAJECTORY_POINTS_MAX} are allowed");
        return Err(Misbehaviour::new(Kind::Oversized, text));
    }
    let at = address as usize;
    let bytes = memory.get(at..at + count as usize * POINT_BYTES).ok_or_else(|| outside("the trajectory", at))?;
    let (reals, _) = bytes.as_chunks::<8>();
    let point = |values: &[[u8; 8]; 5]| {
        let [time_s, x_m, y_m, heading_rad, speed_mps] = values.map(f64::from_le_bytes);
        TrajectoryPoint { time_s, x_m, y_m, heading_rad, speed_mps }
    };
    Ok(reals.as_chunks::<5>().0.iter().map(point).collect())
}

fn outside(what: &str, address: usize) -> Misbehaviour {
    Misbehaviour::new(Kind::Malformed, format!("{what} at address {address} is not in the module's memory"))
}

fn odd(what: &str, value: f64, allowed: &str) -> Misbehaviour {
    let kind = if value.is_finite() { Kind::OutOfRange } else { Kind::NotANumber };
    Misbehaviour::new(kind, format!("`{what}` is {value}; it can be {allowed}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes of `ab_begin` and `ab_seen`, which the header asserts too.
    const BEGIN_BYTES: usize = 192;
    const SEEN_BYTES: usize = 288;

    #[test]
    fn blocks_have_the_sizes_of_the_header() {
        let mut block = Block::default();
        block.begin(4096, &Begin::default());
        // Five empty lists, the zero that ends the name of the scenario, and an empty route after it.
        assert_eq!(block.bytes().len(), BEGIN_BYTES + 8);
        let decision = block.step(4096, &Seen::default(), 3);
        assert_eq!(decision as usize, 4096 + SEEN_BYTES);
        assert_eq!(block.bytes().len(), SEEN_BYTES + DECISION_BYTES + 3 * 8);
    }

    #[test]
    fn an_empty_decision_is_read_back() {
        let mut block = Block::default();
        let decision = block.step(0, &Seen::default(), 1);
        let read = read_decision(block.bytes(), decision, 1).unwrap();
        assert_eq!(Decision { key: Vec::new(), ..read.clone() }, Decision::default());
        assert!(read.key[0].is_nan());
        assert_eq!(read_decision(block.bytes(), decision + 8, 1).unwrap_err().kind, Kind::Malformed);
    }
}
