//! The accident at the T-junction: which methods find it within 100 simulations, by how many of 50 seeds, and why it happens.
//!
//! `cargo run --release -p anabranch-search --example junction -- [repeats] [first seed] [method …]`
//!
//! `anabranch search --bench t-junction` draws the accidents that it finds.

use std::collections::BTreeMap;

use anabranch_kernel::{Fault, Seed};
use anabranch_problems::{JUNCTION_AXES, JUNCTION_RANGES, Junction};
use anabranch_search::{Dimension, Method, Objective, Outcome, Question, Repeats, Search, Settings, Space};
use rayon::prelude::*;

struct Accident;

impl Objective for Accident {
    fn evaluate(&self, question: Question<'_>) -> Result<Outcome, Fault> {
        let junction = Junction::from_numbers(question.values)
            .ok_or_else(|| Fault::Contract("the junction takes one number for each of its axes".into()))?;
        let outcome = junction.run_all();
        Ok(Outcome { signature: outcome.signature(), ..Outcome::of(outcome.danger_m(), outcome.time_s) })
    }
}

fn space() -> Result<Space, Box<dyn std::error::Error>> {
    let axes = JUNCTION_AXES.iter().zip(JUNCTION_RANGES);
    Ok(Space::new(axes.map(|((name, unit), (lo, hi))| Dimension::real(name, unit, lo, hi)).collect())?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let repeats: u64 = words.next().map_or(Ok(50), |word| word.parse())?;
    let first: u64 = words.next().map_or(Ok(5000), |word| word.parse())?;
    let mut methods: Vec<String> = words.collect();
    if methods.is_empty() {
        methods = ["random", "annealing", "auto"].map(str::to_owned).to_vec();
    }
    let space = space()?;
    let layout = space.layout()?;
    let mut kinds: BTreeMap<String, (u64, Vec<f64>)> = BTreeMap::new();
    for name in methods {
        let method = Method::of_name(&name).ok_or_else(|| format!("no method `{name}`"))?;
        let one = |seed: u64| {
            let optimiser = method.build(&layout, Seed(seed), 100).ok()?;
            let report =
                Search::new(&space, &Accident, optimiser, Settings::first(Seed(seed), 100)).ok()?.run_unsaved();
            let found = report.simulations_to_first();
            Some((found, found.and(report.best().map(|best| best.values.clone()))))
        };
        let runs: Vec<_> = (first..first + repeats).into_par_iter().map(one).collect();
        let found = Repeats { to_first: runs.iter().map(|run| run.as_ref().and_then(|run| run.0)).collect() };
        println!(
            "{name:>14}: {:>2} of {repeats} within 100 simulations, mean {:.1}, median {:.0}",
            found.successes(),
            found.mean_simulations().unwrap_or(f64::NAN),
            found.median_simulations().unwrap_or(f64::NAN)
        );
        for numbers in runs.into_iter().flatten().filter_map(|run| run.1) {
            let Some(triage) = Junction::from_numbers(&numbers).and_then(|junction| junction.run_all().triage) else {
                continue;
            };
            let published =
                if triage.is_published_mechanism() { ", twilight, late sign, hidden, similar speed" } else { "" };
            let kind = format!("{}, fault of {}{published}", triage.cause.text(), triage.fault.text());
            kinds.entry(kind).or_insert((0, numbers)).0 += 1;
        }
    }
    for (kind, (times, numbers)) in &kinds {
        println!("{times:>4} × {kind}");
        println!("       {}", space.describe(numbers));
    }
    Ok(())
}
