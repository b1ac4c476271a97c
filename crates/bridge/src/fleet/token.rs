//! A handle on a saved state that lives in an instance.

use std::sync::{Arc, Mutex, PoisonError};

use crate::protocol::TokenId;

/// Saved states nobody holds any more, to be told to the instance with the next message.
pub(super) type Drops = Arc<Mutex<Vec<TokenId>>>;

/// A saved state in an instance; dropping the last handle frees it there. It is a cache: it may be gone at any time.
#[derive(Debug)]
pub struct Token {
    generation: u64,
    id: TokenId,
    drops: Drops,
}

impl Token {
    pub(super) fn new(generation: u64, id: TokenId, drops: Drops) -> Self {
        Self { generation, id, drops }
    }
    /// Its number there.
    pub fn id(&self) -> TokenId {
        self.id
    }
    pub(super) fn generation(&self) -> u64 {
        self.generation
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        self.drops.lock().unwrap_or_else(PoisonError::into_inner).push(self.id);
    }
}
