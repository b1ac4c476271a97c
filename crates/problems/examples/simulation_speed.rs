//! How long one simulation with its robustness takes, for every problem: the best and the mean of many random inputs.

use anabranch_kernel::{Chance, Seed};
use anabranch_problems::{Crosswalk, Instance, JUNCTION_RANGES, Junction, Problem};

#[expect(clippy::disallowed_methods, reason = "a measurement needs a clock")]
fn micros(mut work: impl FnMut()) -> f64 {
    let start = std::time::Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e6
}

fn report(name: &str, dimensions: &[(f64, f64)], evaluate: impl Fn(&[f64]) -> f64) {
    const INPUTS: u64 = 300;
    let (mut times, mut falsified) = (Vec::new(), 0);
    for number in 0..INPUTS {
        let chance = Chance::new(Seed(1), name).at(number);
        let input: Vec<f64> =
            dimensions.iter().enumerate().map(|(i, (lo, hi))| lo + (hi - lo) * chance.uniform(i as u64)).collect();
        // The best of three: what else the machine does is not of interest.
        let time =
            (0..3).map(|_| micros(|| falsified += u64::from(evaluate(&input) < 0.0))).fold(f64::INFINITY, f64::min);
        times.push(time);
    }
    times.sort_by(f64::total_cmp);
    let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
    println!(
        "{name:12} median {median:7.1} µs, worst {worst:7.1} µs, {} of {INPUTS} random inputs falsify",
        falsified / 3
    );
}

fn main() {
    for name in Problem::names() {
        if let Ok(problem) = Problem::named(name) {
            report(name, &problem.dimensions, |input| problem.evaluate(input));
        }
    }
    let crosswalk = Crosswalk::starting_at(-2.5);
    report("crosswalk", &[(-1.0, 1.0); 300], |input| crosswalk.evaluate(input));
    report("junction", &JUNCTION_RANGES, |input| {
        Instance::from_numbers(input).map_or(f64::NAN, |instance| Junction::new(instance).run_all().danger_m())
    });
}
