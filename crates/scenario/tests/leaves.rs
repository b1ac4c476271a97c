//! Every value of the state of every shipped scenario is in its merge key, follows from others, or is declared with a reason.

use anabranch_kernel::contract::{Dose, Fate, check_leaves};
use anabranch_scenario::Drive;

use crate::shipped::scenarios;

/// Random sequences of each scenario; the full dose is in the environment.
fn runs() -> u64 {
    std::env::var("ANABRANCH_LEAVES").ok().and_then(|text| text.parse().ok()).unwrap_or(3)
}

#[test]
fn every_value_of_every_scenario_is_in_the_key() {
    let mut forgotten = Vec::new();
    for (name, mut spec) in scenarios() {
        let whole = spec.explore.segment_s.value;
        // Whole segments, and segments of one base cycle: there held values and phases count as well.
        for (segment_s, length) in [(whole, 12), (spec.world.step_s.value, 400)] {
            spec.explore.segment_s.value = segment_s;
            let drive = Drive::assemble(&spec).unwrap_or_else(|e| panic!("{name}: {e}"));
            let dose = Dose { runs: runs(), length, states: 3, alike: 2 };
            match check_leaves(&drive, dose) {
                Ok(report) => {
                    assert!(report.leaves > 100, "{name}: {report:?}");
                    assert_eq!(report.with(Fate::Ignored), [""; 0], "{name}: nothing is ignored");
                }
                Err(broken) => forgotten.push(format!("{name} with segments of {segment_s} s: {broken}")),
            }
        }
    }
    assert!(forgotten.is_empty(), "{}", forgotten.join("\n"));
}
