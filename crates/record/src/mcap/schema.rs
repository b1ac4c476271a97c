//! JSON schemas of the messages: the fields that are written, with the names and types of the Foxglove schemas.

use anabranch_kernel::Signal;
use serde_json::{Map, Value, json};

fn object(title: &str, properties: &[(&str, Value)]) -> Value {
    let properties: Map<String, Value> =
        properties.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({ "title": title, "type": "object", "properties": properties })
}

fn list(items: &Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn number() -> Value {
    json!({ "type": "number" })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn truth() -> Value {
    json!({ "type": "boolean" })
}

fn time() -> Value {
    let nanoseconds = json!({ "type": "integer", "minimum": 0, "maximum": 999_999_999 });
    object("time", &[("sec", json!({ "type": "integer", "minimum": 0 })), ("nsec", nanoseconds)])
}

fn vector(title: &str) -> Value {
    object(title, &[("x", number()), ("y", number()), ("z", number())])
}

fn quaternion() -> Value {
    object("foxglove.Quaternion", &[("x", number()), ("y", number()), ("z", number()), ("w", number())])
}

fn pose() -> Value {
    object("foxglove.Pose", &[("position", vector("foxglove.Vector3")), ("orientation", quaternion())])
}

fn colour() -> Value {
    object("foxglove.Color", &[("r", number()), ("g", number()), ("b", number()), ("a", number())])
}

pub(super) fn frame_transform() -> Value {
    object(
        "foxglove.FrameTransform",
        &[
            ("timestamp", time()),
            ("parent_frame_id", text()),
            ("child_frame_id", text()),
            ("translation", vector("foxglove.Vector3")),
            ("rotation", quaternion()),
        ],
    )
}

pub(super) fn pose_in_frame() -> Value {
    object("foxglove.PoseInFrame", &[("timestamp", time()), ("frame_id", text()), ("pose", pose())])
}

pub(super) fn log() -> Value {
    let levels = ["UNKNOWN", "DEBUG", "INFO", "WARNING", "ERROR", "FATAL"];
    let levels: Vec<Value> =
        levels.iter().enumerate().map(|(value, title)| json!({ "title": title, "const": value })).collect();
    object(
        "foxglove.Log",
        &[
            ("timestamp", time()),
            ("level", json!({ "title": "foxglove.LogLevel", "oneOf": levels })),
            ("message", text()),
            ("name", text()),
            ("file", text()),
            ("line", json!({ "type": "integer", "minimum": 0 })),
        ],
    )
}

pub(super) fn scene_update() -> Value {
    let solid =
        |title: &str| object(title, &[("pose", pose()), ("size", vector("foxglove.Vector3")), ("color", colour())]);
    let other = |title: &str| list(&object(title, &[]));
    let entity = object(
        "foxglove.SceneEntity",
        &[
            ("timestamp", time()),
            ("frame_id", text()),
            ("id", text()),
            (
                "lifetime",
                object("duration", &[("sec", json!({ "type": "integer" })), ("nsec", json!({ "type": "integer" }))]),
            ),
            ("frame_locked", truth()),
            ("metadata", list(&object("foxglove.KeyValuePair", &[("key", text()), ("value", text())]))),
            ("arrows", other("foxglove.ArrowPrimitive")),
            ("cubes", list(&solid("foxglove.CubePrimitive"))),
            ("spheres", list(&solid("foxglove.SpherePrimitive"))),
            ("cylinders", other("foxglove.CylinderPrimitive")),
            ("lines", list(&line())),
            ("triangles", other("foxglove.TriangleListPrimitive")),
            ("texts", list(&label())),
            ("models", other("foxglove.ModelPrimitive")),
        ],
    );
    let deletion = object(
        "foxglove.SceneEntityDeletion",
        &[("timestamp", time()), ("type", json!({ "type": "integer" })), ("id", text())],
    );
    object("foxglove.SceneUpdate", &[("deletions", list(&deletion)), ("entities", list(&entity))])
}

fn line() -> Value {
    let forms: Vec<Value> = ["LINE_STRIP", "LINE_LOOP", "LINE_LIST"]
        .iter()
        .enumerate()
        .map(|(value, title)| json!({ "title": title, "const": value }))
        .collect();
    object(
        "foxglove.LinePrimitive",
        &[
            ("type", json!({ "title": "foxglove.LineType", "oneOf": forms })),
            ("pose", pose()),
            ("thickness", number()),
            ("scale_invariant", truth()),
            ("points", list(&vector("foxglove.Point3"))),
            ("color", colour()),
            ("colors", list(&colour())),
            ("indices", list(&json!({ "type": "integer", "minimum": 0 }))),
        ],
    )
}

fn label() -> Value {
    object(
        "foxglove.TextPrimitive",
        &[
            ("pose", pose()),
            ("billboard", truth()),
            ("font_size", number()),
            ("scale_invariant", truth()),
            ("color", colour()),
            ("text", text()),
        ],
    )
}

/// One property per signal, nested by the dots of its name; the unit is its description.
pub(super) fn signals(signals: &[Signal]) -> Value {
    let mut root = object("anabranch.Signals", &[("tick", json!({ "type": "integer" })), ("timestamp", time())]);
    for signal in signals {
        let parts: Vec<&str> = signal.name.split('.').collect();
        let Some((last, parents)) = parts.split_last() else { continue };
        let mut at = &mut root;
        for parent in parents {
            let inner = &mut at["properties"][*parent];
            if inner["type"] != "object" {
                *inner = object(parent, &[]);
            }
            at = inner;
        }
        at["properties"][*last] = json!({ "type": ["number", "null"], "description": signal.unit });
    }
    root
}
