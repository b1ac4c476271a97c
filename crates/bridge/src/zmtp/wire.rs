//! Bytes of the greeting, of frames and of commands, without any socket.

use std::ops::Range;

/// Length of a greeting.
pub const GREETING_BYTES: usize = 64;
/// A frame with more to follow in the same message.
const MORE: u8 = 1;
/// A frame whose length has eight bytes instead of one.
const LONG: u8 = 2;
/// A frame for the protocol itself.
const COMMAND: u8 = 4;

/// The head of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Whether the message goes on after it.
    pub more: bool,
    /// Whether it is for the protocol itself.
    pub command: bool,
    /// Bytes of the head.
    pub head_bytes: usize,
    /// Bytes that follow the head, as the other side claims.
    pub body_bytes: u64,
}

/// The greeting that both sides send: signature, version 3.1, mechanism NULL, not a server.
pub fn greeting() -> [u8; GREETING_BYTES] {
    let mut bytes = [0; GREETING_BYTES];
    (bytes[0], bytes[9], bytes[10], bytes[11]) = (0xff, 0x7f, 3, 1);
    bytes[12..16].copy_from_slice(b"NULL");
    bytes
}

/// Why a greeting is not acceptable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadGreeting {
    /// Not ZeroMQ at all; the offset of the first byte that is wrong.
    NoGreeting(usize),
    /// An older version.
    Version(u8),
    /// A mechanism other than NULL.
    Mechanism(String),
}

/// Looks at a greeting, or at its beginning: what is wrong is seen before the rest has come.
pub fn check_greeting(bytes: &[u8]) -> Result<(), BadGreeting> {
    if bytes.first().is_some_and(|&byte| byte != 0xff) {
        return Err(BadGreeting::NoGreeting(0));
    }
    if bytes.get(9).is_some_and(|&byte| byte & 1 == 0) {
        return Err(BadGreeting::NoGreeting(9));
    }
    if let Some(&major) = bytes.get(10)
        && major < 3
    {
        return Err(BadGreeting::Version(major));
    }
    if let Some(mechanism) = bytes.get(12..32)
        && mechanism != &greeting()[12..32]
    {
        let name = mechanism.split(|&byte| byte == 0).next().unwrap_or_default();
        return Err(BadGreeting::Mechanism(String::from_utf8_lossy(name).into_owned()));
    }
    Ok(())
}

impl Frame {
    /// Reads a head; `Ok(None)` when more bytes are needed.
    ///
    /// # Errors
    /// With the flags, when they mean nothing.
    pub fn read(bytes: &[u8]) -> Result<Option<Self>, u8> {
        let Some(&flags) = bytes.first() else { return Ok(None) };
        if flags & !(MORE | LONG | COMMAND) != 0 || flags & (MORE | COMMAND) == MORE | COMMAND {
            return Err(flags);
        }
        let (head_bytes, body_bytes) = if flags & LONG == 0 {
            let Some(&length) = bytes.get(1) else { return Ok(None) };
            (2, u64::from(length))
        } else {
            let Some(length) = bytes.get(1..9) else { return Ok(None) };
            (9, u64::from_be_bytes(length.try_into().expect("eight bytes")))
        };
        Ok(Some(Self { more: flags & MORE != 0, command: flags & COMMAND != 0, head_bytes, body_bytes }))
    }
}

/// Whether a frame is the last of its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    /// More frames.
    More,
    /// Nothing.
    Nothing,
}

/// Appends a frame of a message.
pub fn push_frame(out: &mut Vec<u8>, body: &[u8], follows: Follows) {
    push_head(out, if follows == Follows::More { MORE } else { 0 }, body.len());
    out.extend_from_slice(body);
}

fn push_head(out: &mut Vec<u8>, flags: u8, body_bytes: usize) {
    match u8::try_from(body_bytes) {
        Ok(short) => out.extend_from_slice(&[flags, short]),
        Err(_) => {
            out.push(flags | LONG);
            out.extend_from_slice(&(body_bytes as u64).to_be_bytes());
        }
    }
}

/// Appends a command: its name, then its data.
pub fn push_command(out: &mut Vec<u8>, name: &str, data: &[u8]) {
    push_head(out, COMMAND, 1 + name.len() + data.len());
    out.push(name.len() as u8);
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(data);
}

/// Name and data of a command; `None` if the name does not fit in.
pub fn read_command(body: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&length, rest) = body.split_first()?;
    rest.split_at_checked(usize::from(length))
}

/// Appends a property of `READY`.
pub fn push_property(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.push(name.len() as u8);
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(&(value.len() as u32).to_be_bytes());
    out.extend_from_slice(value);
}

/// The value of a property of `READY`, whose names know no case.
///
/// # Errors
/// With the offset where the properties stop making sense.
pub fn property<'b>(data: &'b [u8], wanted: &str) -> Result<Option<&'b [u8]>, usize> {
    let mut found = None;
    let mut at = 0;
    while at < data.len() {
        let name = slice(data, at + 1..at + 1 + usize::from(data[at])).ok_or(at)?;
        let length_at = at + 1 + name.len();
        let length = slice(data, length_at..length_at + 4).ok_or(length_at)?;
        let length = u32::from_be_bytes(length.try_into().expect("four bytes")) as usize;
        let value = slice(data, length_at + 4..(length_at + 4).saturating_add(length)).ok_or(length_at)?;
        if name.eq_ignore_ascii_case(wanted.as_bytes()) {
            found = Some(value);
        }
        at = length_at + 4 + length;
    }
    Ok(found)
}

fn slice(data: &[u8], range: Range<usize>) -> Option<&[u8]> {
    data.get(range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_were_written() {
        for length in [0, 1, 255, 256, 70_000] {
            let mut bytes = Vec::new();
            push_frame(&mut bytes, &vec![7; length], Follows::More);
            let frame = Frame::read(&bytes).unwrap().unwrap();
            assert_eq!((frame.body_bytes, frame.more, frame.command), (length as u64, true, false));
            assert_eq!(frame.head_bytes + length, bytes.len());
        }
        assert_eq!(Frame::read(&[2, 0, 0]), Ok(None));
        assert_eq!(Frame::read(&[8, 0]), Err(8), "reserved flags");
        assert_eq!(Frame::read(&[5, 0]), Err(5), "commands have one frame");
    }

    #[test]
    fn greetings_of_others_are_refused_as_soon_as_they_differ() {
        assert_eq!(check_greeting(&greeting()), Ok(()));
        assert_eq!(check_greeting(b"GET / HTTP/1.1"), Err(BadGreeting::NoGreeting(0)));
        let mut old = greeting();
        old[10] = 1;
        assert_eq!(check_greeting(&old[..11]), Err(BadGreeting::Version(1)));
        let mut curve = greeting();
        curve[12..17].copy_from_slice(b"CURVE");
        assert_eq!(check_greeting(&curve), Err(BadGreeting::Mechanism("CURVE".to_owned())));
    }

    #[test]
    fn properties_know_no_case_and_say_where_they_break() {
        let mut data = Vec::new();
        push_property(&mut data, "Identity", b"");
        push_property(&mut data, "Socket-Type", b"REP");
        assert_eq!(property(&data, "socket-type"), Ok(Some(&b"REP"[..])));
        assert_eq!(property(&data, "other"), Ok(None));
        assert_eq!(property(&data[..data.len() - 1], "socket-type"), Err(25));
        assert_eq!(property(&[3, b'a', b'b', b'c', 255, 255, 255, 255], "abc"), Err(4));
    }
}
