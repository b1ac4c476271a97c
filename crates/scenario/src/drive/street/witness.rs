//! What a witness of a run tells: who was where in every base cycle, in whom the car believed, and who could be seen.

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::{Fault, Watch};
use anabranch_sensing::{Mount, RaySensor, RaySensorSpec};

use super::super::Drive;
use super::look::as_seen;
use super::others::{Other, UNNAMED_FROM};
use super::{Buffers, RoadUser, Street, StreetState};
use crate::file::SensorSpec;

/// Numbers that are told of each.
const WIDTH: usize = 8;
/// A track this near to somebody's outline is a belief in him.
const BELIEVED_M: f64 = 2.0;

/// Somebody in one base cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Witnessed {
    /// Who, and where.
    pub user: RoadUser,
    /// The car believes in somebody at this place: a confirmed track is there.
    pub is_believed: bool,
}

impl Witnessed {
    /// Everybody, from the numbers that a [`Recorder`](anabranch_kernel::Recorder) hears about who is around.
    pub fn all(numbers: &[f64]) -> Vec<Self> {
        let one = |row: &[f64]| {
            let number = row[0] as u32;
            let user = RoadUser {
                number,
                object: Some(number as usize).filter(|_| number < UNNAMED_FROM),
                pose: Pose::new(row[1], row[2], row[3]),
                speed_mps: row[4],
                half_length_m: row[5],
                half_width_m: row[6],
            };
            Self { user, is_believed: row[7] != 0.0 }
        };
        numbers.chunks_exact(WIDTH).map(one).collect()
    }
}

/// The eyes of a witness: at the place of a sensor, all round, as far as the sensor sees by day.
pub(super) fn by_day(given: &SensorSpec) -> RaySensor {
    let turn = std::f64::consts::TAU;
    let rays = (f64::from(given.rays) * turn / given.view_rad.value).min(f64::from(u16::MAX)) as u16;
    let mount = Mount { x_m: given.ahead_m, y_m: given.aside_m, yaw_rad: given.yaw_rad };
    RaySensor::new(RaySensorSpec { mount, view_rad: turn, horizon_m: given.range_m, rays })
}

/// Whether the car believes in somebody: one of the places of its tracks is his.
pub(super) fn is_believed(other: &Other, tracks: &[Point]) -> bool {
    let is_his = |track: &Point| {
        let local = other.pose.local_from_world(*track);
        local.x.abs() < other.half_length_m + BELIEVED_M && local.y.abs() < other.half_width_m + BELIEVED_M
    };
    tracks.iter().any(is_his)
}

impl Street {
    /// Where the car believes that somebody is: confirmed tracks, moved on since the last look.
    pub(super) fn believed_at(&self, own: &StreetState, tracks: &mut Vec<Point>) {
        let since_look = own.branch.tick % u32::from(self.fuse_ticks);
        let seconds = f64::from(since_look) * (self.step_us as f64 * 1e-6);
        tracks.extend(own.tracks.confirmed().map(|track| as_seen(track, seconds).pose.point()));
    }

    /// Tells who is around, if somebody wants to know.
    pub(super) fn tell_around(&self, own: &StreetState, others: &[Other], tick: u32, watch: &mut Watch<'_>) {
        if !watch.wants_around() {
            return;
        }
        let mut tracks = Vec::new();
        self.believed_at(own, &mut tracks);
        let mut numbers = Vec::with_capacity(WIDTH * others.len());
        for other in others {
            let is_believed = f64::from(u8::from(is_believed(other, &tracks)));
            let Pose { x, y, heading } = other.pose;
            let (number, speed_mps) = (f64::from(other.number), other.speed_mps);
            numbers.extend([number, x, y, heading, speed_mps, other.half_length_m, other.half_width_m, is_believed]);
        }
        watch.around(u64::from(tick), &numbers);
    }

    /// Whether one of the sensors would have somebody in sight by day, wherever it looks.
    fn sees(&self, car: Pose, users: &[RoadUser], target: u32, buffers: &mut Buffers) -> Result<bool, Fault> {
        buffers.scene.clear();
        users.iter().for_each(|user| {
            buffers.scene.add_box(user.pose, user.half_length_m, user.half_width_m);
        });
        for eye in &self.eyes {
            if let Some(fences) = &self.fences {
                fences.stop_rays(eye.by_day.pose(car).point(), eye.by_day.spec().horizon_m, buffers)?;
            }
            let Buffers { scan, scene, faces, .. } = buffers;
            eye.by_day.scan_behind(car, scene, &self.walls, faces, scan);
            if scan.sight(target).is_some_and(|sight| sight.share >= eye.share) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Drive {
    /// Whether somebody can be seen from the car at a pose, by day and wherever its sensors look, past walls and the others that
    /// are named; `who` is his number. Never off the road.
    ///
    /// # Errors
    /// When tiles around the car cannot be read.
    pub fn in_sight(&self, car: Pose, users: &[RoadUser], who: u32) -> Result<bool, Fault> {
        let Some(street) = &self.street else { return Ok(false) };
        let Some(target) = users.iter().position(|user| user.number == who) else { return Ok(false) };
        let mut buffers = street.buffers.take();
        let sees = street.sees(car, users, target as u32, &mut buffers);
        street.buffers.put(buffers);
        sees
    }
}
