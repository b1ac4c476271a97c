//! `lsp`: the language server for editors.

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
        let (input, output) = (std::io::stdin().lock(), std::io::stdout().lock());
        let ended = anabranch_lsp::serve(std::io::BufReader::new(input), output)
            .map_err(|e| Failure::input(format!("the editor cannot be understood: {e}"), ""))?;
        Ok(if ended { Exit::Done } else { Exit::Findings })
    }
}
