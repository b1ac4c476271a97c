//! How much traffic there is and where it goes: numbers of cars, flows, routes; and permanent obstacles in tiles.

use std::path::PathBuf;

use anabranch_explore::{Explorer, Merge, Settings};
use anabranch_geometry::Point;
use anabranch_geometry::tiles::{AnyBytes, Canvas, Grid, to_file};
use anabranch_kernel::contract::check_contract;
use anabranch_kernel::{Choice, Seed, SegmentEnd, System, Watch, to_bytes};
use anabranch_scenario::Drive;
use anabranch_scenario::file::{Document, Hooks, ScenarioSpec};

fn shipped(name: &str, overrides: &[(&str, &str)]) -> Result<Drive, String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let bytes = std::fs::read(folder.join(format!("{name}.toml"))).unwrap();
    let mut document = Document::parse(name, &bytes).unwrap();
    for (key, value) in overrides {
        document.apply_override(key, value).map_err(|report| report.to_string())?;
    }
    assemble(document.read(&Hooks::default()).map_err(|report| report.to_string())?)
}

fn assemble(spec: ScenarioSpec) -> Result<Drive, String> {
    Drive::assemble(&spec).map_err(|error| error.to_string())
}

/// Runs without errors; how it ended, and the state it ended in.
fn run(drive: &Drive) -> (SegmentEnd, Vec<u8>) {
    let mut state = drive.start(Seed(0), &drive.space().all()[0]).unwrap();
    loop {
        let end = drive.run(&mut state, Choice::NONE, &mut Watch::off()).unwrap();
        if end != SegmentEnd::Open {
            return (end, to_bytes(&state));
        }
    }
}

fn lanes_km(drive: &Drive) -> f64 {
    let lanes = drive.network().unwrap().lanes().iter().filter(|lane| lane.junction().is_none());
    lanes.map(|lane| lane.length_m()).sum::<f64>() / 1000.0
}

#[test]
fn a_number_of_cars_lays_the_road_that_they_take() {
    for (name, per_km) in [("city-traffic", 12.0), ("motorway-traffic", 25.0)] {
        for cars in [400, 1500] {
            let drive = shipped(name, &[("traffic.cars", &cars.to_string())]).unwrap();
            assert_eq!(drive.traffic_at(0), cars, "{name}");
            let found = cars as f64 / lanes_km(&drive);
            assert!((0.75 * per_km..=1.001 * per_km).contains(&found), "{name}: {found} per km");
        }
    }
    // Where the road is given, so many are spread over it.
    let drive = shipped("highway-cut-in", &[("traffic.per_km", "0"), ("traffic.cars", "90")]).unwrap();
    assert_eq!(drive.traffic_at(0), 91, "and the one that has a name");
}

#[test]
fn large_traffic_moves_tick_by_tick_and_tells_how_many_cars_it_moved() {
    let drive = shipped("motorway-traffic", &[("traffic.cars", "1500"), ("explore.until", "10 s")]).unwrap();
    assert_eq!(drive.vehicle_updates(), 0, "nothing is computed before it is asked for");
    let once = run(&drive);
    assert_eq!(once.0, SegmentEnd::TimedOut);
    let updates = drive.vehicle_updates();
    assert!((150_000..153_000).contains(&updates), "1500 cars and a few lorries, 100 ticks: {updates}");
    // Somebody who begins again gets the same, bit for bit, and everything is then kept.
    assert!(run(&drive) == once);
    let whole = drive.vehicle_updates();
    assert!(whole > updates);
    assert!(run(&drive) == once && drive.vehicle_updates() == whole);
}

#[test]
fn what_contradicts_itself_is_refused() {
    let check = |name: &str, overrides: &[(&str, &str)], expect: &str| {
        let error = shipped(name, overrides).unwrap_err();
        assert!(error.contains(expect), "{overrides:?}: {error}");
    };
    check("city-traffic", &[("traffic.cars", "500"), ("road.columns", "3")], "how large the road is");
    check("city-traffic", &[("traffic.cars", "900000")], "more than 200 × 200 blocks");
    check("highway-cut-in", &[("traffic.cars", "50")], "how large the road is");
    check("roundabout", &[("traffic.cars", "50"), ("traffic.per_km", "9")], "cannot lay a `roundabout`");
    check("highway-cut-in", &[("traffic.cars", "5000"), ("traffic.per_km", "0")], "not enough room");
}

/// A road to the east that forks: the scenario, with what flows on it.
fn fork(flow: &str) -> Drive {
    let text = format!(
        "schema = \"anabranch/1\"\nname = \"fork\"\n[world]\nstep = \"100 ms\"\n[road]\nkind = \"crossing\"\narm = \"300 m\"\n\
         limit = \"20 km/h\"\ncontrol = \"nothing\"\n[[traffic.flow]]\nlane = \"west.-1\"\nper_hour = 1500\nspeed = \"10 m/s\"\n{flow}\n[ego]\n\
         driver = \"road\"\nsensor = {{ range = \"350 m\" }}\nstart = {{ lane = \"south.-1\", station = \"5 m\" }}\n\
         goal = {{ lane = \"north.1\", station = \"295 m\" }}\n[explore]\nsegment = \"1 s\"\nuntil = \"150 s\"\n\
         [[must]]\nid = \"no-contact\"\nnever = \"ego.contact\"\n"
    );
    let document = Document::parse("fork.toml", text.as_bytes()).unwrap();
    assemble(document.read(&Hooks::default()).unwrap_or_else(|report| panic!("{report}"))).unwrap()
}

/// How many cars have been seen on each arm, going out.
fn seen_on_arms(drive: &Drive) -> [usize; 3] {
    let mut state = drive.start(Seed(0), &drive.space().all()[0]).unwrap();
    let mut seen = [const { std::collections::BTreeSet::<u32>::new() }; 3];
    while drive.run(&mut state, Choice::NONE, &mut Watch::off()).unwrap() == SegmentEnd::Open {
        for user in drive.road_users(&state) {
            // Beyond the junction, which is some 15 m wide.
            let arm = match (user.pose.x, user.pose.y) {
                (x, y) if x > 20.0 && y.abs() < 5.0 => 0,
                (x, y) if y > 20.0 && x.abs() < 5.0 => 1,
                (x, y) if y < -20.0 && x.abs() < 5.0 => 2,
                _ => continue,
            };
            seen[arm].insert(user.number);
        }
    }
    seen.map(|seen| seen.len())
}

#[test]
fn a_flow_goes_where_it_wants_to() {
    let anywhere = seen_on_arms(&fork(""));
    assert!(anywhere.iter().filter(|count| **count > 1).count() >= 2, "they go as they like: {anywhere:?}");
    let [east, north, south] = seen_on_arms(&fork("to = \"east.1\"\nkind = \"lorry\""));
    assert!(east > 4 && north == 0 && south == 0, "{:?}", [east, north, south]);
}

const TOWN: &str = "schema = \"anabranch/1\"\nname = \"fences\"\n[world]\nstep = \"100 ms\"\ntiles = \"x.tiles\"\n[road]\n\
    kind = \"straight\"\nlength = \"400 m\"\n[ego]\ndriver = \"road\"\nstart = { lane = \"main.1\", station = \"20 m\", \
    speed = \"10 m/s\" }\ngoal = { lane = \"main.1\", station = \"300 m\", tolerance = \"1 m\" }\n[[error]]\nid = \"jump\"\n\
    on = \"ego.localisation\"\njump = { radius = \"1.5 m\", directions = 2 }\n[explore]\nsegment = \"1 s\"\nuntil = \"40 s\"\n\
    [[must]]\nid = \"no-contact\"\nnever = \"ego.contact\"\n";

/// A straight road between two fences, so far from the middle of its lane.
fn between_fences(beside_m: f64, more: &str) -> Drive {
    let mut canvas = Canvas::new(Grid { origin: Point::new(0.0, 0.0), cell_m: 0.2 });
    for side in [-1.0, 1.0] {
        let y = side * (beside_m + 0.1);
        canvas.draw_line(Point::new(-20.0, y), Point::new(420.0, y), 0.2);
    }
    let file = to_file(&canvas);
    let hooks = Hooks { open_tiles: &|_| Some(AnyBytes::new(file.clone())), ..Hooks::default() };
    let text = TOWN.replace("[ego]", &format!("{more}\n[ego]"));
    let document = Document::parse("fences.toml", text.as_bytes()).unwrap();
    assemble(document.read(&hooks).unwrap_or_else(|report| panic!("{report}"))).unwrap()
}

#[test]
fn a_car_between_fences_of_tiles_touches_them_only_by_an_error() {
    let drive = between_fences(1.8, "");
    assert_eq!(run(&drive).0, SegmentEnd::Goal);
    let bytes = drive.tile_bytes_max().unwrap();
    assert!((8_000..2_000_000).contains(&bytes), "{bytes}");
    let base = Settings::new(drive.variables(), drive.time_matters());
    let explore = |threads: usize| {
        let settings = Settings { merge: Merge::None, levels_max: 4, ..base.clone() };
        Explorer::new(&drive).settings(settings).threads(threads).run().unwrap()
    };
    let outcome = explore(1);
    let hit = outcome.hits.first().expect("a jump of 1.5 m steers into a fence 0.9 m beside the car");
    let place = hit.verdict.place.expect("it is told where");
    assert!((place.in_world[1].abs() - 1.9).abs() < 0.21, "{place:?}");
    assert_eq!(outcome.digest, explore(2).digest);
    // The same road with more room.
    let wide = between_fences(4.5, "");
    let settings = Settings { merge: Merge::None, levels_max: 4, ..base };
    assert!(Explorer::new(&wide).settings(settings).run().unwrap().hits.is_empty());
    check_contract(&drive, 8, 6).unwrap_or_else(|broken| panic!("{broken}"));
}

#[test]
fn a_fence_hides_what_stands_behind_it() {
    let thing = "[[object]]\nid = \"post\"\nkind = \"thing\"\nlane = \"main.1\"\nstation = \"60 m\"\nlateral = \"6 m\"\n\
                 length = \"2 m\"\nwidth = \"1 m\"\n";
    let tracked = |more: &str| {
        let drive = between_fences(4.0, more);
        let mut state = drive.start(Seed(0), &drive.space().all()[0]).unwrap();
        let _ = drive.run(&mut state, Choice::NONE, &mut Watch::off()).unwrap();
        state.extras.as_ref().unwrap().street.as_ref().unwrap().tracks.confirmed().count()
    };
    assert_eq!(tracked(thing), 0);
    // Kerbs are low. The key belongs to the table before.
    let mut canvas = Canvas::new(Grid { origin: Point::new(0.0, 0.0), cell_m: 0.2 });
    canvas.draw_line(Point::new(-20.0, 4.1), Point::new(420.0, 4.1), 0.2);
    let file = to_file(&canvas);
    let hooks = Hooks { open_tiles: &|_| Some(AnyBytes::new(file.clone())), ..Hooks::default() };
    let text = TOWN.replace("[road]", "tiles_hide = false\n[road]").replace("[ego]", &format!("{thing}\n[ego]"));
    let document = Document::parse("kerbs.toml", text.as_bytes()).unwrap();
    let drive = assemble(document.read(&hooks).unwrap_or_else(|report| panic!("{report}"))).unwrap();
    let mut state = drive.start(Seed(0), &drive.space().all()[0]).unwrap();
    let _ = drive.run(&mut state, Choice::NONE, &mut Watch::off()).unwrap();
    assert_eq!(state.extras.as_ref().unwrap().street.as_ref().unwrap().tracks.confirmed().count(), 1);
}

#[test]
fn tiles_that_cannot_be_are_refused_where_they_are_named() {
    let check = |bytes: Option<&[u8]>, text: &str, expect: &str| {
        let hooks = Hooks { open_tiles: &|_| bytes.map(|bytes| AnyBytes::new(bytes.to_vec())), ..Hooks::default() };
        let report = Document::parse("fences.toml", text.as_bytes()).unwrap().read(&hooks).unwrap_err();
        assert!(report.to_string().contains(expect), "{report}");
        assert_eq!((report.diagnostics[0].line, report.diagnostics[0].column), (5, 9));
    };
    check(None, TOWN, "there is no file `x.tiles`");
    check(Some(b"no tiles"), TOWN, "could not be read");
    check(Some(&[7; 100]), TOWN, "not a file of tiles");
    let canvas = Canvas::new(Grid { origin: Point::new(0.0, 0.0), cell_m: 0.2 });
    let off_the_road = TOWN.replace("[road]\nkind = \"straight\"\nlength = \"400 m\"\n", "");
    let off_the_road =
        off_the_road.replace("lane = \"main.1\", station = ", "y = \"0 m\", x = ").replace("\"road\"", "\"calm\"");
    check(Some(&to_file(&canvas)), &off_the_road, "`tiles` needs a road");
    // A tile that cannot be read is no verdict.
    let mut canvas = canvas;
    canvas.draw_line(Point::new(0.0, 30.0), Point::new(100.0, 30.0), 0.2);
    let mut cut = to_file(&canvas);
    cut.truncate(cut.len() - 4000);
    let hooks = Hooks { open_tiles: &|_| Some(AnyBytes::new(cut.clone())), ..Hooks::default() };
    let drive = assemble(Document::parse("fences.toml", TOWN.as_bytes()).unwrap().read(&hooks).unwrap()).unwrap();
    let mut state = drive.start(Seed(0), &drive.space().all()[0]).unwrap();
    let fault = drive.run(&mut state, Choice::NONE, &mut Watch::off()).unwrap_err();
    assert!(fault.to_string().contains("tiles could not be read"), "{fault}");
}
