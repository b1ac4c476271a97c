//! Reading: text to tokens to a tree with places.
//!
//! The token list covers every byte, so that a formatter and an editor lose nothing. The tree says what the tokens
//! mean. Reading never stops at the first mistake and never panics.

pub mod assembly;
mod assembly_public;
mod assembly_values;
mod assembly_vehicles;
mod assembly_world;
pub mod ast;
mod ast_data;
mod component;
mod connector;
mod data;
mod expr;
mod habits;
mod lexer;
mod math;
mod parser;
mod stream;
mod types;

pub use lexer::{Kind, Token, tokens};

use crate::diagnostic::Problem;

/// Bytes of a file, from start to just before end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
}

impl Span {
    /// From start to just before end.
    pub fn new(start: usize, end: usize) -> Self {
        let small = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self { start: small(start), end: small(end) }
    }

    /// As a range of bytes.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// From the start of one to the end of the other.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start, end: other.end.max(self.start) }
    }
}

/// What came of reading a file: a tree in any case, and what is wrong with it.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The tree.
    pub file: ast::File,
    /// Mistakes, in the order of the text.
    pub problems: Vec<Problem>,
}

/// Largest file that is read, so that places fit in 32 bits and memory is bounded.
pub const TEXT_BYTES_MAX: usize = 64 << 20;

/// Reads a component, struct, enum or stream file.
///
/// ```
/// let parsed = anabranch_language::syntax::parse("component A { ports in Q x, out Q y }");
/// assert_eq!(parsed.problems.len(), 1);
/// assert_eq!(parsed.problems[0].message, "expected `;` after the ports, found `}`");
/// ```
pub fn parse(text: &str) -> Parsed {
    parser::Parser::new(text).run()
}
