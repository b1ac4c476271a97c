//! Roads around a place for pictures: lanes as ribbons with their lines, stop lines with signs and lights, crosswalks.

use anabranch_geometry::Point;
use anabranch_kernel::maths;
use anabranch_record::picture::{Face, Prism, Rgb};
use anabranch_roads::{Aspect, Crosswalk, Lane, LaneId, LaneKind, Marking, Network, Sign, SignalRef, TurnRule};

/// How far roads and the lines on them are drawn.
const ROADS_M: f64 = 260.0;
const LINES_M: f64 = 110.0;
/// Distance of the corners of ribbons.
const STEP_M: f64 = 2.5;
/// What lies straight within this is one piece.
const STRAIGHT_M: f64 = 0.01;
/// Asphalt beyond the lines.
const MARGIN_M: f64 = 0.3;
const LINE_M: f64 = 0.14;
/// Dashes and the gaps between them.
const DASH_M: f64 = 3.0;
const DASH_EVERY_M: f64 = 9.0;
const STOP_LINE_M: f64 = 0.4;
const WHITE: Rgb = [0.93, 0.93, 0.91];
const POST: Rgb = [0.62, 0.63, 0.65];
const RED: Rgb = [0.8, 0.1, 0.08];
const AMBER: Rgb = [0.98, 0.7, 0.1];
const GREEN: Rgb = [0.1, 0.75, 0.3];
const HOUSING: Rgb = [0.12, 0.13, 0.14];

/// What pictures show of roads.
#[derive(Debug, Default)]
pub(super) struct Ground {
    pub(super) surfaces: Vec<Vec<[f64; 2]>>,
    pub(super) paint: Vec<Face>,
    pub(super) standing: Vec<Prism>,
}

/// Everything of the roads around a place; `light` says what a light shows.
pub(super) fn around(network: &Network, at: Point, light: impl Fn(SignalRef) -> Option<Aspect>) -> Ground {
    let mut ground = Ground::default();
    let mut near: Vec<LaneId> = Vec::new();
    network.near(at, ROADS_M, &mut near);
    near.sort_unstable();
    near.dedup();
    for lane in near.iter().map(|id| network.lane(*id)) {
        for span in spans(lane, at, ROADS_M) {
            let half_m = |station_m: f64| 0.5 * lane.width_m(station_m) + MARGIN_M;
            ground.surfaces.push(strip(lane, span, |s| -half_m(s), half_m));
        }
        ground.lines(lane, at);
    }
    network.crosswalks().iter().filter(|walk| walk.from.distance_m(at) < LINES_M).for_each(|walk| ground.stripes(walk));
    // One line for all turns of an approach.
    let mut rules: Vec<&TurnRule> = near.iter().filter_map(|id| network.rule(*id)).collect();
    rules.sort_by_key(|rule| (rule.approach, rule.signal.is_none()));
    rules.dedup_by_key(|rule| rule.approach);
    for rule in rules {
        let lane = network.lane(rule.approach);
        if lane.position(rule.stop_station_m).distance_m(at) < LINES_M {
            ground.approach(lane, rule, rule.signal.and_then(&light));
        }
    }
    ground
}

/// Stretches of a lane that are not farther away than this.
fn spans(lane: &Lane, at: Point, range_m: f64) -> Vec<[f64; 2]> {
    let mut spans: Vec<[f64; 2]> = Vec::new();
    let steps = (lane.length_m() / STEP_M).ceil().max(1.0) as u32;
    let mut is_open = false;
    for step in 0..=steps {
        let station_m = lane.length_m() * f64::from(step) / f64::from(steps);
        let is_near = lane.position(station_m).distance_m(at) < range_m;
        match (is_near, is_open, spans.last_mut()) {
            (true, true, Some(last)) => last[1] = station_m,
            (true, ..) => spans.push([station_m; 2]),
            _ => {}
        }
        is_open = is_near;
    }
    spans.retain(|[from, to]| to > from);
    spans
}

/// The ground between two lines along a lane, counter-clockwise.
fn strip(
    lane: &Lane,
    [from_m, to_m]: [f64; 2],
    right_m: impl Fn(f64) -> f64,
    left_m: impl Fn(f64) -> f64,
) -> Vec<[f64; 2]> {
    let steps = ((to_m - from_m) / STEP_M).ceil().max(1.0) as u32;
    let station_m = |step: u32| from_m + (to_m - from_m) * f64::from(step) / f64::from(steps);
    let point = |station_m: f64, lateral_m: f64| {
        let point = lane.point_at(station_m, lateral_m);
        [point.x, point.y]
    };
    let right = (0..=steps).map(|step| point(station_m(step), right_m(station_m(step))));
    let left = (0..=steps).rev().map(|step| point(station_m(step), left_m(station_m(step))));
    without_straight(&right.collect::<Vec<_>>())
        .into_iter()
        .chain(without_straight(&left.collect::<Vec<_>>()))
        .collect()
}

/// Without corners that lie on the straight line between their neighbours.
fn without_straight(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut kept: Vec<[f64; 2]> = Vec::new();
    for (i, point) in points.iter().enumerate() {
        let is_straight = kept.last().zip(points.get(i + 1)).is_some_and(|(a, b)| {
            let (x, y) = (b[0] - a[0], b[1] - a[1]);
            let off = x * (point[1] - a[1]) - y * (point[0] - a[0]);
            off.abs() < STRAIGHT_M * (x * x + y * y).sqrt()
        });
        if !is_straight {
            kept.push(*point);
        }
    }
    kept
}

impl Ground {
    /// Both lines of a lane; one that two lanes share is drawn once.
    fn lines(&mut self, lane: &Lane, at: Point) {
        if lane.kind() != LaneKind::Road {
            return;
        }
        let middle_m = 0.5 * lane.length_m();
        let is_drawn_by_oncoming = lane.oncoming().is_some_and(|other| other < lane.id());
        let has_left = lane.left_at(middle_m).is_some();
        let left_is_edge = !has_left && lane.oncoming().is_none();
        for span in spans(lane, at, LINES_M) {
            if has_left || !is_drawn_by_oncoming {
                self.line(lane, span, 1.0, lane.left_marking() == Marking::Broken && !left_is_edge);
            }
            if lane.right_at(middle_m).is_none() {
                self.line(lane, span, -1.0, false);
            }
        }
    }

    /// A line at the left (1) or right (-1) edge of a lane.
    fn line(&mut self, lane: &Lane, [from_m, to_m]: [f64; 2], side: f64, is_broken: bool) {
        let edge_m = |station_m: f64| 0.5 * side * lane.width_m(station_m);
        let mut put = |span: [f64; 2]| {
            let corners = strip(lane, span, |s| edge_m(s) - 0.5 * LINE_M, |s| edge_m(s) + 0.5 * LINE_M);
            self.paint.push(Face::ground(&corners, WHITE));
        };
        if !is_broken {
            return put([from_m, to_m]);
        }
        let first = (from_m / DASH_EVERY_M).ceil() as u32;
        for dash in (first..).map(|number| f64::from(number) * DASH_EVERY_M).take_while(|dash_m| *dash_m < to_m) {
            put([dash, (dash + DASH_M).min(to_m)]);
        }
    }

    fn stripes(&mut self, walk: &Crosswalk) {
        let length_m = walk.from.distance_m(walk.to);
        let along = [(walk.to.x - walk.from.x) / length_m, (walk.to.y - walk.from.y) / length_m];
        let half_m = 0.5 * walk.width_m;
        let corner = |way_m: f64, aside_m: f64| {
            [walk.from.x + way_m * along[0] - aside_m * along[1], walk.from.y + way_m * along[1] + aside_m * along[0]]
        };
        for stripe in 0..length_m.floor() as u32 {
            let from_m = f64::from(stripe) + 0.25;
            let to_m = from_m + 0.5;
            let corners =
                [corner(from_m, -half_m), corner(to_m, -half_m), corner(to_m, half_m), corner(from_m, half_m)];
            self.paint.push(Face::ground(&corners, WHITE));
        }
    }

    /// The line at which cars stop before a junction, and what stands beside it.
    fn approach(&mut self, lane: &Lane, rule: &TurnRule, aspect: Option<Aspect>) {
        let stop_m = rule.stop_station_m;
        let half_m = 0.5 * lane.width_m(stop_m) - 0.1;
        let span = [stop_m - STOP_LINE_M, stop_m];
        match (aspect, rule.sign) {
            (None, Sign::None | Sign::Priority) => return,
            (None, Sign::Yield) => {
                for piece in 0..((2.0 * half_m) as u32) {
                    let from_m = -half_m + f64::from(piece);
                    let corners = strip(lane, span, |_| from_m, |_| from_m + 0.5);
                    self.paint.push(Face::ground(&corners, WHITE));
                }
            }
            _ => self.paint.push(Face::ground(&strip(lane, span, |_| -half_m, |_| half_m), WHITE)),
        }
        let pose = lane.pose_at(stop_m, -half_m - 0.9, 0.0);
        self.post([pose.x, pose.y, pose.heading], aspect, rule.sign);
    }

    /// A sign or a light; it faces those who come along the heading.
    fn post(&mut self, pose: [f64; 3], aspect: Option<Aspect>, sign: Sign) {
        let (sin, cos) = maths::sin_cos(pose[2]);
        let before = |m: f64| [pose[0] - m * cos, pose[1] - m * sin, pose[2]];
        let mut block = |at: [f64; 3], half_m: [f64; 2], heights_m: [f64; 2], colour: Rgb| {
            self.standing.push(Prism::block(at, half_m, heights_m, colour));
        };
        let Some(aspect) = aspect else {
            block(pose, [0.04, 0.04], [0.0, 2.0], POST);
            block(pose, [0.03, 0.4], [2.0, 2.8], if sign == Sign::Stop { RED } else { WHITE });
            if sign == Sign::Yield {
                block(before(0.05), [0.02, 0.4], [2.65, 2.8], RED);
                block(before(0.05), [0.02, 0.4], [2.0, 2.1], RED);
            }
            return;
        };
        block(pose, [0.06, 0.06], [0.0, 2.3], POST);
        block(pose, [0.12, 0.22], [2.3, 3.35], HOUSING);
        let lamps = [(2.4, GREEN), (2.72, AMBER), (3.04, RED)];
        let lit = match aspect {
            Aspect::Red => [false, false, true],
            Aspect::RedAmber => [false, true, true],
            Aspect::Amber => [false, true, false],
            Aspect::Green => [true, false, false],
            Aspect::Dark => [false; 3],
        };
        for ((low_m, colour), _) in lamps.into_iter().zip(lit).filter(|(_, is_lit)| *is_lit) {
            block(before(0.14), [0.02, 0.16], [low_m, low_m + 0.26], colour);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_on_a_straight_line_are_left_out() {
        let points = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [4.0, 2.0], [4.0, 3.0]];
        assert_eq!(without_straight(&points), [[0.0, 0.0], [2.0, 0.0], [4.0, 2.0], [4.0, 3.0]]);
    }
}
