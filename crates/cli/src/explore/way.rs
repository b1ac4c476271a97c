//! The way of one finding, run again for its pictures: where the car and others were, and when exactly they touched.

use anabranch_kernel::{Place, Recorder, Seed, SegmentEnd, System, Watch, maths};
use anabranch_record::picture::{FailingPath, Moment};
use anabranch_scenario::Drive;
use anabranch_scenario::drive::{DriveState, RoadUser};

use super::candidates::Candidate;
use crate::failure::Failure;
use crate::load::Loaded;
use crate::numbers::short;

/// Seconds between two poses of a failing path.
const POSE_EVERY_S: f64 = 0.05;
/// Moments before the end at which others are shown.
const MOMENTS_MAX: usize = 6;
/// Parts of a base cycle that are tried for the moment of a contact.
const PARTS: u32 = 100;

/// Keeps x, y, heading and speed of some frames, of the last, and of the one before it.
struct Poses {
    at: [usize; 4],
    every: u64,
    poses: Vec<[f64; 3]>,
    last: Option<[f64; 3]>,
    before: Option<[f64; 3]>,
    speed_mps: f64,
}

impl Recorder for Poses {
    fn frame(&mut self, tick: u64, values: &[f64]) {
        let [x, y, heading, speed_mps] = self.at.map(|index| values[index]);
        let pose = [x, y, heading];
        if tick.is_multiple_of(self.every) {
            self.poses.push(pose);
        }
        (self.before, self.last) = (self.last, Some(pose));
        self.speed_mps = speed_mps;
    }
}

/// Everybody at the beginning of a segment.
struct Scenery {
    time_s: f64,
    ego: [f64; 3],
    users: Vec<RoadUser>,
}

/// A finding that was run again.
pub struct Again {
    /// The car's rear axle every [`POSE_EVERY_S`], and when it touched.
    pub poses: Vec<[f64; 3]>,
    /// Of the car at the end.
    pub speed_mps: f64,
    /// The state at the end of the run.
    pub state: DriveState,
    /// Everybody near at the end of the run.
    pub users: Vec<RoadUser>,
    /// Who of them was touched.
    pub touched: Option<RoadUser>,
    /// What was touched, and where.
    pub place: Option<Place>,
    /// From the end of the last base cycle to the contact: not above zero.
    pub later_s: f64,
    /// When it ended.
    pub time_s: f64,
    sceneries: Vec<Scenery>,
}

/// Runs a candidate again.
pub fn again(loaded: &Loaded, drive: &Drive, seed: Seed, candidate: &Candidate) -> Result<Again, Failure> {
    let index = |name: &str| drive.signals().iter().position(|s| s.name == name).expect("a drive shows its pose");
    let at = ["ego.x", "ego.y", "ego.heading", "ego.speed"].map(index);
    let every = ((POSE_EVERY_S / drive.step_s()).round() as u64).max(1);
    let mut poses = Poses { at, every, poses: Vec::new(), last: None, before: None, speed_mps: 0.0 };
    let mut state = drive.start(seed, &drive.space().all()[candidate.start])?;
    let mut sceneries = Vec::new();
    for (number, choice) in candidate.choices.iter().enumerate() {
        let (ego, users) = (drive.glance(&state), drive.road_users(&state));
        sceneries.push(Scenery { time_s: number as f64 * drive.segment_seconds(), ego, users });
        let end = drive.run(&mut state, *choice, &mut Watch::recording(&mut poses))?;
        if end != SegmentEnd::Open {
            break;
        }
    }
    let users = drive.road_users(&state);
    let Poses { mut poses, last, before, speed_mps, .. } = poses;
    let place = candidate.verdict.place;
    let touched = place.as_ref().and_then(|place| touched(loaded, place, &users)).copied();
    let part = match (&place, before, last) {
        (Some(place), Some(before), Some(last)) => part_of_contact([before, last], place),
        _ => 1.0,
    };
    // The last pose that was kept may be the last of all; it is replaced by that of the contact.
    if poses.last() == last.as_ref() {
        poses.pop();
    }
    poses.extend(last.map(|last| before.map_or(last, |before| between(before, last, part))));
    let later_s = (part - 1.0) * drive.step_s();
    let time_s = candidate.verdict.tick as f64 * drive.step_s();
    Ok(Again { poses, speed_mps, state, users, touched, place, later_s, time_s, sceneries })
}

impl Again {
    /// Its way on the map.
    pub fn failing_path(&self, loaded: &Loaded) -> FailingPath {
        let number = self.touched.map(|user| user.number);
        let others = self.users.iter().filter(|user| Some(user.number) != number);
        FailingPath {
            poses: self.poses.clone(),
            contact: self.place.map(|place| place.in_world),
            with: self.place.map(|place| loaded.other_name(place.other)),
            moments: moments(&self.sceneries, number),
            others: others.map(|user| outline(user, self.later_s)).collect(),
            touched: self.touched.map(|user| outline(&user, self.later_s)),
        }
    }

    /// Somebody when the car touched: where, and with which heading.
    pub fn at_contact(&self, user: &RoadUser) -> [f64; 3] {
        let [vx, vy] = velocity_mps(user);
        [user.pose.x + self.later_s * vx, user.pose.y + self.later_s * vy, user.pose.heading]
    }

    /// Where somebody came by, every so many seconds back from the end. Places are known where segments begin; between them
    /// they lie on the cubic that has the known places and velocities.
    pub fn way_of(&self, number: u32, every_s: f64) -> Vec<[f64; 2]> {
        let find = |users: &[RoadUser]| users.iter().find(|user| user.number == number).copied();
        let mut known: Vec<(f64, RoadUser)> =
            self.sceneries.iter().filter_map(|scenery| Some((scenery.time_s, find(&scenery.users)?))).collect();
        known.extend(find(&self.users).map(|user| (self.time_s, user)));
        let end_s = self.time_s + self.later_s;
        let dots = (1..).map(|dot| end_s - f64::from(dot) * every_s).take_while(|time_s| *time_s >= 0.0);
        let place = |time_s: f64| {
            let later = known.iter().position(|(known_s, _)| *known_s >= time_s)?;
            let (from, to) = (known.get(later.checked_sub(1)?)?, known[later]);
            Some(on_cubic(from, &to, time_s))
        };
        dots.filter_map(place).collect()
    }
}

/// A place between two known ones (Hermite).
fn on_cubic((from_s, from): &(f64, RoadUser), (to_s, to): &(f64, RoadUser), time_s: f64) -> [f64; 2] {
    let span_s = to_s - from_s;
    let u = (time_s - from_s) / span_s;
    let (start, end) = ([from.pose.x, from.pose.y], [to.pose.x, to.pose.y]);
    let (leaves, arrives) = (velocity_mps(from), velocity_mps(to));
    [0, 1].map(|axis| {
        let (a, b) = (u * u * (3.0 - 2.0 * u), u * (1.0 - u));
        let slopes = b * (1.0 - u) * leaves[axis] - b * u * arrives[axis];
        (1.0 - a) * start[axis] + a * end[axis] + span_s * slopes
    })
}

/// The last few beginnings of segments, with whoever was touched; none off the road.
fn moments(sceneries: &[Scenery], number: Option<u32>) -> Vec<Moment> {
    if sceneries.iter().all(|scenery| scenery.users.is_empty()) {
        return Vec::new();
    }
    let moment = |scenery: &Scenery| Moment {
        label: format!("{} s", short(scenery.time_s, 2)),
        pose: scenery.ego,
        others: scenery
            .users
            .iter()
            .filter(|user| Some(user.number) == number)
            .map(|user| outline(user, 0.0))
            .collect(),
    };
    sceneries[sceneries.len().saturating_sub(MOMENTS_MAX)..].iter().map(moment).collect()
}

/// Who was touched: the one with that name, or whoever without a name is nearest to the place.
fn touched<'u>(loaded: &Loaded, place: &Place, users: &'u [RoadUser]) -> Option<&'u RoadUser> {
    let object = loaded.road_user(place.other)?;
    let is_it = |user: &&RoadUser| user.object == object;
    let far = |user: &RoadUser| {
        let local = user.pose.local_from_world(anabranch_geometry::Point::new(place.in_world[0], place.in_world[1]));
        let (x, y) = ((local.x.abs() - user.half_length_m).max(0.0), (local.y.abs() - user.half_width_m).max(0.0));
        x * x + y * y
    };
    users.iter().filter(is_it).min_by(|a, b| far(a).total_cmp(&far(b)))
}

fn velocity_mps(user: &RoadUser) -> [f64; 2] {
    let (sin, cos) = maths::sin_cos(user.pose.heading);
    [user.speed_mps * cos, user.speed_mps * sin]
}

/// Its box, some seconds later.
fn outline(user: &RoadUser, later_s: f64) -> Vec<[f64; 2]> {
    let (sin, cos) = maths::sin_cos(user.pose.heading);
    let [vx, vy] = velocity_mps(user);
    let corner = |(x, y): (f64, f64)| {
        let (x, y) = (x * user.half_length_m, y * user.half_width_m);
        [user.pose.x + later_s * vx + cos * x - sin * y, user.pose.y + later_s * vy + sin * x + cos * y]
    };
    [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)].map(corner).to_vec()
}

fn between(from: [f64; 3], to: [f64; 3], part: f64) -> [f64; 3] {
    let turn = maths::wrap_angle(to[2] - from[2]);
    [from[0] + part * (to[0] - from[0]), from[1] + part * (to[1] - from[1]), from[2] + part * turn]
}

/// The part of the last base cycle after which the place on the car is that of the contact.
fn part_of_contact([from, to]: [[f64; 3]; 2], place: &Place) -> f64 {
    let apart = |part: f64| {
        let [x, y, heading] = between(from, to, part);
        let (sin, cos) = maths::sin_cos(heading);
        let [ahead, left] = place.on_ego;
        let on_car = [x + cos * ahead - sin * left, y + sin * ahead + cos * left];
        (0..2).map(|axis| on_car[axis] - place.in_world[axis]).map(|d| d * d).sum::<f64>()
    };
    let parts = (0..=PARTS).map(|part| f64::from(part) / f64::from(PARTS));
    parts.min_by(|a, b| apart(*a).total_cmp(&apart(*b))).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_geometry::Pose;

    #[test]
    fn a_contact_is_shown_when_it_was_and_not_at_the_end_of_the_cycle() {
        // The car drives 2 m in this cycle and its front is 3 m ahead of its axle; a wall stands at x = 4.
        let wall = Place { on_ego: [3.0, 0.0], in_world: [4.0, 0.0], other: 0 };
        let ends = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]];
        assert_eq!(part_of_contact(ends, &wall), 0.5);
        assert_eq!(between(ends[0], ends[1], 0.5), [1.0, 0.0, 0.0]);
        // A car that turns on the spot touches with its side.
        let turning = Place { on_ego: [0.0, 1.0], in_world: [-0.5, 0.75_f64.sqrt()], other: 0 };
        let part = part_of_contact([[0.0; 3], [0.0, 0.0, std::f64::consts::FRAC_PI_3]], &turning);
        assert!((part - 0.5).abs() < 1e-9, "{part}");
    }

    #[test]
    fn boxes_move_along_their_heading() {
        let pose = Pose::new(10.0, 5.0, std::f64::consts::FRAC_PI_2);
        let user = RoadUser { number: 1, object: None, pose, speed_mps: 4.0, half_length_m: 2.0, half_width_m: 1.0 };
        let corners = outline(&user, -0.5);
        let near = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).abs() < 1e-9 && (a[1] - b[1]).abs() < 1e-9;
        assert!(near(corners[0], [9.0, 5.0]) && near(corners[2], [11.0, 1.0]), "{corners:?}");
    }

    #[test]
    fn between_known_places_a_way_keeps_their_velocities() {
        let user = |x: f64, y: f64, heading: f64| {
            let pose = Pose::new(x, y, heading);
            RoadUser { number: 1, object: None, pose, speed_mps: 8.0, half_length_m: 2.0, half_width_m: 1.0 }
        };
        // Straight on at constant speed.
        let straight = on_cubic(&(1.0, user(0.0, 0.0, 0.0)), &(2.0, user(8.0, 0.0, 0.0)), 1.25);
        assert!((straight[0] - 2.0).abs() < 1e-9 && straight[1].abs() < 1e-9, "{straight:?}");
        // A quarter of a circle of 10 m, at 8 m/s: the middle lies on the circle within two decimetres.
        let quarter = std::f64::consts::FRAC_PI_2;
        let time_s = 10.0 * quarter / 8.0;
        let [x, y] = on_cubic(&(0.0, user(0.0, 0.0, 0.0)), &(time_s, user(10.0, 10.0, quarter)), 0.5 * time_s);
        let radius_m = (x * x + (y - 10.0) * (y - 10.0)).sqrt();
        assert!((radius_m - 10.0).abs() < 0.2, "{radius_m}");
    }
}
