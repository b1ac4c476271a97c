//! The file as tables of located values, before anything is known about its meaning.

use toml_edit::{Item, TableLike, Value};

use crate::report::{Notes, Span};

/// A table of the file: its keys are taken out one by one, and what is left over is a mistake.
pub(super) struct Table<'d> {
    pub span: Span,
    table: &'d dyn TableLike,
    taken: Vec<&'static str>,
    /// Those of them that are values.
    values: Vec<&'static str>,
}

/// A value of the file and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Node<'d> {
    pub span: Span,
    pub value: &'d Value,
}

/// A span of the parser, or else the one given.
fn span_or(range: Option<std::ops::Range<usize>>, fallback: Span) -> Span {
    range.map_or(fallback, |range| Span { start: range.start, end: range.end })
}

impl<'d> Table<'d> {
    pub fn new(table: &'d dyn TableLike, span: Span) -> Self {
        Self { span, table, taken: Vec::new(), values: Vec::new() }
    }

    /// The value of a key.
    pub fn take(&mut self, key: &'static str) -> Option<Node<'d>> {
        self.taken.push(key);
        self.values.push(key);
        let value = self.table.get(key)?.as_value()?;
        Some(Node { span: span_or(value.span(), self.key_span(key)), value })
    }

    /// The tables of a key that is written as `[[key]]`, or as a list of tables in braces.
    pub fn tables(&mut self, key: &'static str, notes: &mut Notes<'_>) -> Vec<Table<'d>> {
        self.taken.push(key);
        let whole = self.key_span(key);
        match self.table.get(key) {
            None => Vec::new(),
            Some(Item::ArrayOfTables(tables)) => {
                tables.iter().map(|table| Table::new(table, span_or(table.span(), whole))).collect()
            }
            Some(Item::Value(Value::Array(items))) => {
                let node = |value: &'d Value| Node { span: span_or(value.span(), whole), value };
                items.iter().filter_map(|value| node(value).table(notes)).collect()
            }
            Some(_) => {
                let help = format!("write [[{key}]] before each of them");
                notes.add("E0107", whole, format!("`{key}` is a list of tables"), help);
                Vec::new()
            }
        }
    }

    /// The table of a key.
    pub fn table(&mut self, key: &'static str, notes: &mut Notes<'_>) -> Option<Table<'d>> {
        self.taken.push(key);
        let (span, item) = (self.key_span(key), self.table.get(key)?);
        let table = item.as_table_like().map(|table| Table::new(table, span));
        if table.is_none() {
            notes.add("E0107", span, format!("`{key}` is a table"), format!("write [{key}] before its keys"));
        }
        table
    }

    /// Complains about keys that nobody took, and about tables where a value was looked for.
    pub fn finish(self, notes: &mut Notes<'_>) {
        for key in self.values.iter().filter(|key| self.table.get(key).is_some_and(|item| !item.is_value())) {
            let help = format!("write `{key} = …`");
            notes.add("E0107", self.key_span(key), format!("`{key}` is a value, not a table"), help);
        }
        for (key, _) in self.table.iter().filter(|(key, _)| !self.taken.contains(key)) {
            let distance = |known: &&str| strsim::damerau_levenshtein(key, known);
            let similar = self.taken.iter().copied().min_by_key(|known| distance(known));
            let help = match similar.filter(|known| distance(known) <= (key.chars().count() / 3).max(1)) {
                Some(known) => format!("did you mean `{known}`?"),
                None => format!("known keys: {}", self.taken.join(", ")),
            };
            notes.add("E0105", self.key_span(key), format!("nobody reads the key `{key}`"), help);
        }
    }

    fn key_span(&self, key: &str) -> Span {
        span_or(self.table.key(key).and_then(toml_edit::Key::span), self.span)
    }
}

impl<'d> Node<'d> {
    /// The items of a list.
    pub fn items(self, notes: &mut Notes<'_>) -> Vec<Node<'d>> {
        let Some(items) = self.value.as_array() else {
            self.complain("a list", "write [a, b]", notes);
            return Vec::new();
        };
        items.iter().map(|value| Node { span: span_or(value.span(), self.span), value }).collect()
    }
    /// The table in braces.
    pub fn table(self, notes: &mut Notes<'_>) -> Option<Table<'d>> {
        let table = self.value.as_inline_table().map(|table| Table::new(table, self.span));
        if table.is_none() {
            self.complain("a table", "write { key = value, key = value }", notes);
        }
        table
    }
    /// The text in quotes.
    pub fn text(self, notes: &mut Notes<'_>) -> Option<&'d str> {
        let text = self.value.as_str();
        if text.is_none() {
            self.complain("a text", "write it in quotes", notes);
        }
        text
    }
    /// Notes that a value has another type than `wanted`.
    pub fn complain(self, wanted: &str, help: &str, notes: &mut Notes<'_>) {
        let what = match self.value {
            Value::String(_) => "a text",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Boolean(_) => "true or false",
            Value::Datetime(_) => "a date",
            Value::Array(_) => "a list",
            Value::InlineTable(_) => "a table",
        };
        notes.add("E0107", self.span, format!("{wanted} is needed here, not {what}"), help);
    }
}
