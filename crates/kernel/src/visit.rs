//! One list of what a part of a state remembers, from which its variables, its key and its exceptions follow.
//!
//! A part has one function `visit` that names each variable once, together with its value, and names what is not in the key with
//! the reason. A [`Visitor`] makes of it what it is for: [`Declarations`] collect names, units, cell sizes and leaves,
//! [`KeyVisitor`] writes the merge key. There is no second list that could forget a field or have another order.
//!
//! ```
//! use anabranch_kernel::{Declarations, Grid, KeyWriter, Visitor};
//!
//! struct Tank { level_m: f64, is_open: bool, arrivals_s: Vec<f64> }
//! impl Tank {
//!     fn visit<V: Visitor>(&self, v: &mut V) {
//!         v.real("level", "m", 0.1, self.level_m);
//!         v.exact("valve", u64::from(self.is_open));
//!         // A list is one variable with many values. It is declared once, outside of the loop.
//!         let count = v.discrete("arrivals.count");
//!         let time = v.continuous("arrivals.time", "s", 0.5);
//!         v.put_exact(count, self.arrivals_s.len() as u64);
//!         self.arrivals_s.iter().for_each(|&time_s| v.put(time, time_s));
//!     }
//! }
//! let tank = Tank { level_m: 1.0, is_open: true, arrivals_s: vec![2.0, 3.0] };
//! let variables = Declarations::of(|v| tank.visit(v)).variables;
//! assert_eq!(variables.iter().map(|v| v.name.as_str()).collect::<Vec<_>>(), ["level", "valve", "arrivals.count", "arrivals.time"]);
//! let grid = Grid::of(&variables);
//! let mut key = KeyWriter::new(&grid);
//! tank.visit(&mut key.visitor(&[]));
//! assert!(key.finish().is_some());
//! ```

use std::fmt::{Display, Write};

use crate::key::{CellSize, KeyWriter, Variable};
use crate::leaf::{Leaf, LeafRole};

/// A declared continuous variable: what its values are written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Continuous(usize);

/// A declared discrete variable: what its values are written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Discrete(usize);

/// What a part names its variables to.
///
/// Which variables are declared, and in which order, depends on the configuration alone, never on the state: then every state has
/// the same ones. How many values each of them has may depend on the state.
///
/// Names are only formatted by visitors that collect them; `format_args!` costs nothing where a key is written.
pub trait Visitor: Sized {
    /// Declares a variable and returns its number: what the methods below are made of.
    fn declare(&mut self, name: impl Display, unit: &str, size: CellSize) -> usize;
    /// A value of a continuous variable.
    fn put(&mut self, variable: Continuous, value: f64);
    /// A value of a discrete variable.
    fn put_exact(&mut self, variable: Discrete, value: u64);
    /// A word of the key that is no variable, such as a number of items.
    fn extra(&mut self, word: u64);
    /// Puts a name and a dot before the names of variables.
    fn within(&mut self, name: impl Display, part: impl FnOnce(&mut Self));
    /// Goes on with a section of the variables. They are listed in the order of the numbers of their sections, whatever the order in
    /// which sections are visited: that one is the order of the words of the key.
    fn section(&mut self, number: usize);
    /// Puts the name of a field before the paths of leaves.
    fn field(&mut self, path: impl Display, part: impl FnOnce(&mut Self));
    /// Names a value of the state that is not in the key; see [`Leaf`]. An empty path is the whole part, one that begins with `[]` or
    /// `#` is about its items or their number.
    fn leaf(&mut self, path: impl Display, role: LeafRole, why: &str);
    /// Runs only where leaves are collected: for many of them, so that a key costs nothing more.
    fn leaves(&mut self, part: impl FnOnce(&mut Self));
    /// Runs only where values are wanted: for those that cost something to compute. Their variables are declared before.
    fn values(&mut self, put: impl FnOnce(&mut Self));
    /// Visits a part whose leaves have the paths of another one, which has named them: items of a list have one name.
    fn without_leaves(&mut self, part: impl FnOnce(&mut Self));

    /// Declares a continuous variable with its default cell size.
    #[must_use = "a variable without a value is not in the key"]
    #[inline(always)]
    fn continuous(&mut self, name: impl Display, unit: &str, size: f64) -> Continuous {
        Continuous(self.declare(name, unit, CellSize::Size(size)))
    }
    /// Declares a continuous variable whose cells a file or a card describes.
    #[must_use = "a variable without a value is not in the key"]
    #[inline(always)]
    fn described(&mut self, name: impl Display, unit: &str, size: CellSize) -> Continuous {
        Continuous(self.declare(name, unit, size))
    }
    /// Declares a discrete variable.
    #[must_use = "a variable without a value is not in the key"]
    #[inline(always)]
    fn discrete(&mut self, name: impl Display) -> Discrete {
        Discrete(self.declare(name, "", CellSize::Exact))
    }
    /// Declares a discrete variable that is not compared, because the user said so; the verdict names it.
    #[must_use = "a variable without a value is not in the key"]
    #[inline(always)]
    fn not_compared(&mut self, name: impl Display) -> Discrete {
        Discrete(self.declare(name, "", CellSize::Ignore))
    }
    /// A continuous variable with its value.
    #[inline(always)]
    fn real(&mut self, name: impl Display, unit: &str, size: f64, value: f64) {
        let variable = self.continuous(name, unit, size);
        self.put(variable, value);
    }
    /// An angle in radians with its value: equal directions fall into equal cells.
    #[inline(always)]
    fn angle(&mut self, name: impl Display, size: f64, radians: f64) {
        let variable = self.continuous(name, "rad", size);
        self.put_angle(variable, radians);
    }
    /// A discrete variable with its value.
    #[inline(always)]
    fn exact(&mut self, name: impl Display, value: u64) {
        let variable = self.discrete(name);
        self.put_exact(variable, value);
    }
    /// A value of a continuous variable that is an angle in radians.
    #[inline(always)]
    fn put_angle(&mut self, variable: Continuous, radians: f64) {
        self.put(variable, crate::maths::wrap_angle(radians));
    }
    /// Names what nothing reads before it is written again.
    #[inline(always)]
    fn unread(&mut self, path: impl Display, why: &str) {
        self.leaf(path, LeafRole::Unread, why);
    }
    /// Names what does not change in a run.
    #[inline(always)]
    fn constant(&mut self, path: impl Display, why: &str) {
        self.leaf(path, LeafRole::Constant, why);
    }
    /// Names a detail of how something is stored that is in the key by cells.
    #[inline(always)]
    fn rounded(&mut self, path: impl Display, why: &str) {
        self.leaf(path, LeafRole::Rounded, why);
    }
    /// Names the time of the run.
    #[inline(always)]
    fn time(&mut self, path: impl Display) {
        self.leaf(path, LeafRole::Time, "the time of the run");
    }
    /// Names what follows from other values of the state: [`System::derive`](crate::System::derive) computes it again.
    #[inline(always)]
    fn derived(&mut self, path: impl Display, from: &str) {
        self.leaf(path, LeafRole::Derived, from);
    }
    /// Names what is left out although it may matter: *safe* is not said.
    #[inline(always)]
    fn ignored(&mut self, path: impl Display, why: &str) {
        self.leaf(path, LeafRole::Ignored, why);
    }
}

/// Collects what a part declares.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Declarations {
    /// The variables, in the order of their sections.
    pub variables: Vec<Variable>,
    /// Position of the first variable of each section.
    pub sections: Vec<usize>,
    /// What is not in the key.
    pub leaves: Vec<Leaf>,
}

impl Declarations {
    /// What a part declares when it is visited in any of its states; that at the start of a run will do.
    pub fn of(visit: impl FnOnce(&mut Declarer)) -> Self {
        let mut declarer = Declarer { sections: vec![Vec::new()], ..Declarer::default() };
        visit(&mut declarer);
        let mut all = Self { leaves: declarer.leaves, ..Self::default() };
        for section in declarer.sections {
            all.sections.push(all.variables.len());
            all.variables.extend(section);
        }
        all
    }
}

/// The visitor behind [`Declarations::of`].
#[derive(Clone, Debug, Default)]
pub struct Declarer {
    sections: Vec<Vec<Variable>>,
    section: usize,
    within: String,
    field: String,
    leaves: Vec<Leaf>,
}

/// Appends to a text for as long as a function runs.
fn appended<T>(this: &mut T, text: fn(&mut T) -> &mut String, more: impl Display, run: impl FnOnce(&mut T)) {
    let length = text(this).len();
    write!(text(this), "{more}").expect("a text takes whatever is written");
    run(this);
    text(this).truncate(length);
}

impl Visitor for Declarer {
    fn declare(&mut self, name: impl Display, unit: &str, size: CellSize) -> usize {
        let section = &mut self.sections[self.section];
        section.push(Variable { name: format!("{}{name}", self.within), unit: unit.to_owned(), size });
        section.len() - 1
    }
    fn put(&mut self, _: Continuous, _: f64) {}
    fn put_exact(&mut self, _: Discrete, _: u64) {}
    fn extra(&mut self, _: u64) {}
    fn within(&mut self, name: impl Display, part: impl FnOnce(&mut Self)) {
        appended(self, |this| &mut this.within, format_args!("{name}."), part);
    }
    fn section(&mut self, number: usize) {
        self.section = number;
        self.sections.resize_with(self.sections.len().max(number + 1), Vec::new);
    }
    fn field(&mut self, path: impl Display, part: impl FnOnce(&mut Self)) {
        let dot = if self.field.is_empty() { "" } else { "." };
        appended(self, |this| &mut this.field, format_args!("{dot}{path}"), part);
    }
    fn leaf(&mut self, path: impl Display, role: LeafRole, why: &str) {
        let path = path.to_string();
        let dot = if self.field.is_empty() || path.is_empty() || path.starts_with(['#', '[']) { "" } else { "." };
        self.leaves.push(Leaf { path: format!("{}{dot}{path}", self.field), role, why: why.to_owned() });
    }
    fn leaves(&mut self, part: impl FnOnce(&mut Self)) {
        part(self);
    }
    fn values(&mut self, _: impl FnOnce(&mut Self)) {}
    fn without_leaves(&mut self, part: impl FnOnce(&mut Self)) {
        let count = self.leaves.len();
        part(self);
        self.leaves.truncate(count);
    }
}

/// Writes the merge key of what it visits; [`KeyWriter::visitor`] makes one.
#[derive(Debug)]
pub struct KeyVisitor<'k, 'g> {
    key: &'k mut KeyWriter<'g>,
    /// Number of the variable that is declared next.
    next: usize,
    sections: &'k [usize],
}

impl<'g> KeyWriter<'g> {
    /// A visitor that writes this key: of a part whose variables begin with the first one, or in sections that begin where
    /// [`Declarations::sections`] says.
    #[inline(always)]
    pub fn visitor<'k>(&'k mut self, sections: &'k [usize]) -> KeyVisitor<'k, 'g> {
        KeyVisitor { key: self, next: 0, sections }
    }
}

impl Visitor for KeyVisitor<'_, '_> {
    #[inline(always)]
    fn declare(&mut self, _: impl Display, _: &str, _: CellSize) -> usize {
        self.next += 1;
        self.next - 1
    }
    #[inline(always)]
    fn put(&mut self, variable: Continuous, value: f64) {
        self.key.real(variable.0, value);
    }
    #[inline(always)]
    fn put_exact(&mut self, variable: Discrete, value: u64) {
        self.key.exact(variable.0, value);
    }
    #[inline(always)]
    fn extra(&mut self, word: u64) {
        self.key.extra(word);
    }
    #[inline(always)]
    fn within(&mut self, _: impl Display, part: impl FnOnce(&mut Self)) {
        part(self);
    }
    #[inline(always)]
    fn section(&mut self, number: usize) {
        self.next = self.sections[number];
    }
    #[inline(always)]
    fn field(&mut self, _: impl Display, part: impl FnOnce(&mut Self)) {
        part(self);
    }
    #[inline(always)]
    fn leaf(&mut self, _: impl Display, _: LeafRole, _: &str) {}
    #[inline(always)]
    fn leaves(&mut self, _: impl FnOnce(&mut Self)) {}
    #[inline(always)]
    fn values(&mut self, put: impl FnOnce(&mut Self)) {
        put(self);
    }
    #[inline(always)]
    fn without_leaves(&mut self, part: impl FnOnce(&mut Self)) {
        part(self);
    }
}
