//! How far apart the merged members of a cell were.

use std::collections::BTreeMap;

use anabranch_explore::{
    Apart, Cover, Edge, Explorer, Fate, Keep, MemoryTrail, Merge, Order, Recording, Refine, Scope, Settings, Trail,
};
use anabranch_kernel::{
    Choice, Danger, ErrorSpace, Fault, Grid, KeyWriter, Params, Seed, SegmentEnd, System, Variable, Watch,
};

use crate::common::{Pushed, PushedState, settings};

/// Two numbers that errors change by known steps, and an exact one between them.
struct Steps {
    errors: ErrorSpace,
    variables: Vec<Variable>,
    time_matters: bool,
}

/// By how much each error changes both numbers. The last brings back what the one before took away, to a quarter.
const STEPS: [[f64; 2]; 5] = [[0.0, 0.0], [0.25, 0.0], [0.125, -0.125], [3.0, 0.0], [-2.75, 0.0]];
const AWAY: u16 = 3;

impl Steps {
    fn new(time_matters: bool) -> Self {
        let variables = vec![Variable::real("u", "m", 1.0), Variable::exact("gear"), Variable::real("w", "", 0.5)];
        let modes = ["none", "a quarter", "both", "away", "back"];
        Self { errors: ErrorSpace::of_one_site("step", &modes), variables, time_matters }
    }
}

impl System for Steps {
    type State = ([f64; 2], u32);
    fn errors(&self) -> &ErrorSpace {
        &self.errors
    }
    fn variables(&self) -> &[Variable] {
        &self.variables
    }
    fn start(&self, _: Seed, _: &Params) -> Result<Self::State, Fault> {
        Ok(([0.0, 0.0], 0))
    }
    fn run(&self, state: &mut Self::State, choice: Choice, _: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
        let [u, w] = STEPS[choice.index()];
        *state = ([state.0[0] + u, state.0[1] + w], state.1 + 1);
        Ok(SegmentEnd::Open)
    }
    fn cell(&self, ([u, w], _): &Self::State, key: &mut KeyWriter<'_>) {
        key.real(0, *u);
        key.exact(1, 1);
        key.real(2, *w);
    }
    fn danger(&self, ([u, _], _): &Self::State) -> Danger {
        Danger { worst: *u, ..Danger::default() }
    }
    fn time_matters(&self) -> bool {
        self.time_matters
    }
}

fn explored(scope: Scope, keep: Keep) -> Vec<Edge> {
    let system = Steps::new(scope == Scope::Level);
    let merge = Merge::Grid(Grid::of(system.variables()));
    let defaults = Settings::new(system.variables(), system.time_matters());
    let settings = Settings { scope, keep, merge, levels_max: 2, rollouts: 0, refine: Refine::OFF, ..defaults };
    let mut graph = Recording::default();
    Explorer::new(&system).settings(settings).run_with(&mut MemoryTrail::default(), &mut graph).unwrap();
    graph.edges
}

/// What became of the segments of a parent, in the order of choices, and how far apart its end was: u is variable 0, w 2.
fn check(edges: &[Edge], parent: u64, expected: [(Fate, Option<(f64, u16)>); 5]) {
    let of_parent = edges.iter().filter(|edge| edge.parent == parent);
    let found: Vec<_> = of_parent
        .map(|edge| (edge.fate, edge.apart.map(|Apart { parts, variable }| (f64::from(parts) / 256.0, variable))))
        .collect();
    assert_eq!(found, expected, "segments of state {parent}");
}

const KEPT: (Fate, Option<(f64, u16)>) = (Fate::Kept, None);

fn merged(share: f64, variable: u16) -> (Fate, Option<(f64, u16)>) {
    (Fate::Merged, Some((share, variable)))
}

#[test]
fn members_of_a_level_are_compared_with_the_first_of_them() {
    let edges = explored(Scope::Level, Keep::First);
    check(&edges, 0, [KEPT, merged(0.25, 0), merged(0.25, 2), KEPT, KEPT]);
    // State 2 is at (3, 0). State 1 was taken there as well, before; "back" ends a quarter from where state 1 stayed.
    check(&edges, 2, [merged(0.0, 0), merged(0.25, 0), merged(0.25, 2), KEPT, merged(0.25, 0)]);
}

#[test]
fn a_worse_member_that_is_kept_too_has_its_distance() {
    let edges = explored(Scope::Level, Keep::Worst);
    let kept = (Fate::Kept, Some((0.25, 0)));
    check(&edges, 0, [KEPT, kept, merged(0.25, 2), KEPT, KEPT]);
}

#[test]
fn a_start_is_the_first_member_of_its_cell() {
    let edges = explored(Scope::Visited, Keep::First);
    check(&edges, 0, [merged(0.0, 0), merged(0.25, 0), merged(0.25, 2), KEPT, KEPT]);
    check(&edges, 1, [merged(0.0, 0), merged(0.25, 0), merged(0.25, 2), KEPT, merged(0.25, 0)]);
}

#[test]
fn at_the_frontier_the_member_that_waits_is_compared() {
    let edges = explored(Scope::Frontier, Keep::First);
    check(&edges, 0, [merged(0.0, 0), merged(0.25, 0), merged(0.25, 2), KEPT, KEPT]);
    // The start does not wait any more, so the state at (0.25, 0) is kept next to it ..
    check(&edges, 1, [merged(0.0, 0), merged(0.25, 0), merged(0.25, 2), KEPT, (Fate::Kept, Some((0.25, 0)))]);
    // .. and "away" from (-2.75, 0) ends exactly there.
    let away = edges.iter().find(|edge| (edge.parent, edge.choice.0) == (2, AWAY)).unwrap();
    assert_eq!((away.fate, away.apart), (Fate::Merged, Some(Apart { parts: 0, variable: 0 })));
}

/// So far away that nothing is found, and random runs join.
const FAR_WALL: f64 = 3.0;

fn rules(system: &Pushed) -> Vec<Settings> {
    let grid = Merge::Grid(Grid::of(system.variables()));
    let base = Settings { merge: grid, rollouts: 60, refine: Refine::USUAL, ..settings(system) };
    let joined =
        Settings { keep: Keep::First, cover: Some(Cover::USUAL), rollouts: 437, refine: Refine::OFF, ..base.clone() };
    if system.wall == FAR_WALL {
        return vec![joined];
    }
    let by = |keep, order| Settings { keep, order, ..base.clone() };
    let mut rules = vec![
        by(Keep::First, Order::Breadth),
        by(Keep::Extremes, Order::Breadth),
        by(Keep::Worst, Order::Danger),
        Settings { merge_every: 2, ..by(Keep::Worst, Order::Breadth) },
    ];
    rules.push(Settings { scope: Scope::Frontier, ..by(Keep::First, Order::Breadth) });
    if !system.time_matters {
        rules.push(Settings { scope: Scope::Visited, ..by(Keep::Extremes, Order::Breadth) });
    }
    rules
}

/// Runs a segment again from a state that is known.
fn end_of(system: &Pushed, from: &PushedState, choice: Choice) -> PushedState {
    let mut state = from.clone();
    system.run(&mut state, choice, &mut Watch::off()).unwrap();
    state
}

/// Compares every distance in a recording with the two states themselves; says how many there were.
fn compare(system: &Pushed, scope: Scope, graph: &Recording, trail: &MemoryTrail) -> u64 {
    let start = system.start(Seed(0), &Params::default()).unwrap();
    let mut states = vec![start.clone()];
    for node in &graph.nodes[1..] {
        let (parent, choice) = trail.look(node.node).unwrap();
        states.push(end_of(system, &states[parent as usize], choice));
    }
    let mut firsts: BTreeMap<u32, PushedState> = graph.nodes[0].cell.map(|cell| (cell, start)).into_iter().collect();
    let mut compared = 0;
    for edge in &graph.edges {
        let Some(cell) = edge.cell else {
            assert_eq!(edge.apart, None);
            continue;
        };
        let end = end_of(system, &states[edge.parent as usize], edge.choice);
        assert_eq!(edge.apart.is_some(), firsts.contains_key(&cell), "{edge:?}");
        if let (Some(apart), Some(first)) = (edge.apart, firsts.get(&cell)) {
            let differences = [(end.y - first.y).abs() / 0.05, (end.v - first.v).abs() / 0.05];
            assert!((differences[usize::from(apart.variable)] - apart.share()).abs() < 1.001 / 256.0, "{edge:?}");
            assert!(differences.iter().all(|difference| *difference < apart.share() + 1.001 / 256.0), "{edge:?}");
            compared += 1;
        }
        if edge.fate == Fate::Kept && (scope == Scope::Frontier || !firsts.contains_key(&cell)) {
            firsts.insert(cell, end);
        }
    }
    compared
}

#[test]
fn distances_are_those_of_the_states_whatever_the_rules_and_the_threads() {
    let (mut joined, mut reopened) = (0, 0);
    for (wall, time_matters) in [(0.9, true), (0.55, true), (FAR_WALL, true), (1.5, false)] {
        let mut system = Pushed::new(1.0, 0.4, wall, 8);
        system.time_matters = time_matters;
        for (number, rule) in rules(&system).into_iter().enumerate() {
            let run = |threads| {
                let (mut trail, mut graph) = (MemoryTrail::default(), Recording::default());
                let explorer = Explorer::new(&system).settings(rule.clone()).threads(threads);
                let outcome = explorer.run_with(&mut trail, &mut graph).unwrap();
                (outcome, trail, graph)
            };
            let (outcome, trail, graph) = run(1);
            let compared = compare(&system, rule.scope, &graph, &trail);
            assert!(compared > 100, "rule {number}: {compared}");
            joined += outcome.coverage.joined;
            reopened += outcome.refinement.iter().map(|looked| looked.reopened).sum::<u64>();
            for threads in [2, 3] {
                assert_eq!(run(threads).2, graph, "rule {number}, {threads} threads");
            }
            let silent = Explorer::new(&system).settings(rule.clone()).run().unwrap();
            assert_eq!((silent.digest, silent.progress), (outcome.digest, outcome.progress), "rule {number}");
        }
    }
    assert!(
        joined > 10 && reopened > 10,
        "{joined} states of random runs joined, {reopened} ends were looked at again"
    );
}
