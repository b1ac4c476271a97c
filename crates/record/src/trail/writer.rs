//! Appending to a trail.

use std::io::Write;
use std::path::{Path, PathBuf};

use anabranch_kernel::{Digest, DigestWriter};
use tempfile::NamedTempFile;

use super::format::{self, BLOCK_NODES, Footer, Header, NODE_BYTES};
use super::reader::{level_numbers, read_block};
use super::{Node, Trail, TrailReader};
use crate::error::RecordError;
use crate::publish;

/// Appends kept states level by level. Holds one block in memory, whatever the size of the trail.
///
/// Pushing never fails: what the disk says is kept and reported by [`end_level`](Self::end_level), after which
/// nothing of that level exists on disk.
#[derive(Debug)]
pub struct TrailWriter {
    folder: PathBuf,
    /// The levels that are whole.
    whole: TrailReader,
    next_id: u64,
    open: Option<OpenLevel>,
    failed: Option<RecordError>,
}

#[derive(Debug)]
struct OpenLevel {
    file: NamedTempFile,
    digest: DigestWriter,
    header: Header,
    /// Nodes of the block that is being filled.
    nodes: Vec<u8>,
    blocks: u64,
}

impl TrailWriter {
    /// An empty trail in an existing folder.
    ///
    /// # Errors
    /// When the folder cannot be read or already holds a trail.
    pub fn create(folder: &Path) -> Result<Self, RecordError> {
        if format::level_path(folder, 0).exists() {
            return Err(RecordError::Taken(format!(
                "`{}` already holds a trail; begin another run",
                crate::error::short(folder)
            )));
        }
        Self::resume(folder)
    }

    /// Goes on after the last whole level. Every byte of the trail is checked first, and what a killed process left
    /// unfinished is removed.
    ///
    /// # Errors
    /// When the trail is damaged or the folder cannot be read.
    pub fn resume(folder: &Path) -> Result<Self, RecordError> {
        publish::sweep(folder)?;
        let whole = TrailReader::open(folder)?;
        whole.verify()?;
        Ok(Self { folder: folder.to_owned(), next_id: whole.len(), whole, open: None, failed: None })
    }

    /// Goes on after the last level that is whole, whatever happened to the files since: what is damaged is said,
    /// removed with all that follows it, and can be computed again.
    ///
    /// # Errors
    /// When the folder cannot be read or written.
    pub fn recover(folder: &Path) -> Result<(Self, Option<RecordError>), RecordError> {
        publish::sweep(folder)?;
        let (whole, damage) = TrailReader::open_whole(folder)?;
        let mut writer = Self { folder: folder.to_owned(), next_id: whole.len(), whole, open: None, failed: None };
        writer.go_back_to(writer.whole.levels())?;
        Ok((writer, damage))
    }

    /// Removes the levels from this one on.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn go_back_to(&mut self, levels: usize) -> Result<(), RecordError> {
        (self.open, self.failed) = (None, None);
        for level in level_numbers(&self.folder)?.into_iter().filter(|level| *level >= levels).rev() {
            let path = format::level_path(&self.folder, level as u32);
            std::fs::remove_file(&path).map_err(RecordError::io("remove", &path))?;
        }
        self.whole.truncate(levels);
        self.next_id = self.whole.len();
        Ok(())
    }

    /// The levels that are whole.
    pub fn whole(&self) -> &TrailReader {
        &self.whole
    }

    /// Number of the level that is being written; 0 holds the starts.
    pub fn level(&self) -> u32 {
        self.whole.end().0
    }
    /// The id that the next push will return.
    pub fn next_id(&self) -> u64 {
        self.next_id
    }
    /// Digest of the last whole level, which covers all before it.
    pub fn digest(&self) -> Digest {
        self.whole.digest()
    }

    /// How a node was reached; nodes of the level in hand are known too.
    ///
    /// # Errors
    /// When the file cannot be read or its block is damaged, or there is no such node.
    pub fn node(&self, id: u64) -> Result<Node, RecordError> {
        match &self.open {
            Some(open) if (open.header.first_id..self.next_id).contains(&id) => {
                open.node(id - open.header.first_id, &format::level_path(&self.folder, self.level()))
            }
            _ => self.whole.node(id),
        }
    }

    /// The way from a start to a node.
    ///
    /// # Errors
    /// As [`node`](Self::node).
    pub fn path_to(&self, id: u64) -> Result<Trail, RecordError> {
        Trail::collect(id, |id| self.node(id))
    }

    /// Appends a start and returns its id.
    ///
    /// # Panics
    /// With an index above [`super::ID_MAX`].
    pub fn push_start(&mut self, index: u64) -> u64 {
        self.push_node(Node::Start { index })
    }

    /// Appends the end of a segment and returns its id.
    ///
    /// # Panics
    /// When the parent was never pushed, or with choice 65535, which no error space has.
    pub fn push(&mut self, parent: u64, choice: u16) -> u64 {
        assert!(parent < self.next_id, "node {parent} is used as a parent before it was pushed");
        self.push_node(Node::Step { parent, choice })
    }

    /// Publishes the level. Its nodes can be read from now on and survive the process.
    ///
    /// # Errors
    /// When the disk refused any part of the level.
    pub fn end_level(&mut self) -> Result<(), RecordError> {
        self.end_level_with(&[])
    }

    /// As [`end_level`](Self::end_level), with a note that [`TrailReader::note`] gives back on resume.
    ///
    /// # Errors
    /// When the disk refused any part of the level.
    ///
    /// # Panics
    /// With a note above 1 TiB.
    pub fn end_level_with(&mut self, note: &[u8]) -> Result<(), RecordError> {
        assert!(note.len() as u64 <= format::NOTE_BYTES_MAX, "the note of a level has at most 1 TiB");
        self.open_level();
        let open = self.open.take();
        if let Some(error) = self.failed.take() {
            self.next_id = self.whole.len();
            return Err(error);
        }
        let open = open.expect("a level is open or has failed");
        let (path, header) = (format::level_path(&self.folder, self.level()), open.header);
        let footer = open.close(note, self.next_id, &path)?;
        self.whole.add(header, footer);
        Ok(())
    }

    fn push_node(&mut self, node: Node) -> u64 {
        self.open_level();
        if let Some(open) = &mut self.open {
            format::put_node(node, &mut open.nodes);
            if open.nodes.len() == BLOCK_NODES as usize * NODE_BYTES {
                let path = format::level_path(&self.folder, open.header.level);
                if let Err(error) = open.flush().map_err(RecordError::io("write", &path)) {
                    (self.open, self.failed) = (None, Some(error));
                }
            }
        }
        self.next_id += 1;
        self.next_id - 1
    }

    fn open_level(&mut self) {
        if self.open.is_some() || self.failed.is_some() {
            return;
        }
        let (level, first_id, previous) = self.whole.end();
        let header = Header { level, first_id, previous };
        match OpenLevel::new(&format::level_path(&self.folder, level), header) {
            Ok(open) => self.open = Some(open),
            Err(error) => self.failed = Some(error),
        }
    }
}

impl OpenLevel {
    fn new(path: &Path, header: Header) -> Result<Self, RecordError> {
        let nodes = Vec::with_capacity(BLOCK_NODES as usize * NODE_BYTES);
        let file = publish::begin(path)?;
        let mut open = Self { file, digest: DigestWriter::new(), header, nodes, blocks: 0 };
        open.write(&header.to_bytes()).map_err(RecordError::io("write", path))?;
        Ok(open)
    }

    /// A node by its position in the level: from the block in hand or from the unfinished file.
    fn node(&self, at: u64, path: &Path) -> Result<Node, RecordError> {
        let block = at / BLOCK_NODES;
        if block == self.blocks {
            return Ok(format::node_of_block(&self.nodes, at));
        }
        let mut file = self.file.reopen().map_err(RecordError::io("read", path))?;
        let mut nodes = Vec::new();
        read_block(&mut file, path, (self.header.level, block), BLOCK_NODES as usize, &mut nodes)?;
        Ok(format::node_of_block(&nodes, at))
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.digest.bytes(bytes);
        self.file.write_all(bytes)
    }

    /// Writes the block in hand.
    fn flush(&mut self) -> std::io::Result<()> {
        let mut block = std::mem::take(&mut self.nodes);
        let check = format::block_checksum(self.header.level, self.blocks, &block);
        block.extend_from_slice(&check.to_le_bytes());
        self.write(&block)?;
        block.clear();
        (self.nodes, self.blocks) = (block, self.blocks + 1);
        Ok(())
    }

    fn close(mut self, note: &[u8], next_id: u64, path: &Path) -> Result<Footer, RecordError> {
        let mut footer =
            Footer { count: next_id - self.header.first_id, note_bytes: note.len() as u64, digest: Digest::default() };
        let mut write_end = || {
            if !self.nodes.is_empty() {
                self.flush()?;
            }
            self.write(note)?;
            self.digest.bytes(&footer.sizes());
            footer.digest = self.digest.finish();
            self.file.write_all(&footer.to_bytes())
        };
        write_end().map_err(RecordError::io("write", path))?;
        publish::finish(self.file, path)?;
        Ok(footer)
    }
}
