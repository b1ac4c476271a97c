//! What is wrong with a model, where, why, and what to do about it.

use std::fmt;
use std::path::PathBuf;

use crate::syntax::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The model cannot be used.
    Error,
    /// The model can be used, and this may not be what is meant.
    Warning,
}

macro_rules! codes {
    ($(#[doc = $title:literal] $name:ident = $text:literal,)*) => {
        /// The kind of a mistake. Codes stay the same from version to version.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code { $(#[doc = $title] $name,)* }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// As printed: `L101`.
            pub fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// What it means, in one sentence.
            pub fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)* }.trim()
            }

            /// The code that is printed so.
            pub fn find(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|code| code.text().eq_ignore_ascii_case(text))
            }
        }
    };
}

codes! {
    /// Something else was expected here.
    Expected = "L101",
    /// A character or a token that belongs nowhere.
    Stray = "L102",
    /// A unit nobody knows.
    UnknownUnit = "L103",
    /// A bracket, a comment or a text that is never closed.
    Unclosed = "L104",
    /// A neural network: not supported.
    NeuralNetwork = "L110",
    /// Dynamic reconfiguration: not supported.
    Dynamic = "L111",
    /// Another kind of behaviour that is not supported.
    Behaviour = "L112",
    /// Nesting that is too deep.
    TooDeep = "L113",
    /// A file that cannot be read.
    Unreadable = "L114",
    /// The same name twice.
    Duplicate = "L201",
    /// A component, struct or enum that does not exist.
    UnknownType = "L202",
    /// A port, variable, parameter or field that does not exist.
    UnknownName = "L203",
    /// An instance that does not exist.
    UnknownInstance = "L204",
    /// A function that does not exist.
    UnknownFunction = "L205",
    /// A name in the wrong case.
    NameCase = "L206",
    /// The file is called differently from what it holds, or lies in another folder than its package says.
    FileName = "L207",
    /// A component that has instances and its own behaviour.
    BehaviourAndInstances = "L208",
    /// A component that contains itself.
    Recursive = "L209",
    /// A port of an instance that nothing is connected to.
    Unconnected = "L210",
    /// An in-port with two senders.
    TwoSenders = "L211",
    /// A connector that goes the wrong way.
    Direction = "L212",
    /// Numbers of ports that do not match.
    PortCount = "L213",
    /// An index outside of its array.
    Index = "L214",
    /// Arguments that are too few, too many or of the wrong kind.
    Arguments = "L215",
    /// A default before a parameter without one.
    DefaultOrder = "L216",
    /// The interface is not fulfilled.
    Interface = "L217",
    /// Something that cannot be assigned to.
    NotAssignable = "L218",
    /// A value that must be known when the model is built.
    NotConstant = "L219",
    /// A model that grows beyond all bounds.
    TooLarge = "L220",
    /// Nobody says what the component does.
    NoBehaviour = "L221",
    /// A port that its component never uses.
    UnusedPort = "L222",
    /// Two kinds of value that do not go together.
    TypeMismatch = "L301",
    /// Two units that do not go together.
    UnitMismatch = "L302",
    /// Two shapes that do not go together.
    ShapeMismatch = "L303",
    /// A value or range outside of the range of its target.
    OutOfRange = "L304",
    /// A range whose bounds are the wrong way round, or whose step does not fit.
    BadRange = "L305",
    /// An invariant that does not hold.
    Invariant = "L306",
    /// A construct of the language that is read but cannot be run.
    NotSupported = "L307",
    /// A division by zero.
    DivisionByZero = "L308",
    /// A cycle in which every component waits for another.
    AlgebraicLoop = "L401",
    /// A stream whose component does not exist.
    StreamComponent = "L501",
    /// A name in a stream that matches no port.
    StreamName = "L502",
    /// Streams of different length.
    StreamLength = "L503",
    /// A value that does not fit its port.
    StreamValue = "L504",
    /// A field of a simulation or a car that does not exist or is missing.
    Field = "L601",
    /// A column of a table that does not fit the ports of the model.
    TableColumn = "L701",
    /// A cell of a table that is no value of its port.
    TableCell = "L702",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// One mistake with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind of mistake.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// The file, as it was opened.
    pub file: PathBuf,
    /// Bytes of the file that it is about.
    pub span: Span,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong and why.
    pub message: String,
    /// How to go on.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Whether it keeps the model from being used.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.is_error() { "error" } else { "warning" };
        write!(f, "{}:{}:{}: {word} {}: {}", self.file.display(), self.line, self.column, self.code, self.message)?;
        match &self.help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

/// A mistake before its file is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The kind of mistake.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// Where.
    pub span: Span,
    /// What is wrong and why.
    pub message: String,
    /// How to go on.
    pub help: Option<String>,
}

impl Problem {
    /// A mistake that keeps the model from being used.
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { code, severity: Severity::Error, span, message: message.into(), help: None }
    }

    /// Something that may not be meant.
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    /// With a way to go on.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// With "did you mean", if one of the names is close.
    #[must_use]
    pub fn did_you_mean<'a>(self, wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Self {
        match closest(wrong, names) {
            Some(name) => self.help(format!("did you mean `{name}`?")),
            None => self,
        }
    }
}

/// The name that is most like the wrong one, if any is.
pub fn closest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = wrong.to_lowercase();
    names
        .into_iter()
        .map(|name| (strsim::normalized_damerau_levenshtein(&lower, &name.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness > 0.6)
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))
        .map(|(_, name)| name)
}

/// Where lines begin, to tell line and column of a byte.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    /// Of a text.
    pub fn of(text: &str) -> Self {
        Self { starts: std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect() }
    }

    /// Line and column, both from 1, column in characters.
    pub fn place(&self, text: &str, at: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= at).max(1) - 1;
        let before = text.get(self.starts[line]..at.min(text.len())).unwrap_or("");
        (line + 1, before.chars().count() + 1)
    }
}
