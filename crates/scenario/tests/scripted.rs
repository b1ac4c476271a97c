//! Who goes a predetermined way, pedestrians by their five parameters, and what makes things happen.

use crate::senses::{after, choice, drive, start};
use anabranch_geometry::Pose;
use anabranch_kernel::contract::check_contract;
use anabranch_kernel::{Choice, SegmentEnd, System, Watch, maths};
use anabranch_scenario::{Drive, DriveState};

/// Where an object is, by its number in the file.
fn place(drive: &Drive, state: &DriveState, object: usize) -> (Pose, f64) {
    let users = drive.road_users(state);
    let user = users.iter().find(|user| user.object == Some(object)).expect("it is near");
    (user.pose, user.speed_mps)
}

/// The way of an object, segment by segment.
fn way(drive: &Drive, choice: Choice, segments: u32) -> Vec<(Pose, f64)> {
    let mut state = start(drive);
    let mut all = vec![place(drive, &state, 0)];
    for _ in 0..segments {
        assert_eq!(drive.run(&mut state, choice, &mut Watch::off()).unwrap(), SegmentEnd::Open);
        all.push(place(drive, &state, 0));
    }
    all
}

#[test]
fn poses_with_times_are_driven_through_whatever_happens() {
    let rest = "[[object]]\nid = \"van\"\nkind = \"lorry\"\n\
        poses = [{ at = \"1 s\", x = \"150 m\", y = \"30 m\" }, { at = \"3 s\", x = \"150 m\", y = \"20 m\" }, { at = \"4 s\", x = \"154 m\", y = \"20 m\" }]\n";
    let way = way(&drive("", "", rest), Choice::NONE, 10);
    let at = |seconds: f64| way[(2.0 * seconds) as usize];
    let south = -std::f64::consts::FRAC_PI_2;
    assert_eq!((at(0.0), at(0.5).0), ((Pose::new(150.0, 30.0, south), 0.0), Pose::new(150.0, 30.0, south)));
    // Half way down it is 25 m north at 5 m/s; it turns evenly into the next pose, which points east.
    let (pose, speed_mps) = at(2.0);
    assert!((pose.x - 150.0).abs() < 1e-9 && (pose.y - 25.0).abs() < 1e-9 && pose.heading > south, "{pose:?}");
    assert!((speed_mps - 5.0 * -maths::sin(pose.heading)).abs() < 1e-9, "{speed_mps}");
    assert_eq!(at(5.0), (Pose::new(154.0, 20.0, 0.0), 0.0));
}

#[test]
fn acts_are_a_kinematic_bicycle() {
    let rest = "[[object]]\nid = \"bike\"\nkind = \"cyclist\"\nlane = \"main.3\"\nstation = \"120 m\"\nlateral = \"1 m\"\nspeed = \"4 m/s\"\n\
        acts = [{ at = \"1 s\", accel = \"-2 m/s^2\" }]\n";
    let way = way(&drive("", "", rest), Choice::NONE, 8);
    // By hand: 4 m in the first second, then v²/2a = 4 m until it stands.
    let (first, last) = (way[0].0, way[8]);
    assert!((way[2].0.x - first.x - 4.0).abs() < 1e-9 && (last.0.x - first.x - 8.0).abs() < 1e-9, "{way:?}");
    assert_eq!(last.1, 0.0);
    assert!((last.0.y - first.y).abs() < 1e-12);
}

const WAITS: &str = "[[object]]\nid = \"cart\"\nkind = \"thing\"\nlength = \"1 m\"\nwidth = \"1 m\"\nwaits = true\n\
    poses = [{ at = \"0 s\", x = \"180 m\", y = \"30 m\" }, { at = \"2 s\", x = \"180 m\", y = \"20 m\" }]\n\
    [[trigger]]\nid = \"rolls\"\nobject = \"cart\"\n";

#[test]
fn who_waits_sets_out_by_a_trigger_an_error_or_by_hand() {
    let stays = way(&drive("", "", WAITS), Choice::NONE, 6);
    assert!(stays.iter().all(|(pose, speed_mps)| pose.y == 30.0 && *speed_mps == 0.0));
    // By hand at 1.2 s: after 2 s it has rolled for 0.8 s at 5 m/s.
    let by_hand = way(&drive("", "", &format!("{WAITS}fired = \"1.2 s\"\n")), Choice::NONE, 8);
    assert!((by_hand[2].0.y - 30.0).abs() < 1e-9 && (by_hand[4].0.y - 26.0).abs() < 1e-9, "{by_hand:?}");
    assert_eq!(by_hand[8].0.y, 20.0);
    let by_time = way(&drive("", "", &format!("{WAITS}at = \"1.2 s\"\n")), Choice::NONE, 8);
    assert_eq!(by_hand, by_time);
    let drive = drive("", "", &format!("{WAITS}[[error]]\nid = \"bad-moment\"\non = \"rolls\"\nappears = {{}}\n"));
    let by_error = way(&drive, choice(&drive, "bad-moment"), 4);
    assert!((by_error[2].0.y - 25.0).abs() < 1e-9, "{by_error:?}");
    check_contract(&drive, 3, 6).unwrap();
}

/// A car that drives by itself stops behind one whose way is predetermined; one in another lane does not.
#[test]
fn the_traffic_sees_who_goes_a_predetermined_way() {
    let follower = |lane: &str| {
        // Beside it the way is closed as well, so that it cannot go round.
        let rest = format!(
            "[[object]]\nid = \"follows\"\nlane = \"main.3\"\nstation = \"110 m\"\nspeed = \"10 m/s\"\n\
             [[object]]\nid = \"stands\"\nposes = [{{ at = \"0 s\", lane = \"{lane}\", station = \"160 m\" }}]\n\
             [[object]]\nid = \"beside\"\nposes = [{{ at = \"0 s\", lane = \"main.2\", station = \"160 m\" }}]\n"
        );
        let drive = drive("", "", &rest);
        let state = after(&drive, Choice::NONE, 20);
        place(&drive, &state, 0)
    };
    let (stopped, free) = (follower("main.3"), follower("main.1"));
    assert!(stopped.1 < 1.0 && stopped.0.x < 158.0, "{stopped:?}");
    assert!(free.1 > 8.0 && free.0.x > 165.0, "{free:?}");
}

#[test]
fn contact_with_somebody_on_a_predetermined_way_has_his_name() {
    let rest = "[[object]]\nid = \"crosses\"\nkind = \"cyclist\"\n\
        poses = [{ at = \"1 s\", x = \"112 m\", y = \"30 m\" }, { at = \"1.5 s\", x = \"112 m\", y = \"-30 m\" }]\n\
        [[error]]\nid = \"unseen\"\non = \"crosses\"\nmissed = {}\n";
    let drive = drive("", "", rest);
    let (mut state, unseen) = (start(&drive), choice(&drive, "unseen"));
    let end =
        (0..4).map(|_| drive.run(&mut state, unseen, &mut Watch::off()).unwrap()).find(|end| *end != SegmentEnd::Open);
    let Some(SegmentEnd::Violated(verdicts)) = end else { panic!("{end:?} at {:?}", state.car.car) };
    assert_eq!(verdicts[0].place.unwrap().other, 0);
}

fn walker(more: &str) -> String {
    format!(
        "[[object]]\nid = \"walker\"\nkind = \"pedestrian\"\nlane = \"main.2\"\nstation = \"160 m\"\nspeed = \"2 m/s\"\ncare = \"reckless\"\n{more}\n"
    )
}

/// S2-32: distance per time frame, side, direction, whether it crosses, and where it is.
#[test]
fn pedestrians_have_five_parameters() {
    let go = |more: &str| way(&drive("", "", &walker(more)), Choice::NONE, 14);
    let network = drive("", "", "").network().unwrap().lanes().len();
    assert_eq!(network, 3);
    // 1: the distance per base cycle is speed times 50 ms: 1 m in half a second, beside the road.
    let beside = go("kerb = \"10 m\"\nwalk = \"30 m\"\ncrosses = false");
    assert!((beside[0].0.x - 150.0).abs() < 1e-9 && (beside[4].0.x - 154.0).abs() < 1e-9, "{beside:?}");
    assert!(beside.iter().all(|(pose, _)| pose.y == beside[0].0.y), "it does not cross");
    assert_eq!((beside[3].0.heading, beside[3].1), (0.0, 2.0));
    // 2: on the other side of the road.
    let left = go("kerb = \"10 m\"\nwalk = \"30 m\"\ncrosses = false\nside = \"left\"");
    let width_m = left[0].0.y - beside[0].0.y;
    assert!((9.0..15.0).contains(&width_m), "{width_m}");
    // 3: against the lane, from the other end.
    let back = go("kerb = \"10 m\"\nwalk = \"30 m\"\ncrosses = false\ndirection = \"back\"");
    assert!((back[0].0.x - 180.0).abs() < 1e-9 && (back[4].0.x - 176.0).abs() < 1e-9, "{back:?}");
    assert!((back[3].0.heading.abs() - std::f64::consts::PI).abs() < 1e-9);
    // 4: it crosses at its station, here from the left: southwards.
    let crosses = go("kerb = \"2 m\"\nwalk = \"30 m\"\nside = \"left\"");
    assert!(
        crosses.windows(2).all(|pair| pair[1].0.y <= pair[0].0.y) && crosses[14].0.y < crosses[0].0.y - 8.0,
        "{crosses:?}"
    );
    assert!((crosses[8].0.x - 160.0).abs() < 1e-9 && (crosses[8].0.heading + std::f64::consts::FRAC_PI_2).abs() < 1e-9);
    // 5: where it is at the beginning; it turns round at the end.
    let along = go("kerb = \"10 m\"\nwalk = \"30 m\"\ncrosses = false\nalong = \"28 m\"");
    assert!(
        (along[0].0.x - 178.0).abs() < 1e-9 && (along[2].0.x - 180.0).abs() < 1e-9 && along[6].0.x < 177.0,
        "{along:?}"
    );
}

#[test]
fn pedestrians_with_five_parameters_keep_the_contract() {
    let rest = walker("kerb = \"1 m\"\nwalk = \"6 m\"\nside = \"left\"\ndirection = \"back\"\nwaits = true");
    let rest = format!("{rest}[[error]]\nid = \"starts\"\non = \"walker\"\nappears = {{}}\n");
    check_contract(&drive("", "", &rest), 3, 8).unwrap();
}

/// When the pedestrian begins to walk: the first segment after which it is elsewhere.
fn starts_after(trigger: &str, ego: &str) -> Option<usize> {
    let rest = walker("kerb = \"3 m\"\nwalk = \"30 m\"\ncrosses = false\nwaits = true");
    let rest = format!("{rest}[[trigger]]\nid = \"now\"\nobject = \"walker\"\n{trigger}\n");
    let drive = drive("", ego, &rest);
    let way = way(&drive, Choice::NONE, 10);
    way.iter().position(|(pose, _)| pose.x != way[0].0.x)
}

/// Every kind of condition fires when it holds, and not before.
#[test]
fn each_kind_of_trigger_fires_when_it_should() {
    // The car starts at 10 m/s with its front near 103 m and speeds up; segments are half seconds.
    assert_eq!(starts_after("", ""), None);
    assert_eq!(starts_after("at = \"1 s\"", ""), Some(3));
    assert_eq!(starts_after("fired = \"1 s\"", ""), Some(3));
    assert_eq!(starts_after("fired = \"0 s\"", ""), Some(1));
    let reaches = starts_after("reaches = \"120 m\"", "").unwrap();
    assert!((3..=5).contains(&reaches), "{reaches}");
    assert_eq!(starts_after("reaches = \"400 m\"", ""), None);
    let arrives = starts_after("arrives = \"3 s\"", "").unwrap();
    assert!((4..=6).contains(&arrives), "{arrives}");
    let faster = starts_after("faster = \"11 m/s\"", "").unwrap();
    assert!((2..=6).contains(&faster), "{faster}");
    assert_eq!(starts_after("faster = \"40 m/s\"", ""), None);
    assert_eq!(starts_after("slower = \"5 m/s\"", ""), None);
    // Behind something that stands the car becomes slow.
    let rest = walker("kerb = \"3 m\"\nwalk = \"30 m\"\ncrosses = false\nwaits = true");
    let box_ahead = "[[object]]\nid = \"box\"\nkind = \"thing\"\nlane = \"main.2\"\nstation = \"150 m\"\nwidth = \"3 m\"\nlength = \"1 m\"\n\
        [[object]]\nid = \"left\"\nkind = \"thing\"\nlane = \"main.3\"\nstation = \"150 m\"\nwidth = \"3 m\"\nlength = \"1 m\"\n\
        [[object]]\nid = \"right\"\nkind = \"thing\"\nlane = \"main.1\"\nstation = \"150 m\"\nwidth = \"3 m\"\nlength = \"1 m\"\n";
    let rest = format!("{rest}{box_ahead}[[trigger]]\nid = \"now\"\nobject = \"walker\"\nslower = \"5 m/s\"\n");
    let drive = drive("", "", &rest);
    let way = way(&drive, Choice::NONE, 20);
    let slower = way.iter().position(|(pose, _)| pose.x != way[0].0.x).expect("the car becomes slow");
    assert!(slower > 4, "{slower}");
}
