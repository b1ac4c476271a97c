//! Roads in the merge key.
//!
//! Cars that are as they would be without the car under test are functions of the tick, which is in the key: only touched ones
//! are written, by the cells that the traffic declares.

use anabranch_driving::road::RoadMemory;
use anabranch_geometry::Point;
use anabranch_kernel::Visitor;
use anabranch_sensing::{TrackVariables, Tracked, TrackerState};
use anabranch_traffic::Branch;

use super::super::state::DriveState;
use super::Street;
use super::others::Other;
use super::state::StreetState;

/// Who drives on roads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Drives {
    /// The built-in driver: all that it remembers counts.
    BuiltIn,
    /// Another one, for which the host keeps its place on the route.
    Other,
}

/// Why something is not in the key.
const ABSENT: &str = "this scenario has no such part";

/// A track farther than this from everybody follows nobody.
const FOLLOWS_M: f64 = 4.0;

/// Names the place on the route that the host keeps for a driver from outside.
fn visit_place<V: Visitor>(memory: &RoadMemory, v: &mut V) {
    v.exact("road_leg", u64::from(memory.leg));
    v.exact("road_lane", u64::from(memory.lane.0));
    v.real("road_station", "m", 0.5, memory.station_m);
    v.exact("road_turn", memory.gate.turn.map_or(u64::MAX, |turn| u64::from(turn.0)));
    v.exact("road_way", u64::from(memory.way));
}

impl Street {
    /// Tracks, by how far they are off what they follow. A driver from outside is told their numbers, so it has them as they are.
    fn put_tracks<V: Visitor>(&self, state: &DriveState, variables: &TrackVariables, v: &mut V) {
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
        own.tracks.put_about(lag_s, nearest, variables, v);
        self.buffers.put(buffers);
    }

    /// Names the variables of roads. `drives` is whether the built-in driver does, or another one.
    pub(in super::super) fn visit<V: Visitor>(&self, drives: Drives, state: &DriveState, v: &mut V) {
        let street = state.street();
        v.constant("seed", "the same in every state of an exploration");
        match drives {
            Drives::BuiltIn => street.memory.visit(v),
            Drives::Other => {
                v.unread("memory", "of the built-in driver only the place on the route is kept for another one");
                visit_place(&street.memory, v);
            }
        }
        v.derived("branch.tick", "the time of the run");
        v.field("branch", |v| {
            let variables = Branch::declare(v);
            v.values(|v| street.branch.put(&self.now(street.branch.tick), &variables, v));
        });
        self.visit_detectors(street, v);
        match (&self.gauges, &street.plain) {
            (Some(gauges), Some(plain)) => {
                v.field("plain", |v| v.within("plain", |v| gauges.sensors.visit(plain, v)));
            }
            _ => v.constant("plain", ABSENT),
        }
        v.field("tracks", |v| {
            v.within("track", |v| match drives {
                Drives::BuiltIn => {
                    let variables = TrackerState::declare_about(v);
                    v.values(|v| self.put_tracks(state, &variables, v));
                }
                Drives::Other => street.tracks.visit(v),
            });
        });
        v.exact("stood", u64::from(street.stood));
        street.attached.visit(v);
        match (&self.navigation, &street.navigation) {
            (Some(navigation), Some(known)) => {
                v.field("navigation", |v| v.within("localisation", |v| navigation.visit(known, v)));
            }
            _ => v.constant("navigation", ABSENT),
        }
        v.field("lately", |v| street.lately.visit(self.reads, v));
        match street.helpers.as_deref() {
            Some(helpers) => v.field("helpers", |v| self.helpers.visit(helpers, v)),
            None => v.constant("helpers", ABSENT),
        }
    }

    fn visit_detectors<V: Visitor>(&self, street: &StreetState, v: &mut V) {
        v.field("detector", |v| v.within("sensor", |v| self.eyes[0].detector.visit(&street.detector, v)));
        v.constant("detectors#", "one for each sensor after the first");
        if street.detectors.is_empty() {
            v.constant("detectors", ABSENT);
        }
        for (number, (eye, state)) in self.eyes[1..].iter().zip(&street.detectors).enumerate() {
            let visit = |v: &mut V| {
                v.within(format_args!("sensor.{}", eye.name), |v| eye.detector.visit(state, v));
            };
            // Items of a list have one name.
            match number {
                0 => v.field("detectors[]", visit),
                _ => v.without_leaves(visit),
            }
        }
    }
}
