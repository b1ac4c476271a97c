//! From a scenario file to the loop.

use anabranch_bridge::Misbehaviour;
use anabranch_driving::follow::{
    LateralGains, PathFollower, PathFollowerSpec, TrajectoryFollower, TrajectoryFollowerSpec,
};
use anabranch_driving::{Gear, PlanError};
use anabranch_errors::ErrorSetError;
use anabranch_geometry::{Arc, Body, Edge, EdgeSet, Path, SAMPLE_SPACING_M};
use anabranch_kernel::{Axis, CellSize, Declarations, Grid, ParamSpace, Variable};
use anabranch_monitors::{LOW_SPEED_SIGNALS, Program, Requirement, Requirements, Rule};
use anabranch_sensing::{Localisation, OBSTACLES_MAX, ObstacleSensor, Presence, SensedObstacle};
use anabranch_vehicle::CarModel;

use super::errors::{self, Numbers, error_set};
use super::foreign::Outside;
use super::index::EdgeIndex;
use super::likelihood::likelihood;
use super::measure::Measuring;
use super::outside;
use super::plan::{Plan, Planning, Replanning, closed_edges};
use super::{Drive, Driver, Eyes, Goal};
use crate::file::{self, DriverKind, ExpressionError, Form, MergeCell, MergeSpec, ScenarioSpec, Span};

/// A scenario that can be read but not run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AssembleError {
    /// The planner found no path (S1-36). An outcome, not a mistake in the file.
    #[error("no path: {0}")]
    NoPath(PlanError),
    /// The errors cannot work together.
    #[error(transparent)]
    Errors(#[from] ErrorSetError),
    /// What comes from outside does not start, or is something else.
    #[error("what comes from outside cannot be used: {0}")]
    Driver(Misbehaviour),
    /// Something that this version cannot do.
    #[error("{what}")]
    Unsupported {
        /// What and how to go on.
        what: String,
        /// Where.
        span: Span,
    },
}

/// A cell size that does not fit the loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingError {
    /// What is wrong.
    pub message: String,
    /// How to go on.
    pub help: String,
    /// Where.
    pub span: Span,
}

/// Most samples of the paths of all starts: 200 MB.
const SAMPLES_MAX: usize = 4_000_000;
/// Sensor range where a scenario has sensed obstacles but names no sensor.
const RANGE_M: f64 = 10.0;
/// Cycle of that sensor.
const LOOK_S: f64 = 0.1;
/// Speeds above this multiple of the cruising speed make the loop look at all edges.
const SPEED_BOUND_FACTOR: f64 = 1.5;
const SPEED_BOUND_EXTRA_MPS: f64 = 0.5;

impl Drive {
    /// Builds the loop of a scenario: plans its paths, prepares its index.
    ///
    /// # Errors
    /// When there is no path, or the parts do not fit together.
    pub fn assemble(spec: &ScenarioSpec) -> Result<Self, AssembleError> {
        Self::assemble_with(spec, None)
    }

    /// As [`assemble`](Self::assemble), with a driver from outside instead of the built-in one, or with the part of the car
    /// that the scenario wants from outside.
    ///
    /// # Errors
    /// As [`assemble`](Self::assemble), and when the driver does not start.
    pub fn assemble_with(spec: &ScenarioSpec, outside: Option<Outside>) -> Result<Self, AssembleError> {
        let model = CarModel::new(spec.ego.vehicle.car, spec.world.step_s.value);
        let body = Body::new(&model.spec.outline);
        let ticks = |seconds: f64| spec.world.ticks(seconds).max(1);
        let (outside, part) = outside::split(spec, &model, outside)?;
        let (driver, control_ticks) = match outside {
            Some(outside) => outside::start(spec, &model, outside)?,
            None => {
                let control_ticks = spec.ego.driver.cycle_s.map_or(1, |cycle| ticks(cycle.value));
                let cycle_s = f64::from(control_ticks) * model.dt_s;
                let driver = match &spec.ego.driver.model {
                    Some(given) => outside::model_driver(spec, given, &model, cycle_s)?,
                    None => driver(spec, &model, cycle_s),
                };
                (driver, control_ticks)
            }
        };
        let numbers = sensed_numbers(spec)?;
        let errors = error_set(spec, &numbers)?;
        let planning = planning(spec, &model);
        let requirements = requirements(spec).limited(super::given::exceeding(spec, errors.space()));
        let (street, plans) = match &spec.road {
            Some(road) => {
                let (street, plans) = super::street::assemble(spec, road, &model, control_ticks, errors.reach())?;
                (Some(std::sync::Arc::new(street.judged_by(&requirements))), plans)
            }
            None => (None, plans(spec, &planning, &driver)?),
        };
        let walls = walls(spec);
        let speed_bound_mps = SPEED_BOUND_FACTOR * cruise_mps(spec) + SPEED_BOUND_EXTRA_MPS;
        let index = EdgeIndex::new(&walls, &body, speed_bound_mps * spec.explore.segment_s.value.max(1.0));
        let measuring = Measuring::new(&requirements, spec.signal_table(), spec.road.is_some(), spec.ego.vehicle.door);
        let mut drive = Self {
            name: spec.name.value.clone(),
            eyes: eyes(spec, &numbers, errors.reach().late_ticks),
            replanning: replanning(spec, &planning)?,
            localisation: Localisation { cycle_ticks: spec.ego.localisation_cycle_s.map_or(1, |c| ticks(c.value)) },
            space: start_space(spec),
            goal: goal(spec),
            requirement_ids: requirements.ids(),
            signals: measuring.recorded(),
            measuring,
            segment_ticks: ticks(spec.explore.segment_s.value),
            until_ticks: ticks(spec.explore.until_s.value),
            layout: super::state::Layout::default(),
            street,
            side_by_side: false,
            wide: super::lanes::wide_lanes(),
            behind: outside::behind(spec, &model, f64::from(control_ticks) * model.dt_s)?,
            model,
            body,
            driver,
            part,
            control_ticks,
            plans,
            likelihood: likelihood(spec, errors.space()),
            errors,
            requirements,
            walls,
            index,
            speed_bound_mps,
        };
        drive.introduce();
        drive.lay_out();
        drive.set_side_by_side(true);
        Ok(drive)
    }

    /// How a scenario wants states to be compared: sizes that it does not give are measured.
    ///
    /// # Errors
    /// As [`grid`](Self::grid).
    pub fn cells(&self, merge: &MergeSpec) -> Result<Cells, SettingError> {
        Ok(match (merge, self.grid(merge)?) {
            (_, None) => Cells::None,
            (MergeSpec::Declared, Some(_)) => Cells::Measured,
            (_, Some(grid)) => Cells::Given(grid),
        })
    }

    /// The cell sizes a scenario asks for, on top of those that the parts declare; `None` if it asks for no merging.
    ///
    /// # Errors
    /// For names that are no variable of this loop, and for units of another kind.
    pub fn grid(&self, merge: &MergeSpec) -> Result<Option<Grid>, SettingError> {
        let mut variables = self.layout.declared.variables.clone();
        let sizes = match merge {
            MergeSpec::Off(_) => return Ok(None),
            MergeSpec::Declared => &[][..],
            MergeSpec::Sizes(sizes) => sizes,
        };
        for wanted in sizes {
            let name = wanted.name.value.as_str();
            let Some(variable) = variables.iter_mut().find(|v| v.name == name) else {
                if self.is_of_replaced_driver(name) {
                    continue;
                }
                return Err(unknown_variable(name, &self.layout.declared.variables, wanted.name.span));
            };
            variable.size = match wanted.size.value {
                MergeCell::Ignore => CellSize::Ignore,
                MergeCell::Exact => CellSize::Exact,
                MergeCell::Size { value, dimension } if same_unit(&variable.unit, dimension.si()) => {
                    CellSize::Size(value)
                }
                MergeCell::Size { .. } => return Err(wrong_unit(variable, wanted.size.span)),
            };
        }
        Ok(Some(Grid::of(&variables)))
    }

    /// Whether a name is of the memory of the built-in driver in whose place another one drives. What that one remembers is in the
    /// key as it is, so a size for something that is not there takes nothing away.
    fn is_of_replaced_driver(&self, name: &str) -> bool {
        let replaced = self.street.is_some() && !matches!(self.driver, Driver::Road);
        let own = || Declarations::of(|v| self.first_state().street().memory.visit(v));
        replaced && own().variables.iter().any(|variable| variable.name == name)
    }
}

/// When two states of a scenario count as alike.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Never.
    None,
    /// In cells whose sizes follow from the resolution.
    Measured,
    /// In these cells.
    Given(Grid),
}

fn same_unit(declared: &str, written: &str) -> bool {
    let plain = |unit: &str| unit.replace(['^', '²'], "2").replace("22", "2");
    plain(declared) == plain(written)
}

fn unknown_variable(name: &str, variables: &[Variable], span: Span) -> SettingError {
    let names: Vec<&str> = variables.iter().map(|v| v.name.as_str()).collect();
    let near = names.iter().min_by_key(|known| strsim::damerau_levenshtein(name, known));
    let near = near.filter(|known| strsim::damerau_levenshtein(name, known) <= 3);
    let help = match near {
        Some(known) => format!("did you mean `{known}`?"),
        None => format!("this scenario has {}", names.join(", ")),
    };
    SettingError { message: format!("`{name}` is no state variable of this scenario"), help, span }
}

fn wrong_unit(variable: &Variable, span: Span) -> SettingError {
    let message = format!("the cell size of `{}` is measured in another unit", variable.name);
    let help = match variable.unit.as_str() {
        "" => "write \"exact\" or \"ignore\"".to_owned(),
        unit => format!("write it in {unit}, or \"exact\" or \"ignore\""),
    };
    SettingError { message, help, span }
}

/// Checks an expression of a requirement against the signals of this loop; for [`crate::file::Hooks`].
///
/// # Errors
/// Where and why it cannot be understood.
pub fn check_expression(text: &str) -> Result<(), ExpressionError> {
    Program::compile(text, LOW_SPEED_SIGNALS).map(|_| ()).map_err(|error| ExpressionError {
        offset: error.at.offset,
        length: error.at.length,
        message: error.message,
        help: error.suggestion.unwrap_or_default(),
    })
}

/// Gains forwards and backwards.
fn lateral_gains(spec: &ScenarioSpec, preset: LateralGains) -> (LateralGains, LateralGains) {
    let driver = &spec.ego.driver;
    let forward = LateralGains {
        k_lateral_per_m2: driver.lateral_gain_per_m2.map_or(preset.k_lateral_per_m2, |gain| gain.value),
        k_heading_per_m: driver.heading_gain_per_m.map_or(preset.k_heading_per_m, |gain| gain.value),
    };
    let reverse = LateralGains {
        k_lateral_per_m2: driver.reverse_lateral_gain_per_m2.map_or(forward.k_lateral_per_m2, |gain| gain.value),
        k_heading_per_m: driver.reverse_heading_gain_per_m.map_or(forward.k_heading_per_m, |gain| gain.value),
    };
    (forward, reverse)
}

fn driver(spec: &ScenarioSpec, model: &CarModel, cycle_s: f64) -> Driver {
    let given = &spec.ego.driver;
    match given.kind.value {
        DriverKind::Road => Driver::Road,
        DriverKind::TrajectoryFollower => {
            let mut gains = TrajectoryFollowerSpec::CALM;
            (gains.lateral, gains.reverse) = lateral_gains(spec, gains.lateral);
            gains.cruise_mps = given.cruise_mps.map_or(gains.cruise_mps, |v| v.value);
            gains.decel_mps2 = given.comfort_decel_mps2.map_or(gains.decel_mps2, |v| v.value);
            Driver::Trajectory(TrajectoryFollower::new(&gains, &model.spec, cycle_s))
        }
        kind => {
            let mut gains = if kind == DriverKind::Eager { PathFollowerSpec::EAGER } else { PathFollowerSpec::CALM };
            (gains.lateral, gains.reverse) = lateral_gains(spec, gains.lateral);
            gains.speed.cruise_mps = given.cruise_mps.map_or(gains.speed.cruise_mps, |v| v.value);
            gains.speed.comfort_decel_mps2 =
                given.comfort_decel_mps2.map_or(gains.speed.comfort_decel_mps2, |v| v.value);
            Driver::Path(PathFollower::new(&gains, &model.spec, cycle_s))
        }
    }
}

fn cruise_mps(spec: &ScenarioSpec) -> f64 {
    let preset = match spec.ego.driver.kind.value {
        DriverKind::TrajectoryFollower => TrajectoryFollowerSpec::CALM.cruise_mps,
        DriverKind::Eager => PathFollowerSpec::EAGER.speed.cruise_mps,
        DriverKind::Calm | DriverKind::PathFollower => PathFollowerSpec::CALM.speed.cruise_mps,
        DriverKind::Road => spec.road.as_ref().map_or(0.0, fastest_mps),
    };
    spec.ego.driver.cruise_mps.map_or(preset, |v| v.value)
}

/// The highest speed limit.
fn fastest_mps(road: &file::RoadSpec) -> f64 {
    let limits = road
        .network
        .lanes()
        .iter()
        .flat_map(|lane| lane.waypoint_stations_m().iter().map(|station_m| lane.limit_mps(*station_m)));
    limits.fold(0.0, f64::max)
}

/// Obstacles that sensors have to see, in the order of the file.
fn sensed_numbers(spec: &ScenarioSpec) -> Result<Numbers, AssembleError> {
    if let Some(road) = &spec.road {
        return super::street::numbers(spec, road);
    }
    let mut next = 0_usize;
    let mut numbers = Vec::new();
    let named = |index: usize| spec.errors.iter().any(|error| errors::obstacle_of(&error.kind.value) == Some(index));
    for (index, obstacle) in spec.world.obstacles.iter().enumerate() {
        let sensed = !obstacle.known || named(index);
        if sensed && next == OBSTACLES_MAX {
            let what = format!("at most {OBSTACLES_MAX} obstacles can be sensed; make some of them known");
            return Err(AssembleError::Unsupported { what, span: obstacle.shape_span });
        }
        numbers.push(sensed.then_some(next as u8));
        next += usize::from(sensed);
    }
    Ok(Numbers(numbers))
}

/// Number of an obstacle in verdicts: walls come first.
fn verdict_number(spec: &ScenarioSpec, obstacle: usize) -> u32 {
    (spec.world.walls.len() + obstacle) as u32
}

fn planning(spec: &ScenarioSpec, model: &CarModel) -> Planning {
    let mut known: Vec<Edge> = Vec::new();
    for (number, wall) in spec.world.walls.iter().enumerate() {
        let ends = wall.points.windows(2);
        known.extend(ends.map(|ends| Edge { a: ends[0].value, b: ends[1].value, obstacle: number as u32 }));
    }
    for (index, obstacle) in spec.world.obstacles.iter().enumerate().filter(|(_, o)| o.known && o.present) {
        known.extend(closed_edges(&obstacle.corners, verdict_number(spec, index)));
    }
    let final_gear = spec.ego.goal.gear.map(|gear| match gear.value {
        file::Gear::Forward => Gear::Forward,
        file::Gear::Reverse => Gear::Reverse,
    });
    let safety_distance_m = spec.ego.safety_distance_m.value;
    Planning { car: model.spec, goal: spec.ego.goal.pose, final_gear, safety_distance_m, known }
}

fn plans(spec: &ScenarioSpec, planning: &Planning, driver: &Driver) -> Result<Vec<Plan>, AssembleError> {
    let fixed: Option<Vec<Arc>> = spec.ego.path.as_ref().map(|arcs| arcs.iter().map(|arc| arc.value).collect());
    let mut samples = 0;
    let plan = |start: file::Start| {
        let path = match &fixed {
            Some(arcs) => Path::new(start.pose, arcs.clone()),
            None => planning.first(start.pose).map_err(|error| match error {
                PlanError::BadRequest(what) => {
                    AssembleError::Unsupported { what: what.into(), span: spec.ego.goal.span }
                }
                outcome => AssembleError::NoPath(outcome),
            })?,
        };
        samples += path.samples().len();
        if samples > SAMPLES_MAX {
            let what = format!(
                "the paths of all starts together are longer than {:.0} km; use fewer starts, or a shorter path",
                SAMPLES_MAX as f64 * SAMPLE_SPACING_M / 1000.0
            );
            return Err(AssembleError::Unsupported { what, span: spec.ego.start.span });
        }
        let trajectory = match driver {
            Driver::Trajectory(follower) if !path.sections().is_empty() => Some(follower.trajectory(&path)),
            _ => None,
        };
        Ok(Plan { path, trajectory })
    };
    spec.ego.start.all().map(plan).collect()
}

/// Everything that is there from the beginning.
fn walls(spec: &ScenarioSpec) -> EdgeSet {
    let mut walls = EdgeSet::default();
    for (number, wall) in spec.world.walls.iter().enumerate() {
        let points: Vec<_> = wall.points.iter().map(|point| point.value).collect();
        walls.add_wall(number as u32, &points);
    }
    for (index, obstacle) in spec.world.obstacles.iter().enumerate().filter(|(_, o)| o.present) {
        walls.add_polygon(verdict_number(spec, index), &obstacle.corners);
    }
    walls
}

fn eyes(spec: &ScenarioSpec, numbers: &Numbers, late_ticks: u16) -> Option<Eyes> {
    let sensed = || spec.world.obstacles.iter().enumerate().filter(|(index, _)| numbers.0[*index].is_some());
    sensed().next()?;
    let presence = |obstacle: &file::ObstacleSpec| match (obstacle.ghost, obstacle.present) {
        (true, _) => Presence::Ghost,
        (false, true) => Presence::Always,
        (false, false) => Presence::Appears,
    };
    let (mut obstacles, mut solid, mut appearing) = (Vec::new(), Vec::new(), 0);
    for (number, (index, obstacle)) in sensed().enumerate() {
        let edges = closed_edges(&obstacle.corners, verdict_number(spec, index)).collect();
        obstacles.push(SensedObstacle { edges, presence: presence(obstacle) });
        let mut set = EdgeSet::default();
        set.add_polygon(verdict_number(spec, index), &obstacle.corners);
        solid.push(set);
        // What is there from the beginning is among the walls already.
        appearing |= u32::from(presence(obstacle) == Presence::Appears) << number;
    }
    let given = spec.ego.obstacle_sensor;
    let range_m = given.map_or(RANGE_M, |sensor| sensor.range_m.value);
    let cycle_ticks = spec.world.ticks(given.map_or(LOOK_S, |sensor| sensor.cycle_s.value)).max(1);
    let sensor = ObstacleSensor::new(obstacles, range_m, late_ticks);
    Some(Eyes { sensor, cycle_ticks, solid, appearing, stop_gap_m: spec.ego.safety_distance_m.value })
}

fn replanning(spec: &ScenarioSpec, planning: &Planning) -> Result<Option<Replanning>, AssembleError> {
    let Some(cycle) = spec.ego.driver.replan_s else { return Ok(None) };
    if spec.ego.driver.kind.value == DriverKind::TrajectoryFollower {
        let what = "a trajectory follower cannot plan again yet; use a path follower or leave out `replan`".to_owned();
        return Err(AssembleError::Unsupported { what, span: cycle.span });
    }
    let cycle_ticks = spec.world.ticks(cycle.value).max(1);
    Ok(Some(Replanning { cycle_ticks, planning: planning.clone() }))
}

fn goal(spec: &ScenarioSpec) -> Goal {
    let given = &spec.ego.goal;
    let (tolerance_m, heading_tolerance_rad) = (given.tolerance_m.value, given.heading_tolerance_rad.value);
    Goal { pose: given.pose, tolerance_m, heading_tolerance_rad }
}

fn requirements(spec: &ScenarioSpec) -> Requirements {
    let signals = spec.signal_table();
    let build = |r: &file::RequirementSpec| {
        let rule = match r.form.value {
            Form::Never => Rule::Never,
            Form::Always => Rule::Always,
            Form::AtStart => Rule::AtStart,
            Form::AtFinish => Rule::AtFinish,
            Form::Eventually => Rule::Eventually { by_ticks: r.by_s.map(|by| u64::from(spec.world.ticks(by.value))) },
        };
        let level = match r.level {
            file::Level::Must => anabranch_monitors::Level::Must,
            file::Level::Should => anabranch_monitors::Level::Should,
        };
        Requirement::new(&r.id.value, level, rule, &r.expression.value, &signals)
            .expect("expressions were checked when the file was read")
    };
    Requirements::new(spec.requirements.iter().map(build).collect(), spec.world.step_s.value)
        .expect("the number was checked with the file")
}

fn start_space(spec: &ScenarioSpec) -> ParamSpace {
    let start = &spec.ego.start;
    let axis = |name: &str, unit: &str, values: &[file::Located<f64>]| Axis {
        name: format!("ego.start.{name}"),
        unit: unit.to_owned(),
        values: values.iter().map(|v| v.value).collect(),
    };
    let axes = vec![
        axis("x", "m", &start.x_m),
        axis("y", "m", &start.y_m),
        axis("heading", "rad", &start.heading_rad),
        axis("speed", "m/s", &start.speed_mps),
    ];
    ParamSpace { axes }
}
