//! Pictures of one finding: its path on the map, and its errors and clearance over time.

use anabranch_explore::replay;
use anabranch_kernel::{Choice, Recorder, System};
use anabranch_record::picture::{ErrorSpan, Inset, Scene, Timeline, scene_picture, timeline};
use anabranch_record::{ErrorRun, publish};

use super::drawing::Drawing;
use super::facts::Facts;
use super::groups::Group;
use super::pictures::{failing_path, scene};
use crate::failure::Failure;

/// Base cycles between two points of the curve.
const POINT_EVERY_TICKS: u64 = 5;

/// Draws into the folder of the finding; a group without a folder has no pictures.
pub fn draw(facts: &Facts<'_>, group: &Group) -> Result<(), Failure> {
    let Some(folder) = group.file.as_ref().and_then(|file| file.parent()) else { return Ok(()) };
    let path = failing_path(facts, &group.first)?;
    let map = Scene {
        title: format!("{}: {}", facts.drive.name(), group.label),
        subtitle: "The path that was to be followed, and the one that was driven.".to_owned(),
        failing: vec![path],
        inset: Inset::Auto,
        ..scene(facts, Drawing::default())?
    };
    publish(&folder.join("map.svg"), scene_picture(&map).as_bytes())?;
    publish(&folder.join("timeline.svg"), timeline(&over_time(facts, group)?).as_bytes())?;
    Ok(())
}

/// Keeps the clearance of some frames, of the smallest and of the last.
struct Clearance {
    at: usize,
    cycle_s: f64,
    points: Vec<[f64; 2]>,
    lowest: Option<[f64; 2]>,
    last: Option<[f64; 2]>,
}

impl Recorder for Clearance {
    fn frame(&mut self, tick: u64, values: &[f64]) {
        let point = [tick as f64 * self.cycle_s, values[self.at]];
        if tick.is_multiple_of(POINT_EVERY_TICKS) {
            self.points.push(point);
        }
        if self.lowest.is_none_or(|lowest| point[1] < lowest[1]) {
            self.lowest = Some(point);
        }
        self.last = Some(point);
    }
}

fn over_time(facts: &Facts<'_>, group: &Group) -> Result<Timeline, Failure> {
    let drive = facts.drive;
    let at =
        drive.signals().iter().position(|signal| signal.name == "ego.clearance").expect("a drive shows its clearance");
    let mut clearance = Clearance { at, cycle_s: drive.step_s(), points: Vec::new(), lowest: None, last: None };
    let params = &drive.space().all()[group.first.start];
    replay(drive, facts.seed, params, &group.first.choices, Some(&mut clearance as &mut dyn Recorder))?;
    let Clearance { mut points, lowest, last, .. } = clearance;
    points.extend(lowest);
    points.extend(last);
    points.sort_by(|a, b| a[0].total_cmp(&b[0]));
    Ok(Timeline {
        title: format!("{}: {}", drive.name(), group.label),
        errors: spans(facts, &group.first.choices),
        clearance: points,
        end_s: group.first.verdict.tick as f64 * drive.step_s(),
    })
}

fn spans(facts: &Facts<'_>, choices: &[Choice]) -> Vec<ErrorSpan> {
    let segment_s = facts.drive.segment_seconds();
    let mut from = 0;
    let mut spans = Vec::new();
    for run in ErrorRun::group(facts.drive.errors(), choices, &[]) {
        let to = from + run.segments;
        for (site, mode) in &run.modes {
            let label = format!("{site}: {mode}");
            spans.push(ErrorSpan { from_s: f64::from(from) * segment_s, to_s: f64::from(to) * segment_s, label });
        }
        from = to;
    }
    spans
}
