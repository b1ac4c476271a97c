//! `lsp`: the language server for editors.

use std::path::Path;

use anabranch_lsp::{Above, Read, Told};
use anabranch_scenario::file::Diagnostic;
use anabranch_scenario::simulation;
use clap::Args;

use crate::exit::Exit;
use crate::failure::Failure;

/// Serve editors: mistakes while typing, types and units, definitions, completion. Speaks the language server protocol
/// on standard input and output.
#[derive(Args, Debug)]
pub struct Lsp {}

impl Lsp {
    /// Serves until the editor goes.
    pub fn run(&self) -> Result<Exit, Failure> {
        let told = |d: Diagnostic| {
            let help = if d.help.is_empty() { String::new() } else { format!("\n{}", d.help) };
            Told {
                file: d.file,
                line: d.line,
                column: d.column,
                length: d.length,
                code: d.code.to_owned(),
                message: d.message + &help,
            }
        };
        let mistakes = |path: &Path, text: &str, read: Read<'_>| {
            simulation::mistakes(path, text, read).into_iter().map(told).collect::<Vec<_>>()
        };
        let above = Above { mistakes: &mistakes, sensors: &simulation::sensors() };
        let (input, output) = (std::io::stdin().lock(), std::io::stdout().lock());
        let ended = anabranch_lsp::serve(std::io::BufReader::new(input), output, &above)
            .map_err(|e| Failure::input(format!("the editor cannot be understood: {e}"), ""))?;
        Ok(if ended { Exit::Done } else { Exit::Findings })
    }
}
