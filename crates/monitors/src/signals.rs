//! The signals that requirements speak about.

use anabranch_kernel::Signal;
use anabranch_kernel::units::Dimension;

use crate::measures::{MEASURES, measure};

pub use anabranch_logic::SignalKind;

macro_rules! signals {
    ($($(#[$doc:meta])* $constant:ident = $index:literal, $name:expr, $kind:expr;)*) => {
        /// Positions of the signals of the low-speed loop in its frame.
        pub mod low_speed {
            $($(#[$doc])* pub const $constant: usize = $index;)*
            /// How many there are before the measures.
            pub const COUNT: usize = [$($index),*].len();
        }
        const OF_FRAME: [(&str, SignalKind); low_speed::COUNT] = [$(($name, $kind)),*];
    };
}

use SignalKind::{Real, Truth, Whole};

signals! {
    /// Smallest distance between the outline of the car and anything solid, over the motion of the last base cycle.
    CLEARANCE = 0, "ego.clearance", Real(Dimension::Length);
    /// Signed speed; negative is backwards.
    SPEED = 1, "ego.speed", Real(Dimension::Speed);
    /// Change of the signed speed.
    ACCELERATION = 2, "ego.acceleration", Real(Dimension::Acceleration);
    /// Decrease of the magnitude of the speed; 0 while it increases.
    DECELERATION = 3, "ego.deceleration", Real(Dimension::Acceleration);
    /// Angle of the front wheels; positive is left.
    STEERING = 4, "ego.steering", Real(Dimension::Angle);
    /// Curvature of the driven path; positive is left.
    CURVATURE = 5, "ego.curvature", Real(Dimension::Curvature);
    /// True distance to the path; positive is left of it.
    LATERAL_ERROR = 6, "ego.lateral_error", Real(Dimension::Length);
    /// True heading minus that of the path.
    HEADING_ERROR = 7, "ego.heading_error", Real(Dimension::Angle);
    /// Speed squared times curvature.
    LATERAL_ACCELERATION = 8, "ego.lateral_acceleration", Real(Dimension::Acceleration);
    /// Change of the acceleration.
    JERK = 9, "ego.jerk", Real(Dimension::Jerk);
    /// Distance between the estimated and the true position.
    ESTIMATE_ERROR = 10, "ego.estimate_error", Real(Dimension::Length);
    /// True position, east.
    X = 11, "ego.x", Real(Dimension::Length);
    /// True position, north.
    Y = 12, "ego.y", Real(Dimension::Length);
    /// True heading.
    HEADING = 13, "ego.heading", Real(Dimension::Angle);
    /// The car truly stands at its goal.
    AT_GOAL = 14, "ego.at_goal", Truth;
    /// The driver says that the manoeuvre is completed.
    COMPLETED = 15, "ego.completed", Truth;
    /// The outline touches something solid.
    CONTACT = 16, "ego.contact", Truth;
    /// Simulated time since the start of the run.
    TIME = 17, TIME_SIGNAL, Real(Dimension::Time);
}

/// Name of the time of the run in every table of signals.
pub const TIME_SIGNAL: &str = "time";

/// The signals of the low-speed loop, in the order of its frame, and behind them the [measures](crate::measure).
pub const LOW_SPEED_SIGNALS: &[(&str, SignalKind)] = &ALL;

const ALL: [(&str, SignalKind); low_speed::COUNT + measure::LOW_SPEED_COUNT] = {
    let mut all = [OF_FRAME[0]; low_speed::COUNT + measure::LOW_SPEED_COUNT];
    let mut i = 0;
    while i < all.len() {
        all[i] = if i < low_speed::COUNT { OF_FRAME[i] } else { MEASURES[i - low_speed::COUNT] };
        i += 1;
    }
    all
};

/// The same table for recorders.
pub fn recorded(table: &[(&str, SignalKind)]) -> Vec<Signal> {
    let unit = |kind: &SignalKind| match kind {
        Truth | Whole => "",
        Real(dimension) => dimension.si(),
    };
    table.iter().map(|(name, kind)| Signal::new(name, unit(kind))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_names_belong_together() {
        use low_speed as at;
        let name = |index: usize| LOW_SPEED_SIGNALS[index].0;
        assert_eq!(LOW_SPEED_SIGNALS.len(), at::COUNT + measure::LOW_SPEED_COUNT);
        assert_eq!(name(at::COUNT + measure::PATH_MSE), "ego.path_mse");
        assert_eq!(name(at::COUNT + measure::DOOR_ROOM_RIGHT), "ego.door_room.right");
        assert_eq!(name(at::COUNT + measure::WOBBLE), "ego.wobble");
        let expect = [
            (at::CLEARANCE, "ego.clearance"),
            (at::SPEED, "ego.speed"),
            (at::ACCELERATION, "ego.acceleration"),
            (at::DECELERATION, "ego.deceleration"),
            (at::STEERING, "ego.steering"),
            (at::CURVATURE, "ego.curvature"),
            (at::LATERAL_ERROR, "ego.lateral_error"),
            (at::HEADING_ERROR, "ego.heading_error"),
            (at::LATERAL_ACCELERATION, "ego.lateral_acceleration"),
            (at::JERK, "ego.jerk"),
            (at::ESTIMATE_ERROR, "ego.estimate_error"),
            (at::X, "ego.x"),
            (at::Y, "ego.y"),
            (at::HEADING, "ego.heading"),
            (at::AT_GOAL, "ego.at_goal"),
            (at::COMPLETED, "ego.completed"),
            (at::CONTACT, "ego.contact"),
            (at::TIME, "time"),
        ];
        assert_eq!(expect.map(|(index, _)| index), std::array::from_fn::<usize, { at::COUNT }, _>(|index| index));
        expect.iter().for_each(|&(index, expect)| assert_eq!(name(index), expect));
        assert_eq!(recorded(LOW_SPEED_SIGNALS)[at::SPEED], Signal::new("ego.speed", "m/s"));
    }
}
