//! Following a path by time (S1-50): the reference moves by a timetable and the car is held to it.

use anabranch_geometry::Path;
use anabranch_kernel::Visitor;
use anabranch_kernel::maths::{Mask, Real};
use anabranch_vehicle::CarSpec;
use serde::{Deserialize, Serialize};

use super::lateral::{LateralGains, LateralLaw, SectionLanes, look_up, project};
use super::longitudinal::STANDSTILL_MPS;
use super::path_follower::LANES_MAX;
use super::trajectory::{ProfileLanes, Trajectory};
use super::{Command, Told};

/// Gains of a trajectory follower.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrajectoryFollowerSpec {
    /// Steering, driving forwards.
    pub lateral: LateralGains,
    /// Steering, driving backwards.
    pub reverse: LateralGains,
    /// Speed of the timetable.
    pub cruise_mps: f64,
    /// Acceleration of the timetable.
    pub accel_mps2: f64,
    /// Deceleration of the timetable (positive); also what holds the car at rest.
    pub decel_mps2: f64,
    /// Time after the planned standstill for the car to get there too.
    pub settle_s: f64,
    /// Acceleration per speed error.
    pub k_speed_per_s: f64,
    /// Acceleration per metre behind the reference.
    pub k_station_per_s2: f64,
    /// Strongest acceleration and deceleration asked for.
    pub accel_limit_mps2: f64,
    /// Nearer than this to the end the brakes hold.
    pub stop_tolerance_m: f64,
}

impl TrajectoryFollowerSpec {
    /// Soft and slow.
    pub const CALM: Self = Self {
        lateral: LateralGains::CALM,
        reverse: LateralGains::CALM,
        cruise_mps: 1.0,
        accel_mps2: 0.5,
        decel_mps2: 0.5,
        settle_s: 1.5,
        k_speed_per_s: 2.0,
        k_station_per_s2: 1.0,
        accel_limit_mps2: 2.0,
        stop_tolerance_m: 0.03,
    };
    /// Firm and faster.
    pub const EAGER: Self = Self {
        lateral: LateralGains::EAGER,
        reverse: LateralGains::EAGER,
        cruise_mps: 1.5,
        accel_mps2: 1.0,
        decel_mps2: 1.0,
        settle_s: 1.0,
        k_speed_per_s: 3.0,
        k_station_per_s2: 2.0,
        accel_limit_mps2: 3.0,
        stop_tolerance_m: 0.03,
    };

    /// Gains by name: `calm` or `eager`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "calm" => Some(Self::CALM),
            "eager" => Some(Self::EAGER),
            _ => None,
        }
    }
}

/// What a trajectory follower remembers: the time since its plan began. The section follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Default)]
pub struct TrajectoryMemory {
    /// Ticks since the plan began; stands still once completed.
    pub ticks: u32,
    /// Manoeuvre completed (S1-12); the brakes hold the car.
    pub completed: bool,
}

impl TrajectoryMemory {
    /// At the start of a path; a path without length is completed at once.
    pub fn start(path: &Path) -> Self {
        Self { ticks: 0, completed: path.sections().is_empty() }
    }
    /// Names its variables.
    #[inline]
    pub fn visit<V: Visitor>(&self, v: &mut V) {
        v.exact("driver_ticks", u64::from(self.ticks));
        v.exact("driver_completed", u64::from(self.completed));
    }
}

/// Memories side by side, with the sections and timetables they are in.
#[derive(Clone, Copy, Debug)]
pub struct TrajectoryLanes<R> {
    /// 1 where the manoeuvre is completed, else 0.
    pub completed: R,
    ticks: R,
    section: SectionLanes<R>,
    profile: ProfileLanes<R>,
}

impl<R: Real> TrajectoryLanes<R> {
    /// Loads memories; every lane has its path and timetable.
    ///
    /// # Panics
    /// If a path has no section; a lane without a way to go is completed and needs no driver.
    #[inline(always)]
    pub fn gather<'p, 'm>(
        plan: impl Fn(usize) -> (&'p Path, &'p Trajectory),
        memory: impl Fn(usize) -> &'m TrajectoryMemory,
    ) -> Self {
        let index = |lane: usize| plan(lane).1.section_at(memory(lane).ticks);
        Self {
            completed: R::from_lanes(|lane| f64::from(u8::from(memory(lane).completed))),
            ticks: R::from_lanes(|lane| f64::from(memory(lane).ticks)),
            section: SectionLanes::gather(|lane| &plan(lane).0.sections()[index(lane)]),
            profile: ProfileLanes::gather(|lane| plan(lane).1, index),
        }
    }
    /// The memory of one lane.
    #[inline(always)]
    pub fn memory(&self, lane: usize) -> TrajectoryMemory {
        TrajectoryMemory { ticks: self.ticks.lane(lane) as u32, completed: self.completed.lane(lane) > 0.0 }
    }
    /// Gear of each lane: +1 forwards, −1 backwards.
    #[inline(always)]
    pub fn gear_sign(&self) -> R {
        self.section.direction
    }
}

/// A trajectory follower for one car.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrajectoryFollower {
    spec: TrajectoryFollowerSpec,
    lateral: LateralLaw,
    gear_change_s: f64,
    cycle_s: f64,
}

impl TrajectoryFollower {
    /// A follower with these gains for this car, called every `cycle_s`.
    pub fn new(spec: &TrajectoryFollowerSpec, car: &CarSpec, cycle_s: f64) -> Self {
        let lateral = LateralLaw::new(spec.lateral, spec.reverse, car, 0.0);
        Self { spec: *spec, lateral, gear_change_s: car.gear_change_s, cycle_s }
    }
    /// Gains of the steering, forwards and backwards.
    pub fn gains(&self) -> [LateralGains; 2] {
        self.lateral.gains()
    }
    /// The same follower with other gains of the steering, forwards and backwards.
    #[must_use]
    pub fn with_gains(&self, gains: [LateralGains; 2]) -> Self {
        let spec = TrajectoryFollowerSpec { lateral: gains[0], reverse: gains[1], ..self.spec };
        Self { spec, lateral: self.lateral.with_gains(gains), ..*self }
    }
    /// The timetable of a path for this follower.
    pub fn trajectory(&self, path: &Path) -> Trajectory {
        Trajectory::new(path, &self.spec, &self.lateral, self.gear_change_s, self.cycle_s)
    }

    /// One tick: moves the memories on and returns the commands. Until the wheels have
    /// turned the brakes hold the car; after the planned standstill it may still close up for a while.
    #[inline(always)]
    pub fn tick<'p, R: Real>(
        &self,
        plan: impl Fn(usize) -> (&'p Path, &'p Trajectory),
        lanes: &mut TrajectoryLanes<R>,
        told: &Told<R>,
    ) -> Command<R> {
        let (zero, one) = (R::splat(0.0), R::splat(1.0));
        let section = lanes.section;
        let target = lanes.profile.at(lanes.ticks, self.cycle_s, self.spec.accel_mps2, self.spec.decel_mps2);
        let target_m = section.start_m + target.way_m;
        let reference = look_up(|lane| plan(lane).0.samples(), &section, target_m);
        let (station_m, deviation) = project(&reference, &section, target_m, told);

        let ahead = self.lateral.look_ahead(|lane| plan(lane).0.samples(), &section, target_m, told.speed);
        let rested = lanes.profile.rest_at_s.le(target.time_s);
        let near_end = (section.end_m - station_m).lt(R::splat(self.spec.stop_tolerance_m));
        let settled = (lanes.profile.rest_at_s + R::splat(self.spec.settle_s)).le(target.time_s);
        let holds = zero.lt(lanes.completed) | target.time_s.lt(zero) | (rested & near_end) | settled;
        let driven = target.accel_mps2
            + R::splat(self.spec.k_speed_per_s) * (target.speed_mps - told.speed * section.direction)
            + R::splat(self.spec.k_station_per_s2) * (target_m - station_m);
        let limit = R::splat(self.spec.accel_limit_mps2);

        lanes.ticks = lanes.ticks + R::select(zero.lt(lanes.completed), zero, one);
        let last = R::splat(f64::MAX).lt(lanes.profile.end_tick);
        let finished = last & rested & holds & told.speed.abs().lt(R::splat(STANDSTILL_MPS));
        lanes.completed = R::select(finished, one, lanes.completed);
        if lanes.profile.end_tick.le(lanes.ticks).any() {
            let before = *lanes;
            let memories: [TrajectoryMemory; LANES_MAX] =
                std::array::from_fn(|lane| before.memory(if lane < R::LANES { lane } else { 0 }));
            *lanes = TrajectoryLanes::gather(plan, |lane| &memories[lane]);
        }
        Command {
            steering: self.lateral.steering(ahead.curvature, &deviation, section.direction),
            accel: R::select(holds, R::splat(-self.spec.decel_mps2), driven.clamp(-limit, limit)),
            gear_sign: section.direction,
        }
    }
}
