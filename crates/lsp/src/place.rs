//! Places: editors count lines and UTF-16 units from zero, files are called by addresses.

use std::path::{Path, PathBuf};

use anabranch_language::syntax::Span;
use serde_json::{Value, json};

/// The byte at a line and a character.
pub fn byte_at(text: &str, position: &Value) -> usize {
    let number = |key: &str| usize::try_from(position[key].as_u64().unwrap_or(0)).unwrap_or(usize::MAX);
    let (line, character) = (number("line"), number("character"));
    let start = match line {
        0 => 0,
        line => text.match_indices('\n').nth(line - 1).map_or(text.len(), |(at, _)| at + 1),
    };
    let mut units = 0;
    for (at, c) in text[start..].char_indices() {
        if c == '\n' || units >= character {
            return start + at;
        }
        units += c.len_utf16();
    }
    text.len()
}

fn position(text: &str, at: usize) -> Value {
    let at = text.floor_char_boundary(at.min(text.len()));
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    json!({ "line": before.matches('\n').count(), "character": text[line_start..at].encode_utf16().count() })
}

/// From the first byte to the last.
pub fn range(text: &str, span: Span) -> Value {
    json!({ "start": position(text, span.start as usize), "end": position(text, span.end as usize) })
}

/// `file:///a/b%20c` as a path.
pub fn path_of(address: &str) -> Option<PathBuf> {
    let rest = address.strip_prefix("file://")?;
    // A host may stand before the path; on this machine it is empty.
    let rest = &rest[rest.find('/')?..];
    let mut bytes = Vec::new();
    let mut all = rest.bytes();
    while let Some(byte) = all.next() {
        let hex = |b: u8| char::from(b).to_digit(16);
        match byte {
            b'%' => match (all.next().and_then(hex), all.next().and_then(hex)) {
                (Some(high), Some(low)) => bytes.push(u8::try_from(high * 16 + low).unwrap_or(b'?')),
                _ => return None,
            },
            byte => bytes.push(byte),
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    // `/C:/models`: the drive of Windows begins the path.
    let drive = text.as_bytes().get(2) == Some(&b':');
    Some(PathBuf::from(if drive { &text[1..] } else { &text }))
}

/// The address of a path.
pub fn address_of(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    let mut address = "file://".to_owned();
    if !text.starts_with('/') {
        address.push('/');
    }
    for byte in text.bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' | b':' => address.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => address.push(char::from(byte)),
            byte => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_utf16_units() {
        let text = "ab\nc°𝄞d\n";
        let at = text.find('d').unwrap();
        assert_eq!(position(text, at), json!({ "line": 1, "character": 4 }));
        assert_eq!(byte_at(text, &json!({ "line": 1, "character": 4 })), at);
        assert_eq!(byte_at(text, &json!({ "line": 9, "character": 4 })), text.len());
        assert_eq!(byte_at(text, &json!({ "line": 0, "character": 99 })), 2);
    }

    #[test]
    fn addresses_and_paths_are_the_same_thing() {
        for path in ["/a/b c/Ä%.emam", "/x"] {
            assert_eq!(path_of(&address_of(Path::new(path))), Some(PathBuf::from(path)));
        }
        assert_eq!(path_of("file:///c:/m/A.emam"), Some(PathBuf::from("c:/m/A.emam")));
        assert_eq!(path_of("untitled:1"), None);
    }
}
