//! Beginning a segment and listing its live choices must not allocate: both run once per visited state.

use anabranch_counting::{Counting, taken};
use anabranch_errors::*;
use anabranch_kernel::{Choice, Choices};

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
    let before = taken();
    for n in 0..100 {
        set.live(&memory, &mut live);
        set.begin(live[n * 7 % live.len()], &mut memory);
    }
    assert_eq!(taken(), before);
    assert_eq!(live, [Choice::NONE]);
}
