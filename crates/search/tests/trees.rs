//! Tree search over saved states, and systems as objectives.

use anabranch_kernel::{
    Choice, ErrorSpace, Fault, KeyWriter, Params, Seed, SegmentEnd, System, Variable, Watch, contract,
};
use anabranch_search::{
    Goal, Method, Reuse, Search, Settings, Space, SystemObjective, TreeSettings, choice_dimensions, search_tree,
};
use serde::{Deserialize, Serialize};

/// A lock of twelve digits: each right choice lowers the margin, a wrong one raises it.
struct Lock {
    errors: ErrorSpace,
    variables: Vec<Variable>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Progress {
    segment: u64,
    right: i64,
}

const CODE: [u16; 12] = [2, 0, 1, 1, 2, 0, 0, 1, 2, 2, 1, 0];

fn lock() -> Lock {
    Lock {
        errors: ErrorSpace::of_one_site("dial", &["none", "left", "right"]),
        variables: vec![Variable::exact("segment"), Variable::exact("right")],
    }
}

impl System for Lock {
    type State = Progress;
    fn errors(&self) -> &ErrorSpace {
        &self.errors
    }
    fn variables(&self) -> &[Variable] {
        &self.variables
    }
    fn start(&self, _seed: Seed, params: &Params) -> Result<Progress, Fault> {
        Ok(Progress { segment: 0, right: params.0.first().map_or(0, |v| *v as i64) })
    }
    fn run(&self, state: &mut Progress, choice: Choice, watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
        let right = CODE.get(state.segment as usize).is_some_and(|code| *code == choice.0);
        state.right += if right { 1 } else { -1 };
        state.segment += 1;
        watch.see_margin(11.5 - state.right as f64);
        Ok(if state.right >= 12 { SegmentEnd::violated(0, state.segment) } else { SegmentEnd::Open })
    }
    fn cell(&self, state: &Progress, key: &mut KeyWriter<'_>) {
        key.exact(0, state.segment);
        key.exact(1, state.right as u64);
    }
    fn segment_seconds(&self) -> f64 {
        2.0
    }
}

#[test]
fn the_lock_keeps_to_the_contract() {
    contract::check_contract(&lock(), 10, 20).expect("a well-behaved system");
}

fn settings(reuse: Reuse) -> TreeSettings {
    TreeSettings { seed: Seed(3), segments_max: 12, visits_max: 3000, curiosity: 0.05, reuse }
}

#[test]
fn saved_prefixes_save_simulated_time_and_change_nothing_else() {
    let saved = search_tree(&lock(), &Params::default(), &settings(Reuse::Saved(10_000))).expect("computable");
    assert!(saved.violated, "{saved:?}");
    assert_eq!(saved.best.iter().map(|c| c.0).collect::<Vec<_>>(), CODE);
    assert_eq!((saved.segments, saved.simulated_seconds), (saved.visits, 2.0 * saved.visits as f64));
    let plain = search_tree(&lock(), &Params::default(), &settings(Reuse::Off)).expect("computable");
    assert_eq!((&plain.best, plain.visits), (&saved.best, saved.visits));
    // What was counted is what is really run without saved states.
    assert_eq!(plain.segments, saved.segments_without_reuse);
    assert!(plain.segments >= 3 * saved.segments, "{} against {}", plain.segments, saved.segments);
    let few = search_tree(&lock(), &Params::default(), &settings(Reuse::Saved(4))).expect("computable");
    assert_eq!((&few.best, few.visits), (&saved.best, saved.visits));
    assert!(few.segments > saved.segments && few.segments < plain.segments, "{}", few.segments);
}

#[test]
fn a_small_tree_is_searched_completely() {
    let small = TreeSettings { segments_max: 4, ..settings(Reuse::Saved(1000)) };
    let report = search_tree(&lock(), &Params::default(), &small).expect("computable");
    assert!(report.complete && !report.violated);
    assert_eq!(report.visits, 3 + 9 + 27 + 81);
    assert_eq!(report.margin, 7.5);
}

#[test]
fn a_system_is_an_objective() {
    let lock = lock();
    let space = Space::new(choice_dimensions(&lock, 12)).expect("twelve choices");
    let objective = SystemObjective { system: &lock, seed: Seed(0), parameters: 0, segments_max: 12 };
    let optimiser = Method::Annealing.build(&space.layout().expect("a space"), Seed(2), 2000).expect("it fits");
    let report =
        Search::new(&space, &objective, optimiser, Settings::first(Seed(2), 2000)).expect("good").run_unsaved();
    let best = report.best().expect("something was simulated");
    assert_eq!(best.value(), -0.5, "{}", best.describe(&space));
    assert_eq!(best.values.iter().map(|v| *v as u16).collect::<Vec<_>>(), CODE);
    assert_eq!(report.evaluations[0].result.as_ref().expect("computed").simulated_seconds, 24.0);
    let random = Method::Random.build(&space.layout().expect("a space"), Seed(2), 2000).expect("it fits");
    let settings = Settings { goal: Goal::First, ..Settings::first(Seed(2), 2000) };
    let random = Search::new(&space, &objective, random, settings).expect("good").run_unsaved();
    assert!(random.accidents.is_empty());
}

/// The same search on published systems: what is found does not depend on saved states, what it costs does.
#[test]
fn saved_prefixes_save_two_thirds_of_the_simulated_time_on_published_systems() {
    fn ratio<S: System>(system: &S, segments_max: usize) -> f64 {
        let settings = |reuse| TreeSettings { seed: Seed(1), segments_max, visits_max: 400, curiosity: 0.1, reuse };
        let saved = search_tree(system, &Params::default(), &settings(Reuse::Saved(10_000))).expect("computable");
        let plain = search_tree(system, &Params::default(), &settings(Reuse::Off)).expect("computable");
        assert_eq!((&saved.best, saved.margin, saved.visits), (&plain.best, plain.margin, plain.visits));
        plain.simulated_seconds / saved.simulated_seconds
    }
    let crosswalk = ratio(&anabranch_problems::Crosswalk::starting_at(-3.5), 50);
    let gears = anabranch_problems::Problem::named("at-speed120").expect("a published problem");
    let gears = ratio(&anabranch_problems::ProblemSystem::new(gears), 6);
    println!("crosswalk {crosswalk:.1} ×, transmission {gears:.1} ×");
    assert!(crosswalk >= 3.0 && gears >= 3.0, "{crosswalk} {gears}");
}
