//! Pictures of one finding: its path on the map, its errors, clearance and more over time, and on roads its last moment.

use anabranch_explore::replay;
use anabranch_kernel::{Choice, Recorder, Seed, System};
use anabranch_record::picture::{Curve, ErrorSpan, Scene, Timeline, scene_picture, timeline};
use anabranch_record::{ErrorRun, publish};
use anabranch_scenario::Drive;

use super::groups::Group;
use super::pictures::empty_scene;
use super::{views, way};
use crate::failure::Failure;
use crate::load::Loaded;

/// Seconds between two points of a curve.
const POINT_EVERY_S: f64 = 0.05;

/// Draws into the folder of the finding; a group without a folder has no pictures. On roads the last moment is also seen from three
/// places.
pub fn draw(loaded: &Loaded, drive: &Drive, seed: Seed, group: &Group) -> Result<(), Failure> {
    let Some(folder) = group.file.as_ref().and_then(|file| file.parent()) else { return Ok(()) };
    let again = way::again(loaded, drive, seed, &group.first)?;
    let path = again.failing_path(loaded);
    let subtitle = if path.moments.is_empty() {
        "The path that was to be followed, and the one that was driven."
    } else {
        "The way that was to be followed, the one that was driven, and where others were."
    };
    let title = title(loaded, drive, group);
    let map = Scene {
        title: title.clone(),
        subtitle: subtitle.to_owned(),
        failing: vec![path],
        ..empty_scene(loaded, drive)
    };
    publish(&folder.join("map.svg"), scene_picture(&map).as_bytes())?;
    publish(&folder.join("timeline.svg"), timeline(&over_time(drive, seed, group, &title)?).as_bytes())?;
    if let Some(sight) = views::sight(loaded, drive, &again, title)? {
        for (view, svg) in sight.pictures() {
            publish(&folder.join(format!("{}.svg", view.name())), svg.as_bytes())?;
        }
    }
    Ok(())
}

/// What is drawn below the clearance on roads: signal, title, and beyond which value nobody cares.
const ON_ROADS: [(&str, &str, Option<f64>); 4] = [
    ("ego.ttc", "time to contact [s]", Some(10.0)),
    ("ego.gap", "gap ahead [m]", Some(100.0)),
    ("ego.speed", "speed [m/s]", None),
    ("ego.lane_offset", "left of lane [m]", None),
];

/// Keeps some signals of some frames, of the one with the smallest clearance and of the last.
struct Curves {
    /// Where the signals are; the clearance is the first.
    at: Vec<usize>,
    cycle_s: f64,
    /// Base cycles between two of them.
    every: u64,
    frames: Vec<(f64, Vec<f64>)>,
    lowest: Option<(f64, Vec<f64>)>,
    last: Option<(f64, Vec<f64>)>,
}

impl Recorder for Curves {
    fn frame(&mut self, tick: u64, values: &[f64]) {
        let frame = (tick as f64 * self.cycle_s, self.at.iter().map(|index| values[*index]).collect::<Vec<f64>>());
        if tick.is_multiple_of(self.every) {
            self.frames.push(frame.clone());
        }
        if self.lowest.as_ref().is_none_or(|lowest| frame.1[0] < lowest.1[0]) {
            self.lowest = Some(frame.clone());
        }
        self.last = Some(frame);
    }
}

fn over_time(drive: &Drive, seed: Seed, group: &Group, title: &str) -> Result<Timeline, Failure> {
    let index = |name: &str| drive.signals().iter().position(|signal| signal.name == name);
    let clearance = index("ego.clearance").expect("a drive shows its clearance");
    let on_roads: Vec<_> = if drive.network().is_some() { ON_ROADS.to_vec() } else { Vec::new() };
    let shown: Vec<_> = on_roads.into_iter().filter_map(|curve| Some((index(curve.0)?, curve))).collect();
    let at = [clearance].into_iter().chain(shown.iter().map(|(index, _)| *index)).collect();
    let every = ((POINT_EVERY_S / drive.step_s()).round() as u64).max(1);
    let mut kept = Curves { at, cycle_s: drive.step_s(), every, frames: Vec::new(), lowest: None, last: None };
    let params = &drive.space().all()[group.first.start];
    replay(drive, seed, params, &group.first.choices, Some(&mut kept as &mut dyn Recorder))?;
    let Curves { mut frames, lowest, last, .. } = kept;
    frames.extend(lowest);
    frames.extend(last);
    frames.sort_by(|a, b| a.0.total_cmp(&b.0));
    let points = |number: usize| frames.iter().map(|(time_s, values)| [*time_s, values[number]]).collect();
    let curves = shown.iter().enumerate().map(|(number, (_, (_, title, most)))| Curve {
        title: (*title).to_owned(),
        points: points(number + 1),
        most: *most,
    });
    Ok(Timeline {
        title: title.to_owned(),
        errors: spans(drive, &group.first.choices),
        clearance: points(0),
        curves: curves.collect(),
        end_s: group.first.verdict.tick as f64 * drive.step_s(),
    })
}

/// The group, and who was touched.
fn title(loaded: &Loaded, drive: &Drive, group: &Group) -> String {
    let place = group.first.verdict.place;
    let with = place.map_or_else(String::new, |place| format!(" at {}", loaded.other_name(place.other)));
    format!("{}: {}{with}", drive.name(), group.label)
}

fn spans(drive: &Drive, choices: &[Choice]) -> Vec<ErrorSpan> {
    let segment_s = drive.segment_seconds();
    let mut from = 0;
    let mut spans = Vec::new();
    for run in ErrorRun::group(drive.errors(), choices, &[]) {
        let to = from + run.segments;
        for (site, mode) in &run.modes {
            let label = format!("{site}: {mode}");
            spans.push(ErrorSpan { from_s: f64::from(from) * segment_s, to_s: f64::from(to) * segment_s, label });
        }
        from = to;
    }
    spans
}
