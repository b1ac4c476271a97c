//! What is said about a driver from outside: how it keeps states, how its memory counts, how much time it took.

use std::collections::BTreeMap;

use anabranch_bridge::{Card, MergeRule, Snapshot, Support, Times, WorldSystem};
use anabranch_scenario::drive::foreign::ForeignDriver;
use serde_json::{Value, json};

use super::Patience;
use crate::numbers::{duration, grouped, short};

/// One sentence: name, states, merging. Text from outside is not yet escaped.
pub fn card_line(driver: &ForeignDriver) -> String {
    format!("{} from outside, {}; {}", driver.card().title(), driver.support_words(), driver.merging_words())
}

/// One sentence: how much time it took, and what was checked on the way.
pub fn health(driver: &ForeignDriver, patience: Patience) -> String {
    let times = driver.times();
    let share = short(100.0 * late_share(&times), 2);
    let late = match patience {
        Patience::RealTime => format!("{share} % were asked after their time"),
        Patience::Usual | Patience::Endless => {
            format!("{share} % over the budget of {}", brief(driver.latency_budget_s()))
        }
    };
    let mut text = format!("{}; {late}", took(&times, "steps"));
    if driver.doubled() > 0 {
        text += &format!("; segments run twice: {}", grouped(driver.doubled()));
    }
    if driver.run_anew() > 0 {
        text += &format!("; run again in a new instance: {}", grouped(driver.run_anew()));
    }
    text + &started_again(&times)
}

/// How much time so many steps or segments took.
fn took(times: &Times, what: &str) -> String {
    format!(
        "{} {what} took it {}, {} each, at longest {}",
        grouped(times.steps),
        duration(times.waited_s),
        brief(mean_s(times)),
        brief(times.longest_step_s),
    )
}

fn started_again(times: &Times) -> String {
    if times.restarts == 0 { String::new() } else { format!("; started again: {}", grouped(times.restarts)) }
}

/// One sentence about a whole world: name, states, merging.
pub fn world_line(world: &WorldSystem) -> String {
    let card = world.fleet().card();
    format!("{} from outside, {}; merged {}", card.title(), card.support_words(), world.merge_rule().describe())
}

/// One sentence: how much time a world took.
pub fn world_health(world: &WorldSystem) -> String {
    let times = world.fleet().times();
    let odd = match world.incidents().len() {
        0 => String::new(),
        n => format!("; went wrong once and not again from the start: {}", grouped(n as u64)),
    };
    let twice = match world.doubled() {
        0 => String::new(),
        n => format!("; segments run twice: {}", grouped(n)),
    };
    took(&times, "segments") + &twice + &started_again(&times) + &odd
}

/// The same for machines.
pub fn world_json(world: &WorldSystem) -> Value {
    let mut object = card_json(world.fleet().card());
    let times = world.fleet().times();
    object["merging"] = json!(match world.merge_rule() {
        MergeRule::Values => "values",
        MergeRule::Memory => "memory",
        MergeRule::Never => "never",
    });
    object["instances"] = json!(world.fleet().instances());
    object["segments"] = json!(times.steps);
    object["seconds"] = json!(times.waited_s);
    object["inside_s"] = json!(times.inside_s);
    object["longest_s"] = json!(times.longest_step_s);
    object["doubled_segments"] = json!(world.doubled());
    object["restarts"] = json!(times.restarts);
    object["faults"] = json!(world.faults().len());
    object["incidents"] = world.incidents().iter().map(|wrong| json!(wrong.to_string())).collect();
    object
}

/// Where the evidence of faults is.
pub fn faults_line(run: &str) -> String {
    format!("what it did wrong, with input and output: {run}/av-faults")
}

/// Time of a step, in the mean.
fn mean_s(times: &Times) -> f64 {
    times.waited_s / times.steps.max(1) as f64
}

/// Share of steps over their budget.
fn late_share(times: &Times) -> f64 {
    times.late_steps as f64 / times.steps.max(1) as f64
}

/// Small times with a unit that fits.
fn brief(seconds: f64) -> String {
    if seconds < 1e-3 {
        format!("{} µs", short(1e6 * seconds, 1))
    } else if seconds < 1.0 {
        format!("{} ms", short(1e3 * seconds, 1))
    } else {
        format!("{} s", short(seconds, 2))
    }
}

/// Paths on which it did something wrong, as far as they are kept.
fn faults_by_kind(driver: &ForeignDriver) -> BTreeMap<&'static str, u64> {
    let mut kinds = BTreeMap::new();
    driver.faults().iter().for_each(|fault| *kinds.entry(fault.kind.name()).or_default() += 1);
    kinds
}

/// The same for machines.
pub fn health_json(driver: &ForeignDriver) -> Value {
    let times = driver.times();
    let mut object = card_json(driver.card());
    object["merging"] = json!(driver.merging().word());
    object["instances"] = json!(driver.instances());
    object["steps"] = json!(times.steps);
    object["seconds"] = json!(times.waited_s);
    object["inside_s"] = json!(times.inside_s);
    object["mean_s"] = json!(mean_s(&times));
    object["longest_s"] = json!(times.longest_step_s);
    object["late_steps"] = json!(times.late_steps);
    object["late_share"] = json!(late_share(&times));
    object["latency_budget_s"] = json!(driver.latency_budget_s());
    object["doubled_segments"] = json!(driver.doubled());
    object["segments_run_anew"] = json!(driver.run_anew());
    object["restarts"] = json!(times.restarts);
    object["faults"] = json!(driver.faults().len());
    object["faults_by_kind"] = json!(faults_by_kind(driver));
    object
}

/// What code from outside says of itself.
pub fn card_json(card: &Card) -> Value {
    let support = match card.support {
        Support::Save => "save",
        Support::Replay => "replay",
        Support::None => "none",
    };
    let snapshot = match card.snapshot {
        Snapshot::Own => "own",
        Snapshot::Copy => "copy",
        Snapshot::Fork => "fork",
        Snapshot::Memory => "memory",
        Snapshot::FmuState => "fmu-state",
        Snapshot::None => "none",
    };
    json!({ "name": card.name, "version": card.version, "support": support, "snapshot": snapshot })
}
