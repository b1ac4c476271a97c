//! What expressions mean, and what is said about those that mean nothing.

use anabranch_kernel::maths::{Lanes, Mask, Real, Two};
use anabranch_monitors::{LOW_SPEED_SIGNALS, Program, low_speed};
use proptest::prelude::*;

/// A car 0.2 m from a wall, reversing at 1 m/s, steering 0.3 rad to the right, at its goal after 5 s.
fn frame() -> [f64; low_speed::COUNT] {
    let mut frame = [0.0; low_speed::COUNT];
    frame[low_speed::CLEARANCE] = 0.2;
    frame[low_speed::SPEED] = -1.0;
    frame[low_speed::STEERING] = -0.3;
    frame[low_speed::CURVATURE] = 0.15;
    frame[low_speed::AT_GOAL] = 1.0;
    frame[low_speed::TIME] = 5.0;
    frame
}

fn check(text: &str, expect: bool) {
    let program = Program::compile(text, LOW_SPEED_SIGNALS).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    assert_eq!(program.holds(&frame()), expect, "{text}");
}

#[test]
fn comparisons_know_units() {
    check("ego.clearance < 0.10 m", false);
    check("ego.clearance < 21 cm", true);
    check("ego.clearance <= 0.2m", true);
    check("ego.clearance < 200 mm", false);
    check("0.1 m < ego.clearance", true);
    check("ego.clearance ≥ 2e-1 m", true);
    check("ego.speed < -3.5 km/h", true);
    check("ego.speed > -3.7 km/h", true);
    check("ego.curvature > 0.1 1/m", true);
    check("ego.deceleration > 3 m/s^2", false);
    check("ego.deceleration <= 3 m/s²", true);
    check("ego.steering < -17 deg", true);
    check("ego.steering < -17°", true);
    check("time >= 5000 ms", true);
    check("ego.lateral_error <= ego.clearance", true);
}

#[test]
fn conditions_combine_with_the_usual_precedence() {
    check("ego.at_goal", true);
    check("not ego.at_goal", false);
    check("not ego.contact and ego.at_goal", true);
    check("not (ego.contact or ego.at_goal)", false);
    check("ego.at_goal or ego.contact and ego.contact", true);
    check("(ego.at_goal or ego.contact) and ego.contact", false);
    check("not not ego.at_goal", true);
    check("not ego.clearance < 0.1 m and time > 1 s", true);
    check("abs(ego.speed) > 1 km/h and abs(ego.steering) <= 0.3 rad", true);
    check("((ego.at_goal))", true);
}

fn refuse(text: &str, piece: &str, message: &str, suggestion: &str) {
    let error = Program::compile(text, LOW_SPEED_SIGNALS).expect_err(text);
    let found = &text[error.at.offset..error.at.offset + error.at.length];
    let advice = error.suggestion.unwrap_or_default();
    assert_eq!(found, piece, "{text}: {}", error.message);
    assert!(error.message.contains(message), "{text}: {}", error.message);
    assert!(advice.contains(suggestion), "{text}: {advice}");
}

#[test]
fn names_that_nobody_knows_get_a_suggestion() {
    refuse("ego.clearence < 1 m", "ego.clearence", "not known", "did you mean `ego.clearance`?");
    refuse("clearance < 1 m", "clearance", "not known", "did you mean `ego.clearance`?");
    refuse("ego.at_gaol", "ego.at_gaol", "not known", "did you mean `ego.at_goal`?");
    refuse("ego.decelaration > 1 m/s^2", "ego.decelaration", "not known", "`ego.deceleration`");
    refuse("temperature > 3 m", "temperature", "not known", "signals are ego.clearance, ");
    refuse("ego.clearance < 1 metre", "metre", "the unit `metre` is not known", "");
    refuse("ego.speed < 1 kmh", "kmh", "unit", "did you mean `km/h`?");
}

#[test]
fn units_have_to_fit() {
    refuse("ego.clearance < 0.1", "0.1", "the unit is missing: a length", "write `0.1 m`");
    refuse("ego.clearance < 0.1 s", "0.1 s", "`s` measures a time, but a length is expected", "`m`, `cm`");
    refuse("ego.clearance < ego.speed", "ego.clearance < ego.speed", "a length is compared with a speed", "");
    refuse("ego.at_goal < 1 m", "ego.at_goal", "true or false", "not ego.at_goal");
    refuse("1 m < 2 m", "1 m < 2 m", "two constants", "signal");
    refuse("ego.clearance", "ego.clearance", "a length, not a condition", "compare it: `ego.clearance < 1 m`");
    refuse("ego.at_goal and 3 m", "3 m", "not a condition", "compare");
    refuse("ego.clearance < (ego.at_goal and ego.contact)", "(ego.at_goal and ego.contact)", "a condition", "");
}

#[test]
fn broken_sentences_are_located() {
    refuse("", "", "missing", "a signal");
    refuse("ego.clearance <", "", "missing", "0.1 m");
    refuse("and ego.at_goal", "and", "missing before", "");
    refuse("(ego.at_goal", "(", "never closed", "");
    refuse("ego.at_goal)", ")", "never opened", "");
    refuse("ego.at_goal ego.contact", "ego.contact", "complete before this", "`and`, `or`");
    refuse("0 m < ego.clearance < 1 m", "<", "chained", "two of them");
    refuse("ego.at_goal && ego.contact", "&&", "not known here", "write `and`");
    refuse("!ego.at_goal", "!", "not known here", "write `not`");
    refuse("ego.speed == 1 m/s", "ego.speed == 1 m/s", "only whole numbers", "hardly ever equal");
    refuse("ego.speed > 1.2.3 m/s", "1.2.3", "not a number", "0.25 m");
    refuse("ego.speed > 1e999 m/s", "1e999", "not a number", "finite");
    refuse("abs ego.speed > 1 m/s", "abs", "parentheses", "abs(");
    refuse("abs(1 m) > 2 m", "abs(1 m) > 2 m", "two constants", "signal");
    refuse("ego.speed * 2 s > 1 m/s", "1 m/s", "a length is expected", "`m`");
    refuse("ego.clearance < 1 m ; ego.at_goal", ";", "not known here", "");
    let deep = format!("{}ego.at_goal{}", "(".repeat(100), ")".repeat(100));
    assert!(Program::compile(&deep, LOW_SPEED_SIGNALS).is_err());
}

#[test]
fn a_program_tells_what_it_reads() {
    let program = Program::compile("abs(ego.speed) > 1 m/s and not ego.at_goal", LOW_SPEED_SIGNALS).unwrap();
    assert_eq!(program.signals_used(), 1 << low_speed::SPEED | 1 << low_speed::AT_GOAL);
}

proptest! {
    #[test]
    fn no_text_is_met_with_a_panic(text in "(ego\\.[a-z_]{1,9}|[0-9.]{1,4}|[ a-z()<>=!&°²/^-]|and |not |abs\\(){0,20}") {
        if let Err(error) = Program::compile(&text, LOW_SPEED_SIGNALS) {
            prop_assert!(text.get(error.at.offset..error.at.offset + error.at.length).is_some());
        }
    }

    #[test]
    fn side_by_side_equals_one_by_one(values in prop::collection::vec(-1.0_f64..1.0, 8 * low_speed::COUNT)) {
        let text = "ego.clearance < 0.1 m and not (abs(ego.speed) >= 0.5 m/s or ego.at_goal) or ego.x > ego.y";
        let program = Program::compile(text, LOW_SPEED_SIGNALS).unwrap();
        let lanes: Vec<Two<Lanes<4>>> =
            (0..low_speed::COUNT).map(|s| Two::from_lanes(|lane| values[lane * low_speed::COUNT + s])).collect();
        let wide = program.holds(&lanes);
        for (lane, frame) in values.chunks(low_speed::COUNT).enumerate() {
            prop_assert_eq!(wide.lane(lane), program.holds(frame));
        }
    }
}

/// What a proof asks of an expression: a bound of one signal and nothing else.
#[test]
fn expressions_about_one_bound_say_so() {
    let of = |text: &str| Program::compile(text, LOW_SPEED_SIGNALS).unwrap();
    let clearance = low_speed::CLEARANCE;
    assert_eq!(of("ego.clearance <= 10 cm").holds_up_to(clearance), Some(0.1));
    assert_eq!(of("0.1 m > ego.clearance").holds_up_to(clearance), Some(0.1));
    assert_eq!(of("ego.clearance > 0 m").holds_from(clearance), Some(0.0));
    assert!(of("ego.contact").is_truth(low_speed::CONTACT) && !of("ego.at_goal").is_truth(low_speed::CONTACT));
    for other in
        ["ego.clearance > 0 m", "ego.speed < 1 m/s", "ego.clearance < 1 m and time > 1 s", "not ego.clearance < 1 m"]
    {
        assert_eq!(of(other).holds_up_to(clearance), None, "{other}");
    }
}
