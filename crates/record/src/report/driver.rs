//! How a driver from outside did: its time, its states, and what it did wrong.

use serde_json::Value;

use super::html::Html;
use super::words::{count, duration, percent, short};

/// A table about the driver, if it came from outside.
pub(super) fn put(out: &mut Html, driver: &Value) {
    if driver.is_null() {
        return;
    }
    let text = |key: &str| driver[key].as_str().unwrap_or("–").to_owned();
    let brief = |key: &str| driver[key].as_f64().map_or_else(|| "–".to_owned(), milliseconds);
    out.markup("<div class=\"scroll\"><table><tbody>\n");
    out.row("driver", &format!("{} {}", text("name"), driver["version"].as_str().unwrap_or("")));
    out.row("states", &states(driver));
    out.row("memory counts by", &text("merging"));
    out.row("instances", &count(&driver["instances"]));
    out.row("steps", &count(&driver["steps"]));
    out.row("its time", &duration(&driver["seconds"]));
    out.row("a step, in the mean", &brief("mean_s"));
    out.row("longest step", &brief("longest_s"));
    out.row(&format!("steps over the budget of {}", brief("latency_budget_s")), &percent(&driver["late_share"]));
    out.row("segments run twice", &count(&driver["doubled_segments"]));
    out.row("started again", &count(&driver["restarts"]));
    for (kind, number) in driver["faults_by_kind"].as_object().into_iter().flatten() {
        out.row(&format!("faults: {kind}"), &count(number));
    }
    out.markup("</tbody></table></div>\n");
}

fn states(driver: &Value) -> String {
    match (driver["support"].as_str(), driver["snapshot"].as_str()) {
        (Some("save"), Some(how)) if how != "none" => format!("saved and loaded ({how})"),
        (Some("save"), _) => "saved and loaded".to_owned(),
        (Some("replay"), _) => "run again from the start for every segment".to_owned(),
        (Some("none"), _) => "started anew for every segment".to_owned(),
        _ => "–".to_owned(),
    }
}

fn milliseconds(seconds: f64) -> String {
    if seconds < 1.0 { format!("{} ms", short(1e3 * seconds, 3)) } else { format!("{} s", short(seconds, 2)) }
}
