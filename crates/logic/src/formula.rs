//! Formulas as trees, and how they are written.

use std::fmt;

use anabranch_kernel::units::Dimension;

/// What a signal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalKind {
    /// True (1) or false (0). It keeps its value between samples.
    Truth,
    /// A whole number such as a gear. It keeps its value between samples and may be tested for equality.
    Whole,
    /// A number in SI units, linear between samples.
    Real(Dimension),
}

/// How two numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Smaller.
    Less,
    /// Not larger.
    LessOrEqual,
    /// Larger.
    Greater,
    /// Not smaller.
    GreaterOrEqual,
    /// The same whole number.
    Equal,
    /// Another whole number.
    Unequal,
}

/// A number made of signals and constants.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// A signal, by its position in the table.
    Signal(usize),
    /// A constant in SI units.
    Constant(f64, Dimension),
    /// Minus the number.
    Negated(Box<Term>),
    /// Its magnitude.
    Magnitude(Box<Term>),
    /// A sum.
    Sum(Box<Term>, Box<Term>),
    /// A difference.
    Difference(Box<Term>, Box<Term>),
    /// A product.
    Product(Box<Term>, Box<Term>),
    /// A quotient.
    Quotient(Box<Term>, Box<Term>),
    /// The smaller of two.
    Smaller(Box<Term>, Box<Term>),
    /// The larger of two.
    Larger(Box<Term>, Box<Term>),
}

impl Term {
    pub(crate) fn push_signals(&self, found: &mut Vec<usize>) {
        match self {
            Self::Signal(index) => found.push(*index),
            Self::Constant(..) => {}
            Self::Negated(a) | Self::Magnitude(a) => a.push_signals(found),
            Self::Sum(a, b)
            | Self::Difference(a, b)
            | Self::Product(a, b)
            | Self::Quotient(a, b)
            | Self::Smaller(a, b)
            | Self::Larger(a, b) => {
                a.push_signals(found);
                b.push_signals(found);
            }
        }
    }
}

/// A time window relative to now, in seconds. Operators of the past look back by it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Its near end.
    pub from_s: f64,
    /// Its far end; infinite if it has none.
    pub to_s: f64,
}

impl Bounds {
    /// All of the future, or all of the past.
    pub const ALL: Self = Self { from_s: 0.0, to_s: f64::INFINITY };
}

/// Operators over one condition and a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// It holds throughout the window ahead.
    Always,
    /// It holds at least once in the window ahead.
    Eventually,
    /// It held throughout the window behind.
    Historically,
    /// It held at least once in the window behind.
    Once,
}

impl Window {
    /// Whether the window lies behind.
    pub fn is_past(self) -> bool {
        matches!(self, Self::Historically | Self::Once)
    }
    /// Whether once is enough.
    pub fn is_some(self) -> bool {
        matches!(self, Self::Eventually | Self::Once)
    }
    fn word(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Eventually => "eventually",
            Self::Historically => "historically",
            Self::Once => "once",
        }
    }
}

/// Operators over two conditions and a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// The second holds at some moment of the window ahead, and the first from now until just before it.
    Until,
    /// The second holds throughout the window ahead, or at least until the first has held before.
    Release,
    /// The second held at some moment of the window behind, and the first ever since.
    Since,
}

impl Link {
    fn word(self) -> &'static str {
        match self {
            Self::Until => "until",
            Self::Release => "release",
            Self::Since => "since",
        }
    }
}

/// A condition at a moment.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// Holds always or never.
    Constant(bool),
    /// A signal that is true or false.
    Truth(usize),
    /// Two numbers compared.
    Compare(Comparison, Term, Term),
    /// It does not hold.
    Not(Box<Node>),
    /// Both hold.
    And(Box<Node>, Box<Node>),
    /// At least one holds.
    Or(Box<Node>, Box<Node>),
    /// If the first holds, so does the second.
    Implies(Box<Node>, Box<Node>),
    /// One condition over a window.
    Window(Window, Bounds, Box<Node>),
    /// Two conditions over a window.
    Link(Link, Bounds, Box<Node>, Box<Node>),
}

impl Node {
    /// The conditions it is made of.
    pub fn children(&self) -> [Option<&Node>; 2] {
        match self {
            Self::Constant(_) | Self::Truth(_) | Self::Compare(..) => [None, None],
            Self::Not(inner) | Self::Window(_, _, inner) => [Some(inner), None],
            Self::And(a, b) | Self::Or(a, b) | Self::Implies(a, b) | Self::Link(_, _, a, b) => [Some(a), Some(b)],
        }
    }
    /// Whether any operator inside looks ahead or back.
    pub fn is_temporal(&self) -> bool {
        matches!(self, Self::Window(..) | Self::Link(..))
            || self.children().into_iter().flatten().any(Self::is_temporal)
    }
    fn push_signals(&self, found: &mut Vec<usize>) {
        match self {
            Self::Truth(index) => found.push(*index),
            Self::Compare(_, a, b) => {
                a.push_signals(found);
                b.push_signals(found);
            }
            _ => self.children().into_iter().flatten().for_each(|child| child.push_signals(found)),
        }
    }
    /// How far ahead it looks, in seconds.
    pub fn reach_s(&self) -> f64 {
        let below = self.children().into_iter().flatten().map(Self::reach_s).fold(0.0, f64::max);
        match self {
            Self::Window(Window::Always | Window::Eventually, bounds, _)
            | Self::Link(Link::Until | Link::Release, bounds, ..) => below + bounds.to_s,
            _ => below,
        }
    }
}

/// A formula of signal temporal logic over a table of signals.
///
/// ```
/// use anabranch_logic::{Formula, SignalKind};
/// use anabranch_kernel::units::Dimension;
/// let table = [("speed", SignalKind::Real(Dimension::Speed)), ("gear", SignalKind::Whole)];
/// let formula = Formula::parse("always[0, 20] (speed < 108 km/h or gear == 4)", &table).unwrap();
/// assert_eq!(formula.to_string(), "always[0 s, 20 s] (speed < 30 m/s or gear == 4)");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    /// The tree.
    pub(crate) root: Node,
    /// Names and kinds of the signals.
    pub(crate) table: Vec<(String, SignalKind)>,
}

impl Formula {
    /// The tree.
    pub fn root(&self) -> &Node {
        &self.root
    }
    /// Whether it looks ahead or back; otherwise one frame is enough to judge it.
    pub fn is_temporal(&self) -> bool {
        self.root.is_temporal()
    }
    /// That it does not hold.
    #[must_use]
    pub fn negated(self) -> Self {
        Self { root: Node::Not(Box::new(self.root)), ..self }
    }
    /// The same over a window.
    #[must_use]
    pub fn within(self, window: Window, bounds: Bounds) -> Self {
        Self { root: Node::Window(window, bounds, Box::new(self.root)), ..self }
    }
    /// Positions of the signals that it reads, each as often as it is written.
    pub fn reads(&self) -> Vec<usize> {
        let mut found = Vec::new();
        self.root.push_signals(&mut found);
        found
    }
    /// The signals it was made for, in the order of frames.
    pub fn signals(&self) -> impl Iterator<Item = (&str, SignalKind)> {
        self.table.iter().map(|(name, kind)| (name.as_str(), *kind))
    }
    /// How far ahead of the start it looks, in seconds; infinite if it never stops.
    pub fn reach_s(&self) -> f64 {
        self.root.reach_s()
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_node(&self.root, out)
    }
}

impl Formula {
    fn write_node(&self, node: &Node, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let both = |a: &Node, word: &str, b: &Node, out: &mut fmt::Formatter<'_>| {
            self.write_inner(a, out)?;
            write!(out, " {word} ")?;
            self.write_inner(b, out)
        };
        match node {
            Node::Constant(value) => write!(out, "{value}"),
            Node::Truth(index) => write!(out, "{}", self.table[*index].0),
            Node::Compare(comparison, left, right) => {
                self.write_term(left, out)?;
                write!(out, " {} ", sign(*comparison))?;
                self.write_term(right, out)
            }
            Node::Not(inner) => {
                write!(out, "not ")?;
                self.write_inner(inner, out)
            }
            Node::And(a, b) => both(a, "and", b, out),
            Node::Or(a, b) => both(a, "or", b, out),
            Node::Implies(a, b) => both(a, "implies", b, out),
            Node::Window(window, bounds, inner) => {
                write!(out, "{}{bounds} (", window.word())?;
                self.write_node(inner, out)?;
                write!(out, ")")
            }
            Node::Link(link, bounds, a, b) => both(a, &format!("{}{bounds}", link.word()), b, out),
        }
    }

    /// With parentheses where something else would be read without them.
    fn write_inner(&self, node: &Node, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stands_alone =
            matches!(node, Node::Constant(_) | Node::Truth(_) | Node::Compare(..) | Node::Window(..) | Node::Not(_));
        if stands_alone {
            return self.write_node(node, out);
        }
        write!(out, "(")?;
        self.write_node(node, out)?;
        write!(out, ")")
    }

    fn write_term(&self, term: &Term, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let both = |a: &Term, sign: &str, b: &Term, out: &mut fmt::Formatter<'_>| {
            write!(out, "(")?;
            self.write_term(a, out)?;
            write!(out, "{sign}")?;
            self.write_term(b, out)?;
            write!(out, ")")
        };
        match term {
            Term::Signal(index) => write!(out, "{}", self.table[*index].0),
            Term::Constant(value, Dimension::Number) => write!(out, "{value}"),
            Term::Constant(value, dimension) => write!(out, "{value} {}", dimension.si()),
            Term::Negated(inner) => {
                write!(out, "-(")?;
                self.write_term(inner, out)?;
                write!(out, ")")
            }
            Term::Magnitude(inner) => {
                write!(out, "abs(")?;
                self.write_term(inner, out)?;
                write!(out, ")")
            }
            Term::Sum(a, b) => both(a, " + ", b, out),
            Term::Difference(a, b) => both(a, " - ", b, out),
            Term::Product(a, b) => both(a, " * ", b, out),
            Term::Quotient(a, b) => both(a, " / ", b, out),
            Term::Smaller(a, b) => {
                write!(out, "min")?;
                both(a, ", ", b, out)
            }
            Term::Larger(a, b) => {
                write!(out, "max")?;
                both(a, ", ", b, out)
            }
        }
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.from_s, self.to_s) {
            (0.0, f64::INFINITY) => Ok(()),
            (from_s, f64::INFINITY) => write!(out, "[{from_s} s, inf]"),
            (from_s, to_s) => write!(out, "[{from_s} s, {to_s} s]"),
        }
    }
}

fn sign(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
        Comparison::Equal => "==",
        Comparison::Unequal => "!=",
    }
}
