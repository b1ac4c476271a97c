//! Maps by a few numbers.

use anabranch_geometry::tiles::{Canvas, Grid, cast_ray, overlaps_tiles};
use anabranch_geometry::{Body, Outline, Point, Pose};
use anabranch_roads::make::{self, City, Control, Strip};
use anabranch_roads::*;

fn city(kerb_m: f64) -> (Network, Canvas) {
    let shape = City { columns: 1, rows: 1, block_m: 90.0, lanes: Strip::TWO_WAY, control: Control::Lights };
    let network = Network::new(&make::city(shape)).unwrap();
    let mut canvas = Canvas::new(Grid { origin: Point::new(0.0, 0.0), cell_m: 0.2 });
    make::kerbs(&network, kerb_m).iter().for_each(|kerb| kerb.draw(&mut canvas));
    (network, canvas)
}

#[test]
fn kerbs_stand_beside_every_road_and_on_none() {
    let (network, canvas) = city(0.5);
    let body = Body::new(&Outline { front_m: 3.6, rear_m: 0.9, half_width_m: 0.9, corner_radius_m: 0.3 });
    for lane in network.lanes() {
        for k in 0..=20 {
            let pose = lane.pose(lane.length_m() * f64::from(k) / 20.0);
            assert_eq!(overlaps_tiles(&canvas, &body, pose), Ok(false), "{} {pose:?}", lane.name());
        }
    }
    let right = network.lane(network.find("e-0-0", "1").unwrap());
    let middle = right.position(0.5 * right.length_m());
    // Half a lane and the gap, less half a kerb; cells are 0.2 m.
    let hit = cast_ray(&canvas, middle, [0.0, -1.0], 10.0).unwrap().unwrap();
    assert!((hit - (1.75 + 0.5 - 0.1)).abs() < 0.21, "{hit}");
}

#[test]
fn a_parking_lot_has_spots_beside_its_aisle() {
    let network = Network::new(&make::parking_lot(8)).unwrap();
    let spots = network.zones().iter().filter(|zone| zone.kind == ZoneKind::Spot).count();
    assert_eq!((spots, network.barriers().len()), (16, 1));
    let names: Vec<&str> = network.zones_at(Point::new(9.0, 5.0)).map(|zone| zone.name.as_str()).collect();
    assert_eq!(names, ["lot", "north-0"]);
    let (lane, place) = network.nearest_along(Pose::new(9.0, 5.0, 0.0)).unwrap();
    assert_eq!((network.lane(lane).name().to_string().as_str(), place.station_m.round()), ("aisle.1", 9.0));
}

#[test]
fn a_highway_is_driven_faster_than_a_town() {
    let network = Network::new(&make::highway(2000.0, 3)).unwrap();
    let lane = network.lane(LaneId(1));
    assert!((lane.limit_mps(500.0) - 120.0 / 3.6).abs() < 1e-12);
    assert_eq!((lane.left(), lane.right()), (Some(LaneId(2)), Some(LaneId(0))));
}
