//! Permanent obstacles in tiles: queries against brute force, and the memory of a long drive.

use anabranch_geometry::tiles::*;
use anabranch_geometry::{Body, Outline, Point, Pose};
use anabranch_kernel::maths;
use proptest::prelude::*;

const CELL_M: f64 = 0.2;

fn canvas() -> Canvas {
    Canvas::new(Grid { origin: Point::new(0.0, 0.0), cell_m: CELL_M })
}

fn body() -> Body {
    Body::new(&Outline { front_m: 3.6, rear_m: 0.9, half_width_m: 0.9, corner_radius_m: 0.3 })
}

/// A few posts of one cell each, as the cells that they occupy.
fn posts() -> impl Strategy<Value = Vec<Cell>> {
    let near_a_corner_of_four_tiles = (236..276_i64, 236..276_i64);
    proptest::collection::vec(near_a_corner_of_four_tiles.prop_map(|(column, row)| Cell { column, row }), 1..8)
}

/// Distance from a point to a cell.
fn distance_to_cell_m(point: Point, cell: Cell) -> f64 {
    let (x, y) = (cell.column as f64 * CELL_M, cell.row as f64 * CELL_M);
    let dx = (x - point.x).max(point.x - x - CELL_M).max(0.0);
    let dy = (y - point.y).max(point.y - y - CELL_M).max(0.0);
    maths::hypot(dx, dy)
}

proptest! {
    #[test]
    fn the_clearance_is_that_of_sampling_the_outline(posts in posts(), x in 47.0..56.0f64, y in 47.0..56.0f64, heading in -3.2..3.2f64) {
        let mut canvas = canvas();
        posts.iter().for_each(|post| canvas.set(*post));
        let (body, pose) = (body(), Pose::new(x, y, heading));
        let found = clearance_to_tiles(&canvas, &body, pose, 3.0).unwrap();
        // The core sampled every 3 cm, inside too; the distance is then at most 3 cm too long.
        let mut brute = f64::INFINITY;
        let (nx, ny) = (130, 40);
        for i in 0..=nx {
            for j in 0..=ny {
                let local = Point::new(
                    body.core_ahead_m + body.core_half_length_m * (2.0 * f64::from(i) / f64::from(nx) - 1.0),
                    body.core_half_width_m * (2.0 * f64::from(j) / f64::from(ny) - 1.0),
                );
                let point = pose.world_from_local(local);
                brute = posts.iter().map(|post| distance_to_cell_m(point, *post)).fold(brute, f64::min);
            }
        }
        let brute = brute - body.radius_m;
        match found {
            Some(found) => prop_assert!(found <= brute + 1e-9 && found >= brute - 0.04, "{found} {brute}"),
            None => prop_assert!(brute > 2.96, "{brute}"),
        }
        prop_assert_eq!(overlaps_tiles(&canvas, &body, pose).unwrap(), found.is_some_and(|found| found <= 0.0));
    }

    #[test]
    fn a_ray_hits_the_first_post_in_its_way(posts in posts(), x in 40.0..60.0f64, y in 40.0..60.0f64, angle in -3.2..3.2f64) {
        let mut canvas = canvas();
        posts.iter().for_each(|post| canvas.set(*post));
        let (sin, cos) = maths::sin_cos(angle);
        let found = cast_ray(&canvas, Point::new(x, y), [cos, sin], 120.0).unwrap();
        // Slabs: where the ray enters and leaves each square, by division.
        let hit = |post: &Cell| {
            let slab = |low: f64, from: f64, speed: f64| {
                let (a, b) = ((low - from) / speed, (low + CELL_M - from) / speed);
                (a.min(b), a.max(b))
            };
            let (x_in, x_out) = slab(post.column as f64 * CELL_M, x, cos);
            let (y_in, y_out) = slab(post.row as f64 * CELL_M, y, sin);
            let (enters, leaves) = (x_in.max(y_in).max(0.0), x_out.min(y_out));
            (enters + 1e-6 < leaves).then_some(enters)
        };
        let expect = posts.iter().filter_map(hit).fold(f64::INFINITY, f64::min);
        let grazes = posts.iter().any(|post| {
            let (cx, cy) = ((post.column as f64 + 0.5) * CELL_M - x, (post.row as f64 + 0.5) * CELL_M - y);
            let across = (cx * sin - cy * cos).abs() - 0.5 * CELL_M * (sin.abs() + cos.abs());
            across.abs() < 1e-6
        });
        if !grazes {
            match found {
                Some(found) => prop_assert!((found - expect).abs() < 1e-6, "{found} {expect}"),
                None => prop_assert!(expect > 120.0 - 1e-6, "{expect}"),
            }
        }
    }
}

#[test]
fn rays_along_the_axes_and_through_many_tiles_end_where_they_should() {
    let mut canvas = canvas();
    canvas.draw_line(Point::new(400.1, -300.0), Point::new(400.1, 300.0), 0.0);
    for (y, direction) in [(0.1, [1.0, 0.0]), (-99.9, [0.96, 0.28]), (51.2, [0.96, -0.28])] {
        let hit = cast_ray(&canvas, Point::new(0.1, y), direction, 1000.0).unwrap().unwrap();
        assert!((hit - 399.9 / direction[0]).abs() < 1e-6, "{hit}");
    }
    assert_eq!(cast_ray(&canvas, Point::new(0.1, 0.1), [-1.0, 0.0], 1000.0).unwrap(), None);
}

#[test]
fn a_file_gives_back_every_tile() {
    let mut canvas = canvas();
    canvas.draw_line(Point::new(-100.0, -20.0), Point::new(90.0, 130.0), 0.3);
    canvas
        .fill_polygon(&[(200.0, 200.0), (320.0, 200.0), (320.0, 320.0), (200.0, 320.0)].map(|(x, y)| Point::new(x, y)));
    let file = TileFile::open(to_file(&canvas)).unwrap();
    assert_eq!(file.grid(), canvas.grid());
    let mut kinds = [0, 0, 0];
    for row in -4..10 {
        for column in -4..10 {
            let id = TileId { column, row };
            let tile = file.load(id).unwrap();
            kinds[match tile {
                Tile::Free => 0,
                Tile::Full => 1,
                Tile::Mixed(_) => 2,
            }] += 1;
            assert_eq!(tile, canvas.tile(id).unwrap().clone().compact());
        }
    }
    assert!(kinds.iter().all(|count| *count > 0), "{kinds:?}");
}

#[test]
fn a_broken_file_is_refused_with_the_reason() {
    let mut canvas = canvas();
    canvas.draw_line(Point::new(0.0, 0.0), Point::new(9.0, 9.0), 0.0);
    let bytes = to_file(&canvas);
    assert!(matches!(TileFile::open(bytes[..50].to_vec()), Err(TileFileError::Unreadable(_))));
    assert_eq!(TileFile::open(vec![b'x'; 100]).unwrap_err(), TileFileError::NotTiles);
    let mut no_cells = bytes.clone();
    no_cells[24..32].copy_from_slice(&f64::NAN.to_le_bytes());
    assert!(matches!(TileFile::open(no_cells), Err(TileFileError::BadHeader(_))));
    let cut = TileFile::open(bytes[..bytes.len() - 1].to_vec()).unwrap();
    assert!(matches!(cut.load(TileId { column: 0, row: 0 }), Err(TileFileError::Unreadable(_))));
}

#[test]
fn what_is_not_loaded_is_never_taken_for_free() {
    let mut canvas = canvas();
    canvas.draw_line(Point::new(-500.0, 3.0), Point::new(500.0, 3.0), 0.0);
    let file = TileFile::open(to_file(&canvas)).unwrap();
    let mut store = TileStore::new(*file.grid(), Area { active_m: 30.0, preloaded_m: 60.0 });
    let pose = Pose::new(10.0, 0.0, 0.0);
    assert!(overlaps_tiles(&store, &body(), pose).is_err());
    store.follow(pose.point(), &file).unwrap();
    assert_eq!(overlaps_tiles(&store, &body(), pose), Ok(false));
    assert_eq!(overlaps_tiles(&store, &body(), Pose::new(10.0, 2.5, 0.0)), Ok(true));
    let far = cast_ray(&store, Point::new(10.0, 0.0), [1.0, 0.0], 500.0);
    assert!(far.unwrap_err().to_string().contains("outside of the active area"));
}

/// S4-5: a map of 10 km × 10 km at 0.2 m, 2.5 · 10⁹ cells, driven from corner to corner between two fences.
#[test]
fn a_map_of_ten_kilometres_is_driven_end_to_end_with_few_megabytes_of_tiles() {
    let mut canvas = canvas();
    let shift = 4.0;
    canvas.draw_line(Point::new(-shift, shift), Point::new(10_000.0 - shift, 10_000.0 + shift), 0.1);
    canvas.draw_line(Point::new(shift, -shift), Point::new(10_000.0 + shift, 10_000.0 - shift), 0.1);
    let file = TileFile::open(to_file(&canvas)).unwrap();
    let mut store = TileStore::new(*file.grid(), Area { active_m: 200.0, preloaded_m: 400.0 });
    let (body, mut most_bytes, mut narrowest_m) = (body(), 0, f64::INFINITY);
    for metre in 0..10_000 {
        let at = f64::from(metre);
        store.follow(Point::new(at, at), &file).unwrap();
        most_bytes = most_bytes.max(store.bytes());
        let pose = Pose::new(at, at, std::f64::consts::FRAC_PI_4);
        let clearance_m = clearance_to_tiles(&store, &body, pose, 10.0).unwrap().unwrap();
        narrowest_m = narrowest_m.min(clearance_m);
    }
    // Half the distance of the fences is 4·√2 m, less half a car, half a fence and up to a cell's diagonal.
    assert!((4.3..4.71).contains(&narrowest_m), "{narrowest_m}");
    // 17 × 17 tiles at most, and all of them mixed would be 2.4 MB.
    assert!(most_bytes < 3_000_000, "{most_bytes}");
    assert!(most_bytes > 100_000, "the fences are in it: {most_bytes}");
}
