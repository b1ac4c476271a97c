//! Statements: what a step does with its numbers.

use serde::{Deserialize, Serialize};

use crate::expression::{Binary, Expr, Place, Unary};
use crate::memory::{Matrix, Slot, Span};

/// One step of a program: an atomic component with everything it does in a tick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The full name of the component, for messages and coverage. Its random numbers belong to this name.
    pub name: String,
    /// What it does, in order.
    pub body: Vec<Stmt>,
}

/// A statement with its place in the source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stmt {
    /// The place told in a fault.
    pub place: Place,
    /// What is done.
    pub action: Action,
}

/// The number of a decision of the program, given by the builder in the order of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Decision(pub u32);

/// What a statement does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Action {
    /// Puts a value into a slot.
    Set {
        /// The slot.
        target: Slot,
        /// The value.
        value: Expr,
    },
    /// Puts a value into an element of a span, counted from zero. The index is computed before the value.
    SetElement {
        /// The slots that may be written.
        span: Span,
        /// Which of them.
        index: Expr,
        /// The value.
        value: Expr,
    },
    /// Does one of two things.
    If {
        /// Decides.
        condition: Expr,
        /// Done if it is true.
        then: Vec<Stmt>,
        /// Done if it is false.
        otherwise: Vec<Stmt>,
        /// Number for coverage; the builder gives it.
        decision: Decision,
    },
    /// Repeats for `from`, `from + step`, … up to `to`.
    ///
    /// The three are computed once. The counter is `from + k·step` in round k whatever the body does with it. A step of
    /// zero, or one that leads away from `to`, makes no round. A tolerance of 1e-10 rounds makes `0:0.1:1` have 11.
    For {
        /// Holds the count.
        counter: Slot,
        /// First value.
        from: Expr,
        /// Distance between values.
        step: Expr,
        /// Last value, if it is met.
        to: Expr,
        /// Done in each round.
        body: Vec<Stmt>,
        /// Number for coverage (some round or none); the builder gives it.
        decision: Decision,
    },
    /// Repeats as long as a condition is true. The program's limit of rounds per tick bounds it.
    While {
        /// Decides before each round.
        condition: Expr,
        /// Done in each round.
        body: Vec<Stmt>,
        /// Number for coverage (each time the condition was computed); the builder gives it.
        decision: Decision,
    },
    /// A fault with a message unless a condition is true.
    Require {
        /// What must hold.
        condition: Expr,
        /// Said if it does not.
        message: String,
        /// Number for coverage and for finding the message; the builder gives it.
        decision: Decision,
    },
    /// Computes with whole spans.
    Array(ArrayOp),
    /// Finds the variables for which a function is smallest.
    Minimize(Box<Problem>),
}

/// An optimisation problem. After it the variables hold the solution, and everything `body` computes belongs to it.
///
/// Each computation of the body costs one round. Convex problems are solved; others end in a minimum near the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    /// What may be changed. The numbers there are where the search starts.
    pub variables: Span,
    /// The smallest values of the variables, read once; minus infinity for none.
    pub lower: Span,
    /// The largest values of the variables, read once; infinity for none.
    pub upper: Span,
    /// Computes objective and constraints from the variables.
    pub body: Vec<Stmt>,
    /// What is to be small. To make something large, negate it.
    pub objective: Slot,
    /// What must not be negative.
    pub at_least_zero: Span,
    /// What must be zero.
    pub equal_zero: Span,
}

/// Computations with whole spans. Operands count as read before the target is written, wherever they lie.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ArrayOp {
    /// Copies.
    Copy {
        /// Target.
        to: Span,
        /// Source of the same length.
        from: Span,
    },
    /// Puts one value everywhere.
    Fill {
        /// Target.
        to: Span,
        /// The value, computed once.
        value: Expr,
    },
    /// A function of each element.
    Map {
        /// Target.
        to: Span,
        /// The function.
        function: Unary,
        /// Operand of the same length.
        from: Span,
    },
    /// A function of each pair of elements. An operand of length 1 is used for every element.
    Zip {
        /// Target.
        to: Span,
        /// The function.
        function: Binary,
        /// First operand.
        left: Span,
        /// Second operand.
        right: Span,
    },
    /// Makes one number of many. Elements are taken in order.
    Fold {
        /// Target.
        to: Slot,
        /// How.
        function: Fold,
        /// Operand.
        from: Span,
    },
    /// Scalar product, summed in order.
    Dot {
        /// Target.
        to: Slot,
        /// First operand.
        left: Span,
        /// Second operand of the same length.
        right: Span,
    },
    /// Matrix product; each element is summed in order.
    Product {
        /// Target.
        to: Matrix,
        /// First factor.
        left: Matrix,
        /// Second factor.
        right: Matrix,
    },
    /// Rows become columns.
    Transpose {
        /// Target.
        to: Matrix,
        /// Operand.
        from: Matrix,
    },
    /// A square matrix with these numbers on its diagonal, or with ones if there are none.
    Diagonal {
        /// Target.
        to: Matrix,
        /// The numbers.
        from: Option<Span>,
    },
    /// Determinant (elimination with partial pivoting).
    Determinant {
        /// Target.
        to: Slot,
        /// A square matrix.
        from: Matrix,
    },
    /// Inverse; a singular matrix is a fault.
    Inverse {
        /// Target.
        to: Matrix,
        /// A square matrix.
        from: Matrix,
    },
    /// `to` such that `left · to = right` (Matlab's `left \ right`); least squares if `left` has more rows than columns.
    ///
    /// Columns that depend on each other are a fault.
    Solve {
        /// Target.
        to: Matrix,
        /// The matrix.
        left: Matrix,
        /// The right sides, one per column.
        right: Matrix,
    },
    /// Eigenvalues of a symmetric matrix, ascending, and its eigenvectors as columns.
    ///
    /// Only the lower half is read. A vector has length 1, and its largest element (the first of equals) is positive.
    Eigen {
        /// Target of the values.
        values: Span,
        /// Target of the vectors, if they are wanted.
        vectors: Option<Matrix>,
        /// A square matrix.
        from: Matrix,
    },
    /// The square root of a symmetric matrix without negative eigenvalues; one with them is a fault.
    SquareRoot {
        /// Target.
        to: Matrix,
        /// A square matrix.
        from: Matrix,
    },
    /// Differences of neighbours: one element less than the operand.
    Differences {
        /// Target.
        to: Span,
        /// Operand.
        from: Span,
    },
    /// Sums of all elements up to each.
    RunningSum {
        /// Target.
        to: Span,
        /// Operand of the same length.
        from: Span,
    },
    /// Ascending; what is not a number comes last.
    Sort {
        /// Target.
        to: Span,
        /// Operand of the same length.
        from: Span,
    },
}

/// How many numbers become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Fold {
    /// Sum; 0 of none.
    Sum,
    /// Product; 1 of none.
    Product,
    /// The smallest; infinity of none.
    Min,
    /// The largest; minus infinity of none.
    Max,
    /// Sum divided by number.
    Mean,
    /// √ of the sum of squares.
    Norm,
    /// Sum without signs.
    NormOne,
    /// The largest without sign; 0 of none.
    NormMax,
    /// Where the smallest is, counted from zero (the first of equals).
    ArgMin,
    /// Where the largest is, counted from zero (the first of equals).
    ArgMax,
    /// 1 if one is true.
    Any,
    /// 1 if all are true.
    All,
}

impl Stmt {
    /// A statement at a place.
    pub fn new(place: Place, action: Action) -> Self {
        Self { place, action }
    }
    /// Puts a value into a slot.
    pub fn set(target: Slot, value: impl Into<Expr>) -> Self {
        Action::Set { target, value: value.into() }.into()
    }
    /// Puts a value into an element of a span, counted from zero.
    pub fn set_element(span: Span, index: impl Into<Expr>, value: impl Into<Expr>) -> Self {
        Action::SetElement { span, index: index.into(), value: value.into() }.into()
    }
    /// Does `then` if the condition is true, else `otherwise`.
    pub fn if_else(condition: impl Into<Expr>, then: Vec<Self>, otherwise: Vec<Self>) -> Self {
        Action::If { condition: condition.into(), then, otherwise, decision: Decision::default() }.into()
    }
    /// Repeats for `from`, `from + step`, … up to `to`.
    pub fn for_each(
        counter: Slot,
        from: impl Into<Expr>,
        step: impl Into<Expr>,
        to: impl Into<Expr>,
        body: Vec<Self>,
    ) -> Self {
        let (from, step, to) = (from.into(), step.into(), to.into());
        Action::For { counter, from, step, to, body, decision: Decision::default() }.into()
    }
    /// Repeats as long as a condition is true.
    pub fn while_true(condition: impl Into<Expr>, body: Vec<Self>) -> Self {
        Action::While { condition: condition.into(), body, decision: Decision::default() }.into()
    }
    /// A fault with a message unless a condition is true.
    pub fn require(condition: impl Into<Expr>, message: impl Into<String>) -> Self {
        Action::Require { condition: condition.into(), message: message.into(), decision: Decision::default() }.into()
    }
    /// The same statement at a place.
    #[must_use]
    pub fn at(self, place: Place) -> Self {
        Self { place, ..self }
    }
}

impl From<Action> for Stmt {
    fn from(action: Action) -> Self {
        Self { place: Place::default(), action }
    }
}
impl From<ArrayOp> for Stmt {
    fn from(operation: ArrayOp) -> Self {
        Action::Array(operation).into()
    }
}
