//! What an exploration has to say: the numbers behind the text for people and the object for machines.

use anabranch_errors::Sequences;
use anabranch_explore::{LevelReport, Merge, Outcome, Settings, Soundness};
use anabranch_kernel::{Seed, Site};
use anabranch_scenario::Drive;
use anabranch_study::{Conclusion, Evidence};
use serde_json::{Value, json};

use super::causes;
use super::evidence::remark_words;
use super::groups::{Group, TakenOut};
use super::hints::Hint;
use super::pictures;
use super::probability::Likely;
use super::settings::{Horizon, Words};
use super::since::Spared;
use super::subject::Subject;
use crate::exit::Exit;
use crate::load::Loaded;
use crate::outside::Unstable;

/// What the process has used.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    /// Seconds on the wall, findings confirmed and saved.
    pub wall_s: f64,
    /// Of these, for exploring.
    pub explored_wall_s: f64,
    /// CPU seconds for exploring.
    pub explored_cpu_s: Option<f64>,
    /// CPU seconds; `None` where the system does not say.
    pub cpu_s: Option<f64>,
    /// Largest resident memory; `None` where the system does not say.
    pub peak_rss_bytes: Option<u64>,
}

/// What was left undone because the time was over or somebody asked to stop.
#[derive(Clone, Copy, Debug, Default)]
pub struct Undone {
    /// Groups of findings that were confirmed together with others and not once more alone.
    pub confirmed_once: u64,
    /// Groups without traces that would have some.
    pub traces: u64,
    /// Whether pictures are missing.
    pub pictures: bool,
    /// Whether it is not known how likely failures are.
    pub likelihood: bool,
}

impl Undone {
    /// What saving left undone.
    pub fn of(taken_out: &TakenOut) -> Self {
        let (confirmed_once, traces) = (taken_out.confirmed_once, taken_out.without_trace);
        Self { confirmed_once, traces, ..Self::default() }
    }
    /// In words, one clause each.
    pub fn words(&self) -> Vec<String> {
        let counted = |count: u64, what: &str| (count > 0).then(|| format!("{what} of {count} findings"));
        let mut all = Vec::new();
        all.extend(counted(self.confirmed_once, "the second confirmation"));
        all.extend(counted(self.traces, "traces"));
        all.extend(self.likelihood.then(|| "how likely failures are".to_owned()));
        all.extend(self.pictures.then(|| "pictures".to_owned()));
        all
    }
}

/// Everything about one exploration.
#[derive(Debug)]
pub struct Facts<'a, S: Subject = Drive> {
    /// The scenario, or what else the subject comes from.
    pub loaded: &'a S::Source,
    /// Its loop.
    pub drive: &'a S,
    /// How it was explored.
    pub settings: &'a Settings,
    /// How far.
    pub horizon: Horizon,
    /// Seed of all chance.
    pub seed: Seed,
    /// What came out.
    pub outcome: &'a Outcome,
    /// Findings, confirmed and grouped.
    pub groups: &'a [Group],
    /// How many causes they have.
    pub causes: causes::Summary,
    /// What there was no time for.
    pub undone: Undone,
    /// What did not come out the same way again.
    pub unstable: &'a [Unstable],
    /// What the verdict rests on.
    pub evidence: Evidence,
    /// The verdict.
    pub conclusion: Conclusion,
    /// What it took.
    pub used: Used,
    /// The folder of the run, relative.
    pub run: String,
    /// How likely failures are, where the scenario says how likely errors are.
    pub likely: Option<Likely>,
    /// What an earlier run spared this one.
    pub spared: Option<Spared>,
    /// Bytes of segments left for a later run.
    pub remembered_bytes: Option<u64>,
    /// What to try where there is no answer.
    pub hints: Vec<Hint>,
}

impl<S: Subject> Facts<'_, S> {
    /// Confirmed findings, those of random runs included.
    pub fn findings(&self) -> u64 {
        self.evidence.findings.sequences
    }
    /// How the program ends.
    pub fn exit(&self) -> Exit {
        Exit::of_study(&self.evidence, &self.conclusion)
    }

    /// The b of bⁿ.
    pub fn error_choices(&self) -> usize {
        self.drive.errors().len()
    }
    /// Error sequences within the limits of the error model, from every start: bⁿ without limits.
    pub fn sequences(&self) -> Sequences {
        let Sequences { count, is_exact } = self.drive.sequences(self.horizon.levels);
        Sequences { count: self.drive.space().len() as f64 * count, is_exact }
    }
    /// Simulated with saved states.
    pub fn seconds_simulated(&self) -> f64 {
        self.outcome.progress.segments as f64 * self.drive.segment_seconds()
    }
    /// Simulated if every kept path were run from the start.
    pub fn seconds_without_saved_states(&self) -> f64 {
        self.outcome.progress.segments_from_start as f64 * self.drive.segment_seconds()
    }
    /// n·bⁿ: every error sequence run from the start.
    pub fn seconds_without_merging(&self) -> f64 {
        f64::from(self.horizon.levels) * self.drive.segment_seconds() * self.sequences().count
    }
    /// The settings in words.
    pub fn words(&self) -> Words {
        Words::of(self.settings, self.drive.variables())
    }
    /// The object of `anabranch.explore/1`.
    pub fn to_json(&self) -> Value {
        let (outcome, words) = (self.outcome, self.words());
        let mut object = json!({
            "schema": "anabranch.explore/1",
            "scenario": self.drive.name(),
            "digest": outcome.digest.to_string(),
            "complete": self.evidence.is_complete(),
            "levels": outcome.levels.len(),
            "segments": outcome.progress.segments,
            "states": outcome.progress.states,
            "merged": outcome.progress.merged,
            "error_choices": self.error_choices(),
            "findings": self.findings(),
            "finding_groups": self.groups.len(),
            "first_finding_segment": outcome.first_hit,
            "worst_clearance_m": outcome.progress.margin,
            "seconds_simulated": self.seconds_simulated(),
            "seconds_without_saved_states": self.seconds_without_saved_states(),
            "seconds_without_merging": self.seconds_without_merging(),
            "constant_errors_violate": outcome.constant_errors_violate.len(),
            "save_load_share": outcome.profile.save_load_share(),
            "cpu_s": self.used.cpu_s,
            "wall_s": self.used.wall_s,
            "peak_rss_bytes": self.used.peak_rss_bytes,
            "coverage": self.coverage_json(),
            "refinement": self.refinement_json(),
            "soundness": self.soundness_json(),
            "ignored": words.ignored,
            "run": self.run,
            "stop": self.evidence.stop_words(),
            "notes": self.remarks(),
            "explored_cpu_s": self.used.explored_cpu_s,
            "explored_wall_s": self.used.explored_wall_s,
            "goals": outcome.goals,
            "timed_out": outcome.timed_out,
            "should_violated": outcome.note_count,
            "settings": self.settings_json(&words),
            "starts": self.drive.space().len(),
            "sequences": self.sequences().count,
            "error_limits": self.evidence.limits,
            "error_sites": self.sites_json(),
            "level_rows": self.levels_json(),
            "profile": self.profile_json(),
            "groups": self.groups_json(),
        });
        object["resolution"] = self.resolution_json();
        object["not_confirmed"] = json!(self.evidence.unconfirmed);
        object["not_done"] = json!(self.undone.words());
        object["hints"] = self.hints.iter().map(Hint::to_json).collect();
        self.conclusion.write(&mut object);
        causes::add_to(self, &mut object);
        S::add_to(self, &mut object);
        if !self.unstable.is_empty() {
            object["not_reproducible"] = self.unstable.iter().map(|one| one.to_json(self.drive)).collect();
        }
        if let Some(bytes) = self.remembered_bytes {
            object["remembered_bytes"] = json!(bytes);
        }
        object
    }

    /// What a person should know beside the verdict.
    pub fn remarks(&self) -> Vec<String> {
        self.evidence.remarks().iter().map(remark_words::<S>).collect()
    }

    /// Whether there are numbers about what merging missed.
    fn is_measured(&self) -> bool {
        self.outcome.coverage.rollouts > 0 || self.settings.merge == Merge::None
    }

    fn sites_json(&self) -> Value {
        let modes = |site: &Site| site.modes.iter().map(|mode| json!(mode.name)).collect::<Vec<_>>();
        self.drive.errors().sites().iter().map(|site| json!({ "id": site.id, "modes": modes(site) })).collect()
    }

    fn levels_json(&self) -> Value {
        self.outcome.levels.iter().map(level_json).collect()
    }

    fn profile_json(&self) -> Value {
        pictures::shares(self).iter().map(|share| json!({ "name": share.name, "cpu_s": share.cpu_s })).collect()
    }

    fn groups_json(&self) -> Value {
        self.groups.iter().enumerate().map(|(at, group)| group.to_json(at + 1, self.loaded, self.drive)).collect()
    }

    fn soundness_json(&self) -> Value {
        let soundness = &self.outcome.soundness;
        let (kind, needed, found, lambda) = match soundness {
            Soundness::Exhaustive { found } => ("exhaustive", Some(0.0), Some(*found), None),
            Soundness::Proven { needed, found, lambda } => ("proven", Some(*needed), Some(*found), Some(*lambda)),
            Soundness::Estimated { needed, found, lambda, .. } => {
                ("estimated", Some(*needed), Some(*found), Some(*lambda))
            }
            Soundness::Unknown { .. } => ("unknown", None, None, None),
        };
        json!({ "kind": kind, "needed_m": needed, "found_m": found, "lambda": lambda, "why": soundness.why_not() })
    }

    fn coverage_json(&self) -> Value {
        let coverage = &self.outcome.coverage;
        let known = |value: f64| if self.is_measured() { json!(value) } else { Value::Null };
        json!({
            "rollouts": coverage.rollouts,
            "runs_inside": known(coverage.share),
            "runs_inside_low": known(coverage.share_low),
            "runs_inside_high": known(coverage.share_high),
            "worst_missed_m": known(coverage.worst_missed),
            "verdict_disagreements": coverage.disagreements,
            "covered": self.evidence.coverage.is_covered(),
            "unseen_mass": known(coverage.unseen_mass),
            "distribution": "every live choice equally likely at every segment, starts too",
            "draws": coverage.draws,
            "target": coverage.target,
            "joined": coverage.joined,
            "segments": coverage.segments,
        })
    }

    fn resolution_json(&self) -> Value {
        self.outcome.resolution.as_ref().map_or(Value::Null, |resolution| {
            json!({
                "asked": resolution.asked,
                "is_default": resolution.is_default,
                "reached": resolution.reached,
                "is_reached": resolution.is_reached(),
                "closest": resolution.closest,
                "runs": resolution.runs,
                "segments": resolution.segments,
                "why": resolution.why,
            })
        })
    }

    fn refinement_json(&self) -> Value {
        let looks = self.outcome.refinement.iter().map(|look| {
            json!({
                "passes": look.passes,
                "cells_at_risk": look.cells_at_risk,
                "cells_left": look.cells_left,
                "reopened": look.reopened,
                "reopened_by_level": look.reopened_by_level,
                "states": look.states,
                "segments": look.segments,
                "finest": look.finest,
                "end": look.end.words(),
            })
        });
        looks.collect()
    }

    fn settings_json(&self, words: &Words) -> Value {
        let budget = &self.settings.budget;
        json!({
            "scope": words.scope,
            "keep": words.keep,
            "order": words.order,
            "merge": if self.settings.merge == Merge::None { json!("none") } else { json!(words.cells) },
            "merge_every": self.settings.merge_every,
            "refine": self.settings.refine.passes,
            "segment_s": self.drive.segment_seconds(),
            "until_s": f64::from(self.horizon.levels) * self.drive.segment_seconds(),
            "until_is_shortened": self.horizon.is_shortened,
            "seed": self.seed.0,
            "stop_on_first": self.settings.stop_on_first,
            "budget": {
                "time_s": budget.time_ns.map(|ns| ns as f64 * 1e-9),
                "states": budget.states,
                "memory_bytes": budget.memory_bytes,
            },
        })
    }
}

/// One finished level for machines.
pub fn level_json(level: &LevelReport) -> Value {
    json!({
        "level": level.level,
        "segments": level.segments,
        "kept": level.kept,
        "merged": level.merged,
        "goals": level.goals,
        "findings": level.findings,
        "worst_clearance_m": level.margin,
    })
}

/// The same object where there is no path to drive.
pub fn no_path_json(loaded: &Loaded, conclusion: &Conclusion, run: &str) -> Value {
    let mut object = json!({
        "schema": "anabranch.explore/1",
        "scenario": loaded.spec.name.value,
        "digest": null,
        "complete": true,
        "levels": 0,
        "segments": 0,
        "states": 0,
        "merged": 0,
        "error_choices": null,
        "findings": 0,
        "finding_groups": 0,
        "first_finding_segment": null,
        "worst_clearance_m": null,
        "seconds_simulated": 0.0,
        "seconds_without_saved_states": 0.0,
        "seconds_without_merging": 0.0,
        "constant_errors_violate": 0,
        "save_load_share": 0.0,
        "cpu_s": null,
        "wall_s": null,
        "peak_rss_bytes": null,
        "coverage": {
            "rollouts": 0, "runs_inside": null, "runs_inside_low": null, "runs_inside_high": null,
            "worst_missed_m": null, "verdict_disagreements": 0, "covered": null,
        },
        "soundness": null,
        "ignored": [],
        "run": run,
        "stop": conclusion.reason(),
    });
    conclusion.write(&mut object);
    object
}
