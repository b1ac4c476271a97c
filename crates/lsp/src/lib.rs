//! The language server: what editors ask about models while somebody types.
//!
//! It speaks the language server protocol over two streams and knows nothing of processes. Mistakes are sent when a file
//! is opened, changed or saved; hovering tells type and unit, names lead to their definitions, and names are completed.

mod find;
mod place;
mod server;
mod wire;

use std::io::{self, BufRead, Write};

use server::Server;

/// Serves one editor until it goes. Returns whether it said so before.
///
/// # Errors
///
/// If a message cannot be read or written.
pub fn serve(mut input: impl BufRead, mut output: impl Write) -> io::Result<bool> {
    let mut server = Server::default();
    while let Some(message) = wire::read(&mut input)? {
        for answer in server.take(&message) {
            wire::write(&mut output, &answer)?;
        }
        if let Some(ended) = server.ended() {
            return Ok(ended);
        }
    }
    Ok(false)
}
