//! `--set ego.start.y="0.1 m"`: values from the command line.

use super::Report;
use super::codes::Code;
use super::keys::{self, Kind};
use super::problems::{excerpt, listed, nearest};
use super::span::{Source, Span};
use super::tree::{Document, Entry, Node, Value, diagnostic_in, parse_toml};

/// What the text of an override is called in messages.
const SOURCE_NAME: &str = "--set";
/// Most overrides of one run.
const OVERRIDES_MAX: usize = 1000;

/// One step of a path, with its place in the text of the override.
#[derive(Clone, Copy, Debug)]
struct Step<'t> {
    name: &'t str,
    start: usize,
}

impl Document {
    /// Sets a value by its path, as if the file said so. The value is read as TOML if it is some, else as text, so that
    /// quotes may be left out. Items of lists are named by their id or their number from 0.
    ///
    /// # Errors
    /// When the path does not lead anywhere. Whether the value fits is said by [`Document::read`].
    pub fn apply_override(&mut self, path: &str, value: &str) -> Result<(), Report> {
        let source = Source::new(SOURCE_NAME, format!("{path}={value}"));
        let complain = |step: Step<'_>, message: String, help: &str| {
            diagnostic_in(&source, Code::BadOverride, (step.start, step.start + step.name.len()), message, help)
        };
        let steps = steps_of(path);
        if self.sources.len() > OVERRIDES_MAX {
            let help = "put them into the file";
            return Err(complain(steps[0], format!("more than {OVERRIDES_MAX} overrides"), help).into());
        }
        let number = self.sources.len() as u16;
        let node = value_node(number, path.len() + 1, value);
        // Checked on a copy, so that a path that leads nowhere leaves nothing behind.
        let mut root = self.root.clone();
        set(&mut root, &steps, &node, number).map_err(|(step, message, help)| complain(step, message, &help))?;
        self.root = root;
        self.sources.push(source);
        Ok(())
    }
}

fn steps_of(path: &str) -> Vec<Step<'_>> {
    let mut start = 0;
    let step = |name| {
        let step = Step { name, start };
        start += name.len() + 1;
        step
    };
    path.split('.').map(step).collect()
}

/// The value as TOML if it is some, else as text; placed behind the path.
fn value_node(number: u16, start: usize, value: &str) -> Node {
    let span = Span { source: number, start, end: start + value.len() };
    let parsed = parse_toml(&Source::new(SOURCE_NAME, format!("v={value}")), number).ok();
    // More than one entry means that the value contained line breaks and keys of its own.
    let toml = parsed.filter(|root| root.entries().len() == 1).and_then(|mut root| match &mut root.value {
        Value::Table(entries) => entries.pop().map(|entry| entry.node),
        _ => None,
    });
    match toml {
        Some(mut node) => {
            move_spans(&mut node, start);
            node
        }
        None => Node { span, value: Value::Text(value.to_owned()) },
    }
}

/// From places in `v=value` to places in `path=value`.
fn move_spans(node: &mut Node, start: usize) {
    let shift = |span: &mut Span| {
        (span.start, span.end) = (span.start.saturating_sub(2) + start, span.end.saturating_sub(2) + start);
    };
    shift(&mut node.span);
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(|item| move_spans(item, start)),
        Value::Table(entries) => entries.iter_mut().for_each(|entry| {
            shift(&mut entry.key_span);
            move_spans(&mut entry.node, start);
        }),
        _ => {}
    }
}

type Nowhere<'t> = (Step<'t>, String, String);

fn set<'t>(root: &mut Node, steps: &[Step<'t>], value: &Node, number: u16) -> Result<(), Nowhere<'t>> {
    let mut node = root;
    let mut kind = Kind::Table(&keys::ROOT);
    for (i, step) in steps.iter().enumerate() {
        let span = Span { source: number, start: step.start, end: step.start + step.name.len() };
        if let Kind::TableOrTables(section) = kind {
            kind = if matches!(node.value, Value::List(_)) { Kind::Tables(section) } else { Kind::Table(section) };
        }
        if let Kind::Tables(section) = kind {
            if i + 1 == steps.len() && is_new_item(node, *step, value) {
                if let Value::List(items) = &mut node.value {
                    items.push(value.clone());
                }
                return Ok(());
            }
            node = item_of(node, *step)?;
            kind = Kind::Table(section);
            continue;
        }
        let inner = inner_kind(&kind, *step)?;
        // A word such as `driver = "calm"` gives way to a table when one of its keys is set.
        if !matches!(node.value, Value::Table(_)) {
            let named = std::mem::replace(&mut node.value, Value::Table(Vec::new()));
            keep_word(node, named, &kind);
        }
        let Value::Table(entries) = &mut node.value else { unreachable!("it was made a table above") };
        let at = entries.iter().position(|entry| entry.key == step.name).unwrap_or_else(|| {
            let empty =
                if matches!(inner, Kind::Tables(_)) { Value::List(Vec::new()) } else { Value::Table(Vec::new()) };
            entries.push(Entry { key: step.name.to_owned(), key_span: span, node: Node { span, value: empty } });
            entries.len() - 1
        });
        if i + 1 == steps.len() {
            entries[at].key_span = span;
        }
        node = &mut entries[at].node;
        kind = inner;
    }
    *node = value.clone();
    Ok(())
}

/// Keeps `"calm"` of `driver = "calm"` as the first key of the table that replaces it.
fn keep_word(node: &mut Node, named: Value, kind: &Kind) {
    let (Kind::WordOrTable(words, section) | Kind::WordFileOrTable(words, section), Value::Text(text)) = (kind, &named)
    else {
        return;
    };
    let is_file = matches!(kind, Kind::WordFileOrTable(..)) && !words.contains(&text.as_str());
    let names_it = |kind: &Kind| if is_file { matches!(kind, Kind::File) } else { matches!(kind, Kind::Word(_)) };
    let Some(key) = section.keys.iter().find(|key| names_it(&key.kind)) else { return };
    let span = node.span;
    let entry = Entry { key: key.name.to_owned(), key_span: span, node: Node { span, value: named } };
    node.value = Value::Table(vec![entry]);
}

fn inner_kind<'t>(kind: &Kind, step: Step<'t>) -> Result<Kind, Nowhere<'t>> {
    match kind {
        // Names of variables are known only when the system is assembled.
        // Paths into the scenario, which have points themselves.
        Kind::Ranges if !step.name.is_empty() => Ok(Kind::Ranges),
        Kind::Cells | Kind::ErrorSizes if !step.name.is_empty() => Ok(Kind::Text),
        _ => {
            let Some(section) = kind.section() else {
                return Err((step, format!("there is nothing below, so no `{}`", excerpt(step.name)), String::new()));
            };
            let names = || section.keys.iter().map(|key| key.name);
            section.key(step.name).map(|key| key.kind).ok_or_else(|| {
                let guess =
                    nearest(step.name, names()).map_or(String::new(), |name| format!("did you mean `{name}`? "));
                let message = format!("{} has no key `{}`", section.title, excerpt(step.name));
                (step, message, format!("{guess}here are {}", listed(names())))
            })
        }
    }
}

/// A table that calls itself by the name of the step, where no item has that name yet: it is added to the list.
fn is_new_item(list: &Node, step: Step<'_>, value: &Node) -> bool {
    let id_of = |node: &Node| node.get("id").and_then(Node::text).map(str::to_owned);
    id_of(value).is_some_and(|id| id == step.name && list.items().iter().all(|item| id_of(item).as_ref() != Some(&id)))
}

fn item_of<'n, 't>(list: &'n mut Node, step: Step<'t>) -> Result<&'n mut Node, Nowhere<'t>> {
    let ids: Vec<Option<String>> =
        list.items().iter().map(|item| item.get("id").and_then(Node::text).map(str::to_owned)).collect();
    let by_id = ids.iter().position(|id| id.as_deref() == Some(step.name));
    let index = by_id.or_else(|| step.name.parse().ok()).filter(|index| *index < ids.len());
    let help = match ids.len() {
        0 => "the list is empty".to_owned(),
        count => {
            let known = listed(ids.iter().flatten().take(20).map(String::as_str));
            format!("items are named by id ({known}) or by number from 0 to {}", count - 1)
        }
    };
    let missing = (step, format!("there is no item `{}`", excerpt(step.name)), help);
    match (&mut list.value, index) {
        (Value::List(items), Some(index)) => items.get_mut(index).ok_or(missing),
        _ => Err(missing),
    }
}
