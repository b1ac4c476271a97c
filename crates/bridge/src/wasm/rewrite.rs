//! Writes a module anew so that its host sees all of its state and can count all of its work.
//!
//! * Globals that change are exported, whether their author did it or not: the stack pointer of C is one that is not.
//! * Fuel is counted by instruction, but a `memory.fill` can fill the whole memory. Before each of its kind a call is put of
//!   a function that turns a loop once for every so many bytes. Jumps in WASM are by nesting, not by distance, so bytes can
//!   be put in between; the function comes last, so no number changes.

use wasm_encoder::{CodeSection, Encode, ExportKind, ExportSection, Function, Module, RawSection, ValType};
use wasmparser::{ExternalKind, Parser, Payload, SectionLimited};

use super::inspect::Findings;
use crate::misbehaviour::{Kind, Misbehaviour};

/// Under these names, with their number, globals are made visible; no linker makes such names.
const GLOBAL: &str = "anabranch:global:";
/// Bytes for one turn of the loop, as a power of two. A turn is about eight instructions.
const BYTES_PER_TURN_LOG2: i32 = 7;
/// A function of one number that returns one.
const TYPE_OF_CHARGE: [u8; 5] = [0x60, 1, 0x7f, 1, 0x7f];
const CALL: u8 = 0x10;

/// The name under which a global is visible.
pub(super) fn name_of(global: u32) -> String {
    format!("{GLOBAL}{global}")
}

/// The module, with everything in sight.
///
/// # Errors
/// When it has an export of a name that is needed here.
pub(super) fn rewrite(bytes: &[u8], findings: &Findings) -> Result<Vec<u8>, Misbehaviour> {
    let unreadable = |error: wasmparser::BinaryReaderError| Misbehaviour::new(Kind::Malformed, error.to_string());
    let charges = !findings.bulk.is_empty();
    let mut module = Module::new();
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload.map_err(unreadable)?;
        let Some((id, range)) = payload.as_section() else { continue };
        let data = &bytes[range];
        match payload {
            Payload::ExportSection(exports) => {
                module.section(&all_exports(exports, findings)?);
            }
            Payload::TypeSection(_) if charges => {
                let data = &appended(data, &TYPE_OF_CHARGE);
                module.section(&RawSection { id, data });
            }
            Payload::FunctionSection(_) if charges => {
                let mut entry = Vec::new();
                findings.types().encode(&mut entry);
                let data = &appended(data, &entry);
                module.section(&RawSection { id, data });
            }
            Payload::CodeSectionStart { .. } if charges => {
                module.section(&all_code(bytes, findings));
            }
            // What is said about places in the code would be wrong now; names of functions are not.
            Payload::CustomSection(custom) if charges && custom.name() != "name" => {}
            _ => {
                module.section(&RawSection { id, data });
            }
        }
    }
    Ok(module.finish())
}

/// The exports of the module, and every global that changes.
fn all_exports(
    exports: SectionLimited<'_, wasmparser::Export<'_>>,
    findings: &Findings,
) -> Result<ExportSection, Misbehaviour> {
    let mut section = ExportSection::new();
    for export in exports {
        let export = export.map_err(|error| Misbehaviour::new(Kind::Malformed, error.to_string()))?;
        if export.name.starts_with(GLOBAL) {
            let text = format!("the export `{}` has a name that the host needs", export.name);
            return Err(Misbehaviour::new(Kind::NoStart, text));
        }
        let kind = match export.kind {
            ExternalKind::Func | ExternalKind::FuncExact => ExportKind::Func,
            ExternalKind::Table => ExportKind::Table,
            ExternalKind::Memory => ExportKind::Memory,
            ExternalKind::Global => ExportKind::Global,
            ExternalKind::Tag => ExportKind::Tag,
        };
        section.export(export.name, kind, export.index);
    }
    for &index in &findings.globals {
        section.export(&name_of(index), ExportKind::Global, index);
    }
    Ok(section)
}

/// A section with one entry more.
fn appended(data: &[u8], entry: &[u8]) -> Vec<u8> {
    let mut reader = wasmparser::BinaryReader::new(data, 0);
    let count = reader.read_var_u32().unwrap_or(0);
    let mut section = Vec::with_capacity(data.len() + entry.len() + 1);
    (count + 1).encode(&mut section);
    section.extend_from_slice(&data[reader.original_position()..]);
    section.extend_from_slice(entry);
    section
}

/// All bodies, with calls put before the instructions that work on many bytes, and the function that is called.
fn all_code(bytes: &[u8], findings: &Findings) -> CodeSection {
    let mut call = vec![CALL];
    findings.functions.encode(&mut call);
    let mut places = findings.bulk.iter().copied().peekable();
    let mut section = CodeSection::new();
    let mut body = Vec::new();
    for range in &findings.bodies {
        body.clear();
        let mut from = range.start;
        while let Some(place) = places.next_if(|place| range.contains(place)) {
            body.extend_from_slice(&bytes[from..place]);
            body.extend_from_slice(&call);
            from = place;
        }
        body.extend_from_slice(&bytes[from..range.end]);
        section.raw(&body);
    }
    section.function(&charge());
    section
}

/// Returns its argument, after a loop of one turn for every so many bytes.
fn charge() -> Function {
    let mut function = Function::new([(1, ValType::I32)]);
    function
        .instructions()
        .local_get(0)
        .i32_const(BYTES_PER_TURN_LOG2)
        .i32_shr_u()
        .i32_const(1)
        .i32_add()
        .local_set(1)
        .loop_(wasm_encoder::BlockType::Empty)
        .local_get(1)
        .i32_const(1)
        .i32_sub()
        .local_tee(1)
        .br_if(0)
        .end()
        .local_get(0)
        .end();
    function
}
