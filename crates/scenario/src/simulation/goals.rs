//! Goals of a vehicle, as requirements.

use anabranch_language::diagnostic::Problem;
use anabranch_language::syntax::assembly::{Goal, Text, exponents, measured};

use super::page::{Page, Source, wrong};

/// What can be measured: its public name, the signal, its unit.
const METRICS: [(&str, &str, [i8; 7], &str); 2] = [
    ("speed", "ego.speed", exponents::SPEED, "m/s"),
    ("acceleration", "ego.acceleration", exponents::ACCELERATION, "m/s^2"),
];
const COMPARATORS: [(&str, &str); 4] = [("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")];

/// One requirement for each.
pub(super) fn write(page: &mut Page, source: &Source<'_>, goals: &[Goal]) -> Result<(), Problem> {
    for (number, goal) in (1..).zip(goals) {
        let line = requirement(goal)?;
        let place = source.place(goal.operator.span.to(goal.target.span));
        page.plain("\n[[must]]");
        page.line(&place, &format!("id = \"goal-{number}\""));
        page.line(&place, &line);
    }
    Ok(())
}

/// `always = "ego.speed < 10 m/s"`
pub(super) fn requirement(goal: &Goal) -> Result<String, Problem> {
    let Goal { operator, metric, comparator, target } = goal;
    let names = |names: &[&str]| format!("there is {}", names.join(", "));
    if !["always", "never", "eventually"].contains(&operator.text.as_str()) {
        let message = format!("the goal `{}` cannot be honoured here", operator.text);
        return Err(wrong(operator, message, names(&["always", "never", "eventually"])));
    }
    let Some((_, signal, kind, unit)) = METRICS.iter().find(|(name, ..)| *name == metric.text) else {
        let message = format!("`{}` is not measured here", metric.text);
        return Err(wrong(metric, message, names(&METRICS.map(|(name, ..)| name))));
    };
    let Some((_, sign)) = COMPARATORS.iter().find(|(name, _)| *name == comparator.text) else {
        let message = format!("`{}` cannot be honoured here: no measured number is equal to another", comparator.text);
        let other =
            wrong(comparator, format!("`{}` compares nothing", comparator.text), names(&["lt", "le", "gt", "ge"]));
        return Err(if comparator.text == "eq" {
            wrong(comparator, message, names(&["lt", "le", "gt", "ge"]))
        } else {
            other
        });
    };
    let value = value(target, *kind, &metric.text)?;
    Ok(format!("{} = \"{signal} {sign} {value} {unit}\"", operator.text))
}

fn value(target: &Text, kind: [i8; 7], what: &str) -> Result<f64, Problem> {
    measured(target, &[kind], what).map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_requirements_where_they_can_be_measured() {
        let of = |words: &str| {
            let mut words = words.split(' ').map(|word| Text { text: word.to_owned(), ..Text::default() });
            let mut next = || words.next().unwrap();
            let goal = Goal { operator: next(), metric: next(), comparator: next(), target: next() };
            requirement(&goal).map_err(|problem| problem.message)
        };
        assert_eq!(of("always speed lt 36km/h").unwrap(), "always = \"ego.speed < 10 m/s\"");
        assert_eq!(of("never acceleration ge 3m/s^2").unwrap(), "never = \"ego.acceleration >= 3 m/s^2\"");
        assert_eq!(of("never battery lt 0.1").unwrap_err(), "`battery` is not measured here");
        assert!(of("eventually speed eq 0m/s").unwrap_err().contains("no measured number is equal"));
        assert_eq!(of("until speed lt 1m/s").unwrap_err(), "the goal `until` cannot be honoured here");
        assert_eq!(of("always speed lt 1m").unwrap_err(), "`1m` is no speed");
    }
}
