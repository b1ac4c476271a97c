//! Cars, pedestrians and cyclists with their own intelligence.
pub mod band;
mod car;
mod change;
mod decide;
mod demand;
pub mod gap;
mod junction;
mod objects;
mod population;
pub mod quintic;
mod settings;
mod streets;
pub mod towns;
pub mod tracker;
mod traffic;
mod trigger;
mod view;
mod walker;

pub use car::{Car, Id, Kind, NOBODY, Role, Wish, variables};
pub use demand::{Flow, FlowState, Hop, Route, spread};
pub use objects::{Script, Thing};
pub use population::{Input, Outside, Population, Scratch};
pub use settings::{Manners, Settings};
pub use streets::{Colour, LaneEnd, LaneNumber, LaneSpec, Light, NO_LANE, Streets, StreetsError};
pub use traffic::{Traffic, TrafficError, World};
pub use trigger::{Effect, Fired, Trigger, When};
pub use walker::{Care, Crossed, Direction, Side, Stage, Walker, WalkerSpec, walker_variables};
