//! Explores a scenario file and prints what came out: `cargo run -p anabranch-scenario --example explore_road -- FILE`.
//!
//! With a second argument of `run` it drives once without error and prints a line per segment.

use anabranch_explore::{Explorer, Merge, Scope, Settings};
use anabranch_kernel::{Choice, Seed, SegmentEnd, System, Watch};
use anabranch_scenario::Drive;
use anabranch_scenario::file::{Document, Hooks};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let file = arguments.first().ok_or("name a scenario file")?;
    let mut document = Document::parse(file, &std::fs::read(file)?).map_err(|report| report.to_string())?;
    for set in arguments.iter().skip(1).filter_map(|argument| argument.split_once('=')) {
        document.apply_override(set.0, set.1).map_err(|report| report.to_string())?;
    }
    let spec = document.read(&Hooks::default()).map_err(|report| report.to_string())?;
    let drive = Drive::assemble(&spec)?;
    if arguments.iter().any(|argument| argument == "run") {
        return run(&drive);
    }
    let grid = drive.grid(&spec.explore.merge).map_err(|error| error.message)?;
    let settings = Settings {
        scope: Scope::Level,
        merge: grid.map_or(Merge::None, Merge::Grid),
        levels_max: drive.segments(),
        ..Settings::new(drive.variables(), drive.time_matters())
    };
    let outcome = Explorer::new(&drive).settings(settings).run()?;
    println!("{:?}", outcome.progress);
    println!("cars at the beginning: {}; hits: {}; digest {}", drive.traffic_at(0), outcome.hits.len(), outcome.digest);
    Ok(())
}

fn run(drive: &Drive) -> Result<(), Box<dyn std::error::Error>> {
    let mut state = drive.start(Seed(0), &drive.space().all()[0])?;
    loop {
        let mut watch = Watch::off();
        let end = drive.run(&mut state, Choice::NONE, &mut watch)?;
        let car = &state.car.car;
        println!(
            "{:6} x {:8.2} y {:7.2} speed {:6.2} margin {:7.2} touched {:3} near {}",
            state.tick,
            car.x,
            car.y,
            car.speed,
            watch.margin,
            drive.touched(&state),
            drive.road_users(&state).len()
        );
        if end != SegmentEnd::Open {
            println!("{end:?}");
            return Ok(());
        }
    }
}
