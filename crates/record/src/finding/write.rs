//! Writing `finding.toml` so that a person likes to read it.

use std::fmt::Write as _;

use super::{Contact, ErrorRun, Finding, StartValue};

pub(super) fn to_toml(finding: &Finding) -> String {
    let mut out = String::new();
    line(&mut out, "schema", &quoted(Finding::SCHEMA));
    line(&mut out, "scenario", &quoted(&finding.scenario));
    if !finding.scenario_file.is_empty() {
        line(&mut out, "scenario_file", &quoted(&finding.scenario_file));
    }
    line(&mut out, "scenario_hash", &quoted(&finding.scenario_hash.to_string()));
    // TOML integers have 63 bits.
    let seed = finding.seed.to_string();
    line(&mut out, "seed", &if i64::try_from(finding.seed).is_ok() { seed } else { quoted(&seed) });
    line(&mut out, "segment_length", &quoted(&format!("{} s", finding.segment_s)));
    line(&mut out, "group", &quoted(&finding.group));
    put_set(&mut out, &finding.set);
    put_start(&mut out, &finding.start);
    out.push_str("\n[verdict]\n");
    line(&mut out, "requirement", &quoted(&finding.requirement));
    line(&mut out, "time", &seconds(finding.time_s));
    line(&mut out, "tick", &finding.tick.to_string());
    if let Some(contact) = &finding.contact {
        put_contact(&mut out, contact);
    }
    let mut from = 0_u64;
    for run in &finding.errors {
        let to = from + u64::from(run.segments);
        put_run(&mut out, run, from as f64 * finding.segment_s, to as f64 * finding.segment_s);
        from = to;
    }
    out
}

fn put_set(out: &mut String, set: &[(String, String)]) {
    if !set.is_empty() {
        out.push_str("\n[set]\n");
    }
    for (name, value) in set {
        line(out, &quoted(name), &quoted(value));
    }
}

fn put_start(out: &mut String, start: &[StartValue]) {
    if start.is_empty() {
        return;
    }
    out.push_str("\n[start]\n");
    for value in start {
        let text =
            if value.unit.is_empty() { value.value.to_string() } else { format!("{} {}", value.value, value.unit) };
        line(out, &quoted(&value.name), &quoted(&text));
    }
}

fn put_contact(out: &mut String, contact: &Contact) {
    let pair = |[x, y]: [f64; 2]| format!("[\"{x} m\", \"{y} m\"]");
    out.push_str("\n[verdict.contact]\n");
    line(out, "on_ego", &pair(contact.on_ego_m));
    line(out, "in_world", &pair(contact.in_world_m));
    line(out, "other", &contact.other.to_string());
}

fn put_run(out: &mut String, run: &ErrorRun, from_s: f64, to_s: f64) {
    out.push_str("\n[[segment]]\n");
    line(out, "from", &seconds(from_s));
    line(out, "to", &seconds(to_s));
    let error = match run.modes.as_slice() {
        [] => quoted("none"),
        modes => {
            let parts: Vec<String> =
                modes.iter().map(|(site, mode)| format!("{} = {}", key(site), quoted(mode))).collect();
            format!("{{ {} }}", parts.join(", "))
        }
    };
    line(out, "error", &error);
    if let Some(matters) = run.matters {
        line(out, "matters", &matters.to_string());
    }
}

fn line(out: &mut String, key: &str, value: &str) {
    writeln!(out, "{key} = {value}").expect("writing to a string");
}

/// A time without the noise of binary fractions: nanoseconds are far below any base cycle.
pub(super) fn plain_s(seconds: f64) -> String {
    let text = format!("{seconds:.9}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn seconds(value: f64) -> String {
    quoted(&format!("{} s", plain_s(value)))
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn key(text: &str) -> String {
    let bare = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if bare { text.to_owned() } else { quoted(text) }
}
