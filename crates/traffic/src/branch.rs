//! The traffic of one branch: only what differs from the shared timeline.
//!
//! A car is *touched* as long as its state differs from that of the timeline, bit for bit. Each tick the touched ones decide, and so do those
//! whose decision could have seen a difference ([`readers`](crate::readers)): the ego, a touched car, or the place where it would be
//! without the ego. Whoever comes out as in the timeline is not touched; whoever does not, is. All others would decide as in the timeline and
//! are not computed at all. So the whole equals the full simulation bit for bit, and untouched cars are keyed by the tick alone.

use anabranch_kernel::Visitor;
use serde::{Deserialize, Serialize};

use crate::car::{Car, CarVariables, Id, Role, WALKERS_FROM};
use crate::decide::Scene;
use crate::demand::{CARS_PER_FLOW, FlowState};
use crate::objects::Bands;
use crate::population::{Input, Population, put_outsiders};
use crate::readers::Window;
use crate::streets::{Colour, LaneNumber};
use crate::timeline::{Frame, Timeline};
use crate::traffic::Traffic;
use crate::trigger::{Effect, Fired};
use crate::view::{Patches, View};
use crate::walker::{Walker, WalkerVariables};

/// What of a branch differs from the timeline.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Branch {
    /// Ticks since the start.
    pub tick: u32,
    /// Touched cars, sorted by lane and station.
    pub(crate) cars: Vec<Car>,
    /// Cars that are in the timeline, now or later, but not here; sorted.
    pub(crate) gone: Vec<Id>,
    /// Touched pedestrians.
    pub(crate) walkers: Vec<(u32, Walker)>,
    /// Touched flows.
    pub(crate) flows: Vec<(u32, FlowState)>,
    /// Triggers.
    pub(crate) fired: Fired,
}

/// Buffers of a tick of a branch: never saved, reused from tick to tick.
#[derive(Clone, Debug, Default)]
pub struct BranchScratch {
    patches: Patches,
    bands: Bands,
    /// Entries of the branch that the timeline does not have, sorted.
    added: Vec<Car>,
    /// Entries of the timeline that the branch does not have.
    ghosts: Vec<Car>,
    hidden: Vec<Id>,
    windows: Vec<Window>,
    next: Branch,
}

/// The variables of branches.
#[derive(Clone, Copy, Debug)]
pub struct BranchVariables {
    cars: CarVariables,
    walkers: WalkerVariables,
}

impl Branch {
    /// Touched cars, sorted by lane and station.
    pub fn touched(&self) -> &[Car] {
        &self.cars
    }
    /// Whether a car of the timeline is here as it is there: neither touched nor gone.
    pub fn has_as_it_was(&self, id: Id) -> bool {
        self.cars.iter().all(|car| car.id != id) && self.gone.binary_search(&id).is_err()
    }
    /// A pedestrian, touched or not.
    pub fn walker_in(&self, timeline: &Timeline, number: usize) -> Walker {
        self.walker(timeline.frame(self.tick), number)
    }
    /// Which triggers have fired.
    pub fn fired(&self) -> &Fired {
        &self.fired
    }
    /// Declares the variables of branches, and what is not in the key.
    pub fn declare<V: Visitor>(v: &mut V) -> BranchVariables {
        v.constant("fired.at#", "one place for each trigger");
        v.unread("fired", "when something was fired counts while what it does lasts");
        v.rounded("cars#", "a car within half a cell of the untouched traffic counts as untouched");
        BranchVariables { cars: CarVariables::declare(v), walkers: WalkerVariables::declare(v) }
    }
    /// Values of everything that differs from the timeline. The tick must be in the key too.
    ///
    /// Cells of a car that the timeline has in the same lane are centred about its state there, and one that is in the middle cell of every
    /// variable is keyed like an untouched one: a hair's breadth that runs backwards through a queue does not keep branches apart.
    pub fn put<V: Visitor>(&self, timeline: &Timeline, variables: &BranchVariables, v: &mut V) {
        let BranchVariables { cars: of_cars, walkers: of_walkers } = variables;
        let frame = timeline.frame(self.tick);
        let mut written = 0;
        for car in &self.cars {
            match frame.find(car.id).filter(|there| there.lane == car.lane) {
                Some(there) if car.is_alike(there) => continue,
                Some(there) => car.put_about(there, of_cars, v),
                None => car.put(of_cars, v),
            }
            written += 1;
        }
        v.extra(written | (self.gone.len() as u64) << 20 | (self.walkers.len() as u64) << 40);
        self.gone.iter().for_each(|&id| v.put_exact(of_cars.who, u64::from(id)));
        for (number, walker) in &self.walkers {
            v.put_exact(of_walkers.doing, u64::from(*number));
            walker.put(of_walkers, v);
        }
        for (number, flow) in &self.flows {
            v.put_exact(of_cars.who, u64::from(*number));
            v.put_exact(of_cars.who, u64::from(flow.waiting) | u64::from(flow.sent) << 32);
        }
        self.fired.words(timeline.triggers(), self.tick).for_each(|word| v.put_exact(of_cars.who, word));
    }
    fn walker(&self, frame: &Frame, number: usize) -> Walker {
        let touched = self.walkers.binary_search_by_key(&(number as u32), |walker| walker.0);
        touched.map_or_else(|_| frame.population.walkers[number], |at| self.walkers[at].1)
    }
    fn flow(&self, frame: &Frame, number: usize) -> FlowState {
        let touched = self.flows.binary_search_by_key(&(number as u32), |flow| flow.0);
        touched.map_or_else(|_| frame.population.flows[number], |at| self.flows[at].1)
    }
}

impl Traffic {
    /// The beginning of all branches.
    pub fn branch(&self) -> Branch {
        Branch { fired: Fired::none(self.triggers.len()), ..Branch::default() }
    }
    /// The colour that a trigger makes a light show in a branch, if one does.
    pub fn forced(&self, branch: &Branch, light: u32) -> Option<Colour> {
        branch.fired.colour(self, branch.tick, light)
    }
    /// One tick of a branch.
    ///
    /// # Panics
    /// Beyond the horizon of the timeline.
    pub fn step_branch(&self, timeline: &Timeline, branch: &mut Branch, input: Input<'_>, scratch: &mut BranchScratch) {
        let (frame, after) = (timeline.frame(branch.tick), timeline.frame(branch.tick + 1));
        branch.fired.advance(&self.triggers, branch.tick, input.outside, input.fire);
        scratch.bands.refresh(&self.streets, &self.things, &branch.fired);
        self.collect(frame, branch, input, scratch);
        let BranchScratch { patches, bands, added, ghosts, hidden, windows, next } = scratch;
        patches.clear(self.streets.count());
        for entry in added.iter().chain(ghosts.iter()) {
            patches.add(entry.lane, frame.population.in_lane(entry.lane), hidden, added);
        }
        let view = View { cars: &frame.population.cars, starts: &frame.population.starts, patches };
        let scene = Scene { traffic: self, view, tick: branch.tick, fired: &branch.fired, bands, colours: None };
        windows.clear();
        for entry in added.iter().chain(ghosts.iter()) {
            timeline.readers.of(&self.streets, entry, windows);
        }
        self.windows_of_triggers(timeline, frame, after, &branch.fired, windows);
        let mut turn = Turn { scene: &scene, timeline, after, next };
        turn.begin(branch);
        branch.cars.iter().for_each(|car| turn.decide_touched(car));
        turn.decide_readers(windows, hidden);
        turn.walk(frame, branch);
        turn.flow(frame, branch);
        next.cars.sort_unstable_by_key(Car::place);
        next.gone.sort_unstable();
        (next.tick, branch.tick) = (branch.tick, branch.tick + 1);
        std::mem::swap(&mut branch.cars, &mut next.cars);
        std::mem::swap(&mut branch.gone, &mut next.gone);
        std::mem::swap(&mut branch.walkers, &mut next.walkers);
        std::mem::swap(&mut branch.flows, &mut next.flows);
    }
    /// Lists what the branch has and the timeline has not, and the other way round.
    fn collect(&self, frame: &Frame, branch: &Branch, input: Input<'_>, scratch: &mut BranchScratch) {
        let patches = Patches::default();
        let view = View { cars: &[], starts: &[], patches: &patches };
        let scene = Scene {
            traffic: self,
            view,
            tick: branch.tick,
            fired: &branch.fired,
            bands: &scratch.bands,
            colours: None,
        };
        let BranchScratch { added, ghosts, hidden, .. } = scratch;
        put_outsiders(input, added);
        hidden.clear();
        ghosts.clear();
        for car in &branch.cars {
            added.push(*car);
            added.extend(scene.reach(car));
            hidden.push(car.id);
        }
        hidden.extend_from_slice(&branch.gone);
        for ghost in hidden.iter().filter_map(|&id| frame.find(id)) {
            ghosts.push(*ghost);
            ghosts.extend(scene.reach(ghost));
        }
        for (number, walker) in &branch.walkers {
            let number = *number as usize;
            scene.entries_of_walker(number, walker, |entry| added.push(entry));
            scene.entries_of_walker(number, &frame.population.walkers[number], |entry| ghosts.push(entry));
            hidden.push(WALKERS_FROM + number as Id);
        }
        added.sort_unstable_by_key(Car::place);
        hidden.sort_unstable();
    }
    /// Adds those who could see that a trigger has fired here and not in the timeline, or the other way round.
    fn windows_of_triggers(
        &self,
        timeline: &Timeline,
        frame: &Frame,
        after: &Frame,
        fired: &Fired,
        windows: &mut Vec<Window>,
    ) {
        for number in fired.differing(&after.population.fired) {
            match self.triggers[number].effect {
                Effect::Start(_) | Effect::Script { .. } => {} // Pedestrians and bystanders are all looked at anyway.
                Effect::Appear(thing) => {
                    let lane = self.things[thing].0.lane;
                    windows.push(Window { lane, from_m: f64::NEG_INFINITY, to_m: f64::INFINITY });
                }
                Effect::Brake { car, .. } => {
                    let place = frame.find(car).map(|car| (car.lane, car.station_m));
                    windows.extend(place.map(|(lane, at_m)| Window { lane, from_m: at_m, to_m: at_m }));
                }
                Effect::Light { light, .. } => timeline.readers.of_light(&self.streets, light, windows),
            }
        }
    }
    /// Everybody in a branch, as the full simulation would have it.
    pub fn whole(&self, timeline: &Timeline, branch: &Branch) -> Population {
        let mut scratch = BranchScratch::default();
        let frame = timeline.frame(branch.tick);
        self.collect(frame, branch, Input::default(), &mut scratch);
        let lying = frame.population.cars.iter().filter(|car| scratch.hidden.binary_search(&car.id).is_err());
        let mut cars: Vec<Car> = lying.chain(&scratch.added).copied().collect();
        cars.sort_by_key(Car::place);
        let starts = (0..=self.streets.count() as LaneNumber)
            .map(|lane| cars.partition_point(|car| car.lane < lane) as u32)
            .collect();
        Population {
            tick: branch.tick,
            cars,
            starts,
            walkers: (0..self.walkers.len()).map(|number| branch.walker(frame, number)).collect(),
            flows: (0..self.flows.len()).map(|number| branch.flow(frame, number)).collect(),
            fired: branch.fired.clone(),
        }
    }
}

/// One tick of one branch in the making.
struct Turn<'a> {
    scene: &'a Scene<'a>,
    timeline: &'a Timeline,
    after: &'a Frame,
    next: &'a mut Branch,
}

impl Turn<'_> {
    fn begin(&mut self, branch: &Branch) {
        self.next.cars.clear();
        self.next.gone.clear();
        self.next.walkers.clear();
        self.next.flows.clear();
        branch.gone.iter().for_each(|&id| self.keep_gone(id));
    }
    /// Notes that a car is not here, unless the timeline is through with it too.
    fn keep_gone(&mut self, id: Id) {
        let has_passed = || self.timeline.has_passed(self.scene.traffic, self.after.population.tick, id);
        if self.after.find(id).is_some() || !has_passed() {
            self.next.gone.push(id);
        }
    }
    fn decide_touched(&mut self, car: &Car) {
        let entries = self.scene.view.lane(car.lane);
        let at = entries.partition_point(|entry| entry.is_before(car));
        let next = self.scene.decide(car, at);
        self.note(car.id, next);
    }
    /// Lets those decide who could have seen a difference. In `hidden` are those who have decided already, or are not here.
    fn decide_readers(&mut self, windows: &mut [Window], hidden: &[Id]) {
        windows.sort_unstable_by(|a, b| a.lane.cmp(&b.lane).then(a.from_m.total_cmp(&b.from_m)));
        let mut done = (LaneNumber::MAX, 0);
        for window in windows.iter() {
            let entries = self.scene.view.lane(window.lane);
            let mut at = entries.partition_point(|entry| entry.station_m < window.from_m);
            if done.0 == window.lane {
                at = at.max(done.1);
            }
            while let Some(car) = entries.get(at).filter(|car| car.station_m <= window.to_m) {
                if car.role == Role::Car && hidden.binary_search(&car.id).is_err() {
                    let next = self.scene.decide(car, at);
                    self.note(car.id, next);
                }
                at += 1;
            }
            if done.0 != window.lane || at > done.1 {
                done = (window.lane, at);
            }
        }
    }
    /// Keeps the outcome of a car if it is not that of the timeline.
    fn note(&mut self, id: Id, next: Option<Car>) {
        match (next, self.after.find(id)) {
            (Some(next), Some(there)) if next == *there => {}
            (Some(next), _) => self.next.cars.push(next),
            (None, _) => self.keep_gone(id),
        }
    }
    fn walk(&mut self, frame: &Frame, branch: &Branch) {
        for number in 0..self.scene.traffic.walkers.len() {
            let next = self.scene.walk(number, branch.walker(frame, number));
            if next != self.after.population.walkers[number] {
                self.next.walkers.push((number as u32, next));
            }
        }
    }
    fn flow(&mut self, frame: &Frame, branch: &Branch) {
        for number in 0..self.scene.traffic.flows.len() {
            let (next, car) = self.scene.flow(number, branch.flow(frame, number));
            let there = self.after.population.flows[number];
            let ids_from = self.scene.traffic.flow_ids_from + number as Id * CARS_PER_FLOW;
            if next != there {
                self.next.flows.push((number as u32, next));
            }
            if there.sent > frame.population.flows[number].sent && there.sent > next.sent {
                self.next.gone.push(ids_from + there.sent - 1);
            }
            if let Some(car) = car {
                self.next.gone.retain(|&id| id != car.id);
                self.note(car.id, Some(car));
            }
        }
    }
}
