//! A state is a value with canonical bytes.

use serde::{Serialize, de::DeserializeOwned};

use crate::digest::Digest;

/// Everything that evolves in a closed loop, as one plain value.
///
/// Equal states have equal futures under equal choices. Saving a state is cloning it; its canonical
/// bytes are derived, never hand-written. What cannot be turned into bytes (a live process, a memory
/// image) is held behind `#[serde(skip)]` as a cache and rebuilt by replay: a state is addressed by its path.
pub trait State: Clone + Send + Sync + Serialize + DeserializeOwned + 'static {}
impl<T: Clone + Send + Sync + Serialize + DeserializeOwned + 'static> State for T {}

/// Saved bytes that do not describe a state.
#[derive(Debug, thiserror::Error)]
#[error("saved state cannot be read: {0}")]
pub struct StateError(String);

/// Canonical bytes of a state: equal states, equal bytes, on every target.
pub fn to_bytes<S: State>(state: &S) -> Vec<u8> {
    postcard::to_allocvec(state).expect("a state is plain data and always has bytes")
}

/// Appends the canonical bytes of a state to a buffer, for loops that save many.
pub fn write_bytes<S: State>(state: &S, out: &mut Vec<u8>) {
    let taken = std::mem::take(out);
    *out = postcard::to_extend(state, taken).expect("a state is plain data and always has bytes");
}

/// The state behind canonical bytes.
///
/// # Errors
/// When the bytes are truncated, too long or were not written by [`to_bytes`] for this type.
pub fn from_bytes<S: State>(bytes: &[u8]) -> Result<S, StateError> {
    let (state, rest) = postcard::take_from_bytes(bytes).map_err(|e| StateError(e.to_string()))?;
    if rest.is_empty() { Ok(state) } else { Err(StateError(format!("{} bytes too many", rest.len()))) }
}

/// Digest of the canonical bytes.
pub fn state_digest<S: State>(state: &S) -> Digest {
    Digest::of(&to_bytes(state))
}
