//! Steps: the behaviour of one atomic component over its slots.

use anabranch_program as ir;

use super::Flatten;
use crate::diagnostic::{Code, Problem};
use crate::lower::{Access, Lower, Var};
use crate::model::build::ModelPort;
use crate::model::delay::{assigns, feeds_through};
use crate::model::env::Env;
use crate::model::instance::{Node, PortInfo};
use crate::model::native::Block;
use crate::model::order::Turn;
use crate::model::ty::{Class, Kind, Ty};
use crate::model::wire::{Driver, Origin};
use crate::syntax::ast::{Direction, Stmt, StmtKind};

/// Terminals of in-ports.
pub(super) fn inputs(node: &Node<'_>) -> impl Iterator<Item = usize> {
    let ports = node.ports.iter().filter(|port| port.direction == Direction::In);
    ports.flat_map(|port| port.first..port.first + port.terminals())
}

/// Whether an atomic component gives before it takes.
pub(super) fn is_delay(node: &Node<'_>) -> bool {
    let component = node.place.component;
    if component.behaviour.is_none() {
        return Block::named(&component.name.text).is_some_and(Block::is_delay)
            || named_block(node).is_some_and(|block| block.inputs() > 0 && !block.passes_through());
    }
    let names = |direction| -> Vec<String> {
        node.ports.iter().filter(|port| port.direction == direction).map(|port| port.name.clone()).collect()
    };
    !feeds_through(component, &names(Direction::In), &names(Direction::Out))
}

/// Whether a value can be used as another type without a change.
pub(super) fn needs_nothing(from: &Ty, to: &Ty) -> bool {
    match (&from.kind, &to.kind) {
        (Kind::Number(from), Kind::Number(to)) => !matches!(
            (&from.class, &to.class),
            (Class::Real, Class::Whole | Class::Truth) | (Class::Whole, Class::Truth)
        ),
        _ => true,
    }
}

impl<'l> Flatten<'_, 'l> {
    /// One turn of one atomic component.
    pub(super) fn turn(&mut self, turn: Turn) {
        let (Turn::Run(atom) | Turn::Give(atom) | Turn::Take(atom)) = turn;
        let tree = self.tree;
        let node = &tree.nodes[self.atoms[atom]];
        if matches!(turn, Turn::Take(_)) {
            let body = self.pending.remove(&atom).unwrap_or_default();
            self.builder.step(node.name.clone(), body);
            return;
        }
        let mut body = Vec::new();
        let mut vars = Vec::new();
        for port in &node.ports {
            let var = match port.direction {
                Direction::Out => {
                    let home = self.homes.get(&port.first).copied();
                    let slots = home.unwrap_or_else(|| self.builder.scratch(port.ty.size()));
                    let length = port.ty.size() * port.terminals() as u32;
                    Var { span: slots.start.span(length), ty: port.ty.clone(), count: port.count, access: Access::Yes }
                }
                Direction::In => {
                    let behaviour = node.place.component.behaviour.as_ref();
                    let assigned = behaviour.is_some_and(|behaviour| assigns(&behaviour.body, &port.name));
                    self.input(port, if assigned { Access::Copy } else { Access::No }, &mut body)
                }
            };
            vars.push((port.name.clone(), var));
        }
        if let Some((compute, update)) = self.library_block(node, &vars) {
            let mut first = body.clone();
            first.extend(compute);
            if matches!(turn, Turn::Give(_)) {
                self.builder.step(format!("{} (gives)", node.name), first);
                body.extend(update);
                self.pending.insert(atom, body);
            } else {
                first.extend(update);
                self.builder.step(node.name.clone(), first);
            }
            return;
        }
        let (statements, kept) = self.behaviour(node, vars);
        body.extend(statements);
        if matches!(turn, Turn::Give(_)) {
            self.give(&node.name, &body, &kept);
            self.pending.insert(atom, body);
        } else {
            self.builder.step(node.name.clone(), body);
        }
    }

    /// What goes out of a delay, first; what lasts is put back, and changes when the delay takes.
    fn give(&mut self, name: &str, body: &[ir::Stmt], kept: &[ir::Span]) {
        let mut first: Vec<ir::Stmt> = Vec::new();
        let mut back: Vec<ir::Stmt> = Vec::new();
        for &span in kept {
            let aside = self.builder.scratch(span.length);
            first.push(ir::ArrayOp::Copy { to: aside, from: span }.into());
            back.push(ir::ArrayOp::Copy { to: span, from: aside }.into());
        }
        first.extend(body.iter().cloned());
        first.extend(back);
        self.builder.step(format!("{name} (gives)"), first);
    }

    /// An in-port: the slots of whoever drives it, or a copy where values must be brought together or converted.
    fn input(&mut self, port: &PortInfo, access: Access, body: &mut Vec<ir::Stmt>) -> Var {
        let size = port.ty.size();
        let sources: Vec<(ir::Span, Ty)> =
            (0..port.terminals()).map(|i| self.source(port.first + i, &port.ty)).collect();
        let var = |span| Var { span, ty: port.ty.clone(), count: port.count, access };
        let length = size * port.terminals() as u32;
        let first = sources.first().map(|(span, _)| span.start);
        let together = |(i, (span, given)): (usize, &(ir::Span, Ty))| {
            first.is_some_and(|first| span.start == first.plus(i as u32 * size)) && needs_nothing(given, &port.ty)
        };
        let direct = access == Access::No && sources.iter().enumerate().all(together);
        if let (Some(first), true) = (first, direct) {
            return var(first.span(length));
        }
        let slots = self.builder.scratch(length);
        for (i, (from, given)) in sources.iter().enumerate() {
            let to = slots.part(i as u32 * size, size);
            body.push(converted_copy(to, *from, given, &port.ty));
        }
        var(slots)
    }

    /// Out-ports that the behaviour never writes.
    fn unwritten(&mut self, node: &Node<'l>, body: &[Stmt]) {
        if body.iter().any(|stmt| matches!(stmt.kind, StmtKind::Equation)) {
            return;
        }
        for port in node.ports.iter().filter(|port| port.direction == Direction::Out && !assigns(body, &port.name)) {
            let message = format!("nothing is written to the out-port `{}`; it stays 0", port.name);
            let (file, span) = port.declared;
            self.report.tell(file, Problem::warning(Code::UnusedPort, span, message).help("write it, or take it away"));
        }
    }

    /// Statements of an atomic component, and the slots that last.
    fn behaviour(&mut self, node: &Node<'l>, vars: Vec<(String, Var)>) -> (Vec<ir::Stmt>, Vec<ir::Span>) {
        let tree = self.tree;
        if let Some(behaviour) = &node.place.component.behaviour {
            self.unwritten(node, &behaviour.body);
            let mut lower = Lower::new(&mut self.builder, self.report, &node.place, &node.env, &mut self.places);
            lower.name.clone_from(&node.name);
            for (name, var) in vars {
                lower.declare(&name, var);
            }
            lower.statements(&behaviour.body);
            return (lower.body, lower.kept);
        }
        if let Some(block) = Block::named(node.component()) {
            return self.native(block, node, &vars);
        }
        // With connectors or instances, the out-ports that nothing is connected to are told one by one.
        let component = node.place.component;
        let open = |port: &PortInfo| {
            component.connectors.is_empty()
                && component.instances.is_empty()
                && matches!(tree.net.terminals[port.first].driver, Driver::Nothing)
        };
        if node.ports.iter().any(|port| port.direction == Direction::Out && open(port)) {
            let name = node.place.component.name.clone();
            let told = Problem::warning(
                Code::NoBehaviour,
                name.span,
                format!("nobody says what `{}` does; its outputs stay 0", name.text),
            );
            self.report.tell(node.place.file, told.help("add `implementation Math { … }`"));
        }
        (vec![], vec![])
    }

    /// A block of the program's library, if a component without behaviour has its name and its ports: what it computes,
    /// and how it goes on.
    fn library_block(&mut self, node: &Node<'_>, vars: &[(String, Var)]) -> Option<(Vec<ir::Stmt>, Vec<ir::Stmt>)> {
        let block = named_block(node)?;
        let (inputs, outputs) = (flat_slots(node, vars, Direction::In), flat_slots(node, vars, Direction::Out));
        if block.inputs() != inputs.len() || block.outputs() != outputs.len() {
            return None;
        }
        let emitted = block.emit(&mut self.builder, &node.name, &inputs, &outputs).ok()?;
        Some((emitted.compute, emitted.update))
    }

    fn native(&mut self, block: Block, node: &Node<'_>, vars: &[(String, Var)]) -> (Vec<ir::Stmt>, Vec<ir::Span>) {
        let (inputs, outputs) = (flat_slots(node, vars, Direction::In), flat_slots(node, vars, Direction::Out));
        let parameter = block_parameter(&node.env, node.place.component);
        let first = parameter.unwrap_or(0.0);
        let kept = self.builder.state(format!("{}.kept", node.name), &[if block.is_delay() { first } else { 0.0 }]);
        let [output] = outputs.as_slice() else { return (vec![], vec![]) };
        match block.body(&inputs, *output, parameter.unwrap_or(1.0), kept.start) {
            Some(body) => (body, vec![kept]),
            None => {
                let name = node.place.component.name.clone();
                let message = format!("`{}` has no behaviour, and its ports are not those of the block", name.text);
                self.report.tell(node.place.file, Problem::warning(Code::NoBehaviour, name.span, message));
                (vec![], vec![])
            }
        }
    }

    /// Outer ports that no atom writes directly.
    pub(super) fn copy_outputs(&mut self, ports: &[ModelPort], name: &str) {
        let tree = self.tree;
        let root = &tree.nodes[0];
        let mut body = Vec::new();
        for (port, outer) in root.ports.iter().zip(ports) {
            if port.direction == Direction::In {
                continue;
            }
            let size = port.ty.size();
            for i in 0..port.terminals() {
                let terminal = port.first + i;
                if matches!(tree.net.terminals[terminal].driver, Driver::Nothing | Driver::Open) {
                    continue;
                }
                let to = outer.slots.part(i as u32 * size, size);
                if let Origin::Terminal(from, 0) = tree.net.origin(terminal)
                    && self.homes.get(&from) == Some(&to)
                {
                    continue;
                }
                let (from, given) = self.source(terminal, &port.ty);
                body.push(converted_copy(to, from, &given, &port.ty));
            }
        }
        if !body.is_empty() {
            self.builder.step(format!("{name} (outputs)"), body);
        }
    }
}

/// Every number that goes in or out, in the order of ports.
fn flat_slots(node: &Node<'_>, vars: &[(String, Var)], wanted: Direction) -> Vec<ir::Slot> {
    let fitting = node.ports.iter().zip(vars).filter(|(port, _)| port.direction == wanted);
    fitting.flat_map(|(_, (_, var))| (0..var.span.length).map(|i| var.span.at(i))).collect()
}

/// The block of the program's library that a component without behaviour names; its parameters are those of the
/// component.
pub(super) fn named_block(node: &Node<'_>) -> Option<ir::blocks::Block> {
    let component = node.place.component;
    // A multiport switch is at fault without a port number; a mere declaration must not be.
    let name = component.name.text.as_str();
    if component.behaviour.is_some() || Block::named(name).is_some() || name == "MultiportSwitch" {
        return None;
    }
    let params = component.params.iter().filter_map(|param| {
        let known = node.env.values.get(&param.name.text)?;
        Some((param.name.text.as_str(), known.values.as_slice()))
    });
    ir::blocks::Block::named(&component.name.text, &params.collect::<Vec<_>>()).ok()
}

/// Copies numbers as the target holds them.
fn converted_copy(to: ir::Span, from: ir::Span, given: &Ty, wanted: &Ty) -> ir::Stmt {
    let whole = matches!(&wanted.kind, Kind::Number(number) if number.class == Class::Whole);
    if needs_nothing(given, wanted) {
        ir::ArrayOp::Copy { to, from }.into()
    } else if whole {
        ir::ArrayOp::Map { to, function: ir::Unary::Truncate, from }.into()
    } else {
        ir::ArrayOp::Map { to, function: ir::Unary::Truth, from }.into()
    }
}

/// The parameter of a block: by the name it declares, or `value` or `gain`.
fn block_parameter(env: &Env, component: &crate::syntax::ast::Component) -> Option<f64> {
    let declared = component.params.first().map(|param| param.name.text.as_str());
    let named = declared.into_iter().chain(["value", "gain"]).find_map(|name| env.values.get(name));
    named.and_then(|known| known.values.first().copied())
}
