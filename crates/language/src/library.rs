//! A folder of models: every file read once, and names looked up as packages and imports say.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::diagnostic::{Code, Diagnostic, Lines, Problem, closest};
use crate::syntax::ast::{Component, Enum, Item, Stream, Struct};
use crate::syntax::{Parsed, Span, parse};

/// File endings that hold models.
pub const ENDINGS: [&str; 6] = ["emam", "ema", "emadl", "struct", "enum", "stream"];

/// Deepest folder that is looked into.
const FOLDER_DEPTH_MAX: usize = 60;

/// A file of a library.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// As it was opened.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// What it says.
    pub parsed: Parsed,
    lines: Lines,
    package: String,
}

/// The number of a file in its library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileId(pub(crate) usize);

/// Something with a name in a library.
#[derive(Clone, Copy, Debug)]
pub struct Found<'l> {
    /// The file it stands in.
    pub file: FileId,
    /// What it is.
    pub item: &'l Item,
}

/// Models and what they are called.
#[derive(Clone, Debug, Default)]
pub struct Library {
    files: Vec<SourceFile>,
    /// Qualified name to places (file, item), in the order of paths.
    names: BTreeMap<String, Vec<(usize, usize)>>,
    /// Path, as it is written, to its file.
    paths: BTreeMap<OsString, usize>,
}

fn item_name(item: &Item) -> &str {
    match item {
        Item::Component(Component { name, .. })
        | Item::Struct(Struct { name, .. })
        | Item::Enum(Enum { name, .. })
        | Item::Stream(Stream { name, .. }) => &name.text,
    }
}

fn qualified(package: &str, name: &str) -> String {
    if package.is_empty() { name.to_owned() } else { format!("{package}.{name}") }
}

impl Library {
    /// Reads every model below a folder. Files with mistakes are part of it, with their mistakes.
    ///
    /// # Errors
    ///
    /// If the folder itself cannot be read.
    pub fn open(folder: &Path) -> std::io::Result<Self> {
        Self::open_all(&[folder])
    }

    /// Reads every model below some folders, each file once. What stands in the first of them is found first.
    ///
    /// # Errors
    ///
    /// If one of the folders cannot be read.
    pub fn open_all(folders: &[&Path]) -> std::io::Result<Self> {
        let mut paths = Vec::new();
        let mut refused = Vec::new();
        for folder in folders {
            let mut found = Vec::new();
            if folder.is_file() {
                found.push((*folder).to_owned());
            } else {
                std::fs::read_dir(folder)?;
                collect(folder, 0, &mut found, &mut refused);
            }
            paths.extend(found);
        }
        let mut seen = std::collections::BTreeSet::new();
        let same = |path: &PathBuf| std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        if folders.len() > 1 {
            paths.retain(|path| seen.insert(same(path)));
        }
        let mut library = Self::default();
        for path in paths {
            match std::fs::read(&path) {
                Ok(bytes) => library.add(path, String::from_utf8_lossy(&bytes).into_owned()),
                Err(error) => library.add_unread(path, &error),
            }
        }
        for (folder, error) in refused {
            library.add_unread(folder, &error);
        }
        Ok(library)
    }

    /// A file or folder that cannot be read is part of the library all the same: what is missing must not look fine.
    fn add_unread(&mut self, path: PathBuf, error: &std::io::Error) {
        let at = self.files.len();
        self.add(path, String::new());
        let told = Problem::error(Code::Unreadable, Span::default(), format!("this cannot be read: {error}"));
        self.files[at].parsed.problems = vec![told.help("mend its permissions, or take it away")];
    }

    /// The models that a file can use: everything below the folder in which its package begins. With them come the full
    /// names of the components in the file, that which is called like the file first.
    ///
    /// # Errors
    ///
    /// If the file or the folder cannot be read.
    pub fn around(file: &Path) -> std::io::Result<(Self, Vec<String>)> {
        let text = String::from_utf8_lossy(&std::fs::read(file)?).into_owned();
        let parsed = parse(&text);
        let package = parsed.file.package.as_ref().map(crate::syntax::ast::Path::text).unwrap_or_default();
        let root = Self::root_of(file, &text);
        let library = Self::open(if root.as_os_str().is_empty() { Path::new(".") } else { &root })?;
        let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or("");
        let components = parsed.file.items.iter().filter(|item| matches!(item, Item::Component(_)));
        let mut names: Vec<&str> = components.map(item_name).collect();
        names.sort_by_key(|name| *name != stem);
        Ok((library, names.into_iter().map(|name| qualified(&package, name)).collect()))
    }

    /// The folder that the package of a file begins in; where folders are called otherwise, the folder of the file.
    ///
    /// ```
    /// # use anabranch_language::Library;
    /// # use std::path::Path;
    /// let root = |text| Library::root_of(Path::new("models/cars/lane/Keep.emam"), text);
    /// assert_eq!(root("package cars.lane; component Keep {}"), Path::new("models"));
    /// assert_eq!(root("package other; component Keep {}"), Path::new("models/cars/lane"));
    /// ```
    pub fn root_of(path: &Path, text: &str) -> PathBuf {
        let folder = path.parent().unwrap_or(Path::new(""));
        let package = parse(text).file.package.as_ref().map(crate::syntax::ast::Path::text).unwrap_or_default();
        let mut at = folder;
        for part in package.rsplit('.').filter(|part| !part.is_empty()) {
            match at.parent() {
                Some(above) if at.file_name().is_some_and(|name| name == part) => at = above,
                _ => return folder.to_owned(),
            }
        }
        at.to_owned()
    }

    /// A library of texts, each with the path it is known by.
    pub fn of(sources: impl IntoIterator<Item = (PathBuf, String)>) -> Self {
        let mut library = Self::default();
        for (path, text) in sources {
            library.add(path, text);
        }
        library
    }

    /// Puts another text in the place of a file; a file that is not there yet is added.
    pub fn replace(&mut self, path: &Path, text: String) {
        let Some(FileId(at)) = self.file_at(path) else { return self.add(path.to_owned(), text) };
        for places in self.names.values_mut() {
            places.retain(|(file, _)| *file != at);
        }
        self.names.retain(|_, places| !places.is_empty());
        let parsed = parse(&text);
        let package = parsed.file.package.as_ref().map(crate::syntax::ast::Path::text).unwrap_or_default();
        for (i, item) in parsed.file.items.iter().enumerate() {
            if !matches!(item, Item::Stream(_)) {
                let places = self.names.entry(qualified(&package, item_name(item))).or_default();
                places.insert(places.partition_point(|place| *place < (at, i)), (at, i));
            }
        }
        self.files[at] = SourceFile { path: path.to_owned(), lines: Lines::of(&text), text, parsed, package };
    }

    fn add(&mut self, path: PathBuf, text: String) {
        let parsed = parse(&text);
        let package = parsed.file.package.as_ref().map(crate::syntax::ast::Path::text).unwrap_or_default();
        let at = self.files.len();
        for (i, item) in parsed.file.items.iter().enumerate() {
            if !matches!(item, Item::Stream(_)) {
                self.names.entry(qualified(&package, item_name(item))).or_default().push((at, i));
            }
        }
        self.paths.entry(path.clone().into_os_string()).or_insert(at);
        self.files.push(SourceFile { path, lines: Lines::of(&text), text, parsed, package });
    }

    /// Every file, in order.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(i, file)| (FileId(i), file))
    }

    /// One file.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0]
    }

    /// The file with this path.
    pub fn file_at(&self, path: &Path) -> Option<FileId> {
        self.paths.get(path.as_os_str()).copied().map(FileId)
    }

    /// The component that a file is about.
    pub fn component_in(&self, id: FileId) -> Option<&Component> {
        let file = &self.files[id.0];
        let stem = file.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("");
        let mut found = file.parsed.file.items.iter().filter_map(|item| match item {
            Item::Component(component) => Some(component),
            _ => None,
        });
        found.clone().find(|component| component.name.text == stem).or_else(|| found.next())
    }

    /// The full name of something that a file holds.
    pub fn full_name(&self, id: FileId, name: &str) -> String {
        qualified(&self.files[id.0].package, name)
    }

    /// Every component with its full name.
    pub fn components(&self) -> impl Iterator<Item = (&str, FileId, &Component)> {
        self.names.iter().flat_map(move |(name, places)| {
            places.iter().filter_map(move |&(file, item)| match &self.files[file].parsed.file.items[item] {
                Item::Component(component) => Some((name.as_str(), FileId(file), component)),
                _ => None,
            })
        })
    }

    /// Something by its full name, nearest to a file if several have it.
    pub fn find(&self, name: &str, near: Option<FileId>) -> Option<Found<'_>> {
        let places = self.names.get(name)?;
        if let [(file, item)] = places.as_slice() {
            return Some(Found { file: FileId(*file), item: &self.files[*file].parsed.file.items[*item] });
        }
        let nearness = |file: usize| match near {
            Some(near) => shared_steps(&self.files[near.0].path, &self.files[file].path),
            None => 0,
        };
        let &(file, item) = places.iter().rev().max_by_key(|(file, _)| nearness(*file))?;
        Some(Found { file: FileId(file), item: &self.files[file].parsed.file.items[item] })
    }

    /// A name as it is meant in a file: by its imports, its package, or in full.
    pub fn resolve(&self, name: &str, from: FileId) -> Option<Found<'_>> {
        let file = &self.files[from.0];
        let tail = format!(".{name}");
        let mut tries = Vec::new();
        for import in file.parsed.file.imports.iter().filter(|import| !import.all) {
            let path = import.path.text();
            if path == name || path.ends_with(&tail) {
                tries.push(path);
            }
        }
        tries.push(qualified(&file.package, name));
        for import in file.parsed.file.imports.iter().filter(|import| import.all) {
            tries.push(qualified(&import.path.text(), name));
        }
        tries.push(name.to_owned());
        if let Some(found) = tries.iter().find_map(|name| self.find(name, Some(from))) {
            return Some(found);
        }
        // An import whose package begins further up or down than the one that the file declares.
        tries.iter().filter(|full| full.contains('.')).find_map(|full| self.find_by_tail(full, from))
    }

    /// Something whose full name ends as this one does, at least in two parts.
    fn find_by_tail(&self, full: &str, from: FileId) -> Option<Found<'_>> {
        let mut rest = full;
        while let Some((_, tail)) = rest.split_once('.') {
            if !tail.contains('.') {
                return None;
            }
            if let Some(found) = self.find(tail, Some(from)) {
                return Some(found);
            }
            rest = tail;
        }
        None
    }

    /// A component by its name without package, nearest to a file.
    pub fn find_simple(&self, name: &str, near: FileId) -> Option<Found<'_>> {
        let tail = format!(".{name}");
        let fitting = self.names.keys().filter(|full| *full == name || full.ends_with(&tail));
        let nearness = |found: &Found<'_>| shared_steps(&self.files[near.0].path, &self.files[found.file.0].path);
        fitting.filter_map(|full| self.find(full, Some(near))).max_by_key(nearness)
    }

    /// The simple name that is most like a wrong one.
    pub fn closest_name(&self, wrong: &str) -> Option<String> {
        let simple = |full: &'_ str| full.rsplit('.').next().unwrap_or("").to_owned();
        let names: Vec<String> = self.names.keys().map(|full| simple(full)).collect();
        closest(wrong, names.iter().map(String::as_str)).map(str::to_owned)
    }

    /// A problem with its file, line and column.
    pub fn located(&self, file: FileId, problem: Problem) -> Diagnostic {
        let source = &self.files[file.0];
        let (line, column) = source.lines.place(&source.text, problem.span.start as usize);
        let Problem { code, severity, span, message, help } = problem;
        Diagnostic { code, severity, file: source.path.clone(), span, line, column, message, help }
    }

    /// Mistakes of reading, of every file.
    pub fn reading_problems(&self) -> Vec<Diagnostic> {
        let of = |(id, file): (FileId, &SourceFile)| -> Vec<Diagnostic> {
            file.parsed.problems.iter().map(|problem| self.located(id, problem.clone())).collect()
        };
        self.files().flat_map(of).collect()
    }

    /// Whether something is in a package, or in one whose name ends so: imports are looked up in the same way.
    fn has_package(&self, package: &str) -> bool {
        let mut rest = Some(package);
        while let Some(tail) = rest {
            let inside = format!("{tail}.");
            let mut below = self.names.range(inside.clone()..).take_while(|(full, _)| full.starts_with(&inside));
            if below.any(|(full, _)| !full[inside.len()..].contains('.')) {
                return true;
            }
            rest = tail.split_once('.').map(|(_, tail)| tail);
        }
        false
    }

    /// A package that is called differently from the folders the file lies in, as far as its path tells them.
    fn misplaced(&self, file: &SourceFile) -> Option<Problem> {
        let package = file.parsed.file.package.as_ref()?;
        let mut folders = file.path.parent()?.components().rev();
        for part in package.parts.iter().rev() {
            let Some(std::path::Component::Normal(folder)) = folders.next() else { return None };
            if folder != part.text.as_str() {
                let message = format!("package `{}` stands in a folder called `{}`", package.text(), folder.display());
                let told = Problem::warning(Code::FileName, package.span, message);
                return Some(told.help("a package is called like the folders that its files lie in"));
            }
        }
        None
    }

    /// A file that holds something else than its name and folder say.
    pub fn naming_problems(&self, id: FileId) -> Vec<Diagnostic> {
        let file = self.file(id);
        let stem = file.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("");
        let mut told = Vec::new();
        for item in &file.parsed.file.items {
            let name = item_name(item);
            if name != stem && file.parsed.file.items.len() == 1 {
                let message = format!("`{name}` stands in a file called `{stem}`");
                let span = item_span(item);
                told.push(Problem::warning(Code::FileName, span, message).help("give both the same name"));
            }
        }
        let parts = file.parsed.file.package.iter().flat_map(|package| &package.parts);
        for part in parts.filter(|part| part.text.starts_with(char::is_uppercase)) {
            let message = format!("the package `{}` begins with a capital letter", part.text);
            told.push(
                Problem::warning(Code::NameCase, part.span, message).help("packages are written in small letters"),
            );
        }
        told.extend(self.misplaced(file));
        for import in file.parsed.file.imports.iter().filter(|import| import.all) {
            let package = import.path.text();
            if !self.has_package(&package) {
                let message = format!("there is nothing in the package `{package}` to import");
                let told_import = Problem::warning(Code::UnknownType, import.path.span, message);
                told.push(told_import.help(missing_help("", None)));
            }
        }
        for import in file.parsed.file.imports.iter().filter(|import| !import.all) {
            let full = import.path.text();
            if self.find(&full, None).is_none() && self.find_by_tail(&full, id).is_none() {
                let told_import =
                    Problem::warning(Code::UnknownType, import.path.span, format!("there is no `{full}` to import"));
                let close = self.closest_name(import.path.last());
                told.push(told_import.help(missing_help(import.path.last(), close)));
            }
        }
        told.into_iter().map(|problem| self.located(id, problem)).collect()
    }
}

/// What to do where a component is not there.
pub(crate) fn missing_help(name: &str, close: Option<String>) -> String {
    let folder = "put its file into the folder, or name the folder it is in with --models";
    match close.filter(|close| close != name) {
        Some(close) => format!("did you mean `{close}`? Or {folder}"),
        None => folder.to_owned(),
    }
}

fn item_span(item: &Item) -> Span {
    match item {
        Item::Component(component) => component.name.span,
        Item::Struct(data) => data.name.span,
        Item::Enum(data) => data.name.span,
        Item::Stream(stream) => stream.name.span,
    }
}

/// How many folders two paths share from the root on.
fn shared_steps(a: &Path, b: &Path) -> usize {
    a.components().zip(b.components()).take_while(|(a, b)| a == b).count()
}

fn collect(folder: &Path, depth: usize, paths: &mut Vec<PathBuf>, refused: &mut Vec<(PathBuf, std::io::Error)>) {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return refused.push((folder.to_owned(), error)),
    };
    let mut inside: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    inside.sort();
    for path in inside {
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        let cache = || path.join("CACHEDIR.TAG").is_file();
        if path.is_dir() && !path.is_symlink() && !hidden && depth < FOLDER_DEPTH_MAX && !cache() {
            collect(&path, depth + 1, paths, refused);
        } else if path.extension().and_then(|ending| ending.to_str()).is_some_and(|e| ENDINGS.contains(&e)) {
            paths.push(path);
        }
    }
}
