//! After a while a tick takes no memory: neither of everybody nor of a branch.

use anabranch_counting::{Counting, taken};
use anabranch_kernel::Seed;
use anabranch_traffic::towns::{City, Control};
use anabranch_traffic::{BranchScratch, Input, Outside, Scratch, Settings, Timeline, Traffic, World, spread};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_warm_tick_takes_no_memory() {
    let city = City { side: 4, street_m: 150.0, lanes: 2, limit_mps: 14.0, control: Control::Lights { green_s: 6.0 } };
    let traffic = Traffic::new(World::new(city.streets(), Settings::new(0.1)), Seed(1)).unwrap();
    let start = traffic.start(&spread(&traffic, 15.0, 9.0));
    let timeline = Timeline::new(&traffic, start.clone(), 400);
    let ego = Outside { lane: city.street(1, 1, 0, 0), station_m: 60.0, lateral_m: 0.0, speed_mps: 0.0, kind: 0 };
    let input = Input { outside: &[ego], fire: &[], ..Input::default() };

    let (mut population, mut scratch) = (start, Scratch::default());
    let (mut branch, mut branch_scratch) = (traffic.branch(), BranchScratch::default());
    let mut go = |ticks: u32| {
        let before = taken();
        for _ in 0..ticks {
            traffic.step(&mut population, input, &mut scratch);
            traffic.step_branch(&timeline, &mut branch, input, &mut branch_scratch);
        }
        taken() - before
    };
    go(300);
    // A list may still double its size once in a while; a tick that allocated would be seen a hundred times.
    let taken = go(100);
    assert!(taken <= 8, "{taken} allocations in 100 ticks");
    assert!(!branch.touched().is_empty());
}
