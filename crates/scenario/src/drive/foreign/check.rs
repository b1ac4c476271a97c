//! Whether a decision is one: finite, within what a car can do, and complete.

use anabranch_bridge::{Card, Decision, Kind, Misbehaviour};

/// No car turns its wheels further.
const STEER_MAX_RAD: f64 = 1.5;
/// No car accelerates or brakes harder.
const ACCEL_MAX_MPS2: f64 = 50.0;
/// Longer trajectories are noise.
const POINTS_MAX: usize = 10_000;

/// Looks at everything a decision says.
pub(super) fn check(card: &Card, decision: &Decision) -> Result<(), Misbehaviour> {
    let wrong = |kind: Kind, text: String| Err(Misbehaviour::new(kind, text));
    for (name, value) in named(card, decision) {
        if !value.is_finite() {
            return wrong(Kind::NotANumber, format!("`{name}` is {value}"));
        }
    }
    for (name, value, most) in [("steer", decision.steer, STEER_MAX_RAD), ("accel", decision.accel, ACCEL_MAX_MPS2)] {
        if value.abs() > most {
            return wrong(Kind::OutOfRange, format!("`{name}` is {value}; at most {most} is possible"));
        }
    }
    if let Some(gear) = decision.gear.filter(|gear| gear.abs() != 1) {
        return wrong(Kind::OutOfRange, format!("`gear` is {gear}; it is 1 or -1"));
    }
    if decision.key.len() != card.key.len() {
        let text = format!("`key` has {} values; the card names {}", decision.key.len(), card.key.len());
        return wrong(Kind::BrokenPromise, text);
    }
    if decision.trajectory.len() > POINTS_MAX {
        let text = format!("`trajectory` has {} points; at most {POINTS_MAX} are read", decision.trajectory.len());
        return wrong(Kind::OutOfRange, text);
    }
    if decision.trajectory.windows(2).any(|pair| pair[1].time_s <= pair[0].time_s) {
        return wrong(Kind::OutOfRange, "the times of `trajectory` do not grow".to_owned());
    }
    Ok(())
}

/// Every number of a decision with its name.
pub(super) fn named<'a>(card: &'a Card, decision: &'a Decision) -> impl Iterator<Item = (String, f64)> + 'a {
    let key = decision.key.iter().enumerate().map(|(index, value)| {
        let name = card.key.get(index).map_or_else(|| index.to_string(), |key| key.name.clone());
        (format!("key.{name}"), *value)
    });
    let points = decision.trajectory.iter().enumerate().flat_map(|(index, point)| {
        let values = [
            ("time_s", point.time_s),
            ("x_m", point.x_m),
            ("y_m", point.y_m),
            ("heading_rad", point.heading_rad),
            ("speed_mps", point.speed_mps),
        ];
        values.map(|(name, value)| (format!("trajectory.{index}.{name}"), value))
    });
    let plain = [("steer", decision.steer), ("accel", decision.accel)];
    plain.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(key).chain(points)
}

#[cfg(test)]
mod tests {
    use anabranch_bridge::protocol::KeyVariable;
    use anabranch_bridge::{PROTOCOL, Role, Snapshot, Support, TrajectoryPoint};

    use super::*;

    fn card() -> Card {
        Card {
            protocol: PROTOCOL,
            role: Role::Driver,
            name: "x".to_owned(),
            version: String::new(),
            support: Support::Replay,
            snapshot: Snapshot::None,
            cycle_s: None,
            key: vec![KeyVariable { name: "integral".to_owned(), unit: String::new(), cell: None }],
            saves_bytes: false,
            memoryless: false,
            wants: Vec::new(),
            code: None,
            world: None,
        }
    }

    #[test]
    fn every_wrong_number_is_named_with_its_kind() {
        let good = Decision { key: vec![1.0], ..Decision::default() };
        assert_eq!(check(&card(), &good), Ok(()));
        let refused = |decision: Decision, kind: Kind, word: &str| {
            let found = check(&card(), &decision).unwrap_err();
            assert_eq!(found.kind, kind, "{found}");
            assert!(found.text.contains(word), "{found}");
        };
        refused(Decision { steer: f64::NAN, ..good.clone() }, Kind::NotANumber, "steer");
        refused(Decision { accel: f64::INFINITY, ..good.clone() }, Kind::NotANumber, "accel");
        refused(Decision { key: vec![f64::NAN], ..good.clone() }, Kind::NotANumber, "key.integral");
        refused(Decision { steer: 2.0, ..good.clone() }, Kind::OutOfRange, "steer");
        refused(Decision { accel: -51.0, ..good.clone() }, Kind::OutOfRange, "accel");
        refused(Decision { gear: Some(2), ..good.clone() }, Kind::OutOfRange, "gear");
        refused(Decision { key: Vec::new(), ..good.clone() }, Kind::BrokenPromise, "key");
        let point = |time_s: f64| TrajectoryPoint { time_s, ..TrajectoryPoint::default() };
        refused(Decision { trajectory: vec![point(1.0), point(1.0)], ..good.clone() }, Kind::OutOfRange, "times");
        refused(Decision { trajectory: vec![point(f64::NAN)], ..good }, Kind::NotANumber, "trajectory.0.time_s");
    }
}
