//! Where things are in a user's project: runs, findings, and the scenario a finding belongs to.

use std::path::{Path, PathBuf};

use anabranch_kernel::{Params, System};
use anabranch_record::{Finding, FindingError, RunFolder, RunReference};
use anabranch_scenario::Drive;
use anabranch_scenario::file::{Document, Hooks};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::load::{Loaded, Override, beside, load, load_text};
use crate::numbers::short;
use crate::outside::is_program;

/// Folder of all runs.
pub const RUNS: &str = "runs";
/// Folder of kept findings.
pub const FINDINGS: &str = "findings";
/// Copy of the scenario in the folder of a run.
pub const SCENARIO_COPY: &str = "scenario.toml";
/// Where the scenario of a run came from.
const ORIGIN: &str = "scenario.json";

/// Where the scenario of a run came from: `scenario.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Origin {
    schema: String,
    /// Relative to the project.
    pub file: String,
    /// What was changed on the command line, in order.
    pub set: Vec<Override>,
}

/// A finding with the scenario it is to be run with.
#[derive(Debug)]
pub struct Found {
    /// The finding.
    pub finding: Finding,
    /// Its file.
    pub path: PathBuf,
    /// The scenario.
    pub loaded: Loaded,
    /// What the person should know about the scenario.
    pub warning: Option<String>,
}

/// Leaves the scenario in the folder of its run, so that findings replay later. With it the folder says all it was asked
/// to do, and is the last run from here on.
pub fn save_scenario(folder: &RunFolder, loaded: &Loaded) -> Result<(), Failure> {
    folder.publish(SCENARIO_COPY, loaded.text.as_bytes())?;
    save_origin(folder, &loaded.path, &loaded.overrides)
}

/// Says in the folder of a run where what it is about came from; it is the last run from here on.
pub fn save_origin(folder: &RunFolder, file: &Path, set: &[Override]) -> Result<(), Failure> {
    let origin = Origin { schema: "anabranch.origin/1".to_owned(), file: relative(file), set: set.to_vec() };
    folder.publish_json(ORIGIN, &origin)?;
    Ok(folder.make_last()?)
}

/// Whether a finding was found in a world from outside, and not in a scenario.
pub fn names_program(finding: &Finding) -> bool {
    let file = Path::new(&finding.scenario_file);
    is_program(file) || file.extension().is_some_and(|ending| ending == "py")
}

/// A path that names no machine: relative to where we are, or the file name alone.
pub fn relative(path: &Path) -> String {
    if path.is_relative() {
        return path.display().to_string();
    }
    let here = std::env::current_dir().unwrap_or_default();
    let inside = path.strip_prefix(&here).ok().map(Path::to_owned);
    let name = inside.or_else(|| path.file_name().map(PathBuf::from)).unwrap_or_default();
    name.display().to_string()
}

/// Reads a finding file.
pub fn read_finding(path: &Path) -> Result<Finding, Failure> {
    let text = std::fs::read_to_string(path).map_err(|e| Failure::file("read", path, &e))?;
    in_file(path, Finding::from_toml(&text))
}

/// Names the file of what is wrong in a finding.
pub fn in_file<T>(path: &Path, result: Result<T, FindingError>) -> Result<T, Failure> {
    result.map_err(|error| match error.line {
        0 => Failure::input(format!("{}: {}", path.display(), error.kind), ""),
        line => Failure::input(format!("{}:{line}: {}", path.display(), error.kind), ""),
    })
}

/// A finding only fits a scenario with segments of the same length.
pub fn check_segments<S: System>(finding: &Finding, drive: &S) -> Result<(), Failure> {
    let now = drive.segment_seconds();
    if (finding.segment_s - now).abs() < 1e-9 {
        return Ok(());
    }
    let (then, now) = (short(finding.segment_s, 6), short(now, 6));
    let help = format!("add --set explore.segment=\"{then} s\"");
    Err(Failure::input(format!("the finding has segments of {then} s, the scenario has segments of {now} s"), help))
}

/// The start of a finding, if the scenario still has it.
pub fn params_of(finding: &Finding, path: &Path, drive: &Drive) -> Result<Params, Failure> {
    let params = in_file(path, finding.params(drive.space()))?;
    if drive.space().all().contains(&params) {
        return Ok(params);
    }
    let message = format!("{}: the scenario does not start there any more", path.display());
    Err(Failure::input(message, "give the start of the finding with --set ego.start.y=\"…\" and the like"))
}

/// `last#1`, `folder#2` or the path of a finding file.
pub fn find(reference: &str, sets: &[Override]) -> Result<Found, Failure> {
    let path = finding_path(reference)?;
    let finding = read_finding(&path)?;
    if names_program(&finding) {
        let message = format!("{}: this was found in the world `{}`", path.display(), finding.scenario_file);
        return Err(Failure::input(message, "`replay`, `explain` and `test` run findings of worlds"));
    }
    let folder = path.parent().and_then(Path::parent).and_then(Path::parent);
    let run = folder.filter(|folder| folder.join(SCENARIO_COPY).is_file());
    let (loaded, warning) = match run {
        // A search changes the scenario for each of its findings; an exploration has the changes of its run.
        Some(run) => from_run(run, &path, &finding.set.iter().chain(sets).cloned().collect::<Vec<_>>())?,
        None => from_project(&finding, &path, sets)?,
    };
    Ok(Found { finding, path, loaded, warning })
}

/// What is kept of an accident of a benchmark, beside its pictures.
pub const INSTANCE: &str = "instance.json";

/// The file of an accident of a benchmark, if the reference means one.
pub fn instance_path(reference: &str) -> Option<PathBuf> {
    let given = Path::new(reference);
    if given.is_file() {
        return given.file_name().is_some_and(|name| name == INSTANCE).then(|| given.to_owned());
    }
    let beside = given.join(INSTANCE);
    if beside.is_file() {
        return Some(beside);
    }
    let found = reference.parse::<RunReference>().ok()?.resolve(Path::new(RUNS)).ok()?;
    found.finding.map(|folder| folder.join(INSTANCE)).filter(|path| path.is_file())
}

/// The file that `last#1`, `folder#2` or a path means.
pub fn finding_path(reference: &str) -> Result<PathBuf, Failure> {
    let path = Path::new(reference);
    if path.is_file() {
        return Ok(path.to_owned());
    }
    if path.join("finding.toml").is_file() {
        return Ok(path.join("finding.toml"));
    }
    if reference.ends_with(".toml") {
        return Err(Failure::input(format!("there is no file `{reference}`"), ""));
    }
    if instance_path(reference).is_some() {
        let message = format!("`{reference}` is an accident of a benchmark, not of a scenario");
        return Err(Failure::input(message, "`replay` runs it again; `report` shows what would have prevented it"));
    }
    let found = reference.parse::<RunReference>()?.resolve(Path::new(RUNS))?;
    match found.finding {
        Some(folder) => Ok(folder.join("finding.toml")),
        None => {
            let count = found.run.list_findings()?.len();
            let message = format!("`{reference}` is a run with {count} findings; name one of them");
            Err(Failure::input(message, format!("{reference}#1 is the first")))
        }
    }
}

/// The scenario of a run as it was then, and whether its file has changed since.
pub fn of_run(run: &Path, sets: &[Override], settings: &[Override]) -> Result<(Loaded, bool), Failure> {
    let origin: Origin = RunFolder::open(run)?.read_json(ORIGIN)?;
    let copy = run.join(SCENARIO_COPY);
    if is_program(Path::new(&origin.file)) && !copy.is_file() {
        let message = format!("`{}` is a run of the world `{}`, and no scenario", run.display(), origin.file);
        return Err(Failure::input(message, format!("begin anew: anabranch explore {}", origin.file)));
    }
    let bytes = std::fs::read(&copy).map_err(|e| Failure::file("read", &copy, &e))?;
    let all: Vec<Override> = origin.set.iter().chain(sets).cloned().collect();
    let file = Path::new(&origin.file);
    let changed = std::fs::read(file).is_ok_and(|now| now != bytes);
    Ok((load_text(file, &bytes, &all, settings)?, changed))
}

/// The copy in the run is what the finding was found with.
fn from_run(run: &Path, finding: &Path, sets: &[Override]) -> Result<(Loaded, Option<String>), Failure> {
    let (loaded, changed) = of_run(run, sets, &[])?;
    let warning = changed.then(|| {
        let file = loaded.path.display();
        let again = format!("anabranch run {file} --errors {}", finding.display());
        format!("`{file}` has changed since this run; replaying it as it was. As it is now: {again}")
    });
    Ok((loaded, warning))
}

/// A kept finding belongs to the scenario of its file, or else to that of its name, wherever it lies in the project.
fn from_project(finding: &Finding, path: &Path, sets: &[Override]) -> Result<(Loaded, Option<String>), Failure> {
    let beside = path.parent().unwrap_or(Path::new("."));
    let places = [beside.join(".."), beside.to_owned(), PathBuf::from("."), PathBuf::from("scenarios")];
    let told = Path::new(&finding.scenario_file);
    let told = (told.is_relative() && told.is_file()).then(|| told.to_owned());
    let Some(file) = told.or_else(|| places.iter().find_map(|folder| named(folder, &finding.scenario))) else {
        let message = format!("there is no scenario named `{}` in this project", finding.scenario);
        let help = format!("anabranch run SCENARIO --errors {}", path.display());
        return Err(Failure::input(message, help));
    };
    let all: Vec<Override> = finding.set.iter().chain(sets).cloned().collect();
    let loaded = load(&file, &all)?;
    let changed = loaded.hash != finding.scenario_hash;
    let warning =
        changed.then(|| format!("`{}` is not the text this was found with; replaying anyway", file.display()));
    Ok((loaded, warning))
}

/// The scenario file of this name in a folder.
fn named(folder: &Path, name: &str) -> Option<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).ok()?.filter_map(|e| Some(e.ok()?.path())).collect();
    files.sort();
    files.into_iter().filter(|file| file.extension().is_some_and(|e| e == "toml")).find(|file| {
        let bytes = std::fs::read(file).unwrap_or_default();
        let document = Document::parse("", &bytes).ok();
        let spec = |hooks: &Hooks<'_>| document.and_then(|d| d.read(&Hooks { has_file: &|_| true, ..*hooks }).ok());
        beside(folder, spec).is_some_and(|spec| spec.name.value == name)
    })
}
