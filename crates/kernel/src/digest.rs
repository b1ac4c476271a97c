//! 128-bit digests of bytes and of sequences of numbers.

use std::fmt;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// A 128-bit fingerprint, printed as 32 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
pub struct Digest(pub u128);

impl Digest {
    /// Digest of a byte string.
    pub fn of(bytes: &[u8]) -> Self {
        Self(xxh3_128(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A digest built from a long sequence without keeping it.
#[derive(Clone, Default)]
pub struct DigestWriter(Xxh3);

impl fmt::Debug for DigestWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DigestWriter({})", self.finish())
    }
}

impl DigestWriter {
    /// A writer that has seen nothing.
    pub fn new() -> Self {
        Self(Xxh3::new())
    }
    /// Adds bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
    /// Adds a number by its little-endian bytes.
    pub fn number(&mut self, value: u64) {
        self.0.update(&value.to_le_bytes());
    }
    /// Adds a 128-bit number.
    pub fn wide(&mut self, value: u128) {
        self.0.update(&value.to_le_bytes());
    }
    /// Adds a real number by its bits: the digest sees every last bit.
    pub fn real(&mut self, value: f64) {
        self.number(value.to_bits());
    }
    /// Adds a text, with its length, so that two neighbouring texts cannot be confused.
    pub fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes(text.as_bytes());
    }
    /// Digest of everything added so far.
    pub fn finish(&self) -> Digest {
        Digest(self.0.digest128())
    }
}
