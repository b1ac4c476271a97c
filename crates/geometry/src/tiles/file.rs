//! Tiles as a file that is read piece by piece.
//!
//! Little-endian: a header of 64 bytes (magic, origin, cell size, first tile, columns, rows), then one word per tile, row by
//! row: 0 for free, 1 for full, else the position of its 8192 bytes. Nothing of it is held in memory but the header.

use std::io::{Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex};

use super::Cells;
use super::canvas::Canvas;
use super::grid::{Grid, TileId};
use super::store::TileSource;
use super::tile::{Bitmap, Tile, WORDS};
use crate::pose::Point;

const MAGIC: &[u8; 8] = b"ANBTILE1";
const HEADER_BYTES: u64 = 64;
const BITMAP_BYTES: usize = WORDS * 8;
const FREE: u64 = 0;
const FULL: u64 = 1;
/// Most tiles along one side: 50 000 km at cells of 0.2 m.
const TILES_MAX: u32 = 1_000_000;

/// Bytes that can be read anywhere. The edge implements it for files.
pub trait Bytes {
    /// Fills the buffer from a position.
    ///
    /// # Errors
    /// With the reason, when there are not that many bytes or they cannot be read.
    fn read_at(&self, position: u64, buffer: &mut [u8]) -> Result<(), String>;
}

impl Bytes for Vec<u8> {
    fn read_at(&self, position: u64, buffer: &mut [u8]) -> Result<(), String> {
        let start = usize::try_from(position).unwrap_or(usize::MAX);
        let bytes = start.checked_add(buffer.len()).and_then(|end| self.get(start..end));
        let bytes = bytes.ok_or_else(|| format!("the file ends before byte {position} + {}", buffer.len()))?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }
}

/// Anything that can be read and looked for places in, such as a file; readers take turns.
impl<R: Read + Seek> Bytes for Mutex<R> {
    fn read_at(&self, position: u64, buffer: &mut [u8]) -> Result<(), String> {
        let mut file = self.lock().map_err(|_| "another reader has failed".to_owned())?;
        file.seek(SeekFrom::Start(position)).map_err(|error| error.to_string())?;
        file.read_exact(buffer).map_err(|error| error.to_string())
    }
}

/// Bytes of any kind, shared.
#[derive(Clone)]
pub struct AnyBytes(Arc<dyn Bytes + Send + Sync>);

impl AnyBytes {
    /// Shares bytes.
    pub fn new(bytes: impl Bytes + Send + Sync + 'static) -> Self {
        Self(Arc::new(bytes))
    }
}

impl Bytes for AnyBytes {
    fn read_at(&self, position: u64, buffer: &mut [u8]) -> Result<(), String> {
        self.0.read_at(position, buffer)
    }
}

impl PartialEq for AnyBytes {
    /// Whether they are the same, not whether they say the same.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl std::fmt::Debug for AnyBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AnyBytes")
    }
}

/// Why a tile file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TileFileError {
    /// It could not be read.
    Unreadable(String),
    /// It is something else.
    NotTiles,
    /// Its header contradicts itself.
    BadHeader(&'static str),
}

impl std::fmt::Display for TileFileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreadable(reason) => write!(f, "the tiles could not be read: {reason}"),
            Self::NotTiles => write!(f, "this is not a file of tiles: it does not begin with ANBTILE1"),
            Self::BadHeader(reason) => write!(f, "the header of the tiles is broken: {reason}"),
        }
    }
}

impl std::error::Error for TileFileError {}

/// An open file of tiles.
#[derive(Clone, Debug, PartialEq)]
pub struct TileFile<B> {
    bytes: B,
    grid: Grid,
    first: TileId,
    columns: u32,
    rows: u32,
}

impl<B: Bytes> TileFile<B> {
    /// Reads the header.
    ///
    /// # Errors
    /// When it is not a file of tiles.
    pub fn open(bytes: B) -> Result<Self, TileFileError> {
        let mut header = [0; HEADER_BYTES as usize];
        bytes.read_at(0, &mut header).map_err(TileFileError::Unreadable)?;
        if header[..8] != *MAGIC {
            return Err(TileFileError::NotTiles);
        }
        let real = |at: usize| f64::from_le_bytes(take(&header, at));
        let (x, y, cell_m) = (real(8), real(16), real(24));
        let word = |at: usize| u32::from_le_bytes(take(&header, at));
        let (columns, rows) = (word(40), word(44));
        if !(x.is_finite() && y.is_finite() && cell_m.is_finite() && cell_m > 0.0) {
            return Err(TileFileError::BadHeader("origin or cell size is not a number"));
        }
        if columns > TILES_MAX || rows > TILES_MAX {
            return Err(TileFileError::BadHeader("more tiles than fit on the earth"));
        }
        let first = TileId { column: word(32) as i32, row: word(36) as i32 };
        Ok(Self { bytes, grid: Grid { origin: Point::new(x, y), cell_m }, first, columns, rows })
    }
    /// Where its cells lie.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }
}

fn take<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    std::array::from_fn(|i| bytes[at + i])
}

impl<B: Bytes> TileSource for TileFile<B> {
    type Error = TileFileError;

    fn load(&self, id: TileId) -> Result<Tile, TileFileError> {
        let column = i64::from(id.column) - i64::from(self.first.column);
        let row = i64::from(id.row) - i64::from(self.first.row);
        if !(0..i64::from(self.columns)).contains(&column) || !(0..i64::from(self.rows)).contains(&row) {
            return Ok(Tile::Free);
        }
        let number = row as u64 * u64::from(self.columns) + column as u64;
        let mut word = [0; 8];
        self.bytes.read_at(HEADER_BYTES + 8 * number, &mut word).map_err(TileFileError::Unreadable)?;
        let position = match u64::from_le_bytes(word) {
            FREE => return Ok(Tile::Free),
            FULL => return Ok(Tile::Full),
            position => position,
        };
        let mut buffer = [0; BITMAP_BYTES];
        self.bytes.read_at(position, &mut buffer).map_err(TileFileError::Unreadable)?;
        let mut bitmap = Bitmap::default();
        for (i, word) in bitmap.0.iter_mut().enumerate() {
            *word = u64::from_le_bytes(take(&buffer, 8 * i));
        }
        Ok(Tile::Mixed(bitmap))
    }
}

/// The file of everything that was drawn.
pub fn to_file(canvas: &Canvas) -> Vec<u8> {
    let columns = || canvas.tiles().keys().map(|id| id.column);
    let rows = || canvas.tiles().keys().map(|id| id.row);
    let first = TileId { column: columns().min().unwrap_or(0), row: rows().min().unwrap_or(0) };
    let span = |last: Option<i32>, first: i32| last.map_or(0, |last| (i64::from(last) - i64::from(first) + 1) as u32);
    let (width, height) = (span(columns().max(), first.column), span(rows().max(), first.row));
    let grid = canvas.grid();
    let mut out = MAGIC.to_vec();
    for value in [grid.origin.x, grid.origin.y, grid.cell_m] {
        out.extend(value.to_le_bytes());
    }
    for value in [first.column as u32, first.row as u32, width, height] {
        out.extend(value.to_le_bytes());
    }
    out.resize(HEADER_BYTES as usize, 0);
    let mut position = HEADER_BYTES + 8 * u64::from(width) * u64::from(height);
    let mut bitmaps = Vec::new();
    for row in 0..height {
        for column in 0..width {
            let id = TileId { column: first.column + column as i32, row: first.row + row as i32 };
            let word = match canvas.tiles().get(&id).cloned().unwrap_or_default().compact() {
                Tile::Free => FREE,
                Tile::Full => FULL,
                Tile::Mixed(bitmap) => {
                    bitmaps.extend(bitmap.0.iter().flat_map(|word| word.to_le_bytes()));
                    position += BITMAP_BYTES as u64;
                    position - BITMAP_BYTES as u64
                }
            };
            out.extend(word.to_le_bytes());
        }
    }
    out.extend(bitmaps);
    out
}
