//! How many cars per second: `cargo run --release -p anabranch-traffic --example rush_hour -- 1000 0.1`.
//!
//! Prints vehicle updates per second of wall clock for a city and for a motorway, and for an ego with twenty cars around it the number of
//! one-second segments per second. Rates beside other tools come from `cargo xtask bench traffic`.

use anabranch_kernel::Seed;
use anabranch_traffic::towns::{City, Control, Motorway};
use anabranch_traffic::{BranchScratch, Input, Outside, Scratch, Settings, Streets, Timeline, Traffic, World, spread};

#[expect(clippy::disallowed_methods, reason = "an example that measures time")]
fn seconds(mut work: impl FnMut()) -> f64 {
    let start = std::time::Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn updates_per_s(name: &str, streets: Streets, cars: usize, step_s: f64) {
    let traffic = Traffic::new(World::new(streets, Settings::new(step_s)), Seed(1)).expect("towns are sound");
    let mut start = spread(&traffic, 25.0, 10.0);
    start.truncate(cars);
    let count = start.len();
    let mut population = traffic.start(&start);
    let mut scratch = Scratch::default();
    let ticks = (2_000_000 / count).max(20);
    let mut go = |ticks: usize| {
        for _ in 0..ticks {
            traffic.step(&mut population, Input::default(), &mut scratch);
        }
    };
    go((60.0 / step_s) as usize);
    let spent_s = seconds(|| go(ticks));
    let mean_mps = population.cars().map(|car| car.speed_mps).sum::<f64>() / count as f64;
    let rate = (ticks * count) as f64 / spent_s;
    println!("{name}: {count} cars, {rate:.3e} updates/s, mean speed {mean_mps:.1} m/s");
}

fn segments_per_s() {
    let motorway = Motorway { lanes: 2, pieces: 4, piece_m: 250.0, limit_mps: 30.0 };
    let traffic = Traffic::new(World::new(motorway.streets(), Settings::new(0.1)), Seed(1)).expect("towns are sound");
    let cars = spread(&traffic, 10.0, 25.0);
    let timeline = Timeline::new(&traffic, traffic.start(&cars), 100);
    let mut scratch = BranchScratch::default();
    let mut touched = 0;
    let mut run = |from: &anabranch_traffic::Branch, brake: f64| {
        let mut branch = from.clone();
        let mut ego = Outside { lane: 0, station_m: 105.0, lateral_m: 0.0, speed_mps: 25.0, kind: 0 };
        while branch.tick < from.tick + 10 {
            ego.speed_mps = (ego.speed_mps - brake * 0.1).max(0.0);
            ego.station_m += ego.speed_mps * 0.1;
            traffic.step_branch(
                &timeline,
                &mut branch,
                Input { outside: &[ego], fire: &[], ..Input::default() },
                &mut scratch,
            );
        }
        touched = branch.touched().len();
        branch
    };
    let mut begun = traffic.branch();
    for _ in 0..3 {
        begun = run(&begun, 3.0);
    }
    let spent_s = seconds(|| (0..2000).for_each(|i| drop(run(&begun, f64::from(i % 9)))));
    println!(
        "ego and {} cars, {touched} of them touched: {:.0} segments of 1 s per second",
        cars.len(),
        2000.0 / spent_s
    );
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let cars: usize = arguments.next().map_or(1000, |n| n.parse().expect("a number of cars"));
    let step_s: f64 = arguments.next().map_or(0.1, |s| s.parse().expect("seconds per tick"));
    // 25 cars per kilometre of lane, 8 lanes of 200 m per junction.
    let side = ((cars as f64 / 40.0).sqrt().ceil() as u32).max(2);
    let control = Control::Lights { green_s: 20.0 };
    let city = City { side, street_m: 200.0, lanes: 2, limit_mps: 13.9, control };
    updates_per_s("city", city.streets(), cars, step_s);
    let pieces = (cars as f64 / 75.0 * 1.0).ceil() as u32 + 1;
    let motorway = Motorway { lanes: 3, pieces, piece_m: 1000.0, limit_mps: 33.0 };
    updates_per_s("motorway", motorway.streets(), cars, step_s);
    segments_per_s();
}
