//! Simulations and cars as the public simulators spell them: what they say is what is simulated, or is told.

use std::path::{Path, PathBuf};

use anabranch_kernel::{Choice, Seed, SegmentEnd, System, Watch};
use anabranch_language::Library;
use anabranch_scenario::Drive;
use anabranch_scenario::file::{Document, Hooks, ScenarioSpec};
use anabranch_scenario::simulation::{Member, check_car, expand};

/// A straight road to the east; its right lane is 1.75 m south of its line.
const ROAD: &str = "schema = \"anabranch-road/1\"\nname = \"town\"\n\n[[road]]\nid = \"main\"\n\
    line = [[\"-200 m\", \"0 m\"], [\"400 m\", \"0 m\"]]\nforward = 1\nbackward = 1\nlimit = \"50 km/h\"\n";

/// Written with the ports and the directions of the public simulators: wheels to the right, headings from north.
const PILOT: &str = "package town;\ncomponent Pilot {\n  ports in Q(-oo m/s : oo m/s) currentVelocity,\n    \
    in Q(-oo m : oo m) x,\n    in Q(-oo m : oo m) y,\n    in Q(-oo : oo) compass,\n    in Q(-oo : oo) currentSteering,\n    \
    in Q(0 s : 1 s) timeIncrement,\n    out Q(-45° : 45°) steering,\n    out Q(0 m/s^2 : 10 m/s^2) engine,\n    \
    out Q(0 m/s^2 : 10 m/s^2) brakes;\n  implementation Math {\n    Q turned = compass + 1.5707963;\n    \
    Q aside = y + 1.75;\n    steering = saturate(0.05 * aside + 0.4 * turned, -0.4, 0.4);\n    \
    Q push = 0.5 * (10 - currentVelocity);\n    Q hold = currentVelocity - 11;\n    \
    engine = saturate(push, 0, 10);\n    brakes = saturate(hold, 0, 10);\n  }\n}\n";

const CAR: &str = "package cars;\n\n// as public as can be\ncar Taxi {\n  mass = 1500kg;\n  width = 1.8m;\n  length = 4.2m;\n  \
    height = 1.5m;\n  wheel_radius = 0.33m;\n  wheel_dist {\n    front = 1.6m;\n    back = 1.6m;\n    to_front = 1.2m;\n    \
    to_back = 1.5m;\n  }\n  actuators {\n    motor = (-1.5:4.0:2.0);\n    brakes {\n      front {\n        left = (0.0:5.0:5.0);\n        \
    right = (0.0:5.0:5.0);\n      }\n      back {\n        left = (0.0:5.0:4.0);\n        right = (0.0:5.0:4.0);\n      }\n    }\n    \
    steering = (-0.6:0.5:0.6);\n  }\n  sensors {\n    sensor_velocity;\n    sensor_steering;\n    sensor_gps_coordinates;\n    \
    sensor_compass;\n  }\n  controller = Pilot;\n  cpu {\n    frequency = 3GHz;\n  }\n  physics_model = mass_point;\n}\n";

const SIMULATION: &str = "import cars.Taxi;\n\nsim Town {\n  sim_duration 10s;\n  sim_loop_frequency 50Hz;\n  sim_type realtime;\n  \
    time [12:00, 18:30];\n  map_name Town.osm;\n  map_height flat;\n  gravity 9.81m/s^2;\n  pedestrian_density 0;\n  weather fixed {\n    \
    precipitation_type drizzle;\n    clouding stratus;\n    sight 60m;\n    weather_phenomena fog;\n    temperature 281K;\n  };\n  \
    vehicle car1(-100,-1.75,90)->(300,-1.75,0) : Taxi;\n  vehicle car2(100,1.75,0)->(-150,1.75) : Taxi;\n  \
    pedestrian(150,-6)->(152,6);\n  pedestrian(260,-6)->(240,-6,0);\n  vehicle 4;\n  bound channel Radio {\n    \
    transfer_rate 10Hz;\n    latency 20ms;\n    outage 1%;\n    area (0,0) 150m;\n  };\n}\n";

struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("anabranch-public-{}-{number}", std::process::id()));
        std::fs::create_dir_all(folder.join("cars")).unwrap();
        std::fs::create_dir_all(folder.join("town")).unwrap();
        let files = [("Town.road.toml", ROAD), ("cars/Taxi.car", CAR), ("town/Pilot.emam", PILOT)];
        files.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).unwrap());
        Self(folder)
    }

    fn members(&self, text: &str) -> Vec<Member> {
        expand(&self.0.join("Town.sim"), text).unwrap_or_else(|e| panic!("{e}"))
    }

    fn spec(&self, text: &str) -> ScenarioSpec {
        let folder: &Path = &self.0;
        let hooks = Hooks {
            has_file: &|name| folder.join(name).is_file(),
            read_file: &|name| std::fs::read_to_string(folder.join(name)).ok(),
            read_models: &|name| Library::around(&folder.join(name)),
            ..Hooks::default()
        };
        let read = Document::parse("Town.toml", text.as_bytes()).and_then(|document| document.read(&hooks));
        read.unwrap_or_else(|e| panic!("{e}\n{text}"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_public_simulation_is_simulated_as_it_says() {
    let folder = Folder::new();
    let members = folder.members(SIMULATION);
    let labels: Vec<&str> = members.iter().map(|member| member.label.as_str()).collect();
    assert_eq!(labels, ["startTime = 12:00", "startTime = 18:30"]);
    let text = &members[1].text;
    for line in [
        "step = \"0.02 s\"",
        "time_of_day = \"66600 s\"",
        "friction = 0.5",
        "clouds = 1",
        "map = \"Town.road.toml\"",
        "cars = 4",
        "range = \"60 m\"",
        "range = \"150 m\"",
        "period = \"0.1 s\"",
        "latency = \"0.02 s\"",
        "loss = 0.01",
        "until = \"10 s\"",
        "id = \"car2\"",
        "mass = \"1500 kg\"",
        "centre_to_front = \"1.2 m\"",
        "wheelbase = \"2.7 m\"",
        "accel_max = \"2 m/s^2\"",
        "brake_max = \"6 m/s^2\"",
        "steering_max = \"0.6 rad\"",
        "steering_rate_max = \"0.5 rad/s\"",
    ] {
        assert!(text.lines().any(|own| own == line), "{line}\n{text}");
    }
    let spec = folder.spec(text);
    let objects = &spec.road.as_ref().unwrap().objects;
    let seen: Vec<(&str, f64)> =
        objects.iter().map(|object| (object.id.value.as_str(), object.place.station_m.round())).collect();
    // The second car is on the lane that leads west; the first pedestrian crosses half way.
    assert_eq!(seen, [("car2", 300.0), ("pedestrian-1", 351.0), ("pedestrian-2", 441.0)]);
    let stroll = |at: usize| objects[at].stroll.as_ref().map(|stroll| (stroll.crosses, stroll.walk_m));
    assert_eq!((stroll(1), stroll(2)), (Some((true, 1.5)), Some((false, 20.0))));
    Drive::assemble(&spec).unwrap_or_else(|e| panic!("{e}"));
}

/// Wheels to the wrong side, a compass from east or brakes that are forgotten would all lead off the lane or never stop.
#[test]
fn a_public_controller_drives_a_public_car() {
    let folder = Folder::new();
    let alone = SIMULATION.replace("  vehicle car2(100,1.75,0)->(-150,1.75) : Taxi;\n", "").replace("vehicle 4;", "");
    let alone = alone.replace("(-100,-1.75,90)", "(-100,-2.75,90)").replace("drizzle", "none");
    let drive = Drive::assemble(&folder.spec(&folder.members(&alone)[0].text)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(drive.model_name(), Some("town.Pilot"));
    let mut state = drive.start(Seed(0), &drive.space().all()[0]).unwrap();
    let mut fastest = 0.0_f64;
    for second in 0..9 {
        let before = state.car.car.speed;
        let end = drive.run(&mut state, Choice(0), &mut Watch::off()).unwrap();
        assert_eq!(end, SegmentEnd::Open, "second {second}: {:?}", state.car.car);
        fastest = fastest.max(state.car.car.speed - before);
    }
    let car = &state.car.car;
    assert!((car.y + 1.75).abs() < 0.2 && car.heading.abs() < 0.05, "{car:?}");
    assert!(car.speed > 8.0 && car.speed < 11.0, "{car:?}");
    assert!(fastest > 1.5 && fastest <= 2.0 + 1e-9, "the motor gives 2 m/s^2 at most: {fastest}");
}

#[test]
fn every_setting_that_is_honoured_may_have_several_values() {
    let folder = Folder::new();
    let count = |from: &str, to: &str| {
        assert!(SIMULATION.contains(from), "{from}");
        folder.members(&SIMULATION.replacen(from, to, 1)).into_iter().map(|member| member.label).collect::<Vec<_>>()
    };
    let last = |from: &str, to: &str| count(from, to).pop().unwrap();
    assert_eq!(last("sim_duration 10s", "sim_duration [5s, 10s]"), "duration = 10s, startTime = 18:30");
    assert_eq!(last("50Hz", "(50Hz:50Hz:100Hz)"), "deltaT = 100Hz, startTime = 18:30");
    assert_eq!(
        last("sight 60m", "sight (20m:20m:60m)"),
        "weather = rain, clouding stratus, sight 60m, startTime = 18:30"
    );
    assert_eq!(last("latency 20ms", "latency [20ms, 40ms]"), "startTime = 18:30, latency = 40ms");
    assert_eq!(last("outage 1%", "outage [0, 0.5]"), "startTime = 18:30, outage = 0.5");
    assert_eq!(count("outage 1%", "outage [0, 0.5]").len(), 4);
    let list = SIMULATION.replacen("weather fixed {", "weather [fixed {}, fixed {", 1).replacen(
        "281K;\n  };",
        "281K;\n  }];",
        1,
    );
    let labels: Vec<String> = folder.members(&list).into_iter().map(|member| member.label).collect();
    assert_eq!((labels.len(), labels[0].as_str()), (4, "weather = dry, startTime = 12:00"));
}

#[track_caller]
fn check(folder: &Folder, from: &str, to: &str, told: &str, place: (usize, usize)) {
    assert!(SIMULATION.contains(from), "{from}");
    let text = SIMULATION.replacen(from, to, 1);
    let report = expand(&folder.0.join("Town.sim"), &text).expect_err(to);
    let first = &report.diagnostics[0];
    assert!(first.message.contains(told), "{report}");
    assert_eq!((first.line, first.column), place, "{report}");
    assert!(!first.help.is_empty(), "{report}");
}

#[test]
fn what_a_simulation_says_and_nobody_can_honour_is_told_where_it_stands() {
    let folder = Folder::new();
    let check = |from: &str, to: &str, told: &str, place| check(&folder, from, to, told, place);
    check("import cars.Taxi;", "import cars.Bus;", "`cars.Bus` is imported", (1, 8));
    check(": Taxi;", ": Bus;", "there is no car model `Bus.car`", (19, 48));
    check("map_name Town.osm", "map_name Village.osm", "there is no road file `Village.road.toml`", (8, 12));
    check("time [12:00, 18:30]", "time [12:00, 25:30]", "a day has 24 hours", (7, 16));
    check("sim_duration 10s;", "", "the simulation has no `sim_duration`", (3, 5));
    check("map_height flat", "map_height Alps", "`map_height Alps` cannot be honoured", (9, 3));
    check("9.81m/s^2", "1.62m/s^2", "`gravity 1.62m/s^2` cannot be honoured", (10, 3));
    check("pedestrian_density 0", "pedestrian_density 2", "`pedestrian_density 2` cannot be honoured", (11, 3));
    check("weather fixed {", "weather random;\n  weather fixed {", "`weather random` cannot be honoured", (12, 11));
    check("pedestrian(150,-6)", "pedestrian(150,-600)", "no road is within 50 m", (21, 13));
    check("(-100,-1.75,90)", "(-100,-175,90)", "no lane leads this way within 50 m", (19, 15));
    check("area (0,0) 150m", "area (9,9) 150m", "its middle is not the car", (28, 10));
    check("bound channel", "fixed channel", "a channel reaches from car to car", (28, 10));
    check("transfer_rate 10Hz", "transfer_rate 10s", "`10s` is no rate of a channel", (25, 19));
    let second = "fixed channel Two { area global; };\n  bound channel Radio {";
    check("bound channel Radio {", second, "`channel Radio` cannot be honoured beside another", (25, 17));
    check(
        "vehicle 4;",
        "Taxi vehicle { path (0,-2)->(50,-2); goals [always speed lt 5m/s]; };",
        "goals are for the first vehicle",
        (23, 47),
    );
}

#[test]
fn goals_of_the_vehicle_under_test_are_requirements() {
    let folder = Folder::new();
    let vehicle = "Taxi vehicle { path (-100,-2,0)->(300,-2,0); network Radio; goals [always speed lt 5m/s, never acceleration gt 9m/s^2]; };";
    let text = SIMULATION.replacen("vehicle car1(-100,-1.75,90)->(300,-1.75,0) : Taxi;", vehicle, 1);
    let member = &folder.members(&text)[0];
    assert!(member.text.contains("id = \"goal-1\"\nalways = \"ego.speed < 5 m/s\""), "{}", member.text);
    let drive = Drive::assemble(&folder.spec(&member.text)).unwrap_or_else(|e| panic!("{e}"));
    let mut state = drive.start(Seed(0), &drive.space().all()[0]).unwrap();
    let end = (0..10)
        .map(|_| drive.run(&mut state, Choice(0), &mut Watch::off()).unwrap())
        .find(|end| *end != SegmentEnd::Open);
    let told = format!("{end:?}");
    assert!(told.contains("Violated") || told.contains("requirement"), "{told}");
    let wrong = text.replacen("never acceleration", "never battery", 1);
    let report = expand(&folder.0.join("Town.sim"), &wrong).unwrap_err().to_string();
    assert!(report.contains("`battery` is not measured here") && report.contains("Town.sim:19:"), "{report}");
}

#[track_caller]
fn check_broken_car(folder: &Folder, from: &str, to: &str, told: &str, place: (usize, usize)) {
    assert!(CAR.contains(from), "{from}");
    let path = folder.0.join("Taxi.car");
    let report = check_car(&path, &CAR.replacen(from, to, 1)).expect_err(to);
    let first = &report.diagnostics[0];
    assert!(first.message.contains(told), "{report}");
    assert_eq!((first.line, first.column), place, "{report}");
}

#[test]
fn a_public_car_that_cannot_be_honoured_is_told_where() {
    let folder = Folder::new();
    assert_eq!(check_car(&folder.0.join("Taxi.car"), CAR).unwrap_or_else(|e| panic!("{e}")), "Taxi");
    let check = |from: &str, to: &str, told: &str, place| check_broken_car(&folder, from, to, told, place);
    check("mass = 1500kg", "mass = 1500m", "`1500m` is no mass", (5, 10));
    check("mass = 1500kg", "mass = 1500kg;\n  weight = 1500kg", "`mass` says again what `weight` says", (5, 3));
    check("length = 4.2m", "length = 2.2m", "do not fit into a length of 2.2 m", (10, 3));
    check("to_back = 1.5m;", "", "nothing says where the axles are", (10, 3));
    check("to_back = 1.5m;", "to_rear = 1.5m;", "`wheel_dist` has no `to_rear`", (14, 5));
    check("(-1.5:4.0:2.0)", "(-1.5:2.0)", "a range has three values", (17, 13));
    check("(-1.5:4.0:2.0)", "(-1.5:0.0:2.0)", "the rate be positive", (17, 13));
    check("right = (0.0:5.0:5.0);\n", "\n", "the brakes have no `right`", (19, 7));
    check("steering = (-0.6", "steering = (-0.5", "as far to the left as to the right", (28, 16));
    check("motor = (", "rotor = (", "there is no actuator `rotor`", (17, 5));
    check("sensor_compass;", "sensor_camera;", "the sensor `sensor_camera` is not simulated here", (34, 5));
    check("sensor_compass;", "sensor_compas;", "there is no sensor `sensor_compas`", (34, 5));
    check("physics_model = mass_point", "physics_model = rubber", "`rubber` cannot be honoured", (40, 19));
    check("frequency = 3GHz", "frequency = 3kg", "`3kg` is no frequency", (38, 17));
    check("height = 1.5m", "height = tall", "`tall` does not begin with a number", (8, 12));
    check("controller = Pilot", "controller = Copilot", "there is no component `Copilot`", (36, 16));
}

/// File, line, column and message of everything that the scenario made of a simulation complains about.
fn moved(folder: &Folder, simulation: &str) -> Vec<(String, usize, usize, String)> {
    let member = &folder.members(simulation)[0];
    let read = Document::parse("Town.sim", member.text.as_bytes()).and_then(|document| {
        let models = |name: &str| Library::around(&folder.0.join(name));
        let read_file = |name: &str| std::fs::read_to_string(folder.0.join(name)).ok();
        let has_file = |name: &str| folder.0.join(name).is_file();
        document.read(&Hooks { has_file: &has_file, read_file: &read_file, read_models: &models, ..Hooks::default() })
    });
    let mut report = read.expect_err(&member.text);
    member.relocate("Town.sim", &mut report);
    let name = |file: &str| Path::new(file).file_name().unwrap().to_string_lossy().into_owned();
    report.diagnostics.iter().map(|d| (name(&d.file), d.line, d.column, d.message.clone())).collect()
}

/// What the scenario made of a simulation complains about is wrong in the simulation, or in the car.
#[test]
fn a_mistake_of_the_scenario_is_moved_to_who_says_so() {
    let folder = Folder::new();
    let first = |simulation: &str| {
        let (file, line, column, _) = moved(&folder, simulation).swap_remove(0);
        (file, line, column)
    };
    assert_eq!(first(&SIMULATION.replace("10Hz", "7Hz")), ("Town.sim".to_owned(), 25, 19));
    std::fs::write(folder.0.join("cars/Taxi.car"), CAR.replace("(-0.6:0.5:0.6)", "(-1.6:0.5:1.6)")).unwrap();
    assert_eq!(first(SIMULATION), ("Taxi.car".to_owned(), 28, 16));
}

/// The car of the paper (Fig. 2) with the name of its actuator put right; its controller has other ports (E14).
const OF_THE_PAPER: &str = "car AC-SE001 {\n  controller = Keeper;\n  sensors {\n    SpeedSensor => velocity;\n    \
    TiHighAccGPS => position;\n    LaneMarkerSensor => d;\n    Compass => d[2];\n    Compass => direction;\n  }\n  \
    actuators {\n    steering => Fir;\n    s => Keeper;\n    accel => Firr;\n  }\n}\n";

const KEEPER: &str = "component Keeper { ports in Q(-20 m : 20 m) d[4], out Q s; implementation Math { s = 0; } }";

const FIR: &str = "component Fir { ports in Q wanted, out Q actual; implementation Math { actual = wanted; } }";

#[test]
fn a_car_that_binds_ports_which_are_not_there_is_told_every_one() {
    let folder = Folder::new();
    for (name, text) in [("Keeper.emam", KEEPER), ("Fir.emam", FIR)] {
        std::fs::write(folder.0.join(name), text).unwrap();
    }
    let report = check_car(&folder.0.join("AC-SE001.car"), OF_THE_PAPER).unwrap_err();
    let told: Vec<String> =
        report.diagnostics.iter().map(|d| format!("{} {}:{} {}", d.code, d.line, d.column, d.message)).collect();
    assert_eq!(
        told,
        [
            "L203 4:20 the controller has no input `velocity`",
            "L203 5:21 the controller has no input `position`",
            "L203 8:16 the controller has no input `direction`",
            "L203 11:5 the controller has no output `steering`",
            "L203 12:10 `Keeper` has no input `wanted`, so it is no actuator",
            "L203 13:5 the controller has no output `accel`",
            "L601 13:14 there is no component `Firr` below the folder of the simulation",
        ]
    );
}

/// Each entry is a line of its own, and one mistake does not hide the next.
#[test]
fn ports_that_measure_something_else_are_told_at_their_entries() {
    let folder = Folder::new();
    let car = CAR.replace("sensor_velocity;", "Compass => currentVelocity;");
    let car = car.replace("sensor_compass;", "sensor_compass;\n    SpeedSensor => y;");
    std::fs::write(folder.0.join("cars/Taxi.car"), car).unwrap();
    let told = moved(&folder, SIMULATION);
    let places: Vec<(usize, usize)> = told.iter().map(|(_, line, column, _)| (*line, *column)).collect();
    assert_eq!(places, [(31, 16), (35, 20)], "{told:?}");
    assert!(told[1].3.contains("`y` is m, and what it is told is m/s"), "{told:?}");
}

/// A step of 70 ms divides neither the cycle of the sensor nor a segment nor the duration: the step is odd, not they.
#[test]
fn a_step_that_divides_nothing_is_told_once_at_the_step() {
    let folder = Folder::new();
    let told = moved(
        &folder,
        &SIMULATION.replace("50Hz", "70ms").replace(
            "  bound channel Radio {\n    \
        transfer_rate 10Hz;\n    latency 20ms;\n    outage 1%;\n    area (0,0) 150m;\n  };\n",
            "",
        ),
    );
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((told[0].1, told[0].2), (5, 22), "{told:?}");
    assert!(told[0].3.contains("no whole multiples of this step") && told[0].3.contains("the duration"), "{told:?}");
    // A duration alone that is odd is wrong itself.
    let told = moved(&folder, &SIMULATION.replace("sim_duration 10s", "sim_duration 10015ms"));
    assert_eq!((told[0].1, told[0].2), (4, 16), "{told:?}");
}

/// Nothing that somebody can type makes the reader fall over.
#[test]
fn damaged_simulations_and_cars_are_answered() {
    let folder = Folder::new();
    for (text, is_car) in [(SIMULATION, false), (CAR, true)] {
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            let without = format!("{}{}", &text[..at], text.get(at + 1..).unwrap_or(""));
            let doubled = format!("{}{}", &text[..at], &text[at.saturating_sub(1)..]);
            for damaged in [&text[..at], &text[at..], &without, &doubled] {
                if is_car {
                    drop(check_car(&folder.0.join("Taxi.car"), damaged));
                } else {
                    drop(expand(&folder.0.join("Town.sim"), damaged));
                }
            }
        }
    }
}
