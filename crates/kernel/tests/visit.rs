//! Variables, key and leaves of a part follow from one list; a part whose list is not whole is caught.

use std::fmt;

use anabranch_kernel::contract::{Fate, check_part};
use anabranch_kernel::{CellKey, CellSize, Declarations, Grid, KeyWriter, Leaf, Variable, Visitor};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Wheel {
    turns: f64,
    heading: f64,
    is_locked: bool,
    bolts: Vec<f64>,
    label: u8,
    /// Twice the turns.
    twice: f64,
}

/// What its list lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lacks {
    Nothing,
    Turns,
    Locked,
    Torque,
    /// Nobody says why `label` is not in the key.
    Label,
    /// The variables depend on the state.
    Order,
}

fn visit<V: Visitor>(wheel: &Wheel, lacks: Lacks, v: &mut V) {
    if lacks != Lacks::Turns {
        v.real("turns", "", 0.1, wheel.turns);
    }
    v.angle("heading", 0.1, wheel.heading);
    if lacks != Lacks::Locked && !(lacks == Lacks::Order && wheel.is_locked) {
        v.exact("locked", u64::from(wheel.is_locked));
    }
    let count = v.discrete("bolts.count");
    let torque = v.continuous("bolts.torque", "Nm", 5.0);
    v.put_exact(count, wheel.bolts.len() as u64);
    if lacks != Lacks::Torque {
        wheel.bolts.iter().for_each(|bolt| v.put(torque, *bolt));
    }
    if lacks != Lacks::Label {
        v.constant("label", "it is painted on");
    }
    v.unread("twice", "it is computed anew");
}

fn wheels() -> Vec<Wheel> {
    let start = Wheel { turns: 1.0, heading: 0.2, is_locked: false, bolts: vec![80.0, 0.0], label: 7, twice: 2.0 };
    vec![Wheel { is_locked: true, bolts: Vec::new(), ..start.clone() }, start]
}

fn check(lacks: Lacks) -> Result<Vec<String>, String> {
    let checked = check_part(&wheels(), |w, v| visit(w, lacks, v), |w, v| visit(w, lacks, v));
    checked.map(|report| report.with(Fate::Keyed).into_iter().map(str::to_owned).collect())
}

#[test]
fn a_part_whose_list_is_whole_passes() {
    assert_eq!(check(Lacks::Nothing).unwrap(), ["bolts", "bolts[]", "heading", "is_locked", "turns"]);
}

#[test]
fn a_part_that_forgets_one_field_is_caught() {
    for (lacks, field) in
        [(Lacks::Turns, "turns"), (Lacks::Locked, "is_locked"), (Lacks::Torque, "bolts[]"), (Lacks::Label, "label")]
    {
        let caught = check(lacks).unwrap_err();
        assert!(caught.contains(&format!("`{field}`")), "{lacks:?}: {caught}");
    }
}

#[test]
fn variables_that_depend_on_the_state_are_caught() {
    assert_eq!(check(Lacks::Order).unwrap_err(), "state 1 declares other variables or leaves than the first one");
}

#[test]
fn what_is_declared_as_derived_must_be_computed() {
    fn visit<V: Visitor>(pair: &(f64, f64), v: &mut V) {
        v.real("one", "", 0.1, pair.0);
        v.derived("1", "0");
    }
    // A part computes nothing again.
    let caught = check_part(&[(1.0, 2.0)], |&pair, v| visit(&pair, v), |&pair, v| visit(&pair, v)).unwrap_err();
    assert!(caught.contains("`1`") && caught.contains("declared as derived, but `derive` does not"), "{caught}");
}

/// Two sections that are visited in the other order than they are listed.
fn swapped<V: Visitor>((a, b): (f64, u64), v: &mut V) {
    v.section(1);
    v.field("second", |v| {
        v.within("second", |v| {
            v.exact("b", b);
            v.rounded("", "all");
            v.time("[].time");
        });
    });
    v.section(0);
    v.real("a", "m", 0.5, a);
    v.leaves(|v| v.ignored("rest", "nobody knows"));
    v.without_leaves(|v| v.unread("hidden", "not named"));
    let hidden = v.not_compared("c");
    v.put_exact(hidden, 3);
}

#[test]
fn sections_are_listed_in_their_order_and_written_in_that_of_the_visit() {
    let declared = Declarations::of(|v| swapped((0.0, 0), v));
    let hidden = Variable { size: CellSize::Ignore, ..Variable::exact("c") };
    assert_eq!(declared.variables, [Variable::real("a", "m", 0.5), hidden, Variable::exact("second.b")]);
    assert_eq!(declared.sections, [0, 2]);
    let leaves = [Leaf::rounded("second", "all"), Leaf::time("second[].time"), Leaf::ignored("rest", "nobody knows")];
    assert_eq!(declared.leaves, leaves);
    let grid = Grid::of(&declared.variables);
    let mut visited = KeyWriter::new(&grid);
    swapped((1.2, 9), &mut visited.visitor(&declared.sections));
    let mut by_hand = KeyWriter::new(&grid);
    by_hand.exact(2, 9);
    by_hand.real(0, 1.2);
    assert_eq!(visited.finish(), by_hand.finish());
}

/// A name that must not be formatted.
struct Unspoken;

impl fmt::Display for Unspoken {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("a key needs no names")
    }
}

#[test]
fn a_key_is_written_without_names() {
    let grid = Grid::from_sizes(vec![CellSize::Size(1.0), CellSize::Exact]);
    let mut key = KeyWriter::new(&grid);
    let v = &mut key.visitor(&[]);
    v.within(Unspoken, |v| {
        v.field(Unspoken, |v| {
            v.real(Unspoken, "m", 1.0, 2.0);
            v.exact(Unspoken, 1);
            v.unread(Unspoken, "why");
        });
    });
    assert_ne!(key.finish(), None::<CellKey>);
}
