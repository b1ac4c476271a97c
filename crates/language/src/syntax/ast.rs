//! What a file says, with the place of everything.

use super::Span;
pub use super::ast_data::{Enum, Stream, StreamEntry, StreamLine, StreamValue, StreamValueKind, Struct};
use crate::units::Unit;

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// `a.b.c`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Its parts; at least one.
    pub parts: Vec<Name>,
    /// Where.
    pub span: Span,
}

impl Path {
    /// With dots.
    pub fn text(&self) -> String {
        self.parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(".")
    }

    /// The last part.
    pub fn last(&self) -> &str {
        self.parts.last().map_or("", |part| &part.text)
    }
}

/// A whole file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    /// `package a.b;`
    pub package: Option<Path>,
    /// `import a.B;`
    pub imports: Vec<Import>,
    /// What follows; one, if all is well.
    pub items: Vec<Item>,
}

/// `import a.B;` or `import a.*;`
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// What is imported.
    pub path: Path,
    /// Everything in that package.
    pub all: bool,
}

/// What a file can hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A component.
    Component(Component),
    /// A struct.
    Struct(Struct),
    /// An enum.
    Enum(Enum),
    /// A stream test.
    Stream(Stream),
}

/// A component.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// From its first word to its closing brace.
    pub span: Span,
    /// Its name.
    pub name: Name,
    /// `component interface`.
    pub interface: bool,
    /// `<T, N1 n=2>`.
    pub generics: Vec<Generic>,
    /// `(Q gain = 1)`.
    pub params: Vec<Param>,
    /// `implements Act<Q>`.
    pub implements: Option<Type>,
    /// Its ports, in order.
    pub ports: Vec<Port>,
    /// Its instances, in order.
    pub instances: Vec<Instance>,
    /// Its connectors, in order.
    pub connectors: Vec<Connector>,
    /// Components declared inside.
    pub inner: Vec<Component>,
    /// `ocl inv`.
    pub invariants: Vec<Invariant>,
    /// What it does, if it is atomic.
    pub behaviour: Option<Behaviour>,
}

/// A generic parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Generic {
    /// Its name.
    pub name: Name,
    /// Type or value.
    pub kind: GenericKind,
}

/// The two kinds of generic parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum GenericKind {
    /// `T` or `T = B`.
    Type(Option<Type>),
    /// `N1 n` or `N1 n = 2`.
    Value(Type, Option<Expr>),
}

/// A configuration parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its type.
    pub ty: Type,
    /// Its name.
    pub name: Name,
    /// `[n]`.
    pub array: Option<Expr>,
    /// `= 1`.
    pub default: Option<Expr>,
}

/// Into or out of the component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Read by the component.
    In,
    /// Written by the component.
    Out,
}

/// A port.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// In or out.
    pub direction: Direction,
    /// `config` or `adaptable`: set from outside, rarely.
    pub config: bool,
    /// What flows.
    pub ty: Type,
    /// Its name.
    pub name: Name,
    /// `[n]`.
    pub array: Option<Expr>,
}

/// `instance T<a>(b){c(t=0)=d} x[n], y;` gives two of these.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// The component with its generic arguments.
    pub ty: Type,
    /// Values of its parameters.
    pub args: Vec<Arg>,
    /// Initial values of its ports.
    pub initial: Vec<Initial>,
    /// Its name.
    pub name: Name,
    /// `[n]`.
    pub array: Option<Expr>,
}

/// `port(t=0) = 1` or `ports[2](t=0) = 1`.
#[derive(Clone, Debug, PartialEq)]
pub struct Initial {
    /// The port.
    pub port: Name,
    /// Which of an array of ports; all if left out.
    pub index: Option<Index>,
    /// Its first value.
    pub value: Expr,
}

/// An argument, by place or by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Arg {
    /// `name =`.
    pub name: Option<Name>,
    /// The value.
    pub value: Expr,
}

/// `connect a -> b, c;`
#[derive(Clone, Debug, PartialEq)]
pub struct Connector {
    /// The whole of it.
    pub span: Span,
    /// Where values come from.
    pub source: Source,
    /// Where they go; none for `#`.
    pub targets: Vec<Endpoint>,
}

/// Where values come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A port.
    Port(Endpoint),
    /// A constant.
    Constant(Expr),
    /// `#`: nothing on purpose.
    Nothing(Span),
}

/// `inst[1].port[:]`, `port`, `inst.*`.
#[derive(Clone, Debug, PartialEq)]
pub struct Endpoint {
    /// The whole of it.
    pub span: Span,
    /// Names with their indices: instance and port, or port alone; then fields.
    pub steps: Vec<(Name, Option<Index>)>,
    /// `.*`.
    pub all: bool,
}

/// Which of an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Index {
    /// `[3]`.
    One(Expr),
    /// `[:]`.
    All(Span),
    /// `[1:3]`.
    Slice(Expr, Expr),
}

/// `ocl inv name: condition;`
#[derive(Clone, Debug, PartialEq)]
pub struct Invariant {
    /// Its name.
    pub name: Option<Name>,
    /// What must hold.
    pub condition: Expr,
}

/// What an atomic component does.
#[derive(Clone, Debug, PartialEq)]
pub struct Behaviour {
    /// From `implementation` to the closing brace.
    pub span: Span,
    /// Statements.
    pub body: Vec<Stmt>,
}

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    /// The whole of it.
    pub span: Span,
    /// What it is made of.
    pub base: Base,
    /// Generic arguments.
    pub args: Vec<GenericArg>,
    /// `(0:1)`; several when piecewise.
    pub ranges: Vec<Range>,
    /// `^{2,3}`.
    pub dims: Vec<Expr>,
}

/// The name of a type.
#[derive(Clone, Debug, PartialEq)]
pub enum Base {
    /// Rational numbers, `Q`.
    Rational,
    /// Integers, `Z`.
    Integer,
    /// Numbers from 0, `N`.
    Natural,
    /// Numbers from 1, `N1`.
    Positive,
    /// Complex numbers, `C`.
    Complex,
    /// Truth, `B`.
    Boolean,
    /// Text.
    Text,
    /// A struct, an enum, a component or a generic parameter.
    Named(Path),
}

/// A generic argument.
#[derive(Clone, Debug, PartialEq)]
pub struct GenericArg {
    /// `name =`.
    pub name: Option<Name>,
    /// Type or value.
    pub value: GenericValue,
}

/// A type or a value; a lone name can be either.
#[derive(Clone, Debug, PartialEq)]
pub enum GenericValue {
    /// A type, or a name.
    Type(Type),
    /// A value.
    Value(Expr),
}

/// `(lo : step : hi)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The whole of it.
    pub span: Span,
    /// Smallest value.
    pub low: Expr,
    /// Step.
    pub step: Option<Expr>,
    /// Largest value.
    pub high: Expr,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// The whole of it.
    pub span: Span,
    /// What it does.
    pub kind: StmtKind,
}

/// What statements do.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `static Q x = 0;`
    Declare {
        /// Kept from tick to tick.
        keep: bool,
        /// Its type.
        ty: Type,
        /// Its names, each with its first value.
        names: Vec<(Name, Option<Expr>)>,
    },
    /// `a(1) += 2;`
    Assign {
        /// What changes.
        target: Expr,
        /// The operation before `=`, if any.
        op: Option<BinaryOp>,
        /// The value.
        value: Expr,
    },
    /// `for i = 1:3 … end`
    For {
        /// The counter.
        counter: Name,
        /// What it counts through.
        through: Expr,
        /// What is repeated.
        body: Vec<Stmt>,
    },
    /// `while a … end`
    While {
        /// As long as.
        condition: Expr,
        /// What is repeated.
        body: Vec<Stmt>,
    },
    /// `if a … elseif b … else … end`
    If {
        /// Conditions with what follows from them.
        arms: Vec<(Expr, Vec<Stmt>)>,
        /// Otherwise.
        otherwise: Option<Vec<Stmt>>,
    },
    /// `minimize … end`
    Optimize(Box<Optimize>),
    /// `a == b;`, `x(t=0) = 1;`, `symbolic …`: equations that need a solver.
    Equation,
    /// A call for its effect.
    Call(Expr),
}

/// `minimize (Q x) in Q y = f(x); subject to … end`
#[derive(Clone, Debug, PartialEq)]
pub struct Optimize {
    /// Largest instead of smallest.
    pub maximize: bool,
    /// Unknowns, with their types.
    pub unknowns: Vec<(Type, Name)>,
    /// Name of the best value.
    pub result: Option<(Option<Type>, Name)>,
    /// What is made best.
    pub objective: Expr,
    /// Conditions and loops over conditions.
    pub constraints: Vec<Stmt>,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// The whole of it.
    pub span: Span,
    /// What it is.
    pub kind: ExprKind,
}

/// What expressions are.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `5 m/s`; the value is in SI.
    Number {
        /// In SI.
        value: f64,
        /// Its unit, if one is written.
        unit: Option<Unit>,
    },
    /// `oo`.
    Infinity(Option<Unit>),
    /// `true`.
    Bool(bool),
    /// `"…"`.
    Text(String),
    /// A name.
    Name(String),
    /// `a.b`.
    Field(Box<Expr>, Name),
    /// `f(a, b)` or `m(i, j)`.
    Call(Box<Expr>, Vec<Expr>),
    /// `-a`.
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `[1 2; 3 4]`.
    Matrix(Vec<Vec<Expr>>),
    /// `a:b` or `a:s:b`.
    Range(Box<Expr>, Option<Box<Expr>>, Box<Expr>),
    /// `:` alone.
    Colon,
    /// `end` as the last index.
    End,
    /// `a'`.
    Transpose(Box<Expr>),
    /// Something that could not be read; the problem is told already.
    Broken,
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`.
    Negate,
    /// `!`.
    Not,
    /// `+`.
    Plus,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "their names say it")]
pub enum BinaryOp {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    Greater,
    LessEqual,
    GreaterEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Power,
    EachMultiply,
    EachDivide,
    EachPower,
    Solve,
}

impl BinaryOp {
    /// Whether it compares two values.
    pub fn is_comparison(self) -> bool {
        use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, Unequal};
        matches!(self, Less | LessEqual | Greater | GreaterEqual | Equal | Unequal)
    }

    /// Whether it makes a truth of two values.
    pub fn is_condition(self) -> bool {
        self.is_comparison() || matches!(self, BinaryOp::And | BinaryOp::Or)
    }
}
