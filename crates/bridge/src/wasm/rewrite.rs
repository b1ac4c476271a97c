//! Writes a module anew so that its host sees all of its state and can count all of its work.
//!
//! * Globals that change are exported, whether their author did it or not: the stack pointer of C is one that is not.
//! * Before every store the page it writes to is marked in a second memory, which the module does not know of.
//! * Fuel is counted by instruction, but a `memory.fill` can fill the whole memory. Before each of its kind a function is
//!   called that marks the pages, and turns its loop once for every so many bytes.
//!
//! Jumps in WASM are by nesting, not by distance, so instructions can be put in between; what is added comes last in its
//! section, so no number changes.

use wasm_encoder::{BlockType, CodeSection, Encode, ExportKind, ExportSection, Function, InstructionSink, MemArg};
use wasm_encoder::{Module, RawSection, ValType};
use wasmparser::{BinaryReader, BinaryReaderError, ExternalKind, Parser, Payload, SectionLimited};

use super::image::PAGE_BYTES_LOG2;
use super::inspect::{Body, Findings, Write};
use crate::misbehaviour::{Kind, Misbehaviour};

/// What names of exports of ours begin with; no linker makes such names.
const OURS: &str = "anabranch:";
/// The memory of marks.
pub(super) const MARKS: &str = "anabranch:marks";
/// Bytes for one turn of the loop before bulk instructions, as a power of two. A turn costs about a dozen units of fuel.
const BYTES_PER_TURN_LOG2: i32 = 7;
/// Of the function before bulk instructions: two numbers to nothing.
const TYPE_OF_MARK: [u8; 5] = [0x60, 2, 0x7f, 0x7f, 0];
/// A mark is one byte, in the second memory.
const MARK: MemArg = MemArg { offset: 0, align: 0, memory_index: 1 };
/// The locals that are added to functions that store: three numbers, and one for each other type of values.
const LOCALS: [(u32, ValType); 5] =
    [(3, ValType::I32), (1, ValType::I64), (1, ValType::F32), (1, ValType::F64), (1, ValType::V128)];

/// The name under which a global is visible.
pub(super) fn name_of(global: u32) -> String {
    format!("{OURS}global:{global}")
}

/// The module with everything in sight, for memories of at most so many bytes.
///
/// # Errors
/// When it has an export of a name that is needed here.
pub(super) fn rewrite(bytes: &[u8], findings: &Findings, memory_bytes_max: usize) -> Result<Vec<u8>, Misbehaviour> {
    let mut module = Module::new();
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload.map_err(unreadable)?;
        let Some((id, range)) = payload.as_section() else { continue };
        let more = match payload {
            Payload::ExportSection(exports) => {
                module.section(&all_exports(exports, findings)?);
                continue;
            }
            Payload::CodeSectionStart { .. } => {
                module.section(&all_code(bytes, findings));
                continue;
            }
            // What is said about places in the code would be wrong now; names of functions are not.
            Payload::CustomSection(custom) if custom.name() != "name" => continue,
            Payload::TypeSection(_) => TYPE_OF_MARK.to_vec(),
            Payload::FunctionSection(_) => number(findings.types()),
            Payload::MemorySection(_) => memory_of_marks(memory_bytes_max),
            _ => {
                module.section(&RawSection { id, data: &bytes[range] });
                continue;
            }
        };
        module.section(&RawSection { id, data: &appended(&bytes[range], &more) });
    }
    Ok(module.finish())
}

fn unreadable(error: BinaryReaderError) -> Misbehaviour {
    Misbehaviour::new(Kind::Malformed, error.to_string())
}

fn number(value: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.encode(&mut bytes);
    bytes
}

/// One byte for each page, in units of 64 KiB, and never more.
fn memory_of_marks(memory_bytes_max: usize) -> Vec<u8> {
    const HAS_MAXIMUM: u8 = 1;
    let units = number((memory_bytes_max >> PAGE_BYTES_LOG2).div_ceil(1 << 16).max(1) as u32);
    [vec![HAS_MAXIMUM], units.clone(), units].concat()
}

/// The exports of the module, every global that changes, and the marks.
fn all_exports(
    exports: SectionLimited<'_, wasmparser::Export<'_>>,
    findings: &Findings,
) -> Result<ExportSection, Misbehaviour> {
    let mut section = ExportSection::new();
    for export in exports {
        let export = export.map_err(unreadable)?;
        if export.name.starts_with(OURS) {
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
    section.export(MARKS, ExportKind::Memory, 1);
    Ok(section)
}

/// A section with one entry more.
fn appended(section: &[u8], entry: &[u8]) -> Vec<u8> {
    let mut reader = BinaryReader::new(section, 0);
    let count = reader.read_var_u32().unwrap_or(0);
    [&number(count + 1), &section[reader.original_position()..], entry].concat()
}

/// All bodies, with marks before stores, and the function that is called before bulk instructions.
fn all_code(bytes: &[u8], findings: &Findings) -> CodeSection {
    let mut section = CodeSection::new();
    for body in &findings.bodies {
        if body.writes.is_empty() {
            section.raw(&bytes[body.range.clone()]);
        } else {
            section.raw(&marking(bytes, body, findings.functions()));
        }
    }
    section.function(&mark());
    section
}

/// A body that marks what it writes.
fn marking(bytes: &[u8], body: &Body, mark: u32) -> Vec<u8> {
    let groups = &bytes[body.range.start..body.code];
    let mut reader = BinaryReader::new(groups, 0);
    let count = reader.read_var_u32().unwrap_or(0);
    let mut code = number(count + LOCALS.len() as u32);
    code.extend_from_slice(&groups[reader.original_position()..]);
    for (number, of) in LOCALS {
        number.encode(&mut code);
        of.encode(&mut code);
    }
    let mut from = body.code;
    for &(at, write) in &body.writes {
        code.extend_from_slice(&bytes[from..at]);
        from = at;
        let mut sink = InstructionSink::new(&mut code);
        match write {
            Write::Store { offset, value } => mark_store(&mut sink, body.locals, offset, value),
            Write::Bulk => mark_bulk(&mut sink, body.locals, mark),
        }
    }
    code.extend_from_slice(&bytes[from..body.range.end]);
    code
}

/// On the stack are an address and a value, before and after. An address that wraps around marks the wrong page, but then
/// the store itself traps.
fn mark_store(sink: &mut InstructionSink<'_>, locals: u32, offset: u32, of: wasmparser::ValType) {
    let address = locals;
    let value = locals
        + match of {
            wasmparser::ValType::I64 => 3,
            wasmparser::ValType::F32 => 4,
            wasmparser::ValType::F64 => 5,
            wasmparser::ValType::V128 => 6,
            wasmparser::ValType::I32 | wasmparser::ValType::Ref(_) => 1,
        };
    sink.local_set(value).local_tee(address);
    if offset != 0 {
        sink.i32_const(offset.cast_signed()).i32_add();
    }
    sink.i32_const(PAGE_BYTES_LOG2.cast_signed()).i32_shr_u().i32_const(1).i32_store8(MARK);
    sink.local_get(address).local_get(value);
}

/// On the stack are an address, something and a number of bytes, before and after.
fn mark_bulk(sink: &mut InstructionSink<'_>, locals: u32, mark: u32) {
    let (address, bytes, something) = (locals, locals + 1, locals + 2);
    sink.local_set(bytes).local_set(something).local_tee(address).local_get(bytes).call(mark);
    sink.local_get(address).local_get(something).local_get(bytes);
}

/// Marks the pages from an address on, for a number of bytes.
fn mark() -> Function {
    let (address, turns) = (0, 1);
    let mut function = Function::new([]);
    let mut sink = function.instructions();
    sink.local_get(turns).i32_const((1 << BYTES_PER_TURN_LOG2) - 1).i32_add();
    sink.i32_const(BYTES_PER_TURN_LOG2).i32_shr_u().local_set(turns);
    sink.block(BlockType::Empty).loop_(BlockType::Empty);
    sink.local_get(turns).i32_eqz().br_if(1);
    sink.local_get(address).i32_const(PAGE_BYTES_LOG2.cast_signed()).i32_shr_u().i32_const(1).i32_store8(MARK);
    sink.local_get(address).i32_const(1 << BYTES_PER_TURN_LOG2).i32_add().local_set(address);
    sink.local_get(turns).i32_const(1).i32_sub().local_set(turns);
    sink.br(0).end().end().end();
    function
}
