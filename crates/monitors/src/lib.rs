//! Requirements as one-line expressions with units, judged every base cycle.
//!
//! ```
//! use anabranch_monitors::*;
//! let rule = Rule::Never;
//! let text = "ego.deceleration > 3 m/s^2 and ego.speed > 1 km/h";
//! let comfort = Requirement::new("no-hard-braking", Level::Must, rule, text, LOW_SPEED_SIGNALS).unwrap();
//! let requirements = Requirements::new(vec![comfort], 0.01).unwrap();
//! let mut frame = [0.0; low_speed::COUNT];
//! (frame[low_speed::DECELERATION], frame[low_speed::SPEED]) = (3.5, 2.0);
//! assert_eq!(requirements.judge(&frame, 7, &mut Memory::default(), &mut []).violated, 1);
//!
//! let error = Program::compile("ego.clearence < 10 cm", LOW_SPEED_SIGNALS).unwrap_err();
//! assert_eq!((error.at.offset, error.at.length), (0, 13));
//! assert_eq!(error.suggestion.as_deref(), Some("did you mean `ego.clearance`?"));
//! ```

mod lately;
mod measures;
mod on_roads;
mod program;
mod requirement;
mod rss;
mod signals;

pub use anabranch_logic::Memory as History;
pub use anabranch_logic::text::{FormulaError as ExpressionError, Span};
pub use lately::{Lately, LatelyReads};
pub use measures::{Measured, MeasuredMoment, measure};
pub use on_roads::{Following, ROAD_SIGNALS, road};
pub use program::{Program, SIGNALS_MAX};
pub use requirement::{
    Condition, Judgement, Level, Memory, REQUIREMENTS_MAX, Requirement, Requirements, Rule, TooManyRequirements,
    verdicts,
};
pub use rss::{InLane, along_curve, rss_reserve_m};
pub use signals::{LOW_SPEED_SIGNALS, SignalKind, low_speed, recorded};
