//! Causes one after another: shrink a finding, see which kinds of error are left, recruit all findings that share them.

use std::collections::{BTreeMap, BTreeSet};

use anabranch_kernel::{Choice, Fault, System, Verdict};

use super::kind::{Kinds, contains};
use super::mirror::fold_mirrored;
use super::{Accidents, Asked, Cause, Causes, Found, Unfinished};
use crate::explain::{Cost, ExplainError, Question, Same, Tried, Tries, certify, shrink, superfluous};

/// Bytes of saved states for one batch of runs: the exploration is over, but its memory may still be full.
const BYTES_MAX: usize = 64 << 20;
/// Sequences that are run before somebody is asked whether to go on.
const BATCH: usize = 1_024;
/// Findings of a cause, those with the fewest errors, of which the smallest sequence is looked for.
const HEADLINES: usize = 4;

/// Finds the causes of findings. The result is the same for any number of threads.
///
/// # Errors
/// When threads cannot be started.
pub fn find_causes<S: System, A: Accidents>(asked: &Asked<'_, S, A>) -> Result<Causes<A::Accident>, ExplainError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(asked.threads).build();
    let pool = pool.map_err(|e| ExplainError::Threads(e.to_string()))?;
    Ok(pool.install(|| {
        let mut finder = Finder::new(asked);
        let unfinished = finder.find().err();
        finder.finish(unfinished)
    }))
}

/// A sequence that was run, with its start, verdict and the finding it comes from.
#[derive(Clone, Debug)]
struct Core {
    tried: Tried,
    verdict: Verdict,
    start: usize,
    from: usize,
}

/// A cause that is being filled.
#[derive(Debug)]
struct Draft<A> {
    cause: Cause<A>,
    /// Whether its minimal sequence was certified.
    is_certified: bool,
}

/// A start and a sequence, and the findings that it is part of.
type Restricted = ((usize, Vec<Choice>), Vec<usize>);

pub(super) struct Finder<'a, S: System, A: Accidents> {
    asked: &'a Asked<'a, S, A>,
    kinds: Kinds,
    /// Of each finding.
    accidents: Vec<A::Accident>,
    /// Of each finding the position of its draft.
    cause_of: Vec<Option<usize>>,
    drafts: Vec<Draft<A::Accident>>,
    segments: u64,
}

impl From<Fault> for Unfinished {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl<'a, S: System, A: Accidents> Finder<'a, S, A> {
    fn new(asked: &'a Asked<'a, S, A>) -> Self {
        Self {
            asked,
            kinds: Kinds::of(asked.system.errors()),
            accidents: asked.findings.iter().map(|found| asked.accidents.of(found)).collect(),
            cause_of: vec![None; asked.findings.len()],
            drafts: Vec::new(),
            segments: 0,
        }
    }

    /// Causes first, then their smallest sequences. Where the work is used up, what was found is still certified.
    fn find(&mut self) -> Result<(), Unfinished> {
        let mut searched = self.search();
        if !matches!(searched, Ok(()) | Err(Unfinished::Work)) {
            return searched;
        }
        for number in 0..self.drafts.len() {
            if searched.is_ok() {
                searched = self.headline(number);
            }
            self.certify(number)?;
        }
        fold_mirrored(self)?;
        searched
    }

    /// Rounds over all accidents, so that a rare one does not wait for the variations of a frequent one.
    fn search(&mut self) -> Result<(), Unfinished> {
        loop {
            let mut seen = BTreeSet::new();
            let is_first = |at: &usize| self.cause_of[*at].is_none() && seen.insert(&self.accidents[*at]);
            let picks: Vec<usize> = (0..self.cause_of.len()).filter(is_first).collect();
            if picks.is_empty() {
                return Ok(());
            }
            for pick in picks {
                self.go_on()?;
                let core = self.shrunk(pick, self.asked.findings[pick].choices)?;
                let Some(core) = core else { return Err(Unfinished::Fault(lost(self.asked.findings[pick]))) };
                self.assign(pick, core)?;
            }
        }
    }

    fn go_on(&self) -> Result<(), Unfinished> {
        if !(self.asked.goes_on)() {
            return Err(Unfinished::Stopped);
        }
        if self.segments >= self.asked.work_max { Err(Unfinished::Work) } else { Ok(()) }
    }

    /// Runs sequences from a start in search of an accident, and counts what that took.
    pub(super) fn with_tries<T>(
        &mut self,
        start: usize,
        accident: &A::Accident,
        requirement: u16,
        work: impl FnOnce(&mut Tries<'_, S>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let asked = self.asked;
        let is_same = |choices: &[Choice], verdict: &Verdict| {
            asked.accidents.is_same(accident, &Found { start, choices, verdict: *verdict })
        };
        let mut tries = Tries::within(question(asked, start, requirement, &is_same), BYTES_MAX)?;
        let done = work(&mut tries);
        self.segments += tries.segments_run();
        done
    }

    /// Leaves errors out of a sequence of a finding until each is needed; `None` if it does not lead to the accident.
    fn shrunk(&mut self, at: usize, choices: &[Choice]) -> Result<Option<Core>, Fault> {
        let (accident, found) = (self.accidents[at].clone(), self.asked.findings[at]);
        self.with_tries(found.start, &accident, found.verdict.requirement, |tries| {
            let run = tries.one(choices)?;
            if tries.accident(&run).is_none() {
                return Ok(None);
            }
            let tried = shrink(tries, run)?;
            let verdict = tries.accident(&tried);
            Ok(verdict.map(|verdict| Core { tried, verdict, start: found.start, from: at }))
        })
    }

    /// Adds a finding to the cause that its core speaks of; a new one recruits.
    fn assign(&mut self, pick: usize, core: Core) -> Result<(), Unfinished> {
        let kinds = self.kinds.in_sequence(&core.tried.choices);
        let accident = self.accidents[pick].clone();
        let known = self.drafts.iter().position(|draft| draft.cause.accident == accident && draft.cause.kinds == kinds);
        if let Some(known) = known {
            self.cause_of[pick] = Some(known);
            self.gather(known, &core);
            return Ok(());
        }
        let number = self.drafts.len();
        let Core { tried: minimal, verdict, start, from } = core.clone();
        let cause = Cause {
            accident,
            kinds,
            minimal,
            verdict,
            start,
            from,
            members: Vec::new(),
            witnesses: Vec::new(),
            mirror_of: None,
        };
        self.drafts.push(Draft { cause, is_certified: false });
        self.cause_of[pick] = Some(number);
        self.gather(number, &core);
        self.recruit(number)
    }

    /// Findings that contain a sequence that was run.
    fn gather(&mut self, number: usize, core: &Core) {
        self.drafts[number].cause.witnesses.push((core.start, core.tried.choices.clone()));
        let space = self.asked.system.errors();
        for (at, found) in self.asked.findings.iter().enumerate() {
            let is_free = self.cause_of[at].is_none() && found.start == core.start;
            let is_like = is_free && self.accidents[at] == self.drafts[number].cause.accident;
            if is_like && contains(space, found.choices, &core.tried.choices) {
                self.cause_of[at] = Some(number);
            }
        }
    }

    /// Runs every finding of the accident with its errors of the kinds of a cause and no others. Those of causes that
    /// need further kinds are asked too: fewer kinds are enough for them.
    fn recruit(&mut self, number: usize) -> Result<(), Unfinished> {
        let space = self.asked.system.errors();
        let Cause { accident, kinds, verdict, .. } = self.drafts[number].cause.clone();
        let mut restricted: BTreeMap<(usize, Vec<Choice>), Vec<usize>> = BTreeMap::new();
        for (at, found) in self.asked.findings.iter().enumerate() {
            let needs_more = |of: usize| of != number && self.drafts[of].cause.kinds.is_superset(&kinds);
            if self.accidents[at] != accident || !self.cause_of[at].is_none_or(needs_more) {
                continue;
            }
            // Without an error of some kind it is another, simpler cause.
            if !kinds.is_subset(&self.kinds.in_sequence(found.choices)) {
                continue;
            }
            let fewer = self.kinds.restrict(space, found.choices, &kinds);
            if fewer == found.choices {
                self.cause_of[at] = Some(number);
            } else {
                restricted.entry((found.start, fewer)).or_default().push(at);
            }
        }
        let mut sequences: Vec<Restricted> = restricted.into_iter().collect();
        while !sequences.is_empty() {
            self.go_on()?;
            let start = sequences[0].0.0;
            let same_start = sequences.iter().take(BATCH).take_while(|((other, _), _)| *other == start).count();
            let batch: Vec<_> = sequences.drain(..same_start).collect();
            let choices: Vec<Vec<Choice>> = batch.iter().map(|((_, choices), _)| choices.clone()).collect();
            let happens = self.with_tries(start, &accident, verdict.requirement, |tries| {
                let runs = tries.many(&choices)?;
                Ok(runs.iter().map(|run| tries.accident(run).is_some()).collect::<Vec<_>>())
            })?;
            for ((_, findings), _) in batch.into_iter().zip(happens).filter(|(_, happens)| *happens) {
                findings.into_iter().for_each(|at| self.cause_of[at] = Some(number));
            }
        }
        Ok(())
    }

    /// Looks for a smaller sequence among the findings with the fewest errors.
    fn headline(&mut self, number: usize) -> Result<(), Unfinished> {
        let space = self.asked.system.errors();
        let kinds = self.drafts[number].cause.kinds.clone();
        let cost = |choices: &[Choice]| Cost::of(space, choices, choices.len());
        let members = (0..self.cause_of.len()).filter(|at| self.cause_of[*at] == Some(number));
        let restricted = members.map(|at| (at, self.kinds.restrict(space, self.asked.findings[at].choices, &kinds)));
        let mut smallest: Vec<(Cost, usize, Vec<Choice>)> =
            restricted.map(|(at, choices)| (cost(&choices), at, choices)).collect();
        smallest.sort();
        smallest.truncate(HEADLINES);
        for (_, at, choices) in smallest {
            self.go_on()?;
            let Some(core) = self.shrunk(at, &choices)? else { continue };
            let best = &self.drafts[number].cause.minimal;
            let is_smaller = cost(&core.tried.choices) < cost(&best.choices);
            if is_smaller && self.kinds.in_sequence(&core.tried.choices) == kinds {
                let Core { tried: minimal, verdict, start, from } = core;
                let cause = &mut self.drafts[number].cause;
                (cause.minimal, cause.verdict, cause.start, cause.from) = (minimal, verdict, start, from);
            }
        }
        Ok(())
    }

    /// Runs the minimal sequence from the start without saved states, and without each of its errors.
    fn certify(&mut self, number: usize) -> Result<(), Unfinished> {
        let (asked, cause) = (self.asked, &self.drafts[number].cause);
        let (start, accident) = (cause.start, &cause.accident);
        let is_same = |choices: &[Choice], verdict: &Verdict| {
            asked.accidents.is_same(accident, &Found { start, choices, verdict: *verdict })
        };
        let question = question(asked, start, cause.verdict.requirement, &is_same);
        let certified = match certify(&question, &cause.minimal) {
            Ok(verdict) => Some(verdict),
            Err(ExplainError::Fault(fault)) => return Err(fault.into()),
            Err(_) => None,
        };
        let superfluous = superfluous(&question, &cause.minimal)?;
        let draft = &mut self.drafts[number];
        if let (Some(verdict), []) = (certified, superfluous.as_slice()) {
            (draft.cause.verdict, draft.is_certified) = (verdict, true);
        }
        Ok(())
    }

    /// The drafts that were certified become causes; findings of the others have none.
    fn finish(self, unfinished: Option<Unfinished>) -> Causes<A::Accident> {
        let mut members = vec![Vec::new(); self.drafts.len()];
        let mut unassigned = Vec::new();
        for (at, cause) in self.cause_of.iter().enumerate() {
            match cause.filter(|cause| self.drafts[*cause].is_certified) {
                Some(cause) => members[cause].push(at),
                None => unassigned.push(at),
            }
        }
        let mut place = BTreeMap::new();
        let mut causes: Vec<Cause<A::Accident>> = Vec::new();
        for (number, (draft, members)) in self.drafts.into_iter().zip(members).enumerate() {
            if !members.is_empty() {
                place.insert(number, causes.len());
                let mirror_of = draft.cause.mirror_of.and_then(|of| place.get(&of).copied());
                causes.push(Cause { members, mirror_of, ..draft.cause });
            }
        }
        Causes { causes, kinds: self.kinds, unassigned, unfinished, segments_run: self.segments }
    }

    /// What mirroring asks for.
    pub(super) fn kinds(&self) -> &Kinds {
        &self.kinds
    }
    pub(super) fn starts(&self) -> usize {
        self.asked.starts.len()
    }
    pub(super) fn accidents(&self) -> &'a A {
        self.asked.accidents
    }
    /// The causes so far that were certified and still have findings, by number.
    pub(super) fn certified(&self) -> Vec<usize> {
        let has_members = |number: &usize| self.cause_of.contains(&Some(*number));
        (0..self.drafts.len()).filter(|number| self.drafts[*number].is_certified).filter(has_members).collect()
    }
    pub(super) fn cause(&self, number: usize) -> &Cause<A::Accident> {
        &self.drafts[number].cause
    }
    pub(super) fn set_mirror(&mut self, number: usize, of: usize) {
        self.drafts[number].cause.mirror_of = Some(of);
    }
}

fn question<'q, S: System, A: Accidents>(
    asked: &Asked<'q, S, A>,
    start: usize,
    requirement: u16,
    is_same: &'q (dyn Fn(&[Choice], &Verdict) -> bool + Sync),
) -> Question<'q, S> {
    let Asked { system, seed, segments_max, starts, .. } = *asked;
    Question {
        system,
        seed,
        params: &starts[start],
        choices: &[],
        requirement,
        same: Same::Accident(is_same),
        segments_max,
    }
}

/// A finding that does not lead to its accident again.
fn lost(found: Found<'_>) -> Fault {
    let Found { choices, verdict, .. } = found;
    Fault::Contract(format!("{} segments no longer lead to the violation of tick {}", choices.len(), verdict.tick))
}
