//! First pass: does the document have the keys, types and units that the table of keys allows?

use anabranch_kernel::CellSize;
use anabranch_kernel::units::{Dimension, UNITS};

use super::build::search::{is_leaf, over};
use super::codes::Code;
use super::keys::{self, Amount, Key, Kind, Need, Quantity, SCHEMA, Section, Sign};
use super::problems::{Problem, Problems, excerpt, listed, nearest};
use super::span::Span;
use super::tree::{Entry, Node, Value};
use super::values::{read_quantity, read_values, within};

/// Most blocks or items of one list of tables.
pub const TABLES_MAX: usize = 10_000;
/// Most points of one wall or polygon; crossing edges are looked for pair by pair.
pub const POINTS_MAX: usize = 1000;
/// Longest id, because it becomes part of file names.
const ID_CHARS_MAX: usize = 64;

pub(super) const WEIGHT: Quantity =
    Quantity { dimensions: &[Dimension::Number], sign: Sign::NotNegative, amount: Amount::One, most: f64::INFINITY };
pub(super) const WEIGHTS: Quantity = Quantity { amount: Amount::Several, ..WEIGHT };
pub(super) const COORDINATE: Quantity =
    Quantity { dimensions: &[Dimension::Length], sign: Sign::Any, amount: Amount::One, most: f64::INFINITY };

/// Checks the whole document; what it lets pass can be built.
pub(super) fn check_root(problems: &mut Problems<'_>) {
    let root = &problems.document.root;
    check_table(problems, root, &keys::ROOT);
    if let Some(node) = root.get("schema")
        && let Some(text) = node.text()
        && text != SCHEMA
    {
        let message = format!("this version cannot read the schema `{}`", excerpt(text));
        problems.add(Code::UnknownSchema, node.span, message, format!("write schema = \"{SCHEMA}\""));
    }
}

pub(super) fn check_table(problems: &mut Problems<'_>, node: &Node, section: &'static Section) {
    for entry in node.entries() {
        match section.key(&entry.key) {
            Some(key) => check_value(problems, &entry.node, key),
            None => unknown_key(problems, entry, section),
        }
    }
    for key in section.keys.iter().filter(|key| key.need == Need::Required && node.get(key.name).is_none()) {
        missing_key(problems, node.span, key, section);
    }
    check_alternatives(problems, node, section);
}

pub(super) fn unknown_key(problems: &mut Problems<'_>, entry: &Entry, section: &'static Section) {
    let names = || section.keys.iter().map(|key| key.name);
    let elsewhere = keys::sections().into_iter().find(|other| other.key(&entry.key).is_some());
    let help = match (nearest(&entry.key, names()), elsewhere) {
        (Some(name), _) => format!("did you mean `{name}`?"),
        (None, Some(other)) => {
            format!("`{}` belongs into {}; here are {}", entry.key, other.title, listed(names()))
        }
        (None, None) => format!("here are {}", listed(names())),
    };
    let message = format!("{} has no key `{}`", section.title, excerpt(&entry.key));
    problems.add(Code::UnknownKey, entry.key_span, message, help);
}

fn missing_key(problems: &mut Problems<'_>, span: Span, key: &Key, section: &Section) {
    if key.name == "schema" {
        let help = format!("begin the file with schema = \"{SCHEMA}\"");
        return problems.add(Code::NoSchema, span, "the file does not say its schema", help);
    }
    let message = format!("{} needs the key `{}`", section.title, key.name);
    let help = match example(&key.kind) {
        Some(example) => format!("add {} = {example}: {}", key.name, key.doc),
        None => format!("add `{}`: {}", key.name, key.doc),
    };
    problems.add(Code::MissingKey, span, message, help);
}

fn example(kind: &Kind) -> Option<String> {
    match kind {
        Kind::Quantity(quantity) => quantity.dimensions.first().map(|d| match d {
            Dimension::Number => "0.8".to_owned(),
            _ => format!("\"1 {}\"", d.si()),
        }),
        Kind::Count { .. } => Some("8".into()),
        Kind::Word(words) => words.first().map(|word| format!("\"{word}\"")),
        Kind::Points => Some("[[\"0 m\", \"0 m\"], [\"1 m\", \"0 m\"]]".into()),
        Kind::Id => Some("\"some-name\"".into()),
        _ => None,
    }
}

fn check_alternatives(problems: &mut Problems<'_>, node: &Node, section: &Section) {
    let there: Vec<&Entry> =
        node.entries().iter().filter(|entry| section.exactly_one.contains(&entry.key.as_str())).collect();
    if let [first, second, ..] = there[..] {
        let message = format!("`{}` and `{}` exclude each other in {}", first.key, second.key, section.title);
        problems.add(Code::Exclusive, second.key_span, message, "keep one of them, or write a block for each");
    }
    if there.is_empty() && !section.exactly_one.is_empty() {
        let choices = listed(section.exactly_one.iter().copied());
        let message = format!("{} needs one of {choices}", section.title);
        problems.add(Code::NoneOf, node.span, message, "add exactly one of them");
    }
}

fn check_value(problems: &mut Problems<'_>, node: &Node, key: &'static Key) {
    match &key.kind {
        Kind::Text | Kind::Expression => check_text(problems, node, key),
        Kind::Id => check_id(problems, node, key),
        Kind::Flag => {
            if !matches!(node.value, Value::Bool(_)) {
                wrong_type(problems, node, key, "true or false", "write true or false, without quotes");
            }
        }
        Kind::Count { min, max } => check_count(problems, node, key, (*min, *max)),
        Kind::Word(words) => check_word(problems, node, key, words),
        Kind::Quantity(quantity) => {
            for (span, problem) in read_values(node, quantity).err().unwrap_or_default() {
                problems.report(span, Problem { message: format!("`{}`: {}", key.name, problem.message), ..problem });
            }
        }
        Kind::Points => check_points(problems, node, key),
        Kind::Table(section) => check_inner(problems, node, key, section),
        Kind::Tables(section) => check_tables(problems, node, key, section),
        Kind::TableOrTables(section) => match node.value {
            Value::List(_) => check_tables(problems, node, key, section),
            _ => check_inner(problems, node, key, section),
        },
        Kind::WordOrTable(words, section) => match node.value {
            Value::Table(_) => check_table(problems, node, section),
            _ => check_word(problems, node, key, words),
        },
        Kind::WordFileOrTable(words, section) => match &node.value {
            Value::Table(_) => check_table(problems, node, section),
            Value::Text(text) if is_file_name(text) => {}
            _ => check_word(problems, node, key, words),
        },
        Kind::File => check_text(problems, node, key),
        Kind::Texts => check_texts(problems, node, key),
        Kind::Cells => check_cells(problems, node, key),
        Kind::Weights => check_weights(problems, node, key),
        Kind::ErrorSizes => check_error_sizes(problems, node, key),
        Kind::Ranges => check_ranges(problems, node, key),
    }
}

fn wrong_type(problems: &mut Problems<'_>, node: &Node, key: &Key, wanted: &str, help: &str) {
    let message = format!("`{}` is {wanted}, not {}", key.name, node.type_name());
    problems.add(Code::WrongType, node.span, message, help);
}

fn check_text(problems: &mut Problems<'_>, node: &Node, key: &Key) {
    match node.text() {
        None => wrong_type(problems, node, key, "a text", "put it in double quotes"),
        Some(text) if text.trim().is_empty() && key.need != Need::Default("") => {
            problems.add(Code::Empty, node.span, format!("`{}` is empty", key.name), key.doc);
        }
        Some(_) => {}
    }
}

fn check_id(problems: &mut Problems<'_>, node: &Node, key: &Key) {
    let Some(text) = node.text() else {
        return wrong_type(problems, node, key, "a name", "put it in double quotes");
    };
    let good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if text.is_empty() {
        problems.add(Code::Empty, node.span, format!("`{}` is empty", key.name), key.doc);
    } else if !text.chars().all(good) || text.chars().count() > ID_CHARS_MAX {
        let message = format!("`{}` is not a name", excerpt(text));
        let kept: String = text.chars().map(|c| if good(c) { c } else { '-' }).take(ID_CHARS_MAX).collect();
        let help = format!("names have letters, digits, `-` and `_`, at most {ID_CHARS_MAX}; for example \"{kept}\"");
        problems.add(Code::BadId, node.span, message, help);
    }
}

fn check_count(problems: &mut Problems<'_>, node: &Node, key: &Key, (min, max): (u64, u64)) {
    match &node.value {
        Value::Integer(number) => {
            if !u64::try_from(*number).is_ok_and(|number| (min..=max).contains(&number)) {
                let message = format!("`{}` goes from {min} to {max}, and this is {number}", key.name);
                problems.add(Code::OutOfRange, node.span, message, key.doc);
            }
        }
        Value::List(_) => {
            let message = format!("`{}` is one whole number, not a list", key.name);
            problems.add(Code::OneValue, node.span, message, "keep one value of the list");
        }
        _ => wrong_type(problems, node, key, "a whole number", "write a number such as 8, without quotes and unit"),
    }
}

fn check_word(problems: &mut Problems<'_>, node: &Node, key: &Key, words: &[&'static str]) {
    let Some(text) = node.text() else {
        let help = format!("write one of {} in double quotes", listed(words.iter().copied()));
        return wrong_type(problems, node, key, "a word", &help);
    };
    if words.contains(&text) {
        return;
    }
    let guess = nearest(text, words.iter().copied()).map_or(String::new(), |word| format!("did you mean `{word}`? "));
    let outside = UNREAD.iter().any(|end| text.ends_with(end));
    let note = if outside { "files from outside are not read by this version; " } else { "" };
    let message = format!("`{}` does not know `{}`", key.name, excerpt(text));
    problems.add(
        Code::UnknownWord,
        node.span,
        message,
        format!("{note}{guess}it is {}", listed(words.iter().copied())),
    );
}

/// Files that a later version will read.
const UNREAD: [&str; 1] = [".car"];

/// A text that is meant as the name of a file: words have neither points nor slashes.
fn is_file_name(text: &str) -> bool {
    text.contains(['.', '/', '\\']) && !UNREAD.iter().any(|end| text.ends_with(end))
}

fn check_texts(problems: &mut Problems<'_>, node: &Node, key: &Key) {
    let help = "write [\"python3\", \"av.py\"]";
    let Value::List(items) = &node.value else {
        return wrong_type(problems, node, key, "a list of texts", help);
    };
    if items.is_empty() {
        problems.add(Code::Empty, node.span, format!("`{}` is empty", key.name), help);
    }
    for item in items.iter().filter(|item| item.text().is_none()) {
        wrong_type(problems, item, key, "a list of texts", help);
    }
}

fn check_points(problems: &mut Problems<'_>, node: &Node, key: &Key) {
    let help = "points are written [[\"0 m\", \"0 m\"], [\"1 m\", \"0 m\"]]";
    let Value::List(points) = &node.value else {
        return wrong_type(problems, node, key, "a list of points", help);
    };
    if points.len() > POINTS_MAX {
        let message = format!("`{}` has {} points; at most {POINTS_MAX} are read", key.name, points.len());
        return problems.add(Code::TooMany, node.span, message, "split it into several");
    }
    for point in points {
        let [_, _] = point.items() else {
            let message = format!("a point of `{}` has two coordinates", key.name);
            problems.add(Code::WrongType, point.span, message, help);
            continue;
        };
        for coordinate in point.items() {
            for (span, problem) in read_values(coordinate, &COORDINATE).err().unwrap_or_default() {
                problems.report(span, problem);
            }
        }
    }
}

fn check_inner(problems: &mut Problems<'_>, node: &Node, key: &Key, section: &'static Section) {
    if let Value::Table(_) = node.value {
        check_table(problems, node, section);
    } else {
        let help = format!("write {}", section.title);
        wrong_type(problems, node, key, "a table", &help);
    }
}

fn check_tables(problems: &mut Problems<'_>, node: &Node, key: &Key, section: &'static Section) {
    let help = format!("write {}", section.title);
    let Value::List(items) = &node.value else {
        return wrong_type(problems, node, key, "a list of tables", &help);
    };
    if items.len() > TABLES_MAX {
        let message = format!("`{}` has {} items; at most {TABLES_MAX} are read", key.name, items.len());
        return problems.add(Code::TooMany, node.span, message, "remove some");
    }
    // A search that varies how many others there are also asks for none.
    if items.is_empty() && key.name != "object" {
        return problems.add(Code::Empty, node.span, format!("`{}` is empty", key.name), "leave the key out");
    }
    for item in items {
        check_inner(problems, item, key, section);
    }
}

fn check_weights(problems: &mut Problems<'_>, node: &Node, key: &Key) {
    let values: Vec<(&Node, &Quantity)> = match &node.value {
        Value::Table(named) => named.iter().map(|entry| (&entry.node, &WEIGHT)).collect(),
        Value::List(_) => vec![(node, &WEIGHTS)],
        _ => {
            let help = "write { \"left 0.1 m\" = 2.0 } or [1, 2]";
            return wrong_type(problems, node, key, "a table or a list of weights", help);
        }
    };
    for (value, wanted) in values {
        for (span, problem) in read_values(value, wanted).err().unwrap_or_default() {
            problems.report(span, problem);
        }
    }
}

fn check_cells(problems: &mut Problems<'_>, node: &Node, key: &Key) {
    let help = "write { x = \"0.1 m\", heading = \"0.02 rad\", gear = \"ignore\" } or \"none\"";
    match &node.value {
        Value::Text(text) if text == "none" => {}
        Value::Text(text) => {
            let message = format!("`{}` does not know `{}`", key.name, excerpt(text));
            problems.add(Code::UnknownWord, node.span, message, help);
        }
        Value::Table(cells) => cells.iter().for_each(|cell| check_cell(problems, cell)),
        _ => wrong_type(problems, node, key, "a table of cell sizes or \"none\"", help),
    }
}

fn check_cell(problems: &mut Problems<'_>, cell: &Entry) {
    match cell_size(&cell.node) {
        Ok(Some((size, _))) if size <= 0.0 => {
            let help = "write a positive size, \"exact\" or \"ignore\"";
            problems.add(
                Code::CellSize,
                cell.node.span,
                format!("the cell of `{}` has no size", excerpt(&cell.key)),
                help,
            );
        }
        Ok(Some((size, _))) if !CellSize::is_countable(size) => {
            let help = "write a size by which values can be counted, such as \"0.1 m\", or \"exact\" or \"ignore\"";
            let message = format!("nothing can be counted in cells of this size: `{}`", excerpt(&cell.key));
            problems.add(Code::CellSize, cell.node.span, message, help);
        }
        Ok(_) => {}
        Err(problem) => problems.report(cell.node.span, problem),
    }
}

fn check_ranges(problems: &mut Problems<'_>, node: &Node, key: &Key) {
    let help = "write paths with what they vary over, as in ego.start.y = \"-0.3 m .. 0.3 m\"";
    let Value::Table(entries) = &node.value else {
        return wrong_type(problems, node, key, "a table of ranges", help);
    };
    if entries.is_empty() {
        problems.add(Code::Empty, node.span, format!("`{}` is empty", key.name), help);
    }
    for entry in entries {
        if !is_leaf(&entry.node) {
            check_ranges(problems, &entry.node, key);
        } else if let Err((message, help)) = over(&entry.node) {
            problems.add(Code::BadRange, entry.node.span, format!("`{}`: {message}", excerpt(&entry.key)), help);
        }
    }
}

fn check_error_sizes(problems: &mut Problems<'_>, node: &Node, key: &Key) {
    let help = "write the largest size of each error, as in { estimate-jump = \"0.05 m\" }";
    let Value::Table(sizes) = &node.value else {
        return wrong_type(problems, node, key, "a table of sizes by error", help);
    };
    if sizes.is_empty() {
        problems.add(Code::Empty, node.span, format!("`{}` is empty", key.name), help);
    }
    for item in sizes.iter().flat_map(|entry| items_or_self(&entry.node)) {
        match cell_size(item) {
            Ok(Some((size, _))) if size < 0.0 => {
                problems.add(Code::NotPositive, item.span, "a size is not negative", help);
            }
            Ok(Some(_)) => {}
            Ok(None) => problems.add(Code::WrongType, item.span, "a size is a quantity, not a word", help),
            Err(problem) => problems.report(item.span, problem),
        }
    }
}

/// The items of a list, or the one value that is none.
pub(super) fn items_or_self(node: &Node) -> &[Node] {
    if let Value::List(items) = &node.value { items } else { std::slice::from_ref(node) }
}

/// A cell size of whatever dimension; `None` for the words.
pub(super) fn cell_size(node: &Node) -> Result<Option<(f64, Dimension)>, Problem> {
    let number = match &node.value {
        Value::Text(text) if text == "ignore" || text == "exact" => return Ok(None),
        Value::Text(text) => {
            let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || "+-._eE".contains(c)).trim();
            let known = UNITS.iter().find(|known| known.name == unit);
            let read = read_quantity(text, &[known.map_or(Dimension::Number, |unit| unit.dimension)])?;
            return within(read.0, read.1).map(|()| Some(read));
        }
        Value::Integer(number) => *number as f64,
        Value::Float(number) => *number,
        _ => {
            let message = format!("a cell size is a quantity, \"exact\" or \"ignore\", not {}", node.type_name());
            return Err(Problem::new(Code::WrongType, message, "write for example \"0.1 m\""));
        }
    };
    if number.is_finite() {
        within(number, Dimension::Number).map(|()| Some((number, Dimension::Number)))
    } else {
        Err(Problem::new(Code::NotFinite, "the number is not finite", "use a finite number"))
    }
}
