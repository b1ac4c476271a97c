//! What `explain` is made of: the story, thresholds of size, the comparison with another driver, files and a picture.

pub mod against;
pub mod files;
pub mod human;
pub mod machine;
pub mod picture;
pub mod runs;
pub mod threshold;

use std::fmt;

use anabranch_explore::explain::{Explanation, Question, Same};
use anabranch_kernel::{Choice, Params, Seed, System, Verdict};
use anabranch_scenario::Drive;

use crate::explore::accident::accident;
use crate::explore::subject::Subject;
use crate::load::Loaded;
use crate::project::Found;
use crate::triage::Triage;
use against::Against;
use files::Files;
use threshold::Threshold;

/// A finding, where it is run.
#[derive(Debug)]
pub struct Case<'a> {
    /// The finding and its file.
    pub found: &'a Found,
    /// Its loop.
    pub drive: &'a Drive,
    /// Seed of all chance.
    pub seed: Seed,
    /// Start values.
    pub params: Params,
    /// The errors that were found.
    pub choices: Vec<Choice>,
    /// Position of the violated requirement.
    pub requirement: u16,
    /// The accident to stay with.
    pub accident: SameAccident<'a>,
}

/// Says whether a run ended with the accident that is asked about.
type IsSame<'a> = Box<dyn Fn(&[Choice], &Verdict) -> bool + Sync + 'a>;

/// The accident that an explanation stays with; any violation of the requirement if there is none.
pub struct SameAccident<'a>(Option<IsSame<'a>>);

impl<'a> SameAccident<'a> {
    /// Any violation of the requirement.
    pub const ANY: Self = Self(None);

    /// Stays with what happens at the end of a path.
    pub fn of<S: Subject>(subject: &'a S, start: usize, choices: &[Choice], verdict: &Verdict) -> Self {
        let wanted = accident(subject, start, choices, verdict);
        Self(Some(Box::new(move |choices, verdict| wanted.is_like(&accident(subject, start, choices, verdict)))))
    }

    /// For a question.
    pub fn same(&self) -> Same<'_> {
        match &self.0 {
            None => Same::Requirement,
            Some(is_same) => Same::Accident(is_same.as_ref()),
        }
    }

    /// For machines.
    pub fn word(&self) -> &'static str {
        if self.0.is_some() { "accident" } else { "requirement" }
    }
}

impl fmt::Debug for SameAccident<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Everything that `explain` found out.
#[derive(Debug)]
pub struct Story<'a> {
    /// What is explained.
    pub case: &'a Case<'a>,
    /// Why it happened.
    pub why: Explanation,
    /// From which size on each error does harm.
    pub thresholds: Vec<Threshold>,
    /// What would have prevented a contact on roads, and whose fault it was.
    pub triage: Option<Triage>,
    /// The same errors with another driver.
    pub against: Option<Against>,
    /// What was written; nothing if the scenario was changed on the command line.
    pub files: Option<Files>,
}

impl Case<'_> {
    /// The scenario as it was read.
    pub fn loaded(&self) -> &Loaded {
        &self.found.loaded
    }
    /// As a question to the system.
    pub fn question(&self) -> Question<'_, Drive> {
        Question {
            system: self.drive,
            seed: self.seed,
            params: &self.params,
            choices: &self.choices,
            requirement: self.requirement,
            same: self.accident.same(),
            segments_max: self.drive.segments() as usize,
        }
    }
    /// When a segment begins.
    pub fn begin_s(&self, segment: usize) -> f64 {
        segment as f64 * self.drive.segment_seconds()
    }
    /// What a person calls an error.
    pub fn error(&self, choice: Choice) -> String {
        self.drive.errors().describe(choice)
    }
    /// Id of the violated requirement.
    pub fn requirement_id(&self) -> &str {
        &self.drive.requirements()[usize::from(self.requirement)]
    }
}
