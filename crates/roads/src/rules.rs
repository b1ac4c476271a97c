//! Who yields to whom: from crossing paths, signs and directions, with the exceptions of the map.

use std::collections::BTreeMap;

use anabranch_geometry::Point;
use anabranch_kernel::maths;

use crate::crossings::{Programs, programs_by_name, signal};
use crate::junction::{Conflict, Junction, JunctionPlan, Precedence, Sign, TurnRule};
use crate::lane::{Lane, LaneId, LaneKind, Turn};
use crate::network::Network;
use crate::plan::{LaneName, LinkPlan, Map};

/// Two cars whose middles keep this distance pass each other: 2 m of car and a hand's breadth.
const PASSING_M: f64 = 2.4;
/// Step along a turn when looking for others that come close, in metres.
const STEP_M: f64 = 0.5;
/// Approaches whose directions differ by more than this face each other, in radians.
const FACING_MIN: f64 = 2.2;
/// Approaches whose directions differ by less than this lie side by side, in radians.
const SIDE_BY_SIDE_MAX: f64 = 0.5;

/// Fills in the junctions and rules of a network. `turns` has the lane that was laid for each link.
pub(crate) fn derive(network: &mut Network, map: &Map, turns: &[Option<LaneId>]) {
    let mut members: BTreeMap<&str, Vec<(&LinkPlan, LaneId)>> = BTreeMap::new();
    for (link, turn) in map.links.iter().zip(turns) {
        if let (Some(junction), Some(turn)) = (&link.junction, turn) {
            members.entry(junction).or_default().push((link, *turn));
        }
    }
    let programs = programs_by_name(&map.programs);
    for plan in &map.junctions {
        let members = members.get(plan.name.as_str()).map_or(&[][..], Vec::as_slice);
        let rules = with_conflicts(network, plan, members, |link, turn| rule(network, &programs, plan, link, turn));
        let program = plan.program.as_ref().and_then(|name| programs.get(name.as_str())).map(|program| program.0);
        let turns = members.iter().map(|(_, turn)| *turn).collect();
        network.junctions.push(Junction { name: plan.name.clone(), turns, program });
        for rule in rules {
            let turn = rule.turn.index();
            network.rules[turn] = Some(rule);
        }
    }
}

/// The rules of all turns of a junction, each with the others that it must look at.
fn with_conflicts(
    network: &Network,
    plan: &JunctionPlan,
    members: &[(&LinkPlan, LaneId)],
    rule: impl Fn(&LinkPlan, LaneId) -> TurnRule,
) -> Vec<TurnRule> {
    let mut rules: Vec<TurnRule> = members.iter().map(|(link, turn)| rule(link, *turn)).collect();
    let traces: Vec<Trace> = members.iter().map(|(_, turn)| Trace::new(network.lane(*turn))).collect();
    let all_stop = rules.iter().all(|rule| rule.sign == Sign::Stop);
    for i in 0..members.len() {
        for j in i + 1..members.len() {
            let Some(conflict) = conflict(&rules[i], &rules[j], [&traces[i], &traces[j]]) else { continue };
            let precedence = exception(plan, members[i].0, members[j].0).unwrap_or_else(|| {
                if all_stop { Precedence::FirstCome } else { precedence(network, &rules[i], &rules[j]) }
            });
            let conflict = Conflict { precedence, ..conflict };
            let seen_by_other = reversed(&conflict, rules[i].turn);
            rules[j].conflicts.push(seen_by_other);
            rules[i].conflicts.push(conflict);
        }
    }
    rules.iter_mut().for_each(|rule| rule.conflicts.sort_by_key(|conflict| conflict.with));
    rules
}

fn rule(network: &Network, programs: &Programs<'_>, plan: &JunctionPlan, link: &LinkPlan, turn: LaneId) -> TurnRule {
    let approach = network.names[&link.from];
    let says = plan.approaches.iter().find(|approach| approach.lane == link.from);
    let group = says.and_then(|says| {
        let own = says.turn_groups.iter().find(|(to, _)| *to == link.to).map(|(_, group)| group);
        own.or(says.group.as_ref())
    });
    let exit = network.lane(approach).next.iter().find(|next| next.to == turn);
    let exit_station_m = exit.map_or(network.lane(approach).length_m(), |link| link.from_station_m);
    TurnRule {
        turn,
        approach,
        stop_station_m: (exit_station_m - says.map_or(0.0, |says| says.stop_before_m)).max(0.0),
        sign: says.map_or(Sign::None, |says| says.sign),
        signal: plan.program.as_ref().zip(group).and_then(|(program, group)| signal(programs, program, group)),
        conflicts: Vec::new(),
    }
}

/// A turn as a chain of points, for quick comparing.
struct Trace {
    points: Vec<Point>,
    step_m: f64,
    low: Point,
    high: Point,
}

impl Trace {
    fn new(lane: &Lane) -> Self {
        let steps = (lane.length_m() / STEP_M).ceil().max(1.0) as usize;
        let step_m = lane.length_m() / steps as f64;
        let points: Vec<Point> = (0..=steps).map(|k| lane.position(step_m * k as f64)).collect();
        let fold = |pick: fn(f64, f64) -> f64| {
            points.iter().copied().reduce(|a, b| Point::new(pick(a.x, b.x), pick(a.y, b.y))).unwrap_or_default()
        };
        Self { step_m, low: fold(f64::min), high: fold(f64::max), points }
    }

    fn may_be_close(&self, other: &Self) -> bool {
        self.low.x - PASSING_M < other.high.x
            && other.low.x - PASSING_M < self.high.x
            && self.low.y - PASSING_M < other.high.y
            && other.low.y - PASSING_M < self.high.y
    }

    /// Whether a point can be within passing distance.
    fn is_around(&self, point: &Point) -> bool {
        (self.low.x - PASSING_M..=self.high.x + PASSING_M).contains(&point.x)
            && (self.low.y - PASSING_M..=self.high.y + PASSING_M).contains(&point.y)
    }

    /// First and last station within passing distance of another turn.
    fn close_stretch(&self, other: &Self) -> Option<(f64, f64)> {
        let is_close = |point: &Point| {
            other.is_around(point)
                && other
                    .points
                    .windows(2)
                    .any(|edge| squared_distance(*point, [edge[0], edge[1]]) < PASSING_M * PASSING_M)
        };
        let first = self.points.iter().position(is_close)?;
        let last = self.points.iter().rposition(is_close)?;
        Some((first as f64 * self.step_m, last as f64 * self.step_m))
    }
}

fn squared_distance(point: Point, edge: [Point; 2]) -> f64 {
    let (ex, ey) = (edge[1].x - edge[0].x, edge[1].y - edge[0].y);
    let (px, py) = (point.x - edge[0].x, point.y - edge[0].y);
    let share = ((px * ex + py * ey) / (ex * ex + ey * ey)).clamp(0.0, 1.0);
    let (dx, dy) = (px - share * ex, py - share * ey);
    dx * dx + dy * dy
}

/// Where two turns come too close to each other; none if they never do, or begin on the same lane.
fn conflict(a: &TurnRule, b: &TurnRule, [own, other]: [&Trace; 2]) -> Option<Conflict> {
    if a.approach == b.approach || !own.may_be_close(other) {
        return None;
    }
    let (from_station_m, to_station_m) = own.close_stretch(other)?;
    let (with_from_station_m, with_to_station_m) = other.close_stretch(own)?;
    let precedence = Precedence::FirstCome;
    Some(Conflict { with: b.turn, from_station_m, to_station_m, with_from_station_m, with_to_station_m, precedence })
}

fn reversed(conflict: &Conflict, with: LaneId) -> Conflict {
    Conflict {
        with,
        from_station_m: conflict.with_from_station_m,
        to_station_m: conflict.with_to_station_m,
        with_from_station_m: conflict.from_station_m,
        with_to_station_m: conflict.to_station_m,
        precedence: conflict.precedence.reversed(),
    }
}

fn exception(plan: &JunctionPlan, a: &LinkPlan, b: &LinkPlan) -> Option<Precedence> {
    let is = |turn: &(LaneName, LaneName), link: &LinkPlan| turn.0 == link.from && turn.1 == link.to;
    let yields = |first: &LinkPlan, second: &LinkPlan| {
        plan.yields.iter().any(|exception| is(&exception.turn, first) && is(&exception.to, second))
    };
    match (yields(a, b), yields(b, a)) {
        (true, true) => Some(Precedence::FirstCome),
        (true, false) => Some(Precedence::Yields),
        (false, true) => Some(Precedence::Goes),
        (false, false) => None,
    }
}

/// Signs first, then facing traffic before left turns, then right before left.
fn precedence(network: &Network, a: &TurnRule, b: &TurnRule) -> Precedence {
    let rank = |sign: Sign| match sign {
        Sign::Stop | Sign::Yield => 0,
        Sign::None => 1,
        Sign::Priority => 2,
    };
    match rank(a.sign).cmp(&rank(b.sign)) {
        std::cmp::Ordering::Less => return Precedence::Yields,
        std::cmp::Ordering::Greater => return Precedence::Goes,
        std::cmp::Ordering::Equal => {}
    }
    let heading = |rule: &TurnRule| network.lane(rule.turn).pose(0.0).heading;
    let angle = maths::wrap_angle(heading(b) - heading(a));
    if angle.abs() < SIDE_BY_SIDE_MAX {
        return Precedence::FirstCome;
    }
    if angle.abs() > FACING_MIN {
        return facing(network.lane(a.turn), network.lane(b.turn));
    }
    // Who drives towards our left comes from our right.
    if angle > 0.0 { Precedence::Yields } else { Precedence::Goes }
}

/// Among cars that face each other, who turns left or back waits.
fn facing(a: &Lane, b: &Lane) -> Precedence {
    let waits = |lane: &Lane| matches!(lane.kind, LaneKind::Turn(Turn::Left | Turn::Back));
    match (waits(a), waits(b)) {
        (true, false) => Precedence::Yields,
        (false, true) => Precedence::Goes,
        _ => Precedence::FirstCome,
    }
}
