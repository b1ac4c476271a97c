//! The order in which atomic components run.
//!
//! Whoever gives a value runs before whoever takes it (S2-26). Among those that could run, connectors decide.
//! Where every remaining one waits for another there is a cycle: a component in it that gives before it takes (a
//! delay) opens it; without one, a component with parameters, or called delay or memory, else the first declared, runs
//! with the values of the tick before, and the cycle is told.

use std::collections::{BTreeSet, VecDeque};

/// An atomic component, as far as order is concerned.
#[derive(Clone, Debug, Default)]
pub struct Atom {
    /// Atoms whose values it takes.
    pub before: Vec<usize>,
    /// Atoms that take its values: one entry per connected in-port, in the order of connectors.
    pub takers: Vec<usize>,
    /// Whether it gives before it takes.
    pub delay: bool,
    /// Whether it may see values of the tick before rather than others.
    pub preferred: bool,
    /// Whether it runs before all others: it has no inputs, or it has parameters and waits for no atom.
    pub first: bool,
}

/// What runs when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The whole component.
    Run(usize),
    /// Only what goes out of a delay; what lasts stays as it is.
    Give(usize),
    /// The whole of a delay that gave before.
    Take(usize),
}

/// The order, and the cycles without a delay in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Turns, in order.
    pub turns: Vec<Turn>,
    /// Cycles: each from the atom that sees old values, along connectors, back to it.
    pub cycles: Vec<Vec<usize>>,
}

/// Orders atoms. `outer` are those that take values from outside or constants: one entry per connected in-port, in the
/// order of connectors.
///
/// Those without inputs come first, then values from outside are given connector by connector. Whenever an atom has all
/// it needs it runs, and at once those that only waited for it, connector by connector: the order of the original.
pub fn schedule(atoms: &[Atom], outer: &[usize]) -> Schedule {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); atoms.len()];
    let mut waiting = vec![0; atoms.len()];
    for (i, atom) in atoms.iter().enumerate() {
        atom.before.iter().for_each(|&before| after[before].push(i));
        atom.takers.iter().for_each(|&taker| waiting[taker] += 1);
    }
    outer.iter().for_each(|&taker| waiting[taker] += 1);
    let mut order =
        Ordering { atoms, waiting, done: vec![false; atoms.len()], open: vec![], result: Schedule::default() };
    for first in (0..atoms.len()).filter(|i| atoms[*i].first) {
        order.run(Turn::Run(first));
    }
    for &taker in outer {
        order.give(taker);
    }
    for ready in 0..atoms.len() {
        if order.waiting[ready] == 0 {
            order.run(Turn::Run(ready));
        }
    }
    while order.done.contains(&false) {
        let next = breaker(atoms, &after, &order.done);
        if atoms[next].delay {
            order.open.push(next);
            order.run(Turn::Give(next));
        } else {
            order.result.cycles.push(cycle_through(atoms, &order.done, next));
            order.run(Turn::Run(next));
        }
    }
    order.result
}

/// An order that grows.
struct Ordering<'a> {
    atoms: &'a [Atom],
    /// Connected in-ports that got nothing yet.
    waiting: Vec<usize>,
    done: Vec<bool>,
    /// Delays that gave and did not take yet.
    open: Vec<usize>,
    result: Schedule,
}

impl Ordering<'_> {
    /// One in-port got its value.
    fn give(&mut self, to: usize) {
        self.waiting[to] = self.waiting[to].saturating_sub(1);
        if self.waiting[to] == 0 {
            self.run(Turn::Run(to));
        }
    }

    /// An atom runs, and whoever only waited for it, depth first. Chains can be long, so this does not call itself.
    fn run(&mut self, turn: Turn) {
        let atoms = self.atoms;
        let mut stack = Vec::new();
        if let Some(entry) = self.one(turn) {
            stack.push((entry, 0));
        }
        while let Some((atom, next)) = stack.last_mut() {
            let Some(&taker) = atoms[*atom].takers.get(*next) else {
                stack.pop();
                continue;
            };
            *next += 1;
            self.waiting[taker] = self.waiting[taker].saturating_sub(1);
            if self.waiting[taker] == 0
                && let Some(entry) = self.one(Turn::Run(taker))
            {
                stack.push((entry, 0));
            }
        }
    }

    fn one(&mut self, turn: Turn) -> Option<usize> {
        let (Turn::Run(atom) | Turn::Give(atom) | Turn::Take(atom)) = turn;
        if std::mem::replace(&mut self.done[atom], true) {
            return None;
        }
        self.result.turns.push(turn);
        // A delay takes as soon as everybody it waits for has given; what other delays gave does not change any more.
        let (atoms, done, turns) = (self.atoms, &self.done, &mut self.result.turns);
        self.open.retain(|&taker| {
            let now = atoms[taker].before.iter().all(|&before| done[before]);
            if now {
                turns.push(Turn::Take(taker));
            }
            !now
        });
        Some(atom)
    }
}

/// The atom that opens a cycle which waits for nobody outside.
fn breaker(atoms: &[Atom], after: &[Vec<usize>], done: &[bool]) -> usize {
    let first = (0..atoms.len()).find(|i| !done[*i]).unwrap_or(0);
    let mut members = cycle_members(atoms, after, done, first);
    // Walk backwards from cycle to cycle; each lies before the last one, so this ends.
    while let Some(&outside) = members
        .iter()
        .flat_map(|member| &atoms[*member].before)
        .find(|before| !done[**before] && !members.contains(before))
    {
        members = cycle_members(atoms, after, done, outside);
    }
    let find = |wanted: fn(&Atom) -> bool| members.iter().copied().find(|member| wanted(&atoms[*member]));
    find(|atom| atom.delay).or_else(|| find(|atom| atom.preferred)).or(members.first().copied()).unwrap_or(first)
}

/// All atoms that wait for this one and that this one waits for, in order; itself at least.
fn cycle_members(atoms: &[Atom], after: &[Vec<usize>], done: &[bool], of: usize) -> BTreeSet<usize> {
    let behind = reached(of, done, |at| &atoms[at].before);
    let ahead = reached(of, done, |at| &after[at]);
    behind.intersection(&ahead).copied().collect()
}

/// Everything that can be reached, the start included.
fn reached<'a>(from: usize, done: &[bool], next: impl Fn(usize) -> &'a [usize]) -> BTreeSet<usize> {
    let mut seen = BTreeSet::from([from]);
    let mut stack = vec![from];
    while let Some(at) = stack.pop() {
        stack.extend(next(at).iter().copied().filter(|n| !done[*n] && seen.insert(*n)));
    }
    seen
}

/// A shortest way from an atom back to itself along connectors.
fn cycle_through(atoms: &[Atom], done: &[bool], start: usize) -> Vec<usize> {
    // `taker[x]` is the atom that takes the value of `x` on the way back to the start.
    let mut taker = vec![usize::MAX; atoms.len()];
    let mut queue = VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        for &before in atoms[at].before.iter().filter(|before| !done[**before]) {
            if before == start {
                let mut way = vec![start];
                let mut here = at;
                while here != start {
                    way.push(here);
                    here = taker[here];
                }
                way.push(start);
                return way;
            }
            if taker[before] == usize::MAX {
                taker[before] = at;
                queue.push_back(before);
            }
        }
    }
    vec![start]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atom(before: &[usize]) -> Atom {
        Atom { before: before.to_vec(), first: before.is_empty(), ..Atom::default() }
    }

    /// Connectors in the order in which atoms are declared.
    fn schedule(atoms: &[Atom]) -> Schedule {
        let mut atoms = atoms.to_vec();
        for i in 0..atoms.len() {
            for before in atoms[i].before.clone() {
                atoms[before].takers.push(i);
            }
        }
        super::schedule(&atoms, &[])
    }

    #[test]
    fn a_chain_is_followed_before_the_next_connector() {
        // Two chains, 0 -> 1 and 2 -> 3, joined by 4; values from outside reach 2 first.
        let chain = |before: &[usize], takers: &[usize]| Atom { takers: takers.to_vec(), first: false, ..atom(before) };
        let atoms = [chain(&[], &[1]), chain(&[0], &[4]), chain(&[], &[3]), chain(&[2], &[4]), chain(&[1, 3], &[])];
        let order = super::schedule(&atoms, &[2, 0]).turns;
        assert_eq!(order, [2, 3, 0, 1, 4].map(Turn::Run));
    }

    #[test]
    fn a_very_long_chain_is_ordered() {
        let mut atoms: Vec<Atom> = (0..200_000).map(|i| atom(&if i == 0 { vec![] } else { vec![i - 1] })).collect();
        atoms[7].preferred = true;
        let order = schedule(&atoms);
        assert_eq!((order.turns.len(), order.turns[199_999]), (200_000, Turn::Run(199_999)));
    }

    #[test]
    fn givers_run_before_takers_and_the_first_declared_runs_first() {
        let result = schedule(&[atom(&[2]), atom(&[]), atom(&[1]), atom(&[])]);
        assert_eq!(result.turns, [Turn::Run(1), Turn::Run(2), Turn::Run(0), Turn::Run(3)]);
        assert_eq!(result.cycles, Vec::<Vec<usize>>::new());
    }

    #[test]
    fn a_delay_opens_a_cycle_and_takes_at_its_end() {
        let delay = Atom { delay: true, ..atom(&[1]) };
        let result = schedule(&[delay, atom(&[0])]);
        assert_eq!(result.turns, [Turn::Give(0), Turn::Run(1), Turn::Take(0)]);
        assert!(result.cycles.is_empty());
    }

    #[test]
    fn a_cycle_without_a_delay_is_told_from_the_one_that_sees_old_values() {
        let result = schedule(&[atom(&[2]), Atom { preferred: true, ..atom(&[0]) }, atom(&[1])]);
        assert_eq!(result.turns, [Turn::Run(1), Turn::Run(2), Turn::Run(0)]);
        assert_eq!(result.cycles, [vec![1, 2, 0, 1]]);
    }

    #[test]
    fn who_only_waits_for_a_cycle_does_not_open_it() {
        let result = schedule(&[atom(&[1]), atom(&[2]), atom(&[1])]);
        assert_eq!(result.turns, [Turn::Run(1), Turn::Run(0), Turn::Run(2)]);
        assert_eq!(result.cycles, [vec![1, 2, 1]]);
    }

    #[test]
    fn one_that_feeds_itself_is_a_cycle() {
        assert_eq!(schedule(&[atom(&[0])]).cycles, [vec![0, 0]]);
    }
}
