//! What a world reported, segment by segment: a second run of the same path must report the same.

use std::sync::Arc;

use super::runner::Outcome;
use crate::misbehaviour::Kind;
use crate::protocol::{WorldCard, WorldSegment};

/// Everything that one segment reported.
#[derive(Clone, Debug, Default)]
pub(super) struct Report {
    failed: Option<Kind>,
    values: Vec<f64>,
    danger: f64,
    margin: Option<f64>,
    violated: Vec<String>,
    notes: Vec<String>,
    done: bool,
}

impl Report {
    pub(super) fn failed(kind: Kind) -> Self {
        Self { failed: Some(kind), ..Self::default() }
    }
    pub(super) fn is_failed(&self) -> bool {
        self.failed.is_some()
    }
    pub(super) fn is_failed_as(&self, kind: Kind) -> bool {
        self.failed == Some(kind)
    }
    pub(super) fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Ran(ran) => Self::of_segment(&ran.segment),
            Outcome::Misbehaved(wrong) => Self::failed(wrong.kind),
        }
    }
    pub(super) fn of_segment(segment: &WorldSegment) -> Self {
        Self {
            failed: None,
            values: segment.values.clone(),
            danger: segment.danger,
            margin: segment.margin,
            violated: segment.violated.clone(),
            notes: segment.notes.clone(),
            done: segment.done,
        }
    }

    /// The first thing in which another run of the same segment differs from this one.
    pub(super) fn difference(&self, again: &Self, world: &WorldCard) -> Option<String> {
        let was = |name: &str, first: String, then: String| Some(format!("`{name}` was {first} and then {then}"));
        if self.failed != again.failed {
            let word = |kind: Option<Kind>| kind.map_or("a result", Kind::name);
            return Some(format!("the segment ended with {} and then with {}", word(self.failed), word(again.failed)));
        }
        let numbers = |report: &Self| {
            let plain = [report.danger, report.margin.unwrap_or(f64::NAN)];
            report.values.iter().copied().chain(plain).collect::<Vec<_>>()
        };
        let names = world.merge.iter().map(|variable| variable.name.as_str()).chain(["danger", "margin"]);
        for (name, (first, then)) in names.zip(numbers(self).into_iter().zip(numbers(again))) {
            // Zero has one sign, as in states.
            if (first + 0.0).to_bits() != (then + 0.0).to_bits() {
                return was(name, first.to_string(), then.to_string());
            }
        }
        for (name, first, then) in [("violated", &self.violated, &again.violated), ("notes", &self.notes, &again.notes)]
        {
            if first != then {
                return was(name, format!("{first:?}"), format!("{then:?}"));
            }
        }
        if self.done != again.done {
            return was("done", self.done.to_string(), again.done.to_string());
        }
        None
    }
}

/// The reports on the way to a state, the last one first. States share those of their common beginning.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) report: Report,
    before: Option<Arc<Said>>,
}

impl Said {
    pub(super) fn after(before: Option<Arc<Said>>, report: Report) -> Arc<Self> {
        Arc::new(Self { report, before })
    }
    /// The reports in the order of segments. Of a state that waited on disk those before it are not known.
    pub(super) fn in_order(&self) -> Vec<&Report> {
        let mut reports = vec![&self.report];
        let mut at = &self.before;
        while let Some(said) = at {
            reports.push(&said.report);
            at = &said.before;
        }
        reports.reverse();
        reports
    }
}

impl Drop for Said {
    /// One after the other: a long way would otherwise need as many calls inside each other.
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(mut said) = next {
            next = Arc::get_mut(&mut said).and_then(|said| said.before.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_signal_that_differs_is_named() {
        let merge = vec![crate::protocol::KeyVariable { name: "x".to_owned(), unit: "m".to_owned(), cell: Some(0.1) }];
        let world = WorldCard { merge, ..WorldCard::default() };
        let report = || Report { values: vec![1.0], ..Report::default() };
        let check = |again: Report, expect: Option<&str>| {
            assert_eq!(report().difference(&again, &world).as_deref(), expect);
        };
        check(report(), None);
        check(Report { danger: -0.0, ..report() }, None);
        check(Report { values: vec![1.5], ..report() }, Some("`x` was 1 and then 1.5"));
        check(Report { danger: 2.0, ..report() }, Some("`danger` was 0 and then 2"));
        check(Report { margin: Some(1.0), ..report() }, Some("`margin` was NaN and then 1"));
        check(Report { violated: vec!["a".to_owned()], ..report() }, Some("`violated` was [] and then [\"a\"]"));
        check(Report { notes: vec!["a".to_owned()], ..report() }, Some("`notes` was [] and then [\"a\"]"));
        check(Report { done: true, ..report() }, Some("`done` was false and then true"));
        check(Report::failed(Kind::Crash), Some("the segment ended with a result and then with crash"));
    }

    #[test]
    fn a_long_way_is_forgotten_without_deep_calls() {
        let long = (0..200_000).fold(None, |before, _| Some(Said::after(before, Report::default())));
        assert_eq!(long.as_ref().map(|said| said.in_order().len()), Some(200_000));
        drop(long);
    }
}
