//! The road network as the traffic sees it: flat lists without geometry. Lanes keep their numbers.

use anabranch_roads::{Aspect, LaneId, Network, Precedence, Sign, SignalRef};
use anabranch_traffic::{LaneEnd, LaneSpec, Light, Streets};

/// Links that leave a lane before its end by more than this are not taken by traffic: its cars drive whole lanes.
const END_M: f64 = 0.5;

/// The streets of a network for base cycles of one length.
///
/// # Errors
/// When a light cannot be told as green, yellow and red in turn.
pub(super) fn streets(network: &Network, step_us: u64) -> Result<Streets, String> {
    let mut signals: Vec<SignalRef> =
        network.lanes().iter().filter_map(|lane| network.rule(lane.id())?.signal).collect();
    signals.sort_unstable();
    signals.dedup();
    let lights: Result<Vec<Light>, String> = signals.iter().map(|signal| light(network, *signal, step_us)).collect();
    let lanes: Vec<LaneSpec> = network.lanes().iter().map(|lane| lane_spec(network, lane.id(), &signals)).collect();
    Streets::new(&lanes, &lights?).map_err(|error| error.to_string())
}

fn lane_spec(network: &Network, id: LaneId, signals: &[SignalRef]) -> LaneSpec {
    let lane = network.lane(id);
    let rule = network.rule(id);
    let foes = |precedence: Precedence| {
        let conflicts = rule.map_or(&[][..], |rule| &rule.conflicts);
        conflicts.iter().filter(move |c| c.precedence == precedence).map(|c| c.with.0).collect()
    };
    let whole = |other: LaneId, back: Option<LaneId>| (back == Some(id)).then_some(other.0);
    let whole_links = lane.next().iter().filter(|link| {
        lane.length_m() - link.from_station_m < END_M && link.to_station_m < END_M
    });
    let leads_on = |id: LaneId| !network.lane(id).next().is_empty();
    let is_dropped = lane.next().is_empty() && [lane.left(), lane.right()].into_iter().flatten().any(leads_on);
    LaneSpec {
        length_m: lane.length_m(),
        limit_mps: lane.limit_mps(0.5 * lane.length_m()),
        width_m: lane.width_m(0.5 * lane.length_m()),
        left: lane.left().and_then(|left| whole(left, network.lane(left).right())),
        right: lane.right().and_then(|right| whole(right, network.lane(right).left())),
        next: whole_links.map(|link| (link.to.0, 1.0)).collect(),
        end: if is_dropped { LaneEnd::Drop } else { LaneEnd::Exit },
        stop_sign: rule.is_some_and(|rule| rule.sign == Sign::Stop),
        light: rule.and_then(|rule| rule.signal).and_then(|s| signals.binary_search(&s).ok()).map(|n| n as u32),
        gives_way_to: foes(Precedence::Yields),
        shares_with: foes(Precedence::FirstCome),
    }
}

/// A group of a program as one light: it must be green once per period.
fn light(network: &Network, signal: SignalRef, step_us: u64) -> Result<Light, String> {
    let program = &network.programs()[signal.program];
    let ticks = (program.period_us() / step_us) as u32;
    let shows = |tick: u32| match program.aspect(signal.group, u64::from(tick % ticks.max(1)) * step_us) {
        Aspect::Green | Aspect::Dark => 0,
        Aspect::Amber => 1,
        Aspect::Red | Aspect::RedAmber => 2,
    };
    let count = |aspect: u32| (0..ticks).filter(|&tick| shows(tick) == aspect).count() as u32;
    let [green_ticks, yellow_ticks, red_ticks] = [0, 1, 2].map(count);
    let begins: Vec<u32> =
        (0..ticks).filter(|&tick| shows(tick) == 0 && shows(tick + ticks - 1) != 0).collect();
    let offset_ticks = match begins[..] {
        [] => 0,
        [begin] => (ticks - begin) % ticks,
        _ => return Err(format!("the program `{}` shows green twice in one period", program.name)),
    };
    let light = Light { green_ticks, yellow_ticks, red_ticks, offset_ticks };
    let agrees = |tick: u32| light.colour(tick) as u32 == shows(tick);
    if (0..ticks).all(agrees) { Ok(light) } else { Err(format!("the program `{}` is not green, yellow, red", program.name)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_roads::make::{self, Control};

    #[test]
    fn lights_of_a_crossing_are_the_same_for_traffic_and_for_the_car() {
        let arms = [("east", 0.0), ("north", 1.57), ("west", 3.14), ("south", -1.57)];
        let arms = arms.map(|(name, heading)| (name.to_owned(), heading)).to_vec();
        let lanes = make::Strip::TWO_WAY;
        let map = make::crossing(&make::Crossing { arms, arm_m: 80.0, lanes, control: Control::Lights });
        let network = Network::new(&map).unwrap();
        let streets = streets(&network, 50_000).unwrap();
        assert_eq!(streets.count(), network.lanes().len());
        assert_eq!(streets.lights().len(), 2);
    }

    #[test]
    fn the_lane_that_ends_is_dropped_and_the_others_lead_on() {
        let network = Network::new(&make::lane_drop(2, 300.0, 300.0)).unwrap();
        let right = network.find("before", "1").unwrap();
        assert_eq!(lane_spec(&network, right, &[]).end, LaneEnd::Drop);
        let left = network.find("before", "2").unwrap();
        assert_eq!(lane_spec(&network, left, &[]).next.len(), 1);
        assert_eq!(lane_spec(&network, left, &[]).right, Some(right.0));
    }
}
