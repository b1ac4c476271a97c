//! What a driver that is no path follower is told about its path: models and drivers from outside alike.

use anabranch_bridge::protocol::PathSeen;
use anabranch_driving::follow::{LateralLaw, STANDSTILL_MPS, SectionLanes, SpeedGains, Told, look_up, project};
use anabranch_geometry::Path;

use super::state::FREE_M;

/// The place on a path: it moves on with the car, and to the next section when the car stands at the end of one.
pub(super) struct Along<'a> {
    pub(super) station_m: &'a mut f64,
    pub(super) section: &'a mut u32,
}

impl Along<'_> {
    /// The same look-up, projection and look-ahead as that of the built-in path follower, with the same bits. `gear` is
    /// the direction behind the last section; nothing is free behind `stand_at_m`.
    pub(super) fn see(
        self,
        path: &Path,
        (lateral, speed): (&LateralLaw, &SpeedGains),
        told: &Told<f64>,
        (gear, stand_at_m): (i8, f64),
    ) -> PathSeen {
        let Some(section) = path.sections().get(*self.section as usize) else {
            return PathSeen { direction: gear, ..PathSeen::default() };
        };
        let lanes = SectionLanes::<f64>::gather(|_| section);
        let reference = look_up(|_| path.samples(), &lanes, *self.station_m);
        let ahead = lateral.look_ahead(|_| path.samples(), &lanes, *self.station_m, told.speed);
        let (station_m, deviation) = project(&reference, &lanes, *self.station_m, told);
        *self.station_m = station_m;
        let to_end_m = section.end_m - station_m;
        let sections_left = (path.sections().len() - 1) as u32 - *self.section;
        let seen = PathSeen {
            station: station_m,
            lateral: deviation.lateral_m,
            heading: deviation.heading,
            curvature: ahead.curvature,
            remaining: to_end_m.min(stand_at_m.min(FREE_M) - station_m),
            speed_max: ahead.speed_max_mps,
            direction: section.direction as i8,
            section: *self.section,
            sections_left,
            to_end: to_end_m,
        };
        if sections_left > 0 && speed.reached(to_end_m) && told.speed.abs() < STANDSTILL_MPS {
            *self.section += 1;
            *self.station_m = path.sections()[*self.section as usize].start_m;
        }
        seen
    }
}
