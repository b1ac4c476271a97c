//! A program that misbehaves as it is told: `anabranch-rogue crash`. Tests start it; nobody else should.
//!
//! With `driver` or `world` it behaves well; with `host` it is a host that starts one of the others, to be killed;
//! with `claims COMMAND…` it starts another program and tells whether that keeps what it claims.

mod behaviour;
mod raw;
mod toy;

use anabranch_bridge::{Endpoint, Factory, Fleet, FleetLimits, Probe, ProcessFactory, Support, check_claims, serve};

fn main() {
    let mode = std::env::args().nth(1).unwrap_or_default();
    let result = match mode.as_str() {
        "host" => host(),
        "claims" => claims(),
        "driver" => serve_toy(toy::Toy::driver(Support::Save)),
        "world" => serve_toy(toy::Toy::world(Support::Save)),
        "world-replay" => serve_toy(toy::Toy::world(Support::Replay)),
        other => raw::misbehave(other).or_else(|| behaviour::misbehave(other)).unwrap_or_else(|| Err(format!("no such mode: {other:?}"))),
    };
    if let Err(text) = result {
        eprintln!("{text}");
        std::process::exit(1);
    }
}

fn serve_toy(mut toy: toy::Toy) -> Result<(), String> {
    let endpoint = Endpoint::from_environment().map_err(|error| error.to_string())?;
    serve(&mut toy, &endpoint).map_err(|error| error.to_string())
}

/// Starts what the next argument says, tells when it runs, and waits to be killed.
fn host() -> Result<(), String> {
    let child = std::env::args().nth(2).ok_or("which child?")?;
    let myself = std::env::current_exe().map_err(|error| error.to_string())?;
    let instance = ProcessFactory::new(myself, [child]).start().map_err(|wrong| wrong.to_string())?;
    println!("ready");
    std::thread::park();
    drop(instance);
    Ok(())
}

/// Starts any program that speaks the protocol, and tells which of its claims it keeps.
fn claims() -> Result<(), String> {
    let mut words = std::env::args().skip(2);
    let command = words.next().ok_or("which program?")?;
    let fleet = Fleet::new(Box::new(ProcessFactory::new(command, words)), FleetLimits::default());
    let fleet = fleet.map_err(|wrong| format!("{wrong}\n{}", wrong.output.as_deref().unwrap_or_default()))?;
    let claims = check_claims(&fleet, &Probe::of(fleet.card())).map_err(|wrong| wrong.to_string())?;
    claims.iter().for_each(|claim| println!("{claim}"));
    if claims.iter().all(|claim| claim.broken.is_none()) { Ok(()) } else { Err("not every claim is kept".to_owned()) }
}
