//! Tiles on disk.

use anabranch_geometry::Point;
use anabranch_geometry::tiles::{Area, Canvas, Grid, TileFileError, TileStore, cast_ray, to_file};
use anabranch_import::disk::open_tiles;

#[test]
fn tiles_are_read_from_disk_where_the_host_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fence.tiles");
    let mut canvas = Canvas::new(Grid { origin: Point::new(0.0, 0.0), cell_m: 0.2 });
    canvas.draw_line(Point::new(0.0, 6.0), Point::new(3000.0, 6.0), 0.0);
    std::fs::write(&path, to_file(&canvas)).unwrap();

    let file = open_tiles(&path).unwrap();
    let mut store = TileStore::new(*file.grid(), Area { active_m: 50.0, preloaded_m: 100.0 });
    for x in (10..2990).step_by(10) {
        let host = Point::new(f64::from(x) + 0.1, 0.1);
        store.follow(host, &file).unwrap();
        let hit = cast_ray(&store, host, [0.0, 1.0], 40.0).unwrap().unwrap();
        assert!((hit - 5.9).abs() < 1e-9, "{hit}");
    }
    assert!(store.len() <= 30, "{}", store.len());
}

#[test]
fn a_missing_file_is_said_to_be_missing() {
    let gone = open_tiles(std::path::Path::new("no/such/fence.tiles"));
    assert!(matches!(gone, Err(TileFileError::Unreadable(_))));
}
