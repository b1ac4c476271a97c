//! The last words of a process.

use std::collections::VecDeque;

use crate::process::OUTPUT_KEPT_BYTES;

/// The end of a stream of bytes.
#[derive(Debug, Default)]
pub(super) struct Tail {
    bytes: VecDeque<u8>,
    left_out: u64,
}

impl Tail {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let skipped = bytes.len().saturating_sub(OUTPUT_KEPT_BYTES);
        self.bytes.extend(&bytes[skipped..]);
        let excess = self.bytes.len().saturating_sub(OUTPUT_KEPT_BYTES);
        self.bytes.drain(..excess);
        self.left_out += (skipped + excess) as u64;
    }
    /// As text; what is no text is replaced. Says how much came before.
    pub(super) fn text(&self) -> Option<String> {
        if self.bytes.is_empty() {
            return None;
        }
        let (a, b) = self.bytes.as_slices();
        let kept = String::from_utf8_lossy(&[a, b].concat()).into_owned();
        Some(if self.left_out == 0 { kept } else { format!("[{} bytes before]\n{kept}", self.left_out) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_and_the_rest_is_counted() {
        let mut tail = Tail::default();
        assert_eq!(tail.text(), None);
        tail.push(b"first ");
        tail.push(&vec![b'x'; OUTPUT_KEPT_BYTES - 3]);
        let text = tail.text().unwrap();
        assert!(text.starts_with("[3 bytes before]\nst xxx"), "{}", &text[..30]);
        tail.push(&vec![b'y'; 3 * OUTPUT_KEPT_BYTES]);
        assert!(tail.text().unwrap().ends_with("yyy"));
        assert_eq!(tail.bytes.len(), OUTPUT_KEPT_BYTES);
    }
}
