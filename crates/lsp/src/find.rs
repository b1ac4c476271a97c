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
    let behaviour = component.behaviour.as_ref().filter(|behaviour| behaviour.span.range().contains(&at));
    if let Some((name, told)) = behaviour.and_then(|behaviour| variable(text, &behaviour.body, &word.text)) {
        return say(name, told);
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

/// The declaration of a variable among statements.
fn variable(text: &str, body: &[Stmt], wanted: &str) -> Option<(Span, String)> {
    body.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Declare { names, .. } => {
            let (name, _) = names.iter().find(|(name, _)| name.text == wanted)?;
            let line = text[..name.span.start as usize].rfind('\n').map_or(0, |at| at + 1);
            let start = text[line..].find(|c: char| !c.is_whitespace()).map_or(line, |skip| line + skip);
            Some((
                name.span,
                format!("variable {}", &text[start.min(name.span.start as usize)..name.span.end as usize]),
            ))
        }
        StmtKind::If { arms, otherwise } => {
            let mut bodies = arms.iter().map(|(_, body)| body).chain(otherwise);
            bodies.find_map(|body| variable(text, body, wanted))
        }
        StmtKind::For { counter, .. } if counter.text == wanted => {
            Some((counter.span, format!("counter {}", counter.text)))
        }
        StmtKind::For { body, .. } | StmtKind::While { body, .. } => variable(text, body, wanted),
        StmtKind::Optimize(problem) => {
            let found = problem.unknowns.iter().find(|(_, name)| name.text == wanted)?;
            Some((found.1.span, format!("unknown {} {wanted}", &text[found.0.span.range()])))
        }
        _ => None,
    })
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
