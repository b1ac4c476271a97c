//! An explanation for people: what happened, what mattered, when it was too late, what would have been enough.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anabranch_explore::explain::{Cost, HoldSearch, Measure, Method, Share};
use anabranch_kernel::{Choice, Place, System};

use super::Story;
use super::against::Compared;
use super::threshold::Threshold;
use crate::escape::escape;
use crate::explore::contact;
use crate::numbers::{count, short};
use crate::project;
use crate::rows;
use crate::screen::Paint;
use crate::triage::Triage;

/// The whole text.
pub fn text(story: &Story<'_>, paint: &Paint) -> String {
    let mut out = headline(story, paint);
    out += &what_mattered(story, paint);
    out.push('\n');
    let mut row = |name: &str, text: String| {
        if !text.is_empty() {
            out += &rows::row(paint, name, &text);
        }
    };
    row("elsewhere", elsewhere(story));
    row("needed", needed(story));
    row("too late", too_late(story));
    for (name, sentence) in ["cause", "sight"].into_iter().zip(story.triage.iter().flat_map(Triage::sentences)) {
        row(name, sentence);
    }
    row("enough", enough(story));
    for threshold in &story.thresholds {
        row("size", size(threshold));
    }
    for run in story.against.iter().flat_map(|against| &against.runs) {
        row("against", against(run, &story.against.as_ref().map_or(String::new(), |a| a.file.clone())));
    }
    row("shares", shares(story));
    row("tried", tried(story));
    row("files", files(story));
    let commands: String = story.commands().iter().map(|line| format!("  {}\n", paint.cyan(&escape(line)))).collect();
    if !commands.is_empty() {
        out += &format!("\nSee it again\n{commands}");
    }
    out
}

fn plural(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{} {one}s", count(n as f64)) }
}

fn headline(story: &Story<'_>, paint: &Paint) -> String {
    let (case, why) = (story.case, &story.why);
    let time_s = short(why.verdict.tick as f64 * case.drive.step_s(), 3);
    let place = contact::sentence(case.loaded(), case.drive, why.verdict.place.as_ref());
    let id = escape(case.requirement_id());
    let name = paint.bold(&escape(case.drive.name()));
    let found = Cost::of(case.drive.errors(), &why.found.choices, why.found.choices.len());
    let enough = match (why.cost.errors, why.cost.erroneous) {
        (0, _) => "it takes no error at all".to_owned(),
        (errors, segments) => format!(
            "it takes {} in {}; found were {} in {}",
            plural(errors, "error"),
            plural(segments, "segment"),
            found.errors,
            found.erroneous
        ),
    };
    format!("{name}: {} `{id}`; {enough}. After {time_s} s{place}\n", paint.red("violated"))
}

/// The errors with what each of them costs.
fn what_mattered(story: &Story<'_>, paint: &Paint) -> String {
    let (case, why) = (story.case, &story.why);
    let blame = &why.blame;
    if blame.segments.is_empty() {
        return String::new();
    }
    let is_margin = blame.measure == Measure::Margin;
    let mut rows = vec![["when", "error", "clearance without it", "share"].map(str::to_owned)];
    for one in &blame.segments {
        let (from, to) = (short(case.begin_s(one.segment), 3), short(case.begin_s(one.segment + 1), 3));
        let gained = one.margin_without - why.minimal.margin;
        let gained =
            if gained.is_finite() { format!(" ({}{} m)", sign(gained), short(gained, 3)) } else { String::new() };
        let without = metres(one.margin_without) + &gained;
        rows.push([format!("{from} – {to} s"), case.error(one.choice), without, percent(&one.share, blame.whole)]);
    }
    let mut out = format!("\n{}", columns(&rows, paint));
    if blame.sites.len() > 1 {
        let mut rows = vec![["", "all of one error", "clearance without it", "share"].map(str::to_owned)];
        for one in &blame.sites {
            let id = case.drive.errors().sites()[one.site].id.clone();
            let without = metres(one.margin_without);
            rows.push([String::new(), id, without, percent(&one.share, blame.whole)]);
        }
        let _ = write!(out, "\n{}", columns(&rows, paint));
    }
    let whole = if is_margin { "" } else { "\n  shares are of the violation itself, not of clearance\n" };
    out + whole
}

/// A clearance; where nothing solid is in reach there is none.
fn metres(clearance_m: f64) -> String {
    if clearance_m.is_finite() { format!("{} m", short(clearance_m, 3)) } else { "nothing near".to_owned() }
}

/// By how much a run passes.
fn passing(clearance_m: f64) -> String {
    if clearance_m.is_finite() { format!("clearance {}", metres(clearance_m)) } else { "nothing comes near".to_owned() }
}

fn sign(value: f64) -> &'static str {
    if value >= 0.0 { "+" } else { "" }
}

/// Columns as wide as their texts; the first row is the head.
fn columns(rows: &[[String; 4]], paint: &Paint) -> String {
    let width = |column: usize| rows.iter().map(|row| escape(&row[column]).chars().count()).max().unwrap_or(0);
    let widths = [0, 1, 2, 3].map(width);
    let mut out = String::new();
    for (at, row) in rows.iter().enumerate() {
        let [a, b, c, d] = [0, 1, 2, 3].map(|column| format!("{:<1$}", escape(&row[column]), widths[column]));
        let line = format!("{a}  {b}  {c}  {d}");
        let line = line.trim_end();
        let _ = writeln!(out, "  {}", if at == 0 { paint.dim(line) } else { line.to_owned() });
    }
    out
}

fn percent(share: &Share, whole: f64) -> String {
    if whole.abs() < 1e-12 {
        return "–".to_owned();
    }
    let text = format!("{} %", short(100.0 * share.value / whole, 0));
    match share.standard_error {
        error if error > 0.0 => format!("{text} ± {}", short(100.0 * error / whole.abs(), 1)),
        _ => text,
    }
}

/// The smallest errors may lead to another place than those that were found.
fn elsewhere(story: &Story<'_>) -> String {
    let finding = &story.case.found.finding;
    let (Some(then), Some(now)) = (finding.contact, story.why.verdict.place) else { return String::new() };
    let then = Place { on_ego: then.on_ego_m, in_world: then.in_world_m, other: then.other };
    let sector = |place: &Place| contact::sector(story.case.drive, place);
    if then.other == now.other && sector(&then) == sector(&now) {
        return String::new();
    }
    let place = contact::sentence(story.case.loaded(), story.case.drive, Some(&then));
    format!("the same requirement, but it was found after {} s{place}", short(finding.time_s, 3))
}

/// Which of the errors that were found are enough and all needed, where that is another answer than the smallest.
fn needed(story: &Story<'_>) -> String {
    let (case, why) = (story.case, &story.why);
    let matter: Vec<usize> = (0..why.matters.len()).filter(|&at| why.matters[at]).collect();
    let is_same = matter.iter().all(|&at| why.minimal.choices.get(at) == why.found.choices.get(at));
    if matter.is_empty() || (is_same && matter.len() == why.cost.erroneous) {
        return String::new();
    }
    let one = |&at: &usize| {
        let (from, to) = (short(case.begin_s(at), 3), short(case.begin_s(at + 1), 3));
        format!("{from} – {to} s `{}`", case.error(why.found.choices[at]))
    };
    let all: Vec<String> = matter.iter().map(one).collect();
    format!("of what was found, each of these and nothing else: {}", all.join(", "))
}

fn too_late(story: &Story<'_>) -> String {
    let (case, why) = (story.case, &story.why);
    let Some(at) = &why.no_return else { return "from the start: it happens without any error".to_owned() };
    let time = |segment: usize| format!("{} s", short(case.begin_s(segment), 3));
    let seals = case.error(why.minimal.choices[at.boundary]);
    let mut text = format!(
        "after {}: without further error from then on it passes ({}); with `{}` until {} it is lost",
        time(at.boundary),
        passing(at.margin),
        seals,
        time(at.boundary + 1),
    );
    match at.rescue {
        Some(rescue) => {
            let (error, from) = (case.error(rescue.choice), time(rescue.boundary));
            let _ = write!(text, ", unless `{error}` is held from {from} on");
        }
        None if at.rescues_tried => text += ", whatever error is held from then on",
        None => {}
    }
    text
}

fn enough(story: &Story<'_>) -> String {
    let (case, why) = (story.case, &story.why);
    let Some(nearest) = &why.nearest else {
        return "no sequence that differs in one segment passes".to_owned();
    };
    let one = |&at: &usize| {
        let was = why.minimal.choices.get(at).copied().unwrap_or(Choice::NONE);
        let (was, now) = (case.error(was), case.error(nearest.passing.choices[at]));
        let (from, to) = (short(case.begin_s(at), 3), short(case.begin_s(at + 1), 3));
        format!("`{now}` instead of `{was}` at {from} – {to} s")
    };
    let changed: Vec<String> = nearest.changed.iter().map(one).collect();
    format!("{}: it passes ({})", changed.join(" and "), passing(nearest.passing.margin))
}

fn size(threshold: &Threshold) -> String {
    let Threshold { id, unit, size, violates_at, passes_at, .. } = threshold;
    let with_unit = |value: f64| match *unit {
        "°" => format!("{}°", short(value, 4)),
        "" => format!("a factor of {}", short(value, 5)),
        unit => format!("{} {}", short(value, 5), unit.replace("^2", "²")),
    };
    let share = |value: f64| match *unit {
        "" => String::new(),
        _ => format!(" ({} % of {})", short(100.0 * value / size, 1), with_unit(*size)),
    };
    match passes_at {
        None => format!("{id}: still violates at {}: the size does not matter", with_unit(*violates_at)),
        Some(passes) => {
            let (violates, passes) = (with_unit(*violates_at) + &share(*violates_at), with_unit(*passes));
            format!("{id}: still violates at {violates}, not at {passes}; all else as above")
        }
    }
}

fn against(run: &Compared, file: &str) -> String {
    let what = if run.what == "found" { "the errors that were found" } else { "the smallest errors" };
    let outcome = match &run.violated {
        None if run.is_completed => "survived and completed".to_owned(),
        None => "survived, but not completed".to_owned(),
        Some((id, time_s)) => format!("`{id}` is violated after {} s", short(*time_s, 3)),
    };
    let (own, other) = (metres(run.own_clearance_m), metres(run.other_clearance_m));
    let parts = match &run.difference {
        None => "every signal is the same".to_owned(),
        Some(d) => {
            let (a, b) = (digits(d.own), digits(d.other));
            let unit = if d.unit.is_empty() { String::new() } else { format!(" {}", d.unit) };
            format!("they part at {} s (tick {}) in {}: {b} instead of {a}{unit}", short(d.time_s, 3), d.tick, d.signal)
        }
    };
    format!("{file}, {what}: {outcome}; clearance {other} instead of {own}; {parts}")
}

/// Six digits that count.
fn digits(value: f64) -> String {
    if value == 0.0 || value.abs() >= 1e-3 { short(value, 6) } else { format!("{value:.3e}") }
}

fn shares(story: &Story<'_>) -> String {
    let blame = &story.why.blame;
    if blame.segments.is_empty() {
        return String::new();
    }
    let of = match blame.measure {
        Measure::Margin => format!(
            "of the {} m of clearance that all errors cost ({} m without any)",
            short(blame.whole, 3),
            short(story.why.without_errors.margin, 3)
        ),
        Measure::Verdict => "of the violation".to_owned(),
    };
    let by = match blame.segments_by {
        Method::Exact { coalitions } => format!("exact, from all {coalitions} combinations"),
        Method::Sampled { permutations } => format!("from {permutations} random orders, ± one standard error"),
    };
    format!("{of}: what each adds on average over all orders (Shapley), {by}")
}

fn tried(story: &Story<'_>) -> String {
    let why = &story.why;
    let held = match why.holds {
        HoldSearch::Nothing => "; there are too many held errors to try them all",
        HoldSearch::One => "; among them every error held from any to any segment",
        HoldSearch::TwoOfUsed => {
            "; among them every error held from any to any segment, and every two of those above after another"
        }
        HoldSearch::Two => "; among them every error held from any to any segment, and every two after another",
    };
    let (run, asked) = (count(why.segments_run as f64), count(why.segments_asked as f64));
    format!("{run} segments instead of {asked} without saved states{held}. The result was run again from the start.")
}

fn files(story: &Story<'_>) -> String {
    match &story.files {
        Some(files) => {
            let name = |path: &PathBuf| path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            let names = [&files.minimal, &files.why, &files.svg, &files.png].map(name).join(", ");
            format!("{names} in {}", project::relative(files.minimal.parent().unwrap_or(Path::new("."))))
        }
        None => "none were written, because the scenario was changed with --set or --seed".to_owned(),
    }
}

impl Story<'_> {
    /// How to see it again.
    pub fn commands(&self) -> Vec<String> {
        let Some(files) = &self.files else { return Vec::new() };
        let minimal = project::relative(&files.minimal);
        vec![format!("anabranch replay {minimal}"), format!("anabranch replay {minimal} --trace minimal.csv")]
    }
}
