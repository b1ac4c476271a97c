//! The language server: what editors ask about models while somebody types.
//!
//! It speaks the language server protocol over two streams and knows nothing of processes. Mistakes are sent when a file
//! is opened, changed or saved; hovering tells type and unit, names lead to their definitions, and names are completed.
//! Simulations and cars are served too; what only rooms above know about them comes in through [`Above`].

mod assembly;
mod beside;
mod find;
mod place;
mod server;
mod wire;
mod words;

use std::io::{self, BufRead, Write};

pub use assembly::{Above, Read, Told};
use serde_json::json;
use server::Server;

/// What the protocol calls a message that is no JSON.
const PARSE_ERROR: i32 = -32700;

/// Serves one editor until it goes. Returns whether it said so before.
///
/// # Errors
///
/// If a message cannot be read or written.
pub fn serve(mut input: impl BufRead, mut output: impl Write, above: &Above<'_>) -> io::Result<bool> {
    let mut server = Server::new(above);
    while let Some(message) = wire::read(&mut input)? {
        if message.is_null() {
            let error = json!({ "code": PARSE_ERROR, "message": "this is no JSON" });
            wire::write(&mut output, &json!({ "jsonrpc": "2.0", "id": null, "error": error }))?;
            continue;
        }
        for answer in server.take(&message) {
            wire::write(&mut output, &answer)?;
        }
        if let Some(ended) = server.ended() {
            return Ok(ended);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    /// An editor that sends rubbish hears so, and is served all the same.
    #[test]
    fn what_is_no_json_is_answered() {
        let ask = |body: &str| format!("Content-Length: {}\r\n\r\n{body}", body.len());
        let asked = ask("{\"a\":") + &ask("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"shutdown\"}");
        let mut answers = Vec::new();
        let above = super::Above { mistakes: &|_, _, _| Vec::new(), sensors: &[] };
        assert!(!super::serve(asked.as_bytes(), &mut answers, &above).unwrap());
        let answers = String::from_utf8(answers).unwrap();
        assert!(answers.contains("-32700") && answers.contains("\"id\":7"), "{answers}");
    }
}
