//! Ranges, alternatives, signals and their errors.

use anabranch_search::{Dimension, Shape, SignalRange, Space, SpaceError};
use proptest::prelude::*;

fn signal(points: usize, shape: Shape) -> SignalRange {
    let (name, unit) = ("throttle".to_owned(), "%".to_owned());
    SignalRange { name, unit, lo: 0.0, hi: 100.0, points, shape, horizon_seconds: 30.0 }
}

#[test]
fn bad_ranges_are_named() {
    let check = |dimensions: Vec<Dimension>, expect: &str| {
        let message = Space::new(dimensions).expect_err("a bad space").to_string();
        assert_eq!(message, expect);
    };
    check(
        vec![Dimension::real("ego.y", "m", 2.0, 1.0)],
        "`ego.y`: the range 2 … 1 is backwards; write the smaller number first",
    );
    check(
        vec![Dimension::real("ego.y", "m", f64::NAN, 1.0)],
        "`ego.y`: the range NaN … 1 is not finite; give two numbers",
    );
    check(
        vec![Dimension::whole("cars", "", 3, -1)],
        "`cars`: the range 3 … -1 is backwards; write the smaller number first",
    );
    check(
        vec![Dimension::one_of("weather", &[])],
        "`weather`: there is nothing to choose from; name at least one alternative",
    );
    check(
        vec![Dimension::real("a", "", 0.0, 1.0), Dimension::real("a", "", 0.0, 1.0)],
        "`a` varies twice; remove one of the ranges",
    );
}

#[test]
fn empty_spaces_and_signals_are_refused() {
    assert_eq!(Space::default().layout(), Err(SpaceError::Empty));
    let message = Space::default().with_signal(signal(1, Shape::Linear)).expect_err("one point is no line").to_string();
    assert_eq!(message, "signal `throttle`: 1 control points are too few; it needs at least 2");
    let endless = SignalRange { horizon_seconds: 0.0, ..signal(3, Shape::Constant) };
    assert!(Space::default().with_signal(endless).is_err());
    assert!(matches!(Space::default().with_signal(signal(5000, Shape::Constant)), Err(SpaceError::TooMany { .. })));
}

#[test]
fn signals_become_dimensions_and_back() {
    let space = Space::new(vec![Dimension::real("a", "m", 0.0, 1.0)])
        .and_then(|s| s.with_signal(signal(3, Shape::Constant)))
        .expect("a space");
    let names: Vec<&str> = space.dimensions().iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, ["a", "throttle[0]", "throttle[1]", "throttle[2]"]);
    let (range, group) = &space.signals()[0];
    let values = space.values(&[0.5, 0.0, 0.25, 1.0]);
    assert_eq!(values, [0.5, 0.0, 25.0, 100.0]);
    let points = &values[group.start..group.start + group.len];
    let at = |t: f64| range.at(points, t);
    assert_eq!([at(-1.0), at(0.0), at(9.9), at(10.0), at(25.0), at(31.0)], [0.0, 0.0, 0.0, 25.0, 100.0, 100.0]);
    assert_eq!(range.times(), [0.0, 10.0, 20.0]);
}

#[test]
fn linear_signals_go_from_point_to_point() {
    let range = signal(4, Shape::Linear);
    let points = [0.0, 30.0, 10.0, 10.0];
    for (t, expect) in [(0.0, 0.0), (5.0, 15.0), (10.0, 30.0), (15.0, 20.0), (25.0, 10.0), (30.0, 10.0), (40.0, 10.0)] {
        assert!((range.at(&points, t) - expect).abs() < 1e-12, "{t}: {}", range.at(&points, t));
    }
    assert_eq!(range.times(), [0.0, 10.0, 20.0, 30.0]);
}

#[test]
fn points_are_told_in_words() {
    let space = Space::new(vec![Dimension::real("gap", "m", 0.0, 10.0), Dimension::one_of("sky", &["clear", "fog"])])
        .expect("a space");
    assert_eq!(space.describe(&[2.5, 1.0]), "gap = 2.5 m, sky = fog");
    assert!(matches!(space.unit(&[1.0]), Err(SpaceError::Length { expected: 2, found: 1 })));
}

proptest! {
    #[test]
    fn values_are_inside_and_come_back(lo in -1e6..1e6_f64, width in 0.0..1e6_f64, unit in 0.0..=1.0_f64, n in 1_i64..50) {
        let labels = ["a", "b", "c", "d"];
        let space = Space::new(vec![
            Dimension::real("r", "", lo, lo + width),
            Dimension::whole("w", "", -n, n),
            Dimension::one_of("o", &labels),
        ]).expect("a space");
        let values = space.values(&[unit; 3]);
        prop_assert!(values[0] >= lo && values[0] <= lo + width);
        prop_assert!(values[1] >= -n as f64 && values[1] <= n as f64 && values[1].fract() == 0.0);
        prop_assert!((0.0..4.0).contains(&values[2]) && values[2].fract() == 0.0);
        let again = space.values(&space.unit(&values).expect("its own values"));
        prop_assert!((again[0] - values[0]).abs() <= 1e-9 * (1.0 + lo.abs() + width));
        prop_assert_eq!(&again[1..], &values[1..]);
    }
}
