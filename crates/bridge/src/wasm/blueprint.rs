//! A compiled module with what it said of itself and the memory it begins with. Made once, shared by all instances.

use std::sync::{Arc, OnceLock};

use wasmtime::{Config, Engine, InstancePre, Linker, Module, WasmParams, WasmResults};

use super::entry;
use super::faults::misbehaviour;
use super::image::{Base, Image, PAGE_BYTES};
use super::inspect::{self, inspect};
use super::limits::WasmLimits;
use super::outside::{self, Outside};
use super::rewrite::{name_of, rewrite};
use super::slot::{Slot, Tools};
use super::{card, layout};
use crate::misbehaviour::{Kind, Misbehaviour};
use crate::protocol::Card;

/// Stack of the calls inside a module; threads of the host have several times that.
const STACK_BYTES: usize = 512 << 10;

/// A compiled module, ready for copies.
pub(super) struct Compiled {
    pub(super) pre: InstancePre<Outside>,
    /// Exports that are the globals that change.
    pub(super) globals: Vec<String>,
    pub(super) limits: WasmLimits,
}

/// A module that has said what it is.
pub(super) struct Blueprint {
    pub(super) compiled: Compiled,
    pub(super) card: Card,
    /// What every new copy is.
    pub(super) base: Base,
    /// What every run begins with: a copy that has been initialised and has said what it is.
    pub(super) start: Arc<Image>,
    /// Where the host may write.
    pub(super) room: Region,
    /// What nobody reads between two calls.
    pub(super) scratch: Region,
}

/// Part of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) from: u32,
    pub(super) to: u32,
}

impl Region {
    /// Clears what was written of it.
    pub(super) fn clear(&self, memory: &mut [u8], written: &[u32]) {
        let page = |byte: u32| byte / PAGE_BYTES as u32;
        let first = written.partition_point(|&number| number < page(self.from));
        for &number in written[first..].iter().take_while(|&&number| number <= page(self.to)) {
            let from = (number as usize * PAGE_BYTES).max(self.from as usize);
            let to = ((number as usize + 1) * PAGE_BYTES).min(self.to as usize);
            if from < to {
                memory[from..to].fill(0);
            }
        }
    }
    fn is_within(&self, memory: &[u8]) -> bool {
        self.from <= self.to && self.to as usize <= memory.len()
    }
}

impl Compiled {
    fn new(bytes: &[u8], limits: WasmLimits) -> Result<Self, Misbehaviour> {
        if bytes.len() > limits.module_bytes_max {
            let text = format!("the module has {} bytes, {} are allowed", bytes.len(), limits.module_bytes_max);
            return Err(Misbehaviour::new(Kind::Oversized, text));
        }
        let malformed =
            |error: wasmtime::Error| Misbehaviour::new(Kind::Malformed, format!("no valid module: {error:#}"));
        let engine = engine()?;
        Module::validate(&engine, bytes).map_err(malformed)?;
        let findings = inspect(bytes)?;
        let module = Module::new(&engine, rewrite(bytes, &findings, limits.memory_bytes_max)?).map_err(malformed)?;
        let mut linker = Linker::new(&engine);
        let (space, name) = inspect::LOG;
        linker.func_wrap(space, name, outside::log).map_err(no_start)?;
        let pre = linker.instantiate_pre(&module).map_err(no_start)?;
        Ok(Self { pre, globals: findings.globals.iter().map(|&index| name_of(index)).collect(), limits })
    }
}

impl Blueprint {
    /// Compiles a module and asks it what it is.
    pub(super) fn new(bytes: &[u8], limits: WasmLimits) -> Result<Self, Misbehaviour> {
        let compiled = Compiled::new(bytes, limits)?;
        let (mut slot, instance) = Slot::open(&compiled)?;
        let base = slot.base();
        let version = Interview { slot: &mut slot, instance }.ask::<(), i32>(entry::VERSION, ())?;
        if version != layout::VERSION {
            let text = format!("the module speaks version {version} of the interface, this is {}", layout::VERSION);
            return Err(Misbehaviour::new(Kind::WrongVersion, text));
        }
        let mut interview = Interview { slot: &mut slot, instance };
        interview.ask_if_there::<(), ()>(entry::INITIALIZE, ())?;
        let address = interview.ask::<(), u32>(entry::CARD, ())?;
        let room = interview.ask::<(), u64>(entry::ROOM, ())?;
        let scratch = interview.ask_if_there::<(), u64>(entry::SCRATCH, ())?.unwrap_or(0);
        let card = card::read(slot.memory(), address)?;
        let (from, bytes) = (room as u32, (room >> 32) as u32);
        let room = Region { from, to: from.saturating_add(bytes) };
        let scratch = Region { from: scratch as u32, to: (scratch >> 32) as u32 };
        for (name, region) in [(entry::ROOM, room), (entry::SCRATCH, scratch)] {
            let aligned = name != entry::ROOM || region.from.is_multiple_of(8);
            if !(region.is_within(slot.memory()) && aligned) {
                let (from, to) = (region.from, region.to);
                let text = format!(
                    "`{name}` names bytes {from} to {to}, which are not in memory, or not from a multiple of 8"
                );
                return Err(Misbehaviour::new(Kind::Malformed, text));
            }
        }
        let start = slot.save(&base, &scratch, &mut Tools::default());
        Ok(Self { compiled, card, base, start, room, scratch })
    }
}

/// Asking a fresh copy about itself.
struct Interview<'s> {
    slot: &'s mut Slot,
    instance: wasmtime::Instance,
}

impl Interview<'_> {
    fn ask<P: WasmParams, R: WasmResults>(&mut self, name: &str, parameters: P) -> Result<R, Misbehaviour> {
        let function = entry::required::<P, R>(&self.instance, self.slot.store(), name)?;
        let answer = function.call(self.slot.store(), parameters);
        answer.map_err(|error| misbehaviour(&error, name, self.slot.store().data().log()))
    }
    fn ask_if_there<P: WasmParams, R: WasmResults>(
        &mut self,
        name: &str,
        parameters: P,
    ) -> Result<Option<R>, Misbehaviour> {
        let there = entry::optional::<P, R>(&self.instance, self.slot.store(), name)?.is_some();
        if there { self.ask(name, parameters).map(Some) } else { Ok(None) }
    }
}

/// One result on every machine: numbers that are none have one form, work is counted, and what the language leaves open
/// is switched off.
fn config() -> Config {
    let mut config = Config::new();
    config
        .consume_fuel(true)
        .cranelift_nan_canonicalization(true)
        .max_wasm_stack(STACK_BYTES)
        .wasm_relaxed_simd(false)
        // For the marks; modules have one.
        .wasm_multi_memory(true)
        .wasm_memory64(false)
        .wasm_custom_page_sizes(false);
    config
}

/// One for all modules: what it holds depends on nothing but this program and its processor.
fn engine() -> Result<Engine, Misbehaviour> {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    if let Some(engine) = ENGINE.get() {
        return Ok(engine.clone());
    }
    let made = Engine::new(&config()).map_err(no_start)?;
    Ok(ENGINE.get_or_init(|| made).clone())
}

fn no_start(error: wasmtime::Error) -> Misbehaviour {
    Misbehaviour::new(Kind::NoStart, format!("{error:#}"))
}
