//! What the state has of a driver from outside.

use std::sync::Arc;

use anabranch_bridge::{Token, TrajectoryPoint};
use anabranch_kernel::{CellSize, Choice, Digest, DigestWriter, Discrete, Seed, Visitor};
use serde::{Deserialize, Serialize};

use super::super::state::DriveState;
use super::super::{Drive, Driver};
use super::{ForeignDriver, Merging};

/// A handle on the saved state outside. It is a cache, so it is no part of the value: it is not saved, and states with
/// and without it are equal.
#[derive(Clone, Debug, Default)]
pub struct Live(pub(super) Option<Arc<Token>>);

impl PartialEq for Live {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Where a driver from outside is, and what it reported.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForeignMemory {
    /// Seed of the run.
    pub(super) seed: u64,
    /// The choices that led here; with seed and start they address this state.
    pub(super) way: Arc<Vec<Choice>>,
    /// Where on the path the host sees the car, in driven metres.
    pub(super) station_m: f64,
    /// The section that is being driven.
    pub(super) section: u32,
    /// What it reported of its memory, in the order of its card.
    pub(super) values: Vec<f64>,
    /// Digest of its canonical bytes, where it has them.
    pub(super) bytes: Option<Digest>,
    /// The trajectory that is being tracked; empty where it steers itself.
    pub(super) trajectory: Arc<Vec<TrajectoryPoint>>,
    #[serde(skip)]
    pub(super) live: Live,
}

impl ForeignMemory {
    /// At the beginning of a path.
    pub(in super::super) fn start(seed: Seed, station_m: f64) -> Self {
        Self {
            seed: seed.0,
            way: Arc::default(),
            station_m,
            section: 0,
            values: Vec::new(),
            bytes: None,
            trajectory: Arc::default(),
            live: Live::default(),
        }
    }
    /// Section and station.
    pub(in super::super) fn place(&self) -> (usize, f64) {
        (self.section as usize, self.station_m)
    }
    /// The choices that led here.
    pub fn way(&self) -> &[Choice] {
        &self.way
    }
    /// The path that led here.
    pub(super) fn address(&self, state: &DriveState) -> PathAddress {
        (state.start, self.seed, self.way.clone())
    }
    /// Adds the choice of a segment.
    pub(super) fn went(&mut self, choice: Choice) {
        let mut way = Vec::with_capacity(self.way.len() + 1);
        way.extend_from_slice(&self.way);
        way.push(choice);
        self.way = Arc::new(way);
    }
}

/// Start, seed and choices.
pub(super) type PathAddress = (u16, u64, Arc<Vec<Choice>>);

/// Digest of a path.
pub(super) fn path_digest(start: u16, seed: u64, way: &[Choice]) -> Digest {
    let mut digest = DigestWriter::new();
    digest.number(u64::from(start));
    digest.number(seed);
    way.iter().for_each(|choice| digest.number(choice.index() as u64));
    digest.finish()
}

/// Digest of a trajectory at a time: where it leads depends on both.
fn trajectory_digest(points: &[TrajectoryPoint], tick: u32) -> Digest {
    let mut digest = DigestWriter::new();
    digest.number(u64::from(tick));
    for point in points {
        for value in [point.time_s, point.x_m, point.y_m, point.heading_rad, point.speed_mps] {
            digest.real(value);
        }
    }
    digest.finish()
}

impl Drive {
    /// Names the variables of a driver from outside.
    pub(in super::super) fn visit_foreign<V: Visitor>(&self, state: &DriveState, completed: bool, v: &mut V) {
        let (Driver::Foreign(driver), Some(memory)) = (&self.driver, state.foreign()) else {
            unreachable!("driver and memory are of one kind")
        };
        v.exact("driver_completed", u64::from(completed));
        v.real("driver_station", "m", 0.5, memory.station_m);
        v.exact("driver_section", u64::from(memory.section));
        let trajectory = v.discrete("driver_trajectory");
        match memory.trajectory.is_empty() {
            true => v.put_exact(trajectory, 0),
            false => put_wide(trajectory, trajectory_digest(&memory.trajectory, state.tick), v),
        }
        visit_memory(driver, state, v);
    }

    /// Names what is known of the memory of a part of the car.
    pub(in super::super) fn visit_part<V: Visitor>(&self, state: &DriveState, v: &mut V) {
        if let Some(part) = &self.part {
            visit_memory(&part.code, state, v);
        }
    }
}

fn put_wide<V: Visitor>(variable: Discrete, digest: Digest, v: &mut V) {
    v.put_exact(variable, digest.0 as u64);
    v.put_exact(variable, (digest.0 >> 64) as u64);
}

/// Names the variables that stand for its memory.
fn visit_memory<V: Visitor>(code: &ForeignDriver, state: &DriveState, v: &mut V) {
    let Some(memory) = state.foreign() else { unreachable!("what comes from outside has a memory") };
    let role = code.word();
    let merging = code.merging();
    match merging {
        Merging::Key => {
            for (index, key) in code.card().key.iter().enumerate() {
                let size = match key.cell {
                    Some(cell) if cell > 0.0 => CellSize::Size(cell),
                    _ => CellSize::Exact,
                };
                let variable = v.described(format_args!("{role}.{}", key.name), &key.unit, size);
                // Before its first step it has reported nothing.
                v.put(variable, memory.values.get(index).copied().unwrap_or(0.0));
            }
        }
        // Stands for memory which is compared as a whole, or not at all.
        Merging::Bytes | Merging::Off | Merging::Ignored => {
            let variable = match merging {
                Merging::Ignored => v.not_compared(format_args!("{role}_memory")),
                _ => v.discrete(format_args!("{role}_memory")),
            };
            // A memory whose bytes are not known is like no other.
            let bytes = memory.bytes.filter(|_| merging == Merging::Bytes);
            let unlike = || path_digest(state.start, memory.seed, &memory.way);
            put_wide(variable, bytes.unwrap_or_else(unlike), v);
        }
        Merging::Memoryless => {}
    }
}
