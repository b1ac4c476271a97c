//! What the editor says, and what it is answered.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anabranch_language::library::{FileId, Library};
use anabranch_language::syntax::ast::{Direction, Item};
use anabranch_language::table::columns;
use anabranch_language::{Diagnostic, Model, Options, check_file, format};
use serde_json::{Value, json};

use crate::assembly::{Above, is_assembly};
use crate::find::{self, Meaning, word_at};
use crate::place::{address_of, byte_at, path_of, range};

/// Words of the language, for completion.
const WORDS: [&str; 26] = [
    "package",
    "import",
    "component",
    "interface",
    "implements",
    "ports",
    "port",
    "in",
    "out",
    "instance",
    "connect",
    "implementation",
    "Math",
    "static",
    "if",
    "elseif",
    "else",
    "end",
    "for",
    "while",
    "minimize",
    "maximize",
    "subject to",
    "true",
    "false",
    "tick",
];
/// Functions of statements, for completion.
const FUNCTIONS: [&str; 40] = [
    "abs",
    "round",
    "floor",
    "ceil",
    "sign",
    "sqrt",
    "exp",
    "log",
    "log2",
    "log10",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "min",
    "max",
    "mod",
    "rem",
    "pow",
    "sum",
    "mean",
    "norm",
    "size",
    "zeros",
    "ones",
    "eye",
    "inv",
    "det",
    "diag",
    "transpose",
    "diff",
    "rand",
    "randn",
    "saturate",
];
/// Types of numbers, for completion.
const TYPES: [&str; 6] = ["Q", "Z", "N", "N1", "B", "C"];

/// The protocol's word for an error.
pub(crate) const ERROR: u8 = 1;
/// The protocol's word for a warning.
const WARNING: u8 = 2;

/// One editor: what it has open.
pub struct Server<'a> {
    /// What rooms above know.
    pub(crate) above: &'a Above<'a>,
    roots: Vec<PathBuf>,
    /// Texts as the editor has them, which need not be on the disk yet.
    pub(crate) open: BTreeMap<PathBuf, String>,
    /// The library around the files, read again when a file is opened or saved.
    library: Option<Library>,
    /// Files that were told mistakes, to take them back.
    told: BTreeSet<PathBuf>,
    asked_to_end: bool,
    ended: Option<bool>,
}

impl<'a> Server<'a> {
    /// A server that nobody has spoken to.
    pub fn new(above: &'a Above<'a>) -> Self {
        let (open, told) = (BTreeMap::new(), BTreeSet::new());
        Self { above, roots: vec![], open, library: None, told, asked_to_end: false, ended: None }
    }

    /// Whether it is over, and whether the editor said so before.
    pub fn ended(&self) -> Option<bool> {
        self.ended
    }

    /// Takes a message and gives the answers.
    pub fn take(&mut self, message: &Value) -> Vec<Value> {
        let (method, id) = (message["method"].as_str(), message.get("id"));
        let params = &message["params"];
        let Some(method) = method else {
            // An answer to a question we never ask, or no message at all.
            let wrong = json!({ "code": -32700, "message": "this is no message" });
            return if message.is_null() {
                vec![json!({ "jsonrpc": "2.0", "id": null, "error": wrong })]
            } else {
                vec![]
            };
        };
        let result = match method {
            "initialize" => self.initialize(params),
            "shutdown" => {
                self.asked_to_end = true;
                Value::Null
            }
            "exit" => {
                self.ended = Some(self.asked_to_end);
                return vec![];
            }
            "textDocument/didOpen" => return self.changed(params, &params["textDocument"]["text"], true),
            "textDocument/didChange" => {
                let last = params["contentChanges"].as_array().and_then(|all| all.last());
                return self.changed(params, last.map_or(&Value::Null, |last| &last["text"]), false);
            }
            "textDocument/didSave" => {
                self.library = None;
                return self.diagnose(&path_in(params));
            }
            "textDocument/didClose" => {
                if let Some(path) = path_in(params) {
                    self.open.remove(&path);
                    self.library = None;
                }
                return vec![];
            }
            "textDocument/hover" => self.hover(params).or_else(|| self.hover_assembly(params)).unwrap_or(Value::Null),
            "textDocument/definition" => {
                self.definition(params).or_else(|| self.definition_assembly(params)).unwrap_or(Value::Null)
            }
            "textDocument/completion" => {
                self.completion(params).or_else(|| self.completion_assembly(params)).unwrap_or_else(|| json!([]))
            }
            "textDocument/formatting" => self.formatting(params).unwrap_or(Value::Null),
            _ => {
                let wrong = json!({ "code": -32601, "message": format!("`{method}` is not known here") });
                return id.map(|id| json!({ "jsonrpc": "2.0", "id": id, "error": wrong })).into_iter().collect();
            }
        };
        id.map(|id| json!({ "jsonrpc": "2.0", "id": id, "result": result })).into_iter().collect()
    }

    fn initialize(&mut self, params: &Value) -> Value {
        let folders = params["workspaceFolders"].as_array().map_or(&[][..], Vec::as_slice);
        let mut roots: Vec<PathBuf> =
            folders.iter().filter_map(|folder| folder["uri"].as_str()).filter_map(path_of).collect();
        if roots.is_empty() {
            roots.extend(params["rootUri"].as_str().and_then(path_of));
        }
        self.roots = roots.into_iter().filter(|root| root.is_dir()).collect();
        json!({
            "capabilities": {
                // Whole texts: models are small.
                "textDocumentSync": { "openClose": true, "change": 1, "save": {} },
                "hoverProvider": true,
                "definitionProvider": true,
                "documentFormattingProvider": true,
                "completionProvider": { "triggerCharacters": ["."] },
            },
            "serverInfo": { "name": "anabranch", "version": env!("CARGO_PKG_VERSION") },
        })
    }

    fn changed(&mut self, params: &Value, text: &Value, new: bool) -> Vec<Value> {
        let (Some(path), Some(text)) = (path_in(params), text.as_str()) else { return vec![] };
        if is_assembly(&path) {
            if new {
                self.library = None;
            }
            self.open.insert(path.clone(), text.to_owned());
            return self.diagnose_assembly(&path);
        }
        let known = self.library.as_ref().is_some_and(|library| library.file_at(&path).is_some());
        if new && !known {
            self.library = None;
        }
        if let Some(library) = &mut self.library {
            library.replace(&path, text.to_owned());
        }
        self.open.insert(path.clone(), text.to_owned());
        self.diagnose(&Some(path))
    }

    /// The library as the editor sees it: files of its folders, and open texts instead of what lies on the disk.
    pub(crate) fn library(&mut self) -> &Library {
        if self.library.is_none() {
            let mut folders: BTreeSet<PathBuf> = self.roots.iter().cloned().collect();
            for (path, text) in &self.open {
                let root = match is_assembly(path) {
                    true => path.parent().unwrap_or(Path::new("")).to_owned(),
                    false => Library::root_of(path, text),
                };
                if root.is_dir() && !folders.iter().any(|folder| root.starts_with(folder)) {
                    folders.insert(root);
                }
            }
            let folders: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
            let mut library = Library::open_all(&folders).unwrap_or_default();
            for (path, text) in self.open.iter().filter(|(path, _)| !is_assembly(path)) {
                library.replace(path, text.clone());
            }
            self.library = Some(library);
        }
        self.library.get_or_insert_default()
    }

    /// Mistakes of a file and of what it uses, for the editor.
    fn diagnose(&mut self, path: &Option<PathBuf>) -> Vec<Value> {
        let Some(path) = path else { return vec![] };
        if is_assembly(path) {
            return self.diagnose_assembly(path);
        }
        let library = self.library();
        let Some(file) = library.file_at(path) else { return vec![] };
        let (told, _) = check_file(library, file, &Options::default());
        let mut by_file: BTreeMap<PathBuf, Vec<Value>> = BTreeMap::from([(path.clone(), vec![])]);
        for d in &told {
            let text = library.file_at(&d.file).map_or("", |id| library.file(id).text.as_str());
            by_file.entry(d.file.clone()).or_default().push(diagnostic(text, d));
        }
        // Of other files only those are told that are open: nobody asked about the rest.
        by_file.retain(|file, _| file == path || self.open.contains_key(file));
        self.told.extend(by_file.keys().cloned());
        by_file.into_iter().map(|(file, told)| published(&file, &told)).collect()
    }

    /// The file and byte that a question is about.
    fn asked(&mut self, params: &Value) -> Option<(FileId, usize)> {
        let path = path_in(params)?;
        let library = self.library();
        let file = library.file_at(&path)?;
        Some((file, byte_at(&library.file(file).text, &params["position"])))
    }

    fn meaning(&mut self, params: &Value) -> Option<(FileId, anabranch_language::syntax::Span, Meaning)> {
        let (file, at) = self.asked(params)?;
        let library = self.library();
        let word = word_at(&library.file(file).text, at)?;
        Some((file, word.span, find::meaning(library, file, &word, at)?))
    }

    fn hover(&mut self, params: &Value) -> Option<Value> {
        let (file, span, meaning) = self.meaning(params)?;
        let library = self.library();
        let mut text = format!("```emam\n{}\n```", meaning.text);
        if let Some(told) = meaning.port.as_ref().and_then(|port| in_si(library, meaning.file, port)) {
            text += &format!("\n\n{told}");
        }
        let range = range(&library.file(file).text, span);
        Some(json!({ "contents": { "kind": "markdown", "value": text }, "range": range }))
    }

    fn definition(&mut self, params: &Value) -> Option<Value> {
        let (_, _, meaning) = self.meaning(params)?;
        let source = self.library().file(meaning.file);
        Some(json!({ "uri": address_of(&source.path), "range": range(&source.text, meaning.span) }))
    }

    fn completion(&mut self, params: &Value) -> Option<Value> {
        let (file, at) = self.asked(params)?;
        let library = self.library();
        let owner = word_at(&library.file(file).text, at).and_then(|word| word.before.last().cloned());
        let mut all: BTreeMap<String, (u8, String)> = BTreeMap::new();
        // The protocol's numbers: 3 function, 5 field, 6 variable, 7 class, 14 keyword.
        let component = find::component_at(library, file, at);
        if let Some(owner) = owner {
            let component = component?;
            let instance = component.instances.iter().find(|instance| instance.name.text == owner)?;
            let (there, inside) = find::component_of(library, file, Some(component), &instance.ty)?;
            let text = &library.file(there).text;
            for port in &inside.ports {
                let way = if port.direction == Direction::In { "in" } else { "out" };
                all.insert(port.name.text.clone(), (5, format!("{way} {}", &text[port.ty.span.range()])));
            }
            return Some(items(&all));
        }
        let stream = library.file(file).parsed.file.items.iter().find_map(|item| match item {
            Item::Stream(stream) => find::tested(library, file, stream),
            _ => None,
        });
        for (file, component) in component.map(|component| (file, component)).into_iter().chain(stream) {
            let text = &library.file(file).text;
            for port in &component.ports {
                let way = if port.direction == Direction::In { "in" } else { "out" };
                all.insert(port.name.text.clone(), (6, format!("{way} {}", &text[port.ty.span.range()])));
            }
            for param in &component.params {
                all.insert(param.name.text.clone(), (6, format!("parameter {}", &text[param.ty.span.range()])));
            }
            for instance in &component.instances {
                all.insert(instance.name.text.clone(), (6, format!("instance {}", &text[instance.ty.span.range()])));
            }
        }
        // A variable hides a port of its name.
        let variables = component.map(|component| find::variables(&library.file(file).text, component, at));
        let before = |variable: &find::Variable| variable.name.span.end as usize <= at;
        for variable in variables.into_iter().flatten().filter(before) {
            all.insert(variable.name.text, (6, variable.text));
        }
        for (name, ..) in library.components() {
            let short = name.rsplit('.').next().unwrap_or(name);
            all.entry(short.to_owned()).or_insert((7, format!("component {name}")));
        }
        let fixed = [(14, "word", &WORDS[..]), (3, "function", &FUNCTIONS[..]), (7, "type", &TYPES[..])];
        for (kind, detail, words) in fixed {
            for word in words {
                all.entry((*word).to_owned()).or_insert((kind, detail.to_owned()));
            }
        }
        Some(items(&all))
    }

    fn formatting(&mut self, params: &Value) -> Option<Value> {
        let path = path_in(params)?;
        let library = self.library();
        let text = &library.file(library.file_at(&path)?).text;
        let whole = anabranch_language::syntax::Span::new(0, text.len());
        Some(json!([{ "range": range(text, whole), "newText": format(text) }]))
    }
}

/// Tells the editor the mistakes of a file; none takes them back.
pub(crate) fn published(file: &Path, told: &[Value]) -> Value {
    let params = json!({ "uri": address_of(file), "diagnostics": told });
    json!({ "jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": params })
}

pub(crate) fn items(all: &BTreeMap<String, (u8, String)>) -> Value {
    all.iter().map(|(label, (kind, detail))| json!({ "label": label, "kind": kind, "detail": detail })).collect()
}

pub(crate) fn path_in(params: &Value) -> Option<PathBuf> {
    params["textDocument"]["uri"].as_str().and_then(path_of)
}

fn diagnostic(text: &str, d: &Diagnostic) -> Value {
    let help = d.help.as_ref().map_or(String::new(), |help| format!("\n{help}"));
    json!({
        "range": range(text, d.span),
        "severity": if d.is_error() { ERROR } else { WARNING },
        "code": d.code.text(),
        "source": "anabranch",
        "message": format!("{}{help}", d.message),
    })
}

/// The type of a port with everything known: range and unit in SI, shape.
fn in_si(library: &Library, file: FileId, port: &str) -> Option<String> {
    let model = Model::of_file(library, file, &Options::default()).ok()?;
    let found = model.port(port)?;
    let count = columns(&model).iter().filter(|column| column.name.split(['[', '.']).next() == Some(port)).count();
    let numbers = if count == 1 { "one number".to_owned() } else { format!("{count} numbers") };
    Some(format!("in SI: {}; {numbers}", found.ty))
}
