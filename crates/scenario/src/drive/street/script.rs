//! Predetermined ways of objects: where somebody is at each base cycle after he set out (S4-6).

use anabranch_geometry::Pose;
use anabranch_kernel::maths;

use crate::file::{ActAt, PoseAt};

/// Share of the length between the axles of a kinematic bicycle, and from its middle to the rear one.
const WHEELBASE_SHARE: f64 = 0.6;
const REAR_SHARE: f64 = 0.3;
/// Turns of less than this in a base cycle are straight on.
const STRAIGHT_RAD: f64 = 1e-9;

/// Somebody on his way at one base cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ScriptFrame {
    /// Its middle.
    pub pose: Pose,
    /// Along its heading.
    pub speed_mps: f64,
}

/// A whole way, base cycle by base cycle; it stays where the last one is.
#[derive(Clone, Debug)]
pub(super) struct Script {
    pub frames: Vec<ScriptFrame>,
    pub half_length_m: f64,
    pub half_width_m: f64,
    /// Its kind in the traffic, for those who see it.
    pub kind: u8,
}

impl Script {
    /// Where it is some base cycles after it set out.
    pub(super) fn at(&self, ticks: u32) -> ScriptFrame {
        let last = self.frames.len() - 1;
        let frame = self.frames[(ticks as usize).min(last)];
        if ticks as usize >= last { ScriptFrame { speed_mps: 0.0, ..frame } } else { frame }
    }
}

/// Between poses: straight and evenly in place and heading.
pub(super) fn along_poses(poses: &[PoseAt], step_s: f64) -> Vec<ScriptFrame> {
    let end_s = poses.last().map_or(0.0, |pose| pose.at_s.value);
    let ticks = (end_s / step_s - 1e-9).ceil().max(0.0) as u32;
    (0..=ticks).map(|tick| between(poses, f64::from(tick) * step_s)).collect()
}

fn between(poses: &[PoseAt], time_s: f64) -> ScriptFrame {
    let next = poses.partition_point(|pose| pose.at_s.value <= time_s);
    let (Some(from), Some(to)) = (next.checked_sub(1).map(|at| poses[at]), poses.get(next)) else {
        let stays = poses[next.min(poses.len() - 1)].pose;
        return ScriptFrame { pose: stays, speed_mps: 0.0 };
    };
    let span_s = to.at_s.value - from.at_s.value;
    let share = (time_s - from.at_s.value) / span_s;
    let turn = maths::wrap_angle(to.pose.heading - from.pose.heading);
    let (dx, dy) = (to.pose.x - from.pose.x, to.pose.y - from.pose.y);
    let heading = maths::wrap_angle(from.pose.heading + share * turn);
    let (sin, cos) = maths::sin_cos(heading);
    let pose = Pose::new(from.pose.x + share * dx, from.pose.y + share * dy, heading);
    ScriptFrame { pose, speed_mps: (dx * cos + dy * sin) / span_s }
}

/// A kinematic bicycle: `x' = v cos ψ`, `y' = v sin ψ`, `ψ' = v tan δ / L`, `v' = a`, of its rear axle (S4-6). Within a base
/// cycle acceleration and steering do not change, so the way is an arc and the integration exact.
pub(super) fn as_bicycle(
    start: ScriptFrame,
    length_m: f64,
    acts: &[ActAt],
    (ticks, step_s): (u32, f64),
) -> Vec<ScriptFrame> {
    let (wheelbase_m, rear_m) = (WHEELBASE_SHARE * length_m, REAR_SHARE * length_m);
    let (sin, cos) = maths::sin_cos(start.pose.heading);
    let mut rear = Pose { x: start.pose.x - rear_m * cos, y: start.pose.y - rear_m * sin, ..start.pose };
    let mut speed_mps = start.speed_mps;
    let mut frames = Vec::with_capacity(ticks as usize + 1);
    let mut next = 0;
    let (mut accel_mps2, mut curvature) = (0.0, 0.0);
    for tick in 0..=ticks {
        let (sin, cos) = maths::sin_cos(rear.heading);
        let pose = Pose { x: rear.x + rear_m * cos, y: rear.y + rear_m * sin, ..rear };
        frames.push(ScriptFrame { pose, speed_mps });
        while let Some(act) = acts.get(next).filter(|act| act.at_s.value <= f64::from(tick) * step_s + 1e-9) {
            (accel_mps2, curvature) = (act.accel_mps2, maths::tan(act.steering_rad) / wheelbase_m);
            next += 1;
        }
        let after_mps = (speed_mps + accel_mps2 * step_s).max(0.0);
        // It stops within the cycle where it would roll backwards.
        let moving_s = if accel_mps2 < 0.0 { step_s.min(speed_mps / -accel_mps2) } else { step_s };
        rear = along_arc(rear, 0.5 * (speed_mps + after_mps) * moving_s, curvature);
        speed_mps = after_mps;
    }
    frames
}

fn along_arc(from: Pose, way_m: f64, curvature: f64) -> Pose {
    let turn = way_m * curvature;
    let chord_m = if turn.abs() < STRAIGHT_RAD { way_m } else { way_m * maths::sin(0.5 * turn) / (0.5 * turn) };
    let (sin, cos) = maths::sin_cos(from.heading + 0.5 * turn);
    Pose::new(from.x + chord_m * cos, from.y + chord_m * sin, maths::wrap_angle(from.heading + turn))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::{Located, Span};

    fn at(seconds: f64) -> Located<f64> {
        Located::new(seconds, Span { source: 0, start: 0, end: 0 })
    }
    fn pose(at_s: f64, x: f64, y: f64, heading: f64) -> PoseAt {
        PoseAt { at_s: at(at_s), pose: Pose::new(x, y, heading) }
    }

    #[test]
    fn between_two_poses_it_goes_evenly_and_it_stays_before_and_after() {
        let poses = [pose(1.0, 0.0, 0.0, 3.0), pose(3.0, 8.0, 0.0, -3.0)];
        let frames = along_poses(&poses, 0.5);
        assert_eq!(frames.len(), 7);
        assert_eq!(frames[0], ScriptFrame { pose: poses[0].pose, speed_mps: 0.0 });
        // By hand: half the time is half the way, and half the short turn across π: 3 + 0.1416 rad.
        let half = frames[4];
        assert!((half.pose.x - 4.0).abs() < 1e-12 && (half.pose.heading.abs() - std::f64::consts::PI).abs() < 1e-9);
        // It moves east and points west: 4 m/s backwards.
        assert!((half.speed_mps + 4.0).abs() < 1e-9, "{half:?}");
        assert_eq!(frames[6].pose, poses[1].pose);
        let script = Script { frames, half_length_m: 2.0, half_width_m: 1.0, kind: 0 };
        assert_eq!(script.at(1000), ScriptFrame { pose: poses[1].pose, speed_mps: 0.0 });
    }

    #[test]
    fn a_bicycle_with_fixed_steering_drives_the_circle_of_its_wheelbase() {
        let length_m = 5.0;
        let start = ScriptFrame { pose: Pose::new(1.5, 0.0, 0.0), speed_mps: 4.0 };
        let steering_rad = 0.2_f64;
        let acts = [ActAt { at_s: at(0.0), accel_mps2: 0.0, steering_rad }];
        let frames = as_bicycle(start, length_m, &acts, (500, 0.02));
        // The rear axle begins at the origin and circles about (0, R) with R = 3 m / tan 0.2 = 14.7995 m; the middle is 1.5 m
        // ahead of it, on a circle of √(R² + 1.5²).
        let radius_m = 3.0 / 0.202_710_035_508_672_5;
        for (tick, frame) in frames.iter().enumerate() {
            let away_m = maths::hypot(frame.pose.x, frame.pose.y - radius_m);
            assert!((away_m - maths::hypot(radius_m, 1.5)).abs() < 1e-9, "{tick} {away_m}");
            let turned = maths::wrap_angle(frame.pose.heading - 4.0 * 0.02 * tick as f64 / radius_m);
            assert!(turned.abs() < 1e-9, "{tick} {turned}");
        }
    }

    #[test]
    fn a_bicycle_that_brakes_stops_after_half_its_speed_squared_and_stays() {
        let start = ScriptFrame { pose: Pose::new(0.0, 0.0, 0.0), speed_mps: 5.0 };
        let acts = [
            ActAt { at_s: at(0.0), accel_mps2: 1.0, steering_rad: 0.0 },
            ActAt { at_s: at(1.0), accel_mps2: -4.0, steering_rad: 0.0 },
        ];
        let frames = as_bicycle(start, 4.0, &acts, (100, 0.07));
        // The second act is heeded at the first base cycle from 1 s on, 1.05 s: by then 5.25 + 1.05²/2 m, then v²/8.
        let (way_m, speed_mps) = (5.25 + 0.5 * 1.05 * 1.05, 6.05);
        let last = frames[100];
        assert!((last.pose.x - (way_m + speed_mps * speed_mps / 8.0)).abs() < 1e-9, "{last:?}");
        assert_eq!(last.speed_mps, 0.0);
    }
}
