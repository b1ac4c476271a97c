//! Pictures of a run: the exploration on the map, savings, CPU profile and levels, as SVG and PNG.
//!
//! The inputs are plain numbers; nothing here knows what a car is. Every figure has units and axis titles, uses a
//! palette that colour-blind people can tell apart, and never tells things apart by colour alone: lines differ in
//! width and dashes, points in shape. Bundles of paths are thinned out when they grow large, failing paths never.
//!
//! ```
//! use anabranch_record::picture::{Savings, SavingsRow, savings_plot};
//!
//! let rows = (1..=20).map(|n| SavingsRow { n_s: f64::from(n), saved_s: 9.0 * f64::from(n), replayed_s: f64::from(9 * n * n) });
//! let svg = savings_plot(&Savings { title: "Narrow passage".into(), rows: rows.collect(), unmerged_s: 2.4e20 });
//! assert!(svg.starts_with("<svg"));
//! ```

pub(crate) mod axis;
mod chart;
mod level;
mod png;
mod profile;
mod savings;
mod scene;
mod search;
mod street;
mod svg;
mod timeline;
mod tolerance;
mod view;
mod views;
mod why;
mod world;

pub use level::{LevelRow, Levels, level_plot};
pub use png::png;
pub use profile::{Profile, Share, profile_bars};
pub use savings::{Savings, SavingsRow, savings_plot};
pub use scene::{Crop, FailingPath, Inset, LabelledPose, Scene, scene_picture};
pub use search::{Convergence, Parallel, ParallelAxis, convergence_plot, importance_bars, parallel_plot};
pub use street::{Marking, Moment, Paint};
pub use svg::{Anchor, Style, Svg};
pub use timeline::{Curve, ErrorSpan, Timeline, timeline};
pub use tolerance::{Mark, TolerancePanel, tolerance_plot};
pub use views::{Face, Mover, Prism, Rgb, Shape, Sight, Vector, View};
pub use why::{Why, WhyError, WhyRun, why_plot};

/// A place, in metres or pixels.
pub type Point = [f64; 2];

/// The palette (Okabe and Ito, darkened where text or thin lines need it).
pub(crate) mod colour {
    pub const PAPER: &str = "#fcfcfb";
    pub const PLOT: &str = "#ffffff";
    pub const INK: &str = "#1d2733";
    pub const SOFT_INK: &str = "#55616e";
    pub const GRID: &str = "#e3e7eb";
    pub const FRAME: &str = "#98a2ad";
    pub const SOLID: &str = "#c9ced4";
    pub const BLUE: &str = "#0072b2";
    pub const RED: &str = "#c4211a";
    pub const ORANGE: &str = "#b35c00";
    pub const GREEN: &str = "#00785a";
    pub const PURPLE: &str = "#8c4a78";
    /// Those that texts have.
    pub const TEXT: [&str; 4] = [INK, SOFT_INK, BLUE, RED];
}
