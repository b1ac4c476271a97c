//! A model in segments side by side: the way is looked up in all lanes at once, the model is computed lane by lane.

use anabranch_driving::follow::{Command, STANDSTILL_MPS, SectionLanes, Told, look_up, project};
use anabranch_geometry::Path;
use anabranch_kernel::Seed;
use anabranch_kernel::maths::{self, Real};
use anabranch_program::Now;
use anabranch_vehicle::Car;

use super::super::lanes::{LANES_MAX, LaneDriver};
use super::super::state::{DriverMemory, FREE_M};
use super::{ModelDriver, ModelMemory, Moment, Work};
use crate::models::{PLAIN, Plain};

/// Models side by side, each in its own memory.
pub(in super::super) struct ModelLanes<'d, R: Real> {
    driver: &'d ModelDriver,
    path: &'d Path,
    goal: anabranch_geometry::Pose,
    dt_s: f64,
    section: SectionLanes<R>,
    sections: [u32; LANES_MAX],
    sections_left: [f64; LANES_MAX],
    seeds: [u64; LANES_MAX],
    station_m: R,
    gear: R,
    completed: R,
    /// Lanes in which something happened that needs a decision.
    disturbed: R::Mask,
    works: Vec<Work>,
}

impl<'d, R: Real> ModelLanes<'d, R> {
    /// Loads memories; all lanes have the same path.
    #[inline(always)]
    pub(in super::super) fn gather<'m>(
        driver: &'d ModelDriver,
        path: &'d Path,
        (goal, dt_s): (anabranch_geometry::Pose, f64),
        memory: impl Fn(usize) -> &'m ModelMemory,
        gear: impl Fn(usize) -> f64,
    ) -> Self {
        let work = |lane: usize| {
            let mut work = driver.work();
            driver.load(&memory(lane).values, &mut work);
            work
        };
        let of = |lane: usize| memory(lane.min(R::LANES - 1));
        let last = (path.sections().len() - 1) as u32;
        let zero = R::splat(0.0);
        Self {
            driver,
            path,
            goal,
            dt_s,
            section: SectionLanes::gather(|lane| &path.sections()[memory(lane).section as usize]),
            sections: std::array::from_fn(|lane| of(lane).section),
            sections_left: std::array::from_fn(|lane| f64::from(last - of(lane).section)),
            seeds: std::array::from_fn(|lane| of(lane).seed),
            station_m: R::from_lanes(|lane| memory(lane).station_m),
            gear: R::from_lanes(gear),
            completed: R::from_lanes(|lane| f64::from(u8::from(memory(lane).completed))),
            disturbed: zero.lt(zero),
            works: (0..R::LANES).map(work).collect(),
        }
    }

    /// The plain numbers of all lanes.
    #[inline(always)]
    fn told(&mut self, told: &Told<R>, car: &Car<R>, tick: u32) -> [R; PLAIN] {
        let zero = R::splat(0.0);
        let (path, section) = (self.path, self.section);
        let reference = look_up(|_| path.samples(), &section, self.station_m);
        let ahead = self.driver.lateral.look_ahead(|_| path.samples(), &section, self.station_m, told.speed);
        let (station_m, deviation) = project(&reference, &section, self.station_m, told);
        self.station_m = station_m;
        let to_end_m = section.end_m - station_m;
        let mut plain = [zero; PLAIN];
        plain[Plain::Time as usize] = R::splat(f64::from(tick) * self.dt_s);
        plain[Plain::Tick as usize] = R::splat(f64::from(tick));
        plain[Plain::PoseX as usize] = told.x;
        plain[Plain::PoseY as usize] = told.y;
        plain[Plain::PoseHeading as usize] = told.heading;
        plain[Plain::Speed as usize] = told.speed;
        plain[Plain::Steer as usize] = car.steering;
        plain[Plain::Gear as usize] = self.gear;
        plain[Plain::PathStation as usize] = station_m;
        plain[Plain::PathLateral as usize] = deviation.lateral_m;
        plain[Plain::PathHeading as usize] = deviation.heading;
        plain[Plain::PathCurvature as usize] = ahead.curvature;
        plain[Plain::PathRemaining as usize] = to_end_m.min(R::splat(FREE_M) - station_m);
        plain[Plain::PathSpeedMax as usize] = ahead.speed_max_mps;
        plain[Plain::PathDirection as usize] = section.direction;
        plain[Plain::PathSection as usize] = R::from_lanes(|lane| f64::from(self.sections[lane]));
        plain[Plain::PathSectionsLeft as usize] = R::from_lanes(|lane| self.sections_left[lane]);
        plain[Plain::PathToEnd as usize] = to_end_m;
        let goal = 1 << Plain::GoalAhead as u32 | 1 << Plain::GoalLeft as u32 | 1 << Plain::GoalHeading as u32;
        if self.driver.wanted & goal != 0 {
            let (sin, cos) = maths::sin_cos(told.heading);
            let (dx, dy) = (R::splat(self.goal.x) - told.x, R::splat(self.goal.y) - told.y);
            plain[Plain::GoalAhead as usize] = cos * dx + sin * dy;
            plain[Plain::GoalLeft as usize] = cos * dy - sin * dx;
            plain[Plain::GoalHeading as usize] = maths::wrap_angle(R::splat(self.goal.heading) - told.heading);
        }
        // The next section begins where a car stands at the end of one; that is decided one by one.
        let more = zero.lt(plain[Plain::PathSectionsLeft as usize]);
        let stands = told.speed.abs().lt(R::splat(STANDSTILL_MPS));
        self.disturbed = self.disturbed | (more & stands & self.driver.speed.reached(to_end_m));
        plain
    }
}

impl<R: Real> LaneDriver<R> for ModelLanes<'_, R> {
    #[inline(always)]
    fn tick(&mut self, told: &Told<R>, car: &Car<R>, tick: u32) -> Command<R> {
        let plain = self.told(told, car, tick);
        let mut numbers = [[0.0; PLAIN]; LANES_MAX];
        for signal in (0..PLAIN).filter(|signal| self.driver.wanted >> signal & 1 == 1) {
            for (lane, numbers) in numbers.iter_mut().enumerate().take(R::LANES) {
                numbers[signal] = plain[signal].lane(lane);
            }
        }
        let direction = plain[Plain::PathDirection as usize];
        let mut answers = [[0.0; 5]; LANES_MAX];
        for lane in 0..R::LANES {
            let now = Now { seed: Seed(self.seeds[lane]), tick: u64::from(tick) };
            let scale = self.driver.noise_scale(car.x.lane(lane), car.y.lane(lane));
            answers[lane] =
                match self.driver.tick(&mut self.works[lane], &numbers[lane], None, Moment::of_driver(now, scale)) {
                    Ok(decided) => {
                        let gear = decided.gear.unwrap_or(direction.lane(lane));
                        [decided.steer, decided.accel, gear, f64::from(u8::from(decided.completed)), 0.0]
                    }
                    Err(_) => [0.0, 0.0, 1.0, 0.0, 1.0],
                };
        }
        let answer = |number: usize| R::from_lanes(|lane| answers[lane][number]);
        self.completed = answer(3);
        self.gear = answer(2);
        self.disturbed = self.disturbed | R::splat(0.0).lt(answer(4));
        Command { steering: answer(0), accel: answer(1), gear_sign: self.gear }
    }
    #[inline(always)]
    fn completed(&self) -> R {
        self.completed
    }
    #[inline(always)]
    fn disturbed(&self) -> R::Mask {
        self.disturbed
    }
    fn memory(&self, lane: usize, before: &DriverMemory) -> DriverMemory {
        let DriverMemory::Model(before) = before else { unreachable!("driver and memory are of one kind") };
        let mut memory = before.clone();
        memory.station_m = self.station_m.lane(lane);
        memory.completed = self.completed.lane(lane) > 0.0;
        self.driver.store(&self.works[lane], &mut memory.values);
        DriverMemory::Model(memory)
    }
}
