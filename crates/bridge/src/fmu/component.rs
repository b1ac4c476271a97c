//! One component of an FMU: the calls of the standard in their order, safe to hold.

use std::ffi::{CString, c_int, c_void};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::description::{Causality, Description, Wire};
use super::error::{FmuError, Status};
use super::functions::{Callbacks, Functions, RawStatus, StatePointer, Versioned};
use super::log;
use super::package::Package;
use super::port::Bundle;

// SAFETY: declared as in the C standard.
unsafe extern "C" {
    fn calloc(count: usize, size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

/// The second kind of FMI 2: co-simulation.
const CO_SIMULATION: c_int = 1;

/// An FMU whose binary is loaded: from here on its code runs in this process.
#[derive(Debug)]
pub struct Fmu {
    package: Package,
    functions: Functions,
    callbacks: Callbacks,
}

// SAFETY: the pointers inside are addresses of functions.
unsafe impl Send for Fmu {}
// SAFETY: as above; nothing inside changes.
unsafe impl Sync for Fmu {}

impl Fmu {
    /// Loads the binary of a package.
    ///
    /// # Errors
    /// When it does not load or lacks functions.
    pub fn load(package: Package) -> Result<Arc<Self>, FmuError> {
        let functions = Functions::load(package.binary(), package.description())?;
        let callbacks = Callbacks {
            logger: log::logger_two as *const c_void,
            allocate: calloc,
            free,
            step_finished: ptr::null(),
            environment: ptr::null_mut(),
        };
        Ok(Arc::new(Self { package, functions, callbacks }))
    }
    /// What it says of itself.
    pub fn description(&self) -> &Description {
        self.package.description()
    }
}

/// The component itself; states keep it alive.
#[derive(Debug)]
struct Core {
    fmu: Arc<Fmu>,
    handle: NonNull<c_void>,
    /// Calls never overlap.
    turn: Mutex<()>,
    initialised: AtomicBool,
    lost: AtomicBool,
}

// SAFETY: the handle is only given to the binary, by one thread at a time; FMUs are not bound to a thread by the standard.
unsafe impl Send for Core {}
// SAFETY: every call takes its turn.
unsafe impl Sync for Core {}

impl Core {
    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// What a function returned, as a result. After a fatal status nothing may be called any more.
    fn check(&self, function: &str, status: RawStatus) -> Result<(), FmuError> {
        let status = Status::of(status);
        if matches!(status, Status::Ok | Status::Warning) {
            return Ok(());
        }
        if matches!(status, Status::Fatal | Status::Unknown(_)) {
            self.lost.store(true, Ordering::Relaxed);
        }
        Err(FmuError::Call { function: function.to_owned(), status, log: log::take() })
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        if self.lost.load(Ordering::Relaxed) {
            return;
        }
        let (functions, handle) = (&self.fmu.functions, self.handle.as_ptr());
        // SAFETY: the handle came from this binary, is freed once, and nobody else holds it.
        unsafe {
            if self.initialised.load(Ordering::Relaxed) {
                (functions.terminate)(handle);
            }
            (functions.free)(handle);
        }
    }
}

/// A state that was taken out of a component and can only be put back into the same one.
#[derive(Debug)]
pub struct State {
    core: Arc<Core>,
    pointer: NonNull<c_void>,
}

// SAFETY: as for the component: the pointer is only given to the binary, in turn.
unsafe impl Send for State {}
// SAFETY: as above.
unsafe impl Sync for State {}

impl Drop for State {
    fn drop(&mut self) {
        let Some(functions) = &self.core.fmu.functions.state else { return };
        if self.core.lost.load(Ordering::Relaxed) {
            return;
        }
        let _turn = self.core.turn();
        let mut pointer: StatePointer = self.pointer.as_ptr();
        // SAFETY: the state came from this component, which is still there, and is freed once.
        unsafe { (functions.free)(self.core.handle.as_ptr(), &raw mut pointer) };
    }
}

/// A component.
#[derive(Debug)]
pub struct Component {
    core: Arc<Core>,
}

impl Component {
    /// Instantiates the FMU once more.
    ///
    /// # Errors
    /// When it refuses.
    pub fn new(fmu: &Arc<Fmu>) -> Result<Self, FmuError> {
        let description = fmu.description();
        let text = |text: &str| CString::new(text.replace('\0', "")).unwrap_or_default();
        let (name, token) = (text("anabranch"), text(&description.token));
        let resources = fmu.package.resources();
        // SAFETY: all texts live through the call; the callbacks live as long as the FMU, which the component keeps.
        let handle = unsafe {
            match &fmu.functions.versioned {
                Versioned::Two { instantiate, .. } => instantiate(
                    name.as_ptr(),
                    CO_SIMULATION,
                    token.as_ptr(),
                    resources.as_ptr(),
                    &raw const fmu.callbacks,
                    0,
                    0,
                ),
                Versioned::Three { instantiate, .. } => instantiate(
                    name.as_ptr(),
                    token.as_ptr(),
                    resources.as_ptr(),
                    false,
                    false,
                    false,
                    false,
                    ptr::null(),
                    0,
                    ptr::null_mut(),
                    log::logger_three,
                    ptr::null(),
                ),
            }
        };
        let handle = NonNull::new(handle).ok_or_else(|| FmuError::Instantiate { log: log::take() })?;
        let core = Core {
            fmu: fmu.clone(),
            handle,
            turn: Mutex::default(),
            initialised: AtomicBool::new(false),
            lost: AtomicBool::new(false),
        };
        Ok(Self { core: Arc::new(core) })
    }

    /// From instantiated or reset to ready for the first step at time zero, with some values set first.
    ///
    /// # Errors
    /// When a function fails.
    pub fn initialise(&self, first: &[Bundle], values: &[f64]) -> Result<(), FmuError> {
        let (core, handle) = (&*self.core, self.core.handle.as_ptr());
        let functions = &core.fmu.functions;
        if let Versioned::Two { setup, .. } = &functions.versioned {
            let _turn = core.turn();
            // SAFETY: the handle is alive.
            core.check("fmi2SetupExperiment", unsafe { setup(handle, 0, 0.0, 0.0, 0, 0.0) })?;
        }
        self.write_texts()?;
        self.write(first, values)?;
        let _turn = core.turn();
        // SAFETY: the handle is alive.
        let entered = unsafe {
            match &functions.versioned {
                Versioned::Two { enter, .. } => enter(handle),
                Versioned::Three { enter, .. } => enter(handle, false, 0.0, 0.0, false, 0.0),
            }
        };
        core.check("entering initialisation", entered)?;
        // SAFETY: the handle is alive.
        core.check("leaving initialisation", unsafe { (functions.exit_initialisation)(handle) })?;
        core.initialised.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Back to instantiated.
    ///
    /// # Errors
    /// When the function fails.
    pub fn reset(&self) -> Result<(), FmuError> {
        let _turn = self.core.turn();
        self.core.initialised.store(false, Ordering::Relaxed);
        // SAFETY: the handle is alive.
        self.core.check("reset", unsafe { (self.core.fmu.functions.reset)(self.core.handle.as_ptr()) })
    }

    /// One step.
    ///
    /// # Errors
    /// When it fails, is not finished, or the FMU asks for the end of the simulation.
    pub fn step(&self, time_s: f64, length_s: f64) -> Result<(), FmuError> {
        let (core, handle) = (&*self.core, self.core.handle.as_ptr());
        let goes_back = core.fmu.functions.state.is_some();
        let _turn = core.turn();
        let place = |function: &str| format!("{function} from {time_s} s for {length_s} s");
        match &core.fmu.functions.versioned {
            Versioned::Two { step, .. } => {
                // SAFETY: the handle is alive.
                let status = unsafe { step(handle, time_s, length_s, c_int::from(!goes_back)) };
                core.check(&place("fmi2DoStep"), status)
            }
            Versioned::Three { step, .. } => {
                let (mut event, mut ends, mut early, mut reached_s) = (0_u8, 0_u8, 0_u8, 0.0_f64);
                // SAFETY: the handle and the places for answers are alive.
                let status = unsafe {
                    let (event, ends, early) = (&raw mut event, &raw mut ends, &raw mut early);
                    step(handle, time_s, length_s, !goes_back, event, ends, early, &raw mut reached_s)
                };
                core.check(&place("fmi3DoStep"), status)?;
                match (ends, early) {
                    (0, 0) => Ok(()),
                    (0, _) => Err(FmuError::Output { text: format!("a step returned early, at {reached_s} s") }),
                    _ => Err(FmuError::Output { text: format!("the FMU asks to end the simulation at {time_s} s") }),
                }
            }
        }
    }

    /// Takes the state out.
    ///
    /// # Errors
    /// When the FMU cannot, though it claims to.
    pub fn save(&self) -> Result<State, FmuError> {
        let functions = self.core.fmu.functions.state.ok_or_else(no_states)?;
        let _turn = self.core.turn();
        let mut pointer: StatePointer = ptr::null_mut();
        // SAFETY: the handle is alive; null asks for a new state.
        let status = unsafe { (functions.get)(self.core.handle.as_ptr(), &raw mut pointer) };
        self.core.check("taking the state out", status).map_err(promise)?;
        let pointer = NonNull::new(pointer)
            .ok_or_else(|| FmuError::State { text: "the FMU claims to save states, but gives none".to_owned() })?;
        Ok(State { core: self.core.clone(), pointer })
    }

    /// Puts a state back, which stays.
    ///
    /// # Errors
    /// When the FMU cannot, though it claims to.
    ///
    /// # Panics
    /// If the state is of another component, which the standard does not allow.
    pub fn load(&self, state: &State) -> Result<(), FmuError> {
        assert!(Arc::ptr_eq(&self.core, &state.core), "a state goes back to the component it came from");
        let functions = self.core.fmu.functions.state.ok_or_else(no_states)?;
        let _turn = self.core.turn();
        // SAFETY: handle and state are alive and belong together.
        let status = unsafe { (functions.set)(self.core.handle.as_ptr(), state.pointer.as_ptr()) };
        self.core.check("putting a state back", status).map_err(promise)
    }

    /// A state as bytes, where the FMU writes them.
    ///
    /// # Errors
    /// When it fails, though it claims to.
    pub fn serialise(&self, state: &State) -> Result<Option<Vec<u8>>, FmuError> {
        /// A state beyond this is not one to be compared after every segment.
        const STATE_BYTES_MAX: usize = 16 << 20;
        let functions = self.core.fmu.functions.state.ok_or_else(no_states)?;
        let Some((size, write)) = functions.write else { return Ok(None) };
        let _turn = self.core.turn();
        let (handle, pointer, mut bytes) = (self.core.handle.as_ptr(), state.pointer.as_ptr(), 0);
        // SAFETY: handle and state are alive and belong together.
        let status = unsafe { size(handle, pointer, &raw mut bytes) };
        self.core.check("asking for the size of a state", status).map_err(promise)?;
        if bytes > STATE_BYTES_MAX {
            return Ok(None);
        }
        let mut buffer = vec![0_u8; bytes];
        // SAFETY: as above; the buffer has the size that is told.
        let status = unsafe { write(handle, pointer, buffer.as_mut_ptr(), buffer.len()) };
        self.core.check("writing a state as bytes", status).map_err(promise)?;
        Ok(Some(buffer))
    }

    /// Sets texts to their start values: some tools forget to, and then fail over texts that are not there.
    fn write_texts(&self) -> Result<(), FmuError> {
        let variables = self.core.fmu.description().variables.iter();
        let settable = variables.filter(|variable| variable.wire == Wire::Text && variable.is_scalar);
        let settable =
            settable.filter(|variable| matches!(variable.causality, Causality::Input | Causality::Parameter));
        let (mut references, mut texts) = (Vec::new(), Vec::new());
        for variable in settable {
            let Some(text) = variable.start.as_deref().and_then(|text| CString::new(text).ok()) else { continue };
            references.push(variable.reference);
            texts.push(text);
        }
        if references.is_empty() {
            return Ok(());
        }
        let mut pointers: Vec<_> = texts.iter().map(|text| text.as_ptr()).collect();
        let bundle = Bundle { wire: Wire::Text, references, places: Vec::new() };
        self.access(&bundle, Direction::Set, pointers.as_mut_ptr().cast())
    }

    /// Sets variables; each takes the value of its place, in SI units.
    ///
    /// # Errors
    /// When the FMU refuses.
    pub fn write(&self, bundles: &[Bundle], values: &[f64]) -> Result<(), FmuError> {
        for bundle in bundles {
            let numbers = bundle.places.iter().map(|&(place, unit)| (values[place] - unit.offset) / unit.factor);
            macro_rules! send {
                ($kind:ty, $convert:expr) => {{
                    let mut typed: Vec<$kind> = numbers.map($convert).collect();
                    self.access(bundle, Direction::Set, typed.as_mut_ptr().cast())?
                }};
            }
            match bundle.wire {
                Wire::Float64 => send!(f64, |value| value),
                Wire::Float32 => send!(f32, |value| value as f32),
                Wire::Int8 => send!(i8, |value| value.round() as i8),
                Wire::UInt8 => send!(u8, |value| value.round() as u8),
                Wire::Int16 => send!(i16, |value| value.round() as i16),
                Wire::UInt16 => send!(u16, |value| value.round() as u16),
                Wire::Int32 => send!(i32, |value| value.round() as i32),
                Wire::UInt32 => send!(u32, |value| value.round() as u32),
                Wire::Int64 => send!(i64, |value| value.round() as i64),
                Wire::UInt64 => send!(u64, |value| value.round() as u64),
                Wire::WideBoolean => send!(c_int, |value| c_int::from(value != 0.0)),
                Wire::Boolean => send!(u8, |value| u8::from(value != 0.0)),
                Wire::Text | Wire::Other => unreachable!("ports are numbers"),
            }
        }
        Ok(())
    }

    /// Reads variables; each gives the value of its place, in SI units.
    ///
    /// # Errors
    /// When the FMU refuses.
    pub fn read(&self, bundles: &[Bundle], values: &mut [f64]) -> Result<(), FmuError> {
        for bundle in bundles {
            macro_rules! receive {
                ($kind:ty, $convert:expr) => {{
                    let mut typed = vec![<$kind>::default(); bundle.references.len()];
                    self.access(bundle, Direction::Get, typed.as_mut_ptr().cast())?;
                    for (&(place, unit), value) in bundle.places.iter().zip(typed) {
                        values[place] = $convert(value) * unit.factor + unit.offset;
                    }
                }};
            }
            match bundle.wire {
                Wire::Float64 => receive!(f64, |value: f64| value),
                Wire::Float32 => receive!(f32, f64::from),
                Wire::Int8 => receive!(i8, f64::from),
                Wire::UInt8 => receive!(u8, f64::from),
                Wire::Int16 => receive!(i16, f64::from),
                Wire::UInt16 => receive!(u16, f64::from),
                Wire::Int32 => receive!(i32, f64::from),
                Wire::UInt32 => receive!(u32, f64::from),
                Wire::Int64 => receive!(i64, |value: i64| value as f64),
                Wire::UInt64 => receive!(u64, |value: u64| value as f64),
                Wire::WideBoolean => receive!(c_int, |value: c_int| f64::from(u8::from(value != 0))),
                Wire::Boolean => receive!(u8, |value: u8| f64::from(u8::from(value != 0))),
                Wire::Text | Wire::Other => unreachable!("ports are numbers"),
            }
        }
        Ok(())
    }

    /// One call for all variables of a bundle; `values` has one value of the bundle's type for each.
    fn access(&self, bundle: &Bundle, direction: Direction, values: *mut c_void) -> Result<(), FmuError> {
        let (core, count) = (&*self.core, bundle.references.len());
        let (handle, references) = (core.handle.as_ptr(), bundle.references.as_ptr());
        let _turn = core.turn();
        // SAFETY: the handle is alive; references and values have `count` entries of the type that the function takes.
        let status = unsafe {
            match &core.fmu.functions.versioned {
                Versioned::Two { access, .. } => {
                    let (get, set) = access[&bundle.wire];
                    direction.of(get, set)(handle, references, count, values)
                }
                Versioned::Three { access, .. } => {
                    let (get, set) = access[&bundle.wire];
                    direction.of(get, set)(handle, references, count, values, count)
                }
            }
        };
        core.check(&format!("{direction:?} of {count} values of type {:?}", bundle.wire), status)
    }
}

/// Which way values go.
#[derive(Clone, Copy, Debug)]
enum Direction {
    Get,
    Set,
}

impl Direction {
    fn of<T>(self, get: T, set: T) -> T {
        match self {
            Self::Get => get,
            Self::Set => set,
        }
    }
}

fn no_states() -> FmuError {
    FmuError::State { text: "this FMU cannot save its state".to_owned() }
}

/// A failure of what the description claims to work.
fn promise(error: FmuError) -> FmuError {
    match error {
        FmuError::Call { status: Status::Fatal | Status::Unknown(_), .. } => error,
        other => FmuError::State { text: format!("the FMU claims to save states, but {other}") },
    }
}
