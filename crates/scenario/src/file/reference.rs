//! The JSON schema for editors and the format reference, both from the table of keys.

use std::fmt::Write;

use anabranch_kernel::units::{Dimension, UNITS};
use anabranch_roads::codes::{self, MapCode};
use serde_json::{Map, Value, json};

use super::codes::Code;
use super::keys::{self, Amount, Key, Kind, Need, Quantity, SCHEMA, Section, Sign};
use super::values::{dimension_name, written};

/// A JSON schema (draft 2020-12) of scenario files, for completion and checking in editors.
pub fn schema_json() -> Value {
    let Value::Object(mut schema) = section_schema(&keys::ROOT) else { unreachable!("sections become objects") };
    schema.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".into(), json!("Anabranch scenario"));
    if let Some(line) = schema.get_mut("properties").and_then(|properties| properties.get_mut("schema")) {
        *line = json!({ "const": SCHEMA, "description": "Version of the format." });
    }
    Value::Object(schema)
}

fn section_schema(section: &'static Section) -> Value {
    let mut properties = Map::new();
    for key in section.keys {
        properties.insert(key.name.into(), key_schema(key));
    }
    let required: Vec<&str> = section.keys.iter().filter(|k| k.need == Need::Required).map(|k| k.name).collect();
    let mut schema = json!({
        "type": "object",
        "description": section.doc,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    if !section.exactly_one.is_empty() {
        let one: Vec<Value> = section.exactly_one.iter().map(|name| json!({ "required": [name] })).collect();
        schema["oneOf"] = json!(one);
    }
    schema
}

fn key_schema(key: &'static Key) -> Value {
    let mut schema = kind_schema(&key.kind);
    schema["description"] = json!(key.doc);
    if let Need::Default(default) = key.need
        && !default.is_empty()
    {
        schema["default"] = match key.kind {
            Kind::Flag => json!(default == "true"),
            Kind::Count { .. } => json!(default.parse::<u64>().unwrap_or_default()),
            Kind::Quantity(quantity) if quantity.dimensions.contains(&Dimension::Number) => {
                json!(default.parse::<f64>().unwrap_or_default())
            }
            _ => json!(default),
        };
    }
    schema
}

fn kind_schema(kind: &Kind) -> Value {
    match kind {
        Kind::Text | Kind::Expression => json!({ "type": "string" }),
        Kind::Id => json!({ "type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$" }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Count { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::Quantity(quantity) => quantity_schema(quantity),
        Kind::Points => {
            let coordinate = json!({ "type": "string", "pattern": pattern(&[Dimension::Length]) });
            json!({ "type": "array", "items": { "type": "array", "items": coordinate, "minItems": 2, "maxItems": 2 } })
        }
        Kind::Table(section) => section_schema(section),
        Kind::Tables(section) => json!({ "type": "array", "items": section_schema(section), "minItems": 1 }),
        Kind::TableOrTables(section) => {
            let many = json!({ "type": "array", "items": section_schema(section), "minItems": 1 });
            json!({ "anyOf": [section_schema(section), many] })
        }
        Kind::WordOrTable(words, section) => json!({ "anyOf": [{ "enum": words }, section_schema(section)] }),
        Kind::WordFileOrTable(words, section) => {
            // Any text may name a file; the words are what editors complete.
            json!({ "anyOf": [{ "type": "string", "examples": words }, section_schema(section)] })
        }
        Kind::File => json!({ "type": "string" }),
        Kind::Texts => json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 }),
        Kind::ErrorSizes => {
            let size = json!({ "type": ["string", "number", "array"] });
            json!({ "type": "object", "additionalProperties": size })
        }
        Kind::Ranges => json!({ "type": "object" }),
        Kind::Cells => {
            let size = json!({ "type": ["string", "number"] });
            json!({ "anyOf": [{ "const": "none" }, { "type": "object", "additionalProperties": size }] })
        }
        Kind::Weights => {
            let weight = json!({ "type": "number", "minimum": 0 });
            let named = json!({ "type": "object", "additionalProperties": weight });
            json!({ "anyOf": [{ "type": "array", "items": weight, "minItems": 1 }, named] })
        }
    }
}

fn quantity_schema(quantity: &Quantity) -> Value {
    let number = quantity.dimensions.contains(&Dimension::Number);
    let one = if number {
        json!({ "type": "number" })
    } else {
        json!({ "type": "string", "pattern": pattern(quantity.dimensions) })
    };
    match quantity.amount {
        Amount::One => one,
        Amount::Several => {
            let range = json!({ "type": "string", "pattern": "\\.\\..*step" });
            json!({ "anyOf": [one, range, { "type": "array", "items": one, "minItems": 1 }] })
        }
    }
}

fn pattern(dimensions: &[Dimension]) -> String {
    let units = dimensions.iter().flat_map(|d| d.units()).map(|unit| unit.name.replace('^', "\\^"));
    format!("^\\s*[-+]?[0-9._]+([eE][-+]?[0-9]+)?\\s*({})\\s*$", units.collect::<Vec<_>>().join("|"))
}

/// The whole format as Markdown: every table, key, type, default and unit.
pub fn format_reference() -> String {
    let mut out = String::from("# Scenario files\n\nGenerated from the table of keys that the reader uses.\n\n");
    out += "Scenario files are TOML. Every value with a dimension is a text with its unit, such as `\"0.1 m\"`. Where the \
            type says *or several*, a list (`[\"1 m\", \"2 m\"]`) or a range (`\"0.5 m .. 2 m step 0.5 m\"`) works \
            as well. Unknown keys are errors.\n";
    for section in keys::sections() {
        let _ = write!(out, "\n## `{}`\n\n{}\n", section.title, section.doc);
        if !section.exactly_one.is_empty() {
            let names: Vec<String> = section.exactly_one.iter().map(|name| format!("`{name}`")).collect();
            let _ = write!(out, "\nExactly one of {}.\n", names.join(", "));
        }
        out += "\n| key | type | if left out | meaning |\n|---|---|---|---|\n";
        for key in section.keys {
            let need = match key.need {
                Need::Required => "must be there".to_owned(),
                Need::Optional | Need::Default("") => "–".to_owned(),
                Need::Default(text) => format!("`{text}`"),
            };
            let _ = writeln!(out, "| `{}` | {} | {need} | {} |", key.name, kind_text(&key.kind), key.doc);
        }
    }
    out += "\n## Units\n\nNo value is larger than the last column says, whatever its sign, and a positive one is at least 1e-9 of the first unit: \
            beyond, numbers lose their digits and grids over the world cannot be counted.\n\n| of | units | at most |\n|---|---|---|\n";
    let mut dimensions: Vec<Dimension> = UNITS.iter().map(|unit| unit.dimension).collect();
    dimensions.dedup();
    for dimension in dimensions {
        let units: Vec<String> = dimension.units().map(|unit| format!("`{}`", unit.name)).collect();
        let _ = writeln!(
            out,
            "| {} | {} | {} |",
            dimension_name(dimension),
            units.join(", "),
            written(dimension.largest(), dimension)
        );
    }
    out
}

fn kind_text(kind: &Kind) -> String {
    let words = |words: &[&str]| words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", ");
    match kind {
        Kind::Text => "text".into(),
        Kind::Id => "name".into(),
        Kind::Flag => "`true` or `false`".into(),
        Kind::Count { min, max } => format!("whole number from {min} to {max}"),
        Kind::Word(list) => words(list),
        Kind::Quantity(quantity) => quantity_text(quantity),
        Kind::Points => "list of `[\"x\", \"y\"]`".into(),
        Kind::Table(section) => format!("table `{}`", section.title),
        Kind::Tables(section) => format!("any number of `{}`", section.title),
        Kind::TableOrTables(section) => format!("one or any number of `{}`", section.title),
        Kind::WordOrTable(list, section) => format!("{} or table `{}`", words(list), section.title),
        Kind::WordFileOrTable(list, section) => {
            format!("{}, the name of a file or table `{}`", words(list), section.title)
        }
        Kind::File => "name of a file, relative to this one".into(),
        Kind::Texts => "list of texts".into(),
        Kind::ErrorSizes => "table of sizes, or lists of them, by the id of an error".into(),
        Kind::Ranges => "table of ranges, lists or signals by path".into(),
        Kind::Cells => "table of cell sizes, `\"exact\"` or `\"ignore\"` by variable; or `\"none\"`".into(),
        Kind::Weights => "table of weights by mode, or list of weights".into(),
        Kind::Expression => "expression".into(),
    }
}

fn quantity_text(quantity: &Quantity) -> String {
    let names: Vec<&str> = quantity.dimensions.iter().map(|d| dimension_name(*d)).collect();
    let sign = match quantity.sign {
        Sign::Any => "",
        Sign::NotNegative => ", not negative",
        Sign::Positive => ", positive",
    };
    let amount = if quantity.amount == Amount::Several { ", or several" } else { "" };
    let most = match quantity.dimensions {
        [dimension] if quantity.most.is_finite() => format!(", at most {}", written(quantity.most, *dimension)),
        _ => String::new(),
    };
    format!("{}{sign}{most}{amount}", names.join(" or "))
}

/// Every code with its explanation as Markdown.
pub fn codes_reference() -> String {
    let mut out = String::from("# What the codes of messages mean\n\nThose of maps (E0601 to E0799) come last.\n");
    for code in Code::ALL {
        let _ = write!(out, "\n## {code}: {}\n\n{}\n", code.title(), code.explanation());
    }
    for MapCode { text, title, explanation } in codes::ALL {
        let _ = write!(out, "\n## {text}: {title}\n\n{explanation}\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The schema of a key, looked for through lists and alternatives.
    fn object(schema: &Value) -> &Value {
        match schema {
            Value::Object(map) if map.contains_key("items") => object(&schema["items"]),
            Value::Object(map) if map.contains_key("anyOf") => object(&schema["anyOf"][1]),
            other => other,
        }
    }

    fn check_section(section: &'static Section, schema: &Value) {
        let properties = schema["properties"].as_object().expect(section.title);
        assert_eq!(properties.len(), section.keys.len(), "{}", section.title);
        for key in section.keys {
            let found = properties.get(key.name).expect(key.name);
            assert!(found["description"].is_string(), "{} {}", section.title, key.name);
            if let Some(inner) = key.kind.section() {
                check_section(inner, object(found));
            }
        }
    }

    #[test]
    fn schema_and_reference_name_every_key_the_reader_knows() {
        check_section(&keys::ROOT, &schema_json());
        let reference = format_reference();
        for section in keys::sections() {
            assert!(reference.contains(&format!("## `{}`", section.title)), "{}", section.title);
            for key in section.keys {
                assert!(reference.contains(&format!("| `{}` |", key.name)), "{} {}", section.title, key.name);
            }
        }
    }

    #[test]
    fn the_reference_of_codes_explains_each() {
        let text = codes_reference();
        assert!(Code::ALL.iter().all(|code| text.contains(code.text()) && text.contains(code.explanation())));
    }
}
