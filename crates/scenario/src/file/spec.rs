//! What a scenario file says, typed, in SI units, with the place of everything.

use anabranch_geometry::tiles::{AnyBytes, TileFile};
use anabranch_geometry::{Arc, Point, Pose};
use anabranch_kernel::units::Dimension;
use anabranch_vehicle::CarSpec;

use super::error_spec::{ErrorSpec, LimitsSpec};
use super::helper_spec::HelperSpec;
use super::model_spec::ModelSpec;
use super::motion_spec::{FilterSpec, PlainSpec, VehicleModel, ZoneSpec};
use super::outside::{OutsideSpec, PartSpec};
use super::road_spec::RoadSpec;
use super::search_spec::SearchSpec;
use super::span::{Located, Span};
use super::words::{DriverKind, Expect, Form, Gear, Keep, Manner, Order, Scope, SteeringLaw};

/// A whole scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioSpec {
    /// Its name.
    pub name: Located<String>,
    /// What it is about; may be empty.
    pub about: String,
    /// Clock, walls and obstacles.
    pub world: WorldSpec,
    /// The roads and who is on them; none off the road.
    pub road: Option<RoadSpec>,
    /// The car and its software.
    pub ego: EgoSpec,
    /// What may go wrong, in the order of the file.
    pub errors: Vec<ErrorSpec>,
    /// Simulators beside the main one.
    pub helpers: HelperSpec,
    /// Limits for all errors together.
    pub limits: LimitsSpec,
    /// How error combinations are explored.
    pub explore: ExploreSpec,
    /// What a search may vary.
    pub search: SearchSpec,
    /// All `[[must]]` in the order of the file, then all `[[should]]`.
    pub requirements: Vec<RequirementSpec>,
    /// What `anabranch test` expects.
    pub expect: Expect,
}

impl ScenarioSpec {
    /// The name of what an error is about, by its number: obstacles come first, then objects, then triggers.
    pub fn target_id(&self, number: usize) -> &str {
        let objects = self.road.iter().flat_map(|road| road.objects.iter().map(|object| &object.id));
        let triggers = self.road.iter().flat_map(|road| road.triggers.iter().map(|trigger| &trigger.id));
        let mut ids = self.world.obstacles.iter().map(|obstacle| &obstacle.id).chain(objects).chain(triggers);
        ids.nth(number).map_or("", |id| &id.value)
    }
    /// The name of an object on the road, by its number.
    pub fn object_id(&self, number: usize) -> &str {
        self.road.iter().flat_map(|road| &road.objects).nth(number).map_or("", |object| &object.id.value)
    }
}

/// Everything around the car.
#[derive(Clone, Debug, PartialEq)]
pub struct WorldSpec {
    /// The base cycle.
    pub step_s: Located<f64>,
    /// Lines that must not be touched.
    pub walls: Vec<WallSpec>,
    /// Things that must not be touched.
    pub obstacles: Vec<ObstacleSpec>,
    /// Friction coefficient everywhere but in zones; that of dry asphalt if `None`.
    pub friction: Option<Located<f64>>,
    /// Parts of the world with a property of their own, later ones over earlier ones.
    pub zones: Vec<ZoneSpec>,
    /// Permanent obstacles beside roads.
    pub tiles: Option<TilesSpec>,
    /// How bright it is, from 0 at night to 1 by day: what pictures look like.
    pub daylight: f64,
}

/// Permanent obstacles as tiles, read where they are needed.
#[derive(Clone, Debug, PartialEq)]
pub struct TilesSpec {
    /// The file, as written.
    pub name: Located<String>,
    /// The same, open.
    pub file: TileFile<AnyBytes>,
    /// Whether sensors do not see what is behind them.
    pub hide: bool,
}

impl WorldSpec {
    /// A time in base cycles. All times of a scenario that need it were checked to be whole multiples.
    pub fn ticks(&self, time_s: f64) -> u32 {
        (time_s / self.step_s.value).round() as u32
    }
}

/// A line that must not be touched.
#[derive(Clone, Debug, PartialEq)]
pub struct WallSpec {
    /// Its name, given or made up.
    pub id: Located<String>,
    /// At least two points, neighbours differ.
    pub points: Vec<Located<Point>>,
}

/// A thing that must not be touched.
#[derive(Clone, Debug, PartialEq)]
pub struct ObstacleSpec {
    /// Its name.
    pub id: Located<String>,
    /// At least three corners of a polygon that does not cross itself, in the order given.
    pub corners: Vec<Point>,
    /// Where its shape is written.
    pub shape_span: Span,
    /// In the planner's map from the start; `false` for ghosts.
    pub known: bool,
    /// There from the start; `false` for ghosts.
    pub present: bool,
    /// Exists only as a false detection.
    pub ghost: bool,
}

/// The car and its software.
#[derive(Clone, Debug, PartialEq)]
pub struct EgoSpec {
    /// The car.
    pub vehicle: VehicleSpec,
    /// Where it starts.
    pub start: StartSpec,
    /// Where it shall stop.
    pub goal: GoalSpec,
    /// The software under test.
    pub driver: DriverSpec,
    /// Distance the planner keeps.
    pub safety_distance_m: Located<f64>,
    /// A fixed path from the start instead of planning.
    pub path: Option<Vec<Located<Arc>>>,
    /// Cycle of the position estimate; every base cycle if `None`.
    pub localisation_cycle_s: Option<Located<f64>>,
    /// Sensors and filter behind the estimate; the truth and its errors if `None`.
    pub filter: Option<FilterSpec>,
    /// An FMU as a part of the car.
    pub part: Option<PartSpec>,
    /// Plain sensors that a driver may listen to.
    pub plain: Option<PlainSpec>,
    /// What sees unknown obstacles.
    pub obstacle_sensor: Option<ObstacleSensorSpec>,
    /// From how far before their line signs and lights are known by day; by the map if `None`.
    pub sign_range_m: Option<Located<f64>>,
}

/// The car, with its changed values filled in and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct VehicleSpec {
    /// Name of the built-in vehicle.
    pub base: Located<String>,
    /// All its values; of a tractor, without its trailer.
    pub car: CarSpec,
    /// What moves it.
    pub model: Located<VehicleModel>,
    /// Its front doors.
    pub door: DoorSpec,
}

/// The front doors of a car, one on each side: hinged in front, alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DoorSpec {
    /// The hinge, ahead of the rear axle.
    pub hinge_m: f64,
    /// From the hinge to the edge that opens.
    pub length_m: f64,
}

impl DoorSpec {
    /// From the front axle back to the hinge of a usual car.
    const BEHIND_FRONT_AXLE_M: f64 = 0.6;
    /// The door of a usual car.
    const LENGTH_M: f64 = 1.1;

    /// Of a car whose doors nobody described.
    pub fn usual(car: &CarSpec) -> Self {
        Self { hinge_m: (car.wheelbase_m - Self::BEHIND_FRONT_AXLE_M).max(0.0), length_m: Self::LENGTH_M }
    }
}

/// Where the car starts; each list has at least one value (S1-52).
#[derive(Clone, Debug, PartialEq)]
pub struct StartSpec {
    /// Rear axle, east.
    pub x_m: Vec<Located<f64>>,
    /// Rear axle, north.
    pub y_m: Vec<Located<f64>>,
    /// Direction of its front.
    pub heading_rad: Vec<Located<f64>>,
    /// Negative is backwards.
    pub speed_mps: Vec<Located<f64>>,
    /// The whole table.
    pub span: Span,
}

/// One starting state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// Pose of the middle of the rear axle.
    pub pose: Pose,
    /// Negative is backwards.
    pub speed_mps: f64,
}

impl StartSpec {
    /// How many starting states there are.
    pub fn count(&self) -> usize {
        self.x_m.len() * self.y_m.len() * self.heading_rad.len() * self.speed_mps.len()
    }
    /// Every combination, the speed changing fastest and x slowest.
    pub fn all(&self) -> impl Iterator<Item = Start> + '_ {
        let poses = self.x_m.iter().flat_map(move |x| {
            self.y_m.iter().flat_map(move |y| {
                self.heading_rad.iter().map(move |heading| Pose::new(x.value, y.value, heading.value))
            })
        });
        poses.flat_map(move |pose| self.speed_mps.iter().map(move |speed| Start { pose, speed_mps: speed.value }))
    }
}

/// Where the car shall stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GoalSpec {
    /// Pose of the middle of the rear axle.
    pub pose: Pose,
    /// Gear in which it arrives.
    pub gear: Option<Located<Gear>>,
    /// How far off still counts as arrived.
    pub tolerance_m: Located<f64>,
    /// How much turned still counts as arrived.
    pub heading_tolerance_rad: Located<f64>,
    /// The whole table.
    pub span: Span,
}

/// A driver: a built-in one and the values that are changed, or one from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct DriverSpec {
    /// Which built-in one; the usual one where it comes from outside.
    pub kind: Located<DriverKind>,
    /// How it drives on roads.
    pub manner: Manner,
    /// How it steers on roads.
    pub steering: SteeringLaw,
    /// The one from outside.
    pub outside: Option<OutsideSpec>,
    /// The component model.
    pub model: Option<ModelSpec>,
    /// Component models behind a built-in driver; the first one passes its commands on.
    pub behind: Option<ModelSpec>,
    /// Curvature per metre beside the path.
    pub lateral_gain_per_m2: Option<Located<f64>>,
    /// Curvature per radian off the path.
    pub heading_gain_per_m: Option<Located<f64>>,
    /// The first of these backwards; as forwards if left out.
    pub reverse_lateral_gain_per_m2: Option<Located<f64>>,
    /// The second of these backwards; as forwards if left out.
    pub reverse_heading_gain_per_m: Option<Located<f64>>,
    /// Speed on a free path.
    pub cruise_mps: Option<Located<f64>>,
    /// Deceleration it plans with, positive.
    pub comfort_decel_mps2: Option<Located<f64>>,
    /// Plans again this often.
    pub replan_s: Option<Located<f64>>,
    /// Decides this often.
    pub cycle_s: Option<Located<f64>>,
}

/// What sees obstacles that are not in the map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObstacleSensorSpec {
    /// How far it sees.
    pub range_m: Located<f64>,
    /// It looks this often.
    pub cycle_s: Located<f64>,
}

/// How error combinations are explored.
#[derive(Clone, Debug, PartialEq)]
pub struct ExploreSpec {
    /// Errors change only between segments.
    pub segment_s: Located<f64>,
    /// A run ends after this time.
    pub until_s: Located<f64>,
    /// When states are alike.
    pub merge: MergeSpec,
    /// Merges after every so many segments.
    pub merge_every: Located<u32>,
    /// With which states a new one is compared.
    pub scope: Located<Scope>,
    /// Which states of a cell are continued.
    pub keep: Located<Keep>,
    /// Which state is continued next.
    pub order: Located<Order>,
    /// When to stop before all is done.
    pub budget: BudgetSpec,
    /// Unmerged random runs that measure what merging missed.
    pub rollouts: Located<u32>,
    /// How often cells that could hide a contact are halved and looked at again.
    pub refine: Located<u32>,
    /// No violation deeper than this may be left, in metres of clearance.
    pub resolution_m: Option<Located<f64>>,
}

impl ExploreSpec {
    /// Segments of a run.
    pub fn segments(&self) -> u32 {
        (self.until_s.value / self.segment_s.value).round() as u32
    }
}

/// When states are alike.
#[derive(Clone, Debug, PartialEq)]
pub enum MergeSpec {
    /// Not said: the sizes that the parts declare.
    Declared,
    /// States never merge.
    Off(Span),
    /// These sizes, and for variables not named the declared ones.
    Sizes(Vec<MergeSize>),
}

/// The cell size of one variable. Whether the variable exists and has this dimension only the assembled system knows.
#[derive(Clone, Debug, PartialEq)]
pub struct MergeSize {
    /// Name of the variable.
    pub name: Located<String>,
    /// Its size.
    pub size: Located<MergeCell>,
}

/// A cell size as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MergeCell {
    /// Left out of the comparison; the verdict says so.
    Ignore,
    /// Only equal values are alike.
    Exact,
    /// A positive size.
    Size {
        /// In SI units.
        value: f64,
        /// What it measures; [`Dimension::si`] is its unit as variables declare it.
        dimension: Dimension,
    },
}

/// When to stop before all is done; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BudgetSpec {
    /// Wall-clock time.
    pub time_s: Option<Located<f64>>,
    /// Visited states.
    pub states: Option<Located<u64>>,
    /// Main memory.
    pub memory_bytes: Option<Located<u64>>,
}

/// Whether a violation is a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// A violation is a finding.
    Must,
    /// A violation is only reported.
    Should,
}

/// A requirement.
#[derive(Clone, Debug, PartialEq)]
pub struct RequirementSpec {
    /// Its name.
    pub id: Located<String>,
    /// Whether a violation is a finding.
    pub level: Level,
    /// What it says about its expression.
    pub form: Located<Form>,
    /// In the language of the monitors.
    pub expression: Located<String>,
    /// Deadline of `eventually`; the end of the run if `None`.
    pub by_s: Option<Located<f64>>,
    /// The errors it is limited to; errors that are not named may have any size.
    pub given: Vec<GivenSpec>,
}

/// The largest size of an error with which a requirement has to hold (S1-55).
#[derive(Clone, Debug, PartialEq)]
pub struct GivenSpec {
    /// Id of the error.
    pub error: Located<String>,
    /// In SI units, one for each kind of size that it limits.
    pub limits: Vec<Located<(f64, Dimension)>>,
}
