//! The functions of FMI 2.0 around the exported C text.

use anabranch_language::syntax::ast::Direction;
use anabranch_language::table::Column;
use anabranch_language::{Class, Model};
use anabranch_program::Region;

use super::description::Facts;

/// The text that is compiled; it includes `IDENTIFIER.c`. The number of a column is its value reference.
pub fn written(model: &Model, columns: &[Column], facts: &Facts<'_>) -> String {
    let (program, name) = (model.program(), facts.identifier);
    let layout = program.layout();
    let port = |column: &Column| {
        let (kind, choices) = match &column.class {
            Class::Real => ('r', 0),
            Class::Whole => ('i', 0),
            Class::Choice(choices) => ('i', choices.values.len()),
            Class::Truth => ('b', 0),
        };
        let input = u8::from(column.direction == Direction::In);
        let address = layout.address(column.slot);
        format!("    {{'{kind}', {input}, {choices}, {address}, {}}},\n", quoted(&column.name))
    };
    let ports: String = columns.iter().map(port).collect();
    let steps: String = program.steps().iter().map(|step| format!("    {},\n", quoted(&step.name))).collect();
    // Regions lie in this order, so that what evolves is one piece.
    let kept = layout.range(Region::Input).end;
    format!(
        "/* FMI 2.0 co-simulation around {name}.c, made by Anabranch. A step is a tick of {step_s:?} s. For another system:\n \
         * cc -std=c99 -O2 -ffp-contract=off -fPIC -shared -fvisibility=hidden -o {name}.so {FILE} -lm */\n\
         #include \"{name}.c\"\n\n\
         enum {{ KEPT = {kept}, PORT_COUNT = {port_count}, STEP_COUNT = {step_count}, USES_TICK = {uses_tick} }};\n\
         enum {{ MODEL_NUMBERS = {upper}_SLOTS }};\n\
         #define MODEL_START {name}_start\n\
         #define MODEL_TICK {name}_tick\n\
         #define MODEL_TOKEN \"{token}\"\n\
         #define STEP_S {step_s:?}\n\
         typedef {name}_fault ModelFault;\n\n\
         typedef struct {{ char kind; int is_input, choices; size_t address; const char *name; }} Port;\n\
         /* One entry more, since C has no empty arrays. */\n\
         static const Port PORTS[] = {{\n{ports}    {{0, 0, 0, 0, \"\"}}\n}};\n\
         static const char *const STEPS[] = {{\n{steps}    \"\"\n}};\n\n{fixed}",
        step_s = facts.step_s,
        port_count = columns.len(),
        step_count = program.steps().len(),
        uses_tick = u8::from(program.depends_on_tick()),
        upper = name.to_ascii_uppercase(),
        token = facts.token,
        fixed = include_str!("fmi2.c.txt"),
    )
}

/// The name of the file with this text.
pub const FILE: &str = "fmi2.c";

/// A text of C. Other than ASCII is written byte by byte, each with three digits, so that nothing after it belongs to it.
fn quoted(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'"' | b'\\' | b'?' | 0..=0x1f | 0x7f.. => format!("\\{byte:03o}"),
        plain => char::from(plain).to_string(),
    };
    format!("\"{}\"", text.bytes().map(byte).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_texts_of_c() {
        assert_eq!(quoted("m[2,1]"), "\"m[2,1]\"");
        assert_eq!(quoted("a\"\\ü"), "\"a\\042\\134\\303\\274\"");
    }
}
