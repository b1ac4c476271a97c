//! The course of an accident, base cycle by base cycle.

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::{Place, Recorder, Seed, SegmentEnd, System, Watch};
use anabranch_scenario::Drive;
use anabranch_scenario::drive::{RoadUser, Witnessed};

use crate::explore::candidates::Candidate;
use crate::failure::Failure;
use crate::load::Loaded;

/// Who loses this much speed in this time before the contact has braked.
const BRAKED_MPS: f64 = 1.0;
const BRAKED_S: f64 = 4.0;

/// One base cycle.
#[derive(Clone, Debug)]
pub struct Moment {
    pub time_s: f64,
    pub car: Pose,
    pub speed_mps: f64,
    pub others: Vec<Witnessed>,
}

/// The run up to the contact.
#[derive(Debug)]
pub struct Scene {
    /// The last one is that of the contact.
    pub moments: Vec<Moment>,
    /// Number of whom the car touched; nothing for walls and the like.
    pub other: Option<u32>,
    /// How long he was in line of sight.
    pub visible_s: Option<f64>,
    /// How long the car believed in him.
    pub believed_s: Option<f64>,
}

struct Course {
    at: [usize; 4],
    step_s: f64,
    others: Vec<Witnessed>,
    moments: Vec<Moment>,
}

impl Recorder for Course {
    fn frame(&mut self, tick: u64, values: &[f64]) {
        let [x, y, heading, speed_mps] = self.at.map(|index| values[index]);
        let (time_s, others) = (tick as f64 * self.step_s, std::mem::take(&mut self.others));
        self.moments.push(Moment { time_s, car: Pose::new(x, y, heading), speed_mps, others });
    }
    fn wants_around(&self) -> bool {
        true
    }
    fn around(&mut self, _tick: u64, numbers: &[f64]) {
        self.others = Witnessed::all(numbers);
    }
}

impl Scene {
    /// Runs a finding again and writes down its course.
    pub fn record(loaded: &Loaded, drive: &Drive, seed: Seed, candidate: &Candidate) -> Result<Self, Failure> {
        let index = |name: &str| drive.signals().iter().position(|s| s.name == name).expect("a drive shows its pose");
        let at = ["ego.x", "ego.y", "ego.heading", "ego.speed"].map(index);
        let mut course = Course { at, step_s: drive.step_s(), others: Vec::new(), moments: Vec::new() };
        let mut state = drive.start(seed, &drive.space().all()[candidate.start])?;
        for choice in &candidate.choices {
            if drive.run(&mut state, *choice, &mut Watch::recording(&mut course))? != SegmentEnd::Open {
                break;
            }
        }
        let mut moments = course.moments;
        // Nobody is told of the moment before the first base cycle.
        moments.retain(|moment| moment.time_s > 0.0);
        let other = candidate.verdict.place.as_ref().and_then(|place| touched(loaded, place, moments.last()?));
        let mut scene = Self { moments, other, visible_s: None, believed_s: None };
        if other.is_some() {
            scene.visible_s = Some(scene.lasted_s(|moment, who| {
                let users: Vec<RoadUser> = moment.others.iter().map(|other| other.user).collect();
                Ok(drive.in_sight(moment.car, &users, who)?)
            })?);
            let believed_s = scene.lasted_s(|moment, who| {
                Ok(moment.others.iter().any(|other| other.user.number == who && other.is_believed))
            })?;
            scene.believed_s = Some(believed_s).filter(|seconds| *seconds > 0.0);
        }
        Ok(scene)
    }

    /// How long something has held without a break before the contact.
    fn lasted_s(&self, mut holds: impl FnMut(&Moment, u32) -> Result<bool, Failure>) -> Result<f64, Failure> {
        let (Some(who), Some(end)) = (self.other, self.moments.last()) else { return Ok(0.0) };
        let mut since_s = end.time_s;
        for moment in self.moments.iter().rev() {
            if !holds(moment, who)? {
                break;
            }
            since_s = moment.time_s;
        }
        Ok(end.time_s - since_s)
    }

    /// Whom the car touched, in a base cycle.
    pub fn other_at<'m>(&self, moment: &'m Moment) -> Option<&'m RoadUser> {
        let who = self.other?;
        moment.others.iter().map(|other| &other.user).find(|user| user.number == who)
    }

    /// His speed in each base cycle before the contact, the last one first.
    fn other_back(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.moments.iter().rev().filter_map(|moment| Some((moment.time_s, self.other_at(moment)?.speed_mps)))
    }

    /// Whether the other one has braked before the contact.
    pub fn has_other_braked(&self) -> bool {
        let mut back = self.other_back();
        let Some((end_s, end_mps)) = back.next() else { return false };
        let lately = back.take_while(|(time_s, _)| end_s - time_s < BRAKED_S);
        lately.map(|(_, speed_mps)| speed_mps).fold(end_mps, f64::max) > end_mps + BRAKED_MPS
    }

    /// Speed at which the other one came as a share of that of the car: of both the largest, because a car that sets out slowly
    /// speeds up on its way and brakes in the end.
    pub fn speeds(&self) -> Option<f64> {
        let largest = |speeds: &mut dyn Iterator<Item = f64>| speeds.fold(0.0, f64::max);
        let others = self.moments.iter().filter_map(|moment| self.other_at(moment));
        let other_mps = largest(&mut others.map(|other| other.speed_mps));
        let car_mps = largest(&mut self.moments.iter().map(|moment| moment.speed_mps));
        (car_mps > 0.0).then(|| other_mps / car_mps)
    }
}

/// Who was touched: the one with that name, or whoever without a name is nearest to the place.
fn touched(loaded: &Loaded, place: &Place, end: &Moment) -> Option<u32> {
    let object = loaded.road_user(place.other)?;
    let point = Point::new(place.in_world[0], place.in_world[1]);
    let far = |user: &RoadUser| {
        let local = user.pose.local_from_world(point);
        let (x, y) = ((local.x.abs() - user.half_length_m).max(0.0), (local.y.abs() - user.half_width_m).max(0.0));
        x * x + y * y
    };
    let users = end.others.iter().map(|other| &other.user).filter(|user| user.object == object);
    users.min_by(|a, b| far(a).total_cmp(&far(b))).map(|user| user.number)
}
