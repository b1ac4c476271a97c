//! One decision of a model, one by one: off roads and on them.

use anabranch_bridge::Seen;
use anabranch_bridge::protocol::{PathSeen, PoseSeen};
use anabranch_driving::follow::{STANDSTILL_MPS, SectionLanes, Told, look_up, project};
use anabranch_kernel::{Seed, SegmentEnd, Verdict, maths};
use anabranch_program::Now;
use anabranch_sensing::Perceived;
use anabranch_vehicle::Gear;

use super::super::foreign::objects_seen;
use super::super::state::{DriveState, DriverMemory, FREE_M, HeldCommand};
use super::super::street::{OnStreet, RoadTold, Street};
use super::super::tick::Scratch;
use super::super::{Drive, Driver};
use super::{ModelDriver, ModelMemory};
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
        let seen = Seen { pose, objects, road: Some(Box::new(road)), ..Seen::default() };
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
        let memory = memory_of(state);
        let work = scratch.work.get_or_insert_with(|| Box::new(driver.work()));
        driver.load(&memory.values, work);
        let now = Now { seed: Seed(memory.seed), tick };
        let decided = driver.tick(work, &plain, way.seen.as_deref(), now);
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

    /// The same look-up, projection and look-ahead as that of the built-in path follower, with the same bits. The place
    /// on the path moves on, and to the next section when the car stands at the end of one.
    fn model_path(&self, driver: &ModelDriver, state: &mut DriveState, told: &Told<f64>) -> PathSeen {
        let gear = state.car.gear.sign() as i8;
        let stand_at_m = state.extras.as_ref().map_or(FREE_M, |extras| extras.stand_at_m);
        let path = &self.plans[usize::from(state.start)].path;
        let memory = memory_of(state);
        let Some(section) = path.sections().get(memory.section as usize) else {
            return PathSeen { direction: gear, ..PathSeen::default() };
        };
        let lanes = SectionLanes::<f64>::gather(|_| section);
        let reference = look_up(|_| path.samples(), &lanes, memory.station_m);
        let ahead = driver.lateral.look_ahead(|_| path.samples(), &lanes, memory.station_m, told.speed);
        let (station_m, deviation) = project(&reference, &lanes, memory.station_m, told);
        memory.station_m = station_m;
        let to_end_m = section.end_m - station_m;
        let sections_left = (path.sections().len() - 1) as u32 - memory.section;
        let seen = PathSeen {
            station: station_m,
            lateral: deviation.lateral_m,
            heading: deviation.heading,
            curvature: ahead.curvature,
            remaining: to_end_m.min(stand_at_m.min(FREE_M) - station_m),
            speed_max: ahead.speed_max_mps,
            direction: section.direction as i8,
            section: memory.section,
            sections_left,
            to_end: to_end_m,
        };
        if sections_left > 0 && driver.speed.reached(to_end_m) && told.speed.abs() < STANDSTILL_MPS {
            memory.section += 1;
            memory.station_m = path.sections()[memory.section as usize].start_m;
        }
        seen
    }
}

fn memory_of(state: &mut DriveState) -> &mut ModelMemory {
    match &mut state.driver {
        DriverMemory::Model(memory) => memory,
        _ => unreachable!("driver and memory are of one kind"),
    }
}
