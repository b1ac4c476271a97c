//! A system that knows something against itself is never called safe, and cells that cannot be counted hide nothing.

use anabranch_explore::{Explorer, Keep, Merge, Scope, Settings, Soundness};
use anabranch_kernel::{
    Choice, Contraction, Danger, ErrorSpace, Fault, Grid, KeyWriter, Leaf, NoProof, Params, Seed, SegmentEnd, System,
    Tube, Variable, Watch,
};

use crate::common::{Pushed, PushedState};

/// The pushed point with a proof about it, true or not: what is tested is who may use it.
struct Known {
    point: Pushed,
    objections: Vec<String>,
    leaves: Vec<Leaf>,
}

impl System for Known {
    type State = PushedState;
    fn errors(&self) -> &ErrorSpace {
        self.point.errors()
    }
    fn variables(&self) -> &[Variable] {
        self.point.variables()
    }
    fn start(&self, seed: Seed, params: &Params) -> Result<PushedState, Fault> {
        self.point.start(seed, params)
    }
    fn run(&self, s: &mut PushedState, choice: Choice, watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
        self.point.run(s, choice, watch)
    }
    fn cell(&self, s: &PushedState, key: &mut KeyWriter<'_>) {
        self.point.cell(s, key);
    }
    fn danger(&self, s: &PushedState) -> Danger {
        self.point.danger(s)
    }
    fn time_matters(&self) -> bool {
        true
    }
    fn leaves(&self) -> Vec<Leaf> {
        self.leaves.clone()
    }
    fn objections(&self) -> Vec<String> {
        self.objections.clone()
    }
    fn reals(&self, s: &PushedState, out: &mut Vec<f64>) {
        out.extend([s.y, s.v]);
    }
    fn real_variables(&self) -> Vec<usize> {
        vec![0, 1]
    }
    fn contraction(&self, tube: &Tube) -> Result<Contraction, NoProof> {
        let needed = vec![0.0; tube.levels.len()];
        Ok(Contraction { lambda: 0.5, strays: vec![vec![0.0; 2]; needed.len()], needed })
    }
}

fn soundness(objections: &[&str], leaves: Vec<Leaf>, merge: Option<Grid>) -> Soundness {
    let point = Pushed::new(1.0, 0.4, 10.0, 4);
    let objections = objections.iter().map(|why| (*why).to_owned()).collect();
    let system = Known { point, objections, leaves };
    let merge = merge.map_or(Merge::None, Merge::Grid);
    let settings = Settings { merge, scope: Scope::Level, ..Settings::new(system.variables(), true) };
    Explorer::new(&system).settings(settings).prove().run().unwrap().soundness
}

#[test]
fn a_system_that_objects_is_not_safe_however_it_was_explored() {
    let grid = || Some(Grid::of(Pushed::new(1.0, 0.4, 10.0, 4).variables()));
    assert!(soundness(&[], Vec::new(), None).is_safe());
    assert!(soundness(&[], Vec::new(), grid()).is_safe());
    for merge in [None, grid()] {
        let refused = soundness(&["it was not run twice"], Vec::new(), merge);
        assert_eq!(refused.why_not(), Some("it was not run twice"));
    }
    let declared = |leaf: Leaf, merge: Option<Grid>| soundness(&[], vec![leaf], merge);
    let refused = declared(Leaf::ignored("level", "it may matter"), grid());
    assert_eq!(refused.why_not(), Some("`level` is not in the merge key: it may matter"));
    // Where nothing is merged, what is not in the key hides nothing.
    assert!(declared(Leaf::ignored("level", "it may matter"), None).is_safe());
    assert!(declared(Leaf::time("level"), grid()).is_safe());
}

/// Cells far finer than numbers keep every state apart: the graph is that of a run without merging, to the last number.
#[test]
fn cells_that_are_too_fine_to_count_merge_nothing_but_equal_states() {
    let system = Pushed::new(1.0, 0.4, 10.0, 5);
    let explored = |merge: Merge| {
        let settings = Settings { merge, scope: Scope::Level, ..Settings::new(system.variables(), true) };
        Explorer::new(&system).settings(settings).run().unwrap()
    };
    let every = explored(Merge::None);
    for factor in [1e-25, 1e-200, 1e-320] {
        let fine = explored(Merge::Grid(Grid::of(system.variables()).scaled(factor)));
        assert_eq!(fine.progress.segments, every.progress.segments, "{factor:e}");
        assert_eq!(fine.progress.margin.to_bits(), every.progress.margin.to_bits(), "{factor:e}");
    }
}

/// The proof needs no margin at all, which is false: one state stands for each level, and random runs come closer to the wall.
#[test]
fn a_random_run_that_contradicts_a_proof_ends_the_proof() {
    let proven = |rollouts: u32, cells: f64| {
        let point = Pushed::new(1.0, 0.4, 10.0, 6);
        let merge = Merge::Grid(Grid::of(&point.variables).scaled(cells));
        let system = Known { point, objections: Vec::new(), leaves: Vec::new() };
        let base = Settings::new(system.variables(), true);
        let settings = Settings { merge, scope: Scope::Level, keep: Keep::First, rollouts, ..base };
        Explorer::new(&system).settings(settings).prove().run().unwrap()
    };
    let blind = proven(0, 1000.0);
    assert!(blind.soundness.is_safe() && blind.progress.merged > 0, "{:?}", blind.soundness);
    let outcome = proven(300, 1000.0);
    assert!(outcome.coverage.worst_missed > 0.1, "{:?}", outcome.coverage);
    assert!(!outcome.soundness.is_safe(), "{:?}", outcome.soundness);
    let why = outcome.soundness.why_not().unwrap();
    assert!(why.contains("a random run came closer than the proof allows"), "{why}");
    // Random runs that come no closer leave the proof alone.
    assert!(proven(300, 1e-6).soundness.is_safe());
}
