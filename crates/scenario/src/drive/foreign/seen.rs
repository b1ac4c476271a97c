//! What a driver from outside is told.

use anabranch_bridge::protocol::{
    Begin, CarFacts, GoalFacts, GoalSeen, ObjectSeen, PathFacts, PathSeen, PeriodFacts, PlainSeen, PoseSeen,
    SectionFacts, StartFacts,
};
use anabranch_bridge::{Card, Role, Seen};
use anabranch_driving::follow::Told;
use anabranch_errors::Effects;
use anabranch_geometry::{Path, Point};
use anabranch_kernel::{Params, maths};
use anabranch_sensing::{Perceived, PlainValues};

use super::super::along::Along;
use super::super::plan::Plan;
use super::super::state::DriveState;
use super::super::street::{OnStreet, RoadTold, covariance};
use super::super::tick::Scratch;
use super::super::{Drive, Eyes};
use super::occupancy::ends;
use super::{ForeignDriver, wants};

/// What the sensors have to say in one base cycle.
pub(super) struct Sight<'a, 'd> {
    /// On roads.
    pub(super) street: Option<&'a mut OnStreet>,
    pub(super) told: Told<f64>,
    pub(super) perceived: Option<Perceived>,
    pub(super) scratch: &'a Scratch<'d>,
}

impl Drive {
    /// What each start begins with.
    pub(in super::super) fn begins(&self, card: &Card, starts: &[Params]) -> Vec<Begin> {
        let begin = |(number, start): (usize, &Params)| {
            let mut begin = self.begin(card, &self.plans[number], start);
            if let Some(street) = &self.street {
                begin.route = street.route_facts(number);
                begin.periods.objects_s = street.look_s();
            }
            begin
        };
        starts.iter().enumerate().map(begin).collect()
    }

    fn begin(&self, card: &Card, plan: &Plan, start: &Params) -> Begin {
        let outline = &self.model.spec.outline;
        let value = |index: usize| start.0.get(index).copied().unwrap_or(0.0);
        let walls = self.walls.edges().iter().map(|edge| {
            let [a, b] = ends(edge);
            [a.x, a.y, b.x, b.y]
        });
        Begin {
            seed: 0,
            scenario: self.name.clone(),
            params: Vec::new(),
            cycle_s: match card.role {
                Role::Driver => f64::from(self.control_ticks) * self.model.dt_s,
                _ => self.model.dt_s,
            },
            until_s: f64::from(self.until_ticks) * self.model.dt_s,
            start: StartFacts { x: value(0), y: value(1), heading: value(2), speed: value(3) },
            goal: GoalFacts {
                x: self.goal.pose.x,
                y: self.goal.pose.y,
                heading: self.goal.pose.heading,
                tolerance_m: self.goal.tolerance_m,
            },
            car: CarFacts {
                wheelbase_m: self.model.spec.wheelbase_m,
                length_m: outline.front_m + outline.rear_m,
                width_m: 2.0 * outline.half_width_m,
                rear_overhang_m: outline.rear_m,
                steering_max_rad: self.model.spec.steering_max_rad,
                steering_rate_max_radps: self.model.spec.steering_rate_max_radps,
            },
            route: Vec::new(),
            path: path_facts(&plan.path, wants(card, "samples")),
            // Speed and what is free are read when the driver is asked; sensors have cycles of their own.
            periods: PeriodFacts {
                pose_s: f64::from(self.localisation.cycle_ticks) * self.model.dt_s,
                speed_s: self.model.dt_s,
                objects_s: f64::from(self.eyes.as_ref().map_or(1, |eyes| eyes.cycle_ticks)) * self.model.dt_s,
                occupancy_s: self.model.dt_s,
            },
            walls: if wants(card, "walls") { walls.collect() } else { Vec::new() },
        }
    }

    /// What the driver is told now. The host's place on the path moves on with it, and to the next section when the car
    /// stands at the end of one; waiting for the gear is left to the driver.
    pub(super) fn seen(&self, driver: &ForeignDriver, state: &mut DriveState, sight: &mut Sight<'_, '_>) -> Seen {
        let (told, car) = (&sight.told, state.car.car);
        let covariance = sight.street.as_deref().and_then(|on| covariance(&on.own)).unwrap_or(driver.covariance);
        let on_road = self.street.as_ref().zip(sight.street.as_deref_mut());
        let on_road = on_road.map(|(street, on)| street.tell(on, state.start, told));
        let goal = &self.goal.pose;
        let (sin, cos) = maths::sin_cos(told.heading);
        let (dx, dy) = (goal.x - told.x, goal.y - told.y);
        let (path, road, objects) = match on_road {
            Some(RoadTold { path, road, objects }) => (path, Some(Box::new(road)), objects),
            None => {
                let eyes = self.eyes.as_ref().zip(sight.perceived);
                let objects = eyes.map(|(eyes, perceived)| objects(eyes, perceived, &sight.scratch.effects));
                (self.path_seen(driver, state, told), None, objects.unwrap_or_default())
            }
        };
        let helped = self.street.as_ref().zip(sight.street.as_deref());
        let occupancy = driver.wants_occupancy.then(|| Box::new(self.occupancy(&car, sight.scratch.present)));
        Seen {
            time: f64::from(state.tick) * self.model.dt_s,
            tick: u64::from(state.tick),
            pose: PoseSeen { x: told.x, y: told.y, heading: told.heading, covariance },
            speed: told.speed,
            steer: car.steering,
            gear: state.car.gear.sign() as i8,
            path,
            goal: GoalSeen {
                ahead: cos * dx + sin * dy,
                left: cos * dy - sin * dx,
                heading: maths::wrap_angle(goal.heading - told.heading),
            },
            objects,
            road,
            plain: self.plain_seen(sight.street.as_deref()),
            readings: self.read_sensors(&driver.sensors, state, sight),
            radio: helped.and_then(|(street, on)| street.radio_seen(&on.own)),
            tyres: helped.and_then(|(street, on)| street.tyres_seen(&on.own)),
            occupancy,
        }
    }

    fn plain_seen(&self, on: Option<&OnStreet>) -> Option<Box<PlainSeen>> {
        let PlainValues { friction, location_m, compass_rad, speed_mps, steering_rad, to_right_m, markers_m } =
            on?.own.plain.as_ref()?.values();
        let ([x, y], [front_left, front_right, rear_left, rear_right]) = (location_m, markers_m);
        Some(Box::new(PlainSeen {
            weather: friction,
            x,
            y,
            compass: compass_rad,
            speed: speed_mps,
            steer: steering_rad,
            to_right: to_right_m,
            front_left,
            front_right,
            rear_left,
            rear_right,
        }))
    }

    /// Where the car is on its path, which moves on.
    fn path_seen(&self, driver: &ForeignDriver, state: &mut DriveState, told: &Told<f64>) -> PathSeen {
        let extras = state.extras.as_mut().expect("a driver from outside has extras");
        let limits = (state.car.gear.sign() as i8, extras.stand_at_m);
        let memory = extras.foreign.as_mut().expect("a driver from outside has a memory");
        let along = Along { station_m: &mut memory.station_m, section: &mut memory.section };
        let path = &self.plans[usize::from(state.start)].path;
        along.see(path, (&driver.lateral, &driver.speed), told, limits)
    }
}

fn path_facts(path: &Path, with_samples: bool) -> PathFacts {
    let section = |s: &anabranch_geometry::Section| SectionFacts {
        start_m: s.start_m,
        end_m: s.end_m,
        direction: s.direction as i8,
    };
    let samples = path.sections().iter().flat_map(|s| {
        path.samples()[s.first..=s.last].iter().enumerate().map(|(n, sample)| {
            let station_m = s.start_m + n as f64 * s.spacing_m;
            [sample.x, sample.y, sample.heading, sample.curvature_per_m, station_m]
        })
    });
    PathFacts {
        length_m: path.length_m(),
        sections: path.sections().iter().map(section).collect(),
        samples: if with_samples { samples.collect() } else { Vec::new() },
    }
}

/// What was perceived, as boxes along the axes of the world, where it is believed to be. Obstacles stand still.
pub(in super::super) fn objects(eyes: &Eyes, perceived: Perceived, effects: &Effects) -> Vec<ObjectSeen> {
    let seen = (0..eyes.sensor.obstacles().len() as u32).filter(|n| perceived.mask >> n & 1 == 1);
    seen.map(|n| {
        let moved_m = if perceived.displaced >> n & 1 == 1 { effects.displacement_m(n) } else { [0.0; 2] };
        let points = || eyes.sensor.obstacles()[n as usize].edges.iter().flat_map(|edge| [edge.a, edge.b]);
        let range = |value: fn(Point) -> f64| {
            points().map(value).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
        };
        let ((west, east), (south, north)) = (range(|p| p.x), range(|p| p.y));
        ObjectSeen {
            id: n,
            x: 0.5 * (west + east) + moved_m[0],
            y: 0.5 * (south + north) + moved_m[1],
            heading: 0.0,
            speed: 0.0,
            length: east - west,
            width: north - south,
            ..ObjectSeen::default()
        }
    })
    .collect()
}
