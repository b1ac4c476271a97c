//! Tiles on disk, read piece by piece.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Mutex;

use anabranch_geometry::tiles::{Bytes, TileFile, TileFileError};

/// An open file whose bytes are read where they are needed. Threads take turns: a tile is 8 kB and read once.
#[derive(Debug)]
pub struct DiskBytes(Mutex<File>);

impl Bytes for DiskBytes {
    fn read_at(&self, position: u64, buffer: &mut [u8]) -> Result<(), String> {
        let mut file = self.0.lock().map_err(|_| "another reader has failed".to_owned())?;
        file.seek(SeekFrom::Start(position)).map_err(|error| error.to_string())?;
        file.read_exact(buffer).map_err(|error| error.to_string())
    }
}

/// Opens a file of tiles; only its header is read.
///
/// # Errors
/// When it cannot be opened or is something else.
pub fn open_tiles(path: &Path) -> Result<TileFile<DiskBytes>, TileFileError> {
    let file = File::open(path).map_err(|error| TileFileError::Unreadable(error.to_string()))?;
    TileFile::open(DiskBytes(Mutex::new(file)))
}
