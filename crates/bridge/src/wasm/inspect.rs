//! Looks through a module before it is compiled: nothing it remembers may be out of sight.
//!
//! A saved state is memory and globals. What would be state beside the two is refused: tables that change, segments that
//! are dropped, references in globals. Imports are refused by name, except ours.

use std::ops::Range;

use wasmparser::{
    BinaryReaderError, CompositeInnerType, ExternalKind, FunctionBody, Import, Operator, Parser, Payload, TypeRef,
    ValType,
};

use crate::misbehaviour::{Kind, Misbehaviour};

/// Module and name of the one import.
pub(super) const LOG: (&str, &str) = ("anabranch", "log");

/// An instruction that writes to memory, by what it takes from the stack.
#[derive(Clone, Copy, Debug)]
pub(super) enum Write {
    /// An address, to which this is added, and a value of this type.
    Store { offset: u32, value: ValType },
    /// An address, something, and a number of bytes.
    Bulk,
}

/// The body of a function.
#[derive(Debug)]
pub(super) struct Body {
    /// Where it lies in the file: declarations of locals, then instructions.
    pub(super) range: Range<usize>,
    /// Where its instructions begin.
    pub(super) code: usize,
    /// Parameters and locals.
    pub(super) locals: u32,
    /// Where it writes to memory, in order.
    pub(super) writes: Vec<(usize, Write)>,
}

/// What a walk through the sections brings together.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// For every type whether it is that of the log, and how many parameters it has.
    types: Vec<(bool, u32)>,
    /// The types of all functions, imported ones first.
    functions: Vec<u32>,
    /// The bodies of functions that are not imported.
    pub(super) bodies: Vec<Body>,
    /// Numbers of the globals that change.
    pub(super) globals: Vec<u32>,
    imports: usize,
    memories: u32,
    exports_memory: bool,
}

impl Findings {
    /// Number of types.
    pub(super) fn types(&self) -> u32 {
        self.types.len() as u32
    }
    /// Number of functions.
    pub(super) fn functions(&self) -> u32 {
        self.functions.len() as u32
    }
}

/// Inspects a module that is known to be valid.
///
/// # Errors
/// When it needs something it cannot have; the text says what and where.
pub(super) fn inspect(bytes: &[u8]) -> Result<Findings, Misbehaviour> {
    let mut findings = Findings::default();
    for payload in Parser::new(0).parse_all(bytes) {
        findings.take(payload.map_err(unreadable)?)?;
    }
    if findings.memories != 1 {
        return Err(refused(format!("the module has {} memories of its own; it must have one", findings.memories)));
    }
    if !findings.exports_memory {
        return Err(refused("the module does not export its memory as `memory`"));
    }
    Ok(findings)
}

impl Findings {
    fn take(&mut self, payload: Payload<'_>) -> Result<(), Misbehaviour> {
        match payload {
            Payload::TypeSection(groups) => {
                for group in groups {
                    let group = group.map_err(unreadable)?;
                    self.types.extend(group.types().map(|of| look_at_type(&of.composite_type.inner)));
                }
            }
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    self.check_import(&import.map_err(unreadable)?)?;
                }
            }
            Payload::FunctionSection(functions) => {
                for function in functions {
                    self.functions.push(function.map_err(unreadable)?);
                }
            }
            Payload::MemorySection(memories) => self.memories = memories.count(),
            Payload::GlobalSection(globals) => {
                for (index, global) in globals.into_iter().enumerate() {
                    let of = global.map_err(unreadable)?.ty;
                    if of.mutable && matches!(of.content_type, ValType::Ref(_)) {
                        let text = format!("global {index} holds a reference that changes, which cannot be saved");
                        return Err(refused(text));
                    }
                    self.globals.extend(of.mutable.then_some(index as u32));
                }
            }
            Payload::ExportSection(exports) => {
                for export in exports {
                    let export = export.map_err(unreadable)?;
                    self.exports_memory |= export.kind == ExternalKind::Memory && export.name == "memory";
                }
            }
            Payload::CodeSectionEntry(body) => self.check_body(&body)?,
            _ => {}
        }
        Ok(())
    }

    fn check_import(&mut self, import: &Import<'_>) -> Result<(), Misbehaviour> {
        let name = format!("`{}.{}`", import.module, import.name);
        if (import.module, import.name) != LOG {
            let text = format!("the module imports {name}; the only import there is, is `{}.{}`", LOG.0, LOG.1);
            return Err(refused(text));
        }
        match import.ty {
            TypeRef::Func(index) if self.types.get(index as usize).is_some_and(|of| of.0) => {
                self.functions.push(index);
                self.imports += 1;
                Ok(())
            }
            _ => Err(refused(format!("the import {name} must be a function of an address and a number of bytes"))),
        }
    }

    /// Notes where a function writes to memory, and refuses instructions that change what is neither memory nor a
    /// global.
    fn check_body(&mut self, body: &FunctionBody<'_>) -> Result<(), Misbehaviour> {
        let function = self.imports + self.bodies.len();
        let of = self.functions.get(function).and_then(|&of| self.types.get(of as usize));
        let mut locals = of.map_or(0, |of| of.1);
        for group in body.get_locals_reader().map_err(unreadable)? {
            locals += group.map_err(unreadable)?.0;
        }
        let operators = body.get_operators_reader().map_err(unreadable)?;
        let (code, mut writes) = (operators.original_position(), Vec::new());
        for operator in operators.into_iter_with_offsets() {
            let (operator, at) = operator.map_err(unreadable)?;
            if let Some(write) = write(&operator) {
                writes.push((at, write));
            } else if let Some(instruction) = unsaveable(&operator) {
                let text = format!(
                    "function {function} uses `{instruction}` at byte {at}: what it changes is neither memory nor a \
                     global and cannot be saved"
                );
                return Err(refused(text));
            }
        }
        self.bodies.push(Body { range: body.range(), code, locals, writes });
        Ok(())
    }
}

fn look_at_type(of: &CompositeInnerType) -> (bool, u32) {
    let CompositeInnerType::Func(function) = of else { return (false, 0) };
    let is_log = function.params() == [ValType::I32, ValType::I32] && function.results().is_empty();
    (is_log, function.params().len() as u32)
}

/// The instruction if it writes to memory. The offset of a memory with addresses of 32 bits has as many.
fn write(operator: &Operator<'_>) -> Option<Write> {
    let (memarg, value) = match operator {
        Operator::I32Store { memarg } | Operator::I32Store8 { memarg } | Operator::I32Store16 { memarg } => {
            (memarg, ValType::I32)
        }
        Operator::I64Store { memarg }
        | Operator::I64Store8 { memarg }
        | Operator::I64Store16 { memarg }
        | Operator::I64Store32 { memarg } => (memarg, ValType::I64),
        Operator::F32Store { memarg } => (memarg, ValType::F32),
        Operator::F64Store { memarg } => (memarg, ValType::F64),
        Operator::V128Store { memarg }
        | Operator::V128Store8Lane { memarg, .. }
        | Operator::V128Store16Lane { memarg, .. }
        | Operator::V128Store32Lane { memarg, .. }
        | Operator::V128Store64Lane { memarg, .. } => (memarg, ValType::V128),
        Operator::MemoryFill { .. } | Operator::MemoryCopy { .. } | Operator::MemoryInit { .. } => {
            return Some(Write::Bulk);
        }
        _ => return None,
    };
    Some(Write::Store { offset: memarg.offset as u32, value })
}

/// The name of an instruction that changes what cannot be saved.
fn unsaveable(operator: &Operator<'_>) -> Option<&'static str> {
    Some(match operator {
        Operator::TableSet { .. } => "table.set",
        Operator::TableGrow { .. } => "table.grow",
        Operator::TableFill { .. } => "table.fill",
        Operator::TableCopy { .. } => "table.copy",
        Operator::TableInit { .. } => "table.init",
        Operator::ElemDrop { .. } => "elem.drop",
        Operator::DataDrop { .. } => "data.drop",
        _ => return None,
    })
}

fn unreadable(error: BinaryReaderError) -> Misbehaviour {
    Misbehaviour::new(Kind::Malformed, error.to_string())
}

fn refused(text: impl Into<String>) -> Misbehaviour {
    Misbehaviour::new(Kind::NoStart, text)
}
