//! How the program ends.

use std::process::ExitCode;

/// Exit codes; part of the contract with scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All done, nothing found.
    Done,
    /// Findings.
    Findings,
    /// Bad input, with its place.
    BadInput,
    /// A bug of ours.
    Bug,
    /// Nothing selected.
    Nothing,
    /// Time, states or memory ran out, or too many random runs left what was explored.
    Incomplete,
    /// The same question was answered differently twice.
    NotReproducible,
    /// Interrupted; what there was is saved.
    Interrupted,
}

impl Exit {
    /// When several apply, the first of these wins.
    const PRECEDENCE: [Self; 8] = [
        Self::Bug,
        Self::BadInput,
        Self::NotReproducible,
        Self::Interrupted,
        Self::Findings,
        Self::Incomplete,
        Self::Nothing,
        Self::Done,
    ];

    /// The number scripts see.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Findings => 1,
            Self::BadInput => 2,
            Self::Bug => 3,
            Self::Nothing => 4,
            Self::Incomplete => 5,
            Self::NotReproducible => 6,
            Self::Interrupted => 130,
        }
    }

    /// The one of several that wins.
    pub fn of(all: &[Self]) -> Self {
        Self::PRECEDENCE.into_iter().find(|exit| all.contains(exit)).unwrap_or(Self::Done)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_graver_exit_wins() {
        assert_eq!(Exit::of(&[]), Exit::Done);
        assert_eq!(Exit::of(&[Exit::Incomplete, Exit::Findings]), Exit::Findings);
        assert_eq!(Exit::of(&[Exit::Findings, Exit::Interrupted]), Exit::Interrupted);
        assert_eq!(Exit::of(&[Exit::Findings, Exit::NotReproducible, Exit::Bug]), Exit::Bug);
        assert_eq!(Exit::of(&[Exit::Nothing, Exit::Incomplete]), Exit::Incomplete);
    }
}
