//! What a step is likely to take, in nanoseconds of machine code.
//!
//! An estimate from the text: it decides what runs where and never what comes out. Numbers were fitted on one machine of
//! today; a factor of two does not matter.

use crate::expression::{Binary, Expr, Unary};
use crate::scalar;
use crate::statement::{Action, ArrayOp, Stmt};

/// Rounds of a loop whose bounds are not in the text.
const ROUNDS: f64 = 8.0;
/// How often a search for a minimum computes its body, and how much slower the interpreter does it.
const SEARCH: f64 = 100.0 * 20.0;
/// A call out of the code.
const CALL: f64 = 15.0;

/// Statements one after the other.
pub fn body(body: &[Stmt]) -> f64 {
    body.iter().map(stmt).sum()
}

fn stmt(stmt: &Stmt) -> f64 {
    match &stmt.action {
        Action::Set { value, .. } => 0.3 + expr(value),
        Action::SetElement { index, value, .. } => 2.0 + expr(index) + expr(value),
        Action::If { condition, then, otherwise, .. } => 1.0 + expr(condition) + body(then).max(body(otherwise)),
        Action::For { from, step, to, body: inner, .. } => {
            let rounds = match (from, step, to) {
                (Expr::Const(from), Expr::Const(step), Expr::Const(to)) => scalar::rounds(*from, *step, *to),
                _ => None,
            };
            2.0 + expr(from) + expr(step) + expr(to) + rounds.unwrap_or(ROUNDS) * (1.0 + body(inner))
        }
        Action::While { condition, body: inner, .. } => ROUNDS * (2.0 + expr(condition) + body(inner)),
        Action::Require { condition, .. } => 1.0 + expr(condition),
        Action::Array(operation) => array(operation),
        Action::Minimize(problem) => SEARCH * (1.0 + body(&problem.body)),
    }
}

fn expr(of: &Expr) -> f64 {
    let own = match of {
        Expr::Const(_) | Expr::Slot(_) | Expr::Tick => 0.15,
        Expr::Element { .. } => 2.0,
        Expr::Unary(function, _) => unary(*function),
        Expr::Binary(function, ..) => binary(*function),
        Expr::And(..) | Expr::Or(..) | Expr::Select(..) => 1.0,
        Expr::Draw(_) => 60.0,
    };
    own + of.operands().map(expr).sum::<f64>()
}

fn unary(function: Unary) -> f64 {
    match function {
        Unary::Negate | Unary::Not | Unary::Truth | Unary::Abs | Unary::Sign | Unary::IsFinite => 1.0,
        Unary::Sqrt | Unary::Floor | Unary::Ceil | Unary::Truncate | Unary::Round => 4.0,
        _ => 20.0,
    }
}

fn binary(function: Binary) -> f64 {
    match function {
        Binary::Div => 4.0,
        Binary::Remainder | Binary::Modulo => 10.0,
        Binary::Pow | Binary::Atan2 | Binary::Hypot | Binary::Gcd => 35.0,
        _ => 0.5,
    }
}

fn array(operation: &ArrayOp) -> f64 {
    let cube = |n: u32| f64::from(n).powi(3);
    let length = |span: crate::Span| f64::from(span.length);
    CALL + match *operation {
        ArrayOp::Copy { to, .. } => 0.3 * length(to),
        ArrayOp::Fill { to, ref value } => 0.3 * length(to) + expr(value),
        ArrayOp::Map { to, function, .. } => length(to) * unary(function),
        ArrayOp::Zip { to, function, .. } => length(to) * binary(function),
        ArrayOp::Fold { from, .. } => length(from),
        ArrayOp::Dot { left, .. } => length(left),
        ArrayOp::Differences { to, .. } | ArrayOp::RunningSum { to, .. } => length(to),
        ArrayOp::Sort { to, .. } => 10.0 * length(to),
        ArrayOp::Product { to, left, .. } => 0.5 * length(to.span()) * f64::from(left.columns),
        ArrayOp::Transpose { to, .. } | ArrayOp::Diagonal { to, .. } => length(to.span()),
        ArrayOp::Determinant { from, .. } => 0.5 * cube(from.rows),
        ArrayOp::Inverse { from, .. } => 1.5 * cube(from.rows),
        ArrayOp::Solve { left, right, .. } => {
            f64::from(left.rows) * f64::from(left.columns) * f64::from(left.columns + right.columns)
        }
        ArrayOp::Eigen { from, .. } => 30.0 * cube(from.rows),
        ArrayOp::SquareRoot { from, .. } => 40.0 * cube(from.rows),
    }
}
