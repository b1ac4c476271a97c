//! Whether what goes out depends on what comes in at the same tick.
//!
//! A delay gives what it has before it takes what comes; such a component can stand in a cycle.

use std::collections::BTreeSet;

use crate::lower::root_name;
use crate::syntax::ast::{Component, Direction, Expr, ExprKind, Stmt, StmtKind};

/// Whether some out-port depends on some in-port within one tick.
pub fn feeds_through(component: &Component, inputs: &[String], outputs: &[String]) -> bool {
    let Some(behaviour) = &component.behaviour else { return true };
    debug_assert!(component.ports.iter().all(|port| matches!(port.direction, Direction::In | Direction::Out)));
    let mut stained: BTreeSet<String> = inputs.iter().cloned().collect();
    spread(&behaviour.body, false, &mut stained);
    outputs.iter().any(|output| stained.contains(output))
}

/// Follows values from the stained names through statements, in order; loops are followed until nothing changes.
fn spread(body: &[Stmt], decided: bool, stained: &mut BTreeSet<String>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Declare { names, .. } => {
                for (name, first) in names {
                    if decided || first.as_ref().is_some_and(|first| reads(first, stained)) {
                        stained.insert(name.text.clone());
                    }
                }
            }
            StmtKind::Assign { target, op, value } => {
                let Some(name) = root_name(target) else { continue };
                let whole = op.is_none() && matches!(target.kind, ExprKind::Name(_));
                if decided || reads(value, stained) || reads_indices(target, stained) {
                    stained.insert(name.to_owned());
                } else if whole {
                    stained.remove(name);
                }
            }
            StmtKind::If { arms, otherwise } => {
                let before = stained.clone();
                let mut after = BTreeSet::new();
                let mut decided = decided;
                for (condition, body) in arms {
                    decided |= reads(condition, &before);
                    let mut here = before.clone();
                    spread(body, decided, &mut here);
                    after.extend(here);
                }
                let mut here = before.clone();
                if let Some(body) = otherwise {
                    spread(body, decided, &mut here);
                }
                after.extend(here);
                *stained = after;
            }
            StmtKind::For { through: condition, body, .. } | StmtKind::While { condition, body } => loop {
                let before = stained.clone();
                let decided = decided || reads(condition, stained);
                let mut here = stained.clone();
                if let StmtKind::For { counter, .. } = &stmt.kind
                    && decided
                {
                    here.insert(counter.text.clone());
                }
                spread(body, decided, &mut here);
                stained.extend(here);
                if *stained == before {
                    break;
                }
            },
            StmtKind::Optimize(problem) => {
                stained.extend(problem.unknowns.iter().map(|(_, name)| name.text.clone()));
                stained.extend(problem.result.iter().map(|(_, name)| name.text.clone()));
            }
            StmtKind::Equation | StmtKind::Call(_) => {}
        }
    }
}

fn reads_indices(target: &Expr, names: &BTreeSet<String>) -> bool {
    match &target.kind {
        ExprKind::Call(base, args) => reads_indices(base, names) || args.iter().any(|arg| reads(arg, names)),
        ExprKind::Field(base, _) => reads_indices(base, names),
        _ => false,
    }
}

/// Whether an expression mentions one of the names.
pub fn reads(expr: &Expr, names: &BTreeSet<String>) -> bool {
    match &expr.kind {
        ExprKind::Name(name) => names.contains(name),
        ExprKind::Field(inner, _) | ExprKind::Unary(_, inner) | ExprKind::Transpose(inner) => reads(inner, names),
        ExprKind::Call(base, args) => reads(base, names) || args.iter().any(|arg| reads(arg, names)),
        ExprKind::Binary(_, a, b) => reads(a, names) || reads(b, names),
        ExprKind::Matrix(rows) => rows.iter().flatten().any(|entry| reads(entry, names)),
        ExprKind::Range(a, step, b) => {
            reads(a, names) || reads(b, names) || step.as_ref().is_some_and(|step| reads(step, names))
        }
        _ => false,
    }
}

/// Whether a body writes the whole of a name in every tick before it reads it; then its last value is not needed.
pub fn always_written(body: &[Stmt], name: &str) -> bool {
    let one: BTreeSet<String> = std::iter::once(name.to_owned()).collect();
    for stmt in body {
        match &stmt.kind {
            StmtKind::Assign { target, op: None, value } if matches!(&target.kind, ExprKind::Name(n) if n == name) => {
                return !reads(value, &one);
            }
            StmtKind::If { arms, otherwise: Some(otherwise) } => {
                let every = arms.iter().all(|(condition, body)| !reads(condition, &one) && always_written(body, name));
                if every && always_written(otherwise, name) {
                    return true;
                }
                if mentions(stmt, &one) {
                    return false;
                }
            }
            _ if mentions(stmt, &one) => return false,
            _ => {}
        }
    }
    false
}

/// Whether some statement assigns to a name.
pub fn assigns(body: &[Stmt], name: &str) -> bool {
    body.iter().any(|stmt| match &stmt.kind {
        StmtKind::Assign { target, .. } => root_name(target) == Some(name),
        StmtKind::If { arms, otherwise } => {
            arms.iter().any(|(_, body)| assigns(body, name))
                || otherwise.as_ref().is_some_and(|body| assigns(body, name))
        }
        StmtKind::For { body, .. } | StmtKind::While { body, .. } => assigns(body, name),
        StmtKind::Optimize(problem) => {
            matches!(&problem.result, Some((None, best)) if best.text == name) || assigns(&problem.constraints, name)
        }
        _ => false,
    })
}

/// Whether a statement reads or writes one of the names.
fn mentions(stmt: &Stmt, names: &BTreeSet<String>) -> bool {
    let any = |body: &[Stmt]| body.iter().any(|stmt| mentions(stmt, names));
    match &stmt.kind {
        StmtKind::Declare { names: declared, .. } => declared
            .iter()
            .any(|(name, first)| names.contains(&name.text) || first.as_ref().is_some_and(|e| reads(e, names))),
        StmtKind::Assign { target, value, .. } => reads(target, names) || reads(value, names),
        StmtKind::If { arms, otherwise } => {
            arms.iter().any(|(condition, body)| reads(condition, names) || any(body))
                || otherwise.as_deref().is_some_and(any)
        }
        StmtKind::For { through, body, .. } => reads(through, names) || any(body),
        StmtKind::While { condition, body } => reads(condition, names) || any(body),
        StmtKind::Optimize(_) | StmtKind::Equation => true,
        StmtKind::Call(expr) => reads(expr, names),
    }
}
