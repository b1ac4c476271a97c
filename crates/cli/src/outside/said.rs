//! What is said about a driver from outside: how it keeps states, how its memory counts, how much time it took.

use std::collections::BTreeMap;

use anabranch_bridge::{Snapshot, Support, Times};
use anabranch_scenario::drive::foreign::ForeignDriver;
use serde_json::{Value, json};

use super::Patience;
use crate::numbers::{duration, grouped, short};

/// One sentence: name, states, merging. Text from outside is not yet escaped.
pub fn card_line(driver: &ForeignDriver) -> String {
    let card = driver.card();
    let version = if card.version.is_empty() { String::new() } else { format!(" {}", card.version) };
    let name = format!("{}{version}", card.name);
    format!("{name} from outside, {}; {}", driver.support_words(), driver.merging_words())
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
    let mut text = format!(
        "{} steps took it {}, {} each, at longest {}; {late}",
        grouped(times.steps),
        duration(times.waited_s),
        brief(mean_s(&times)),
        brief(times.longest_step_s),
    );
    if driver.doubled() > 0 {
        text += &format!("; segments run twice: {}", grouped(driver.doubled()));
    }
    if times.restarts > 0 {
        text += &format!("; started again: {}", grouped(times.restarts));
    }
    text
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
    let (card, times) = (driver.card(), driver.times());
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
    json!({
        "name": card.name,
        "version": card.version,
        "support": support,
        "snapshot": snapshot,
        "merging": driver.merging().word(),
        "instances": driver.instances(),
        "steps": times.steps,
        "seconds": times.waited_s,
        "inside_s": times.inside_s,
        "mean_s": mean_s(&times),
        "longest_s": times.longest_step_s,
        "late_steps": times.late_steps,
        "late_share": late_share(&times),
        "latency_budget_s": driver.latency_budget_s(),
        "doubled_segments": driver.doubled(),
        "restarts": times.restarts,
        "faults": driver.faults().len(),
        "faults_by_kind": faults_by_kind(driver),
    })
}
