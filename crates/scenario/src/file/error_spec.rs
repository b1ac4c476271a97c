//! What may go wrong, as a scenario file says it.

use anabranch_helpers::Wheel;
use anabranch_sensing::MotionSensor;

use super::span::{Located, Span};
use super::words::{ErrorPlace, Frame};

/// Something that may go wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorSpec {
    /// Its name.
    pub id: Located<String>,
    /// Where it happens.
    pub on: Located<ErrorPlace>,
    /// The object sensor that errs alone, by its number.
    pub sensor: Option<u8>,
    /// What happens.
    pub kind: Located<ErrorKind>,
    /// Most segments of a run with this error.
    pub per_run: Option<Located<u32>>,
    /// How likely it is.
    pub probability: Option<ProbabilitySpec>,
}

/// How likely an error is, per segment.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbabilitySpec {
    /// That it begins when there is none.
    pub begin: Located<f64>,
    /// That it stays as it is.
    pub stay: Located<f64>,
    /// That it changes; of a drift, that it grows.
    pub change: Located<f64>,
    /// That a drift decreases; what is left over if `None`.
    pub decay: Option<Located<f64>>,
    /// How it chooses its mode.
    pub modes: ModeWeights,
    /// The whole table.
    pub span: Span,
}

/// How an error chooses its mode.
#[derive(Clone, Debug, PartialEq)]
pub enum ModeWeights {
    /// All modes alike.
    Equal,
    /// In the order of modes, without "none", and without "stay" of a drift.
    Listed(Located<Vec<f64>>),
    /// By name; 1 for those not named.
    Named(Vec<(Located<String>, f64)>),
}

/// What goes wrong. Sizes are never zero and lists never empty.
#[derive(Clone, Debug, PartialEq)]
pub enum ErrorKind {
    /// The estimate is off at once (S1-21).
    Jump {
        /// How far; empty if only the heading jumps.
        radius_m: Vec<f64>,
        /// To how many sides.
        directions: u32,
        /// How much turned, to both sides; may be empty.
        heading_rad: Vec<f64>,
        /// To what the directions are relative.
        frame: Frame,
    },
    /// The estimate moves away step by step (S1-22).
    Drift {
        /// How the position drifts; not at all if `None`.
        position_m: Option<DriftSize>,
        /// To how many sides the position drifts.
        directions: u32,
        /// How the heading drifts, to both sides; not at all if `None`.
        heading_rad: Option<DriftSize>,
        /// To what the directions are relative.
        frame: Frame,
    },
    /// Values arrive late (S1-19, S1-20).
    Delay {
        /// How late.
        by_s: Vec<f64>,
    },
    /// Added to the command, with both signs; radians on steering, m/s² on acceleration.
    Offset {
        /// How much.
        by: Vec<f64>,
    },
    /// Multiplies the command, or the friction of the road.
    Gain {
        /// Factors, none of them 1.
        by: Vec<f64>,
    },
    /// Sensors tell nothing (S4-8): of the own motion, or the object sensor that errs.
    Lost {
        /// Which ones of the own motion, one mode each.
        sensors: Vec<MotionSensor>,
    },
    /// An obstacle is recognised late (S1-19).
    Late {
        /// How late.
        by_s: Vec<f64>,
        /// Index of the obstacle.
        obstacle: usize,
    },
    /// An obstacle is seen at a wrong place (S1-23).
    Displaced {
        /// How far.
        by_m: f64,
        /// To how many sides.
        directions: u32,
        /// Index of the obstacle.
        obstacle: usize,
    },
    /// An object is seen with front and rear exchanged.
    Flipped {
        /// Index of the obstacle.
        obstacle: usize,
    },
    /// An obstacle is not seen (S1-24).
    Missed {
        /// Index of the obstacle.
        obstacle: usize,
    },
    /// An obstacle is seen that is not there (S1-25).
    Ghost {
        /// Index of the obstacle.
        obstacle: usize,
    },
    /// An obstacle appears, really (S1-28).
    Appears {
        /// Index of the obstacle.
        obstacle: usize,
    },
    /// Messages of other cars do not arrive (S2-22).
    MessagesLost {
        /// Numbers of the objects whose messages are lost, one mode each; everybody's at once if empty.
        objects: Vec<usize>,
    },
    /// The monitor of the tyres tells nothing new (S2-22).
    MonitorLost,
    /// A tyre loses air (S2-22).
    Leak {
        /// Pressure that is lost in a segment.
        by_pa: Vec<f64>,
        /// Which ones, one mode for each and each loss.
        wheels: Vec<Wheel>,
        /// From then on.
        stays: bool,
    },
}

/// How far a drift goes, in metres or radians.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DriftSize {
    /// Growth in a segment.
    pub step: f64,
    /// Largest drift, not less than the step.
    pub limit: f64,
    /// Return in a segment without error; all at once if `None`.
    pub decay: Option<f64>,
}

/// Limits for all errors together; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LimitsSpec {
    /// Most errors in the same segment.
    pub at_once: Option<Located<u32>>,
    /// Most segments of a run with any error.
    pub per_run: Option<Located<u32>>,
}
