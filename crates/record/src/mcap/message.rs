//! Messages in the forms that viewers know.

use anabranch_kernel::maths;
use serde_json::{Map, Value, json};

use super::TraceWorld;
use crate::picture::Point;

/// Height of what is drawn, metres: a car's.
const HEIGHT_M: f64 = 1.5;
const INK: [f64; 4] = [0.55, 0.6, 0.66, 1.0];
const GREEN: [f64; 4] = [0.0, 0.62, 0.45, 1.0];
const BLUE: [f64; 4] = [0.0, 0.45, 0.7, 0.55];
const RED: [f64; 4] = [0.84, 0.15, 0.1, 1.0];

/// Weight of a log message, with the numbers of `foxglove.Log`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Level {
    Info = 2,
    Warning = 3,
    Error = 4,
}

/// A pose in the plane as position and quaternion.
pub(super) struct Place {
    position: Value,
    orientation: Value,
}

impl Place {
    pub fn of([x, y, heading]: [f64; 3]) -> Self {
        let (sin, cos) = maths::sin_cos(0.5 * heading);
        Self { position: point([x, y], 0.0), orientation: json!({ "x": 0.0, "y": 0.0, "z": sin, "w": cos }) }
    }
    fn here() -> Value {
        Self::of([0.0; 3]).pose()
    }
    fn pose(&self) -> Value {
        json!({ "position": self.position, "orientation": self.orientation })
    }
}

pub(super) fn time(at_ns: u64) -> Value {
    json!({ "sec": at_ns / 1_000_000_000, "nsec": at_ns % 1_000_000_000 })
}

fn point([x, y]: Point, z: f64) -> Value {
    json!({ "x": x, "y": y, "z": z })
}

fn colour([r, g, b, a]: [f64; 4]) -> Value {
    json!({ "r": r, "g": g, "b": b, "a": a })
}

pub(super) fn frame_transform(at_ns: u64, place: &Place) -> Value {
    json!({
        "timestamp": time(at_ns),
        "parent_frame_id": "world",
        "child_frame_id": "ego",
        "translation": place.position,
        "rotation": place.orientation,
    })
}

pub(super) fn pose_in_frame(at_ns: u64, place: &Place) -> Value {
    json!({ "timestamp": time(at_ns), "frame_id": "world", "pose": place.pose() })
}

pub(super) fn log(at_ns: u64, level: Level, text: &str) -> Value {
    json!({ "timestamp": time(at_ns), "level": level as u8, "message": text, "name": "anabranch", "file": "", "line": 0 })
}

/// Nested by the dots of the names, so that a plot is asked for as `/signals.ego.clearance`; what is not finite is null.
pub(super) fn signals(tick: u64, at_ns: u64, names: &[Vec<String>], values: &[f64]) -> Value {
    let mut root = Map::new();
    root.insert("tick".to_owned(), json!(tick));
    root.insert("timestamp".to_owned(), time(at_ns));
    for (path, value) in names.iter().zip(values) {
        let Some((last, parents)) = path.split_last() else { continue };
        let mut at = &mut root;
        for parent in parents {
            let inner = at.entry(parent.clone()).or_insert_with(|| Value::Object(Map::new()));
            if !inner.is_object() {
                *inner = Value::Object(Map::new());
            }
            let Value::Object(map) = inner else { unreachable!("it was just made one") };
            at = map;
        }
        at.insert(last.clone(), json!(value));
    }
    Value::Object(root)
}

pub(super) fn scene(world: &TraceWorld) -> Value {
    let lines = |all: &[Vec<Point>], form: Form, paint: [f64; 4]| -> Vec<Value> {
        all.iter().filter(|points| points.len() > 1).map(|points| line(points, form, paint)).collect()
    };
    let walls = entity(0, "walls", "world", &[("lines", lines(&world.walls, Form::Open, INK))]);
    let obstacles = entity(0, "obstacles", "world", &[("lines", lines(&world.obstacles, Form::Closed, INK))]);
    let path = entity(0, "path", "world", &[("lines", lines(std::slice::from_ref(&world.path), Form::Open, GREEN))]);
    let outline = lines(std::slice::from_ref(&world.outline), Form::Closed, BLUE);
    let body: Vec<Value> = body(&world.outline).into_iter().collect();
    let ego = entity(0, "ego", "ego", &[("lines", outline), ("cubes", body)]);
    json!({ "deletions": [], "entities": [walls, obstacles, path, ego] })
}

pub(super) fn contact(at_ns: u64, at: Point, words: &str) -> Value {
    let place =
        json!({ "position": point(at, 0.5 * HEIGHT_M), "orientation": { "x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0 } });
    let size = json!({ "x": 0.3, "y": 0.3, "z": 0.3 });
    let sphere = json!({ "pose": place, "size": size, "color": colour(RED) });
    let above = json!({ "position": point(at, HEIGHT_M + 0.5), "orientation": place["orientation"] });
    let text = json!({
        "pose": above, "billboard": true, "font_size": 14.0, "scale_invariant": true, "color": colour(RED), "text": words,
    });
    let entity = entity(at_ns, "contact", "world", &[("spheres", vec![sphere]), ("texts", vec![text])]);
    json!({ "deletions": [], "entities": [entity] })
}

#[derive(Clone, Copy)]
enum Form {
    Open = 0,
    Closed = 1,
}

fn line(points: &[Point], form: Form, paint: [f64; 4]) -> Value {
    json!({
        "type": form as u8,
        "pose": Place::here(),
        "thickness": 0.06,
        "scale_invariant": false,
        "points": points.iter().map(|at| point(*at, 0.0)).collect::<Vec<_>>(),
        "color": colour(paint),
        "colors": [],
        "indices": [],
    })
}

/// The box around the outline.
fn body(outline: &[Point]) -> Option<Value> {
    let low = |axis: usize| outline.iter().map(|at| at[axis]).fold(f64::INFINITY, f64::min);
    let high = |axis: usize| outline.iter().map(|at| at[axis]).fold(f64::NEG_INFINITY, f64::max);
    let (x, y) = ([low(0), high(0)], [low(1), high(1)]);
    if outline.is_empty() {
        return None;
    }
    let middle = point([0.5 * (x[0] + x[1]), 0.5 * (y[0] + y[1])], 0.5 * HEIGHT_M);
    let pose = json!({ "position": middle, "orientation": { "x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0 } });
    let size = json!({ "x": x[1] - x[0], "y": y[1] - y[0], "z": HEIGHT_M });
    Some(json!({ "pose": pose, "size": size, "color": colour(BLUE) }))
}

/// Viewers expect every list, also the empty ones.
fn entity(at_ns: u64, id: &str, frame: &str, lists: &[(&str, Vec<Value>)]) -> Value {
    let mut entity = json!({
        "timestamp": time(at_ns),
        "frame_id": frame,
        "id": id,
        "lifetime": { "sec": 0, "nsec": 0 },
        "frame_locked": true,
        "metadata": [],
    });
    for name in ["arrows", "cubes", "spheres", "cylinders", "lines", "triangles", "texts", "models"] {
        entity[name] = json!([]);
    }
    for (name, values) in lists {
        entity[*name] = json!(values);
    }
    entity
}
