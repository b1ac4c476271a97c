//! Short names for `--set`: `safety_distance` where only `ego.safety_distance` can be meant.

use super::Report;
use super::codes::Code;
use super::keys::{self, Kind, Section};
use super::problems::listed;
use super::span::Source;
use super::tree::{Document, Node, diagnostic_in};

/// Candidates that a message lists.
const LISTED_MAX: usize = 20;

impl Document {
    /// The whole path that a short one means: names may be left out from its front and its middle as long as one value
    /// alone can be meant. A path that begins at the top of the file is taken as it is.
    ///
    /// # Errors
    /// When several values can be meant; the message lists them.
    pub fn full_path(&self, path: &str) -> Result<String, Report> {
        let steps: Vec<&str> = path.split('.').collect();
        if keys::ROOT.key(steps[0]).is_some() {
            return Ok(path.to_owned());
        }
        let mut known = Vec::new();
        collect(&keys::ROOT, Some(&self.root), &mut Vec::new(), &mut known);
        let meant: Vec<String> = known.iter().filter(|full| is_short_for(&steps, full)).map(|f| f.join(".")).collect();
        match meant.as_slice() {
            // Nothing is meant: `apply_override` says so, with a guess.
            [] => Ok(path.to_owned()),
            [one] => Ok(one.clone()),
            several => {
                let source = Source::new("--set", path.to_owned());
                let message = format!("`{path}` can mean {} values of this scenario", several.len());
                let help = format!("write one of {}", listed(several.iter().take(LISTED_MAX).map(String::as_str)));
                Err(diagnostic_in(&source, Code::BadOverride, (0, path.len()), message, &help).into())
            }
        }
    }
}

/// Whether all steps occur in this order and the last is the last.
fn is_short_for(steps: &[&str], full: &[String]) -> bool {
    let mut rest = full.iter();
    steps.last().copied() == full.last().map(String::as_str) && steps.iter().all(|step| rest.any(|name| name == step))
}

/// Every value that the file has or could have. Alternatives (the kinds of an error) count only where they are written.
fn collect(section: &'static Section, node: Option<&Node>, path: &mut Vec<String>, known: &mut Vec<Vec<String>>) {
    for key in section.keys {
        let inner = node.and_then(|node| node.get(key.name));
        if inner.is_none() && section.exactly_one.contains(&key.name) {
            continue;
        }
        path.push(key.name.to_owned());
        match key.kind {
            Kind::Table(below) | Kind::WordOrTable(_, below) | Kind::WordFileOrTable(_, below) => {
                known.push(path.clone());
                collect(below, inner, path, known);
            }
            Kind::TableOrTables(below) if inner.is_none_or(|inner| inner.items().is_empty()) => {
                known.push(path.clone());
                collect(below, inner, path, known);
            }
            Kind::Tables(below) | Kind::TableOrTables(below) => {
                for (number, item) in inner.map_or(&[][..], Node::items).iter().enumerate() {
                    let id = item.get("id").and_then(Node::text).map_or_else(|| number.to_string(), str::to_owned);
                    path.push(id);
                    collect(below, Some(item), path, known);
                    path.pop();
                }
            }
            _ => known.push(path.clone()),
        }
        path.pop();
    }
}
