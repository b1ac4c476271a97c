//! The car: a built-in one with some of its values changed.

use std::f64::consts::FRAC_PI_2;

use anabranch_vehicle::CarSpec;

use super::super::codes::Code;
use super::super::problems::Problems;
use super::super::span::Located;
use super::super::spec::VehicleSpec;
use super::super::view::View;

/// Two lengths that differ by less are meant to be equal.
const SAME_M: f64 = 1e-6;

/// The vehicle of an `[ego]` table.
pub(super) fn build(problems: &mut Problems<'_>, ego: View<'_>) -> Option<VehicleSpec> {
    let Some(view) = ego.table("vehicle") else {
        let base = ego.text("vehicle")?;
        let car = CarSpec::named(&base.value)?;
        return Some(VehicleSpec { base, car });
    };
    let base = view.text("base")?;
    let mut car = CarSpec::named(&base.value)?;
    change_outline(problems, view, &mut car);
    change_dynamics(view, &mut car);
    check_outline(problems, view, &car)?;
    check_dynamics(problems, view, &car)?;
    Some(VehicleSpec { base, car })
}

fn change_outline(problems: &mut Problems<'_>, view: View<'_>, car: &mut CarSpec) {
    let given = |key: &str| view.real(key).map(|value| value.value);
    let front_m = car.outline.front_m - car.wheelbase_m;
    let (mut wheelbase_m, mut front_m, mut rear_m) = (
        given("wheelbase").unwrap_or(car.wheelbase_m),
        given("front_overhang").unwrap_or(front_m),
        given("rear_overhang").unwrap_or(car.outline.rear_m),
    );
    if let Some(length) = view.real("length") {
        let more_m = length.value - (wheelbase_m + front_m + rear_m);
        if view.get("front_overhang").is_none() {
            front_m += more_m;
        } else if view.get("rear_overhang").is_none() {
            rear_m += more_m;
        } else if view.get("wheelbase").is_none() {
            wheelbase_m += more_m;
        } else if more_m.abs() > SAME_M {
            let sum_m = wheelbase_m + front_m + rear_m;
            let message = format!("front overhang, wheelbase and rear overhang make {sum_m:.3} m, not the length");
            problems.add(Code::Measures, length.span, message, "leave one of the four out; it follows");
        }
    }
    car.wheelbase_m = wheelbase_m;
    car.outline.front_m = wheelbase_m + front_m;
    car.outline.rear_m = rear_m;
    car.outline.half_width_m = given("width").map_or(car.outline.half_width_m, |width| 0.5 * width);
    car.outline.corner_radius_m = given("corner_radius").unwrap_or(car.outline.corner_radius_m);
}

fn change_dynamics(view: View<'_>, car: &mut CarSpec) {
    let change = |key: &str, value: &mut f64| {
        if let Some(given) = view.real(key) {
            *value = given.value;
        }
    };
    change("steering_max", &mut car.steering_max_rad);
    change("steering_rate_max", &mut car.steering_rate_max_radps);
    change("steering_lag", &mut car.steering_lag_s);
    change("accel_max", &mut car.accel_max_mps2);
    change("brake_max", &mut car.brake_max_mps2);
    change("accel_lag", &mut car.accel_lag_s);
    change("slip_gain", &mut car.slip_gain);
    change("gear_change", &mut car.gear_change_s);
}

/// The value that is most likely to blame: the first of the keys that is written.
fn blame(view: View<'_>, keys: &[&str]) -> Located<()> {
    let span = keys.iter().find_map(|key| view.get(key)).map_or(view.span(), |node| node.span);
    Located::new((), span)
}

fn check_outline(problems: &mut Problems<'_>, view: View<'_>, car: &CarSpec) -> Option<()> {
    let outline = car.outline;
    if outline.front_m < car.wheelbase_m || outline.rear_m < 0.0 || car.wheelbase_m <= 0.0 {
        let span = blame(view, &["length", "wheelbase", "front_overhang", "rear_overhang"]).span;
        let message = "the axles do not fit into the length of the car";
        let help = "the length is front overhang + wheelbase + rear overhang; what is left out comes from the base";
        problems.add(Code::Measures, span, message, help);
        return None;
    }
    let radius_m_max = outline.half_width_m.min(0.5 * (outline.front_m + outline.rear_m));
    if outline.corner_radius_m > radius_m_max {
        let span = blame(view, &["corner_radius", "width", "length"]).span;
        let message = format!("corners of {} m do not fit this outline", outline.corner_radius_m);
        problems.add(Code::CornerRadius, span, message, format!("corner_radius is at most \"{radius_m_max} m\""));
        return None;
    }
    Some(())
}

fn check_dynamics(problems: &mut Problems<'_>, view: View<'_>, car: &CarSpec) -> Option<()> {
    if car.steering_max_rad >= FRAC_PI_2 {
        let span = blame(view, &["steering_max"]).span;
        problems.add(Code::Steering, span, "the steering angle reaches 90 degrees", "write for example \"35 deg\"");
        return None;
    }
    if let Some(fault) = car.fault() {
        let keys = ["slip_gain", "steering_lag", "accel_lag", "gear_change", "length", "width"];
        problems.add(Code::Measures, blame(view, &keys).span, fault, "change it or leave it out");
        return None;
    }
    Some(())
}
