//! What is said about an accident.

use serde_json::{Value, json};

use super::Triage;
use crate::numbers::short;

/// Name of the zone in its file.
const ZONE: &str = "blind-corner";

impl Triage {
    /// Sentences for people: why and whose fault, and what was known of the other.
    pub fn sentences(&self) -> Vec<String> {
        let prevented: Vec<&str> = self.asked.iter().filter(|(_, is)| *is).map(|(change, _)| change.text()).collect();
        let errors = self.errors.iter().map(|id| format!("`{id}` left out"));
        let prevented: Vec<String> = prevented.into_iter().map(str::to_owned).chain(errors).collect();
        let prevented = match &prevented[..] {
            [] => "no single change prevents it".to_owned(),
            [one] => format!("{one} prevents it"),
            [most @ .., last] => format!("{} or {last} prevents it", most.join(", ")),
        };
        let mechanism = if self.is_published_mechanism() { " (twilight, seen late, similar speeds)" } else { "" };
        let mut out = vec![format!("{}{mechanism}, {}; {prevented}", self.cause.text(), self.fault.text())];
        if let Some(visible_s) = self.visible_s {
            let visible_s = short(visible_s, 2);
            let believed = match self.believed_s {
                Some(believed_s) => format!("believed in for {} s", short(believed_s, 2)),
                None => "not believed in".to_owned(),
            };
            let braked = if self.has_other_braked { "braked" } else { "did not brake" };
            out.push(format!("{} was in line of sight for {visible_s} s, {believed}, and {braked}", self.with));
        }
        out
    }

    /// The zone for a map, if a blind corner was the cause.
    pub fn map_zone(&self) -> Option<String> {
        self.blind_corner.as_ref().map(|note| note.map_zone(ZONE))
    }

    /// For machines.
    pub fn to_json(&self) -> Value {
        let prevented: serde_json::Map<String, Value> =
            self.asked.iter().map(|(change, is)| (change.key().to_owned(), json!(is))).collect();
        json!({
            "cause": self.cause.text(),
            "fault": self.fault.word(),
            "prevented_by": prevented,
            "errors_that_matter": self.errors,
            "with": self.with,
            "visible_s": self.visible_s,
            "believed_s": self.believed_s,
            "other_braked": self.has_other_braked,
            "twilight": self.is_twilight,
            "similar_speed": self.is_similar_speed,
            "published_mechanism": self.is_published_mechanism(),
            "blind_corner": self.map_zone(),
            "sentences": self.sentences(),
        })
    }
}
