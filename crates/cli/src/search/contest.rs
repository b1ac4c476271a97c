//! The same search with many seeds, against random points with the same budget: how reliable a method is.

use anabranch_kernel::Seed;
use anabranch_search::{Contest, Method, Repeats, Search, Settings};
use rayon::prelude::*;
use serde_json::{Value, json};

use super::objective::ScenarioObjective;
use crate::escape::escape;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

/// What a contest is between.
#[derive(Clone, Copy, Debug)]
pub struct Sides {
    /// The method in question.
    pub method: Method,
    /// How many seeds each side has.
    pub repeats: u64,
    /// Whether random points search too.
    pub has_baseline: bool,
}

/// Searches with as many seeds, each to its first violation; tells how often and how soon.
///
/// # Errors
/// When the method cannot search the space.
pub fn run(
    objective: &ScenarioObjective<'_>,
    Sides { method, repeats, has_baseline }: Sides,
    settings: &Settings,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let space = &objective.varied.space;
    let layout = space.layout().map_err(|error| Failure::input(error.to_string(), ""))?;
    let all = |method: Method| -> Result<Repeats, Failure> {
        let one = |n: u64| {
            let settings = Settings { seed: Seed(settings.seed.0 + n), ..settings.clone() };
            let optimiser = method
                .build(&layout, settings.seed, settings.simulations)
                .map_err(|error| Failure::input(error.to_string(), ""))?;
            // All chance of the loop changes with the seed, as it does for a search on its own.
            let objective = objective.with_seed(settings.seed);
            let search = Search::new(space, &objective, optimiser, settings);
            let report = search.map_err(|error| Failure::input(error.to_string(), ""))?.run_unsaved();
            match report.troubles().next() {
                Some(trouble) => Err(Failure::input(trouble.describe(space), "")),
                None => Ok(report.simulations_to_first()),
            }
        };
        Ok(Repeats { to_first: (0..repeats).into_par_iter().map(one).collect::<Result<_, _>>()? })
    };
    let ours = all(method)?;
    let random = if has_baseline { Some(all(Method::Random)?) } else { None };
    let contest =
        random.as_ref().map(|random| Contest { repeats, ours: ours.successes(), baseline: random.successes() });
    let told = |one: &Repeats| -> Value {
        json!({
            "successes": one.successes(),
            "mean_simulations": one.mean_simulations(),
            "median_simulations": one.median_simulations(),
            "to_first": one.to_first,
        })
    };
    let machine = json!({
        "schema": "anabranch.contest/1",
        "scenario": objective.drive.name(),
        "scenario_hash": objective.loaded.hash.to_string(),
        "method": method.name(),
        "repeats": repeats,
        "simulations": settings.simulations,
        "batch": settings.batch,
        "seed": settings.seed.0,
        "ours": told(&ours),
        "random": random.as_ref().map(told),
        "statement": contest.as_ref().map(Contest::statement),
        "chance_alone": contest.as_ref().map(Contest::chance_alone),
    });
    let human = |paint: &crate::screen::Paint| {
        let row = |name: &str, one: &Repeats| {
            let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.1}"));
            let (mean, median) = (number(one.mean_simulations()), number(one.median_simulations()));
            format!("  {name:<17}{} of {repeats} seeds, mean {mean}, median {median} simulations\n", one.successes())
        };
        let name = paint.bold(&escape(objective.drive.name()));
        let head = format!("{name}: first violation within {} simulations\n", settings.simulations);
        let beside = random.as_ref().zip(contest.as_ref());
        let beside = beside.map(|(random, contest)| row("random", random) + &format!("  {}\n", contest.statement()));
        head + &row(method.name(), &ours) + &beside.unwrap_or_default()
    };
    screen.result(human, &machine);
    let successes = ours.successes() + random.map_or(0, |random| random.successes());
    Ok(if successes > 0 { Exit::Findings } else { Exit::Done })
}
