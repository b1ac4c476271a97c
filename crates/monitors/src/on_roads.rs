//! The signals of the loop on roads: those of the low-speed loop, and what only roads have.

use anabranch_kernel::units::Dimension;

use crate::measures::{MEASURES, measure};
use crate::signals::SignalKind::{self, Real, Truth};
use crate::signals::{LOW_SPEED_SIGNALS, low_speed};

/// Positions of the signals in the frame of the loop on roads. Those of [`low_speed`] come first, at their own positions.
pub mod road {
    use super::low_speed;

    /// Time until the front touches who is ahead in the way of the car, at the present speeds; infinite if it never does.
    pub const TTC: usize = low_speed::COUNT;
    /// Time in which the car covers the gap to who is ahead; infinite if nobody is.
    pub const HEADWAY: usize = TTC + 1;
    /// Gap to who is ahead.
    pub const GAP: usize = TTC + 2;
    /// Beside the middle of the lane; positive is left.
    pub const LANE_OFFSET: usize = TTC + 3;
    /// The outline is over a line of the lane.
    pub const OFF_LANE: usize = TTC + 4;
    /// The car points against the direction of its lane.
    pub const WRONG_WAY: usize = TTC + 5;
    /// The front passes a stop line under red in this base cycle.
    pub const RED_LIGHT: usize = TTC + 6;
    /// The front passes the line of a stop sign in this base cycle and did not stand before it.
    pub const STOP_LINE: usize = TTC + 7;
    /// Speed above the limit; 0 within it.
    pub const OVER_LIMIT: usize = TTC + 8;
    /// Along the lane.
    pub const STATION: usize = TTC + 9;
    /// Speed relative to what is touched; 0 without contact.
    pub const IMPACT_SPEED: usize = TTC + 10;
    /// Speed of the rear axle across the car, either way; 0 where wheels roll without slip.
    pub const SLIDE: usize = TTC + 11;
    /// Angle between car and trailer, either way; 0 without one.
    pub const HITCH: usize = TTC + 12;
    /// How long the car has stood elsewhere than at its goal.
    pub const STANDING: usize = TTC + 13;
    /// How often the steering changes its side, per second.
    pub const WOBBLE: usize = TTC + 14;
    /// How much more distance there is to everybody than responsibility-sensitive safety asks for; infinite if nobody is near.
    pub const RSS_RESERVE: usize = TTC + 15;
    /// Distance to the nearest other road user (S3-13), walls and whatever else only stands there left out.
    pub const OTHERS_DISTANCE: usize = TTC + 16;
    /// Distance to the nearest other road user in whom the car does not believe at this moment.
    pub const UNSEEN_DISTANCE: usize = TTC + 17;
    /// How many there are before the measures.
    pub const COUNT: usize = TTC + 18;
}

const OWN: [(&str, SignalKind); road::COUNT - low_speed::COUNT] = [
    ("ego.ttc", Real(Dimension::Time)),
    ("ego.headway", Real(Dimension::Time)),
    ("ego.gap", Real(Dimension::Length)),
    ("ego.lane_offset", Real(Dimension::Length)),
    ("ego.off_lane", Truth),
    ("ego.wrong_way", Truth),
    ("ego.red_light", Truth),
    ("ego.stop_line", Truth),
    ("ego.over_limit", Real(Dimension::Speed)),
    ("ego.station", Real(Dimension::Length)),
    ("ego.impact_speed", Real(Dimension::Speed)),
    ("ego.slide", Real(Dimension::Speed)),
    ("ego.hitch", Real(Dimension::Angle)),
    ("ego.standing", Real(Dimension::Time)),
    ("ego.wobble", Real(Dimension::Rate)),
    ("ego.rss_reserve", Real(Dimension::Length)),
    ("ego.others_distance", Real(Dimension::Length)),
    ("ego.unseen_distance", Real(Dimension::Length)),
];

/// The signals of the loop on roads, in the order of its frame, and behind them the [measures](crate::measure).
pub const ROAD_SIGNALS: &[(&str, SignalKind)] = &ALL;

const ALL: [(&str, SignalKind); road::COUNT + measure::ROAD_COUNT] = {
    let mut all = [OWN[0]; road::COUNT + measure::ROAD_COUNT];
    let mut i = 0;
    while i < all.len() {
        all[i] = if i < low_speed::COUNT {
            LOW_SPEED_SIGNALS[i]
        } else if i < road::COUNT {
            OWN[i - low_speed::COUNT]
        } else {
            MEASURES[i - road::COUNT]
        };
        i += 1;
    }
    all
};

/// Two who follow each other in one way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Following {
    /// From the front of the one to the rear of the other.
    pub gap_m: f64,
    /// Of the one behind.
    pub speed_mps: f64,
    /// Of the one ahead, along the way.
    pub ahead_mps: f64,
}

impl Following {
    /// Time until they touch at their present speeds; infinite if they never do.
    #[inline]
    pub fn ttc_s(&self) -> f64 {
        let closing_mps = self.speed_mps - self.ahead_mps;
        if self.gap_m <= 0.0 {
            0.0
        } else if closing_mps > 0.0 {
            self.gap_m / closing_mps
        } else {
            f64::INFINITY
        }
    }
    /// Time in which the gap is covered; infinite at a standstill.
    #[inline]
    pub fn headway_s(&self) -> f64 {
        if self.speed_mps > 0.0 { self.gap_m.max(0.0) / self.speed_mps } else { f64::INFINITY }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_begins_with_the_low_speed_signals_and_names_its_own() {
        assert_eq!(ROAD_SIGNALS.len(), road::COUNT + measure::ROAD_COUNT);
        assert_eq!(ROAD_SIGNALS[..low_speed::COUNT], LOW_SPEED_SIGNALS[..low_speed::COUNT]);
        assert_eq!(ROAD_SIGNALS[road::COUNT + measure::STALLED].0, "ego.stalled");
        // No name stands for two signals.
        let mut names: Vec<&str> = ROAD_SIGNALS.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ROAD_SIGNALS.len());
        let names = [
            (road::TTC, "ego.ttc"),
            (road::HEADWAY, "ego.headway"),
            (road::GAP, "ego.gap"),
            (road::LANE_OFFSET, "ego.lane_offset"),
            (road::OFF_LANE, "ego.off_lane"),
            (road::WRONG_WAY, "ego.wrong_way"),
            (road::RED_LIGHT, "ego.red_light"),
            (road::STOP_LINE, "ego.stop_line"),
            (road::OVER_LIMIT, "ego.over_limit"),
            (road::STATION, "ego.station"),
            (road::IMPACT_SPEED, "ego.impact_speed"),
            (road::SLIDE, "ego.slide"),
            (road::HITCH, "ego.hitch"),
            (road::STANDING, "ego.standing"),
            (road::WOBBLE, "ego.wobble"),
            (road::RSS_RESERVE, "ego.rss_reserve"),
            (road::OTHERS_DISTANCE, "ego.others_distance"),
            (road::UNSEEN_DISTANCE, "ego.unseen_distance"),
        ];
        assert!(names.iter().map(|(at, _)| *at).eq(low_speed::COUNT..road::COUNT), "every signal of its own is named");
        names.iter().for_each(|&(at, name)| assert_eq!(ROAD_SIGNALS[at].0, name));
    }

    #[test]
    fn time_to_collision_and_headway_by_hand() {
        // 20 m behind somebody who is 5 m/s slower, at 25 m/s: 20 / 5 and 20 / 25.
        let behind = Following { gap_m: 20.0, speed_mps: 25.0, ahead_mps: 20.0 };
        assert_eq!((behind.ttc_s(), behind.headway_s()), (4.0, 0.8));
        assert_eq!(Following { ahead_mps: 30.0, ..behind }.ttc_s(), f64::INFINITY);
        assert_eq!(Following { gap_m: -0.1, ..behind }.ttc_s(), 0.0);
        assert_eq!(Following { speed_mps: 0.0, ahead_mps: 0.0, gap_m: 3.0 }.headway_s(), f64::INFINITY);
        // Somebody who comes towards us counts with his speed: 30 / (10 + 5).
        assert_eq!(Following { gap_m: 30.0, speed_mps: 10.0, ahead_mps: -5.0 }.ttc_s(), 2.0);
    }
}
