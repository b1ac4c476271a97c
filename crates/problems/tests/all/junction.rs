//! The junction: hard for chance, and every accident explained.

use std::collections::BTreeMap;

use anabranch_kernel::{Chance, Seed};
use anabranch_problems::{AtFault, Cause, Instance, JUNCTION_RANGES, Junction, Outcome};

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

#[test]
fn the_usual_turn_ends_well() {
    let outcome = Junction::default().run_all();
    assert!(outcome.distance_m > 1.0 && outcome.triage.is_none(), "{outcome:?}");
    assert!(outcome.time_s < 20.0, "the turn is completed: {outcome:?}");
}

#[test]
fn accidents_have_several_causes_and_each_has_one() {
    let chance = Chance::new(Seed(1), "many");
    let mut causes: BTreeMap<Cause, u32> = BTreeMap::new();
    let mut faults: BTreeMap<AtFault, u32> = BTreeMap::new();
    let (mut hits, mut published, mut braked) = (0, 0, 0);
    for n in 0..40_000 {
        let outcome = run(&random(&chance.at(n)));
        assert_eq!(outcome.triage.is_some(), outcome.distance_m <= 0.0);
        if let Some(triage) = outcome.triage {
            hits += 1;
            *causes.entry(triage.cause).or_default() += 1;
            *faults.entry(triage.fault).or_default() += 1;
            published += u32::from(triage.is_published_mechanism());
            braked += u32::from(triage.has_other_braked);
            let has_seen_it_long = triage.believed_s.is_some_and(|believed_s| believed_s > 4.0);
            let is_own_fault = has_seen_it_long && triage.fault == AtFault::Car;
            assert!(!is_own_fault || triage.cause != Cause::Unavoidable, "it saw whom it hit: {triage:?}");
        }
    }
    println!("{hits} of 40000, {published} as published, {braked} although the other braked, {causes:?}, {faults:?}");
    assert!(causes.len() >= 2, "{causes:?}");
    assert!(faults.len() >= 2, "accidents of which the other car is guilty are kept: {faults:?}");
    assert!(published > 0, "the published mechanism does not occur");
    assert!(braked > 0, "nobody saw and braked in vain");
}

/// One accident as published: twilight, behind the hedge, about equally fast.
fn published() -> Junction {
    let chance = Chance::new(Seed(1), "many");
    let found = (0..40_000).map(|n| Junction::new(Instance::from_numbers(&random(&chance.at(n))).unwrap()));
    found
        .into_iter()
        .find(|one| one.run_all().triage.is_some_and(|t| t.is_published_mechanism()))
        .expect("one of 40000")
}

#[test]
fn what_there_is_to_see_at_an_accident_is_both_cars_where_they_touched() {
    let junction = published();
    let states = junction.states();
    assert!(states.last().is_some_and(|state| state.has_hit()) && states.len() < 402);
    let seen = junction.sight(&states).expect("there are states");
    let (own, other) = (seen.own.pose, seen.other.pose);
    let apart_m = ((own[0] - other[0]).powi(2) + (own[1] - other[1]).powi(2)).sqrt();
    assert!(apart_m < 2.0 * seen.half_m[0] + 0.5, "{apart_m}");
    assert!(other[2] == 0.0 && (0.0..=1.6).contains(&own[2]), "one drives east, one turns right into the lane");
    assert_eq!(seen.own.way.len(), states.len().div_ceil(5));
    assert!(seen.light < 0.6, "twilight");
    assert_eq!(Junction::default().sight(&[]), None);
}

#[test]
fn a_blind_corner_becomes_a_zone_of_a_map() {
    let junction = published();
    let note = junction.blind_corner().expect("a hedge hides the lane");
    assert!(note.sees_m > 0.0 && note.sees_m < note.needs_m, "{note:?}");
    let zone = note.map_zone("corner");
    assert!(zone.contains("kind    = \"blind-corner\"") && zone.contains("value   = "), "{zone}");
    // Slow traffic is seen in time.
    let slow = Instance { other_mps: 0.5, hedge_m: 12.0, ..Instance::default() };
    assert_eq!(Junction::new(slow).blind_corner(), None);
}

#[test]
fn the_published_mechanism_takes_all_of_its_parts() {
    // Each remedy alone prevents it: that is what the triage found by running it again.
    let junction = published();
    let by_day = Junction::new(Instance { minute: 720.0, fog: 0.0, ..*junction.instance() });
    let triage = junction.run_all().triage.unwrap();
    if triage.is_dim {
        assert!(by_day.run_all().distance_m > 0.0, "{:?}", by_day.run_all());
    }
    assert!(triage.is_hidden && triage.is_sign_late, "{triage:?}");
}
