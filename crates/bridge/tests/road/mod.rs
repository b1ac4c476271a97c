//! A road on which every number is another one, and what a driver that repeats it says: names by their length, words by their
//! number in the headers.

use anabranch_bridge::protocol::{BesideSeen, LegFacts, LineSeen, ObjectSeen, RoadSeen};

/// Two legs.
pub fn route() -> Vec<LegFacts> {
    let leg =
        |lane: &str, from_m, to_m, then: &str| LegFacts { lane: lane.to_owned(), from_m, to_m, then: then.to_owned() };
    vec![leg("main.1", 201.0, 202.0, "left"), leg("side.12", 203.0, 204.0, "arrive")]
}

/// Of [`route`].
pub const ROUTE_TOLD: [f64; 9] = [2.0, 6.0, 201.0, 202.0, 1.0, 7.0, 203.0, 204.0, 3.0];

/// Somebody who moves to the north-east.
pub fn object() -> ObjectSeen {
    ObjectSeen { id: 9, vx: 205.0, vy: 206.0, ..ObjectSeen::default() }
}

/// A lane on its left only, two places ahead, three lines.
pub fn road() -> RoadSeen {
    let line = |ahead, sign: &str, light: Option<&str>| LineSeen {
        ahead,
        sign: sign.to_owned(),
        light: light.map(str::to_owned),
    };
    RoadSeen {
        lane: "main.1".to_owned(),
        station: 211.0,
        lateral: 212.0,
        heading: 213.0,
        width: 214.0,
        speed_limit: 215.0,
        left: Some(BesideSeen { lane: "main.22".to_owned(), apart: 216.0, may_change: true }),
        right: None,
        then: "right".to_owned(),
        then_in: 217.0,
        route_left: 218.0,
        ahead: vec![[221.0, 222.0, 223.0, 224.0, 225.0, 226.0], [227.0, 228.0, 229.0, 230.0, 231.0, 232.0]],
        step: 219.0,
        lines: vec![
            line(233.0, "stop", None),
            line(234.0, "none", Some("red-amber")),
            line(235.0, "give way to trams", Some("green")),
        ],
    }
}

/// Of [`road`].
pub const ROAD_TOLD: [f64; 38] = [
    6.0, 211.0, 212.0, 213.0, 214.0, 215.0, // the lane
    1.0, 7.0, 216.0, 1.0, 0.0, // beside
    2.0, 217.0, 218.0, // the route
    2.0, 221.0, 222.0, 223.0, 224.0, 225.0, 226.0, 227.0, 228.0, 229.0, 230.0, 231.0, 232.0, 219.0, // ahead
    3.0, 233.0, 1.0, 0.0, 234.0, 0.0, 2.0, 235.0, -1.0, 4.0, // lines
];
