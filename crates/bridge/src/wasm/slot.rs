//! One live copy of a module, with its own memory.

use std::sync::Arc;

use wasmtime::{Global, Instance, Memory, Store, TypedFunc, Val};

use super::blueprint::{Blueprint, Compiled, Region};
use super::entry;
use super::faults::{misbehaviour, with_output};
use super::image::{Base, Image};
use super::layout::{self, Block};
use super::outside::Outside;
use super::rewrite::MARKS;
use super::written;
use crate::misbehaviour::{Kind, Misbehaviour};
use crate::protocol::{Answer, Begin, Seen};

/// What is used again from call to call, and belongs to no copy.
#[derive(Debug, Default)]
pub(super) struct Tools {
    pages: Vec<u32>,
    block: Block,
}

/// One live copy.
pub(super) struct Slot {
    store: Store<Outside>,
    memory: Memory,
    marks: Memory,
    globals: Vec<Global>,
    reset: TypedFunc<u32, i32>,
    step: TypedFunc<(u32, u32), i32>,
    /// What it held when nothing was marked as written.
    held: Option<Arc<Image>>,
}

impl Slot {
    /// A fresh copy, as the module makes it.
    pub(super) fn open(compiled: &Compiled) -> Result<(Self, Instance), Misbehaviour> {
        let limits = &compiled.limits;
        let mut store = Store::new(compiled.pre.module().engine(), Outside::new(limits));
        store.limiter(|outside| outside);
        store.set_fuel(limits.fuel_to_start).expect("fuel is switched on");
        let instance = match compiled.pre.instantiate(&mut store) {
            Ok(instance) => instance,
            Err(error) => return Err(misbehaviour(&error, "starting the module", store.data().log())),
        };
        let memory = instance.get_memory(&mut store, "memory").expect("inspected");
        let marks = instance.get_memory(&mut store, MARKS).expect("exported by us");
        marks.data_mut(&mut store).fill(0);
        let names = compiled.globals.iter();
        let globals = names.map(|name| instance.get_global(&mut store, name).expect("exported by us")).collect();
        let reset = entry::required(&instance, &mut store, entry::RESET)?;
        let step = entry::required(&instance, &mut store, entry::STEP)?;
        Ok((Self { store, memory, marks, globals, reset, step, held: None }, instance))
    }
    pub(super) fn store(&mut self) -> &mut Store<Outside> {
        &mut self.store
    }
    pub(super) fn memory(&self) -> &[u8] {
        self.memory.data(&self.store)
    }
    /// Takes what it is now as what every new copy is.
    pub(super) fn base(&mut self) -> Base {
        let globals = self.read_globals();
        Base::new(self.memory(), globals)
    }

    /// Becomes a saved state. `None` when it cannot: memory grows and never shrinks.
    pub(super) fn load(mut self, image: &Arc<Image>, base: &Base, tools: &mut Tools) -> Option<Self> {
        let missing_bytes = image.memory_bytes.checked_sub(self.memory.data_size(&self.store))?;
        if missing_bytes > 0 {
            let delta = missing_bytes as u64 / self.memory.page_size(&self.store);
            self.memory.grow(&mut self.store, delta).ok()?;
        }
        self.take_written(&mut tools.pages);
        let held = self.held.as_ref().unwrap_or(&base.image);
        base.load(self.memory.data_mut(&mut self.store), &tools.pages, held, image);
        for (global, value) in self.globals.iter().zip(&image.globals) {
            global.set(&mut self.store, *value).expect("a value that was read from it");
        }
        self.store.data_mut().clear_log();
        self.held = Some(Arc::clone(image));
        Some(self)
    }
    /// Saves what it is now, without what lies in the scratch region.
    pub(super) fn save(&mut self, base: &Base, scratch: &Region, tools: &mut Tools) -> Arc<Image> {
        self.take_written(&mut tools.pages);
        let globals = self.read_globals();
        let data = self.memory.data_mut(&mut self.store);
        scratch.clear(data, &tools.pages);
        let held = self.held.as_ref().unwrap_or(&base.image);
        let image = Arc::new(base.save(data, &tools.pages, globals, held));
        self.held = Some(Arc::clone(&image));
        image
    }
    /// Lists the pages that were written, and forgets it.
    fn take_written(&mut self, pages: &mut Vec<u32>) {
        let memory_bytes = self.memory.data_size(&self.store);
        let marks = self.marks.data_mut(&mut self.store);
        written::list(marks, memory_bytes, pages);
        written::forget(marks, pages);
    }

    /// Begins a run.
    pub(super) fn reset(
        &mut self,
        blueprint: &Blueprint,
        tools: &mut Tools,
        begin: &Begin,
    ) -> Result<Answer, Misbehaviour> {
        let block = &mut tools.block;
        block.begin(blueprint.room.from, begin);
        self.put(blueprint, block, "begin")?;
        let code = self.reset.call(&mut self.store, blueprint.room.from);
        let code = self.ended(code, entry::RESET)?;
        self.clear(blueprint, block);
        Ok(if code == 0 { Answer::Done {} } else { self.failed(entry::RESET, code) })
    }
    /// Decides once.
    pub(super) fn step(
        &mut self,
        blueprint: &Blueprint,
        tools: &mut Tools,
        seen: &Seen,
    ) -> Result<Answer, Misbehaviour> {
        let (block, key_count) = (&mut tools.block, blueprint.card.key.len());
        let decision = block.step(blueprint.room.from, seen, key_count);
        self.put(blueprint, block, "seen")?;
        let code = self.step.call(&mut self.store, (blueprint.room.from, decision));
        let code = self.ended(code, entry::STEP)?;
        if code != 0 {
            self.clear(blueprint, block);
            return Ok(self.failed(entry::STEP, code));
        }
        let decided = layout::read_decision(self.memory.data(&self.store), decision, key_count);
        let decided = decided.map_err(|fault| with_output(fault, self.store.data().log()))?;
        self.clear(blueprint, block);
        Ok(Answer::Decision(decided))
    }

    /// Writes a block into the room and makes ready for a call.
    fn put(&mut self, blueprint: &Blueprint, block: &Block, what: &str) -> Result<(), Misbehaviour> {
        let (room, limits) = (&blueprint.room, &blueprint.compiled.limits);
        let (bytes, has) = (block.bytes(), (room.to - room.from) as usize);
        if bytes.len() > has {
            let text = format!(
                "`{what}` needs {} bytes and the module has room for {has}: define ANABRANCH_ROOM_BYTES larger",
                bytes.len()
            );
            return Err(Misbehaviour::new(Kind::BrokenPromise, text));
        }
        let from = room.from as usize;
        self.memory.data_mut(&mut self.store)[from..from + bytes.len()].copy_from_slice(bytes);
        written::note(self.marks.data_mut(&mut self.store), from, bytes.len());
        self.store.set_fuel(limits.fuel_per_call).expect("fuel is switched on");
        self.store.data_mut().allow_log(limits.log_bytes_max);
        Ok(())
    }
    /// Takes the block away again: what was seen is no memory of the driver.
    fn clear(&mut self, blueprint: &Blueprint, block: &Block) {
        let from = blueprint.room.from as usize;
        self.memory.data_mut(&mut self.store)[from..from + block.bytes().len()].fill(0);
    }
    fn ended(&self, code: wasmtime::Result<i32>, name: &str) -> Result<i32, Misbehaviour> {
        code.map_err(|error| misbehaviour(&error, name, self.store.data().log()))
    }
    /// The driver itself says that it failed; its last line of output is the best text there is.
    fn failed(&self, name: &str, code: i32) -> Answer {
        let log = String::from_utf8_lossy(self.store.data().log());
        let text = match log.trim_end().lines().last() {
            Some(line) => format!("{name} returned {code}: {line}"),
            None => format!("{name} returned {code}"),
        };
        Answer::Failed { text }
    }
    fn read_globals(&mut self) -> Vec<Val> {
        let store = &mut self.store;
        self.globals.iter().map(|global| global.get(&mut *store)).collect()
    }
}
