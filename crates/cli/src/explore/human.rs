//! The result of an exploration for people.

use std::fmt::Write as _;
use std::path::Path;

use anabranch_explore::{Merge, Refinement, Soundness};
use anabranch_kernel::About;
use anabranch_study::{Conclusion, Unfinished};

use super::candidates::Source;
use super::cells;
use super::facts::Facts;
use super::groups::{CauseOf, FOLDERS_MAX, Group, TRACES_MAX, shown};
use super::hints;
use super::probability;
use super::subject::Subject;
use crate::errors_table::ErrorsTable;
use crate::escape::escape;
use crate::load::Loaded;
use crate::numbers::{bytes, count, duration, grouped, raised, short};
use crate::outside;
use crate::project;
use crate::rows;
use crate::screen::Paint;

/// Most error sequences that are shown although they did not come out the same way again.
const UNSTABLE_SHOWN: usize = 3;

/// The whole text.
pub fn text<S: Subject>(facts: &Facts<'_, S>, paint: &Paint) -> String {
    let mut out = headline(facts, paint);
    out += &not_reproducible(facts, paint);
    if !facts.groups.is_empty() {
        out += &findings(facts, paint);
        out += &commands(facts, paint);
    }
    out += &S::text(facts, paint);
    out += &summary(facts, paint);
    out += &hints::text(&facts.hints, paint);
    out
}

fn headline<S: Subject>(facts: &Facts<'_, S>, paint: &Paint) -> String {
    let name = paint.bold(&escape(facts.drive.name()));
    let conclusion = &facts.conclusion;
    let (word, reason) = (paint.toned(conclusion.tone(), conclusion.word()), escape(&conclusion.reason()));
    let within = format!("{} s", short(f64::from(facts.horizon.levels) * facts.drive.segment_seconds(), 3));
    let sequences = format!("in any error sequence of {within}{}", shortened(facts));
    match conclusion {
        Conclusion::Violated(findings) => {
            let n = findings.sequences;
            let segments =
                if n == 1 { "1 error sequence".to_owned() } else { format!("{} error sequences", count(n as f64)) };
            let causes = match facts.causes.causes {
                0 => String::new(),
                1 => " of 1 cause".to_owned(),
                many => format!(" of {many} causes"),
            };
            let stop = facts.evidence.stop_words();
            let why = if stop.is_empty() { String::new() } else { format!(" ({})", escape(&stop)) };
            let faults = if findings.has_accident() { "" } else { "; each is a fault of the code under test" };
            format!("{name}: {word}, by {segments}{causes}{why}{faults}\n")
        }
        Conclusion::NotReproducible(_) => {
            format!("{name}: {word}; the same question was answered in two ways, which is no pass\n")
        }
        Conclusion::Incomplete(Unfinished::NotConfirmed { .. }) => {
            format!("{name}: {word} ({reason}), which is no pass; `anabranch explore --resume` goes on\n")
        }
        Conclusion::Incomplete(_) => format!("{name}: {word} ({reason}); nothing found so far, which is no pass\n"),
        Conclusion::Safe(_) => {
            let safe = paint.toned(conclusion.tone(), "safe inside the error model");
            format!("{name}: {safe}: {reason}, {sequences}\n")
        }
        Conclusion::NotFound { resolution, .. } => {
            let up_to = if facts.settings.merge == Merge::None { "" } else { ", up to merging" };
            let depth = resolution.as_ref().map_or_else(String::new, |resolution| format!("; {}", resolution.words()));
            format!("{name}: {word} {sequences}{up_to}{depth}\n")
        }
        Conclusion::NotCovered(_) => {
            format!("{name}: {word}: {reason}; nothing found {sequences}, which is no pass\n")
        }
        Conclusion::NoPath(_) | Conclusion::NothingToJudge(_) => {
            format!("{name}: {word}: {reason}; which is no pass\n")
        }
    }
}

/// What was found once and not again, at most a few.
fn not_reproducible<S: Subject>(facts: &Facts<'_, S>, paint: &Paint) -> String {
    let mut out = String::new();
    for one in facts.unstable.iter().take(UNSTABLE_SHOWN) {
        let head = paint.bold(&format!("not reproducible: {}", escape(&one.text)));
        let table = ErrorsTable::of_choices(facts.drive.errors(), &one.choices, facts.drive.segment_seconds());
        let _ = write!(out, "\n{head}\n{}", table.human("   "));
    }
    let more = facts.unstable.len().saturating_sub(UNSTABLE_SHOWN);
    if more > 0 {
        let _ = writeln!(out, "\n{more} more were not reproducible either.");
    }
    out
}

fn shortened<S: Subject>(facts: &Facts<'_, S>) -> String {
    if facts.horizon.is_shortened { format!(", shorter than the {}", S::NOUN) } else { String::new() }
}

/// How far from *safe* the exploration is.
fn proof<S: Subject>(facts: &Facts<'_, S>) -> String {
    let metres = |value: f64| short(value, 3);
    match &facts.outcome.soundness {
        Soundness::Estimated { needed, found, why, .. } => {
            let left = metres(found - needed);
            format!(
                "estimated margin {left} m: {} m found, {} m needed; not proven: {why}",
                metres(*found),
                metres(*needed)
            )
        }
        soundness => format!("not proven: {}", soundness.why_not().unwrap_or("nobody asked")),
    }
}

fn findings<S: Subject>(facts: &Facts<'_, S>, paint: &Paint) -> String {
    let mut out = String::new();
    let shown = shown(facts.groups);
    for (at, group) in shown.iter().enumerate() {
        out += &one_group(facts, paint, at + 1, group);
    }
    let is_own = |group: &&Group| group.cause.as_ref().is_none_or(|cause| !cause.is_mirrored);
    let more = facts.groups.iter().filter(is_own).count() - shown.len();
    if more > 0 {
        let _ = writeln!(out, "\n{more} more causes are in {}/findings and in the machine output.", escape(&facts.run));
    }
    if facts.causes.unassigned > 0 {
        let why = facts.causes.why.as_deref().map_or_else(String::new, |why| format!(": {}", escape(why)));
        let _ = writeln!(out, "\n{} findings not assigned to a cause{why}", grouped(facts.causes.unassigned));
    }
    if facts.groups.len() > FOLDERS_MAX {
        let _ = writeln!(out, "The first {FOLDERS_MAX} groups have a folder, the others are only counted.");
    }
    if facts.groups.len() > TRACES_MAX {
        let _ = writeln!(
            out,
            "The first {TRACES_MAX} have a trace.csv and a trace.mcap; `anabranch replay last#N --trace F.mcap` writes others."
        );
    }
    out
}

fn one_group<S: Subject>(facts: &Facts<'_, S>, paint: &Paint, number: usize, group: &Group) -> String {
    let verdict = &group.first.verdict;
    let id = escape(&facts.drive.requirements()[usize::from(verdict.requirement)]);
    let time = short(verdict.tick as f64 * facts.drive.step_s(), 3);
    let place = facts.drive.place_words(facts.loaded, verdict.place.as_ref());
    let alike = if group.count > 1 { format!(" ({} alike)", count(group.count as f64)) } else { String::new() };
    let source = match group.first.source {
        Source::Explored => "",
        Source::Constant => ", found by holding one error",
        Source::Rollout => ", found by a random run",
        Source::Shadow => ", found by a search without merging",
        Source::Likely => ", found by looking for likely failures",
        Source::Searched => ", found by a search",
    };
    let head = format!("#{number} `{id}` after {time} s{place}{alike}{source}");
    let fault = facts.drive.fault_text(group.first.start, &group.first.choices);
    let said = fault.map_or_else(String::new, |text| format!("   {}\n", escape(&text.replace('\n', " "))));
    let cause = group.cause.as_ref().map_or_else(String::new, |cause| cause_lines(facts, cause));
    format!("\n{}\n{said}{}{cause}", paint.bold(&head), group.table(facts.drive).human("   "))
}

/// What the findings of a cause share, and where its mirror image is.
fn cause_lines<S: Subject>(facts: &Facts<'_, S>, cause: &CauseOf) -> String {
    let mut out = match (cause.kinds.is_empty(), cause.is_minimal) {
        (true, _) => "   it happens without any error\n".to_owned(),
        (false, true) => format!("   each error is needed; cause: {}\n", escape(&cause.sentence())),
        (false, false) => format!("   as found, not minimal; cause: {}\n", escape(&cause.sentence())),
    };
    for (at, image) in facts.groups.iter().enumerate() {
        if image.cause.as_ref().is_some_and(|other| other.is_mirrored && other.number == cause.number) {
            let place = facts.drive.place_words(facts.loaded, image.first.verdict.place.as_ref());
            let _ = writeln!(out, "   mirror image: #{}{place} ({} alike)", at + 1, count(image.count as f64));
        }
    }
    out
}

fn commands<S: Subject>(facts: &Facts<'_, S>, paint: &Paint) -> String {
    let Some(file) = facts.groups.iter().find_map(|group| group.file.as_ref()) else { return String::new() };
    let lines: String =
        S::commands(facts.loaded, file).iter().map(|line| format!("  {}\n", paint.cyan(&escape(line)))).collect();
    format!("\nSee it again\n{lines}")
}

/// Ways to see a finding of a scenario again.
pub fn commands_of_scenario(loaded: &Loaded, finding: &Path) -> Vec<String> {
    let sets: String = loaded.overrides.iter().map(|(key, value)| format!(" --set '{key}={value}'")).collect();
    let scenario = project::relative(&loaded.path);
    let run = format!("anabranch run {scenario}{sets} --errors {}", project::relative(finding));
    let replay = "anabranch replay last#1".to_owned();
    vec![replay, "anabranch explain last#1".to_owned(), run.clone(), format!("{run} --trace trace.mcap")]
}

fn summary<S: Subject>(facts: &Facts<'_, S>, paint: &Paint) -> String {
    let mut out = "\n".to_owned();
    let mut row = |name: &str, text: String| {
        out += &rows::row(paint, name, &text);
    };
    row("explored", explored(facts));
    if !facts.evidence.limits.is_empty() {
        row("limits", format!("{}; other sequences are not part of the error model", facts.evidence.limits.join(", ")));
    }
    row("simulated", simulated(facts));
    row("alike", alike(facts));
    row("rules", rules(facts));
    row("left out", left_out(facts));
    let undone = facts.undone.words();
    if !undone.is_empty() {
        row("not done", format!("for want of time: {}", undone.join(", ")));
    }
    row("coverage", coverage(facts));
    resolution(facts).into_iter().for_each(|text| row("resolution", text));
    for look in &facts.outcome.refinement {
        row("closer", closer(facts, look));
    }
    row("constant", constant(facts));
    if matches!(facts.conclusion, Conclusion::NotFound { .. } | Conclusion::NotCovered(_)) {
        row("proof", proof(facts));
    }
    if let Soundness::Proven { lambda, .. } = facts.outcome.soundness {
        row("proof", format!("differences shrink to {} of their size per segment at most", short(lambda, 2)));
    }
    if facts.outcome.progress.margin.is_finite() {
        let worst = short(facts.outcome.progress.margin, 3);
        row(S::MARGIN.name, format!("worst {worst}{}", S::MARGIN.unit));
    }
    for remark in facts.remarks() {
        row("note", remark);
    }
    if facts.outcome.note_count > 0 {
        row("should", format!("violated in {} segments (reported only)", count(facts.outcome.note_count as f64)));
    }
    S::rows(facts).into_iter().for_each(|(name, text)| row(name, text));
    row("cost", cost(facts));
    row("run", format!("{} (digest {})", facts.run, facts.outcome.digest));
    out
}

/// Rows that only scenarios have.
pub fn rows_of_scenario(facts: &Facts<'_>) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    rows.extend(facts.likely.as_ref().map(|likely| ("likely", probability::sentence(likely))));
    rows.extend(facts.spared.as_ref().map_or_else(Vec::new, |spared| spared.rows(facts.drive)));
    if let Some(size) = facts.remembered_bytes {
        rows.push(("remembered", format!("{} of segments, for `explore --since {}`", bytes(size), facts.run)));
    }
    if let Some(driver) = facts.drive.foreign() {
        rows.push((driver.word(), outside::card_line(driver)));
        rows.push(("its time", outside::health(driver, facts.loaded.patience)));
        if !driver.faults().is_empty() {
            rows.push(("faults", outside::faults_line(&facts.run)));
        }
    }
    rows
}

fn explored<S: Subject>(facts: &Facts<'_, S>) -> String {
    let (b, n) = (facts.error_choices(), facts.horizon.levels);
    let starts = facts.drive.space().len();
    let times = if starts > 1 { format!("{starts} starts × ") } else { String::new() };
    let (progress, sequences) = (&facts.outcome.progress, facts.sequences());
    let whole = format!("{times}{b}{}", raised(&n.to_string()));
    let power = starts as f64 * (b as f64).powi(n as i32);
    let paths = match (sequences.is_exact, sequences.count < power) {
        (true, false) => format!("= bⁿ = {whole} = {}", count(sequences.count)),
        (true, true) => format!("= {} of bⁿ = {whole}", count(sequences.count)),
        (false, _) => format!("≤ {} of bⁿ = {whole}", count(sequences.count)),
    };
    format!(
        "|Paths| {paths} error sequences, by {} segments: {} states kept, {} merged",
        grouped(progress.segments),
        grouped(progress.states),
        grouped(progress.merged),
    )
}

fn simulated<S: Subject>(facts: &Facts<'_, S>) -> String {
    format!(
        "{} s; {} s without saved states, {} s without merging",
        count(facts.seconds_simulated()),
        count(facts.seconds_without_saved_states()),
        count(facts.seconds_without_merging()),
    )
}

fn alike<S: Subject>(facts: &Facts<'_, S>) -> String {
    match facts.settings.merge {
        Merge::None => "nothing was merged".to_owned(),
        Merge::Grid(_) | Merge::Measured { .. } => cells::sentence(&facts.words().cells),
    }
}

fn rules<S: Subject>(facts: &Facts<'_, S>) -> String {
    let words = facts.words();
    let every = match facts.settings.merge_every {
        1 => String::new(),
        n => format!(", merge every {n} segments"),
    };
    format!("scope {}, keep {}, order {}{every}, seed {}", words.scope, words.keep, words.order, facts.seed.0)
}

fn left_out<S: Subject>(facts: &Facts<'_, S>) -> String {
    let ignored = match facts.words().ignored.as_slice() {
        [] => None,
        names => Some(format!("{}: states that differ only there count as one", names.join(", "))),
    };
    let hidden = facts.drive.not_compared().filter(|_| facts.settings.merge != Merge::None);
    let all: Vec<String> = ignored.into_iter().chain(hidden).collect();
    if all.is_empty() { "no state variable".to_owned() } else { all.join("; ") }
}

fn coverage<S: Subject>(facts: &Facts<'_, S>) -> String {
    let coverage = &facts.outcome.coverage;
    if facts.settings.merge == Merge::None {
        return "nothing was merged, so nothing was missed by merging".to_owned();
    }
    if coverage.is_exhaustive {
        return "every sequence was run without merging, so nothing was missed by merging".to_owned();
    }
    if coverage.rollouts == 0 {
        return "not measured; --rollouts 1000 compares with random runs".to_owned();
    }
    let percent = |share: f64| short(100.0 * share, 2);
    format!(
        "{} random runs, {} % inside what was explored ({} … {} %), at worst {}{} closer, {} verdicts disagree; \
         {} % of their steps estimated in cells nobody has seen",
        grouped(coverage.rollouts),
        percent(coverage.share),
        percent(coverage.share_low),
        percent(coverage.share_high),
        short(coverage.worst_missed, 3),
        S::MARGIN.unit,
        coverage.disagreements,
        percent(coverage.unseen_mass),
    )
}

/// How deep a violation could have been missed; nothing where something was found or nothing was merged.
fn resolution<S: Subject>(facts: &Facts<'_, S>) -> Option<String> {
    if facts.findings() > 0 || facts.settings.merge == Merge::None {
        return None;
    }
    let size = |value: f64| format!("{} {}", short(value, 5), S::MARGIN.unit.trim()).trim_end().to_owned();
    match &facts.outcome.resolution {
        Some(found) => {
            let searches = format!("{} runs without merging", grouped(found.runs));
            let reached = found.reached.map_or_else(
                || "no three searches ended".to_owned(),
                |reached| format!("the three closest searches ended within {} of each other", size(reached)),
            );
            Some(format!(
                "{}, by {searches}; {reached}, the closest with a margin of {}",
                size(found.asked),
                size(found.closest)
            ))
        }
        None if facts.outcome.progress.margin == f64::INFINITY => {
            Some(format!("the {} reports no margin, so no resolution can be stated", S::NOUN))
        }
        None => match &facts.outcome.about {
            About::Nothing(musts) => {
                let names: Vec<String> = musts.iter().map(|id| format!("`{id}`")).collect();
                let names = names.join(", ");
                Some(format!("none: nothing measures how narrowly {names} was kept; clearance says nothing about it"))
            }
            About::All | About::AllBut(_) if facts.evidence.ground.is_none() && facts.outcome.coverage.rollouts > 0 => {
                Some(
                    "none: the margin was the same in all of the first random runs, so it measures no depth".to_owned(),
                )
            }
            About::All | About::AllBut(_) => None,
        },
    }
}

fn closer<S: Subject>(facts: &Facts<'_, S>, look: &Refinement) -> String {
    if facts.outcome.progress.margin == f64::INFINITY {
        return format!("the {} reports no margin, so it is not known which cells could hide a violation", S::NOUN);
    }
    if look.cells_at_risk == 0 {
        let hidden = if facts.drive.not_compared().is_some() { " as far as states were compared" } else { "" };
        return format!("no cell could hide a contact{hidden}; nothing had to be looked at again");
    }
    let levels: Vec<usize> =
        look.reopened_by_level.iter().enumerate().filter(|(_, n)| **n > 0).map(|(level, _)| level).collect();
    let (first, last) = (levels.first().copied().unwrap_or(0), levels.last().copied().unwrap_or(0));
    format!(
        "{} cells of levels {first} to {last} could hide a contact: {} merged ends looked at again in cells down to {} of \
         their size, {} of them continued, {} segments; {}, {} cells left",
        grouped(look.cells_at_risk),
        grouped(look.reopened),
        short(look.finest, 4),
        grouped(look.states),
        grouped(look.segments),
        look.end.words(),
        grouped(look.cells_left),
    )
}

fn constant<S: Subject>(facts: &Facts<'_, S>) -> String {
    let violating = &facts.outcome.constant_errors_violate;
    let names: Vec<String> = violating.iter().take(5).map(|c| facts.drive.errors().describe(*c)).collect();
    match (violating.len(), facts.findings()) {
        (0, 0) => "no error violates when held from start to end".to_owned(),
        (0, _) => "no error violates when held from start to end; it takes a combination".to_owned(),
        (n, _) => {
            let more = if n > names.len() { ", …" } else { "" };
            format!(
                "{n} of {} errors violate when held from start to end: {}{more}",
                facts.error_choices(),
                names.join("; ")
            )
        }
    }
}

fn cost<S: Subject>(facts: &Facts<'_, S>) -> String {
    let used = &facts.used;
    let cpu = used.cpu_s.map_or_else(String::new, |cpu| format!(", {} CPU", duration(cpu)));
    let memory = used.peak_rss_bytes.map_or_else(String::new, |peak| format!(", {} memory", bytes(peak)));
    let share = short(100.0 * facts.outcome.profile.save_load_share(), 1);
    let wall = format!("{} ({} exploring)", duration(used.wall_s), duration(used.explored_wall_s));
    format!("{wall}{cpu}{memory}; {share} % for saving, restoring and merging states")
}
