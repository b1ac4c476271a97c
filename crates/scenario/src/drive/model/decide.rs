//! One decision of a model, one by one: off roads and on them.

use anabranch_bridge::Seen;
use anabranch_bridge::protocol::{PathSeen, PoseSeen};
use anabranch_driving::follow::{Command, Told};
use anabranch_kernel::{Seed, SegmentEnd, Verdict, maths};
use anabranch_program::Now;
use anabranch_sensing::Perceived;
use anabranch_vehicle::Gear;

use super::super::along::Along;
use super::super::foreign::objects_seen;
use super::super::state::{DriveState, DriverMemory, FREE_M, HeldCommand};
use super::super::street::{OnStreet, RoadTold, Street};
use super::super::tick::Scratch;
use super::super::{Drive, Driver};
use super::{ModelDriver, ModelMemory, Moment};
use crate::models::{PLAIN, Plain};

/// Everything that is told about the way, and whatever else.
#[derive(Default)]
struct Way {
    path: PathSeen,
    seen: Option<Box<Seen>>,
}

impl Drive {
    /// Takes a new command from a model; `Some` if it did something wrong, which ends the run.
    pub(in super::super) fn decide_by_model(
        &self,
        state: &mut DriveState,
        told: &Told<f64>,
        perceived: Option<Perceived>,
        scratch: &mut Scratch<'_>,
    ) -> Option<SegmentEnd> {
        let Driver::Model(driver) = &self.driver else { return None };
        let path = self.model_path(driver, state, told);
        let eyes = self.eyes.as_ref().zip(perceived).filter(|_| driver.sees);
        let seen = eyes.map(|(eyes, perceived)| {
            Box::new(Seen { objects: objects_seen(eyes, perceived, &scratch.effects), ..Seen::default() })
        });
        self.take_decision(driver, state, told, &Way { path, seen }, scratch)
    }

    /// The same on roads.
    pub(in super::super) fn decide_by_model_on_street(
        &self,
        street: &Street,
        on: &mut OnStreet,
        state: &mut DriveState,
        told: &Told<f64>,
        scratch: &mut Scratch<'_>,
    ) -> Option<SegmentEnd> {
        let Driver::Model(driver) = &self.driver else { return None };
        let RoadTold { path, road, objects } = street.tell(on, state.start, told);
        let pose = PoseSeen { x: told.x, y: told.y, heading: told.heading, ..PoseSeen::default() };
        let (radio, tyres) = (street.radio_seen(&on.own), street.tyres_seen(&on.own));
        let seen = Seen { pose, objects, road: Some(Box::new(road)), radio, tyres, ..Seen::default() };
        let way = Way { path, seen: driver.sees.then(|| Box::new(seen)) };
        self.take_decision(driver, state, told, &way, scratch)
    }

    fn take_decision(
        &self,
        driver: &ModelDriver,
        state: &mut DriveState,
        told: &Told<f64>,
        way: &Way,
        scratch: &mut Scratch<'_>,
    ) -> Option<SegmentEnd> {
        let plain = self.plain_numbers(state, told, &way.path);
        let tick = u64::from(state.tick);
        let scale = driver.noise_scale(state.car.car.x, state.car.car.y);
        let memory = memory_of(state);
        let work = scratch.work.get_or_insert_with(|| Box::new(driver.work()));
        driver.load(&memory.values, work);
        let now = Now { seed: Seed(memory.seed), tick };
        let decided = driver.tick(work, &plain, way.seen.as_deref(), Moment::of_driver(now, scale));
        driver.store(work, &mut memory.values);
        match decided {
            Err(wrong) => {
                // The numbers of a state are finite.
                memory.values.iter_mut().filter(|value| !value.is_finite()).for_each(|value| *value = 0.0);
                let verdict = Verdict { requirement: driver.requirement(wrong), tick, place: None };
                Some(SegmentEnd::Violated(vec![verdict]))
            }
            Ok(decided) => {
                memory.completed = decided.completed;
                state.command = HeldCommand { steering_rad: decided.steer, accel_mps2: decided.accel };
                state.car.gear = Gear::of_sign(decided.gear.unwrap_or(f64::from(way.path.direction)));
                None
            }
        }
    }

    /// What component models behind a built-in driver make of its command; `Err` if they did something wrong, which ends
    /// the run.
    pub(in super::super) fn pass_through(
        &self,
        behind: &ModelDriver,
        state: &mut DriveState,
        told: &Told<f64>,
        command: Command<f64>,
        scratch: &mut Scratch<'_>,
    ) -> Result<Command<f64>, SegmentEnd> {
        let plain = self.plain_numbers(state, told, &PathSeen::default());
        let tick = u64::from(state.tick);
        let memory = state.extras.as_mut().and_then(|extras| extras.behind.as_mut());
        let memory = memory.expect("a state has the memory of all parts");
        let work = scratch.work.get_or_insert_with(|| Box::new(behind.work()));
        behind.load(&memory.values, work);
        let driven = [command.steering, command.accel, command.gear_sign];
        let moment = Moment { now: Now { seed: Seed(memory.seed), tick }, scale: 1.0, driven };
        let decided = behind.tick(work, &plain, None, moment);
        behind.store(work, &mut memory.values);
        match decided {
            Ok(decided) => Ok(Command {
                steering: decided.steer,
                accel: decided.accel,
                gear_sign: decided.gear.unwrap_or(command.gear_sign),
            }),
            Err(wrong) => {
                // The numbers of a state are finite.
                memory.values.iter_mut().filter(|value| !value.is_finite()).for_each(|value| *value = 0.0);
                Err(SegmentEnd::Violated(vec![Verdict { requirement: behind.requirement(wrong), tick, place: None }]))
            }
        }
    }

    fn plain_numbers(&self, state: &DriveState, told: &Told<f64>, path: &PathSeen) -> [f64; PLAIN] {
        let mut plain = [0.0; PLAIN];
        let mut put = |signal: Plain, value: f64| plain[signal as usize] = value;
        put(Plain::Time, f64::from(state.tick) * self.model.dt_s);
        put(Plain::Tick, f64::from(state.tick));
        put(Plain::PoseX, told.x);
        put(Plain::PoseY, told.y);
        put(Plain::PoseHeading, told.heading);
        put(Plain::Speed, told.speed);
        put(Plain::Steer, state.car.car.steering);
        put(Plain::Gear, state.car.gear.sign());
        put(Plain::PathStation, path.station);
        put(Plain::PathLateral, path.lateral);
        put(Plain::PathHeading, path.heading);
        put(Plain::PathCurvature, path.curvature);
        put(Plain::PathRemaining, path.remaining);
        put(Plain::PathSpeedMax, path.speed_max);
        put(Plain::PathDirection, f64::from(path.direction));
        put(Plain::PathSection, f64::from(path.section));
        put(Plain::PathSectionsLeft, f64::from(path.sections_left));
        put(Plain::PathToEnd, path.to_end);
        let goal = &self.goal.pose;
        let (sin, cos) = maths::sin_cos(told.heading);
        let (dx, dy) = (goal.x - told.x, goal.y - told.y);
        put(Plain::GoalAhead, cos * dx + sin * dy);
        put(Plain::GoalLeft, cos * dy - sin * dx);
        put(Plain::GoalHeading, maths::wrap_angle(goal.heading - told.heading));
        plain
    }

    /// Where the car is on its path, which moves on.
    fn model_path(&self, driver: &ModelDriver, state: &mut DriveState, told: &Told<f64>) -> PathSeen {
        let stand_at_m = state.extras.as_ref().map_or(FREE_M, |extras| extras.stand_at_m);
        let limits = (state.car.gear.sign() as i8, stand_at_m);
        let path = &self.plans[usize::from(state.start)].path;
        let ModelMemory { station_m, section, .. } = memory_of(state);
        Along { station_m, section }.see(path, (&driver.lateral, &driver.speed), told, limits)
    }
}

fn memory_of(state: &mut DriveState) -> &mut ModelMemory {
    match &mut state.driver {
        DriverMemory::Model(memory) => memory,
        _ => unreachable!("driver and memory are of one kind"),
    }
}
