//! All participants as one value, and one tick of all of them.
//!
//! Entries lie sorted by lane and station, so a leader is the next one in memory. All decide from the same snapshot; those who stay in their
//! lane are written in order at once, the few who change it are merged in afterwards.

use serde::{Deserialize, Serialize};

use crate::car::{Car, Id, OUTSIDERS_FROM, Role};
use crate::decide::Scene;
use crate::demand::FlowState;
use crate::objects::Bands;
use crate::streets::{Colour, LaneNumber};
use crate::traffic::Traffic;
use crate::trigger::Fired;
use crate::view::{Patches, View};
use crate::walker::Walker;

/// Somebody who is moved from outside, such as the ego: where it is in one lane. One that is over a marking is given once per lane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outside {
    /// The lane.
    pub lane: LaneNumber,
    /// Its front along the lane.
    pub station_m: f64,
    /// Offset from the middle of the lane.
    pub lateral_m: f64,
    /// Speed along the lane; what drives backwards is seen as standing.
    pub speed_mps: f64,
    /// Its type, as a number in the list of the settings.
    pub kind: u8,
}

/// What comes from outside in one tick.
#[derive(Clone, Copy, Debug, Default)]
pub struct Input<'a> {
    /// Outsiders, such as the ego: others see them, and triggers watch them.
    pub outside: &'a [Outside],
    /// Others who are moved from outside and whom triggers do not watch, such as those on a predetermined way.
    pub bystanders: &'a [Outside],
    /// Triggers that are fired by hand or by an error choice, by number.
    pub fire: &'a [usize],
}

/// Everything that evolves, whole.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Population {
    /// Ticks since the start.
    pub tick: u32,
    /// Entries sorted by lane and station.
    pub(crate) cars: Vec<Car>,
    /// Where each lane begins in `cars`, and where the last one ends.
    pub(crate) starts: Vec<u32>,
    /// Pedestrians.
    pub(crate) walkers: Vec<Walker>,
    /// Flows.
    pub(crate) flows: Vec<FlowState>,
    /// Triggers.
    pub(crate) fired: Fired,
}

/// Buffers of a tick: never saved, reused from tick to tick.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub(crate) patches: Patches,
    pub(crate) bands: Bands,
    pub(crate) colours: Vec<Colour>,
    pub(crate) moved: Vec<Car>,
    pub(crate) added: Vec<Car>,
    pub(crate) stayed: Vec<Car>,
    pub(crate) stayed_starts: Vec<u32>,
}

impl Population {
    /// The cars, in the order of their lanes.
    pub fn cars(&self) -> impl Iterator<Item = &Car> {
        self.cars.iter().filter(|car| car.role == Role::Car)
    }
    /// The cars of a lane, along it.
    pub fn cars_in(&self, lane: LaneNumber) -> impl Iterator<Item = &Car> {
        self.in_lane(lane).iter().filter(|car| car.role == Role::Car)
    }
    /// Everything that can be met in a lane, along it: cars, what reaches over from the next lane, pedestrians.
    pub fn in_lane(&self, lane: LaneNumber) -> &[Car] {
        &self.cars[self.starts[lane as usize] as usize..self.starts[lane as usize + 1] as usize]
    }
    /// A car by its name.
    pub fn find(&self, id: Id) -> Option<&Car> {
        self.cars().find(|car| car.id == id)
    }
    /// Pedestrians.
    pub fn walkers(&self) -> &[Walker] {
        &self.walkers
    }
    /// Flows.
    pub fn flows(&self) -> &[FlowState] {
        &self.flows
    }
    /// Which triggers have fired.
    pub fn fired(&self) -> &Fired {
        &self.fired
    }
    /// Becomes the other one, in the memory it has.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        let Self { tick, cars, starts, walkers, flows, fired } = self;
        *tick = other.tick;
        cars.clone_from(&other.cars);
        starts.clone_from(&other.starts);
        walkers.clone_from(&other.walkers);
        flows.clone_from(&other.flows);
        fired.clone_from(&other.fired);
    }
}

impl Traffic {
    /// The beginning, with these cars; two must not have the same name.
    pub fn start(&self, cars: &[Car]) -> Population {
        let mut population = Population {
            tick: 0,
            cars: cars.to_vec(),
            starts: Vec::new(),
            walkers: self.walkers.iter().map(|(spec, _)| spec.start).collect(),
            flows: vec![FlowState::default(); self.flows.len()],
            fired: Fired::none(self.triggers.len()),
        };
        let patches = Patches::default();
        let bands = Bands::default();
        let view = View { cars: &[], starts: &[], patches: &patches };
        let scene = Scene { traffic: self, view, tick: 0, fired: &population.fired, bands: &bands, colours: None };
        let mut extra: Vec<Car> = cars.iter().filter_map(|car| scene.reach(car)).collect();
        for (number, walker) in population.walkers.iter().enumerate() {
            scene.entries_of_walker(number, walker, |entry| extra.push(entry));
        }
        population.cars.extend(extra);
        population.cars.sort_by_key(Car::place);
        population.starts = (0..=self.streets.count() as LaneNumber)
            .map(|lane| population.cars.partition_point(|car| car.lane < lane) as u32)
            .collect();
        population
    }
    /// One tick of everybody.
    pub fn step(&self, population: &mut Population, input: Input<'_>, scratch: &mut Scratch) {
        population.fired.advance(&self.triggers, population.tick, input.outside, input.fire);
        scratch.bands.refresh(&self.streets, &self.things, &population.fired);
        scratch.patches.clear(self.streets.count());
        put_outsiders(input, &mut scratch.added);
        let lying = |lane| population.in_lane(lane);
        for entry in &scratch.added {
            scratch.patches.add(entry.lane, lying(entry.lane), &[], &scratch.added);
        }
        let view = View { cars: &population.cars, starts: &population.starts, patches: &scratch.patches };
        let tick = population.tick;
        let fired = &population.fired;
        let mut scene = Scene { traffic: self, view, tick, fired, bands: &scratch.bands, colours: None };
        scratch.colours.clear();
        scratch.colours.extend((0..self.streets.lights().len() as u32).map(|light| scene.colour(light)));
        scene.colours = Some(&scratch.colours);
        scratch.moved.clear();
        move_cars(&scene, &mut scratch.stayed, &mut scratch.stayed_starts, &mut scratch.moved);
        for (number, flow) in population.flows.iter_mut().enumerate() {
            let (next, car) = scene.flow(number, *flow);
            *flow = next;
            scratch.moved.extend(car);
        }
        for (number, walker) in population.walkers.iter_mut().enumerate() {
            *walker = scene.walk(number, *walker);
            scene.entries_of_walker(number, walker, |entry| scratch.moved.push(entry));
        }
        scratch.moved.sort_unstable_by_key(Car::place);
        merge(&scratch.stayed, &scratch.stayed_starts, &scratch.moved, population);
        population.tick += 1;
    }
}

/// Outsiders as entries of lanes, sorted.
pub(crate) fn put_outsiders(input: Input<'_>, added: &mut Vec<Car>) {
    added.clear();
    added.extend(input.outside.iter().chain(input.bystanders).enumerate().map(|(number, outside)| Car {
        station_m: outside.station_m,
        lateral_m: outside.lateral_m,
        speed_mps: outside.speed_mps.max(0.0),
        kind: outside.kind,
        role: Role::Outside,
        ..Car::new(OUTSIDERS_FROM + number as Id, outside.lane)
    }));
    added.sort_unstable_by_key(Car::place);
}

/// Decides for every car. Those who stay in their lane come out in order, all others in `moved`.
fn move_cars(scene: &Scene<'_>, stayed: &mut Vec<Car>, starts: &mut Vec<u32>, moved: &mut Vec<Car>) {
    stayed.clear();
    starts.clear();
    starts.push(0);
    for lane in 0..scene.traffic.streets.count() as LaneNumber {
        let first = stayed.len();
        let lies_from = scene.view.starts[lane as usize] as usize;
        for (at, car) in scene.view.lane(lane).iter().enumerate() {
            scene.fetch_after(lies_from + at);
            if car.role != Role::Car {
                continue;
            }
            let Some(next) = scene.decide(car, at) else { continue };
            moved.extend(scene.reach(&next));
            if next.lane != lane {
                moved.push(next);
                continue;
            }
            stayed.push(next);
            let mut place = stayed.len() - 1;
            while place > first && stayed[place].is_before(&stayed[place - 1]) {
                stayed.swap(place, place - 1);
                place -= 1;
            }
        }
        starts.push(stayed.len() as u32);
    }
}

/// Both sorted lists as one. Few cars move, so what stayed between two of them is copied in one go.
fn merge(stayed: &[Car], stayed_starts: &[u32], moved: &[Car], out: &mut Population) {
    out.cars.clear();
    out.starts.clear();
    let mut copied = 0;
    for (before, entry) in moved.iter().enumerate() {
        let lane = entry.lane as usize;
        add_starts(out, stayed_starts, lane + 1, before);
        let from = copied.max(stayed_starts[lane] as usize);
        let rest = &stayed[from..stayed_starts[lane + 1] as usize];
        let to = from + rest.partition_point(|car| car.is_before(entry));
        out.cars.extend_from_slice(&stayed[copied..to]);
        out.cars.push(*entry);
        copied = to;
    }
    add_starts(out, stayed_starts, stayed_starts.len(), moved.len());
    out.cars.extend_from_slice(&stayed[copied..]);
}

/// Adds where lanes begin, up to the lane `end`, if so many of those who moved lie before them.
fn add_starts(out: &mut Population, stayed_starts: &[u32], end: usize, moved_before: usize) {
    let done = out.starts.len();
    if done < end {
        out.starts.extend(stayed_starts[done..end].iter().map(|start| start + moved_before as u32));
    }
}
