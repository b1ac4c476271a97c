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

/// What a walk through the sections brings together.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// For every type whether it is that of the log.
    types: Vec<bool>,
    /// Functions so far, imported ones first.
    pub(super) functions: u32,
    /// Where the bodies of functions lie in the file.
    pub(super) bodies: Vec<Range<usize>>,
    /// Where instructions stand that work on many bytes at once, in order.
    pub(super) bulk: Vec<usize>,
    /// Numbers of the globals that change.
    pub(super) globals: Vec<u32>,
    memories: u32,
    exports_memory: bool,
}

impl Findings {
    /// Number of types.
    pub(super) fn types(&self) -> u32 {
        self.types.len() as u32
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
                    self.types.extend(group.types().map(|of| is_type_of_log(&of.composite_type.inner)));
                }
            }
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    self.check_import(&import.map_err(unreadable)?)?;
                    self.functions += 1;
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

    fn check_import(&self, import: &Import<'_>) -> Result<(), Misbehaviour> {
        let name = format!("`{}.{}`", import.module, import.name);
        if (import.module, import.name) != LOG {
            let text = format!("the module imports {name}; the only import there is, is `{}.{}`", LOG.0, LOG.1);
            return Err(refused(text));
        }
        match import.ty {
            TypeRef::Func(index) if self.types.get(index as usize) == Some(&true) => Ok(()),
            _ => Err(refused(format!("the import {name} must be a function of an address and a number of bytes"))),
        }
    }

    /// Refuses instructions that change what is neither memory nor a global.
    fn check_body(&mut self, body: &FunctionBody<'_>) -> Result<(), Misbehaviour> {
        let function = self.functions;
        self.functions += 1;
        self.bodies.push(body.range());
        let operators = body.get_operators_reader().map_err(unreadable)?;
        for operator in operators.into_iter_with_offsets() {
            let (operator, offset) = operator.map_err(unreadable)?;
            let instruction = match operator {
                Operator::TableSet { .. } => "table.set",
                Operator::TableGrow { .. } => "table.grow",
                Operator::TableFill { .. } => "table.fill",
                Operator::TableCopy { .. } => "table.copy",
                Operator::TableInit { .. } => "table.init",
                Operator::ElemDrop { .. } => "elem.drop",
                Operator::DataDrop { .. } => "data.drop",
                Operator::MemoryFill { .. } | Operator::MemoryCopy { .. } | Operator::MemoryInit { .. } => {
                    self.bulk.push(offset);
                    continue;
                }
                _ => continue,
            };
            let text = format!(
                "function {function} uses `{instruction}` at byte {offset}: what it changes is neither memory nor a \
                 global and cannot be saved"
            );
            return Err(refused(text));
        }
        Ok(())
    }
}

fn is_type_of_log(of: &CompositeInnerType) -> bool {
    let CompositeInnerType::Func(function) = of else { return false };
    function.params() == [ValType::I32, ValType::I32] && function.results().is_empty()
}

fn unreadable(error: BinaryReaderError) -> Misbehaviour {
    Misbehaviour::new(Kind::Malformed, error.to_string())
}

fn refused(text: impl Into<String>) -> Misbehaviour {
    Misbehaviour::new(Kind::NoStart, text)
}
