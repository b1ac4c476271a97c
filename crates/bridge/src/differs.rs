//! Where two messages differ first, in words.

use serde::Serialize;
use serde_json::Value;

/// The path of the first field that differs, with both values.
pub(crate) fn first_difference<T: Serialize>(first: &T, second: &T) -> String {
    // What JSON cannot hold (a number that is none) is shown as null.
    let value = |message: &T| serde_json::to_value(message).unwrap_or(Value::Null);
    walk(String::new(), &value(first), &value(second)).unwrap_or_else(|| "only in what cannot be shown".to_owned())
}

fn walk(path: String, first: &Value, second: &Value) -> Option<String> {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match (first, second) {
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => {
            a.iter().zip(b.values()).find_map(|((name, a), b)| walk(below(name), a, b))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(n, (a, b))| walk(format!("{path}[{n}]"), a, b))
        }
        _ if first == second => None,
        _ => Some(format!("`{path}` is {} instead of {}", short(second), short(first))),
    }
}

fn short(value: &Value) -> String {
    let mut text = value.to_string();
    if let Some((at, _)) = text.char_indices().nth(80) {
        text.truncate(at);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Answer, Decision};

    #[test]
    fn the_first_field_that_differs_is_named() {
        let decision = |steer, key: &[f64]| Answer::Decision(Decision { steer, key: key.to_vec(), ..Decision::default() });
        let check = |a, b, expect: &str| assert_eq!(first_difference(&a, &b), expect);
        check(decision(0.5, &[1.0]), decision(0.25, &[1.0]), "`decision.steer` is 0.25 instead of 0.5");
        check(decision(0.5, &[1.0, 2.0]), decision(0.5, &[1.0, 3.0]), "`decision.key[1]` is 3.0 instead of 2.0");
        check(decision(0.5, &[]), Answer::Done {}, "`` is {\"done\":{}} instead of {\"decision\":{\"accel\":0.0,\"completed\":false,\"gear\":null,\"key\":[],\"steer\":0.5,\"tr…");
    }
}
