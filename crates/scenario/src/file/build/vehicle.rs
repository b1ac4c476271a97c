//! The car: a built-in one with some of its values changed.

use std::f64::consts::FRAC_PI_2;

use anabranch_vehicle::{CarSpec, SingleTrackSpec, TrailerSpec, Tyre, truck};

use super::super::codes::Code;
use super::super::motion_spec::VehicleModel;
use super::super::problems::Problems;
use super::super::span::Located;
use super::super::spec::{DoorSpec, VehicleSpec};
use super::super::view::View;
use super::super::words::VehicleKind;

/// Two lengths that differ by less are meant to be equal.
const SAME_M: f64 = 1e-6;

/// Keys of cars with tyres.
const OF_TYRES: [&str; 9] = [
    "mass",
    "yaw_inertia",
    "centre_to_front",
    "centre_height",
    "front_stiffness",
    "rear_stiffness",
    "front_drive",
    "front_brake",
    "tyre",
];
/// Keys that a car without lags and slip has no use for.
const OF_LAGS: [&str; 4] = ["steering_rate_max", "steering_lag", "accel_lag", "slip_gain"];

fn named(name: &str) -> Option<CarSpec> {
    CarSpec::named(name).or_else(|| (name == "truck").then(truck))
}

/// The vehicle of an `[ego]` table.
pub(super) fn build(problems: &mut Problems<'_>, ego: View<'_>) -> Option<VehicleSpec> {
    let Some(view) = ego.table("vehicle") else {
        let base = ego.text("vehicle")?;
        let car = named(&base.value)?;
        let model = Located::new(VehicleModel::Rolling, base.span);
        return Some(VehicleSpec { base, car, model, door: DoorSpec::usual(&car) });
    };
    let base = view.text("base")?;
    let mut car = named(&base.value)?;
    change_outline(problems, view, &mut car);
    change_dynamics(view, &mut car);
    check_outline(problems, view, &car)?;
    check_dynamics(problems, view, &car)?;
    let kind = view.word("model", VehicleKind::from_word)?;
    check_keys(problems, view, kind.value)?;
    let model = match kind.value {
        VehicleKind::Car => VehicleModel::Rolling,
        VehicleKind::Kinematic => {
            car = car.kinematic();
            VehicleModel::Rolling
        }
        VehicleKind::SingleTrack => VehicleModel::Tyres(tyres(problems, view, &base, car)?),
        VehicleKind::Trailer => VehicleModel::Trailer(trailer(problems, view, &base)?),
    };
    let door = door(problems, view, &car)?;
    Some(VehicleSpec { base, car, model: Located::new(model, kind.span), door })
}

fn door(problems: &mut Problems<'_>, view: View<'_>, car: &CarSpec) -> Option<DoorSpec> {
    let mut door = DoorSpec::usual(car);
    let Some(table) = view.table("door") else { return Some(door) };
    if let Some(hinge) = table.real("hinge") {
        door.hinge_m = hinge.value;
    }
    if let Some(length) = table.real("length") {
        door.length_m = length.value;
    }
    if door.hinge_m > car.outline.front_m || door.hinge_m - door.length_m < -car.outline.rear_m {
        let message = "the doors reach beyond the outline of the car";
        let help = "`hinge` is ahead of the rear axle, and the door reaches back from it by `length`";
        problems.add(Code::Measures, view.key_span("door")?, message, help);
        return None;
    }
    Some(door)
}

/// Complains about keys that this kind of vehicle has no use for.
fn check_keys(problems: &mut Problems<'_>, view: View<'_>, kind: VehicleKind) -> Option<()> {
    let tyres = OF_TYRES.iter().filter(|_| kind != VehicleKind::SingleTrack);
    let trailer = ["trailer"].iter().filter(|_| kind != VehicleKind::Trailer);
    let lags = OF_LAGS.iter().filter(|_| kind == VehicleKind::Kinematic);
    let slip = ["slip_gain"].iter().filter(|_| kind == VehicleKind::SingleTrack);
    let mut fits = Some(());
    for key in tyres.chain(trailer).chain(lags).chain(slip) {
        if let Some(span) = view.key_span(key) {
            let message = format!("`{key}` says nothing about a vehicle of the model `{}`", kind.word());
            problems.add(Code::Exclusive, span, message, "remove it, or choose another `model`");
            fits = None;
        }
    }
    fits
}

fn tyres(problems: &mut Problems<'_>, view: View<'_>, base: &Located<String>, car: CarSpec) -> Option<SingleTrackSpec> {
    let Some(mut spec) = SingleTrackSpec::named(&base.value) else {
        let message = format!("nothing is known about the tyres of a {}", base.value);
        problems.add(Code::Measures, base.span, message, "choose another base and change its values");
        return None;
    };
    // What of the base is not changed keeps its place: the centre of mass moves with the wheelbase.
    spec.front_axle_ahead_m *= car.wheelbase_m / spec.car.wheelbase_m;
    spec.car = car;
    let change = |key: &str, value: &mut f64| {
        if let Some(given) = view.real(key) {
            *value = given.value;
        }
    };
    change("mass", &mut spec.mass_kg);
    change("yaw_inertia", &mut spec.yaw_inertia_kgm2);
    change("centre_to_front", &mut spec.front_axle_ahead_m);
    change("centre_height", &mut spec.centre_height_m);
    change("front_stiffness", &mut spec.front.stiffness_n_per_rad);
    change("rear_stiffness", &mut spec.rear.stiffness_n_per_rad);
    change("front_drive", &mut spec.front.drive_share);
    change("front_brake", &mut spec.front.brake_share);
    (spec.rear.drive_share, spec.rear.brake_share) = (1.0 - spec.front.drive_share, 1.0 - spec.front.brake_share);
    spec.tyre = match view.text("tyre").as_ref().map(|tyre| tyre.value.as_str()) {
        Some("linear") => Tyre::Linear,
        _ => Tyre::Brush,
    };
    match spec.fault() {
        None => Some(spec),
        Some(fault) => {
            problems.add(Code::Measures, blame(view, &OF_TYRES).span, fault, "change it or leave it out");
            None
        }
    }
}

fn trailer(problems: &mut Problems<'_>, view: View<'_>, base: &Located<String>) -> Option<TrailerSpec> {
    let usual = if base.value == "truck" { "semi" } else { "caravan" };
    let table = view.table("trailer");
    let name = match table {
        Some(table) => table.text("base")?.value,
        None => view.text("trailer").map_or(usual.to_owned(), |name| name.value),
    };
    let mut spec = TrailerSpec::named(&name)?;
    let Some(table) = table else { return Some(spec) };
    let change = |key: &str, value: &mut f64| {
        if let Some(given) = table.real(key) {
            *value = given.value;
        }
    };
    change("hitch_behind", &mut spec.hitch_behind_m);
    change("hitch_to_axle", &mut spec.length_m);
    change("front", &mut spec.outline.front_m);
    change("rear", &mut spec.outline.rear_m);
    change("corner_radius", &mut spec.outline.corner_radius_m);
    change("hitch_max", &mut spec.hitch_max_rad);
    if let Some(width) = table.real("width") {
        spec.outline.half_width_m = 0.5 * width.value;
    }
    match spec.fault() {
        None => Some(spec),
        Some(fault) => {
            let keys = ["hitch_behind", "hitch_to_axle", "hitch_max", "corner_radius", "width", "front", "rear"];
            problems.add(Code::Measures, blame(table, &keys).span, fault, "change it or leave it out");
            None
        }
    }
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
