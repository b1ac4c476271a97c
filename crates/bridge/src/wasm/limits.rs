//! How much a module may use.

/// Limits on one module; all of them are counted, none is measured by a clock, so results do not depend on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WasmLimits {
    /// Largest file.
    pub module_bytes_max: usize,
    /// Largest memory of one copy of the module.
    pub memory_bytes_max: usize,
    /// Instructions (of the virtual machine, roughly) for one step or reset: the deadline.
    pub fuel_per_call: u64,
    /// Instructions until it has said what it is.
    pub fuel_to_start: u64,
    /// Most output in one call.
    pub log_bytes_max: usize,
    /// Most branches that are run side by side; each has its own copy of the memory.
    pub branches_max: usize,
}

impl Default for WasmLimits {
    /// A tenth of a second or so for a step, a second to start.
    fn default() -> Self {
        Self {
            module_bytes_max: 32 << 20,
            memory_bytes_max: 64 << 20,
            fuel_per_call: 100_000_000,
            fuel_to_start: 1_000_000_000,
            log_bytes_max: 64 << 10,
            branches_max: 4096,
        }
    }
}
