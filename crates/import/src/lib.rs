//! What other tools have: DARPA's RNDF and MDF files become a [`Map`](anabranch_roads::Map), pictures become tiles of
//! permanent obstacles, MCAP files become rows of truth and estimate.
//!
//! ```
//! let rndf = "\
//! RNDF_name two_roads
//! num_segments 2
//! num_zones 0
//! segment 1
//! num_lanes 1
//! lane 1.1
//! num_waypoints 2
//! lane_width 12
//! exit 1.1.2 2.1.1
//! 1.1.1 34.5900 -117.3700
//! 1.1.2 34.5900 -117.3690
//! end_lane
//! end_segment
//! segment 2
//! num_lanes 1
//! lane 2.1
//! num_waypoints 2
//! 2.1.1 34.5901 -117.3688
//! 2.1.2 34.5910 -117.3688
//! end_lane
//! end_segment
//! end_file
//! ";
//! let read = anabranch_import::rndf::read("two_roads.rndf", rndf, None).unwrap();
//! let lane = read.network.find("1", "1").unwrap();
//! assert_eq!(read.network.lane(lane).next().len(), 1);
//!
//! let dangling = rndf.replace("2.1.1\n1.1.1", "2.1.9\n1.1.1");
//! let report = anabranch_import::rndf::read("two_roads.rndf", &dangling, None).unwrap_err();
//! assert!(report.to_string().contains("there is no way-point `2.1.9`"));
//! ```

pub mod disk;
mod earth;
mod lines;
pub mod mcap_log;
mod mcap_records;
mod mdf;
pub mod picture;
pub mod rndf;

pub use earth::Origin;
