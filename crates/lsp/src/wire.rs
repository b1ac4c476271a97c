//! Messages: a heading with the length, an empty line, and JSON.

use std::io::{self, BufRead, Read, Write};

use serde_json::Value;

/// Longest message; a model of this size is nobody's.
const LENGTH_MAX: usize = 256 << 20;
/// Longest line of a heading.
const LINE_MAX: u64 = 1 << 16;

/// The next message, or nothing at the end. What is no JSON comes as `null`.
pub fn read(input: &mut impl BufRead) -> io::Result<Option<Value>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.by_ref().take(LINE_MAX).read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse::<usize>().ok();
        }
    }
    let wrong = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why.to_owned());
    let length = length.ok_or_else(|| wrong("a message without Content-Length"))?;
    if length > LENGTH_MAX {
        return Err(wrong("a message that is too long"));
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    Ok(Some(serde_json::from_slice(&body).unwrap_or(Value::Null)))
}

/// Sends a message.
pub fn write(output: &mut impl Write, message: &Value) -> io::Result<()> {
    let body = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    output.flush()
}
