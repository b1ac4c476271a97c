//! Whose leaves are looked at: of a whole system, or of one part.

use super::leaves::{Check, LeafReport};
use super::tree::{Place, Tree};
use crate::errors::Choices;
use crate::key::KeyWriter;
use crate::state::State;
use crate::system::{SegmentEnd, System};
use crate::visit::{Declarations, Declarer, KeyVisitor};
use crate::watch::Watch;
use crate::{Chance, Choice, Fault, Leaf, LeafRole, Params, Seed, Verdicts};

/// Segments that are run with another value of a leaf that is said to be unread.
const RUN_ON: usize = 2;
/// Choices under which they are run.
const CHOICES: usize = 3;

/// How many states are looked at, and how closely.
#[derive(Clone, Copy, Debug)]
pub struct Dose {
    /// Random error sequences.
    pub runs: u64,
    /// Their segments.
    pub length: usize,
    /// States of each that are looked at.
    pub states: usize,
    /// Leaves of one name, such as items of a list, that are changed in a state.
    pub alike: usize,
}

/// Something with states that have keys.
pub(super) trait Subject<T> {
    fn write(&self, state: &T, key: &mut KeyWriter<'_>);
    fn derive(&self, state: &mut T);
    /// Whether the second state goes on like the first one.
    fn goes_on_alike(&self, state: &T, changed: &T) -> Result<(), String>;
}

/// Runs random error sequences and changes every leaf of some of their states, one at a time: numbers beyond any cell in both
/// directions, tags, presence and length. Each change must give another key, unless [`System::derive`] takes it back or
/// [`System::leaves`] declares the leaf; what is declared as unread is tried by running.
///
/// # Errors
/// With the names of the leaves that are in neither.
pub fn check_leaves<S: System>(system: &S, dose: Dose) -> Result<LeafReport, String> {
    let subject = OfSystem { system, declared: system.leaves() };
    let mut check = Check::new(&subject, system.variables(), system.leaves());
    let starts = system.space().all();
    for run in 0..dose.runs {
        let params = &starts[run as usize % starts.len()];
        let begun = system.start(Seed(run), &starts[0]).map_err(|fault| fault.to_string())?;
        for state in subject.states(run, params, dose)? {
            check.constants(&begun, &state)?;
            check.state(&state, dose.alike)?;
        }
    }
    check.finish()
}

/// The same for the state of one part. `declare` and `write` are its `visit`, once for each kind of visitor. What is declared as
/// unread is not tried: a part cannot run.
///
/// # Errors
/// With the names of the leaves that are in neither, and when what is declared depends on the state.
///
/// # Panics
/// Without a state.
pub fn check_part<T: State>(
    states: &[T],
    declare: impl Fn(&T, &mut Declarer),
    write: impl Fn(&T, &mut KeyVisitor<'_, '_>),
) -> Result<LeafReport, String> {
    let declared = Declarations::of(|v| declare(&states[0], v));
    let part = OfPart { write, sections: declared.sections.clone() };
    let mut check = Check::new(&part, &declared.variables, declared.leaves.clone());
    for (number, state) in states.iter().enumerate() {
        if Declarations::of(|v| declare(state, v)) != declared {
            return Err(format!("state {number} declares other variables or leaves than the first one"));
        }
        check.state(state, usize::MAX)?;
    }
    check.finish()
}

struct OfPart<W> {
    write: W,
    sections: Vec<usize>,
}

impl<T, W: Fn(&T, &mut KeyVisitor<'_, '_>)> Subject<T> for OfPart<W> {
    fn write(&self, state: &T, key: &mut KeyWriter<'_>) {
        (self.write)(state, &mut key.visitor(&self.sections));
    }
    fn derive(&self, _: &mut T) {}
    fn goes_on_alike(&self, _: &T, _: &T) -> Result<(), String> {
        Ok(())
    }
}

struct OfSystem<'s, S: System> {
    system: &'s S,
    declared: Vec<Leaf>,
}

impl<S: System> Subject<S::State> for OfSystem<'_, S> {
    fn write(&self, state: &S::State, key: &mut KeyWriter<'_>) {
        self.system.cell(state, key);
    }
    fn derive(&self, state: &mut S::State) {
        self.system.derive(state);
    }
    fn goes_on_alike(&self, state: &S::State, changed: &S::State) -> Result<(), String> {
        self.is_unread(state, changed)
    }
}

impl<S: System> OfSystem<'_, S> {
    /// Open states along one random sequence: the first ones and the last ones.
    fn states(&self, run: u64, params: &Params, dose: Dose) -> Result<Vec<S::State>, String> {
        let chance = Chance::new(Seed(1), "leaves").at(run);
        let mut state = self.system.start(Seed(run), params).map_err(|fault| fault.to_string())?;
        let (mut seen, mut choices) = (vec![state.clone()], Choices::new());
        for n in 0..dose.length {
            self.system.live(&state, &mut choices);
            let choice = choices[chance.below(n as u64, choices.len() as u64) as usize];
            if self.system.run(&mut state, choice, &mut Watch::off()) != Ok(SegmentEnd::Open) {
                break;
            }
            seen.push(state.clone());
        }
        let spread = |n: usize| (n * (seen.len() - 1)).div_ceil(dose.states.max(1));
        let mut picked: Vec<usize> = (1..=dose.states).map(spread).collect();
        picked.dedup();
        Ok(picked.into_iter().map(|n| seen[n].clone()).collect())
    }

    /// Runs both: nothing may differ but what is declared.
    fn is_unread(&self, state: &S::State, changed: &S::State) -> Result<(), String> {
        let mut choices = Choices::new();
        self.system.live(state, &mut choices);
        let mut others = Choices::new();
        self.system.live(changed, &mut others);
        if choices != others {
            return Err("other errors are possible".to_owned());
        }
        let apart = choices.len().div_ceil(CHOICES);
        for first in choices.iter().step_by(apart.max(1)) {
            let (mut a, mut b) = (state.clone(), changed.clone());
            for choice in std::iter::once(*first).chain([Choice::NONE; RUN_ON - 1]) {
                let (end, other) = (self.segment(&mut a, choice), self.segment(&mut b, choice));
                if end != other {
                    return Err(format!("a segment under choice {} ends differently", choice.index()));
                }
                if let Some(path) = self.difference(&a, &b) {
                    return Err(format!("after a segment under choice {} `{path}` differs", choice.index()));
                }
                if end.0 != Ok(SegmentEnd::Open) {
                    break;
                }
            }
        }
        Ok(())
    }

    fn segment(&self, state: &mut S::State, choice: Choice) -> (Result<SegmentEnd, Fault>, u64, Verdicts) {
        let mut watch = Watch::off();
        let end = self.system.run(state, choice, &mut watch);
        (end, watch.margin.to_bits(), watch.notes)
    }

    /// The first leaf that differs and is not declared as unread.
    fn difference(&self, a: &S::State, b: &S::State) -> Option<String> {
        let (Some(mut a), Some(mut b)) = (Tree::of(a), Tree::of(b)) else { return Some("the state".to_owned()) };
        let unread = |path: &str| self.declared.iter().any(|leaf| leaf.role == LeafRole::Unread && leaf.names(path));
        let (places, others) = (a.leaves(), b.leaves());
        let pick = |places: &[Place]| -> Vec<Place> { places.iter().filter(|p| !unread(&p.path)).cloned().collect() };
        let (places, others) = (pick(&places), pick(&others));
        if let Some((place, _)) = places.iter().zip(&others).find(|(a, b)| a != b) {
            return Some(place.path.clone());
        }
        if places.len() != others.len() {
            return Some("the number of values".to_owned());
        }
        let mut alike = |place: &Place| {
            let (a, b) = (a.at_mut(&place.at), b.at_mut(&place.at));
            a.leaves().len() > 1 || same_value(a, b)
        };
        places.iter().find(|place| !alike(place)).map(|place| place.path.clone())
    }
}

/// A tag counts by itself here; what is below has leaves of its own.
fn same_value(a: &Tree, b: &Tree) -> bool {
    match (a, b) {
        (Tree::Real(a), Tree::Real(b)) => a.to_bits() == b.to_bits(),
        (a, b) => a == b,
    }
}
