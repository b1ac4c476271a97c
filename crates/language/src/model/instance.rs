//! Instances: a component with all its parameters known, its ports, and everything inside.

use std::rc::Rc;

use super::env::{Env, Known, Place, Report};
use super::ty::{Class, Ty};
use super::types::{resolve, size};
use super::wire::{Driver, Net, Terminal};
use crate::diagnostic::{Code, Problem};
use crate::library::FileId;
use crate::lower::known;
use crate::syntax::Span;
use crate::syntax::ast::{
    Arg, Base, Component, Direction, Expr, ExprKind, GenericArg, GenericKind, GenericValue, Instance, Item, Name, Port,
    Type,
};

/// Deepest nesting of instances: each level takes room on the stack.
pub const DEPTH_MAX: usize = 60;

/// Most instances of one model.
pub const INSTANCES_MAX: usize = 200_000;

/// A port of an instance.
#[derive(Clone, Debug)]
pub struct PortInfo {
    /// Its name.
    pub name: String,
    /// In or out.
    pub direction: Direction,
    /// The type of one element.
    pub ty: Ty,
    /// How many, if it is an array.
    pub count: Option<u32>,
    /// The first of its terminals.
    pub first: usize,
    /// Where it is declared.
    pub declared: (FileId, Span),
}

impl PortInfo {
    /// How many terminals it has.
    pub fn terminals(&self) -> usize {
        self.count.unwrap_or(1) as usize
    }
}

/// An instance.
#[derive(Debug)]
pub struct Node<'l> {
    /// Its name inside the one around it: `a[2]`.
    pub short: String,
    /// Full name: `main.a[2].b`.
    pub name: String,
    /// The component.
    pub place: Place<'l>,
    /// Its parameters.
    pub env: Env,
    /// Its ports.
    pub ports: Vec<PortInfo>,
    /// Instances inside, as numbers of nodes.
    pub children: Vec<usize>,
    /// First values of its ports, by terminal, in SI.
    pub initial: Vec<(usize, Vec<f64>)>,
}

impl Node<'_> {
    /// The name of the component.
    pub fn component(&self) -> &str {
        &self.place.component.name.text
    }
}

/// All instances of a model.
#[derive(Debug, Default)]
pub struct Tree<'l> {
    /// Instances, each before those inside it.
    pub nodes: Vec<Node<'l>>,
    /// Ports and what drives them.
    pub net: Net,
}

/// Builds instances.
pub struct Instantiate<'a, 'l> {
    /// What was built.
    pub tree: Tree<'l>,
    /// Where mistakes go.
    pub report: &'a mut Report<'l>,
    /// How many connectors were made.
    pub connectors: usize,
    /// The components around the one that is being built.
    pub above: Vec<&'l Component>,
}

/// A component inside itself, or only very many inside one another.
fn too_deep<'l>(component: &Component, mut above: impl Iterator<Item = &'l Component>) -> Problem {
    let (name, span) = (&component.name.text, component.name.span);
    if above.any(|around| std::ptr::eq(around, component)) {
        return Problem::error(Code::Recursive, span, format!("component `{name}` contains itself"));
    }
    let message = format!("more than {DEPTH_MAX} components inside one another");
    Problem::error(Code::TooLarge, span, message).help("put some of them side by side")
}

/// Generic and configuration arguments of an instance, as written, and where.
#[derive(Clone, Copy)]
pub struct Written<'s, 'l> {
    /// `<…>`.
    pub generics: &'s [GenericArg],
    /// `(…)`.
    pub args: &'s [Arg],
    /// The component they stand in.
    pub place: &'s Place<'l>,
    /// Its parameters.
    pub env: &'s Env,
    /// Where they stand.
    pub span: Span,
}

impl<'l> Instantiate<'_, 'l> {
    /// An instance and everything inside it. Returns its number.
    pub fn node(&mut self, place: &Place<'l>, env: Env, short: &str, above: &str, depth: usize) -> Option<usize> {
        let name = if above.is_empty() { short.to_owned() } else { format!("{above}.{short}") };
        let component = place.component;
        if depth > DEPTH_MAX {
            self.report.tell(place.file, too_deep(component, self.above.iter().copied()));
            return None;
        }
        if self.tree.nodes.len() >= INSTANCES_MAX {
            let told =
                Problem::error(Code::TooLarge, component.name.span, format!("more than {INSTANCES_MAX} instances"));
            self.report.tell(place.file, told);
            return None;
        }
        self.report.reading(place.file);
        let id = self.tree.nodes.len();
        let node = Node {
            short: short.to_owned(),
            name: name.clone(),
            place: place.clone(),
            env,
            ports: vec![],
            children: vec![],
            initial: vec![],
        };
        self.tree.nodes.push(node);
        self.ports(id);
        self.invariants(id);
        super::check::component(component, place.file, self.report);
        let around = Rc::new((place.clone(), self.tree.nodes[id].env.clone()));
        self.above.push(component);
        for instance in &component.instances {
            self.children(id, instance, &around, depth);
        }
        self.above.pop();
        self.connect(id);
        Some(id)
    }

    fn children(&mut self, id: usize, instance: &'l Instance, around: &Rc<(Place<'l>, Env)>, depth: usize) {
        let (place, env) = (&around.0, &around.1);
        let Some(inner) = self.component_of(&instance.ty, around) else { return };
        if inner.component.interface {
            let message = format!("`{}` is an interface: it has ports and no behaviour", inner.component.name.text);
            let told = Problem::error(Code::Interface, instance.ty.span, message);
            self.report.tell(place.file, told.help("name a component that implements it"));
        }
        let count = match &instance.array {
            Some(count) => match size(count, place, env, self.report) {
                Some(count) => Some(count),
                None => return,
            },
            None => None,
        };
        let written = Written { generics: &instance.ty.args, args: &instance.args, place, env, span: instance.ty.span };
        let Some(inner_env) = self.bind(&inner, written) else { return };
        let above = self.tree.nodes[id].name.clone();
        for i in 0..count.unwrap_or(1) {
            let short = match count {
                Some(_) => format!("{}[{}]", instance.name.text, i + 1),
                None => instance.name.text.clone(),
            };
            let Some(child) = self.node(&inner, inner_env.clone(), &short, &above, depth + 1) else { return };
            for given in &instance.initial {
                self.initial(child, given, place, env, id);
            }
            self.tree.nodes[id].children.push(child);
        }
    }

    /// The component that a type names, as seen from inside another.
    fn component_of(&mut self, ty: &Type, around: &Rc<(Place<'l>, Env)>) -> Option<Place<'l>> {
        let Base::Named(path) = &ty.base else {
            let told = Problem::error(Code::UnknownType, ty.span, "this is a type of values, not a component");
            self.report.tell(around.0.file, told);
            return None;
        };
        let name = path.text();
        let mut scope = Some(around);
        while let Some(level) = scope {
            if let Some(inner) = level.0.component.inner.iter().find(|inner| inner.name.text == name) {
                return Some(Place { file: level.0.file, component: inner, outer: Some(level.clone()) });
            }
            scope = level.0.outer.as_ref();
        }
        let library = self.report.library;
        match library.resolve(&name, around.0.file).map(|found| (found.file, found.item)) {
            Some((file, Item::Component(component))) => Some(Place { file, component, outer: None }),
            Some(_) => {
                let told = Problem::error(Code::UnknownType, ty.span, format!("`{name}` is no component"));
                self.report.tell(around.0.file, told);
                None
            }
            None => {
                let told = Problem::error(Code::UnknownType, ty.span, format!("there is no component `{name}`"));
                let close = library.closest_name(&name);
                self.report.tell(around.0.file, told.help(crate::library::missing_help(&name, close)));
                None
            }
        }
    }

    fn ports(&mut self, id: usize) {
        let place = self.tree.nodes[id].place.clone();
        let env = self.tree.nodes[id].env.clone();
        let mut declared: Vec<(&'l Port, Place<'l>, Env)> =
            place.component.ports.iter().map(|port| (port, place.clone(), env.clone())).collect();
        if let Some(interface) = &place.component.implements {
            self.inherit(interface, &place, &env, &mut declared);
        }
        for (port, place, env) in declared {
            let ty = resolve(&port.ty, &place, &env, self.report).unwrap_or_else(Ty::real);
            let count = port.array.as_ref().and_then(|count| size(count, &place, &env, self.report));
            let first = self.tree.net.terminals.len();
            for _ in 0..count.unwrap_or(1) {
                let port = self.tree.nodes[id].ports.len();
                self.tree.net.terminals.push(Terminal { node: id, port, driver: Driver::Nothing, by: (0, 0) });
            }
            let info = PortInfo {
                name: port.name.text.clone(),
                direction: port.direction,
                ty,
                count,
                first,
                declared: (place.file, port.name.span),
            };
            self.tree.nodes[id].ports.push(info);
        }
    }

    /// Ports of the interface that the component does not declare itself; those it does must agree.
    fn inherit(
        &mut self,
        interface: &Type,
        place: &Place<'l>,
        env: &Env,
        declared: &mut Vec<(&'l Port, Place<'l>, Env)>,
    ) {
        let around = Rc::new((place.clone(), env.clone()));
        let Some(inner) = self.component_of(interface, &around) else { return };
        let written = Written { generics: &interface.args, args: &[], place, env, span: interface.span };
        let Some(inner_env) = self.bind(&inner, written) else { return };
        for port in &inner.component.ports {
            let own = declared.iter().find(|(own, ..)| own.name.text == port.name.text).map(|(own, ..)| *own);
            match own {
                None => declared.push((port, inner.clone(), inner_env.clone())),
                Some(own) => {
                    let wanted = resolve(&port.ty, &inner, &inner_env, self.report);
                    let given = resolve(&own.ty, place, env, self.report);
                    if own.direction != port.direction || wanted != given {
                        let message =
                            format!("port `{}` differs from interface `{}`", own.name.text, inner.component.name.text);
                        let told = Problem::error(Code::Interface, own.name.span, message);
                        self.report.tell(place.file, told.help("give it the direction and type of the interface"));
                    }
                }
            }
        }
    }

    fn invariants(&mut self, id: usize) {
        let (place, env) = (self.tree.nodes[id].place.clone(), self.tree.nodes[id].env.clone());
        for invariant in &place.component.invariants {
            if self.holds(&invariant.condition, &place, &env) == Some(false) {
                let name = invariant.name.as_ref().map_or_else(String::new, |name| format!(" `{}`", name.text));
                let message = format!("the invariant{name} does not hold for {}", self.tree.nodes[id].name);
                let told = Problem::error(Code::Invariant, invariant.condition.span, message);
                self.report.tell(place.file, told.help("give parameters that fulfil it"));
            }
        }
    }

    /// Whether a condition over parameters holds; equality of sums up to rounding.
    fn holds(&mut self, condition: &Expr, place: &Place<'_>, env: &Env) -> Option<bool> {
        use crate::syntax::ast::BinaryOp;
        if let ExprKind::Binary(BinaryOp::Equal, left, right) = &condition.kind {
            let a = known(left, place, env, self.report)?;
            let b = known(right, place, env, self.report)?;
            let near = |(x, y): (&f64, &f64)| (x - y).abs() <= 1e-9 * x.abs().max(y.abs()).max(1.0);
            return Some(a.values.len() == b.values.len() && a.values.iter().zip(&b.values).all(near));
        }
        Some(known(condition, place, env, self.report)?.values.iter().all(|value| *value != 0.0))
    }

    /// Generic and configuration parameters of an instance from what is written, or from defaults.
    pub fn bind(&mut self, inner: &Place<'l>, written: Written<'_, 'l>) -> Option<Env> {
        let component = inner.component;
        let mut env = inner.outer.as_ref().map(|outer| outer.1.clone()).unwrap_or_default();
        let mut fine = self.bind_generics(component, inner, written, &mut env).is_some();
        fine &= super::build::bind_params(component, inner, written, &mut env, self.report).is_some();
        fine.then_some(env)
    }

    fn bind_generics(
        &mut self,
        component: &Component,
        inner: &Place<'l>,
        written: Written<'_, 'l>,
        env: &mut Env,
    ) -> Option<()> {
        if written.generics.len() > component.generics.len() {
            let message = format!(
                "`{}` takes {} generic arguments, not {}",
                component.name.text,
                component.generics.len(),
                written.generics.len()
            );
            self.report.tell(written.place.file, Problem::error(Code::Arguments, written.span, message));
            return None;
        }
        let named = written.generics.iter().filter_map(|arg| arg.name.as_ref());
        let known_names: Vec<&str> = component.generics.iter().map(|generic| generic.name.text.as_str()).collect();
        super::build::named_once(component, named, &known_names, written.place.file, self.report)?;
        for (i, generic) in component.generics.iter().enumerate() {
            let by_name = written
                .generics
                .iter()
                .find(|arg| arg.name.as_ref().is_some_and(|name| name.text == generic.name.text));
            let given = by_name.or_else(|| written.generics.get(i).filter(|arg| arg.name.is_none()));
            match (&generic.kind, given.map(|arg| &arg.value)) {
                (GenericKind::Type(_), Some(GenericValue::Type(ty))) => {
                    let ty = resolve(ty, written.place, written.env, self.report)?;
                    env.types.insert(generic.name.text.clone(), ty);
                }
                (GenericKind::Type(_), Some(GenericValue::Value(value))) => {
                    let message = format!("`{}` is a type, and this is a value", generic.name.text);
                    self.report.tell(written.place.file, Problem::error(Code::Arguments, value.span, message));
                    return None;
                }
                (GenericKind::Type(default), None) => {
                    let ty = match default {
                        Some(ty) => resolve(ty, inner, &env.clone(), self.report)?,
                        None => Ty::real(),
                    };
                    env.types.insert(generic.name.text.clone(), ty);
                }
                (GenericKind::Value(ty, _), Some(value)) => {
                    let expr = generic_expr(value);
                    let mut value = known(&expr, written.place, written.env, self.report)?;
                    let at = (written.place.file, expr.span);
                    super::build::fit(&mut value, ty, inner, &env.clone(), at, self.report)?;
                    env.values.insert(generic.name.text.clone(), value);
                }
                (GenericKind::Value(ty, Some(default)), None) => {
                    let value = self.default_value(&generic.name, ty, default, inner, &env.clone())?;
                    env.values.insert(generic.name.text.clone(), value);
                }
                (GenericKind::Value(_, None), None) => {
                    let message = format!("`{}` needs a value for `{}`", component.name.text, generic.name.text);
                    let told = Problem::error(Code::Arguments, written.span, message);
                    self.report.tell(written.place.file, told.help(format!("write `{}<…>`", component.name.text)));
                    return None;
                }
            }
        }
        Some(())
    }

    /// The default of a generic parameter, as its type holds it.
    fn default_value(&mut self, name: &Name, ty: &Type, default: &Expr, inner: &Place<'l>, env: &Env) -> Option<Known> {
        let mut value = known(default, inner, env, self.report)?;
        if self.is_unknown(ty, inner, env) {
            let message = format!("nobody says what `{}` may be; its default is taken", name.text);
            let told = Problem::warning(Code::UnknownType, ty.span, message);
            self.report.tell(inner.file, told.help("give it the type Q, Z, N, N1 or B"));
        } else {
            super::build::fit(&mut value, ty, inner, env, (inner.file, default.span), self.report)?;
        }
        Some(value)
    }

    /// Whether there is no type with the name of this one.
    fn is_unknown(&self, ty: &Type, place: &Place<'_>, env: &Env) -> bool {
        let Base::Named(path) = &ty.base else { return false };
        let name = path.text();
        !env.types.contains_key(&name) && self.report.library.resolve(&name, place.file).is_none()
    }
}

/// A generic argument as an expression: a lone name was read as a type.
fn generic_expr(value: &GenericValue) -> Expr {
    match value {
        GenericValue::Value(expr) => expr.clone(),
        GenericValue::Type(ty) => {
            let kind = match &ty.base {
                Base::Named(path) => ExprKind::Name(path.text()),
                // `N`, `Z`, … can be names of values as well.
                _ => ExprKind::Broken,
            };
            Expr { span: ty.span, kind }
        }
    }
}

/// Whether values of a class are whole or true by nature.
pub fn is_discrete(class: &Class) -> bool {
    !matches!(class, Class::Real)
}
