//! What the driver does about obstacles that it perceives on its path.

use std::sync::Arc;

use anabranch_driving::follow::{PathMemory, PathMode, STANDSTILL_MPS};
use anabranch_errors::Effects;
use anabranch_geometry::{Edge, Path, Point, Pose, WallEdge, nearest_with_points};
use anabranch_sensing::{Late, ObstacleErrors, Perceived};

use super::state::{DriveState, DriverMemory, FREE_M};
use super::{Drive, Eyes};

/// How far ahead of its station a driver looks for obstacles.
const LOOK_AHEAD_M: f64 = 8.0;
/// Distance between two places of the path that are compared with obstacles.
const LOOK_STEP_M: f64 = 0.2;
/// Planning on the way must not take long; a driver without a new path keeps the old one and stands before obstacles.
const REPLAN_EXPANSIONS_MAX: u32 = 4_000;
/// Nearer to the goal than this a driver keeps its path.
const KEEP_PATH_M: f64 = 1.0;

impl Drive {
    /// What the obstacle sensor tells in this base cycle.
    pub(super) fn perceive(&self, eyes: &Eyes, state: &mut DriveState, effects: &Effects) -> Perceived {
        let late = effects.late.map(|late| Late { obstacles: late.obstacles, ticks: late.ticks });
        let errors = ObstacleErrors {
            appeared: effects.appeared,
            missed: effects.missed,
            ghosts: effects.ghosts,
            displaced: effects.displaced_obstacles(),
            late: &late,
        };
        let in_range = eyes.sensor.in_range(state.car.car.pose().point());
        let extras = state.extras.as_mut().expect("a scenario with eyes has extras");
        eyes.sensor.perceive(in_range, &errors, &mut extras.sensed)
    }

    /// The edges of what was perceived, where it is believed to be.
    pub(super) fn perceived_edges(&self, eyes: &Eyes, perceived: Perceived, effects: &Effects) -> Vec<Edge> {
        let seen = (0..eyes.sensor.obstacles().len() as u32).filter(|&n| perceived.mask >> n & 1 == 1);
        seen.flat_map(|n| {
            let moved_m = if perceived.displaced >> n & 1 == 1 { effects.displacement_m(n) } else { [0.0; 2] };
            let shift = move |p: Point| Point::new(p.x + moved_m[0], p.y + moved_m[1]);
            eyes.sensor.obstacles()[n as usize].edges.iter().map(move |e| Edge { a: shift(e.a), b: shift(e.b), ..*e })
        })
        .collect()
    }

    /// Updates where the driver wants to stand.
    pub(super) fn consider(&self, eyes: &Eyes, state: &mut DriveState, perceived: Perceived, effects: &Effects) {
        let edges = self.perceived_edges(eyes, perceived, effects);
        let prepared: Vec<WallEdge> = edges.iter().map(|&edge| edge.into()).collect();
        let station_m = match &state.driver {
            DriverMemory::Path(memory) => Some(memory.station_m),
            DriverMemory::Model(memory) => Some(memory.station_m),
            DriverMemory::Foreign { .. } => state.foreign().map(|foreign| foreign.place().1),
            DriverMemory::Trajectory(_) | DriverMemory::Road { .. } => None,
        };
        let stand_at_m = match station_m {
            Some(station_m) if !prepared.is_empty() => {
                self.stand_at(self.path_of(state), station_m, &prepared, eyes.stop_gap_m)
            }
            _ => FREE_M,
        };
        if let Some(extras) = &mut state.extras {
            extras.stand_at_m = stand_at_m;
        }
    }

    /// Plans again from where the car believes to be (S1-51); true if that gave a new path.
    ///
    /// A car that rolls takes only a path that goes on in its direction, and goes on at once; a car that waits for its
    /// gear or its wheels keeps its path, or it would wait for ever.
    pub(super) fn replan(&self, state: &mut DriveState, perceived: Option<Perceived>, effects: &Effects) -> bool {
        let (Some(replanning), DriverMemory::Path(memory)) = (&self.replanning, &state.driver) else { return false };
        let remaining_m = self.path_of(state).length_m() - memory.station_m;
        if !matches!(memory.mode, PathMode::Driving { .. }) || remaining_m < KEEP_PATH_M {
            return false;
        }
        let edges = match (&self.eyes, perceived) {
            (Some(eyes), Some(perceived)) => self.perceived_edges(eyes, perceived, effects),
            _ => Vec::new(),
        };
        let from = Pose::new(state.reading.x, state.reading.y, state.reading.heading);
        let (Ok(path), super::Driver::Path(follower)) =
            (replanning.planning.plan(from, &edges, REPLAN_EXPANSIONS_MAX), &self.driver)
        else {
            return false;
        };
        let Some(first) = path.sections().first() else { return false };
        let speed_mps = state.car.car.speed;
        let rolls = speed_mps.abs() >= STANDSTILL_MPS;
        if rolls && first.direction * speed_mps < 0.0 {
            return false;
        }
        let on_the_way = PathMemory { station_m: first.start_m, mode: PathMode::Driving { section: 0 } };
        state.driver = DriverMemory::Path(if rolls { on_the_way } else { follower.start(&path) });
        state.extras.as_mut().expect("a scenario with replanning has extras").own_path = Some(Arc::new(path));
        true
    }

    /// The path a state follows.
    pub(super) fn path_of<'a>(&'a self, state: &'a DriveState) -> &'a Path {
        state.own_path().map_or(&self.plans[usize::from(state.start)].path, |path| path)
    }

    /// The last station before an obstacle on the path; [`FREE_M`] if the way ahead is free.
    fn stand_at(&self, path: &Path, from_m: f64, edges: &[WallEdge], gap_m: f64) -> f64 {
        let Some(section) = path.sections().iter().find(|s| from_m <= s.end_m) else { return FREE_M };
        let mut station_m = from_m;
        while station_m <= (from_m + LOOK_AHEAD_M).min(section.end_m) {
            let interval = ((station_m - section.start_m) / section.spacing_m).floor() as usize;
            let sample = path.samples()[(section.first + interval).min(section.last)];
            let pose = Pose::new(sample.x, sample.y, sample.heading);
            if nearest_with_points(&self.body, pose, edges).is_some_and(|near| near.clearance_m < gap_m) {
                return (station_m - LOOK_STEP_M).max(from_m);
            }
            station_m += LOOK_STEP_M;
        }
        FREE_M
    }
}
