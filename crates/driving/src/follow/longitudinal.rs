//! Speed: cruise, come to rest at a place, hold there.

use anabranch_kernel::maths::Real;
use serde::{Deserialize, Serialize};

/// Slower than this a car counts as standing; the brakes then hold it.
pub const STANDSTILL_MPS: f64 = 0.05;

/// Gains and limits of the speed law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpeedGains {
    /// Speed where nothing ahead asks for less.
    pub cruise_mps: f64,
    /// Strongest acceleration asked for.
    pub accel_max_mps2: f64,
    /// Deceleration of an ordinary stop (positive); also what holds the car at rest.
    pub comfort_decel_mps2: f64,
    /// Strongest deceleration asked for (positive).
    pub brake_max_mps2: f64,
    /// Acceleration per speed error.
    pub k_speed_per_s: f64,
    /// Speed per remaining metre on the last stretch of a stop.
    pub k_stop_per_s: f64,
    /// Nearer than this the place is reached and the brakes hold.
    pub stop_tolerance_m: f64,
}

impl SpeedGains {
    /// Parking speed, soft stops.
    pub const CALM: Self = Self {
        cruise_mps: 1.0,
        accel_max_mps2: 1.0,
        comfort_decel_mps2: 0.6,
        brake_max_mps2: 3.0,
        k_speed_per_s: 2.5,
        k_stop_per_s: 1.2,
        stop_tolerance_m: 0.05,
    };
    /// Half as fast again, firm stops.
    pub const EAGER: Self = Self {
        cruise_mps: 1.5,
        accel_max_mps2: 2.0,
        comfort_decel_mps2: 1.2,
        brake_max_mps2: 5.0,
        k_speed_per_s: 3.5,
        k_stop_per_s: 1.6,
        stop_tolerance_m: 0.05,
    };

    /// Way from cruising to rest.
    pub fn brake_way_m(&self) -> f64 {
        0.5 * self.cruise_mps * self.cruise_mps / self.comfort_decel_mps2
    }

    /// Acceleration along the gear that holds the car.
    #[inline(always)]
    pub fn hold<R: Real>(&self) -> R {
        R::splat(-self.comfort_decel_mps2)
    }

    /// Acceleration along the gear for the current speed along the gear and the metres left to where the car must
    /// stand (infinite if nowhere).
    ///
    /// The wanted speed is √(2·b·(s − s₀)) for a stop with constant deceleration b, and on the last stretch k·s,
    /// joined smoothly where k·v = b. Its own deceleration min(b, k·v) is fed forward, so that the lag of the drive
    /// costs little. `speed_max` is kept by ordinary braking. Within the tolerance the brakes take over, so that the stop takes finite time.
    #[inline(always)]
    pub fn accel<R: Real>(&self, speed: R, remaining_m: R, speed_max: R) -> R {
        let (decel, k_stop) = (self.comfort_decel_mps2, self.k_stop_per_s);
        let zero = R::splat(0.0);
        let ramp = R::splat(k_stop) * remaining_m.max(zero);
        let offset = decel * decel / (k_stop * k_stop);
        let root = (R::splat(2.0 * decel) * remaining_m - R::splat(offset)).max(zero).sqrt();
        let stopping_speed = R::select(remaining_m.lt(R::splat(decel / (k_stop * k_stop))), ramp, root);
        let cruise = R::splat(self.cruise_mps);
        let slows = stopping_speed.lt(cruise);
        let feed_forward = R::select(slows, -(R::splat(k_stop) * speed).clamp(zero, R::splat(decel)), zero);
        let wanted = R::select(slows, stopping_speed, cruise);
        let accel = feed_forward + R::splat(self.k_speed_per_s) * (wanted - speed);
        let slowed = (R::splat(self.k_speed_per_s) * (speed_max - speed)).max(R::splat(-decel));
        let accel = accel.min(slowed).clamp(R::splat(-self.brake_max_mps2), R::splat(self.accel_max_mps2));
        R::select(self.reached(remaining_m), self.hold(), accel)
    }

    /// Whether so little is left that the brakes take over.
    #[inline(always)]
    pub fn reached<R: Real>(&self, remaining_m: R) -> R::Mask {
        remaining_m.lt(R::splat(self.stop_tolerance_m))
    }
}
