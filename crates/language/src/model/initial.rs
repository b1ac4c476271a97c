//! First values of ports: `instance Delay{out1(t=0) = 7} delay;`.

use std::collections::BTreeMap;

use super::build::fit_ty;
use super::env::{Env, Place};
use super::instance::{Instantiate, Tree};
use super::wire::{Driver, Origin};
use crate::diagnostic::{Code, Problem};
use crate::lower::known;
use crate::syntax::ast::{Direction, Index, Initial};

impl<'l> Instantiate<'_, 'l> {
    /// Notes the first value of a port of an instance, or tells why it cannot be.
    pub(super) fn initial(
        &mut self,
        child: usize,
        given: &Initial,
        place: &Place<'l>,
        env: &Env,
        around: usize,
    ) -> Option<()> {
        let name = &given.port;
        let ports = &self.tree.nodes[child].ports;
        let Some(port) = ports.iter().find(|port| port.name == name.text).cloned() else {
            let message = format!("`{}` has no port `{}`", self.tree.nodes[child].component(), name.text);
            let told = Problem::error(Code::UnknownName, name.span, message);
            let told = told.did_you_mean(&name.text, ports.iter().map(|port| port.name.as_str()));
            self.report.tell(place.file, told);
            return None;
        };
        let mut value = known(&given.value, place, env, self.report)?;
        let chosen = self.indices(around, given.index.as_ref(), port.terminals(), name)?;
        let mut ty = port.ty.clone();
        if port.count.is_some() && !matches!(given.index, Some(Index::One(_))) {
            ty.shape.insert(0, u32::try_from(chosen.len()).unwrap_or(u32::MAX));
        }
        fit_ty(&mut value, &ty, (place.file, given.value.span), self.report)?;
        let each = port.ty.size() as usize;
        for (i, element) in chosen.into_iter().enumerate() {
            let values = value.values.iter().skip(i * each).take(each).copied().collect();
            self.tree.nodes[child].initial.push((port.first + element, values));
        }
        Some(())
    }

    /// A first value of an in-port that has a sender would never be seen.
    pub(super) fn initial_of_driven(&mut self, id: usize, child: usize) {
        let component = self.tree.nodes[id].place.component;
        let node = &self.tree.nodes[child];
        if node.initial.is_empty() {
            return;
        }
        let stem = node.short.split('[').next().unwrap_or(&node.short);
        let Some(instance) = component.instances.iter().find(|instance| instance.name.text == stem) else { return };
        let mut told = Vec::new();
        for given in &instance.initial {
            let port = node.ports.iter().find(|port| port.name == given.port.text);
            let Some(port) = port.filter(|port| port.direction == Direction::In) else { continue };
            let terminals = port.first..port.first + port.terminals();
            let mut noted = node.initial.iter().filter(|(terminal, _)| terminals.contains(terminal));
            let driven = |terminal: usize| {
                matches!(self.tree.net.terminals[terminal].driver, Driver::From(..) | Driver::Constant(_))
            };
            if noted.any(|(terminal, _)| driven(*terminal)) {
                let message = format!("`{}.{}` is connected; its first value is that of its sender", stem, port.name);
                let warning = Problem::warning(Code::NotSupported, given.port.span, message);
                told.push(warning.help("give the first value to the out-port that drives it"));
            }
        }
        for problem in told {
            self.tell(id, problem);
        }
    }
}

/// First values by the terminal that a value begins at. What is said of an outer port counts for the port inside that
/// drives it, and more than what is said there: whoever uses a component has the last word.
pub fn firsts(tree: &Tree<'_>) -> BTreeMap<usize, Vec<f64>> {
    let mut all: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (terminal, values) in tree.nodes.iter().flat_map(|node| &node.initial) {
        let at = &tree.net.terminals[*terminal];
        let inward = tree.nodes[at.node].ports[at.port].direction == Direction::In;
        let begins = if inward { Origin::Terminal(*terminal, 0) } else { tree.net.origin(*terminal) };
        if let Origin::Terminal(from, 0) = begins {
            let giver = &tree.net.terminals[from];
            if tree.nodes[giver.node].ports[giver.port].ty.size() as usize == values.len() {
                all.entry(from).or_insert_with(|| values.clone());
            }
        }
    }
    all
}
