//! What a driver does who has missed an exit.

use super::*;
use anabranch_roads::make::City;

/// A town of two by two blocks with two lanes each way, and a route that turns left at the first junction although it begins in
/// the right lane.
fn town(plant: Plant) -> World<'static> {
    let lanes = Strip { forward: 2, backward: 2, ..Strip::TWO_WAY };
    let map = make::city(City { columns: 2, rows: 2, block_m: 120.0, lanes, control: Control::Nothing });
    World::new(&map, ("e-0-0", "1", 2.0), ("n-1-1", "1", 40.0), plant)
}

/// A row of parked cars in the left lane of the first street, from its beginning to its end.
fn parked(world: &World<'_>) -> Vec<SeenObject> {
    let left = world.network.lane(world.network.find("e-0-0", "2").unwrap());
    let cars = (left.length_m() / 6.0) as u32;
    let pose = |i: u32| left.pose(3.0 + 6.0 * f64::from(i).min((left.length_m() - 6.0) / 6.0));
    (0..cars).map(|i| object(pose(i), 0.0, ObjectKind::Car)).collect()
}

#[test]
fn it_takes_another_way_when_no_gap_opens_before_its_exit() {
    for plant in [rolling(), tyres()] {
        let free = town(plant);
        let moments = free.run(8.0, 90.0);
        assert!(last(&moments).memory.arrived && last(&moments).memory.way == 0, "{:?}", last(&moments).memory);
        let turned_left_m = free.driver.route().length_m;

        let objects = parked(&free);
        let world = town(plant).with(move |_| objects.clone());
        let moments = world.run(8.0, 150.0);
        let end = last(&moments);
        assert!(end.memory.arrived && end.memory.way != 0, "{:?} {:?}", end.memory, end.motion);
        assert!(world.driver.route_now(&end.memory).length_m > turned_left_m + 100.0);
        assert!(least_clearance_m(&moments) > 0.3, "{}", least_clearance_m(&moments));
        assert!(hardest_braking(&moments) < 4.0, "{}", hardest_braking(&moments));
        // It goes straight on past its exit instead of standing there.
        let street_m = world.network.lane(world.network.find("e-0-0", "1").unwrap()).length_m();
        let past = moments.iter().position(|moment| moment.memory.way != 0).unwrap();
        assert!(moments[past - 1].memory.station_m > street_m - 1.0, "{}", moments[past - 1].memory.station_m);
        assert!(moments[..past].iter().all(|moment| moment.motion.speed_mps > 2.0));
    }
}

#[test]
fn where_no_other_way_leads_to_the_goal_it_waits_for_a_gap() {
    // The right lane ends, and the left one is full until it is empty after 25 s.
    let world = World::new(&make::lane_drop(2, 200.0, 300.0), ("before", "1", 5.0), ("after", "1", 200.0), rolling());
    let left = world.network.lane(world.network.find("before", "2").unwrap());
    let queue: Vec<SeenObject> =
        (0..25).map(|i| object(left.pose(3.0 + 8.0 * f64::from(i)), 0.0, ObjectKind::Car)).collect();
    let world = world.with(move |time_s| if time_s < 25.0 { queue.clone() } else { Vec::new() });
    let moments = world.run(10.0, 80.0);
    let end = last(&moments);
    assert!(end.memory.arrived && end.memory.way == 0, "{:?}", end.memory);
    let waits = |moment: &Moment| moment.time_s < 25.0 && moment.motion.speed_mps < 0.1;
    assert!(moments.iter().any(waits), "it stands before the end of its lane");
}
