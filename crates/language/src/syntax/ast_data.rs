//! Structs, enums and streams, with the place of everything.

use super::Span;
use super::ast::{Arg, Endpoint, Expr, Name, Type};

/// A struct.
#[derive(Clone, Debug, PartialEq)]
pub struct Struct {
    /// Its name.
    pub name: Name,
    /// Its fields, in order.
    pub fields: Vec<(Type, Name)>,
}

/// An enum.
#[derive(Clone, Debug, PartialEq)]
pub struct Enum {
    /// Its name.
    pub name: Name,
    /// Its values, numbered from 0.
    pub values: Vec<Name>,
}

/// A stream test.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// Its name.
    pub name: Name,
    /// `for C<…>(…)`.
    pub component: Option<(Type, Vec<Arg>)>,
    /// `port : v tick v;`
    pub lines: Vec<StreamLine>,
}

/// One port over time.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamLine {
    /// Port and fields.
    pub port: Endpoint,
    /// One value per tick.
    pub values: Vec<StreamValue>,
}

/// A value at a tick.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamValue {
    /// Where.
    pub span: Span,
    /// What.
    pub kind: StreamValueKind,
}

/// What a value at a tick can be.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamValueKind {
    /// `-`.
    Any,
    /// A number, a truth or an enum value, with a tolerance.
    One(Expr, Option<Expr>),
    /// Rows, or slices of rows; each with a tolerance.
    Array {
        /// Slices, rows, entries.
        slices: Vec<Vec<Vec<StreamEntry>>>,
        /// `(e, g)~`: how far an entry may be off, and which share of the entries may be wrong.
        slack: Option<(Expr, Expr)>,
    },
    /// `file::"…"`.
    File {
        /// As written.
        path: String,
        /// `(e, g)~`.
        slack: Option<(Expr, Expr)>,
    },
    /// `port(2) > port(1)`.
    Compare(Expr),
}

/// An entry of an array: a value and its tolerance; `None` for `-`.
pub type StreamEntry = Option<(Expr, Option<Expr>)>;
