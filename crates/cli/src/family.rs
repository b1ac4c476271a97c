//! Simulation models (`.sim`): each is a family of scenarios, and a verb is run for every member.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use anabranch_scenario::simulation::{expand, is_simulation};

use crate::escape::escape;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::print_err;

/// Which member is meant when a simulation is read. One verb runs at a time, and its members one after the other.
static MEMBER: AtomicUsize = AtomicUsize::new(0);

/// A scenario as TOML: as it is, or the member of a simulation that is meant now.
pub fn as_scenario(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>, Failure> {
    if !is_simulation(path) {
        return Ok(bytes);
    }
    let members = expand(path, &String::from_utf8_lossy(&bytes))?;
    let at = MEMBER.load(Ordering::Relaxed).min(members.len().saturating_sub(1));
    Ok(members.into_iter().nth(at).map_or_else(Vec::new, |member| member.text.into_bytes()))
}

/// Runs a verb for every member of a simulation, or once for everything else.
pub fn each(path: &Path, mut run: impl FnMut() -> Result<Exit, Failure>) -> Result<Exit, Failure> {
    if !is_simulation(path) {
        return run();
    }
    let text = std::fs::read(path).map_err(|e| Failure::file("read", path, &e))?;
    let members = expand(path, &String::from_utf8_lossy(&text))?;
    let mut exits = Vec::new();
    for (number, member) in members.iter().enumerate() {
        MEMBER.store(number, Ordering::Relaxed);
        if members.len() > 1 {
            print_err(&format!("{} of {}: {}\n", number + 1, members.len(), escape(&member.label)));
        }
        exits.push(run()?);
    }
    MEMBER.store(0, Ordering::Relaxed);
    Ok(Exit::of(&exits))
}
