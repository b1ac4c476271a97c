//! Tiles on disk, read piece by piece.

use std::fs::File;
use std::path::Path;
use std::sync::Mutex;

use anabranch_geometry::tiles::{TileFile, TileFileError};

/// An open file whose bytes are read where they are needed. Threads take turns: a tile is 8 kB and read once.
pub type DiskBytes = Mutex<File>;

/// Opens a file of tiles; only its header is read.
///
/// # Errors
/// When it cannot be opened or is something else.
pub fn open_tiles(path: &Path) -> Result<TileFile<DiskBytes>, TileFileError> {
    let file = File::open(path).map_err(|error| TileFileError::Unreadable(error.to_string()))?;
    TileFile::open(Mutex::new(file))
}
