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
        for to in arms.iter().filter(|to| to.road != from.road || to.heading != from.heading) {
            map.links.extend(links(name, from, to));
        }
    }
    let facing = |arm: &Arm| {
        let apart = maths::wrap_angle(arm.heading - arms[0].heading).abs();
        apart < 0.5 || apart > std::f64::consts::PI - 0.5
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

/// Right turns from the right lane, left turns from the left one, and straight on from each.
fn links(junction: &str, from: &Arm, to: &Arm) -> Vec<LinkPlan> {
    let arriving = maths::wrap_angle(from.heading + std::f64::consts::PI);
    let (ins, outs) = (from.incoming.len(), to.outgoing.len());
    let pairs: Vec<(usize, usize)> = match turn_of(arriving, to.heading) {
        _ if ins == 0 || outs == 0 => Vec::new(),
        Turn::Right => vec![(0, 0)],
        Turn::Left => vec![(ins - 1, outs - 1)],
        Turn::Straight => (0..ins.min(outs)).map(|i| (i, i)).collect(),
        Turn::Back => Vec::new(),
    };
    let link = |(i, o): (usize, usize)| {
        let exit = LaneName::new(&from.road, &from.incoming[i]);
        LinkPlan::new(exit, LaneName::new(&to.road, &to.outgoing[o])).in_junction(junction)
    };
    pairs.into_iter().map(link).collect()
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
