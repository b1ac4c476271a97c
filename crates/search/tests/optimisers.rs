//! Each method on functions with known minima, with thresholds that random points do not reach.

use anabranch_kernel::Seed;
use anabranch_search::{Layout, Method, Optimiser, Space, Told};

use crate::functions::{best_of_seeds, mixed, mixed_space, ranges, rastrigin, rosenbrock, sphere};

/// The median of five seeds is below the threshold, and random points are above it with every seed.
fn check(method: Method, space: &Space, f: fn(&[f64]) -> f64, simulations: u64, threshold: f64) {
    let found = best_of_seeds(method, space, f, simulations);
    let random = best_of_seeds(Method::Random, space, f, simulations);
    assert!(found[2] < threshold, "{}: {found:?} in {simulations} is not below {threshold}", method.name());
    assert!(random[0] > threshold, "random points reach {threshold} too: {random:?}");
}

#[test]
fn annealing_finds_minima() {
    check(Method::Annealing, &ranges(10, 0.0, 1.0), sphere, 1500, 0.01);
    check(Method::Annealing, &ranges(4, -2.0, 2.0), rosenbrock, 3000, 0.5);
    check(Method::Annealing, &ranges(6, -4.0, 5.0), rastrigin, 4000, 20.0);
}

#[test]
fn cma_es_finds_minima() {
    check(Method::CmaEs, &ranges(10, 0.0, 1.0), sphere, 1500, 1e-5);
    check(Method::CmaEs, &ranges(6, -2.0, 2.0), rosenbrock, 6000, 1e-3);
    check(Method::CmaEsBipop, &ranges(6, -4.0, 5.0), rastrigin, 8000, 5.0);
}

#[test]
fn cross_entropy_finds_minima() {
    check(Method::CrossEntropy, &ranges(10, 0.0, 1.0), sphere, 1500, 0.01);
    check(Method::CrossEntropy, &mixed_space(), mixed, 1000, 0.02);
}

#[test]
fn nelder_mead_finds_minima() {
    check(Method::NelderMead, &ranges(5, 0.0, 1.0), sphere, 500, 1e-5);
    check(Method::NelderMead, &ranges(3, -2.0, 2.0), rosenbrock, 1000, 1e-3);
}

#[test]
fn bayesian_optimisation_needs_few_points() {
    check(Method::Bayes, &ranges(4, 0.0, 1.0), sphere, 50, 0.006);
}

#[test]
fn whole_numbers_and_choices_are_searched_too() {
    check(Method::Annealing, &mixed_space(), mixed, 1000, 0.02);
    check(Method::CmaEs, &mixed_space(), mixed, 1000, 0.02);
    check(Method::Auto, &mixed_space(), mixed, 1000, 0.02);
}

#[test]
fn signal_descent_finds_minima_of_plain_spaces_too() {
    check(Method::SignalDescent, &ranges(6, 0.0, 1.0), sphere, 1500, 0.01);
}

#[test]
fn even_points_leave_smaller_holes_than_random_ones() {
    // The largest empty share of an axis, over three axes and 128 points.
    let hole = |method: Method| {
        let mut optimiser = method.build(&Layout::real(3), Seed(4), 128).expect("the method fits");
        let points = optimiser.ask(128);
        let hole_of = |axis: usize| {
            let mut places: Vec<f64> = points.iter().map(|p| p[axis]).collect();
            places.sort_by(f64::total_cmp);
            places.windows(2).map(|w| w[1] - w[0]).fold(0.0, f64::max)
        };
        (0..3).map(hole_of).fold(0.0, f64::max)
    };
    let random = hole(Method::Random);
    for method in [Method::Halton, Method::Sobol] {
        assert!(hole(method) < 0.7 * random, "{}: {} against {random}", method.name(), hole(method));
    }
}

#[test]
fn every_method_stays_inside_the_cube_and_survives_useless_answers() {
    for method in Method::ALL {
        for answer in [f64::INFINITY, 0.0, -1e300] {
            let mut optimiser = method.build(&mixed_space().layout().expect("a space"), Seed(8), 300).expect("it fits");
            for _ in 0..60 {
                let points = optimiser.ask(5);
                assert!((1..=5).contains(&points.len()), "{}", method.name());
                for point in &points {
                    assert_eq!(point.len(), 5);
                    assert!(point.iter().all(|x| (0.0..=1.0).contains(x)), "{}: {point:?}", method.name());
                }
                let told: Vec<Told> = points.into_iter().map(|point| Told { point, value: answer }).collect();
                optimiser.tell(&told);
            }
        }
    }
}

#[test]
fn saved_optimisers_continue_bit_for_bit() {
    let space = mixed_space();
    let hear = |optimiser: &mut dyn Optimiser| {
        let points = optimiser.ask(3);
        let told: Vec<Told> =
            points.iter().map(|p| Told { point: p.clone(), value: mixed(&space.values(p)) }).collect();
        optimiser.tell(&told);
        points
    };
    for method in Method::ALL {
        let build = || method.build(&space.layout().expect("a space"), Seed(2), 300).expect("it fits");
        let (mut one, mut other) = (build(), build());
        for round in 0..25 {
            let expected = hear(one.as_mut());
            assert_eq!(hear(other.as_mut()), expected, "{} in round {round}", method.name());
            let bytes = other.save();
            other = build();
            other.restore(&bytes).expect("its own bytes");
            if round == 12 {
                one.restart();
                other.restart();
            }
        }
        assert!(other.restore(&[1, 2, 3]).is_err(), "{} reads rubbish", method.name());
    }
}
