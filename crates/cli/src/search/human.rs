//! Everything that is said about a search, for people.

use anabranch_search::Ended;
use anabranch_study::Conclusion;

use super::facts::Facts;
use super::objective::JUST;
use crate::escape::escape;
use crate::numbers::{duration, grouped, short};
use crate::screen::Paint;
use crate::triage::Triage;

/// Parameters that are named as important.
const IMPORTANT_MAX: usize = 5;
/// Share of the variance below which a parameter is not worth a word.
const IMPORTANT_MIN: f64 = 0.01;
/// Members of the front that are listed.
const FRONT_MAX: usize = 8;

/// The first line of any search.
pub(super) fn headline(
    name: &str,
    conclusion: &Conclusion,
    (findings, simulations, noun): (usize, &str, &str),
    method: &str,
    paint: &Paint,
) -> String {
    let word = paint.toned(conclusion.tone(), conclusion.word());
    let many = match findings {
        1 => "1 accident".to_owned(),
        many => format!("{many} different accidents"),
    };
    match conclusion {
        Conclusion::Violated(_) => format!("{name}: {word} by {many} in {simulations} {noun} ({method})\n"),
        Conclusion::NotFound { coverage, .. } => {
            format!("{name}: {word} in {simulations} {noun} ({method}); {}\n", coverage.words())
        }
        Conclusion::NothingToJudge(why) => {
            format!("{name}: {word} after {simulations} {noun} ({method}): {}\n", escape(why))
        }
        _ => format!("{name}: {word} after {simulations} {noun} ({method})\n"),
    }
}

/// The text.
pub fn text(facts: &Facts<'_>, paint: &Paint) -> String {
    let name = paint.bold(&escape(facts.objective.drive.name()));
    let simulations = grouped(facts.report.evaluations.len() as u64);
    let (method, noun) = (&facts.report.method, facts.noun());
    let many = (facts.findings.len(), simulations.as_str(), noun);
    let mut out = headline(&name, &facts.conclusion(), many, method, paint);
    let mut row = |key: &str, value: &str| out += &format!("  {key:<17}{}\n", escape(value));
    if !facts.stop().is_empty() {
        row("ended", &facts.stop());
    }
    row("varies", &varies(facts));
    if let Some(best) = facts.report.best().filter(|best| best.value() < f64::INFINITY) {
        let value = best.result.as_ref().map_or(f64::INFINITY, |outcome| outcome.value());
        let objective = &facts.objective.measures[0].text;
        // A violation whose objective does not show it has no value of its own.
        let value = if (-JUST..0.0).contains(&value) { "violates".to_owned() } else { short(value, 4) };
        row("most dangerous", &format!("simulation {}, {objective}: {value}", best.number + 1));
        row("", &facts.objective.varied.space.describe(&rounded(&facts.objective.varied.plain(&best.values))));
    }
    if let Some(first) = facts.report.simulations_to_first() {
        row("first violation", &format!("simulation {first}; {} of {simulations} violate", facts.violations()));
    }
    if let Some(baseline) = facts.baseline {
        row("random baseline", &baseline.statement(facts.runs_to_first()));
    }
    if let Some(words) = important(facts) {
        row("what matters", &words);
    }
    if facts.refused() > 0 {
        row("no instances", &format!("{} points: the car does not fit, or there is no path", facts.refused()));
    }
    for (rule, points) in facts.report.rejected.iter().filter(|(_, points)| *points > 0) {
        row("refused", &format!("{} points by `{rule}`", grouped(*points)));
    }
    if facts.objective.measures.len() > 1 {
        for number in facts.report.front.iter().take(FRONT_MAX) {
            let values = facts.report.evaluations[*number as usize].result.as_ref().map(|o| o.robustness.clone());
            let values: Vec<String> = values.unwrap_or_default().iter().map(|value| short(*value, 4)).collect();
            row("front", &format!("simulation {}: {}", number + 1, values.join(", ")));
        }
    }
    row("simulated", &format!("{} in {}", duration(facts.report.simulated_seconds() + 0.0), duration(facts.used.0)));
    out += &accidents(facts, paint);
    if facts.report.ended == Ended::Interrupted {
        out += &format!("  {}\n", paint.cyan("anabranch search --resume"));
    }
    out
}

fn accidents(facts: &Facts<'_>, paint: &Paint) -> String {
    let mut out = String::new();
    for (number, found) in facts.findings.iter().enumerate() {
        let verdict = &found.group.first.verdict;
        let time_s = short(verdict.tick as f64 * facts.objective.drive.step_s(), 3);
        let label = escape(&found.group.label);
        out += &format!(
            "  {}. {} after {time_s} s{}, seen {}\n",
            number + 1,
            paint.bold(&label),
            found.sentence,
            times(found.seen)
        );
        for (key, value) in &found.set {
            let value = if key == "object" { "fewer of them".to_owned() } else { value.trim_matches('"').to_owned() };
            out += &format!("       {} = {}\n", escape(key), escape(&value));
        }
        out += &found.errors;
        for line in found.triage.iter().flat_map(Triage::sentences) {
            out += &format!("       {}\n", escape(&line));
        }
        out += &format!("       {}\n", paint.cyan(&format!("anabranch replay last#{}", number + 1)));
    }
    out
}

fn varies(facts: &Facts<'_>) -> String {
    if facts.objective.varied.is_one_instance() {
        return "the errors of the scenario as it is".to_owned();
    }
    let space = &facts.objective.varied.space;
    let mut names: Vec<String> = Vec::new();
    for dimension in space.dimensions() {
        let name = dimension.name.split('[').next().unwrap_or_default().to_owned();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let count = space.dimensions().len();
    let all = if names.len() > 6 { format!("{}, ..", names[..6].join(", ")) } else { names.join(", ") };
    if count == 1 { all } else { format!("{count} dimensions: {all}") }
}

/// The shares of the parameters that explain most, those of errors taken together.
fn important(facts: &Facts<'_>) -> Option<String> {
    let mut sums: Vec<(String, f64)> = Vec::new();
    for one in facts.importance? {
        let name = one.name.split('[').next().unwrap_or_default().to_owned();
        // A signal as a whole is listed after its points.
        match sums.iter_mut().find(|(known, _)| *known == name) {
            Some((_, share)) if one.name.contains('[') => *share += one.share,
            Some(_) => {}
            None => sums.push((name, one.share)),
        }
    }
    sums.sort_by(|a, b| b.1.total_cmp(&a.1));
    let words = sums.iter().filter(|(_, share)| *share >= IMPORTANT_MIN).take(IMPORTANT_MAX);
    let words: Vec<String> = words.map(|(name, share)| format!("{name} {:.0} %", 100.0 * share)).collect();
    (!words.is_empty()).then(|| format!("{} of the variance", words.join(", ")))
}

pub(super) fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{} times", grouped(count)) }
}

/// Four decimals are enough to read.
pub(super) fn rounded(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| (value * 1e4).round() / 1e4).collect()
}
