//! Segments that a later run may take over: `segments.memo`.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `ANAMEMO1` |
//! | 4, 8, n | length and checksum of the head, and the head: whose segments they are |
//! | 4, 8, n | length and checksum of a chunk, and the chunk: whole segments; as many chunks as there are |
//!
//! Checksums cover the place too. A chunk that is not what was written is left out and counted; what follows it is still
//! used. A file that was cut off by a kill loses its last chunk. Nothing here knows what a segment is.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anabranch_kernel::Digest;

use crate::error::RecordError;

/// Name of the file in the folder of a run.
pub const MEMO_FILE: &str = "segments.memo";
const MAGIC: [u8; 8] = *b"ANAMEMO1";
/// Bytes that are gathered before they become a chunk.
const CHUNK_BYTES: usize = 1 << 18;
/// No chunk is longer: one batch of segments beyond what was gathered.
const CHUNK_BYTES_MAX: usize = 1 << 28;
/// Length and checksum before each block.
const BLOCK_HEAD_BYTES: usize = 12;

/// Writes segments from any thread.
#[derive(Debug)]
pub struct MemoWriter {
    path: PathBuf,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    file: File,
    written: u64,
    pending: Vec<u8>,
    /// The first failure; afterwards nothing is written any more.
    failed: Option<io::Error>,
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memo {
    /// Whose segments they are.
    pub head: Vec<u8>,
    /// Whole segments.
    pub chunks: Vec<Vec<u8>>,
    /// What was not as it was written, for a person; `None` if all was.
    pub damage: Option<String>,
}

impl MemoWriter {
    /// Begins a file, or goes on behind the last whole chunk of one with the same head.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn open(path: &Path, head: &[u8]) -> Result<Self, RecordError> {
        let refused = || RecordError::io("write", path);
        let known = whole_bytes(path, head);
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)
            .map_err(RecordError::io("write", path))?;
        file.set_len(known.unwrap_or(0)).map_err(refused())?;
        file.seek(SeekFrom::End(0)).map_err(refused())?;
        let mut inner = Inner { file, written: known.unwrap_or(0), pending: Vec::new(), failed: None };
        if known.is_none() {
            inner.write(&MAGIC);
            inner.write_block(head);
        }
        match inner.failed.take() {
            Some(error) => Err(RecordError::io("write", path)(error)),
            None => Ok(Self { path: path.to_owned(), inner: Mutex::new(inner) }),
        }
    }

    /// Adds whole segments. A failure is told by [`finish`](Self::finish): those who run segments cannot mend it.
    pub fn keep(&self, segments: &[u8]) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.pending.extend_from_slice(segments);
        if inner.pending.len() >= CHUNK_BYTES {
            inner.flush();
        }
    }

    /// Writes what is left; returns the length of the file.
    ///
    /// # Errors
    /// When something could not be written; the file then holds what came before.
    pub fn finish(self) -> Result<u64, RecordError> {
        let mut inner = self.inner.into_inner().unwrap_or_else(PoisonError::into_inner);
        inner.flush();
        match inner.failed {
            Some(error) => Err(RecordError::io("write", &self.path)(error)),
            None => Ok(inner.written),
        }
    }
}

impl Inner {
    fn flush(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        if !pending.is_empty() {
            self.write_block(&pending);
        }
    }

    fn write_block(&mut self, bytes: &[u8]) {
        let mut block = Vec::with_capacity(BLOCK_HEAD_BYTES + bytes.len());
        block.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        block.extend_from_slice(&checksum(self.written, bytes).to_le_bytes());
        block.extend_from_slice(bytes);
        self.write(&block);
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.failed.is_some() {
            return;
        }
        match self.file.write_all(bytes) {
            Ok(()) => self.written += bytes.len() as u64,
            Err(error) => self.failed = Some(error),
        }
    }
}

/// Covers the place too, so that a block cannot stand in for another.
fn checksum(place: u64, bytes: &[u8]) -> u64 {
    Digest::of(bytes).0 as u64 ^ place.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ bytes.len() as u64
}

/// A block as it was found in a file.
enum Block {
    Whole(Vec<u8>),
    /// Its length makes sense, its bytes do not.
    Damaged(u64),
    /// Nothing more can be read.
    CutOff,
}

/// Blocks one after another.
struct Blocks<R> {
    file: R,
    place: u64,
    length: u64,
}

impl<R: Read> Blocks<R> {
    fn next(&mut self) -> io::Result<Option<Block>> {
        let left = self.length - self.place;
        if left == 0 {
            return Ok(None);
        }
        let mut head = [0; BLOCK_HEAD_BYTES];
        if left < BLOCK_HEAD_BYTES as u64 {
            return Ok(Some(Block::CutOff));
        }
        self.file.read_exact(&mut head)?;
        let bytes = u64::from(u32::from_le_bytes(head[..4].try_into().expect("four bytes")));
        let expected = u64::from_le_bytes(head[4..].try_into().expect("eight bytes"));
        if bytes > (left - BLOCK_HEAD_BYTES as u64).min(CHUNK_BYTES_MAX as u64) {
            return Ok(Some(Block::CutOff));
        }
        let mut block = vec![0; bytes as usize];
        self.file.read_exact(&mut block)?;
        let fits = checksum(self.place, &block) == expected;
        self.place += BLOCK_HEAD_BYTES as u64 + bytes;
        Ok(Some(if fits { Block::Whole(block) } else { Block::Damaged(bytes) }))
    }
}

fn blocks_of(path: &Path) -> io::Result<Option<Blocks<io::BufReader<File>>>> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut file = io::BufReader::with_capacity(1 << 16, file);
    let mut magic = [0; MAGIC.len()];
    let begins = length >= MAGIC.len() as u64 && file.read_exact(&mut magic).is_ok() && magic == MAGIC;
    Ok(begins.then_some(Blocks { file, place: MAGIC.len() as u64, length }))
}

/// Where the last whole chunk of a file with this head ends; `None` if there is no such file.
fn whole_bytes(path: &Path, head: &[u8]) -> Option<u64> {
    let mut blocks = blocks_of(path).ok()??;
    match blocks.next().ok()?? {
        Block::Whole(found) if found == head => {}
        _ => return None,
    }
    let mut whole = blocks.place;
    while let Ok(Some(Block::Whole(_))) = blocks.next() {
        whole = blocks.place;
    }
    Some(whole)
}

/// Reads the segments that the run in a folder left; `None` if it left none.
///
/// # Errors
/// When the file is there and cannot be read at all: its beginning is not what was written, or the system refuses.
pub fn read_memo(path: &Path) -> Result<Option<Memo>, RecordError> {
    let refused = || RecordError::io("read", path);
    if !path.try_exists().map_err(refused())? {
        return Ok(None);
    }
    let unusable = |why: &str| RecordError::Damaged {
        file: crate::error::short(path),
        why: why.to_owned(),
        way_out: "Nothing of it is used",
    };
    let mut blocks = blocks_of(path).map_err(refused())?.ok_or_else(|| unusable("it does not begin as it should"))?;
    let head = match blocks.next().map_err(refused())? {
        Some(Block::Whole(head)) => head,
        _ => return Err(unusable("its head is not what was written")),
    };
    let (mut chunks, mut lost_bytes) = (Vec::new(), 0);
    while let Some(block) = blocks.next().map_err(refused())? {
        match block {
            Block::Whole(chunk) => chunks.push(chunk),
            Block::Damaged(bytes) => lost_bytes += bytes,
            Block::CutOff => {
                lost_bytes += blocks.length - blocks.place;
                break;
            }
        }
    }
    let damage = (lost_bytes > 0)
        .then(|| format!("`{}`: {lost_bytes} bytes are not what was written", crate::error::short(path)));
    Ok(Some(Memo { head, chunks, damage }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(path: &Path, head: &[u8], parts: &[&[u8]]) {
        for part in parts {
            let writer = MemoWriter::open(path, head).unwrap();
            writer.keep(part);
            assert_eq!(writer.finish().unwrap(), std::fs::metadata(path).unwrap().len());
        }
    }

    #[test]
    fn what_was_kept_is_read_also_when_a_later_process_went_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(MEMO_FILE);
        assert_eq!(read_memo(&path).unwrap(), None);
        written(&path, b"mine", &[b"one", b"two"]);
        let memo = read_memo(&path).unwrap().unwrap();
        assert_eq!((memo.head.as_slice(), memo.damage), (&b"mine"[..], None));
        assert_eq!(memo.chunks, [b"one".to_vec(), b"two".to_vec()]);
        written(&path, b"other", &[b"three"]);
        assert_eq!(read_memo(&path).unwrap().unwrap().chunks, [b"three".to_vec()], "segments of another are not kept");
    }

    #[test]
    fn any_changed_byte_is_noticed_and_costs_its_chunk_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(MEMO_FILE);
        written(&path, b"mine", &[b"first chunk", b"second chunk", b"third chunk"]);
        let good = std::fs::read(&path).unwrap();
        for at in 0..good.len() {
            for bit in [1, 128] {
                let mut bad = good.clone();
                bad[at] ^= bit;
                std::fs::write(&path, &bad).unwrap();
                match read_memo(&path) {
                    Err(_) => assert!(at < MAGIC.len() + BLOCK_HEAD_BYTES + 4, "byte {at}"),
                    Ok(memo) => {
                        let memo = memo.unwrap();
                        assert!(memo.damage.is_some(), "byte {at}");
                        assert!(memo.chunks.len() < 3);
                        assert!(memo.chunks.iter().all(|chunk| chunk.ends_with(b"chunk")));
                    }
                }
            }
        }
    }

    #[test]
    fn a_file_that_was_cut_off_keeps_its_whole_chunks_and_can_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(MEMO_FILE);
        written(&path, b"mine", &[b"first chunk", b"second chunk"]);
        let good = std::fs::read(&path).unwrap();
        std::fs::write(&path, &good[..good.len() - 3]).unwrap();
        let memo = read_memo(&path).unwrap().unwrap();
        assert_eq!((memo.chunks.len(), memo.damage.is_some()), (1, true));
        written(&path, b"mine", &[b"third chunk"]);
        let memo = read_memo(&path).unwrap().unwrap();
        assert_eq!(memo.chunks, [b"first chunk".to_vec(), b"third chunk".to_vec()]);
        assert_eq!(memo.damage, None);
    }
}
