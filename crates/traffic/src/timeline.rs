//! The traffic as it would be without anybody from outside: computed once, shared by all branches.

use crate::car::{Car, Id, Role};
use crate::demand::CARS_PER_FLOW;
use crate::population::{Input, Population, Scratch};
use crate::readers::Readers;
use crate::traffic::Traffic;

/// One tick of the timeline.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub population: Population,
    /// Where each car lies, sorted by name.
    places: Vec<(Id, u32)>,
}

impl Frame {
    fn new(population: Population) -> Self {
        let mains = population.cars.iter().enumerate().filter(|(_, car)| car.role == Role::Car);
        let mut places: Vec<(Id, u32)> = mains.map(|(at, car)| (car.id, at as u32)).collect();
        places.sort_unstable();
        Self { population, places }
    }
    /// A car by its name.
    pub(crate) fn find(&self, id: Id) -> Option<&Car> {
        let at = self.places.binary_search_by_key(&id, |place| place.0).ok()?;
        Some(&self.population.cars[self.places[at].1 as usize])
    }
}

/// The untouched traffic, tick by tick up to a horizon. Immutable: branches read it from all threads.
///
/// It takes about 100 bytes per car and tick: a minute of 1 000 cars at ten ticks per second is 60 MB.
#[derive(Clone, Debug)]
pub struct Timeline {
    frames: Vec<Frame>,
    pub(crate) readers: Readers,
}

impl Timeline {
    /// Computes the timeline from a beginning over a number of ticks.
    pub fn new(traffic: &Traffic, start: Population, ticks: u32) -> Self {
        let mut scratch = Scratch::default();
        let mut now = start;
        let mut frames = vec![Frame::new(now.clone())];
        for _ in 0..ticks {
            traffic.step(&mut now, Input::default(), &mut scratch);
            frames.push(Frame::new(now.clone()));
        }
        Self { frames, readers: Readers::new(&traffic.streets, traffic.sight_max_m) }
    }
    /// The last tick it knows.
    pub fn horizon_ticks(&self) -> u32 {
        self.frames.len() as u32 - 1
    }
    /// The untouched traffic at a tick.
    ///
    /// # Panics
    /// Beyond the horizon.
    pub fn at(&self, tick: u32) -> &Population {
        &self.frame(tick).population
    }
    pub(crate) fn frame(&self, tick: u32) -> &Frame {
        assert!(
            tick <= self.horizon_ticks(),
            "the timeline ends at tick {}; ask for a longer one",
            self.horizon_ticks()
        );
        &self.frames[tick as usize]
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
