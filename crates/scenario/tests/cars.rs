//! Vehicles on roads: tyres, trailers, ground, and how they find their place.

use std::path::PathBuf;

use anabranch_explore::{Explorer, Merge, Scope, Settings};
use anabranch_geometry::{Point, Pose};
use anabranch_kernel::contract::check_contract;
use anabranch_kernel::{Choice, Choices, Grid, Seed, SegmentEnd, System, Watch, from_bytes, maths, to_bytes};
use anabranch_scenario::drive::{Attached, StreetState};
use anabranch_scenario::file::{Document, Hooks};
use anabranch_scenario::{Drive, DriveState};
use anabranch_sensing::{Component, Estimate, Moving};
use anabranch_vehicle::{CarSpec, GRAVITY_MPS2, SingleTrackSpec, TrailerSpec};

/// A scenario with one error, so that nothing is left out.
fn drive_of(world: &str, road: &str, ego: &str, rest: &str) -> Drive {
    let text = format!(
        "schema = \"anabranch/1\"\nname = \"cars\"\n[world]\nstep = \"50 ms\"\n{world}\n[road]\n{road}\n[ego]\n\
         driver = \"road\"\n{ego}\n{rest}\n[explore]\nsegment = \"50 ms\"\nuntil = \"20 s\"\n\
         [[must]]\nid = \"no-contact\"\nnever = \"ego.contact\"\n"
    );
    let document = Document::parse("cars.toml", text.as_bytes()).unwrap_or_else(|report| panic!("{report}"));
    let spec = document.read(&Hooks::default()).unwrap_or_else(|report| panic!("{report}"));
    Drive::assemble(&spec).unwrap_or_else(|error| panic!("{error}"))
}

fn start(drive: &Drive, seed: u64) -> DriveState {
    drive.start(Seed(seed), &drive.space().all()[0]).unwrap()
}

fn street(state: &DriveState) -> &StreetState {
    state.extras.as_ref().unwrap().street.as_ref().unwrap()
}

fn estimate(state: &DriveState) -> &Estimate {
    &street(state).navigation.as_ref().unwrap().estimate
}

/// Runs base cycle by base cycle under one choice; what `look` makes of every state.
fn run<T>(drive: &Drive, choice: Choice, ticks: u32, mut look: impl FnMut(&DriveState) -> T) -> (Vec<T>, SegmentEnd) {
    let mut state = start(drive, 0);
    let mut seen = Vec::new();
    for _ in 0..ticks {
        let end = drive.run(&mut state, choice, &mut Watch::off()).unwrap();
        seen.push(look(&state));
        if end != SegmentEnd::Open {
            return (seen, end);
        }
    }
    (seen, SegmentEnd::Open)
}

const BEND: &str = "kind = \"arc\"\nradius = \"150 m\"\nangle = \"150 deg\"\nlimit = \"120 km/h\"";
const IN_BEND: &str = "start = { lane = \"main.1\", station = \"5 m\", speed = \"15 m/s\" }\ngoal = { lane = \"main.1\", station = \"380 m\" }";

fn in_bend(vehicle: &str, world: &str) -> Drive {
    drive_of(world, BEND, &format!("vehicle = {{ {vehicle} }}\n{IN_BEND}"), "")
}

/// S4-21, high-speed response. On a circle of curvature κ a car that rolls needs the angle atan(L·κ) at every speed. One with
/// tyres needs K·v²·κ more (K from mass, stiffness and centre of mass), and none holds v²·κ > μ·g. A simulator whose cars roll
/// fails both.
#[test]
fn at_speed_tyres_need_more_steering_and_without_grip_no_steering_helps() {
    let curvature = 1.0 / 150.0;
    let last = |drive: &Drive| {
        let (states, end) = run(drive, Choice::NONE, 200, |state| state.car.car);
        assert_eq!(end, SegmentEnd::Open);
        *states.last().unwrap()
    };
    let (rolls, slips) = (last(&in_bend("model = \"kinematic\"", "")), last(&in_bend("model = \"single-track\"", "")));
    let rolling_rad = maths::atan(CarSpec::compact().wheelbase_m * curvature);
    assert!((rolls.steering - rolling_rad).abs() < 0.02 * rolling_rad, "{} {rolling_rad}", rolls.steering);
    let more_rad = SingleTrackSpec::compact().understeer_rad_per_mps2() * slips.speed * slips.speed * curvature;
    let found_rad = slips.steering - rolls.steering;
    println!("at {:.2} m/s {:.3} mrad more, by the formula {:.3} mrad", slips.speed, 1e3 * found_rad, 1e3 * more_rad);
    assert!(more_rad > 2e-3 && (found_rad - more_rad).abs() < 0.2 * more_rad, "{found_rad} {more_rad}");

    // The driver chooses its speed by comfort, 2 m/s² across, and does not know the ground: this ice gives less.
    let friction = 0.12;
    let wants_mps2 = slips.speed * slips.speed * curvature;
    assert!(wants_mps2 > 1.3 * friction * GRAVITY_MPS2, "{wants_mps2}");
    let off_m = |drive: &Drive| {
        let centre = Point::new(0.0, 150.0);
        let (states, _) =
            run(drive, Choice::NONE, 200, |state| state.car.car.pose().point().distance_m(centre) - 150.0);
        states.into_iter().fold(0.0_f64, |most, off| most.max(off.abs()))
    };
    let ice = in_bend("model = \"single-track\"", &format!("friction = {friction}"));
    let (rolls_m, slips_m) = (off_m(&in_bend("model = \"kinematic\"", "")), off_m(&ice));
    println!("off the middle of the lane: rolling {rolls_m:.2} m, on ice {slips_m:.2} m");
    assert!(rolls_m < 0.3 && slips_m > 2.0, "{rolls_m} {slips_m}");
}

const WALKER: &str = "[[object]]\nid = \"walker\"\nkind = \"pedestrian\"\nlane = \"main.1\"\nstation = \"80 m\"\n\
    speed = \"0.8 m/s\"\ncare = \"reckless\"\nwaits = true\n\
    [[trigger]]\nid = \"steps-out\"\nobject = \"walker\"\narrives = \"2.5 s\"\n\
    [[error]]\nid = \"unseen\"\non = \"walker\"\nmissed = {}\n";

/// A wall beside the way of the car, up to where the pedestrian crosses.
const CORNER: &str = "[[world.wall]]\nid = \"corner\"\nline = [[\"30 m\", \"-1.05 m\"], [\"79.5 m\", \"-1.05 m\"]]\n";

/// Whether the wall hides every corner of the pedestrian from the sensor, by hand.
fn is_hidden(drive: &Drive, state: &DriveState) -> bool {
    let eye = state.car.car.pose().world_from_local(Point::new(1.5, 0.0));
    let users = drive.road_users(state);
    let walker = users.iter().find(|user| user.object == Some(0)).unwrap().pose;
    let corners = [(-0.25, -0.25), (-0.25, 0.25), (0.25, -0.25), (0.25, 0.25)];
    corners.iter().all(|(dx, dy)| {
        let (x, y) = (walker.x + dx, walker.y + dy);
        let share = (-1.05 - eye.y) / (y - eye.y);
        y < -1.05 && (30.0..79.5).contains(&(eye.x + share * (x - eye.x)))
    })
}

/// S4-21, limits of sensing. As long as the corner hides the pedestrian the car does, bit for bit, what it does if the
/// pedestrian is never seen; without the corner it reacts earlier. A simulator that sees all fails the first, one that sees
/// nothing the second.
#[test]
fn a_pedestrian_behind_a_corner_is_not_reacted_to_before_it_comes_in_sight() {
    let road = "kind = \"straight\"\nlength = \"200 m\"\nlimit = \"40 km/h\"";
    let ego = "start = { lane = \"main.1\", station = \"20 m\", speed = \"10 m/s\" }\n\
               goal = { lane = \"main.1\", station = \"150 m\" }";
    let first_difference = |world: &str| {
        let drive = drive_of(world, road, ego, WALKER);
        let look = |state: &DriveState| (state.car.car, is_hidden(&drive, state));
        let (seeing, _) = run(&drive, Choice::NONE, 200, look);
        let (blind, _) = run(&drive, Choice(1), 200, look);
        let differs = seeing.iter().zip(&blind).position(|(a, b)| a.0 != b.0).expect("it reacts at last");
        let in_sight = seeing.iter().position(|(_, hidden)| !hidden).unwrap();
        (differs, in_sight, seeing[differs].0.accel < blind[differs].0.accel)
    };
    let (reacts, in_sight, brakes) = first_difference(CORNER);
    let (reacts_free, _, _) = first_difference("");
    println!("in sight after {in_sight} ticks, reacts after {reacts}; without the corner after {reacts_free}");
    assert!(in_sight > 20, "hidden at first: {in_sight}");
    assert!(reacts >= in_sight, "reacts at {reacts}, in sight at {in_sight}");
    assert!(reacts - in_sight < 30 && brakes);
    assert!(reacts_free < reacts, "{reacts_free} {reacts}");
}

/// S4-21, flexible traffic. The car is in the way of a faster one. That one brakes; had it kept its trajectory it would have
/// driven through the car.
#[test]
fn who_is_cut_off_brakes_instead_of_driving_through() {
    let road = "kind = \"straight\"\nlength = \"600 m\"\nlimit = \"100 km/h\"";
    let ego = "vehicle = { accel_max = \"0.3 m/s^2\" }\n\
               start = { lane = \"main.1\", station = \"60 m\", speed = \"12 m/s\" }\n\
               goal = { lane = \"main.1\", station = \"500 m\" }";
    let fast = "[[object]]\nid = \"fast\"\nlane = \"main.1\"\nstation = \"5 m\"\nspeed = \"26 m/s\"\n";
    let drive = drive_of("", road, ego, fast);
    let look = |state: &DriveState| {
        let users = drive.road_users(state);
        let fast = users.iter().find(|user| user.object == Some(0)).map(|user| (user.pose.x, user.speed_mps));
        (state.car.car, fast)
    };
    let (states, end) = run(&drive, Choice::NONE, 200, look);
    assert_eq!(end, SegmentEnd::Open);
    let mut slowest = f64::INFINITY;
    let mut driven_through = false;
    for (tick, (car, fast)) in states.iter().enumerate() {
        // The fast one's middle if it had kept its speed.
        let kept_m = 2.5 + 26.0 * 0.05 * (tick + 1) as f64;
        driven_through |= (kept_m - car.x).abs() < 1.0;
        let (x, speed) = fast.expect("it stays within reach");
        slowest = slowest.min(speed);
        assert!(x < car.x - 2.5, "tick {tick}");
    }
    println!("slowed down from 26 to {slowest:.1} m/s");
    assert!(driven_through, "a car on a fixed trajectory would have been in the way");
    assert!(slowest < 20.0, "{slowest}");
}

fn fence(radius_m: f64) -> String {
    let point = |i: u32| {
        let (sin, cos) = maths::sin_cos(f64::from(i).to_radians());
        format!("[\"{} m\", \"{} m\"]", radius_m * sin, 25.0 - radius_m * cos)
    };
    let line: Vec<String> = (2..13).map(|i| point(10 * i)).collect();
    format!("[[world.wall]]\nid = \"fence\"\nline = [{}]\n", line.join(", "))
}

fn truck(model: &str, fence_m: f64) -> Drive {
    let ego = format!(
        "vehicle = {{ base = \"truck\", {model} }}\n\
         start = {{ lane = \"main.1\", station = \"1 m\", speed = \"6 m/s\" }}\n\
         goal = {{ lane = \"main.1\", station = \"62 m\" }}"
    );
    let road = "kind = \"arc\"\nradius = \"25 m\"\nangle = \"150 deg\"\nlimit = \"30 km/h\"";
    drive_of(&fence(fence_m), road, &ego, "")
}

/// S4-23. In a steady turn of radius R the trailer's axle runs on √(R² + c² − d²). A fence between there and the tractor is
/// touched by the trailer and by nothing else.
#[test]
fn a_trailer_cuts_the_bend_and_its_contact_is_found() {
    let trailer = TrailerSpec::semi();
    let (c, d) = (trailer.hitch_behind_m, trailer.length_m);
    let inside_m = (25.0_f64 * 25.0 + c * c - d * d).sqrt() - trailer.outline.half_width_m;
    let tractor_m = 25.0 - 1.275;
    assert!(tractor_m - inside_m > 1.0);
    let ends = |model: &str, fence_m: f64| run(&truck(model, fence_m), Choice::NONE, 260, |_| ()).1;
    let free = ends("model = \"trailer\"", inside_m - 0.3);
    assert!(!matches!(free, SegmentEnd::Violated(_)), "{free:?}");
    let SegmentEnd::Violated(verdicts) = ends("model = \"trailer\"", inside_m + 0.4) else {
        panic!("the fence is in the way")
    };
    let place = verdicts[0].place.unwrap();
    // Behind the tractor's own rear bumper, to its left.
    assert!(place.on_ego[0] < -1.0 && place.on_ego[1] > 0.5, "{place:?}");
    let alone = ends("model = \"car\"", inside_m + 0.4);
    assert!(!matches!(alone, SegmentEnd::Violated(_)), "{alone:?}");
}

#[test]
fn the_hitch_settles_at_the_angle_of_a_steady_turn() {
    let drive = truck("model = \"trailer\"", 5.0);
    let hitch = |state: &DriveState| match street(state).attached {
        Attached::Trailer { hitch_rad } => hitch_rad,
        _ => panic!("a trailer"),
    };
    let (angles, _) = run(&drive, Choice::NONE, 160, hitch);
    let trailer = TrailerSpec::semi();
    // sin φ − c·κ·cos φ = d·κ.
    let residual =
        |angle: f64| maths::sin(angle) - trailer.hitch_behind_m / 25.0 * maths::cos(angle) - trailer.length_m / 25.0;
    let last = *angles.last().unwrap();
    println!("hitch {last:.3} rad, residual {:.4}", residual(last));
    assert!(residual(last).abs() < 0.03, "{last}");
}

const STRAIGHT: &str = "kind = \"straight\"\nlength = \"900 m\"\nlimit = \"90 km/h\"";
const ALONG: &str = "start = { lane = \"main.1\", station = \"30 m\", speed = \"20 m/s\" }\ngoal = { lane = \"main.1\", station = \"850 m\" }";
const FILTER: &str = "[ego.localisation]\nfilter = \"ekf\"\n";
const LOST: &str = "[[error]]\nid = \"lost\"\non = \"ego.localisation\"\nlost = { sensors = [\"gps\", \"compass\"] }\n";

fn truth(state: &DriveState) -> Moving {
    let car = &state.car.car;
    Moving { pose: car.pose(), speed_mps: car.speed, yaw_rate_radps: car.speed * maths::tan(car.steering) / 2.6 }
}

/// The normalised error squared of an honest filter is 5 on average: five numbers are estimated.
#[test]
fn the_filter_in_the_loop_is_honest_and_one_that_trusts_too_much_is_not() {
    let mean = |localisation: &str| {
        let drive = drive_of("", STRAIGHT, ALONG, &format!("{FILTER}{localisation}"));
        let (mut sum, mut count) = (0.0, 0.0);
        for seed in 0..30 {
            let mut state = start(&drive, seed);
            for tick in 0..100 {
                drive.run(&mut state, Choice::NONE, &mut Watch::off()).unwrap();
                if tick % 20 == 19 {
                    // The estimate is of the beginning of the last base cycle.
                    let car = truth(&state);
                    let back_m = 0.05 * car.speed_mps;
                    let pose =
                        Pose::new(car.pose.x - back_m * maths::cos(car.pose.heading), car.pose.y, car.pose.heading);
                    sum += estimate(&state).error_squared(&Moving { pose, ..car }).unwrap();
                    count += 1.0;
                }
            }
        }
        sum / count
    };
    let (honest, trusting) = (mean(""), mean("gps = { white = \"1 m\", assumed = \"0.2 m\" }\n"));
    println!("normalised error squared: {honest:.2} with the right noise, {trusting:.2} with a fifth of it assumed");
    assert!((3.0..7.5).contains(&honest), "{honest}");
    assert!(trusting > 2.0 * honest, "{trusting}");
}

#[test]
fn noise_is_a_function_of_the_seed_and_never_of_the_branch() {
    let drive = drive_of("", STRAIGHT, ALONG, &format!("{FILTER}noise = \"wandering\"\n{LOST}"));
    let after = |seed: u64| {
        let mut state = start(&drive, seed);
        (0..40).for_each(|_| drop(drive.run(&mut state, Choice::NONE, &mut Watch::off()).unwrap()));
        to_bytes(&state)
    };
    assert_eq!(after(1), after(1));
    assert_ne!(after(1), after(2));
}

/// Without satellites and compass the filter becomes unsure, and says so.
#[test]
fn lost_sensors_and_a_tunnel_make_the_estimate_unsure() {
    let deviation = |state: &DriveState| estimate(state).deviation(Component::East);
    let drive = drive_of("", STRAIGHT, ALONG, &format!("{FILTER}{LOST}"));
    let (usual, _) = run(&drive, Choice::NONE, 120, deviation);
    let (lost, _) = run(&drive, Choice(1), 120, deviation);
    assert!(lost[119] > 1.15 * usual[119], "{} {}", lost[119], usual[119]);
    let zone =
        |effect: &str| format!("[[world.zone]]\nlane = \"main.1\"\nstation = \"40 m\"\nlength = \"300 m\"\n{effect}\n");
    // Satellites that are worth listening to, so that it shows when they are gone.
    let fine = "gps = { white = \"0.3 m\", wander = \"0.1 m\", situational = true }\n";
    let through = |world: &str| {
        let drive = drive_of(world, STRAIGHT, ALONG, &format!("{FILTER}{fine}"));
        let deviations = run(&drive, Choice::NONE, 200, deviation).0;
        deviations[150] / deviations[0]
    };
    let [open, tunnel, canyon] = [through(""), through(&zone("gps_lost = true")), through(&zone("gps_noise = 4"))];
    println!("deviation after 7.5 s over that at the start: open {open:.3}, tunnel {tunnel:.3}, canyon {canyon:.3}");
    assert!(open < 1.03 && canyon > 1.05 * open && tunnel > canyon, "{open} {tunnel} {canyon}");
}

/// S2-34. A car that brakes as hard as it can gets what friction gives, and half of it under the error "half of the friction".
#[test]
fn friction_as_an_error_lengthens_braking() {
    let queue = "[[object]]\nid = \"queue\"\nkind = \"thing\"\nlane = \"main.1\"\nstation = \"75 m\"\nlength = \"4 m\"\nwidth = \"1.8 m\"\n\
                 [[error]]\nid = \"ice\"\non = \"world.friction\"\ngain = { by = [0.5] }\n";
    let drive =
        drive_of("friction = 0.8", STRAIGHT, &format!("vehicle = {{ model = \"single-track\" }}\n{ALONG}"), queue);
    let hardest_mps2 = |choice: Choice| {
        let mut state = start(&drive, 0);
        let mut hardest = 0.0_f64;
        let mut before = state.car.car.speed;
        for _ in 0..60 {
            let end = drive.run(&mut state, choice, &mut Watch::off()).unwrap();
            hardest = hardest.max((before - state.car.car.speed) / 0.05);
            before = state.car.car.speed;
            if end != SegmentEnd::Open {
                break;
            }
        }
        hardest
    };
    let (dry, ice) = (hardest_mps2(Choice::NONE), hardest_mps2(Choice(1)));
    println!("hardest braking {dry:.2} and {ice:.2} m/s²");
    assert!(dry <= 0.8 * GRAVITY_MPS2 && ice <= 0.4 * GRAVITY_MPS2, "{dry} {ice}");
    assert!(dry > 0.6 * GRAVITY_MPS2 && ice > 0.3 * GRAVITY_MPS2, "{dry} {ice}");
}

#[test]
fn zones_are_slippery_where_and_when_they_say() {
    let zone = "[[world.zone]]\nlane = \"main.1\"\nstation = \"0 m\"\nlength = \"380 m\"\nfriction = 0.12\n";
    let radius = |world: &str| {
        let drive = in_bend("model = \"single-track\"", world);
        let centre = Point::new(0.0, 150.0);
        run(&drive, Choice::NONE, 160, |state| state.car.car.pose().point().distance_m(centre) - 150.0).0
    };
    let most = |offs: &[f64]| offs.iter().fold(0.0_f64, |most, off| most.max(off.abs()));
    let (always, later, never) =
        (radius(zone), radius(&format!("{zone}from = \"6 s\"\n")), radius(&format!("{zone}from = \"100 s\"\n")));
    assert!(most(&always) > 2.0 && most(&never) < 0.5, "{} {}", most(&always), most(&never));
    assert!(most(&later[..115]) < 0.5, "{}", most(&later[..115]));
    assert_eq!(&later[..115], &never[..115]);
    assert_ne!(later[130], never[130]);
}

fn all_kinds() -> Vec<(&'static str, Drive)> {
    let drift = "[[error]]\nid = \"jump\"\non = \"ego.localisation\"\njump = { radius = \"0.2 m\", directions = 2 }\n";
    let noisy = format!("{FILTER}noise = \"situational\"\n{LOST}{drift}");
    let ice = format!("{drift}[[error]]\nid = \"ice\"\non = \"world.friction\"\ngain = {{ by = [0.3] }}\n");
    vec![
        ("kinematic", drive_of("", BEND, &format!("vehicle = {{ model = \"kinematic\" }}\n{IN_BEND}"), drift)),
        ("tyres", drive_of("", BEND, &format!("vehicle = {{ model = \"single-track\" }}\n{IN_BEND}"), &ice)),
        ("trailer", drive_of("", BEND, &format!("vehicle = {{ model = \"trailer\" }}\n{IN_BEND}"), drift)),
        ("filter", drive_of("", BEND, IN_BEND, &noisy)),
    ]
}

#[test]
fn every_vehicle_and_the_filter_keep_the_contract() {
    for (name, drive) in all_kinds() {
        let report = check_contract(&drive, 2, 60).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(report.saves > 50, "{name}: {report:?}");
    }
}

#[test]
fn a_saved_vehicle_goes_on_at_every_tick_as_if_it_had_not_been_saved() {
    for (name, drive) in all_kinds() {
        let (mut straight, mut choices) = (start(&drive, 3), Choices::new());
        for tick in 0..100_usize {
            drive.live(&straight, &mut choices);
            let choice = choices[tick * 7 % choices.len()];
            let mut loaded: DriveState = from_bytes(&to_bytes(&straight)).unwrap();
            let end = drive.run(&mut straight, choice, &mut Watch::off()).unwrap();
            assert_eq!(drive.run(&mut loaded, choice, &mut Watch::off()).unwrap(), end);
            assert_eq!(to_bytes(&straight), to_bytes(&loaded), "{name} tick {tick}");
        }
    }
}

/// Whether anything is found in a shipped scenario with some values changed.
fn finds(name: &str, overrides: &[(&str, &str)]) -> bool {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(format!("{name}.toml"));
    let mut document = Document::parse(name, &std::fs::read(file).unwrap()).unwrap();
    for (key, value) in overrides {
        document.apply_override(key, value).unwrap_or_else(|report| panic!("{report}"));
    }
    let drive = Drive::assemble(&document.read(&Hooks::default()).unwrap_or_else(|report| panic!("{report}"))).unwrap();
    let base = Settings::new(drive.variables(), drive.time_matters());
    let merge = Merge::Grid(Grid::of(drive.variables()));
    let settings = Settings { scope: Scope::Level, merge, levels_max: drive.segments(), ..base };
    let outcome = Explorer::new(&drive).settings(settings).threads(2).run().unwrap();
    assert!(outcome.complete() && outcome.fault_count == 0);
    !outcome.hits.is_empty()
}

/// Off-tracking, an estimate that is off and steering that is off: it takes all three.
#[test]
fn a_truck_touches_the_fence_only_by_two_errors_and_its_trailer() {
    assert!(finds("truck-with-trailer", &[]));
    assert!(!finds("truck-with-trailer", &[("errors.at_once", "1")]));
    assert!(!finds("truck-with-trailer", &[("ego.vehicle.model", "car")]));
}

/// Either error is as good as left out by making it tiny.
#[test]
fn on_a_slippery_road_ice_and_late_recognition_hurt_only_together() {
    assert!(finds("slippery-road", &[]));
    assert!(!finds("slippery-road", &[("error.queue-late.late.by", "50 ms")]));
    assert!(!finds("slippery-road", &[("error.more-ice.gain.by", "[0.99]")]));
}
