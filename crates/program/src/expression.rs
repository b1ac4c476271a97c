//! Expressions: what a number is computed from.

use std::ops::{Add, Div, Mul, Neg, Sub};

use serde::{Deserialize, Serialize};

use crate::memory::{Slot, Span};

/// A place in the source, as the front end numbers them. Zero means none is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Place(pub u32);

/// An expression. Every value is an `f64`; truth is 1 and 0, and whatever is not zero counts as true.
///
/// Operands are computed from left to right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Expr {
    /// A number that is known.
    Const(f64),
    /// The number in a slot.
    Slot(Slot),
    /// An element of a span, counted from zero. An index that is not a whole number inside the span is a fault.
    Element {
        /// The slots that may be read.
        span: Span,
        /// Which of them.
        index: Box<Expr>,
        /// The place told in a fault.
        place: Place,
    },
    /// A function of one number.
    Unary(Unary, Box<Expr>),
    /// A function of two numbers.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// Whether both are true. The second is not computed if the first is false.
    And(Box<Expr>, Box<Expr>),
    /// Whether one is true. The second is not computed if the first is true.
    Or(Box<Expr>, Box<Expr>),
    /// The second if the first is true, else the third; the other one is not computed.
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A random number: a function of seed, name of the step, tick and how many were drawn in the step before it.
    Draw(Draw),
    /// The number of the tick, from zero.
    Tick,
}

/// How random numbers are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Draw {
    /// Uniform in [0, 1).
    Uniform,
    /// Normal with mean 0 and deviation 1.
    Normal,
}

/// Functions of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Unary {
    /// The number with the other sign.
    Negate,
    /// 1 if the number is 0, else 0.
    Not,
    /// 0 if the number is 0, else 1.
    Truth,
    /// The number without its sign.
    Abs,
    /// −1, 0 or 1.
    Sign,
    /// Square root; not a number below zero.
    Sqrt,
    /// The largest whole number that is not larger.
    Floor,
    /// The smallest whole number that is not smaller.
    Ceil,
    /// The whole part, towards zero.
    Truncate,
    /// The nearest whole number; halves go away from zero.
    Round,
    /// Exponential function.
    Exp,
    /// Natural logarithm.
    Log,
    /// Logarithm to base 2.
    Log2,
    /// Logarithm to base 10.
    Log10,
    /// Sine of an angle in radians.
    Sin,
    /// Cosine of an angle in radians.
    Cos,
    /// Tangent of an angle in radians.
    Tan,
    /// Arc sine, in radians.
    Asin,
    /// Arc cosine, in radians.
    Acos,
    /// Arc tangent, in radians.
    Atan,
    /// Hyperbolic sine.
    Sinh,
    /// Hyperbolic cosine.
    Cosh,
    /// Hyperbolic tangent.
    Tanh,
    /// Inverse of the hyperbolic sine.
    Asinh,
    /// Inverse of the hyperbolic cosine.
    Acosh,
    /// Inverse of the hyperbolic tangent.
    Atanh,
    /// Cube root.
    Cbrt,
    /// 1 if the number is neither infinite nor "not a number", else 0.
    IsFinite,
}

impl Unary {
    /// All of them.
    pub const ALL: [Self; 28] = [
        Self::Negate,
        Self::Not,
        Self::Truth,
        Self::Abs,
        Self::Sign,
        Self::Sqrt,
        Self::Floor,
        Self::Ceil,
        Self::Truncate,
        Self::Round,
        Self::Exp,
        Self::Log,
        Self::Log2,
        Self::Log10,
        Self::Sin,
        Self::Cos,
        Self::Tan,
        Self::Asin,
        Self::Acos,
        Self::Atan,
        Self::Sinh,
        Self::Cosh,
        Self::Tanh,
        Self::Asinh,
        Self::Acosh,
        Self::Atanh,
        Self::Cbrt,
        Self::IsFinite,
    ];
}

/// Functions of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Binary {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient, always of real numbers.
    Div,
    /// Remainder with the sign of the first, as C's `fmod`.
    Remainder,
    /// Remainder with the sign of the second, as Matlab's `mod`; the first if the second is zero.
    Modulo,
    /// Power.
    Pow,
    /// The smaller; the other one if one is not a number.
    Min,
    /// The larger; the other one if one is not a number.
    Max,
    /// Angle of the point (second, first), in radians.
    Atan2,
    /// √(first² + second²) by the plain formula.
    Hypot,
    /// Greatest common divisor of the whole parts.
    Gcd,
    /// Whether the first is smaller.
    Less,
    /// Whether the first is not larger.
    LessEqual,
    /// Whether the first is larger.
    Greater,
    /// Whether the first is not smaller.
    GreaterEqual,
    /// Whether both are the same number.
    Equal,
    /// Whether they differ, or one is not a number.
    NotEqual,
    /// Whether exactly one is true.
    Xor,
    /// Whether both are true, both computed.
    Both,
    /// Whether one is true, both computed.
    Either,
}

impl Binary {
    /// All of them.
    pub const ALL: [Self; 21] = [
        Self::Add,
        Self::Sub,
        Self::Mul,
        Self::Div,
        Self::Remainder,
        Self::Modulo,
        Self::Pow,
        Self::Min,
        Self::Max,
        Self::Atan2,
        Self::Hypot,
        Self::Gcd,
        Self::Less,
        Self::LessEqual,
        Self::Greater,
        Self::GreaterEqual,
        Self::Equal,
        Self::NotEqual,
        Self::Xor,
        Self::Both,
        Self::Either,
    ];
}

impl Expr {
    /// An element of a span, counted from zero.
    pub fn element(span: Span, index: impl Into<Self>, place: Place) -> Self {
        Self::Element { span, index: Box::new(index.into()), place }
    }
    /// A function of one number.
    pub fn unary(function: Unary, of: impl Into<Self>) -> Self {
        Self::Unary(function, Box::new(of.into()))
    }
    /// A function of two numbers.
    pub fn binary(function: Binary, left: impl Into<Self>, right: impl Into<Self>) -> Self {
        Self::Binary(function, Box::new(left.into()), Box::new(right.into()))
    }
    /// `left` and then also `right`.
    pub fn and(left: impl Into<Self>, right: impl Into<Self>) -> Self {
        Self::And(Box::new(left.into()), Box::new(right.into()))
    }
    /// `left` or else `right`.
    pub fn or(left: impl Into<Self>, right: impl Into<Self>) -> Self {
        Self::Or(Box::new(left.into()), Box::new(right.into()))
    }
    /// `yes` if `condition`, else `no`.
    pub fn select(condition: impl Into<Self>, yes: impl Into<Self>, no: impl Into<Self>) -> Self {
        Self::Select(Box::new(condition.into()), Box::new(yes.into()), Box::new(no.into()))
    }
    /// Whether this is smaller.
    pub fn less(self, than: impl Into<Self>) -> Self {
        Self::binary(Binary::Less, self, than)
    }
    /// Whether this is larger.
    pub fn greater(self, than: impl Into<Self>) -> Self {
        Self::binary(Binary::Greater, self, than)
    }
    /// Whether this is the same number.
    pub fn equals(self, other: impl Into<Self>) -> Self {
        Self::binary(Binary::Equal, self, other)
    }
    /// The smaller of both.
    pub fn min(self, other: impl Into<Self>) -> Self {
        Self::binary(Binary::Min, self, other)
    }
    /// The larger of both.
    pub fn max(self, other: impl Into<Self>) -> Self {
        Self::binary(Binary::Max, self, other)
    }
    /// The operands, in the order in which they are computed.
    pub fn operands(&self) -> impl Iterator<Item = &Self> {
        let list: [Option<&Self>; 3] = match self {
            Self::Const(_) | Self::Slot(_) | Self::Draw(_) | Self::Tick => [None; 3],
            Self::Element { index, .. } => [Some(index), None, None],
            Self::Unary(_, of) => [Some(of), None, None],
            Self::Binary(_, left, right) | Self::And(left, right) | Self::Or(left, right) => {
                [Some(left), Some(right), None]
            }
            Self::Select(condition, yes, no) => [Some(condition), Some(yes), Some(no)],
        };
        list.into_iter().flatten()
    }
}

impl From<f64> for Expr {
    fn from(value: f64) -> Self {
        Self::Const(value)
    }
}
impl From<Slot> for Expr {
    fn from(slot: Slot) -> Self {
        Self::Slot(slot)
    }
}

macro_rules! operators {
    ($($operator:ident $method:ident $function:ident),*) => {$(
        impl<T: Into<Expr>> $operator<T> for Expr {
            type Output = Self;
            fn $method(self, right: T) -> Self {
                Self::binary(Binary::$function, self, right)
            }
        }
        impl<T: Into<Expr>> $operator<T> for Slot {
            type Output = Expr;
            fn $method(self, right: T) -> Expr {
                Expr::binary(Binary::$function, self, right)
            }
        }
    )*};
}
operators!(Add add Add, Sub sub Sub, Mul mul Mul, Div div Div);

impl Neg for Expr {
    type Output = Self;
    fn neg(self) -> Self {
        Self::unary(Unary::Negate, self)
    }
}
