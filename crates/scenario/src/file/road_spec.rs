//! What a scenario says about roads and about others on them.

use std::sync::Arc;

use anabranch_geometry::Pose;
use anabranch_roads::{LaneId, LanePlace, Network, Route, SignalRef};
use anabranch_sensing::{DetectionRate, NoiseModel};

use super::span::{Located, Span};
use super::words::{Care, LightColour, ObjectKind, RoadSide, Walking};

/// A road network and everything that happens on it.
#[derive(Clone, Debug, PartialEq)]
pub struct RoadSpec {
    /// The network, compiled.
    pub network: Arc<Network>,
    /// Where the road is described.
    pub span: Span,
    /// The map file, as written.
    pub map: Option<Located<String>>,
    /// Those with a name, in the order of the file.
    pub objects: Vec<ObjectSpec>,
    /// Those without.
    pub traffic: TrafficSpec,
    /// What happens once, in the order of the file.
    pub triggers: Vec<TriggerSpec>,
    /// What sees others, at least one.
    pub sensors: Vec<SensorSpec>,
    /// Part of the range of sensors, and of that of signs, which the time of day leaves; 1 by day.
    pub light: f64,
    /// The sun is low.
    pub is_twilight: bool,
    /// Nothing hides anything. No file says so; it is how one asks what would have been in sight.
    pub sees_through: bool,
}

impl RoadSpec {
    /// How far the farthest of the sensors sees in this light.
    pub fn sees_m(&self) -> f64 {
        self.sensors.iter().map(|sensor| sensor.range_m * self.light).fold(0.0, f64::max)
    }
}

/// Somebody or something on the road.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectSpec {
    /// Its name.
    pub id: Located<String>,
    /// What it is.
    pub kind: Located<ObjectKind>,
    /// Front of a vehicle, middle of the others.
    pub place: LanePlace,
    /// To the left of the middle of the lane.
    pub lateral_m: f64,
    /// At the beginning; of pedestrians, when they walk.
    pub speed_mps: f64,
    /// The lane beside it that a vehicle changes to.
    pub to: Option<LaneId>,
    /// Of things and ghosts.
    pub length_m: f64,
    /// Of things and ghosts.
    pub width_m: f64,
    /// Of pedestrians.
    pub care: Care,
    /// Of pedestrians.
    pub kerb_m: f64,
    /// Starts or appears only when something makes it.
    pub waits: bool,
    /// Only a false detection.
    pub ghost: bool,
    /// Of pedestrians, where the file says more than how it crosses.
    pub stroll: Option<StrollSpec>,
    /// A predetermined way; by itself if `None`.
    pub script: Option<ScriptSpec>,
    /// Started by hand at this time.
    pub fired_s: Option<Located<f64>>,
}

impl ObjectSpec {
    /// Whether it drives by itself among the traffic.
    pub fn drives(&self) -> bool {
        self.script.is_none() && !matches!(self.kind.value, ObjectKind::Pedestrian | ObjectKind::Thing)
    }
}

/// The five parameters of a pedestrian (S2-32); the first is its speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StrollSpec {
    /// Side of the road at the beginning.
    pub side: RoadSide,
    /// Direction at the beginning.
    pub direction: Walking,
    /// Whether it crosses.
    pub crosses: bool,
    /// Length of its way beside the road.
    pub walk_m: f64,
    /// Where on it it begins.
    pub along_m: f64,
}

/// A predetermined way.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptSpec {
    /// Where it is when; times rise.
    Poses(Vec<PoseAt>),
    /// What it does when, as a kinematic bicycle; times rise.
    Acts(Vec<ActAt>),
}

/// A pose at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoseAt {
    /// When.
    pub at_s: Located<f64>,
    /// Its middle.
    pub pose: Pose,
}

/// What a bicycle does from a time on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActAt {
    /// When.
    pub at_s: Located<f64>,
    /// Along its heading.
    pub accel_mps2: f64,
    /// Of its front wheels.
    pub steering_rad: f64,
}

/// Cars without names.
#[derive(Clone, Debug, PartialEq)]
pub struct TrafficSpec {
    /// On each kilometre of lane.
    pub per_km: f64,
    /// So many of them, instead.
    pub cars: Option<Located<u32>>,
    /// At the beginning.
    pub speed_mps: f64,
    /// None begin nearer than this.
    pub clear_m: f64,
    /// Of their chance.
    pub seed: u64,
    /// Cars that come in later.
    pub flows: Vec<FlowSpec>,
}

/// Cars that come in at the beginning of a lane.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSpec {
    /// The lane.
    pub lane: LaneId,
    /// On average.
    pub per_hour: f64,
    /// If there is room.
    pub speed_mps: f64,
    /// Their way, if they want to go somewhere.
    pub route: Option<Route>,
    /// A vehicle.
    pub kind: ObjectKind,
}

/// Something that happens once.
#[derive(Clone, Debug, PartialEq)]
pub struct TriggerSpec {
    /// Its name.
    pub id: Located<String>,
    /// What happens, and to whom.
    pub what: TriggerWhat,
    /// What makes it happen.
    pub when: TriggerWhen,
    /// How hard a vehicle brakes.
    pub brake_mps2: f64,
    /// For how long.
    pub for_s: Located<f64>,
    /// Fired by hand at this time.
    pub fired_s: Option<Located<f64>>,
}

/// What a trigger does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TriggerWhat {
    /// An object starts, appears or brakes; its index.
    Object(usize),
    /// A light changes.
    Light {
        /// Which.
        signal: SignalRef,
        /// Its stop line.
        line: LanePlace,
        /// What it shows.
        colour: LightColour,
    },
}

impl TriggerSpec {
    /// The object that it is about.
    pub fn object(&self) -> Option<usize> {
        match self.what {
            TriggerWhat::Object(object) => Some(object),
            TriggerWhat::Light { .. } => None,
        }
    }
}

/// What makes a trigger happen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TriggerWhen {
    /// Only an error.
    Asked,
    /// A time.
    At(Located<f64>),
    /// The car's front is at a station of the lane of the object.
    Reaches(f64),
    /// The car would be there within this time.
    Arrives(f64),
    /// The car is faster.
    Faster(f64),
    /// The car is slower.
    Slower(f64),
}

/// What sees others.
#[derive(Clone, Debug, PartialEq)]
pub struct SensorSpec {
    /// Its name; `sensor` where there is one only and it has none.
    pub id: Located<String>,
    /// How far by day.
    pub range_m: f64,
    /// Field of view.
    pub view_rad: Located<f64>,
    /// Number of rays.
    pub rays: u16,
    /// How often.
    pub cycle_s: Located<f64>,
    /// From the rear axle.
    pub ahead_m: f64,
    /// To the left of the middle of the car.
    pub aside_m: f64,
    /// To the left.
    pub yaw_rad: f64,
    /// Least share in sight.
    pub share: f64,
    /// Looks until an object is believed.
    pub hits: u8,
    /// Noise of positions, metres.
    pub position: NoiseModel,
    /// Noise of headings, radians.
    pub heading: NoiseModel,
    /// Between seeing and telling.
    pub latency_s: Located<f64>,
    /// How likely somebody in sight is detected.
    pub rate: DetectionRate,
    /// Probability that a heading is told the wrong way round.
    pub flip: f64,
    /// Probability of a ghost per look.
    pub ghost: f64,
}

impl SensorSpec {
    /// Takes away all that is wrong with it but its place, its range and its cycle: it misses nothing in sight, tells it at once,
    /// and has no noise. No file says so; it is how one asks whether a better sensor would have helped.
    pub fn make_perfect(&mut self) {
        self.rate = DetectionRate::ALWAYS;
        (self.position, self.heading) = (NoiseModel::NONE, NoiseModel::NONE);
        (self.flip, self.ghost, self.share) = (0.0, 0.0, 0.0);
        self.latency_s.value = 0.0;
    }
}
