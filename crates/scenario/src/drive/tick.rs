//! One run, one base cycle after another, with everything a scenario can contain.

use anabranch_driving::follow::{Command, PathLanes, STANDSTILL_MPS, Told, TrajectoryLanes};
use anabranch_errors::{DelayLine, Effects};
use anabranch_geometry::{Contact, Motion, WallEdge, first_contact, max_displacement, may_touch, nearest};
use anabranch_kernel::{Choice, Fault, Params, Place, Reads, Seed, SegmentEnd, Watch, maths};
use anabranch_monitors::{low_speed as signal, verdicts};
use anabranch_sensing::{Perceived, PoseError, PoseReading, TruePose, read};
use anabranch_vehicle::{Car, CarState, Gear};

use super::foreign::ForeignMemory;
use super::state::{DriveState, DriverMemory, Extras, FREE_M, HeldCommand};
use super::{Drive, Driver};

/// What one segment works with and nobody saves.
pub(super) struct Scratch<'a> {
    pub(super) effects: Effects,
    /// Edges that can matter in this segment.
    edges: &'a [WallEdge],
    /// Obstacles that are there besides the walls.
    pub(super) present: u32,
    cos: f64,
    sin: f64,
    pub(super) clearance_m: f64,
    /// Signals are computed for requirements or for a recorder.
    wanted: u64,
    /// What a component model works with, once it was asked.
    pub(super) work: Option<Box<super::model::Work>>,
}

impl Scratch<'_> {
    /// Whether somebody reads a signal in this segment.
    pub(super) fn wants(&self, signal: usize) -> bool {
        self.wanted >> signal & 1 == 1
    }
}

impl Drive {
    pub(super) fn start_state(&self, seed: Seed, params: &Params) -> Result<DriveState, Fault> {
        let start = self.space.all().iter().position(|p| p == params);
        let start = start.ok_or_else(|| Fault::Contract(format!("{params:?} is not a start of this scenario")))?;
        let [x, y, heading, speed] = params.0[..] else {
            return Err(Fault::Contract("a start has x, y, heading and speed".to_owned()));
        };
        let pose = anabranch_geometry::Pose::new(x, y, heading);
        let gear = if speed < 0.0 { Gear::Reverse } else { Gear::Forward };
        let reach = self.errors.reach();
        let plan = &self.plans[start];
        let driver = match &self.driver {
            Driver::Path(follower) => DriverMemory::Path(follower.start(&plan.path)),
            Driver::Trajectory(_) => {
                DriverMemory::Trajectory(anabranch_driving::follow::TrajectoryMemory::start(&plan.path))
            }
            Driver::Foreign(_) => DriverMemory::Foreign { completed: false },
            Driver::Model(model) => DriverMemory::Model(Box::new(model.memory(seed, &plan.path))),
            Driver::Road => DriverMemory::Road { completed: false },
        };
        Ok(DriveState {
            tick: 0,
            start: start as u16,
            car: CarState { car: Car { speed, ..Car::at(pose) }, gear },
            driver,
            command: HeldCommand { steering_rad: 0.0, accel_mps2: 0.0 },
            reading: PoseReading { x, y, heading },
            errors: self.errors.start(),
            monitors: anabranch_monitors::Memory::default(),
            extras: self.needs_extras().then(|| {
                Box::new(Extras {
                    told_line: DelayLine::new(reach.sensor_delay_ticks, [x, y, heading, speed]),
                    command_line: DelayLine::new(reach.actuator_delay_ticks, [0.0; 2]),
                    sensed: self.eyes.as_ref().map(|eyes| eyes.sensor.start()).unwrap_or_default(),
                    stand_at_m: FREE_M,
                    own_path: None,
                    histories: self.requirements.histories(),
                    measured: self.measuring.start([x, y], 0.0),
                    foreign: self.foreign().map(|_| {
                        ForeignMemory::start(seed, plan.path.sections().first().map_or(0.0, |first| first.start_m))
                    }),
                    street: self
                        .street
                        .as_ref()
                        .map(|street| Box::new(street.start(seed, start, &Car { speed, ..Car::at(pose) }))),
                    behind: self.behind.as_ref().map(|behind| Box::new(behind.memory(seed, &plan.path))),
                })
            }),
        })
    }

    /// Runs one segment and says what it read.
    pub(super) fn run_watched(
        &self,
        state: &mut DriveState,
        choice: Choice,
        watch: &mut Watch<'_>,
    ) -> Result<SegmentEnd, Fault> {
        if let Some(street) = &self.street {
            watch.reads = Reads::ALL;
            return self.run_on_street(street, state, choice, watch);
        }
        let before = state.driver.outline();
        let end = self.run_one(state, choice, watch)?;
        watch.reads = self.reads(&before, state);
        Ok(end)
    }

    /// Runs one segment, compiled for wide registers where the machine has them: the same operations, so the same bits.
    pub(super) fn run_one(
        &self,
        state: &mut DriveState,
        choice: Choice,
        watch: &mut Watch<'_>,
    ) -> Result<SegmentEnd, Fault> {
        #[cfg(target_arch = "x86_64")]
        if self.wide {
            /// # Safety
            /// The machine must have AVX2.
            #[target_feature(enable = "avx2")]
            unsafe fn with_avx2(
                drive: &Drive,
                state: &mut DriveState,
                choice: Choice,
                watch: &mut Watch<'_>,
            ) -> Result<SegmentEnd, Fault> {
                drive.run_segment(state, choice, watch)
            }
            // SAFETY: `wide` is only set where AVX2 was detected.
            return unsafe { with_avx2(self, state, choice, watch) };
        }
        self.run_segment(state, choice, watch)
    }

    #[inline(always)]
    fn run_segment(&self, state: &mut DriveState, choice: Choice, watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
        let mut scratch = self.begin_segment(state, choice, watch);
        if let Some(end) = self.open_run(state, &scratch, watch) {
            return Ok(end);
        }
        for cycle in 0..self.segment_ticks {
            if let Some(end) = self.tick(state, cycle, &mut scratch, watch)? {
                return Ok(end);
            }
        }
        Ok(self.end_segment(state, watch))
    }

    /// What a segment begins with: its error, and what is near.
    #[inline(always)]
    pub(super) fn begin_segment(&self, state: &mut DriveState, choice: Choice, watch: &mut Watch<'_>) -> Scratch<'_> {
        let effects = self.errors.begin(choice, &mut state.errors);
        self.requirements.begin(choice, &mut state.monitors);
        let car = &state.car.car;
        let (sin, cos) = maths::sin_cos(car.heading);
        let wanted = if watch.is_recording() { u64::MAX } else { self.measuring.wanted };
        let edges = self.index.near(self.index.square(car.x, car.y));
        let present = self.eyes.as_ref().map_or(0, |eyes| eyes.sensor.present(effects.appeared) & eyes.appearing);
        let mut scratch = Scratch { effects, edges, present, cos, sin, clearance_m: f64::INFINITY, wanted, work: None };
        scratch.clearance_m = self.clearance(state, &scratch);
        scratch
    }

    /// How a segment ends that nothing has ended before.
    #[inline(always)]
    pub(super) fn end_segment(&self, state: &mut DriveState, watch: &mut Watch<'_>) -> SegmentEnd {
        if state.tick < self.until_ticks {
            return SegmentEnd::Open;
        }
        self.finish(state, &[], watch).unwrap_or(SegmentEnd::TimedOut)
    }

    /// One base cycle; `Some` if the run ends in it.
    #[inline(always)]
    fn tick<'a>(
        &'a self,
        state: &mut DriveState,
        cycle: u32,
        scratch: &mut Scratch<'a>,
        watch: &mut Watch<'_>,
    ) -> Result<Option<SegmentEnd>, Fault> {
        let told = self.sense(state, cycle, scratch);
        let perceived = self.look(state, scratch);
        if let Some(end) = self.decide_if_due(state, &told, perceived, scratch) {
            return Ok(Some(end));
        }
        self.act(state, scratch, watch)
    }

    /// Takes a new command from a built-in driver or a model, in the cycles meant for it; `Some` if a model did something
    /// wrong, which ends the run.
    #[inline(always)]
    pub(super) fn decide_if_due(
        &self,
        state: &mut DriveState,
        told: &Told<f64>,
        perceived: Option<Perceived>,
        scratch: &mut Scratch<'_>,
    ) -> Option<SegmentEnd> {
        if state.tick.is_multiple_of(self.control_ticks) {
            if matches!(self.driver, Driver::Model(_)) {
                return self.decide_by_model(state, told, perceived, scratch);
            }
            let mut command = self.decide(state, told);
            if let Some(behind) = &self.behind {
                match self.pass_through(behind, state, told, command, scratch) {
                    Ok(passed) => command = passed,
                    Err(end) => return Some(end),
                }
            }
            state.command = HeldCommand { steering_rad: command.steering, accel_mps2: command.accel };
            state.car.gear = Gear::of_sign(command.gear_sign);
        }
        None
    }

    /// The rest of a base cycle, when the command is there: it reaches the car, the car moves, requirements are judged.
    #[inline(always)]
    pub(super) fn act<'a>(
        &'a self,
        state: &mut DriveState,
        scratch: &mut Scratch<'a>,
        watch: &mut Watch<'_>,
    ) -> Result<Option<SegmentEnd>, Fault> {
        let (steering, accel) = self.commanded(state, scratch);
        self.act_by(
            state,
            scratch,
            watch,
            // Left to itself the compiler makes a function of it, one that knows nothing of wide registers.
            #[inline(always)]
            |car, gear_sign| self.model.step(car, steering, accel, gear_sign),
        )
    }

    /// What reaches the car of the last command: late, altered, or as it was.
    #[inline(always)]
    pub(super) fn commanded(&self, state: &mut DriveState, scratch: &Scratch<'_>) -> (f64, f64) {
        let held = [state.command.steering_rad, state.command.accel_mps2];
        let [steering, accel] = match &mut state.extras {
            Some(extras) => extras.command_line.pass(held, scratch.effects.actuator_delay_ticks),
            None => held,
        };
        (scratch.effects.steering_rad(steering), scratch.effects.acceleration_mps2(accel))
    }

    /// As [`act`](Self::act), with the car moved by somebody: given the car and the sign of its gear, cosine and sine of the
    /// new heading.
    #[inline(always)]
    pub(super) fn act_by<'a>(
        &'a self,
        state: &mut DriveState,
        scratch: &mut Scratch<'a>,
        watch: &mut Watch<'_>,
        moved: impl FnOnce(&mut Car<f64>, f64) -> (f64, f64),
    ) -> Result<Option<SegmentEnd>, Fault> {
        let accel_before = state.car.car.accel;
        let contact = self.advance(state, scratch, moved);
        state.tick += 1;
        if !(state.car.car.x + state.car.car.y + state.car.car.heading + state.car.car.speed).is_finite() {
            return Err(Fault::Numeric(format!("the car left the numbers at tick {}", state.tick)));
        }
        watch.see_margin(scratch.clearance_m);
        let frame = self.frame(state, scratch, accel_before, contact.as_ref());
        Ok(self.see(state, &frame, contact.as_ref(), watch, |doors| self.show_obstacles(scratch, doors)))
    }

    /// What the driver is told about its car.
    #[inline(always)]
    pub(super) fn sense(&self, state: &mut DriveState, cycle: u32, scratch: &Scratch<'_>) -> Told<f64> {
        let car = &state.car.car;
        if self.localisation.is_due(u64::from(state.tick)) {
            let truth = TruePose { x: car.x, y: car.y, heading: car.heading, cos: scratch.cos, sin: scratch.sin };
            state.reading = read(truth, self.pose_error(cycle, scratch));
        }
        let speed_mps = car.speed;
        self.tell_late(state, speed_mps, scratch)
    }

    /// The error of the estimate in a base cycle of the segment.
    #[inline(always)]
    pub(super) fn pose_error(&self, cycle: u32, scratch: &Scratch<'_>) -> PoseError<f64> {
        let seconds = f64::from(cycle) * self.model.dt_s;
        PoseError {
            in_car: scratch.effects.pose_in_car.at(seconds),
            in_world: scratch.effects.pose_in_world.at(seconds),
        }
    }

    /// The last reading and a speed, as late as they arrive.
    #[inline(always)]
    pub(super) fn tell_late(&self, state: &mut DriveState, speed_mps: f64, scratch: &Scratch<'_>) -> Told<f64> {
        let fresh = [state.reading.x, state.reading.y, state.reading.heading, speed_mps];
        let [x, y, heading, speed] = match &mut state.extras {
            Some(extras) => extras.told_line.pass(fresh, scratch.effects.sensor_delay_ticks),
            None => fresh,
        };
        Told { x, y, heading, speed }
    }

    /// Perceives obstacles, plans again and thinks about what is in the way, in the cycles meant for it.
    #[inline]
    pub(super) fn look(&self, state: &mut DriveState, scratch: &Scratch<'_>) -> Option<Perceived> {
        if self.eyes.is_none() && self.replanning.is_none() {
            return None;
        }
        let perceived = self.eyes.as_ref().map(|eyes| self.perceive(eyes, state, &scratch.effects));
        let plans =
            self.replanning.as_ref().is_some_and(|r| state.tick > 0 && state.tick.is_multiple_of(r.cycle_ticks));
        let has_new_path = plans && self.replan(state, perceived, &scratch.effects);
        if let (Some(eyes), Some(perceived)) = (&self.eyes, perceived)
            && (has_new_path || state.tick.is_multiple_of(eyes.cycle_ticks))
        {
            self.consider(eyes, state, perceived, &scratch.effects);
        }
        perceived
    }

    #[inline(always)]
    fn decide(&self, state: &mut DriveState, told: &Told<f64>) -> Command<f64> {
        let own_path = state.own_path().cloned();
        let plan = &self.plans[usize::from(state.start)];
        let path = own_path.as_deref().unwrap_or(&plan.path);
        let stand_at_m = state.extras.as_ref().map_or(FREE_M, |extras| extras.stand_at_m);
        if path.sections().is_empty() {
            return Command { steering: 0.0, accel: -1.0, gear_sign: state.car.gear.sign() };
        }
        match (&self.driver, &mut state.driver) {
            (Driver::Path(follower), DriverMemory::Path(memory)) => {
                let mut lanes = PathLanes::<f64>::gather(|_| path, |_| memory);
                let command = follower.tick(|_| path, &mut lanes, told, stand_at_m);
                *memory = lanes.memory(0);
                command
            }
            (Driver::Trajectory(follower), DriverMemory::Trajectory(memory)) => {
                let trajectory = plan.trajectory.as_ref().expect("a trajectory follower has a timetable");
                let mut lanes = TrajectoryLanes::<f64>::gather(|_| (path, trajectory), |_| memory);
                let command = follower.tick(|_| (path, trajectory), &mut lanes, told);
                *memory = lanes.memory(0);
                command
            }
            _ => unreachable!("driver and memory are of one kind"),
        }
    }

    /// Moves the car and finds contact on the way, not only at its end.
    #[inline(always)]
    pub(super) fn advance<'a>(
        &'a self,
        state: &mut DriveState,
        scratch: &mut Scratch<'a>,
        moved: impl FnOnce(&mut Car<f64>, f64) -> (f64, f64),
    ) -> Option<Contact> {
        let before = state.car.car;
        let car = &mut state.car.car;
        (scratch.cos, scratch.sin) = moved(car, state.car.gear.sign());
        if (self.part.is_some() || self.street.is_some()) && self.strays(&before, car) {
            scratch.edges = self.index.all();
        }
        if car.speed.abs() > self.speed_bound_mps {
            scratch.edges = self.index.all();
        }
        let car = state.car.car;
        let (dx, dy, turn) = (car.x - before.x, car.y - before.y, car.heading - before.heading);
        let moved_m = max_displacement(&self.body, dx, dy, turn);
        let clearance_before_m = scratch.clearance_m;
        scratch.clearance_m = self.clearance(state, scratch);
        if !may_touch(clearance_before_m, scratch.clearance_m, moved_m) {
            return None;
        }
        let motion = Motion { from: before.pose(), to: car.pose() };
        let mut contact = first_contact(&self.body, &motion, scratch.edges);
        for edges in self.present_edges(scratch.present) {
            let other = first_contact(&self.body, &motion, edges);
            let sooner = |a: &Contact, b: &Contact| a.fraction.total_cmp(&b.fraction);
            contact = contact.into_iter().chain(other).min_by(sooner);
        }
        if contact.is_some() && scratch.clearance_m > 0.0 {
            scratch.clearance_m = 0.0;
        }
        contact
    }

    /// Whether a car that others move went further than the index of edges was made for, whatever speed it tells.
    fn strays(&self, before: &Car<f64>, car: &Car<f64>) -> bool {
        let (dx, dy, most_m) = (car.x - before.x, car.y - before.y, self.speed_bound_mps * self.model.dt_s);
        dx * dx + dy * dy > most_m * most_m
    }

    pub(super) fn present_edges(&self, present: u32) -> impl Iterator<Item = &[WallEdge]> {
        let solid = self.eyes.as_ref().map_or(&[][..], |eyes| &eyes.solid);
        let there = move |(n, _): &(usize, _)| present >> n & 1 == 1;
        solid.iter().enumerate().filter(there).map(|(_, edges)| edges.edges())
    }

    /// Distance to the nearest thing that is there.
    #[inline(always)]
    fn clearance(&self, state: &DriveState, scratch: &Scratch<'_>) -> f64 {
        let car = &state.car.car;
        let mut clearance_m = nearest(&self.body, car.x, car.y, scratch.cos, scratch.sin, scratch.edges);
        if scratch.present != 0 {
            for edges in self.present_edges(scratch.present) {
                clearance_m = clearance_m.min(nearest(&self.body, car.x, car.y, scratch.cos, scratch.sin, edges));
            }
        }
        clearance_m
    }

    #[inline(always)]
    pub(super) fn frame(
        &self,
        state: &DriveState,
        scratch: &Scratch<'_>,
        accel_before: f64,
        contact: Option<&Contact>,
    ) -> [f64; signal::COUNT] {
        let car = &state.car.car;
        let mut frame = [0.0; signal::COUNT];
        let truth = |yes: bool| f64::from(u8::from(yes));
        frame[signal::CLEARANCE] = scratch.clearance_m;
        frame[signal::SPEED] = car.speed;
        frame[signal::ACCELERATION] = car.accel;
        frame[signal::DECELERATION] = deceleration(car.speed, car.accel);
        frame[signal::STEERING] = car.steering;
        (frame[signal::X], frame[signal::Y], frame[signal::HEADING]) = (car.x, car.y, car.heading);
        frame[signal::AT_GOAL] = truth(self.at_goal(car));
        frame[signal::COMPLETED] = truth(state.driver.is_completed());
        frame[signal::CONTACT] = truth(contact.is_some());
        frame[signal::TIME] = f64::from(state.tick) * self.model.dt_s;
        if scratch.wanted & COSTLY != 0 {
            self.costly_signals(state, accel_before, &mut frame);
        }
        frame
    }

    /// Signals that need more work than a copy.
    fn costly_signals(&self, state: &DriveState, accel_before: f64, frame: &mut [f64; signal::COUNT]) {
        let car = &state.car.car;
        let curvature = self.model.spec.slip_gain * maths::tan(car.steering) / self.model.spec.wheelbase_m;
        frame[signal::CURVATURE] = curvature;
        frame[signal::LATERAL_ACCELERATION] = car.speed * car.speed * curvature;
        frame[signal::JERK] = (car.accel - accel_before) / self.model.dt_s;
        let reading = &state.reading;
        frame[signal::ESTIMATE_ERROR] = maths::hypot(reading.x - car.x, reading.y - car.y);
        let off = self.deviation(state);
        (frame[signal::LATERAL_ERROR], frame[signal::HEADING_ERROR]) = (off.lateral_m, off.heading);
    }

    /// Whether the car truly stands at its goal.
    #[inline(always)]
    pub(super) fn at_goal(&self, car: &Car<f64>) -> bool {
        let goal = &self.goal;
        car.speed.abs() < STANDSTILL_MPS
            && maths::hypot(car.x - goal.pose.x, car.y - goal.pose.y) <= goal.tolerance_m
            && maths::wrap_angle(car.heading - goal.pose.heading).abs() <= goal.heading_tolerance_rad
    }

    #[inline(always)]
    pub(super) fn judge(
        &self,
        state: &mut DriveState,
        frame: &[f64],
        contact: Option<&Contact>,
        watch: &mut Watch<'_>,
    ) -> Option<SegmentEnd> {
        let tick = u64::from(state.tick);
        let (memory, histories) = state.remembered();
        let judgement = self.requirements.judge(frame, tick, memory, histories);
        let place = contact.map(|c| Place {
            on_ego: [c.on_ego.x, c.on_ego.y],
            in_world: [c.in_world.x, c.in_world.y],
            other: c.obstacle,
        });
        if judgement.noted != 0 {
            verdicts(judgement.noted, tick, place).into_iter().for_each(|note| watch.note(note));
        }
        if judgement.violated != 0 {
            return Some(SegmentEnd::Violated(verdicts(judgement.violated, tick, place)));
        }
        if state.driver.is_completed() {
            return Some(self.finish(state, frame, watch).unwrap_or(SegmentEnd::Goal));
        }
        // The time of a run is over with the last base cycle of a segment.
        if self.requirements.has_finish() && state.tick >= self.until_ticks {
            return Some(self.finish(state, frame, watch).unwrap_or(SegmentEnd::TimedOut));
        }
        None
    }
}

/// Decrease of the magnitude of the speed.
pub(super) fn deceleration(speed: f64, accel: f64) -> f64 {
    let along = if speed < 0.0 { -accel } else { accel };
    if along < 0.0 { -along } else { 0.0 }
}

/// Signals that are computed only if somebody wants them.
pub(super) const COSTLY: u64 = 1 << signal::CURVATURE
    | 1 << signal::LATERAL_ACCELERATION
    | 1 << signal::JERK
    | 1 << signal::ESTIMATE_ERROR
    | 1 << signal::LATERAL_ERROR
    | 1 << signal::HEADING_ERROR;
