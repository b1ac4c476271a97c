//! Files that change scenarios: errors to add to each of them, and variations of a driver.
//!
//! Both become overrides, as if somebody had typed `--set`, so that they are part of a scenario's identity, are written
//! into findings and are applied again when a finding is replayed.

use super::Report;
use super::codes::Code;
use super::keys::{self, Kind, Section};
use super::problems::{Problems, excerpt};
use super::shape::check_table;
use super::tree::{Document, Entry, Node, Value};

/// The errors of a file of `[[error]]` tables: for each the path and the value of an override that adds it to a
/// scenario, or replaces the one of the same id.
///
/// # Errors
/// With everything in the file that cannot be an error, located.
pub fn error_file(file_name: &str, bytes: &[u8]) -> Result<Vec<(String, String)>, Report> {
    let help = "a file of errors has [[error]] tables and nothing else";
    let document = checked(file_name, bytes, &["error"], help)?;
    let errors = document.root.get("error").map_or(&[][..], Node::items);
    let id = |node: &Node| node.get("id").and_then(Node::text).unwrap_or_default().to_owned();
    Ok(errors.iter().map(|node| (format!("error.{}", id(node)), text_of(node))).collect())
}

/// The values of a file that varies a driver or its car: a scenario's `[ego]` with nothing but what is different.
///
/// # Errors
/// With everything in the file that a driver has no part in, located.
pub fn variation_file(file_name: &str, bytes: &[u8]) -> Result<Vec<(String, String)>, Report> {
    let help = "a variation of a driver has an [ego] table, or [ego.driver], with what is different";
    let document = checked(file_name, bytes, &["ego"], help)?;
    let mut values = Vec::new();
    let Some(ego) = document.root.get("ego") else { unreachable!("a file without it was refused") };
    leaves(&keys::ROOT.key("ego").expect("a scenario has an ego").kind, ego, "ego", &mut values);
    Ok(values)
}

/// Parses a file that may have some of a scenario's tables and must have one.
fn checked(file_name: &str, bytes: &[u8], allowed: &[&str], help: &str) -> Result<Document, Report> {
    let document = Document::parse(file_name, bytes)?;
    let mut problems = Problems::new(&document);
    for entry in document.root.entries() {
        match keys::ROOT.key(&entry.key).filter(|_| allowed.contains(&entry.key.as_str())) {
            Some(key) => check_part(&mut problems, &entry.node, &key.kind),
            None => {
                let message = format!("there is no `{}` in such a file", excerpt(&entry.key));
                problems.add(Code::UnknownKey, entry.key_span, message, help);
            }
        }
    }
    if document.root.entries().is_empty() {
        problems.add(Code::Empty, document.root.span, "the file says nothing", help);
    }
    if problems.is_empty() { Ok(document) } else { Err(problems.into_report()) }
}

/// Errors are whole tables; of a variation only the names of keys are known to be right before it meets a scenario.
fn check_part(problems: &mut Problems<'_>, node: &Node, kind: &Kind) {
    match kind {
        Kind::Tables(section) => {
            for item in node.items() {
                check_table(problems, item, section);
            }
            if node.items().is_empty() {
                let message = "this is not a list of tables";
                problems.add(Code::WrongType, node.span, message, format!("write {}", section.title));
            }
        }
        Kind::TableOrTables(section) if !node.items().is_empty() => {
            for entry in node.items().iter().flat_map(Node::entries) {
                check_name(problems, entry, section);
            }
        }
        Kind::Table(section)
        | Kind::TableOrTables(section)
        | Kind::WordOrTable(_, section)
        | Kind::WordFileOrTable(_, section) => {
            for entry in node.entries() {
                check_name(problems, entry, section);
            }
            if !matches!(node.value, Value::Table(_)) && matches!(kind, Kind::Table(_)) {
                problems.add(Code::WrongType, node.span, "this is not a table", format!("write {}", section.title));
            }
        }
        _ => {}
    }
}

fn check_name(problems: &mut Problems<'_>, entry: &Entry, section: &'static Section) {
    match section.key(&entry.key) {
        Some(key)
            if matches!(
                key.kind,
                Kind::Table(_) | Kind::TableOrTables(_) | Kind::WordOrTable(..) | Kind::WordFileOrTable(..)
            ) =>
        {
            check_part(problems, &entry.node, &key.kind);
        }
        Some(_) => {}
        None => super::shape::unknown_key(problems, entry, section),
    }
}

/// Values with their paths: tables are gone through, everything else is one value.
fn leaves(kind: &Kind, node: &Node, path: &str, values: &mut Vec<(String, String)>) {
    match (kind, &node.value) {
        (
            Kind::Table(section)
            | Kind::TableOrTables(section)
            | Kind::WordOrTable(_, section)
            | Kind::WordFileOrTable(_, section),
            Value::Table(entries),
        ) => {
            for entry in entries {
                let inner = section.key(&entry.key).map_or(Kind::Text, |key| key.kind);
                leaves(&inner, &entry.node, &format!("{path}.{}", entry.key), values);
            }
        }
        _ => values.push((path.to_owned(), text_of(node))),
    }
}

/// A value as TOML on one line.
pub(super) fn text_of(node: &Node) -> String {
    let quoted = |text: &str| toml_edit::Value::from(text).to_string().trim().to_owned();
    match &node.value {
        // One line must stay one line, whatever the text is.
        Value::Text(text) if text.contains(['\n', '\r']) => quoted(&text.replace(['\n', '\r'], " ")),
        Value::Text(text) => quoted(text),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => toml_edit::Value::from(*number).to_string(),
        Value::Bool(flag) => flag.to_string(),
        Value::Date => quoted("a date"),
        Value::List(items) => format!("[{}]", items.iter().map(text_of).collect::<Vec<_>>().join(", ")),
        Value::Table(entries) => {
            let pair = |entry: &Entry| format!("{} = {}", quoted_key(&entry.key), text_of(&entry.node));
            format!("{{ {} }}", entries.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
    }
}

fn quoted_key(key: &str) -> String {
    toml_edit::Key::new(key).display_repr().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_become_overrides_on_one_line() {
        let text =
            "[[error]]\nid = \"pull\"\non = \"ego.steering\"\n[error.offset]\nby = [\n\"1 deg\", # small\n\"2 deg\"]\n";
        let expect = r#"{ id = "pull", on = "ego.steering", offset = { by = ["1 deg", "2 deg"] } }"#;
        let errors = error_file("errors.toml", text.as_bytes()).unwrap();
        assert_eq!(errors, [("error.pull".to_owned(), expect.to_owned())]);
    }

    #[test]
    fn variations_become_one_override_per_value() {
        let text = "[ego]\nsafety_distance = \"0.3 m\"\n[ego.driver]\nkind = \"eager\"\nlateral_gain = \"2 1/m^2\"\n";
        let values = variation_file("eager.toml", text.as_bytes()).unwrap();
        let paths: Vec<&str> = values.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["ego.safety_distance", "ego.driver.kind", "ego.driver.lateral_gain"]);
        assert_eq!(values[1].1, "\"eager\"");
    }

    #[test]
    fn what_does_not_belong_there_is_located() {
        let place = |report: Report| (Code::find(report.diagnostics[0].code).unwrap(), report.diagnostics[0].line);
        assert_eq!(place(error_file("e.toml", b"\n[world]\nstep = 1\n").unwrap_err()), (Code::UnknownKey, 2));
        assert_eq!(place(error_file("e.toml", b"").unwrap_err()), (Code::Empty, 1));
        let broken = b"[[error]]\nid = \"x\"\non = \"ego.steering\"\noffset = { by = 2 }\n";
        assert_eq!(place(error_file("e.toml", broken).unwrap_err()), (Code::BareNumber, 4));
        let broken = b"[ego.driver]\nlateral_gian = \"2 1/m^2\"\n";
        assert_eq!(place(variation_file("v.toml", broken).unwrap_err()), (Code::UnknownKey, 2));
        assert!(variation_file("v.toml", b"ego = 3\n").is_err());
    }
}
