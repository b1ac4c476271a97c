//! Each cause by a small scenario in which it is the truth.

use std::path::Path;

use anabranch_kernel::{Choice, Seed, SegmentEnd, System, Watch};
use anabranch_problems::Cause;

use super::change::Change;
use super::{Fault, Triage, of};
use crate::explore::candidates::{Candidate, Source};
use crate::load::load_text;

/// Runs a scenario under one error from start to end, and asks why it ended in a contact.
fn triage(world: &str, road: &str, ego: &str, rest: &str, errors: &str) -> Triage {
    let text = format!(
        "schema = \"anabranch/1\"\nname = \"why\"\n[world]\nstep = \"50 ms\"\n{world}\n[road]\n{road}\n[ego]\n{ego}\n\
         [explore]\nsegment = \"1 s\"\nuntil = \"20 s\"\n{rest}\n[[must]]\nid = \"no-contact\"\nnever = \"ego.contact\"\n"
    );
    let loaded = load_text(Path::new("why.toml"), text.as_bytes(), &[], &[]).unwrap_or_else(|e| panic!("{e}"));
    let drive = loaded.drive().unwrap_or_else(|e| panic!("{e}"));
    let space = drive.errors();
    let choice = space.choices().find(|choice| space.describe(*choice) == errors).unwrap_or(Choice::NONE);
    assert!(
        errors.is_empty() || choice != Choice::NONE,
        "{:?}",
        space.choices().map(|c| space.describe(c)).collect::<Vec<_>>()
    );
    let mut state = drive.start(Seed(0), &drive.space().all()[0]).unwrap();
    let mut choices = Vec::new();
    let verdict = loop {
        choices.push(choice);
        match drive.run(&mut state, choice, &mut Watch::off()).unwrap() {
            SegmentEnd::Open => {}
            SegmentEnd::Violated(verdicts) => break verdicts[0],
            end => panic!("no accident: {end:?} at {:?}", state.car.car),
        }
    };
    let candidate = Candidate { source: Source::Searched, start: 0, choices, verdict };
    of(&loaded, &drive, Seed(0), &candidate).unwrap_or_else(|e| panic!("{e}")).expect("a contact on roads")
}

const STRAIGHT: &str = "kind = \"straight\"\nlength = \"600 m\"\nlimit = \"130 km/h\"";
const T_JUNCTION: &str = "kind = \"t-junction\"\narm = \"150 m\"\nlimit = \"50 km/h\"";
const ALONG: &str = "driver = \"road\"\nstart = { lane = \"main.1\", station = \"20 m\", speed = \"30 m/s\" }\n\
    goal = { lane = \"main.1\", station = \"500 m\" }";
const OUT_OF_THE_SIDE_ROAD: &str = "driver = \"road\"\n\
    start = { lane = \"south.-1\", station = \"120 m\", speed = \"5 m/s\" }\ngoal = { lane = \"east.1\", station = \"60 m\" }";

fn object(id: &str, lane: &str, station: &str, more: &str) -> String {
    format!("[[object]]\nid = \"{id}\"\nlane = \"{lane}\"\nstation = \"{station}\"\n{more}\n")
}

#[test]
fn a_car_behind_a_hedge_is_a_blind_corner() {
    let hedge = "[[world.obstacle]]\nid = \"hedge\"\nbox = { x = \"-34 m\", y = \"-11 m\", length = \"60 m\", width = \"11 m\" }";
    // Of this seed it goes straight on.
    let other = object("other", "west.-1", "2 m", "speed = \"13 m/s\"\n[traffic]\nseed = 3");
    let told = triage(hedge, T_JUNCTION, OUT_OF_THE_SIDE_ROAD, &other, "");
    assert_eq!((told.cause, told.fault), (Cause::BlindCorner, Fault::Car), "{told:?}");
    assert!(told.is_prevented_by(Change::NothingHides) && !told.is_prevented_by(Change::PerfectSensor), "{told:?}");
    assert!(told.visible_s.is_some_and(|seconds| seconds < 4.0), "{told:?}");
    let note = told.blind_corner.expect("a note for the map");
    assert!(note.sees_m < note.needs_m && (-30.0..-5.0).contains(&note.y), "{note:?}");
    let zone = told.map_zone().unwrap();
    let map = format!("{}\n{zone}", "name = \"corner\"");
    assert!(zone.contains("kind    = \"blind-corner\"") && map.contains("corners = [["), "{zone}");
}

#[test]
fn somebody_who_stands_in_low_light_is_detected_late() {
    let other = object("broken-down", "main.1", "200 m", "kind = \"thing\"\nlength = \"4 m\"\nwidth = \"2 m\"");
    let ego = format!("{ALONG}\nsensor = {{ range = \"120 m\" }}");
    let told = triage("time_of_day = \"1110 min\"", STRAIGHT, &ego, &other, "");
    assert_eq!((told.cause, told.fault), (Cause::DetectedLate, Fault::Car), "{told:?}");
    assert!(told.is_prevented_by(Change::Daylight) && !told.is_prevented_by(Change::NothingHides), "{told:?}");
    assert!(
        told.is_twilight && told.believed_s.is_some_and(|s| s > 0.5) && told.visible_s > told.believed_s,
        "{told:?}"
    );
    assert!(told.blind_corner.is_none() && !told.has_other_braked);
}

#[test]
fn somebody_who_is_never_detected_is_missed_and_the_error_is_named() {
    let other = object("box", "main.1", "200 m", "kind = \"thing\"\nlength = \"1 m\"\nwidth = \"3 m\"");
    let errors = "[[error]]\nid = \"unseen\"\non = \"box\"\nmissed = {}\n\
        [[error]]\nid = \"weak\"\non = \"ego.acceleration\"\ngain = { by = [0.9] }\n";
    let told = triage("", STRAIGHT, ALONG, &format!("{other}{errors}"), "unseen: box missed");
    assert_eq!((told.cause, told.fault), (Cause::Missed, Fault::Car), "{told:?}");
    assert_eq!((told.errors, told.believed_s), (vec!["unseen".to_owned()], None));
    assert!(told.visible_s.is_some_and(|seconds| seconds > 3.0));
}

#[test]
fn who_drives_too_close_is_too_aggressive() {
    let other = object("ahead", "main.1", "60 m", "speed = \"30 m/s\"");
    let brakes =
        "[[trigger]]\nid = \"brakes\"\nobject = \"ahead\"\nat = \"4 s\"\nbrake = \"9 m/s^2\"\nfor = \"10 s\"\n";
    let ego = ALONG.replace("driver = \"road\"", "driver = { kind = \"road\", manner = \"eager\" }");
    let told = triage("", STRAIGHT, &ego, &format!("{other}{brakes}"), "");
    assert_eq!((told.cause, told.fault), (Cause::TooAggressive, Fault::Car), "{told:?}");
    assert!(told.has_other_braked && told.is_similar_speed, "{told:?}");
}

#[test]
fn who_is_hit_while_standing_could_not_avoid_it_and_is_not_at_fault() {
    let acts = "speed = \"15 m/s\"\nacts = [{ at = \"0 s\", accel = \"0 m/s^2\" }]";
    let blind = object("blind", "main.1", "10 m", acts);
    let wall = object("wall", "main.1", "180 m", "kind = \"thing\"\nlength = \"1 m\"\nwidth = \"3.4 m\"");
    let ego = "driver = \"road\"\nstart = { lane = \"main.1\", station = \"160 m\", speed = \"5 m/s\" }\n\
        goal = { lane = \"main.1\", station = \"500 m\" }";
    let told = triage("", STRAIGHT, ego, &format!("{blind}{wall}"), "");
    assert_eq!((told.cause, told.fault), (Cause::Unavoidable, Fault::Other), "{told:?}");
    assert!(told.asked.iter().all(|(_, is_prevented)| !is_prevented), "{told:?}");
}

#[test]
fn a_reckless_pedestrian_is_at_fault_himself() {
    let more = "kind = \"pedestrian\"\nspeed = \"3 m/s\"\ncare = \"reckless\"\nwaits = true";
    let runs = "[[trigger]]\nid = \"runs\"\nobject = \"runner\"\narrives = \"1.0 s\"\n";
    let told = triage("", STRAIGHT, ALONG, &format!("{}{runs}", object("runner", "main.1", "100 m", more)), "");
    assert_eq!(told.fault, Fault::Other, "{told:?}");
}

#[test]
fn who_comes_much_too_fast_shares_the_fault() {
    let hedge = "[[world.obstacle]]\nid = \"hedge\"\nbox = { x = \"-54 m\", y = \"-11 m\", length = \"100 m\", width = \"11 m\" }";
    let (road, ego) = (T_JUNCTION.replace("150 m", "400 m"), OUT_OF_THE_SIDE_ROAD.replace("120 m", "370 m"));
    let acts = "speed = \"22 m/s\"\nacts = [{ at = \"0 s\", accel = \"0 m/s^2\" }]";
    let told = triage(hedge, &road, &ego, &object("other", "west.-1", "130 m", acts), "");
    assert_eq!(told.fault, Fault::Both, "{told:?}");
}
