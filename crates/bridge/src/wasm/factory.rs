//! From a file to instances.

use std::path::Path;
use std::sync::Arc;

use super::blueprint::Blueprint;
use super::instance::WasmInstance;
use super::limits::WasmLimits;
use crate::instance::{Factory, Instance};
use crate::misbehaviour::{Kind, Misbehaviour};
use crate::protocol::Card;

/// Instances of one module. The module is compiled once; an instance costs next to nothing.
#[derive(Clone)]
pub struct WasmFactory {
    blueprint: Arc<Blueprint>,
}

/// Reads and compiles a module.
///
/// # Errors
/// When there is no such file, when it is no driver, or when it misbehaves while it says what it is.
pub fn factory(path: &Path, limits: WasmLimits) -> Result<WasmFactory, Misbehaviour> {
    let unreadable = |error| Misbehaviour::new(Kind::NoStart, format!("{}: {error}", path.display()));
    let bytes = std::fs::read(path).map_err(unreadable)?;
    WasmFactory::new(&bytes, limits)
        .map_err(|fault| Misbehaviour { text: format!("{}: {}", path.display(), fault.text), ..fault })
}

impl WasmFactory {
    /// Compiles a module.
    ///
    /// # Errors
    /// When it is no driver, or when it misbehaves while it says what it is.
    pub fn new(bytes: &[u8], limits: WasmLimits) -> Result<Self, Misbehaviour> {
        Ok(Self { blueprint: Arc::new(Blueprint::new(bytes, limits)?) })
    }
    /// What the module says of itself.
    pub fn card(&self) -> &Card {
        &self.blueprint.card
    }
    /// A new instance.
    pub fn instance(&self) -> WasmInstance {
        WasmInstance::new(Arc::clone(&self.blueprint))
    }
}

impl std::fmt::Debug for WasmFactory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WasmFactory").field("card", &self.blueprint.card).finish_non_exhaustive()
    }
}

impl Factory for WasmFactory {
    fn start(&self) -> Result<Box<dyn Instance>, Misbehaviour> {
        Ok(Box::new(self.instance()))
    }
}
