//! What was fitted to a log, for people and for machines.

use std::fmt::Write as _;

use anabranch_errors::fit::{Apart, ChannelFit, Dropouts, Estimated, Fit, Jumps};
use serde_json::{Value, json};

use crate::escape::escape;
use crate::numbers::{grouped, short};
use crate::rows::row;
use crate::screen::Paint;

/// Most decimals of a number.
const DECIMALS_MAX: usize = 9;

/// Three digits that count; all of those before the point.
fn number(value: f64) -> String {
    let (mut decimals, mut scaled) = (0, value.abs());
    while scaled > 0.0 && scaled < 100.0 && decimals < DECIMALS_MAX {
        scaled *= 10.0;
        decimals += 1;
    }
    short(value, decimals)
}

fn line(name: &str, unit: &str, found: Option<Estimated>) -> String {
    let Some(found) = found else { return format!("  {name:<18} {:>12}\n", "–") };
    let value = format!("{} {unit}", number(found.value));
    format!("  {name:<18} {value:>16}   {} … {}\n", number(found.low), number(found.high))
}

fn channel(paint: &Paint, found: &ChannelFit) -> String {
    let unit = &found.unit;
    let mut text = format!("\n{}\n", paint.bold(&escape(&format!("{} [{unit}]", found.name))));
    text.push_str(&line("bias", unit, Some(found.bias)));
    text.push_str(&line("drift", &format!("{unit}/s"), Some(found.drift_per_s)));
    text.push_str(&line("deviation", unit, Some(found.deviation)));
    text.push_str(&line("  white part", unit, found.white));
    text.push_str(&line("  wandering part", unit, found.wander));
    text.push_str(&line("  correlation time", "s", found.wander_s));
    text.push_str(&line("delay", "s", found.delay_s));
    if let Some(note) = apart_note(found.apart) {
        let _ = writeln!(text, "  {note}");
    }
    text
}

/// What must be known about bias and delay to read them.
fn apart_note(apart: Apart) -> Option<String> {
    match apart {
        Apart::Itself => None,
        Apart::Others => Some("the truth moves uniformly: the delay of the other channels was taken".to_owned()),
        Apart::AtRest => Some("the truth hardly moves: no delay can be told, and none matters".to_owned()),
        Apart::No => Some(format!(
            "bias and delay cannot be told apart on this log: the truth moves uniformly. The bias is that without a delay, and \
             its interval holds every delay up to {} s",
            number(ChannelFit::DELAY_MAX_S)
        )),
    }
}

/// The same as a word.
fn apart_word(apart: Apart) -> &'static str {
    match apart {
        Apart::Itself => "itself",
        Apart::Others => "others",
        Apart::AtRest => "at-rest",
        Apart::No => "no",
    }
}

fn jumps(paint: &Paint, found: &Jumps) -> String {
    let title = escape(&format!("jumps of {}: {}", found.name, found.count));
    let mut text = format!("\n{}\n", paint.bold(&title));
    if found.count == 0 {
        let _ = writeln!(text, "  none of {} {} or more", number(found.told_from), found.unit);
    }
    text.push_str(&line("rate", "/s", Some(found.rate_per_s)));
    if found.count > 0 {
        text.push_str(&line("size", &found.unit, found.size));
        text.push_str(&line("held for", "s", found.hold_s));
    }
    text
}

fn dropouts(paint: &Paint, found: &Dropouts) -> String {
    let mut text = format!("\n{}\n", paint.bold(&format!("dropouts: {}", found.count)));
    text.push_str(&line("rate", "/s", Some(found.rate_per_s)));
    if found.count > 0 {
        text.push_str(&line("duration", "s", found.duration_s));
    }
    text
}

/// For people: a table with 95 % confidence intervals, then the error table or where it is.
pub fn human(paint: &Paint, found: &Fit, log: &str, table: &str, place: Option<&str>) -> String {
    let rows = grouped(found.samples as u64);
    let about = format!("{rows} rows over {} s, one every {} s", short(found.duration_s, 3), short(found.period_s, 4));
    let mut text = row(paint, "log", &format!("{log}: {about}"));
    text.push_str(&row(paint, "intervals", "95 % confidence"));
    found.channels.iter().for_each(|one| text.push_str(&channel(paint, one)));
    if found.channels.len() > 1 {
        let _ = write!(text, "\n{}\n{}", paint.bold("all channels"), line("delay", "s", found.delay_s));
    }
    found.jumps.iter().for_each(|one| text.push_str(&jumps(paint, one)));
    text.push_str(&dropouts(paint, &found.dropouts));
    match place {
        Some(place) => text.push_str(&format!("\n{}", row(paint, "table", place))),
        None => text.push_str(&format!("\n{table}")),
    }
    text
}

fn estimated(found: Option<Estimated>) -> Value {
    found.map_or(Value::Null, |found| json!({ "value": found.value, "low": found.low, "high": found.high }))
}

/// For machines.
pub fn machine(found: &Fit, log: &str, table: &str, place: Option<&str>) -> Value {
    let channel = |one: &ChannelFit| {
        json!({
            "name": one.name,
            "unit": one.unit,
            "bias": estimated(Some(one.bias)),
            "drift_per_s": estimated(Some(one.drift_per_s)),
            "deviation": estimated(Some(one.deviation)),
            "white": estimated(one.white),
            "wander": estimated(one.wander),
            "correlation_time_s": estimated(one.wander_s),
            "delay_s": estimated(one.delay_s),
            "bias_and_delay_told_apart": apart_word(one.apart),
        })
    };
    let jumps = |one: &Jumps| {
        json!({
            "name": one.name,
            "unit": one.unit,
            "count": one.count,
            "rate_per_s": estimated(Some(one.rate_per_s)),
            "size": estimated(one.size),
            "hold_s": estimated(one.hold_s),
            "told_from": one.told_from,
        })
    };
    json!({
        "schema": "anabranch.fit-errors/1",
        "log": log,
        "rows": found.samples,
        "duration_s": found.duration_s,
        "period_s": found.period_s,
        "confidence": 0.95,
        "channels": found.channels.iter().map(channel).collect::<Vec<_>>(),
        "delay_s": estimated(found.delay_s),
        "jumps": found.jumps.iter().map(jumps).collect::<Vec<_>>(),
        "dropouts": {
            "count": found.dropouts.count,
            "rate_per_s": estimated(Some(found.dropouts.rate_per_s)),
            "duration_s": estimated(found.dropouts.duration_s),
        },
        "error_table": table,
        "written_to": place,
    })
}
