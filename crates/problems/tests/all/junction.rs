//! The junction: hard for chance, easier for annealing, and every accident explained.

use std::collections::BTreeMap;

use anabranch_kernel::{Chance, Seed, maths};
use anabranch_problems::{Cause, Instance, JUNCTION_RANGES, Junction, Outcome};

const DIMENSIONS: usize = JUNCTION_RANGES.len();

fn run(numbers: &[f64; DIMENSIONS]) -> Outcome {
    Junction::new(Instance::from_numbers(numbers).unwrap()).run_all()
}

fn random(chance: &Chance) -> [f64; DIMENSIONS] {
    std::array::from_fn(|i| {
        let (lo, hi) = JUNCTION_RANGES[i];
        lo + (hi - lo) * chance.uniform(i as u64)
    })
}

/// Simulations until the first accident, by plain simulated annealing; `None` if there was none within the budget.
fn anneal(seed: u64, budget: u64) -> Option<(u64, [f64; DIMENSIONS])> {
    const FIRST: u64 = 15;
    let chance = Chance::new(Seed(seed), "annealing");
    let mut best = random(&chance.at(0));
    let mut value = run(&best).danger_m();
    for n in 1..=budget {
        if value <= 0.0 {
            return Some((n, best));
        }
        let now = chance.at(n);
        let progress = n as f64 / budget as f64;
        let next = if n < FIRST { random(&now) } else { neighbour(&best, &now, 0.25 * (1.0 - progress) + 0.03) };
        let found = run(&next).danger_m();
        let temperature = if n < FIRST { 0.0 } else { 1.0 - progress };
        if found < value || now.uniform(70) < maths::exp((value - found) / temperature) {
            (best, value) = (next, found);
        }
    }
    None
}

/// Most of the numbers changed.
fn neighbour(from: &[f64; DIMENSIONS], now: &Chance, width: f64) -> [f64; DIMENSIONS] {
    std::array::from_fn(|i| {
        let (lo, hi) = JUNCTION_RANGES[i];
        let is_changed = now.uniform(80 + i as u64) < 0.8;
        let change = if is_changed { (hi - lo) * width * now.normal(100 + i as u64) } else { 0.0 };
        (from[i] + change).clamp(lo, hi)
    })
}

#[test]
fn the_usual_turn_ends_well() {
    let outcome = Junction::default().run_all();
    assert!(outcome.distance_m > 1.0 && outcome.triage.is_none(), "{outcome:?}");
    assert!(outcome.time_s < 20.0, "the turn is completed: {outcome:?}");
}

#[test]
fn chance_seldom_finds_what_annealing_finds() {
    let by_chance = (0..50_u64)
        .filter(|&seed| {
            let chance = Chance::new(Seed(seed), "random");
            (0..100).any(|n| run(&random(&chance.at(n))).distance_m <= 0.0)
        })
        .count();
    let found: Vec<(u64, [f64; DIMENSIONS])> = (0..50_u64).filter_map(|seed| anneal(seed, 100)).collect();
    let needed: Vec<u64> = found.iter().map(|(n, _)| *n).collect();
    let mut causes: BTreeMap<Cause, u32> = BTreeMap::new();
    let mut published = 0;
    for (_, numbers) in &found {
        let triage = run(numbers).triage.expect("an accident");
        *causes.entry(triage.cause).or_default() += 1;
        published += u32::from(triage.is_sign_late && is_twilight(numbers));
    }
    println!("random {by_chance} of 50, annealing {} of 50: {needed:?}", found.len());
    println!("{published} late signs in twilight, {causes:?}");
    assert!(by_chance <= 25, "chance succeeds with {by_chance} of 50 seeds");
    assert!(found.len() >= 45, "annealing succeeds with {} of 50 seeds, chance with {by_chance}", found.len());
    assert!(published > 0 && causes.len() >= 2, "{published} {causes:?}");
}

fn is_twilight(numbers: &[f64; DIMENSIONS]) -> bool {
    (numbers[5] - 390.0).abs() < 80.0 || (numbers[5] - 1110.0).abs() < 80.0
}

#[test]
fn accidents_have_several_causes_and_each_has_one() {
    let chance = Chance::new(Seed(1), "many");
    let mut causes: BTreeMap<Cause, u32> = BTreeMap::new();
    let mut twilight = 0;
    let (mut hits, mut late) = (0, 0);
    for n in 0..40_000 {
        let numbers = random(&chance.at(n));
        let outcome = run(&numbers);
        assert_eq!(outcome.triage.is_some(), outcome.distance_m <= 0.0);
        if let Some(triage) = outcome.triage {
            hits += 1;
            late += u32::from(triage.is_sign_late);
            *causes.entry(triage.cause).or_default() += 1;
            twilight += u32::from(is_twilight(&numbers) && triage.is_sign_late && numbers[10] < 9.0);
        }
    }
    println!("{hits} of 40000, {late} with a late sign, {twilight} in twilight behind the hedge, {causes:?}");
    assert!(causes.len() >= 2, "{causes:?}");
    assert!(twilight > 0, "the published mechanism does not occur");
}
