//! Roads in the merge key.
//!
//! Cars that are as they would be without the car under test are functions of the tick, which is in the key: only touched ones
//! are written, by the cells that the traffic declares.

use anabranch_driving::road::RoadMemory;
use anabranch_errors::SENSORS_MAX;
use anabranch_geometry::Point;
use anabranch_helpers::HelpersLayout;
use anabranch_kernel::{KeyWriter, Leaf, Variable};
use anabranch_monitors::Lately;
use anabranch_sensing::{Tracked, Tracker, TrackerState};

use super::super::state::DriveState;
use super::Street;
use super::others::Other;

/// A track farther than this from everybody follows nobody.
const FOLLOWS_M: f64 = 4.0;

/// Where the variables of roads stand in the key.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct StreetLayout {
    /// Of the built-in driver, or only the place of somebody else's.
    memory: (usize, bool),
    traffic: usize,
    detector: usize,
    /// Of the object sensors after the first.
    detectors: [usize; SENSORS_MAX],
    plain: usize,
    tracks: usize,
    stood: usize,
    attached: usize,
    navigation: usize,
    lately: usize,
    helpers: HelpersLayout,
}

/// Of the place on the route that the host keeps for a driver from outside.
fn place_variables() -> Vec<Variable> {
    let station = Variable::real("road_station", "m", 0.5);
    let exact = |name: &str| Variable::exact(name);
    vec![exact("road_leg"), exact("road_lane"), station, exact("road_turn"), exact("road_way")]
}

fn write_place(memory: &RoadMemory, first: usize, key: &mut KeyWriter<'_>) {
    key.exact(first, u64::from(memory.leg));
    key.exact(first + 1, u64::from(memory.lane.0));
    key.real(first + 2, memory.station_m);
    key.exact(first + 3, memory.gate.turn.map_or(u64::MAX, |turn| u64::from(turn.0)));
    key.exact(first + 4, u64::from(memory.way));
}

impl Street {
    /// Declares the variables.
    pub(in super::super) fn lay_out(&self, drives: bool, all: &mut Vec<Variable>) -> StreetLayout {
        let mut add = |variables: Vec<Variable>| {
            let first = all.len();
            all.extend(variables);
            first
        };
        let mut traffic = anabranch_traffic::variables();
        traffic.extend(anabranch_traffic::walker_variables());
        let mut layout = StreetLayout {
            helpers: HelpersLayout::default(),
            memory: (add(if drives { RoadMemory::variables() } else { place_variables() }), drives),
            traffic: add(traffic),
            detector: add(self.eyes[0].detector.variables("sensor")),
            detectors: {
                let mut first = [0; SENSORS_MAX];
                for (place, eye) in first.iter_mut().zip(&self.eyes[1..]) {
                    *place = add(eye.detector.variables(&format!("sensor.{}", eye.name)));
                }
                first
            },
            plain: add(self.gauges.as_ref().map_or_else(Vec::new, |gauges| gauges.sensors.variables("plain"))),
            tracks: add(Tracker::variables("track")),
            stood: add(vec![Variable::exact("stood")]),
            attached: add(self.vehicle.variables()),
            navigation: add(self.navigation.as_ref().map_or_else(Vec::new, |n| n.variables("localisation"))),
            lately: add(Lately::variables(self.reads)),
        };
        layout.helpers = self.helpers.lay_out(all);
        layout
    }

    /// What of a state that is called `at` is not in the key.
    pub(in super::super) fn leaves(&self, at: &str, drives: bool) -> Vec<Leaf> {
        let absent = |name: &str| Leaf::constant(&format!("{at}.{name}"), "this scenario has no such part");
        let mut all = vec![
            Leaf::constant(&format!("{at}.seed"), "the same in every state of an exploration"),
            Leaf::constant(&format!("{at}.branch.fired.at#"), "one place for each trigger"),
            Leaf::unread(&format!("{at}.branch.fired"), "when something was fired counts while what it does lasts"),
            Leaf::rounded(
                &format!("{at}.branch.cars#"),
                "a car within half a cell of the untouched traffic counts as untouched",
            ),
        ];
        all.extend(self.eyes[0].detector.leaves(&format!("{at}.detector")));
        // Items of a list have one name: what none of them has in the key.
        all.push(Leaf::constant(&format!("{at}.detectors#"), "one for each sensor after the first"));
        if !drives {
            let why = "of the built-in driver only the place on the route is kept for another one";
            all.push(Leaf::unread(&format!("{at}.memory"), why));
        }
        match self.eyes.get(1) {
            None => all.push(absent("detectors")),
            Some(eye) => all.extend(eye.detector.leaves(&format!("{at}.detectors[]"))),
        }
        all.extend(TrackerState::leaves(&format!("{at}.tracks")));
        match &self.navigation {
            None => all.push(absent("navigation")),
            Some(navigation) => all.extend(navigation.leaves(&format!("{at}.navigation"))),
        }
        match &self.gauges {
            None => all.push(absent("plain")),
            Some(gauges) => all.extend(gauges.sensors.leaves(&format!("{at}.plain"))),
        }
        all.extend(Lately::leaves(self.reads, &format!("{at}.lately")));
        match self.helpers.is_empty() {
            true => all.push(absent("helpers")),
            false => all.extend(self.helpers.leaves(&format!("{at}.helpers"))),
        }
        all
    }

    /// Tracks, by how far they are off what they follow. A driver from outside is told their numbers, so it has them as they are.
    fn write_tracks(&self, state: &DriveState, first: usize, key: &mut KeyWriter<'_>) {
        let own = state.street();
        let mut buffers = self.buffers.take();
        self.gather(&own.branch, state.car.car.pose().point(), &mut buffers.others);
        let nearest = |at: Point| {
            let away_m = |other: &Other| other.pose.point().distance_m(at);
            let near = buffers.others.iter().filter(|other| away_m(other) < FOLLOWS_M);
            let other = near.min_by(|a, b| away_m(a).total_cmp(&away_m(b)))?;
            Some(Tracked {
                number: other.number,
                pose: other.pose,
                velocity_mps: other.velocity_mps(),
                length_m: 2.0 * other.half_length_m,
                width_m: 2.0 * other.half_width_m,
            })
        };
        let looked = own.branch.tick.saturating_sub(1) / u32::from(self.fuse_ticks) * u32::from(self.fuse_ticks);
        let lag_s = f64::from(own.branch.tick - looked) * (self.step_us as f64 * 1e-6) + self.latency_s;
        own.tracks.write_key_about(lag_s, nearest, (first, key));
        self.buffers.put(buffers);
    }

    /// Writes them.
    pub(in super::super) fn write_key(&self, layout: &StreetLayout, state: &DriveState, key: &mut KeyWriter<'_>) {
        let street = state.street();
        match layout.memory {
            (first, true) => street.memory.write_key(first, key),
            (first, false) => write_place(&street.memory, first, key),
        }
        let now = self.now(street.branch.tick);
        street.branch.write_key(&now, layout.traffic, key);
        drop(now);
        self.eyes[0].detector.write_key(&street.detector, layout.detector, key);
        for ((eye, state), first) in self.eyes[1..].iter().zip(&street.detectors).zip(layout.detectors) {
            eye.detector.write_key(state, first, key);
        }
        if let (Some(gauges), Some(plain)) = (&self.gauges, &street.plain) {
            gauges.sensors.write_key(plain, layout.plain, key);
        }
        match layout.memory {
            (_, true) => self.write_tracks(state, layout.tracks, key),
            (_, false) => street.tracks.write_key(layout.tracks, key),
        }
        key.exact(layout.stood, u64::from(street.stood));
        street.attached.write_key(layout.attached, key);
        if let (Some(navigation), Some(known)) = (&self.navigation, &street.navigation) {
            navigation.write_key(known, layout.navigation, key);
        }
        street.lately.write_key(self.reads, layout.lately, key);
        if let Some(helpers) = street.helpers.as_deref() {
            self.helpers.write_key(helpers, &layout.helpers, key);
        }
    }
}
