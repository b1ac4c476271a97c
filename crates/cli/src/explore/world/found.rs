//! A finding of a world, with its program started again.

use std::path::{Path, PathBuf};

use anabranch_bridge::WorldSystem;
use anabranch_kernel::{Choice, Seed, SegmentEnd, System};
use anabranch_record::Finding;

use super::Program;
use crate::failure::Failure;
use crate::outside::Patience;
use crate::project;
use crate::screen::Global;

/// A finding of a world, ready to be run.
#[derive(Debug)]
pub struct FoundInWorld {
    /// Where it lies.
    pub path: PathBuf,
    /// What it says.
    pub finding: Finding,
    /// Its program, as it is today.
    pub program: Program,
    /// The program, running.
    pub world: WorldSystem,
    /// Seed of all chance.
    pub seed: Seed,
    /// The error of every segment.
    pub choices: Vec<Choice>,
}

impl FoundInWorld {
    /// Starts what a finding was found in; nothing if that is no world.
    ///
    /// # Errors
    /// When there is no such finding, or its program does not start or is another one now.
    pub fn open(reference: &str, global: &Global, patience: Patience) -> Result<Option<Self>, Failure> {
        let path = project::finding_path(reference)?;
        let finding = project::read_finding(&path)?;
        if !project::names_program(&finding) {
            return Ok(None);
        }
        let program = Program::open(Path::new(&finding.scenario_file))?;
        let instances = if patience == Patience::Endless { 1 } else { global.threads() };
        let world = program.start(instances, patience)?;
        project::check_segments(&finding, &world)?;
        let choices = project::in_file(&path, finding.choices(world.errors()))?;
        let seed = Seed(global.seed.unwrap_or(finding.seed));
        Ok(Some(Self { path, finding, program, world, seed, choices }))
    }

    /// What to tell people if the program is another one now.
    pub fn warning(&self) -> Option<String> {
        (self.program.hash != self.finding.scenario_hash)
            .then(|| format!("`{}` has changed since this was found; replaying anyway", self.finding.scenario_file))
    }

    /// The errors of the finding, and none from then on until the world's time is over.
    pub fn whole_run(&self) -> Vec<Choice> {
        let mut choices = self.choices.clone();
        choices.resize(choices.len().max(self.world.segments_max() as usize), Choice::NONE);
        choices
    }

    /// The requirement that an end violates first, with its tick.
    pub fn violated(&self, end: &SegmentEnd) -> Option<(&str, u64)> {
        let verdict = crate::simulate::first_verdict(end)?;
        Some((self.world.requirements()[usize::from(verdict.requirement)].as_str(), verdict.tick))
    }
}
