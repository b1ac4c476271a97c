//! How a driver drives when errors come by chance: clearance and comfort (S1-54) over random runs without merging.

use std::num::NonZero;

use anabranch_kernel::{Chance, Choices, Fault, Recorder, Seed, SegmentEnd, System, Watch};
use anabranch_scenario::Drive;

/// What is measured, with its unit.
pub const MEASURES: [(&str, &str); COUNT] = [
    ("deceleration", "m/s^2"),
    ("lateral_acceleration", "m/s^2"),
    ("curvature", "1/m"),
    ("steering_rate", "rad/s"),
    ("jerk", "m/s^3"),
    ("deviation_per_metre", "m/m"),
    ("path_mse", "m^2"),
];
const COUNT: usize = 7;
/// Below this a measure is the peak of a run; the others say how well it kept to its path as a whole (S2-18, S2-52).
const PEAKS: usize = 5;
/// The share of deviations in the driven way counts only for runs that went somewhere.
const WAY_MIN_M: f64 = 1.0;

/// One random run: its smallest clearance and each measure.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ride {
    clearance_m: f64,
    peaks: [f64; COUNT],
}

/// All random runs of a driver.
#[derive(Clone, Debug, PartialEq)]
pub struct Comfort {
    /// How many runs.
    pub runs: usize,
    /// Mean of the smallest clearance of each run; `None` if nothing was ever near.
    pub mean_clearance_m: Option<f64>,
    /// The largest of all runs, by measure.
    pub worst: [f64; COUNT],
    /// The mean of the runs, by measure.
    pub mean: [f64; COUNT],
}

/// Finds peaks in frames.
struct Peaks {
    columns: [usize; 7],
    step_s: f64,
    steering: Option<f64>,
    peaks: [f64; PEAKS],
    way_m: f64,
    /// Of the distance to the path: its sum over the driven way, its sum of squares over ticks, and their number.
    off: [f64; 3],
}

impl Peaks {
    fn new(drive: &Drive) -> Self {
        let names = [
            "ego.deceleration",
            "ego.lateral_acceleration",
            "ego.curvature",
            "ego.steering",
            "ego.jerk",
            "ego.lateral_error",
            "ego.speed",
        ];
        let column = |name: &str| drive.signals().iter().position(|s| s.name == name).expect("a signal of every car");
        Self {
            columns: names.map(column),
            step_s: drive.step_s(),
            steering: None,
            peaks: [0.0; PEAKS],
            way_m: 0.0,
            off: [0.0; 3],
        }
    }
    /// All measures of the run.
    fn measures(&self) -> [f64; COUNT] {
        let [off_way, off_squares, ticks] = self.off;
        let per_metre = if self.way_m < WAY_MIN_M { 0.0 } else { off_way / self.way_m };
        let [a, b, c, d, e] = self.peaks;
        [a, b, c, d, e, per_metre, off_squares / ticks.max(1.0)]
    }
}

impl Recorder for Peaks {
    fn frame(&mut self, _tick: u64, values: &[f64]) {
        let [deceleration, lateral, curvature, steering, jerk, off_m, speed] =
            self.columns.map(|column| values[column]);
        let rate = self.steering.map_or(0.0, |before| (steering - before) / self.step_s);
        self.steering = Some(steering);
        for (peak, value) in self.peaks.iter_mut().zip([deceleration, lateral, curvature, rate, jerk]) {
            *peak = peak.max(value.abs());
        }
        let way_m = speed.abs() * self.step_s;
        self.way_m += way_m;
        self.off = [self.off[0] + off_m.abs() * way_m, self.off[1] + off_m * off_m, self.off[2] + 1.0];
    }
}

/// Drives `runs` times under errors drawn by lot, the same for every driver.
pub fn measure(drive: &Drive, seed: Seed, runs: u32, threads: usize) -> Result<Comfort, Fault> {
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
    for segment in 0..u64::from(drive.segments()) {
        drive.live(&state, &mut live);
        let choice = live[chance.at(number).below(1 + segment, live.len() as u64) as usize];
        let mut watch = Watch::recording(&mut peaks);
        let end = drive.run(&mut state, choice, &mut watch)?;
        clearance_m = clearance_m.min(watch.margin);
        if end != SegmentEnd::Open {
            break;
        }
    }
    Ok(Ride { clearance_m, peaks: peaks.measures() })
}

fn summed(rides: &[Ride]) -> Comfort {
    let near: Vec<f64> = rides.iter().map(|ride| ride.clearance_m).filter(|m| m.is_finite()).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let of = |measure: usize| rides.iter().map(|ride| ride.peaks[measure]).collect::<Vec<f64>>();
    Comfort {
        runs: rides.len(),
        mean_clearance_m: (!near.is_empty()).then(|| mean(&near)),
        worst: std::array::from_fn(|measure| of(measure).into_iter().fold(0.0, f64::max)),
        mean: std::array::from_fn(|measure| mean(&of(measure))),
    }
}
