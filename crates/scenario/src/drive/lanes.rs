//! Many segments side by side, with the bits of one by one.
//!
//! Segments that start under the same circumstances share one loop over several lanes. A lane in which anything
//! happens that needs a decision (contact may be near, a requirement speaks up, the manoeuvre ends) is run
//! again from its start one by one; that is rare, and there is one place where decisions are made.

use anabranch_driving::follow::{Command, PathFollower, PathLanes, STANDSTILL_MPS, Told};
use anabranch_geometry::{Path, max_displacement, may_touch, nearest};
use anabranch_kernel::maths::{self, Mask, Real};
use anabranch_kernel::{Choice, Job, SegmentEnd, Watch};
use anabranch_monitors::low_speed as signal;
use anabranch_sensing::{PoseError, PoseReading, TruePose, read};
use anabranch_vehicle::{Car, Gear};

use super::model::ModelLanes;
use super::state::{DriveState, DriverMemory, FREE_M, HeldCommand};
use super::{Drive, Driver};

/// Most lanes of any type that is used.
pub(super) const LANES_MAX: usize = 8;
/// Fewer segments than this are not worth a loop of their own.
const WORTH_IT: usize = 3;

/// What segments must have in common to share a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    start: u16,
    tick: u32,
    square: Option<u32>,
    settled: u32,
}

/// The alteration of the data in every lane.
struct EffectLanes<R> {
    in_car: [R; 3],
    in_car_per_s: [R; 3],
    in_world: [R; 3],
    in_world_per_s: [R; 3],
    steering_gain: R,
    steering_offset: R,
    accel_gain: R,
    accel_offset: R,
}

/// A driver in a shared loop.
pub(super) trait LaneDriver<R: Real> {
    /// One decision in every lane.
    fn tick(&mut self, told: &Told<R>, car: &Car<R>, tick: u32) -> Command<R>;
    /// 1 where the manoeuvre is completed, else 0.
    fn completed(&self) -> R;
    /// Lanes in which the driver needs a decision that a shared loop does not make.
    fn disturbed(&self) -> R::Mask;
    /// The memory of one lane, that had this one at the start.
    fn memory(&self, lane: usize, before: &DriverMemory) -> DriverMemory;
}

/// The built-in path follower.
struct FollowerLanes<'d, R> {
    follower: &'d PathFollower,
    path: &'d Path,
    lanes: PathLanes<R>,
}

impl<R: Real> LaneDriver<R> for FollowerLanes<'_, R> {
    #[inline(always)]
    fn tick(&mut self, told: &Told<R>, _: &Car<R>, _: u32) -> Command<R> {
        self.follower.tick(|_| self.path, &mut self.lanes, told, R::splat(FREE_M))
    }
    #[inline(always)]
    fn completed(&self) -> R {
        self.lanes.completed
    }
    #[inline(always)]
    fn disturbed(&self) -> R::Mask {
        let zero = R::splat(0.0);
        zero.lt(zero)
    }
    #[inline(always)]
    fn memory(&self, lane: usize, _: &DriverMemory) -> DriverMemory {
        DriverMemory::Path(self.lanes.memory(lane))
    }
}

/// What a shared loop ends with.
struct Ended<R: Real, D> {
    car: Car<R>,
    driver: D,
    command: Command<R>,
    reading: PoseReading<R>,
    margin: R,
    /// Lanes that have to be run one by one.
    disturbed: R::Mask,
}

impl Drive {
    /// Whether the parts of this scenario allow it at all.
    pub(super) fn can_run_side_by_side(&self) -> bool {
        let reach = self.errors.reach();
        matches!(self.driver, Driver::Path(_) | Driver::Model(_))
            && self.street.is_none()
            && self.part.is_none()
            && self.behind.is_none()
            && !self.requirements.is_temporal()
            && self.eyes.is_none()
            && self.replanning.is_none()
            && reach.sensor_delay_ticks == 0
            && reach.actuator_delay_ticks == 0
            && self.localisation.cycle_ticks == 1
            && self.segment_ticks.is_multiple_of(self.control_ticks)
            && self.measuring.is_cheap()
            && self.wide
    }

    pub(super) fn run_jobs(&self, jobs: &mut [Job<DriveState>]) {
        if let Some(foreign) = self.foreign() {
            return self.run_together(foreign, jobs);
        }
        if !self.side_by_side || jobs.len() < WORTH_IT {
            jobs.iter_mut().for_each(|job| self.run_job(job));
            return;
        }
        let mut order: Vec<(Kind, u32)> =
            jobs.iter().enumerate().map(|(i, job)| (self.kind(&job.state, job.choice), i as u32)).collect();
        order.sort_unstable();
        for group in order.chunk_by(|a, b| a.0 == b.0) {
            for pack in group.chunks(LANES_MAX) {
                let path = &self.plans[usize::from(pack[0].0.start)].path;
                if pack.len() < WORTH_IT || path.sections().is_empty() || self.is_judged_alone(pack[0].0.tick) {
                    pack.iter().for_each(|(_, i)| self.run_job(&mut jobs[*i as usize]));
                } else {
                    self.run_pack(jobs, pack, path);
                }
            }
        }
    }

    /// Whether a segment has a frame that is judged otherwise than the rest: before the first base cycle, or after the last.
    fn is_judged_alone(&self, tick: u32) -> bool {
        (tick == 0 && self.requirements.has_start())
            || (tick + self.segment_ticks >= self.until_ticks && self.requirements.has_finish())
    }

    fn run_job(&self, job: &mut Job<DriveState>) {
        let mut watch = Watch::off();
        job.end = self.run_watched(&mut job.state, job.choice, &mut watch);
        (job.notes, job.margin, job.reads) = (watch.notes, watch.margin, watch.reads);
    }

    fn kind(&self, state: &DriveState, choice: Choice) -> Kind {
        let square = self.index.square(state.car.car.x, state.car.car.y);
        let mut monitors = state.monitors;
        self.requirements.begin(choice, &mut monitors);
        Kind { start: state.start, tick: state.tick, square, settled: monitors.settled() }
    }

    #[cfg(target_arch = "x86_64")]
    fn run_pack(&self, jobs: &mut [Job<DriveState>], pack: &[(Kind, u32)], path: &Path) {
        /// # Safety
        /// The machine must have AVX2.
        #[target_feature(enable = "avx2")]
        unsafe fn with_avx2(drive: &Drive, jobs: &mut [Job<DriveState>], pack: &[(Kind, u32)], path: &Path) {
            drive.run_lanes::<maths::Two<maths::Avx2>>(jobs, pack, path);
        }
        // SAFETY: `side_by_side` is only set where AVX2 was detected.
        unsafe { with_avx2(self, jobs, pack, path) }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn run_pack(&self, jobs: &mut [Job<DriveState>], pack: &[(Kind, u32)], path: &Path) {
        self.run_lanes::<maths::Lanes<8>>(jobs, pack, path);
    }

    /// Runs up to `R::LANES` segments in one loop; lanes without a segment repeat the last one.
    #[inline(always)]
    fn run_lanes<R: Real>(&self, jobs: &mut [Job<DriveState>], pack: &[(Kind, u32)], path: &Path) {
        let at = |lane: usize| pack[lane.min(pack.len() - 1)].1 as usize;
        let mut memories: [_; LANES_MAX] = std::array::from_fn(|lane| jobs[at(lane)].state.errors);
        let effects: [_; LANES_MAX] =
            std::array::from_fn(|lane| self.errors.begin(jobs[at(lane)].choice, &mut memories[lane]));
        let lanes = |value: fn(&anabranch_errors::Effects) -> f64| R::from_lanes(|lane| value(&effects[lane]));
        let effects = EffectLanes {
            in_car: [
                lanes(|e| e.pose_in_car.offset[0]),
                lanes(|e| e.pose_in_car.offset[1]),
                lanes(|e| e.pose_in_car.offset[2]),
            ],
            in_car_per_s: [
                lanes(|e| e.pose_in_car.rate_per_s[0]),
                lanes(|e| e.pose_in_car.rate_per_s[1]),
                lanes(|e| e.pose_in_car.rate_per_s[2]),
            ],
            in_world: [
                lanes(|e| e.pose_in_world.offset[0]),
                lanes(|e| e.pose_in_world.offset[1]),
                lanes(|e| e.pose_in_world.offset[2]),
            ],
            in_world_per_s: [
                lanes(|e| e.pose_in_world.rate_per_s[0]),
                lanes(|e| e.pose_in_world.rate_per_s[1]),
                lanes(|e| e.pose_in_world.rate_per_s[2]),
            ],
            steering_gain: lanes(|e| e.steering_gain),
            steering_offset: lanes(|e| e.steering_offset_rad),
            accel_gain: lanes(|e| e.acceleration_gain),
            accel_offset: lanes(|e| e.acceleration_offset_mps2),
        };
        let car = Car::from_lanes(|lane| &jobs[at(lane)].state.car.car);
        match &self.driver {
            Driver::Path(follower) => {
                let memory = |lane: usize| match &jobs[at(lane)].state.driver {
                    DriverMemory::Path(memory) => memory,
                    _ => unreachable!("driver and memory are of one kind"),
                };
                let driver = FollowerLanes { follower, path, lanes: PathLanes::gather(|_| path, memory) };
                let ended = self.loop_lanes(pack[0].0, &effects, car, driver);
                self.settle_lanes(jobs, pack, &ended, &memories);
            }
            Driver::Model(model) => {
                let memory = |lane: usize| match &jobs[at(lane)].state.driver {
                    DriverMemory::Model(memory) => &**memory,
                    _ => unreachable!("driver and memory are of one kind"),
                };
                let gear = |lane: usize| jobs[at(lane)].state.car.gear.sign();
                let driver = ModelLanes::gather(model, path, (self.goal.pose, self.model.dt_s), memory, gear);
                let ended = self.loop_lanes(pack[0].0, &effects, car, driver);
                self.settle_lanes(jobs, pack, &ended, &memories);
            }
            Driver::Trajectory(_) | Driver::Foreign(_) | Driver::Road => {
                unreachable!("checked when the scenario was loaded")
            }
        }
    }

    /// Writes what lanes came to; those that were disturbed are run again, one by one.
    #[inline(always)]
    fn settle_lanes<R: Real, D: LaneDriver<R>>(
        &self,
        jobs: &mut [Job<DriveState>],
        pack: &[(Kind, u32)],
        ended: &Ended<R, D>,
        memories: &[anabranch_errors::Memory; LANES_MAX],
    ) {
        for (lane, &(_, i)) in pack.iter().enumerate() {
            let job = &mut jobs[i as usize];
            if ended.disturbed.lane(lane) {
                self.run_job(job);
            } else {
                self.settle_lane(job, ended, lane, memories[lane]);
            }
        }
    }

    #[inline(always)]
    fn loop_lanes<R: Real, D: LaneDriver<R>>(
        &self,
        kind: Kind,
        effects: &EffectLanes<R>,
        mut car: Car<R>,
        mut driver: D,
    ) -> Ended<R, D> {
        let zero = R::splat(0.0);
        let edges = self.index.near(kind.square);
        let (mut sin, mut cos) = maths::sin_cos(car.heading);
        let mut clearance = nearest(&self.body, car.x, car.y, cos, sin, edges);
        let mut margin = R::splat(f64::INFINITY);
        let mut disturbed = zero.lt(zero);
        let mut command = Command { steering: zero, accel: zero, gear_sign: R::splat(1.0) };
        let mut reading = PoseReading { x: zero, y: zero, heading: zero };
        let mut frame = [zero; signal::COUNT];
        for cycle in 0..self.segment_ticks {
            let decides = cycle.is_multiple_of(self.control_ticks);
            if decides || cycle + 1 == self.segment_ticks {
                reading = effects.read(&car, cos, sin, f64::from(cycle) * self.model.dt_s);
            }
            if decides {
                let told = Told { x: reading.x, y: reading.y, heading: reading.heading, speed: car.speed };
                command = driver.tick(&told, &car, kind.tick + cycle);
            }
            let steering = command.steering * effects.steering_gain + effects.steering_offset;
            let accel = command.accel * effects.accel_gain + effects.accel_offset;
            let before = car;
            (cos, sin) = self.model.step(&mut car, steering, accel, command.gear_sign);
            let (dx, dy, turn) = (car.x - before.x, car.y - before.y, car.heading - before.heading);
            let moved = max_displacement(&self.body, dx, dy, turn);
            let clearance_before = clearance;
            clearance = nearest(&self.body, car.x, car.y, cos, sin, edges);
            margin = clearance.min(margin);
            let fast = R::splat(self.speed_bound_mps).lt(car.speed.abs());
            let finite = (car.x + car.y + car.heading + car.speed).abs().le(R::splat(f64::MAX));
            let tick = kind.tick + cycle + 1;
            disturbed = disturbed
                | may_touch(clearance_before, clearance, moved)
                | fast
                | !finite
                | zero.lt(driver.completed())
                | driver.disturbed()
                | self.disturbed_requirements(&mut frame, &car, clearance, tick, kind.settled);
        }
        Ended { car, driver, command, reading, margin, disturbed }
    }

    /// Lanes in which a requirement has something to say.
    #[inline(always)]
    fn disturbed_requirements<R: Real>(
        &self,
        frame: &mut [R; signal::COUNT],
        car: &Car<R>,
        clearance: R,
        tick: u32,
        settled: u32,
    ) -> R::Mask {
        let zero = R::splat(0.0);
        let used = self.requirements.signals_used();
        frame[signal::CLEARANCE] = clearance;
        frame[signal::SPEED] = car.speed;
        frame[signal::ACCELERATION] = car.accel;
        frame[signal::STEERING] = car.steering;
        (frame[signal::X], frame[signal::Y], frame[signal::HEADING]) = (car.x, car.y, car.heading);
        if used >> signal::DECELERATION & 1 == 1 {
            let along = R::select(car.speed.lt(zero), -car.accel, car.accel);
            frame[signal::DECELERATION] = R::select(along.lt(zero), -along, zero);
        }
        let stands = car.speed.abs().lt(R::splat(STANDSTILL_MPS));
        if used >> signal::AT_GOAL & 1 == 1 && stands.any() {
            let goal = &self.goal;
            let (dx, dy) = (car.x - R::splat(goal.pose.x), car.y - R::splat(goal.pose.y));
            let turned = maths::wrap_angle(car.heading - R::splat(goal.pose.heading)).abs();
            let there = stands
                & (dx * dx + dy * dy).sqrt().le(R::splat(goal.tolerance_m))
                & turned.le(R::splat(goal.heading_tolerance_rad));
            frame[signal::AT_GOAL] = R::select(there, R::splat(1.0), zero);
        } else {
            frame[signal::AT_GOAL] = zero;
        }
        frame[signal::TIME] = R::splat(f64::from(tick) * self.model.dt_s);
        self.requirements.disturbed(frame, R::splat(f64::from(tick)), settled)
    }

    /// Writes the end of an undisturbed lane into its job.
    #[inline(always)]
    fn settle_lane<R: Real, D: LaneDriver<R>>(
        &self,
        job: &mut Job<DriveState>,
        ended: &Ended<R, D>,
        lane: usize,
        errors: anabranch_errors::Memory,
    ) {
        let state = &mut job.state;
        let before = state.driver.outline();
        state.tick += self.segment_ticks;
        state.car.car = ended.car.lane(lane);
        state.car.gear = Gear::of_sign(ended.command.gear_sign.lane(lane));
        state.driver = ended.driver.memory(lane, &state.driver);
        state.command =
            HeldCommand { steering_rad: ended.command.steering.lane(lane), accel_mps2: ended.command.accel.lane(lane) };
        state.reading = PoseReading {
            x: ended.reading.x.lane(lane),
            y: ended.reading.y.lane(lane),
            heading: ended.reading.heading.lane(lane),
        };
        state.errors = errors;
        self.requirements.begin(job.choice, &mut state.monitors);
        job.reads = self.reads(&before, state);
        job.margin = ended.margin.lane(lane);
        job.notes.clear();
        job.end = Ok(SegmentEnd::Open);
        if state.tick >= self.until_ticks {
            let mut watch = Watch::off();
            job.end = Ok(self.finish(state, &[], &mut watch).unwrap_or(SegmentEnd::TimedOut));
            job.notes = watch.notes;
        }
    }
}

impl<R: Real> EffectLanes<R> {
    /// What localisation tells, some seconds into the segment.
    #[inline(always)]
    fn read(&self, car: &Car<R>, cos: R, sin: R, seconds: f64) -> PoseReading<R> {
        let in_car = ramp(self.in_car, self.in_car_per_s, R::splat(seconds));
        let in_world = ramp(self.in_world, self.in_world_per_s, R::splat(seconds));
        let error = PoseError { in_car, in_world };
        read(TruePose { x: car.x, y: car.y, heading: car.heading, cos, sin }, error)
    }
}

/// An offset that grows evenly. A function, because lane arithmetic in a closure is not compiled for wide registers.
#[inline(always)]
fn ramp<R: Real>(offset: [R; 3], per_s: [R; 3], at: R) -> [R; 3] {
    [offset[0] + per_s[0] * at, offset[1] + per_s[1] * at, offset[2] + per_s[2] * at]
}

/// Whether this machine has wide registers.
pub(super) fn wide_lanes() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    return true;
}
