//! The tiles around the host: memory does not depend on the size of the map (S4-5).

use std::collections::BTreeMap;

use super::Cells;
use super::grid::{Cell, Grid, TileId};
use super::tile::Tile;
use crate::pose::Point;

/// Where tiles come from: a file, a network, a generator. The edge implements it, so that nothing here opens a file.
pub trait TileSource {
    /// Why a tile could not be had.
    type Error;
    /// A tile of the map; free where the map ends.
    ///
    /// # Errors
    /// When it cannot be read.
    fn load(&self, id: TileId) -> Result<Tile, Self::Error>;
}

/// How much of the map is held, as distances from the host along the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// What can be asked about.
    pub active_m: f64,
    /// What is loaded ahead when the active area comes to an edge; at least as much.
    pub preloaded_m: f64,
}

/// A window of tiles that follows the host. It is a cache, never part of a state: what it answers depends only on the map.
#[derive(Clone, Debug)]
pub struct TileStore {
    grid: Grid,
    area: Area,
    tiles: BTreeMap<TileId, Tile>,
    /// First and last tile of the loaded rectangle.
    window: Option<(TileId, TileId)>,
}

/// What an entry of the ordered map costs besides key and value, at most: half-filled nodes and their pointers.
const ENTRY_OVERHEAD: usize = 32;

impl TileStore {
    /// Nothing loaded yet.
    pub fn new(grid: Grid, area: Area) -> Self {
        let preloaded_m = area.preloaded_m.max(area.active_m);
        Self { grid, area: Area { preloaded_m, ..area }, tiles: BTreeMap::new(), window: None }
    }

    /// Makes the active area around the host available. Most calls do nothing: only when the active area leaves what is
    /// loaded, the preloaded area is loaded anew, and what lies outside of it is dropped.
    ///
    /// # Errors
    /// When a tile cannot be read; the store then stays as it was, and the call can be repeated.
    pub fn follow<S: TileSource>(&mut self, host: Point, source: &S) -> Result<(), S::Error> {
        let active = tiles_within(&self.grid, host, self.area.active_m);
        if self.window.is_some_and(|window| contains(window, active.0) && contains(window, active.1)) {
            return Ok(());
        }
        let wanted = tiles_within(&self.grid, host, self.area.preloaded_m);
        let missing = || rectangle(wanted).filter(|id| !self.tiles.contains_key(id));
        let loaded = missing().map(|id| source.load(id).map(|tile| (id, tile.compact())));
        let loaded = loaded.collect::<Result<Vec<_>, _>>()?;
        // For a moment the old window and the new one are both held; never more.
        self.tiles.retain(|id, _| contains(wanted, *id));
        self.tiles.extend(loaded);
        self.window = Some(wanted);
        Ok(())
    }

    /// Memory of all tiles.
    pub fn bytes(&self) -> usize {
        let entry = |tile: &Tile| tile.bytes() + size_of::<TileId>() + ENTRY_OVERHEAD;
        self.tiles.values().map(entry).sum()
    }
    /// How many tiles are held.
    pub fn len(&self) -> usize {
        self.tiles.len()
    }
    /// Whether none is held.
    pub fn is_empty(&self) -> bool {
        self.tiles.is_empty()
    }
}

/// First and last tile of the rectangle that lies within a distance along the axes.
pub(super) fn tiles_within(grid: &Grid, host: Point, distance_m: f64) -> (TileId, TileId) {
    let tile = |sign: f64| {
        let point = Point::new(host.x + sign * distance_m, host.y + sign * distance_m);
        Cell::tile(grid.cell(point))
    };
    (tile(-1.0), tile(1.0))
}

/// Whether a tile lies in a rectangle.
pub(super) fn contains((first, last): (TileId, TileId), id: TileId) -> bool {
    (first.column..=last.column).contains(&id.column) && (first.row..=last.row).contains(&id.row)
}

/// All tiles of a rectangle, row by row.
pub(super) fn rectangle((first, last): (TileId, TileId)) -> impl Iterator<Item = TileId> {
    (first.row..=last.row).flat_map(move |row| (first.column..=last.column).map(move |column| TileId { column, row }))
}

impl Cells for TileStore {
    fn grid(&self) -> &Grid {
        &self.grid
    }
    fn tile(&self, id: TileId) -> Option<&Tile> {
        self.tiles.get(&id)
    }
}
