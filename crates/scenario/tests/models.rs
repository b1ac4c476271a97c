//! Component models in the loop: the same findings as the law they are twins of, branchable, side by side.

use std::path::{Path, PathBuf};

use anabranch_explore::{Explorer, Merge, Scope, Settings};
use anabranch_kernel::{Choice, Choices, Job, Seed, SegmentEnd, System, Watch, contract, to_bytes};
use anabranch_language::Library;
use anabranch_scenario::Drive;
use anabranch_scenario::file::{Document, Hooks, Report, ScenarioSpec};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn read_in(folder: &Path, text: &str) -> Result<ScenarioSpec, Report> {
    let read_models = |name: &str| Library::around(&folder.join(name));
    let read_file = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let hooks = Hooks {
        has_file: &|name| folder.join(name).is_file(),
        read_file: &read_file,
        read_models: &read_models,
        ..Hooks::default()
    };
    Document::parse("test.toml", text.as_bytes())?.read(&hooks)
}

fn drive(text: &str) -> Drive {
    Drive::assemble(&read_in(&folder(), text).unwrap_or_else(|e| panic!("{e}"))).unwrap_or_else(|e| panic!("{e}"))
}

fn passage() -> String {
    std::fs::read_to_string(folder().join("passage.toml")).unwrap()
}

/// The same world with the built-in law.
fn twin() -> String {
    std::fs::read_to_string(folder().join("../scenarios/narrow-passage.toml")).unwrap()
}

fn explored(text: &str, levels_max: u32, side_by_side: bool, threads: usize) -> anabranch_explore::Outcome {
    let spec = read_in(&folder(), text).unwrap_or_else(|e| panic!("{e}"));
    let mut drive = Drive::assemble(&spec).unwrap_or_else(|e| panic!("{e}"));
    drive.set_side_by_side(side_by_side);
    let grid = drive.grid(&spec.explore.merge).expect("cells").expect("merging");
    let settings = Settings {
        merge: Merge::Grid(grid),
        scope: if drive.time_matters() { Scope::Level } else { Scope::Visited },
        levels_max,
        ..Settings::new(drive.variables(), drive.time_matters())
    };
    Explorer::new(&drive).settings(settings).threads(threads).run().expect("it explores")
}

#[test]
fn a_model_finds_what_the_law_finds_that_it_was_written_after() {
    let (model, law) = (drive(&passage()), drive(&twin()));
    let start = |drive: &Drive| drive.start(Seed(0), &drive.space().all()[0]).expect("it starts");
    let (mut by_model, mut by_law) = (start(&model), start(&law));
    for segment in 0..20 {
        let choice = Choice(segment * 5 % 9);
        let ends = [(&model, &mut by_model), (&law, &mut by_law)]
            .map(|(drive, state)| drive.run(state, choice, &mut Watch::off()).expect("it runs"));
        assert_eq!(ends[0], ends[1], "segment {segment}");
        assert_eq!(to_bytes(&by_model.car), to_bytes(&by_law.car), "segment {segment}");
        if ends[0] != SegmentEnd::Open {
            break;
        }
    }
}

/// Every segment of both, level by level. A change looks at the first levels; `cargo xtask soak twin` at all of them.
#[test]
fn an_exploration_by_a_model_is_that_of_its_twin() {
    let levels = std::env::var("ANABRANCH_LEVELS").ok().map_or(7, |levels| levels.parse().expect("a number"));
    let (model, law) = (explored(&passage(), levels, true, 2), explored(&twin(), levels, true, 2));
    let counts = |outcome: &anabranch_explore::Outcome| {
        let p = &outcome.progress;
        let ways = outcome.hits.iter().map(|hit| format!("{hit:?}")).collect::<Vec<_>>();
        ([p.segments, p.states, p.merged, p.findings, outcome.goals, outcome.timed_out], p.margin.to_bits(), ways)
    };
    println!("{levels} levels: model {:?}, law {:?}", model.progress, law.progress);
    assert_eq!(counts(&model).0, counts(&law).0);
    assert_eq!(counts(&model), counts(&law));
    assert_eq!(model.levels.len(), law.levels.len());
    assert!(model.progress.findings > 0 && model.progress.segments > 5_000, "{:?}", model.progress);
}

#[test]
fn a_model_has_one_digest_in_every_way_to_compute_it() {
    let found = explored(&passage(), 4, true, 1).digest;
    assert_eq!(explored(&passage(), 4, true, 3).digest, found);
    assert_eq!(explored(&passage(), 4, false, 2).digest, found);
}

#[test]
fn models_keep_the_contract_and_run_side_by_side_with_the_same_bits() {
    let wide = drive(&passage());
    let report = contract::check_contract(&wide, 4, 30).unwrap_or_else(|e| panic!("{e}"));
    assert!(report.segments > 20, "{report:?}");
    let mut narrow = wide.clone();
    narrow.set_side_by_side(false);
    let mut level = vec![wide.start(Seed(0), &wide.space().all()[0]).unwrap()];
    let mut choices = Choices::new();
    let mut compared = 0;
    for _ in 0..wide.segments() {
        let mut jobs = Vec::new();
        for state in &level {
            wide.live(state, &mut choices);
            jobs.extend(choices.iter().map(|&choice| Job::new(state.clone(), choice)));
        }
        let mut again = jobs.clone();
        wide.run_many(&mut jobs);
        narrow.run_many(&mut again);
        for (a, b) in jobs.iter().zip(&again) {
            assert_eq!(to_bytes(&a.state), to_bytes(&b.state), "{:?}", a.choice);
            assert_eq!((&a.end, &a.notes, a.margin.to_bits()), (&b.end, &b.notes, b.margin.to_bits()));
            compared += 1;
        }
        let open = jobs.into_iter().filter(|job| job.end == Ok(SegmentEnd::Open));
        level = open.map(|job| job.state).step_by(7).take(8).collect();
    }
    assert!(compared > 500, "{compared}");
}

/// A folder with files of its own.
fn files(files: &[(&str, &str)]) -> PathBuf {
    static NUMBER: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("anabranch-models-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    files.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).unwrap());
    folder
}

/// The passage with a driver of its own.
fn with_driver(driver: &str) -> String {
    let lines = passage();
    let line = lines.lines().find(|line| line.starts_with("driver ")).unwrap();
    lines.replacen(line, &format!("driver = {driver}"), 1)
}

fn broken(model: &str, driver: &str) -> String {
    let folder = files(&[("M.emam", model)]);
    let report = read_in(&folder, &with_driver(driver)).unwrap_err();
    let told: Vec<String> =
        report.diagnostics.iter().map(|d| format!("{} {}: {}", d.code, d.line, d.message)).collect();
    std::fs::remove_dir_all(folder).unwrap();
    told.join("; ")
}

const STILL: &str = "component M { ports in Q(-oo m/s : oo m/s) speed, out Q steer, out Q accel; \
                     implementation Math { steer = 0; accel = 0; } }";

#[test]
fn what_does_not_fit_is_told_with_its_place() {
    let at = |text: &str| {
        let line = with_driver(text).lines().position(|line| line.starts_with("driver ")).unwrap() + 1;
        line.to_string()
    };
    let line = at("{ file = \"M.emam\" }");
    let check = |model: &str, driver: &str, told: &str| {
        assert_eq!(broken(model, driver), told.replace('#', &line));
    };
    check(STILL, "{ file = \"N.emam\" }", "E0125 #: there is no file `N.emam`");
    check(STILL, "{ file = \"M.emam\", inputs = [\"sped = speed\"] }", "E0215 #: the model has no input `sped`");
    check(STILL, "{ file = \"M.emam\", inputs = [\"speed = velocity\"] }", "E0215 #: a driver is not told `velocity`");
    check(
        STILL,
        "{ file = \"M.emam\", inputs = [\"speed = path.lateral\"] }",
        "E0215 #: `speed` is m/s, and what it is told is m",
    );
    check(STILL, "{ file = \"M.emam\", key = [\"sum\"] }", "E0215 #: the model does not remember `sum`");
    check(STILL, "{ file = \"M.emam\", noise = [\"speed = pink\"] }", "E0215 #: there is no noise `pink`");
    check(
        STILL,
        "{ file = \"M.emam\", deadline = \"1 s\" }",
        "E0120 #: `deadline` belongs to drivers that run outside, and a component model runs inside",
    );
    check(STILL, "{ file = \"M.emam\", component = \"N\" }", "E0216 #: there is no component `N` in this folder");
    let mute = "component M { ports out Q steer; implementation Math { steer = 0; } }";
    check(mute, "{ file = \"M.emam\" }", "E0215 #: no output of `M` is the command `accel`");
    let deaf = STILL.replace("speed,", "hearing,");
    check(&deaf, "{ file = \"M.emam\" }", "E0215 #: nothing says where the input `hearing` comes from");
    let wrong = STILL.replace("steer = 0;", "stear = 0;");
    assert!(broken(&wrong, "\"M.emam\"").starts_with("L203 1: "), "{}", broken(&wrong, "\"M.emam\""));
}

/// A value that the model cannot take is wrong where it was given, not somewhere in the model.
#[test]
fn values_of_parameters_are_blamed_where_they_are_given() {
    let model = STILL.replace("component M {", "component M(Q(0 : 1) share = 0, Q(0 s : 1 s) cycle_s = 0.1 s) {");
    let check = |driver: &str, told: &str| assert!(broken(&model, driver).contains(told), "{}", broken(&model, driver));
    let line = with_driver("").lines().position(|line| line.starts_with("driver ")).unwrap() + 1;
    let given = |parameter: &str| format!("{{ file = \"M.emam\", parameters = [\"{parameter}\"] }}");
    check(&given("share = 5"), &format!("E0215 {line}: the parameter `share`: 5 is outside of Q(0 : 1)"));
    check(&given("share = [1 2]"), &format!("E0215 {line}: the parameter `share`: Q^{{1,2}} cannot become"));
    check(&given("chair = 1"), &format!("E0215 {line}: `M` has no parameter `chair`"));
    // What follows from another setting is wrong there.
    let slow = with_driver("\"M.emam\"").replace("step = \"10 ms\"", "step = \"7 s\"");
    let step = slow.lines().position(|line| line.starts_with("step ")).unwrap() + 1;
    let folder = files(&[("M.emam", &model)]);
    let report = read_in(&folder, &slow).unwrap_err();
    std::fs::remove_dir_all(folder).unwrap();
    let told = report.diagnostics.iter().find(|d| d.message.contains("the parameter `cycle_s`: 7 is outside"));
    assert_eq!(told.map(|told| told.line), Some(step), "{report}");
}

/// Metres for an acceleration would drive, and mean nothing.
#[test]
fn outputs_measure_what_the_command_does() {
    let model = "component M { ports out Q(0 m : 10 m) far, out Q(0 kg : 9 kg) heavy, out Q steer, \
                 out Q(-9 m/s^2 : 9 m/s^2) accel; implementation Math { steer = 0; accel = 0 m/s^2; } }";
    let told = |outputs: &str| {
        let told = broken(model, &format!("{{ file = \"M.emam\", outputs = [\"{outputs}\"] }}"));
        told.split_once(": ").map(|(_, message)| message.to_owned()).unwrap_or_default()
    };
    assert_eq!(told("far = accel"), "`far` is m, and the command `accel` is m/s^2");
    assert_eq!(told("heavy = steer"), "`heavy` is kg, and the command `steer` is a plain number");
    assert_eq!(told("heavy = brake"), "`heavy` is kg, and the command `brake` is m/s^2");
    assert_eq!(told("heavy = completed"), "`heavy` is kg, and the command `completed` is a plain number");
    let named = STILL.replace("out Q steer", "out Q(0 kg : 1 kg) steer");
    assert!(broken(&named, "\"M.emam\"").contains("`steer` is kg"), "{}", broken(&named, "\"M.emam\""));
    let folder = files(&[("M.emam", STILL)]);
    read_in(&folder, &with_driver("\"M.emam\"")).expect("a port without unit is taken as SI");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_a_model_does_wrong_is_a_finding_about_the_driver() {
    for (law, requirement) in [
        ("steer = 1 / (speed - speed);", "driver.not-a-number"),
        ("steer = 3;", "driver.out-of-range"),
        ("Q^3 row = [1 2 3]; steer = row(4 + speed);", "driver.exception"),
    ] {
        let folder = files(&[("M.emam", &STILL.replace("steer = 0;", law))]);
        let drive = Drive::assemble(&read_in(&folder, &with_driver("\"M.emam\"")).unwrap_or_else(|e| panic!("{e}")));
        let drive = drive.unwrap_or_else(|e| panic!("{e}"));
        std::fs::remove_dir_all(folder).unwrap();
        let mut state = drive.start(Seed(0), &drive.space().all()[0]).unwrap();
        let end = drive.run(&mut state, Choice(0), &mut Watch::off()).unwrap();
        let SegmentEnd::Violated(verdicts) = end else { panic!("{law}: {end:?}") };
        assert_eq!(drive.requirements()[usize::from(verdicts[0].requirement)], requirement);
    }
}

#[test]
fn what_a_model_remembers_is_in_the_key_and_can_have_cells() {
    let text = "component M { ports in Q(-oo m/s : oo m/s) speed, out Q steer, out Q accel; implementation Math { \
                static Q sum = 0; static N count = 0; sum = sum + speed; count = count + 1; steer = 0; accel = 0.1; } }";
    let folder = files(&[("M.emam", text)]);
    let drive = |driver: &str| Drive::assemble(&read_in(&folder, &with_driver(driver)).unwrap()).unwrap();
    let sizes = |drive: &Drive| {
        let own = drive.variables().iter().filter(|v| v.name.starts_with("driver."));
        own.map(|v| (v.name.rsplit('.').next().unwrap().to_owned(), v.size)).collect::<Vec<_>>()
    };
    use anabranch_kernel::CellSize::{Exact, Size};
    assert_eq!(sizes(&drive("\"M.emam\"")), [("sum".to_owned(), Exact), ("count".to_owned(), Exact)]);
    let coarse = drive("{ file = \"M.emam\", key = [\"sum = 0.5\"] }");
    assert_eq!(sizes(&coarse), [("sum".to_owned(), Size(0.5)), ("count".to_owned(), Exact)]);
    contract::check_contract(&coarse, 2, 10).unwrap_or_else(|e| panic!("{e}"));
    std::fs::remove_dir_all(&folder).unwrap();
}

fn two_cars() -> String {
    std::fs::read_to_string(folder().join("two-cars.toml")).unwrap()
}

#[test]
fn a_model_with_actuators_and_noise_keeps_its_lane_and_the_contract() {
    let with_noise = two_cars().replacen(
        "outputs = [\"s = steer\"]",
        "outputs = [\"s = steer\"]\nnoise = [\"d = wandering\", \"speed = white\"]",
        1,
    );
    for text in [two_cars(), with_noise] {
        let drive = drive(&text);
        contract::check_contract(&drive, 2, 8).unwrap_or_else(|e| panic!("{e}"));
        let mut state = drive.start(Seed(3), &drive.space().all()[0]).unwrap();
        for second in 0..8 {
            let end = drive.run(&mut state, Choice(0), &mut Watch::off()).unwrap();
            assert_eq!(end, SegmentEnd::Open, "second {second}");
        }
        assert!(state.car.car.y.abs() < 0.5 && state.car.car.speed > 10.0, "{:?}", state.car.car);
    }
}

/// How far the car is beside the middle of its lane after some seconds with wheels that stand off.
fn drifted_m(text: &str) -> f64 {
    let drive = drive(&text.replacen("per_run = 2", "per_run = 6", 1));
    let mut state = drive.start(Seed(0), &drive.space().all()[0]).unwrap();
    let mut choices = Choices::new();
    drive.live(&state, &mut choices);
    let off = choices.iter().copied().find(|choice| choice.0 == 1).expect("an error");
    let mut worst_m = 0.0_f64;
    for second in 0..6 {
        drive.run(&mut state, off, &mut Watch::off()).unwrap();
        if second >= 3 {
            worst_m = worst_m.max(state.car.car.y.abs());
        }
    }
    worst_m
}

#[test]
fn the_correction_learns_that_the_wheels_stand_off() {
    let without = two_cars().replacen("outputs = [", "parameters = [\"share = 0\"]\noutputs = [", 1);
    let (with_m, without_m) = (drifted_m(&two_cars()), drifted_m(&without));
    assert!(with_m < 0.6 * without_m, "{with_m} {without_m}");
}

#[test]
fn simulation_and_car_models_are_scenarios() {
    let path = folder().join("models/TwoCars.sim");
    let text = std::fs::read_to_string(&path).unwrap();
    let members = anabranch_scenario::simulation::expand(&path, &text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(members.len(), 1);
    let spec =
        read_in(&folder().join("models"), &members[0].text).unwrap_or_else(|e| panic!("{e}\n{}", members[0].text));
    let drive = Drive::assemble(&spec).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(drive.model_name(), Some("lane.LaneKeeping"));
    let mut state = drive.start(Seed(0), &drive.space().all()[0]).unwrap();
    for second in 0..8 {
        let end = drive.run(&mut state, Choice(0), &mut Watch::off()).unwrap();
        assert_eq!(end, SegmentEnd::Open, "second {second}");
    }
    assert!(state.car.car.speed > 5.0, "{:?}", state.car.car);

    let family = text.replacen("deltaT = 50ms", "deltaT = 50ms, 25ms", 1).replacen(
        "duration = 12s",
        "duration = (10s : 1s : 12s)",
        1,
    );
    let members = anabranch_scenario::simulation::expand(&path, &family).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((members.len(), members[4].label.as_str()), (6, "deltaT = 25ms, duration = 11s"));

    for (from, to, told) in [
        ("StraightStreet", "Nowhere", "there is no road file `Nowhere.road.toml`"),
        ("M-SE003", "M-SE004", "there is no car model `M-SE004.car`"),
        ("noSnow", "hail", "`hail` is no weather"),
        ("duration = 12s;", "duration = 12m;", "`12m` is no time"),
        ("6°03'40.4\"E", "7°03'40.4\"E", "no lane leads this way"),
    ] {
        let wrong = text.replacen(from, to, 1);
        let report = anabranch_scenario::simulation::expand(&path, &wrong).unwrap_err().to_string();
        assert!(report.contains(told) && report.contains("TwoCars.sim:"), "{report}");
    }
}

#[test]
fn zones_scale_the_noise_of_a_model_where_reception_is_bad() {
    let noisy = two_cars().replacen("outputs = [", "noise = [\"d = situational\"]\noutputs = [", 1);
    let zone = |x_m: f64, effect: &str| {
        let corner = |x_m: f64, y_m: f64| format!("[\"{x_m} m\", \"{y_m} m\"]");
        let corners = [(x_m, -20.0), (x_m + 700.0, -20.0), (x_m + 700.0, 20.0), (x_m, 20.0)];
        let corners = corners.map(|(x_m, y_m)| corner(x_m, y_m)).join(", ");
        noisy.replacen(
            "[road]",
            &format!("[[world.zone]]\nid = \"canyon\"\npolygon = [{corners}]\n{effect}\n\n[road]"),
            1,
        )
    };
    let wobble = |text: &str| {
        let drive = drive(text);
        let mut state = drive.start(Seed(0), &drive.space().all()[0]).unwrap();
        (0..4).for_each(|_| drop(drive.run(&mut state, Choice(0), &mut Watch::off()).unwrap()));
        state.car.car.y.to_bits()
    };
    let usual = wobble(&noisy);
    assert_eq!(wobble(&zone(10_000.0, "gps_noise = 4")), usual, "a zone far away");
    assert_ne!(wobble(&zone(-50.0, "gps_noise = 4")), usual, "inside of it");
    // White noise does not listen to zones, and nothing else does: that is told, not ignored.
    let deaf = zone(-50.0, "gps_noise = 4").replacen("situational", "white", 1);
    let told = read_in(&folder(), &deaf).unwrap_err().to_string();
    assert!(told.contains("nothing here listens to satellites"), "{told}");
    let told = read_in(&folder(), &zone(-50.0, "gps_lost = true")).unwrap_err().to_string();
    assert!(told.contains("nothing here listens to satellites"), "{told}");
}

/// The passage with its built-in driver and an actuator behind it, as a text and the folder of its model.
fn with_actuator(model: &str, mapping: &str) -> (PathBuf, String) {
    let actuators = format!("actuators = [{{ file = \"A.emam\"{mapping} }}] }}");
    let text = twin().replacen("cycle = \"20 ms\" }", &format!("cycle = \"20 ms\", {actuators}"), 1);
    assert!(text.contains("actuators"));
    (files(&[("A.emam", model)]), text)
}

/// Passes the angle of the wheels on, late or at once; the acceleration passes it by.
fn wheels(law: &str) -> String {
    format!(
        "component A {{ ports in Q(-1 rad : 1 rad) steer, in Q(-oo m/s : oo m/s) speed, in Q(-1 : 1) gear, \
         out Q(-1 rad : 1 rad) wheels; implementation Math {{ static Q last = 0; {law} if abs(speed) > 100 * abs(gear) \
         wheels = 0; end }} }}"
    )
}

#[test]
fn a_model_stands_between_a_built_in_driver_and_the_car() {
    const MAPPED: &str = ", outputs = [\"wheels = steer\"], key = [\"last = 0.02\"]";
    let assembled = |law: &str, mapping: &str| {
        let (folder, text) = with_actuator(&wheels(law), mapping);
        let spec = read_in(&folder, &text).unwrap_or_else(|e| panic!("{e}"));
        Drive::assemble(&spec).unwrap_or_else(|e| panic!("{e}"))
    };
    let end = |drive: &Drive| {
        let mut state = drive.start(Seed(0), &drive.space().all()[0]).unwrap();
        (0..6).for_each(|_| drop(drive.run(&mut state, Choice(3), &mut Watch::off()).unwrap()));
        to_bytes(&state.car)
    };
    let plain = end(&drive(&twin()));
    let at_once = assembled("wheels = steer; last = 0;", ", outputs = [\"wheels = steer\"]");
    assert_eq!(end(&at_once), plain, "what passes on changes no bit");
    let late = assembled("last = 0.9 * last + 0.1 * steer; wheels = last;", MAPPED);
    assert_ne!(end(&late), plain);
    assert!(late.variables().iter().any(|variable| variable.name.ends_with("last")), "{:?}", late.variables());
    let report = contract::check_contract(&late, 4, 20).unwrap_or_else(|e| panic!("{e}"));
    assert!(report.segments > 15, "{report:?}");
    // What it does wrong is a finding about it.
    let broken = assembled("wheels = 1 / (last + 1) - 1; last = -1;", MAPPED);
    let mut state = broken.start(Seed(0), &broken.space().all()[0]).unwrap();
    let SegmentEnd::Violated(verdicts) = broken.run(&mut state, Choice(0), &mut Watch::off()).unwrap() else {
        panic!("nothing was noticed")
    };
    assert_eq!(broken.requirements()[usize::from(verdicts[0].requirement)], "actuators.not-a-number");
    // What only a driver that is a model is told is refused.
    let way = ", inputs = [\"speed = path.lateral\"], outputs = [\"wheels = steer\"]";
    let (folder, text) = with_actuator(&wheels("wheels = steer;").replace("m/s", "m"), way);
    let told = read_in(&folder, &text).unwrap_err().to_string();
    assert!(told.contains("`speed` is about the way"), "{told}");
}

#[test]
fn a_model_stands_behind_the_built_in_driver_on_roads() {
    let text = two_cars();
    let (before, rest) = text.split_once("[ego.driver]").unwrap();
    let (_, after) = rest.split_once("[[error]]").unwrap();
    let fir = "{ file = \"models/lane/SteeringFir4.emam\", inputs = [\"wanted = steer\"], \
        outputs = [\"actual = steer\"], key = [\"d = 0.02\"] }";
    let road = |actuators: &str| format!("{before}[ego.driver]\nkind = \"road\"\n{actuators}\n[[error]]{after}");
    let (plain, late) = (drive(&road("")), drive(&road(&format!("actuators = [{fir}]"))));
    let end = |drive: &Drive| {
        let mut state = drive.start(Seed(0), &drive.space().all()[0]).unwrap();
        (0..4).for_each(|_| drop(drive.run(&mut state, Choice(1), &mut Watch::off()).unwrap()));
        state.car.car
    };
    assert_ne!(to_bytes(&end(&plain)), to_bytes(&end(&late)));
    assert!(end(&late).y.abs() < 1.0, "{:?}", end(&late));
    let report = contract::check_contract(&late, 2, 8).unwrap_or_else(|e| panic!("{e}"));
    assert!(report.segments > 4, "{report:?}");
}
