//! A path with a timetable: per section time to turn the wheels, a trapezoid of speed, then time to settle and to change
//! gear.

use anabranch_geometry::Path;
use anabranch_kernel::maths::Real;

use super::lateral::LateralLaw;
use super::trajectory_follower::TrajectoryFollowerSpec;

/// Timetable of one section. Times count from when the car may move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profile {
    /// Tick at which the section begins: the wheels turn.
    pub begin_tick: u32,
    /// Tick at which the car may move.
    pub move_tick: u32,
    /// Tick at which the next one begins, or at which the last one has settled.
    pub end_tick: u32,
    /// End of the acceleration.
    pub accel_until_s: f64,
    /// End of the constant speed.
    pub cruise_until_s: f64,
    /// Standstill.
    pub rest_at_s: f64,
}

/// The timetable of a whole path. It follows from path and gains and is not part of any state.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    profiles: Vec<Profile>,
}

impl Trajectory {
    /// Times a path so that steering by the law can follow.
    pub fn new(
        path: &Path,
        spec: &TrajectoryFollowerSpec,
        lateral: &LateralLaw,
        gear_change_s: f64,
        cycle_s: f64,
    ) -> Self {
        let (accel, decel) = (spec.accel_mps2, spec.decel_mps2);
        let ticks = |seconds: f64| (seconds / cycle_s).ceil() as u32;
        let mut profiles: Vec<Profile> = Vec::with_capacity(path.sections().len());
        for (index, section) in path.sections().iter().enumerate() {
            let length_m = section.end_m - section.start_m;
            let cruise_mps = spec.cruise_mps.min(lateral.section_speed_max_mps(path, index));
            let peak_mps = cruise_mps.min((2.0 * length_m * accel * decel / (accel + decel)).sqrt());
            let cruise_m = length_m - 0.5 * peak_mps * peak_mps * (1.0 / accel + 1.0 / decel);
            let accel_until_s = peak_mps / accel;
            let cruise_until_s = accel_until_s + cruise_m.max(0.0) / peak_mps;
            let rest_at_s = cruise_until_s + peak_mps / decel;
            let begin_tick = profiles.last().map_or(0, |before| before.end_tick);
            let gear_s = if index == 0 { 0.0 } else { gear_change_s };
            let move_tick = begin_tick.saturating_add(ticks(lateral.turn_wheels_s(path, index).max(gear_s)));
            let end_tick = move_tick.saturating_add(ticks(rest_at_s + spec.settle_s));
            profiles.push(Profile { begin_tick, move_tick, end_tick, accel_until_s, cruise_until_s, rest_at_s });
        }
        Self { profiles }
    }
    /// One profile per section.
    pub fn profiles(&self) -> &[Profile] {
        &self.profiles
    }
    /// The section that is driven at a tick; the last one from its beginning on.
    pub fn section_at(&self, tick: u32) -> usize {
        self.profiles.partition_point(|profile| profile.end_tick <= tick).min(self.profiles.len().saturating_sub(1))
    }
}

/// The profile each lane follows.
#[derive(Clone, Copy, Debug)]
pub struct ProfileLanes<R> {
    move_tick: R,
    accel_until_s: R,
    cruise_until_s: R,
    /// Standstill, seconds after the car may move.
    pub rest_at_s: R,
    /// Tick at which the next section begins; infinite in the last one.
    pub end_tick: R,
}

/// Where the car should be now.
#[derive(Clone, Copy, Debug)]
pub struct Target<R> {
    /// Seconds since the car may move; negative while the wheels turn.
    pub time_s: R,
    /// Metres since the section began.
    pub way_m: R,
    /// Speed along the gear.
    pub speed_mps: R,
    /// Acceleration along the gear.
    pub accel_mps2: R,
}

impl<R: Real> ProfileLanes<R> {
    /// One profile per lane.
    #[inline(always)]
    pub fn gather<'t>(trajectory: impl Fn(usize) -> &'t Trajectory, section: impl Fn(usize) -> usize) -> Self {
        let profile = |lane: usize| trajectory(lane).profiles[section(lane)];
        let end_tick = |lane: usize| match section(lane) + 1 == trajectory(lane).profiles.len() {
            true => f64::INFINITY,
            false => f64::from(profile(lane).end_tick),
        };
        Self {
            move_tick: R::from_lanes(|lane| f64::from(profile(lane).move_tick)),
            accel_until_s: R::from_lanes(|lane| profile(lane).accel_until_s),
            cruise_until_s: R::from_lanes(|lane| profile(lane).cruise_until_s),
            rest_at_s: R::from_lanes(|lane| profile(lane).rest_at_s),
            end_tick: R::from_lanes(end_tick),
        }
    }
    /// Where the car should be at a tick: ½·a·t² while it speeds up, v·t at constant speed, v·t − ½·b·t² to rest.
    #[inline(always)]
    pub fn at(&self, tick: R, cycle_s: f64, accel_mps2: f64, decel_mps2: f64) -> Target<R> {
        let (zero, half) = (R::splat(0.0), R::splat(0.5));
        let (accel, decel) = (R::splat(accel_mps2), R::splat(decel_mps2));
        let time_s = (tick - self.move_tick) * R::splat(cycle_s);
        let up_s = time_s.clamp(zero, self.accel_until_s);
        let level_s = (time_s.min(self.cruise_until_s) - self.accel_until_s).max(zero);
        let down_s = (time_s.min(self.rest_at_s) - self.cruise_until_s).max(zero);
        let peak = accel * self.accel_until_s;
        let down_m = peak * down_s - half * decel * down_s * down_s;
        let slowing = R::select(self.cruise_until_s.le(time_s) & time_s.lt(self.rest_at_s), -decel, zero);
        Target {
            time_s,
            way_m: half * accel * up_s * up_s + peak * level_s + down_m,
            speed_mps: accel * up_s - decel * down_s,
            accel_mps2: R::select(time_s.lt(self.accel_until_s) & zero.le(time_s), accel, slowing),
        }
    }
}
