//! Judging runs every base cycle and must not allocate.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use anabranch_kernel::maths::{Lanes, Mask, Real};
use anabranch_monitors::*;

/// Counts what it hands out.
struct Counting;
static COUNT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes on to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn frames_are_judged_without_allocation() {
    let text = "ego.clearance < 0.1 m and not (abs(ego.speed) < 1 km/h or ego.at_goal)";
    let rules = [Rule::Never, Rule::Eventually { by_ticks: Some(50) }];
    let list = rules.map(|rule| Requirement::new("r", Level::Should, rule, text, LOW_SPEED_SIGNALS).unwrap());
    let requirements = Requirements::new(list.to_vec()).unwrap();
    let frame = [1.0; low_speed::COUNT];
    let wide = [Lanes::<4>::splat(1.0); low_speed::COUNT];
    let mut memory = Memory::default();
    let before = COUNT.load(Ordering::Relaxed);
    let mut noted = 0;
    for tick in 0..100_u64 {
        let disturbed = requirements.disturbed(&wide, Lanes::splat(tick as f64), memory.settled()).any();
        let judgement = requirements.judge(&frame, tick, &mut memory);
        assert_eq!(disturbed, judgement != Judgement::default());
        noted |= judgement.noted;
    }
    assert_eq!(COUNT.load(Ordering::Relaxed), before);
    assert_eq!(noted, 0b10);
}
