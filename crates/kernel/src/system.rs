//! The trait every closed loop implements, and what it answers.

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::chance::Seed;
use crate::errors::{Choice, Choices, ErrorSpace};
use crate::key::{KeyWriter, Variable};
use crate::leaf::Leaf;
use crate::likelihood::Likelihood;
use crate::parts::{Parts, Reads, Recall};
use crate::state::State;
use crate::tube::{Contraction, NoProof, Tube};
use crate::watch::{Signal, Watch};

/// One continuous or discrete start parameter with the values to try.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Key in the scenario: `ego.start.y`.
    pub name: String,
    /// Unit of the values.
    pub unit: String,
    /// The values, in the order of the scenario.
    pub values: Vec<f64>,
}

/// All start parameters of a system.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct ParamSpace {
    /// The axes, in the order of the scenario.
    pub axes: Vec<Axis>,
}

/// One value per axis of the [`ParamSpace`].
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Params(pub Vec<f64>);

impl ParamSpace {
    /// How many starts there are.
    pub fn len(&self) -> usize {
        self.axes.iter().map(|axis| axis.values.len()).product()
    }
    /// True if some axis has no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Every combination of the axes' values; the last axis runs fastest.
    pub fn all(&self) -> Vec<Params> {
        let mut all = vec![Params::default()];
        for axis in &self.axes {
            all = all
                .iter()
                .flat_map(|p| axis.values.iter().map(|v| Params(p.0.iter().copied().chain([*v]).collect())))
                .collect();
        }
        all
    }
}

/// Where something happened, for verdicts that have a place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// In the frame of the system under test (metres; x forwards, y to the left).
    pub on_ego: [f64; 2],
    /// In the world (metres).
    pub in_world: [f64; 2],
    /// Number of the other participant or obstacle.
    pub other: u32,
}

/// A violated requirement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Position in [`System::requirements`].
    pub requirement: u16,
    /// Base cycle since the start of the run.
    pub tick: u64,
    /// Place of contact, where there is one.
    pub place: Option<Place>,
}

/// Verdicts of one segment. Empty for nearly all segments, which then allocate nothing.
pub type Verdicts = Vec<Verdict>;

/// How a segment ended. A violated requirement is a verdict, never an `Err`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SegmentEnd {
    /// The run goes on.
    Open,
    /// The manoeuvre is completed.
    Goal,
    /// A *must* was violated; the run ends here.
    Violated(Verdicts),
    /// The time of the scenario is over.
    TimedOut,
}

impl SegmentEnd {
    /// One requirement violated at a tick, without a place.
    pub fn violated(requirement: u16, tick: u64) -> Self {
        Self::Violated(vec![Verdict { requirement, tick, place: None }])
    }
}

/// The segment could not be computed. Never a verdict.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A part broke the contract of this crate.
    #[error("contract broken: {0}")]
    Contract(String),
    /// A number stopped being finite.
    #[error("numeric fault: {0}")]
    Numeric(String),
    /// Something outside of this program failed.
    #[error("external fault: {0}")]
    External(String),
}

/// Most axes along which extreme members of a cell are kept.
pub const AXES_MAX: usize = 8;

/// How bad a state looks; larger is worse.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Danger {
    /// One number for ordering.
    pub worst: f64,
    /// Fixed axes such as ± lateral, ± heading, ± steering: along each the largest member of a cell is kept
    /// by `keep = extremes`. The number of axes is the same for every state of a system.
    pub axes: ArrayVec<f64, AXES_MAX>,
}

/// What the smallest margin of a segment measures.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Margin {
    /// Unit of the values; empty where nobody said.
    pub unit: String,
    /// A *must* is violated once the margin is at or below this.
    pub limit: f64,
    /// Differences below this matter to nobody; where it is known, no coarser resolution is chosen than this.
    pub notable: Option<f64>,
    /// Which requirements of the kind *must* it is about.
    pub about: About,
}

/// Which requirements of the kind *must* a margin is about. How narrowly the others were met is not known.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum About {
    /// All of them.
    #[default]
    All,
    /// All but these.
    AllBut(Vec<String>),
    /// None of these, which are all.
    Nothing(Vec<String>),
}

impl About {
    /// The requirements that it is not about.
    pub fn left_out(&self) -> &[String] {
        match self {
            Self::All => &[],
            Self::AllBut(musts) | Self::Nothing(musts) => musts,
        }
    }
}

/// One segment to run: the state is replaced by the state at its end.
#[derive(Clone, Debug)]
pub struct Job<S> {
    /// Start state, then end state.
    pub state: S,
    /// The error during the segment.
    pub choice: Choice,
    /// How it ended.
    pub end: Result<SegmentEnd, Fault>,
    /// Violated *should* requirements.
    pub notes: Verdicts,
    /// Smallest margin of the segment.
    pub margin: f64,
    /// Which separate parts of the configuration decided all this.
    pub reads: Reads,
    /// Whether it was computed or remembered.
    pub recall: Recall,
}

impl<S> Job<S> {
    /// A job that has not run.
    pub fn new(state: S, choice: Choice) -> Self {
        let (notes, margin) = (Verdicts::new(), f64::INFINITY);
        Self { state, choice, end: Ok(SegmentEnd::Open), notes, margin, reads: Reads::ALL, recall: Recall::Ran }
    }
}

/// How much of what was run is run a second time ([`System::run_twice`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Twice {
    /// A share of it, for at most about the cost of the first time.
    Share,
    /// Everything, or of many segments enough of them: *safe* is about to be said.
    Whole,
}

static NO_PARAMS: ParamSpace = ParamSpace { axes: Vec::new() };

/// A closed loop that can be run for one segment from any saved state.
///
/// Only [`errors`](System::errors), [`variables`](System::variables), [`start`](System::start),
/// [`run`](System::run) and [`cell`](System::cell) are required; the rest have defaults that fit a small model.
///
/// `variables`, `cell` and [`leaves`](System::leaves) must agree. They do by construction where all three follow from one function
/// over a [`Visitor`](crate::Visitor).
pub trait System: Sync {
    /// Everything that evolves.
    type State: State;

    /// The error choices; choice 0 is "no error".
    fn errors(&self) -> &ErrorSpace;
    /// Every variable of the state, in the order `cell` writes them.
    fn variables(&self) -> &[Variable];
    /// The state at time zero.
    ///
    /// # Errors
    /// When the start cannot be computed (for example the child process did not answer).
    fn start(&self, seed: Seed, params: &Params) -> Result<Self::State, Fault>;
    /// Runs one segment under a choice.
    ///
    /// # Errors
    /// When the segment could not be computed. A violated requirement is not an error.
    fn run(&self, state: &mut Self::State, choice: Choice, watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault>;
    /// Writes the merge key: every declared variable once, in order.
    fn cell(&self, state: &Self::State, key: &mut KeyWriter<'_>);

    /// Start parameters with more than one value.
    fn space(&self) -> &ParamSpace {
        &NO_PARAMS
    }
    /// The choices that can matter from here; the others would repeat one of these. Choice 0 is always among them.
    fn live(&self, state: &Self::State, out: &mut Choices) {
        let _ = state;
        out.clear();
        out.extend(self.errors().choices());
    }
    /// How likely a choice is after another one; `None` where nobody said.
    fn likelihood(&self) -> Option<&Likelihood> {
        None
    }
    /// Runs many segments; a bridge sends one message for all, a vectorised loop runs them side by side.
    /// Results must equal those of [`run`](System::run) bit for bit.
    fn run_many(&self, jobs: &mut [Job<Self::State>]) {
        for job in jobs {
            let mut watch = Watch::off();
            job.end = self.run(&mut job.state, job.choice, &mut watch);
            (job.notes, job.margin, job.reads) = (watch.notes, watch.margin, watch.reads);
        }
    }
    /// The configuration, cut into what every segment may read and what only some do. A system that says nothing is one
    /// of which nothing can be remembered.
    fn parts(&self) -> Parts {
        Parts::default()
    }
    /// How bad a state looks.
    fn danger(&self, state: &Self::State) -> Danger {
        let _ = state;
        Danger::default()
    }
    /// What the margin of a segment measures. A system that says nothing has margins without a unit that are violated
    /// below zero.
    fn margin(&self) -> Margin {
        Margin::default()
    }
    /// Whether equal states at different times may differ in their future (chance, deadlines, things that move by themselves).
    fn time_matters(&self) -> bool {
        false
    }
    /// Values of the state that [`cell`](System::cell) does not write, each with the reason; all others have to be in the key.
    fn leaves(&self) -> Vec<Leaf> {
        Vec::new()
    }
    /// Computes again, from the other values of a state, those that follow from them. They need not be in the key.
    fn derive(&self, state: &mut Self::State) {
        let _ = state;
    }
    /// Reasons why *safe* must not be said about this system, whatever was explored.
    fn objections(&self) -> Vec<String> {
        Vec::new()
    }
    /// Names of the requirements that verdicts refer to.
    fn requirements(&self) -> &[String] {
        &[]
    }
    /// What frames show.
    fn signals(&self) -> &[Signal] {
        &[]
    }
    /// Simulated seconds of one segment.
    fn segment_seconds(&self) -> f64 {
        1.0
    }
    /// Appends the continuous variables of a state, always the same ones in the same order: those of which equal cells
    /// leave a difference. A system that appends none can be proven nothing about.
    fn reals(&self, state: &Self::State, out: &mut Vec<f64>) {
        let _ = (state, out);
    }
    /// Positions in [`variables`](System::variables) of what [`reals`](System::reals) appends.
    fn real_variables(&self) -> Vec<usize> {
        Vec::new()
    }
    /// Proves how far runs can stray from the explored ones beside them; see [`Contraction`].
    ///
    /// # Errors
    /// With the first obstacle. An estimate is no proof and is refused.
    fn contraction(&self, tube: &Tube) -> Result<Contraction, NoProof> {
        let _ = tube;
        Err(NoProof::because("nothing is known about how differences of states evolve in this system"))
    }
    /// Runs segments that were run before a second time, from the start and without saved states, and compares what they
    /// report: for systems whose answers are a function of the path only if somebody outside keeps a promise. What
    /// came of it is in [`objections`](System::objections). `goes_on` says whether there is time left.
    fn run_twice(&self, how_much: Twice, goes_on: &(dyn Fn() -> bool + Sync)) {
        let _ = (how_much, goes_on);
    }
    /// Where the state is, for pictures: x, y, heading.
    fn glance(&self, state: &Self::State) -> [f64; 3] {
        let _ = state;
        [0.0; 3]
    }
}
