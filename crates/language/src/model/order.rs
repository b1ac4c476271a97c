//! The order in which atomic components run.
//!
//! Whoever gives a value runs before whoever takes it (S2-26). Among those that could run, the one declared first does.
//! Where every remaining one waits for another there is a cycle: a component in it that gives before it takes (a
//! delay) opens it; without one, a component with parameters, or called delay or memory, else the first declared, runs
//! with the values of the tick before, and the cycle is told.

use std::collections::{BTreeSet, VecDeque};

/// An atomic component, as far as order is concerned.
#[derive(Clone, Debug, Default)]
pub struct Atom {
    /// Atoms whose values it takes.
    pub before: Vec<usize>,
    /// Whether it gives before it takes.
    pub delay: bool,
    /// Whether it may see values of the tick before rather than others.
    pub preferred: bool,
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

/// Orders atoms.
pub fn schedule(atoms: &[Atom]) -> Schedule {
    let mut result = Schedule::default();
    let mut waiting: Vec<usize> = atoms.iter().map(|atom| atom.before.len()).collect();
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); atoms.len()];
    for (i, atom) in atoms.iter().enumerate() {
        for &before in &atom.before {
            after[before].push(i);
        }
    }
    let mut ready: BTreeSet<usize> = (0..atoms.len()).filter(|i| waiting[*i] == 0).collect();
    let mut done = vec![false; atoms.len()];
    let mut takers: Vec<usize> = Vec::new();
    for _ in 0..atoms.len() {
        let next = match ready.pop_first() {
            Some(next) => {
                result.turns.push(Turn::Run(next));
                next
            }
            None => {
                let next = breaker(atoms, &after, &done);
                if atoms[next].delay {
                    result.turns.push(Turn::Give(next));
                    takers.push(next);
                } else {
                    result.turns.push(Turn::Run(next));
                    result.cycles.push(cycle_through(atoms, &done, next));
                }
                next
            }
        };
        done[next] = true;
        for &follower in &after[next] {
            waiting[follower] -= 1;
            if waiting[follower] == 0 && !done[follower] {
                ready.insert(follower);
            }
        }
        // A delay takes as soon as everybody it waits for has given; what other delays gave does not change any more.
        takers.retain(|&taker| {
            let now = atoms[taker].before.iter().all(|&before| done[before]);
            if now {
                result.turns.push(Turn::Take(taker));
            }
            !now
        });
    }
    result
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
        Atom { before: before.to_vec(), ..Atom::default() }
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
