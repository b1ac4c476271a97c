//! Contact during a tick, not only at its ends.
//!
//! Between two ticks the pose is interpolated linearly in x, y and heading, which is also how the vehicle models
//! integrate: a straight chord with the heading turning evenly (a base cycle is about 10 ms).

use anabranch_kernel::maths::Real;

use crate::clearance::{Closest, WallEdge, closest};
use crate::outline::Body;
use crate::pose::{Point, Pose};

/// Nearer than this counts as contact, so that the search for the moment of contact ends.
pub const CONTACT_TOLERANCE_M: f64 = 1e-6;

/// After so many advances a car still hovers within micrometres of an edge without leaving it; that is called contact,
/// because the other answer could be wrong.
const ADVANCES_MAX: usize = 4096;

/// The way from one tick to the next. Headings are not wrapped: their difference is the turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Pose of the rear axle at the start.
    pub from: Pose,
    /// Pose of the rear axle at the end.
    pub to: Pose,
}

impl Motion {
    /// The pose after a fraction of the motion.
    pub fn at(&self, fraction: f64) -> Pose {
        let mix = |a: f64, b: f64| a + (b - a) * fraction;
        Pose::new(mix(self.from.x, self.to.x), mix(self.from.y, self.to.y), mix(self.from.heading, self.to.heading))
    }
}

/// A car touches an obstacle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Part of the motion that was free, in [0, 1].
    pub fraction: f64,
    /// Where on the outline, in the car's frame.
    pub on_ego: Point,
    /// Where on the obstacle, in the world.
    pub in_world: Point,
    /// Which obstacle.
    pub obstacle: u32,
}

/// Upper bound of how far any point of the outline moves in a tick: the way of the rear axle plus the turn about it.
#[inline(always)]
pub fn max_displacement<R: Real>(body: &Body, dx: R, dy: R, dheading: R) -> R {
    (dx * dx + dy * dy).sqrt() + dheading.abs() * R::splat(body.bounding_radius_m)
}

/// Whether contact is possible between two ticks with these clearances: no point moves farther than `displacement`, so
/// in between the clearance cannot fall below half of what the clearances exceed it by. Where this says no,
/// [`first_contact`] finds nothing.
#[inline(always)]
pub fn may_touch<R: Real>(clearance_from: R, clearance_to: R, displacement: R) -> R::Mask {
    (clearance_from + clearance_to).le(displacement + R::splat(4.0 * CONTACT_TOLERANCE_M))
}

/// The first contact of a motion, if there is one. Nothing slips through, however thin or fast.
///
/// Conservative advancement (Mirtich 1996) edge by edge: from a free pose the car may advance as far as no point of it
/// can cross the line that separates it from the edge.
pub fn first_contact(body: &Body, motion: &Motion, edges: &[WallEdge]) -> Option<Contact> {
    let mut first: Option<Contact> = None;
    for edge in edges {
        let until = first.map_or(1.0, |contact| contact.fraction);
        if let Some((fraction, touch)) = advance(body, motion, edge, until)
            && first.is_none_or(|contact| fraction < contact.fraction)
        {
            first = Some(Contact {
                fraction,
                on_ego: touch.on_ego(body),
                in_world: motion.at(fraction).world_from_local(touch.wall),
                obstacle: edge.obstacle,
            });
        }
    }
    first
}

/// The fraction at which the car comes within the tolerance of one edge, if that is not after `until`.
fn advance(body: &Body, motion: &Motion, edge: &WallEdge, until: f64) -> Option<(f64, Closest)> {
    let mut fraction = 0.0;
    let mut touch = closest(body, motion.from, edge);
    for _ in 0..ADVANCES_MAX {
        let clearance_m = touch.core_distance_m - body.radius_m;
        let Some(towards) = touch.towards_wall().filter(|_| clearance_m > CONTACT_TOLERANCE_M) else {
            return Some((fraction, touch));
        };
        let approach_m = approach_m_max(body, motion, motion.at(fraction).heading, towards);
        if approach_m * (until - fraction) + CONTACT_TOLERANCE_M < clearance_m || fraction >= until {
            return None;
        }
        fraction = (fraction + clearance_m / approach_m).min(until);
        touch = closest(body, motion.at(fraction), edge);
    }
    Some((fraction, touch))
}

/// Upper bound of how far any point of the core moves in a direction (given in the car's frame at a heading on the
/// way), per whole motion: the axle's way, the turn of the corners now, and ½·turn²·radius for the arc they follow.
fn approach_m_max(body: &Body, motion: &Motion, heading: f64, towards: Point) -> f64 {
    let way = Point::new(motion.to.x - motion.from.x, motion.to.y - motion.from.y);
    let local = Pose::new(0.0, 0.0, heading).local_from_world(way);
    let turn = motion.to.heading - motion.from.heading;
    // A point r of the car moves by turn · (−r.y, r.x); the largest part along `towards` is at a corner.
    let centre_m = turn * body.core_ahead_m * towards.y;
    let corner_m = turn.abs() * (body.core_half_length_m * towards.y.abs() + body.core_half_width_m * towards.x.abs());
    let arc_m = 0.5 * turn * turn * body.core_radius_m;
    local.x * towards.x + local.y * towards.y + centre_m + corner_m + arc_m
}
