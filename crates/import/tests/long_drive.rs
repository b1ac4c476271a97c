//! S4-5: a map of 10 km × 10 km at 0.2 m, 2.5 · 10⁹ cells on disk, driven from corner to corner by a car that steers along a winding
//! road. Tiles in memory stay below 64 MB.

use std::f64::consts::{FRAC_PI_4, TAU};
use std::io::Write;
use std::path::Path;

use anabranch_driving::track::{EgoEstimate, Line, LineSample, PurePursuit, PurePursuitSpec, SampledLine};
use anabranch_geometry::tiles::*;
use anabranch_geometry::{Body, Point, Pose};
use anabranch_import::disk::open_tiles;
use anabranch_kernel::maths;
use anabranch_vehicle::{CarModel, CarSpec, Inputs, Plant};

const CELL_M: f64 = 0.2;
const MEGABYTES_MAX: f64 = 64.0;
/// Half the distance of the fences along the road.
const HALF_ROAD_M: f64 = 6.0;
/// From corner to corner along the diagonal.
const ALONG_M: f64 = 13_995.0;
const SPEED_MPS: f64 = 25.0;
const CYCLE_S: f64 = 0.05;

/// Where the road begins, heading along the diagonal.
const START: Pose = Pose { x: 20.0, y: 20.0, heading: FRAC_PI_4 };

/// How far the road is beside the diagonal of the map, `along_m` metres along it, with slope and bend: 400 m to both sides over four
/// kilometres.
fn swing(along_m: f64) -> [f64; 3] {
    let (swing_m, per_m) = (400.0, TAU / 4000.0);
    let (sin, cos) = maths::sin_cos(per_m * along_m);
    [swing_m * sin, swing_m * per_m * cos, -swing_m * per_m * per_m * sin]
}

/// The middle of the road.
fn middle(along_m: f64) -> LineSample {
    let [aside_m, slope, bend] = swing(along_m);
    let stretch = (1.0 + slope * slope).sqrt();
    let point = START.world_from_local(Point::new(along_m, aside_m));
    let pose = Pose::new(point.x, point.y, FRAC_PI_4 + maths::atan(slope));
    LineSample { station_m: 0.0, pose, curvature_per_m: bend / (stretch * stretch * stretch) }
}

/// The road from corner to corner.
fn road() -> SampledLine {
    let mut samples: Vec<LineSample> = Vec::new();
    for i in 0..2800 {
        let mut sample = middle(5.0 * f64::from(i));
        let last = samples.last().map(|last| last.station_m + last.pose.point().distance_m(sample.pose.point()));
        sample.station_m = last.unwrap_or(0.0);
        samples.push(sample);
    }
    SampledLine::new(samples)
}

/// What a drive has seen.
struct Drive {
    end: Pose,
    narrowest_m: f64,
    /// Largest memory of tiles; while the window moves both of them count.
    most_bytes: usize,
    reloads: u32,
}

/// Drives along the road through the tiles of a file, with rays ahead.
fn drive(path: &Path, area: Area, line: &SampledLine) -> Drive {
    let file = open_tiles(path).unwrap();
    let mut store = TileStore::new(*file.grid(), area);
    let spec = CarSpec::compact();
    let (plant, body) = (Plant::Car(CarModel::new(spec, CYCLE_S)), Body::new(&spec.outline));
    let tracker = PurePursuit::new(PurePursuitSpec::CALM, &spec);
    let mut car = plant.start(line.at(0.0).pose, SPEED_MPS);
    let mut station_m = 0.0;
    let mut seen = Drive { end: Pose::default(), narrowest_m: f64::INFINITY, most_bytes: 0, reloads: 0 };
    for cycle in 0..16_000_u32 {
        let ego = EgoEstimate::from(plant.motion(&car));
        let before = store.bytes();
        store.follow(ego.pose.point(), &file).unwrap();
        let after = store.bytes();
        let moved = before != after;
        seen.reloads += u32::from(moved);
        seen.most_bytes = seen.most_bytes.max(after + if moved { before } else { 0 });
        if let Some(clearance_m) = clearance_to_tiles(&store, &body, ego.pose, 12.0).unwrap() {
            seen.narrowest_m = seen.narrowest_m.min(clearance_m);
        }
        if cycle % 10 == 0 {
            let (sin, cos) = maths::sin_cos(ego.pose.heading);
            cast_ray(&store, ego.pose.point(), [cos, sin], 150.0).unwrap();
        }
        seen.end = ego.pose;
        if ego.pose.point().distance_m(middle(ALONG_M).pose.point()) < 30.0 {
            break;
        }
        station_m = line.foot(ego.pose.point(), station_m);
        let steering = tracker.steering(line, station_m, &ego);
        let accel = SPEED_MPS - ego.speed_mps;
        plant.step(&mut car, &Inputs { steering, accel, gear_sign: 1.0, friction: 0.9 });
    }
    seen
}

fn check(seen: &Drive) {
    println!(
        "{:.1} MB of tiles at most, {} windows, {:.2} m to the nearest obstacle",
        seen.most_bytes as f64 / 1e6,
        seen.reloads,
        seen.narrowest_m
    );
    assert!((seen.most_bytes as f64) < MEGABYTES_MAX * 1e6, "{}", seen.most_bytes);
    assert!(seen.end.x > 9_800.0 && seen.end.y > 9_800.0, "it comes to the other corner: {:?}", seen.end);
    assert!(seen.reloads > 5, "the window moves along: {}", seen.reloads);
    // Half the road less half a car and a cell's diagonal; the car keeps within half a metre of the middle.
    assert!((3.8..HALF_ROAD_M).contains(&seen.narrowest_m), "{}", seen.narrowest_m);
}

#[test]
fn ten_kilometres_between_fences_are_driven_with_few_tiles_in_memory() {
    let line = road();
    let mut canvas = Canvas::new(Grid { origin: Point::new(0.0, 0.0), cell_m: CELL_M });
    for side in [-HALF_ROAD_M, HALF_ROAD_M] {
        let beside = |i: u32| middle(20.0 * f64::from(i)).pose.world_from_local(Point::new(0.0, side));
        (0..700).for_each(|i| canvas.draw_line(beside(i), beside(i + 1), 0.2));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fences.tiles");
    std::fs::write(&path, to_file(&canvas)).unwrap();
    drop(canvas);
    let seen = drive(&path, Area { active_m: 250.0, preloaded_m: 500.0 }, &line);
    check(&seen);
    assert!(seen.most_bytes > 200_000, "the fences are in it: {}", seen.most_bytes);
}

/// The same with something in every tile but on the road, and a window of 2 km: 12 MB of tiles, and for a moment two windows.
#[test]
fn ten_kilometres_of_town_are_driven_with_less_than_64_megabytes_of_tiles() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("town.tiles");
    let line = road();
    write_town(&path);
    let seen = drive(&path, Area { active_m: 500.0, preloaded_m: 1000.0 }, &line);
    check(&seen);
    assert!(seen.most_bytes > 20_000_000, "most tiles are full of things: {}", seen.most_bytes);
}

/// A post every six metres, except on the road; as the format says: header, one word per tile, then their cells. Tiles away
/// from the road are alike and share theirs, so that 315 MB of tiles are a small file.
fn write_town(path: &Path) {
    let tiles = (10_000.0 / (SIDE as f64 * CELL_M)).ceil() as u32;
    let mut index: Vec<u8> = b"ANBTILE1".to_vec();
    [0.0, 0.0, CELL_M].iter().for_each(|value| index.extend(value.to_le_bytes()));
    [0, 0, tiles, tiles].iter().for_each(|value| index.extend(u32::to_le_bytes(*value)));
    index.resize(64, 0);
    let cells_from = index.len() as u64 + 8 * u64::from(tiles * tiles);
    let bytes_of = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let everywhere = posts(|_, _| true);
    let mut cells = bytes_of(&everywhere);
    for (row, column) in (0..tiles).flat_map(|row| (0..tiles).map(move |column| (row, column))) {
        let at_m = |tile: u32, cell: i64| (i64::from(tile) * SIDE + cell) as f64 * CELL_M;
        let words = posts(|x, y| beside_road_m(Point::new(at_m(column, x), at_m(row, y))) > HALF_ROAD_M);
        if words == everywhere {
            index.extend(cells_from.to_le_bytes());
        } else {
            index.extend((cells_from + cells.len() as u64).to_le_bytes());
            cells.extend(bytes_of(&words));
        }
    }
    let mut out = std::fs::File::create(path).unwrap();
    out.write_all(&index).unwrap();
    out.write_all(&cells).unwrap();
}

/// The cells of a tile with a post every six metres where one may stand.
fn posts(may_stand: impl Fn(i64, i64) -> bool) -> Vec<u64> {
    let mut words = vec![0; (SIDE * SIDE / 64) as usize];
    for (x, y) in (0..SIDE).step_by(30).flat_map(|x| (0..SIDE).step_by(30).map(move |y| (x, y))) {
        if may_stand(x, y) {
            words[(y * SIDE / 64 + x / 64) as usize] |= 1 << (x % 64);
        }
    }
    words
}

/// Distance from the middle of the road, which is nearly straight over a few metres.
fn beside_road_m(point: Point) -> f64 {
    let (x, y, per_diagonal) = (point.x - START.x, point.y - START.y, std::f64::consts::FRAC_1_SQRT_2);
    let [aside_m, slope, _] = swing(per_diagonal * (x + y));
    (per_diagonal * (y - x) - aside_m).abs() / (1.0 + slope * slope).sqrt()
}
