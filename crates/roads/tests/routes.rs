//! Ways through the network.

use anabranch_roads::make::{self, City, Control, Strip};
use anabranch_roads::*;

fn place(network: &Network, road: &str, lane: &str, station_m: f64) -> LanePlace {
    LanePlace { lane: network.find(road, lane).unwrap(), station_m }
}

fn grid(columns: usize, rows: usize) -> Network {
    let shape = City { columns, rows, block_m: 100.0, lanes: Strip::TWO_WAY, control: Control::Nothing };
    Network::new(&make::city(shape)).unwrap()
}

/// A route is drivable: each leg begins where the one before it ends, by a link or beside it.
fn check_connected(network: &Network, route: &Route) {
    for pair in route.legs.windows(2) {
        let lane = network.lane(pair[0].lane);
        match pair[0].then {
            Then::Link(i) => {
                let link = lane.next()[i];
                assert_eq!((link.to, link.to_station_m), (pair[1].lane, pair[1].from_station_m));
                assert_eq!(link.from_station_m, pair[0].to_station_m);
            }
            Then::Left => assert_eq!(lane.left(), Some(pair[1].lane)),
            Then::Right => assert_eq!(lane.right(), Some(pair[1].lane)),
            Then::Arrive => panic!("a leg after the goal"),
        }
    }
    assert_eq!(route.legs.last().unwrap().then, Then::Arrive);
}

#[test]
fn a_route_through_a_city_is_as_short_as_streets_allow() {
    let network = grid(3, 3);
    let from = place(&network, "e-0-0", "1", 10.0);
    let to = place(&network, "n-3-2", "1", 10.0);
    let route = network.route(from, to).unwrap();
    check_connected(&network, &route);
    // Three blocks east and two north: 5 streets and 5 turns, counted from 10 m on to 10 m on.
    assert_eq!(route.legs.len(), 11);
    assert!((route.length_m - 500.0).abs() < 20.0, "{}", route.length_m);
}

#[test]
fn the_search_finds_what_trying_everything_finds() {
    let network = grid(2, 2);
    let from = place(&network, "e-0-0", "1", 5.0);
    // Bellman and Ford over lanes, with the time at the speed limit as cost: no lane changes in single lanes.
    let seconds = |lane: &Lane| {
        let pace = |k: i32| 1.0 / lane.limit_mps(lane.length_m() * (f64::from(k) + 0.5) / 8.0);
        lane.length_m() * (0..8).map(pace).sum::<f64>() / 8.0
    };
    let mut arrival = vec![f64::INFINITY; network.lanes().len()];
    let rest = 1.0 - 5.0 / network.lane(from.lane).length_m();
    for link in network.lane(from.lane).next() {
        arrival[link.to.index()] = rest * seconds(network.lane(from.lane));
    }
    for _ in 0..network.lanes().len() {
        for lane in network.lanes() {
            for link in lane.next() {
                let through = arrival[lane.id().index()] + seconds(lane);
                arrival[link.to.index()] = arrival[link.to.index()].min(through);
            }
        }
    }
    for lane in network.lanes().iter().filter(|lane| lane.kind() == LaneKind::Road) {
        let to = LanePlace { lane: lane.id(), station_m: 0.0 };
        let route = network.route(from, to).unwrap();
        check_connected(&network, &route);
        assert!((route.seconds - arrival[lane.id().index()]).abs() < 1e-9, "{}", lane.name());
    }
}

#[test]
fn a_goal_behind_the_start_is_reached_by_coming_round_again() {
    let network = Network::new(&make::ring(60.0, 2)).unwrap();
    let from = place(&network, "north", "1", 100.0);
    let around = network.route(from, place(&network, "north", "1", 50.0)).unwrap();
    check_connected(&network, &around);
    let lap_m: f64 =
        ["north", "south"].iter().map(|road| network.lane(network.find(road, "1").unwrap()).length_m()).sum();
    assert!((around.length_m - (lap_m - 50.0)).abs() < 1e-6);
    let other_lane = network.route(from, place(&network, "north", "2", 50.0)).unwrap();
    check_connected(&network, &other_lane);
    assert!(other_lane.legs.iter().any(|leg| leg.then == Then::Left));
}

#[test]
fn lanes_are_changed_where_it_is_allowed_and_not_where_a_line_is_solid() {
    let mut map = make::straight(300.0, 2);
    let network = Network::new(&map).unwrap();
    let ends = |network: &Network| (place(network, "main", "1", 10.0), place(network, "main", "2", 290.0));
    let (from, to) = ends(&network);
    let route = network.route(from, to).unwrap();
    assert_eq!(route.legs[0].then, Then::Left);
    assert!((route.length_m - 280.0).abs() < 1e-9, "{}", route.length_m);
    map.roads[0].lanes[0].left = Marking::Solid;
    let network = Network::new(&map).unwrap();
    let (from, to) = ends(&network);
    let reason = network.route(from, to).unwrap_err().to_string();
    assert_eq!(
        reason,
        "no way leads from `main.1` to `main.2`: only 1 lane(s) can be reached, up to the end of `main.1`"
    );
}

#[test]
fn the_acceleration_lane_leads_onto_the_highway_by_a_change() {
    let network = Network::new(&make::on_ramp(2, 250.0)).unwrap();
    let route = network.route(place(&network, "ramp", "1", 0.0), place(&network, "after", "2", 500.0)).unwrap();
    check_connected(&network, &route);
    let changes = route.legs.iter().filter(|leg| leg.then == Then::Left).count();
    assert_eq!(changes, 2);
    let names: Vec<String> = route.legs.iter().map(|leg| network.lane(leg.lane).name().to_string()).collect();
    assert_eq!(names[..3], ["ramp.1", "merge.1", "merge.2"]);
}

#[test]
fn what_cannot_be_reached_is_said_with_the_reason() {
    let network = Network::new(&make::on_ramp(2, 250.0)).unwrap();
    let (from, to) = (place(&network, "after", "1", 0.0), place(&network, "ramp", "1", 10.0));
    let reason = network.route(from, to).unwrap_err();
    assert_eq!(reason.to_string(), "nothing leads to `ramp.1`: no link enters it and no lane lies beside it");
    let outside = LanePlace { station_m: 5000.0, ..to };
    let reason = network.route(from, outside).unwrap_err().to_string();
    assert!(reason.contains("5000.0 m is not on it"), "{reason}");
}

#[test]
fn neighbours_lie_side_by_side_also_in_curves_and_where_a_lane_begins_later() {
    let network = Network::new(&make::arc(50.0, 1.5, 3)).unwrap();
    let lane = |name: &str| network.lane(network.find("main", name).unwrap());
    assert_eq!(lane("1").left(), Some(lane("2").id()));
    assert_eq!(lane("2").right(), Some(lane("1").id()));
    assert_eq!((lane("1").right(), lane("3").left()), (None, None));
    for share in [0.0, 0.3, 0.7, 1.0] {
        let station_m = share * lane("1").length_m();
        let (other, other_m) = lane("1").left_at(station_m).unwrap();
        // On concentric arcs equal shares lie side by side.
        assert!((other_m / network.lane(other).length_m() - share).abs() < 1e-6);
    }
    let two_way = Network::new(&make::t_junction(60.0, Control::Nothing)).unwrap();
    let east = two_way.lane(two_way.find("east", "1").unwrap());
    assert_eq!((east.left(), east.oncoming()), (None, two_way.find("east", "-1")));
}

#[test]
fn a_guide_leads_from_everywhere_as_quickly_as_a_route() {
    let network = grid(2, 2);
    let goal = place(&network, "n-1-1", "-1", 30.0);
    let guide = network.guide(goal);
    for lane in network.lanes() {
        let from = LanePlace { lane: lane.id(), station_m: 0.4 * lane.length_m() };
        let route = network.route(from, goal).unwrap();
        assert!((guide.seconds(&network, from).unwrap() - route.seconds).abs() < 1e-9, "{}", lane.name());
        let (mut at, mut legs) = (from, 0);
        while guide.then(&network, at).unwrap() != Then::Arrive {
            let Then::Link(i) = guide.then(&network, at).unwrap() else { panic!("single lanes have no changes") };
            let link = network.lane(at.lane).next()[i];
            at = LanePlace { lane: link.to, station_m: link.to_station_m };
            legs += 1;
        }
        assert_eq!((at.lane, legs + 1), (goal.lane, route.legs.len()));
    }
}

#[test]
fn a_guide_changes_lanes_and_says_where_no_way_leads() {
    let network = Network::new(&make::on_ramp(2, 250.0)).unwrap();
    let guide = network.guide(place(&network, "after", "2", 500.0));
    assert_eq!(guide.then(&network, place(&network, "ramp", "1", 10.0)), Some(Then::Link(0)));
    assert_eq!(guide.then(&network, place(&network, "merge", "1", 10.0)), Some(Then::Left));
    assert_eq!(guide.then(&network, place(&network, "after", "2", 400.0)), Some(Then::Arrive));
    assert_eq!(guide.then(&network, place(&network, "after", "2", 600.0)), None, "behind the goal and no way round");
    assert_eq!(
        network.guide(place(&network, "ramp", "1", 10.0)).then(&network, place(&network, "after", "1", 0.0)),
        None
    );
}
