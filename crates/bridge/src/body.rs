//! Bodies of messages: written as MessagePack maps with names, read with the place of what is wrong.

use rmp::Marker;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::misbehaviour::{Kind, Misbehaviour};

/// Bodies beyond this are counted through before they are read: a byte on the wire can become a hundred in memory.
const COUNTED_BYTES: usize = 1 << 20;
/// Most values in one body.
const VALUES_MAX: u64 = 8 << 20;

/// Appends the body of a message.
pub fn encode<T: Serialize>(message: &T, out: &mut Vec<u8>) {
    out.clear();
    let mut serializer = rmp_serde::Serializer::new(out).with_struct_map();
    message.serialize(&mut serializer).expect("messages are plain data, and memory can always be written to");
}

/// Reads the body of a message.
///
/// # Errors
/// [`Kind::Truncated`] when it ends too early, [`Kind::Oversized`] when it holds too many values, else
/// [`Kind::Malformed`]; each with the byte and, where there is one, the field.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Misbehaviour> {
    if bytes.len() > COUNTED_BYTES {
        count(bytes)?;
    }
    let mut reader = rmp_serde::Deserializer::new(std::io::Cursor::new(bytes));
    match T::deserialize(&mut reader) {
        // What follows the value would be silently ignored; a sender that counts wrongly is better told.
        Ok(message) if reader.position() == bytes.len() as u64 => Ok(message),
        Ok(_) => {
            let at = reader.position() as usize;
            Err(Misbehaviour::new(Kind::Malformed, format!("byte {at}: the message ends here, and {} bytes follow", bytes.len() - at)))
        }
        Err(_) => Err(locate::<T>(bytes)),
    }
}

/// Reads again, slowly, to say where it went wrong.
fn locate<T: DeserializeOwned>(bytes: &[u8]) -> Misbehaviour {
    let mut reader = rmp_serde::Deserializer::new(std::io::Cursor::new(bytes));
    let mut track = serde_path_to_error::Track::new();
    let result = T::deserialize(serde_path_to_error::Deserializer::new(&mut reader, &mut track));
    let (at, path) = (reader.position(), track.path().to_string());
    let Err(error) = result else {
        return Misbehaviour::new(Kind::Malformed, format!("byte {at}: not a message"));
    };
    let field = if path == "." { String::new() } else { format!(" in `{path}`") };
    use rmp_serde::decode::Error;
    let kind = match &error {
        Error::InvalidMarkerRead(cause) | Error::InvalidDataRead(cause)
            if cause.kind() == std::io::ErrorKind::UnexpectedEof =>
        {
            return Misbehaviour::new(Kind::Truncated, format!("byte {at}{field}: the message of {} bytes ends too early", bytes.len()));
        }
        _ => Kind::Malformed,
    };
    Misbehaviour::new(kind, format!("byte {at}{field}: {error}"))
}

/// Goes through the values without keeping any.
fn count(bytes: &[u8]) -> Result<(), Misbehaviour> {
    let mut rest = bytes;
    let mut expected: u64 = 1;
    let mut seen: u64 = 0;
    while expected > 0 {
        let at = bytes.len() - rest.len();
        let cut = || Misbehaviour::new(Kind::Truncated, format!("byte {at}: the message of {} bytes ends too early", bytes.len()));
        let marker = rmp::decode::read_marker(&mut rest).map_err(|_| cut())?;
        let (values, data) = sizes(marker, &mut rest).ok_or_else(cut)?;
        rest = rest.get(data as usize..).ok_or_else(cut)?;
        expected = expected - 1 + values;
        seen += 1;
        if seen + expected > VALUES_MAX {
            let text = format!("byte {at}: the message holds more than {VALUES_MAX} values");
            return Err(Misbehaviour::new(Kind::Oversized, text));
        }
    }
    Ok(())
}

/// How many values, then how many bytes of data belong to a marker; lengths are taken from `rest`.
fn sizes(marker: Marker, rest: &mut &[u8]) -> Option<(u64, u64)> {
    let mut length = |bytes: usize| {
        let (head, tail) = rest.split_at_checked(bytes)?;
        *rest = tail;
        Some(head.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
    };
    Some(match marker {
        Marker::Null | Marker::True | Marker::False | Marker::FixPos(_) | Marker::FixNeg(_) | Marker::Reserved => (0, 0),
        Marker::U8 | Marker::I8 => (0, 1),
        Marker::U16 | Marker::I16 => (0, 2),
        Marker::U32 | Marker::I32 | Marker::F32 => (0, 4),
        Marker::U64 | Marker::I64 | Marker::F64 => (0, 8),
        Marker::FixStr(n) => (0, u64::from(n)),
        Marker::Str8 | Marker::Bin8 => (0, length(1)?),
        Marker::Str16 | Marker::Bin16 => (0, length(2)?),
        Marker::Str32 | Marker::Bin32 => (0, length(4)?),
        Marker::FixArray(n) => (u64::from(n), 0),
        Marker::Array16 => (length(2)?, 0),
        Marker::Array32 => (length(4)?, 0),
        Marker::FixMap(n) => (2 * u64::from(n), 0),
        Marker::Map16 => (2 * length(2)?, 0),
        Marker::Map32 => (2 * length(4)?, 0),
        Marker::FixExt1 => (0, 2),
        Marker::FixExt2 => (0, 3),
        Marker::FixExt4 => (0, 5),
        Marker::FixExt8 => (0, 9),
        Marker::FixExt16 => (0, 17),
        Marker::Ext8 => (0, length(1)? + 1),
        Marker::Ext16 => (0, length(2)? + 1),
        Marker::Ext32 => (0, length(4)? + 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Answer, Decision, Reply, Request};

    fn reply(answers: Vec<Answer>) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(&Reply { anabranch: 1, seq: 3, answers, seconds: None }, &mut bytes);
        bytes
    }

    #[test]
    fn messages_are_maps_with_names() {
        let bytes = reply(vec![Answer::Done {}]);
        assert_eq!(&bytes[..11], b"\x84\xa9anabranch");
        assert!(bytes.windows(7).any(|window| window == b"\x81\xa4done\x80"), "a verb is a map with one entry");
        assert_eq!(decode::<Reply>(&bytes).unwrap().answers, [Answer::Done {}]);
    }

    #[test]
    fn what_is_wrong_is_told_with_byte_and_field() {
        let bytes = reply(vec![Answer::Done {}, Answer::Decision(Decision { steer: 0.5, ..Decision::default() })]);
        let cut = decode::<Reply>(&bytes[..bytes.len() - 40]).unwrap_err();
        assert_eq!(cut.kind, Kind::Truncated, "{cut}");
        assert!(cut.text.contains("answers[1]"), "{cut}");
        let at = bytes.windows(5).position(|window| window == b"steer").unwrap() + 5;
        let mut text = bytes.clone();
        text.splice(at..at + 9, *b"\xa2no");
        let wrong = decode::<Reply>(&text).unwrap_err();
        assert_eq!(wrong.kind, Kind::Malformed);
        assert!(wrong.text.contains("answers[1].decision.steer"), "{wrong}");
        assert!(wrong.text.contains(&format!("byte {}", at + 1)), "{wrong}, {at}");
        let mut long = bytes;
        long.push(0);
        assert!(decode::<Reply>(&long).unwrap_err().text.contains("1 bytes follow"));
    }

    #[test]
    fn a_bomb_of_tiny_values_is_refused_before_it_is_read() {
        let mut bytes = b"\x81\xa3ops\xdd\x01\x00\x00\x00".to_vec();
        bytes.resize(bytes.len() + (1 << 24), 0xc0);
        assert_eq!(decode::<Request>(&bytes).unwrap_err().kind, Kind::Oversized);
    }
}
