//! What is looked at in everything that comes from outside, whatever link it came by.
//!
//! Two kinds of faults: an answer of another kind than the question asks for means that the instance has lost count,
//! and it is ended ([`check_kinds`]); a number that is none concerns only the branch it belongs to ([`check_answer`]).

use anabranch_kernel::CellSize;

use crate::misbehaviour::{Kind, Misbehaviour};
use crate::protocol::{Answer, Card, Decision, Moved, Op, PROTOCOL, Role, Snapshot, Support, WorldCard, WorldSegment};

/// Largest angle of front wheels that any car could mean, in radians (86°).
pub const STEER_RAD_MAX: f64 = 1.5;
/// Largest acceleration that any car could mean (five times that of gravity).
pub const ACCEL_MPS2_MAX: f64 = 50.0;
/// Most points of a trajectory: ten minutes at 50 Hz.
pub const TRAJECTORY_POINTS_MAX: usize = 30_000;
/// Farthest coordinate, in metres: half the way around the Earth.
const COORDINATE_M_MAX: f64 = 2e7;
/// Highest speed, in metres per second.
const SPEED_MPS_MAX: f64 = 1e3;
/// Longest name or version that a card may carry.
const NAME_BYTES_MAX: usize = 1_000;
/// Most variables, sites or requirements of a card.
const LIST_MAX: usize = 10_000;

/// The card of one who has not yet spoken.
pub(crate) fn no_card() -> Card {
    Card {
        protocol: PROTOCOL,
        role: Role::Driver,
        name: String::new(),
        version: String::new(),
        support: Support::None,
        snapshot: Snapshot::None,
        cycle_s: None,
        key: Vec::new(),
        saves_bytes: false,
        memoryless: false,
        wants: Vec::new(),
        code: None,
        world: None,
    }
}

fn broken(text: impl Into<String>) -> Misbehaviour {
    Misbehaviour::new(Kind::BrokenPromise, text)
}

fn ensure(holds: bool, kind: Kind, text: impl FnOnce() -> String) -> Result<(), Misbehaviour> {
    if holds { Ok(()) } else { Err(Misbehaviour::new(kind, text())) }
}

/// Whether a card makes sense.
///
/// # Errors
/// With the first thing that does not.
pub fn check_card(card: &Card) -> Result<(), Misbehaviour> {
    ensure(card.protocol == PROTOCOL, Kind::WrongVersion, || {
        format!("describes itself for version {} of the bridge protocol; this program speaks {PROTOCOL}", card.protocol)
    })?;
    let names = [&card.name, &card.version].into_iter().chain(&card.code);
    ensure(names.into_iter().all(|name| name.len() <= NAME_BYTES_MAX), Kind::Oversized, || {
        format!("a name or version of more than {NAME_BYTES_MAX} bytes")
    })?;
    if let Some(cycle_s) = card.cycle_s {
        finite("cycle_s", cycle_s)?;
        ensure(cycle_s > 0.0, Kind::OutOfRange, || format!("`cycle_s` is {cycle_s}; a cycle is longer than nothing"))?;
    }
    check_variables("key", &card.key)?;
    ensure(!card.saves_bytes || card.support == Support::Save, Kind::BrokenPromise, || {
        "claims canonical bytes of saved states (`saves_bytes`), but not `support` \"save\"".to_owned()
    })?;
    match (card.role, &card.world) {
        (Role::World, Some(world)) => check_world(world),
        (Role::World, None) => Err(broken("has the role world, but its card has no `world`")),
        (Role::Driver | Role::Actuator | Role::Plant | Role::Optimiser, _) => Ok(()),
    }
}

fn check_variables(list: &str, variables: &[crate::protocol::KeyVariable]) -> Result<(), Misbehaviour> {
    ensure(variables.len() <= LIST_MAX, Kind::Oversized, || format!("`{list}` has more than {LIST_MAX} entries"))?;
    let mut names: Vec<&str> = variables.iter().map(|variable| variable.name.as_str()).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(broken(format!("`{list}` names {:?} twice", twice[0])));
    }
    for variable in variables {
        if let Some(cell) = variable.cell {
            finite(format_args!("{list}.{}", variable.name), cell)?;
            ensure(cell >= 0.0, Kind::OutOfRange, || {
                format!("the cell of {:?} in `{list}` is negative: {cell}", variable.name)
            })?;
            // 0 stands for exact.
            ensure(cell == 0.0 || CellSize::is_countable(cell), Kind::OutOfRange, || {
                format!("nothing can be counted in cells of {cell:e}, the cell of {:?} in `{list}`", variable.name)
            })?;
        }
    }
    Ok(())
}

fn check_world(world: &WorldCard) -> Result<(), Misbehaviour> {
    check_variables("merge", &world.merge)?;
    check_variables("signals", &world.signals)?;
    for (name, seconds) in [("segment_s", world.segment_s), ("tick_s", world.tick_s)] {
        finite(name, seconds)?;
        ensure(seconds > 0.0, Kind::OutOfRange, || format!("`{name}` is {seconds}; it must be more than nothing"))?;
    }
    ensure(world.tick_s <= world.segment_s, Kind::OutOfRange, || "`tick_s` is longer than `segment_s`".to_owned())?;
    ensure(world.segments_max > 0, Kind::OutOfRange, || "`segments_max` is 0".to_owned())?;
    let known = world.requirements.len();
    ensure(world.musts.is_none_or(|musts| musts as usize <= known), Kind::OutOfRange, || {
        format!("`musts` is {}, but `requirements` has {known} names", world.musts.unwrap_or_default())
    })?;
    ensure(world.sites.len().max(world.requirements.len()) <= LIST_MAX, Kind::Oversized, || {
        format!("`sites` or `requirements` has more than {LIST_MAX} entries")
    })
}

/// What kind of answer an operation asks for.
fn suits(op: &Op, answer: &Answer) -> bool {
    matches!(
        (op, answer),
        (_, Answer::Failed { .. })
            | (Op::Describe {}, Answer::Card(_))
            | (Op::Reset { .. } | Op::Load { .. } | Op::Drop { .. } | Op::Bye {}, Answer::Done {})
            | (Op::Step { .. }, Answer::Decision(_))
            | (Op::Move { .. }, Answer::Moved(_))
            | (Op::Run { .. }, Answer::Segment(_))
            | (Op::Save { .. }, Answer::Saved { .. })
            | (Op::Ask(_), Answer::Points { .. })
    )
}

/// Name of an operation in messages.
pub fn op_name(op: &Op) -> &'static str {
    match op {
        Op::Describe {} => "describe",
        Op::Reset { .. } => "reset",
        Op::Load { .. } => "load",
        Op::Step { .. } => "step",
        Op::Move { .. } => "move",
        Op::Run { .. } => "run",
        Op::Save { .. } => "save",
        Op::Drop { .. } => "drop",
        Op::Ask(_) => "ask",
        Op::Bye {} => "bye",
    }
}

fn answer_name(answer: &Answer) -> &'static str {
    match answer {
        Answer::Card(_) => "card",
        Answer::Done {} => "done",
        Answer::Decision(_) => "decision",
        Answer::Moved(_) => "moved",
        Answer::Segment(_) => "segment",
        Answer::Saved { .. } => "saved",
        Answer::Points { .. } => "points",
        Answer::Failed { .. } => "failed",
    }
}

/// Whether each operation got one answer of the kind it asks for.
///
/// # Errors
/// [`Kind::WrongSequence`] if not: the instance has lost count and nothing it says can be trusted.
pub fn check_kinds(ops: &[Op], answers: &[Answer]) -> Result<(), Misbehaviour> {
    ensure(ops.len() == answers.len(), Kind::WrongSequence, || {
        format!("{} operations were answered {} times", ops.len(), answers.len())
    })?;
    match ops.iter().zip(answers).enumerate().find(|(_, (op, answer))| !suits(op, answer)) {
        None => Ok(()),
        Some((n, (op, answer))) => Err(Misbehaviour::new(
            Kind::WrongSequence,
            format!("operation {n} (`{}`) was answered with `{}`", op_name(op), answer_name(answer)),
        )),
    }
}

/// Whether one answer keeps what the card promises and holds only numbers that a car could mean.
///
/// # Errors
/// With the first thing that does not; it concerns the branch of this operation and no other.
pub fn check_answer(card: &Card, op: &Op, answer: &Answer) -> Result<(), Misbehaviour> {
    match (op, answer) {
        (Op::Load { token, .. }, Answer::Failed { text }) => {
            Err(broken(format!("saved state {token} cannot be loaded: {text}")))
        }
        (Op::Save { .. }, Answer::Failed { text }) => Err(broken(format!("a state cannot be saved: {text}"))),
        (op, Answer::Failed { text }) => {
            Err(Misbehaviour::of_failure(text, format!("`{}` failed: {text}", op_name(op))))
        }
        (_, Answer::Decision(decision)) => check_decision(card, decision),
        (_, Answer::Moved(moved)) => check_moved(card, moved),
        (Op::Run { record, .. }, Answer::Segment(segment)) => {
            let world = card.world.as_deref().ok_or_else(|| broken("answers as a world without a card of one"))?;
            check_segment(world, segment, *record)
        }
        // Bytes may be left out where the memory cannot be told: such a state is merged with no other.
        (_, Answer::Saved { bytes, .. }) => ensure(card.saves_bytes || bytes.is_none(), Kind::BrokenPromise, || {
            "claims no canonical bytes (`saves_bytes`), but a saved state has some".to_owned()
        }),
        (_, Answer::Points { points }) => {
            points.iter().flatten().try_for_each(|place| finite("a place of a point", *place))
        }
        (_, Answer::Card(card)) => check_card(card),
        (_, Answer::Done {} | Answer::Segment(_)) => Ok(()),
    }
}

fn finite(name: impl std::fmt::Display, value: f64) -> Result<(), Misbehaviour> {
    ensure(value.is_finite(), Kind::NotANumber, || format!("`{name}` is {value}"))
}

fn within(name: impl std::fmt::Display, value: f64, limit: f64) -> Result<(), Misbehaviour> {
    finite(&name, value)?;
    ensure(value.abs() <= limit, Kind::OutOfRange, || format!("`{name}` is {value}; it must lie within ±{limit}"))
}

fn check_decision(card: &Card, decision: &Decision) -> Result<(), Misbehaviour> {
    within("steer", decision.steer, STEER_RAD_MAX)?;
    within("accel", decision.accel, ACCEL_MPS2_MAX)?;
    ensure(matches!(decision.gear, None | Some(-1 | 1)), Kind::OutOfRange, || {
        format!("`gear` is {}; it is 1, −1 or absent", decision.gear.unwrap_or_default())
    })?;
    check_key(card, &decision.key)?;
    check_trajectory(&decision.trajectory)
}

/// Whether a part gave what its role asks for, in numbers that a car could have.
fn check_moved(card: &Card, moved: &Moved) -> Result<(), Misbehaviour> {
    for (name, value) in moved.named() {
        let limit = match name {
            "x" | "y" => COORDINATE_M_MAX,
            "speed" => SPEED_MPS_MAX,
            "steer" => STEER_RAD_MAX,
            "accel" => ACCEL_MPS2_MAX,
            _ => f64::MAX,
        };
        within(name, value, limit)?;
    }
    let needed: &[&str] = match card.role {
        Role::Plant => &["x", "y", "heading", "speed"],
        Role::Actuator => &["steer", "accel"],
        Role::Driver | Role::World | Role::Optimiser => &[],
    };
    for name in needed {
        let is_there = moved.named().any(|(given, _)| given == *name);
        ensure(is_there, Kind::BrokenPromise, || format!("the {} gives no `{name}`", card.role.word()))?;
    }
    check_key(card, &moved.key)
}

fn check_key(card: &Card, key: &[f64]) -> Result<(), Misbehaviour> {
    ensure(key.len() == card.key.len(), Kind::BrokenPromise, || {
        format!("`key` has {} values; the card promises {}", key.len(), card.key.len())
    })?;
    key.iter().zip(&card.key).try_for_each(|(value, variable)| finite(format_args!("key.{}", variable.name), *value))
}

fn check_trajectory(points: &[crate::protocol::TrajectoryPoint]) -> Result<(), Misbehaviour> {
    ensure(points.len() <= TRAJECTORY_POINTS_MAX, Kind::Oversized, || {
        format!("a trajectory of {} points; the limit is {TRAJECTORY_POINTS_MAX}", points.len())
    })?;
    for (n, point) in points.iter().enumerate() {
        finite(format_args!("trajectory[{n}].time_s"), point.time_s)?;
        finite(format_args!("trajectory[{n}].heading_rad"), point.heading_rad)?;
        within(format_args!("trajectory[{n}].x_m"), point.x_m, COORDINATE_M_MAX)?;
        within(format_args!("trajectory[{n}].y_m"), point.y_m, COORDINATE_M_MAX)?;
        within(format_args!("trajectory[{n}].speed_mps"), point.speed_mps, SPEED_MPS_MAX)?;
    }
    match points.windows(2).position(|pair| pair[1].time_s <= pair[0].time_s) {
        None => Ok(()),
        Some(n) => Err(Misbehaviour::new(
            Kind::OutOfRange,
            format!("trajectory[{}].time_s is not after the point before it", n + 1),
        )),
    }
}

fn check_segment(world: &WorldCard, segment: &WorldSegment, record: bool) -> Result<(), Misbehaviour> {
    ensure(segment.values.len() == world.merge.len(), Kind::BrokenPromise, || {
        format!("`values` has {} numbers; `merge` of the card has {}", segment.values.len(), world.merge.len())
    })?;
    for (value, variable) in segment.values.iter().zip(&world.merge) {
        finite(format_args!("values.{}", variable.name), *value)?;
    }
    finite("danger", segment.danger)?;
    if let Some(margin) = segment.margin {
        finite("margin", margin)?;
    }
    for name in segment.violated.iter().chain(&segment.notes) {
        ensure(world.requirements.contains(name), Kind::BrokenPromise, || {
            format!("names the requirement {name:?}, which its card does not have")
        })?;
    }
    // Signals may be "not a number" where there is nothing to show; their number may not differ.
    let wrong = segment.frames.iter().position(|frame| frame.len() != world.signals.len());
    ensure(wrong.is_none(), Kind::BrokenPromise, || {
        format!("frame {} has another number of values than the card has `signals`", wrong.unwrap_or_default())
    })?;
    ensure(record || segment.frames.is_empty(), Kind::BrokenPromise, || "sent frames that nobody asked for".to_owned())
}
