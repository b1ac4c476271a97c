//! What went wrong in a module, by kind.

use std::sync::Arc;

use wasmtime::{Trap, WasmBacktrace};

use crate::misbehaviour::{Kind, Misbehaviour};

/// Why the host ended a call.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("the memory would grow to {wanted} bytes, the limit is {limit}")]
    Memory { wanted: usize, limit: usize },
    #[error("the memory could not grow: {0}")]
    Growth(String),
    #[error("a table would have {wanted} elements, the limit is {limit}")]
    Table { wanted: usize, limit: usize },
    #[error("more output in one call than allowed")]
    Flood,
    #[error("the log was handed {bytes} bytes at address {address}, which are not all in the module's memory")]
    Log { address: u32, bytes: u32 },
}

impl Refusal {
    fn kind(&self) -> Kind {
        match self {
            Self::Memory { .. } | Self::Growth(_) | Self::Table { .. } => Kind::Memory,
            Self::Flood => Kind::Flood,
            Self::Log { .. } => Kind::Malformed,
        }
    }
}

/// A call of the module ended in an error: what that means, with the module's own stack and its last output.
pub(super) fn misbehaviour(error: &wasmtime::Error, doing: &str, log: &[u8]) -> Misbehaviour {
    let kind = match (error.downcast_ref::<Refusal>(), error.downcast_ref::<Trap>()) {
        (Some(refusal), _) => refusal.kind(),
        (None, Some(Trap::OutOfFuel)) => Kind::Hang,
        (None, Some(_)) => Kind::Crash,
        (None, None) => Kind::NoStart,
    };
    let mut text = format!("{doing}: {}", error.root_cause());
    if let Some(backtrace) = error.downcast_ref::<WasmBacktrace>() {
        text = format!("{text}\n{backtrace}");
    }
    with_output(Misbehaviour::new(kind, text.trim_end()), log)
}

/// Adds the last output as evidence.
pub(super) fn with_output(misbehaviour: Misbehaviour, log: &[u8]) -> Misbehaviour {
    let output = (!log.is_empty()).then(|| Arc::from(String::from_utf8_lossy(log)));
    Misbehaviour { output, ..misbehaviour }
}
