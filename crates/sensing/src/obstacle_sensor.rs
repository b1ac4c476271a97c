//! Which obstacles the car is told about: those in range, altered by the errors of the segment (S1-19, S1-23 … S1-25, S1-28).

use anabranch_geometry::{Edge, Point};
use anabranch_kernel::Visitor;
use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

/// Most sensed obstacles: they are the bits of a mask.
pub const OBSTACLES_MAX: usize = 32;

/// When an obstacle is truly there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Presence {
    /// From the beginning.
    Always,
    /// Once the error "appears" has struck.
    Appears,
    /// Never: it can only be seen by mistake.
    Ghost,
}

/// An obstacle that the sensor can see. Its bit in masks is its position in the list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SensedObstacle {
    /// Its edges; at least one.
    pub edges: Vec<Edge>,
    /// When it is truly there.
    pub presence: Presence,
}

/// Obstacles that are recognised late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Late {
    /// Which obstacles.
    pub obstacles: u32,
    /// So many base cycles after they came into range.
    pub ticks: u16,
}

/// The errors of the segment, as masks with one bit per obstacle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ObstacleErrors<'a> {
    /// Obstacles that have appeared so far.
    pub appeared: u32,
    /// There, but not seen.
    pub missed: u32,
    /// Not there, but seen.
    pub ghosts: u32,
    /// Seen at a wrong place.
    pub displaced: u32,
    /// Seen late.
    pub late: &'a [Late],
}

/// What the car is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Perceived {
    /// Obstacles it knows of.
    pub mask: u32,
    /// Those of them that it believes at a wrong place; the effects of the segment say by how much.
    pub displaced: u32,
}

/// For how long each obstacle has been in range. Part of the saved state; empty where nothing can be late.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ObstacleMemory {
    /// Base cycles in range, counted up to the longest lateness so that keys stay finite.
    in_range_ticks: ArrayVec<u16, OBSTACLES_MAX>,
}

/// A sensor that recognises whole obstacles within a range.
#[derive(Clone, Debug, PartialEq)]
pub struct ObstacleSensor {
    obstacles: Vec<SensedObstacle>,
    range_m: f64,
    late_ticks_max: u16,
    /// Obstacles that are truly there from the beginning, that appear, and that never are there.
    always: u32,
    appears: u32,
    ghosts: u32,
}

impl ObstacleSensor {
    /// A sensor for these obstacles; `late_ticks_max` is the longest lateness any error can ask for.
    ///
    /// # Panics
    /// With more than [`OBSTACLES_MAX`] obstacles.
    pub fn new(obstacles: Vec<SensedObstacle>, range_m: f64, late_ticks_max: u16) -> Self {
        assert!(obstacles.len() <= OBSTACLES_MAX, "at most {OBSTACLES_MAX} obstacles can be sensed");
        let of = |presence| {
            let bits = obstacles.iter().enumerate().filter(|(_, o)| o.presence == presence);
            bits.fold(0_u32, |all, (i, _)| all | 1 << i)
        };
        let (always, appears, ghosts) = (of(Presence::Always), of(Presence::Appears), of(Presence::Ghost));
        Self { obstacles, range_m, late_ticks_max, always, appears, ghosts }
    }

    /// The obstacles.
    pub fn obstacles(&self) -> &[SensedObstacle] {
        &self.obstacles
    }
    /// The obstacles that are truly there, and can be hit, once these have appeared.
    #[inline]
    pub fn present(&self, appeared: u32) -> u32 {
        self.always | (self.appears & appeared)
    }
    /// The memory at the start of a run.
    pub fn start(&self) -> ObstacleMemory {
        let counters = if self.late_ticks_max == 0 { 0 } else { self.obstacles.len() };
        ObstacleMemory { in_range_ticks: std::iter::repeat_n(0, counters).collect() }
    }

    /// The places within range of the sensor, whether or not anything is there.
    pub fn in_range(&self, sensor: Point) -> u32 {
        let near =
            |o: &SensedObstacle| o.edges.iter().any(|e| squared_distance(sensor, e) <= self.range_m * self.range_m);
        self.obstacles.iter().enumerate().filter(|(_, o)| near(o)).fold(0, |all, (i, _)| all | 1 << i)
    }

    /// What the car is told in this base cycle; to be called in every one. `in_range` are the places in range.
    pub fn perceive(&self, in_range: u32, errors: &ObstacleErrors<'_>, memory: &mut ObstacleMemory) -> Perceived {
        let there = in_range & self.present(errors.appeared);
        let mut late = 0_u32;
        for (index, ticks) in memory.in_range_ticks.iter_mut().enumerate() {
            let bit = 1 << index;
            if there & bit == 0 {
                *ticks = 0;
                continue;
            }
            if errors.late.iter().any(|group| group.obstacles & bit != 0 && *ticks < group.ticks) {
                late |= bit;
            }
            *ticks = self.late_ticks_max.min(ticks.saturating_add(1));
        }
        let mask = (there & !errors.missed & !late) | (in_range & self.ghosts & errors.ghosts);
        Perceived { mask, displaced: mask & errors.displaced }
    }

    /// Names one counter per obstacle, none where nothing can be late.
    pub fn visit<V: Visitor>(&self, memory: &ObstacleMemory, v: &mut V) {
        for (i, &ticks) in memory.in_range_ticks.iter().enumerate() {
            v.exact(format_args!("obstacle_sensor.in_range.{i}"), u64::from(ticks));
        }
    }
}

fn squared_distance(from: Point, edge: &Edge) -> f64 {
    let (ex, ey) = (edge.b.x - edge.a.x, edge.b.y - edge.a.y);
    let (px, py) = (from.x - edge.a.x, from.y - edge.a.y);
    let squared_length = ex * ex + ey * ey;
    let along = if squared_length > 0.0 { ((px * ex + py * ey) / squared_length).clamp(0.0, 1.0) } else { 0.0 };
    let (dx, dy) = (px - along * ex, py - along * ey);
    dx * dx + dy * dy
}

#[cfg(test)]
mod tests {
    use anabranch_kernel::{Declarations, Grid, KeyWriter, Variable, from_bytes, to_bytes};

    use super::*;

    /// Four posts 10 m apart: two real ones, one that appears, one ghost.
    fn sensor(late_ticks_max: u16) -> ObstacleSensor {
        let post = |i: u32, presence| {
            let x = 10.0 * f64::from(i);
            let edge = Edge { a: Point::new(x, -1.0), b: Point::new(x, 1.0), obstacle: i };
            SensedObstacle { edges: vec![edge], presence }
        };
        let kinds = [Presence::Always, Presence::Always, Presence::Appears, Presence::Ghost];
        ObstacleSensor::new((0..).zip(kinds).map(|(i, p)| post(i, p)).collect(), 5.0, late_ticks_max)
    }

    fn check(errors: ObstacleErrors<'_>, in_range: u32, mask: u32, displaced: u32) {
        let sensor = sensor(0);
        let found = sensor.perceive(in_range, &errors, &mut sensor.start());
        assert_eq!(found, Perceived { mask, displaced }, "{errors:?}");
    }

    #[test]
    fn errors_hide_move_and_invent_obstacles() {
        let none = ObstacleErrors::default();
        check(none, 0b1111, 0b0011, 0);
        check(none, 0b0001, 0b0001, 0);
        check(ObstacleErrors { appeared: 0b0110, ..none }, 0b1111, 0b0111, 0);
        check(ObstacleErrors { missed: 0b0001, ..none }, 0b1111, 0b0010, 0);
        check(ObstacleErrors { ghosts: 0b1111, ..none }, 0b1111, 0b1011, 0);
        check(ObstacleErrors { ghosts: 0b1000, ..none }, 0b0111, 0b0011, 0);
        check(ObstacleErrors { displaced: 0b0101, ..none }, 0b1111, 0b0011, 0b0001);
    }

    #[test]
    fn the_range_is_measured_to_the_nearest_edge() {
        let sensor = sensor(0);
        assert_eq!(sensor.in_range(Point::new(5.0, 0.0)), 0b0011);
        assert_eq!(sensor.in_range(Point::new(5.1, 0.0)), 0b0010);
        assert_eq!(sensor.in_range(Point::new(0.0, 6.0)), 0b0001);
        assert_eq!(sensor.in_range(Point::new(0.0, 6.1)), 0);
        assert_eq!(sensor.present(0b1100), 0b0111);
    }

    /// Obstacle 0 seen per tick, given per tick whether it is in range and how late it is recognised.
    fn seen(run: &[(bool, u16)]) -> String {
        let sensor = sensor(3);
        let mut memory = sensor.start();
        let tick = |&(in_range, ticks): &(bool, u16)| {
            let late = [Late { obstacles: 1, ticks }];
            let errors = ObstacleErrors { late: &late, ..ObstacleErrors::default() };
            memory = from_bytes(&to_bytes(&memory)).unwrap();
            if sensor.perceive(u32::from(in_range), &errors, &mut memory).mask == 1 { 'x' } else { '.' }
        };
        run.iter().map(tick).collect()
    }

    #[test]
    fn a_late_obstacle_is_recognised_some_time_after_it_came_into_range() {
        assert_eq!(seen(&[(false, 3), (true, 3), (true, 3), (true, 3), (true, 3), (true, 3)]), "....xx");
        assert_eq!(seen(&[(true, 2), (true, 2), (true, 2), (false, 2), (true, 2)]), "..x..");
        assert_eq!(seen(&[(true, 3), (true, 0), (true, 3), (true, 3), (true, 3)]), ".x.xx");
        assert_eq!(seen(&[(true, 0), (true, 0), (true, 0), (true, 3)]), "xxxx");
    }

    #[test]
    fn counters_are_in_the_key_and_stay_finite() {
        let variables = |sensor: &ObstacleSensor| -> Vec<Variable> {
            Declarations::of(|v| sensor.visit(&sensor.start(), v)).variables
        };
        assert!(variables(&sensor(0)).is_empty());
        let sensor = sensor(2);
        let grid = Grid::of(&variables(&sensor));
        let mut memory = sensor.start();
        let mut keys = Vec::new();
        for _ in 0..6 {
            let mut key = KeyWriter::new(&grid);
            sensor.visit(&memory, &mut key.visitor(&[]));
            keys.extend(key.finish());
            sensor.perceive(0b0001, &ObstacleErrors::default(), &mut memory);
        }
        assert!(keys[0] != keys[1] && keys[1] != keys[2]);
        assert!(keys[2..].iter().all(|key| *key == keys[2]));
    }
}
