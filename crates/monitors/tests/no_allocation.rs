//! Judging runs every base cycle and must not allocate.

use anabranch_counting::{Counting, taken};
use anabranch_kernel::maths::{Lanes, Mask, Real};
use anabranch_monitors::*;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn frames_are_judged_without_allocation() {
    let text = "ego.clearance < 0.1 m and not (abs(ego.speed) < 1 km/h or ego.at_goal)";
    let rules = [Rule::Never, Rule::Eventually { by_ticks: Some(50) }];
    let list = rules.map(|rule| Requirement::new("r", Level::Should, rule, text, LOW_SPEED_SIGNALS).unwrap());
    let requirements = Requirements::new(list.to_vec(), 0.1).unwrap();
    let frame = [1.0; low_speed::COUNT];
    let wide = [Lanes::<4>::splat(1.0); low_speed::COUNT];
    let mut memory = Memory::default();
    let before = taken();
    let mut noted = 0;
    for tick in 0..100_u64 {
        let disturbed = requirements.disturbed(&wide, Lanes::splat(tick as f64), memory.settled()).any();
        let judgement = requirements.judge(&frame, tick, &mut memory, &mut []);
        assert_eq!(disturbed, judgement != Judgement::default());
        noted |= judgement.noted;
    }
    assert_eq!(taken(), before);
    assert_eq!(noted, 0b10);
}
