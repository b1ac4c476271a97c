//! Vehicle updates per CPU second in a city and on a motorway, and segments of an explorer around an ego.
//!
//! Peers are measured in the same run where `ANABRANCH_PEERS` names a Python with `libsumo` and `highway-env`; see
//! `python/bench/traffic.py`. Without it only our own figures are printed.

use std::process::Command;

use anabranch_kernel::Seed;
use anabranch_traffic::towns::{City, Control, Motorway};
use anabranch_traffic::{
    Branch, BranchScratch, Car, Input, Outside, Population, Scratch, Settings, Streets, Timeline, Traffic, World,
    spread,
};

use crate::timing::{cpu_s, medians_cpu_s};
use crate::{Figure, Goal};

/// Length of a tick, for us and for SUMO.
const STEP_S: f64 = 0.1;
/// Updates in one measurement.
const UPDATES: usize = 1_000_000;
const REPEATS: usize = 7;
/// Ticks after which lights, queues and lanes have found their rhythm.
const WARM_TICKS: usize = 400;
const SIZES: [usize; 3] = [1_000, 10_000, 50_000];

pub(crate) fn run() -> Vec<Figure> {
    let mut figures = Vec::new();
    for kind in [Kind::City, Kind::Motorway] {
        let rates = rates(kind, SIZES);
        for (cars, rate) in SIZES.into_iter().zip(rates) {
            figures.push(Figure::new(format!("{}: updates per CPU s, {cars} cars", kind.name()), rate, Goal::None));
        }
        let spread = rates.iter().copied().fold(0.0, f64::max) / rates.iter().copied().fold(f64::INFINITY, f64::min);
        figures.push(Figure::new(
            format!("{}: cost per car, dearest over cheapest", kind.name()),
            spread,
            Goal::AtMost(2.0),
        ));
        for (cars, ours) in SIZES.into_iter().zip(rates).take(2) {
            if let Some(theirs) = peer(kind.name(), cars) {
                figures.push(Figure::new(format!("{}: SUMO, {cars} cars", kind.name()), theirs, Goal::None));
                let name = format!("{}: times SUMO, {cars} cars", kind.name());
                figures.push(Figure::new(name, ours / theirs, Goal::AtLeast(10.0)));
            }
        }
    }
    if let Some(theirs) = peer("highway-env", 20) {
        let [ours] = rates(Kind::Motorway, [20]);
        figures.push(Figure::new("highway-env, 20 cars", theirs, Goal::None));
        figures.push(Figure::new("times highway-env, 20 cars", ours / theirs, Goal::AtLeast(100.0)));
    }
    figures.extend(segments());
    figures
}

#[derive(Clone, Copy)]
enum Kind {
    City,
    Motorway,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::City => "city",
            Self::Motorway => "motorway",
        }
    }
    /// Ten cars per junction of eight lanes of 200 m; or 25 cars per kilometre of each of three lanes.
    fn streets(self, cars: usize) -> (Streets, f64) {
        match self {
            Self::City => {
                let side = ((cars as f64 / 10.0).sqrt().ceil() as u32).max(2);
                let control = Control::Lights { green_s: 20.0 };
                (City { side, street_m: 200.0, lanes: 2, limit_mps: 13.9, control }.streets(), 6.5)
            }
            Self::Motorway => {
                let pieces = (cars as f64 / 75.0).ceil() as u32 + 1;
                (Motorway { lanes: 3, pieces, piece_m: 1000.0, limit_mps: 33.0 }.streets(), 25.0)
            }
        }
    }
}

fn begin(kind: Kind, cars: usize) -> (Traffic, Population) {
    let (streets, per_km) = kind.streets(cars);
    let traffic = Traffic::new(World::new(streets, Settings::new(STEP_S)), Seed(1)).expect("towns are sound");
    let mut start: Vec<Car> = spread(&traffic, per_km, 10.0);
    // Evenly, not only in the first streets.
    let (have, wanted) = (start.len(), cars.min(start.len()));
    start = (0..wanted).map(|i| start[i * have / wanted]).collect();
    let population = traffic.start(&start);
    (traffic, population)
}

/// A warm traffic of some size.
struct Warm {
    traffic: Traffic,
    population: Population,
    scratch: Scratch,
    ticks: usize,
    updates: usize,
}

impl Warm {
    fn new(kind: Kind, cars: usize) -> Self {
        let (traffic, population) = begin(kind, cars);
        let count = population.cars().count();
        let ticks = (UPDATES / count).max(10);
        let mut warm = Self { traffic, population, scratch: Scratch::default(), ticks, updates: ticks * count };
        warm.go(WARM_TICKS);
        warm
    }
    /// Sense, decide and move of all cars.
    fn go(&mut self, ticks: usize) {
        for _ in 0..ticks {
            self.traffic.step(&mut self.population, Input::default(), &mut self.scratch);
        }
    }
}

/// Updates per CPU second of several sizes, which take turns.
fn rates<const N: usize>(kind: Kind, sizes: [usize; N]) -> [f64; N] {
    let mut warm = sizes.map(|cars| Warm::new(kind, cars));
    let updates = warm.each_ref().map(|warm| warm.updates as f64);
    let mut work = warm.each_mut().map(|warm| move || warm.go(warm.ticks));
    let spent_s = medians_cpu_s(REPEATS, work.each_mut().map(|work| work as &mut dyn FnMut()));
    std::array::from_fn(|i| updates[i] / spent_s[i])
}

/// Updates per CPU second of another simulator.
fn peer(kind: &str, cars: usize) -> Option<f64> {
    let python = std::env::var_os("ANABRANCH_PEERS")?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/bench/traffic.py");
    let output = Command::new(python).args([script, kind, &cars.to_string(), &STEP_S.to_string()]).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

/// An ego among twenty cars, one second per segment, as an explorer runs them: from a saved state, by a shared timeline or in full.
fn segments() -> Vec<Figure> {
    let motorway = Motorway { lanes: 2, pieces: 4, piece_m: 250.0, limit_mps: 30.0 };
    let traffic =
        Traffic::new(World::new(motorway.streets(), Settings::new(STEP_S)), Seed(1)).expect("towns are sound");
    let cars = spread(&traffic, 10.0, 25.0);
    let start = traffic.start(&cars);
    let timeline = Timeline::new(&traffic, start.clone(), 50);
    let brakes = |ego: &mut Outside, brake: f64| {
        ego.speed_mps = (ego.speed_mps - brake * STEP_S).max(0.0);
        ego.station_m += ego.speed_mps * STEP_S;
    };
    let ego = Outside { lane: 0, station_m: 110.0, lateral_m: 0.0, speed_mps: 25.0, kind: 0 };
    let (mut scratch, mut branch_scratch) = (Scratch::default(), BranchScratch::default());
    let mut by_timeline = |from: &Branch, brake: f64| {
        let (mut branch, mut ego) = (from.clone(), ego);
        for _ in 0..10 {
            brakes(&mut ego, brake);
            traffic.step_branch(
                &timeline,
                &mut branch,
                Input { outside: &[ego], fire: &[], ..Input::default() },
                &mut branch_scratch,
            );
        }
        branch
    };
    let mut begun = traffic.branch();
    for _ in 0..3 {
        begun = by_timeline(&begun, 4.0);
    }
    let whole = traffic.whole(&timeline, &begun);
    let touched = begun.touched().len();
    let mut in_full = |brake: f64| {
        let (mut population, mut ego) = (whole.clone(), ego);
        for _ in 0..10 {
            brakes(&mut ego, brake);
            traffic.step(&mut population, Input { outside: &[ego], fire: &[], ..Input::default() }, &mut scratch);
        }
    };
    const SEGMENTS: u32 = 2_000;
    let [branch_s, full_s] = medians_cpu_s(
        REPEATS,
        [&mut || (0..SEGMENTS).for_each(|i| drop(by_timeline(&begun, f64::from(i % 9)))), &mut || {
            (0..SEGMENTS).for_each(|i| in_full(f64::from(i % 9)))
        }],
    );
    let before_s = cpu_s();
    let clones: usize = (0..10_000).map(|_| std::hint::black_box(begun.clone()).touched().len()).sum();
    let clone_s = (cpu_s() - before_s) / 10_000.0;
    assert_eq!(clones, 10_000 * touched);
    let name = |how: &str| format!("ego and {} cars, {touched} touched, {how}: segments of 1 s per CPU s", cars.len());
    vec![
        Figure::new(name("by timeline"), f64::from(SEGMENTS) / branch_s, Goal::AtLeast(2_000.0)),
        Figure::new(name("in full"), f64::from(SEGMENTS) / full_s, Goal::AtLeast(2_000.0)),
        Figure::new("saving such a branch, microseconds", clone_s * 1e6, Goal::None),
    ]
}
