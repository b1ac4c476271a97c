//! What `explain` is made of: the story, thresholds of size, the comparison with another driver, files and a picture.

pub mod against;
pub mod files;
pub mod human;
pub mod machine;
pub mod picture;
pub mod runs;
pub mod threshold;

use anabranch_explore::explain::{Explanation, Question};
use anabranch_kernel::{Choice, Params, Seed, System};
use anabranch_scenario::Drive;

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
