//! What the car perceives: several object sensors, their errors one by one, plain sensors, and what drivers from outside are told.

use crate::law::listening;
use anabranch_explore::{Explorer, Merge, Scope, Settings};
use anabranch_geometry::Pose;
use anabranch_kernel::contract::check_contract;
use anabranch_kernel::{Choice, Grid, Seed, SegmentEnd, System, Watch};
use anabranch_scenario::file::{Document, Hooks, ScenarioSpec};
use anabranch_scenario::{Drive, DriveState};

/// A straight road of three lanes; the car is in the middle one.
pub fn spec(world: &str, ego: &str, rest: &str) -> ScenarioSpec {
    let text = format!(
        "schema = \"anabranch/1\"\nname = \"senses\"\n[world]\nstep = \"50 ms\"\n{world}\n[road]\nkind = \"straight\"\nlanes = 3\n\
         [ego]\ndriver = \"road\"\nstart = {{ lane = \"main.2\", station = \"100 m\", speed = \"10 m/s\" }}\n\
         goal = {{ lane = \"main.2\", station = \"480 m\" }}\n{ego}\n[explore]\nsegment = \"500 ms\"\nuntil = \"20 s\"\n\
         {rest}\n[[must]]\nid = \"no-contact\"\nnever = \"ego.contact\"\n"
    );
    let document = Document::parse("senses.toml", text.as_bytes()).unwrap_or_else(|report| panic!("{report}"));
    document.read(&Hooks::default()).unwrap_or_else(|report| panic!("{report}"))
}

pub fn drive(world: &str, ego: &str, rest: &str) -> Drive {
    Drive::assemble(&spec(world, ego, rest)).unwrap_or_else(|error| panic!("{error}"))
}

pub fn start(drive: &Drive) -> DriveState {
    drive.start(Seed(0), &drive.space().all()[0]).unwrap()
}

/// The state after some segments under one choice.
pub fn after(drive: &Drive, choice: Choice, segments: u32) -> DriveState {
    let mut state = start(drive);
    for _ in 0..segments {
        assert_eq!(drive.run(&mut state, choice, &mut Watch::off()).unwrap(), SegmentEnd::Open);
    }
    state
}

/// The choice whose description has these words.
pub fn choice(drive: &Drive, words: &str) -> Choice {
    let errors = drive.errors();
    let found = errors.choices().find(|choice| errors.describe(*choice).contains(words));
    found.unwrap_or_else(|| {
        panic!("no choice says {words}: {:?}", errors.choices().map(|c| errors.describe(c)).collect::<Vec<_>>())
    })
}

/// How far the believed objects are ahead of the car, nearest first.
fn believed_m(state: &DriveState) -> Vec<f64> {
    let car = state.car.car;
    let street = state.extras.as_ref().unwrap().street.as_ref().unwrap();
    let mut ahead: Vec<f64> = street.tracks.confirmed().map(|track| track.position_m[0] - car.x).collect();
    ahead.sort_by(f64::total_cmp);
    ahead
}

const AHEAD_AND_BEHIND: &str = "[[object]]\nid = \"ahead\"\nlane = \"main.2\"\nstation = \"150 m\"\nspeed = \"10 m/s\"\n\
    [[object]]\nid = \"behind\"\nlane = \"main.2\"\nstation = \"60 m\"\nspeed = \"10 m/s\"\n";
const FRONT_AND_REAR: &str = "[[ego.sensor]]\nid = \"front\"\nview = \"120 deg\"\nahead = \"3 m\"\n\
    [[ego.sensor]]\nid = \"rear\"\nview = \"120 deg\"\nahead = \"-0.5 m\"\nyaw = \"180 deg\"\nrange = \"80 m\"\n";
const ONE_EACH: &str = "[[error]]\nid = \"blind-rear\"\non = \"sensor.rear\"\nlost = {}\n\
    [[error]]\nid = \"blind-front\"\non = \"sensor.front\"\nlost = {}\n\
    [[error]]\nid = \"unseen-by-front\"\non = \"sensor.front\"\nmissed = { obstacle = \"ahead\" }\n\
    [[error]]\nid = \"unseen-by-rear\"\non = \"sensor.rear\"\nmissed = { obstacle = \"ahead\" }\n\
    [[error]]\nid = \"aside\"\non = \"sensor.front\"\ndisplaced = { obstacle = \"ahead\", by = \"2 m\", directions = 4 }\n\
    [[error]]\nid = \"slow-front\"\non = \"sensor.front\"\ndelay = { by = \"300 ms\" }\n[errors]\nat_once = 1\n";

#[test]
fn objects_are_the_union_of_what_the_sensors_see_and_each_can_be_lost_alone() {
    let drive = drive("", FRONT_AND_REAR, &format!("{AHEAD_AND_BEHIND}{ONE_EACH}"));
    let seen = |words: &str| {
        let ahead = believed_m(&after(&drive, choice(&drive, words), 5));
        (ahead.iter().any(|m| *m < 0.0), ahead.iter().any(|m| *m > 0.0), ahead.len())
    };
    assert_eq!(seen("none"), (true, true, 2));
    assert_eq!(seen("rear lost"), (false, true, 1));
    assert_eq!(seen("front lost"), (true, false, 1));
    assert_eq!(seen("unseen-by-front"), (true, false, 1));
    // The rear sensor never sees who is ahead, so missing it changes nothing.
    assert_eq!(seen("unseen-by-rear"), (true, true, 2));
    // A sensor that is lost later is lived through for a while: tracks coast.
    let mut state = after(&drive, Choice::NONE, 5);
    drive.run(&mut state, choice(&drive, "rear lost"), &mut Watch::off()).unwrap();
    assert_eq!(believed_m(&state).len(), 2);
    for _ in 0..2 {
        drive.run(&mut state, choice(&drive, "rear lost"), &mut Watch::off()).unwrap();
    }
    assert_eq!(believed_m(&state).len(), 1);
}

#[test]
fn errors_of_one_sensor_move_only_what_it_tells() {
    let drive = drive("", FRONT_AND_REAR, &format!("{AHEAD_AND_BEHIND}{ONE_EACH}"));
    let (right, aside) = (after(&drive, Choice::NONE, 4), after(&drive, choice(&drive, "aside"), 4));
    let y = |state: &DriveState, ahead: bool| {
        let street = state.extras.as_ref().unwrap().street.as_ref().unwrap();
        let car = state.car.car;
        let track = street.tracks.confirmed().find(|track| (track.position_m[0] > car.x) == ahead).unwrap();
        (track.position_m[0] - car.x, track.position_m[1] - car.y)
    };
    let (told, truth) = (y(&aside, true), y(&right, true));
    let off_m = ((told.0 - truth.0).powi(2) + (told.1 - truth.1).powi(2)).sqrt();
    assert!((1.5..2.5).contains(&off_m), "{told:?} {truth:?}");
    assert!((y(&aside, false).1 - y(&right, false).1).abs() < 0.3);
    // 0.3 s late at the same speed ahead: the track lags by the way of that time, 3 m.
    let late = after(&drive, choice(&drive, "slow-front"), 6);
    let lag_m = y(&after(&drive, Choice::NONE, 6), true).0 - y(&late, true).0;
    assert!((2.0..4.0).contains(&lag_m), "{lag_m}");
}

/// A wall hides the thing from the middle of the car and not from far out on its left.
#[test]
fn what_is_hidden_depends_on_where_the_sensor_sits() {
    let wall = "[[world.wall]]\nid = \"fence\"\nline = [[\"112 m\", \"3 m\"], [\"112 m\", \"-8 m\"]]\n";
    let thing = "[[object]]\nid = \"box\"\nkind = \"thing\"\nlane = \"main.1\"\nstation = \"130 m\"\nwidth = \"1 m\"\nlength = \"1 m\"\n";
    let seen = |aside: &str| {
        let ego = format!("[[ego.sensor]]\nid = \"one\"\nview = \"90 deg\"\naside = \"{aside}\"\n");
        let drive = drive(wall, &ego, thing);
        let mut state = start(&drive);
        // Before the fence is reached.
        drive.run(&mut state, Choice::NONE, &mut Watch::off()).unwrap();
        believed_m(&state).len()
    };
    let middle = spec("", "", "").road.unwrap().network;
    let y = |lane: &str| middle.lane(middle.find("main", lane).unwrap()).position(100.0).y;
    // By hand, with the lane's own places: from the middle the line to the box crosses x = 112 m within the fence, from 8 m left
    // of it it does not.
    let crosses = |eye_y: f64| {
        let share = (112.0 - 101.5) / (130.0 - 101.5);
        (-8.0..3.0).contains(&(eye_y + share * (y("1") - eye_y)))
    };
    assert!(crosses(y("2")) != crosses(y("2") + 8.0), "{} {}", y("1"), y("2"));
    assert_eq!((seen("0 m"), seen("8 m")), (usize::from(!crosses(y("2"))), usize::from(!crosses(y("2") + 8.0))));
}

/// Sensors with cycles and latencies of their own, noise, misses, ghosts and flips.
const MANY: &str = "[[ego.sensor]]\nid = \"front\"\nview = \"120 deg\"\nahead = \"3 m\"\nmodel = \"wandering\"\nsure = \"30 m\"\nfar_rate = 0.5\n\
    [[ego.sensor]]\nid = \"radar\"\nview = \"60 deg\"\ncycle = \"150 ms\"\nlatency = \"300 ms\"\nnoise = \"0.3 m\"\nghosts = 0.05\n\
    [[ego.sensor]]\nid = \"rear\"\nview = \"120 deg\"\nyaw = \"180 deg\"\ncycle = \"200 ms\"\nflips = 0.2\nheading_noise = \"2 deg\"\n";
const PLAIN: &str = "[ego.plain]\nnoise = \"wandering\"\nspeed = { cycle = \"100 ms\", resolution = \"0.1 m/s\" }\n";

#[test]
fn several_sensors_keep_the_contract_and_have_one_digest_for_any_number_of_threads() {
    let errors = "[[error]]\nid = \"blind\"\non = \"sensor.radar\"\nlost = {}\n\
        [[error]]\nid = \"slow\"\non = \"sensor.front\"\ndelay = { by = \"200 ms\" }\n\
        [[error]]\nid = \"late\"\non = \"sensor.rear\"\nlate = { obstacle = \"behind\", by = \"400 ms\" }\n";
    let drive = drive("", &format!("{MANY}{PLAIN}"), &format!("{AHEAD_AND_BEHIND}{errors}"));
    assert!(
        drive.variables().iter().any(|v| v.name.starts_with("sensor.radar.")),
        "readings on their way are in the key"
    );
    assert!(drive.variables().iter().any(|v| v.name == "plain.speed.0"), "a kept reading is in the key");
    let report = check_contract(&drive, 4, 8).unwrap();
    assert!(report.segments >= 16, "{report:?}");
    let digest = |threads: usize| {
        let base = Settings::new(drive.variables(), drive.time_matters());
        let settings =
            Settings { scope: Scope::Level, merge: Merge::Grid(Grid::of(drive.variables())), levels_max: 3, ..base };
        Explorer::new(&drive).settings(settings).threads(threads).run().unwrap().digest
    };
    let one = digest(1);
    assert_eq!((one, one), (digest(2), digest(3)));
}

#[test]
fn the_only_sensor_may_be_a_table_or_a_list_of_one() {
    let table = drive("", "sensor = { range = \"90 m\", noise = \"0.2 m\" }", AHEAD_AND_BEHIND);
    let list = drive("", "[[ego.sensor]]\nid = \"eye\"\nrange = \"90 m\"\nnoise = \"0.2 m\"", AHEAD_AND_BEHIND);
    let last = |drive: &Drive| after(drive, Choice::NONE, 6).car.car;
    assert_eq!(last(&table), last(&list));
}

#[test]
fn plain_sensors_tell_the_truth_of_the_road_by_hand() {
    let drive = drive("friction = 0.5", "vehicle = { model = \"single-track\" }\n[ego.plain]\n", "");
    let state = after(&drive, Choice::NONE, 1);
    let told = drive.plain_readings(&state).unwrap();
    let mut before = start(&drive);
    assert!(drive.plain_readings(&before).is_some());
    // Readings are those of the last base cycle that was sensed: one before the state.
    let mut cars = vec![before.car.car];
    let single = Drive::assemble(&{
        let mut spec = spec("friction = 0.5", "vehicle = { model = \"single-track\" }\n[ego.plain]\n", "");
        spec.explore.segment_s.value = 0.05;
        spec
    })
    .unwrap();
    before = start(&single);
    for _ in 0..10 {
        single.run(&mut before, Choice::NONE, &mut Watch::off()).unwrap();
        cars.push(before.car.car);
    }
    let car = cars[9];
    assert_eq!((told.friction, told.location_m), (0.5, [car.x, car.y]));
    assert_eq!((told.compass_rad, told.speed_mps, told.steering_rad), (car.heading, car.speed, car.steering));
    // The middle lane of three: lane 1 is to the right. Straight ahead in the middle, half of what the lane is wider.
    let network = drive.network().unwrap();
    let lane = network.lane(network.find("main", "2").unwrap());
    let half_m = 0.5 * lane.width_m(100.0) - anabranch_vehicle::CarSpec::compact().outline.half_width_m;
    for marker_m in told.markers_m {
        assert!((marker_m - half_m).abs() < 0.02, "{marker_m} {half_m}");
    }
    let right = network.lane(network.find("main", "1").unwrap());
    assert!((told.to_right_m - half_m - right.width_m(100.0)).abs() < 0.02, "{}", told.to_right_m);
}

/// Each of the three ready noise models, on every plain sensor: told differs from the truth by about its deviation.
#[test]
fn plain_sensors_have_the_three_ready_noises() {
    for (model, most) in [("white", 5.0), ("wandering", 6.0), ("situational", 6.0)] {
        let drive = drive("", &format!("[ego.plain]\nnoise = \"{model}\"\n"), "");
        let mut state = start(&drive);
        let (mut off, mut count) = ([0.0_f64; 2], 0.0);
        for _ in 0..20 {
            drive.run(&mut state, Choice::NONE, &mut Watch::off()).unwrap();
            let told = drive.plain_readings(&state).unwrap();
            off[0] += (told.location_m[1] - state.car.car.y).powi(2);
            off[1] += (told.compass_rad - state.car.car.heading).powi(2);
            count += 1.0;
        }
        let off = off.map(|sum| (sum / count).sqrt());
        assert!(off[0] > 0.05 && off[0] < most && off[1] > 0.001 && off[1] < 0.02 * most, "{model} {off:?}");
    }
}

#[test]
fn a_driver_from_outside_is_told_plain_readings_and_the_covariance_of_the_filter() {
    let ego = "localisation = { filter = \"ekf\", gps = { white = \"1.5 m\" } }\n[ego.plain]\ncompass = { bias = \"1 deg\" }\n";
    let mut spec = spec("", ego, "");
    spec.explore.segment_s.value = 0.05;
    let (drive, heard) = listening(&spec);
    let mut state = start(&drive);
    for tick in 0..40 {
        let before = state.car.car;
        drive.run(&mut state, Choice::NONE, &mut Watch::off()).unwrap();
        let told = heard.lock().unwrap().last().cloned().unwrap();
        let street = state.extras.as_ref().unwrap().street.as_ref().unwrap();
        let known = street.navigation.as_ref().unwrap().estimate.covariance();
        for row in 0..3 {
            for column in 0..3 {
                let (told, known) = (told.pose.covariance[3 * row + column], known[row][column]);
                assert_eq!(told.to_bits(), known.to_bits(), "tick {tick}, row {row}, column {column}");
            }
        }
        assert!(told.pose.covariance[0] > 1e-4 && told.pose.covariance[4] > 1e-4);
        let plain = told.plain.as_deref().copied().unwrap();
        let bias = anabranch_kernel::maths::wrap_angle(plain.compass - before.heading);
        assert!((bias - 1.0_f64.to_radians()).abs() < 1e-9, "{bias}");
        assert_eq!((plain.x, plain.y, plain.speed, plain.steer), (before.x, before.y, before.speed, before.steering));
        if tick == 0 {
            // In the middle lane: both markers are as far, and another lane lies to the right.
            assert!(plain.front_left > 0.0 && (plain.rear_right - plain.front_left).abs() < 1e-6, "{plain:?}");
            assert!(plain.to_right > plain.front_right + 2.0, "{plain:?}");
        }
    }
    // Without a filter and without plain sensors it is the error of the scenario, and nothing.
    let (drive, heard) = listening(&self::spec("", "", ""));
    drive.run(&mut start(&drive), Choice::NONE, &mut Watch::off()).unwrap();
    let told = heard.lock().unwrap()[0].clone();
    assert_eq!((told.pose.covariance, told.plain), ([0.0; 9], None));
}

/// S1-23: with front and rear exchanged a car that stands seems to come, as long as nobody has seen it before.
#[test]
fn a_flipped_object_is_believed_the_wrong_way_round() {
    let rest = "[[object]]\nid = \"parked\"\nlane = \"main.1\"\nstation = \"140 m\"\nspeed = \"0 m/s\"\n\
        [[trigger]]\nid = \"stays\"\nobject = \"parked\"\nat = \"50 ms\"\nbrake = \"9 m/s^2\"\nfor = \"19 s\"\n\
        [[error]]\nid = \"turned\"\non = \"parked\"\nflipped = {}\n";
    let drive = drive("", "", rest);
    let heading = |choice: Choice| {
        let state = after(&drive, choice, 2);
        let street = state.extras.as_ref().unwrap().street.as_ref().unwrap();
        let tracks: Vec<Pose> = street
            .tracks
            .confirmed()
            .map(|track| Pose::new(track.position_m[0], track.position_m[1], track.heading))
            .collect();
        tracks[0].heading.abs()
    };
    let (right, turned) = (heading(Choice::NONE), heading(choice(&drive, "turned")));
    assert!(right < 0.1 && (turned - std::f64::consts::PI).abs() < 0.1, "{right} {turned}");
}

/// A side road with a stop sign, 40 m before its line.
fn side_road(world: &str, ego: &str) -> ScenarioSpec {
    let text = format!(
        "schema = \"anabranch/1\"\nname = \"signs\"\n[world]\nstep = \"50 ms\"\n{world}\n[road]\nkind = \"t-junction\"\narm = \"150 m\"\n\
         [ego]\ndriver = \"road\"\nstart = {{ lane = \"south.-1\", station = \"105 m\", speed = \"13 m/s\" }}\n\
         goal = {{ lane = \"east.1\", station = \"100 m\" }}\n{ego}\n[explore]\nsegment = \"500 ms\"\nuntil = \"20 s\"\n\
         [[must]]\nid = \"no-contact\"\nnever = \"ego.contact\"\n"
    );
    let document = Document::parse("signs.toml", text.as_bytes()).unwrap_or_else(|report| panic!("{report}"));
    document.read(&Hooks::default()).unwrap_or_else(|report| panic!("{report}"))
}

/// From the rear axle, how far before the line a driver from outside is first told of it.
fn told_from_m(world: &str, ego: &str) -> f64 {
    let (drive, heard) = listening(&side_road(world, ego));
    let mut state = start(&drive);
    while drive.run(&mut state, Choice::NONE, &mut Watch::off()).unwrap() == SegmentEnd::Open {}
    let heard = heard.lock().unwrap();
    let lines = heard.iter().filter_map(|seen| seen.road.as_deref()?.lines.first().cloned());
    lines.inspect(|line| assert_eq!(line.sign, "stop")).next().map_or(0.0, |line| line.ahead)
}

#[test]
fn a_sign_is_seen_later_in_twilight_and_a_driver_from_outside_is_told_of_it_then() {
    let front_m = 3.45;
    assert!(told_from_m("", "") > 40.0, "known from the map");
    let day_m = told_from_m("", "sign_range = \"25 m\"") - front_m;
    let dusk_m = told_from_m("time_of_day = \"1110 min\"", "sign_range = \"25 m\"") - front_m;
    // By hand: at sunset there is 0.85 of the light, and the glare leaves 0.4 of that: 8.5 m of 25 m.
    assert!((24.0..=25.0).contains(&day_m) && (7.5..=8.5).contains(&dusk_m), "{day_m} {dusk_m}");
}

#[test]
fn who_sees_the_sign_in_time_stands_before_its_line_and_who_does_not_passes_it() {
    let slowest_mps = |world: &str, ego: &str| {
        let drive = Drive::assemble(&side_road(world, ego)).unwrap_or_else(|error| panic!("{error}"));
        let mut state = start(&drive);
        let mut slowest = f64::INFINITY;
        while drive.run(&mut state, Choice::NONE, &mut Watch::off()).unwrap() == SegmentEnd::Open && state.tick < 160 {
            slowest = state.car.car.speed.min(slowest);
        }
        slowest
    };
    assert!(slowest_mps("", "") < 0.5 && slowest_mps("", "sign_range = \"30 m\"") < 0.5);
    assert!(slowest_mps("", "sign_range = \"1 m\"") > 2.0, "it turns without a stop");
}

#[test]
fn signs_that_are_seen_keep_the_contract() {
    let drive = Drive::assemble(&side_road("time_of_day = \"1100 min\"", "sign_range = \"30 m\"")).unwrap();
    check_contract(&drive, 4, 12).unwrap_or_else(|error| panic!("{error}"));
}
