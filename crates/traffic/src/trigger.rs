//! Things that happen once, by name: a pedestrian starts, a car brakes, a light changes, an object appears (S4-18 F, S1-28).
//!
//! What makes one fire is data; that it has fired, and when, is state. Errors and people fire by hand: through the input of a tick.

use serde::{Deserialize, Serialize};

use crate::car::Id;
use crate::population::Outside;
use crate::streets::{Colour, LaneNumber};
use crate::traffic::Traffic;

/// A named event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trigger {
    /// Name for people, errors and scenario files.
    pub name: String,
    /// What fires it, beside the hand.
    pub when: When,
    /// What it does.
    pub effect: Effect,
}

/// What fires a trigger. It fires once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum When {
    /// Only by hand or by an error choice.
    Asked,
    /// At a tick.
    At(u32),
    /// As soon as an outsider's front is in this part of a lane.
    Reaches {
        /// The lane.
        lane: LaneNumber,
        /// From here.
        from_m: f64,
        /// To here.
        to_m: f64,
    },
    /// As soon as an outsider is faster.
    Faster(f64),
    /// As soon as an outsider is slower.
    Slower(f64),
    /// As soon as an outsider would be at a place of its lane within this time at its present speed.
    Arrives {
        /// The lane.
        lane: LaneNumber,
        /// The place.
        station_m: f64,
        /// The time.
        within_s: f64,
    },
}

/// What a trigger does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Effect {
    /// A walker, who has waited for it, starts.
    Start(usize),
    /// A thing, which was not there, appears.
    Appear(usize),
    /// A car brakes at least this hard for some time.
    Brake {
        /// The car.
        car: Id,
        /// How hard (positive).
        brake_mps2: f64,
        /// For how long.
        ticks: u32,
    },
    /// Somebody outside of the traffic sets out on a predetermined way that takes so long.
    Script {
        /// From then on it is where it stays.
        ticks: u32,
    },
    /// A light shows a colour for some time, whatever its programme says.
    Light {
        /// The light.
        light: u32,
        /// The colour.
        colour: Colour,
        /// For how long.
        ticks: u32,
    },
}

/// Not fired yet.
const NEVER: u32 = u32::MAX;

/// Which triggers have fired, and when. Part of the state.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Fired {
    at: Vec<u32>,
}

impl Fired {
    pub(crate) fn none(count: usize) -> Self {
        Self { at: vec![NEVER; count] }
    }
    /// Whether a trigger has fired.
    pub fn has(&self, trigger: usize) -> bool {
        self.at[trigger] != NEVER
    }
    /// The tick at which a trigger has fired.
    pub fn since(&self, trigger: usize) -> Option<u32> {
        Some(self.at[trigger]).filter(|&tick| tick != NEVER)
    }
    /// One word per trigger, for merge keys: whether it has fired and, while what it does lasts, when. Somebody who has started and
    /// something that has appeared are there themselves; that a car braked is over when it no longer does, and so is a way at its end.
    pub(crate) fn words<'a>(&'a self, effects: &'a [Effect], now: u32) -> impl Iterator<Item = u64> + 'a {
        const OVER: u64 = u64::MAX - 1;
        self.at.iter().zip(effects).map(move |(&at, effect)| match *effect {
            _ if at == NEVER => u64::MAX,
            Effect::Brake { ticks, .. } | Effect::Light { ticks, .. } | Effect::Script { ticks }
                if now - at < ticks =>
            {
                u64::from(at)
            }
            _ => OVER,
        })
    }
    /// Numbers of the triggers in which two states differ.
    pub(crate) fn differing<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = usize> + 'a {
        (0..self.at.len()).filter(|&i| self.at[i] != other.at[i])
    }
    /// Fires what is due at this tick or asked for.
    pub(crate) fn advance(&mut self, triggers: &[Trigger], tick: u32, outside: &[Outside], asked: &[usize]) {
        for (number, trigger) in triggers.iter().enumerate() {
            let is_due = self.at[number] == NEVER && (asked.contains(&number) || trigger.when.holds(tick, outside));
            if is_due {
                self.at[number] = tick;
            }
        }
    }
    /// How hard a car is made to brake.
    #[inline]
    pub(crate) fn brake_mps2(&self, traffic: &Traffic, tick: u32, id: Id) -> Option<f64> {
        let braking = |(number, trigger): (usize, &Trigger)| match trigger.effect {
            Effect::Brake { car, brake_mps2, ticks } if car == id && self.holds(number, tick, ticks) => {
                Some(brake_mps2)
            }
            _ => None,
        };
        traffic.triggers.iter().enumerate().filter_map(braking).max_by(f64::total_cmp)
    }
    /// The colour that a light is made to show; of several triggers the first in the list.
    pub(crate) fn colour(&self, traffic: &Traffic, tick: u32, light: u32) -> Option<Colour> {
        traffic.triggers.iter().enumerate().find_map(|(number, trigger)| match trigger.effect {
            Effect::Light { light: l, colour, ticks } if l == light && self.holds(number, tick, ticks) => Some(colour),
            _ => None,
        })
    }
    fn holds(&self, number: usize, tick: u32, ticks: u32) -> bool {
        self.since(number).is_some_and(|since| tick - since < ticks)
    }
}

impl When {
    fn holds(&self, tick: u32, outside: &[Outside]) -> bool {
        match *self {
            Self::Asked => false,
            Self::At(at) => tick >= at,
            Self::Reaches { lane, from_m, to_m } => {
                outside.iter().any(|o| o.lane == lane && (from_m..=to_m).contains(&o.station_m))
            }
            Self::Faster(mps) => outside.iter().any(|o| o.speed_mps > mps),
            Self::Slower(mps) => outside.iter().any(|o| o.speed_mps < mps),
            Self::Arrives { lane, station_m, within_s } => outside.iter().any(|o| {
                let way_m = station_m - o.station_m;
                o.lane == lane && way_m >= 0.0 && way_m <= within_s * o.speed_mps
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fires(when: When, tick: u32, outside: &[Outside], asked: &[usize]) -> bool {
        let triggers = [Trigger { name: "t".to_owned(), when, effect: Effect::Start(0) }];
        let mut fired = Fired::none(1);
        fired.advance(&triggers, tick, outside, asked);
        fired.has(0)
    }

    #[test]
    fn triggers_fire_by_time_place_condition_and_hand() {
        let ego = |station_m, speed_mps| [Outside { lane: 2, station_m, lateral_m: 0.0, speed_mps, kind: 0 }];
        assert!(!fires(When::At(5), 4, &[], &[]) && fires(When::At(5), 5, &[], &[]));
        assert!(!fires(When::Asked, 9, &[], &[]) && fires(When::Asked, 9, &[], &[0]));
        let zone = When::Reaches { lane: 2, from_m: 10.0, to_m: 20.0 };
        assert!(!fires(zone, 0, &ego(9.9, 0.0), &[]) && fires(zone, 0, &ego(10.0, 0.0), &[]));
        assert!(!fires(When::Faster(8.0), 0, &ego(0.0, 8.0), &[]) && fires(When::Faster(8.0), 0, &ego(0.0, 8.1), &[]));
        assert!(!fires(When::Slower(8.0), 0, &ego(0.0, 8.0), &[]) && fires(When::Slower(8.0), 0, &ego(0.0, 7.9), &[]));
        let soon = When::Arrives { lane: 2, station_m: 50.0, within_s: 2.0 };
        assert!(!fires(soon, 0, &ego(29.0, 10.0), &[]) && fires(soon, 0, &ego(31.0, 10.0), &[]));
        assert!(!fires(soon, 0, &ego(51.0, 10.0), &[]), "it is past");
    }

    #[test]
    fn a_trigger_fires_once_and_remembers_when() {
        let triggers = [Trigger { name: "t".to_owned(), when: When::At(3), effect: Effect::Start(0) }];
        let mut fired = Fired::none(1);
        (0..9).for_each(|tick| fired.advance(&triggers, tick, &[], &[]));
        assert_eq!(fired.since(0), Some(3));
    }
}
