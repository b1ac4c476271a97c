//! How far can be seen at a time of day (S3-11, S3-17): a model of a camera, chosen by us.

use anabranch_kernel::maths;

use super::super::codes::Code;
use super::super::problems::Problems;
use super::super::view::View;

/// Minutes of a day.
const DAY_MIN: f64 = 1440.0;
/// Sunrise and sunset, in minutes since midnight.
const SUN_MIN: (f64, f64) = (390.0, 1110.0);
/// Part of the range that is left at night, under lamps.
const NIGHT: f64 = 0.7;
/// Part of the range that the glare of a sun at the horizon takes away under a clear sky.
const GLARE: f64 = 0.6;
/// Minutes around sunrise and sunset in which it does.
const GLARE_MIN: f64 = 60.0;
/// Minutes around them that people call twilight, as in the T-junction of `crates/problems`.
const TWILIGHT_MIN: f64 = 80.0;

/// The part that is left of the ranges of sensors and of signs; all of it where the world says no time.
pub(super) fn sight(problems: &mut Problems<'_>, root: View<'_>) -> Option<f64> {
    let world = root.table("world")?;
    let clouds = world.real("clouds")?;
    if clouds.value > 1.0 {
        problems.add(Code::OutOfRange, clouds.span, "`clouds` go from 0, clear, to 1, overcast", "");
        return None;
    }
    let Some(time) = world.real("time_of_day") else { return Some(1.0) };
    let minute = time.value / 60.0;
    if minute > DAY_MIN {
        problems.add(Code::OutOfRange, time.span, "a day has 1440 min", "0 is midnight, \"480 min\" is 8 a.m.");
        return None;
    }
    Some(left(minute, clouds.value))
}

/// How bright it is, from 0 at night to 1 by day, for pictures; day where the world says no time.
pub(super) fn daylight(world: View<'_>) -> f64 {
    world.real("time_of_day").map_or(1.0, |time| day(time.value / 60.0))
}

/// From night to day within two hours around sunrise and back around sunset.
fn day(minute: f64) -> f64 {
    let (sunrise, sunset) = SUN_MIN;
    ((minute - sunrise).min(sunset - minute) / 60.0).clamp(-1.0, 1.0) * 0.5 + 0.5
}

/// Whether the world says a time within so many minutes of sunrise or sunset.
pub(super) fn is_twilight(root: View<'_>) -> bool {
    let time = root.table("world").and_then(|world| world.real("time_of_day"));
    let near = |minute: f64, sun: f64| (minute - sun).abs() < TWILIGHT_MIN;
    time.is_some_and(|time| near(time.value / 60.0, SUN_MIN.0) || near(time.value / 60.0, SUN_MIN.1))
}

/// Nothing looks out where there are no roads, so there the time of day says nothing.
pub(super) fn refuse(problems: &mut Problems<'_>, root: View<'_>) {
    let Some(world) = root.table("world") else { return };
    for key in ["time_of_day", "clouds"] {
        if let Some(span) = world.key_span(key) {
            let message = format!("`{key}` shortens the range of `ego.sensor`, which there is on roads only");
            problems.add(Code::Exclusive, span, message, "remove it, or add [road]");
        }
    }
}

/// Least in the glare of the low sun, which clouds cover.
fn left(minute: f64, clouds: f64) -> f64 {
    let (sunrise, sunset) = SUN_MIN;
    let day = day(minute);
    let since = (minute - sunrise).abs().min((minute - sunset).abs()) / GLARE_MIN;
    let glare = GLARE * (1.0 - clouds) * maths::exp(-since * since);
    (NIGHT + (1.0 - NIGHT) * day) * (1.0 - glare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twilight_under_a_clear_sky_is_worst() {
        assert!((left(720.0, 0.0) - 1.0).abs() < 1e-3);
        assert!((left(0.0, 0.0) - NIGHT).abs() < 1e-3);
        assert!(left(1110.0, 0.0) < 0.5 && left(1110.0, 1.0) > 0.8);
        assert_eq!([day(720.0), day(1110.0), day(0.0)], [1.0, 0.5, 0.0]);
    }
}
