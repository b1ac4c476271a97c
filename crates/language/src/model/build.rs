//! A model: instances built, flattened, ordered and lowered to one program.

use std::sync::Arc;

use anabranch_program as ir;

use super::env::{Env, Known, Place, Report, Units};
use super::instance::{Instantiate, Tree, Written};
use super::ty::{Class, Ty};
use super::types::{resolve, size};
use crate::diagnostic::{Code, Diagnostic, Problem};
use crate::library::{FileId, Library};
use crate::lower::{known, like_shapes};
use crate::syntax::Span;
use crate::syntax::ast::{Arg, Base, Component, Direction, Generic, GenericArg, GenericKind, Item, Name, Path, Type};

/// What a model is built with.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Values of parameters, generic or not, by name, in SI, row by row.
    pub args: Vec<(String, Vec<f64>)>,
    /// Whether a cycle without a delay is an error instead of a warning.
    pub strict: bool,
    /// What happens where units do not go together.
    pub units: Units,
}

impl Options {
    /// The parameter that a mistake is about, if the value that does not fit was given in these options and does not stand
    /// in the model: whoever gave it knows a better place.
    pub fn blamed(&self, library: &Library, told: &Diagnostic) -> Option<&str> {
        let fitting = [Code::TypeMismatch, Code::UnitMismatch, Code::ShapeMismatch, Code::OutOfRange, Code::Arguments];
        if !fitting.contains(&told.code) {
            return None;
        }
        let items = &library.file(library.file_at(&told.file)?).parsed.file.items;
        let blames = |component: &Component, name: &str| {
            let unknown = || told.message.ends_with(&format!("has no parameter `{name}`"));
            declared(component, name) == Some(told.span) || component.name.span == told.span && unknown()
        };
        let blamed = |name: &str| items.iter().any(|item| matches!(item, Item::Component(c) if blames(c, name)));
        self.args.iter().map(|(name, _)| name.as_str()).find(|name| blamed(name))
    }
}

/// A port of a model and where its values are.
#[derive(Clone, Debug)]
pub struct ModelPort {
    /// Its name.
    pub name: String,
    /// In or out.
    pub direction: Direction,
    /// The type of one element, with unit and shape.
    pub ty: Ty,
    /// How many, if it is an array of ports.
    pub count: Option<u32>,
    /// Its slots: elements one after the other, matrices row by row, in SI.
    pub slots: ir::Span,
}

/// An atomic component in the order of execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executed {
    /// Full name of the instance.
    pub name: String,
    /// The component.
    pub component: String,
    /// Whether it has no inputs, so that its value never changes.
    pub parameter: bool,
    /// Where the component is declared.
    pub(crate) declared: (FileId, Span),
}

/// A model that can be run.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) name: String,
    pub(crate) ports: Vec<ModelPort>,
    pub(crate) order: Vec<Executed>,
    pub(crate) instances: usize,
    pub(crate) program: Arc<ir::Program>,
    pub(crate) warnings: Vec<Diagnostic>,
    pub(crate) places: Vec<(FileId, Span)>,
    pub(crate) files: Vec<FileId>,
}

impl Model {
    /// Builds the component with a full name.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it and with what it uses, in the order of files and places.
    pub fn build(library: &Library, name: &str, options: &Options) -> Result<Self, Vec<Diagnostic>> {
        match library.find(name, None).map(|found| (found.file, found.item)) {
            Some((file, Item::Component(component))) => {
                Self::of(library, file, component, &Asked { generics: &[], args: &[], place: None, options })
            }
            _ => {
                let message = format!("there is no component `{name}` in this folder");
                let told = Problem::error(Code::UnknownType, Span::default(), message);
                let close = library.closest_name(name.rsplit('.').next().unwrap_or(name));
                let Problem { code, severity, span, message, .. } = told;
                let help = close.map(|close| format!("did you mean `{close}`?"));
                let file = std::path::PathBuf::new();
                Err(vec![Diagnostic { code, severity, file, span, line: 1, column: 1, message, help }])
            }
        }
    }

    /// Builds the component of a file, the one with the file's name if there are several.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it and with what it uses; that the file has no component.
    pub fn of_file(library: &Library, file: FileId, options: &Options) -> Result<Self, Vec<Diagnostic>> {
        match library.component_in(file) {
            Some(component) => {
                Self::of(library, file, component, &Asked { generics: &[], args: &[], place: None, options })
            }
            None => {
                let mut report = Report::new(library);
                report.reading(file);
                let told = Problem::error(Code::UnknownType, Span::default(), "there is no component in this file");
                report.tell(file, told.help("name a file that begins with `component`"));
                Err(report.finish())
            }
        }
    }

    /// Files of all components that it consists of.
    pub fn files(&self) -> &[FileId] {
        &self.files
    }

    /// Builds a component with arguments as written in a file.
    pub(crate) fn of(
        library: &Library,
        file: FileId,
        component: &Component,
        asked: &Asked<'_>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut report = Report::new(library);
        report.units = asked.options.units;
        let place = Place { file, component, outer: None };
        let model = build(&place, asked, &mut report);
        let failed = report.failed();
        let told = report.finish();
        match model {
            Some(model) if !failed => Ok(Self { warnings: told, ..model }),
            _ => Err(told),
        }
    }

    /// Full name of the component.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its ports, in the order in which they are declared.
    pub fn ports(&self) -> &[ModelPort] {
        &self.ports
    }

    /// The port with a name.
    pub fn port(&self, name: &str) -> Option<&ModelPort> {
        self.ports.iter().find(|port| port.name == name)
    }

    /// Its atomic components in the order of execution.
    pub fn order(&self) -> &[Executed] {
        &self.order
    }

    /// The order as a sorted list in the form of Simulink's.
    pub fn slist(&self) -> String {
        let short = self.name.rsplit('.').next().unwrap_or("");
        let mut text =
            format!("---- Sorted list for '{short}' [{} nonvirtual block(s), directfeed=0]\n", self.order.len());
        for (i, executed) in self.order.iter().enumerate() {
            let id = if executed.parameter { "PRM" } else { "0" };
            text.push_str(&format!("  0:{i}    '{}' ({}, tid={id})\n", executed.name, executed.component));
        }
        text
    }

    /// How many instances it has, itself and composed ones included.
    pub fn instances(&self) -> usize {
        self.instances
    }

    /// The program.
    pub fn program(&self) -> &Arc<ir::Program> {
        &self.program
    }

    /// What may not be meant.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// A complaint about an atomic component by its full name, told where the component is declared.
    pub fn complaint(&self, library: &Library, step: &str, message: String, help: &str) -> Option<Diagnostic> {
        let (file, span) = &self.order.iter().find(|executed| executed.name == step)?.declared;
        Some(library.located(*file, Problem::error(Code::NotSupported, *span, message).help(help)))
    }

    /// A fault in words, with its place in the text.
    pub fn explain(&self, library: &Library, fault: &ir::Fault) -> String {
        let words = self.program.explain(fault);
        // What is found out at the end of a step is told at its component.
        let ran = |executed: &&Executed| {
            words.strip_prefix(executed.name.as_str()).is_some_and(|rest| rest.starts_with([':', ' ']))
        };
        let component = || self.order.iter().find(ran).map(|executed| &executed.declared);
        match (fault.place.0 as usize).checked_sub(1).and_then(|place| self.places.get(place)).or_else(component) {
            Some((file, span)) => {
                let at = library.located(*file, Problem::error(Code::NotSupported, *span, ""));
                format!("{}:{}:{}: {words}", at.file.display(), at.line, at.column)
            }
            None => words,
        }
    }
}

/// What a model is asked for with.
pub(crate) struct Asked<'a> {
    /// `<…>` as written.
    pub generics: &'a [GenericArg],
    /// `(…)` as written.
    pub args: &'a [Arg],
    /// The file they stand in, and where.
    pub place: Option<(FileId, Span)>,
    /// Options.
    pub options: &'a Options,
}

fn build<'l>(place: &Place<'l>, asked: &Asked<'_>, report: &mut Report<'l>) -> Option<Model> {
    report.reading(place.file);
    let component = place.component;
    if component.interface {
        let told = Problem::error(Code::Interface, component.name.span, "an interface cannot be run");
        report.tell(place.file, told.help("run a component that implements it"));
        return None;
    }
    let package = report.library.file(place.file).parsed.file.package.as_ref().map(Path::text).unwrap_or_default();
    let name =
        if package.is_empty() { component.name.text.clone() } else { format!("{package}.{}", component.name.text) };
    let (file, span) = asked.place.unwrap_or((place.file, component.name.span));
    let from = Place { file, component, outer: None };
    let nothing = Env::default();
    let written = Written { generics: asked.generics, args: asked.args, place: &from, env: &nothing, span };
    let mut instantiate = Instantiate { tree: Tree::default(), report, connectors: 0, above: Vec::new() };
    let env = bind_root(&mut instantiate, place, written, asked.options)?;
    let (above, short) = name.rsplit_once('.').unwrap_or(("", &name));
    let short = lower_first(short);
    let root = instantiate.node(place, env, &short, above, 0)?;
    debug_assert_eq!(root, 0);
    let tree = instantiate.tree;
    if report.failed() {
        return None;
    }
    crate::flat::flatten(&tree, name, asked.options, report)
}

/// Instances are named with a small first letter, the outermost too.
fn lower_first(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// Parameters of the outermost component: options first, then what is written, then defaults.
fn bind_root<'l>(
    inst: &mut Instantiate<'_, 'l>,
    place: &Place<'l>,
    written: Written<'_, 'l>,
    options: &Options,
) -> Option<Env> {
    if options.args.is_empty() {
        return inst.bind(place, written);
    }
    let component = place.component;
    let mut generics = written.generics.to_vec();
    let mut args = written.args.to_vec();
    let mut extra = Env::default();
    for (name, values) in &options.args {
        // Where somebody else gives the value is not known here: what does not fit is told at the parameter.
        let own = || declared(component, name).filter(|_| written.place.file == place.file);
        let span = own().unwrap_or_default();
        let expr = literal(values, span);
        let named = Name { text: name.clone(), span };
        let is_it = |g: &Generic| g.name.text == *name && matches!(g.kind, GenericKind::Value(..));
        let generic = component.generics.iter().position(is_it);
        if let Some(at) = generic {
            let given = GenericArg { name: Some(named), value: crate::syntax::ast::GenericValue::Value(expr) };
            let place = generics.get(at).is_some_and(|arg| arg.name.is_none()).then_some(at);
            replace(&mut generics, place, given, |arg| arg.name.as_ref());
        } else if let Some(at) = component.params.iter().position(|param| param.name.text == *name) {
            // Arguments without a name are for the parameters that no other argument names, in order.
            let named_by = |text: &str| args.iter().any(|arg| arg.name.as_ref().is_some_and(|own| own.text == text));
            let before = component.params[..at].iter().filter(|param| !named_by(&param.name.text)).count();
            let place = args.iter().enumerate().filter(|(_, arg)| arg.name.is_none()).map(|(i, _)| i).nth(before);
            replace(&mut args, place, Arg { name: Some(named), value: expr }, |arg| arg.name.as_ref());
        } else if super::native::Block::named(&component.name.text).is_some() {
            let shape = if values.len() == 1 { vec![] } else { vec![u32::try_from(values.len()).unwrap_or(0)] };
            extra.values.insert(name.clone(), Known { ty: Ty { shape, ..Ty::real() }, values: values.clone() });
        } else {
            let message = format!("`{}` has no parameter `{name}`", component.name.text);
            inst.report.tell(place.file, Problem::error(Code::Arguments, component.name.span, message));
            return None;
        }
    }
    let mut env = inst.bind(place, Written { generics: &generics, args: &args, ..written })?;
    env.values.extend(extra.values);
    Some(env)
}

/// Puts an argument in the place of the one that is written for the same parameter; behind them if there is none.
fn replace<T>(args: &mut Vec<T>, by_place: Option<usize>, given: T, name: impl Fn(&T) -> Option<&Name>) {
    let same = |arg: &T| name(arg).is_some_and(|own| name(&given).is_some_and(|wanted| own.text == wanted.text));
    match args.iter().position(same).or(by_place) {
        Some(at) => args[at] = given,
        None => args.push(given),
    }
}

/// Where a component declares a parameter that is a number. The number of an enum has no place: in a text it would be a mistake.
fn declared(component: &Component, name: &str) -> Option<Span> {
    let generics = component.generics.iter().map(|generic| &generic.name);
    let numbers = component.params.iter().filter(|param| !matches!(param.ty.base, Base::Named(_)));
    let mut names = numbers.map(|param| &param.name).chain(generics);
    names.find(|known| known.text == name).map(|known| known.span)
}

/// Numbers as an expression: one, or a row.
fn literal(values: &[f64], span: Span) -> crate::syntax::ast::Expr {
    use crate::syntax::ast::{Expr, ExprKind};
    let number = |value: &f64| Expr { span, kind: ExprKind::Number { value: *value, unit: None } };
    match values {
        [one] => number(one),
        many => Expr { span, kind: ExprKind::Matrix(vec![many.iter().map(number).collect()]) },
    }
}

/// Configuration parameters from arguments and defaults.
pub(super) fn bind_params(
    component: &Component,
    inner: &Place<'_>,
    written: Written<'_, '_>,
    env: &mut Env,
    report: &mut Report<'_>,
) -> Option<()> {
    let told = |report: &mut Report<'_>, span: Span, message: String, help: String| {
        report.tell(written.place.file, Problem::error(Code::Arguments, span, message).help(help));
        None
    };
    let unnamed = written.args.iter().filter(|arg| arg.name.is_none()).count();
    if unnamed > component.params.len() {
        let message = format!("`{}` takes {} arguments, not {unnamed}", component.name.text, component.params.len());
        return told(report, written.span, message, "remove those that are too many".to_owned());
    }
    let named = written.args.iter().filter_map(|arg| arg.name.as_ref());
    let names: Vec<&str> = component.params.iter().map(|param| param.name.text.as_str()).collect();
    named_once(component, named, &names, written.place.file, report)?;
    let mut by_place = written.args.iter().filter(|arg| arg.name.is_none());
    for param in &component.params {
        let by_name = written.args.iter().find(|arg| arg.name.as_ref().is_some_and(|n| n.text == param.name.text));
        let given = by_name.or_else(|| by_place.next());
        let here = env.clone();
        let (mut value, at) = match (given, &param.default) {
            (Some(arg), _) => {
                let value = known(&arg.value, written.place, written.env, report)?;
                (value, (written.place.file, arg.value.span))
            }
            (None, Some(default)) => (known(default, inner, &here, report)?, (inner.file, default.span)),
            (None, None) => {
                let message = format!("`{}` needs a value for `{}`", component.name.text, param.name.text);
                return told(report, written.span, message, format!("write `{}(…)`", component.name.text));
            }
        };
        let mut ty = resolve(&param.ty, inner, &here, report)?;
        if let Some(array) = &param.array {
            ty.shape.insert(0, size(array, inner, &here, report)?);
        }
        fit_ty(&mut value, &ty, at, report)?;
        env.values.insert(param.name.text.clone(), value);
    }
    match by_place.next() {
        Some(extra) => {
            let message = format!("every parameter of `{}` has a value already", component.name.text);
            told(report, extra.value.span, message, "give each parameter once, by place or by name".to_owned())
        }
        None => Some(()),
    }
}

/// Whether each name of an argument is that of a parameter, and stands there once.
pub(super) fn named_once<'a>(
    component: &Component,
    named: impl Iterator<Item = &'a Name>,
    known: &[&str],
    file: FileId,
    report: &mut Report<'_>,
) -> Option<()> {
    let mut seen: Vec<&str> = Vec::new();
    for name in named {
        if !known.contains(&name.text.as_str()) {
            let message = format!("`{}` has no parameter `{}`", component.name.text, name.text);
            let problem = Problem::error(Code::Arguments, name.span, message);
            report.tell(file, problem.did_you_mean(&name.text, known.iter().copied()));
            return None;
        }
        if seen.contains(&name.text.as_str()) {
            let message = format!("`{}` is given twice", name.text);
            report.tell(file, Problem::error(Code::Arguments, name.span, message).help("keep one of the two"));
            return None;
        }
        seen.push(&name.text);
    }
    Some(())
}

/// Makes a value one of a declared type, or tells why it cannot be.
pub(super) fn fit(
    value: &mut Known,
    ty: &Type,
    place: &Place<'_>,
    env: &Env,
    at: (FileId, Span),
    report: &mut Report<'_>,
) -> Option<()> {
    debug_assert!(!matches!(ty.base, Base::Text));
    let ty = resolve(ty, place, env, report)?;
    fit_ty(value, &ty, at, report)
}

/// Makes a value one of a type, or tells why it cannot be.
pub(super) fn fit_ty(value: &mut Known, ty: &Ty, at: (FileId, Span), report: &mut Report<'_>) -> Option<()> {
    let mut tell = |code: Code, message: String, help: &str| {
        report.tell(at.0, Problem::error(code, at.1, message).help(help));
        None
    };
    let Some(number) = ty.number() else {
        return tell(Code::TypeMismatch, format!("a number cannot become {ty}"), "give its fields");
    };
    // What is given from outside of any text is a number: it has no place, and names no enum.
    let outside = at.1 == Span::default();
    let choice = |class: Option<&Class>| class.filter(|class| matches!(class, Class::Choice(_))).cloned();
    if !outside && choice(value.ty.number().map(|given| &given.class)) != choice(Some(&number.class)) {
        return tell(
            Code::TypeMismatch,
            format!("{} cannot become {ty}", value.ty),
            "both need the same enum, or none",
        );
    }
    if let (Some(x), Some(y)) = (value.ty.dimension(), number.dimension)
        && x != y
    {
        return tell(Code::UnitMismatch, format!("a value in {x} cannot become {y}"), "give it a unit of that kind");
    }
    if value.values.len() == 1 && !ty.shape.is_empty() {
        value.values = vec![value.values[0]; ty.elements() as usize];
    } else if value.values.len() != ty.elements() as usize || !like_shapes(&value.ty, ty) {
        return tell(Code::ShapeMismatch, format!("{} cannot become {ty}", value.ty), "give it that shape");
    }
    // A plain number for a type with a unit is in SI.
    for x in &value.values {
        // The step of a real number is how finely it is told; that of a whole number says which numbers there are.
        let held = if number.class == Class::Real { number.bounds(*x, 0.0) } else { number.holds(*x, 0.0) };
        if !held {
            return tell(Code::OutOfRange, format!("{x} is outside of {ty}"), "choose a value inside of the range");
        }
        if let Class::Choice(choices) = &number.class
            && (x.fract() != 0.0 || *x < 0.0 || *x >= choices.values.len() as f64)
        {
            let help = format!("its values are {}, numbered from 0", choices.values.join(", "));
            return tell(Code::OutOfRange, format!("{x} is no value of {ty}"), &help);
        }
        if number.class == Class::Whole && x.fract() != 0.0 {
            return tell(
                Code::TypeMismatch,
                format!("{x} is not a whole number"),
                "choose a whole number, or the type Q",
            );
        }
    }
    if let Some(x) = value.values.iter().find(|x| !number.holds(**x, 0.0)) {
        let told = Problem::warning(Code::OutOfRange, at.1, format!("{x} is between the steps of {ty}"));
        report.tell(at.0, told.help("choose a value on a step"));
    }
    if number.class == Class::Truth {
        value.values.iter_mut().for_each(|x| *x = f64::from(u8::from(*x != 0.0)));
    }
    value.ty = ty.clone();
    Some(())
}
