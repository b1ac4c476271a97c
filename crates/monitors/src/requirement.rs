//! Requirements: what must never, always or eventually hold, judged every base cycle (S1-5, S1-54).

use anabranch_kernel::maths::Real;
use anabranch_kernel::{Choice, Place, Verdict, Verdicts, Visitor};
use serde::{Deserialize, Serialize};

use anabranch_logic::{Bounds, Formula, Monitor, Scratch, Window};

use crate::lately::LatelyReads;
use crate::program::{Program, SIGNALS_MAX, signals_of};
use crate::signals::{SignalKind, TIME_SIGNAL};
use crate::{ExpressionError, History, Span};

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
    /// Before the first base cycle (*init* of S2-52).
    AtStart,
    /// When the run ends: the driver says it is done, or its time is over (*finish* of S2-52).
    AtFinish,
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
    pub condition: Condition,
    /// Position of the time of the run in its table of signals, if that is in it.
    time: Option<usize>,
}

/// What a requirement says.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// Something about one moment.
    Moment(Program),
    /// Something about what was before or comes after.
    Temporal(Formula),
}

impl Requirement {
    /// A requirement from the text of its expression.
    ///
    /// # Errors
    /// When the text cannot be understood.
    ///
    /// # Panics
    /// With a table of more than [`SIGNALS_MAX`] signals.
    pub fn new(
        id: &str,
        level: Level,
        rule: Rule,
        text: &str,
        signals: &[(&str, SignalKind)],
    ) -> Result<Self, ExpressionError> {
        assert!(signals.len() <= SIGNALS_MAX, "a table has at most {SIGNALS_MAX} signals");
        let formula = Formula::parse(text, signals)?;
        let condition = if formula.is_temporal() {
            if rule == Rule::AtFinish {
                return Err(ExpressionError::new(
                    Span { offset: 0, length: text.len() },
                    "the end of a run is one moment",
                )
                .suggest(
                    "write a condition without `always`, `once` and the like, or `eventually = \"always[0 s, 2 s] …\"`",
                ));
            }
            Condition::Temporal(formula)
        } else {
            Condition::Moment(Program::of(&formula, Span { offset: 0, length: text.len() })?)
        };
        let time = signals.iter().position(|(name, _)| *name == TIME_SIGNAL);
        Ok(Self { id: id.to_owned(), level, rule, condition, time })
    }
    /// The condition, if it is about one moment.
    pub fn program(&self) -> Option<&Program> {
        match &self.condition {
            Condition::Moment(program) => Some(program),
            Condition::Temporal(_) => None,
        }
    }
    /// Whether it reads the time of the run when that can differ: at the start of a run it cannot.
    fn names_time(&self) -> bool {
        self.rule != Rule::AtStart && self.time.is_some_and(|at| self.signals_used() >> at & 1 == 1)
    }
    /// Whether what it asks may change after so many seconds of a run: it compares the time with a later one.
    fn waits_for(&self, seconds: f64) -> bool {
        let beyond = |program: &Program| self.time.is_some_and(|time| program.compares_from(time, seconds));
        self.rule != Rule::AtStart && self.program().is_some_and(beyond)
    }
    fn signals_used(&self) -> u64 {
        match &self.condition {
            Condition::Moment(program) => program.signals_used(),
            Condition::Temporal(formula) => signals_of(formula),
        }
    }
}

/// Rule and condition as one formula about the whole run, whose base cycles are `step_s` apart.
fn over_the_run(rule: Rule, formula: Formula, step_s: f64) -> Formula {
    match rule {
        Rule::Never => formula.negated().within(Window::Always, Bounds::ALL),
        Rule::Always => formula.within(Window::Always, Bounds::ALL),
        Rule::AtStart | Rule::AtFinish => formula,
        Rule::Eventually { by_ticks } => {
            // The first frame is that after the first base cycle.
            let to_s = by_ticks.map_or(f64::INFINITY, |ticks| (ticks as f64 - 1.0).max(0.0) * step_s);
            formula.within(Window::Eventually, Bounds { from_s: 0.0, to_s })
        }
    }
}

/// Judges one requirement about more than one moment.
#[derive(Clone, Debug)]
struct Temporal {
    /// Its position among all requirements.
    index: usize,
    monitor: Monitor,
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
#[derive(Clone, Debug)]
pub struct Requirements {
    list: Vec<Requirement>,
    /// Those about more than one moment.
    temporal: Vec<Temporal>,
    /// Seconds of a base cycle.
    step_s: f64,
    /// Bits of those that can be fulfilled once for all, or are still open when a run ends: *eventually*, and all about more
    /// than one moment.
    eventually: u32,
    /// Bits of those that are judged when a run starts, and when it ends.
    at_start: u32,
    at_finish: u32,
    /// Bits of the *should* requirements.
    should: u32,
    /// For each choice the requirements whose limits it exceeds; empty if none has limits.
    exceeding: Vec<u32>,
}

impl Requirements {
    /// The requirements in their order, judged every `step_s` seconds; verdicts refer to it.
    ///
    /// # Errors
    /// With more than [`REQUIREMENTS_MAX`].
    pub fn new(list: Vec<Requirement>, step_s: f64) -> Result<Self, TooManyRequirements> {
        if list.len() > REQUIREMENTS_MAX {
            return Err(TooManyRequirements(list.len()));
        }
        let bits =
            |is: fn(&Requirement) -> bool| (0..list.len()).filter(|&i| is(&list[i])).fold(0, |all, i| all | 1 << i);
        let eventually = bits(|r| matches!(r.rule, Rule::Eventually { .. }) || r.program().is_none());
        let should = bits(|r| r.level == Level::Should);
        let (at_start, at_finish) = (bits(|r| r.rule == Rule::AtStart), bits(|r| r.rule == Rule::AtFinish));
        let temporal = list.iter().enumerate().filter_map(|(index, requirement)| match &requirement.condition {
            Condition::Moment(_) => None,
            Condition::Temporal(formula) => {
                let monitor = Monitor::deciding(over_the_run(requirement.rule, formula.clone(), step_s));
                Some(Temporal { index, monitor })
            }
        });
        let temporal = temporal.collect();
        Ok(Self { list, temporal, step_s, eventually, at_start, at_finish, should, exceeding: Vec::new() })
    }
    /// What is remembered of requirements about more than one moment before anything was seen: one history for each.
    pub fn histories(&self) -> Vec<History> {
        self.temporal.iter().map(|one| one.monitor.start()).collect()
    }
    /// Whether any of them is about more than one moment.
    pub fn is_temporal(&self) -> bool {
        !self.temporal.is_empty()
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
        self.list.iter().fold(0, |all, r| all | r.signals_used())
    }
    /// Those that any of them reads before a run ends.
    pub fn signals_used_on_the_way(&self) -> u64 {
        let on_the_way = self.list.iter().filter(|r| r.rule != Rule::AtFinish);
        on_the_way.fold(0, |all, r| all | r.signals_used())
    }
    /// Whether any of them is judged when a run starts.
    pub fn has_start(&self) -> bool {
        self.at_start != 0
    }
    /// Whether any of them is judged when a run ends.
    pub fn has_finish(&self) -> bool {
        self.at_finish != 0
    }
    /// Whether the time of the run matters to any of them: one names it, has a deadline, looks ahead or back, or is judged when
    /// the run ends, which it does when its time is over. Two states that differ in nothing but time are then judged differently.
    pub fn time_matters(&self) -> bool {
        self.has_finish() || self.eventually != 0 || self.list.iter().any(Requirement::names_time)
    }
    /// Which signals with a memory of their own any of them reads, in a table where these signals have these positions.
    pub fn lately_reads(&self, standing: usize, wobble: usize) -> LatelyReads {
        let reads = |at: usize| self.signals_used() >> at & 1 == 1;
        LatelyReads { standing: reads(standing), wobble: reads(wobble) }
    }

    /// Whether any of them is a *must*: without one, no run can violate anything.
    pub fn has_must(&self) -> bool {
        self.list.iter().any(|r| r.level == Level::Must)
    }
    /// The *must* requirements that a run cannot judge, or not to its end, when it is cut off after so many base cycles: those about
    /// the end of the run, with a later deadline, about a later time, or that look ahead.
    pub fn not_judged_within(&self, ticks: u64) -> Vec<&str> {
        let is_open = |r: &&Requirement| {
            let looks_ahead = match &r.condition {
                Condition::Moment(_) => false,
                Condition::Temporal(formula) => formula.reach_s() > 0.0,
            };
            r.level == Level::Must
                && match r.rule {
                    Rule::AtFinish | Rule::Eventually { by_ticks: None } => true,
                    Rule::Eventually { by_ticks: Some(by_ticks) } => by_ticks > ticks || looks_ahead,
                    Rule::Never | Rule::Always | Rule::AtStart => {
                        looks_ahead || r.waits_for(ticks as f64 * self.step_s)
                    }
                }
        };
        self.list.iter().filter(is_open).map(|r| r.id.as_str()).collect()
    }

    /// Judges the frame before the first base cycle.
    pub fn start(&self, frame: &[f64], memory: &mut Memory, histories: &mut [History]) -> Judgement {
        let mut broken = 0_u32;
        for (index, requirement) in self.list.iter().enumerate() {
            let (bit, program) = (1 << index, requirement.program());
            if self.at_start & bit & !memory.settled() != 0 && program.is_some_and(|program| !program.holds(frame)) {
                broken |= bit;
            }
        }
        broken |= self.watch(self.at_start, frame, 0, memory, histories);
        self.judgement(broken, memory)
    }

    /// Judges the frame of one base cycle. `histories` are those of [`Self::histories`].
    pub fn judge(&self, frame: &[f64], tick: u64, memory: &mut Memory, histories: &mut [History]) -> Judgement {
        let mut broken = 0_u32;
        for (index, requirement) in self.list.iter().enumerate() {
            let bit = 1 << index;
            if memory.settled() & bit != 0 {
                continue;
            }
            let Condition::Moment(program) = &requirement.condition else { continue };
            if (self.at_start | self.at_finish) & bit != 0 {
                continue;
            }
            let holds = program.holds(frame);
            match requirement.rule {
                Rule::Never if holds => broken |= bit,
                Rule::Always if !holds => broken |= bit,
                Rule::Eventually { .. } if holds => memory.reached |= bit,
                Rule::Eventually { by_ticks: Some(by_ticks) } if tick >= by_ticks => broken |= bit,
                _ => {}
            }
        }
        if self.is_temporal() {
            broken |= self.watch(u32::MAX, frame, tick, memory, histories);
        }
        self.judgement(broken, memory)
    }

    /// Shows a frame to these of everything about more than one moment; what is violated for certain.
    fn watch(&self, these: u32, frame: &[f64], tick: u64, memory: &mut Memory, histories: &mut [History]) -> u32 {
        thread_local! {
            static SCRATCH: std::cell::RefCell<Scratch> = std::cell::RefCell::default();
        }
        let mut broken = 0;
        SCRATCH.with_borrow_mut(|scratch| {
            for (one, history) in self.temporal.iter().zip(histories) {
                let bit = 1 << one.index;
                if memory.settled() & bit != 0 || these & bit == 0 {
                    continue;
                }
                let seen = one.monitor.see_with(history, tick as f64 * self.step_s, frame, scratch);
                assert!(seen.is_ok(), "base cycles come in order, each with all signals");
                match one.monitor.answer(history) {
                    Some(answer) if answer > 0.0 => memory.reached |= bit,
                    Some(_) => broken |= bit,
                    None => {}
                }
            }
        });
        broken
    }

    /// Judges the end of a run, whose last frame this is: what had to happen and did not, and what has to hold then. The frame may be
    /// left out where nothing is judged by it ([`Self::has_finish`]).
    pub fn finish(&self, frame: &[f64], memory: &mut Memory, histories: &mut [History]) -> Judgement {
        let mut open = self.eventually & !memory.settled();
        for (index, requirement) in self.list.iter().enumerate().filter(|_| self.has_finish()) {
            let (bit, program) = (1 << index, requirement.program());
            if self.at_finish & bit & !memory.settled() != 0 && program.is_some_and(|program| !program.holds(frame)) {
                open |= bit;
            }
        }
        for (one, history) in self.temporal.iter().zip(histories) {
            let bit = 1 << one.index;
            // Where nothing was seen, nothing was violated.
            if open & bit != 0 && one.monitor.finish(history).is_none_or(|answer| answer > 0.0) {
                open &= !bit;
            }
        }
        self.judgement(open, memory)
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
            // Whoever looks ahead or back has always something to remember.
            let Condition::Moment(program) = &requirement.condition else { return !(lanes & !lanes) };
            if (self.at_start | self.at_finish) >> index & 1 == 1 {
                continue;
            }
            let holds = program.holds(frame);
            lanes = lanes
                | match requirement.rule {
                    Rule::Never => holds,
                    Rule::Always => !holds,
                    Rule::Eventually { by_ticks: None } => holds,
                    Rule::Eventually { by_ticks: Some(by_ticks) } => holds | R::splat(by_ticks as f64).le(tick),
                    Rule::AtStart | Rule::AtFinish => unreachable!("left out above"),
                };
        }
        lanes
    }

    /// Names what is remembered: only what these requirements can change. Memory and histories come with their paths in the
    /// state.
    pub fn visit<V: Visitor>(&self, memory: (&str, &Memory), histories: (&str, &[History]), v: &mut V) {
        let unused = "no requirement needs it";
        let ((memory_path, memory), (histories_path, histories)) = (memory, histories);
        v.within("requirements", |v| {
            v.field(memory_path, |v| {
                let mut one = |is_needed: bool, name: &str, bits: u32| match is_needed {
                    true => v.exact(name, u64::from(bits)),
                    false => v.constant(name, unused),
                };
                one(self.eventually != 0, "reached", memory.reached);
                one(self.should != 0, "noted", memory.noted);
                one(!self.exceeding.is_empty(), "exceeded", memory.exceeded);
            });
            for (one, history) in self.temporal.iter().zip(histories) {
                // What is settled is not looked at again.
                let history = (memory.settled() >> one.index & 1 == 0).then_some(history);
                let id = &self.list[one.index].id;
                v.within(id, |v| one.monitor.visit_answers(history, 1.0, self.step_s, v));
            }
        });
        v.field(histories_path, |v| {
            v.constant("#", "one for each requirement about more than one moment");
            v.time("[].start_s");
            v.time("[].last_s");
            v.unread("", "of a requirement that is settled");
        });
    }
}

/// The verdicts of a mask of requirements.
pub fn verdicts(requirements: u32, tick: u64, place: Option<Place>) -> Verdicts {
    let hit = (0..REQUIREMENTS_MAX as u16).filter(|&r| requirements >> r & 1 == 1);
    hit.map(|requirement| Verdict { requirement, tick, place }).collect()
}
