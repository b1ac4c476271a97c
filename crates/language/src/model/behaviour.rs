//! What can be said about the behaviour of a component without building it: components whose parameters have no values yet
//! are built only where they are used.

use std::collections::BTreeSet;

use super::env::Report;
use crate::diagnostic::{Code, Problem};
use crate::library::FileId;
use crate::lower::{function_names, is_function, root_name};
use crate::syntax::ast::{BinaryOp, Component, Expr, ExprKind, Optimize, Stmt, StmtKind, UnaryOp};

/// Tells of calls of functions that do not exist, and of divisions by a literal zero.
pub(super) fn check(component: &Component, file: FileId, report: &mut Report<'_>) {
    let Some(behaviour) = &component.behaviour else { return };
    let ports = component.ports.iter().map(|port| &port.name);
    let generics = component.generics.iter().map(|generic| &generic.name);
    let params = component.params.iter().map(|param| &param.name);
    let mut names: BTreeSet<String> = ports.chain(generics).chain(params).map(|name| name.text.clone()).collect();
    declared(&behaviour.body, &mut names);
    let mut walk = Walk { names: &names, found: Vec::new() };
    walk.body(&behaviour.body);
    walk.found.into_iter().for_each(|problem| report.tell(file, problem));
}

/// Adds every name that a body declares or assigns to, wherever it does so.
fn declared(body: &[Stmt], names: &mut BTreeSet<String>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Declare { names: new, .. } => names.extend(new.iter().map(|(name, _)| name.text.clone())),
            StmtKind::Assign { target, .. } => names.extend(root_name(target).map(ToOwned::to_owned)),
            StmtKind::For { counter, body, .. } => {
                names.insert(counter.text.clone());
                declared(body, names);
            }
            StmtKind::While { body, .. } => declared(body, names),
            StmtKind::If { arms, otherwise } => {
                arms.iter().for_each(|(_, body)| declared(body, names));
                declared(otherwise.as_deref().unwrap_or_default(), names);
            }
            StmtKind::Optimize(problem) => {
                names.extend(problem.unknowns.iter().map(|(_, name)| name.text.clone()));
                names.extend(problem.result.iter().map(|(_, name)| name.text.clone()));
                declared(&problem.constraints, names);
            }
            StmtKind::Equation | StmtKind::Call(_) => {}
        }
    }
}

/// Goes through all expressions.
struct Walk<'a> {
    names: &'a BTreeSet<String>,
    found: Vec<Problem>,
}

impl Walk<'_> {
    fn body(&mut self, body: &[Stmt]) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Declare { names, .. } => {
                    names.iter().filter_map(|(_, value)| value.as_ref()).for_each(|value| self.expr(value));
                }
                StmtKind::Assign { target, op, value } => {
                    self.expr(target);
                    self.expr(value);
                    op.iter().for_each(|op| self.divides(*op, value));
                }
                StmtKind::For { through: first, body, .. } | StmtKind::While { condition: first, body } => {
                    self.expr(first);
                    self.body(body);
                }
                StmtKind::If { arms, otherwise } => {
                    for (condition, body) in arms {
                        self.expr(condition);
                        self.body(body);
                    }
                    self.body(otherwise.as_deref().unwrap_or_default());
                }
                StmtKind::Optimize(problem) => {
                    let Optimize { objective, constraints, .. } = problem.as_ref();
                    self.expr(objective);
                    self.body(constraints);
                }
                StmtKind::Call(expr) => self.expr(expr),
                StmtKind::Equation => {}
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Call(callee, args) => {
                match &callee.kind {
                    ExprKind::Name(name) => self.calls(name, callee),
                    _ => self.expr(callee),
                }
                args.iter().for_each(|arg| self.expr(arg));
            }
            ExprKind::Binary(op, a, b) => {
                self.expr(a);
                self.expr(b);
                self.divides(*op, b);
            }
            ExprKind::Field(inner, _) | ExprKind::Unary(_, inner) | ExprKind::Transpose(inner) => self.expr(inner),
            ExprKind::Matrix(rows) => rows.iter().flatten().for_each(|entry| self.expr(entry)),
            ExprKind::Range(a, step, b) => {
                [Some(a), step.as_ref(), Some(b)].into_iter().flatten().for_each(|part| self.expr(part));
            }
            _ => {}
        }
    }

    fn calls(&mut self, name: &str, at: &Expr) {
        if self.names.contains(name) || is_function(name) {
            return;
        }
        let told = Problem::error(Code::UnknownFunction, at.span, format!("there is no function or variable `{name}`"));
        let mut known: Vec<&str> = function_names().collect();
        known.extend(self.names.iter().map(String::as_str));
        self.found.push(told.did_you_mean(name, known));
    }

    fn divides(&mut self, op: BinaryOp, by: &Expr) {
        if matches!(op, BinaryOp::Divide | BinaryOp::EachDivide | BinaryOp::Modulo) && is_zero(by) {
            let told = Problem::error(Code::DivisionByZero, by.span, "this divides by zero");
            self.found.push(told.help("divide by another number"));
        }
    }
}

fn is_zero(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Number { value, .. } => *value == 0.0,
        ExprKind::Unary(UnaryOp::Negate | UnaryOp::Plus, inner) => is_zero(inner),
        _ => false,
    }
}
