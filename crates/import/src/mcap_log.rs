//! Logs as MCAP files with JSON messages: numbers over time, and truth and estimate of different topics as rows.
//!
//! Every number in the messages of a topic is a [`Series`]: `/truth` with `{"pose": {"x": 1.5}}` is `truth.pose.x`. Its unit is
//! what the schema of the topic says in `unit`, or in `description`, as our own traces do. `null` says that nothing was told.

use std::collections::BTreeMap;

use mcap::McapError;
use serde_json::Value;
use thiserror::Error;

use crate::mcap_records::Messages;

/// Most series of a file: more are no log of a few signals.
const SERIES_MAX: usize = 20_000;
/// The truth between two messages is taken to be straight over at most this time.
const TRUTH_GAP_MAX_S: f64 = 0.5;

/// One number over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Topic and field, with dots between.
    pub name: String,
    /// Unit, as the schema of the topic says it.
    pub unit: Option<String>,
    /// When each message was logged, nanoseconds, in order.
    pub time_ns: Vec<u64>,
    /// What it said; `None` for `null`.
    pub value: Vec<Option<f64>>,
}

/// Truth and estimate of one number, to be put side by side.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'s> {
    /// What was true.
    pub truth: &'s Series,
    /// What was told.
    pub estimate: &'s Series,
    /// A full turn in the unit of the truth, if it is an angle.
    pub turn: Option<f64>,
}

/// Rows at the times of the estimates.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// Seconds since the first row.
    pub time_s: Vec<f64>,
    /// The truth of each pair at these times.
    pub truth: Vec<Vec<f64>>,
    /// The estimate of each pair.
    pub estimate: Vec<Vec<Option<f64>>>,
}

/// Why a file is of no use as a log.
#[derive(Debug, Error)]
pub enum McapLogError {
    /// It is broken, or no MCAP file.
    #[error("it is no whole MCAP file: {0}")]
    Broken(#[source] McapError),
    /// Its chunks are compressed.
    #[error("its chunks are compressed ({0}); write it anew with `mcap compress --compression none`")]
    Compressed(String),
    /// It has no topic with JSON messages.
    #[error("it has no topic with JSON messages; there are {0}")]
    NoJson(String),
    /// A message that is not what its topic says.
    #[error("message {number} of topic `{topic}` is no JSON: {reason}")]
    BadMessage {
        /// The topic.
        topic: String,
        /// Which message of the topic, counted from 1.
        number: usize,
        /// What the reader of JSON says.
        reason: String,
    },
    /// More numbers than a log has.
    #[error("its messages have more than {SERIES_MAX} different numbers")]
    Crowded,
    /// Estimates that were not told together.
    #[error("`{first}` and `{second}` were told at different times; fit them one after another with --pair")]
    Times {
        /// One of them.
        first: String,
        /// Another.
        second: String,
    },
    /// Times without truth.
    #[error("`{name}` says nothing between {from_s:.3} s and {to_s:.3} s; cut the log there")]
    Gap {
        /// The series.
        name: String,
        /// Where the gap begins, seconds since the first estimate.
        from_s: f64,
        /// Where it ends.
        to_s: f64,
    },
    /// Truth and estimate do not overlap in time.
    #[error("`{truth}` and `{estimate}` have no time in common")]
    Apart {
        /// The truth.
        truth: String,
        /// The estimate.
        estimate: String,
    },
}

/// All numbers of all topics with JSON messages, sorted by name.
///
/// # Errors
/// When the file is broken, compressed, or has no such topic.
pub fn series(bytes: &[u8]) -> Result<Vec<Series>, McapLogError> {
    let mut found: BTreeMap<String, Series> = BTreeMap::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let (mut others, mut schemas) = (BTreeMap::new(), BTreeMap::new());
    for message in Messages::of(bytes).map_err(broken)? {
        let message = message.map_err(broken)?;
        let channel = &message.channel;
        if channel.message_encoding != "json" {
            others.insert(channel.topic.clone(), channel.message_encoding.clone());
            continue;
        }
        let number = counts.entry(channel.topic.clone()).or_default();
        *number += 1;
        let value: Value = serde_json::from_slice(&message.data).map_err(|error| McapLogError::BadMessage {
            topic: channel.topic.clone(),
            number: *number,
            reason: error.to_string(),
        })?;
        let schema = schemas.entry(channel.id).or_insert_with(|| {
            let data = channel.schema.as_ref().map(|schema| &schema.data[..]);
            data.and_then(|data| serde_json::from_slice(data).ok()).unwrap_or(Value::Null)
        });
        let topic = channel.topic.trim_matches('/').replace('/', ".");
        collect(&mut found, topic, &value, schema, message.header.log_time)?;
    }
    if counts.is_empty() {
        let topics: Vec<String> = others.iter().map(|(topic, encoding)| format!("`{topic}` ({encoding})")).collect();
        let topics = if topics.is_empty() { "no messages at all".to_owned() } else { topics.join(", ") };
        return Err(McapLogError::NoJson(topics));
    }
    Ok(found.into_values().map(sorted).collect())
}

fn broken(error: McapError) -> McapLogError {
    match error {
        McapError::UnsupportedCompression(name) => McapLogError::Compressed(name),
        other => McapLogError::Broken(other),
    }
}

/// Adds the numbers of a message, by the names of their fields. Lists are left out: they have no names.
fn collect(
    found: &mut BTreeMap<String, Series>,
    name: String,
    value: &Value,
    schema: &Value,
    time_ns: u64,
) -> Result<(), McapLogError> {
    match value {
        Value::Object(fields) => {
            for (field, value) in fields {
                let inner = schema.get("properties").and_then(|all| all.get(field)).unwrap_or(&Value::Null);
                collect(found, format!("{name}.{field}"), value, inner, time_ns)?;
            }
            Ok(())
        }
        Value::Number(_) | Value::Null => {
            if found.len() >= SERIES_MAX && !found.contains_key(&name) {
                return Err(McapLogError::Crowded);
            }
            let series = found.entry(name).or_insert_with_key(|name| {
                let text = |key: &str| schema.get(key).and_then(Value::as_str).map(str::to_owned);
                let unit = text("unit").or_else(|| text("description"));
                Series { name: name.clone(), unit, time_ns: Vec::new(), value: Vec::new() }
            });
            series.time_ns.push(time_ns);
            series.value.push(value.as_f64());
            Ok(())
        }
        Value::Array(_) | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

/// Messages may be logged out of order.
fn sorted(series: Series) -> Series {
    if series.time_ns.is_sorted() {
        return series;
    }
    let mut order: Vec<usize> = (0..series.time_ns.len()).collect();
    order.sort_by_key(|&at| series.time_ns[at]);
    Series {
        time_ns: order.iter().map(|&at| series.time_ns[at]).collect(),
        value: order.iter().map(|&at| series.value[at]).collect(),
        ..series
    }
}

/// Truth and estimates side by side, at the times of the estimates that the truths surround. Between its messages the truth is
/// straight; angles go the short way round.
///
/// # Errors
/// When estimates were told at different times, or a truth does not say enough.
///
/// # Panics
/// If there is no pair.
pub fn rows(pairs: &[Pair<'_>]) -> Result<Rows, McapLogError> {
    let first = pairs[0].estimate;
    if let Some(other) = pairs.iter().map(|pair| pair.estimate).find(|other| other.time_ns != first.time_ns) {
        return Err(McapLogError::Times { first: first.name.clone(), second: other.name.clone() });
    }
    let mut inside: Vec<bool> = vec![true; first.time_ns.len()];
    let mut truths: Vec<Vec<f64>> = Vec::new();
    for pair in pairs {
        let values = truth_at(pair, &first.time_ns)?;
        inside.iter_mut().zip(&values).for_each(|(inside, value)| *inside &= value.is_some());
        truths.push(values.into_iter().map(|value| value.unwrap_or(0.0)).collect());
    }
    let kept: Vec<usize> = (0..inside.len()).filter(|&row| inside[row]).collect();
    let Some(&begin) = kept.first() else {
        return Err(McapLogError::Apart { truth: pairs[0].truth.name.clone(), estimate: first.name.clone() });
    };
    let begin_ns = first.time_ns[begin];
    Ok(Rows {
        time_s: kept.iter().map(|&row| (first.time_ns[row] - begin_ns) as f64 * 1e-9).collect(),
        truth: truths.iter().map(|values| kept.iter().map(|&row| values[row]).collect()).collect(),
        estimate: pairs.iter().map(|pair| kept.iter().map(|&row| pair.estimate.value[row]).collect()).collect(),
    })
}

/// The truth at each of some times, in order; `None` before its first message and after its last.
fn truth_at(pair: &Pair<'_>, times_ns: &[u64]) -> Result<Vec<Option<f64>>, McapLogError> {
    let said = pair.truth.time_ns.iter().zip(&pair.truth.value);
    let said: Vec<(u64, f64)> = said.filter_map(|(time_ns, value)| value.map(|value| (*time_ns, value))).collect();
    let mut after = 0;
    let mut found = Vec::with_capacity(times_ns.len());
    for &time_ns in times_ns {
        while said.get(after).is_some_and(|(next_ns, _)| *next_ns < time_ns) {
            after += 1;
        }
        let value = match (after.checked_sub(1).map(|at| said[at]), said.get(after)) {
            (_, Some(&(next_ns, next))) if next_ns == time_ns => Some(next),
            (Some(last), Some(&next)) => {
                let width_s = (next.0 - last.0) as f64 * 1e-9;
                if width_s > TRUTH_GAP_MAX_S {
                    let since_s = |ns: u64| (ns as f64 - times_ns[0] as f64) * 1e-9;
                    let (from_s, to_s) = (since_s(last.0), since_s(next.0));
                    return Err(McapLogError::Gap { name: pair.truth.name.clone(), from_s, to_s });
                }
                let share = (time_ns - last.0) as f64 * 1e-9 / width_s;
                let rise = next.1 - last.1;
                let rise = pair.turn.map_or(rise, |turn| rise - turn * (rise / turn).round());
                Some(last.1 + share * rise)
            }
            _ => None,
        };
        found.push(value);
    }
    Ok(found)
}
