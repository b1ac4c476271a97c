//! Reading `finding.toml`, with the line of whatever is wrong.

use std::collections::BTreeMap;

use anabranch_kernel::Digest;
use anabranch_kernel::units::{Dimension, parse_quantity};
use serde::Deserialize;
use toml::Spanned;

use super::write::plain_s;
use super::{Contact, ErrorRun, Finding, FindingError, FindingErrorKind, StartValue};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: Spanned<String>,
    scenario: String,
    #[serde(default)]
    scenario_file: String,
    scenario_hash: Spanned<String>,
    seed: Spanned<Seed>,
    segment_length: Spanned<String>,
    #[serde(default)]
    group: String,
    /// What was changed in the scenario; findings of earlier versions have none. Later changes may build on earlier ones.
    #[serde(default)]
    set: BTreeMap<Spanned<String>, String>,
    /// Keyed by place in the file, because the order of start values is the order of the scenario.
    #[serde(default)]
    start: BTreeMap<Spanned<String>, Spanned<String>>,
    verdict: Verdict,
    #[serde(default)]
    segment: Vec<Spanned<Segment>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Seed {
    Number(u64),
    Text(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Verdict {
    requirement: String,
    time: Spanned<String>,
    tick: u64,
    contact: Option<ContactText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ContactText {
    on_ego: [Spanned<String>; 2],
    in_world: [Spanned<String>; 2],
    other: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Segment {
    from: Spanned<String>,
    to: Spanned<String>,
    error: Spanned<Errors>,
    matters: Option<bool>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Errors {
    None(String),
    Sites(BTreeMap<String, String>),
}

/// The text, to turn places into lines.
struct Reader<'a>(&'a str);

impl Reader<'_> {
    fn line(&self, offset: usize) -> usize {
        1 + self.0.bytes().take(offset).filter(|&byte| byte == b'\n').count()
    }

    fn value(&self, text: &Spanned<String>, expected: &'static str) -> FindingError {
        let kind = FindingErrorKind::Value { text: text.get_ref().clone(), expected };
        kind.at(self.line(text.span().start))
    }

    fn seconds(&self, text: &Spanned<String>) -> Result<f64, FindingError> {
        parse_quantity(text.get_ref(), Dimension::Time).map_err(|_| self.value(text, "a time such as \"4 s\""))
    }

    fn metres(&self, pair: &[Spanned<String>; 2]) -> Result<[f64; 2], FindingError> {
        let metre = |text: &Spanned<String>| {
            let value = parse_quantity(text.get_ref(), Dimension::Length);
            value.map_err(|_| self.value(text, "a length such as \"0.1 m\""))
        };
        Ok([metre(&pair[0])?, metre(&pair[1])?])
    }

    fn start(&self, name: &str, text: &Spanned<String>) -> Result<StartValue, FindingError> {
        let (number, unit) = text.get_ref().split_once(' ').unwrap_or((text.get_ref(), ""));
        match number.parse::<f64>() {
            Ok(value) if value.is_finite() => {
                Ok(StartValue { name: name.to_owned(), value, unit: unit.trim().to_owned() })
            }
            _ => Err(self.value(text, "a number with its unit, such as \"0.1 m\"")),
        }
    }

    fn run(&self, segment: &Spanned<Segment>, from_s: f64, segment_s: f64) -> Result<(ErrorRun, f64), FindingError> {
        let inner = segment.get_ref();
        let line = self.line(inner.error.span().start);
        let (from, to) = (self.seconds(&inner.from)?, self.seconds(&inner.to)?);
        let count = ((to - from) / segment_s).round();
        let fits = (from - from_s).abs() < TIME_SLACK_S && (count * segment_s - (to - from)).abs() < TIME_SLACK_S;
        if !fits || !(1.0..=f64::from(u32::MAX)).contains(&count) {
            let text = format!("from {} to {}", inner.from.get_ref(), inner.to.get_ref());
            let (expected_from_s, segment_s) = (plain_s(from_s), plain_s(segment_s));
            let kind = FindingErrorKind::Times { text, expected_from_s, segment_s };
            return Err(kind.at(self.line(inner.from.span().start)));
        }
        let modes = match inner.error.get_ref() {
            Errors::None(text) if text == "none" => Vec::new(),
            Errors::None(text) => {
                let expected = "\"none\" or a table such as { estimate-jump = \"left 0.1 m\" }";
                return Err(FindingErrorKind::Value { text: text.clone(), expected }.at(line));
            }
            Errors::Sites(sites) => sites.iter().map(|(site, mode)| (site.clone(), mode.clone())).collect(),
        };
        Ok((ErrorRun { segments: count as u32, modes, matters: inner.matters, line }, to))
    }
}

/// Times are written to the nanosecond; summed over long runs they stay within this.
const TIME_SLACK_S: f64 = 1e-6;

pub(super) fn from_toml(text: &str) -> Result<Finding, FindingError> {
    let reader = Reader(text);
    let file: File = toml::from_str(text).map_err(|e| {
        let line = e.span().map_or(0, |span| reader.line(span.start));
        FindingErrorKind::Syntax(e.message().to_owned()).at(line)
    })?;
    if file.schema.get_ref() != Finding::SCHEMA {
        let line = reader.line(file.schema.span().start);
        return Err(FindingErrorKind::Schema(file.schema.into_inner()).at(line));
    }
    let segment_s = reader.seconds(&file.segment_length)?;
    if segment_s <= 0.0 {
        return Err(reader.value(&file.segment_length, "a length of a segment such as \"1 s\""));
    }
    let mut finding = Finding::new(&file.scenario, digest(&reader, &file.scenario_hash)?, segment_s);
    finding.seed = seed(&reader, &file.seed)?;
    finding.scenario_file = file.scenario_file;
    finding.set = in_order(file.set);
    finding.start = starts(&reader, &file.start)?;
    finding.requirement = file.verdict.requirement;
    finding.tick = file.verdict.tick;
    finding.time_s = reader.seconds(&file.verdict.time)?;
    finding.group = file.group;
    if let Some(contact) = &file.verdict.contact {
        let (on_ego_m, in_world_m) = (reader.metres(&contact.on_ego)?, reader.metres(&contact.in_world)?);
        finding.contact = Some(Contact { on_ego_m, in_world_m, other: contact.other });
    }
    let mut from_s = 0.0;
    for segment in &file.segment {
        let (run, to_s) = reader.run(segment, from_s, segment_s)?;
        finding.errors.push(run);
        from_s = to_s;
    }
    Ok(finding)
}

/// A table in the order of the file.
fn in_order(values: BTreeMap<Spanned<String>, String>) -> Vec<(String, String)> {
    let mut ordered: Vec<_> = values.into_iter().collect();
    ordered.sort_by_key(|(name, _)| name.span().start);
    ordered.into_iter().map(|(name, value)| (name.into_inner(), value)).collect()
}

fn starts(
    reader: &Reader<'_>,
    values: &BTreeMap<Spanned<String>, Spanned<String>>,
) -> Result<Vec<StartValue>, FindingError> {
    let mut ordered: Vec<_> = values.iter().collect();
    ordered.sort_by_key(|(name, _)| name.span().start);
    ordered.into_iter().map(|(name, text)| reader.start(name.get_ref(), text)).collect()
}

fn digest(reader: &Reader<'_>, text: &Spanned<String>) -> Result<Digest, FindingError> {
    match u128::from_str_radix(text.get_ref(), 16) {
        Ok(value) if text.get_ref().len() == 32 => Ok(Digest(value)),
        _ => Err(reader.value(text, "a hash of 32 hex digits")),
    }
}

fn seed(reader: &Reader<'_>, seed: &Spanned<Seed>) -> Result<u64, FindingError> {
    match seed.get_ref() {
        Seed::Number(number) => Ok(*number),
        Seed::Text(text) => text.parse().map_err(|_| {
            let kind = FindingErrorKind::Value { text: text.clone(), expected: "a seed such as 7" };
            kind.at(reader.line(seed.span().start))
        }),
    }
}
