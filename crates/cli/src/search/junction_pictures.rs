//! The accident at the T-junction from three places, by the projector that draws every finding on roads.

use anabranch_problems::{JunctionCar, JunctionSight};
use anabranch_record::picture::{Face, Mover, Prism, Rgb, Shape, Sight};

const HEDGE: Rgb = [0.2, 0.45, 0.2];
const HEDGE_HEIGHT_M: f64 = 1.8;
const WHITE: Rgb = [0.95, 0.95, 0.95];
const POST: Rgb = [0.6, 0.6, 0.6];
const RED: Rgb = [0.8, 0.1, 0.1];
const OWN: Rgb = [0.15, 0.4, 0.8];
const OTHER: Rgb = [0.85, 0.45, 0.1];

/// What is to be drawn.
pub(super) fn sight(seen: &JunctionSight, title: String) -> Sight {
    let mover = |name: &str, car: &JunctionCar, colour: Rgb| Mover {
        name: name.to_owned(),
        pose: car.pose,
        half_m: seen.half_m,
        shape: Shape::Car,
        colour,
        speed_mps: Some(car.speed_mps),
        way: car.way.clone(),
    };
    let [x, y, heading] = seen.sign;
    let mut standing = vec![
        Prism::block([x, y, heading], [0.05, 0.05], [0.0, 2.0], POST),
        Prism::block([x, y, heading], [0.04, 0.4], [2.0, 2.8], RED),
    ];
    standing.extend(Prism::above(&seen.hedge, [0.0, HEDGE_HEIGHT_M], HEDGE));
    Sight {
        title,
        time_s: seen.time_s,
        light: 0.6 + 0.4 * seen.light,
        surfaces: seen.roads.clone(),
        paint: seen.lines.iter().map(|line| Face::ground(line, WHITE)).collect(),
        standing,
        own: mover("car under test", &seen.own, OWN),
        drawn: Vec::new(),
        touched: Some(mover("other", &seen.other, OTHER)),
        contact: None,
        bystanders: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_problems::{Instance, Junction};

    #[test]
    fn an_accident_is_seen_from_three_places() {
        let junction = Junction::new(Instance::default());
        let states = junction.states();
        let seen = junction.sight(&states).unwrap();
        let sight = sight(&seen, "ran into <each other>".to_owned());
        let pictures = sight.pictures();
        for (view, picture) in &pictures {
            assert!(picture.starts_with("<svg") && picture.contains("ran into &lt;each other&gt;"), "{}", view.name());
            // The road, the hedge and at least one whole car.
            assert!(picture.matches("<path").count() > 12, "{}: {picture}", view.name());
            assert!(!picture.contains("NaN") && !picture.contains("inf"), "{}", view.name());
        }
        assert!(pictures[0].1 != pictures[1].1 && pictures[1].1 != pictures[2].1);
        assert_eq!(junction.sight(&[]), None);
    }
}
