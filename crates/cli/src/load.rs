//! From a file name to a scenario that can run.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use anabranch_bridge::Kind;
use anabranch_kernel::{Digest, DigestWriter, to_bytes};
use anabranch_scenario::file::{
    Code, Document, FILE_BYTES_MAX, Hooks, MergeSpec, PartKind, Program, ScenarioSpec, open_bytes,
};
use anabranch_scenario::models::Library;
use anabranch_scenario::{AssembleError, Cells, Drive, SettingError};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::origin::{Origin, relocated};
use crate::outside::{self, DRIVER_FLAG, Patience, Unusable};

/// `--set ego.start.y="0.1 m"`: a path into the scenario and a value.
pub type Override = (String, String);

/// A scenario that was read and checked.
#[derive(Debug)]
pub struct Loaded {
    /// As the user named it.
    pub path: PathBuf,
    /// The text of the file.
    pub text: String,
    /// Digest of the text and of what the command line changed in it.
    pub hash: Digest,
    /// What was changed on the command line.
    pub overrides: Vec<Override>,
    /// For messages about it.
    pub document: Document,
    /// What it says.
    pub spec: ScenarioSpec,
    /// How long a driver from outside is waited for.
    pub patience: Patience,
    /// Flags behind what was changed.
    pub origins: Vec<Origin>,
}

/// Reads `--set` values: `key=value`.
pub fn parse_override(text: &str) -> Result<Override, String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.trim().to_owned())),
        _ => Err("write a key and a value, as in ego.start.y=\"0.1 m\"".to_owned()),
    }
}

/// Reads and checks a scenario with its overrides.
pub fn load(path: &Path, overrides: &[Override]) -> Result<Loaded, Failure> {
    load_with(path, overrides, &[])
}

/// As [`load`]; `settings` say how to explore and not what, so they are no part of the scenario's identity.
pub fn load_with(path: &Path, overrides: &[Override], settings: &[Override]) -> Result<Loaded, Failure> {
    let bytes = read(path)?;
    load_text(path, &bytes, overrides, settings).map_err(|failure| crate::family::relocated(path, failure))
}

/// As [`load_with`], with the bytes already at hand.
pub fn load_text(path: &Path, bytes: &[u8], overrides: &[Override], settings: &[Override]) -> Result<Loaded, Failure> {
    let mut origins: Vec<Origin> = settings.iter().filter_map(Origin::of_setting).collect();
    load_changed(path, bytes, (overrides, settings), &mut origins).map_err(|failure| relocated(failure, &origins))
}

fn load_changed(
    path: &Path,
    bytes: &[u8],
    (overrides, settings): (&[Override], &[Override]),
    origins: &mut Vec<Origin>,
) -> Result<Loaded, Failure> {
    let name = path.display().to_string();
    let mut document = Document::parse(&name, bytes)?;
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let mut overrides = last_of_each(overrides);
    origins.extend(name_driver(&mut overrides, &document, &folder)?);
    for (key, value) in &mut overrides {
        *key = document.full_path(key)?;
        document.apply_override(key, value)?;
    }
    for (key, value) in settings {
        document.apply_override(key, value)?;
    }
    let spec = beside(&folder, |hooks| document.read(hooks))?;
    document.check_placement(&spec)?;
    let text = String::from_utf8_lossy(bytes).into_owned();
    let part = spec.ego.part.as_ref().map(|part| &part.outside);
    let mut files: Vec<PathBuf> =
        spec.ego.driver.outside.iter().chain(part).flat_map(|code| outside::file_of(code, &folder)).collect();
    files.extend(spec.road.iter().filter_map(|road| Some(folder.join(&road.map.as_ref()?.value))));
    files.extend(spec.world.tiles.iter().map(|tiles| folder.join(&tiles.name.value)));
    let hash = with_models(with_files(identity(bytes, &overrides), &files)?, &spec);
    let origins = origins.clone();
    Ok(Loaded { path: path.to_owned(), text, hash, overrides, document, spec, patience: Patience::Usual, origins })
}

/// Puts what `--driver` means in its place, now that it is known where the scenario is and what its cycle was.
fn name_driver(overrides: &mut [Override], document: &Document, folder: &Path) -> Result<Option<Origin>, Failure> {
    let Some(flag) = overrides.iter_mut().find(|(key, _)| key == DRIVER_FLAG) else { return Ok(None) };
    let before = beside(folder, |hooks| document.read(&Hooks { has_file: &|_| true, ..*hooks }))?;
    let meant = outside::driver_override(&flag.1, folder, before.ego.driver.cycle_s.map(|cycle| cycle.value));
    let origin = Origin::in_other_words(DRIVER_FLAG, &flag.1, &meant);
    *flag = meant;
    Ok(Some(origin))
}

/// `--driver` as the first of the overrides: the others may change what it says.
pub fn with_driver(sets: &[Override], driver: Option<&String>) -> Vec<Override> {
    let flag = driver.map(|driver| (DRIVER_FLAG.to_owned(), driver.clone()));
    flag.into_iter().chain(sets.iter().cloned()).collect()
}

/// A driver or a map that was changed makes another scenario.
fn with_files(hash: Digest, files: &[PathBuf]) -> Result<Digest, Failure> {
    if files.is_empty() {
        return Ok(hash);
    }
    let mut digest = DigestWriter::new();
    digest.wide(hash.0);
    for file in files {
        digest_file(&mut digest, file).map_err(|e| Failure::file("read", file, &e))?;
    }
    Ok(digest.finish())
}

/// What a scenario in this folder may refer to: files are found beside it.
pub fn beside<R>(folder: &Path, read: impl FnOnce(&Hooks<'_>) -> R) -> R {
    read(&Hooks {
        has_file: &|name| folder.join(name).is_file(),
        read_file: &|name| std::fs::read_to_string(folder.join(name)).ok(),
        open_tiles: &|name| open_bytes(&folder.join(name)),
        read_models: &|name| Library::around(&folder.join(name)),
        ..Hooks::default()
    })
}

/// Piece by piece: files of tiles are large.
fn digest_file(digest: &mut DigestWriter, path: &Path) -> std::io::Result<()> {
    const PIECE_BYTES: u64 = 1 << 22;
    let mut file = std::fs::File::open(path)?;
    let mut piece = Vec::new();
    loop {
        piece.clear();
        file.by_ref().take(PIECE_BYTES).read_to_end(&mut piece)?;
        digest.bytes(&piece);
        if (piece.len() as u64) < PIECE_BYTES {
            return Ok(());
        }
    }
}

/// A component model that computes something else makes another scenario.
fn with_models(hash: Digest, spec: &ScenarioSpec) -> Digest {
    let driver = &spec.ego.driver;
    let Some(model) = driver.model.as_ref().or(driver.behind.as_ref()) else { return hash };
    let mut digest = DigestWriter::new();
    digest.wide(hash.0);
    for stage in &model.stages {
        digest.text(&stage.name);
        digest.bytes(&to_bytes(&*stage.program));
    }
    digest.finish()
}

/// The same key twice means the last value; a finding then has each key once.
fn last_of_each(overrides: &[Override]) -> Vec<Override> {
    let is_last = |at: usize| overrides[at + 1..].iter().all(|(key, _)| *key != overrides[at].0);
    (0..overrides.len()).filter(|&at| is_last(at)).map(|at| overrides[at].clone()).collect()
}

/// Digest of the text, and of what the command line changed in it.
fn identity(bytes: &[u8], overrides: &[Override]) -> Digest {
    if overrides.is_empty() {
        return Digest::of(bytes);
    }
    let mut digest = DigestWriter::new();
    digest.bytes(bytes);
    for (key, value) in overrides {
        digest.text(key);
        digest.text(value);
    }
    digest.finish()
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let (file, _) = crate::family::addressed(path);
    let refused = |e: std::io::Error| Failure::file("read", &file, &e);
    let size = std::fs::metadata(&file).map_err(refused)?;
    if size.is_dir() {
        return Err(Failure::input(format!("`{}` is a folder", path.display()), "name a scenario file in it"));
    }
    if size.len() > FILE_BYTES_MAX as u64 {
        let message = format!("`{}` has {} bytes; a scenario has at most {FILE_BYTES_MAX}", path.display(), size.len());
        return Err(Failure::input(message, ""));
    }
    crate::family::as_scenario(path, std::fs::read(&file).map_err(refused)?)
}

/// A scenario becomes a loop, or there is no path to drive.
#[derive(Debug)]
pub enum Assembled {
    /// Ready to run.
    Drive(Box<Drive>),
    /// The planner found no path: an outcome, not a mistake.
    NoPath(String),
}

impl Loaded {
    /// Builds the loop; this plans the paths.
    pub fn assemble(&self) -> Result<Assembled, Failure> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let driver = self.spec.ego.driver.outside.as_ref();
        let driver = driver.map(|driver| outside::outside(driver, folder, self.patience));
        let part = self.spec.ego.part.as_ref().map(|part| outside::part(part, folder, self.patience));
        let code = driver.or(part).transpose().map_err(|wrong| match wrong {
            Unusable::Whole(failure) => failure,
            Unusable::At(span, text) => self.located(Code::WrongMapping, span, text, ""),
        })?;
        match Drive::assemble_with(&self.spec, code) {
            Ok(drive) => Ok(Assembled::Drive(Box::new(drive))),
            Err(AssembleError::NoPath(why)) => Ok(Assembled::NoPath(why.to_string())),
            Err(AssembleError::Errors(error)) => {
                let span = self.spec.errors.first().map_or(self.spec.name.span, |e| e.id.span);
                Err(self.located(Code::TooMany, span, error.to_string(), ""))
            }
            Err(AssembleError::Driver(wrong)) => {
                let output = wrong.output.as_deref().unwrap_or_default().trim_end();
                let help = if output.is_empty() { String::new() } else { format!("its last output was: {output}") };
                let what = self.spec.ego.part.as_ref().map_or("driver", |part| match part.kind {
                    PartKind::Actuator => "actuator",
                    PartKind::Plant => "plant",
                });
                // It was there, and then it went away: what was asked is not answered, which is no mistake of the input.
                let exit =
                    if wrong.kind == Kind::Crash && self.only_connects() { Exit::Incomplete } else { Exit::BadInput };
                Err(Failure::Plain { exit, message: format!("the {what} cannot be used: {wrong}"), help })
            }
            Err(AssembleError::Unsupported { what, span }) => Err(self.located(Code::Exclusive, span, what, "")),
        }
    }

    /// Whether the driver is a program that somebody else started.
    fn only_connects(&self) -> bool {
        self.spec.ego.driver.outside.as_ref().is_some_and(|driver| matches!(driver.program.value, Program::Zmq(_)))
    }

    /// As [`assemble`](Self::assemble) where a path is needed.
    pub fn drive(&self) -> Result<Box<Drive>, Failure> {
        match self.assemble()? {
            Assembled::Drive(drive) => Ok(drive),
            Assembled::NoPath(why) => Err(no_path(&why)),
        }
    }

    /// When states of the scenario count as alike.
    pub fn cells(&self, drive: &Drive) -> Result<Cells, Failure> {
        drive.cells(&self.spec.explore.merge).map_err(|error| self.setting(&error))
    }

    fn setting(&self, error: &SettingError) -> Failure {
        let is_name = match &self.spec.explore.merge {
            MergeSpec::Sizes(sizes) => sizes.iter().any(|size| size.name.span == error.span),
            MergeSpec::Declared | MergeSpec::Off(_) => false,
        };
        let code = if is_name { Code::UnknownKey } else { Code::WrongUnit };
        self.located(code, error.span, error.message.clone(), &error.help)
    }

    fn located(&self, code: Code, span: anabranch_scenario::file::Span, message: String, help: &str) -> Failure {
        let failure = Failure::Located(self.document.diagnostic(code, span, message, help).into());
        crate::family::relocated(&self.path, relocated(failure, &self.origins))
    }

    /// What a person calls an obstacle of a verdict: walls come first.
    pub fn other_name(&self, number: u32) -> String {
        let (world, number) = (&self.spec.world, number as usize);
        match number.checked_sub(world.walls.len()) {
            None => format!("wall `{}`", world.walls[number].id.value),
            Some(index) => match world.obstacles.get(index) {
                Some(obstacle) => format!("obstacle `{}`", obstacle.id.value),
                None => self.road_user_name(index - world.obstacles.len()),
            },
        }
    }

    /// Which road user a number in a verdict means: that of an object, or one without a name; none if it is no road user.
    pub fn road_user(&self, number: u32) -> Option<Option<usize>> {
        let standing = self.spec.world.walls.len() + self.spec.world.obstacles.len();
        let objects = self.spec.road.as_ref().map_or(0, |road| road.objects.len());
        let index = (number as usize).checked_sub(standing).filter(|index| *index <= objects)?;
        Some(Some(index).filter(|index| self.spec.road.as_ref().is_some_and(|road| *index < road.objects.len())))
    }

    /// What a person calls somebody on the road: objects have names, and all others none.
    fn road_user_name(&self, number: usize) -> String {
        let objects = self.spec.road.as_ref().map_or(&[][..], |road| &road.objects);
        match objects.get(number) {
            Some(object) => format!("{} `{}`", object.kind.value.word(), object.id.value),
            None if number == objects.len() => "another car".to_owned(),
            None => "the tiles".to_owned(),
        }
    }
}

/// No path, where one is needed.
pub fn no_path(why: &str) -> Failure {
    let message = format!("planner found no path: {why}");
    let help = "give the car more room, lower `safety_distance`, or draw a path yourself with `ego.path`";
    Failure::Plain { exit: Exit::Findings, message, help: help.to_owned() }
}
