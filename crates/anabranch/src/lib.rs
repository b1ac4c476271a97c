//! Finds the combination of errors that makes driving software fail: for your own code, in Rust.
//!
//! # Your own system
//!
//! A [`System`] is behaviour that runs one segment at a time from any saved state, under one error choice. The explorer runs
//! every combination, merges states that became alike, and each finding is run again from the start before you see it.
//!
//! ```
//! use anabranch::*;
//!
//! /// Something slides along a line and is pushed about; a weak spring pulls it back. The walls are 1 m away.
//! struct Slider { errors: ErrorSpace, variables: Vec<Variable>, requirements: Vec<String> }
//!
//! impl System for Slider {
//!     type State = [f64; 2]; // position and speed
//!
//!     fn errors(&self) -> &ErrorSpace { &self.errors }
//!     fn variables(&self) -> &[Variable] { &self.variables }
//!     fn requirements(&self) -> &[String] { &self.requirements }
//!     fn start(&self, _: Seed, _: &Params) -> Result<[f64; 2], Fault> { Ok([0.0, 0.0]) }
//!     fn run(&self, s: &mut [f64; 2], choice: Choice, watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
//!         for tick in 0..10 {
//!             s[1] += ([0.0, -0.2, 0.2][choice.index()] - 0.2 * s[0] - 0.1 * s[1]) * 0.1;
//!             s[0] += s[1] * 0.1;
//!             watch.margin = watch.margin.min(1.0 - s[0].abs());
//!             if s[0].abs() > 1.0 { return Ok(SegmentEnd::violated(0, tick)); }
//!         }
//!         Ok(SegmentEnd::Open)
//!     }
//!     fn cell(&self, s: &[f64; 2], key: &mut KeyWriter<'_>) { key.real(0, s[0]); key.real(1, s[1]); }
//!     fn danger(&self, s: &[f64; 2]) -> Danger { Danger { worst: s[0].abs(), ..Danger::default() } }
//! }
//!
//! let slider = Slider {
//!     errors: ErrorSpace::of_one_site("push", &["none", "left", "right"]),
//!     variables: vec![Variable::real("x", "m", 0.05), Variable::real("v", "m/s", 0.05)],
//!     requirements: vec!["no-wall".to_owned()],
//! };
//! check_contract(&slider, 20, 10).unwrap(); // before you trust a result
//! let explored = explore(&slider, Settings::new(&slider.variables, false)).unwrap();
//! println!("{}", explored.findings[0]); // no-wall by push: left → push: left → …
//! assert!(matches!(explored.conclusion, Conclusion::Violated(_)) && explored.findings[0].requirement == "no-wall");
//! ```
//!
//! # Your own driver
//!
//! A [`Driver`] sees what its sensors say and decides. In a [`Scenario`] the world, the car, the errors and the requirements are there
//! already. Cloning the driver saves its state.
//!
//! ```
//! use anabranch::*;
//!
//! #[derive(Clone, Default)]
//! struct Follow { wheelbase_m: f64 }
//!
//! impl Driver for Follow {
//!     fn begin(&mut self, begin: &Begin) { self.wheelbase_m = begin.car.wheelbase_m; }
//!     fn step(&mut self, seen: &Seen) -> Decision {
//!         let (path, along) = (&seen.path, f64::from(seen.path.direction));
//!         let curvature = path.curvature - 1.5 * path.lateral - 2.0 * along * path.heading;
//!         let wanted = (0.8 * path.remaining).min(1.0);
//!         let stands = path.sections_left == 0 && path.to_end < 0.05 && seen.speed.abs() < 0.05;
//!         Decision {
//!             steer: (self.wheelbase_m * curvature).clamp(-0.6, 0.6),
//!             accel: (2.0 * (wanted - seen.speed * along)).clamp(-2.0, 1.0),
//!             completed: stands,
//!             ..Decision::default()
//!         }
//!     }
//!     fn is_memoryless(&self) -> bool { true }
//! }
//!
//! # fn main() -> Result<(), ScenarioTrouble> {
//! # let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/narrow-passage.toml");
//! let scenario = Scenario::read(file)?.with(&[("explore.until", "5 s"), ("must.arrives.by", "5 s")])?;
//! let explored = explore_driver(&scenario, Follow::default())?;
//! println!("{} segments, {} findings", explored.outcome.progress.segments, explored.findings.len());
//! # assert!(explored.outcome.progress.segments > 1000);
//! # Ok(()) }
//! ```
//!
//! # Your own sensors and actuators
//!
//! A [`Sensor`] is one method from the true world and the true car to one value; the driver is told it in [`Seen::readings`]. An
//! [`Actuator`] is one method over everything that the driver was told and everything that it asked for.
//! `examples/own_parts.rs` has both in a scenario; with [`mod@in_units`] the compiler checks their units.
//!
//! ```
//! use anabranch::*;
//!
//! let ahead = |world: &World<'_>, car: &TrueCar| world.ray_m(car.pose().point(), car.heading, 30.0);
//! let sensors = Sensors::default().with("ahead", ahead);
//!
//! /// The faster it goes, the less the engine can add.
//! #[derive(Clone)]
//! struct Engine;
//! impl Actuator for Engine {
//!     fn act(&mut self, inputs: &Seen, outputs: &mut Decision) {
//!         outputs.accel = outputs.accel.min(1.0 / inputs.speed.abs().max(0.1));
//!     }
//!     fn is_memoryless(&self) -> bool { true }
//! }
//! let mut asked = Decision { accel: 1.5, ..Decision::default() };
//! Engine.act(&Seen { speed: 2.0, ..Seen::default() }, &mut asked);
//! assert_eq!(asked.accel, 0.5);
//! # let _ = sensors;
//! ```
//!
//! # Everything else
//!
//! [`Explorer`] has what [`explore`] decides for you: seeds, threads, budgets, trails on disk, observers. [`replay`] runs one error
//! sequence; [`Coverage`] says how much merging missed, and a [`Conclusion`] is the verdict. Code in another process, another language or a box is an [`Instance`]:
//! [`ProcessFactory`] starts it, [`Scenario::drive_outside`] puts it into a scenario, [`WorldSystem`] is a whole simulator of that kind, and [`serve_driver`] makes a
//! program of a driver in Rust. [`search`] looks for the most dangerous point of a space instead: any [`System`] is an objective
//! ([`search::SystemObjective`]). The parts themselves are [`kernel`], [`engine`], [`search`], [`bridge`] and [`loops`].

mod actuator;
mod driver;
mod findings;
pub mod in_units;
mod scenario;

pub use actuator::{Actuated, Actuator};
pub use driver::{Driver, DriverFactory, DriverInstance, key, serve_driver};
pub use findings::{Explored, Finding, Trouble, confirm, explore};
pub use in_units::{CarInUnits, CommandInUnits, Reading, change_in_units, in_units};
pub use scenario::{Scenario, ScenarioTrouble, explore_drive, explore_driver, explore_scenario};

pub use anabranch_bridge as bridge;
pub use anabranch_explore as engine;
pub use anabranch_kernel as kernel;
pub use anabranch_scenario as loops;
pub use anabranch_search as search;
pub use anabranch_study as study;

pub use anabranch_bridge::protocol::KeyVariable;
pub use anabranch_bridge::{
    Answer, Begin, Card, ConnectFactory, Decision, Endpoint, Factory, Fleet, FleetLimits, Instance, Kind, Misbehaviour,
    Op, ProcessFactory, Seen, ServeError, TrajectoryPoint, WorldSystem, serve,
};
pub use anabranch_explore::{
    Budget, Coverage, ExploreError, Explorer, Hit, Keep, MemoryTrail, Merge, Order, Outcome, Progress, Refine,
    Replayed, Scope, Settings, SettingsError, Stop, constant, held, replay, with_threads,
};
pub use anabranch_kernel::contract::{ContractReport, check_contract};
pub use anabranch_kernel::{
    CellSize, Chance, Choice, Choices, Danger, Declarations, Digest, ErrorSpace, Fault, Grid, Job, KeyWriter, Leaf,
    LeafRole, Mode, ParamSpace, Params, Seed, SegmentEnd, Signal, Site, State, System, Variable, Verdict, Visitor,
    Watch, to_bytes,
};
pub use anabranch_scenario::drive::RoadUser;
pub use anabranch_scenario::drive::foreign::{Hidden, Outside, Sensor, Sensors, TrueCar, World};
pub use anabranch_scenario::{Drive, DriveState};
pub use anabranch_study::{Conclusion, Evidence, conclude};
