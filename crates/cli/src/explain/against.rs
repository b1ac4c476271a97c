//! The same errors with another driver: does it survive, and from where on do the runs differ?

use std::path::Path;

use anabranch_kernel::{Choice, Seed, System};
use anabranch_record::{ErrorRun, Finding};
use anabranch_scenario::Drive;

use super::Case;
use super::runs::{Recorded, record};
use crate::failure::Failure;
use crate::load::{Loaded, Override, load, load_text};
use crate::project;

/// Signals below this are as good as zero when the one that differs most is looked for.
const SMALL: f64 = 1e-3;

/// The same errors with another driver.
#[derive(Debug)]
pub struct Against {
    /// The file that describes it.
    pub file: String,
    /// One after another: the errors that were found, and the smallest.
    pub runs: Vec<Compared>,
}

/// One error sequence with both.
#[derive(Debug)]
pub struct Compared {
    /// `found` or `minimal`.
    pub what: &'static str,
    /// Id of the requirement that the other violates, and when.
    pub violated: Option<(String, f64)>,
    /// Whether the other completes the manoeuvre.
    pub is_completed: bool,
    /// Smallest clearance of ours.
    pub own_clearance_m: f64,
    /// Smallest clearance of the other.
    pub other_clearance_m: f64,
    /// Where the two runs part.
    pub difference: Option<Difference>,
}

/// The first base cycle that differs; of several signals the one that differs most for its size.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Base cycle.
    pub tick: u64,
    /// Seconds since the start.
    pub time_s: f64,
    /// Every signal that differs in it.
    pub signals: Vec<String>,
    /// The one that differs most for its size.
    pub signal: String,
    /// Its unit.
    pub unit: String,
    /// Ours.
    pub own: f64,
    /// The other's.
    pub other: f64,
}

/// Runs the errors that were found and the smallest ones with the other driver.
pub fn compare(case: &Case<'_>, minimal: &[Choice], file: &Path) -> Result<Against, Failure> {
    let other = other(case.loaded(), file)?;
    let drive = other.drive()?;
    project::check_segments(&case.found.finding, drive.as_ref())?;
    let params = project::params_of(&case.found.finding, &case.found.path, &drive)?;
    let sequences = [("found", case.choices.as_slice()), ("minimal", minimal)];
    let runs = sequences.map(|(what, choices)| {
        let theirs = translated(case, choices, &drive, file)?;
        let own = record(case.drive, case.seed, &case.params, choices)?;
        let other = record(&drive, Seed(case.seed.0), &params, &theirs)?;
        let id = |requirement: u16| drive.requirements()[usize::from(requirement)].clone();
        Ok(Compared {
            what,
            violated: other.verdict.map(|v| (id(v.requirement), v.tick as f64 * drive.step_s())),
            is_completed: other.is_completed,
            own_clearance_m: own.clearance_m,
            other_clearance_m: other.clearance_m,
            difference: difference(case.drive, &own, &drive, &other),
        })
    });
    Ok(Against { file: project::relative(file), runs: runs.into_iter().collect::<Result<_, Failure>>()? })
}

/// A scenario of its own, or a few keys that replace those of ours.
fn other(own: &Loaded, file: &Path) -> Result<Loaded, Failure> {
    let text = std::fs::read_to_string(file).map_err(|e| Failure::file("read", file, &e))?;
    let table: toml::Table = text
        .parse()
        .map_err(|e: toml::de::Error| Failure::input(format!("{}: {}", file.display(), e.message()), ""))?;
    if table.contains_key("schema") {
        return load(file, &[]);
    }
    let mut all = own.overrides.clone();
    all.extend(keys(&table));
    if all.len() == own.overrides.len() {
        let help =
            "write what shall be different, as in [ego.driver] lateral_gain = \"0.5 1/m^2\", or a whole scenario";
        return Err(Failure::input(format!("`{}` changes nothing", file.display()), help));
    }
    load_text(&own.path, own.text.as_bytes(), &all, &[])
}

/// Every value of a table as an override, key by key, so that the others stay; a table with a `kind` is another thing
/// altogether and replaces the old one whole.
fn keys(table: &toml::Table) -> Vec<Override> {
    let mut keys = Vec::new();
    for (name, value) in table {
        match value {
            toml::Value::Table(inner) if !inner.contains_key("kind") => {
                keys.extend(self::keys(inner).into_iter().map(|(key, value)| (format!("{name}.{key}"), value)));
            }
            value => keys.push((name.clone(), value.to_string())),
        }
    }
    keys
}

/// The same errors by name, as the other scenario numbers them.
fn translated(case: &Case<'_>, choices: &[Choice], drive: &Drive, file: &Path) -> Result<Vec<Choice>, Failure> {
    let mut finding = Finding::new(drive.name(), case.loaded().hash, drive.segment_seconds());
    finding.errors = ErrorRun::group(case.drive.errors(), choices, &[]);
    project::in_file(file, finding.choices(drive.errors()))
}

/// The first base cycle in which a signal that both have differs.
fn difference(own: &Drive, a: &Recorded, other: &Drive, b: &Recorded) -> Option<Difference> {
    let shared: Vec<(usize, usize)> = own
        .signals()
        .iter()
        .enumerate()
        .filter_map(|(at, signal)| Some((at, other.signals().iter().position(|s| s.name == signal.name)?)))
        .collect();
    for ((tick, x), (_, y)) in a.frames.iter().zip(&b.frames) {
        let differing: Vec<(usize, usize)> =
            shared.iter().copied().filter(|&(i, j)| x[i].to_bits() != y[j].to_bits()).collect();
        let relative = |&(i, j): &(usize, usize)| (x[i] - y[j]).abs() / x[i].abs().max(y[j].abs()).max(SMALL);
        // Where several differ as much, the first.
        let most = differing.iter().rev().max_by(|a, b| relative(a).total_cmp(&relative(b)));
        if let Some(&(i, j)) = most {
            let name = |at: usize| own.signals()[at].name.clone();
            return Some(Difference {
                tick: *tick,
                time_s: *tick as f64 * own.step_s(),
                signals: differing.iter().map(|&(at, _)| name(at)).collect(),
                signal: name(i),
                unit: own.signals()[i].unit.clone(),
                own: x[i],
                other: y[j],
            });
        }
    }
    None
}
