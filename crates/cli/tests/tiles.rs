//! Permanent obstacles in tiles: from a map to the verdict, on a map of 10 km × 10 km at 0.2 m (S4-5).

use std::fmt::Write as _;

use anabranch_kernel::maths;

use crate::common::Project;

/// Cells along the side of a tile, and of the map: 2.5 · 10⁹ of them.
const SIDE: u32 = 256;
const TILES: u32 = 196;
const CELL_M: f64 = 0.2;
/// A post stands on every thirtieth cell each way, and none within this of the middle of the road.
const EVERY: u32 = 30;
const FREE_M: f64 = 6.0;

/// The middle of the road at x: from corner to corner, winding.
fn road_y(x: f64) -> f64 {
    x + 300.0 * maths::sin(x * std::f64::consts::TAU / 2500.0)
}

/// The road as a map, with a barrier.
fn map(barrier: &str) -> String {
    let mut line = String::new();
    for step in 0..=200 {
        let x = 20.0 + 49.8 * f64::from(step);
        write!(line, "[\"{x} m\", \"{:.4} m\"], ", road_y(x)).unwrap();
    }
    format!(
        "schema = \"anabranch-road/1\"\n[[road]]\nid = \"main\"\nline = [{line}]\nforward = 1\nlimit = \"100 km/h\"\n{barrier}"
    )
}

const SCENARIO: &str = "schema = \"anabranch/1\"\nname = \"far\"\n[world]\nstep = \"100 ms\"\ntiles = \"town.tiles\"\n[road]\n\
    map = \"far.road.toml\"\n[ego]\ndriver = \"road\"\nstart = { lane = \"main.1\", station = \"5 m\", speed = \"20 m/s\" }\n\
    goal = { lane = \"main.1\", station = \"14500 m\", tolerance = \"2 m\" }\n[explore]\nsegment = \"10 s\"\nuntil = \"900 s\"\n\
    [[must]]\nid = \"no-contact\"\nnever = \"ego.contact\"\n";

/// A post every six metres but on the road, as the format says: header, one word per tile, then their cells. Tiles away from the road are
/// alike and share theirs.
fn town() -> Vec<u8> {
    let mut index = b"ANBTILE1".to_vec();
    [0.0, 0.0, CELL_M].iter().for_each(|value| index.extend(value.to_le_bytes()));
    [0, 0, TILES, TILES].iter().for_each(|value| index.extend(u32::to_le_bytes(*value)));
    index.resize(64, 0);
    let cells_from = index.len() as u64 + 8 * u64::from(TILES * TILES);
    let mut cells = posts(|_, _| true);
    for (row, column) in (0..TILES).flat_map(|row| (0..TILES).map(move |column| (row, column))) {
        let at_m = |tile: u32, cell: u32| f64::from(tile * SIDE + cell) * CELL_M;
        // The road is steep where it swings back: what is beside it is measured along both axes.
        let is_free = |x: f64, y: f64| {
            (-60..=60).any(|k| {
                let beside = x + 0.1 * f64::from(k);
                maths::hypot(road_y(beside) - y, beside - x) < FREE_M
            })
        };
        let near = (0..=4).any(|k| (road_y(at_m(column, 64 * k)) - at_m(row, 128)).abs() < 150.0);
        if near {
            index.extend((cells_from + cells.len() as u64).to_le_bytes());
            cells.extend(posts(|x, y| !is_free(at_m(column, x), at_m(row, y))));
        } else {
            index.extend(cells_from.to_le_bytes());
        }
    }
    index.extend(cells);
    index
}

/// A model, a map and tiles are next to the scenario, wherever a search is started; in the folder of the search there are none.
#[test]
fn a_search_finds_tiles_next_to_the_scenario() {
    let project = Project::new();
    std::fs::create_dir(project.file("there")).unwrap();
    let line = "line = [[\"0 m\", \"0 m\"], [\"300 m\", \"0 m\"]]\nforward = 1\nlimit = \"50 km/h\"\n";
    let gate = "[[barrier]]\nid = \"gate\"\nline = [[\"60 m\", \"-9 m\"], [\"60 m\", \"9 m\"]]\nwidth = \"0.4 m\"\n";
    let map = |more: &str| format!("schema = \"anabranch-road/1\"\n[[road]]\nid = \"main\"\n{line}{more}");
    project.write("there/far.road.toml", &map(""));
    project.write("gate.road.toml", &map(gate));
    assert_eq!(project.run(&["convert", "gate.road.toml", "there/town.tiles"]).code, 0);
    let near = SCENARIO.replace("14500 m", "200 m").replace("900 s", "60 s").replace("20 m/s", "8 m/s");
    project.write("there/far.toml", &near);
    let vary = ["search", "there/far.toml", "--vary", "ego.start.station=2 m .. 8 m", "--method", "random"];
    let (code, found) = project.json(&[&vary[..], &["--budget", "2", "--no-baseline"]].concat());
    // The tiles are really read: every car meets the barrier that only they know.
    assert_eq!((code, &found["verdict"], &found["evaluations"]), (1, &"violated".into(), &2.into()), "{found}");
    assert_eq!((&found["violations"], &found["troubles"]), (&2.into(), &serde_json::json!([])), "{found}");
}

/// The cells of a tile.
fn posts(may_stand: impl Fn(u32, u32) -> bool) -> Vec<u8> {
    let mut cells = vec![0_u8; (SIDE * SIDE / 8) as usize];
    for (x, y) in (0..SIDE).step_by(EVERY as usize).flat_map(|x| (0..SIDE).step_by(EVERY as usize).map(move |y| (x, y)))
    {
        if may_stand(x, y) {
            cells[(y * SIDE / 8 + x / 8) as usize] |= 1 << (x % 8);
        }
    }
    cells
}

#[test]
fn a_map_of_ten_kilometres_is_driven_with_few_tiles_in_memory() {
    let project = Project::new();
    project.write("far.road.toml", &map(""));
    project.write("far.toml", SCENARIO);
    std::fs::write(project.file("town.tiles"), town()).unwrap();
    let (code, told) = project.json(&["run", "far.toml"]);
    assert_eq!((code, &told["completed"]), (0, &true.into()), "{told}");
    let bytes = told["tile_bytes_max"].as_u64().unwrap();
    assert!((4_000_000..64_000_000).contains(&bytes), "{told}");
    assert!(told["worst_clearance_m"].as_f64().unwrap() > 1.0, "{told}");

    // A barrier across the road 3 km on, drawn from the map.
    let y = road_y(3000.0);
    let barrier = format!(
        "[[barrier]]\nid = \"gate\"\nline = [[\"3000 m\", \"{} m\"], [\"3000 m\", \"{} m\"]]\nwidth = \"0.4 m\"\n",
        y - 30.0,
        y + 30.0
    );
    project.write("gate.road.toml", &map(&barrier));
    assert_eq!(project.run(&["convert", "gate.road.toml", "gate.tiles"]).code, 0);
    let ran = project.run(&["run", "far.toml", "--set", "world.tiles=\"gate.tiles\""]);
    assert!(ran.code == 1 && ran.out.contains("the tiles"), "{ran:?}");
}
