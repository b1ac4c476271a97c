//! What is told about roads arrives in C, and nothing where there are none.

use anabranch_bridge::protocol::{Answer, Op, Seen};

use super::kit::{SANITISED, Started, begin, build, step};
use crate::road::{ROAD_TOLD, ROUTE_TOLD, object, road, route};

const ECHO: &str = "crates/bridge/tests/c/echo_road.c";

fn told(started: &mut Started, seen: &Seen) -> Vec<f64> {
    match started.asker.ask(&[step(0, seen)]).remove(0) {
        Answer::Decision(decision) => decision.key,
        other => panic!("{other:?}"),
    }
}

fn padded(parts: &[&[f64]]) -> Vec<f64> {
    let mut told = parts.concat();
    told.resize(64, 0.0);
    told
}

#[test]
fn everything_about_roads_arrives_in_c() {
    let mut started = Started::new(&build(ECHO, &SANITISED), &[], &[]);
    let mut begin = begin();
    begin.route = route();
    started.asker.ask(&[Op::Reset { branch: 0, begin }]);
    let on_road = Seen { objects: vec![object()], road: Some(Box::new(road())), ..Seen::default() };
    assert_eq!(told(&mut started, &on_road), padded(&[&ROUTE_TOLD, &[205.0, 206.0, 1.0], &ROAD_TOLD]));
    assert_eq!(told(&mut started, &Seen::default()), padded(&[&ROUTE_TOLD, &[0.0]]));
    started.bye();
}
