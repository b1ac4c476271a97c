//! From what a scenario says about its driver to something that starts it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use anabranch_bridge::fmu::{FmuFactory, FmuMapping, FmuRole, FmuSpec};
use anabranch_bridge::zmtp::AddressError;
use anabranch_bridge::{
    ConnectFactory, Deadlines, Factory, Fleet, FleetLimits, Pace, ProcessFactory, ProcessLimits, Reach,
};
use anabranch_scenario::drive::foreign::{Hidden, Outside, Sensors};
use anabranch_scenario::file::{
    DriverKind, HiddenMemory, Located, MappingSpec, OutsideSpec, PartKind, PartSpec, Program, Span,
};

use crate::escape::escape;
use crate::failure::Failure;
use crate::interrupt;
use crate::load::Override;
use crate::screen::print_err;

/// Stands for `--driver` among overrides until the scenario is read: what it names is relative to where we are, and
/// scenarios name files relative to themselves.
pub const DRIVER_FLAG: &str = "--driver";

/// Names the Python interpreter that has the kit.
const PYTHON_VARIABLE: &str = "ANABRANCH_PYTHON";
/// Most copies that are started without being asked for.
const INSTANCES_MAX: usize = 8;

/// Where drivers may run; on this machine unless somebody said otherwise on the command line.
static REACH: OnceLock<Reach> = OnceLock::new();

/// Lets drivers run on other machines, from now on.
pub fn allow_remote() {
    // Only `main` says so, once.
    let _ = REACH.set(Reach::Remote);
}

/// Whether answers are waited for as long as the scenario says, or for as long as it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Patience {
    /// As the scenario says.
    #[default]
    Usual,
    /// Somebody sits at a breakpoint.
    Endless,
    /// As the scenario says, and every step is asked when its time has come: for hardware.
    RealTime,
}

/// What is wrong with code from outside, and where the scenario says so.
#[derive(Debug)]
pub enum Unusable {
    /// Something is wrong with it as a whole.
    Whole(Failure),
    /// Something that the scenario says about it does not fit.
    At(Span, String),
}

impl From<Failure> for Unusable {
    fn from(failure: Failure) -> Self {
        Self::Whole(failure)
    }
}

/// The driver from outside, ready to be started; `folder` is that of the scenario.
pub fn outside(spec: &OutsideSpec, folder: &Path, patience: Patience) -> Result<Outside, Unusable> {
    start_as(spec, FmuRole::Driver, folder, patience)
}

/// A part of the car from outside, ready to be started.
pub fn part(spec: &PartSpec, folder: &Path, patience: Patience) -> Result<Outside, Unusable> {
    let role = match spec.kind {
        PartKind::Actuator => FmuRole::Actuator,
        PartKind::Plant => FmuRole::Plant,
    };
    start_as(&spec.outside, role, folder, patience)
}

fn start_as(spec: &OutsideSpec, role: FmuRole, folder: &Path, patience: Patience) -> Result<Outside, Unusable> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(INSTANCES_MAX);
    let asked = spec.instances.map(|count| count.value as usize);
    // A program that is running already is one, however many would be wanted.
    let instances = match &spec.program.value {
        Program::Zmq(_) => 1,
        Program::File(_) | Program::Command(_) => asked.unwrap_or(cores),
    };
    Ok(Outside {
        factory: factory_for(spec, role, folder, patience)?,
        instances,
        hidden: match spec.hidden.value {
            HiddenMemory::Refuse => Hidden::Refuse,
            HiddenMemory::Ignore => Hidden::Ignore,
        },
        double: spec.double.value,
        latency_budget_s: spec.latency_budget_s.value,
        pace: match patience {
            Patience::RealTime => Pace::RealTime,
            Patience::Usual | Patience::Endless => Pace::Lockstep,
        },
        sensors: Sensors::default(),
    })
}

/// How long is waited unless a scenario says otherwise, and never beyond the end of an exploration.
fn deadlines(patience: Patience) -> Deadlines {
    let usual = match patience {
        Patience::Usual | Patience::RealTime => Deadlines::default(),
        Patience::Endless => Deadlines::NONE,
    };
    Deadlines { cutoff: interrupt::cutoff(), ..usual }
}

/// What starts an optimiser: a Python file or a program.
pub fn optimiser(file: &Path) -> Result<Box<dyn Factory>, Failure> {
    let home = Home { folder: Path::new(""), limits: ProcessLimits::default(), deadlines: deadlines(Patience::Usual) };
    home.file(&file.display().to_string())
}

/// What starts a driver, by what kind of program it is. Every further kind of file is one more line here.
fn factory_for(
    spec: &OutsideSpec,
    role: FmuRole,
    folder: &Path,
    patience: Patience,
) -> Result<Box<dyn Factory>, Unusable> {
    let message = match patience {
        Patience::Usual | Patience::RealTime => Some(Duration::from_secs_f64(spec.deadline_s.value)),
        Patience::Endless => None,
    };
    let deadlines = Deadlines { message, ..deadlines(patience) };
    let limits = ProcessLimits { memory_bytes: spec.memory_bytes.value, ..ProcessLimits::default() };
    let home = Home { folder, limits, deadlines };
    match &spec.program.value {
        Program::Zmq(address) => {
            let reach = REACH.get().copied().unwrap_or(Reach::Loopback);
            let factory = ConnectFactory::new(address, reach, deadlines).map_err(|error| {
                let is_remote = matches!(error, AddressError::Remote(_));
                let help = if is_remote { "with --allow-remote it is connected to all the same" } else { "" };
                Failure::input(format!("the driver cannot be reached: {error}"), help)
            })?;
            if let Some(warning) = factory.warning() {
                print_err(&format!("warning: {}\n", escape(&warning)));
            }
            Ok(Box::new(factory))
        }
        Program::Command(words) => {
            let (first, rest) = words.split_first().expect("an empty command is refused with the file");
            Ok(home.process(first, rest.to_vec()))
        }
        Program::File(name) if is_fmu(name) => {
            let mapping = mapping(&spec.mapping, role)?;
            let made = home.fmu(&home.path(name), mapping);
            made.map_err(|text| Unusable::At(place(&text, spec), format!("`{name}` cannot be used: {text}")))
        }
        Program::File(name) if role != FmuRole::Driver => {
            let text = format!("`{name}` is no FMU; a part of the car is a `.fmu` file");
            Err(Unusable::At(spec.program.span, text))
        }
        Program::File(name) => Ok(home.file(name)?),
    }
}

/// Where programs are started, and what they may use.
struct Home<'a> {
    folder: &'a Path,
    limits: ProcessLimits,
    deadlines: Deadlines,
}

impl Home<'_> {
    fn process(&self, command: &str, args: Vec<String>) -> Box<dyn Factory> {
        let mut factory = ProcessFactory::new(command, args);
        let here = self.folder.as_os_str().is_empty();
        factory.spec.working_dir = Some(if here { PathBuf::from(".") } else { self.folder.to_owned() });
        (factory.limits, factory.deadlines) = (self.limits, self.deadlines);
        Box::new(factory)
    }

    fn path(&self, name: &str) -> PathBuf {
        let file = self.folder.join(name);
        std::path::absolute(&file).unwrap_or(file)
    }

    fn file(&self, name: &str) -> Result<Box<dyn Factory>, Failure> {
        let file = self.path(name);
        let path = file.display().to_string();
        match file.extension().and_then(|ending| ending.to_str()) {
            Some("py") => Ok(self.process(&python(), vec!["-m".to_owned(), "anabranch".to_owned(), path])),
            Some("wasm") => wasm(&file, name),
            Some("fmu") => self
                .fmu(&file, FmuMapping::default())
                .map_err(|what| Failure::input(format!("`{}` cannot be used: {what}", file.display()), "")),
            _ => Ok(self.process(&path, Vec::new())),
        }
    }

    /// An FMU is a foreign library, so it runs in a process of its own; it is unpacked here, once for all of them.
    fn fmu(&self, file: &Path, mapping: FmuMapping) -> Result<Box<dyn Factory>, String> {
        let spec = FmuSpec::new(file).map_err(|error| format!("where this program lies is not known: {error}"))?;
        let mut factory = FmuFactory::new(&FmuSpec { mapping, ..spec }).map_err(|error| error.to_string())?;
        let process = factory.process_mut();
        (process.limits, process.deadlines) = (self.limits, self.deadlines);
        Ok(Box::new(factory))
    }
}

fn is_fmu(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(".fmu")
}

/// What a scenario says about the variables of an FMU.
fn mapping(spec: &MappingSpec, role: FmuRole) -> Result<FmuMapping, Unusable> {
    let mut mapping = FmuMapping { role, memoryless: spec.memoryless, ..FmuMapping::default() };
    let at = |text: &Located<String>| {
        let span = text.span;
        move |what: String| Unusable::At(span, what)
    };
    spec.inputs.iter().try_for_each(|text| mapping.add_input(&text.value).map_err(at(text)))?;
    spec.outputs.iter().try_for_each(|text| mapping.add_output(&text.value).map_err(at(text)))?;
    spec.parameters.iter().try_for_each(|text| mapping.add_parameter(&text.value).map_err(at(text)))?;
    spec.key.iter().for_each(|text| mapping.add_key(&text.value));
    Ok(mapping)
}

/// Where a scenario says what the text complains about: the first mapping of a name that is quoted in it, else the file.
fn place(text: &str, spec: &OutsideSpec) -> Span {
    let MappingSpec { inputs, outputs, parameters, key, .. } = &spec.mapping;
    let all = inputs.iter().chain(outputs).chain(parameters).chain(key);
    let is_quoted = |line: &&Located<String>| {
        let (variable, what) = line.value.rsplit_once('=').unwrap_or((&line.value, ""));
        [variable, what].iter().any(|name| !name.trim().is_empty() && text.contains(&format!("`{}`", name.trim())))
    };
    all.into_iter().find(is_quoted).map_or(spec.program.span, |line| line.span)
}

/// Starts a program that is named on the command line, at most `instances` times side by side.
pub fn fleet_of(file: &Path, instances: usize, patience: Patience) -> Result<Fleet, Failure> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let home = Home { folder, limits: ProcessLimits::default(), deadlines: deadlines(patience) };
    let limits = FleetLimits { instances: instances.clamp(1, INSTANCES_MAX), ..FleetLimits::default() };
    Fleet::new(home.file(&name)?, limits).map_err(|wrong| {
        let output = wrong.output.as_deref().unwrap_or_default().trim_end();
        let help = if output.is_empty() { String::new() } else { format!("its last output was: {output}") };
        Failure::input(format!("`{}` cannot be used: {wrong}", file.display()), help)
    })
}

/// Whether a file on the command line is a program, and no scenario: by its ending, or because it can be executed.
pub fn is_program(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    match ending {
        Some("toml" | "sim") => false,
        Some("py" | "wasm" | "fmu") => path.is_file(),
        _ => path.is_file() && is_executable(path),
    }
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|data| data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("exe"))
}

/// The interpreter with the kit: that of the active environment, unless another one is named.
fn python() -> String {
    std::env::var(PYTHON_VARIABLE).unwrap_or_else(|_| "python3".to_owned())
}

#[cfg(feature = "wasm")]
fn wasm(file: &Path, name: &str) -> Result<Box<dyn Factory>, Failure> {
    let factory = anabranch_bridge::wasm::factory(file, anabranch_bridge::wasm::WasmLimits::default());
    Ok(Box::new(factory.map_err(|error| Failure::input(format!("`{name}` is no driver: {error}"), ""))?))
}

#[cfg(not(feature = "wasm"))]
fn wasm(_: &Path, name: &str) -> Result<Box<dyn Factory>, Failure> {
    let help = "build it with `cargo build --release --features wasm`";
    Err(Failure::input(format!("`{name}`: this build does not run .wasm files"), help))
}

/// The file a driver is in, where it is one: what is in it belongs to the identity of a scenario.
pub fn file_of(spec: &OutsideSpec, folder: &Path) -> Vec<PathBuf> {
    let names: Vec<&String> = match &spec.program.value {
        Program::File(name) => vec![name],
        Program::Command(words) => words.iter().collect(),
        Program::Zmq(_) => Vec::new(),
    };
    names.into_iter().map(|name| folder.join(name)).filter(|path| path.is_file()).collect()
}

/// What `--driver` means for a scenario in `folder` whose own driver decides every `cycle_s`: a built-in driver, the
/// address of a running one, or a file. The cycle is that of the scenario.
pub fn driver_override(given: &str, folder: &Path, cycle_s: Option<f64>) -> Override {
    let quoted = |text: &str| toml_text(text);
    let cycle = cycle_s.map_or(String::new(), |cycle_s| format!(", cycle = \"{cycle_s} s\""));
    let which = if DriverKind::from_word(given).is_some() {
        format!("kind = {}", quoted(given))
    } else if given.starts_with("tcp://") || given.starts_with("ipc://") {
        format!("zmq = {}", quoted(given))
    } else {
        format!("file = {}", quoted(&from_folder(Path::new(given), folder)))
    };
    ("ego.driver".to_owned(), format!("{{ {which}{cycle} }}"))
}

fn toml_text(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", c as u32)),
            c => out.push(c),
        }
    }
    out + "\""
}

/// Where a folder really is: one `..` of a name may lead elsewhere than the name says.
fn real(folder: &Path) -> PathBuf {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    std::fs::canonicalize(folder).unwrap_or_else(|_| named(folder))
}

/// A file under its own name in the folder where it really is.
fn named(file: &Path) -> PathBuf {
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    match (absolute.parent(), absolute.file_name()) {
        (Some(folder), Some(name)) => std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()).join(name),
        _ => absolute,
    }
}

/// The name of a file as seen from another folder.
fn from_folder(file: &Path, folder: &Path) -> String {
    let (to, from) = (named(file), real(folder));
    let (to, from): (Vec<_>, Vec<_>) = (to.components().collect(), from.components().collect());
    let common = to.iter().zip(&from).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n(std::path::Component::ParentDir, from.len() - common);
    let path: PathBuf = up.chain(to[common..].iter().copied()).collect();
    let text = path.display().to_string();
    // A name without a point or a slash would be taken for a word.
    if text.contains(['.', '/', '\\']) { text } else { format!("./{text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(given: &str, folder: &str, expect: &str) {
        assert_eq!(driver_override(given, Path::new(folder), None).1, expect);
    }

    #[test]
    fn a_driver_is_named_from_where_the_scenario_is() {
        check("av.py", "", "{ file = \"av.py\" }");
        check("av.py", "scenarios", "{ file = \"../av.py\" }");
        check("src/av.py", "tests/../src", "{ file = \"av.py\" }");
        check("scenarios/av.py", "scenarios", "{ file = \"av.py\" }");
        check("a/av", "scenarios/b", "{ file = \"../../a/av\" }");
        check("av", "", "{ file = \"./av\" }");
        check("eager", "scenarios", "{ kind = \"eager\" }");
        check("tcp://127.0.0.1:5555", "x", "{ zmq = \"tcp://127.0.0.1:5555\" }");
        assert_eq!(driver_override("eager", Path::new(""), Some(0.02)).1, "{ kind = \"eager\", cycle = \"0.02 s\" }");
    }
}
