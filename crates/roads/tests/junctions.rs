//! Junctions: turns, stop lines, priority, lights, crosswalks, zones.

use anabranch_geometry::Point;
use anabranch_kernel::maths;
use anabranch_roads::make::{self, City, Control, Crossing, Strip};
use anabranch_roads::*;

fn four_arms(control: Control) -> Crossing {
    let pi = std::f64::consts::PI;
    let arms = [("east", 0.0), ("north", 0.5 * pi), ("west", pi), ("south", -0.5 * pi)];
    let arms = arms.map(|(name, heading)| (name.to_owned(), heading)).to_vec();
    Crossing { arms, arm_m: 60.0, lanes: Strip::TWO_WAY, control }
}

/// The turn from the arm `from` to the arm `to`.
fn turn(network: &Network, from: &str, to: &str) -> LaneId {
    let name = LaneName::new("middle", format!("{from}.-1-{to}.1"));
    network.lanes().iter().find(|lane| *lane.name() == name).unwrap_or_else(|| panic!("{name}")).id()
}

fn precedence(network: &Network, a: [&str; 2], b: [&str; 2]) -> Option<Precedence> {
    let rule = network.rule(turn(network, a[0], a[1])).unwrap();
    let with = turn(network, b[0], b[1]);
    rule.conflicts.iter().find(|conflict| conflict.with == with).map(|conflict| conflict.precedence)
}

#[test]
fn turns_leave_and_enter_roads_without_a_kink_or_gap() {
    for map in [
        make::crossing(&four_arms(Control::Nothing)),
        make::roundabout(20.0, 5, 40.0),
        make::on_ramp(2, 200.0),
        make::lane_drop(3, 200.0, 200.0),
        make::ring(40.0, 2),
    ] {
        let network = Network::new(&map).unwrap();
        for lane in network.lanes() {
            for link in lane.next() {
                let (from, to) = (lane.at(link.from_station_m), network.lane(link.to).at(link.to_station_m));
                assert!(from.position.distance_m(to.position) < 1e-6, "{} in {}", lane.name(), map.name);
                assert!(maths::wrap_angle(from.heading - to.heading).abs() < 1e-6, "{} in {}", lane.name(), map.name);
                assert!(network.lane(link.to).previous().contains(&lane.id()));
            }
        }
    }
}

#[test]
fn without_signs_right_goes_before_left_and_left_turns_wait_for_facing_cars() {
    let network = Network::new(&make::crossing(&four_arms(Control::Nothing))).unwrap();
    // A car from the south has the one from the east on its right.
    assert_eq!(precedence(&network, ["south", "north"], ["east", "west"]), Some(Precedence::Yields));
    assert_eq!(precedence(&network, ["east", "west"], ["south", "north"]), Some(Precedence::Goes));
    assert_eq!(precedence(&network, ["south", "west"], ["north", "south"]), Some(Precedence::Yields));
    assert_eq!(precedence(&network, ["south", "north"], ["north", "south"]), None, "they pass each other");
    assert_eq!(precedence(&network, ["south", "east"], ["west", "east"]), Some(Precedence::Goes), "merging");
    assert_eq!(precedence(&network, ["south", "east"], ["south", "north"]), None, "one after the other");
}

#[test]
fn stop_signs_make_the_side_road_wait_and_four_of_them_let_the_first_go() {
    let map = make::t_junction(60.0, Control::StopAtSide);
    let network = Network::new(&map).unwrap();
    assert_eq!(precedence(&network, ["south", "west"], ["west", "east"]), Some(Precedence::Yields));
    assert_eq!(precedence(&network, ["south", "west"], ["east", "west"]), Some(Precedence::Yields));
    assert_eq!(precedence(&network, ["east", "south"], ["west", "east"]), Some(Precedence::Yields), "left turn");
    let rule = network.rule(turn(&network, "south", "west")).unwrap();
    assert_eq!(rule.sign, Sign::Stop);
    assert!((network.lane(rule.approach).length_m() - rule.stop_station_m - 1.0).abs() < 1e-9);

    let network = Network::new(&make::crossing(&four_arms(Control::AllWayStop))).unwrap();
    assert_eq!(precedence(&network, ["south", "north"], ["east", "west"]), Some(Precedence::FirstCome));
}

#[test]
fn an_exception_of_the_map_wins_over_signs() {
    let mut map = make::t_junction(60.0, Control::StopAtSide);
    let lane = LaneName::new;
    map.junctions[0].yields.push(YieldPlan {
        turn: (lane("east", "-1"), lane("west", "1")),
        to: (lane("south", "-1"), lane("west", "1")),
    });
    let network = Network::new(&map).unwrap();
    assert_eq!(precedence(&network, ["south", "west"], ["east", "west"]), Some(Precedence::Goes));
}

#[test]
fn who_enters_a_roundabout_waits_for_who_is_in_it() {
    let network = Network::new(&make::roundabout(20.0, 4, 50.0)).unwrap();
    for junction in network.junctions() {
        let entering: Vec<&TurnRule> = junction
            .turns
            .iter()
            .filter_map(|turn| network.rule(*turn))
            .filter(|rule| rule.sign == Sign::Yield)
            .collect();
        assert_eq!(entering.len(), 1);
        assert!(!entering[0].conflicts.is_empty());
        assert!(entering[0].conflicts.iter().all(|conflict| conflict.precedence == Precedence::Yields));
    }
}

#[test]
fn a_conflict_lies_where_the_paths_cross() {
    let network = Network::new(&make::crossing(&four_arms(Control::Nothing))).unwrap();
    let rule = network.rule(turn(&network, "south", "north")).unwrap();
    let with = turn(&network, "west", "east");
    let conflict = rule.conflicts.iter().find(|conflict| conflict.with == with).unwrap();
    let own = network.lane(rule.turn);
    let from = own.position(conflict.from_station_m);
    let to = own.position(conflict.to_station_m);
    // Northwards at x = 1.75 m; the path from west to east is y = −1.75 m, and cars pass at 2.4 m, looked at every 0.5 m.
    assert!((from.x - 1.75).abs() < 1e-9 && (from.y + 1.75 + 2.4).abs() < 0.5, "{from:?}");
    assert!((to.y + 1.75 - 2.4).abs() < 0.5, "{to:?}");
}

#[test]
fn both_streets_of_a_signalled_crossing_never_have_green_together() {
    let network = Network::new(&make::crossing(&four_arms(Control::Lights))).unwrap();
    let signal = |from: &str, to: &str| network.rule(turn(&network, from, to)).unwrap().signal.unwrap();
    let (main, side) = (signal("east", "west"), signal("south", "north"));
    assert_eq!(main, signal("west", "south"));
    let program = &network.programs()[main.program];
    let mut greens = [0, 0];
    for tenth in 0..2000 {
        let time_us = tenth * 100_000;
        let shown = [main.group, side.group].map(|group| program.aspect(group, time_us));
        assert!(shown.contains(&Aspect::Red), "{shown:?} at {tenth}");
        greens[0] += usize::from(shown[0] == Aspect::Green);
        greens[1] += usize::from(shown[1] == Aspect::Green);
    }
    assert!(greens.iter().all(|count| *count > 600), "{greens:?}");
}

#[test]
fn a_crosswalk_knows_the_lanes_it_crosses() {
    let mut map = make::straight(100.0, 3);
    map.crosswalks.push(CrosswalkPlan {
        name: "zebra".into(),
        from: Point::new(40.0, -3.0),
        to: Point::new(40.0, 10.0),
        width_m: 4.0,
        signal: None,
    });
    let network = Network::new(&map).unwrap();
    let crossings = &network.crosswalks()[0].crossings;
    assert_eq!(crossings.len(), 3);
    for crossing in crossings {
        assert!((crossing.from_station_m - 38.0).abs() < 1e-9 && (crossing.to_station_m - 42.0).abs() < 1e-9);
    }
    map.crosswalks[0].to.y = -2.0;
    let flaws = Network::new(&map).unwrap_err();
    assert_eq!(flaws, [Flaw { at: Element::Crosswalk(0), kind: FlawKind::CrossesNothing }]);
}

#[test]
fn every_lane_of_a_city_can_be_reached_from_every_other() {
    for control in [Control::Lights, Control::AllWayStop, Control::Nothing] {
        let lanes = Strip { forward: 2, backward: 2, ..Strip::TWO_WAY };
        let network = Network::new(&make::city(City { columns: 2, rows: 1, block_m: 100.0, lanes, control })).unwrap();
        let roads: Vec<LaneId> =
            network.lanes().iter().filter(|lane| lane.kind() == LaneKind::Road).map(|lane| lane.id()).collect();
        assert_eq!(roads.len(), 7 * 4);
        for from in &roads {
            for to in &roads {
                let place = |lane: &LaneId, station_m| LanePlace { lane: *lane, station_m };
                let route = network.route(place(from, 20.0), place(to, 10.0));
                assert!(route.is_ok(), "{from:?} {to:?} {route:?}");
            }
        }
    }
}
