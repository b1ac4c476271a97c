//! From a drive to what a viewer shows.

use std::io::{Seek, Write};
use std::path::Path;

use anabranch_kernel::{Choice, System, Verdict};
use anabranch_record::{McapTrace, TraceError, TraceWorld};
use anabranch_scenario::Drive;

use crate::explore::pictures::outline;
use crate::failure::Failure;
use crate::load::Loaded;

/// A trace with the world around the car and the errors to come.
pub fn begin<W: Write + Seek>(
    out: W,
    loaded: &Loaded,
    drive: &Drive,
    start: usize,
    choices: &[Choice],
) -> Result<McapTrace<W>, Failure> {
    let world = &loaded.spec.world;
    let world = TraceWorld {
        walls: world.walls.iter().map(|wall| wall.points.iter().map(|p| [p.value.x, p.value.y]).collect()).collect(),
        obstacles: world
            .obstacles
            .iter()
            .filter(|obstacle| !obstacle.ghost)
            .map(|obstacle| obstacle.corners.iter().map(|corner| [corner.x, corner.y]).collect())
            .collect(),
        path: drive.path(start).samples().iter().map(|sample| [sample.x, sample.y]).collect(),
        outline: outline(drive),
    };
    let error = |(at, choice): (usize, &Choice)| TraceError {
        from_s: at as f64 * drive.segment_seconds(),
        text: drive.errors().describe(*choice),
    };
    let errors = choices.iter().enumerate().map(error).collect();
    McapTrace::new(out, drive.signals(), drive.step_s(), &world, errors)
        .map_err(|e| Failure::file("write", Path::new("trace.mcap"), &e))
}

/// Says what was violated, and where.
pub fn say<W: Write + Seek>(trace: &mut McapTrace<W>, drive: &Drive, verdict: &Verdict) {
    let id = &drive.requirements()[usize::from(verdict.requirement)];
    trace.verdict(verdict.tick, &format!("{id} violated"), verdict.place.map(|place| place.in_world));
}
