//! From a driver from outside to a part of the loop.

use std::sync::Arc;

use anabranch_bridge::{Kind, Misbehaviour, Role};
use anabranch_driving::follow::{LateralLaw, PathFollowerSpec};
use anabranch_sensing::Zones;
use anabranch_vehicle::CarModel;

use super::assemble::AssembleError;
use super::foreign::{ForeignDriver, Laws, Outside, Part};
use super::model::{ModelDriver, Wrong};
use super::street;
use super::{Drive, Driver};
use crate::file::{ErrorKind, ErrorPlace, ModelSpec, PartKind, PartSpec, ScenarioSpec};

/// Times that differ by less are meant to be equal.
const SAME_TIME: f64 = 1e-6;

/// Starts a driver from outside; its cycle is that of the scenario, or of its card, or the base cycle.
pub(super) fn start(spec: &ScenarioSpec, model: &CarModel, outside: Outside) -> Result<(Driver, u32), AssembleError> {
    if let Some(replan) = spec.ego.driver.replan_s {
        let what = "a driver from outside plans for itself; leave out `replan`".to_owned();
        return Err(AssembleError::Unsupported { what, span: replan.span });
    }
    let driver = ForeignDriver::start(outside, laws(spec, model), Role::Driver).map_err(AssembleError::Driver)?;
    let cycle_s = spec.ego.driver.cycle_s.map(|cycle| cycle.value).or(driver.card().cycle_s);
    let ticks = match cycle_s {
        None => 1,
        Some(cycle_s) => whole_ticks(cycle_s, model.dt_s).map_err(AssembleError::Driver)?,
    };
    Ok((Driver::Foreign(Arc::new(driver)), ticks))
}

/// A component model as the driver.
pub(super) fn model_driver(
    spec: &ScenarioSpec,
    given: &ModelSpec,
    model: &CarModel,
    cycle_s: f64,
) -> Result<Driver, AssembleError> {
    if let Some(replan) = spec.ego.driver.replan_s {
        let what = "a component model follows one path; leave out `replan`".to_owned();
        return Err(AssembleError::Unsupported { what, span: replan.span });
    }
    let zones = match given.obeys_zones() {
        true => street::zones(spec.road.as_ref(), &spec.world),
        false => Zones::default(),
    };
    if zones.any_lost() {
        let what = "noise of a model grows where reception is bad, and cannot be lost; a zone here receives nothing: \
                    leave `situational` out, or use a filter and its `gps`"
            .to_owned();
        return Err(AssembleError::Unsupported { what, span: given.stages[0].file.span });
    }
    let laws = laws(spec, model);
    let driver = ModelDriver::new(given, (laws.lateral, laws.speed), model, cycle_s);
    Ok(Driver::Model(Arc::new(driver.in_zones(zones))))
}

/// Component models behind a built-in driver.
pub(super) fn behind(
    spec: &ScenarioSpec,
    model: &CarModel,
    cycle_s: f64,
) -> Result<Option<Arc<ModelDriver>>, AssembleError> {
    let Some(given) = &spec.ego.driver.behind else { return Ok(None) };
    if let Some(part) = &spec.ego.part {
        let what = "a part of the car from outside and actuators of the driver do not work together yet".to_owned();
        return Err(AssembleError::Unsupported { what, span: part.span });
    }
    let laws = laws(spec, model);
    Ok(Some(Arc::new(ModelDriver::new(given, (laws.lateral, laws.speed), model, cycle_s))))
}

/// What comes from outside is the driver, or the part of the car that the scenario wants from there.
pub(super) fn split(
    spec: &ScenarioSpec,
    model: &CarModel,
    outside: Option<Outside>,
) -> Result<(Option<Outside>, Option<Part>), AssembleError> {
    match (&spec.ego.part, outside) {
        (None, outside) => Ok((outside, None)),
        (Some(part), Some(outside)) => Ok((None, Some(start_part(spec, model, part, outside)?))),
        (Some(part), None) => {
            let what = "nobody starts this part of the car: use the command line".to_owned();
            Err(AssembleError::Unsupported { what, span: part.span })
        }
    }
}

/// Starts a part of the car; it moves in every base cycle.
fn start_part(spec: &ScenarioSpec, model: &CarModel, part: &PartSpec, outside: Outside) -> Result<Part, AssembleError> {
    let role = match part.kind {
        PartKind::Actuator => Role::Actuator,
        PartKind::Plant => Role::Plant,
    };
    let code = ForeignDriver::start(outside, laws(spec, model), role).map_err(AssembleError::Driver)?;
    if let Some(cycle_s) = code.card().cycle_s
        && whole_ticks(cycle_s, model.dt_s) != Ok(1)
    {
        let what =
            format!("the {} moves every {cycle_s} s; the base cycle `world.step` must be that long", role.word());
        return Err(AssembleError::Unsupported { what, span: part.span });
    }
    Ok(Part { kind: part.kind, code: Arc::new(code) })
}

fn laws(spec: &ScenarioSpec, model: &CarModel) -> Laws {
    let gains = PathFollowerSpec::CALM;
    Laws {
        lateral: LateralLaw::new(gains.lateral, gains.lateral, &model.spec, gains.speed.brake_way_m()),
        speed: gains.speed,
        covariance: covariance(spec),
    }
}

fn whole_ticks(cycle_s: f64, step_s: f64) -> Result<u32, Misbehaviour> {
    let ticks = (cycle_s / step_s).round();
    if ticks >= 1.0 && ticks <= f64::from(u32::MAX) && (ticks * step_s - cycle_s).abs() <= SAME_TIME * cycle_s {
        return Ok(ticks as u32);
    }
    let text = format!("its cycle of {cycle_s} s is no whole multiple of the base cycle of {step_s} s");
    Err(Misbehaviour::new(Kind::NoStart, text))
}

/// Covariance of the told pose: that of the largest error of the position estimate that the scenario knows, in any
/// direction alike; zeros where there is none.
fn covariance(spec: &ScenarioSpec) -> [f64; 9] {
    let (mut position_m, mut heading_rad) = (0.0_f64, 0.0_f64);
    for error in spec.errors.iter().filter(|error| error.on.value == ErrorPlace::Localisation) {
        match &error.kind.value {
            ErrorKind::Jump { radius_m, heading_rad: turned, .. } => {
                position_m = radius_m.iter().copied().fold(position_m, f64::max);
                heading_rad = turned.iter().copied().fold(heading_rad, f64::max);
            }
            ErrorKind::Drift { position_m: moved, heading_rad: turned, .. } => {
                position_m = moved.map_or(0.0, |size| size.limit).max(position_m);
                heading_rad = turned.map_or(0.0, |size| size.limit).max(heading_rad);
            }
            _ => {}
        }
    }
    let (along, turned) = (0.5 * position_m * position_m, heading_rad * heading_rad);
    [along, 0.0, 0.0, 0.0, along, 0.0, 0.0, 0.0, turned]
}

impl Drive {
    /// Tells what comes from outside what it begins with, and numbers the requirements about it.
    pub(super) fn introduce(&mut self) {
        if let Driver::Model(driver) = &mut self.driver {
            driver.number(self.requirement_ids.len() as u16);
            self.requirement_ids.extend(Wrong::REQUIREMENTS.map(str::to_owned));
        }
        if let Some(behind) = &mut self.behind {
            behind.number(self.requirement_ids.len() as u16);
            self.requirement_ids.extend(Wrong::REQUIREMENTS.map(|id| id.replacen("driver", "actuators", 1)));
        }
        let Some(foreign) = self.foreign() else { return };
        let starts = self.space.all();
        let begins = self.begins(foreign.card(), &starts);
        let (first, ids) = (self.requirement_ids.len() as u16, foreign.requirement_ids());
        self.requirement_ids.extend(ids);
        let code = match (&mut self.driver, &mut self.part) {
            (Driver::Foreign(driver), _) => driver,
            (_, Some(part)) => &mut part.code,
            (_, None) => return,
        };
        Arc::get_mut(code).expect("nobody else has it yet").prepare(begins, starts, first);
    }
}
