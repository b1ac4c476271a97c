//! How a driver drives when errors come by chance: clearance, comfort (S1-54) and how well it keeps to its line (S2-52), over random
//! runs without merging.

use std::num::NonZero;

use anabranch_kernel::{Chance, Choices, Fault, Recorder, Seed, SegmentEnd, Signal, System, Watch};
use anabranch_scenario::Drive;

/// What is measured, with its unit. The first are peaks of a run, the others what they come to at its end (S2-18, S2-52 … S2-54).
pub const MEASURES: [(&str, &str); COUNT] = [
    ("deceleration", "m/s^2"),
    ("lateral_acceleration", "m/s^2"),
    ("curvature", "1/m"),
    ("steering_rate", "rad/s"),
    ("jerk", "m/s^3"),
    ("wobble", "1/s"),
    ("stalled", "s"),
    ("deviation_per_metre", "m/m"),
    ("path_mse", "m^2"),
    ("jerk_rms", "m/s^3"),
    ("steering_rate_rms", "rad/s"),
    ("door_room", "m"),
];
const COUNT: usize = 12;
const PEAKS: usize = 7;
/// Of this a little is bad, not much.
const DOOR_ROOM: usize = 11;

/// The position of a measure.
pub fn position(name: &str) -> usize {
    MEASURES.iter().position(|(known, _)| *known == name).expect("a measure of the table")
}

/// One random run: its smallest clearance, each measure, and whether the driver came to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ride {
    clearance_m: f64,
    measures: [f64; COUNT],
    arrived: bool,
}

/// All random runs of a driver.
#[derive(Clone, Debug, PartialEq)]
pub struct Comfort {
    /// How many runs.
    pub runs: usize,
    /// How many of them ended because the driver said it was done.
    pub arrived: usize,
    /// Mean of the smallest clearance of each run; `None` if nothing was ever near.
    pub mean_clearance_m: Option<f64>,
    /// The worst of all runs, by measure.
    pub worst: [f64; COUNT],
    /// The mean of the runs, by measure.
    pub mean: [f64; COUNT],
}

/// Finds peaks in frames, and what stands in the last one.
struct Peaks {
    columns: [usize; COUNT],
    measures: [f64; COUNT],
}

impl Peaks {
    fn new(drive: &Drive) -> Self {
        let column = |(name, _): (&str, &str)| {
            let is_it = |signal: &Signal| signal.name.strip_prefix("ego.") == Some(name);
            drive.signals().iter().position(is_it).expect("a signal of every car with all measures")
        };
        Self { columns: MEASURES.map(column), measures: [0.0; COUNT] }
    }
}

impl Recorder for Peaks {
    fn frame(&mut self, _tick: u64, values: &[f64]) {
        for (at, (measure, column)) in self.measures.iter_mut().zip(self.columns).enumerate() {
            let value = values[column].abs();
            *measure = if at < PEAKS { measure.max(value) } else { value };
        }
    }
}

/// Drives `runs` times under errors drawn by lot, the same for every driver.
pub fn measure(drive: &Drive, seed: Seed, runs: u32, threads: usize) -> Result<Comfort, Fault> {
    let drive = &drive.clone().with_all_measures();
    let threads = match threads {
        0 => std::thread::available_parallelism().map_or(1, NonZero::get),
        n => n,
    };
    let numbers: Vec<u64> = (0..u64::from(runs)).collect();
    let part = numbers.len().div_ceil(threads).max(1);
    let parts: Vec<Result<Vec<Ride>, Fault>> = std::thread::scope(|scope| {
        let one = |part: &[u64]| part.iter().map(|&number| ride(drive, seed, number)).collect();
        let workers: Vec<_> = numbers.chunks(part).map(|part| scope.spawn(move || one(part))).collect();
        workers.into_iter().map(|worker| worker.join().expect("a panic has ended the program already")).collect()
    });
    let mut rides = Vec::with_capacity(numbers.len());
    for part in parts {
        rides.extend(part?);
    }
    Ok(summed(&rides))
}

fn ride(drive: &Drive, seed: Seed, number: u64) -> Result<Ride, Fault> {
    let chance = Chance::new(seed, "league");
    let starts = drive.space().all();
    let start = chance.at(number).below(0, starts.len() as u64) as usize;
    let mut state = drive.start(seed, &starts[start])?;
    let (mut peaks, mut clearance_m, mut live) = (Peaks::new(drive), f64::INFINITY, Choices::new());
    let mut arrived = false;
    for segment in 0..u64::from(drive.segments()) {
        drive.live(&state, &mut live);
        let choice = live[chance.at(number).below(1 + segment, live.len() as u64) as usize];
        let mut watch = Watch::recording(&mut peaks);
        let end = drive.run(&mut state, choice, &mut watch)?;
        clearance_m = clearance_m.min(watch.margin);
        arrived = end == SegmentEnd::Goal;
        if end != SegmentEnd::Open {
            break;
        }
    }
    Ok(Ride { clearance_m, measures: peaks.measures, arrived })
}

fn summed(rides: &[Ride]) -> Comfort {
    let near: Vec<f64> = rides.iter().map(|ride| ride.clearance_m).filter(|m| m.is_finite()).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let of = |measure: usize| rides.iter().map(|ride| ride.measures[measure]).collect::<Vec<f64>>();
    Comfort {
        runs: rides.len(),
        mean_clearance_m: (!near.is_empty()).then(|| mean(&near)),
        arrived: rides.iter().filter(|ride| ride.arrived).count(),
        worst: std::array::from_fn(|measure| {
            let worse = if measure == DOOR_ROOM { f64::min } else { f64::max };
            of(measure).into_iter().reduce(worse).unwrap_or(0.0)
        }),
        mean: std::array::from_fn(|measure| mean(&of(measure))),
    }
}
