//! The loop: ask, simulate in parallel, tell in order, save, again.

use anabranch_kernel::{Digest, DigestWriter, Fault, Seed, StateError};
use serde::{Deserialize, Serialize};

use crate::diversity::{self, By};
use crate::flight::{Asked, Flight};
use crate::front::{Extent, Front, direction};
use crate::objective::{Objective, Outcome, judged};
use crate::optimiser::{Optimiser, Told};
use crate::probes::corners;
use crate::report::{Accident, Ended, Evaluation, Origin, Report};
use crate::space::{Layout, Space, SpaceError};

/// When a search may stop before its budget is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Goal {
    /// At the first violation.
    First,
    /// At so many violations that are unlike each other.
    Different(usize),
    /// Never: the most dangerous point of the whole budget, or the whole front.
    Worst,
}

/// Whether corners of the space are tried before the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Probes {
    /// No; results can be compared with those of searches that do not.
    Off,
    /// Yes; they are counted and marked as probes.
    Corners,
}

/// How a search is done. Equal settings give equal evaluations, whatever the number of threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Seed of everything the search draws itself.
    pub seed: Seed,
    /// Most simulations.
    pub simulations: u64,
    /// Most simulated time; infinite for no limit.
    pub simulated_seconds: f64,
    /// Most simulations that the optimiser has asked for and not heard of yet. Part of the result: 1 learns most, more use
    /// more cores.
    pub batch: usize,
    /// When to stop.
    pub goal: Goal,
    /// A value below this is a violation.
    pub violated_below: f64,
    /// By what violations are told apart.
    pub by: By,
    /// From which distance on they are different.
    pub apart: f64,
    /// Corners first, or not.
    pub probes: Probes,
    /// Points that may fail to be computed before the search gives up.
    pub troubles_max: u64,
    /// With several objectives: simulations in one direction of the front before the next. 0: the first objective leads.
    pub front_every: u64,
}

/// Points refused in a row after which a space counts as impossible.
pub const REJECTED_MAX: u64 = 100_000;

impl Settings {
    /// Settings for the first violation within so many simulations, one at a time.
    pub fn first(seed: Seed, simulations: u64) -> Self {
        Self {
            seed,
            simulations,
            simulated_seconds: f64::INFINITY,
            batch: 1,
            goal: Goal::First,
            violated_below: 0.0,
            by: By::Parameters,
            apart: 0.2,
            probes: Probes::Off,
            troubles_max: 0,
            front_every: 0,
        }
    }
    fn check(&self) -> Result<(), SearchError> {
        let wrong = |why: &str| Err(SearchError::Setting(why.into()));
        if self.batch == 0 {
            return wrong("a batch of 0 simulations never ends; use at least 1");
        }
        if self.simulations == 0 {
            return wrong("a budget of 0 simulations finds nothing; use at least 1");
        }
        if self.simulated_seconds.is_nan() || self.simulated_seconds <= 0.0 {
            return wrong("the budget of simulated time is not a positive number of seconds");
        }
        if self.apart.is_nan() || self.violated_below.is_nan() {
            return wrong("`apart` and `violated_below` must be numbers");
        }
        Ok(())
    }
}

/// A search that cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The space is wrong.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// A setting is wrong.
    #[error("{0}")]
    Setting(String),
    /// Saved progress is of another search.
    #[error(
        "the saved progress belongs to another search (other space, settings or method); start anew or use the old ones"
    )]
    Other,
    /// Saved progress is damaged.
    #[error("the saved progress cannot be used: {0}")]
    Damaged(String),
    /// The optimiser does not know its own state.
    #[error("the optimiser's {0}")]
    State(#[from] StateError),
}

/// What evolves besides the evaluations. Small, whatever was simulated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Which search this is.
    pub search: u128,
    /// Evaluations that belong to it; more of them in a log are not part of it.
    pub evaluations: u64,
    /// Batches done.
    pub batches: u64,
    /// Points that were asked and not told.
    pub under_way: Vec<(Origin, Vec<f64>)>,
    /// Whether the optimiser starts somewhere else once nothing is under way any more.
    pub leaves: bool,
    /// Refused points per constraint.
    pub rejected: Vec<u64>,
    /// Refused points since the last one that was not.
    pub rejected_in_a_row: u64,
    /// Corners that were tried.
    pub probed: u64,
    /// Accidents so far.
    pub accidents: Vec<Accident>,
    /// The optimiser, between two batches.
    pub optimiser: Vec<u8>,
}

/// Where progress is kept and who may interrupt. Files and clocks are behind it.
pub trait Edge {
    /// A batch is done: these evaluations are new, and this is where things stand.
    ///
    /// # Errors
    /// With the reason; the search ends, and its report has everything.
    fn batch_done(&mut self, new: &[Evaluation], progress: &Progress) -> Result<(), String>;
    /// Whether the next `batch_done` needs the optimiser's state of that moment. Without it `progress.optimiser` is old, and
    /// progress must not be kept.
    fn wants_progress(&mut self) -> bool {
        true
    }
    /// False to stop before the next batch.
    fn goes_on(&mut self) -> bool {
        true
    }
}

/// Keeps nothing, never interrupts.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEdge;

impl Edge for NoEdge {
    fn batch_done(&mut self, _new: &[Evaluation], _progress: &Progress) -> Result<(), String> {
        Ok(())
    }
}

/// A search over a space.
pub struct Search<'a> {
    space: &'a Space,
    layout: Layout,
    objective: &'a dyn Objective,
    optimiser: Box<dyn Optimiser>,
    settings: Settings,
    evaluations: Vec<Evaluation>,
    progress: Progress,
    corners: Vec<Vec<f64>>,
    front: Front,
    extent: Extent,
    simulated_seconds: f64,
    troubles: u64,
    objectives: Option<usize>,
    saves: bool,
}

impl<'a> Search<'a> {
    /// A search that has not begun.
    ///
    /// # Errors
    /// When the space or a setting is wrong.
    pub fn new(
        space: &'a Space,
        objective: &'a dyn Objective,
        optimiser: Box<dyn Optimiser>,
        settings: Settings,
    ) -> Result<Self, SearchError> {
        settings.check()?;
        let layout = space.layout()?;
        let corners = if settings.probes == Probes::Corners { corners(&layout) } else { Vec::new() };
        let progress = Progress {
            search: identity(space, &settings, optimiser.as_ref()).0,
            evaluations: 0,
            batches: 0,
            under_way: Vec::new(),
            leaves: false,
            rejected: vec![0; space.constraints().len()],
            rejected_in_a_row: 0,
            probed: 0,
            accidents: Vec::new(),
            optimiser: Vec::new(),
        };
        let (front, extent, evaluations) = (Front::default(), Extent::default(), Vec::new());
        let (simulated_seconds, troubles, objectives, saves) = (0.0, 0, None, true);
        Ok(Self {
            space,
            layout,
            objective,
            optimiser,
            settings,
            evaluations,
            progress,
            corners,
            front,
            extent,
            simulated_seconds,
            troubles,
            objectives,
            saves,
        })
    }
    /// Takes up saved progress: from here on it does what the interrupted search would have done.
    ///
    /// # Errors
    /// When the progress is of another search or damaged.
    pub fn resume(mut self, mut evaluations: Vec<Evaluation>, progress: Progress) -> Result<Self, SearchError> {
        if progress.search != self.progress.search {
            return Err(SearchError::Other);
        }
        let kept = progress.evaluations as usize;
        if evaluations.len() < kept {
            return Err(SearchError::Damaged(format!("{} evaluations, {kept} are needed", evaluations.len())));
        }
        evaluations.truncate(kept);
        let dimensions = self.layout.len();
        for (n, evaluation) in evaluations.iter().enumerate() {
            if evaluation.number != n as u64
                || evaluation.values.len() != dimensions
                || evaluation.unit.len() != dimensions
            {
                return Err(SearchError::Damaged(format!("evaluation {n} is not what it should be")));
            }
        }
        let known = |number: u64| number < progress.evaluations;
        if progress.rejected.len() != self.space.constraints().len()
            || progress.under_way.iter().any(|(_, unit)| unit.len() != dimensions)
            || !progress.accidents.iter().all(|a| known(a.first) && known(a.worst))
        {
            return Err(SearchError::Damaged("counts do not fit the evaluations".into()));
        }
        self.optimiser.restore(&progress.optimiser)?;
        self.progress = progress;
        for evaluation in evaluations {
            self.take_in(evaluation);
        }
        Ok(self)
    }
    /// Searches to the end.
    pub fn run(mut self, edge: &mut dyn Edge) -> Report {
        let decided_below = match self.settings.goal {
            Goal::Worst => f64::NEG_INFINITY,
            Goal::First | Goal::Different(_) => self.settings.violated_below,
        };
        let objective = self.objective;
        let ended = rayon::in_place_scope_fifo(|scope| {
            let mut flight = Flight::new(scope, objective, decided_below);
            for (origin, unit) in std::mem::take(&mut self.progress.under_way) {
                self.send(&mut flight, origin, unit);
            }
            self.search(&mut flight, edge)
        });
        let names = self.space.constraints().iter().map(|constraint| constraint.name.clone());
        Report {
            method: self.optimiser.name().into(),
            rejected: names.zip(self.progress.rejected).collect(),
            accidents: self.progress.accidents,
            front: self.front.numbers(),
            evaluations: self.evaluations,
            ended,
        }
    }
    /// Searches to the end without saving anything.
    pub fn run_unsaved(mut self) -> Report {
        self.saves = false;
        self.run(&mut NoEdge)
    }
    fn is_over(&self) -> Option<Ended> {
        let found = self.progress.accidents.len();
        let enough = match self.settings.goal {
            Goal::First => found > 0,
            Goal::Different(wanted) => found >= wanted,
            Goal::Worst => false,
        };
        if enough {
            return Some(Ended::Found);
        }
        if self.troubles > self.settings.troubles_max {
            let last = self.evaluations.iter().rev().find(|e| e.result.is_err());
            return Some(Ended::Trouble(last.map(|e| e.describe(self.space)).unwrap_or_default()));
        }
        if self.progress.rejected_in_a_row >= REJECTED_MAX {
            let most = self.progress.rejected.iter().enumerate().max_by_key(|(n, count)| (**count, usize::MAX - n));
            let constraint = most.map(|(n, _)| self.space.constraints()[n].name.clone()).unwrap_or_default();
            return Some(Ended::Rejected { constraint, in_a_row: self.progress.rejected_in_a_row });
        }
        if self.progress.evaluations >= self.settings.simulations {
            return Some(Ended::Simulations);
        }
        (self.simulated_seconds >= self.settings.simulated_seconds).then_some(Ended::SimulatedSeconds)
    }
    /// Asks, hears and saves until it is over.
    fn search(&mut self, flight: &mut Flight<'_, '_>, edge: &mut dyn Edge) -> Ended {
        let (mut over, mut told) = (self.is_over(), self.evaluations.len());
        loop {
            if let Some(ended) = over {
                return ended;
            }
            if !edge.goes_on() {
                return Ended::Interrupted;
            }
            let mut heard = 0;
            while over.is_none() && heard < self.settings.batch {
                self.ask(flight);
                let new = self.hear(flight);
                heard += new;
                over = self.is_over();
                if new == 0 {
                    break;
                }
            }
            self.progress.batches += 1;
            if self.saves {
                if edge.wants_progress() {
                    let under_way = flight.points().map(|asked| (asked.origin, asked.unit.clone()));
                    self.progress.under_way = under_way.collect();
                    self.progress.optimiser = self.optimiser.save();
                }
                if let Err(why) = edge.batch_done(&self.evaluations[told..], &self.progress) {
                    return Ended::NotSaved(why);
                }
            }
            told = self.evaluations.len();
        }
    }
    /// Fills what may be under way: with probes while there are any, then with what the optimiser asks for. Who cannot hear
    /// late is asked when nothing is under way, and who shall start elsewhere is not asked before it did.
    fn ask(&mut self, flight: &mut Flight<'_, '_>) {
        let left = self.settings.simulations - self.progress.evaluations;
        let at_most = self.settings.batch.min(usize::try_from(left).unwrap_or(usize::MAX)).saturating_sub(flight.len());
        let probed = self.progress.probed as usize;
        if probed < self.corners.len() {
            let units: Vec<_> = self.corners.iter().skip(probed).take(at_most).cloned().collect();
            self.progress.probed += units.len() as u64;
            units.into_iter().for_each(|unit| self.send(flight, Origin::Probe, unit));
            return;
        }
        if flight.len() > 0 && (self.progress.leaves || !self.optimiser.hears_late()) {
            return;
        }
        if std::mem::take(&mut self.progress.leaves) {
            self.optimiser.restart();
        }
        if at_most > 0 {
            let units = self.optimiser.ask(at_most);
            units.into_iter().for_each(|unit| self.send(flight, Origin::Optimiser, unit));
        }
    }
    fn send(&self, flight: &mut Flight<'_, '_>, origin: Origin, unit: Vec<f64>) {
        let values = self.space.values(&unit);
        let broken = self.space.broken(&values).map(|(constraint, _)| constraint);
        flight.send(Asked { unit, values, origin, broken }, self.settings.batch == 1);
    }
    /// Takes the oldest point in, or all of them where the optimiser wants to hear of all at once; says how many.
    fn hear(&mut self, flight: &mut Flight<'_, '_>) -> usize {
        let count = if self.optimiser.hears_late() { flight.len().min(1) } else { flight.len() };
        let accidents = self.progress.accidents.len();
        let mut told = Vec::with_capacity(count);
        for _ in 0..count {
            let Some((asked, answer)) = flight.next() else { break };
            let (origin, one) = self.account(asked, answer);
            if origin == Origin::Optimiser {
                told.push(one);
            }
        }
        if !told.is_empty() {
            self.optimiser.tell(&told);
            self.look_elsewhere(accidents, told.len() as u64);
        }
        count
    }
    /// A known accident, or a direction of the front that had its share, is left behind.
    fn look_elsewhere(&mut self, accidents_before: usize, simulated: u64) {
        let new_accident = self.progress.accidents.len() > accidents_before;
        let every = self.settings.front_every;
        let turned = every > 0
            && (self.progress.evaluations / every) != (self.progress.evaluations.saturating_sub(simulated) / every);
        if turned || (new_accident && matches!(self.settings.goal, Goal::Different(_))) {
            self.progress.leaves = true;
        }
    }
    /// Counts one point, and says what the optimiser is told of it.
    fn account(
        &mut self,
        Asked { unit, values, origin, broken }: Asked,
        answer: Option<Result<Outcome, Fault>>,
    ) -> (Origin, Told) {
        if let Some(constraint) = broken {
            self.progress.rejected[constraint] += 1;
            self.progress.rejected_in_a_row += 1;
        } else {
            self.progress.rejected_in_a_row = 0;
        }
        let Some(answer) = answer else {
            return (origin, Told { point: unit, value: f64::INFINITY });
        };
        let (number, batch) = (self.evaluations.len() as u64, self.progress.batches);
        let result = judged(answer, self.objectives);
        let evaluation = Evaluation { number, batch, origin, unit, values, result };
        self.note_accident(&evaluation);
        let point = evaluation.unit.clone();
        self.take_in(evaluation);
        self.progress.evaluations += 1;
        (origin, Told { point, value: self.leading_value(number as usize) })
    }
    fn note_accident(&mut self, evaluation: &Evaluation) {
        if evaluation.value() < self.settings.violated_below {
            let alike = |known: &Evaluation| {
                diversity::distance(self.settings.by, &self.layout, known, evaluation) < self.settings.apart
            };
            diversity::note(&mut self.progress.accidents, &self.evaluations, evaluation, alike);
        }
    }
    /// Sums and fronts that follow from the evaluations alone.
    fn take_in(&mut self, evaluation: Evaluation) {
        match &evaluation.result {
            Ok(outcome) => {
                self.objectives.get_or_insert(outcome.robustness.len());
                self.simulated_seconds += outcome.simulated_seconds;
                self.front.add(evaluation.number, &outcome.robustness);
                self.extent.add(&outcome.robustness);
            }
            Err(_) => self.troubles += 1,
        }
        self.evaluations.push(evaluation);
    }
    /// What the optimiser is told: the first objective, a direction of the front, or worse than it is near what is known.
    fn leading_value(&self, n: usize) -> f64 {
        let evaluation = &self.evaluations[n];
        let Ok(outcome) = &evaluation.result else { return f64::INFINITY };
        let every = self.settings.front_every;
        if every > 0 && outcome.robustness.len() > 1 {
            let weights = direction(self.progress.evaluations.saturating_sub(1) / every, outcome.robustness.len());
            return self.extent.weighed(&outcome.robustness, &weights);
        }
        let value = outcome.value();
        if !matches!(self.settings.goal, Goal::Different(_)) {
            return value;
        }
        let near = self.progress.accidents.iter().map(|accident| {
            let known = &self.evaluations[accident.first as usize];
            let distance = diversity::distance(self.settings.by, &self.layout, known, evaluation);
            (1.0 - distance / self.settings.apart).max(0.0)
        });
        let nearest = near.fold(0.0, f64::max);
        if nearest > 0.0 { value.max(self.settings.violated_below) + nearest * value.abs().max(1e-9) } else { value }
    }
}

/// One number for space, settings and method, so that progress is not taken up by another search.
fn identity(space: &Space, settings: &Settings, optimiser: &dyn Optimiser) -> Digest {
    let mut writer = DigestWriter::new();
    writer.text(optimiser.name());
    writer.bytes(&anabranch_kernel::to_bytes(settings));
    writer.bytes(&anabranch_kernel::to_bytes(&space.dimensions().to_vec()));
    for (signal, _) in space.signals() {
        writer.bytes(&anabranch_kernel::to_bytes(signal));
    }
    for constraint in space.constraints() {
        writer.text(&constraint.name);
    }
    writer.finish()
}
