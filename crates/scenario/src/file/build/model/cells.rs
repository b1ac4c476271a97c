//! What of a component model's memory counts when states are compared.

use anabranch_kernel::{CellSize, Variable};
use anabranch_program::Program;

use super::super::super::codes::Code;
use super::super::super::model_spec::{ModelCell, ModelInput, StageSpec};
use super::super::super::problems::{Problems, excerpt};
use super::{Asked, Built};

/// A component ready to run, with cell sizes as the scenario says.
pub(super) fn stage(
    problems: &mut Problems<'_>,
    asked: &Asked<'_>,
    built: &Built,
    inputs: Vec<ModelInput>,
) -> Option<StageSpec> {
    let mut cells = cells(&built.program);
    for text in &asked.mapping.key {
        let (name, size) = text
            .value
            .split_once('=')
            .map_or((text.value.trim(), None), |(name, size)| (name.trim(), Some(size.trim())));
        let fits = |cell: &&mut ModelCell| {
            let own = &cell.variable.name;
            own == name || own.ends_with(&format!(".{name}"))
        };
        let size = match size.map(str::parse::<f64>) {
            None => CellSize::Exact,
            Some(Ok(size)) if CellSize::is_countable(size) => CellSize::Size(size),
            Some(_) => {
                let message = format!("`{}` gives no cell size", excerpt(&text.value));
                problems.add(Code::WrongMapping, text.span, message, "write a positive number in SI units");
                return None;
            }
        };
        let Some(cell) = cells.iter_mut().find(fits) else {
            let names: Vec<String> = cells.iter().map(|cell| cell.variable.name.clone()).collect();
            let help = if names.is_empty() {
                "it remembers nothing".to_owned()
            } else {
                format!("it remembers {}", names.join(", "))
            };
            let message = format!("the model does not remember `{}`", excerpt(name));
            problems.add(Code::WrongMapping, text.span, message, help);
            return None;
        };
        cell.variable.size = size;
    }
    let (name, program) = (built.name.clone(), built.program.clone());
    Some(StageSpec { file: asked.file.clone(), name, program, inputs, cells })
}

/// What of a program's memory reaches later cycles, by its names; bit by bit unless the scenario says otherwise.
fn cells(program: &Program) -> Vec<ModelCell> {
    let lasting = program.lasting();
    let mut cells = Vec::new();
    let mut named = vec![false; lasting.len()];
    for variable in program.variables() {
        let saved = program.layout().addresses(variable.span);
        if saved.end <= lasting.len() && lasting[saved.clone()].iter().any(|lasts| *lasts) {
            named[saved.clone()].fill(true);
            cells.push(ModelCell { saved, variable: Variable::exact(&format!("driver.{}", variable.name)) });
        }
    }
    for at in (0..lasting.len()).filter(|&at| lasting[at] && !named[at]) {
        cells.push(ModelCell { saved: at..at + 1, variable: Variable::exact(&format!("driver.memory{at}")) });
    }
    cells
}
