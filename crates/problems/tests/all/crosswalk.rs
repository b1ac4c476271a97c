//! The crosswalk without and with errors.

use anabranch_kernel::{Chance, Seed};
use anabranch_problems::{CROSSWALK_ACTION, CROSSWALK_LIMITS, CROSSWALK_STEPS, Crosswalk};

#[test]
fn without_errors_the_car_stops_for_a_pedestrian_whom_it_can_stop_for() {
    let end = Crosswalk::starting_at(-2.5).run_all(&[]);
    assert!(!end.has_hit && end.cost == 0.0, "{end:?}");
    assert_eq!(end.step as usize, CROSSWALK_STEPS);
    // From the published place he steps out 6 m before the car, which needs 7.
    let published = Crosswalk::default().run_all(&[]);
    assert!(published.has_hit && published.cost == 0.0, "{published:?}");
}

#[test]
fn some_noise_and_steps_make_a_hit_and_a_hit_has_a_cost() {
    let crosswalk = Crosswalk::starting_at(-2.5);
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
