//! The set of visited cells: 128-bit keys to numbers, about 30 bytes per cell at any fill.
//!
//! A general hash map doubles, which right after growth wastes half of its memory and needs old and new table side
//! by side. This one is cut into shards that grow by a fifth one at a time, so the memory per key stays flat.

use anabranch_kernel::CellKey;

const SHARDS: usize = 256;
/// Entries of a new shard.
const SHARD_START: usize = 8;
/// A shard grows when this share of it is used; linear probing stays short below.
const LOAD_MAX_PERCENT: usize = 75;
const EMPTY: u32 = u32::MAX;

/// Key in four words and the number of the cell: 20 bytes without padding.
#[derive(Clone, Copy)]
struct Entry {
    key: [u32; 4],
    cell: u32,
}

const VACANT: Entry = Entry { key: [0; 4], cell: EMPTY };

struct Shard {
    entries: Vec<Entry>,
    used: usize,
}

/// Maps keys to cell numbers given out in order of insertion.
pub(crate) struct Table {
    shards: Vec<Shard>,
    cells: u32,
}

fn split(key: CellKey) -> ([u32; 4], usize, u64) {
    let k = key.0;
    let words = [k as u32, (k >> 32) as u32, (k >> 64) as u32, (k >> 96) as u32];
    ((words), (k >> 120) as usize, k as u64)
}

impl Shard {
    fn slot_of(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.entries.len() as u128) >> 64) as usize
    }

    /// Position of the key, or of the vacancy where it belongs.
    fn find(&self, words: [u32; 4], hash: u64) -> usize {
        let mut slot = self.slot_of(hash);
        loop {
            let entry = &self.entries[slot];
            if entry.cell == EMPTY || entry.key == words {
                return slot;
            }
            slot += 1;
            if slot == self.entries.len() {
                slot = 0;
            }
        }
    }

    fn grow(&mut self) {
        let len = (self.entries.len() * 6 / 5).max(self.entries.len() + SHARD_START);
        let mut grown = Vec::new();
        grown.reserve_exact(len);
        grown.resize(len, VACANT);
        let old = std::mem::replace(&mut self.entries, grown);
        for entry in old.into_iter().filter(|e| e.cell != EMPTY) {
            let hash = u64::from(entry.key[0]) | u64::from(entry.key[1]) << 32;
            let slot = self.find(entry.key, hash);
            self.entries[slot] = entry;
        }
    }
}

impl Table {
    pub(crate) fn new() -> Self {
        let shard = || Shard { entries: vec![VACANT; SHARD_START], used: 0 };
        Self { shards: std::iter::repeat_with(shard).take(SHARDS).collect(), cells: 0 }
    }

    /// Number of cells.
    pub(crate) fn len(&self) -> u32 {
        self.cells
    }

    /// The cell of the key, and whether it is new.
    pub(crate) fn insert(&mut self, key: CellKey) -> (u32, bool) {
        let (words, shard, hash) = split(key);
        let shard = &mut self.shards[shard];
        let mut slot = shard.find(words, hash);
        if shard.entries[slot].cell != EMPTY {
            return (shard.entries[slot].cell, false);
        }
        if (shard.used + 1) * 100 > shard.entries.len() * LOAD_MAX_PERCENT {
            shard.grow();
            slot = shard.find(words, hash);
        }
        assert!(self.cells < EMPTY, "more than 2³² cells");
        shard.entries[slot] = Entry { key: words, cell: self.cells };
        shard.used += 1;
        self.cells += 1;
        (self.cells - 1, true)
    }

    /// Whether the cell was visited.
    pub(crate) fn contains(&self, key: CellKey) -> bool {
        let (words, shard, hash) = split(key);
        let shard = &self.shards[shard];
        shard.entries[shard.find(words, hash)].cell != EMPTY
    }

    /// Asks the memory for the place of a key that will be looked up soon.
    #[inline]
    pub(crate) fn prefetch(&self, key: CellKey) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let (_, shard, hash) = split(key);
            let shard = &self.shards[shard];
            let entry: *const Entry = &raw const shard.entries[shard.slot_of(hash)];
            // SAFETY: a prefetch is a hint and reads nothing; the address is that of an element.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(entry.cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = key;
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> u64 {
        self.shards.iter().map(|s| (s.entries.capacity() * size_of::<Entry>()) as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_numbers_while_the_table_grows() {
        let mut table = Table::new();
        let key = |i: u64| CellKey(anabranch_kernel::Digest::of(&i.to_le_bytes()).0);
        for i in 0..100_000 {
            assert_eq!(table.insert(key(i)), (i as u32, true));
        }
        for i in 0..100_000 {
            assert_eq!(table.insert(key(i)), (i as u32, false));
            assert!(!table.contains(key(i + 100_000)));
        }
        assert_eq!(table.len(), 100_000);
    }

    #[test]
    fn memory_per_key_stays_flat_at_any_fill() {
        let mut table = Table::new();
        for i in 0..400_000_u64 {
            table.insert(CellKey(anabranch_kernel::Digest::of(&i.to_le_bytes()).0));
            if i > 50_000 {
                assert!(table.bytes() <= 36 * (i + 1), "{} bytes for {} keys", table.bytes(), i + 1);
            }
        }
    }
}
