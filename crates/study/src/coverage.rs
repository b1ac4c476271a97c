//! How much of all runs was looked at, and how small a violation could have been missed.

use serde::{Deserialize, Serialize};

/// Whether merging lost sight of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Coverage {
    /// Nothing was merged, so nothing could be lost.
    NotNeeded,
    /// Random runs measured it.
    Measured(Share),
    /// Nobody knows: too few random runs, or none. That is never a pass.
    Unknown {
        /// Why it is not known.
        why: String,
    },
    /// A search samples and does not claim to have covered anything.
    NotClaimed {
        /// Simulations it made.
        simulations: u64,
    },
}

/// What random runs measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// Random runs.
    pub runs: u64,
    /// Share of them that stayed inside what was explored.
    pub share: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// The share that is needed.
    pub needed: f64,
    /// Whether that is reached; the explorer has the rule.
    pub is_covered: bool,
}

impl Coverage {
    /// Whether it stands in the way of *not found*.
    pub fn is_enough(&self) -> bool {
        match self {
            Self::NotNeeded | Self::NotClaimed { .. } => true,
            Self::Measured(share) => share.is_covered,
            Self::Unknown { .. } => false,
        }
    }

    /// Whether enough runs stayed inside; nothing where that is not known.
    pub fn is_covered(&self) -> Option<bool> {
        match self {
            Self::NotNeeded => Some(true),
            Self::Measured(share) => Some(share.is_covered),
            Self::Unknown { .. } | Self::NotClaimed { .. } => None,
        }
    }

    /// One clause for people.
    pub fn words(&self) -> String {
        match self {
            Self::NotNeeded => "nothing was merged, so nothing was missed by merging".to_owned(),
            Self::Measured(share) => {
                let only = if share.is_covered { "" } else { "only " };
                let inside = percent(share.share);
                format!("{only}{inside} % of random runs stayed inside what was explored")
            }
            Self::Unknown { why } => why.clone(),
            Self::NotClaimed { .. } => "a search proves nothing".to_owned(),
        }
    }
}

/// How deep a violation could be that was not found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resolution {
    /// What was asked for.
    pub asked: f64,
    /// What was reached; nothing where no bound could be given.
    pub reached: Option<f64>,
    /// Unit of the requirement, as in `m`.
    pub unit: String,
    /// Why it was not reached; empty where it was.
    pub why_not: String,
    /// Requirements that it says nothing about, because nothing measures how narrowly they were met.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

impl Resolution {
    /// Whether the bound is as small as was asked for.
    pub fn is_reached(&self) -> bool {
        self.reached.is_some_and(|reached| reached <= self.asked)
    }

    /// One clause for people.
    pub fn words(&self) -> String {
        let size = |value: f64| size(value, &self.unit);
        if self.is_reached() {
            let unmeasured = match &self.left_out[..] {
                [] => String::new(),
                [_] => format!(" ({} is not measured)", quoted(&self.left_out)),
                many => format!(" ({} are not measured)", quoted(many)),
            };
            return format!("no violation deeper than {}{unmeasured}", size(self.asked));
        }
        let reached = self.reached.map_or_else(|| "no bound".to_owned(), size);
        let why = if self.why_not.is_empty() { String::new() } else { format!(": {}", self.why_not) };
        format!("the resolution of {} was not reached, {reached} was{why}", size(self.asked))
    }
}

/// A depth with its unit; small lengths are in centimetres or millimetres.
fn size(value: f64, unit: &str) -> String {
    let (factor, unit) = match unit {
        "m" if value.abs() < 0.01 => (1000.0, "mm"),
        "m" if value.abs() < 1.0 => (100.0, "cm"),
        other => (1.0, other),
    };
    format!("{} {unit}", significant(factor * value)).trim_end().to_owned()
}

/// Names in a row.
pub(crate) fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A share as percent, without digits that say nothing.
fn percent(share: f64) -> String {
    let text = format!("{:.2}", 100.0 * share);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Three digits are enough for a bound.
pub(crate) fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let digits = (2 - value.abs().log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
