//! Bytes of a level file; see the table in the module above.

use std::path::{Path, PathBuf};

use anabranch_kernel::{Digest, DigestWriter};

use super::Node;

pub(super) const MAGIC: [u8; 8] = *b"ANALVL01";
pub(super) const HEADER_BYTES: usize = 48;
pub(super) const FOOTER_BYTES: usize = 40;
pub(super) const NODE_BYTES: usize = 7;
pub(super) const CHECK_BYTES: usize = 8;
/// Nodes under one checksum: 14 KiB, a few microseconds to read and check.
pub(super) const BLOCK_NODES: u64 = 2_048;
/// Choice of nodes that are starts; an error space has at most 65 535 choices, so none has this number.
const START: u16 = u16::MAX;
/// Largest note of the explorer: it holds a few dozen bytes per segment of its level.
pub(super) const NOTE_BYTES_MAX: u64 = 1 << 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub level: u32,
    pub first_id: u64,
    pub previous: Digest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Footer {
    pub count: u64,
    pub note_bytes: u64,
    pub digest: Digest,
}

pub(super) fn level_path(folder: &Path, level: u32) -> PathBuf {
    folder.join(format!("{level:04}.lvl"))
}

impl Header {
    pub fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&self.level.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.first_id.to_le_bytes());
        bytes[24..40].copy_from_slice(&self.previous.0.to_le_bytes());
        let check = checksum(&bytes[..40]);
        bytes[40..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    /// `None` if the checksum, the magic or the spare bytes do not fit.
    pub fn from_bytes(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let header =
            Self { level: le32(&bytes[8..]), first_id: le64(&bytes[16..]), previous: Digest(le128(&bytes[24..])) };
        (header.to_bytes() == *bytes).then_some(header)
    }
}

impl Footer {
    pub fn to_bytes(self) -> [u8; FOOTER_BYTES] {
        let mut bytes = [0; FOOTER_BYTES];
        bytes[..16].copy_from_slice(&self.sizes());
        bytes[16..32].copy_from_slice(&self.digest.0.to_le_bytes());
        let check = checksum(&bytes[..32]);
        bytes[32..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    /// `None` if the checksum does not fit.
    pub fn from_bytes(bytes: &[u8; FOOTER_BYTES]) -> Option<Self> {
        let footer = Self { count: le64(bytes), note_bytes: le64(&bytes[8..]), digest: Digest(le128(&bytes[16..])) };
        (footer.to_bytes() == *bytes).then_some(footer)
    }

    /// The bytes of the footer that the digest covers too.
    pub fn sizes(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.count.to_le_bytes());
        bytes[8..].copy_from_slice(&self.note_bytes.to_le_bytes());
        bytes
    }

    /// Length of the whole file; `None` if no file can be that long.
    pub fn file_bytes(&self) -> Option<u64> {
        let blocks = self.count.div_ceil(BLOCK_NODES).checked_mul(CHECK_BYTES as u64)?;
        let nodes = self.count.checked_mul(NODE_BYTES as u64)?;
        nodes.checked_add(blocks)?.checked_add(self.note_bytes)?.checked_add((HEADER_BYTES + FOOTER_BYTES) as u64)
    }
}

/// First byte of a block in its file.
pub(super) fn block_offset(block: u64) -> u64 {
    HEADER_BYTES as u64 + block * (BLOCK_NODES * NODE_BYTES as u64 + CHECK_BYTES as u64)
}

/// Checksum of a block; level and position join it, so that a block cannot stand in for another.
pub(super) fn block_checksum(level: u32, block: u64, nodes: &[u8]) -> u64 {
    let mut digest = DigestWriter::new();
    digest.number(u64::from(level));
    digest.number(block);
    digest.bytes(nodes);
    digest.finish().0 as u64
}

pub(super) fn put_node(node: Node, out: &mut Vec<u8>) {
    let (parent, choice) = match node {
        Node::Start { index } => (index, START),
        Node::Step { parent, choice } => (parent, choice),
    };
    assert!(parent <= super::ID_MAX, "ids and start indices fit into 40 bits");
    assert!(!matches!(node, Node::Step { choice: START, .. }), "choice 65535 marks a start");
    out.extend_from_slice(&parent.to_le_bytes()[..5]);
    out.extend_from_slice(&choice.to_le_bytes());
}

pub(super) fn get_node(bytes: &[u8]) -> Node {
    let mut wide = [0; 8];
    wide[..5].copy_from_slice(&bytes[..5]);
    let (parent, choice) = (u64::from_le_bytes(wide), u16::from_le_bytes([bytes[5], bytes[6]]));
    if choice == START { Node::Start { index: parent } } else { Node::Step { parent, choice } }
}

/// The node at a position of its level, from the nodes of its block.
pub(super) fn node_of_block(nodes: &[u8], at: u64) -> Node {
    let from = (at % BLOCK_NODES) as usize * NODE_BYTES;
    get_node(&nodes[from..from + NODE_BYTES])
}

fn checksum(bytes: &[u8]) -> u64 {
    Digest::of(bytes).0 as u64
}

fn le32(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes[..4].try_into().expect("four bytes"))
}
pub(super) fn le64(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"))
}
fn le128(bytes: &[u8]) -> u128 {
    u128::from_le_bytes(bytes[..16].try_into().expect("sixteen bytes"))
}
