//! One segment for a whole box of starts: the loop of [`super::super::tick`] run over slopes.
//!
//! It is written over the same parts (localisation, driver, car), and its middle is compared with an ordinary run of the
//! loop, bit for bit, each time it is used: if the two ever part, nothing is proven.

use anabranch_driving::follow::{Command, PathFollower, PathLanes, PathMemory, PathMode, Told};
use anabranch_errors::Effects;
use anabranch_geometry::{Path, PathSample, max_displacement};
use anabranch_kernel::maths::{self, Real, Slope};
use anabranch_kernel::{Choice, NoProof, SegmentEnd, Watch};
use anabranch_sensing::{PoseError, PoseReading, TruePose, read};
use anabranch_vehicle::{Car, CarState, Gear};

use super::super::Drive;
use super::super::state::{DriveState, DriverMemory, FREE_M, HeldCommand};

/// Continuous variables of the loop: x, y, heading, speed, acceleration, steering, station of the driver.
pub(crate) const REALS: usize = 7;

/// A continuous variable for a whole box of starts.
pub(super) type Bound = Slope<REALS>;

/// A box of starts in one mode of the driver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Starts {
    pub(super) mid: [f64; REALS],
    pub(super) half: [f64; REALS],
    pub(super) mode: PathMode,
    pub(super) tick: u32,
}

/// What a segment does to a box of starts.
#[derive(Clone, Debug)]
pub(super) struct Bounded {
    /// The variables at its end.
    pub(super) end: [Bound; REALS],
    pub(super) mode: PathMode,
    /// x, y and heading after every tick.
    pub(super) poses: Vec<[Bound; 3]>,
    /// Farthest that any point of the car moves in one tick.
    pub(super) moved_m: f64,
}

/// The driver and the way it follows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Follows<'d> {
    pub(super) follower: &'d PathFollower,
    pub(super) path: &'d Path,
    pub(super) line: Line,
}

/// The first section of a path that is straight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    first: PathSample,
    direction: f64,
    start_m: f64,
    end_m: f64,
}

/// The foot of a position on a line, by the driver's formula and by the line's, differs by less than this: fifty roundings
/// of numbers below a kilometre are smaller by a hundred, and so is how far samples may be off the line.
const FOOT_ERROR_M: f64 = 1e-9;
/// How far samples may be off the line.
const OFF_LINE_M: f64 = 1e-11;
/// Longest line that is covered.
const LINE_MAX_M: f64 = 1000.0;
/// The driver moves its place on the path by at most half a metre per cycle; nearer than this to it nothing is proven.
const STEP_MAX_M: f64 = 0.499;

impl Line {
    /// The line of the first section, if it is one.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let section = path.sections().first()?;
        let samples = &path.samples()[section.first..=section.last];
        let first = samples[0];
        let line = Self { first, direction: section.direction, start_m: section.start_m, end_m: section.end_m };
        let fits = |(n, sample): (usize, &PathSample)| {
            let way_m = section.direction * section.spacing_m * n as f64;
            let off_m = maths::hypot(first.x + way_m * first.cos - sample.x, first.y + way_m * first.sin - sample.y);
            let same_heading = sample.heading == first.heading && (sample.cos, sample.sin) == (first.cos, first.sin);
            sample.curvature_per_m == 0.0 && same_heading && off_m <= OFF_LINE_M
        };
        let small = first.x.abs() + first.y.abs() + line.end_m <= LINE_MAX_M;
        (small && samples.iter().enumerate().all(fits)).then_some(line)
    }

    /// The driver's place on the path after it moved it. One Newton step on a line ends in the foot, wherever it began;
    /// the driver's formula, station plus what is missing, hides that from slopes.
    fn foot(&self, told: &Told<Bound>, before: Bound, after: Bound) -> Bound {
        let (dx, dy) = (told.x - Bound::splat(self.first.x), told.y - Bound::splat(self.first.y));
        let along = Bound::splat(self.first.cos) * dx + Bound::splat(self.first.sin) * dy;
        let free = Bound::splat(self.start_m) + Bound::splat(self.direction) * along;
        let foot = free.clamp(Bound::splat(self.start_m), Bound::splat(self.end_m));
        if after.is_fixed() || (free - before).range.magnitude() >= STEP_MAX_M {
            return after;
        }
        let range = foot.range.widened(FOOT_ERROR_M);
        Bound {
            mid: after.mid,
            range: after.range.meet(range),
            slope: foot.slope,
            rest: foot.rest + 2.0 * FOOT_ERROR_M,
        }
    }
}

impl Drive {
    /// Bounds one segment under a choice.
    pub(super) fn bound(&self, follows: Follows<'_>, starts: &Starts, choice: Choice) -> Result<Bounded, NoProof> {
        let effects = self.errors.begin(choice, &mut self.errors.start());
        let seed = |index: usize| Bound::start(starts.mid[index], starts.half[index], index);
        let mut car =
            Car { x: seed(0), y: seed(1), heading: seed(2), speed: seed(3), accel: seed(4), steering: seed(5) };
        let memory = PathMemory { station_m: starts.mid[6], mode: starts.mode };
        let mut driver = PathLanes::<Bound>::gather(|_| follows.path, |_| &memory);
        driver.station_m = seed(6);
        let (mut sin, mut cos) = maths::sin_cos(car.heading);
        let mut command = Command { steering: car.steering, accel: car.accel, gear_sign: driver.gear_sign() };
        let mut told = Told { x: car.x, y: car.y, heading: car.heading, speed: car.speed };
        let (mut poses, mut moved_m) = (Vec::new(), 0.0_f64);
        for cycle in 0..self.segment_ticks {
            let seconds = f64::from(cycle) * self.model.dt_s;
            if cycle.is_multiple_of(self.localisation.cycle_ticks) {
                let reading = tell(&car, cos, sin, &effects, seconds);
                (told.x, told.y, told.heading) = (reading.x, reading.y, reading.heading);
            }
            told.speed = car.speed;
            if cycle.is_multiple_of(self.control_ticks) {
                let before = driver.station_m;
                command = follows.follower.tick(|_| follows.path, &mut driver, &told, Bound::splat(FREE_M));
                driver.station_m = follows.line.foot(&told, before, driver.station_m);
                let at_s = f64::from(starts.tick) * self.model.dt_s + seconds;
                check_decision(&driver, &command, starts.mode, at_s)?;
            }
            let steering =
                command.steering * Bound::splat(effects.steering_gain) + Bound::splat(effects.steering_offset_rad);
            let accel = command.accel * Bound::splat(effects.acceleration_gain)
                + Bound::splat(effects.acceleration_offset_mps2);
            let before = car;
            (cos, sin) = self.model.step(&mut car, steering, accel, command.gear_sign);
            let moved = max_displacement(&self.body, car.x - before.x, car.y - before.y, car.heading - before.heading);
            moved_m = moved_m.max(moved.range.hi);
            poses.push([car.x, car.y, car.heading]);
        }
        let end = [car.x, car.y, car.heading, car.speed, car.accel, car.steering, driver.station_m];
        if let Some(index) = end.iter().position(|bound| !bound.is_bounded()) {
            let name = &self.layout.declared.variables[self.real_positions()[index]].name;
            return Err(NoProof::because(format!(
                "a limit of the car can be met in some runs and not in others ({name})"
            )));
        }
        let mode = driver.memory(0).mode;
        let bounded = Bounded { end, mode, poses, moved_m };
        self.compare_middle(starts, choice, &bounded)?;
        Ok(bounded)
    }

    /// Runs the start in the middle in the ordinary way; the end must have the same bits.
    fn compare_middle(&self, starts: &Starts, choice: Choice, bounded: &Bounded) -> Result<(), NoProof> {
        let [x, y, heading, speed, accel, steering, station_m] = starts.mid;
        let mut state = DriveState {
            tick: starts.tick,
            start: 0,
            car: CarState { car: Car { x, y, heading, speed, accel, steering }, gear: Gear::of_sign(speed) },
            driver: DriverMemory::Path(PathMemory { station_m, mode: starts.mode }),
            command: HeldCommand { steering_rad: 0.0, accel_mps2: 0.0 },
            reading: PoseReading { x, y, heading },
            errors: self.errors.start(),
            monitors: anabranch_monitors::Memory::default(),
            extras: None,
        };
        let end = self.run_one(&mut state, choice, &mut Watch::off());
        if !matches!(end, Ok(SegmentEnd::Open | SegmentEnd::TimedOut)) {
            return Err(NoProof::because("a run in the middle of the explored ones does not end openly"));
        }
        let mut reals = Vec::with_capacity(REALS);
        self.push_reals(&state, &mut reals);
        let same = reals.iter().zip(&bounded.end).all(|(real, bound)| *real == bound.mid);
        if same { Ok(()) } else { Err(NoProof::because("the bounded loop is not the loop that was explored")) }
    }
}

/// What localisation tells, some seconds into the segment.
fn tell(car: &Car<Bound>, cos: Bound, sin: Bound, effects: &Effects, seconds: f64) -> PoseReading<Bound> {
    let error = PoseError {
        in_car: effects.pose_in_car.at(seconds).map(Bound::splat),
        in_world: effects.pose_in_world.at(seconds).map(Bound::splat),
    };
    read(TruePose { x: car.x, y: car.y, heading: car.heading, cos, sin }, error)
}

/// No decision of the driver may fall differently for two starts of the box.
fn check_decision(
    driver: &PathLanes<Bound>,
    command: &Command<Bound>,
    before: PathMode,
    at_s: f64,
) -> Result<(), NoProof> {
    let section = |mode: PathMode| match mode {
        PathMode::Driving { section } | PathMode::ChangingGear { section, .. } => Some(section),
        PathMode::Completed => None,
    };
    let now = driver.memory(0).mode;
    if now == PathMode::Completed {
        return Err(NoProof::because(format!("the driver can complete its manoeuvre at {at_s:.2} s")));
    }
    if section(now) != section(before) {
        return Err(NoProof::because(format!("the driver can change gear at {at_s:.2} s")));
    }
    if !command.accel.is_bounded() {
        return Err(NoProof::because(format!(
            "the driver can begin to brake in some runs and not in others at {at_s:.2} s"
        )));
    }
    if !command.steering.is_bounded() || !driver.station_m.is_bounded() {
        return Err(NoProof::because(format!("the driver can steer by different parts of its path at {at_s:.2} s")));
    }
    Ok(())
}
