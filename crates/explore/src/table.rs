//! The set of visited cells: 128-bit keys to numbers, about 30 bytes per cell at any fill.
//!
//! A general hash map doubles, which right after growth wastes half of its memory and needs old and new table side
//! by side. This one is cut into shards that grow by a quarter one at a time, in memory that goes back to the system at
//! once, so the memory per key stays flat.

use anabranch_kernel::CellKey;
use memmap2::{MmapMut, MmapOptions};

const SHARDS: usize = 256;
/// Entries of a new shard.
const SHARD_START: usize = 8;
/// A shard grows when this share of it is used; linear probing stays short below.
const LOAD_MAX_PERCENT: usize = 75;
/// Larger shards get pages of their own: what they give back is not left as holes in the heap.
const PAGES_FROM_BYTES: usize = 256 * 1024;

/// Key in four words, then the number of the cell plus one; 0 is a vacancy. 20 bytes without padding.
type Entry = [u32; 5];
const VACANT: u32 = 0;

/// Zeroed memory for entries.
enum Memory {
    Heap(Vec<Entry>),
    Pages(MmapMut, usize),
}

impl Memory {
    fn zeroed(entries: usize) -> Self {
        let bytes = entries * size_of::<Entry>();
        if bytes < PAGES_FROM_BYTES {
            return Self::Heap(vec![[0; 5]; entries]);
        }
        // Keys are spread evenly, so all pages will be used: asking for them at once is cheaper than one by one.
        match MmapOptions::new().len(bytes).populate().map_anon() {
            Ok(pages) => Self::Pages(pages, entries),
            Err(_) => Self::Heap(vec![[0; 5]; entries]),
        }
    }
    #[inline]
    fn entries(&self) -> &[Entry] {
        match self {
            Self::Heap(entries) => entries,
            Self::Pages(pages, len) => &bytemuck::cast_slice(&pages[..len * size_of::<Entry>()])[..*len],
        }
    }
    #[inline]
    fn entries_mut(&mut self) -> &mut [Entry] {
        match self {
            Self::Heap(entries) => entries,
            Self::Pages(pages, len) => &mut bytemuck::cast_slice_mut(&mut pages[..*len * size_of::<Entry>()])[..*len],
        }
    }
}

struct Shard {
    memory: Memory,
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
    (words, (k >> 120) as usize, k as u64)
}

fn slot_of(hash: u64, len: usize) -> usize {
    ((u128::from(hash) * len as u128) >> 64) as usize
}

/// Position of the key, or of the vacancy where it belongs.
fn find(entries: &[Entry], words: [u32; 4], hash: u64) -> usize {
    let mut slot = slot_of(hash, entries.len());
    loop {
        let entry = &entries[slot];
        if entry[4] == VACANT || [entry[0], entry[1], entry[2], entry[3]] == words {
            return slot;
        }
        slot += 1;
        if slot == entries.len() {
            slot = 0;
        }
    }
}

impl Shard {
    fn grow(&mut self) {
        let old_len = self.memory.entries().len();
        let old = std::mem::replace(&mut self.memory, Memory::zeroed((old_len * 5 / 4).max(old_len + SHARD_START)));
        let grown = self.memory.entries_mut();
        for entry in old.entries().iter().filter(|entry| entry[4] != VACANT) {
            let [a, b, c, d, _] = *entry;
            let slot = find(grown, [a, b, c, d], u64::from(a) | u64::from(b) << 32);
            grown[slot] = *entry;
        }
    }
}

impl Table {
    pub(crate) fn new() -> Self {
        let shard = || Shard { memory: Memory::zeroed(SHARD_START), used: 0 };
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
        let entries = shard.memory.entries();
        let mut slot = find(entries, words, hash);
        if entries[slot][4] != VACANT {
            return (entries[slot][4] - 1, false);
        }
        if (shard.used + 1) * 100 > entries.len() * LOAD_MAX_PERCENT {
            shard.grow();
            slot = find(shard.memory.entries(), words, hash);
        }
        assert!(self.cells < u32::MAX - 1, "more than 2³² cells");
        self.cells += 1;
        let [a, b, c, d] = words;
        shard.memory.entries_mut()[slot] = [a, b, c, d, self.cells];
        shard.used += 1;
        (self.cells - 1, true)
    }

    /// The cell of a key, if it was visited.
    pub(crate) fn get(&self, key: CellKey) -> Option<u32> {
        let (words, shard, hash) = split(key);
        let entries = self.shards[shard].memory.entries();
        entries[find(entries, words, hash)][4].checked_sub(VACANT + 1)
    }

    /// Whether the cell was visited.
    pub(crate) fn contains(&self, key: CellKey) -> bool {
        self.get(key).is_some()
    }

    /// Asks the memory for the place of a key that will be looked up soon.
    #[inline]
    pub(crate) fn prefetch(&self, key: CellKey) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let (_, shard, hash) = split(key);
            let entries = self.shards[shard].memory.entries();
            let entry: *const Entry = &raw const entries[slot_of(hash, entries.len())];
            // Probing goes on into the next cache line more often than not.
            let next_line = entry.cast::<i8>().wrapping_add(64);
            // SAFETY: a prefetch is a hint and reads nothing, wherever it points.
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(entry.cast());
                _mm_prefetch::<_MM_HINT_T0>(next_line);
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = key;
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> u64 {
        self.shards.iter().map(|s| size_of_val(s.memory.entries()) as u64).sum()
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
