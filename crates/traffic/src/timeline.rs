//! The traffic as it would be without anybody from outside: computed once, shared by all branches.

use std::collections::VecDeque;

use crate::car::{Car, Id, Role};
use crate::demand::CARS_PER_FLOW;
use crate::population::{Input, Population, Scratch};
use crate::readers::Readers;
use crate::traffic::Traffic;
use crate::trigger::Effect;

/// One tick of the timeline.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    pub population: Population,
    /// Where each car that was there from the start lies, by name.
    places: Vec<u32>,
    /// Where each of the others lies, sorted by name.
    came: Vec<(Id, u32)>,
}

/// Not there.
const NOWHERE: u32 = u32::MAX;

impl Frame {
    fn new(population: Population, flow_ids_from: Id) -> Self {
        let mut frame = Self { population, ..Self::default() };
        frame.note_places(flow_ids_from);
        frame
    }
    /// Finds out where everybody lies.
    fn note_places(&mut self, flow_ids_from: Id) {
        let Self { population, places, came } = self;
        places.clear();
        came.clear();
        for (at, car) in population.cars.iter().enumerate().filter(|(_, car)| car.role == Role::Car) {
            if car.id >= flow_ids_from {
                came.push((car.id, at as u32));
                continue;
            }
            if places.len() <= car.id as usize {
                places.resize(car.id as usize + 1, NOWHERE);
            }
            places[car.id as usize] = at as u32;
        }
        came.sort_unstable();
    }
    /// A car by its name.
    pub(crate) fn find(&self, id: Id) -> Option<&Car> {
        let at = match self.places.get(id as usize) {
            Some(&at) => at,
            None => self.came[self.came.binary_search_by_key(&id, |place| place.0).ok()?].1,
        };
        (at != NOWHERE).then(|| &self.population.cars[at as usize])
    }
}

/// The untouched traffic, tick by tick up to a horizon. Immutable: branches read it from all threads.
///
/// It takes about 100 bytes per car and tick: a minute of 1 000 cars at ten ticks per second is 60 MB.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// Tick of the first of the frames.
    first_tick: u32,
    frames: VecDeque<Frame>,
    flow_ids_from: Id,
    updates: u64,
    scratch: Scratch,
    pub(crate) readers: Readers,
    effects: Vec<Effect>,
}

impl Timeline {
    /// Computes the timeline from a beginning over a number of ticks.
    pub fn new(traffic: &Traffic, start: Population, ticks: u32) -> Self {
        let mut timeline = Self {
            first_tick: 0,
            frames: VecDeque::new(),
            flow_ids_from: traffic.flow_ids_from,
            updates: 0,
            scratch: Scratch::default(),
            readers: Readers::new(&traffic.streets, traffic.sight_max_m),
            effects: traffic.triggers.iter().map(|trigger| trigger.effect).collect(),
        };
        timeline.rewind(start);
        (0..ticks).for_each(|_| timeline.roll(traffic, usize::MAX));
        timeline
    }
    /// Begins again; what was known is forgotten.
    pub fn rewind(&mut self, start: Population) {
        self.first_tick = start.tick;
        self.frames.clear();
        self.frames.push_back(Frame::new(start, self.flow_ids_from));
    }
    /// Computes one tick more, and keeps so many of the last ones. Whoever reads a moving part of the traffic needs no memory for all of it.
    pub fn roll(&mut self, traffic: &Traffic, keep: usize) {
        let mut next = Frame::default();
        while self.frames.len() >= keep.max(2)
            && let Some(oldest) = self.frames.pop_front()
        {
            next = oldest; // Its memory is used again.
            self.first_tick += 1;
        }
        let Some(last) = self.frames.back() else { return };
        next.population.copy_from(&last.population);
        traffic.step(&mut next.population, Input::default(), &mut self.scratch);
        self.updates += next.population.cars().count() as u64;
        next.note_places(self.flow_ids_from);
        self.frames.push_back(next);
    }
    /// The first tick it still knows.
    pub fn first_tick(&self) -> u32 {
        self.first_tick
    }
    /// How many cars it has moved by one tick so far.
    pub fn updates(&self) -> u64 {
        self.updates
    }
    /// The last tick it knows.
    pub fn horizon_ticks(&self) -> u32 {
        self.first_tick + self.frames.len() as u32 - 1
    }
    /// The untouched traffic at a tick.
    ///
    /// # Panics
    /// Beyond the horizon, or before the first tick it still knows.
    pub fn at(&self, tick: u32) -> &Population {
        &self.frame(tick).population
    }
    /// What each trigger does.
    pub(crate) fn triggers(&self) -> &[Effect] {
        &self.effects
    }
    pub(crate) fn frame(&self, tick: u32) -> &Frame {
        assert!(
            (self.first_tick..=self.horizon_ticks()).contains(&tick),
            "the timeline goes from tick {} to {}; ask for a longer one",
            self.first_tick,
            self.horizon_ticks()
        );
        &self.frames[(tick - self.first_tick) as usize]
    }
    /// Whether a car that is not there at this tick has been there, and will not come again.
    pub(crate) fn has_passed(&self, traffic: &Traffic, tick: u32, id: Id) -> bool {
        match id.checked_sub(traffic.flow_ids_from) {
            None => true,
            Some(number) => {
                let flow = (number / CARS_PER_FLOW) as usize;
                number % CARS_PER_FLOW < self.frame(tick).population.flows[flow].sent
            }
        }
    }
}
