//! What moves the car on roads, on what ground, and what hangs on it.

use anabranch_geometry::{Body, Contact, Motion, Pose, first_contact, max_displacement, may_touch, nearest};
use anabranch_kernel::{Visitor, maths};
use anabranch_monitors::{low_speed, road};
use anabranch_roads::{Network, ZoneKind};
use anabranch_vehicle::{
    Area, BadGround, Car, CarModel, Course, Ground, Inputs, Place, SingleTrack, SingleTrackModel, TrailerModel,
    WithTrailer, Zone,
};
use serde::{Deserialize, Serialize};

use super::super::Drive;
use super::super::tick::{Scratch, deceleration};
use super::Street;
use super::rules::OnLane;
use super::tick::{Event, Touch};
use crate::file::{VehicleModel, WorldSpec, ZoneEffect};

/// Friction of dry asphalt, where a scenario says nothing.
const DRY: f64 = 0.9;
/// Slower than this a car has no curvature that could be told from its yaw rate.
const CURVES_MPS: f64 = 0.5;

/// What moves the car.
#[derive(Clone, Debug)]
pub(in super::super) enum Vehicle {
    /// Without slip.
    Rolling(CarModel),
    /// With tyres, on a ground.
    Tyres(Box<SingleTrackModel>, Ground),
    /// With a trailer, whose outline is prepared.
    Trailer(Box<TrailerModel>, Body),
}

/// What of a vehicle evolves besides the plain car.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Attached {
    /// Nothing.
    Nothing,
    /// Slip of its tyres.
    Tyres {
        /// Speed of the rear axle across the car, to the left.
        slide_mps: f64,
        /// Counter-clockwise.
        yaw_rate_radps: f64,
    },
    /// A trailer.
    Trailer {
        /// Angle by which the car points left of the trailer.
        hitch_rad: f64,
    },
}

/// What a vehicle is handed in one base cycle to be moved.
pub(in super::super) struct Handed<'a> {
    pub(in super::super) car: &'a mut Car<f64>,
    pub(in super::super) attached: &'a mut Attached,
    pub(in super::super) gear_sign: f64,
    /// Of the ground below it; 1 where nothing feels it.
    friction: f64,
    /// What is left of its tyres; all of it if `None`.
    worn: Option<Worn>,
}

/// What is left of tyres.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worn {
    /// Factors of stiffness and grip, front and rear.
    pub axles: [[f64; 2]; 2],
    /// Deceleration by rolling resistance that good tyres do not have.
    pub drag_mps2: f64,
}

/// A speed with a little less magnitude, never beyond zero.
fn slowed(speed_mps: f64, by_mps: f64) -> f64 {
    if speed_mps > 0.0 { (speed_mps - by_mps).max(0.0) } else { (speed_mps + by_mps).min(0.0) }
}

impl Vehicle {
    /// Prepares the vehicle of a scenario.
    pub(super) fn new(
        given: &VehicleModel,
        plain: &CarModel,
        network: &Network,
        world: &WorldSpec,
    ) -> Result<Self, BadGround> {
        Ok(match given {
            VehicleModel::Rolling => Self::Rolling(*plain),
            VehicleModel::Tyres(spec) => {
                Self::Tyres(Box::new(SingleTrackModel::new(*spec, plain.dt_s)), ground(network, world)?)
            }
            VehicleModel::Trailer(spec) => {
                Self::Trailer(Box::new(TrailerModel::new(plain.spec, *spec, plain.dt_s)), Body::new(&spec.outline))
            }
        })
    }
    /// At the beginning: rolling straight on.
    pub(super) fn start(&self) -> Attached {
        match self {
            Self::Rolling(_) => Attached::Nothing,
            Self::Tyres(..) => Attached::Tyres { slide_mps: 0.0, yaw_rate_radps: 0.0 },
            Self::Trailer(..) => Attached::Trailer { hitch_rad: 0.0 },
        }
    }
    /// From the rear axle of the car back to the last bumper, with everything straight.
    pub(super) fn rear_m(&self, plain: &CarModel) -> f64 {
        match self {
            Self::Trailer(model, _) => {
                let trailer = &model.trailer;
                (trailer.hitch_behind_m + trailer.length_m + trailer.outline.rear_m).max(plain.spec.outline.rear_m)
            }
            Self::Rolling(_) | Self::Tyres(..) => plain.spec.outline.rear_m,
        }
    }
    /// The trailer, if there is one, behind a car.
    pub(super) fn trailer(&self, car: &Car<f64>, attached: &Attached) -> Option<(&Body, Pose)> {
        match (self, attached) {
            (Self::Trailer(model, body), Attached::Trailer { hitch_rad }) => {
                Some((body, model.trailer_pose(&WithTrailer { car: *car, hitch: *hitch_rad })))
            }
            _ => None,
        }
    }
    /// Moves the vehicle by one base cycle: commands after all errors. Returns cosine and sine of the new heading.
    pub(in super::super) fn step(&self, handed: Handed<'_>, steering: f64, accel: f64) -> (f64, f64) {
        let Handed { car, attached, gear_sign, friction, worn } = handed;
        match (self, attached) {
            (Self::Tyres(model, _), Attached::Tyres { slide_mps, yaw_rate_radps }) => {
                let mut state = SingleTrack { car: *car, slide: *slide_mps, yaw_rate: *yaw_rate_radps };
                let inputs = Inputs { steering, accel, gear_sign, friction };
                let direction = match worn {
                    None => model.step(&mut state, &inputs),
                    Some(worn) => {
                        let direction = model.with_tyres(worn.axles).step(&mut state, &inputs);
                        state.car.speed = slowed(state.car.speed, worn.drag_mps2 * model.dt_s());
                        direction
                    }
                };
                (*car, *slide_mps, *yaw_rate_radps) = (state.car, state.slide, state.yaw_rate);
                direction
            }
            (Self::Trailer(model, _), Attached::Trailer { hitch_rad }) => {
                let mut state = WithTrailer { car: *car, hitch: *hitch_rad };
                let direction = model.step(&mut state, steering, accel, gear_sign);
                (*car, *hitch_rad) = (state.car, state.hitch);
                direction
            }
            (Self::Rolling(model), _) => model.step(car, steering, accel, gear_sign),
            _ => unreachable!("a vehicle keeps its kind for the whole run"),
        }
    }
    /// What a car is handed to be moved from a place on the road.
    pub(super) fn hand<'a>(
        &self,
        (car, attached): (&'a mut Car<f64>, &'a mut Attached),
        gear_sign: f64,
        (on, time_s, gain): (&OnLane, f64, f64),
        worn: Option<Worn>,
    ) -> Handed<'a> {
        let friction = match self {
            Self::Tyres(_, ground) => ground.friction(&place_on(car, on), time_s, gain),
            Self::Rolling(_) | Self::Trailer(..) => 1.0,
        };
        Handed { car, attached, gear_sign, friction, worn }
    }
}

impl Attached {
    /// Names what evolves besides the plain car.
    pub(super) fn visit<V: Visitor>(&self, v: &mut V) {
        match self {
            Self::Nothing => {}
            Self::Tyres { slide_mps, yaw_rate_radps } => SingleTrack::visit_slide(*slide_mps, *yaw_rate_radps, v),
            Self::Trailer { hitch_rad } => WithTrailer::visit_hitch(*hitch_rad, v),
        }
    }
}

/// Where a car is, as grounds know it.
pub(super) fn place_on(car: &Car<f64>, on: &OnLane) -> Place {
    Place { point: car.pose().point(), lane: Some((on.lane.0, on.place.station_m)) }
}

/// The ground: zones of the map, then those of the scenario.
pub(super) fn ground(network: &Network, world: &WorldSpec) -> Result<Ground, BadGround> {
    let mapped = network.zones().iter().filter_map(|zone| match zone.kind {
        ZoneKind::Friction(friction) => {
            let area = Area::Polygon(zone.corners.clone());
            Some(Zone { area, friction: Course::Fixed(friction), during_s: None })
        }
        ZoneKind::GpsLoss | ZoneKind::UrbanCanyon(_) | ZoneKind::Open | ZoneKind::Spot | ZoneKind::BlindCorner(_) => {
            None
        }
    });
    let given = world.zones.iter().filter_map(|zone| match zone.effect {
        ZoneEffect::Friction(friction) => {
            let area = Area::Polygon(zone.corners.clone());
            Some(Zone { area, friction: Course::Fixed(friction), during_s: zone.during_s })
        }
        ZoneEffect::GpsNoise(_) | ZoneEffect::GpsLost => None,
    });
    let everywhere = Course::Fixed(world.friction.map_or(DRY, |friction| friction.value));
    Ground::new(everywhere, mapped.chain(given).collect())
}

impl Drive {
    /// Truly: how fast the car turns.
    pub(super) fn yaw_rate(&self, car: &Car<f64>, attached: &Attached) -> f64 {
        match attached {
            Attached::Tyres { yaw_rate_radps, .. } => *yaw_rate_radps,
            Attached::Nothing | Attached::Trailer { .. } => {
                car.speed * self.model.spec.slip_gain * maths::tan(car.steering) / self.model.spec.wheelbase_m
            }
        }
    }

    /// Distance of a trailer from the nearest wall.
    pub(super) fn trailer_to_walls_m(&self, body: &Body, pose: Pose) -> f64 {
        let (sin, cos) = maths::sin_cos(pose.heading);
        nearest(body, pose.x, pose.y, cos, sin, self.index.all())
    }

    /// Contact of a trailer along the way of this tick, with walls and with others; the place of contact is told in the
    /// frame of the car.
    pub(super) fn drag(
        &self,
        street: &Street,
        (body, motion, car): (&Body, Motion, Motion),
        buffers: &super::Buffers,
        scratch: &mut Scratch<'_>,
    ) -> Option<Touch> {
        let (before_m, after_m) =
            (self.trailer_to_walls_m(body, motion.from), self.trailer_to_walls_m(body, motion.to));
        scratch.clearance_m = scratch.clearance_m.min(after_m);
        let (dx, dy) = (motion.to.x - motion.from.x, motion.to.y - motion.from.y);
        let moved_m = max_displacement(body, dx, dy, motion.to.heading - motion.from.heading);
        let wall = may_touch(before_m, after_m, moved_m)
            .then(|| first_contact(body, &motion, self.index.all()))
            .flatten()
            .map(|contact| Touch { contact, velocity_mps: [0.0; 2] });
        let other = self.touch(street, (body, &motion), buffers, scratch);
        let sooner = |a: &Touch, b: &Touch| a.contact.fraction.total_cmp(&b.contact.fraction);
        let touch = wall.into_iter().chain(other).min_by(sooner)?;
        scratch.clearance_m = scratch.clearance_m.min(0.0);
        let on_ego = car.at(touch.contact.fraction).local_from_world(touch.contact.in_world);
        Some(Touch { contact: Contact { on_ego, ..touch.contact }, ..touch })
    }

    /// Signals of a vehicle that is more than a plain car.
    pub(super) fn signal_vehicle(&self, car: &Car<f64>, attached: &Attached, event: &Event, frame: &mut [f64]) {
        match attached {
            Attached::Nothing => {}
            Attached::Trailer { hitch_rad } => frame[road::HITCH] = hitch_rad.abs(),
            Attached::Tyres { slide_mps, yaw_rate_radps } => {
                frame[road::SLIDE] = slide_mps.abs();
                // What drive and brakes ask for is not what the ground lets them have.
                let accel = event.speed_gained_mps / self.model.dt_s;
                frame[low_speed::ACCELERATION] = accel;
                frame[low_speed::DECELERATION] = deceleration(car.speed, accel);
                frame[low_speed::LATERAL_ACCELERATION] = car.speed * yaw_rate_radps;
                let is_moving = car.speed.abs() > CURVES_MPS;
                frame[low_speed::CURVATURE] = if is_moving { yaw_rate_radps / car.speed } else { 0.0 };
            }
        }
    }
}
