//! Which hint follows from what.

use anabranch_bridge::Snapshot;
use anabranch_explore::{Keep, Merge, Order, Scope, rollouts_needed};
use anabranch_study::{Conclusion, Coverage, Musts, Resolution, Stop, Unfinished};

use super::work::{Exhaustive, Work};
use super::{Asked, Attempt, Hint, cells};
use crate::explore::facts::Facts;
use crate::explore::settings::Horizon;
use crate::explore::subject::Subject;
use crate::numbers::{count, duration, grouped, short};

/// A limit of errors per run that still has combinations of errors.
const PER_RUN: u16 = 2;
/// A limit helps if it leaves at most this share of the sequences.
const FEWER: f64 = 0.1;
/// A run that has an answer hardly merges if it kept at least this share of the ends,
const HARDLY_MERGES: f64 = 0.5;
/// and took so long that it matters.
const LONG_S: f64 = 10.0;

/// Why merging cannot be trusted.
const WENT_APART: &str = "merged states differ in something that is not compared and matters";

/// Everything that rules look at.
pub struct Desk<'a, S: Subject> {
    facts: &'a Facts<'a, S>,
    asked: &'a Asked,
    work: Work<'a, S>,
}

impl<'a, S: Subject> Desk<'a, S> {
    pub fn new(facts: &'a Facts<'a, S>, asked: &'a Asked) -> Self {
        Self { facts, asked, work: Work::of(facts) }
    }

    /// Every hint that applies, the most useful first.
    pub fn hints(&self) -> Vec<Hint> {
        match &self.facts.conclusion {
            Conclusion::NotReproducible(_) => self.hidden_memory().into_iter().collect(),
            Conclusion::Incomplete(unfinished) => self.unfinished(unfinished),
            Conclusion::NotCovered(coverage) => self.not_covered(coverage),
            Conclusion::NotFound { .. } => self.hardly_merges().into_iter().collect(),
            Conclusion::Violated(_) | Conclusion::Safe(_) | Conclusion::NoPath(_) | Conclusion::NothingToJudge(_) => {
                Vec::new()
            }
        }
    }

    fn unfinished(&self, unfinished: &Unfinished) -> Vec<Hint> {
        match unfinished {
            Unfinished::Stopped(Stop::Time | Stop::States | Stop::Memory) => self.too_much_work(),
            Unfinished::Stopped(Stop::Interrupted) => self.resumed().into_iter().collect(),
            Unfinished::NotJudged { musts } => self.whole_length(musts).into_iter().collect(),
            Unfinished::Resolution(resolution) => self.not_resolved(resolution),
            Unfinished::Parted(_) => {
                vec![self.compared(), self.every_sequence(WENT_APART)].into_iter().flatten().collect()
            }
            Unfinished::Stopped(Stop::FirstFinding | Stop::Other(_))
            | Unfinished::NotConfirmed { .. }
            | Unfinished::NotComputed { .. }
            | Unfinished::NoResult(_) => Vec::new(),
        }
    }

    /// A limit ended it.
    fn too_much_work(&self) -> Vec<Hint> {
        let wider = self.facts.outcome.separator.as_ref().is_some_and(cells::is_wider);
        let separator = || cells::hint(self.facts, self.asked);
        let is_memory = self.facts.drive.whole_memory().is_some();
        let first = if wider || is_memory { separator() } else { None };
        let last = if first.is_none() { separator() } else { None };
        let why = || format!("not all of the {} error sequences were explored", count(self.facts.sequences().count));
        let rules = [self.every_sequence(&why()), self.merged(), first, self.danger_first()].into_iter();
        rules.chain([self.fewer_errors(&why()), self.longer_segments(&why()), last]).flatten().collect()
    }

    fn not_resolved(&self, resolution: &Resolution) -> Vec<Hint> {
        let growth = self.facts.outcome.resolution.as_ref().and_then(|found| found.growth);
        let why = match (growth, resolution.reached) {
            (Some(growth), _) => format!("differences between runs grow {}-fold in a segment", short(growth, 2)),
            (None, Some(_)) => "searches without merging ended too far apart".to_owned(),
            (None, None) => "there was not enough effort for searches without merging".to_owned(),
        };
        let rules = match (growth, resolution.reached) {
            (Some(_), _) => [self.every_sequence(&why), self.shorter(&why), self.fewer_errors(&why)],
            (None, Some(_)) => [self.every_sequence(&why), self.coarser(resolution), self.fewer_errors(&why)],
            (None, None) => [self.without_resolution(), self.every_sequence(&why), self.fewer_errors(&why)],
        };
        rules.into_iter().flatten().collect()
    }

    fn not_covered(&self, coverage: &Coverage) -> Vec<Hint> {
        let why = coverage.words();
        let rules = match coverage {
            Coverage::Unknown { .. } => [self.more_rollouts(&why), self.every_sequence(&why), None],
            _ => [self.every_sequence(&why), self.fewer_errors(&why), self.longer_segments(&why)],
        };
        rules.into_iter().flatten().collect()
    }

    fn every_sequence(&self, why: &str) -> Option<Hint> {
        let every @ Exhaustive { time_s, .. } = self.work.exhaustive()?;
        let sequences = count(self.facts.sequences().count);
        let attempt = Attempt::Command(self.work.command(self.asked, every));
        let effect = format!("every one of the {sequences} error sequences is run, {}", about(time_s));
        Some(Hint { why: why.to_owned(), attempt, effect: Some(effect) })
    }

    /// Only the question whether there is a violation at all.
    fn danger_first(&self) -> Option<Hint> {
        let settings = self.facts.settings;
        if settings.order == Order::Danger || settings.scope == Scope::Frontier || settings.keep == Keep::First {
            return None;
        }
        let typed = self.asked.typed.clone().with("--order", "danger").switched("--stop-on-first");
        Some(Hint {
            why: "is the question only whether there is a violation at all?".to_owned(),
            attempt: Attempt::Command(typed),
            effect: Some("continues the most dangerous states first, and ends at a violation".to_owned()),
        })
    }

    /// Errors in a few segments of a run only.
    fn fewer_errors(&self, why: &str) -> Option<Hint> {
        let levels = self.facts.horizon.levels;
        let all = self.facts.sequences().count;
        let left = self.facts.drive.sequences_with(levels, PER_RUN)?.count * self.facts.drive.space().len() as f64;
        if left > FEWER * all {
            return None;
        }
        let time = self.work.pace().map(|pace| self.work.tree(levels, Some(PER_RUN)) / pace);
        let time = time.filter(|time_s| time_s.is_finite());
        let time = time.map_or_else(String::new, |time_s| format!("; unmerged {}", about(time_s)));
        Some(Hint {
            why: why.to_owned(),
            attempt: Attempt::Command(self.asked.typed.clone().set("errors.per_run", &PER_RUN.to_string())),
            effect: Some(format!(
                "errors in at most {PER_RUN} segments of a run leave {} sequences{time}",
                count(left)
            )),
        })
    }

    /// Errors that last twice as long.
    fn longer_segments(&self, why: &str) -> Option<Hint> {
        let levels = self.facts.horizon.levels;
        if !S::IS_SCENARIO || levels < 4 || !levels.is_multiple_of(2) {
            return None;
        }
        let left = self.facts.drive.sequences(levels / 2).count * self.facts.drive.space().len() as f64;
        let segment_s = short(2.0 * self.facts.drive.segment_seconds(), 6);
        Some(Hint {
            why: why.to_owned(),
            attempt: Attempt::Command(self.asked.typed.clone().set("explore.segment", &format!("{segment_s} s"))),
            effect: Some(format!("errors that change only every {segment_s} s leave {} sequences", count(left))),
        })
    }

    /// Going on where it was interrupted.
    fn resumed(&self) -> Option<Hint> {
        let levels = self.facts.outcome.levels.len();
        if self.facts.settings.order == Order::Danger || levels == 0 {
            return None;
        }
        Some(Hint {
            why: "it was interrupted".to_owned(),
            attempt: Attempt::Command(super::Typed::resuming(self.facts.run.rsplit('/').next().unwrap_or_default())),
            effect: Some(format!("goes on after {levels} whole levels")),
        })
    }

    /// The whole run instead of its beginning.
    fn whole_length(&self, musts: &[String]) -> Option<Hint> {
        if !self.asked.typed.has("--until") {
            return None;
        }
        let segments = self.facts.drive.segments();
        let until_s = short(f64::from(segments) * self.facts.drive.segment_seconds(), 3);
        let names: Vec<String> = musts.iter().map(|id| format!("`{id}`")).collect();
        let sequences = self.facts.drive.sequences(segments).count * self.facts.drive.space().len() as f64;
        Some(Hint {
            why: format!("--until ends the run before {} can be judged", names.join(", ")),
            attempt: Attempt::Command(self.asked.typed.clone().without("--until")),
            effect: Some(format!(
                "runs of {until_s} s judge everything; they have {} error sequences",
                count(sequences)
            )),
        })
    }

    /// A run that ends before differences have grown too much.
    fn shorter(&self, why: &str) -> Option<Hint> {
        let levels = self.facts.outcome.resolution.as_ref()?.levels_within_growth()?;
        if levels == 0 || levels >= self.facts.horizon.levels {
            return None;
        }
        let cut = Horizon { levels, is_shortened: true };
        if matches!(self.facts.drive.musts(cut, self.facts.outcome), Musts::NotJudged(_)) {
            return None;
        }
        let until_s = short(f64::from(levels) * self.facts.drive.segment_seconds(), 6);
        Some(Hint {
            why: why.to_owned(),
            attempt: Attempt::Command(self.asked.typed.clone().with("--until", &format!("{until_s} s"))),
            effect: Some(format!("over {until_s} s they grow little enough for a resolution to be stated")),
        })
    }

    /// The resolution that was reached.
    fn coarser(&self, resolution: &Resolution) -> Option<Hint> {
        let reached = round_up(resolution.reached?);
        if self.asked.cells == super::CellsFrom::Measuring || reached <= resolution.asked {
            return None;
        }
        let depth = if S::IS_SCENARIO { format!("{reached} m") } else { format!("{reached}") };
        Some(Hint {
            why: format!("a resolution of {} was asked for", unit(resolution.asked, &resolution.unit)),
            attempt: Attempt::Command(self.asked.typed.clone().with("--resolution", &depth)),
            effect: Some(format!("this run reached {}", unit(resolution.reached?, &resolution.unit))),
        })
    }

    /// A resolution of requirements that nothing measures.
    fn without_resolution(&self) -> Option<Hint> {
        let is_about_nothing = matches!(self.facts.outcome.about, anabranch_kernel::About::Nothing(_));
        (is_about_nothing && self.asked.typed.has("--resolution")).then(|| Hint {
            why: "nothing measures how narrowly the requirements were met".to_owned(),
            attempt: Attempt::Command(self.asked.typed.clone().without("--resolution")),
            effect: Some("states no resolution".to_owned()),
        })
    }

    fn more_rollouts(&self, why: &str) -> Option<Hint> {
        let (settings, needed) = (self.facts.settings, rollouts_needed(self.facts.settings));
        if u64::from(settings.rollouts) >= needed {
            return None;
        }
        let target = short(100.0 * settings.cover.map_or(anabranch_explore::TARGET_SHARE, |cover| cover.target), 2);
        Some(Hint {
            why: why.to_owned(),
            attempt: Attempt::Command(self.asked.typed.clone().with("--rollouts", &needed.to_string())),
            effect: Some(format!("{} runs show that {target} % stay inside if all of them do", grouped(needed))),
        })
    }

    /// Merging, where it was switched off.
    fn merged(&self) -> Option<Hint> {
        let is_off = self.facts.settings.merge == Merge::None && self.asked.typed.has("--merge");
        is_off.then(|| Hint {
            why: "nothing was merged".to_owned(),
            attempt: Attempt::Command(self.asked.typed.clone().without("--merge")),
            effect: Some("explores states that are alike once".to_owned()),
        })
    }

    /// Memory that branches share.
    fn hidden_memory(&self) -> Option<Hint> {
        let card = self.facts.drive.card()?;
        if !matches!(card.snapshot, Snapshot::Copy | Snapshot::Own) {
            return None;
        }
        Some(Hint {
            why: format!("does {} keep memory in globals, which branches then share?", card.name),
            attempt: Attempt::Command(self.asked.typed.clone().within("ANABRANCH_SNAPSHOT", "fork")),
            effect: Some("saves whole processes, globals included; as `snapshot = \"fork\"` in the class".to_owned()),
        })
    }

    /// What is not compared, as a variable.
    fn compared(&self) -> Option<Hint> {
        self.facts.drive.card().map(|_| Hint {
            why: WENT_APART.to_owned(),
            attempt: Attempt::Key("merge = {\u{2026}, \"NAME\": None}".to_owned()),
            effect: Some(
                "compares the attribute NAME exactly; `Segment(\u{2026}, NAME=\u{2026})` reports it".to_owned(),
            ),
        })
    }

    fn hardly_merges(&self) -> Option<Hint> {
        let is_slow = self.facts.used.explored_wall_s >= LONG_S;
        let is_apart = cells::kept_share(self.facts)? >= HARDLY_MERGES;
        (is_slow && is_apart).then(|| cells::hint(self.facts, self.asked)).flatten()
    }
}

fn about(time_s: f64) -> String {
    if time_s < 1.0 { "in less than a second".to_owned() } else { format!("in about {}", duration(time_s)) }
}

fn unit(value: f64, unit: &str) -> String {
    format!("{} {unit}", round_up(value)).trim_end().to_owned()
}

/// Two digits, not smaller.
fn round_up(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return value;
    }
    let step = 10_f64.powi(value.log10().floor() as i32 - 1);
    let rounded = (value / step - 1e-9).ceil() * step;
    format!("{rounded:.1e}").parse().unwrap_or(rounded)
}

#[cfg(test)]
mod tests {
    use super::round_up;

    #[test]
    fn a_resolution_is_rounded_up_to_two_digits() {
        let expect = [0.013, 0.13, 1.3, 0.1, 99.0, 100.0, 0.0];
        assert_eq!([0.0121, 0.1201, 1.21, 0.1, 98.2, 99.1, 0.0].map(round_up), expect);
    }
}
