//! What tells two accidents apart: the requirement, what was hit with which part of the car, where a program failed.

use anabranch_explore::cause::{Accidents, Found};
use anabranch_kernel::{Choice, Verdict};

use super::contact::Sector;
use super::subject::Subject;

/// What happened, without when.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Accident {
    /// Position of the violated requirement.
    pub requirement: u16,
    /// What was hit.
    pub other: Option<u32>,
    /// With which part of the car.
    pub sector: Option<Sector>,
    /// Where code from outside failed: `av.py:12`. Of few failures the words are kept, so it can be unknown.
    pub line: Option<String>,
}

/// Accidents of a subject.
#[derive(Debug)]
pub struct AccidentsOf<'a, S>(pub &'a S);

impl<S: Subject> Accidents for AccidentsOf<'_, S> {
    type Accident = Accident;

    fn of(&self, found: &Found<'_>) -> Accident {
        accident(self.0, found.start, found.choices, &found.verdict)
    }
    fn is_same(&self, accident: &Accident, run: &Found<'_>) -> bool {
        accident.is_like(&self.of(run))
    }
    fn are_mirrored(&self, one: &Accident, other: &Accident) -> bool {
        let sectors = (one.sector.map(Sector::mirrored), other.sector);
        one.requirement == other.requirement && sectors.0 == sectors.1 && one.line == other.line
    }
}

impl Accident {
    /// Whether a run ended with this accident. A line that is not known is no difference.
    pub fn is_like(&self, run: &Self) -> bool {
        let lines = [&self.line, &run.line];
        let has_line = self.line == run.line || lines.iter().any(|line| line.is_none());
        (self.requirement, self.other, self.sector) == (run.requirement, run.other, run.sector) && has_line
    }
}

/// What happened at the end of a path.
pub fn accident<S: Subject>(subject: &S, start: usize, choices: &[Choice], verdict: &Verdict) -> Accident {
    let is_fault = subject.kind_of(verdict.requirement).is_some();
    let text = if is_fault { subject.fault_text(start, choices) } else { None };
    Accident {
        requirement: verdict.requirement,
        other: verdict.place.map(|place| place.other),
        sector: verdict.place.as_ref().and_then(|place| subject.sector(place)),
        line: text.and_then(|text| line_of(&text)),
    }
}

/// The innermost place that a program names below its message: `  at av.py:12 in step`.
fn line_of(text: &str) -> Option<String> {
    let place = text.lines().find_map(|line| line.trim_start().strip_prefix("at "))?;
    let place = place.split(" in ").next().unwrap_or(place);
    let (_, number) = place.rsplit_once(':')?;
    number.parse::<u32>().is_ok().then(|| place.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_line_of_a_program_is_read() {
        let text = "ValueError: no path at all\n  at av.py:12 in step\n  at av.py:40 in main";
        assert_eq!(line_of(text).as_deref(), Some("av.py:12"));
        assert_eq!(line_of("did not answer within 2 s"), None);
        assert_eq!(line_of("looked\n  at noon"), None);
    }

    #[test]
    fn failures_at_two_lines_are_two_accidents_and_an_unknown_line_is_any() {
        let at =
            |line: Option<&str>| Accident { requirement: 3, other: None, sector: None, line: line.map(str::to_owned) };
        assert!(at(Some("a.py:1")).is_like(&at(Some("a.py:1"))) && at(None).is_like(&at(Some("a.py:1"))));
        assert!(!at(Some("a.py:1")).is_like(&at(Some("a.py:2"))));
        assert!(!at(None).is_like(&Accident { requirement: 4, ..at(None) }));
    }
}
