//! What is said about a world that was explored.

use std::path::Path;

use anabranch_bridge::{Card, Kind, MergeRule, Misbehaviour, WorldSystem};
use anabranch_explore::Outcome;
use anabranch_kernel::{Choice, Digest, Fault, Params, Recorder, Seed, SegmentEnd, System};
use anabranch_record::{ErrorRun, Finding, RunFolder};
use anabranch_study::Musts;
use serde_json::{Value, json};

use super::Program;
use crate::explore::facts::Facts;
use crate::explore::settings::Horizon;
use crate::explore::subject::{Margin, Subject, WholeMemory};
use crate::failure::Failure;
use crate::outside::{self, Evidence, Unstable};
use crate::project;

impl Subject for WorldSystem {
    type Source = Program;
    type Wishes = ();
    const NOUN: &'static str = "world";
    // What it measures, and in which unit, is known to the world alone.
    const MARGIN: Margin = Margin { name: "margin", unit: "" };

    fn name(&self) -> &str {
        &self.fleet().card().name
    }
    fn step_s(&self) -> f64 {
        self.tick_s()
    }
    fn segments(&self) -> u32 {
        self.segments_max()
    }
    fn hash(source: &Program) -> Digest {
        source.hash
    }
    fn save_source(source: &Program, folder: &RunFolder) -> Result<(), Failure> {
        project::save_origin(folder, &source.path, &[])
    }
    fn name_source(source: &Program, finding: &mut Finding) {
        finding.scenario_file = project::relative(&source.path);
    }
    fn commands(_: &Program, _: &Path) -> Vec<String> {
        ["anabranch replay last#1", "anabranch explain last#1", "anabranch replay last#1 --keep"]
            .map(str::to_owned)
            .into()
    }
    fn musts(&self, _: Horizon, _: &Outcome) -> Musts {
        let why = self.fleet().card().world.as_ref().and_then(|world| world.nothing_to_judge());
        why.map_or(Musts::Judged, |why| Musts::Missing(why.to_owned()))
    }
    fn error_limits(&self) -> Vec<String> {
        let at_once = self.fleet().card().world.as_ref().and_then(|world| world.at_once);
        let limit = at_once.filter(|limit| usize::from(*limit) < self.errors().sites().len());
        limit.into_iter().map(|limit| format!("at most {limit} errors at once")).collect()
    }
    fn card(&self) -> Option<&Card> {
        Some(self.fleet().card())
    }
    fn whole_memory(&self) -> Option<WholeMemory> {
        let variable = self.variables().first().filter(|_| self.merge_rule() != MergeRule::Values)?;
        let example = "merge = {\"integral\": 0.02}";
        Some(WholeMemory { variable: variable.name.clone(), whose: "world", example })
    }
    fn is_outside(&self) -> bool {
        true
    }
    fn gone(&self) -> Option<Fault> {
        let wrong = WorldSystem::gone(self)?;
        Some(Fault::External(format!("the world cannot be started again: {}", wrong.text)))
    }
    fn kind_of(&self, requirement: u16) -> Option<Kind> {
        WorldSystem::kind_of(self, requirement)
    }
    fn fault_text(&self, _: usize, choices: &[Choice]) -> Option<String> {
        self.fault_at(choices).map(|wrong| wrong.text)
    }
    fn write_faults(&self, source: &Program, folder: &RunFolder, seed: Seed) -> Result<(), Failure> {
        let faults = self.faults();
        let evidence = faults.iter().map(|(path, wrong)| evidence(self, source, seed, path, wrong));
        outside::write_evidence(folder, evidence)
    }
    fn parted(&self) -> Option<String> {
        WorldSystem::parted(self)
    }
    fn differences(&self) -> Vec<Unstable> {
        let claims = self.broken_claims().into_iter().map(|claim| Unstable {
            start: 0,
            choices: Vec::new(),
            text: claim.broken.map_or_else(String::new, |wrong| format!("not kept: {} ({wrong})", claim.claim)),
        });
        let again = WorldSystem::differences(self).into_iter();
        let again = again.map(|one| Unstable { start: 0, choices: one.choices, text: one.text });
        again.chain(claims).collect()
    }
    fn not_compared(&self) -> Option<String> {
        WorldSystem::not_compared(self)
    }
    fn run_from_start(
        &self,
        seed: Seed,
        params: &Params,
        choices: &[Choice],
        recorder: Option<&mut dyn Recorder>,
    ) -> Result<(SegmentEnd, usize), Fault> {
        self.straight(seed, params, choices, recorder).map(|run| (run.end, run.segments))
    }
    fn rows(facts: &Facts<'_, Self>) -> Vec<(&'static str, String)> {
        let world = facts.drive;
        let mut rows = vec![("world", outside::world_line(world)), ("its time", outside::world_health(world))];
        if !world.faults().is_empty() {
            rows.push(("faults", outside::faults_line(&facts.run)));
        }
        rows
    }
    fn add_to(facts: &Facts<'_, Self>, object: &mut Value) {
        object["world"] = outside::world_json(facts.drive);
        object["program"] = json!(project::relative(&facts.loaded.path));
        // There is no car that could be clear of something.
        object["worst_margin"] = std::mem::take(&mut object["worst_clearance_m"]);
        for level in object["level_rows"].as_array_mut().into_iter().flatten() {
            level["worst_margin"] = std::mem::take(&mut level["worst_clearance_m"]);
        }
    }
}

fn evidence(world: &WorldSystem, source: &Program, seed: Seed, path: &[Choice], wrong: &Misbehaviour) -> Evidence {
    let mut finding = Finding::new(world.name(), source.hash, world.segment_seconds());
    WorldSystem::name_source(source, &mut finding);
    finding.seed = seed.0;
    finding.errors = ErrorRun::group(world.errors(), path, &[]);
    finding.requirement = format!("driver.{}", wrong.kind.name());
    finding.time_s = path.len() as f64 * world.segment_seconds();
    finding.tick = (finding.time_s / world.tick_s()).round() as u64;
    finding.group = finding.requirement.clone();
    let modes: Vec<&[u8]> = path.iter().map(|choice| world.errors().modes(*choice)).collect();
    let asked = json!({ "seed": seed.0, "modes": modes });
    Evidence { wrong: wrong.clone(), finding, by: world.name().to_owned(), asked: Some(format!("{asked:#}\n")) }
}
