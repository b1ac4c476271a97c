//! The functions of a module that the host calls, found by name and checked by type.

use wasmtime::{AsContextMut, Instance, TypedFunc, WasmParams, WasmResults};

use crate::misbehaviour::{Kind, Misbehaviour};

pub(super) const VERSION: &str = "anabranch_version";
pub(super) const CARD: &str = "anabranch_card";
pub(super) const ROOM: &str = "anabranch_room";
pub(super) const SCRATCH: &str = "anabranch_scratch";
pub(super) const RESET: &str = "anabranch_reset";
pub(super) const STEP: &str = "anabranch_step";
/// Constructors of C++ and the like; the usual name.
pub(super) const INITIALIZE: &str = "_initialize";

/// A function that must be there.
pub(super) fn required<P: WasmParams, R: WasmResults>(
    instance: &Instance,
    store: impl AsContextMut,
    name: &str,
) -> Result<TypedFunc<P, R>, Misbehaviour> {
    optional(instance, store, name)?
        .ok_or_else(|| Misbehaviour::new(Kind::NoStart, format!("the module does not export a function `{name}`")))
}

/// A function that may be missing, but not be another one.
pub(super) fn optional<P: WasmParams, R: WasmResults>(
    instance: &Instance,
    mut store: impl AsContextMut,
    name: &str,
) -> Result<Option<TypedFunc<P, R>>, Misbehaviour> {
    let Some(function) = instance.get_func(&mut store, name) else { return Ok(None) };
    let typed = function.typed(&store).map_err(|error| {
        let text = format!("`{name}` is not the function it should be: {}", error.root_cause());
        Misbehaviour::new(Kind::NoStart, text)
    })?;
    Ok(Some(typed))
}
