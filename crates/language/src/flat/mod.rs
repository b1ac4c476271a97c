//! Flattening: atomic components in order, their ports in memory, their behaviour as steps.

mod step;

use std::collections::BTreeMap;
use std::sync::Arc;

use anabranch_program as ir;
use step::{inputs, is_delay, needs_nothing};

use crate::diagnostic::{Code, Problem};
use crate::model::build::{Executed, Model, ModelPort, Options};
use crate::model::delay::always_written;
use crate::model::env::{Known, Report};
use crate::model::initial::firsts;
use crate::model::instance::{PortInfo, Tree};
use crate::model::native::Block;
use crate::model::order::{Atom, Schedule, Turn, schedule};
use crate::model::ty::Ty;
use crate::model::wire::Origin;
use crate::syntax::ast::Direction;

/// Most slots of one program.
const SLOTS_MAX: u64 = 1 << 26;

struct Flatten<'a, 'l> {
    tree: &'a Tree<'l>,
    report: &'a mut Report<'l>,
    builder: ir::Builder,
    /// Atomic instances, in the order of declaration.
    atoms: Vec<usize>,
    /// Where the value of a terminal lies, of those where values begin.
    homes: BTreeMap<usize, ir::Span>,
    /// Delays that gave and did not take yet.
    pending: BTreeMap<usize, Vec<ir::Stmt>>,
    places: Vec<(crate::library::FileId, crate::syntax::Span)>,
    /// First values by the terminal that they begin at.
    firsts: BTreeMap<usize, Vec<f64>>,
}

/// Makes one program of a tree of instances.
pub(crate) fn flatten<'l>(tree: &Tree<'l>, name: String, options: &Options, report: &mut Report<'l>) -> Option<Model> {
    let builder = ir::Builder::new(name.clone());
    let mut flat = Flatten {
        tree,
        report,
        builder,
        atoms: atoms(tree),
        homes: BTreeMap::new(),
        pending: BTreeMap::new(),
        places: Vec::new(),
        firsts: firsts(tree),
    };
    flat.run(name, options)
}

/// Instances without instances inside, in the order of declaration.
fn atoms(tree: &Tree<'_>) -> Vec<usize> {
    let mut found = Vec::new();
    let mut stack = vec![0];
    while let Some(at) = stack.pop() {
        let node = &tree.nodes[at];
        if node.children.is_empty() {
            found.push(at);
        }
        stack.extend(node.children.iter().rev());
    }
    found
}

impl Flatten<'_, '_> {
    fn run(&mut self, name: String, options: &Options) -> Option<Model> {
        let slots: u64 =
            self.tree.nodes.iter().flat_map(|n| &n.ports).map(|p| u64::from(p.ty.size()) * p.terminals() as u64).sum();
        if slots > SLOTS_MAX {
            let root = &self.tree.nodes[0];
            let told =
                Problem::error(Code::TooLarge, root.place.component.name.span, format!("ports of {slots} numbers"));
            self.report.tell(root.place.file, told);
            return None;
        }
        let (atoms, outer) = self.dependencies();
        let plan = schedule(&atoms, &outer);
        self.tell_cycles(&plan, options.strict);
        let ports = self.root_ports();
        self.place_outputs(&plan);
        for turn in &plan.turns {
            self.turn(*turn);
        }
        self.copy_outputs(&ports, &name);
        if self.report.failed() {
            return None;
        }
        let order = self.executed(&plan);
        let builder = std::mem::replace(&mut self.builder, ir::Builder::new(""));
        match builder.finish() {
            Ok(program) => Some(Model {
                name,
                ports,
                order,
                instances: self.tree.nodes.len(),
                program: Arc::new(program),
                warnings: vec![],
                places: std::mem::take(&mut self.places),
                files: {
                    let files: std::collections::BTreeSet<_> = self.tree.nodes.iter().map(|n| n.place.file).collect();
                    files.into_iter().collect()
                },
            }),
            Err(error) => {
                let root = &self.tree.nodes[0];
                let told = Problem::error(Code::TooLarge, root.place.component.name.span, error.to_string());
                self.report.tell(root.place.file, told);
                None
            }
        }
    }

    fn executed(&self, plan: &Schedule) -> Vec<Executed> {
        let of = |turn: &Turn| match *turn {
            Turn::Run(atom) | Turn::Give(atom) => Some(self.atoms[atom]),
            Turn::Take(_) => None,
        };
        let entry = |id: usize| {
            let node = &self.tree.nodes[id];
            let parameter = !node.ports.iter().any(|port| port.direction == Direction::In);
            Executed {
                name: node.name.clone(),
                component: node.component().to_owned(),
                parameter,
                declared: (node.place.file, node.place.component.name.span),
            }
        };
        plan.turns.iter().filter_map(of).map(entry).collect()
    }

    /// Who waits for whom, and who takes values from outside or constants, in the order of connectors.
    fn dependencies(&self) -> (Vec<Atom>, Vec<usize>) {
        let number: BTreeMap<usize, usize> = self.atoms.iter().enumerate().map(|(i, node)| (*node, i)).collect();
        let (mut givers, mut outer) = (vec![Vec::new(); self.atoms.len()], Vec::new());
        let mut all: Vec<Atom> = Vec::new();
        for (i, &id) in self.atoms.iter().enumerate() {
            let node = &self.tree.nodes[id];
            let mut before = Vec::new();
            for terminal in inputs(node) {
                let way = self.tree.net.way(terminal);
                match self.tree.net.origin(terminal) {
                    Origin::Constant(_) => outer.push((way, i)),
                    Origin::Terminal(from, _) => {
                        let giver = &self.tree.net.terminals[from];
                        let gives = self.tree.nodes[giver.node].ports[giver.port].direction == Direction::Out;
                        match number.get(&giver.node) {
                            Some(&atom) if gives => {
                                givers[atom].push((way, i));
                                if !before.contains(&atom) {
                                    before.push(atom);
                                }
                            }
                            _ if giver.node == 0 && !way.is_empty() => outer.push((way, i)),
                            _ => {}
                        }
                    }
                }
            }
            let component = node.place.component;
            let named = ["delay", "memory"].iter().any(|word| component.name.text.to_lowercase().contains(word));
            let parameters = !component.params.is_empty();
            let first = before.is_empty() && (parameters || inputs(node).next().is_none());
            all.push(Atom { before, takers: vec![], delay: is_delay(node), preferred: named || parameters, first });
        }
        let in_order = |mut takers: Vec<(Vec<(usize, usize)>, usize)>| -> Vec<usize> {
            takers.sort();
            takers.into_iter().map(|(_, atom)| atom).collect()
        };
        for (atom, takers) in all.iter_mut().zip(givers) {
            atom.takers = in_order(takers);
        }
        (all, in_order(outer))
    }

    fn tell_cycles(&mut self, plan: &Schedule, strict: bool) {
        for cycle in &plan.cycles {
            let names: Vec<&str> = cycle.iter().map(|atom| self.tree.nodes[self.atoms[*atom]].name.as_str()).collect();
            let Some(first) = names.first() else { continue };
            let message =
                format!("a cycle without a delay: {}; {first} sees values of the tick before", names.join(" -> "));
            let node = &self.tree.nodes[self.atoms[cycle[0]]];
            let root = &self.tree.nodes[0].place;
            let (file, span) = if node.place.file == root.file {
                (node.place.file, node.place.component.name.span)
            } else {
                (root.file, root.component.name.span)
            };
            let told = if strict {
                Problem::error(Code::AlgebraicLoop, span, message)
            } else {
                Problem::warning(Code::AlgebraicLoop, span, message)
            };
            self.report.tell(file, told.help("put a delay into the cycle"));
        }
    }

    /// Slots of the outermost ports.
    fn root_ports(&mut self) -> Vec<ModelPort> {
        let root = &self.tree.nodes[0];
        let mut ports = Vec::new();
        for port in &root.ports {
            let first = self.first_value(port);
            let slots = match port.direction {
                Direction::In => self.builder.input(port.name.clone(), &first),
                Direction::Out => self.builder.output(port.name.clone(), &first),
            };
            self.settle(port, slots);
            ports.push(ModelPort {
                name: port.name.clone(),
                direction: port.direction,
                ty: port.ty.clone(),
                count: port.count,
                slots,
            });
        }
        ports
    }

    fn settle(&mut self, port: &PortInfo, slots: ir::Span) {
        let size = port.ty.size();
        for i in 0..port.terminals() {
            self.homes.insert(port.first + i, slots.part(i as u32 * size, size));
        }
    }

    /// What a port begins with; an outer one with what the port that drives it begins with.
    fn first_value(&self, port: &PortInfo) -> Vec<f64> {
        let size = port.ty.size() as usize;
        let one = |terminal: usize| match self.tree.net.origin(terminal) {
            Origin::Terminal(from, 0) => self.firsts.get(&from).filter(|values| values.len() == size).cloned(),
            _ => None,
        };
        let terminals = port.first..port.first + port.terminals();
        terminals.flat_map(|terminal| one(terminal).unwrap_or_else(|| vec![0.0; size])).collect()
    }

    /// Slots of what goes out of atoms: an outer port itself where one is connected directly, a signal where nobody
    /// needs the last value, else a part of the state.
    fn place_outputs(&mut self, plan: &Schedule) {
        let outer = self.outer_homes();
        let signals = self.signals(plan);
        for &id in &self.atoms.clone() {
            if id == 0 {
                continue;
            }
            let node = &self.tree.nodes[id];
            for port in node.ports.iter().filter(|port| port.direction == Direction::Out) {
                if let (None, Some(home)) = (port.count, outer.get(&port.first)) {
                    self.homes.insert(port.first, *home);
                    continue;
                }
                let name = format!("{}.{}", node.name, port.name);
                let first = self.first_value(port);
                let slots = if signals.contains(&port.first) {
                    self.builder.signal(name, u32::try_from(first.len()).unwrap_or(u32::MAX))
                } else {
                    self.builder.state(name, &first)
                };
                self.settle(port, slots);
            }
        }
    }

    /// Out-ports of atoms that drive an outer port of the same kind directly, and its slots.
    fn outer_homes(&self) -> BTreeMap<usize, ir::Span> {
        let mut homes = BTreeMap::new();
        let root = &self.tree.nodes[0];
        for port in root.ports.iter().filter(|port| port.direction == Direction::Out) {
            for terminal in port.first..port.first + port.terminals() {
                if let (Origin::Terminal(from, 0), Some(slots)) =
                    (self.tree.net.origin(terminal), self.homes.get(&terminal))
                {
                    let giver = &self.tree.net.terminals[from];
                    let given = &self.tree.nodes[giver.node].ports[giver.port];
                    if giver.node != 0
                        && given.direction == Direction::Out
                        && given.ty.size() == port.ty.size()
                        && needs_nothing(&given.ty, &port.ty)
                    {
                        homes.entry(from).or_insert(*slots);
                    }
                }
            }
        }
        homes
    }

    /// First terminals of out-ports whose value is written anew in each tick before anybody reads it.
    fn signals(&self, plan: &Schedule) -> std::collections::BTreeSet<usize> {
        let mut when = BTreeMap::new();
        for (at, turn) in plan.turns.iter().enumerate() {
            let (Turn::Run(atom) | Turn::Give(atom) | Turn::Take(atom)) = *turn;
            when.entry(self.atoms[atom]).or_insert(at);
        }
        let mut early: std::collections::BTreeSet<usize> = std::collections::BTreeSet::new();
        for &id in &self.atoms {
            for terminal in inputs(&self.tree.nodes[id]) {
                if let Origin::Terminal(from, _) = self.tree.net.origin(terminal) {
                    let giver = &self.tree.net.terminals[from];
                    if when.get(&giver.node) >= when.get(&id) {
                        early.insert(self.tree.nodes[giver.node].ports[giver.port].first);
                    }
                }
            }
        }
        let mut signals = std::collections::BTreeSet::new();
        for &id in &self.atoms {
            let node = &self.tree.nodes[id];
            for port in node.ports.iter().filter(|port| port.direction == Direction::Out && port.count.is_none()) {
                let written = match &node.place.component.behaviour {
                    Some(behaviour) => always_written(&behaviour.body, &port.name),
                    None => Block::named(node.component()).is_some(),
                };
                if written && !early.contains(&port.first) {
                    signals.insert(port.first);
                }
            }
        }
        signals
    }

    /// The value that drives a terminal, in slots.
    fn source(&mut self, terminal: usize, ty: &Ty) -> (ir::Span, Ty) {
        match self.tree.net.origin(terminal) {
            Origin::Terminal(from, offset) => {
                let giver = &self.tree.net.terminals[from];
                let given = &self.tree.nodes[giver.node].ports[giver.port].ty;
                match self.homes.get(&from) {
                    Some(home) if offset == 0 && given.size() == ty.size() => (*home, given.clone()),
                    Some(home) => (home.part(offset, ty.size()), ty.clone()),
                    None => {
                        // Nobody is connected: the first value stays, or zero.
                        let first = self.firsts.get(&from).and_then(|all| all.get(offset as usize..));
                        let mut values = first.map(<[f64]>::to_vec).unwrap_or_default();
                        values.resize(ty.size() as usize, 0.0);
                        (self.constant(&values), ty.clone())
                    }
                }
            }
            Origin::Constant(Known { ty: given, values }) => (self.constant(&values), given),
        }
    }

    fn constant(&mut self, values: &[f64]) -> ir::Span {
        self.builder.constant("constant", values)
    }
}
