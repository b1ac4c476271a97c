//! The traffic of a scenario: immutable, shared by all branches.

use anabranch_kernel::{Chance, Seed};

use crate::car::{Car, Id, Kind, WALKERS_FROM, Wish};
use crate::demand::{CARS_PER_FLOW, Draws, Flow, Hop, Route};
use crate::objects::{Script, Thing};
use crate::settings::Settings;
use crate::streets::{LaneEnd, LaneNumber, NO_LANE, Streets};
use crate::trigger::{Effect, Trigger};
use crate::walker::WalkerSpec;

/// Everything that a traffic is made of.
#[derive(Clone, Debug)]
pub struct World {
    /// The lanes.
    pub streets: Streets,
    /// How drivers behave.
    pub settings: Settings,
    /// Where cars come in.
    pub flows: Vec<Flow>,
    /// Routes; a car with route n takes number n − 1.
    pub routes: Vec<Route>,
    /// Pedestrians.
    pub walkers: Vec<WalkerSpec>,
    /// Things that stand in lanes.
    pub things: Vec<Thing>,
    /// Cars with a predetermined course.
    pub scripts: Vec<Script>,
    /// Named events.
    pub triggers: Vec<Trigger>,
}

impl World {
    /// Streets and drivers, and nothing else yet.
    pub fn new(streets: Streets, settings: Settings) -> Self {
        let (flows, routes, walkers, things) = (vec![], vec![], vec![], vec![]);
        Self { streets, settings, flows, routes, walkers, things, scripts: vec![], triggers: vec![] }
    }
}

/// What is wrong with a world.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TrafficError {
    /// Values of the settings.
    #[error("drivers of the traffic: {0}")]
    Settings(&'static str),
    /// Something names what does not exist.
    #[error("{what} {number} names {named}, which does not exist")]
    Missing {
        /// What.
        what: &'static str,
        /// Which one.
        number: usize,
        /// What it names.
        named: String,
    },
    /// A value that cannot be.
    #[error("{what} {number}: {fault}")]
    Value {
        /// What.
        what: &'static str,
        /// Which one.
        number: usize,
        /// What is wrong.
        fault: &'static str,
    },
}

/// The traffic: behaviour only. What evolves is a [`Population`](crate::Population) or a [`Branch`](crate::Branch).
#[derive(Clone, Debug)]
pub struct Traffic {
    pub(crate) streets: Streets,
    pub(crate) settings: Settings,
    pub(crate) flows: Vec<Flow>,
    pub(crate) routes: Vec<Route>,
    pub(crate) walkers: Vec<(WalkerSpec, Option<usize>)>,
    pub(crate) things: Vec<(Thing, Option<usize>)>,
    pub(crate) scripts: Vec<Script>,
    pub(crate) triggers: Vec<Trigger>,
    pub(crate) draws: Draws,
    pub(crate) walker_kind: u8,
    pub(crate) step_us: u64,
    pub(crate) flow_ids_from: Id,
    /// Half the number of ticks between two thoughts of a free change.
    pub(crate) change_period: u32,
    /// The farthest that anybody looks ahead, whatever his speed.
    pub(crate) sight_max_m: f64,
    sight_at_rest_m: f64,
    sight_per_mps: f64,
}

/// A pedestrian as something in a lane.
const WALKER_KIND: Kind = Kind { length_m: 1.0, width_m: 0.6, drive_mps2: 1.0, brake_mps2: 1.0, limit_share: 1.0 };

impl Traffic {
    /// The traffic of a world. All chance comes from the seed.
    ///
    /// # Errors
    /// When values cannot be, or something names what does not exist.
    pub fn new(world: World, seed: Seed) -> Result<Self, TrafficError> {
        check(&world)?;
        let World { streets, mut settings, flows, routes, walkers, things, mut scripts, triggers } = world;
        let sight_at_rest_m = settings.sight_m(0.0);
        let sight_per_mps = settings.sight_m(1.0) - sight_at_rest_m;
        settings.kinds.push(WALKER_KIND);
        scripts.sort_by_key(|script| script.car);
        let started = |n: usize| triggers.iter().position(|t| matches!(t.effect, Effect::Start(i) if i == n));
        let shown = |n: usize| triggers.iter().position(|t| matches!(t.effect, Effect::Appear(i) if i == n));
        Ok(Self {
            walkers: walkers.into_iter().enumerate().map(|(n, walker)| (walker, started(n))).collect(),
            things: things.into_iter().enumerate().map(|(n, thing)| (thing, shown(n))).collect(),
            draws: Draws::new(seed),
            walker_kind: settings.kinds.len() as u8 - 1,
            step_us: (settings.step_s * 1e6).round() as u64,
            flow_ids_from: 1 << 24,
            change_period: (0.5 / settings.step_s).round().max(1.0) as u32,
            sight_max_m: sight_at_rest_m + sight_per_mps * streets.fastest_mps(),
            streets,
            settings,
            flows,
            routes,
            scripts,
            triggers,
            sight_at_rest_m,
            sight_per_mps,
        })
    }
    /// The lanes.
    pub fn streets(&self) -> &Streets {
        &self.streets
    }
    /// How drivers behave; the last of the kinds is that of pedestrians as cars see them.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
    /// Named events; their numbers are what a tick is asked to fire.
    pub fn triggers(&self) -> &[Trigger] {
        &self.triggers
    }
    /// A pedestrian.
    pub fn walker(&self, number: usize) -> &WalkerSpec {
        &self.walkers[number].0
    }
    /// The trigger that a pedestrian waits for.
    pub fn walker_trigger(&self, number: usize) -> Option<usize> {
        self.walkers[number].1
    }
    #[inline(always)]
    pub(crate) fn sight_m(&self, speed_mps: f64) -> f64 {
        (self.sight_at_rest_m + self.sight_per_mps * speed_mps).min(self.sight_max_m)
    }
    #[inline]
    pub(crate) fn script_of(&self, id: Id) -> Option<&Script> {
        if self.scripts.is_empty() {
            return None;
        }
        self.scripts.binary_search_by_key(&id, |script| script.car).ok().map(|at| &self.scripts[at])
    }
    /// Where a car would go from a lane, and whether it must leave it to the side.
    #[inline]
    pub(crate) fn next_of(&self, car: &Car, lane: LaneNumber) -> (LaneNumber, Wish) {
        if car.route > 0 {
            match self.routes[usize::from(car.route) - 1].hop(lane) {
                Some(Hop::Next(next)) => return (next, Wish::None),
                Some(Hop::Left) => return (NO_LANE, Wish::Left),
                Some(Hop::Right) => return (NO_LANE, Wish::Right),
                Some(Hop::End) => return (NO_LANE, Wish::None),
                None => {} // Off the route: by the turn shares, like everybody.
            }
        }
        let data = self.streets.lane(lane);
        if data.only_next != NO_LANE {
            return (data.only_next, Wish::None);
        }
        match self.streets.next(lane) {
            [] => {
                let wish = match (data.end, data.left != NO_LANE, data.right != NO_LANE) {
                    (LaneEnd::Drop, true, _) => Wish::Left,
                    (LaneEnd::Drop, false, true) => Wish::Right,
                    _ => Wish::None,
                };
                (NO_LANE, wish)
            }
            _ => {
                let uniform = Chance::at(self.draws.turns, u64::from(car.id)).uniform(u64::from(lane));
                (self.streets.pick(lane, uniform), Wish::None)
            }
        }
    }
    /// Puts a car into a lane and lets it look where it goes from there.
    #[inline]
    pub(crate) fn enter(&self, car: &mut Car, lane: LaneNumber) {
        car.lane = lane;
        car.waited_ticks = 0;
        (car.next, car.wish) = self.next_of(car, lane);
    }
    /// A car at a place, ready to drive.
    pub fn car(&self, id: Id, lane: LaneNumber, station_m: f64, speed_mps: f64) -> Car {
        let mut car = Car { station_m, speed_mps, time_gap_s: self.settings.gap.time_gap_s, ..Car::new(id, lane) };
        self.enter(&mut car, lane);
        car
    }
    /// The same car with a route, or of another type.
    pub fn with(&self, car: Car, kind: u8, route: u16) -> Car {
        let mut car = Car { kind, route, ..car };
        let lane = car.lane;
        self.enter(&mut car, lane);
        car
    }
}

fn check(world: &World) -> Result<(), TrafficError> {
    if let Some(fault) = world.settings.fault() {
        return Err(TrafficError::Settings(fault));
    }
    let lanes = world.streets.count();
    let lane = |what: &'static str, number: usize, lane: LaneNumber| {
        let missing = TrafficError::Missing { what, number, named: format!("lane {lane}") };
        if (lane as usize) < lanes { Ok(()) } else { Err(missing) }
    };
    let value = |what: &'static str, number: usize, sound: bool, fault: &'static str| {
        if sound { Ok(()) } else { Err(TrafficError::Value { what, number, fault }) }
    };
    // Names of cars of flows must stay below those of walkers.
    let flows_max = ((WALKERS_FROM - (1 << 24)) / CARS_PER_FLOW) as usize;
    value("flow", world.flows.len(), world.flows.len() <= flows_max, "there are too many flows")?;
    for (n, flow) in world.flows.iter().enumerate() {
        lane("flow", n, flow.lane)?;
        let sound = flow.per_hour >= 0.0 && flow.per_hour * world.settings.step_s <= 3600.0 && flow.speed_mps >= 0.0;
        value("flow", n, sound, "rate and speed must not be negative, and the rate at most one car per tick")?;
        value("flow", n, usize::from(flow.kind) < world.settings.kinds.len(), "there is no such type of car")?;
        value("flow", n, usize::from(flow.route) <= world.routes.len(), "there is no such route")?;
    }
    for (n, walker) in world.walkers.iter().enumerate() {
        walker.crossed.iter().try_for_each(|crossed| lane("walker", n, crossed.lane))?;
        value("walker", n, walker.step_m.is_finite() && walker.step_m > 0.0, "its step must be positive")?;
    }
    for (n, thing) in world.things.iter().enumerate() {
        lane("thing", n, thing.lane)?;
        let place = thing.standing;
        let sound =
            place.from_m <= place.to_m && place.right_m <= place.left_m && (place.to_m - place.from_m).is_finite();
        value("thing", n, sound, "it must end after it begins, and its left edge must be left of its right one")?;
    }
    for (n, script) in world.scripts.iter().enumerate() {
        let sound = script.profile.is_sorted_by(|a, b| a.0 < b.0) && script.profile.iter().all(|p| p.1 >= 0.0);
        value("script", n, sound && !script.profile.is_empty(), "times must rise and speeds must not be negative")?;
    }
    for (n, trigger) in world.triggers.iter().enumerate() {
        let (sound, named) = match trigger.effect {
            Effect::Start(walker) => (walker < world.walkers.len(), format!("walker {walker}")),
            Effect::Appear(thing) => (thing < world.things.len(), format!("thing {thing}")),
            Effect::Light { light, .. } => ((light as usize) < world.streets.lights().len(), format!("light {light}")),
            Effect::Brake { .. } | Effect::Script { .. } => (true, String::new()),
        };
        if !sound {
            return Err(TrafficError::Missing { what: "trigger", number: n, named });
        }
    }
    Ok(())
}
