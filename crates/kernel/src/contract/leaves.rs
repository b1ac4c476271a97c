//! Every leaf of a state is in its key: changed one at a time, it must give another one.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use super::subject::Subject;
use super::tree::{Place, Tree};
use crate::key::{CellKey, CellSize, Grid, KeyWriter, Variable};
use crate::leaf::{Leaf, LeafRole};
use crate::state::{State, to_bytes};

/// Changes of real numbers, besides three of each declared cell.
const REAL_STEPS: [f64; 4] = [1.0, 30.0, 1e3, 1e6];
/// Leaves that are named when several are forgotten.
const NAMED: usize = 20;

/// What became of a leaf that was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// No change of it is a state: the type does not allow it, or the system cannot take it.
    Unchangeable,
    /// The key was another one.
    Keyed,
    /// It was computed again from the others.
    Derived,
    /// Declared as [`LeafRole::Time`].
    Time,
    /// Declared as [`LeafRole::Constant`], and so it was.
    Constant,
    /// Declared as [`LeafRole::Rounded`].
    Rounded,
    /// Declared as [`LeafRole::Unread`], and so it was.
    Unread,
    /// Declared as [`LeafRole::Ignored`].
    Ignored,
}

/// What became of the leaves of all states, by name; of leaves with equal names the fate that promises least.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeafReport {
    /// The fates.
    pub fates: BTreeMap<String, Fate>,
    /// Leaves that were changed.
    pub leaves: usize,
    /// Changes that were not a state.
    pub skipped: usize,
}

impl LeafReport {
    /// Names of the leaves with this fate.
    pub fn with(&self, fate: Fate) -> Vec<&str> {
        self.fates.iter().filter(|(_, own)| **own == fate).map(|(path, _)| path.as_str()).collect()
    }
}

/// Looks at the leaves of one state after another.
pub(super) struct Check<'s, T> {
    subject: &'s dyn Subject<T>,
    grid: Grid,
    declared: Vec<Leaf>,
    steps: Vec<f64>,
    report: LeafReport,
    forgotten: BTreeMap<String, String>,
}

impl<'s, T: State> Check<'s, T> {
    pub(super) fn new(subject: &'s dyn Subject<T>, variables: &[Variable], declared: Vec<Leaf>) -> Self {
        // What the user has told to ignore is still written; whether it counts is up to the grid.
        let written = |size: CellSize| if size == CellSize::Ignore { CellSize::Exact } else { size };
        let sizes: Vec<CellSize> = variables.iter().map(|variable| written(variable.size)).collect();
        let of_cell = |size: &CellSize| if let CellSize::Size(size) = size { Some(3.0 * size) } else { None };
        let mut steps: Vec<f64> = sizes.iter().filter_map(of_cell).chain(REAL_STEPS).collect();
        steps.sort_by(f64::total_cmp);
        steps.dedup();
        let (report, forgotten) = (LeafReport::default(), BTreeMap::new());
        Self { subject, grid: Grid::from_sizes(sizes), declared, steps, report, forgotten }
    }

    /// Changes every leaf of a state.
    pub(super) fn state(&mut self, state: &T, alike: usize) -> Result<(), String> {
        let Some(mut tree) = Tree::of(state) else { return Err("the state is not plain data".to_owned()) };
        let (bytes, key) = (to_bytes(state), self.key(state));
        let again: Option<T> = tree.value();
        if again.as_ref().map(to_bytes).as_ref() != Some(&bytes) {
            return Err("a state that is written and read value by value has other bytes".to_owned());
        }
        let mut derived = state.clone();
        self.subject.derive(&mut derived);
        if to_bytes(&derived) != bytes {
            return Err("what follows from other values of the state comes out differently when it is computed again"
                .to_owned());
        }
        // What is inside has the name of what holds it, one step further down.
        let mut counts: BTreeMap<(String, usize), usize> = BTreeMap::new();
        for place in tree.leaves() {
            let count = counts.entry((place.path.clone(), place.at.len())).or_default();
            *count += 1;
            if *count <= alike {
                self.leaf((state, &bytes, key), &mut tree, place);
            }
        }
        Ok(())
    }

    /// What is declared as constant is as in the state that a run began with.
    pub(super) fn constants(&mut self, start: &T, state: &T) -> Result<(), String> {
        let (Some(mut start), Some(mut state)) = (Tree::of(start), Tree::of(state)) else { return Ok(()) };
        for leaf in self.declared.iter().filter(|leaf| leaf.role == LeafRole::Constant) {
            let values = |tree: &mut Tree| -> Vec<(String, String)> {
                let places = tree.leaves().into_iter().filter(|place| leaf.names(&place.path));
                places.map(|place| (place.path, tree.at_mut(&place.at).short())).collect()
            };
            let (before, now) = (values(&mut start), values(&mut state));
            if before != now {
                let change = before.iter().zip(&now).find(|(a, b)| a != b);
                return Err(format!("`{}` is declared as constant, but it changes: {change:?}", leaf.path));
            }
        }
        Ok(())
    }

    fn leaf(&mut self, (state, bytes, key): (&T, &[u8], Option<CellKey>), tree: &mut Tree, place: Place) {
        self.report.leaves += 1;
        let role = self.declared.iter().find(|leaf| leaf.names(&place.path)).map(|leaf| leaf.role);
        if role == Some(LeafRole::Constant) {
            // That it does not change was looked at; another value would be no state of this system.
            self.report.fates.insert(place.path, Fate::Constant);
            return;
        }
        let original = tree.at_mut(&place.at).clone();
        // One number of all that are tried has to be in another cell; of tags, presences and lengths every one.
        let is_number = matches!(original, Tree::Real(_) | Tree::Single(_) | Tree::Unsigned(_) | Tree::Signed(_));
        let (mut fate, mut same) = (Fate::Unchangeable, None);
        for change in original.changes(&self.steps) {
            let what = change.short();
            *tree.at_mut(&place.at) = change;
            let Some(changed) = quietly(|| tree.value::<T>()).flatten().filter(|c| to_bytes(c) != bytes) else {
                self.report.skipped += 1;
                continue;
            };
            match quietly(|| self.key(&changed)) {
                None => self.report.skipped += 1,
                Some(other) if other != key => {
                    fate = fate.max(Fate::Keyed);
                    if is_number {
                        same = None;
                        break;
                    }
                }
                Some(_) => same = same.or(Some((changed, what))),
            }
        }
        *tree.at_mut(&place.at) = original.clone();
        if let Some((changed, what)) = same {
            match self.excuse(state, bytes, &changed, &place.path) {
                Ok(excuse) => fate = fate.max(excuse),
                Err(why) => {
                    let what = format!("{} instead of {}: {why}", what, original.short());
                    self.forgotten.entry(place.path.clone()).or_insert(what);
                }
            }
        }
        let known = self.report.fates.entry(place.path).or_insert(fate);
        *known = fate.max(*known);
    }

    /// Why a change that the key does not show is no loss.
    fn excuse(&self, state: &T, bytes: &[u8], changed: &T, path: &str) -> Result<Fate, String> {
        let derived = quietly(|| {
            let mut derived = changed.clone();
            self.subject.derive(&mut derived);
            to_bytes(&derived)
        });
        if derived.as_deref() == Some(bytes) {
            return Ok(Fate::Derived);
        }
        match self.declared.iter().find(|leaf| leaf.names(path)).map(|leaf| leaf.role) {
            Some(LeafRole::Time) => Ok(Fate::Time),
            Some(LeafRole::Ignored) => Ok(Fate::Ignored),
            Some(LeafRole::Rounded) => Ok(Fate::Rounded),
            Some(LeafRole::Derived) => Err("it is declared as derived, but `derive` does not compute it".to_owned()),
            Some(LeafRole::Constant) => unreachable!("what does not change is not changed"),
            Some(LeafRole::Unread) => {
                let run = quietly(|| self.subject.goes_on_alike(state, changed))
                    .unwrap_or_else(|| Err("it panics".to_owned()));
                run.map(|()| Fate::Unread).map_err(|why| format!("it is declared as unread, but {why}"))
            }
            None => Err("the key is the same".to_owned()),
        }
    }

    fn key(&self, state: &T) -> Option<CellKey> {
        let mut key = KeyWriter::new(&self.grid);
        self.subject.write(state, &mut key);
        key.finish()
    }

    pub(super) fn finish(self) -> Result<LeafReport, String> {
        if self.forgotten.is_empty() {
            return Ok(self.report);
        }
        let named = self.forgotten.iter().take(NAMED).map(|(path, what)| format!("  `{path}`: {what}"));
        let lines: Vec<String> = named.collect();
        Err(format!(
            "{} values of the state are not in its merge key, so states merge that differ in them:\n{}\nwrite them in `cell`, \
             compute them in `derive`, or declare them in `leaves`",
            self.forgotten.len(),
            lines.join("\n")
        ))
    }
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// A change may be nothing that a system can take; then it is no state of that system, and nobody needs to read about it.
fn quietly<T>(run: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                usual(panic);
            }
        }));
    });
    QUIET.set(true);
    let result = catch_unwind(AssertUnwindSafe(run));
    QUIET.set(false);
    result.ok()
}
