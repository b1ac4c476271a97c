//! Reading a trail back.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anabranch_kernel::{Digest, DigestWriter};

use super::Node;
use super::format::{self, BLOCK_NODES, CHECK_BYTES, FOOTER_BYTES, Footer, HEADER_BYTES, Header, NODE_BYTES};
use crate::error::RecordError;

/// How a state is reached from a start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trail {
    /// Position in the list of starts.
    pub start: u64,
    /// The error choice of every segment since.
    pub choices: Vec<u16>,
}

/// Random access to the whole levels of a trail. Holds one block and 64 bytes per level in memory.
#[derive(Debug)]
pub struct TrailReader {
    folder: PathBuf,
    levels: Vec<(Header, Footer)>,
    cache: Mutex<Block>,
}

/// The block that was read last; neighbours are often asked for together.
#[derive(Debug, Default)]
struct Block {
    nodes: Vec<u8>,
    /// Level and number of the block.
    at: Option<(usize, u64)>,
}

impl TrailReader {
    /// Opens a trail: reads the ends of every level file and checks that they form one chain. The nodes are checked
    /// when they are read; [`verify`](Self::verify) checks all of them.
    ///
    /// # Errors
    /// When the folder cannot be read or the chain is broken.
    pub fn open(folder: &Path) -> Result<Self, RecordError> {
        let mut reader = Self { folder: folder.to_owned(), levels: Vec::new(), cache: Mutex::default() };
        reader.refresh()?;
        Ok(reader)
    }

    /// Opens the levels before the first that is damaged, every byte of them checked; and says what is wrong with that
    /// one.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn open_whole(folder: &Path) -> Result<(Self, Option<RecordError>), RecordError> {
        let mut reader = Self { folder: folder.to_owned(), levels: Vec::new(), cache: Mutex::default() };
        let files = level_numbers(folder)?;
        while reader.levels.len() < files.len() {
            let level = reader.levels.len();
            if let Err(damage) = reader.take_in(level).and_then(|()| reader.verify_level(level)) {
                reader.levels.truncate(level);
                return Ok((reader, Some(damage)));
            }
        }
        Ok((reader, None))
    }

    /// Takes in the levels that were published since.
    ///
    /// # Errors
    /// When the folder cannot be read or the chain is broken.
    pub fn refresh(&mut self) -> Result<(), RecordError> {
        let count = count_levels(&self.folder)?;
        (self.levels.len()..count).try_for_each(|level| self.take_in(level))
    }

    fn take_in(&mut self, level: usize) -> Result<(), RecordError> {
        let path = format::level_path(&self.folder, level as u32);
        let (header, footer) = read_ends(&path)?;
        let (expected_level, first_id, previous) = self.end();
        if header != (Header { level: expected_level, first_id, previous }) {
            return Err(RecordError::damaged(&path, "it does not follow the level before it"));
        }
        self.levels.push((header, footer));
        Ok(())
    }

    /// Number of whole levels, the starts included.
    pub fn levels(&self) -> usize {
        self.levels.len()
    }
    /// Number of nodes; ids are below it.
    pub fn len(&self) -> u64 {
        self.end().1
    }
    /// True if there is no node.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Ids of the nodes of a level.
    ///
    /// # Panics
    /// When there is no such level.
    pub fn ids(&self, level: usize) -> std::ops::Range<u64> {
        let (header, footer) = &self.levels[level];
        header.first_id..header.first_id + footer.count
    }
    /// Digest of the last level, which covers all before it.
    pub fn digest(&self) -> Digest {
        self.end().2
    }

    /// How a node was reached.
    ///
    /// # Errors
    /// When the file cannot be read or its block is damaged, or there is no such node.
    pub fn node(&self, id: u64) -> Result<Node, RecordError> {
        let level = self.levels.partition_point(|(header, footer)| header.first_id + footer.count <= id);
        if level == self.levels.len() {
            return Err(RecordError::NotFound(format!("there is no state {id}; the trail has {}", self.len())));
        }
        let at = id - self.levels[level].0.first_id;
        let node = self.with_block(level, at / BLOCK_NODES, |nodes| format::node_of_block(nodes, at))?;
        match node {
            Node::Step { parent, .. } if parent >= id => {
                let path = format::level_path(&self.folder, level as u32);
                Err(RecordError::damaged(&path, format!("state {id} has the later state {parent} as its parent")))
            }
            _ => Ok(node),
        }
    }

    /// The way from a start to a node.
    ///
    /// # Errors
    /// As [`node`](Self::node).
    pub fn path_to(&self, id: u64) -> Result<Trail, RecordError> {
        Trail::collect(id, |id| self.node(id))
    }

    /// The note that was given with the end of a level.
    ///
    /// # Errors
    /// When the file cannot be read or is damaged.
    ///
    /// # Panics
    /// When there is no such level.
    pub fn note(&self, level: usize) -> Result<Vec<u8>, RecordError> {
        self.digest_level(level)
    }

    /// Reads every byte of every level and compares with the checksums and the chain.
    ///
    /// # Errors
    /// With the first file that is not what was written.
    pub fn verify(&self) -> Result<(), RecordError> {
        (0..self.levels.len()).try_for_each(|level| self.verify_level(level))
    }

    fn verify_level(&self, level: usize) -> Result<(), RecordError> {
        let count = self.levels[level].1.count;
        for block in 0..count.div_ceil(BLOCK_NODES) {
            self.with_block(level, block, |_| ())?;
        }
        self.digest_level(level).map(|_| ())
    }

    /// Forgets the levels from this one on.
    pub(super) fn truncate(&mut self, levels: usize) {
        self.levels.truncate(levels);
        *self.cache.lock().unwrap_or_else(PoisonError::into_inner) = Block::default();
    }

    /// Number, first id and previous digest that the next level must have.
    pub(super) fn end(&self) -> (u32, u64, Digest) {
        match self.levels.last() {
            None => (0, 0, Digest::default()),
            Some((header, footer)) => (header.level + 1, header.first_id + footer.count, footer.digest),
        }
    }

    /// Compares the digest of a whole file; returns its note, which needs the digest to be trusted.
    fn digest_level(&self, level: usize) -> Result<Vec<u8>, RecordError> {
        let path = format::level_path(&self.folder, level as u32);
        let footer = self.levels[level].1;
        let mut file = File::open(&path).map_err(RecordError::io("read", &path))?;
        let mut digest = DigestWriter::new();
        let mut buffer = vec![0; 1 << 16];
        let mut left = footer.file_bytes().expect("checked when opened") - FOOTER_BYTES as u64 - footer.note_bytes;
        while left > 0 {
            let part = &mut buffer[..left.min(1 << 16) as usize];
            file.read_exact(part).map_err(RecordError::io("read", &path))?;
            digest.bytes(part);
            left -= part.len() as u64;
        }
        let mut note = vec![0; footer.note_bytes as usize];
        file.read_exact(&mut note).map_err(RecordError::io("read", &path))?;
        digest.bytes(&note);
        digest.bytes(&footer.sizes());
        if digest.finish() == footer.digest {
            Ok(note)
        } else {
            Err(RecordError::damaged(&path, "its digest does not fit"))
        }
    }

    /// Takes in a level that this process has just published.
    pub(super) fn add(&mut self, header: Header, footer: Footer) {
        self.levels.push((header, footer));
    }

    fn with_block<T>(&self, level: usize, block: u64, read: impl FnOnce(&[u8]) -> T) -> Result<T, RecordError> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.at != Some((level, block)) {
            cache.at = None;
            let path = format::level_path(&self.folder, level as u32);
            let count = BLOCK_NODES.min(self.levels[level].1.count - block * BLOCK_NODES) as usize;
            let mut file = File::open(&path).map_err(RecordError::io("read", &path))?;
            read_block(&mut file, &path, (level as u32, block), count, &mut cache.nodes)?;
            cache.at = Some((level, block));
        }
        Ok(read(&cache.nodes))
    }
}

impl Trail {
    /// Walks back to the start.
    pub(super) fn collect(
        id: u64,
        mut node: impl FnMut(u64) -> Result<Node, RecordError>,
    ) -> Result<Self, RecordError> {
        let mut choices = Vec::new();
        let mut at = id;
        loop {
            match node(at)? {
                Node::Start { index } => {
                    choices.reverse();
                    return Ok(Self { start: index, choices });
                }
                Node::Step { parent, choice } => {
                    choices.push(choice);
                    at = parent;
                }
            }
        }
    }
}

/// Reads a block of a level file and checks it.
pub(super) fn read_block(
    file: &mut File,
    path: &Path,
    (level, block): (u32, u64),
    count: usize,
    nodes: &mut Vec<u8>,
) -> Result<(), RecordError> {
    nodes.resize(count * NODE_BYTES + CHECK_BYTES, 0);
    file.seek(SeekFrom::Start(format::block_offset(block)))
        .and_then(|_| file.read_exact(nodes))
        .map_err(RecordError::io("read", path))?;
    let check = format::le64(&nodes[count * NODE_BYTES..]);
    nodes.truncate(count * NODE_BYTES);
    if format::block_checksum(level, block, nodes) == check {
        return Ok(());
    }
    Err(RecordError::damaged(path, format!("the checksum of block {block} does not fit")))
}

/// Numbers of the level files, in order.
pub(super) fn level_numbers(folder: &Path) -> Result<Vec<usize>, RecordError> {
    let mut numbers = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(RecordError::io("read", folder))? {
        let name = entry.map_err(RecordError::io("read", folder))?.file_name();
        if let Some(number) = name.to_str().and_then(|name| name.strip_suffix(".lvl")?.parse::<usize>().ok()) {
            numbers.push(number);
        }
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Number of level files; they must have no gap.
fn count_levels(folder: &Path) -> Result<usize, RecordError> {
    let numbers = level_numbers(folder)?;
    match numbers.iter().enumerate().find(|(at, number)| at != *number) {
        None => Ok(numbers.len()),
        Some((at, _)) => Err(RecordError::damaged(&format::level_path(folder, at as u32), "it is missing")),
    }
}

fn read_ends(path: &Path) -> Result<(Header, Footer), RecordError> {
    let mut file = File::open(path).map_err(RecordError::io("read", path))?;
    let length = file.metadata().map_err(RecordError::io("read", path))?.len();
    if length < (HEADER_BYTES + FOOTER_BYTES) as u64 {
        return Err(RecordError::damaged(path, "it is too short"));
    }
    let (mut header, mut footer) = ([0; HEADER_BYTES], [0; FOOTER_BYTES]);
    file.read_exact(&mut header)
        .and_then(|()| file.seek(SeekFrom::Start(length - FOOTER_BYTES as u64)))
        .and_then(|_| file.read_exact(&mut footer))
        .map_err(RecordError::io("read", path))?;
    let header = Header::from_bytes(&header).ok_or_else(|| RecordError::damaged(path, "its header does not fit"))?;
    let footer = Footer::from_bytes(&footer).ok_or_else(|| RecordError::damaged(path, "its end does not fit"))?;
    if footer.file_bytes() != Some(length) || footer.note_bytes > format::NOTE_BYTES_MAX {
        return Err(RecordError::damaged(path, format!("it has {length} bytes, which does not fit its end")));
    }
    if header.first_id.checked_add(footer.count).is_none_or(|end| end > super::ID_MAX + 1) {
        return Err(RecordError::damaged(path, "its ids are too large"));
    }
    Ok((header, footer))
}
