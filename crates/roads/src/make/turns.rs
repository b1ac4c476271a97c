//! Links through a junction: which lane may go where.

use anabranch_kernel::maths;

use crate::connect::turn_of;
use crate::junction::{ApproachPlan, JunctionPlan, Sign};
use crate::lane::Turn;
use crate::plan::{LaneName, LinkPlan, Map};
use crate::signal::{Aspect, Phase, Program};

/// How a junction is controlled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Right before left.
    Nothing,
    /// A stop sign at every approach.
    AllWayStop,
    /// Stop signs at all approaches but those of the first arm and the one facing it.
    StopAtSide,
    /// Lights: two groups that take turns.
    Lights,
}

/// A road that ends at a junction.
#[derive(Clone, Debug)]
pub(super) struct Arm {
    pub road: String,
    /// Direction in which cars leave the junction on it, in radians.
    pub heading: f64,
    /// Names of the lanes that lead in, from the right.
    pub incoming: Vec<String>,
    /// Names of the lanes that lead out, from the right.
    pub outgoing: Vec<String>,
    /// Green in the first half of a light's program or the second.
    pub group: &'static str,
}

/// How far before the end of its lane a car stops.
const STOP_BEFORE_M: f64 = 1.0;

/// Adds a junction that joins the arms.
pub(super) fn join(map: &mut Map, name: &str, arms: &[Arm], control: Control) {
    for from in arms {
        let others = || arms.iter().filter(|to| to.heading != from.heading);
        let turns: Vec<Turn> = others().map(|to| turn_of(arriving(from), to.heading)).collect();
        for (to, turn) in others().zip(&turns) {
            map.links.extend(links(name, from, to, lanes_that_turn(*turn, &turns, from.incoming.len())));
        }
    }
    let facing = |arm: &Arm| {
        let apart = maths::wrap_angle(arm.heading - arms[0].heading).abs();
        apart.min(std::f64::consts::PI - apart) < 0.5
    };
    let mut junction = JunctionPlan { name: name.to_owned(), ..JunctionPlan::default() };
    for arm in arms {
        let sign = match control {
            Control::AllWayStop => Sign::Stop,
            Control::StopAtSide if facing(arm) => Sign::Priority,
            Control::StopAtSide => Sign::Stop,
            Control::Nothing | Control::Lights => Sign::None,
        };
        let group = (control == Control::Lights).then(|| arm.group.to_owned());
        junction.approaches.extend(arm.incoming.iter().map(|lane| ApproachPlan {
            lane: LaneName::new(&arm.road, lane),
            sign,
            stop_before_m: STOP_BEFORE_M,
            group: group.clone(),
            turn_groups: Vec::new(),
        }));
    }
    if control == Control::Lights {
        junction.program = Some(name.to_owned());
        map.programs.push(fixed_lights(name, 20, 0));
    }
    map.junctions.push(junction);
}

/// Direction of cars that come in on an arm.
fn arriving(arm: &Arm) -> f64 {
    maths::wrap_angle(arm.heading + std::f64::consts::PI)
}

/// Which lanes of an approach take a turn, given all turns there are: right turns from the right lane, left turns from the
/// left one and straight on from each; where there is no way straight on, no lane may end without one.
fn lanes_that_turn(turn: Turn, all: &[Turn], lanes: usize) -> std::ops::Range<usize> {
    let is_only_one = all.iter().filter(|other| **other != Turn::Back).count() == 1;
    let goes_straight = all.contains(&Turn::Straight);
    match turn {
        Turn::Back => 0..0,
        Turn::Straight => 0..lanes,
        _ if is_only_one => 0..lanes,
        Turn::Right => 0..lanes.min(1),
        Turn::Left if goes_straight => lanes.saturating_sub(1)..lanes,
        Turn::Left => usize::from(lanes > 1)..lanes,
    }
}

/// One link per lane, onto the lane of the same number; counted from the left for turns to the left.
fn links(junction: &str, from: &Arm, to: &Arm, lanes: std::ops::Range<usize>) -> Vec<LinkPlan> {
    let (ins, outs) = (from.incoming.len(), to.outgoing.len());
    let from_left = turn_of(arriving(from), to.heading) == Turn::Left;
    let target = |lane: usize| if from_left { (outs + lane).checked_sub(ins) } else { Some(lane) };
    let link = |lane: usize| {
        let outgoing = target(lane).and_then(|target| to.outgoing.get(target))?;
        let exit = LaneName::new(&from.road, &from.incoming[lane]);
        Some(LinkPlan::new(exit, LaneName::new(&to.road, outgoing)).in_junction(junction))
    };
    lanes.filter_map(link).collect()
}

/// A program of two groups, `first` and `second`: green for so many seconds each, 3 s amber, 2 s red for all, 1 s red and
/// amber. Time 0 is `offset_s` into it.
pub fn fixed_lights(name: &str, green_s: u64, offset_s: u64) -> Program {
    use Aspect::{Amber, Green, Red, RedAmber};
    let phase = |seconds: u64, first: Aspect, second: Aspect| Phase {
        duration_us: seconds * 1_000_000,
        aspects: vec![first, second],
    };
    Program {
        name: name.to_owned(),
        groups: vec!["first".into(), "second".into()],
        phases: vec![
            phase(green_s, Green, Red),
            phase(3, Amber, Red),
            phase(2, Red, Red),
            phase(1, Red, RedAmber),
            phase(green_s, Red, Green),
            phase(3, Red, Amber),
            phase(2, Red, Red),
            phase(1, RedAmber, Red),
        ],
        offset_us: offset_s * 1_000_000,
    }
}
