//! Requirements: what must never, always or eventually hold, judged every base cycle (S1-5, S1-54).

use anabranch_kernel::maths::Real;
use anabranch_kernel::{Choice, KeyWriter, Place, Variable, Verdict, Verdicts};
use serde::{Deserialize, Serialize};

use crate::ExpressionError;
use crate::program::Program;
use crate::signals::SignalKind;

/// Most requirements of a scenario: they are counted by the bits of a word.
pub const REQUIREMENTS_MAX: usize = 32;

/// When an expression has to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// In no base cycle.
    Never,
    /// In every base cycle.
    Always,
    /// In at least one base cycle, at the latest in this one; without deadline before the run ends.
    Eventually {
        /// The last base cycle that counts.
        by_ticks: Option<u64>,
    },
}

/// What a violation means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The run ends and is a finding.
    Must,
    /// The run goes on; the violation is noted once.
    Should,
}

/// One requirement of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// Its id in the scenario.
    pub id: String,
    /// What a violation means.
    pub level: Level,
    /// When the expression has to hold.
    pub rule: Rule,
    /// The expression.
    pub program: Program,
}

impl Requirement {
    /// A requirement from the text of its expression.
    ///
    /// # Errors
    /// When the text cannot be understood.
    pub fn new(
        id: &str,
        level: Level,
        rule: Rule,
        text: &str,
        signals: &[(&str, SignalKind)],
    ) -> Result<Self, ExpressionError> {
        Ok(Self { id: id.to_owned(), level, rule, program: Program::compile(text, signals)? })
    }
}

/// What monitors remember of a run; one bit per requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Memory {
    /// *Eventually* has been fulfilled.
    reached: u32,
    /// *Should* has been noted as violated.
    noted: u32,
    /// An error was larger than the requirement is meant for (S1-55).
    exceeded: u32,
}

impl Memory {
    /// Requirements that nothing can change any more in this run.
    #[inline]
    pub fn settled(&self) -> u32 {
        self.reached | self.noted | self.exceeded
    }
}

/// What one base cycle, or the end of the run, brought; one bit per requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Judgement {
    /// *Must* requirements that are violated.
    pub violated: u32,
    /// *Should* requirements that are violated for the first time.
    pub noted: u32,
}

/// More requirements than can be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} requirements; at most {REQUIREMENTS_MAX} can be judged in one scenario")]
pub struct TooManyRequirements(pub usize);

/// All requirements of a scenario. Behaviour only: what evolves is its [`Memory`].
#[derive(Clone, Debug, PartialEq)]
pub struct Requirements {
    list: Vec<Requirement>,
    /// Bits of the *eventually* requirements.
    eventually: u32,
    /// Bits of the *should* requirements.
    should: u32,
    /// For each choice the requirements whose limits it exceeds; empty if none has limits.
    exceeding: Vec<u32>,
}

impl Requirements {
    /// The requirements in their order; verdicts refer to it.
    ///
    /// # Errors
    /// With more than [`REQUIREMENTS_MAX`].
    pub fn new(list: Vec<Requirement>) -> Result<Self, TooManyRequirements> {
        if list.len() > REQUIREMENTS_MAX {
            return Err(TooManyRequirements(list.len()));
        }
        let bits =
            |is: fn(&Requirement) -> bool| (0..list.len()).filter(|&i| is(&list[i])).fold(0, |all, i| all | 1 << i);
        let eventually = bits(|r| matches!(r.rule, Rule::Eventually { .. }));
        let should = bits(|r| r.level == Level::Should);
        Ok(Self { list, eventually, should, exceeding: Vec::new() })
    }
    /// The same requirements, some of them limited to small errors (S1-55): `exceeding` has for each choice the bits of
    /// those that are not meant for it. From the first such segment on they are not judged any more in that run.
    #[must_use]
    pub fn limited(self, exceeding: Vec<u32>) -> Self {
        let is_limited = exceeding.iter().any(|bits| *bits != 0);
        Self { exceeding: if is_limited { exceeding } else { Vec::new() }, ..self }
    }
    /// Begins a segment under a choice.
    #[inline]
    pub fn begin(&self, choice: Choice, memory: &mut Memory) {
        if let Some(bits) = self.exceeding.get(choice.index()) {
            memory.exceeded |= bits;
        }
    }
    /// The requirements.
    pub fn list(&self) -> &[Requirement] {
        &self.list
    }
    /// Their ids, for [`anabranch_kernel::System::requirements`].
    pub fn ids(&self) -> Vec<String> {
        self.list.iter().map(|r| r.id.clone()).collect()
    }
    /// The signals that any of them reads, one bit for each position in the table.
    pub fn signals_used(&self) -> u64 {
        self.list.iter().fold(0, |all, r| all | r.program.signals_used())
    }
    /// Whether the time of the run matters to any of them.
    pub fn has_deadline(&self) -> bool {
        self.list.iter().any(|r| matches!(r.rule, Rule::Eventually { by_ticks: Some(_) }))
    }

    /// Judges the frame of one base cycle.
    pub fn judge(&self, frame: &[f64], tick: u64, memory: &mut Memory) -> Judgement {
        let mut broken = 0_u32;
        for (index, requirement) in self.list.iter().enumerate() {
            let bit = 1 << index;
            if memory.settled() & bit != 0 {
                continue;
            }
            let holds = requirement.program.holds(frame);
            match requirement.rule {
                Rule::Never if holds => broken |= bit,
                Rule::Always if !holds => broken |= bit,
                Rule::Eventually { .. } if holds => memory.reached |= bit,
                Rule::Eventually { by_ticks: Some(by_ticks) } if tick >= by_ticks => broken |= bit,
                _ => {}
            }
        }
        self.judgement(broken, memory)
    }

    /// Judges the end of a run: what had to happen and did not.
    pub fn finish(&self, memory: &mut Memory) -> Judgement {
        self.judgement(self.eventually & !memory.settled(), memory)
    }

    fn judgement(&self, broken: u32, memory: &mut Memory) -> Judgement {
        let judgement = Judgement { violated: broken & !self.should, noted: broken & self.should };
        memory.noted |= judgement.noted;
        judgement
    }

    /// The lanes in which [`Self::judge`] might answer or remember anything; the others are quiet.
    ///
    /// `settled` are the requirements that are settled in every lane: the intersection of [`Memory::settled`].
    /// A lane may be named in vain, never left out.
    #[inline(always)]
    pub fn disturbed<R: Real>(&self, frame: &[R], tick: R, settled: u32) -> R::Mask {
        let mut lanes = R::splat(0.0).lt(R::splat(0.0));
        for (index, requirement) in self.list.iter().enumerate() {
            if settled >> index & 1 == 1 {
                continue;
            }
            let holds = requirement.program.holds(frame);
            lanes = lanes
                | match requirement.rule {
                    Rule::Never => holds,
                    Rule::Always => !holds,
                    Rule::Eventually { by_ticks: None } => holds,
                    Rule::Eventually { by_ticks: Some(by_ticks) } => holds | R::splat(by_ticks as f64).le(tick),
                };
        }
        lanes
    }

    /// What is remembered, for the key: only what these requirements can change.
    pub fn variables(&self) -> Vec<Variable> {
        let reached = (self.eventually != 0).then(|| Variable::exact("requirements.reached"));
        let noted = (self.should != 0).then(|| Variable::exact("requirements.noted"));
        let exceeded = (!self.exceeding.is_empty()).then(|| Variable::exact("requirements.exceeded"));
        reached.into_iter().chain(noted).chain(exceeded).collect()
    }
    /// Writes the memory to a key; `first` is the index of the first of [`Self::variables`].
    pub fn write_key(&self, memory: &Memory, first: usize, key: &mut KeyWriter<'_>) {
        let mut index = first;
        if self.eventually != 0 {
            key.exact(index, u64::from(memory.reached));
            index += 1;
        }
        if self.should != 0 {
            key.exact(index, u64::from(memory.noted));
            index += 1;
        }
        if !self.exceeding.is_empty() {
            key.exact(index, u64::from(memory.exceeded));
        }
    }
}

/// The verdicts of a mask of requirements.
pub fn verdicts(requirements: u32, tick: u64, place: Option<Place>) -> Verdicts {
    let hit = (0..REQUIREMENTS_MAX as u16).filter(|&r| requirements >> r & 1 == 1);
    hit.map(|requirement| Verdict { requirement, tick, place }).collect()
}
