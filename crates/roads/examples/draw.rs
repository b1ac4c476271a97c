//! Draws a generated network as SVG: `cargo run -p anabranch-roads --example draw roundabout > roundabout.svg`.

use anabranch_geometry::Point;
use anabranch_roads::make::{self, City, Control, Crossing, Strip};
use anabranch_roads::{Lane, LaneKind, Map, Network};

fn map(name: &str) -> Option<Map> {
    let pi = std::f64::consts::PI;
    let two_lanes = Strip { forward: 2, backward: 2, ..Strip::TWO_WAY };
    let arms = [("east", 0.0), ("north", 0.5 * pi), ("west", pi), ("south", -0.5 * pi)];
    let arms = arms.map(|(name, heading)| (name.to_owned(), heading)).to_vec();
    match name {
        "arc" => Some(make::arc(50.0, 2.0, 3)),
        "ring" => Some(make::ring(60.0, 2)),
        "on-ramp" => Some(make::on_ramp(2, 250.0)),
        "lane-drop" => Some(make::lane_drop(3, 300.0, 300.0)),
        "t-junction" => Some(make::t_junction(60.0, Control::StopAtSide)),
        "crossing" => Some(make::crossing(&Crossing { arms, arm_m: 50.0, lanes: two_lanes, control: Control::Lights })),
        "roundabout" => Some(make::roundabout(20.0, 4, 50.0)),
        "city" => {
            let lanes = Strip::TWO_WAY;
            Some(make::city(City { columns: 2, rows: 2, block_m: 90.0, lanes, control: Control::Lights }))
        }
        _ => None,
    }
}

/// The outline of a lane as a closed path.
fn outline(lane: &Lane) -> String {
    let steps = (lane.length_m() / 1.0).ceil() as usize;
    let station = |k: usize| lane.length_m() * k as f64 / steps as f64;
    let edge = |k: usize, side: f64| lane.point_at(station(k), side * 0.5 * lane.width_m(station(k)));
    let left = (0..=steps).map(|k| edge(k, 1.0));
    let right = (0..=steps).rev().map(|k| edge(k, -1.0));
    let text = |point: Point| format!("{:.2},{:.2}", point.x, -point.y);
    left.chain(right).map(text).collect::<Vec<_>>().join(" ")
}

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    let Some(map) = map(&name) else {
        eprintln!("names: arc ring on-ramp lane-drop t-junction crossing roundabout city");
        std::process::exit(2);
    };
    let network = Network::new(&map).expect("generated maps are sound");
    let points: Vec<Point> = network
        .lanes()
        .iter()
        .flat_map(|lane| (0..=20).map(|k| lane.position(lane.length_m() * f64::from(k) / 20.0)))
        .collect();
    let least = |value: fn(&Point) -> f64| points.iter().map(value).fold(f64::INFINITY, f64::min) - 5.0;
    let (x, y) = (least(|p| p.x), least(|p| -p.y));
    let (width, height) = (-least(|p| -p.x) - x, -least(|p| p.y) - y);
    println!("<svg xmlns='http://www.w3.org/2000/svg' viewBox='{x:.1} {y:.1} {width:.1} {height:.1}' width='1200'>");
    println!("<rect x='{x:.1}' y='{y:.1}' width='100%' height='100%' fill='#f4f4f0'/>");
    for lane in network.lanes() {
        let (fill, opacity) = if lane.kind() == LaneKind::Road { ("#778", 0.5) } else { ("#c70", 0.25) };
        println!(
            "<polygon points='{}' fill='{fill}' fill-opacity='{opacity}' stroke='#fff' stroke-width='0.15'/>",
            outline(lane)
        );
    }
    println!("</svg>");
}
