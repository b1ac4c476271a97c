//! Tiles that many look at, each around a place of its own: every tile is held once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::Cells;
use super::grid::{Grid, TileId};
use super::store::{TileSource, contains, rectangle, tiles_within};
use super::tile::Tile;
use crate::pose::Point;

/// What an entry costs besides its tile, at most.
const ENTRY_BYTES: usize = 96;

/// Tiles of a source, shared by everybody who looks at them. Beyond a bound of memory those are dropped that nobody looks at,
/// first the ones that were not looked at for longest. It is a cache: what it answers depends only on the map.
#[derive(Debug)]
pub struct SharedTiles<S> {
    source: S,
    grid: Grid,
    bytes_max: usize,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    /// With the number of the look that wanted it last.
    tiles: BTreeMap<TileId, (Arc<Tile>, u64)>,
    looks: u64,
    bytes: usize,
    most_bytes: usize,
}

/// The tiles around one place: what can be asked about there.
#[derive(Clone, Debug)]
pub struct NearTiles {
    grid: Grid,
    /// First and last tile of the rectangle, whose tiles lie row by row.
    window: Option<(TileId, TileId)>,
    tiles: Vec<Arc<Tile>>,
}

impl<S: TileSource> SharedTiles<S> {
    /// Nothing loaded yet.
    pub fn new(source: S, grid: Grid, bytes_max: usize) -> Self {
        Self { source, grid, bytes_max, held: Mutex::default() }
    }
    /// A look at nothing yet.
    pub fn near(&self) -> NearTiles {
        NearTiles { grid: self.grid, window: None, tiles: Vec::new() }
    }
    /// Makes everything within a distance along the axes available. Most calls do nothing: a tile is larger than a step.
    ///
    /// # Errors
    /// When a tile cannot be read; what was available then still is.
    pub fn follow(&self, host: Point, reach_m: f64, near: &mut NearTiles) -> Result<(), S::Error> {
        let wanted = tiles_within(&self.grid, host, reach_m);
        if near.window.is_some_and(|window| contains(window, wanted.0) && contains(window, wanted.1)) {
            return Ok(());
        }
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.looks += 1;
        let mut tiles = Vec::new();
        for id in rectangle(wanted) {
            tiles.push(held.tile(id, &self.source)?);
        }
        (near.tiles, near.window) = (tiles, Some(wanted));
        held.most_bytes = held.most_bytes.max(held.bytes);
        if held.bytes > self.bytes_max {
            held.drop_old(self.bytes_max / 4 * 3);
        }
        Ok(())
    }
    /// The most memory that tiles have taken so far.
    pub fn most_bytes(&self) -> usize {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).most_bytes
    }
}

impl Held {
    fn tile<S: TileSource>(&mut self, id: TileId, source: &S) -> Result<Arc<Tile>, S::Error> {
        if let Some((tile, wanted)) = self.tiles.get_mut(&id) {
            *wanted = self.looks;
            return Ok(tile.clone());
        }
        let tile = Arc::new(source.load(id)?.compact());
        self.bytes += tile.bytes() + ENTRY_BYTES;
        self.tiles.insert(id, (tile.clone(), self.looks));
        Ok(tile)
    }
    fn drop_old(&mut self, bytes: usize) {
        let unseen = self.tiles.iter().filter(|(_, (tile, _))| Arc::strong_count(tile) == 1);
        let mut oldest: Vec<(u64, TileId)> = unseen.map(|(id, (_, wanted))| (*wanted, *id)).collect();
        oldest.sort_unstable();
        for (_, id) in oldest {
            if self.bytes <= bytes {
                return;
            }
            if let Some((tile, _)) = self.tiles.remove(&id) {
                self.bytes -= tile.bytes() + ENTRY_BYTES;
            }
        }
    }
}

impl Cells for NearTiles {
    fn grid(&self) -> &Grid {
        &self.grid
    }
    fn tile(&self, id: TileId) -> Option<&Tile> {
        let (first, last) = self.window.filter(|window| contains(*window, id))?;
        let columns = (last.column - first.column + 1) as usize;
        let at = (id.row - first.row) as usize * columns + (id.column - first.column) as usize;
        Some(&*self.tiles[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiles::{Canvas, TileFile, to_file};

    #[test]
    fn two_who_look_share_their_tiles_and_what_nobody_looks_at_is_dropped() {
        let grid = Grid { origin: Point::new(0.0, 0.0), cell_m: 0.2 };
        let mut canvas = Canvas::new(grid);
        canvas.draw_line(Point::new(0.0, 10.0), Point::new(5000.0, 10.0), 0.2);
        let shared = SharedTiles::new(TileFile::open(to_file(&canvas)).unwrap(), grid, 100_000);
        let (mut one, mut two) = (shared.near(), shared.near());
        let at = |x: f64| Point::new(x, 0.0);
        shared.follow(at(20.0), 30.0, &mut one).unwrap();
        let alone = shared.most_bytes();
        shared.follow(at(20.0), 30.0, &mut two).unwrap();
        assert_eq!(shared.most_bytes(), alone, "the second one takes no more");
        let occupied = |near: &NearTiles, x: f64| {
            let cell = grid.cell(Point::new(x, 10.0));
            let (column, row) = cell.within();
            near.tile(cell.tile()).map(|tile| tile.get(column, row))
        };
        for step in 0..400 {
            let x = 20.0 + 10.0 * f64::from(step);
            shared.follow(at(x), 30.0, &mut one).unwrap();
            assert_eq!(occupied(&one, x + 25.0), Some(true));
            assert_eq!(occupied(&one, x + 300.0), None, "what is not loaded is not known");
        }
        assert_eq!(occupied(&two, 20.0), Some(true), "who stays keeps what he looks at");
        let bytes = shared.most_bytes();
        assert!((50_000..150_000).contains(&bytes), "the whole fence is 800 kB: {bytes}");
    }
}
