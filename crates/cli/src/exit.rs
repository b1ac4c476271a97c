//! How the program ends.

use std::process::ExitCode;

use anabranch_study::{Conclusion, Evidence, Stop};

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
    /// Nothing selected, or nothing to judge.
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

    /// Of a verdict; `docs/verdicts.md` has the table.
    pub fn of_conclusion(conclusion: &Conclusion) -> Self {
        match conclusion {
            Conclusion::Violated(_) | Conclusion::NoPath(_) => Self::Findings,
            Conclusion::Safe(_) | Conclusion::NotFound { .. } => Self::Done,
            Conclusion::NotCovered(_) | Conclusion::Incomplete(_) => Self::Incomplete,
            Conclusion::NotReproducible(_) => Self::NotReproducible,
            Conclusion::NothingToJudge(_) => Self::Nothing,
        }
    }
    /// Of a verdict and what it rests on: an interruption is told whatever was found before.
    pub fn of_study(evidence: &Evidence, conclusion: &Conclusion) -> Self {
        let mut exits = vec![Self::of_conclusion(conclusion)];
        let is_interrupted = [&evidence.stop, &evidence.cut_short].contains(&&Some(Stop::Interrupted));
        exits.extend(is_interrupted.then_some(Self::Interrupted));
        Self::of(&exits)
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
    fn the_page_of_verdicts_has_their_exit_codes_and_junit_states() {
        use anabranch_record::junit::Ending;
        use anabranch_study::{Coverage, Findings, Ground, Unfinished, Unsteady, Why};
        let all = [
            Conclusion::Violated(Findings::default()),
            Conclusion::Safe(Why { ground: Ground::Exhaustive, limits: Vec::new() }),
            Conclusion::NotFound { resolution: None, coverage: Coverage::NotNeeded },
            Conclusion::NotCovered(Coverage::NotNeeded),
            Conclusion::Incomplete(Unfinished::Stopped(Stop::Time)),
            Conclusion::NotReproducible(Unsteady::default()),
            Conclusion::NoPath(String::new()),
            Conclusion::NothingToJudge(String::new()),
        ];
        let page = include_str!("../../../docs/verdicts.md");
        let rows: Vec<Vec<&str>> = page
            .lines()
            .filter(|line| line.starts_with("| ") && line.matches('|').count() == 7)
            .map(|line| line.split('|').map(str::trim).collect())
            .collect();
        for conclusion in &all {
            let junit = match Ending::from(conclusion.tone()) {
                Ending::Passed => "success",
                Ending::Failed => "failure",
                Ending::Error => "error",
                Ending::Skipped => "skipped",
            };
            let of_word: Vec<&Vec<&str>> = rows.iter().filter(|row| row[3] == conclusion.word()).collect();
            assert!(!of_word.is_empty(), "{} is on the page", conclusion.word());
            for row in of_word {
                let code = Exit::of_conclusion(conclusion).code().to_string();
                assert_eq!((row[4], row[5]), (code.as_str(), junit), "{}", conclusion.word());
            }
        }
    }

    #[test]
    fn the_graver_exit_wins() {
        assert_eq!(Exit::of(&[]), Exit::Done);
        assert_eq!(Exit::of(&[Exit::Incomplete, Exit::Findings]), Exit::Findings);
        assert_eq!(Exit::of(&[Exit::Findings, Exit::Interrupted]), Exit::Interrupted);
        assert_eq!(Exit::of(&[Exit::Findings, Exit::NotReproducible, Exit::Bug]), Exit::Bug);
        assert_eq!(Exit::of(&[Exit::Nothing, Exit::Incomplete]), Exit::Incomplete);
    }
}
