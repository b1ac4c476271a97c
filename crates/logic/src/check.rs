//! From what was written to what it means: conditions are told from numbers, and units have to fit.

use anabranch_kernel::units::{Dimension, Unit};

use crate::atom::term_of_frame;
use crate::formula::{Comparison, Formula, Node, SignalKind, Term};
use crate::parser::{Arithmetic, Joint, Tree, Written, parse};
use crate::text::{FormulaError, Span};

impl Formula {
    /// Understands a text over a table of signals: names and kinds in the order of frames.
    ///
    /// # Errors
    /// With the first place that cannot be understood.
    pub fn parse(text: &str, signals: &[(&str, SignalKind)]) -> Result<Self, FormulaError> {
        let tree = parse(text, signals)?;
        let checker = Checker { signals };
        let root = checker.condition(&tree)?;
        let table = signals.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
        Ok(Self { root, table })
    }
}

/// Powers of metre, second, radian, byte and kilogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Measure([i8; 5]);

impl Measure {
    const NUMBER: Self = Self([0; 5]);

    fn of(dimension: Dimension) -> Self {
        Self(match dimension {
            Dimension::Number => [0, 0, 0, 0, 0],
            Dimension::Length => [1, 0, 0, 0, 0],
            Dimension::Area => [2, 0, 0, 0, 0],
            Dimension::Time => [0, 1, 0, 0, 0],
            Dimension::Speed => [1, -1, 0, 0, 0],
            Dimension::Acceleration => [1, -2, 0, 0, 0],
            Dimension::Jerk => [1, -3, 0, 0, 0],
            Dimension::Angle => [0, 0, 1, 0, 0],
            Dimension::AngularSpeed => [0, -1, 1, 0, 0],
            Dimension::Curvature => [-1, 0, 0, 0, 0],
            Dimension::CurvaturePerLength => [-2, 0, 0, 0, 0],
            Dimension::Rate => [0, -1, 0, 0, 0],
            Dimension::Mass => [0, 0, 0, 0, 1],
            Dimension::Inertia => [2, 0, 0, 0, 1],
            Dimension::Stiffness => [1, -2, -1, 0, 1],
            Dimension::Pressure => [-1, -2, 0, 0, 1],
            Dimension::Memory => [0, 0, 0, 1, 0],
        })
    }
    fn plus(self, other: Self, sign: i8) -> Self {
        Self(std::array::from_fn(|i| self.0[i].saturating_add(other.0[i].saturating_mul(sign))))
    }
    fn dimension(self) -> Option<Dimension> {
        use Dimension as D;
        let all = [
            D::Number,
            D::Length,
            D::Area,
            D::Time,
            D::Speed,
            D::Acceleration,
            D::Jerk,
            D::Angle,
            D::AngularSpeed,
            D::Curvature,
            D::CurvaturePerLength,
            D::Rate,
            D::Memory,
            D::Mass,
            D::Inertia,
            D::Stiffness,
            D::Pressure,
        ];
        all.into_iter().find(|&dimension| Self::of(dimension) == self)
    }
    fn noun(self) -> String {
        match self.dimension() {
            Some(dimension) => dimension.noun().to_owned(),
            None => {
                let parts = self.0.iter().zip(["m", "s", "rad", "B"]).filter(|(power, _)| **power != 0);
                let parts: Vec<String> = parts.map(|(power, unit)| format!("{unit}^{power}")).collect();
                format!("something in {}", parts.join(" "))
            }
        }
    }
}

/// A number with what is known about it.
struct Checked {
    term: Term,
    measure: Measure,
    is_whole: bool,
    is_constant: bool,
}

struct Checker<'t> {
    signals: &'t [(&'t str, SignalKind)],
}

impl Checker<'_> {
    fn condition(&self, tree: &Tree) -> Result<Node, FormulaError> {
        let inner = |tree: &Tree| self.condition(tree).map(Box::new);
        match &tree.node {
            Written::Constant(value) => Ok(Node::Constant(*value)),
            Written::Not(a) => Ok(Node::Not(inner(a)?)),
            Written::Joint(Joint::And, a, b) => Ok(Node::And(inner(a)?, inner(b)?)),
            Written::Joint(Joint::Or, a, b) => Ok(Node::Or(inner(a)?, inner(b)?)),
            Written::Joint(Joint::Implies, a, b) => Ok(Node::Implies(inner(a)?, inner(b)?)),
            Written::Window(window, bounds, a) => Ok(Node::Window(*window, *bounds, inner(a)?)),
            Written::Link(link, bounds, a, b) => Ok(Node::Link(*link, *bounds, inner(a)?, inner(b)?)),
            Written::Compare(comparison, a, b) => self.compare(*comparison, a, b, tree.at),
            Written::Signal(index) => match self.signals[*index] {
                (_, SignalKind::Truth) => Ok(Node::Truth(*index)),
                (name, kind) => {
                    let dimension = dimension_of(kind);
                    let unit =
                        if dimension == Dimension::Number { String::new() } else { format!(" {}", dimension.si()) };
                    Err(FormulaError::new(tree.at, format!("`{name}` is {}, not a condition", dimension.noun()))
                        .suggest(format!("compare it: `{name} < 1{unit}`")))
                }
            },
            _ => Err(FormulaError::new(tree.at, "this is a quantity, not a condition")
                .suggest("compare it with `<`, `<=`, `>` or `>=`")),
        }
    }

    fn compare(&self, comparison: Comparison, left: &Tree, right: &Tree, at: Span) -> Result<Node, FormulaError> {
        let (a, b) = (self.number(left)?, self.number(right)?);
        if a.is_constant && b.is_constant {
            return Err(FormulaError::new(at, "two constants are compared")
                .suggest("one side must be a signal such as `ego.clearance`"));
        }
        self.alike(&a, left, &b, right, at, "compared with")?;
        if matches!(comparison, Comparison::Equal | Comparison::Unequal) && !(a.is_whole && b.is_whole) {
            return Err(FormulaError::new(at, "only whole numbers can be tested for equality")
                .suggest("compare with `<=` and `>=`: two measured numbers are hardly ever equal"));
        }
        Ok(Node::Compare(comparison, a.term, b.term))
    }

    /// That two numbers measure the same.
    fn alike(
        &self,
        a: &Checked,
        left: &Tree,
        b: &Checked,
        right: &Tree,
        at: Span,
        verb: &str,
    ) -> Result<(), FormulaError> {
        if a.measure == b.measure {
            return Ok(());
        }
        for (one, tree, other) in [(b, right, a), (a, left, b)] {
            if let (Written::Quantity(value, unit), true) = (&tree.node, one.is_constant) {
                return Err(wrong_unit(tree.at, *value, *unit, other.measure));
            }
        }
        Err(FormulaError::new(at, format!("{} is {verb} {}", a.measure.noun(), b.measure.noun()))
            .suggest("use signals that measure the same"))
    }

    fn number(&self, tree: &Tree) -> Result<Checked, FormulaError> {
        match &tree.node {
            Written::Quantity(value, unit) => {
                let dimension = unit.map_or(Dimension::Number, |unit| unit.dimension);
                Ok(Checked {
                    term: Term::Constant(*value, dimension),
                    measure: Measure::of(dimension),
                    is_whole: unit.is_none() && value.fract() == 0.0,
                    is_constant: true,
                })
            }
            Written::Signal(index) => match self.signals[*index] {
                (name, SignalKind::Truth) => Err(FormulaError::new(tree.at, format!("`{name}` is true or false"))
                    .suggest(format!("write `{name}` or `not {name}` without a comparison"))),
                (_, kind) => Ok(Checked {
                    term: Term::Signal(*index),
                    measure: Measure::of(dimension_of(kind)),
                    is_whole: kind == SignalKind::Whole,
                    is_constant: false,
                }),
            },
            Written::Negated(inner) => {
                let inner = self.number(inner)?;
                Ok(Checked { term: Term::Negated(Box::new(inner.term)), ..inner })
            }
            Written::Magnitude(inner) => {
                let inner = self.number(inner)?;
                Ok(Checked { term: Term::Magnitude(Box::new(inner.term)), ..inner })
            }
            Written::Arithmetic(operator, left, right) => self.arithmetic(*operator, left, right, tree.at),
            _ => Err(FormulaError::new(tree.at, "a condition cannot be compared")
                .suggest("join conditions by `and` or `or`")),
        }
    }

    fn arithmetic(&self, operator: Arithmetic, left: &Tree, right: &Tree, at: Span) -> Result<Checked, FormulaError> {
        let (a, b) = (self.number(left)?, self.number(right)?);
        let is_constant = a.is_constant && b.is_constant;
        let mut is_whole = a.is_whole && b.is_whole;
        let measure = match operator {
            Arithmetic::Product => a.measure.plus(b.measure, 1),
            Arithmetic::Quotient => {
                is_whole = false;
                a.measure.plus(b.measure, -1)
            }
            _ => {
                self.alike(&a, left, &b, right, at, "combined with")?;
                a.measure
            }
        };
        if operator == Arithmetic::Quotient && b.is_constant && term_of_frame(&b.term, &[]) == 0.0 {
            return Err(FormulaError::new(right.at, "this divides by zero").suggest("divide by another number"));
        }
        let (x, y) = (Box::new(a.term), Box::new(b.term));
        let term = match operator {
            Arithmetic::Sum => Term::Sum(x, y),
            Arithmetic::Difference => Term::Difference(x, y),
            Arithmetic::Product => Term::Product(x, y),
            Arithmetic::Quotient => Term::Quotient(x, y),
            Arithmetic::Smaller => Term::Smaller(x, y),
            Arithmetic::Larger => Term::Larger(x, y),
        };
        Ok(Checked { term, measure, is_whole, is_constant })
    }
}

fn dimension_of(kind: SignalKind) -> Dimension {
    match kind {
        SignalKind::Real(dimension) => dimension,
        SignalKind::Truth | SignalKind::Whole => Dimension::Number,
    }
}

fn wrong_unit(at: Span, value: f64, unit: Option<&'static Unit>, measure: Measure) -> FormulaError {
    let expected = measure.noun();
    let Some(unit) = unit else {
        let error = FormulaError::new(at, format!("the unit is missing: {expected} is expected"));
        return match measure.dimension() {
            Some(dimension) => error.suggest(format!("write `{value} {}`", dimension.si())),
            None => error.suggest("write the product or quotient of quantities with units"),
        };
    };
    let error = format!("`{}` measures {}, but {expected} is expected", unit.name, unit.dimension.noun());
    let units = measure.dimension().map(|d| d.units().map(|u| format!("`{}`", u.name)).collect::<Vec<_>>().join(", "));
    let advice = match units {
        Some(units) if measure != Measure::NUMBER => format!("use {units}"),
        _ => "write no unit".to_owned(),
    };
    FormulaError::new(at, error).suggest(advice)
}
