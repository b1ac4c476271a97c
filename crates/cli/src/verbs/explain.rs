//! `explain`: from a finding to its cause.

use std::path::PathBuf;

use anabranch_explore::explain::{ExplainError, Explanation, Limits, Measure, explain};
use anabranch_kernel::{SegmentEnd, System, Verdict};
use clap::Args;

use crate::exit::Exit;
use crate::explain::files::{self, Files};
use crate::explain::runs::record;
use crate::explain::{Case, SameAccident, Story, against, human, machine, picture, threshold};
use crate::explore::candidates::{Candidate, Source};
use crate::explore::world;
use crate::failure::Failure;
use crate::load::{Override, parse_override};
use crate::project::{self, Found};
use crate::screen::{Global, Screen};
use crate::simulate::Plan;
use crate::triage::{self, Triage};

/// Minimise a finding, and say which error at which moment mattered.
#[derive(Args, Debug)]
pub struct Explain {
    /// `last#1`, `FOLDER#2`, or a finding file.
    #[arg(value_name = "FINDING")]
    pub reference: String,
    /// Run the same errors with another driver: a scenario, or a file with the keys that differ.
    #[arg(long, value_name = "OTHER.toml")]
    pub against: Option<PathBuf>,
    /// Accept any violation of the requirement instead of only the accident of the finding.
    #[arg(long)]
    pub any: bool,
    /// Random orders for the shares of more than 8 errors.
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub samples: u32,
    /// Change a value of the scenario, as in ego.start.y="0.1 m"; may be repeated. Nothing is written then.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_override)]
    pub sets: Vec<Override>,
}

impl Explain {
    /// Explains, writes the files beside the finding, and tells.
    pub fn run(&self, global: &Global, screen: &Screen) -> Result<Exit, Failure> {
        if let Some(exit) = world::explain_in_world(self, global, screen)? {
            return Ok(exit);
        }
        let found = project::find(&self.reference, &self.sets)?;
        if let Some(warning) = &found.warning {
            screen.warn(warning);
        }
        let drive = found.loaded.drive()?;
        let mut case = case(&found, &drive, global)?;
        let verdict = check_verdict(&case)?;
        if let (Some(verdict), false) = (verdict, self.any) {
            let start = drive.space().all().iter().position(|params| *params == case.params).unwrap_or(0);
            case.accident = SameAccident::of(drive.as_ref(), start, &case.choices, &verdict);
        }
        let limits =
            Limits { samples: self.samples, measure: measure(&case), threads: global.threads(), ..Limits::default() };
        screen.detail("looking for the smallest error sequence");
        let why = explain(case.question(), &limits).map_err(|error| refused(&case, error))?;
        screen.detail("making errors smaller");
        let thresholds = threshold::find(&case, &why)?;
        screen.detail("asking what would have prevented it");
        let triage = triage(&case, &why)?;
        let against = match &self.against {
            Some(file) => Some(against::compare(&case, &why.minimal.choices, file)?),
            None => None,
        };
        let is_as_found = self.sets.is_empty() && global.seed.is_none();
        let files = is_as_found.then(|| Files::beside(&found.path));
        let story = Story { case: &case, why, thresholds, triage, against, files };
        let object = machine::to_json(&story);
        if let Some(files) = &story.files {
            files::write(files, &story, &object, &picture::why(&case, &story.why)?)?;
        }
        screen.result(|paint| human::text(&story, paint), &object);
        Ok(Exit::Done)
    }
}

/// The finding in today's scenario.
fn case<'a>(found: &'a Found, drive: &'a anabranch_scenario::Drive, global: &Global) -> Result<Case<'a>, Failure> {
    let Plan { seed, params, choices, .. } = Plan::of(found, drive, global.seed)?;
    let id = &found.finding.requirement;
    let known = drive.requirements();
    let Some(requirement) = known.iter().position(|known| known == id) else {
        let message = format!("{}: the scenario has no requirement `{id}` any more", found.path.display());
        return Err(Failure::input(message, format!("it has {}", known.join(", "))));
    };
    let (requirement, accident) = (requirement as u16, SameAccident::ANY);
    Ok(Case { found, drive, seed, params, choices, requirement, accident })
}

/// The smallest sequence run again with one thing changed; nothing if it is no contact on roads.
fn triage(case: &Case<'_>, why: &Explanation) -> Result<Option<Triage>, Failure> {
    let Some(start) = case.drive.space().all().iter().position(|params| *params == case.params) else {
        return Ok(None);
    };
    let choices = why.minimal.choices.clone();
    let candidate = Candidate { source: Source::Explored, start, choices, verdict: why.verdict };
    triage::of(case.loaded(), case.drive, case.seed, &candidate)
}

/// How the finding ends now. With the same text and seed it must end as its file says.
fn check_verdict(case: &Case<'_>) -> Result<Option<Verdict>, Failure> {
    let finding = &case.found.finding;
    let verdict = record(case.drive, case.seed, &case.params, &case.choices)?.verdict;
    if case.seed.0 != finding.seed || case.loaded().hash != finding.scenario_hash {
        return Ok(verdict.filter(|now| now.requirement == case.requirement));
    }
    match verdict {
        Some(now) if now.tick == finding.tick && now.requirement == case.requirement => Ok(verdict),
        now => {
            let then = format!("`{}` on tick {}", finding.requirement, finding.tick);
            let id =
                |v: Verdict| format!("`{}` on tick {}", case.drive.requirements()[usize::from(v.requirement)], v.tick);
            let now = now.map_or_else(|| "without violation".to_owned(), id);
            Err(not_reproducible(format!("the finding does not reproduce: it was {then}, now it ends with {now}")))
        }
    }
}

fn not_reproducible(message: String) -> Failure {
    let help = "`anabranch replay --twice` shows whether two runs are the same".to_owned();
    Failure::Plain { exit: Exit::NotReproducible, message, help }
}

/// Blame for a requirement about clearance is measured in metres, for any other by whether it is violated.
fn measure(case: &Case<'_>) -> Measure {
    let spec = case.loaded().spec.requirements.iter().find(|r| r.id.value == case.requirement_id());
    let about = |signal: &str| spec.is_some_and(|spec| spec.expression.value.contains(signal));
    if about("ego.clearance") || about("ego.contact") { Measure::Margin } else { Measure::Verdict }
}

fn refused(case: &Case<'_>, error: ExplainError) -> Failure {
    match error {
        ExplainError::Fault(fault) => fault.into(),
        ExplainError::NotViolated(end) => {
            let id = case.requirement_id();
            let now = match end {
                SegmentEnd::Goal => "now the manoeuvre is completed",
                SegmentEnd::Violated(_) => "now another requirement is violated",
                SegmentEnd::Open | SegmentEnd::TimedOut => "now its time runs out",
            };
            not_reproducible(format!("the finding does not reproduce: its errors do not violate `{id}`, {now}"))
        }
        error @ ExplainError::NotReproducible { .. } => not_reproducible(error.to_string()),
        error @ ExplainError::Threads(_) => Failure::input(error.to_string(), ""),
    }
}
