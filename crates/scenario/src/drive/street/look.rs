//! What the driver is told about others: rays, detections, tracks, and what it makes of them.

use anabranch_driving::road::{ObjectKind, Seen, SeenLight, SeenObject};
use anabranch_driving::track::EgoEstimate;
use anabranch_errors::{Effects, SENSORS_MAX};
use anabranch_geometry::Pose;
use anabranch_kernel::{Chance, Fault, Seed};
use anabranch_sensing::{DetectionErrors, Detections, DetectorInput, Displacement, Late, Look, Track, TrueObject};
use arrayvec::ArrayVec;

use super::cast::Part;
use super::others::{Other, WALKER_HALF_M};
use super::{Buffers, Street, StreetState};

/// Where objects are put that are not there: beyond every horizon.
const NOWHERE_M: f64 = 1e9;
/// Objects shorter than this are taken for people, and narrower than a car for cyclists.
const PERSON_M: f64 = 1.0;
const CYCLIST_M: [f64; 2] = [2.5, 1.0];
/// Name of the sensor's own chance.
const CHANCE: &str = "ego.sensor";

/// Name of the chance of a sensor: the first has that of the only one.
pub(super) fn chance_name(number: usize, name: &str) -> String {
    if number == 0 { CHANCE.to_owned() } else { format!("{CHANCE}.{name}") }
}

/// The car as its sensors have it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Viewer {
    pub truth: Pose,
    pub believed: Pose,
}

impl Street {
    /// Looks if a look is due, and follows what was detected.
    ///
    /// # Errors
    /// When tiles around the car cannot be read.
    pub(super) fn look(
        &self,
        own: &mut StreetState,
        viewer: Viewer,
        effects: &Effects,
        buffers: &mut Buffers,
    ) -> Result<(), Fault> {
        let tick = u64::from(own.branch.tick);
        if !tick.is_multiple_of(u64::from(self.fuse_ticks)) {
            return Ok(());
        }
        if self.eyes.iter().any(|eye| eye.detector.is_due(tick)) {
            self.fill_scene(buffers);
        }
        buffers.detections.resize_with(self.eyes.len(), Detections::default);
        for number in 0..self.eyes.len() {
            self.look_by(number, own, viewer, effects, buffers)?;
        }
        let looks: ArrayVec<Look<'_>, SENSORS_MAX> = self
            .eyes
            .iter()
            .zip(&buffers.detections)
            .filter(|(eye, _)| eye.detector.is_due(tick))
            .map(|(eye, detections)| Look { detections, position_m: eye.position_m, behind_s: eye.behind_s })
            .collect();
        self.tracker.fuse(&mut own.tracks, &looks);
        Ok(())
    }

    /// One sensor looks, if it is due.
    fn look_by(
        &self,
        number: usize,
        own: &mut StreetState,
        viewer: Viewer,
        effects: &Effects,
        buffers: &mut Buffers,
    ) -> Result<(), Fault> {
        let tick = u64::from(own.branch.tick);
        let eye = &self.eyes[number];
        if !eye.detector.is_due(tick) {
            return Ok(());
        }
        if let Some(fences) = self.fences.as_ref().filter(|_| !self.sees_through) {
            fences.stop_rays(eye.sensor.pose(viewer.truth).point(), eye.sensor.spec().horizon_m, buffers)?;
        }
        let Buffers { scan, scene, objects, detections, ghosts, faces, .. } = buffers;
        if self.sees_through {
            eye.sensor.scan_through(viewer.truth, scene, scan);
        } else {
            eye.sensor.scan_behind(viewer.truth, scene, &self.walls, faces, scan);
        }
        let (mask, alone) = (1_u8 << number, effects.sensing[number]);
        let looks = |ticks: u16| ticks.div_ceil(eye.look_ticks);
        let of = |sensors: u8, obstacles: u32| if sensors & mask == 0 { 0 } else { obstacles };
        let late =
            effects.late.map(|late| Late { obstacles: of(late.sensors, late.obstacles), ticks: looks(late.ticks) });
        let displaced = effects
            .displaced
            .map(|group| Displacement { objects: of(group.sensors, group.obstacles), by_m: group.by_m });
        ghosts.clear();
        for (number, part) in self.cast.parts.iter().enumerate() {
            if let Part::Ghost(seen) = part
                && (effects.ghosts | alone.ghosts) >> number & 1 == 1
            {
                ghosts.push(*seen);
            }
        }
        let errors = DetectionErrors {
            missed: effects.missed | alone.missed,
            flipped: effects.flipped | alone.flipped,
            displaced: &displaced,
            late: &late,
            ghosts,
            latency_more: looks(alone.delay_ticks),
            lost: alone.lost,
        };
        let (car, believed) = (viewer.truth, viewer.believed);
        let input = DetectorInput { sensor: &eye.sensor, scan, objects, car, believed, visibility: 1.0, errors };
        let chance = Chance::new(Seed(own.seed), &eye.chance);
        let state = match number.checked_sub(1) {
            None => &mut own.detector,
            Some(other) => &mut own.detectors[other],
        };
        eye.detector.read(state, &input, tick, chance, &mut detections[number]);
        Ok(())
    }

    /// Objects with a name keep their numbers, whether they are there or not; all others follow.
    fn fill_scene(&self, buffers: &mut Buffers) {
        let Buffers { scene, objects, others, .. } = buffers;
        scene.clear();
        objects.clear();
        let named = self.cast.parts.len();
        let first_unnamed = others.partition_point(|other| (other.number as usize) < named);
        let mut there = others[..first_unnamed].iter().peekable();
        for number in 0..named as u32 {
            match there.next_if(|other| other.number == number) {
                Some(other) => {
                    scene.add_box(other.pose, other.half_length_m, other.half_width_m);
                    objects.push(as_object(other));
                }
                None => {
                    let pose = Pose::new(NOWHERE_M, NOWHERE_M, 0.0);
                    scene.add_box(pose, WALKER_HALF_M, WALKER_HALF_M);
                    objects.push(TrueObject { pose, length_m: 0.0, width_m: 0.0 });
                }
            }
        }
        for other in &others[first_unnamed..] {
            scene.add_box(other.pose, other.half_length_m, other.half_width_m);
            objects.push(as_object(other));
        }
    }

    /// Everything a driver on roads is told in one cycle: the one place where it is put together.
    pub(super) fn seen<'b>(
        &self,
        own: &StreetState,
        start: u16,
        ego: EgoEstimate,
        buffers: &'b mut Buffers,
    ) -> Seen<'b> {
        let since_look = own.branch.tick % u32::from(self.fuse_ticks);
        let seconds = f64::from(since_look) * (self.step_us as f64 * 1e-6);
        let Buffers { seen, lights, heard, .. } = buffers;
        self.hear(own, heard);
        seen.clear();
        seen.extend(own.tracks.confirmed().map(|track| as_seen(track, seconds)));
        lights.clear();
        lights.extend(
            self.signals[usize::from(start)]
                .iter()
                .map(|&signal| SeenLight { signal, aspect: self.aspect(&own.branch, signal) }),
        );
        Seen { ego, objects: seen, lights, heard, soft_tyre: self.warns_of_tyres(own), signs_m: self.signs_m }
    }
}

fn as_object(other: &Other) -> TrueObject {
    TrueObject { pose: other.pose, length_m: 2.0 * other.half_length_m, width_m: 2.0 * other.half_width_m }
}

/// A track as planners see it: moved on since the last look, and named by its size.
pub(super) fn as_seen(track: &Track, seconds: f64) -> SeenObject {
    let at = track.after(seconds);
    let kind = match (track.length_m, track.width_m) {
        (length_m, _) if length_m < PERSON_M => ObjectKind::Pedestrian,
        (length_m, width_m) if length_m < CYCLIST_M[0] && width_m < CYCLIST_M[1] => ObjectKind::Cyclist,
        _ => ObjectKind::Car,
    };
    SeenObject {
        pose: Pose::new(at.x, at.y, track.heading),
        velocity_mps: track.velocity_mps,
        half_length_m: 0.5 * track.length_m,
        half_width_m: 0.5 * track.width_m,
        kind,
    }
}
