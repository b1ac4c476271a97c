//! An allocator that counts, for tests that say: this takes no memory. Nothing that is shipped uses it.
//!
//! ```
//! use anabranch_counting::{Counting, taken};
//!
//! #[global_allocator]
//! static ALLOCATOR: Counting = Counting;
//!
//! let before = taken();
//! let numbers: Vec<u64> = std::hint::black_box((0..100).collect());
//! assert!(taken() > before);
//! let after = taken();
//! assert_eq!(std::hint::black_box(numbers.iter().sum::<u64>()), 4950);
//! assert_eq!(taken(), after);
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

static TAKEN: AtomicU64 = AtomicU64::new(0);

/// The allocator of the system, which counts how often memory is taken from it, by all threads. Growing counts too.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counting;

// SAFETY: every call goes on to the system allocator unchanged; only a number is counted besides.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        TAKEN.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the memory is from `alloc` above, with this layout, as promised by the caller.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// How often memory was taken so far. Stays 0 unless [`Counting`] is the global allocator.
pub fn taken() -> u64 {
    TAKEN.load(Ordering::Relaxed)
}
