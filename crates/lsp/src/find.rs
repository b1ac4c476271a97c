//! What a name in a file means.

use anabranch_language::library::{FileId, Found, Library};
use anabranch_language::syntax::ast::{
    Base, Component, Direction, GenericKind, Instance, Item, Name, Port, Stmt, StmtKind, Stream, Type,
};
use anabranch_language::syntax::{Kind, Span, Token, tokens};

/// A definition: where it stands and what to say about it.
pub struct Meaning {
    /// The file.
    pub file: FileId,
    /// The name in it.
    pub span: Span,
    /// The declaration as written, or in our words.
    pub text: String,
    /// The port of the file's own component, if it is one.
    pub port: Option<String>,
}

/// The word that a byte lies in or behind, and the words joined to it by dots before it.
pub struct Word {
    /// The word.
    pub text: String,
    /// Where.
    pub span: Span,
    /// `a` and `b` of `a.b.word`.
    pub before: Vec<String>,
}

/// The word at a byte. At the end of `a.` the word is empty.
pub fn word_at(text: &str, at: usize) -> Option<Word> {
    let all: Vec<Token> = tokens(text).into_iter().filter(|t| !matches!(t.kind, Kind::Space | Kind::Comment)).collect();
    let inside = |t: &&Token| t.kind == Kind::Word && t.span.start as usize <= at && at <= t.span.end as usize;
    let found = all.iter().position(|t| inside(&t));
    let dot = |t: &Token| matches!(t.kind, Kind::Sign("."));
    let (span, mut next) = match found {
        Some(i) => (all[i].span, i),
        None => {
            let i = all.iter().position(|t| dot(t) && t.span.end as usize == at)?;
            (Span::new(at, at), i + 1)
        }
    };
    let mut before = Vec::new();
    while next >= 2 && dot(&all[next - 1]) {
        let mut giver = next - 2;
        // `inst[1].port`: the index lies between.
        if matches!(all[giver].kind, Kind::Sign("]")) {
            giver = all[..giver].iter().rposition(|t| matches!(t.kind, Kind::Sign("[")))?.checked_sub(1)?;
        }
        if all[giver].kind != Kind::Word {
            break;
        }
        before.insert(0, text[all[giver].span.range()].to_owned());
        next = giver;
    }
    Some(Word { text: text[span.range()].to_owned(), span, before })
}

/// The innermost component around a byte; outside of all, the one of the file.
pub fn component_at(library: &Library, file: FileId, at: usize) -> Option<&Component> {
    let mut here = library.component_in(file)?;
    while let Some(inner) = here.inner.iter().find(|inner| inner.span.range().contains(&at)) {
        here = inner;
    }
    Some(here)
}

/// The component that a type names in a file, and its file.
pub fn component_of<'l>(
    library: &'l Library,
    file: FileId,
    around: Option<&'l Component>,
    ty: &Type,
) -> Option<(FileId, &'l Component)> {
    let Base::Named(path) = &ty.base else { return None };
    let name = path.text();
    if let Some(inner) = around.and_then(|around| around.inner.iter().find(|inner| inner.name.text == name)) {
        return Some((file, inner));
    }
    match library.resolve(&name, file)? {
        Found { file, item: Item::Component(component) } => Some((file, component)),
        _ => None,
    }
}

/// What the word at a byte means.
pub fn meaning(library: &Library, file: FileId, word: &Word, at: usize) -> Option<Meaning> {
    let text = &library.file(file).text;
    if let Some(stream) = stream_at(library, file, at) {
        return of_stream(library, file, stream, word);
    }
    let component = component_at(library, file, at);
    match (component, word.before.last()) {
        (Some(component), Some(owner)) => {
            if let Some(instance) = component.instances.iter().find(|instance| instance.name.text == *owner) {
                let (there, inside) = component_of(library, file, Some(component), &instance.ty)?;
                let port = inside.ports.iter().find(|port| port.name.text == word.text)?;
                return Some(of_port(library, there, port));
            }
            of_type(library, file, Some(component), &full(word))
        }
        (Some(component), None) => local(text, library, file, component, word, at)
            .or_else(|| of_type(library, file, Some(component), &word.text)),
        (None, _) => of_type(library, file, None, &full(word)),
    }
}

fn full(word: &Word) -> String {
    word.before.iter().map(|part| format!("{part}.")).collect::<String>() + &word.text
}

fn stream_at(library: &Library, file: FileId, at: usize) -> Option<&Stream> {
    library.file(file).parsed.file.items.iter().find_map(|item| match item {
        Item::Stream(stream) if at >= stream.name.span.start as usize => Some(stream),
        _ => None,
    })
}

/// The component that a stream tests, and its file.
pub fn tested<'l>(library: &'l Library, file: FileId, stream: &Stream) -> Option<(FileId, &'l Component)> {
    let name = match stream.component.as_ref().map(|(ty, _)| &ty.base) {
        Some(Base::Named(path)) => path.text(),
        _ => stream.name.text.clone(),
    };
    match library.resolve(&name, file).or_else(|| library.find_simple(&name, file))? {
        Found { file, item: Item::Component(component) } => Some((file, component)),
        _ => None,
    }
}

fn of_stream(library: &Library, file: FileId, stream: &Stream, word: &Word) -> Option<Meaning> {
    let (there, component) = tested(library, file, stream)?;
    if let Some(port) = component.ports.iter().find(|port| port.name.text == word.text) {
        return Some(of_port(library, there, port));
    }
    (component.name.text == word.text).then(|| of_component(there, component, library))
}

/// Ports, parameters, instances and variables of a component.
fn local(
    text: &str,
    library: &Library,
    file: FileId,
    component: &Component,
    word: &Word,
    at: usize,
) -> Option<Meaning> {
    let named = |name: &Name| name.text == word.text;
    let say = |span: Span, text: String| Some(Meaning { file, span, text, port: None });
    // A variable hides a port of the same name in the statements that follow it.
    let mut variables = variables(text, component, at).into_iter();
    if let Some(variable) = variables.find(|variable| variable.name.text == word.text) {
        return say(variable.name.span, variable.text);
    }
    if let Some(port) = component.ports.iter().find(|port| named(&port.name)) {
        return Some(of_port(library, file, port));
    }
    if let Some(param) = component.params.iter().find(|param| named(&param.name)) {
        return say(param.name.span, format!("parameter {}", &text[param.ty.span.to(param.name.span).range()]));
    }
    if let Some(generic) = component.generics.iter().find(|generic| named(&generic.name)) {
        let told = match &generic.kind {
            GenericKind::Type(_) => format!("type parameter {}", generic.name.text),
            GenericKind::Value(ty, _) => format!("parameter {} {}", &text[ty.span.range()], generic.name.text),
        };
        return say(generic.name.span, told);
    }
    let instance: &Instance = component.instances.iter().find(|instance| named(&instance.name))?;
    say(instance.name.span, format!("instance {} {}", &text[instance.ty.span.range()], instance.name.text))
}

/// A variable of statements.
pub struct Variable {
    /// Its name, where it is declared.
    pub name: Name,
    /// Its declaration, without those beside it.
    pub text: String,
}

/// The variables of a component's statements around a byte; none outside of them.
pub fn variables(text: &str, component: &Component, at: usize) -> Vec<Variable> {
    let mut all = Vec::new();
    if let Some(behaviour) = component.behaviour.as_ref().filter(|behaviour| behaviour.span.range().contains(&at)) {
        declared(text, &behaviour.body, &mut all);
    }
    all
}

fn declared(text: &str, body: &[Stmt], all: &mut Vec<Variable>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Declare { keep, ty, names } => {
                let kept = if *keep { "static " } else { "" };
                let told = |name: &Name| format!("variable {kept}{} {}", &text[ty.span.range()], name.text);
                all.extend(names.iter().map(|(name, _)| Variable { name: name.clone(), text: told(name) }));
            }
            StmtKind::If { arms, otherwise } => {
                arms.iter().map(|(_, body)| body).chain(otherwise).for_each(|body| declared(text, body, all));
            }
            StmtKind::For { counter, body, .. } => {
                all.push(Variable { name: counter.clone(), text: format!("counter {}", counter.text) });
                declared(text, body, all);
            }
            StmtKind::While { body, .. } => declared(text, body, all),
            StmtKind::Optimize(problem) => {
                let told = |ty: &Type, name: &Name| format!("unknown {} {}", &text[ty.span.range()], name.text);
                let unknowns = problem.unknowns.iter();
                all.extend(unknowns.map(|(ty, name)| Variable { name: name.clone(), text: told(ty, name) }));
                if let Some((Some(ty), name)) = &problem.result {
                    let told = format!("variable {} {}", &text[ty.span.range()], name.text);
                    all.push(Variable { name: name.clone(), text: told });
                }
            }
            _ => {}
        }
    }
}

/// A port as declared.
pub fn of_port(library: &Library, file: FileId, port: &Port) -> Meaning {
    let text = &library.file(file).text;
    let direction = if port.direction == Direction::In { "in" } else { "out" };
    let array = port.array.as_ref().map_or(String::new(), |size| format!("[{}]", &text[size.span.range()]));
    let told = format!("{direction} {} {}{array}", &text[port.ty.span.range()], port.name.text);
    Meaning { file, span: port.name.span, text: told, port: Some(port.name.text.clone()) }
}

/// A component, struct or enum by its name.
fn of_type(library: &Library, file: FileId, around: Option<&Component>, name: &str) -> Option<Meaning> {
    if let Some(inner) = around.and_then(|around| around.inner.iter().find(|inner| inner.name.text == name)) {
        return Some(of_component(file, inner, library));
    }
    let Found { file, item } = library.resolve(name, file)?;
    Some(match item {
        Item::Component(component) => of_component(file, component, library),
        Item::Struct(data) => {
            Meaning { file, span: data.name.span, text: format!("struct {}", data.name.text), port: None }
        }
        Item::Enum(data) => {
            Meaning { file, span: data.name.span, text: format!("enum {}", data.name.text), port: None }
        }
        Item::Stream(stream) => {
            Meaning { file, span: stream.name.span, text: format!("stream {}", stream.name.text), port: None }
        }
    })
}

/// A component with its ports.
pub fn of_component(file: FileId, component: &Component, library: &Library) -> Meaning {
    let ports: String =
        component.ports.iter().map(|port| format!("\n    {}", of_port(library, file, port).text)).collect();
    Meaning { file, span: component.name.span, text: format!("component {}{ports}", component.name.text), port: None }
}
