//! Which saved numbers can reach a later tick.
//!
//! A number that is surely written anew before anybody reads it says nothing about the future: two states that differ in
//! it alone go on alike. Merge keys leave such numbers out.

use std::ops::Range;

use crate::check::Effects;
use crate::memory::Region;
use crate::program::Program;
use crate::statement::{Action, Stmt};

impl Program {
    /// For each number of a saved state, in order: whether what comes later can depend on it.
    pub fn lasting(&self) -> Vec<bool> {
        let saved = self.layout().saved();
        let mut walk = Walk { program: self, lasting: vec![false; saved] };
        let mut written = vec![false; saved];
        for step in self.steps() {
            walk.body(&step.body, &mut written);
        }
        // An output that is not surely written is what it was: whoever reads it after the tick hears of the past.
        let maybe = self.effects().iter().flat_map(|effects| effects.writes.iter().cloned().flatten());
        let mut changes = vec![false; saved];
        maybe.filter(|&address| address < saved).for_each(|address| changes[address] = true);
        for address in self.layout().range(Region::Output) {
            walk.lasting[address] |= changes[address] && !written[address];
        }
        walk.lasting
    }
}

struct Walk<'p> {
    program: &'p Program,
    lasting: Vec<bool>,
}

impl Walk<'_> {
    fn body(&mut self, body: &[Stmt], written: &mut [bool]) {
        for stmt in body {
            self.stmt(stmt, written);
        }
    }
    fn stmt(&mut self, stmt: &Stmt, written: &mut [bool]) {
        if let Action::If { condition, then, otherwise, .. } = &stmt.action {
            let condition = crate::check::effects_of(self.program, std::slice::from_ref(condition), &[]);
            self.reads(&condition.reads, written);
            let mut other = written.to_vec();
            self.body(then, written);
            self.body(otherwise, &mut other);
            written.iter_mut().zip(other).for_each(|(both, other)| *both &= other);
            return;
        }
        let effects: Effects = crate::check::effects_of(self.program, &[], std::slice::from_ref(stmt));
        self.reads(&effects.reads, written);
        if matches!(stmt.action, Action::Set { .. } | Action::Array(_)) {
            for address in effects.writes.iter().cloned().flatten() {
                if let Some(written) = written.get_mut(address) {
                    *written = true;
                }
            }
        }
    }
    fn reads(&mut self, ranges: &[Range<usize>], written: &[bool]) {
        for address in ranges.iter().cloned().flatten().filter(|&address| address < written.len()) {
            self.lasting[address] |= !written[address];
        }
    }
}
