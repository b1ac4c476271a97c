//! An optimiser from outside: asked and told over the bridge. Its state is its path, so it is saved as what it was asked
//! and told, and goes on after an interruption by being asked the same again.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anabranch_bridge::protocol::{Ask, DimensionFacts, SearchFacts, ToldPoint};
use anabranch_bridge::{Answer, Factory, Instance, Misbehaviour, Op, Role};
use anabranch_kernel::{Seed, StateError, from_bytes, to_bytes};
use anabranch_search::{Domain, Optimiser, Space, Told};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::outside;

/// Why an optimiser can no longer be asked; shared with whoever ends the search then.
pub type Broken = Arc<Mutex<Option<String>>>;

/// What was asked, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Exchange {
    told: Vec<Told>,
    restart: bool,
    at_most: u32,
    points: Vec<Vec<f64>>,
}

/// What evolves: everything that was said.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
struct Past {
    exchanges: Vec<Exchange>,
    told: Vec<Told>,
    restart: bool,
}

/// An optimiser in a process of its own.
pub struct OutsideOptimiser {
    name: String,
    factory: Box<dyn Factory>,
    instance: Option<Box<dyn Instance>>,
    facts: SearchFacts,
    past: Past,
    broken: Broken,
}

impl OutsideOptimiser {
    /// Starts the program of a file.
    ///
    /// # Errors
    /// When it does not start or is no optimiser.
    pub fn start(file: &str, space: &Space, (seed, budget): (Seed, u64), broken: &Broken) -> Result<Self, Failure> {
        let path = Path::new(file);
        if !path.is_file() {
            return Err(Failure::input(format!("--method: there is no file `{file}`"), ""));
        }
        let factory = outside::optimiser(path)?;
        let dimension = |dimension: &anabranch_search::Dimension| {
            let (kind, from, to) = match &dimension.domain {
                Domain::Real { lo, hi } => ("real", *lo, *hi),
                Domain::Whole { lo, hi } => ("whole", *lo as f64, *hi as f64),
                Domain::OneOf(labels) => ("one-of", 0.0, labels.len().saturating_sub(1) as f64),
            };
            DimensionFacts { name: dimension.name.clone(), unit: dimension.unit.clone(), kind: kind.into(), from, to }
        };
        let dimensions = space.dimensions().iter().map(dimension).collect();
        let facts = SearchFacts { seed: seed.0, budget, dimensions };
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let past = Past::default();
        let mut optimiser = Self { name, factory, instance: None, facts, past, broken: broken.clone() };
        optimiser.begin().map_err(|wrong| {
            Failure::input(format!("the optimiser `{file}` cannot be used: {wrong}"), "derive from anabranch.Optimiser")
        })?;
        Ok(optimiser)
    }

    fn begin(&mut self) -> Result<(), Misbehaviour> {
        let mut instance = self.factory.start()?;
        if instance.card().role != Role::Optimiser {
            let text = format!("it is a {}, and no optimiser", instance.card().role.word());
            return Err(Misbehaviour::new(anabranch_bridge::Kind::BrokenPromise, text));
        }
        let ask = Ask { search: Some(self.facts.clone()), ..Ask::default() };
        exchange(instance.as_mut(), ask)?;
        self.instance = Some(instance);
        Ok(())
    }

    /// Asks, and checks that the answer is points of this space.
    fn asked(&mut self, told: &[Told], restart: bool, at_most: u32) -> Result<Vec<Vec<f64>>, Misbehaviour> {
        let told = told.iter().map(|told| ToldPoint { point: told.point.clone(), value: told.value }).collect();
        let Some(instance) = self.instance.as_deref_mut() else {
            return Err(Misbehaviour::new(anabranch_bridge::Kind::Crash, "it is gone"));
        };
        let mut points = exchange(instance, Ask { search: None, told, restart, at_most })?;
        let size = self.facts.dimensions.len();
        if points.is_empty() || points.len() > at_most as usize || points.iter().any(|point| point.len() != size) {
            let text = format!("it was asked for 1 to {at_most} points of {size} places and gave something else");
            return Err(Misbehaviour::new(anabranch_bridge::Kind::BrokenPromise, text));
        }
        points.iter_mut().flatten().for_each(|place| *place = place.clamp(0.0, 1.0));
        Ok(points)
    }

    fn breaks(&self, why: String) {
        let mut broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        broken.get_or_insert(why);
    }
}

fn exchange(instance: &mut dyn Instance, ask: Ask) -> Result<Vec<Vec<f64>>, Misbehaviour> {
    let mut answers = Vec::new();
    let op = Op::Ask(Box::new(ask));
    instance.exchange(std::slice::from_ref(&op), &mut answers)?;
    let Some(answer) = answers.pop() else {
        return Err(Misbehaviour::new(anabranch_bridge::Kind::WrongSequence, "no answer"));
    };
    anabranch_bridge::checks::check_answer(instance.card(), &op, &answer)?;
    match answer {
        Answer::Points { points } => Ok(points),
        _ => {
            Err(Misbehaviour::new(anabranch_bridge::Kind::BrokenPromise, "it answered with something else than points"))
        }
    }
}

impl Optimiser for OutsideOptimiser {
    fn name(&self) -> &str {
        &self.name
    }
    fn ask(&mut self, at_most: usize) -> Vec<Vec<f64>> {
        let (told, restart) = (std::mem::take(&mut self.past.told), std::mem::take(&mut self.past.restart));
        let at_most = u32::try_from(at_most).unwrap_or(u32::MAX);
        match self.asked(&told, restart, at_most) {
            Ok(points) => {
                self.past.exchanges.push(Exchange { told, restart, at_most, points: points.clone() });
                points
            }
            Err(wrong) => {
                (self.past.told, self.past.restart) = (told, restart);
                self.breaks(wrong.to_string());
                Vec::new()
            }
        }
    }
    fn tell(&mut self, told: &[Told]) {
        self.past.told = told.to_vec();
    }
    fn restart(&mut self) {
        self.past.restart = true;
    }
    fn save(&self) -> Vec<u8> {
        to_bytes(&self.past)
    }
    fn restore(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let past: Past = from_bytes(bytes)?;
        if let Err(wrong) = self.begin() {
            self.breaks(wrong.to_string());
        }
        for one in &past.exchanges {
            match self.asked(&one.told, one.restart, one.at_most) {
                Ok(points) if points == one.points => {}
                Ok(_) => {
                    self.breaks(
                        "asked the same again it gives other points; seed what it draws with `search.seed`".into(),
                    );
                    break;
                }
                Err(wrong) => {
                    self.breaks(wrong.to_string());
                    break;
                }
            }
        }
        self.past = past;
        Ok(())
    }
}
