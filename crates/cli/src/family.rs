//! Simulation models (`.sim`): each is a family of scenarios, and a verb is run for every member.
//!
//! A member is addressed in the path, counted from one: `Street.sim#2`. So a run can be repeated, resumed and replayed by
//! what its folder says.

use std::path::{Path, PathBuf};

use anabranch_scenario::simulation::{Member, expand, is_car, is_simulation};

use crate::escape::escape;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::print_err;

/// The file of a path, and the member of its family that is meant, counted from one.
///
/// ```text
/// Street.sim    the first member, or every one where a verb can do several
/// Street.sim#2  the second
/// ```
pub fn addressed(path: &Path) -> (PathBuf, Option<usize>) {
    let split = path.to_str().and_then(|text| {
        let (file, number) = text.rsplit_once('#')?;
        let number: usize = number.parse().ok().filter(|_| number.bytes().all(|byte| byte.is_ascii_digit()))?;
        is_simulation(Path::new(file)).then(|| (PathBuf::from(file), Some(number)))
    });
    split.unwrap_or_else(|| (path.to_owned(), None))
}

/// A scenario as TOML: as it is, or the member of a simulation that is meant. `bytes` are those of the file.
pub fn as_scenario(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>, Failure> {
    if is_car(path) {
        let message = format!("`{}` is a car, not a scenario", path.display());
        return Err(Failure::input(
            message,
            "name the simulation (.sim) that it drives in; `check` looks at a car alone",
        ));
    }
    let (file, number) = addressed(path);
    if !is_simulation(&file) {
        return Ok(bytes);
    }
    let members = expand(&file, &String::from_utf8_lossy(&bytes))?;
    let (count, number) = (members.len(), number.unwrap_or(1));
    match number.checked_sub(1).and_then(|at| members.into_iter().nth(at)) {
        Some(member) => Ok(member.text.into_bytes()),
        None => {
            let message = format!("`{}` has no member {number}", file.display());
            Err(Failure::input(message, format!("its family has {count}, counted from 1")))
        }
    }
}

/// What is wrong with the scenario of a simulation is told where the simulation, or a car of it, says so.
pub fn relocated(path: &Path, failure: Failure) -> Failure {
    let (file, number) = addressed(path);
    let Failure::Located(mut report) = failure else { return failure };
    let members = match std::fs::read(&file) {
        Ok(bytes) if is_simulation(&file) => expand(&file, &String::from_utf8_lossy(&bytes)).unwrap_or_default(),
        _ => Vec::new(),
    };
    if let Some(member) = number.unwrap_or(1).checked_sub(1).and_then(|at| members.get(at)) {
        member.relocate(&path.display().to_string(), &mut report);
    }
    Failure::Located(report)
}

/// The address of a member, counted from one.
fn address(path: &Path, number: usize) -> PathBuf {
    let mut member = path.as_os_str().to_owned();
    member.push(format!("#{number}"));
    member.into()
}

/// The members of a scenario: itself, unless it is a simulation with lists or ranges. What cannot be read is its own only
/// member, which will tell why.
pub fn members(path: &Path) -> Vec<PathBuf> {
    let text = if is_simulation(path) { std::fs::read(path).unwrap_or_default() } else { Vec::new() };
    let count =
        if text.is_empty() { 1 } else { expand(path, &String::from_utf8_lossy(&text)).map_or(1, |all| all.len()) };
    if count <= 1 { vec![path.to_owned()] } else { (1..=count).map(|number| address(path, number)).collect() }
}

/// Runs a verb for every member of a simulation, or once for everything else.
pub fn each(path: &Path, mut run: impl FnMut(&Path) -> Result<Exit, Failure>) -> Result<Exit, Failure> {
    if !is_simulation(path) {
        return run(path);
    }
    let text = std::fs::read(path).map_err(|e| Failure::file("read", path, &e))?;
    let members = expand(path, &String::from_utf8_lossy(&text))?;
    if let [_] = members[..] {
        return run(path);
    }
    let mut exits = Vec::new();
    for (number, Member { label, .. }) in (1..).zip(&members) {
        print_err(&format!("{number} of {}: {}\n", members.len(), escape(label)));
        exits.push(run(&address(path, number))?);
    }
    Ok(Exit::of(&exits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_addressed_behind_the_name() {
        let check = |path: &str, file: &str, member: Option<usize>| {
            assert_eq!(addressed(Path::new(path)), (PathBuf::from(file), member));
        };
        check("a/B.sim", "a/B.sim", None);
        check("a/B.sim#2", "a/B.sim", Some(2));
        check("a#3/B.toml", "a#3/B.toml", None);
        check("B.toml#2", "B.toml#2", None);
        check("B.sim#two", "B.sim#two", None);
        check("B.sim#+2", "B.sim#+2", None);
    }
}
