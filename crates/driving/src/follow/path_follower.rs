//! Following a path by place: section by section, with a stop and a gear change in between.

use anabranch_geometry::Path;
use anabranch_kernel::Visitor;
use anabranch_kernel::maths::{Mask, Real};
use anabranch_vehicle::CarSpec;
use serde::{Deserialize, Serialize};

use super::lateral::{LateralGains, LateralLaw, SectionLanes, look_up, project};
use super::longitudinal::{STANDSTILL_MPS, SpeedGains};
use super::{Command, Told};

/// Gains of a path follower.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathFollowerSpec {
    /// Steering, driving forwards.
    pub lateral: LateralGains,
    /// Steering, driving backwards.
    pub reverse: LateralGains,
    /// Speed.
    pub speed: SpeedGains,
}

impl PathFollowerSpec {
    /// Soft and slow.
    pub const CALM: Self = Self { lateral: LateralGains::CALM, reverse: LateralGains::CALM, speed: SpeedGains::CALM };
    /// Firm and faster.
    pub const EAGER: Self =
        Self { lateral: LateralGains::EAGER, reverse: LateralGains::EAGER, speed: SpeedGains::EAGER };

    /// Gains by name: `calm` or `eager`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "calm" => Some(Self::CALM),
            "eager" => Some(Self::EAGER),
            _ => None,
        }
    }
}

/// What the driver is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PathMode {
    /// On the way along a section.
    Driving {
        /// Index of the section.
        section: u32,
    },
    /// Standing before a section while the gear changes and the wheels turn.
    ChangingGear {
        /// Index of the section to come.
        section: u32,
        /// Ticks until it may move.
        ticks_left: u32,
    },
    /// Manoeuvre completed (S1-12); the brakes hold the car.
    Completed,
}

/// What a path follower remembers from tick to tick.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathMemory {
    /// Where on the path it believes to be, in driven metres.
    pub station_m: f64,
    /// What it is doing.
    pub mode: PathMode,
}

impl PathMemory {
    /// Whether the manoeuvre is completed.
    pub fn is_completed(&self) -> bool {
        self.mode == PathMode::Completed
    }
    /// Names its variables.
    #[inline]
    pub fn visit<V: Visitor>(&self, v: &mut V) {
        let (mode, section, wait) = match self.mode {
            PathMode::Driving { section } => (0, section, 0),
            PathMode::ChangingGear { section, ticks_left } => (1, section, ticks_left),
            PathMode::Completed => (2, 0, 0),
        };
        v.real("driver_station", "m", 0.5, self.station_m);
        v.exact("driver_mode", mode);
        v.exact("driver_section", u64::from(section));
        v.exact("driver_wait", u64::from(wait));
    }
}

/// Memories side by side, with the sections they are in.
#[derive(Clone, Copy, Debug)]
pub struct PathLanes<R> {
    /// Station of each lane.
    pub station_m: R,
    /// 1 where the manoeuvre is completed, else 0.
    pub completed: R,
    wait_ticks: R,
    section_index: R,
    section: SectionLanes<R>,
}

impl<R: Real> PathLanes<R> {
    /// Loads memories; every lane has its path.
    ///
    /// # Panics
    /// If a path has no section; a lane without a way to go is completed and needs no driver.
    #[inline(always)]
    pub fn gather<'p, 'm>(path: impl Fn(usize) -> &'p Path, memory: impl Fn(usize) -> &'m PathMemory) -> Self {
        let index = |lane: usize| match memory(lane).mode {
            PathMode::Driving { section } | PathMode::ChangingGear { section, .. } => section as usize,
            PathMode::Completed => path(lane).sections().len() - 1,
        };
        let wait = |lane: usize| match memory(lane).mode {
            PathMode::ChangingGear { ticks_left, .. } => f64::from(ticks_left),
            PathMode::Driving { .. } | PathMode::Completed => 0.0,
        };
        Self {
            station_m: R::from_lanes(|lane| memory(lane).station_m),
            completed: R::from_lanes(|lane| f64::from(u8::from(memory(lane).is_completed()))),
            wait_ticks: R::from_lanes(wait),
            section_index: R::from_lanes(|lane| index(lane) as f64),
            section: SectionLanes::gather(|lane| &path(lane).sections()[index(lane)]),
        }
    }
    /// The memory of one lane.
    #[inline(always)]
    pub fn memory(&self, lane: usize) -> PathMemory {
        let (section, ticks_left) = (self.section_index.lane(lane) as u32, self.wait_ticks.lane(lane) as u32);
        let mode = if self.completed.lane(lane) > 0.0 {
            PathMode::Completed
        } else if ticks_left > 0 {
            PathMode::ChangingGear { section, ticks_left }
        } else {
            PathMode::Driving { section }
        };
        PathMemory { station_m: self.station_m.lane(lane), mode }
    }
    /// Gear of each lane: +1 forwards, −1 backwards.
    #[inline(always)]
    pub fn gear_sign(&self) -> R {
        self.section.direction
    }
}

/// A path follower for one car. See [`LateralLaw`] and [`SpeedGains::accel`] for the laws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathFollower {
    lateral: LateralLaw,
    speed: SpeedGains,
    gear_change_s: f64,
    cycle_s: f64,
}

impl PathFollower {
    /// A follower with these gains for this car, called every `cycle_s`.
    pub fn new(spec: &PathFollowerSpec, car: &CarSpec, cycle_s: f64) -> Self {
        let lateral = LateralLaw::new(spec.lateral, spec.reverse, car, spec.speed.brake_way_m());
        Self { lateral, speed: spec.speed, gear_change_s: car.gear_change_s, cycle_s }
    }

    /// Gains of the steering, forwards and backwards.
    pub fn gains(&self) -> [LateralGains; 2] {
        self.lateral.gains()
    }
    /// The same follower with other gains of the steering, forwards and backwards.
    #[must_use]
    pub fn with_gains(&self, gains: [LateralGains; 2]) -> Self {
        Self { lateral: self.lateral.with_gains(gains), ..*self }
    }

    /// The memory at the start of a path, with time to turn the wheels; a path without length is completed at once.
    pub fn start(&self, path: &Path) -> PathMemory {
        if path.sections().is_empty() {
            return PathMemory { station_m: 0.0, mode: PathMode::Completed };
        }
        self.before(path, 0, self.lateral.turn_wheels_s(path, 0))
    }

    /// One tick: moves the memories on and returns the commands.
    ///
    /// `stand_at_m` is the station at which an obstacle or a rule asks to stand, infinite if free. The wheels turn
    /// towards the next section while the gear changes.
    #[inline(always)]
    pub fn tick<'p, R: Real>(
        &self,
        path: impl Fn(usize) -> &'p Path,
        lanes: &mut PathLanes<R>,
        told: &Told<R>,
        stand_at_m: R,
    ) -> Command<R> {
        let (zero, one) = (R::splat(0.0), R::splat(1.0));
        let section = lanes.section;
        let reference = look_up(|lane| path(lane).samples(), &section, lanes.station_m);
        // From the station before the projection: the two look-ups do not wait for each other.
        let ahead = self.lateral.look_ahead(|lane| path(lane).samples(), &section, lanes.station_m, told.speed);
        let (station_m, deviation) = project(&reference, &section, lanes.station_m, told);
        lanes.station_m = station_m;
        let holds = zero.lt(lanes.wait_ticks) | zero.lt(lanes.completed);
        lanes.wait_ticks = (lanes.wait_ticks - one).max(zero);

        let to_end_m = section.end_m - station_m;
        let remaining_m = to_end_m.min(stand_at_m - station_m);
        let driven = self.speed.accel(told.speed * section.direction, remaining_m, ahead.speed_max_mps);
        let arrived = !holds & self.speed.reached(to_end_m) & told.speed.abs().lt(R::splat(STANDSTILL_MPS));
        if arrived.any() {
            self.enter_next(path, lanes, arrived);
        }
        Command {
            steering: self.lateral.steering(ahead.curvature, &deviation, section.direction),
            accel: R::select(holds, self.speed.hold(), driven),
            gear_sign: section.direction,
        }
    }

    /// Lanes that have arrived go on to their next section, or complete.
    #[inline(always)]
    fn enter_next<'p, R: Real>(&self, path: impl Fn(usize) -> &'p Path, lanes: &mut PathLanes<R>, arrived: R::Mask) {
        let before = *lanes;
        let memory = |lane: usize| {
            let memory = before.memory(lane);
            match memory.mode {
                PathMode::Driving { section } if arrived.lane(lane) => {
                    self.after(path(lane), section, memory.station_m)
                }
                _ => memory,
            }
        };
        let memories: [PathMemory; LANES_MAX] =
            std::array::from_fn(|lane| memory(if lane < R::LANES { lane } else { 0 }));
        *lanes = PathLanes::gather(path, |lane| &memories[lane]);
    }

    /// What follows when a section is finished. The wheels turn while the gear changes; both must be done.
    fn after(&self, path: &Path, section: u32, station_m: f64) -> PathMemory {
        let next = section as usize + 1;
        if next == path.sections().len() {
            return PathMemory { station_m, mode: PathMode::Completed };
        }
        self.before(path, next, self.gear_change_s.max(self.lateral.turn_wheels_s(path, next)))
    }

    /// Waiting at the start of a section.
    fn before(&self, path: &Path, section: usize, wait_s: f64) -> PathMemory {
        let station_m = path.sections()[section].start_m;
        let section = section as u32;
        let mode = match (wait_s / self.cycle_s).ceil() as u32 {
            0 => PathMode::Driving { section },
            ticks_left => PathMode::ChangingGear { section, ticks_left },
        };
        PathMemory { station_m, mode }
    }
}

/// Most lanes that run side by side.
pub(super) const LANES_MAX: usize = 16;
