//! Slope arithmetic keeps its promise: for any two starts of a box the computed numbers lie in the range and differ by no
//! more than the slopes and the rest allow.

use anabranch_kernel::maths::{Interval, Real, Slope, TablePlace, atan, sin_cos, tan, wrap_angle};
use proptest::prelude::*;

const TABLE: [f64; 9] = [0.0, 1.0, 1.5, 1.2, 1.2, 3.0, 2.0, -1.0, 0.5];

/// Looks up the table as a path is looked up.
fn look_up<R: Real>(x: R) -> R {
    let place = ((x + R::splat(1.0)) * R::splat(2.5)).max(R::splat(0.0));
    let last = R::splat(TABLE.len() as f64 - 2.0);
    let index = place.floor().min(last);
    let at = TablePlace { place, index, share: (place - index).min(R::splat(1.0)), last };
    R::between(&at, |_, index| TABLE[index])
}

/// Every operation, one result each.
fn operations<R: Real>(x: R, y: R, z: R) -> Vec<R> {
    let (sin, cos) = sin_cos(x * R::splat(2.0) + y);
    let two = R::splat(2.0);
    vec![
        x + y * z,
        x * y - z * x,
        x / (two + y * y),
        (x * x + y * y + R::splat(0.1)).sqrt(),
        (x - y).abs(),
        x.min(y).max(z * R::splat(0.3)),
        (x * R::splat(3.0)).clamp(R::splat(-0.5), y + R::splat(1.0)),
        sin * z,
        cos - sin,
        tan(y * R::splat(0.4)),
        atan(x * R::splat(1.7) - z),
        wrap_angle(x + R::splat(6.0)),
        wrap_angle(x * R::splat(0.5)),
        look_up(x),
        look_up(y) * sin,
        x.approach(y, R::splat(0.3)),
        x.approach_within(y, R::splat(0.7), R::splat(0.2)),
        x.approach_within(z * R::splat(0.1), R::splat(0.7), R::splat(0.05)),
        R::select((x + R::splat(9.0)).lt(R::splat(0.0)), y, z),
    ]
}

/// A small closed loop with a limit, a lag and a turn: what the product bounds.
fn small_loop<R: Real>(mut y: R, mut heading: R, mut steering: R) -> Vec<R> {
    for _ in 0..60 {
        let wanted = atan(-(y * R::splat(0.8) + heading * R::splat(2.6)));
        steering = steering.approach_within(wanted, R::splat(0.1), R::splat(0.01));
        heading = heading + R::splat(0.004) * tan(steering);
        y = y + R::splat(0.01) * sin_cos(heading).0;
    }
    vec![y, heading, steering]
}

#[derive(Debug)]
struct Case {
    mid: [f64; 3],
    half: [f64; 3],
    starts: [[f64; 3]; 2],
}

fn cases(spread: f64) -> impl Strategy<Value = Case> {
    let numbers = |range: std::ops::Range<f64>| prop::array::uniform3(range);
    let shares = || prop::array::uniform3(-1.0..=1.0_f64);
    (numbers(-1.0..1.0), numbers(0.0..spread), shares(), shares()).prop_map(|(mid, half, p, q)| {
        let start = |shares: [f64; 3]| std::array::from_fn(|i| mid[i] + half[i] * 0.999_999 * shares[i]);
        Case { mid, half, starts: [start(p), start(q)] }
    })
}

/// Returns how many results were bounded.
fn check(case: &Case, bounds: &[Slope<3>], run: impl Fn([f64; 3]) -> Vec<f64>) -> Result<usize, TestCaseError> {
    let [p, q] = case.starts;
    let (mid, at_p, at_q) = (run(case.mid), run(p), run(q));
    let mut bounded = 0;
    for (n, bound) in bounds.iter().enumerate() {
        prop_assert_eq!(bound.mid.to_bits(), mid[n].to_bits(), "{} in the middle", n);
        prop_assert!(bound.range.contains(at_p[n]) && bound.range.contains(at_q[n]), "{n}: {bound:?} {}", at_p[n]);
        if !bound.is_bounded() {
            continue;
        }
        bounded += 1;
        let share = |i: usize| Interval::point((p[i] - q[i]) / case.half[i].max(1e-300)).widened(1e-9);
        let explained =
            (0..3).filter(|&i| case.half[i] > 0.0).fold(Interval::ZERO, |sum, i| sum + bound.slope[i] * share(i));
        let allowed = explained.widened(bound.rest);
        prop_assert!(allowed.contains(at_p[n] - at_q[n]), "{n}: {bound:?} {}", at_p[n] - at_q[n]);
    }
    Ok(bounded)
}

fn seeds(case: &Case) -> [Slope<3>; 3] {
    std::array::from_fn(|i| Slope::start(case.mid[i], case.half[i], i))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_operation_keeps_the_promise(case in cases(0.4)) {
        let [x, y, z] = seeds(&case);
        let bounded = check(&case, &operations(x, y, z), |[x, y, z]| operations(x, y, z))?;
        prop_assert!(bounded >= 18, "{bounded} bounded");
    }

    #[test]
    fn a_closed_loop_keeps_the_promise(case in cases(0.05)) {
        let [x, y, z] = seeds(&case);
        let run = |[y, heading, steering]: [f64; 3]| small_loop(y, heading * 0.2, steering * 0.2);
        let bounds = small_loop(x, y * Slope::fixed(0.2), z * Slope::fixed(0.2));
        prop_assert_eq!(check(&case, &bounds, run)?, 3);
    }
}

#[test]
fn a_decision_that_can_fall_differently_has_no_bound() {
    let x = Slope::<1>::start(0.0, 0.1, 0);
    let (one, two, edge) = (Slope::fixed(1.0), Slope::fixed(2.0), Slope::fixed(0.05));
    let jump = Slope::select(x.lt(edge), one, two);
    assert!(!jump.is_bounded() && jump.range == Interval::new(1.0, 2.0) && jump.mid == 1.0);
    assert!(!x.floor().is_bounded() && !x.sqrt().is_bounded() && !(one / x).is_bounded());
    let decided = Slope::select(x.lt(one), one, two);
    assert!(decided.is_fixed() && decided.mid == 1.0);
    assert!(x.lt(edge).is_open() && !x.lt(one).is_open() && (!x.lt(edge)).is_open());
}

#[test]
fn slopes_are_tight_where_the_loop_is_linear() {
    let y = Slope::<3>::start(0.0, 0.01, 0);
    let zero = Slope::fixed(0.0);
    let end = small_loop(y, zero, zero);
    let (apart, together) = (small_loop(0.01, 0.0, 0.0)[0], small_loop(0.0, 0.0, 0.0)[0]);
    let slope = (apart - together).abs();
    assert!(end[0].slope[0].magnitude() < 1.02 * slope + 1e-9, "{:?} {slope}", end[0]);
}
