//! Beginning a segment and listing its live choices must not allocate: both run once per visited state.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use anabranch_errors::*;
use anabranch_kernel::{Choice, Choices};

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
fn segments_begin_without_allocation() {
    let growth = Growth { rate: 0.1, decay: 0.1, limit: 0.5 };
    let obstacles = vec![Obstacle { name: "child".into(), number: 3 }];
    let targets = Targets { obstacles, grouping: Grouping::Together };
    let models: Vec<Model> = vec![
        Drift::new("drift", Frame::Car, Some(PositionDrift { growth, directions: 8 }), Some(growth), 1.0).into(),
        Steering { id: "steering".into(), offsets_rad: vec![0.1, -0.1], gains: vec![] }.into(),
        Appears { id: "appears".into(), targets: targets.clone() }.into(),
        ObstacleDisplaced::new("displaced", targets, 0.2, 4).into(),
    ];
    let entries = models.into_iter().map(|model| Entry { model, per_run: Some(9) }).collect();
    let set = ErrorSet::new(entries, Limits { at_once: 4, per_run: Some(20) }).unwrap();
    let (mut memory, mut live) = (set.start(), Choices::with_capacity(set.space().len()));
    let before = COUNT.load(Ordering::Relaxed);
    for n in 0..100 {
        set.live(&memory, &mut live);
        set.begin(live[n * 7 % live.len()], &mut memory);
    }
    assert_eq!(COUNT.load(Ordering::Relaxed), before);
    assert_eq!(live, [Choice::NONE]);
}
