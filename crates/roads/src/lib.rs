//! Roads: an immutable network of lanes with geometry, neighbours, links, junctions, lights, crosswalks and zones
//! (S4-2 … S4-4), and the ways through it.
//!
//! A [`Map`] is what a person, a generator or an importer says; [`Network::new`] checks it and works everything out.
//! Cars keep a [`LaneId`] and a [`Frenet`] place; [`Lane::at`], [`Lane::project`] and [`Lane::point`] go from one to the
//! other.
//!
//! ```
//! use anabranch_geometry::Point;
//! use anabranch_roads::{LanePlace, Network, make};
//!
//! let network = Network::new(&make::straight(200.0, 2)).unwrap();
//! let right = network.find("main", "1").unwrap();
//! let left = network.lane(right).left().unwrap();
//!
//! let place = network.lane(right).project(Point::new(50.0, 0.5), 0.0);
//! assert!((place.station_m - 50.0).abs() < 1e-9 && (place.lateral_m - 0.5).abs() < 1e-9);
//!
//! let from = LanePlace { lane: right, station_m: 0.0 };
//! let to = LanePlace { lane: left, station_m: 200.0 };
//! assert_eq!(network.route(from, to).unwrap().legs.len(), 2);
//! ```

mod barrier;
mod check;
pub mod codes;
mod connect;
mod crossings;
mod crosswalk;
mod cubic;
mod curve;
pub mod file;
mod flaw;
mod frenet;
mod guide;
mod index;
mod junction;
mod lane;
pub mod make;
mod neighbours;
mod network;
mod plan;
pub mod report;
mod route;
mod rules;
mod sections;
mod signal;
mod zone;

pub use barrier::{Barrier, BarrierShape};
pub use crosswalk::{Crosswalk, CrosswalkPlan, LaneCrossing, SignalRef};
pub use cubic::Cubic;
pub use flaw::{Element, Flaw, FlawKind};
pub use guide::Guide;
pub use junction::{ApproachPlan, Conflict, Junction, JunctionPlan, Precedence, Sign, TurnRule, YieldPlan};
pub use lane::{Frenet, JunctionId, Lane, LaneId, LaneKind, LanePoint, Link, Turn};
pub use network::Network;
pub use plan::{Interpolation, LaneName, LanePlan, LinkPlan, Map, Marking, RoadPlan, RoutePlan, Waypoint};
pub use route::{LanePlace, Leg, NoRoute, Route, Then};
pub use signal::{Aspect, Phase, Program};
pub use zone::{Zone, ZoneKind};
