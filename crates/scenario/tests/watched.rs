//! What can be required on roads: each monitor is written as one line, fires where it must and is silent where it must be.

use anabranch_kernel::{Choice, Seed, SegmentEnd, System, Verdict, Watch};
use anabranch_scenario::Drive;
use anabranch_scenario::file::{Hooks, read_scenario};

/// A straight road with what stands on it, and one requirement.
struct Case {
    /// Of the car.
    speed: &'static str,
    /// Tables of the file: objects, errors.
    tables: &'static str,
    must: &'static str,
}

const STRAIGHT: &str = "kind = \"straight\"\nlength = \"400 m\"\nlanes = 1\nlimit = \"50 km/h\"";
const CROSSING: &str = "kind = \"crossing\"\narm = \"100 m\"\ncontrol = \"lights\"";
const T_JUNCTION: &str = "kind = \"t-junction\"\narm = \"100 m\"";
const ON_STRAIGHT: [&str; 2] = ["main.1", "main.1"];

fn drive(road: &str, [from, to]: [&str; 2], case: &Case) -> Drive {
    let Case { speed, tables, must } = case;
    let goal = if from == to { 300 } else { 60 };
    let text = format!(
        "schema = \"anabranch/1\"\nname = \"watched\"\nabout = \"One requirement.\"\n[world]\nstep = \"50 ms\"\n[road]\n{road}\n\
         [ego]\nstart = {{ lane = \"{from}\", station = \"20 m\", speed = \"{speed}\" }}\n\
         goal = {{ lane = \"{to}\", station = \"{goal} m\", tolerance = \"1 m\" }}\ndriver = \"road\"\n\
         [explore]\nsegment = \"1 s\"\nuntil = \"30 s\"\n{tables}\n[[must]]\nid = \"watched\"\n{must}\n"
    );
    let (_, spec) =
        read_scenario("watched", text.as_bytes(), &Hooks::default()).unwrap_or_else(|e| panic!("{must}: {e}"));
    Drive::assemble(&spec).unwrap_or_else(|e| panic!("{must}: {e}"))
}

/// The first violation with an error held from start to end, and its time.
fn held(drive: &Drive, choice: u16) -> Option<(f64, Verdict)> {
    let mut state = drive.start(Seed(0), &drive.space().all()[0]).unwrap();
    for _ in 0..drive.segments() {
        match drive.run(&mut state, Choice(choice), &mut Watch::off()).unwrap() {
            SegmentEnd::Open => {}
            SegmentEnd::Violated(verdicts) => return Some((verdicts[0].tick as f64 * drive.step_s(), verdicts[0])),
            SegmentEnd::Goal | SegmentEnd::TimedOut => return None,
        }
    }
    None
}

/// With error 1 the requirement is violated within these seconds; without error it is not.
#[track_caller]
fn fires(road: &str, ways: [&str; 2], case: &Case, within_s: [f64; 2]) -> Verdict {
    let drive = drive(road, ways, case);
    assert_eq!(held(&drive, 0).map(|found| found.0), None, "{} fires without error", case.must);
    let (time_s, verdict) = held(&drive, 1).unwrap_or_else(|| panic!("{} does not fire", case.must));
    assert!((within_s[0]..=within_s[1]).contains(&time_s), "{} fires after {time_s} s", case.must);
    verdict
}

const CAR_MISSED: &str = "[[object]]\nid = \"ahead\"\nlane = \"main.1\"\nstation = \"90 m\"\nspeed = \"6 m/s\"\n\
    [[trigger]]\nid = \"stops\"\nobject = \"ahead\"\nat = \"50 ms\"\nbrake = \"2 m/s^2\"\nfor = \"29 s\"\n[[error]]\nid = \"missed\"\non = \"ahead\"\nmissed = {}";
const BOX_MISSED: &str = "[[object]]\nid = \"box\"\nkind = \"thing\"\nlane = \"main.1\"\nstation = \"80 m\"\nlength = \"1 m\"\n\
    width = \"3 m\"\n[[error]]\nid = \"missed\"\non = \"box\"\nmissed = {}";
const BOX_APPEARS: &str = "[[object]]\nid = \"box\"\nkind = \"thing\"\nlane = \"main.1\"\nstation = \"48 m\"\nlength = \"1 m\"\n\
    width = \"3 m\"\nwaits = true\n[[error]]\nid = \"appears\"\non = \"box\"\nappears = {}";
const BOX_NEAR: &str = "[[object]]\nid = \"box\"\nkind = \"thing\"\nlane = \"main.1\"\nstation = \"38 m\"\nlength = \"1 m\"\n\
    width = \"3 m\"\nwaits = true\n[[error]]\nid = \"appears\"\non = \"box\"\nappears = {}";
const PULLS: &str = "[[error]]\nid = \"pulls\"\non = \"ego.steering\"\noffset = { by = \"12 deg\" }";
const NO_BRAKES: &str = "[[error]]\nid = \"brakes\"\non = \"ego.acceleration\"\ngain = { by = [0.02] }";

#[test]
fn contact_with_kind_and_place() {
    let case = Case { speed: "10 m/s", tables: BOX_MISSED, must: "never = \"ego.contact\"" };
    let place = fires(STRAIGHT, ON_STRAIGHT, &case, [3.0, 7.0]).place.expect("a contact has a place");
    let [x, y] = place.in_world;
    assert!((x - 79.5).abs() < 0.3 && y.abs() < 1.6 && place.other == 0, "{place:?}");
    let hard = Case { must: "never = \"ego.impact_speed > 5 m/s\"", ..case };
    fires(STRAIGHT, ON_STRAIGHT, &hard, [3.0, 7.0]);
}

#[test]
fn clearance_time_to_collision_and_headway() {
    let case = |must| Case { speed: "12 m/s", tables: CAR_MISSED, must };
    fires(STRAIGHT, ON_STRAIGHT, &case("never = \"ego.clearance < 1 m\""), [3.0, 12.0]);
    fires(STRAIGHT, ON_STRAIGHT, &case("never = \"ego.ttc < 1 s\""), [3.0, 12.0]);
    fires(STRAIGHT, ON_STRAIGHT, &case("never = \"ego.headway < 0.3 s\""), [3.0, 12.0]);
    fires(STRAIGHT, ON_STRAIGHT, &case("never = \"ego.others_distance < 1 m\""), [3.0, 12.0]);
    // Sooner than any of them: the distance is too small for this speed long before anything is near.
    fires(STRAIGHT, ON_STRAIGHT, &case("never = \"ego.rss_reserve < -20 m\""), [1.0, 12.0]);
}

#[test]
fn the_distance_to_others_leaves_out_what_only_stands_beside_the_road() {
    let wall = "[[world.wall]]\nline = [[\"0 m\", \"-3 m\"], [\"120 m\", \"-3 m\"]]\n";
    let both = Box::leak(format!("{wall}{CAR_MISSED}").into_boxed_str());
    let case = |must| Case { speed: "12 m/s", tables: both, must };
    let near = |must| held(&drive(STRAIGHT, ON_STRAIGHT, &case(must)), 1).expect("somebody is near in the end").0;
    assert!(near("never = \"ego.clearance < 5 m\"") < 0.2, "the wall is near from the start");
    assert!(near("never = \"ego.others_distance < 5 m\"") > 2.0, "the car ahead is not");
}

#[test]
fn the_distance_to_the_unseen_ends_with_the_belief_in_them() {
    let must = "never = \"ego.unseen_distance < 20 m\"";
    // The error takes the box away from the sensors; without it the box is believed in long before it is near.
    let missed = Case { speed: "10 m/s", tables: BOX_MISSED, must };
    fires(STRAIGHT, ON_STRAIGHT, &missed, [2.0, 7.0]);
    let near = Case { must: "never = \"ego.others_distance < 20 m\"", ..missed };
    let drive = drive(STRAIGHT, ON_STRAIGHT, &near);
    assert!(held(&drive, 0).is_some(), "without the error the car comes as near, and has seen the box");
}

#[test]
fn lane_departure_lateral_acceleration_and_curvature() {
    let case = |must| Case { speed: "12 m/s", tables: PULLS, must };
    fires(STRAIGHT, ON_STRAIGHT, &case("never = \"ego.off_lane\""), [0.2, 5.0]);
    fires(STRAIGHT, ON_STRAIGHT, &case("never = \"abs(ego.lateral_acceleration) > 3 m/s^2\""), [0.05, 5.0]);
    fires(STRAIGHT, ON_STRAIGHT, &case("never = \"abs(ego.curvature) > 0.03 1/m\""), [0.05, 5.0]);
}

#[test]
fn wrong_way() {
    let pulls = "[[error]]\nid = \"pulls\"\non = \"ego.steering\"\ngain = { by = [0] }\n[[error]]\nid = \"more\"\n\
        on = \"ego.steering\"\noffset = { by = \"30 deg\" }\n[errors]\nat_once = 2";
    let drive =
        drive(STRAIGHT, ON_STRAIGHT, &Case { speed: "6 m/s", tables: pulls, must: "never = \"ego.wrong_way\"" });
    assert!(held(&drive, 0).is_none());
    let both = (0..drive.errors().len() as u16).find(|&choice| held(&drive, choice).is_some());
    assert!(both.is_some(), "nobody turns round");
}

#[test]
fn red_light_and_stop_line() {
    let case = |must| Case { speed: "12 m/s", tables: NO_BRAKES, must };
    let red = "[[trigger]]\nid = \"red\"\nlight = \"west.-1\"\ncolour = \"red\"\nat = \"50 ms\"\nfor = \"20 s\"\n";
    let tables = Box::leak(format!("{red}{NO_BRAKES}").into_boxed_str());
    let lights = Case { tables, ..case("never = \"ego.red_light\"") };
    fires(CROSSING, ["west.-1", "east.1"], &lights, [3.0, 20.0]);
    fires(T_JUNCTION, ["south.-1", "east.1"], &case("never = \"ego.stop_line\""), [3.0, 20.0]);
}

#[test]
fn speed_limit() {
    let fast =
        drive(STRAIGHT, ON_STRAIGHT, &Case { speed: "20 m/s", tables: "", must: "never = \"ego.over_limit > 2 m/s\"" });
    assert!(held(&fast, 0).is_some_and(|(time_s, _)| time_s < 0.2));
    let fair =
        drive(STRAIGHT, ON_STRAIGHT, &Case { speed: "12 m/s", tables: "", must: "never = \"ego.over_limit > 2 m/s\"" });
    assert_eq!(held(&fair, 0).map(|found| found.0), None);
}

#[test]
fn deceleration_and_jerk() {
    let case = |must| Case { speed: "11 m/s", tables: BOX_NEAR, must };
    fires(STRAIGHT, ON_STRAIGHT, &case("never = \"ego.deceleration > 3.5 m/s^2\""), [0.1, 3.0]);
    fires(STRAIGHT, ON_STRAIGHT, &case("never = \"abs(ego.jerk) > 12 m/s^3 and ego.speed > 2 m/s\""), [0.05, 3.0]);
}

/// An estimate that jumps from side to side makes the wheels swing.
#[test]
fn wobble() {
    let tables = "[[error]]\nid = \"jump\"\non = \"ego.localisation\"\njump = { radius = \"0.8 m\", directions = 4 }";
    let drive =
        drive(STRAIGHT, ON_STRAIGHT, &Case { speed: "13 m/s", tables, must: "never = \"ego.wobble > 0.7 1/s\"" });
    assert_eq!(held(&drive, 0).map(|found| found.0), None);
    let mut state = drive.start(Seed(0), &drive.space().all()[0]).unwrap();
    let ends =
        (0..10).map(|n| drive.run(&mut state, Choice(if n % 2 == 0 { 2 } else { 4 }), &mut Watch::off()).unwrap());
    assert!(ends.into_iter().any(|end| matches!(end, SegmentEnd::Violated(_))), "the wheels do not swing");
}

#[test]
fn goal_by_time_and_stuck() {
    let case = |must| Case { speed: "10 m/s", tables: BOX_APPEARS, must };
    fires(STRAIGHT, ON_STRAIGHT, &case("eventually = \"ego.at_goal\"\nby = \"29 s\""), [28.0, 30.0]);
    fires(STRAIGHT, ON_STRAIGHT, &case("never = \"ego.standing > 5 s\""), [6.0, 29.0]);
}
