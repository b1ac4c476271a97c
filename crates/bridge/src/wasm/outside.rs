//! What a module can reach outside of itself: a log, and a limit.

use wasmtime::{Caller, Extern, ResourceLimiter};

use super::faults::Refusal;
use super::limits::WasmLimits;

/// Most output that is kept as evidence.
const LOG_BYTES_KEPT: usize = 64 << 10;
/// Largest table. Tables hold the targets of indirect calls; a program of a million functions would be a surprise.
const TABLE_ELEMENTS_MAX: usize = 1_000_000;

/// The host's side of one copy of a module.
#[derive(Debug)]
pub(super) struct Outside {
    memory_bytes_max: usize,
    log: Vec<u8>,
    log_bytes_left: usize,
}

impl Outside {
    pub(super) fn new(limits: &WasmLimits) -> Self {
        Self { memory_bytes_max: limits.memory_bytes_max, log: Vec::new(), log_bytes_left: limits.log_bytes_max }
    }
    /// A call begins: it may log so much.
    pub(super) fn allow_log(&mut self, bytes: usize) {
        self.log_bytes_left = bytes;
    }
    /// Nothing that was logged so far concerns what comes.
    pub(super) fn clear_log(&mut self) {
        self.log.clear();
    }
    /// What was logged last.
    pub(super) fn log(&self) -> &[u8] {
        &self.log
    }
    fn append(&mut self, text: &[u8]) {
        self.log.extend_from_slice(text);
        self.log.push(b'\n');
        if self.log.len() > LOG_BYTES_KEPT {
            let surplus = self.log.len() - LOG_BYTES_KEPT;
            self.log.drain(..surplus);
        }
    }
}

/// The one import, `anabranch.log`.
pub(super) fn log(mut caller: Caller<'_, Outside>, address: u32, bytes: u32) -> wasmtime::Result<()> {
    let outside = caller.data_mut();
    let Some(left) = outside.log_bytes_left.checked_sub(bytes as usize + 1) else {
        return Err(wasmtime::Error::new(Refusal::Flood));
    };
    outside.log_bytes_left = left;
    let Some(Extern::Memory(memory)) = caller.get_export("memory") else {
        return Err(wasmtime::Error::new(Refusal::Log { address, bytes }));
    };
    let (data, outside) = memory.data_and_store_mut(&mut caller);
    match (address as usize).checked_add(bytes as usize).and_then(|end| data.get(address as usize..end)) {
        Some(text) => outside.append(text),
        None => return Err(wasmtime::Error::new(Refusal::Log { address, bytes })),
    }
    Ok(())
}

impl ResourceLimiter for Outside {
    /// Beyond the maximum that the module itself declares it gets its own "no", as the language has it; beyond ours the
    /// call ends.
    fn memory_growing(&mut self, _current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let limit = self.memory_bytes_max;
        if maximum.is_some_and(|maximum| desired > maximum && maximum <= limit) {
            return Ok(false);
        }
        if desired > limit {
            return Err(wasmtime::Error::new(Refusal::Memory { wanted: desired, limit }));
        }
        Ok(true)
    }
    /// What this machine could not serve ends the call too: what a module would do with a "no" must not depend on the
    /// machine.
    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        Err(wasmtime::Error::new(Refusal::Growth(error.to_string())))
    }
    fn table_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        if desired > TABLE_ELEMENTS_MAX {
            let limit = TABLE_ELEMENTS_MAX;
            return Err(wasmtime::Error::new(Refusal::Table { wanted: desired, limit }));
        }
        Ok(true)
    }
    fn instances(&self) -> usize {
        1
    }
    /// Its own and the marks.
    fn memories(&self) -> usize {
        2
    }
    fn tables(&self) -> usize {
        16
    }
}
