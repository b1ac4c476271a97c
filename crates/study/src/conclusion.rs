//! The verdict: one type with one word, one mark and one sentence each.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::coverage::{Coverage, Resolution, significant};

/// What is concluded. [`crate::conclude`] makes it; everybody else reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "because")]
pub enum Conclusion {
    /// An error sequence violates a requirement; it was run again from the start.
    #[serde(rename = "violated")]
    Violated(Findings),
    /// No error sequence of the error model violates anything.
    #[serde(rename = "safe")]
    Safe(Why),
    /// Everything was explored up to merging, enough of all runs was covered, and nothing was found.
    #[serde(rename = "not found")]
    NotFound {
        /// How deep a violation could be that was missed; nothing where nobody asked.
        resolution: Option<Resolution>,
        /// How much was covered.
        coverage: Coverage,
    },
    /// Nothing was found, and too many runs left what was explored, or nobody knows how many did.
    #[serde(rename = "not covered")]
    NotCovered(Coverage),
    /// Nothing was found, and not everything was looked at.
    #[serde(rename = "incomplete")]
    Incomplete(Unfinished),
    /// The same question was answered in two ways.
    #[serde(rename = "not reproducible")]
    NotReproducible(Unsteady),
    /// The planner found no path to drive.
    #[serde(rename = "no path")]
    NoPath(String),
    /// Nothing is forbidden, so nothing can be concluded.
    #[serde(rename = "nothing to judge")]
    NothingToJudge(String),
}

/// Confirmed error sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Findings {
    /// All of them.
    pub sequences: u64,
    /// Those in which the code under test failed (it raised, hung or crashed) and violated no requirement of its own accord.
    pub faults: u64,
}

impl Findings {
    /// Whether a requirement of the scenario was violated, not only a promise of the code under test.
    pub fn has_accident(&self) -> bool {
        self.sequences > self.faults
    }
}

/// Why *safe* may be said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Why {
    /// What it rests on.
    pub ground: Ground,
    /// Limits of the error model: sequences beyond them were not asked about.
    pub limits: Vec<String>,
}

/// What *safe* rests on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Ground {
    /// Every error sequence was run.
    Exhaustive,
    /// More margin was found everywhere than differences between merged runs can take away.
    Proven {
        /// Margin needed where it is scarcest.
        needed: f64,
        /// Margin found there; nothing where there is nothing to come near.
        found: Option<f64>,
    },
}

/// Why not everything was looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "what", rename_all = "kebab-case")]
pub enum Unfinished {
    /// It was ended.
    Stopped(Stop),
    /// It was ended before what was found could be confirmed.
    NotConfirmed {
        /// How many error sequences were found and not run again from the start.
        findings: u64,
        /// What ended it.
        stop: Stop,
    },
    /// Segments could not be computed.
    NotComputed {
        /// How many.
        segments: u64,
        /// What was found and could not be run again.
        unconfirmed: u64,
        /// Why the code under test is gone for good, where it is.
        gone: Option<String>,
    },
    /// The run was shorter than these requirements.
    NotJudged {
        /// Their names.
        musts: Vec<String>,
    },
    /// States were merged that differ in something that is not compared and that changes what happens.
    Parted(String),
    /// The bound on what was missed is larger than was asked for.
    Resolution(Resolution),
    /// There is no result, or only what an older version says about it.
    NoResult(String),
}

/// What ended it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "what", rename_all = "kebab-case")]
pub enum Stop {
    /// The time budget.
    Time,
    /// The budget of states.
    States,
    /// The memory budget.
    Memory,
    /// Somebody asked to stop.
    Interrupted,
    /// The first finding was enough.
    FirstFinding,
    /// Something else, in words.
    Other(String),
}

/// What came out in two ways.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Unsteady {
    /// How many error sequences did.
    pub cases: u64,
    /// The first of them, in words.
    pub first: String,
}

/// How a conclusion is shown: one per conclusion, so that no page and no list disagrees with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// A pass.
    Good,
    /// A failure.
    Bad,
    /// Neither: nobody shall read a pass into it.
    Open,
}

impl Tone {
    /// A mark, so that colour never stands alone.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Good => "\u{2713}",
            Self::Bad => "\u{2717}",
            Self::Open => "?",
        }
    }
    /// Class in pages.
    pub fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Open => "open",
        }
    }
}

impl Conclusion {
    /// Its word, the same everywhere.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Violated(_) => "violated",
            Self::Safe(_) => "safe",
            Self::NotFound { .. } => "not found",
            Self::NotCovered(_) => "not covered",
            Self::Incomplete(_) => "incomplete",
            Self::NotReproducible(_) => "not reproducible",
            Self::NoPath(_) => "no path",
            Self::NothingToJudge(_) => "nothing to judge",
        }
    }

    /// How it is shown.
    pub fn tone(&self) -> Tone {
        match self {
            Self::Safe(_) | Self::NotFound { .. } => Tone::Good,
            Self::Violated(_) | Self::NotReproducible(_) | Self::NoPath(_) => Tone::Bad,
            Self::NotCovered(_) | Self::Incomplete(_) | Self::NothingToJudge(_) => Tone::Open,
        }
    }

    /// Whether everything was looked at and nothing was found.
    pub fn is_pass(&self) -> bool {
        self.tone() == Tone::Good
    }

    /// Which of two is the better result for a driver: smaller is better.
    pub fn rank(&self) -> u8 {
        match self {
            Self::Safe(_) => 0,
            Self::NotFound { .. } => 1,
            Self::NotCovered(_) | Self::Incomplete(_) | Self::NothingToJudge(_) => 2,
            Self::Violated(_) => 3,
            Self::NotReproducible(_) | Self::NoPath(_) => 4,
        }
    }

    /// The reason as a clause for people; empty where the word says it all.
    pub fn reason(&self) -> String {
        match self {
            Self::Violated(_) => String::new(),
            Self::Safe(why) => why.to_string(),
            Self::NotFound { coverage, .. } | Self::NotCovered(coverage) => coverage.words(),
            Self::Incomplete(unfinished) => unfinished.to_string(),
            Self::NotReproducible(unsteady) => unsteady.first.clone(),
            Self::NoPath(why) | Self::NothingToJudge(why) => why.clone(),
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ground {
            Ground::Exhaustive => write!(f, "every one was run, none was merged")?,
            Ground::Proven { needed, found } => {
                let needed = significant(needed);
                match found {
                    Some(found) => write!(f, "clearance {} m everywhere, {needed} m needed", significant(found))?,
                    None => write!(f, "nothing near, a clearance of {needed} m needed")?,
                }
            }
        }
        if self.limits.is_empty() { Ok(()) } else { write!(f, "; with {}", self.limits.join(" and ")) }
    }
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped(stop) => write!(f, "{stop}"),
            Self::NotConfirmed { findings: 1, stop } => write!(f, "{stop} before 1 violation could be confirmed"),
            Self::NotConfirmed { findings, stop } => {
                write!(f, "{stop} before {findings} violations could be confirmed")
            }
            Self::NotComputed { segments, unconfirmed, gone } => {
                write!(f, "{segments} segments could not be computed")?;
                if *unconfirmed > 0 {
                    write!(f, " and {unconfirmed} findings not confirmed")?;
                }
                gone.as_ref().map_or(Ok(()), |why| write!(f, ": {why}"))
            }
            Self::NotJudged { musts } => {
                let names: Vec<String> = musts.iter().map(|id| format!("`{id}`")).collect();
                let (is, it) = if musts.len() == 1 { ("was", "it") } else { ("were", "they") };
                write!(f, "{} {is} not judged: the run ends before {it} could be", names.join(", "))
            }
            Self::Parted(pair) => write!(f, "merged states went apart: {pair}"),
            Self::Resolution(resolution) => write!(f, "{}", resolution.words()),
            Self::NoResult(why) => write!(f, "{why}"),
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::Time => "the time budget was used up",
            Self::States => "the budget of states was used up",
            Self::Memory => "the memory budget was used up",
            Self::Interrupted => "it was interrupted",
            Self::FirstFinding => "the first finding was enough",
            Self::Other(words) => words,
        };
        write!(f, "{words}")
    }
}
