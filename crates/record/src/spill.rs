//! Records that do not fit into memory, on disk for as long as the process lives.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anabranch_kernel::Digest;

use crate::error::RecordError;

/// Bytes that are gathered before they are written.
const PENDING_BYTES: usize = 1 << 16;
/// Length and checksum before each record.
const HEAD_BYTES: usize = 12;
/// Bytes read at once; a usual state fits, a larger one takes a second read.
const GUESS_BYTES: usize = 1 << 10;

/// A temporary file of opaque, checksummed records. It has no name where the system allows that, so that nothing is
/// left behind even when the process is killed. Threads may read at the same time.
#[derive(Debug)]
pub struct Spill {
    file: SharedFile,
    folder: PathBuf,
    /// Bytes that are in the file.
    written: u64,
    /// Bytes that follow them; whole records only.
    pending: Vec<u8>,
}

impl Spill {
    /// An empty spill on the disk of `folder`.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn new_in(folder: &Path) -> Result<Self, RecordError> {
        let file = tempfile::tempfile_in(folder).map_err(RecordError::io("make a spill file in", folder))?;
        Ok(Self { file: SharedFile::new(file), folder: folder.to_owned(), written: 0, pending: Vec::new() })
    }

    /// Bytes appended so far, lengths and checksums included.
    pub fn len_bytes(&self) -> u64 {
        self.written + self.pending.len() as u64
    }

    /// Appends a record and says where it is.
    ///
    /// # Errors
    /// When the disk is full.
    ///
    /// # Panics
    /// With a record of 4 GiB or more.
    pub fn append(&mut self, record: &[u8]) -> Result<u64, RecordError> {
        let len = u32::try_from(record.len()).expect("a spilled record is smaller than 4 GiB");
        let place = self.len_bytes();
        self.pending.extend_from_slice(&len.to_le_bytes());
        self.pending.extend_from_slice(&checksum(place, record).to_le_bytes());
        self.pending.extend_from_slice(record);
        if self.pending.len() >= PENDING_BYTES {
            let written = self.file.append(self.written, &self.pending);
            written.map_err(RecordError::io("write a spill file in", &self.folder))?;
            self.written += self.pending.len() as u64;
            self.pending.clear();
        }
        Ok(place)
    }

    /// Reads the record at a place that [`append`](Self::append) gave, replacing what was in `out`.
    ///
    /// # Errors
    /// When the disk fails or gives back other bytes than were written, or there never was such a record.
    pub fn read(&self, place: u64, out: &mut Vec<u8>) -> Result<(), RecordError> {
        let available = usize::try_from(self.len_bytes().saturating_sub(place)).unwrap_or(usize::MAX);
        if available < HEAD_BYTES {
            return Err(self.damaged(place, "it lies behind the end"));
        }
        self.bytes_at(place, available.min(GUESS_BYTES), out)?;
        let (len, check) = head(out);
        if len > available - HEAD_BYTES {
            return Err(self.damaged(place, "its length does not fit"));
        }
        if HEAD_BYTES + len > out.len() {
            self.bytes_at(place, HEAD_BYTES + len, out)?;
        }
        out.truncate(HEAD_BYTES + len);
        if checksum(place, &out[HEAD_BYTES..]) != check {
            return Err(self.damaged(place, "its checksum does not fit"));
        }
        out.drain(..HEAD_BYTES);
        Ok(())
    }

    /// Forgets all records and gives the disk back.
    ///
    /// # Errors
    /// When the file cannot be shortened.
    pub fn clear(&mut self) -> Result<(), RecordError> {
        self.pending.clear();
        self.written = 0;
        self.file.file.set_len(0).map_err(RecordError::io("shorten a spill file in", &self.folder))
    }

    /// Fills `out` with `count` bytes from the file or from what is not written yet; a record lies wholly in one of
    /// them, so bytes behind the end of the file are never needed.
    fn bytes_at(&self, place: u64, count: usize, out: &mut Vec<u8>) -> Result<(), RecordError> {
        out.clear();
        if let Some(from) = place.checked_sub(self.written) {
            let from = from as usize;
            out.extend_from_slice(&self.pending[from..(from + count).min(self.pending.len())]);
            return Ok(());
        }
        out.resize(count.min((self.written - place) as usize), 0);
        self.file.read_exact_at(place, out).map_err(RecordError::io("read a spill file in", &self.folder))?;
        if out.len() < HEAD_BYTES.min(count) { Err(self.damaged(place, "it is cut off")) } else { Ok(()) }
    }

    fn damaged(&self, place: u64, why: &str) -> RecordError {
        RecordError::Damaged {
            file: crate::error::short(&self.folder.join("spill")),
            why: format!("record at byte {place}: {why}"),
            way_out: "The disk or the memory of this machine cannot be trusted; explore again on another",
        }
    }
}

/// Length and checksum of a record.
fn head(bytes: &[u8]) -> (usize, u64) {
    let len = u32::from_le_bytes(bytes[..4].try_into().expect("four bytes"));
    (len as usize, u64::from_le_bytes(bytes[4..HEAD_BYTES].try_into().expect("eight bytes")))
}

/// Covers the place too, so that a record cannot stand in for another.
fn checksum(place: u64, record: &[u8]) -> u64 {
    Digest::of(record).0 as u64 ^ place.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ record.len() as u64
}

/// A file that several threads read at once.
#[derive(Debug)]
struct SharedFile {
    file: File,
    /// The position of the file belongs to whoever holds this, where reading needs a position.
    #[cfg(not(unix))]
    turn: std::sync::Mutex<()>,
}

impl SharedFile {
    fn new(file: File) -> Self {
        Self {
            file,
            #[cfg(not(unix))]
            turn: std::sync::Mutex::new(()),
        }
    }

    fn append(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(at))?;
        self.file.write_all(bytes)
    }

    #[cfg(unix)]
    fn read_exact_at(&self, at: u64, out: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, out, at)
    }

    #[cfg(not(unix))]
    fn read_exact_at(&self, at: u64, out: &mut [u8]) -> io::Result<()> {
        let _turn = self.turn.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (&self.file).seek(SeekFrom::Start(at))?;
        io::Read::read_exact(&mut &self.file, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn records_come_back_in_any_order(records in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..9_000), 1..40)) {
            let mut spill = Spill::new_in(&std::env::temp_dir()).unwrap();
            let mut places = Vec::new();
            let mut out = Vec::new();
            for record in &records {
                places.push(spill.append(record).unwrap());
                spill.read(places[places.len() / 2], &mut out).unwrap();
                prop_assert_eq!(&out, &records[places.len() / 2]);
            }
            for (place, record) in places.iter().zip(&records).rev() {
                spill.read(*place, &mut out).unwrap();
                prop_assert_eq!(&out, record);
            }
        }
    }

    #[test]
    fn a_changed_byte_or_a_wrong_place_is_noticed() {
        let mut spill = Spill::new_in(&std::env::temp_dir()).unwrap();
        let at = spill.append(b"a state of the car").unwrap();
        let mut out = Vec::new();
        for _ in 0..2 {
            spill.read(at, &mut out).unwrap();
            assert_eq!(out, b"a state of the car");
            for wrong in [at + 1, at + 5, 29, 31, u64::MAX] {
                assert!(spill.read(wrong, &mut out).is_err(), "{wrong}");
            }
            // Now it lies in the file.
            spill.append(&[0; PENDING_BYTES]).unwrap();
        }
        for byte in 0..30 {
            let mut good = [0];
            spill.file.read_exact_at(byte, &mut good).unwrap();
            spill.file.append(byte, &[good[0] ^ 1]).unwrap();
            assert!(spill.read(at, &mut out).is_err(), "{byte}");
            spill.file.append(byte, &good).unwrap();
        }
        spill.read(at, &mut out).unwrap();
    }

    #[test]
    fn a_cleared_spill_starts_again() {
        let mut spill = Spill::new_in(&std::env::temp_dir()).unwrap();
        spill.append(&[1; 100_000]).unwrap();
        spill.clear().unwrap();
        let at = spill.append(b"two").unwrap();
        assert_eq!(at, 0);
        let mut out = Vec::new();
        spill.read(at, &mut out).unwrap();
        assert_eq!(out, b"two");
    }
}
