//! Connectors: which port drives which.

use super::instance::{Instantiate, PortInfo};
use super::ty::{Class, Kind, Ty};
use super::types::size;
use super::wire::Driver;
use crate::diagnostic::{Code, Problem, Severity};
use crate::lower::known;
use crate::syntax::Span;
use crate::syntax::ast::{Connector, Direction, Endpoint, Index, Name, Source};

/// A terminal that an endpoint means.
#[derive(Clone, Debug)]
struct End {
    terminal: usize,
    /// Slots before the field, if a field is meant.
    offset: u32,
    ty: Ty,
    /// Whether values come out of it, as seen from inside the component.
    gives: bool,
    name: String,
}

impl<'l> Instantiate<'_, 'l> {
    /// Resolves the connectors of an instance.
    pub(super) fn connect(&mut self, id: usize) {
        let component = self.tree.nodes[id].place.component;
        for connector in &component.connectors {
            self.connector(id, connector);
        }
        self.unconnected(id);
    }

    pub(super) fn tell(&mut self, id: usize, problem: Problem) {
        let file = self.tree.nodes[id].place.file;
        self.report.tell(file, problem);
    }

    fn connector(&mut self, id: usize, connector: &Connector) {
        for target in &connector.targets {
            match &connector.source {
                Source::Nothing(_) => {
                    for end in self.ends(id, target, false).into_iter().flatten() {
                        self.tree.net.terminals[end.terminal].driver = Driver::Open;
                    }
                }
                Source::Constant(expr) => {
                    let Some(ends) = self.ends(id, target, false) else { continue };
                    let (place, env) = (self.tree.nodes[id].place.clone(), self.tree.nodes[id].env.clone());
                    for end in ends {
                        let Some(mut value) = known(expr, &place, &env, self.report) else { continue };
                        let at = (place.file, expr.span);
                        if super::build::fit_ty(&mut value, &end.ty, at, self.report).is_some() {
                            self.drive(id, &end, Driver::Constant(value), target.span);
                        }
                    }
                }
                Source::Port(source) => self.port_to_port(id, source, target),
            }
        }
        if let (Source::Port(source), true) = (&connector.source, connector.targets.is_empty()) {
            self.ends(id, source, true);
        }
    }

    fn port_to_port(&mut self, id: usize, source: &Endpoint, target: &Endpoint) {
        if source.all || target.all {
            return self.connect_all(id, source, target);
        }
        let (sources, targets) = (self.ends(id, source, true), self.ends(id, target, false));
        let (Some(sources), Some(targets)) = (sources, targets) else { return };
        if sources.len() != targets.len() {
            let message = format!("{} ports are connected to {}", sources.len(), targets.len());
            let told = Problem::error(Code::PortCount, source.span.to(target.span), message);
            self.tell(id, told.help("both sides need as many ports; choose some with `[a:b]`"));
            return;
        }
        for (from, to) in sources.iter().zip(&targets) {
            self.one(id, from, to, source.span.to(target.span), target.span);
        }
    }

    fn one(&mut self, id: usize, from: &End, to: &End, span: Span, target: Span) {
        if let Some(told) = mismatch(from, to, span) {
            let file = self.tree.nodes[id].place.file;
            let goes_on = if told.code == Code::UnitMismatch {
                self.report.units_differ(file, told)
            } else {
                let warning = told.severity == Severity::Warning;
                self.report.tell(file, told);
                warning
            };
            if !goes_on {
                return;
            }
        }
        self.drive(id, to, Driver::From(from.terminal, from.offset), target);
    }

    fn drive(&mut self, id: usize, to: &End, driver: Driver, span: Span) {
        self.connectors += 1;
        let by = (id, self.connectors);
        let terminal = &mut self.tree.net.terminals[to.terminal];
        if matches!(terminal.driver, Driver::Nothing) && to.offset == 0 {
            terminal.driver = driver;
            terminal.by = by;
            return;
        }
        let told = Problem::error(Code::TwoSenders, span, format!("`{}` has two senders", to.name));
        self.tell(id, told.help("remove one of the connectors, or combine the values first"));
    }

    /// `a.* -> b.*`: every port with the same name.
    fn connect_all(&mut self, id: usize, source: &Endpoint, target: &Endpoint) {
        let (Some(from), Some(to)) = (self.all_of(id, source), self.all_of(id, target)) else { return };
        let mut found = false;
        for (giver, given) in &from {
            for (taker, taken) in &to {
                if *giver == *taker && given.gives && !taken.gives {
                    self.one(id, given, taken, source.span.to(target.span), target.span);
                    found = true;
                }
            }
        }
        if !found {
            let told = Problem::error(Code::PortCount, source.span.to(target.span), "no ports have the same name");
            self.tell(id, told.help("connect them one by one"));
        }
    }

    /// Every terminal of an instance, by name, for `.*`.
    fn all_of(&mut self, id: usize, end: &Endpoint) -> Option<Vec<(String, End)>> {
        let mut all = Vec::new();
        if !end.all {
            for end in self.ends(id, end, true)? {
                all.push((end.name.clone(), end));
            }
            return Some(all);
        }
        let (name, index) = end.steps.last()?;
        for node in self.instances(id, name, index.as_ref())? {
            for port in self.tree.nodes[node].ports.clone() {
                for i in 0..port.terminals() {
                    let label =
                        if port.count.is_some() { format!("{}[{}]", port.name, i + 1) } else { port.name.clone() };
                    let gives = port.direction == Direction::Out;
                    let ty = port.ty.clone();
                    all.push((label.clone(), End { terminal: port.first + i, offset: 0, ty, gives, name: label }));
                }
            }
        }
        Some(all)
    }

    /// The terminals that an endpoint means.
    fn ends(&mut self, id: usize, end: &Endpoint, giving: bool) -> Option<Vec<End>> {
        let (first, index) = end.steps.first()?;
        let own = self.tree.nodes[id].ports.iter().any(|port| port.name == first.text);
        let (nodes, rest, inside) = if end.steps.len() == 1 || (own && !self.has_instance(id, &first.text)) {
            (vec![id], &end.steps[..], false)
        } else {
            (self.instances(id, first, index.as_ref())?, &end.steps[1..], true)
        };
        let mut ends = Vec::new();
        for node in nodes {
            ends.extend(self.port_ends(id, node, rest, inside)?);
        }
        for end_found in &ends {
            if end_found.gives != giving {
                let role = if giving { "gives no values here" } else { "takes no values here" };
                let told = Problem::error(Code::Direction, end.span, format!("`{}` {role}", end_found.name));
                let help = if giving {
                    "sources are in-ports of this component and out-ports of instances"
                } else {
                    "targets are out-ports of this component and in-ports of instances"
                };
                self.tell(id, told.help(help));
                return None;
            }
        }
        Some(ends)
    }

    fn has_instance(&self, id: usize, name: &str) -> bool {
        self.tree.nodes[id].place.component.instances.iter().any(|instance| instance.name.text == name)
    }

    /// Instances with a name; all of an array, or those that an index chooses.
    fn instances(&mut self, id: usize, name: &Name, index: Option<&Index>) -> Option<Vec<usize>> {
        let exact = |short: &str| {
            short == name.text || short.strip_prefix(name.text.as_str()).is_some_and(|rest| rest.starts_with('['))
        };
        let children = self.tree.nodes[id].children.clone();
        let all: Vec<usize> = children.into_iter().filter(|child| exact(&self.tree.nodes[*child].short)).collect();
        if all.is_empty() {
            // An instance that could not be built was told already.
            if !self.has_instance(id, &name.text) {
                let component = self.tree.nodes[id].place.component;
                let told =
                    Problem::error(Code::UnknownInstance, name.span, format!("there is no instance `{}`", name.text));
                let names: Vec<&str> = component.instances.iter().map(|instance| instance.name.text.as_str()).collect();
                self.tell(id, told.did_you_mean(&name.text, names));
            }
            return None;
        }
        let chosen = self.indices(id, index, all.len(), name)?;
        Some(chosen.into_iter().map(|i| all[i]).collect())
    }

    /// Which of so many an index means, counted from zero.
    pub(super) fn indices(
        &mut self,
        id: usize,
        index: Option<&Index>,
        count: usize,
        name: &Name,
    ) -> Option<Vec<usize>> {
        let (place, env) = (self.tree.nodes[id].place.clone(), self.tree.nodes[id].env.clone());
        let mut at = |expr| Some((size(expr, &place, &env, self.report)? as usize, expr.span));
        let (from, to, span) = match index {
            None | Some(Index::All(_)) => return Some((0..count).collect()),
            Some(Index::One(expr)) => {
                let (at, span) = at(expr)?;
                (at, at, span)
            }
            Some(Index::Slice(low, high)) => {
                let ((low, span), (high, _)) = (at(low)?, at(high)?);
                (low, high, span)
            }
        };
        if from > to {
            let message = format!("`{}[{from}:{to}]` runs backwards", name.text);
            self.tell(id, Problem::error(Code::Index, span, message).help("the smaller index comes first"));
            return None;
        }
        if from < 1 || to > count {
            let message =
                format!("`{}` has no element {}; there are {count}", name.text, if from < 1 { from } else { to });
            self.tell(id, Problem::error(Code::Index, span, message).help("elements are counted from 1"));
            return None;
        }
        Some((from - 1..to).collect())
    }

    fn port_ends(&mut self, id: usize, node: usize, steps: &[(Name, Option<Index>)], inside: bool) -> Option<Vec<End>> {
        let (name, index) = steps.first()?;
        let Some(port) = self.tree.nodes[node].ports.iter().find(|port| port.name == name.text).cloned() else {
            self.no_such_port(id, node, name, inside);
            return None;
        };
        let chosen = self.indices(id, index.as_ref(), port.terminals(), name)?;
        let (offset, ty) = self.part(id, &port, &steps[1..])?;
        let gives = (port.direction == Direction::Out) == inside;
        let short = if inside { format!("{}.{}", self.tree.nodes[node].short, port.name) } else { port.name.clone() };
        let end = |i: usize| End { terminal: port.first + i, offset, ty: ty.clone(), gives, name: short.clone() };
        Some(chosen.into_iter().map(end).collect())
    }

    /// A field of a port.
    fn part(&mut self, id: usize, port: &PortInfo, fields: &[(Name, Option<Index>)]) -> Option<(u32, Ty)> {
        let (mut offset, mut ty) = (0, port.ty.clone());
        for (name, _) in fields {
            let Some((more, inner)) = ty.field(&name.text).map(|(more, inner)| (more, inner.clone())) else {
                let told = Problem::error(Code::UnknownName, name.span, format!("{ty} has no field `{}`", name.text));
                self.tell(id, told);
                return None;
            };
            offset += more;
            ty = inner;
        }
        Some((offset, ty))
    }

    fn no_such_port(&mut self, id: usize, node: usize, name: &Name, inside: bool) {
        let component = self.tree.nodes[node].component().to_owned();
        let message = if !inside && self.has_instance(id, &name.text) {
            format!("`{}` is an instance; one of its ports is needed", name.text)
        } else {
            format!("`{component}` has no port `{}`", name.text)
        };
        let names: Vec<String> = self.tree.nodes[node].ports.iter().map(|port| port.name.clone()).collect();
        let told = Problem::error(Code::UnknownName, name.span, message);
        self.tell(id, told.did_you_mean(&name.text, names.iter().map(String::as_str)));
    }

    /// Warns of ports that nothing is connected to.
    fn unconnected(&mut self, id: usize) {
        let component = self.tree.nodes[id].place.component;
        if component.instances.is_empty() && component.connectors.is_empty() {
            return;
        }
        for port in self.tree.nodes[id].ports.clone() {
            let open = |at: usize| matches!(self.tree.net.terminals[at].driver, Driver::Nothing);
            // A connector that is wrong was told already.
            let wrong =
                || self.report.failed() && component.connectors.iter().any(|connector| leads_to(connector, &port));
            let terminals = port.first..port.first + port.terminals();
            if port.direction == Direction::Out && terminals.into_iter().any(open) && !wrong() {
                let message = format!("nothing is connected to the out-port `{}`; it never changes", port.name);
                let told = Problem::warning(Code::UnusedPort, port.declared.1, message);
                self.report.tell(port.declared.0, told.help("connect it, or say so with `connect # -> …;`"));
            }
        }
        for child in self.tree.nodes[id].children.clone() {
            self.initial_of_driven(id, child);
            for port in self.tree.nodes[child].ports.clone() {
                let given = |terminal: usize| self.tree.nodes[child].initial.iter().any(|(at, _)| *at == terminal);
                let open = (port.first..port.first + port.terminals())
                    .any(|at| matches!(self.tree.net.terminals[at].driver, Driver::Nothing) && !given(at));
                if port.direction == Direction::In && open {
                    let short = &self.tree.nodes[child].short;
                    let stem = short.split('[').next().unwrap_or(short);
                    let span = component
                        .instances
                        .iter()
                        .find(|i| i.name.text == stem)
                        .map_or(component.name.span, |i| i.name.span);
                    let message = format!("nothing is connected to `{short}.{}`; it stays 0", port.name);
                    let told = Problem::warning(Code::Unconnected, span, message);
                    self.tell(id, told.help("connect it, or say so with `connect # -> …;`"));
                }
            }
        }
    }
}

/// Whether a connector has a port of its own component among its targets.
fn leads_to(connector: &Connector, port: &PortInfo) -> bool {
    connector.targets.iter().any(|target| target.steps.first().is_some_and(|(name, _)| name.text == port.name))
}

/// Why two ends do not go together: an error, or a warning about ranges and about what is lost on the way.
fn mismatch(from: &End, to: &End, span: Span) -> Option<Problem> {
    let (a, b) = (&from.ty, &to.ty);
    let (x, y) = match (&a.kind, &b.kind) {
        (Kind::Number(x), Kind::Number(y)) => (x, y),
        (Kind::Struct(x), Kind::Struct(y)) if x.fields == y.fields => return None,
        _ => return Some(Problem::error(Code::TypeMismatch, span, format!("{a} is connected to {b}"))),
    };
    if let (Some(p), Some(q)) = (x.dimension, y.dimension)
        && p != q
    {
        let message = format!("`{}` in {p} is connected to `{}` in {q}", from.name, to.name);
        return Some(Problem::error(Code::UnitMismatch, span, message).help("both ports need units of the same kind"));
    }
    let choice = |class: &Class| matches!(class, Class::Choice(_));
    if (choice(&x.class) || choice(&y.class)) && x.class != y.class {
        return Some(Problem::error(Code::TypeMismatch, span, format!("{a} is connected to {b}")));
    }
    if a.elements() != b.elements() || !crate::lower::like_shapes(a, b) {
        let message = format!("`{}` ({a}) is connected to `{}` ({b}): their shapes differ", from.name, to.name);
        return Some(Problem::error(Code::ShapeMismatch, span, message));
    }
    if !x.is_inside(y) {
        let message = format!("the range of `{}` ({a}) is not inside that of `{}` ({b})", from.name, to.name);
        return Some(Problem::warning(Code::OutOfRange, span, message));
    }
    let loss = x.lost_as(y)?;
    let message = format!("`{}` ({a}) is connected to `{}` ({b}): {loss}", from.name, to.name);
    Some(
        Problem::warning(Code::TypeMismatch, span, message)
            .help("give both ports the same type, or convert in between"),
    )
}
