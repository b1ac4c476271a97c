//! What saved prefixes save: the same tree search with and without them, in simulated seconds.
//!
//! `cargo run --release -p anabranch-search --example prefixes -- [visits] [repeats]`

use anabranch_kernel::{Params, Seed, System};
use anabranch_problems::{Crosswalk, Instance, Junction, Problem, ProblemSystem};
use anabranch_search::{Reuse, TreeSettings, search_tree};

fn compare<S: System>(name: &str, system: &S, segments_max: usize, visits_max: u64, repeats: u64) {
    let (mut saved_s, mut plain_s, mut found, mut visits) = (0.0, 0.0, 0, 0);
    for seed in 0..repeats {
        let settings = |reuse| TreeSettings { seed: Seed(seed), segments_max, visits_max, curiosity: 0.1, reuse };
        let saved = search_tree(system, &Params::default(), &settings(Reuse::Saved(100_000)));
        let plain = search_tree(system, &Params::default(), &settings(Reuse::Off));
        let (saved, plain) = match (saved, plain) {
            (Ok(saved), Ok(plain)) => (saved, plain),
            (Err(fault), _) | (_, Err(fault)) => return println!("{name:>16}: {fault}"),
        };
        assert_eq!((&saved.best, saved.visits, saved.violated), (&plain.best, plain.visits, plain.violated));
        saved_s += saved.simulated_seconds;
        plain_s += plain.simulated_seconds;
        found += u64::from(saved.violated);
        visits += saved.visits;
    }
    println!(
        "{name:>16}: {found} of {repeats} violated, {visits} visits, {saved_s:.0} s simulated, {plain_s:.0} s without saved states: {:.1} ×",
        plain_s / saved_s
    );
}

fn main() {
    let mut words = std::env::args().skip(1).filter_map(|word| word.parse().ok());
    let (visits, repeats) = (words.next().unwrap_or(2000), words.next().unwrap_or(10));
    compare("crosswalk", &Crosswalk::starting_at(-3.5), 50, visits, repeats);
    for name in ["cc4", "at-speed120", "at6b"] {
        if let Ok(problem) = Problem::named(name) {
            compare(name, &ProblemSystem::new(problem.clone()), problem.pieces, visits, repeats);
        }
    }
    let dusk = Instance { minute: 1110.0, fog: 0.4, other_m: 80.0, ..Instance::default() };
    compare("junction", &Junction::new(dusk), 20, visits, repeats);
}
