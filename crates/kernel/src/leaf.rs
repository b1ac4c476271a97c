//! Values of a state that are not in the merge key, and why that is no loss.

/// A value of the state, with everything below it, that [`System::cell`](crate::System::cell) does not write. All others must
/// be in the key; [`check_contract`](crate::contract::check_contract) changes them one by one and looks.
///
/// What follows from other values need not be declared: [`System::derive`](crate::System::derive) computes it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Its name as in the state: fields and variants joined by dots, `[]` for the items of a list: `extras.lines[].told`. With a `#`
    /// behind it is the tag, presence or length of what has this name, and nothing below: `extras.lines#`.
    pub path: String,
    /// How it counts.
    pub role: LeafRole,
    /// Why.
    pub why: String,
}

/// How a value counts that is not in the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeafRole {
    /// It is the time of the run: part of the key as the level where [time matters](crate::System::time_matters).
    Time,
    /// Nothing reads it before it is written again. The contract runs segments with another value and compares.
    Unread,
    /// Every state of a run has the one that its start has, whatever the start parameters. The contract compares.
    Constant,
    /// It is a detail of how something is stored that is in the key by cells: two values can mean the same within a cell, such as
    /// where a ring begins.
    Rounded,
    /// It follows from other values: [`System::derive`](crate::System::derive) computes it again. The contract compares.
    Derived,
    /// It is left out although it may matter: *safe* is not said.
    Ignored,
}

impl Leaf {
    /// The time of the run.
    pub fn time(path: &str) -> Self {
        Self { path: path.to_owned(), role: LeafRole::Time, why: "the time of the run".to_owned() }
    }
    /// A value that is written before it is read, or that nothing reads.
    pub fn unread(path: &str, why: &str) -> Self {
        Self { path: path.to_owned(), role: LeafRole::Unread, why: why.to_owned() }
    }
    /// A value that does not change.
    pub fn constant(path: &str, why: &str) -> Self {
        Self { path: path.to_owned(), role: LeafRole::Constant, why: why.to_owned() }
    }
    /// A detail of how something is stored that is in the key by cells.
    pub fn rounded(path: &str, why: &str) -> Self {
        Self { path: path.to_owned(), role: LeafRole::Rounded, why: why.to_owned() }
    }
    /// A value that is left out although it may matter.
    pub fn ignored(path: &str, why: &str) -> Self {
        Self { path: path.to_owned(), role: LeafRole::Ignored, why: why.to_owned() }
    }
    /// Whether it speaks about a value: the one it names, or one below.
    pub fn names(&self, path: &str) -> bool {
        if let Some(alone) = self.path.strip_suffix('#') {
            return path == alone;
        }
        let is_below = |rest: &str| rest.starts_with('.') || rest.starts_with("[]");
        let rest = path.strip_prefix(self.path.as_str());
        rest.is_some_and(|rest| rest.is_empty() || is_below(rest))
    }
}
