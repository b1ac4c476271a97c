//! The functions of the standard, found in a binary by name.

use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::path::Path;

use libloading::Library;

use super::description::{Capabilities, Description, FmiVersion, Wire};
use super::error::FmuError;

/// A component of FMI 2, an instance of FMI 3.
pub type Handle = *mut c_void;
/// A state taken out of a component.
pub type StatePointer = *mut c_void;
/// What every function returns.
pub type RawStatus = c_int;

pub type Plain = unsafe extern "C" fn(Handle) -> RawStatus;
pub type Free = unsafe extern "C" fn(Handle);
pub type Logger = unsafe extern "C" fn(*mut c_void, c_int, *const c_char, *const c_char);
/// FMI 2: references, their number, values.
pub type AccessTwo = unsafe extern "C" fn(Handle, *const u32, usize, *mut c_void) -> RawStatus;
/// FMI 3: the number of values follows.
pub type AccessThree = unsafe extern "C" fn(Handle, *const u32, usize, *mut c_void, usize) -> RawStatus;

/// What an FMI 2 component calls back.
#[repr(C)]
#[derive(Debug)]
pub struct Callbacks {
    pub logger: *const c_void,
    pub allocate: unsafe extern "C" fn(usize, usize) -> *mut c_void,
    pub free: unsafe extern "C" fn(*mut c_void),
    pub step_finished: *const c_void,
    pub environment: *mut c_void,
}

pub type InstantiateTwo = unsafe extern "C" fn(
    name: *const c_char,
    kind: c_int,
    guid: *const c_char,
    resources: *const c_char,
    callbacks: *const Callbacks,
    visible: c_int,
    logging: c_int,
) -> Handle;
pub type SetupTwo = unsafe extern "C" fn(Handle, c_int, f64, f64, c_int, f64) -> RawStatus;
pub type StepTwo = unsafe extern "C" fn(Handle, f64, f64, c_int) -> RawStatus;

pub type InstantiateThree = unsafe extern "C" fn(
    name: *const c_char,
    token: *const c_char,
    resources: *const c_char,
    visible: bool,
    logging: bool,
    event_mode: bool,
    early_return: bool,
    intermediate: *const u32,
    intermediate_count: usize,
    environment: *mut c_void,
    logger: Logger,
    intermediate_update: *const c_void,
) -> Handle;
pub type EnterThree = unsafe extern "C" fn(Handle, bool, f64, f64, bool, f64) -> RawStatus;
/// Booleans are read as bytes: a binary may write more than 0 and 1.
pub type StepThree = unsafe extern "C" fn(Handle, f64, f64, bool, *mut u8, *mut u8, *mut u8, *mut f64) -> RawStatus;

pub type GetState = unsafe extern "C" fn(Handle, *mut StatePointer) -> RawStatus;
pub type SetState = unsafe extern "C" fn(Handle, StatePointer) -> RawStatus;
pub type StateSize = unsafe extern "C" fn(Handle, StatePointer, *mut usize) -> RawStatus;
pub type WriteState = unsafe extern "C" fn(Handle, StatePointer, *mut u8, usize) -> RawStatus;

/// What differs between the versions.
#[derive(Debug)]
pub enum Versioned {
    Two {
        instantiate: InstantiateTwo,
        setup: SetupTwo,
        enter: Plain,
        step: StepTwo,
        access: BTreeMap<Wire, (AccessTwo, AccessTwo)>,
    },
    Three {
        instantiate: InstantiateThree,
        enter: EnterThree,
        step: StepThree,
        access: BTreeMap<Wire, (AccessThree, AccessThree)>,
    },
}

/// Taking states out and putting them back.
#[derive(Clone, Copy, Debug)]
pub struct StateFunctions {
    pub get: GetState,
    pub set: SetState,
    pub free: GetState,
    /// Size and bytes, where states can be written.
    pub write: Option<(StateSize, WriteState)>,
}

/// The functions of one binary. It stays loaded until the process ends: what an FMU leaves behind (threads, exit
/// handlers) must not lose its code.
#[derive(Debug)]
pub struct Functions {
    pub free: Free,
    pub exit_initialisation: Plain,
    pub terminate: Plain,
    pub reset: Plain,
    pub state: Option<StateFunctions>,
    pub versioned: Versioned,
    _library: ManuallyDrop<Library>,
}

/// Looks functions up and remembers which required ones are missing.
struct Binder {
    library: Library,
    prefix: &'static str,
    missing: Vec<String>,
}

impl Binder {
    fn find<T: Copy>(&mut self, name: &str) -> Option<T> {
        let name = format!("{}{name}", self.prefix);
        // SAFETY: the caller names the type that the standard gives this function.
        let found = unsafe { self.library.get::<T>(name.as_bytes()) }.ok().map(|symbol| *symbol);
        if found.is_none() {
            self.missing.push(name);
        }
        found
    }
    fn access<T: Copy>(&mut self, names: &[(Wire, &str)]) -> BTreeMap<Wire, (T, T)> {
        let pair = |&(wire, name): &(Wire, &str)| {
            let (get, set) = (self.find(&format!("Get{name}")), self.find(&format!("Set{name}")));
            Some((wire, (get?, set?)))
        };
        names.iter().filter_map(pair).collect()
    }
    /// Only claimed functions are asked for.
    fn state(&mut self, capabilities: &Capabilities, word: &str) -> Option<StateFunctions> {
        if !capabilities.saves_state {
            return None;
        }
        let (get, set) = (self.find(&format!("Get{word}")), self.find(&format!("Set{word}")));
        let free = self.find(&format!("Free{word}"));
        let write = capabilities.serialises_state.then(|| {
            let (size, write) = (self.find(&format!("Serialized{word}Size")), self.find(&format!("Serialize{word}")));
            Some((size?, write?))
        });
        Some(StateFunctions { get: get?, set: set?, free: free?, write: write.flatten() })
    }
    fn two(&mut self) -> Option<Versioned> {
        let (instantiate, setup) = (self.find("Instantiate"), self.find("SetupExperiment"));
        let (enter, step) = (self.find("EnterInitializationMode"), self.find("DoStep"));
        let access = self.access(&[
            (Wire::Float64, "Real"),
            (Wire::Int32, "Integer"),
            (Wire::WideBoolean, "Boolean"),
            (Wire::Text, "String"),
        ]);
        Some(Versioned::Two { instantiate: instantiate?, setup: setup?, enter: enter?, step: step?, access })
    }
    fn three(&mut self) -> Option<Versioned> {
        let instantiate = self.find("InstantiateCoSimulation");
        let (enter, step) = (self.find("EnterInitializationMode"), self.find("DoStep"));
        let access = self.access(&[
            (Wire::Float64, "Float64"),
            (Wire::Float32, "Float32"),
            (Wire::Int8, "Int8"),
            (Wire::UInt8, "UInt8"),
            (Wire::Int16, "Int16"),
            (Wire::UInt16, "UInt16"),
            (Wire::Int32, "Int32"),
            (Wire::UInt32, "UInt32"),
            (Wire::Int64, "Int64"),
            (Wire::UInt64, "UInt64"),
            (Wire::Boolean, "Boolean"),
            (Wire::Text, "String"),
        ]);
        Some(Versioned::Three { instantiate: instantiate?, enter: enter?, step: step?, access })
    }
}

impl Functions {
    /// Loads the binary, which runs its start-up code, and finds what the description needs.
    ///
    /// # Errors
    /// When the system does not load it, or functions are missing.
    pub fn load(binary: &Path, description: &Description) -> Result<Self, FmuError> {
        offer_maths();
        // SAFETY: start-up code of a foreign binary may do anything; that is why FMUs are served by a process of their own.
        let library = unsafe { Library::new(binary) }.map_err(|error| FmuError::Library { text: told(&error) })?;
        let (prefix, state_word) = match description.version {
            FmiVersion::Two => ("fmi2", "FMUstate"),
            FmiVersion::Three => ("fmi3", "FMUState"),
        };
        let mut binder = Binder { library, prefix, missing: Vec::new() };
        let versioned = match description.version {
            FmiVersion::Two => binder.two(),
            FmiVersion::Three => binder.three(),
        };
        let (free, terminate) = (binder.find("FreeInstance"), binder.find("Terminate"));
        let (exit, reset) = (binder.find("ExitInitializationMode"), binder.find("Reset"));
        let state = binder.state(&description.capabilities, state_word);
        let Binder { library, missing, .. } = binder;
        let whole = || {
            Some(Self {
                free: free?,
                exit_initialisation: exit?,
                terminate: terminate?,
                reset: reset?,
                state,
                versioned: versioned?,
                _library: ManuallyDrop::new(library),
            })
        };
        let complete = missing.is_empty();
        whole().filter(|_| complete).ok_or(FmuError::MissingFunctions { names: missing })
    }
}

/// Some binaries use the C library's mathematics without saying so, as most programs that load them have it.
#[cfg(target_os = "linux")]
fn offer_maths() {
    use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LAZY};
    // SAFETY: the system's own library; it is never unloaded. Where it is not found, nobody can have it anyway.
    let maths = unsafe { Library::open(Some("libm.so.6"), RTLD_LAZY | RTLD_GLOBAL) };
    let _ = maths.map(ManuallyDrop::new);
}
#[cfg(not(target_os = "linux"))]
fn offer_maths() {}

/// What the system says, which libloading keeps as the source.
fn told(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}
