//! Which lanes a crosswalk crosses, and where.

use std::collections::BTreeMap;

use anabranch_geometry::Point;
use anabranch_kernel::maths;

use crate::check::meeting;
use crate::crosswalk::{Crosswalk, CrosswalkPlan, LaneCrossing, SignalRef};
use crate::flaw::{Element, Flaw, FlawKind};
use crate::lane::Lane;
use crate::plan::Map;
use crate::signal::Program;

/// Places per piece of a lane between which it is taken as straight.
const PLACES: usize = 4;

/// Finds the crossings of all crosswalks of a checked map.
pub(crate) fn find(map: &Map, lanes: &[Lane]) -> Result<Vec<Crosswalk>, Vec<Flaw>> {
    let mut flaws = Vec::new();
    let mut crosswalks = Vec::new();
    let programs = programs_by_name(&map.programs);
    for (i, plan) in map.crosswalks.iter().enumerate() {
        let crossings: Vec<LaneCrossing> = lanes.iter().filter_map(|lane| crossing(plan, lane)).collect();
        if crossings.is_empty() {
            flaws.push(Flaw { at: Element::Crosswalk(i), kind: FlawKind::CrossesNothing });
        }
        let signal = plan.signal.as_ref().and_then(|(program, group)| signal(&programs, program, group));
        let CrosswalkPlan { name, from, to, width_m, .. } = plan.clone();
        crosswalks.push(Crosswalk { name, from, to, width_m, signal, crossings });
    }
    if flaws.is_empty() { Ok(crosswalks) } else { Err(flaws) }
}

/// Programs with their numbers: a town has one per junction, so they are not searched one by one.
pub(crate) type Programs<'m> = BTreeMap<&'m str, (usize, &'m Program)>;

/// The programs of a map by name.
pub(crate) fn programs_by_name(programs: &[Program]) -> Programs<'_> {
    programs.iter().enumerate().map(|(number, program)| (program.name.as_str(), (number, program))).collect()
}

/// The light of this name.
pub(crate) fn signal(programs: &Programs<'_>, program: &str, group: &str) -> Option<SignalRef> {
    let (number, program) = programs.get(program)?;
    program.group(group).map(|group| SignalRef { program: *number, group })
}

fn crossing(plan: &CrosswalkPlan, lane: &Lane) -> Option<LaneCrossing> {
    let knots = &lane.curve.knots;
    let stations = knots.windows(2).flat_map(|pair| {
        (0..=PLACES).map(|k| pair[0] + (pair[1] - pair[0]) * k as f64 / PLACES as f64).collect::<Vec<f64>>()
    });
    let mut before: Option<Point> = None;
    for station_m in stations {
        let place = lane.position(station_m);
        let at = before.and_then(|before| meeting([before, place], [plan.from, plan.to]));
        before = Some(place);
        if let Some(at) = at {
            let place = lane.project(at, station_m);
            // The strip lies across the line from kerb to kerb; where the lane meets it at an angle it is longer.
            let (dx, dy) = (plan.to.x - plan.from.x, plan.to.y - plan.from.y);
            let (sin, cos) = maths::sin_cos(place.heading);
            let across = (cos * dy - sin * dx).abs() / maths::hypot(dx, dy);
            let half_m = 0.5 * plan.width_m / across.max(0.3);
            let (from_station_m, to_station_m) = (place.station_m - half_m, place.station_m + half_m);
            return Some(LaneCrossing { lane: lane.id, from_station_m, to_station_m });
        }
    }
    None
}
