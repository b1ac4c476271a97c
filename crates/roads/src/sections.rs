//! Lanes cut into sections, with the changes that are possible on them: the graph that routes are searched in.

use crate::lane::{Lane, LaneId};
use crate::network::Network;
use crate::plan::Marking;
use crate::route::{LanePlace, Then};

/// What a change of lanes costs, as if this much more had to be driven.
pub(crate) const CHANGE_COST_S: f64 = 5.0;
/// Room that a change of lanes needs.
const CHANGE_ROOM_M: f64 = 15.0;
/// Where along a section a change is tried, as shares of what is left of it.
const CHANGE_PLACES: [f64; 4] = [0.0, 0.25, 0.5, 0.75];

/// Lanes cut where links leave or enter them: the nodes of the search.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sections {
    /// First section of each lane, and the number of all sections.
    pub firsts: Vec<usize>,
    /// Lane, begin and end of each section.
    pub all: Vec<Section>,
    /// The least pace of all.
    pub best_pace: f64,
}

/// A stretch of a lane that no link leaves or enters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Section {
    pub lane: LaneId,
    pub begin_m: f64,
    pub end_m: f64,
    /// Seconds per metre at the speed limit.
    pub pace: f64,
}

impl Sections {
    pub fn new(lanes: &[Lane]) -> Self {
        let mut cuts: Vec<Vec<f64>> = lanes.iter().map(|lane| vec![0.0, lane.length_m()]).collect();
        for lane in lanes {
            for link in &lane.next {
                cuts[lane.id.index()].push(link.from_station_m);
                cuts[link.to.index()].push(link.to_station_m);
            }
        }
        let mut sections = Self::default();
        for (lane, mut cuts) in lanes.iter().zip(cuts) {
            cuts.sort_by(f64::total_cmp);
            cuts.dedup();
            sections.firsts.push(sections.all.len());
            for pair in cuts.windows(2) {
                let (begin_m, end_m) = (pair[0], pair[1]);
                let pace = mean_pace(lane, begin_m, end_m);
                sections.all.push(Section { lane: lane.id, begin_m, end_m, pace });
            }
        }
        sections.firsts.push(sections.all.len());
        sections.best_pace = sections.all.iter().map(|section| section.pace).fold(f64::INFINITY, f64::min);
        sections
    }

    /// The section of a place. At a cut it is the one behind it.
    pub fn of(&self, place: LanePlace) -> usize {
        let (first, end) = (self.firsts[place.lane.index()], self.firsts[place.lane.index() + 1]);
        let behind = self.all[first..end].partition_point(|section| section.begin_m <= place.station_m);
        first + behind.saturating_sub(1)
    }
}

fn mean_pace(lane: &Lane, begin_m: f64, end_m: f64) -> f64 {
    let places = 8;
    let pace = |k: i32| 1.0 / lane.limit_mps(begin_m + (end_m - begin_m) * (f64::from(k) + 0.5) / f64::from(places));
    (0..places).map(pace).sum::<f64>() / f64::from(places)
}

/// A change of lanes from some place of a section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub by: Then,
    /// Where this lane is left at the earliest.
    pub station_m: f64,
    /// The section that is entered there, and the station on it.
    pub to: usize,
    pub entered_m: f64,
}

impl Network {
    /// Onto the lanes beside a section, each at the first place after `entered_m` where it exists and there is room.
    pub(crate) fn changes(&self, section: &Section, entered_m: f64) -> impl Iterator<Item = Change> {
        let lane = self.lane(section.lane);
        let (end_m, left_m) = (section.end_m, section.end_m - entered_m);
        let on_side = move |by: Then| {
            let marking = if by == Then::Left { lane.left_marking() } else { lane.right_marking() };
            let place = |share: &f64| {
                let station_m = entered_m + share * left_m;
                let beside = if by == Then::Left { lane.left_at(station_m) } else { lane.right_at(station_m) };
                let (other, entered_m) = beside.filter(|_| end_m - station_m >= CHANGE_ROOM_M)?;
                let to = self.sections.of(LanePlace { lane: other, station_m: entered_m });
                let has_room = self.lane(other).length_m() - entered_m >= CHANGE_ROOM_M;
                has_room.then_some(Change { by, station_m, to, entered_m })
            };
            if marking == Marking::Broken { CHANGE_PLACES.iter().find_map(place) } else { None }
        };
        [Then::Left, Then::Right].into_iter().filter_map(on_side)
    }
}
