//! Cars, pedestrians and cyclists with their own intelligence (S4-12 … S4-17, S4-24, S2-32).
//!
//! A [`World`] is what a traffic is made of: [`Streets`], drivers' [`Settings`], flows, routes, pedestrians, things in the way, scripts,
//! triggers. [`Traffic`] is its behaviour and never changes. What evolves is one value, in one of two forms:
//!
//! * a [`Population`]: everybody, for large traffic ([`Traffic::step`]);
//! * a [`Branch`]: only those whose state differs from a shared [`Timeline`], the traffic as it would be without anybody from outside
//!   ([`Traffic::step_branch`]). Both are equal bit for bit; a branch is small, quick to clone, and keyed by what was touched.
//!
//! Somebody from outside (the ego) is given as input each tick, in lane coordinates; [`Layout`] goes from a road map to streets and back.
//! All cars decide from the same snapshot of a tick; every decision is a function of it.
//!
//! ```
//! use anabranch_kernel::Seed;
//! use anabranch_traffic::towns::Motorway;
//! use anabranch_traffic::{BranchScratch, Input, Outside, Settings, Timeline, Traffic, World, spread};
//!
//! let motorway = Motorway { lanes: 2, pieces: 4, piece_m: 500.0, limit_mps: 30.0 };
//! let traffic = Traffic::new(World::new(motorway.streets(), Settings::new(0.1)), Seed(1)).unwrap();
//! let start = traffic.start(&spread(&traffic, 10.0, 25.0)); // ten cars per kilometre of lane, at 25 m/s
//! let timeline = Timeline::new(&traffic, start, 50); // five seconds, computed once for all branches
//!
//! // An ego in the right lane that has stopped: whoever comes from behind brakes or changes the lane.
//! let ego = Outside { lane: 0, station_m: 230.0, lateral_m: 0.0, speed_mps: 0.0, kind: 0 };
//! let (mut branch, mut scratch) = (traffic.branch(), BranchScratch::default());
//! for _ in 0..50 {
//!     traffic.step_branch(&timeline, &mut branch, Input { outside: &[ego], fire: &[], ..Input::default() }, &mut scratch);
//! }
//! let touched = branch.touched().len();
//! assert!(touched > 0 && touched < timeline.at(50).cars().count());
//! ```

// The models of the papers, each with its equations.
pub mod band;
pub mod gap;
pub mod quintic;
pub mod tracker;

// What a traffic is made of.
mod car;
mod demand;
mod layout;
mod objects;
mod settings;
mod streets;
pub mod towns;
mod traffic;
mod trigger;
mod walker;

// One decision.
mod change;
mod decide;
mod fetch;
mod junction;
mod view;

// All of them: whole, or as branches over a timeline.
mod branch;
mod population;
mod readers;
mod timeline;

pub use branch::{Branch, BranchScratch, BranchVariables};
pub use car::{Car, CarVariables, Id, Kind, NOBODY, Role, Wish};
pub use demand::{Flow, FlowState, Hop, Route, spread, spread_cars};
pub use layout::{Layout, Seen};
pub use objects::{Script, Thing};
pub use population::{Input, Outside, Population, Scratch};
pub use settings::{Manners, Settings};
pub use streets::{Colour, LaneEnd, LaneNumber, LaneSpec, Light, NO_LANE, Streets, StreetsError};
pub use timeline::Timeline;
pub use traffic::{Traffic, TrafficError, World};
pub use trigger::{Effect, Fired, Trigger, When};
pub use walker::{Care, Crossed, Direction, Side, Stage, Walker, WalkerSpec, WalkerVariables};
