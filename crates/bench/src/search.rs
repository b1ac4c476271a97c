//! Searches: what saved prefixes save, how quickly formulas are judged.

use anabranch_kernel::units::Dimension;
use anabranch_kernel::{Params, Seed, System};
use anabranch_logic::{Formula, Reading, SignalKind, Trace};
use anabranch_problems::{Crosswalk, Problem, ProblemSystem};
use anabranch_search::{Reuse, TreeSettings, search_tree};

use crate::timing::medians_cpu_s;
use crate::{Figure, Goal};

/// Simulated seconds without saved states, for each with them; both searches find the same.
fn prefixes<S: System>(system: &S, segments_max: usize) -> f64 {
    let settings = |reuse| TreeSettings { seed: Seed(1), segments_max, visits_max: 2000, curiosity: 0.1, reuse };
    let of = |reuse| search_tree(system, &Params::default(), &settings(reuse)).expect("it can be computed");
    let (saved, plain) = (of(Reuse::Saved(100_000)), of(Reuse::Off));
    assert_eq!((&saved.best, saved.visits), (&plain.best, plain.visits));
    plain.simulated_seconds / saved.simulated_seconds
}

fn samples_per_second() -> f64 {
    let table = [("x", SignalKind::Real(Dimension::Number)), ("y", SignalKind::Real(Dimension::Number))];
    let formula =
        Formula::parse("always[0, 10] (x > 0.5 implies eventually[0, 2] y < 0.2)", &table).expect("a formula");
    let n = 1_000_000_u32;
    let wave = |step: f64| (0..n).map(|i| (f64::from(i) * step).fract()).collect::<Vec<f64>>();
    let trace = Trace::even(0.01, vec![wave(0.37), wave(0.611)]).expect("a trace");
    let mut judge = || drop(std::hint::black_box(formula.values(&trace, Reading::Margin)));
    f64::from(n) / medians_cpu_s(5, [&mut judge])[0]
}

pub(crate) fn run() -> Vec<Figure> {
    let gears = Problem::named("at-speed120").expect("a published problem");
    vec![
        Figure::new(
            "tree search, crosswalk: simulated s without / with saved states",
            prefixes(&Crosswalk::starting_at(-3.5), 50),
            Goal::AtLeast(3.0),
        ),
        Figure::new(
            "tree search, transmission: simulated s without / with saved states",
            prefixes(&ProblemSystem::new(gears), 6),
            Goal::AtLeast(3.0),
        ),
        Figure::new(
            "samples/s, always[0, 10] (a implies eventually[0, 2] b), every sample judged",
            samples_per_second(),
            Goal::AtLeast(1e7),
        ),
    ]
}
