//! Permanent obstacles (kerbs, fences, walls) as an occupancy grid in tiles (S4-5).
//!
//! The world is a grid of small cells, cut into square [`Tile`]s of [`SIDE`] × [`SIDE`]. A map of any size lies in a
//! [`TileFile`]; a [`TileStore`] holds the tiles around the host and drops the others. Queries go through [`Cells`], so
//! that they work on a store and on a [`Canvas`] alike, and refuse to answer where nothing is loaded.
//!
//! ```
//! use anabranch_geometry::tiles::{Canvas, Grid, TileFile, TileStore, Area, cast_ray, to_file};
//! use anabranch_geometry::Point;
//!
//! // A fence along y = 5 m, drawn, written and read back around a car at the origin.
//! let mut canvas = Canvas::new(Grid { origin: Point::new(0.0, 0.0), cell_m: 0.2 });
//! canvas.draw_line(Point::new(-500.0, 5.0), Point::new(500.0, 5.0), 0.1);
//! let file = TileFile::open(to_file(&canvas)).unwrap();
//! let mut store = TileStore::new(*file.grid(), Area { active_m: 60.0, preloaded_m: 120.0 });
//! store.follow(Point::new(0.0, 0.0), &file).unwrap();
//!
//! let hit = cast_ray(&store, Point::new(0.0, 0.0), [0.0, 1.0], 50.0).unwrap();
//! assert!((hit.unwrap() - 4.9).abs() < 0.2);
//! ```

mod canvas;
mod faces;
mod file;
mod grid;
mod overlap;
mod ray;
mod shared;
mod store;
mod tile;

pub use canvas::{Canvas, DRAWN_MAX, TooWide};
pub use faces::faces_towards;
pub use file::{AnyBytes, Bytes, TileFile, TileFileError, to_file};
pub use grid::{Cell, Grid, SIDE, TileId};
pub use overlap::{clearance_to_tiles, nearest_in_tiles, overlaps_tiles};
pub use ray::cast_ray;
pub use shared::{NearTiles, SharedTiles};
pub use store::{Area, TileSource, TileStore};
pub use tile::{Bitmap, Tile};

/// Something that knows which cells are occupied.
pub trait Cells {
    /// Where its cells lie.
    fn grid(&self) -> &Grid;
    /// A tile; none where it is not known.
    fn tile(&self, id: TileId) -> Option<&Tile>;
}

/// A query that reached a tile that is not loaded. What is unknown is never taken for free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotLoaded(pub TileId);

impl std::fmt::Display for NotLoaded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "tile {}, {} is not loaded: it lies outside of the active area", self.0.column, self.0.row)
    }
}

impl std::error::Error for NotLoaded {}
