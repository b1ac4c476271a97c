//! The loop on roads: lanes, others who react, and eyes that see only what is in sight (S4).
//!
//! It is the same [`Drive`](super::Drive) with the same errors, actuators, walls and requirements; what is here comes in where
//! the low-speed loop has none. One tick: tell the pose, look, decide, move the car, move all others from the same snapshot,
//! find contact along the way, judge. Others whom the car cannot have touched are functions of the tick and take no part in the
//! state or its key.

mod assemble;
mod cast;
mod clock;
mod danger;
mod fences;
mod helpers;
mod key;
mod look;
mod others;
mod place;
mod plain;
mod reserve;
mod rules;
mod scenery;
mod script;
mod signals;
mod squares;
mod state;
mod tick;
mod told;
mod vehicle;
mod witness;

use std::sync::{Arc, Mutex};

use anabranch_driving::road::{HeardCar, RoadDriver, SeenLight, SeenObject};
use anabranch_geometry::tiles::NearTiles;
use anabranch_geometry::{EdgeSet, Point};
use anabranch_helpers::{Helpers, Nearby};
use anabranch_kernel::Fault;
use anabranch_monitors::{Requirements, road};
use anabranch_roads::{Network, SignalRef};
use anabranch_sensing::{
    Detection, Detections, Detector, Navigation, RaySensor, Scan, Scene, Tracker, TrueObject, Walls,
};
use anabranch_traffic::{BranchScratch, Layout, Outside, Traffic};

pub(super) use assemble::{assemble, numbers};
use cast::Cast;
use clock::Clock;
use fences::Fences;
pub(super) use key::Drives;
use others::Other;
pub use others::RoadUser;
pub(super) use place::{covariance, zones};
pub use state::StreetState;
pub(super) use tick::OnStreet;
pub(super) use told::RoadTold;
pub use vehicle::Attached;
pub(super) use vehicle::Handed;
use vehicle::Vehicle;
pub use witness::Witnessed;

/// Everything about roads that does not evolve.
#[derive(Debug)]
pub(crate) struct Street {
    pub(super) network: Arc<Network>,
    /// One per start.
    drivers: Vec<RoadDriver>,
    layout: Layout,
    traffic: Traffic,
    /// Others as they would be without the car under test.
    clock: Clock,
    cast: Cast,
    /// Outlines of the kinds of cars, about their own middle; the last is that of pedestrians.
    shapes: Vec<EdgeSet>,
    /// Object sensors, at least one.
    eyes: Vec<Eye>,
    tracker: Tracker,
    /// Base cycles between two steps of the tracker: what the cycles of all sensors have in common.
    fuse_ticks: u16,
    /// Between seeing and telling, of the quickest sensor.
    latency_s: f64,
    walls: Walls,
    /// Rays go through everything, to ask what would have been seen.
    sees_through: bool,
    /// From how far before their line signs and lights are known; infinite by the map.
    signs_m: f64,
    /// From the rear axle to the front bumper.
    front_m: f64,
    /// Permanent obstacles in tiles.
    fences: Option<Fences>,
    /// Lights on the way, per start.
    signals: Vec<Vec<SignalRef>>,
    step_us: u64,
    /// What requirements read of how the car has behaved.
    reads: anabranch_monitors::LatelyReads,
    /// How far from the car others are looked at.
    reach_m: f64,
    /// Objects with a name come first in verdicts, after walls and obstacles.
    verdicts_from: u32,
    /// The car as traffic sees it.
    ego_kind: u8,
    /// What moves the car.
    pub(super) vehicle: Vehicle,
    /// Plain sensors, if there are any.
    gauges: Option<plain::Gauges>,
    /// Triggers that are fired by hand, and from which base cycle on.
    by_hand: Vec<(u32, usize)>,
    /// Simulators beside this one.
    helpers: Helpers,
    /// Objects that may have a radio, by number.
    with_radio: Vec<bool>,
    /// How it finds its place; by the truth and its errors if `None`.
    navigation: Option<Navigation>,
    buffers: Pool,
}

impl Street {
    /// The same street; what is remembered of how the car has behaved is what these requirements read.
    pub(super) fn judged_by(self, requirements: &Requirements) -> Self {
        Self { reads: requirements.lately_reads(road::STANDING, road::WOBBLE), ..self }
    }
}

/// An object sensor.
#[derive(Debug)]
struct Eye {
    /// Its name in the file.
    name: String,
    /// Name of its chance.
    chance: String,
    sensor: RaySensor,
    /// What could be seen from its place by day, all round: for witnesses.
    by_day: RaySensor,
    /// Share of somebody below which he is not recognised.
    share: f64,
    detector: Detector,
    /// Base cycles between two looks.
    look_ticks: u16,
    /// Standard deviation of a position, as the tracker counts with it.
    position_m: f64,
    /// How much later it tells than the quickest one.
    behind_s: f64,
}

/// What one segment works with and nobody saves.
#[derive(Debug, Default)]
struct Buffers {
    branch: BranchScratch,
    others: Vec<Other>,
    before: Vec<Other>,
    scene: Scene,
    scan: Scan,
    objects: Vec<TrueObject>,
    detections: Vec<Detections>,
    bystanders: Vec<Outside>,
    ghosts: Vec<Detection>,
    seen: Vec<SeenObject>,
    lights: Vec<SeenLight>,
    heard: Vec<HeardCar>,
    nearby: Vec<Nearby>,
    fire: Vec<usize>,
    /// Tiles around the car, and their edges that stop rays.
    tiles: Option<NearTiles>,
    faces: Vec<(Point, Point)>,
    /// What could not be computed while there was nobody to tell it to.
    fault: Option<Fault>,
}

/// Buffers that are lent to segments, so that none of them has to allocate.
#[derive(Debug, Default)]
#[expect(clippy::vec_box, reason = "boxes are lent and given back; buffers themselves would be copied")]
struct Pool(Mutex<Vec<Box<Buffers>>>);

impl Pool {
    fn take(&self) -> Box<Buffers> {
        self.0.lock().ok().and_then(|mut free| free.pop()).unwrap_or_default()
    }
    fn put(&self, buffers: Box<Buffers>) {
        if let Ok(mut free) = self.0.lock() {
            free.push(buffers);
        }
    }
}
