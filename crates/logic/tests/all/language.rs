//! What formulas mean in words: their language extends that of requirements.

use crate::common::{Atoms, Draw, Grammar, TABLE, Until, formula};
use anabranch_kernel::units::Dimension;
use anabranch_logic::{Formula, Reading, SignalKind, Trace};
use anabranch_monitors::{LOW_SPEED_SIGNALS, Program};

const SPEED: &[(&str, SignalKind)] = &[
    ("speed", SignalKind::Real(Dimension::Speed)),
    ("gap", SignalKind::Real(Dimension::Length)),
    ("gear", SignalKind::Whole),
    ("braking", SignalKind::Truth),
];

const REQUIREMENTS: &[&str] = &[
    "ego.clearance < 0.10 m",
    "ego.clearance <= 0.2m",
    "0.1 m < ego.clearance",
    "ego.clearance ≥ 2e-1 m",
    "ego.speed < -3.5 km/h",
    "ego.curvature > 0.1 1/m",
    "ego.deceleration <= 3 m/s²",
    "ego.steering < -17°",
    "time >= 5000 ms",
    "ego.lateral_error <= ego.clearance",
    "not ego.contact and ego.at_goal",
    "not (ego.contact or ego.at_goal)",
    "ego.at_goal or ego.contact and ego.contact",
    "not ego.clearance < 0.1 m and time > 1 s",
    "abs(ego.speed) > 1 km/h and abs(ego.steering) <= 0.3 rad",
    "((ego.at_goal))",
];

#[test]
fn every_requirement_is_a_formula_with_the_same_truth() {
    let table = LOW_SPEED_SIGNALS;
    for (number, text) in REQUIREMENTS.iter().enumerate() {
        let program = Program::compile(text, LOW_SPEED_SIGNALS).unwrap();
        let formula = Formula::parse(text, table).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        let mut draw = Draw::new("requirements", number as u64);
        for _ in 0..200 {
            let frame: Vec<f64> = table
                .iter()
                .map(|(_, kind)| match kind {
                    SignalKind::Truth => draw.below(2) as f64,
                    _ => draw.uniform() * 8.0 - 2.0,
                })
                .collect();
            let trace = Trace::even(1.0, frame.iter().map(|x| vec![*x]).collect()).unwrap();
            assert_eq!(formula.holds(&trace).unwrap(), program.holds(&frame[..]), "{text} {frame:?}");
        }
    }
}

#[test]
fn what_is_wrong_with_a_requirement_is_said_in_the_same_place_and_words() {
    let table = LOW_SPEED_SIGNALS;
    let wrong = [
        "ego.clearence < 1 m",
        "clearance < 1 m",
        "temperature > 3 m",
        "ego.clearance < 1 metre",
        "ego.speed < 1 kmh",
        "ego.clearance < 0.1",
        "ego.clearance < 0.1 s",
        "ego.clearance < ego.speed",
        "ego.at_goal < 1 m",
        "1 m < 2 m",
        "ego.clearance",
        "ego.clearance < 1 m ego.speed > 2 m/s",
        "(ego.clearance < 1 m",
        "ego.clearance < 1 m)",
        "ego.clearance < 1 m < 2 m",
        "ego.clearance <",
        "ego.clearance < 1 m && ego.at_goal",
        "abs ego.speed < 1 m/s",
    ];
    for text in wrong {
        let theirs = Program::compile(text, LOW_SPEED_SIGNALS).expect_err(text);
        let ours = Formula::parse(text, table).expect_err(text);
        assert_eq!((ours.at.offset, ours.at.length > 0), (theirs.at.offset, theirs.at.length > 0), "{text}: {ours:?}");
        if !text.contains("&&") && !text.contains("ego.speed >") && text != "ego.clearance < ego.speed" {
            assert_eq!(ours.message, theirs.message, "{text}");
        }
    }
}

fn check(text: &str, printed: &str) {
    let formula = Formula::parse(text, SPEED).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    assert_eq!(formula.to_string(), printed, "{text}");
    assert_eq!(Formula::parse(printed, SPEED).as_ref(), Ok(&formula), "{printed}");
}

#[test]
fn operators_have_several_names_and_one_meaning() {
    let printed = "always[0 s, 20 s] (speed < 30 m/s)";
    for text in [
        "always[0 s, 20 s] (speed < 108 km/h)",
        "G[0,20] (speed < 30 m/s)",
        "G_[0:20] speed < 30 m/s",
        "□[0,20] speed < 30 m/s",
        "globally[0 ms, 20000 ms] speed < 30 m/s",
        "□_[0,20](speed < 30 m/s)",
    ] {
        check(text, printed);
    }
    check("◇ braking", "eventually (braking)");
    check("F[1 min, ∞) braking", "eventually[60 s, inf] (braking)");
    check("braking U[0, 3] gear == 2", "braking until[0 s, 3 s] gear == 2");
    check("H braking ∧ O[1,2] ¬braking", "historically (braking) and once[1 s, 2 s] (not braking)");
    check("braking S gear ≠ 1", "braking since gear != 1");
    check("braking -> gear = 1 -> braking", "braking implies (gear == 1 implies braking)");
    check("braking until braking and braking", "(braking until braking) and braking");
    check("gap / speed < 2 s", "(gap / speed) < 2 s");
    check("gap - 3 m > -speed * 1.5 s", "(gap - 3 m) > (-(speed) * 1.5 s)");
    check("gap-3 m>0 m", "(gap - 3 m) > 0 m");
    check("settles(speed < 3 m/s, 2 s, 500 ms)", "eventually[0 s, 2 s] (always[0 s, 0.5 s] (speed < 3 m/s))");
    check(
        "braking implies settles(gear == 1, 1 s, 2 s)",
        "braking implies eventually[0 s, 1 s] (always[0 s, 2 s] (gear == 1))",
    );
    check("min(gap, 5 m) >= speed * speed / (2 * 3 m/s^2)", "min(gap, 5 m) >= ((speed * speed) / (2 * 3 m/s^2))");
}

#[test]
fn printed_formulas_are_read_again() {
    let grammar =
        Grammar { step_s: 0.1, steps: 9, with_past: true, is_endless: true, until: Until::Any, atoms: Atoms::All };
    for number in 0..5_000 {
        let mut draw = Draw::new("printed", number);
        let text = formula(&mut draw, 4, grammar);
        let parsed = Formula::parse(&text, TABLE).unwrap();
        let printed = parsed.to_string();
        assert_eq!(Formula::parse(&printed, TABLE).as_ref(), Ok(&parsed), "{text}\n{printed}");
    }
}

fn refuse(text: &str, piece: &str, message: &str, suggestion: &str) {
    let error = Formula::parse(text, SPEED).expect_err(text);
    let found = &text[error.at.offset..error.at.offset + error.at.length];
    let advice = error.suggestion.unwrap_or_default();
    assert_eq!(found, piece, "{text}: {}", error.message);
    assert!(error.message.contains(message), "{text}: {}", error.message);
    assert!(advice.contains(suggestion), "{text}: {advice}");
}

#[test]
fn what_cannot_be_understood_is_located() {
    refuse("always[0 s, 20 m] braking", "20 m", "`m` does not measure time", "`s`");
    refuse("always[5, 2] braking", "5, 2", "ends before it begins", "[2 s, 5 s]");
    refuse("always[-1, 2] braking", "-1", "at least 0 s", "look back");
    refuse("always[1 braking", "braking", "unit `braking`", "");
    refuse("always[1, 2 (braking)", "(", "`]` is missing", "");
    refuse("always[1, 2", "[", "`]` is missing", "");
    refuse("always[inf, inf] braking", "inf", "at least 0 s", "");
    refuse("speed == 3 m/s", "speed == 3 m/s", "only whole numbers", "hardly ever equal");
    refuse("gear == 1.5", "gear == 1.5", "only whole numbers", "");
    refuse("gap + speed < 3 m", "gap + speed", "a length is combined with a speed", "");
    refuse("gap * speed < 3 m", "3 m", "`m` measures a length, but something in m^2 s^-1 is expected", "");
    refuse("braking + 1 < 2", "braking", "true or false", "");
    refuse("(braking) < 3", "(braking)", "true or false", "");
    refuse("always speed", "speed", "not a condition", "compare it: `speed < 1 m/s`");
    refuse("settles(gap < 3 m, 2 s)", "settles(gap < 3 m", "a condition and two times", "within 2 s");
    refuse("settles(gap < 3 m, 2 s, 1 m)", "1 m", "does not measure time", "`s`");
    refuse("settles(gap < 3 m, -2 s, 1 s)", "-2 s", "at least 0 s", "");
    refuse("gap * gap < 3 m", "3 m", "an area is expected", "m^2");
    refuse("min(gap) < 3 m", "min(gap", "two numbers", "min(x, y)");
    refuse("braking until", "", "something is missing", "");
    refuse(&format!("{}braking", "not ".repeat(80)), "not", "nested more than", "");
}

#[test]
fn nothing_that_is_typed_makes_it_panic() {
    let pieces = [
        "always", "[", "]", "(", ")", "0", "-", "1e9", "s", "inf", "speed", "gear", "==", "<", "until", "S", "□", "U[",
        ",", ":", "not", "->", "m/s", "abs", "min", "∞", "e", ".", "gap", "*", "/", "true", "°", "_", "\u{301}", "1/m",
        "²",
    ];
    for number in 0..50_000 {
        let mut draw = Draw::new("typed", number);
        let n = draw.below(14);
        let text: String = (0..n)
            .map(|_| {
                let gap = ["", " "][draw.below(2) as usize];
                format!("{}{gap}", pieces[draw.below(pieces.len() as u64) as usize])
            })
            .collect();
        match Formula::parse(&text, SPEED) {
            Ok(formula) => {
                let trace =
                    Trace::even(0.5, vec![vec![1.0, -2.0], vec![0.0, 3.0], vec![1.0, 2.0], vec![0.0, 1.0]]).unwrap();
                assert!(!formula.values(&trace, Reading::Margin).unwrap().iter().any(|x| x.is_nan()), "{text}");
            }
            Err(error) => {
                assert!(text.get(error.at.offset..error.at.offset + error.at.length).is_some(), "{text}: {error:?}");
            }
        }
    }
}
