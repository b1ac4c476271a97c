//! Who yields to whom: from crossing paths, signs and directions, with the exceptions of the map.

use anabranch_kernel::maths;

use crate::crossings::signal;
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
    for plan in &map.junctions {
        let members: Vec<(&LinkPlan, LaneId)> = map
            .links
            .iter()
            .zip(turns)
            .filter(|(link, _)| link.junction.as_ref() == Some(&plan.name))
            .filter_map(|(link, turn)| turn.map(|turn| (link, turn)))
            .collect();
        let program = plan.program.as_ref().and_then(|name| map.programs.iter().position(|p| p.name == *name));
        let mut rules: Vec<TurnRule> =
            members.iter().map(|(link, turn)| rule(network, map, plan, link, *turn)).collect();
        let all_stop = rules.iter().all(|rule| rule.sign == Sign::Stop);
        for i in 0..members.len() {
            for j in i + 1..members.len() {
                let Some(conflict) = conflict(network, &rules[i], &rules[j]) else { continue };
                let precedence = exception(plan, members[i].0, members[j].0)
                    .unwrap_or_else(|| precedence(network, &rules[i], &rules[j], all_stop));
                let conflict = Conflict { precedence, ..conflict };
                let seen_by_other = reversed(&conflict, rules[i].turn);
                rules[j].conflicts.push(seen_by_other);
                rules[i].conflicts.push(conflict);
            }
        }
        let turns = members.iter().map(|(_, turn)| *turn).collect();
        network.junctions.push(Junction { name: plan.name.clone(), turns, program });
        for mut rule in rules {
            rule.conflicts.sort_by_key(|conflict| conflict.with);
            let turn = rule.turn.index();
            network.rules[turn] = Some(rule);
        }
    }
}

fn rule(network: &Network, map: &Map, plan: &JunctionPlan, link: &LinkPlan, turn: LaneId) -> TurnRule {
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
        signal: plan.program.as_ref().zip(group).and_then(|(program, group)| signal(map, program, group)),
        conflicts: Vec::new(),
    }
}

/// Where two turns come too close to each other; none if they never do, or begin on the same lane.
fn conflict(network: &Network, a: &TurnRule, b: &TurnRule) -> Option<Conflict> {
    if a.approach == b.approach {
        return None;
    }
    let (own, other) = (network.lane(a.turn), network.lane(b.turn));
    let (from_station_m, to_station_m) = close_stretch(own, other)?;
    let (with_from_station_m, with_to_station_m) = close_stretch(other, own)?;
    let precedence = Precedence::FirstCome;
    Some(Conflict { with: b.turn, from_station_m, to_station_m, with_from_station_m, with_to_station_m, precedence })
}

/// First and last station of a lane within passing distance of another.
fn close_stretch(own: &Lane, other: &Lane) -> Option<(f64, f64)> {
    let steps = (own.length_m() / STEP_M).ceil().max(1.0) as usize;
    let station = |k: usize| own.length_m() * k as f64 / steps as f64;
    let mut near_m = 0.0;
    let mut close = |k: &usize| {
        let point = own.position(station(*k));
        near_m = other.project(point, near_m).station_m;
        other.distance_m(point) < PASSING_M
    };
    let first = (0..=steps).find(&mut close)?;
    let last = (first..=steps).rev().find(&mut close)?;
    Some((station(first), station(last)))
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
fn precedence(network: &Network, a: &TurnRule, b: &TurnRule, all_stop: bool) -> Precedence {
    let rank = |sign: Sign| match sign {
        Sign::Stop | Sign::Yield => 0,
        Sign::None => 1,
        Sign::Priority => 2,
    };
    if all_stop {
        return Precedence::FirstCome;
    }
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
