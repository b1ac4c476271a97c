//! Helper simulators in the loop on roads: what they are lent, and who uses what they compute (S2-22).

use anabranch_bridge::protocol::{HeardSeen, TyresSeen};
use anabranch_driving::road::HeardCar;
use anabranch_errors::{Effects, HelperEffects};
use anabranch_geometry::{Outline, Pose};
use anabranch_helpers::{Around, Nearby, Wrong};
use anabranch_kernel::{Seed, maths};
use anabranch_vehicle::Car;

use super::cast::Part;
use super::others::{Other, Shape, UNNAMED_FROM};
use super::vehicle::Worn;
use super::{Buffers, Street, StreetState};
use crate::file::ObjectKind;

/// Cars and lorries among the kinds of traffic have a radio, cyclists have none.
const LAST_WITH_RADIO: u8 = 1;

/// Whether an object of a file may have a radio.
pub(super) fn has_radio(kind: ObjectKind) -> bool {
    matches!(kind, ObjectKind::Car | ObjectKind::Lorry)
}

fn wrong(effects: &HelperEffects) -> Wrong {
    let HelperEffects { silent, all_silent, monitor_lost, late_ticks, leak_pa_per_s, hole_pa_per_s } = *effects;
    Wrong { silent, all_silent, late_ticks, leak_pa_per_s, hole_pa_per_s, monitor_lost }
}

impl Street {
    /// Lets helpers advance that are due in this base cycle.
    pub(super) fn help(
        &self,
        own: &mut StreetState,
        (car, outline): (&Car<f64>, &Outline),
        effects: &Effects,
        buffers: &mut Buffers,
    ) {
        let (tick, seed) = (own.branch.tick, Seed(own.seed));
        let Some(state) = own.helpers.as_deref_mut().filter(|state| self.helpers.is_due(state, tick)) else { return };
        let Buffers { nearby, others, .. } = buffers;
        nearby.clear();
        nearby.extend(others.iter().map(|other| self.nearby(other)));
        let (sin, cos) = maths::sin_cos(car.heading);
        let ahead_m = 0.5 * (outline.front_m - outline.rear_m);
        let car = Nearby {
            number: u32::MAX,
            x_m: car.x + ahead_m * cos,
            y_m: car.y + ahead_m * sin,
            heading_rad: car.heading,
            speed_mps: car.speed,
            half_length_m: 0.5 * (outline.front_m + outline.rear_m),
            drives: true,
        };
        self.helpers.advance(state, &Around { tick, seed, car, others: nearby, wrong: wrong(&effects.helpers) });
    }

    fn nearby(&self, other: &Other) -> Nearby {
        let drives = match other.shape {
            _ if other.number < UNNAMED_FROM => {
                let moves = matches!(self.cast.parts[other.number as usize], Part::Vehicle | Part::Scripted { .. });
                moves && self.with_radio[other.number as usize]
            }
            Shape::Kind(kind) => kind <= LAST_WITH_RADIO,
            Shape::Own(_) => false,
        };
        Nearby {
            number: other.number,
            x_m: other.pose.x,
            y_m: other.pose.y,
            heading_rad: other.pose.heading,
            speed_mps: other.speed_mps,
            half_length_m: other.half_length_m,
            drives,
        }
    }

    /// What the built-in driver has heard.
    pub(super) fn hear(&self, own: &StreetState, out: &mut Vec<HeardCar>) {
        out.clear();
        let state = own.helpers.as_deref().and_then(|state| state.radio.as_ref());
        let Some((radio, state)) = self.helpers.radio.as_ref().zip(state) else { return };
        out.extend(state.heard.iter().map(|message| HeardCar {
            pose: Pose::new(message.x_m, message.y_m, message.heading_rad),
            speed_mps: message.speed_mps,
            accel_mps2: message.accel_mps2,
            half_length_m: message.half_length_m,
            age_s: radio.age_s(message, own.branch.tick),
        }));
    }

    /// What a driver from outside or a model has heard; nothing at all without a radio.
    pub(in super::super) fn radio_seen(&self, own: &StreetState) -> Option<Vec<HeardSeen>> {
        let state = own.helpers.as_deref()?.radio.as_ref()?;
        let radio = self.helpers.radio.as_ref()?;
        let seen = |message: &anabranch_helpers::Message| HeardSeen {
            id: message.sender,
            x: message.x_m,
            y: message.y_m,
            heading: message.heading_rad,
            speed: message.speed_mps,
            accel: message.accel_mps2,
            length: 2.0 * message.half_length_m,
            age: radio.age_s(message, own.branch.tick),
        };
        Some(state.heard.iter().map(seen).collect())
    }

    /// Whether the built-in driver is warned of its tyres.
    pub(super) fn warns_of_tyres(&self, own: &StreetState) -> bool {
        let state = own.helpers.as_deref().and_then(|state| state.tyres.as_ref());
        self.helpers.tyres.as_ref().zip(state).is_some_and(|(tyres, state)| tyres.warns(state))
    }

    /// What a driver from outside or a model is told of its tyres; nothing at all where nobody looks after them.
    pub(in super::super) fn tyres_seen(&self, own: &StreetState) -> Option<Box<TyresSeen>> {
        let state = own.helpers.as_deref()?.tyres.as_ref()?;
        let tyres = self.helpers.tyres.as_ref()?;
        let [fl, fr, rl, rr] = tyres.told_shares(state);
        Some(Box::new(TyresSeen { fl, fr, rl, rr, warning: tyres.warns(state) }))
    }

    /// What is left of the tyres; `None` where nobody looks after them.
    pub(super) fn worn(&self, own: &StreetState) -> Option<Worn> {
        let state = own.helpers.as_deref()?.tyres.as_ref()?;
        let tyres = self.helpers.tyres.as_ref()?;
        let axles = tyres.axles(state).map(|axle| [axle.stiffness, axle.grip]);
        Some(Worn { axles, drag_mps2: tyres.drag_mps2(state) })
    }
}
