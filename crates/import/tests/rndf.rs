//! RNDF and MDF: everything that can be taken over is, and mistakes are pointed at.

use anabranch_geometry::Point;
use anabranch_import::rndf::{MissionLeg, Remark, ZoneSpot, read};
use anabranch_roads::{LaneKind, Leg, Marking, Precedence, Sign, ZoneKind, file};
use proptest::prelude::*;

const TOWN: &str = include_str!("town.rndf");
const MISSION: &str = include_str!("town.mdf");

#[test]
fn a_town_comes_over_with_lanes_turns_signs_and_zones() {
    let town = read("town.rndf", TOWN, None).unwrap_or_else(|report| panic!("{report}"));
    let network = &town.network;
    let lane = |road: &str, lane: &str| network.lane(network.find(road, lane).unwrap());
    // 12 ft are 3.6576 m; 0.0009 degrees of longitude at 34.59° are 82.54 m by the published 91.71 km per degree.
    assert!((lane("1", "1").width_m(0.0) - 3.6576).abs() < 1e-12);
    assert!((lane("2", "1").length_m() - 82.54).abs() < 0.05, "{}", lane("2", "1").length_m());
    assert!((lane("4", "1").width_m(0.0) - 3.6576).abs() < 1e-12, "its default");
    assert_eq!(lane("1", "1").left_marking(), Marking::Solid);
    assert_eq!(lane("1", "1").oncoming(), network.find("1", "2"));
    assert_eq!(lane("1", "1").position(0.0), Point::new(0.0, 0.0));
    let turns = network.lanes().iter().filter(|lane| lane.kind() != LaneKind::Road).count();
    assert_eq!((network.junctions().len(), turns), (1, 9));
    for turn in &network.junctions()[0].turns {
        let rule = network.rule(*turn).unwrap();
        assert_eq!(rule.sign, Sign::Stop);
        assert!(rule.conflicts.iter().all(|conflict| conflict.precedence == Precedence::FirstCome));
    }
    let kinds: Vec<ZoneKind> = network.zones().iter().map(|zone| zone.kind).collect();
    assert_eq!(kinds, [ZoneKind::Open, ZoneKind::Spot]);
    let lost = "2 exit(s) into or out of zones as links: no lane leads through a zone";
    assert!(town.remarks.contains(&Remark::LeftOut(lost.into())), "{:?}", town.remarks);
    assert!(town.legs.is_empty());
}

#[test]
fn a_mission_gives_speed_limits_and_routes() {
    let town = read("town.rndf", TOWN, Some(("town.mdf", MISSION))).unwrap_or_else(|report| panic!("{report}"));
    let lane = |road: &str, lane: &str| town.network.lane(town.network.find(road, lane).unwrap());
    // 25 mph are 11.176 m/s, 15 mph are 6.7056 m/s.
    assert!((lane("1", "1").limit_mps(0.0) - 11.176).abs() < 1e-12);
    assert!((lane("3", "2").limit_mps(0.0) - 6.7056).abs() < 1e-12);
    let ends = |name: &str| {
        let legs = &town.network.named_route(name).unwrap().legs;
        let lane = |leg: &Leg| town.network.lane(leg.lane).name().to_string();
        (lane(&legs[0]), lane(&legs[legs.len() - 1]), legs[0].from_station_m, legs[legs.len() - 1].to_station_m)
    };
    // From checkpoint 1 into the car park: as far as the exit into it. From there on to checkpoint 3: from its own exit.
    let (from, to, from_m, to_m) = ends("leg-1");
    assert_eq!((from.as_str(), to.as_str()), ("1.1", "2.1"));
    assert!((from_m - lane("1", "1").waypoint_stations_m()[1]).abs() < 1e-9);
    assert!((to_m - lane("2", "1").length_m()).abs() < 1e-9);
    let (from, to, from_m, _) = ends("leg-2");
    assert_eq!((from.as_str(), to.as_str(), from_m), ("2.2", "3.1", 0.0));
    let spot = ZoneSpot { zone: "zone-5".into(), spot: "spot-5-1".into() };
    let leg = |checkpoints, route: &str, out_of, into| MissionLeg {
        checkpoints,
        route: Some(route.to_owned()),
        out_of,
        into,
    };
    assert_eq!(town.legs, [leg([1, 5], "leg-1", None, Some(spot.clone())), leg([5, 3], "leg-2", Some(spot), None)]);
    for name in ["zone-5", "spot-5-1"] {
        assert!(town.network.zones().iter().any(|zone| zone.name == name), "{name}");
    }
}

#[test]
fn the_shortest_way_into_a_zone_is_taken_and_none_within_it() {
    // A second exit into the car park, from the lane to the north; and a second spot.
    let more = TOWN
        .replace("checkpoint	3.1.2	3", "checkpoint	3.1.2	3\nexit	3.1.2	5.0.3")
        .replace("num_spots	1", "num_spots	2")
        .replace(
            "end_zone",
            "spot	5.2\ncheckpoint	5.2.2	6\n5.2.1	34.5901	-117.3687\n5.2.2	34.5901	-117.36865\nend_spot\nend_zone",
        );
    let mission = MISSION.replace("\n1\n5\n3\n", "\n4\n5\n6\n3\n").replace("num_checkpoints	3", "num_checkpoints	4");
    let town = read("town.rndf", &more, Some(("town.mdf", &mission))).unwrap_or_else(|report| panic!("{report}"));
    let goal = |name: &str| {
        let legs = &town.network.named_route(name).unwrap().legs;
        town.network.lane(legs[legs.len() - 1].lane).name().to_string()
    };
    assert_eq!(goal("leg-1"), "2.1");
    assert_eq!(town.legs[1].route, None, "from spot to spot no lane is needed");
    assert_eq!((goal("leg-3").as_str(), town.legs.len()), ("3.1", 3));
    assert_eq!(town.network.zones().len(), 3);
    // From checkpoint 3 the northern exit is the nearest: the leg ends where it begins.
    let mission = MISSION.replace("\n1\n5\n3\n", "\n3\n5\n3\n");
    let town = read("town.rndf", &more, Some(("town.mdf", &mission))).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(town.legs[0].route, None);
}

/// The six bad maps that every reader of maps must point at; what `roads` files say is tested there.
#[test]
fn each_bad_map_of_the_list_is_pointed_at() {
    check("exit	1.1.3	2.1.1", "exit	1.1.3	2.1.7", "E0707", (16, 1), "there is no way-point `2.1.7`");
    check("exit	5.0.2	2.2.1", "exit	5.0.9	2.2.1", "E0707", (87, 1), "there is no way-point `5.0.9`");
    check("lane_width	11", "lane_width	0", "E0605", (58, 1), "lane width is 0");
    check("spot_width	10", "spot_width	0", "E0613", (93, 1), "polygon");
    // To the south, to the east, and back over its own beginning.
    let crossing = TOWN
        .replace("num_waypoints	3\n4.1.1", "num_waypoints	4\n4.1.1")
        .replace("4.1.3	34.589100	-117.369900", "4.1.3	34.589500	-117.369000\n4.1.4	34.589700	-117.371000");
    let report = read("town.rndf", &crossing, None).unwrap_err();
    let first = &report.diagnostics[0];
    assert_eq!((first.code, first.line), ("E0610", 75), "{report}");
    check("34.590000	-117.370500", "34.590000	nan", "E0703", (20, 17), "not a number");
    check("lane	1.2", "lane	1.1", "E0708", (23, 1), "");
    check(
        "spot	5.1",
        "spot	5.1\nspot_width	9\n5.1.1	34.59	-117.3687\n5.1.2	34.59	-117.3686\nend_spot\nspot	5.1",
        "E0708",
        (98, 1),
        "",
    );
    let mission = MISSION.replacen("\n1\n5\n3\n", "\n3\n5\n1\n", 1);
    let report = read("town.rndf", TOWN, Some(("town.mdf", &mission))).unwrap_err();
    assert_eq!((report.diagnostics[0].code, report.diagnostics[0].line), ("E0617", 8), "{report}");
    let no_entry = TOWN.replace("exit	2.1.2	5.0.1\n", "");
    let report = read("town.rndf", &no_entry, Some(("town.mdf", MISSION))).unwrap_err();
    assert_eq!((report.diagnostics[0].code, report.diagnostics[0].line), ("E0617", 8), "{report}");
    assert!(report.to_string().contains("no exit leads into `zone-5`"), "{report}");
}

#[test]
fn a_spot_has_two_way_points() {
    check("5.1.2	34.590000	-117.368650\n", "", "E0705", (93, 1), "spot 5.1 has 1 way-point(s)");
}

#[test]
fn a_map_from_an_rndf_can_be_written_as_a_map_file() {
    let town = read("town.rndf", TOWN, Some(("town.mdf", MISSION))).unwrap();
    let again = file::read("town.road.toml", &file::write(&town.map)).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(again.network, town.network);
}

/// Replaces a part of the town and compares the first message: code, line, column and a part of its text.
fn check(from: &str, to: &str, code: &str, (line, column): (usize, usize), part: &str) {
    assert!(TOWN.contains(from), "{from}");
    let report = read("town.rndf", &TOWN.replacen(from, to, 1), None).expect_err(to);
    let first = &report.diagnostics[0];
    assert_eq!((first.code, first.line, first.column), (code, line, column), "{report}");
    assert!(format!("{} {}", first.message, first.help).contains(part), "{report}");
}

#[test]
fn mistakes_of_a_network_are_pointed_at() {
    check("exit	1.1.3	2.1.1", "exit	1.1.3	2.9.1", "E0707", (16, 1), "there is no way-point `2.9.1`");
    check("exit	1.1.3	2.1.1", "exit	1.2.1	2.1.1", "E0704", (16, 6), "is not a way-point of 1.1");
    check("stop	1.1.3", "stop	1.1.7", "E0707", (15, 1), "`1.1.7`");
    check("lane_width	12", "lane_width	0", "E0605", (19, 1), "lane width is 0");
    check("lane_width	12", "lane_width	wide", "E0703", (11, 12), "not a number");
    check("lane_width	12", "lane_with	12", "E0701", (11, 1), "does not belong here");
    check("num_lanes	2", "num_lanes	3", "E0705", (30, 1), "3 lanes were announced, but there are 2");
    check("34.590000	-117.370500", "NaN	-117.370500", "E0703", (20, 7), "not a number");
    check("34.590000	-117.370500", "134.59	-117.370500", "E0709", (20, 7), "out of range");
    check("34.590000	-117.370500", "34.590000	-117.371000", "E0603", (20, 1), "from the one before");
    check("1.1.2	34.590000", "1.1.5	34.590000", "E0704", (20, 1), "`1.1.2` comes next");
    check("segment	2", "segment	1", "E0704", (33, 1), "`2.1` stands in segment or zone 1");
    check("checkpoint	2.1.2	2", "checkpoint	2.1.2	1", "E0708", (36, 1), "another checkpoint 1");
    check("double_yellow", "triple_yellow", "E0701", (12, 15), "no boundary");
    check("end_file", "", "E0706", (101, 1), "cut off");
    check("exit	1.1.3	2.1.1", "exit	1.1.3", "E0702", (16, 1), "has 1 value(s)");
}

#[test]
fn two_segments_with_one_number_are_told_apart() {
    let twice = TOWN.replace("segment	4	/*", "segment	3	/*").replace("4.1", "3.1");
    let report = read("town.rndf", &twice, None).unwrap_err();
    assert!(report.diagnostics.iter().any(|found| found.code == "E0708"), "{report}");
}

#[test]
fn mistakes_of_a_mission_are_pointed_at_in_its_own_file() {
    let check = |from: &str, to: &str, code: &str, line: usize, part: &str| {
        let mission = MISSION.replacen(from, to, 1);
        let report = read("town.rndf", TOWN, Some(("town.mdf", &mission))).expect_err(to);
        let first = &report.diagnostics[0];
        assert_eq!((first.code, first.file.as_str(), first.line), (code, "town.mdf", line), "{report}");
        assert!(first.message.contains(part), "{report}");
    };
    check("\n5\n", "\n9\n", "E0710", 8, "no checkpoint 9");
    check("\n5\n", "\n", "E0705", 9, "3 lines were announced, but there are 2");
    check("3	0	15", "7	0	15", "E0710", 14, "no segment or zone 7");
    check("3	0	15", "3	0	fast", "E0703", 14, "not a number");
    check("\n1\n5\n3\n", "\n4\n1\n5\n", "E0617", 8, "nothing leads to `1.1`");
}

proptest! {
    #[test]
    fn no_broken_file_makes_the_importer_fail_otherwise_than_by_a_report(
        cut in 0..TOWN.len(),
        length in 0..20_usize,
        insert in "[a-z0-9_. /*\n\t-]{0,8}",
    ) {
        let mut text = TOWN.to_owned();
        text.replace_range(cut..(cut + length).min(TOWN.len()), &insert);
        if let Err(report) = read("town.rndf", &text, None) {
            prop_assert!(!report.diagnostics.is_empty());
        }
    }
}
