//! The last moment of a finding on roads as something that can be looked at from several places (S3-18).

use anabranch_geometry::{Outline, Point};
use anabranch_kernel::maths;
use anabranch_record::picture::{Mover, Prism, Rgb, Shape, Sight};
use anabranch_scenario::Drive;
use anabranch_scenario::drive::RoadUser;
use anabranch_scenario::file::ObjectKind;

use super::way::Again;
use super::{fence, ground};
use crate::failure::Failure;
use crate::load::Loaded;

const OWN: Rgb = [0.15, 0.4, 0.8];
const TOUCHED: Rgb = [0.85, 0.45, 0.1];
const BYSTANDER: Rgb = [0.7, 0.71, 0.74];
const PERSON: Rgb = [0.75, 0.68, 0.3];
const THING: Rgb = [0.58, 0.55, 0.5];
const WALL: Rgb = [0.6, 0.58, 0.54];
/// Seconds between two dots of a way, and how many there are at most.
const DOT_EVERY_S: f64 = 0.25;
const DOTS_MAX: usize = 60;
/// Poses of a way between two dots.
const POSES_PER_DOT: usize = 5;
/// Farther ones are not drawn, and of those only so many.
const USERS_M: f64 = 150.0;
const USERS_MAX: usize = 40;
/// Heights of what stands, and the width of a line.
const WALL_M: [f64; 2] = [0.0, 1.0];
const OBSTACLE_M: [f64; 2] = [0.0, 2.2];
const WALL_WIDTH_M: f64 = 0.12;
/// Walls farther away are not drawn.
const WALLS_M: f64 = 200.0;
/// Longer vehicles are lorries, if nobody says what they are.
const CAR_HALF_LENGTH_M: f64 = 3.1;
/// Narrower ones have no cabin.
const CAR_HALF_WIDTH_M: f64 = 0.5;
/// How bright nights are drawn.
const NIGHT: f64 = 0.6;

/// The moment at which a finding on roads ended; none off the road.
///
/// # Errors
/// When tiles of obstacles cannot be read.
pub fn sight(loaded: &Loaded, drive: &Drive, again: &Again, title: String) -> Result<Option<Sight>, Failure> {
    let (Some(network), Some(end)) = (drive.network(), again.poses.last()) else { return Ok(None) };
    let at = Point::new(end[0], end[1]);
    let ground = ground::around(network, at, |signal| drive.light(&again.state, signal));
    let mut standing = ground.standing;
    standing.extend(walls(loaded, at));
    standing.extend(fence::near(drive, at)?);
    let trailer = drive.trailer(&again.state).map(|(pose, outline)| trailer(again, pose, &outline));
    let own = own(drive, again, *end, trailer.is_some());
    let touched = again.touched.map(|user| Mover {
        name: again.place.map_or_else(String::new, |place| loaded.other_name(place.other)),
        colour: TOUCHED,
        way: again.way_of(user.number, DOT_EVERY_S).into_iter().take(DOTS_MAX).collect(),
        speed_mps: Some(user.speed_mps),
        ..mover(loaded, again, &user)
    });
    Ok(Some(Sight {
        title,
        time_s: again.time_s + again.later_s,
        light: NIGHT + (1.0 - NIGHT) * loaded.spec.world.daylight,
        surfaces: ground.surfaces,
        paint: ground.paint,
        standing,
        own,
        drawn: trailer.into_iter().collect(),
        touched,
        contact: again.place.map(|place| place.in_world),
        bystanders: bystanders(loaded, again, at),
    }))
}

/// The middle of an outline about a pose.
fn middle([x, y, heading]: [f64; 3], outline: &Outline) -> [f64; 3] {
    let (sin, cos) = maths::sin_cos(heading);
    let ahead_m = 0.5 * (outline.front_m - outline.rear_m);
    [x + ahead_m * cos, y + ahead_m * sin, heading]
}

fn half_m(outline: &Outline) -> [f64; 2] {
    [0.5 * (outline.front_m + outline.rear_m), outline.half_width_m]
}

fn own(drive: &Drive, again: &Again, end: [f64; 3], draws: bool) -> Mover {
    let outline = &drive.car().outline;
    let half_m = half_m(outline);
    let shape = match (draws, half_m) {
        (true, [_, width_m]) if width_m > 1.1 => Shape::Tractor,
        (false, [length_m, _]) if length_m > CAR_HALF_LENGTH_M => Shape::Lorry,
        _ => Shape::Car,
    };
    let dots = again.poses.iter().rev().step_by(POSES_PER_DOT).skip(1).take(DOTS_MAX);
    let dot = |pose: &[f64; 3]| {
        let [x, y, _] = middle(*pose, outline);
        [x, y]
    };
    Mover {
        name: "car under test".to_owned(),
        pose: middle(end, outline),
        half_m,
        shape,
        colour: OWN,
        speed_mps: Some(again.speed_mps),
        way: dots.map(dot).collect(),
    }
}

/// What the car draws, when it touched: back along its own direction from where it was at the end of the base cycle.
fn trailer(again: &Again, pose: anabranch_geometry::Pose, outline: &Outline) -> Mover {
    let (sin, cos) = maths::sin_cos(pose.heading);
    let back_m = again.later_s * again.speed_mps;
    let at = [pose.x + back_m * cos, pose.y + back_m * sin, pose.heading];
    let (pose, half_m) = (middle(at, outline), half_m(outline));
    Mover { name: String::new(), pose, half_m, shape: Shape::Trailer, colour: OWN, speed_mps: None, way: Vec::new() }
}

/// Everybody who was not touched, the nearest first.
fn bystanders(loaded: &Loaded, again: &Again, at: Point) -> Vec<Mover> {
    let number = again.touched.map(|user| user.number);
    let far_m = |user: &RoadUser| user.pose.point().distance_m(at);
    let mut users: Vec<&RoadUser> =
        again.users.iter().filter(|user| Some(user.number) != number && far_m(user) < USERS_M).collect();
    users.sort_by(|a, b| far_m(a).total_cmp(&far_m(b)));
    users.into_iter().take(USERS_MAX).map(|user| mover(loaded, again, user)).collect()
}

/// Somebody as it looks.
fn mover(loaded: &Loaded, again: &Again, user: &RoadUser) -> Mover {
    let objects = loaded.spec.road.as_ref().map(|road| &road.objects);
    let kind = user.object.and_then(|number| Some(objects?.get(number)?.kind.value));
    let half_m = [user.half_length_m, user.half_width_m];
    let shape = match kind {
        Some(ObjectKind::Pedestrian) => Shape::Person,
        Some(ObjectKind::Cyclist) => Shape::Cyclist,
        Some(ObjectKind::Lorry) => Shape::Lorry,
        Some(ObjectKind::Thing) => Shape::Thing,
        _ if user.half_width_m < CAR_HALF_WIDTH_M && user.half_length_m < CAR_HALF_WIDTH_M => Shape::Person,
        _ if user.half_width_m < CAR_HALF_WIDTH_M => Shape::Cyclist,
        _ if user.half_length_m > CAR_HALF_LENGTH_M => Shape::Lorry,
        _ => Shape::Car,
    };
    let colour = match shape {
        Shape::Person | Shape::Cyclist => PERSON,
        Shape::Thing => THING,
        _ => BYSTANDER,
    };
    let pose = again.at_contact(user);
    Mover { name: String::new(), pose, half_m, shape, colour, speed_mps: None, way: Vec::new() }
}

/// Walls and obstacles of the scenario.
fn walls(loaded: &Loaded, at: Point) -> Vec<Prism> {
    let world = &loaded.spec.world;
    let is_near = |a: &[f64; 2]| (a[0] - at.x).abs() < WALLS_M && (a[1] - at.y).abs() < WALLS_M;
    let mut prisms = Vec::new();
    let mut line = |points: &[[f64; 2]], heights_m: [f64; 2]| {
        let near = points.windows(2).filter(|pair| pair.iter().any(is_near) && pair[0] != pair[1]);
        prisms.extend(near.map(|pair| Prism::wall(pair[0], pair[1], WALL_WIDTH_M, heights_m, WALL)));
    };
    for wall in &world.walls {
        let points: Vec<[f64; 2]> = wall.points.iter().map(|p| [p.value.x, p.value.y]).collect();
        line(&points, WALL_M);
    }
    let mut solid = Vec::new();
    for obstacle in world.obstacles.iter().filter(|obstacle| !obstacle.ghost) {
        let mut corners: Vec<[f64; 2]> = obstacle.corners.iter().map(|corner| [corner.x, corner.y]).collect();
        if !corners.iter().any(is_near) {
            continue;
        }
        match Prism::above(&corners, OBSTACLE_M, THING) {
            Some(prism) => solid.push(prism),
            None => {
                corners.extend(corners.first().copied());
                line(&corners, OBSTACLE_M);
            }
        }
    }
    prisms.extend(solid);
    prisms
}
