//! Robustness that was published for given inputs.

use anabranch_problems::{Problem, ProblemError};

fn check(name: &str, input: &str, published: f64, tolerance: f64) {
    let problem = Problem::named(name).unwrap();
    let found = problem.robustness_of_text(input).unwrap();
    assert!((found - published).abs() <= tolerance, "{name} [{input}]: {found}, published {published}");
}

#[test]
fn the_transmission_gives_the_published_robustness() {
    check("at-speed120", "0 100 0", -17.9802, 0.002);
    check("at-speed120", "0 100 284.375; 10 100 0; 25 0 203.125", -6.2172, 0.002);
    check("at-speed120", "0 100 0; 15 50 0", -0.5512, 0.002);
    check("at-speed120", "0 62.5 0; 10 100 0; 25 50 325", -3.5544, 0.002);
}

#[test]
fn the_chasing_cars_give_the_published_robustness() {
    check("cc1", "0 .5 0; 50 1 1", -44.1251, 0.003 * 44.1251);
    check("cc1", "0 .625 0; 33.33 1 1", -50.6334, 0.003 * 50.6334);
    check("cc2", "0 0 1; 50 .5 0", -5.0, 0.003 * 5.0);
}

#[test]
fn pieces_and_rows_are_the_same_input() {
    for name in Problem::names() {
        let problem = Problem::named(name).unwrap();
        let scale = problem.plant.ranges();
        let input: Vec<f64> =
            (0..problem.dimensions.len()).map(|i| scale[i % 2].1 * ((i * 7 % 11) as f64 / 10.0)).collect();
        let rows: Vec<String> =
            input.chunks(2).enumerate().map(|(i, x)| format!("{} {} {}", 5 * i, x[0], x[1])).collect();
        let (a, b) = (problem.evaluate(&input), problem.robustness_of_text(&rows.join("; ")).unwrap());
        assert_eq!(a.to_bits(), b.to_bits(), "{name}: {a} {b}");
        assert!(a.is_finite(), "{name}");
    }
}

#[test]
fn a_saved_prefix_continues_like_the_whole() {
    for name in ["cc4", "at6c", "at53"] {
        let problem = Problem::named(name).unwrap();
        let scale = problem.plant.ranges();
        let input: Vec<[f64; 2]> = (0..problem.pieces)
            .map(|i| [scale[0].1 * ((i * 3 % 5) as f64 / 4.0), scale[1].1 * ((i * 2 % 7) as f64 / 12.0)])
            .collect();
        let mut prefix = problem.start();
        input[..3].iter().for_each(|x| problem.advance(&mut prefix, *x));
        let mut rest = prefix.clone();
        input[3..].iter().for_each(|x| problem.advance(&mut rest, *x));
        assert!(problem.is_over(&rest));
        let flat: Vec<f64> = input.iter().flatten().copied().collect();
        assert_eq!(problem.finish(rest).to_bits(), problem.evaluate(&flat).to_bits());
    }
}

#[test]
fn what_is_wrong_with_an_input_is_said() {
    let problem = Problem::named("at1").unwrap();
    assert_eq!(problem.robustness_of_text("0 100"), Err(ProblemError::Row { row: 1, found: 2, inputs: 2 }));
    assert_eq!(problem.robustness_of_text("1 100 0"), Err(ProblemError::Time { row: 1, time_s: 1.0 }));
    assert!(matches!(problem.robustness_of_text("0 1 2; 5 nan 0"), Err(ProblemError::Word { row: 2, .. })));
    assert!(matches!(problem.robustness_of_text("0 1 2; 5 101 0"), Err(ProblemError::Range { row: 2, .. })));
    assert!(matches!(Problem::named("at7"), Err(ProblemError::Unknown { .. })));
    assert!(problem.evaluate(&[1.0]).is_nan());
}
