//! An ego in traffic, as an explorer sees it: the contract of a system, one result for any number of threads, and merging.

use anabranch_explore::Explorer;
use anabranch_kernel::contract::check_contract;
use anabranch_kernel::{
    Choice, Declarations, ErrorSpace, Fault, KeyWriter, Leaf, Params, Seed, SegmentEnd, System, Variable, Visitor,
    Watch,
};
use anabranch_traffic::towns::Motorway;
use anabranch_traffic::{Branch, BranchScratch, Input, Outside, Settings, Timeline, Traffic, World, spread};
use serde::{Deserialize, Serialize};

const SEGMENTS: u32 = 6;

/// The ego keeps its speed; its errors are a phantom brake and a push.
struct Ride {
    traffic: Traffic,
    timeline: Timeline,
    errors: ErrorSpace,
    declared: Declarations,
}

#[derive(Clone, Serialize, Deserialize)]
struct Riding {
    branch: Branch,
    ego: Outside,
}

impl Ride {
    fn new() -> Self {
        let motorway = Motorway { lanes: 2, pieces: 4, piece_m: 800.0, limit_mps: 30.0 };
        let traffic = Traffic::new(World::new(motorway.streets(), Settings::new(0.1)), Seed(1)).unwrap();
        let start = traffic.start(&spread(&traffic, 10.0, 25.0));
        assert!(start.cars().count() >= 50);
        let timeline = Timeline::new(&traffic, start, SEGMENTS * 10);
        let errors = ErrorSpace::of_one_site("pedal", &["none", "brakes", "pushes"]);
        let mut ride = Self { traffic, timeline, errors, declared: Declarations::default() };
        ride.declared = Declarations::of(|v| ride.visit(&ride.begin(), v));
        ride
    }
    fn begin(&self) -> Riding {
        let ego = Outside { lane: 0, station_m: 180.0, lateral_m: 0.0, speed_mps: 25.0, kind: 0 };
        Riding { branch: self.traffic.branch(), ego }
    }
    fn visit<V: Visitor>(&self, state: &Riding, v: &mut V) {
        v.real("x", "m", 1.0, state.ego.station_m);
        v.real("speed", "m/s", 0.5, state.ego.speed_mps);
        for field in ["kind", "lane", "lateral_m"] {
            v.constant(format_args!("ego.{field}"), "it drives straight on");
        }
        v.field("branch", |v| {
            let variables = Branch::declare(v);
            state.branch.put(&self.timeline, &variables, v);
        });
    }
}

impl System for Ride {
    type State = Riding;
    fn errors(&self) -> &ErrorSpace {
        &self.errors
    }
    fn variables(&self) -> &[Variable] {
        &self.declared.variables
    }
    fn start(&self, _seed: Seed, _params: &Params) -> Result<Riding, Fault> {
        Ok(self.begin())
    }
    fn run(&self, state: &mut Riding, choice: Choice, watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
        let wanted_mps = [25.0, 15.0, 30.0][choice.index()];
        let mut scratch = BranchScratch::default();
        for _ in 0..10 {
            let accel = (wanted_mps - state.ego.speed_mps).clamp(-5.0, 2.0);
            state.ego.speed_mps += accel * 0.1;
            state.ego.station_m += state.ego.speed_mps * 0.1;
            let input = Input { outside: &[state.ego], fire: &[], ..Input::default() };
            self.traffic.step_branch(&self.timeline, &mut state.branch, input, &mut scratch);
        }
        let whole = self.traffic.whole(&self.timeline, &state.branch);
        let gaps = whole.in_lane(0).iter().map(|car| (car.station_m - state.ego.station_m).abs() - 4.6);
        let gap_m = gaps.fold(f64::INFINITY, f64::min);
        watch.see_margin(gap_m);
        Ok(if gap_m < 0.0 {
            SegmentEnd::violated(0, 0)
        } else if state.branch.tick >= SEGMENTS * 10 {
            SegmentEnd::TimedOut
        } else {
            SegmentEnd::Open
        })
    }
    fn cell(&self, state: &Riding, key: &mut KeyWriter<'_>) {
        self.visit(state, &mut key.visitor(&self.declared.sections));
    }
    fn leaves(&self) -> Vec<Leaf> {
        self.declared.leaves.clone()
    }
    fn time_matters(&self) -> bool {
        true
    }
}

#[test]
fn an_ego_in_traffic_keeps_the_contract_of_a_system() {
    let report = check_contract(&Ride::new(), 12, SEGMENTS as usize).unwrap();
    assert!(report.segments >= 12);
}

#[test]
fn exploring_among_64_cars_gives_one_digest_and_merges() {
    let ride = Ride::new();
    let explore = |threads| Explorer::new(&ride).threads(threads).run().unwrap();
    let one = explore(1);
    for threads in [2, 7] {
        assert_eq!(explore(threads).digest, one.digest);
    }
    let share = one.progress.merged as f64 / one.progress.segments as f64;
    println!("{} segments, {} merged: {share:.2}", one.progress.segments, one.progress.merged);
    assert!(one.progress.segments < 3_u64.pow(SEGMENTS + 1) / 2, "merging saves something");
    assert!(share > 0.05, "{share}");
}
