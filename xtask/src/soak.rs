//! The full doses of the tests behind `docs/trust.md`: what every change runs a little of, for as long as it takes.

use crate::runner;
use crate::steps::tests;

/// One campaign: a test that takes its dose from the environment.
struct Campaign {
    name: &'static str,
    package: &'static str,
    binary: &'static str,
    test: &'static str,
    /// Variables of the environment with their values.
    dose: &'static [(&'static str, &'static str)],
}

const CAMPAIGNS: [Campaign; 13] = [
    Campaign {
        name: "families",
        package: "anabranch-explore",
        binary: "explorer",
        test: "verdicts_state_a_resolution_that_holds",
        dose: &[("ANABRANCH_FAMILY_SET", "all"), ("ANABRANCH_FAMILY_WORLDS", "100")],
    },
    Campaign {
        name: "families",
        package: "anabranch-cli",
        binary: "anabranch",
        test: "worlds_in_python_state_a_resolution_that_holds",
        dose: &[("ANABRANCH_FAMILY_WORLDS", "120")],
    },
    Campaign {
        name: "cells",
        package: "anabranch-cli",
        binary: "anabranch",
        test: "verdicts_of_shipped_scenarios_do_not_depend_on_their_cells",
        dose: &[("ANABRANCH_SHIPPED_CELLS", "1")],
    },
    Campaign {
        name: "verdicts",
        package: "anabranch-scenario",
        binary: "closed_loop",
        test: "verdicts_agree_with_the_exhaustive_truth",
        dose: &[("ANABRANCH_WORLDS", "10000")],
    },
    Campaign {
        name: "kills",
        package: "anabranch-cli",
        binary: "anabranch",
        test: "killed_at_any_moment_a_run_goes_on_to_the_same_result",
        dose: &[("ANABRANCH_KILLS", "1000")],
    },
    Campaign {
        name: "bits",
        package: "anabranch-cli",
        binary: "anabranch",
        test: "a_thousand_flipped_bits_are_noticed",
        dose: &[("ANABRANCH_BITS", "10000")],
    },
    Campaign {
        name: "budgets",
        package: "anabranch-cli",
        binary: "anabranch",
        test: "limits_hold_whatever_is_slow_and_whatever_is_being_done",
        dose: &[("ANABRANCH_BUDGETS", "1")],
    },
    Campaign {
        name: "faults",
        package: "anabranch-cli",
        binary: "anabranch",
        test: "disk_faults::a_fault",
        dose: &[("ANABRANCH_FAULTS_EVERY", "1")],
    },
    Campaign {
        name: "twice",
        package: "anabranch-bridge",
        binary: "bridge",
        test: "a_world_that_differs_in_one_of_a_thousand_segments_is_caught",
        dose: &[("ANABRANCH_TRIALS", "200")],
    },
    Campaign {
        name: "models",
        package: "anabranch-language",
        binary: "fuzz",
        test: "reading_and_formatting_damaged_models",
        dose: &[("ANABRANCH_FUZZ_ROUNDS", "10000000")],
    },
    Campaign {
        name: "extremes",
        package: "anabranch-scenario",
        binary: "closed_loop",
        test: "extreme_numbers_end_with_an_error_or_a_bounded_run",
        dose: &[("ANABRANCH_EXTREMES_EVERY", "1")],
    },
    Campaign {
        name: "twin",
        package: "anabranch-scenario",
        binary: "closed_loop",
        test: "an_exploration_by_a_model_is_that_of_its_twin",
        dose: &[("ANABRANCH_LEVELS", "22")],
    },
    Campaign {
        name: "leaves",
        package: "anabranch-scenario",
        binary: "closed_loop",
        test: "every_value_of_every_scenario_is_in_the_key",
        dose: &[("ANABRANCH_LEAVES", "200")],
    },
];

/// Runs every campaign, or the one named.
pub fn run(name: Option<&str>) -> Result<(), String> {
    let chosen: Vec<&Campaign> = CAMPAIGNS.iter().filter(|c| name.is_none_or(|name| name == c.name)).collect();
    if chosen.is_empty() {
        let mut names: Vec<&str> = CAMPAIGNS.iter().map(|campaign| campaign.name).collect();
        // A campaign in several parts has one name.
        names.dedup();
        return Err(format!("there is no such campaign; there are {}", names.join(", ")));
    }
    for campaign in chosen {
        let Campaign { name, package, binary, test, dose } = campaign;
        let shown: Vec<String> = dose.iter().map(|(variable, value)| format!("{variable}={value}")).collect();
        eprintln!("── {name}: {}", shown.join(" "));
        let selection = ["--release", "--package", package, "--test", binary, test];
        let report = runner::run(tests(&selection).envs(dose.iter().copied()).env("NEXTEST_NO_CAPTURE", "1"));
        if let Some(problem) = report.problem {
            return Err(format!("{name}: {problem}"));
        }
    }
    Ok(())
}
