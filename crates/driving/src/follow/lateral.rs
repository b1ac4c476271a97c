//! Where the car is relative to its path, and how to steer back.

use anabranch_geometry::{Path, PathSample, Section};
use anabranch_kernel::maths::{self, Real, TablePlace};
use anabranch_vehicle::CarSpec;
use serde::{Deserialize, Serialize};

use super::Told;

/// Farthest that the projection onto the path moves in one tick: pose jumps are followed, far ends of a loop are not.
const PROJECTION_STEP_MAX_M: f64 = 0.5;
/// Near the centre of a curve the projection is undefined; the speed of the foot is held within this.
const STRETCH: [f64; 2] = [0.5, 1.5];
/// Steepest angle towards the path that a lateral error may ask for.
const APPROACH_MAX_RAD: f64 = 0.5;
/// The path's curvature is averaged over this way before and behind the car.
const CURVATURE_WINDOW_HALF_M: f64 = 0.5;
/// Changes of curvature below this do not matter; keeps the quotient finite.
const CURVATURE_CHANGE_MIN_PER_M: f64 = 1e-3;
/// Smaller turns of the wheels at standstill are not waited for.
const STRAIGHT_RAD: f64 = 0.01;

/// The section each lane drives, ready for look-up.
#[derive(Clone, Copy, Debug)]
pub struct SectionLanes<R> {
    /// Index of the first sample.
    pub first: R,
    /// Index of the last interval between two samples, counted from the first.
    pub interval_last: R,
    /// Intervals per metre.
    pub per_spacing: R,
    /// Station of the first sample.
    pub start_m: R,
    /// Station of the last sample.
    pub end_m: R,
    /// +1 forwards, −1 backwards.
    pub direction: R,
}

impl<R: Real> SectionLanes<R> {
    /// One section per lane.
    #[inline(always)]
    pub fn gather<'p>(section: impl Fn(usize) -> &'p Section) -> Self {
        Self {
            first: R::from_lanes(|lane| section(lane).first as f64),
            interval_last: R::from_lanes(|lane| (section(lane).last - section(lane).first - 1) as f64),
            per_spacing: R::from_lanes(|lane| 1.0 / section(lane).spacing_m),
            start_m: R::from_lanes(|lane| section(lane).start_m),
            end_m: R::from_lanes(|lane| section(lane).end_m),
            direction: R::from_lanes(|lane| section(lane).direction),
        }
    }
}

/// The path at one station.
#[derive(Clone, Copy, Debug)]
pub struct Reference<R> {
    /// Rear axle.
    pub x: R,
    /// Rear axle.
    pub y: R,
    /// Heading of the car.
    pub heading: R,
    /// Cosine of the heading (between samples: of nearly unit length, 10⁻⁵ off in the sharpest curve).
    pub cos: R,
    /// Sine of the heading.
    pub sin: R,
    /// Curvature per metre driven forwards.
    pub curvature: R,
}

/// The samples before and after a station; the ends hold beyond the section.
#[inline(always)]
fn locate<R: Real>(section: &SectionLanes<R>, station_m: R) -> TablePlace<R> {
    let place = ((station_m - section.start_m) * section.per_spacing).max(R::splat(0.0));
    let interval = place.floor().min(section.interval_last);
    let share = (place - interval).min(R::splat(1.0));
    TablePlace { place, index: section.first + interval, share, last: section.interval_last }
}

/// One value of the sample before a place.
macro_rules! sample {
    ($samples:expr, $place:expr, $field:ident) => {
        R::entry(&$place, |lane, index| $samples(lane)[index].$field)
    };
}
/// One value at a place, interpolated linearly.
macro_rules! between {
    ($samples:expr, $place:expr, $field:ident) => {
        R::between(&$place, |lane, index| $samples(lane)[index].$field)
    };
}

/// The path at a station of the section.
#[inline(always)]
pub fn look_up<'p, R: Real>(
    samples: impl Fn(usize) -> &'p [PathSample],
    section: &SectionLanes<R>,
    station_m: R,
) -> Reference<R> {
    let place = locate(section, station_m);
    Reference {
        x: between!(samples, place, x),
        y: between!(samples, place, y),
        heading: between!(samples, place, heading),
        cos: between!(samples, place, cos),
        sin: between!(samples, place, sin),
        curvature: between!(samples, place, curvature_per_m),
    }
}

/// How far the car is off its path.
#[derive(Clone, Copy, Debug)]
pub struct Deviation<R> {
    /// Metres left of the path, as seen along the path's heading.
    pub lateral_m: R,
    /// Heading relative to the path's.
    pub heading: R,
}

/// Moves the station to the foot of the car's position on the path (one Newton step from the last one) and measures the deviation there.
#[inline(always)]
pub fn project<R: Real>(
    reference: &Reference<R>,
    section: &SectionLanes<R>,
    station_m: R,
    told: &Told<R>,
) -> (R, Deviation<R>) {
    let (dx, dy) = (told.x - reference.x, told.y - reference.y);
    let along = reference.cos * dx + reference.sin * dy;
    let left = reference.cos * dy - reference.sin * dx;
    let curvature = reference.curvature;
    // Left of the path in a left curve the foot moves faster, by 1/(1 − κ·e); to first order that needs no division.
    let stretch = (R::splat(1.0) + curvature * left).clamp(R::splat(STRETCH[0]), R::splat(STRETCH[1]));
    let step_max = R::splat(PROJECTION_STEP_MAX_M);
    let step = (section.direction * along * stretch).clamp(-step_max, step_max);
    let foot_m = (station_m + step).clamp(section.start_m, section.end_m);
    let moved = (foot_m - station_m) * section.direction;
    let lateral_m = left - R::splat(0.5) * curvature * moved * moved;
    let heading = maths::wrap_angle(told.heading - (reference.heading + curvature * moved));
    (foot_m, Deviation { lateral_m, heading })
}

/// Gains of the lateral law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LateralGains {
    /// Curvature per metre of lateral error (1/m²).
    pub k_lateral_per_m2: f64,
    /// Curvature per radian of heading error (1/m).
    pub k_heading_per_m: f64,
}

impl LateralGains {
    /// Back on the path within about 8 m, hardly noticed. For parking speed.
    pub const CALM: Self = Self { k_lateral_per_m2: 0.25, k_heading_per_m: 1.0 };
    /// Back on the path within about 5 m, with visible steering.
    pub const EAGER: Self = Self { k_lateral_per_m2: 0.5, k_heading_per_m: 1.4 };
}

/// The lateral law for one car.
///
/// Per metre driven in direction d = ±1, a lateral error e and a heading error ψ obey e' = d·ψ and ψ' = d·u, where u is
/// the curvature added to the path's. With u = −k_e·e − k_ψ·d·ψ this is e'' + k_ψ·e' + k_e·e = 0 forwards and backwards
/// alike, critically damped for k_ψ = 2·√k_e. The steering angle follows from the bicycle: δ = atan(L·κ) (S4-11).
///
/// Paths of arcs ask for jumps of the steering angle, which no car can follow. The path's curvature is therefore
/// averaged over a window about the car, moved ahead by the lag of the steering: a jump becomes a ramp that is centred
/// on it, and heading errors on both sides cancel. Near large jumps the path asks for less speed, so that the wheels
/// can follow the ramp. That is a property of the path: errors across it do not influence the speed (S1-48).
///
/// The gains may differ forwards and backwards: reversing, the front swings out, and many drivers are gentler then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LateralLaw {
    forward: Correction,
    reverse: Correction,
    /// Both directions have the same gains; most drivers do.
    is_alike: bool,
    wheelbase_m: f64,
    steering_max_rad: f64,
    steering_rate_max_radps: f64,
    steering_lag_s: f64,
    brake_way_m: f64,
    speed_per_curvature: f64,
}

/// The gains of one direction, with what follows from them.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Correction {
    gains: LateralGains,
    lateral_max_m: f64,
}

impl Correction {
    fn new(gains: LateralGains) -> Self {
        Self { gains, lateral_max_m: APPROACH_MAX_RAD * gains.k_heading_per_m / gains.k_lateral_per_m2 }
    }
    /// Lateral gain, heading gain and the largest lateral error that counts.
    #[inline(always)]
    fn lanes<R: Real>(&self) -> [R; 3] {
        let Self { gains, lateral_max_m } = *self;
        [R::splat(gains.k_lateral_per_m2), R::splat(gains.k_heading_per_m), R::splat(lateral_max_m)]
    }
}

/// What the path asks for here and a little ahead.
#[derive(Clone, Copy, Debug)]
pub struct Ahead<R> {
    /// Curvature per metre driven forwards.
    pub curvature: R,
    /// Speed at which the steering can follow.
    pub speed_max_mps: R,
}

impl LateralLaw {
    /// The law with these gains, forwards and backwards, for this car, looking ahead by the way it needs to slow down.
    pub fn new(forward: LateralGains, reverse: LateralGains, car: &CarSpec, brake_way_m: f64) -> Self {
        // Over the window of length w a change of curvature Δκ takes the steering angle at most L·Δκ (S4-11), in time
        // w/v; a tenth of the rate is left to the corrections.
        let speed_per_curvature = 0.9 * car.steering_rate_max_radps * 2.0 * CURVATURE_WINDOW_HALF_M / car.wheelbase_m;
        Self {
            forward: Correction::new(forward),
            reverse: Correction::new(reverse),
            is_alike: forward == reverse,
            wheelbase_m: car.wheelbase_m,
            steering_max_rad: car.steering_max_rad,
            steering_rate_max_radps: car.steering_rate_max_radps,
            steering_lag_s: car.steering_lag_s,
            brake_way_m,
            speed_per_curvature,
        }
    }
    /// Gains forwards and backwards.
    pub fn gains(&self) -> [LateralGains; 2] {
        [self.forward.gains, self.reverse.gains]
    }
    /// The same law with other gains, forwards and backwards.
    #[must_use]
    pub fn with_gains(&self, [forward, reverse]: [LateralGains; 2]) -> Self {
        let is_alike = forward == reverse;
        Self { forward: Correction::new(forward), reverse: Correction::new(reverse), is_alike, ..*self }
    }
    /// What the path asks for about a station: its curvature, averaged over the window, and the speed at which the
    /// wheels can follow its change between the back of the window and the braking distance ahead.
    #[inline(always)]
    pub fn look_ahead<'p, R: Real>(
        &self,
        samples: impl Fn(usize) -> &'p [PathSample],
        section: &SectionLanes<R>,
        station_m: R,
        speed: R,
    ) -> Ahead<R> {
        let middle_m = station_m + speed.abs() * R::splat(self.steering_lag_s);
        let half_m = R::splat(CURVATURE_WINDOW_HALF_M);
        let from_m = (middle_m - half_m).min(section.end_m - half_m).max(section.start_m);
        let to_m = (middle_m + half_m).min(section.end_m);
        let (back, front) = (locate(section, from_m), locate(section, to_m));
        let (from, to) = (between!(samples, back, heading), between!(samples, front, heading));
        let far = locate(section, to_m + R::splat(self.brake_way_m));
        let (curvature_from, curvature_to) =
            (sample!(samples, back, curvature_per_m), sample!(samples, far, curvature_per_m));
        let change = (curvature_to - curvature_from).abs() + R::splat(CURVATURE_CHANGE_MIN_PER_M);
        Ahead {
            curvature: section.direction * (to - from) / (to_m - from_m),
            speed_max_mps: R::splat(self.speed_per_curvature) / change,
        }
    }
    /// The slowest that [`Self::look_ahead`] asks for in a section.
    pub fn section_speed_max_mps(&self, path: &Path, section: usize) -> f64 {
        let section = path.sections()[section];
        let lanes = SectionLanes::gather(|_| &section);
        let station_m = |index: usize| section.start_m + section.spacing_m * (index - section.first) as f64;
        let speed = |index| self.look_ahead(|_| path.samples(), &lanes, station_m(index), 0.0).speed_max_mps;
        (section.first..=section.last).map(speed).fold(f64::INFINITY, f64::min)
    }
    /// Steering angle for a path curvature and a deviation, driving in a direction.
    #[inline(always)]
    pub fn steering<R: Real>(&self, path_curvature: R, deviation: &Deviation<R>, direction: R) -> R {
        let [k_lateral, k_heading, lateral_max_m] = self.gains_along(direction);
        let lateral_m = deviation.lateral_m.clamp(-lateral_max_m, lateral_max_m);
        let correction = k_lateral * lateral_m + k_heading * direction * deviation.heading;
        let steering = maths::atan(R::splat(self.wheelbase_m) * (path_curvature - correction));
        let steering_max = R::splat(self.steering_max_rad);
        steering.clamp(-steering_max, steering_max)
    }
    /// Lateral gain, heading gain and the largest lateral error that counts, driving in a direction. Nothing but this
    /// reads gains: a segment that is driven forwards alone does not depend on those for reversing.
    #[inline(always)]
    fn gains_along<R: Real>(&self, direction: R) -> [R; 3] {
        let forward = self.forward.lanes();
        if self.is_alike {
            return forward;
        }
        let (reverse, backwards) = (self.reverse.lanes(), direction.lt(R::splat(0.0)));
        [
            R::select(backwards, reverse[0], forward[0]),
            R::select(backwards, reverse[1], forward[1]),
            R::select(backwards, reverse[2], forward[2]),
        ]
    }
    /// Time to turn the wheels at standstill from the end of one section (straight without one) to the start of the
    /// next.
    pub fn turn_wheels_s(&self, path: &Path, section: usize) -> f64 {
        let angle = |at: f64, index: usize| {
            let lanes = SectionLanes::gather(|_| &path.sections()[index]);
            maths::atan(self.wheelbase_m * self.look_ahead(|_| path.samples(), &lanes, at, 0.0).curvature)
        };
        let before = section.checked_sub(1).map_or(0.0, |index| angle(path.sections()[index].end_m, index));
        let after = angle(path.sections()[section].start_m, section);
        let turn = (after - before).abs();
        if turn < STRAIGHT_RAD { 0.0 } else { turn / self.steering_rate_max_radps + 2.0 * self.steering_lag_s }
    }
}

#[cfg(test)]
mod tests {
    use anabranch_kernel::maths::Lanes;

    use super::*;

    #[test]
    fn each_direction_is_steered_by_its_own_gains_alone() {
        let car = CarSpec::named("compact").expect("a shipped car");
        let law = |forward, reverse| LateralLaw::new(forward, reverse, &car, 1.0);
        let (calm, eager) = (LateralGains::CALM, LateralGains::EAGER);
        let mixed = law(calm, eager);
        for (lateral_m, heading) in [(0.2, -0.1), (-0.2, 0.05), (0.01, 0.0), (0.0, 0.02)] {
            let off = Deviation { lateral_m, heading };
            let steering = |law: &LateralLaw, direction: f64| law.steering(0.1, &off, direction).to_bits();
            assert_eq!(steering(&mixed, 1.0), steering(&law(calm, calm), 1.0));
            assert_eq!(steering(&mixed, -1.0), steering(&law(eager, eager), -1.0));
            assert_ne!(steering(&mixed, -1.0), steering(&law(calm, calm), -1.0));
            // Side by side every lane has its own direction.
            let lanes = Deviation { lateral_m: Lanes::<8>::splat(lateral_m), heading: Lanes::<8>::splat(heading) };
            let direction = Lanes::<8>::from_lanes(|lane| if lane % 2 == 0 { 1.0 } else { -1.0 });
            let together = mixed.steering(Lanes::<8>::splat(0.1), &lanes, direction);
            for lane in 0..8 {
                assert_eq!(together.lane(lane).to_bits(), steering(&mixed, direction.lane(lane)));
            }
        }
        assert_eq!(mixed.with_gains([eager, eager]), law(eager, eager));
    }
}
