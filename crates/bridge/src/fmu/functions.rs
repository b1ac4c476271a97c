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

/// Types of functions of the standard.
macro_rules! functions {
    ($($(#[$about:meta])* $name:ident($($argument:ty),* $(,)?) -> $result:ty;)*) => {$(
        $(#[$about])*
        // SAFETY: declared as the standard declares them; whoever calls one has a handle of the same binary.
        pub type $name = unsafe extern "C" fn($($argument),*) -> $result;
    )*};
}

functions! {
    Plain(Handle) -> RawStatus;
    Free(Handle) -> ();
    Logger(*mut c_void, c_int, *const c_char, *const c_char) -> ();
    Allocate(usize, usize) -> *mut c_void;
    Release(*mut c_void) -> ();
    /// FMI 2: references, their number, values.
    AccessTwo(Handle, *const u32, usize, *mut c_void) -> RawStatus;
    /// FMI 3: the number of values follows.
    AccessThree(Handle, *const u32, usize, *mut c_void, usize) -> RawStatus;
    /// Name, kind, guid, resources, callbacks, visible, logging.
    InstantiateTwo(*const c_char, c_int, *const c_char, *const c_char, *const Callbacks, c_int, c_int) -> Handle;
    /// Whether there is a tolerance, tolerance, start, whether there is a stop, stop.
    SetupTwo(Handle, c_int, f64, f64, c_int, f64) -> RawStatus;
    /// Time, length, whether nobody goes back.
    StepTwo(Handle, f64, f64, c_int) -> RawStatus;
    /// Name, token, resources, visible, logging, event mode, early return, intermediate variables and their number, environment,
    /// logger, intermediate update.
    InstantiateThree(
        *const c_char, *const c_char, *const c_char, bool, bool, bool, bool, *const u32, usize, *mut c_void, Logger, *const c_void,
    ) -> Handle;
    /// As [`SetupTwo`].
    EnterThree(Handle, bool, f64, f64, bool, f64) -> RawStatus;
    /// Time, length, whether nobody goes back; then answers: event, end, early return (read as bytes, for a binary may write
    /// more than 0 and 1), time reached.
    StepThree(Handle, f64, f64, bool, *mut u8, *mut u8, *mut u8, *mut f64) -> RawStatus;
    GetState(Handle, *mut StatePointer) -> RawStatus;
    SetState(Handle, StatePointer) -> RawStatus;
    StateSize(Handle, StatePointer, *mut usize) -> RawStatus;
    WriteState(Handle, StatePointer, *mut u8, usize) -> RawStatus;
}

/// What an FMI 2 component calls back.
#[repr(C)]
#[derive(Debug)]
pub struct Callbacks {
    pub logger: *const c_void,
    pub allocate: Allocate,
    pub free: Release,
    pub step_finished: *const c_void,
    pub environment: *mut c_void,
}

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
