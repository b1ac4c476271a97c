//! A few random runs before an exploration: over what do danger, margin and variables range, how strongly does each variable
//! move the margin, and do differences between runs grow?
//!
//! Everything that is measured here is a share of something else that is measured here, so no unit matters.

use anabranch_kernel::{
    About, CellSize, Chance, Choice, Choices, Grid, Job, KeyReader, Margin, Params, Reading, Seed, System, TubeLevel,
    Variable, maths,
};

use crate::cells::ReopenSteps;
use crate::limits::Limits;
use crate::settings::Resolve;
use crate::unmerged::{Begun, run_all};

/// Random runs.
const RUNS: u64 = 24;
/// Segments of a run at most: a system that never ends must not keep the exploration waiting.
const LEVELS_MAX: u32 = 64;
/// Pairs of states that are followed under equal errors.
const PAIRS: u64 = 24;
/// A cell is re-opened by a member that is worse by this share of what random runs range over.
const REOPEN_SHARE: f64 = 1.0 / 1024.0;
/// Rounds of the fit of sensitivities; it converges much sooner with the few variables of one cell.
const FIT_ROUNDS: usize = 200;

/// The smallest and the largest of some numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    low: f64,
    high: f64,
}

impl Span {
    const EMPTY: Self = Self { low: f64::INFINITY, high: f64::NEG_INFINITY };

    fn see(&mut self, value: f64) {
        if value.is_finite() {
            (self.low, self.high) = (self.low.min(value), self.high.max(value));
        }
    }
    /// Nothing if there were no numbers.
    pub(crate) fn width(&self) -> Option<f64> {
        (self.high >= self.low).then_some(self.high - self.low)
    }
    /// Infinite if there were no numbers.
    pub(crate) fn low(&self) -> f64 {
        self.low
    }
}

/// What the runs showed.
#[derive(Clone, Debug)]
pub(crate) struct Pilot {
    /// Of the smallest margins of segments.
    pub(crate) margin: Span,
    /// By how much a member must be worse to re-open a cell.
    pub(crate) reopen: ReopenSteps,
    /// By variable, what the runs ranged over; `None` for discrete ones.
    pub(crate) ranges: Vec<Option<f64>>,
    /// By variable, how much of the margin a difference as large as its range moves; zero for discrete ones.
    pub(crate) sensitivity: Vec<f64>,
    /// By which factor differences between states grow in a segment, in the median of the pairs.
    pub(crate) growth: Option<f64>,
    /// What the runs reached, by level.
    pub(crate) levels: Vec<TubeLevel>,
    /// Segments it took.
    pub(crate) segments: u64,
}

/// Cells are this share of what a variable ranges over, at a resolution of the whole range of the margin; they shrink with
/// the root of the resolution. Chosen on the calibration families (`docs/trust.md`).
const CELL_SHARE: f64 = 0.5;
/// Smallest and largest cells, as shares of ranges.
const CELL_SHARES: [f64; 2] = [1.0 / 256.0, 0.5];

impl Pilot {
    /// The depth down to which violations are looked for.
    pub(crate) fn resolution(&self, asked: Option<f64>, margin: &Margin) -> Option<f64> {
        let width = self.margin.width().filter(|width| *width > 0.0);
        let by_range = width.map(|width| width * Resolve::DEFAULT_SHARE);
        asked.or_else(|| by_range.map(|depth| margin.notable.map_or(depth, |notable| depth.min(notable))))
    }

    /// Cells for a resolution: the finer it is, and the more a variable moves the margin, the smaller.
    pub(crate) fn grid(&self, variables: &[Variable], asked: Option<f64>, margin: &Margin) -> Grid {
        let width = self.margin.width().filter(|width| *width > 0.0);
        let share = match (self.resolution(asked, margin), width) {
            (Some(resolution), Some(width)) => CELL_SHARE * (resolution / width).min(1.0).sqrt(),
            _ => CELL_SHARE * Resolve::DEFAULT_SHARE.sqrt(),
        };
        let strongest = self.sensitivity.iter().copied().fold(0.0, f64::max);
        let size = |(at, variable): (usize, &Variable)| match (variable.size, self.ranges[at]) {
            (CellSize::Size(_), Some(range)) if range > 0.0 => {
                let own = self.sensitivity[at].max(strongest * share);
                let wider = if own > 0.0 { strongest / own } else { 1.0 };
                CellSize::Size(range * (share * wider).clamp(CELL_SHARES[0], CELL_SHARES[1]))
            }
            (size, _) => size,
        };
        let size = |of| rounded(size(of), of.1.size);
        // What moves another requirement than those the margin is about was not measured: no cell is larger than declared.
        let size = |of| if margin.about == About::All { size(of) } else { finer(size(of), of.1.size) };
        Grid::from_sizes(variables.iter().enumerate().map(size).collect())
    }
}

/// The nearest cell size that is the declared one doubled or halved some times: a small change of what is explored then
/// leaves most cells as they were, so that explorations can be compared.
fn rounded(measured: CellSize, declared: CellSize) -> CellSize {
    match (measured, declared) {
        (CellSize::Size(measured), CellSize::Size(declared)) if CellSize::is_countable(measured / declared) => {
            CellSize::Size(declared * (measured / declared).log2().round().exp2())
        }
        (measured, _) => measured,
    }
}

fn finer(measured: CellSize, declared: CellSize) -> CellSize {
    match (measured, declared) {
        (CellSize::Size(measured), CellSize::Size(declared)) => CellSize::Size(measured.min(declared)),
        (measured, _) => measured,
    }
}

/// A random run with everything that was seen on its way.
struct Flight<S> {
    number: u64,
    choices: Vec<Choice>,
    margins: Vec<f64>,
    states: Vec<S>,
}

/// One pair: differences as shares of ranges at its beginning and its end, and by how much the margins differed.
struct Pair {
    at_first: Vec<f64>,
    apart_first: f64,
    apart_last: f64,
    segments: u32,
    gap: f64,
}

/// Flies the runs.
pub(crate) fn fly<S: System>(
    (system, seed, starts): (&S, Seed, &[Params]),
    levels_max: u32,
    limits: &Limits<'_>,
) -> Pilot {
    let chance = Chance::new(seed, "pilot");
    let draw = |number: u64, n: u64, below: usize| chance.at(number).below(n, below as u64) as usize;
    let begun = (0..RUNS)
        .filter_map(|number| {
            let state = system.start(seed, &starts[draw(number, 0, starts.len())]).ok()?;
            let flight = Flight { number, choices: Vec::new(), margins: Vec::new(), states: vec![state.clone()] };
            Some(Begun { state, level: 0, notes: flight })
        })
        .collect();
    let flights = run_all(
        system,
        limits,
        levels_max.min(LEVELS_MAX),
        begun,
        |flight: &Flight<S::State>, level, _, live| live[draw(flight.number, 1 + u64::from(level), live.len())],
        |flight, _, job| {
            flight.choices.push(job.choice);
            flight.margins.push(job.margin);
            flight.states.push(job.state.clone());
        },
    )
    // The exploration that follows will see the limit as well.
    .unwrap_or_default();
    let mut segments = flights.iter().map(|run| run.segments).sum();
    let flights: Vec<Flight<S::State>> = flights.into_iter().map(|run| run.notes).collect();
    let survey = Survey::of(system, &flights);
    let pairs = survey.pairs(system, &flights, chance, limits);
    segments += pairs.iter().map(|pair| u64::from(pair.segments)).sum::<u64>();
    let (margin, reopen) = (survey.margin, survey.reopen());
    let sensitivity = sensitivities(&pairs, survey.ranges.len());
    let growth = growth(&pairs);
    Pilot { margin, reopen, sensitivity, growth, ranges: survey.ranges, levels: levels(system, &flights), segments }
}

/// The boxes of what the runs reached.
fn levels<S: System>(system: &S, flights: &[Flight<S::State>]) -> Vec<TubeLevel> {
    let longest = flights.iter().map(|flight| flight.states.len()).max().unwrap_or(0);
    let mut levels = vec![TubeLevel::default(); longest];
    let mut reals = Vec::new();
    for (level, state) in flights.iter().flat_map(|flight| flight.states.iter().enumerate()) {
        reals.clear();
        system.reals(state, &mut reals);
        levels[level].hold(&reals);
    }
    levels
}

/// What is known of the runs before pairs are followed.
struct Survey {
    reader: KeyReader,
    margin: Span,
    dangers: Vec<Span>,
    ranges: Vec<Option<f64>>,
}

impl Survey {
    fn of<S: System>(system: &S, flights: &[Flight<S::State>]) -> Self {
        let variables = system.variables().len();
        let reader = KeyReader::new(variables);
        let (mut margin, mut spans) = (Span::EMPTY, vec![Span::EMPTY; variables]);
        let mut dangers = Vec::new();
        for flight in flights {
            flight.margins.iter().for_each(|value| margin.see(*value));
            for state in &flight.states {
                let danger = system.danger(state);
                let scores = std::iter::once(danger.worst).chain(danger.axes.iter().copied());
                for (axis, score) in scores.enumerate() {
                    dangers.resize(dangers.len().max(axis + 1), Span::EMPTY);
                    dangers[axis].see(score);
                }
                for (index, reading) in reader.read(|writer| system.cell(state, writer)) {
                    if let Reading::Real(value) = reading {
                        spans[index].see(value);
                    }
                }
            }
        }
        Self { reader, margin, dangers, ranges: spans.iter().map(Span::width).collect() }
    }

    fn reopen(&self) -> ReopenSteps {
        self.dangers.iter().map(|span| span.width().unwrap_or(0.0) * REOPEN_SHARE).collect()
    }

    /// The differences of two states as shares of the ranges, by variable; nothing if a discrete variable differs.
    fn apart<S: System>(&self, system: &S, a: &S::State, b: &S::State) -> Option<Vec<f64>> {
        let [a, b] = [a, b].map(|state| self.reader.read(|writer| system.cell(state, writer)));
        if a.len() != b.len() {
            return None;
        }
        let mut apart = vec![0.0; self.ranges.len()];
        for ((index, a), (other, b)) in a.into_iter().zip(b) {
            match (a, b) {
                (Reading::Real(a), Reading::Real(b)) if index == other => {
                    let range = self.ranges[index].filter(|range| *range > 0.0);
                    apart[index] = range.map_or(0.0, |range| (a - b).abs() / range);
                }
                (Reading::Exact(a), Reading::Exact(b)) if index == other && a == b => {}
                _ => return None,
            }
        }
        Some(apart)
    }

    /// Pairs of states of one level that are close to each other, followed under the errors of the first.
    fn pairs<S: System>(
        &self,
        system: &S,
        flights: &[Flight<S::State>],
        chance: Chance,
        limits: &Limits<'_>,
    ) -> Vec<Pair> {
        let draw = |pair: u64, n: u64, below: usize| chance.at(RUNS + pair).below(n, below as u64) as usize;
        let mut pairs = Vec::new();
        for pair in (0..PAIRS).filter(|_| !flights.is_empty()) {
            if limits.urgent().is_some() {
                break;
            }
            let own = &flights[draw(pair, 0, flights.len())];
            if own.choices.len() < 2 {
                continue;
            }
            let level = 1 + draw(pair, 1, own.choices.len() - 1);
            let others = flights.iter().filter(|other| other.number != own.number && level < other.states.len());
            let nearest = others
                .filter_map(|other| Some((self.apart(system, &own.states[level], &other.states[level])?, other)))
                .filter(|(apart, _)| apart.iter().any(|share| *share > 0.0))
                .min_by(|(a, _), (b, _)| distance(a).total_cmp(&distance(b)));
            if let Some((apart, other)) = nearest {
                pairs.extend(self.follow((system, limits), own, other.states[level].clone(), (level, apart)));
            }
        }
        pairs
    }

    fn follow<S: System>(
        &self,
        (system, limits): (&S, &Limits<'_>),
        own: &Flight<S::State>,
        other: S::State,
        (level, at_first): (usize, Vec<f64>),
    ) -> Option<Pair> {
        let mut job = Job::new(other, Choice::NONE);
        let mut live = Choices::new();
        let (apart_first, mut gap, mut segments) = (distance(&at_first), 0.0_f64, 0);
        let mut apart_last = apart_first;
        for at in level..own.choices.len() {
            system.live(&job.state, &mut live);
            if !live.contains(&own.choices[at]) || limits.urgent().is_some() {
                break;
            }
            job = Job::new(job.state, own.choices[at]);
            system.run_many(std::slice::from_mut(&mut job));
            segments += 1;
            let difference = (own.margins[at] - job.margin).abs();
            if difference.is_finite() {
                gap = gap.max(difference);
            }
            // Where a discrete variable differs by now, how far the two are apart is no number.
            match self.apart(system, &own.states[at + 1], &job.state) {
                Some(apart) => apart_last = distance(&apart),
                None => break,
            }
            if job.end != Ok(anabranch_kernel::SegmentEnd::Open) {
                break;
            }
        }
        (segments > 0).then_some(Pair { at_first, apart_first, apart_last, segments, gap })
    }
}

fn distance(apart: &[f64]) -> f64 {
    apart.iter().map(|share| share * share).sum::<f64>().sqrt()
}

/// Non-negative least squares of the gaps over the differences, by coordinate descent.
fn sensitivities(pairs: &[Pair], variables: usize) -> Vec<f64> {
    let mut fit = vec![0.0; variables];
    for _ in 0..FIT_ROUNDS {
        for variable in 0..variables {
            let (mut along, mut square) = (0.0, 0.0);
            for pair in pairs {
                let own = pair.at_first[variable];
                let rest: f64 = pair.at_first.iter().zip(&fit).map(|(share, slope)| share * slope).sum();
                along += own * (pair.gap - rest + own * fit[variable]);
                square += own * own;
            }
            fit[variable] = if square > 0.0 { (along / square).max(0.0) } else { 0.0 };
        }
    }
    fit
}

/// The median factor by which a difference grew in a segment.
fn growth(pairs: &[Pair]) -> Option<f64> {
    let mut rates: Vec<f64> = pairs
        .iter()
        .filter(|pair| pair.apart_first > 0.0 && pair.apart_last > 0.0)
        .map(|pair| maths::ln(pair.apart_last / pair.apart_first) / f64::from(pair.segments))
        .collect();
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).map(|rate| maths::exp(*rate))
}
