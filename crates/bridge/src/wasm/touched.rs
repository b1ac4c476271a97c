//! Which pages of a memory were written to since it was fresh, without reading them.
//!
//! The memory of a module is a private mapping: the system copies a page when it is first written. Linux says in
//! `/proc/self/pagemap` which pages are such copies, with eight bytes for each, so finding them costs a
//! five-hundredth of reading them. The answer may hold pages that were not written; it never misses one. Where it cannot be
//! asked, every page counts as written: the same result, more slowly.

use super::image::PAGE_BYTES;

/// Knows how to ask.
#[derive(Debug)]
pub(super) struct Touched {
    #[cfg(target_os = "linux")]
    pagemap: Option<std::fs::File>,
    #[cfg(target_os = "linux")]
    entries: Vec<u8>,
}

impl Touched {
    /// Asks the system where it can be asked.
    pub(super) fn new() -> Self {
        #[cfg(target_os = "linux")]
        {
            let same_pages = rustix::param::page_size() == PAGE_BYTES;
            let pagemap = if same_pages { std::fs::File::open("/proc/self/pagemap").ok() } else { None };
            Self { pagemap, entries: Vec::new() }
        }
        #[cfg(not(target_os = "linux"))]
        Self {}
    }
    /// Never asks: every page counts as written.
    pub(super) fn everything() -> Self {
        #[cfg(target_os = "linux")]
        {
            Self { pagemap: None, entries: Vec::new() }
        }
        #[cfg(not(target_os = "linux"))]
        Self {}
    }
    /// Lists the numbers of the pages of this memory that may have been written, in order.
    pub(super) fn list(&mut self, memory: &[u8], pages: &mut Vec<u32>) {
        pages.clear();
        let count = memory.len() / PAGE_BYTES;
        if !self.ask(memory.as_ptr() as usize, count, pages) {
            pages.clear();
            pages.extend(0..count as u32);
        }
    }

    #[cfg(target_os = "linux")]
    fn ask(&mut self, address: usize, count: usize, pages: &mut Vec<u32>) -> bool {
        use std::os::unix::fs::FileExt;

        const PRESENT: u64 = 1 << 63;
        const SWAPPED: u64 = 1 << 62;
        const OF_A_FILE: u64 = 1 << 61;
        let Some(pagemap) = &self.pagemap else { return false };
        if !address.is_multiple_of(PAGE_BYTES) {
            return false;
        }
        self.entries.resize(count * 8, 0);
        let offset = (address / PAGE_BYTES * 8) as u64;
        if pagemap.read_exact_at(&mut self.entries, offset).is_err() {
            return false;
        }
        for (page, entry) in self.entries.as_chunks::<8>().0.iter().enumerate() {
            let entry = u64::from_ne_bytes(*entry);
            // A page of the file that holds the fresh memory was read at most; one that is nowhere was not even that.
            if entry & (PRESENT | SWAPPED) != 0 && entry & OF_A_FILE == 0 {
                pages.push(page as u32);
            }
        }
        true
    }
    #[cfg(not(target_os = "linux"))]
    fn ask(&mut self, _address: usize, _count: usize, _pages: &mut Vec<u32>) -> bool {
        false
    }
}
