//! The file as a tree of located values, before anything is known about its meaning.

use super::codes::Code;
use super::span::{Source, Span};
use super::{Diagnostic, Report};

/// Largest file that is read; scenarios are written by people.
pub const FILE_BYTES_MAX: usize = 4 << 20;

/// A value of the file and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub span: Span,
    pub value: Value,
}

/// What TOML can hold.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
    Date,
    List(Vec<Node>),
    Table(Vec<Entry>),
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub key: String,
    pub key_span: Span,
    pub node: Node,
}

impl Node {
    /// What a person calls its type.
    pub fn type_name(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "a text",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Bool(_) => "true or false",
            Value::Date => "a date",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
    /// The entries of a table; none for everything else.
    pub fn entries(&self) -> &[Entry] {
        if let Value::Table(entries) = &self.value { entries } else { &[] }
    }
    /// The items of a list; none for everything else.
    pub fn items(&self) -> &[Self] {
        if let Value::List(items) = &self.value { items } else { &[] }
    }
    /// The entry with this key.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }
    /// The value of this key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.node)
    }
    /// Its text, if it is one.
    pub fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }
}

/// A scenario file that is valid TOML, with the overrides applied so far.
#[derive(Clone, Debug)]
pub struct Document {
    pub(super) sources: Vec<Source>,
    pub(super) root: Node,
}

impl Document {
    /// Takes a file apart. Its name is only used in messages.
    ///
    /// # Errors
    /// When the bytes are too many, not UTF-8 or not TOML.
    pub fn parse(file_name: &str, bytes: &[u8]) -> Result<Self, Report> {
        if bytes.len() > FILE_BYTES_MAX {
            let source = Source::new(file_name, String::new());
            let message = format!("the file has {} bytes; at most {FILE_BYTES_MAX} are read", bytes.len());
            let help = "is this a scenario? They are written by hand and rarely have more than 10 kB";
            return Err(diagnostic_in(&source, Code::TooLarge, (0, 0), message, help).into());
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let source = Source::new(file_name, String::from_utf8_lossy(bytes).into_owned());
            // Before the first bad byte the lossy text has the same bytes as the file.
            let at = error.valid_up_to();
            let help = "save the file as UTF-8 in your editor";
            diagnostic_in(&source, Code::NotUtf8, (at, at + 1), "the file is not UTF-8 here".into(), help)
        })?;
        let source = Source::new(file_name, text.to_owned());
        let root = parse_toml(&source, 0)?;
        Ok(Self { sources: vec![source], root })
    }

    /// A located message about something the document says.
    pub fn diagnostic(&self, code: Code, span: Span, message: String, help: &str) -> Diagnostic {
        let source = self.sources.get(usize::from(span.source)).unwrap_or(&self.sources[0]);
        diagnostic_in(source, code, (span.start, span.end), message, help)
    }

    /// A file that the document names, as a person who named the document would write it.
    pub(super) fn beside(&self, name: &str) -> String {
        let folder = std::path::Path::new(&self.sources[0].name).parent();
        folder.map_or_else(|| name.to_owned(), |folder| folder.join(name).display().to_string())
    }

    /// Span of a part of a text value, given by byte offset and length in the text as read; the whole value if it is
    /// written with escapes.
    pub fn part_of_text(&self, whole: Span, text: &str, offset: usize, length: usize) -> Span {
        let raw = self.sources.get(usize::from(whole.source)).and_then(|s| s.text.get(whole.start..whole.end));
        match raw.and_then(|raw| raw.find(text)) {
            Some(at) if !text.is_empty() => {
                let start = (whole.start + at + offset.min(text.len())).min(whole.end);
                Span { start, end: (start + length).min(whole.end), ..whole }
            }
            _ => whole,
        }
    }
}

/// A located message about a text that may not belong to a document yet.
pub(super) fn diagnostic_in(
    source: &Source,
    code: Code,
    (start, end): (usize, usize),
    message: String,
    help: &str,
) -> Diagnostic {
    let place = source.place(start, end);
    Diagnostic {
        code: code.text(),
        file: source.name.clone(),
        line: place.line,
        column: place.column,
        length: place.length,
        message,
        help: help.to_owned(),
        source_line: place.text,
    }
}

/// Parses a text as TOML.
pub(super) fn parse_toml(source: &Source, number: u16) -> Result<Node, Report> {
    let document = toml_edit::Document::parse(source.text.as_str()).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        let message = format!("this is not valid TOML: {}", error.message());
        diagnostic_in(source, Code::Syntax, (span.start, span.end), message, syntax_help(error.message()))
    })?;
    let whole = Span { source: number, start: 0, end: 0 };
    Ok(Node { span: whole, value: Value::Table(entries_of(document.as_table(), whole)) })
}

fn syntax_help(message: &str) -> &'static str {
    if message.contains("duplicate") {
        "remove one of the two; repeated blocks are written with double brackets, such as [[error]]"
    } else if message.contains("string") || message.contains("quot") {
        "texts and quantities stand in double quotes: \"0.1 m\""
    } else {
        "keys are written `key = value`, lists `[a, b]`, tables `{ key = value, key = value }`"
    }
}

fn entries_of(table: &dyn toml_edit::TableLike, parent: Span) -> Vec<Entry> {
    let entry = |(name, item): (&str, &toml_edit::Item)| {
        let key_span = span_of(table.key(name).and_then(toml_edit::Key::span), parent);
        Some(Entry { key: name.to_owned(), key_span, node: node_of_item(item, key_span)? })
    };
    table.iter().filter_map(entry).collect()
}

fn span_of(range: Option<std::ops::Range<usize>>, fallback: Span) -> Span {
    range.map_or(fallback, |range| Span { start: range.start, end: range.end, ..fallback })
}

fn node_of_item(item: &toml_edit::Item, parent: Span) -> Option<Node> {
    match item {
        toml_edit::Item::None => None,
        toml_edit::Item::Value(value) => Some(node_of_value(value, parent)),
        toml_edit::Item::Table(table) => {
            // The span of a block may cover all of it; its header is what a message should mark.
            Some(Node { span: parent, value: Value::Table(entries_of(table, parent)) })
        }
        toml_edit::Item::ArrayOfTables(tables) => {
            let item = |table: &toml_edit::Table| {
                let span = span_of(table.span(), parent);
                Node { span, value: Value::Table(entries_of(table, span)) }
            };
            Some(Node { span: parent, value: Value::List(tables.iter().map(item).collect()) })
        }
    }
}

fn node_of_value(value: &toml_edit::Value, parent: Span) -> Node {
    let span = span_of(value.span(), parent);
    let value = match value {
        toml_edit::Value::String(text) => Value::Text(text.value().clone()),
        toml_edit::Value::Integer(number) => Value::Integer(*number.value()),
        toml_edit::Value::Float(number) => Value::Float(*number.value()),
        toml_edit::Value::Boolean(flag) => Value::Bool(*flag.value()),
        toml_edit::Value::Datetime(_) => Value::Date,
        toml_edit::Value::Array(items) => Value::List(items.iter().map(|item| node_of_value(item, span)).collect()),
        toml_edit::Value::InlineTable(table) => Value::Table(entries_of(table, span)),
    };
    Node { span, value }
}
