//! The crosswalk without and with errors.

use anabranch_kernel::{Chance, Seed};
use anabranch_problems::{CROSSWALK_ACTION, CROSSWALK_LIMITS, CROSSWALK_STEPS, Crosswalk};

/// From where the pedestrian starts, the numbers of a step, the step of the hit, then place and speed of the car and x, y of the
/// pedestrian at the end: what the simulator of the authors (AdaptiveStressTestingToolbox, `ToyAVSimulator`) gives for the same input.
type Reference = (f64, fn(usize) -> [f64; CROSSWALK_ACTION], Option<u32>, [f64; 4]);

const REFERENCES: [Reference; 6] = [
    (-4.0, |_| [0.0; 6], Some(30), [-2.03, 7.57, 0.0, -1.0]),
    (-3.5, |_| [0.0; 6], None, [-3.851_965_54, -0.118_561_33, 0.0, 1.5]),
    (-4.0, |_| [-1.0, 1.0, 0.0, 0.0, 0.0, 0.0], None, [-3.715_993_17, 5.900_099_74, -12.4, 12.45]),
    (-4.0, |_| [0.3, -0.2, 0.5, -0.5, 1.0, -1.0], None, [20.85, 11.17, 3.75, -1.5]),
    (-3.5, |i| [0.0, 0.0, 0.0, 0.0, 0.0, if i < 32 { -3.0 } else { 0.0 }], Some(30), [-1.49, 11.17, 0.0, -0.5]),
    (
        -3.0,
        |i| {
            let part = |n: usize, middle: f64, scale: f64| ((i % n) as f64 - middle) / scale;
            [part(7, 3.0, 5.0), part(5, 2.0, 4.0), 0.0, 0.0, part(3, 1.0, 1.0), part(4, 1.5, 1.0)]
        },
        None,
        [-5.259_807_65, 0.690_871_278, -0.395, 1.75],
    ),
];

#[test]
fn runs_end_as_in_the_simulator_of_the_authors() {
    for (n, (start_m, action, hit, expect)) in REFERENCES.into_iter().enumerate() {
        let input: Vec<f64> = (0..CROSSWALK_STEPS).flat_map(action).collect();
        let end = Crosswalk::starting_at(start_m).run_all(&input);
        assert_eq!(end.has_hit.then_some(end.step), hit, "run {n}: {end:?}");
        let found = [end.car[0], end.car[1], end.pedestrian[0], end.pedestrian[1]];
        for (found, expect) in found.iter().zip(expect) {
            assert!((found - expect).abs() < 1e-7, "run {n}: {found} instead of {expect}, {end:?}");
        }
    }
}

#[test]
fn some_noise_and_steps_make_a_hit_and_a_hit_has_a_cost() {
    let crosswalk = Crosswalk::starting_at(-3.5);
    let mut hits = 0;
    for run in 0..2_000 {
        let chance = Chance::new(Seed(3), "crosswalk").at(run);
        // The same error at every step: a pedestrian who is believed elsewhere.
        let action: Vec<f64> =
            (0..CROSSWALK_ACTION).map(|i| CROSSWALK_LIMITS[i] * (2.0 * chance.uniform(i as u64) - 1.0)).collect();
        let input: Vec<f64> = (0..CROSSWALK_STEPS).flat_map(|_| action.clone()).collect();
        let end = crosswalk.run_all(&input);
        let value = crosswalk.evaluate(&input);
        assert_eq!(end.has_hit, value < 0.0);
        assert!(end.cost > 0.0);
        hits += u32::from(end.has_hit);
    }
    assert!(hits > 0, "nobody was hit");
    assert!(hits < 1_000, "{hits} of 2000 were hit");
}
