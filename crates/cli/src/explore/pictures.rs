//! Pictures of an exploration: the map, savings, CPU profile and levels.

use anabranch_explore::Clock as _;
use anabranch_geometry::Point;
use anabranch_kernel::{System, maths};
use anabranch_record::RunFolder;
use anabranch_record::picture::{
    Crop, Inset, LabelledPose, LevelRow, Levels, Marking, Paint, Profile, Savings, SavingsRow, Scene, Share,
    level_plot, png, profile_bars, savings_plot, scene_picture,
};
use anabranch_roads::{self as roads, LaneKind};

use anabranch_scenario::Drive;

use super::drawing::Drawing;
use super::facts::Facts;
use super::finding_pictures;
use super::groups::{Group, shown};
use super::subject::{Drawn, Subject};
use super::time_left::TimeLeft;
use super::way;
use crate::failure::Failure;
use crate::interrupt;
use crate::load::Loaded;

/// Pixels per pixel of the SVG.
const SCALE: f32 = 1.5;
/// Distance of the corners of drawn lanes.
const LANE_STEP_M: f64 = 5.0;
/// A picture of all segments takes up to this much memory while it is drawn.
const BUNDLE_BYTES: u64 = 60_000_000;
/// Points of a quarter circle in the outline of the car.
const CORNER_POINTS: usize = 9;

/// Draws all pictures into the folder of the run, as SVG and PNG, as long as there is time. Those of findings come first:
/// the others can be drawn from the tables.
pub fn draw(facts: &Facts<'_>, drawing: Drawing, folder: &RunFolder, time: TimeLeft) -> Result<Drawn, Failure> {
    let drawn = draw_while(facts, drawing, folder, time);
    // A driver that was ended meanwhile drives no way that could be drawn.
    match drawn {
        Err(_) if interrupt::cutoff().has_come() => Ok(Drawn::InPart),
        drawn => drawn,
    }
}

/// Whether a picture of all segments would exceed the memory budget.
fn is_short_of_memory(facts: &Facts<'_>, time: TimeLeft) -> bool {
    let held = time.clock().resident_bytes();
    let exceeds = |max: u64| held.is_some_and(|held| held + BUNDLE_BYTES > max);
    facts.settings.budget.memory_bytes.is_some_and(exceeds)
}

fn draw_while(facts: &Facts<'_>, mut drawing: Drawing, folder: &RunFolder, time: TimeLeft) -> Result<Drawn, Failure> {
    if time.stop().is_some() || is_short_of_memory(facts, time) {
        drawing.hurry();
    }
    for group in shown(facts.groups) {
        if !time.draws() {
            return Ok(Drawn::InPart);
        }
        finding_pictures::draw(facts.loaded, facts.drive, facts.seed, group)?;
    }
    let name = facts.drive.name();
    type Picture<'p> = (&'p str, Box<dyn FnOnce() -> Result<String, Failure> + 'p>);
    let pictures: [Picture<'_>; 4] = [
        ("bundle", Box::new(|| Ok(scene_picture(&scene(facts, drawing)?)))),
        ("savings", Box::new(|| Ok(savings_plot(&savings(facts, name))))),
        ("profile", Box::new(|| Ok(profile_bars(&profile(facts, name))))),
        ("levels", Box::new(|| Ok(level_plot(&levels(facts, name))))),
    ];
    for (name, picture) in pictures {
        if !time.draws() {
            return Ok(Drawn::InPart);
        }
        let svg = picture()?;
        folder.publish(&format!("{name}.svg"), svg.as_bytes())?;
        folder.publish(&format!("{name}.png"), &png(&svg, SCALE)?)?;
    }
    Ok(Drawn::All)
}

fn scene(facts: &Facts<'_>, drawing: Drawing) -> Result<Scene, Failure> {
    let failing_path =
        |group: &Group| Ok(way::again(facts.loaded, facts.drive, facts.seed, &group.first)?.failing_path(facts.loaded));
    let failing = shown(facts.groups).iter().map(failing_path).collect::<Result<_, Failure>>()?;
    Ok(Scene {
        title: format!("{}: {}", facts.drive.name(), facts.conclusion.word()),
        subtitle: subtitle(facts, drawing.every()),
        nodes: drawing.nodes,
        segments: drawing.segments.into_iter().map(|ends| ends.to_vec()).collect(),
        failing,
        ..empty_scene(facts.loaded, facts.drive)
    })
}

/// The world of a scenario, in which nothing has happened yet.
pub(super) fn empty_scene(loaded: &Loaded, drive: &Drive) -> Scene {
    let spec = &loaded.spec;
    let point = |p: &anabranch_scenario::file::Located<Point>| xy(p.value);
    let (start, goal) = (drive.path(0).start(), drive.goal());
    let labelled = |pose: [f64; 3], label: &str| LabelledPose { pose, label: label.to_owned() };
    let (markings, surfaces) = lanes(drive);
    Scene {
        title: String::new(),
        subtitle: String::new(),
        surfaces,
        markings,
        polylines: spec.world.walls.iter().map(|wall| wall.points.iter().map(point).collect()).collect(),
        polygons: spec
            .world
            .obstacles
            .iter()
            .filter(|o| !o.ghost)
            .map(|o| o.corners.iter().map(|c| xy(*c)).collect())
            .collect(),
        outline: outline(drive),
        planned: drive.path(0).samples().iter().map(|sample| [sample.x, sample.y]).collect(),
        poses: vec![
            labelled([start.x, start.y, start.heading], "start"),
            labelled([goal.x, goal.y, goal.heading], "goal"),
        ],
        nodes: Vec::new(),
        segments: Vec::new(),
        failing: Vec::new(),
        inset: Inset::Auto,
        crop: if drive.network().is_some() { Crop::Driven } else { Crop::Whole },
    }
}

/// Both lines of every lane, and what lies between them.
fn lanes(drive: &Drive) -> (Vec<Marking>, Vec<Vec<[f64; 2]>>) {
    let (mut markings, mut surfaces) = (Vec::new(), Vec::new());
    for lane in drive.network().map_or(&[][..], |network| network.lanes()) {
        let steps = (lane.length_m() / LANE_STEP_M).ceil().max(1.0);
        let edge = |side: f64| -> Vec<[f64; 2]> {
            let at = |step: usize| {
                let station_m = lane.length_m() * step as f64 / steps;
                xy(lane.point_at(station_m, side * lane.width_m(station_m)))
            };
            (0..=steps as usize).map(at).collect()
        };
        let (left, right) = (edge(0.5), edge(-0.5));
        surfaces.push(left.iter().chain(right.iter().rev()).copied().collect());
        let middle_m = 0.5 * lane.length_m();
        let paint = |marking: roads::Marking, is_edge: bool| match (lane.kind(), marking) {
            (LaneKind::Turn(_), _) => Paint::None,
            (LaneKind::Road, roads::Marking::Broken) if !is_edge => Paint::Broken,
            (LaneKind::Road, _) => Paint::Solid,
        };
        let left_paint = paint(lane.left_marking(), lane.left_at(middle_m).is_none());
        markings.push(Marking { points: left, paint: left_paint });
        markings.push(Marking { points: right, paint: paint(lane.right_marking(), lane.right_at(middle_m).is_none()) });
    }
    (markings, surfaces)
}

/// What the scenario says about itself, and what was left out of the picture.
fn subtitle(facts: &Facts<'_>, segment_every: u64) -> String {
    let mut text = facts.loaded.spec.about.clone();
    let (drawn, all) = (shown(facts.groups).len(), facts.groups.len());
    if drawn < all {
        text += &format!(" Failing paths of {drawn} of {all} groups.");
    }
    if segment_every > 1 {
        text += &format!(" Segments: one of {segment_every}.");
    }
    text
}

fn xy(point: Point) -> [f64; 2] {
    [point.x, point.y]
}

/// The box with rounded corners, counter-clockwise from the front left.
pub fn outline(drive: &Drive) -> Vec<[f64; 2]> {
    let outline = &drive.car().outline;
    let quarter = std::f64::consts::FRAC_PI_2;
    let corner = |(number, centre): (usize, _)| {
        let centre = xy(centre);
        (0..CORNER_POINTS).map(move |k| {
            let angle = quarter * (number as f64 + k as f64 / (CORNER_POINTS - 1) as f64);
            let (sin, cos) = maths::sin_cos(angle);
            [centre[0] + outline.corner_radius_m * cos, centre[1] + outline.corner_radius_m * sin]
        })
    };
    outline.core_corners().into_iter().enumerate().flat_map(corner).collect()
}

fn savings(facts: &Facts<'_>, name: &str) -> Savings {
    let segment_s = facts.drive.segment_seconds();
    let (mut saved, mut replayed) = (0.0, 0.0);
    let row = |level: &anabranch_explore::LevelReport| {
        let length = f64::from(level.level + 1);
        saved += level.segments as f64 * segment_s;
        replayed += level.segments as f64 * length * segment_s;
        SavingsRow { n_s: length * segment_s, saved_s: saved, replayed_s: replayed }
    };
    let rows = facts.outcome.levels.iter().map(row).collect();
    Savings { title: format!("{name}: seconds simulated"), rows, unmerged_s: facts.seconds_without_merging() }
}

fn profile(facts: &Facts<'_>, name: &str) -> Profile {
    Profile { title: format!("{name}: where the CPU time went"), shares: shares(facts) }
}

/// CPU seconds by part of the work.
pub fn shares<S: Subject>(facts: &Facts<'_, S>) -> Vec<Share> {
    let spent = &facts.outcome.profile;
    let seconds = |ns: u64| ns as f64 * 1e-9;
    let mut shares = vec![
        ("simulate", seconds(spent.run_ns)),
        ("save + restore", seconds(spent.save_load_ns)),
        ("key + merge", seconds(spent.key_ns + spent.merge_ns)),
        ("danger", seconds(spent.danger_ns)),
        ("count + digest", seconds(spent.bookkeeping_ns)),
    ];
    let known: f64 = shares.iter().map(|(_, cpu_s)| cpu_s).sum();
    shares.push(("other", (facts.used.explored_cpu_s.unwrap_or(known) - known).max(0.0)));
    shares.into_iter().map(|(name, cpu_s)| Share { name: name.to_owned(), cpu_s }).collect()
}

fn levels(facts: &Facts<'_>, name: &str) -> Levels {
    let row = |level: &anabranch_explore::LevelReport| LevelRow {
        level: level.level,
        states: level.kept,
        merged: level.merged,
        worst_clearance_m: level.margin,
    };
    Levels { title: format!("{name}: level by level"), rows: facts.outcome.levels.iter().map(row).collect() }
}
