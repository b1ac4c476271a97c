//! From flags and the card of a world to the settings of an exploration.

use anabranch_bridge::WorldSystem;
use anabranch_explore::{Budget, Cover, Keep, Merge, Refine, Resolve, Settings};
use anabranch_kernel::units::{Dimension, QuantityError, parse_quantity};
use anabranch_kernel::{CellSize, Grid, System, Variable};
use anabranch_scenario::file;

use crate::explore::settings::{self, Horizon, MergeFlag};
use crate::failure::Failure;
use crate::load::Override;
use crate::numbers::short;
use crate::usage::usual_memory_bytes;
use crate::verbs::explore::{Explore, Preset};

/// Random runs without merging unless another number is asked for; as for scenarios.
const ROLLOUTS: u32 = 500;

/// How a world is explored, and how far.
pub fn build(verb: &Explore, world: &WorldSystem) -> Result<(Settings, Horizon), Failure> {
    let (segment_s, whole) = (world.segment_seconds(), world.segments_max());
    let longer = |_: &str| {
        let end_s = short(f64::from(whole) * segment_s, 6);
        Failure::input(format!("--until: the world ends after {end_s} s"), "it says so itself, by its `segments`")
    };
    let horizon = settings::horizon_within(verb.until.as_deref(), segment_s, whole, longer)?;
    let word = |given: &Option<String>, usual: &'static str| given.clone().unwrap_or_else(|| usual.to_owned());
    let scope = file::Scope::from_word(&word(&verb.scope, "auto")).expect("words are checked with the flags");
    let order = file::Order::from_word(&word(&verb.order, "breadth")).expect("words are checked with the flags");
    let keep = verb.keep.as_deref().and_then(file::Keep::from_word);
    let mut settings = Settings {
        scope: settings::scope(scope, world),
        keep: keep.map_or_else(|| usual_keep(world), settings::keep),
        order: settings::order(order),
        merge: merge(verb.merge.as_ref(), world.variables())?,
        levels_max: if horizon.is_shortened { horizon.levels } else { u32::MAX },
        budget: budget(verb)?,
        stop_on_first: verb.stop_on_first,
        rollouts: verb.rollouts.unwrap_or(ROLLOUTS),
        refine: verb.refine.map_or(Refine::USUAL, Refine::of_passes),
        cover: Some(Cover::USUAL),
        resolve: Some(Resolve { asked: resolution(verb.resolution.as_deref())?, ..Resolve::USUAL }),
        ..Settings::new(world.variables(), world.time_matters())
    };
    if verb.preset == Some(Preset::Paper) {
        settings = settings.paper(world.variables());
    }
    Ok((settings, horizon))
}

/// The extremes of a cell along the continuous variables of `merge`; where there are none, the most dangerous state.
fn usual_keep(world: &WorldSystem) -> Keep {
    let is_continuous = |variable: &Variable| matches!(variable.size, CellSize::Size(_));
    if world.variables().iter().any(is_continuous) { Keep::Extremes } else { Keep::Worst }
}

fn merge(flag: Option<&MergeFlag>, variables: &[Variable]) -> Result<Merge, Failure> {
    let mut variables = variables.to_vec();
    let sizes = match flag {
        Some(MergeFlag::None) => return Ok(Merge::None),
        Some(MergeFlag::Scale(factor)) => return Ok(Merge::Grid(Grid::of(&variables).scaled(*factor))),
        Some(MergeFlag::Sizes(sizes)) => &sizes[..],
        Some(MergeFlag::Declared) | None => &[],
    };
    for (name, text) in sizes {
        let names: Vec<String> = variables.iter().map(|variable| variable.name.clone()).collect();
        let Some(variable) = variables.iter_mut().find(|variable| variable.name == *name) else {
            let help = format!("it has {}", names.join(", "));
            return Err(Failure::input(format!("--merge: `{name}` is no state variable of this world"), help));
        };
        variable.size = cell(variable, text)?;
    }
    Ok(Merge::Grid(Grid::of(&variables)))
}

/// `exact`, `ignore`, or a size in the unit that the world uses, which may be one that only it knows.
fn cell(variable: &Variable, text: &str) -> Result<CellSize, Failure> {
    match text {
        "exact" => return Ok(CellSize::Exact),
        "ignore" => return Ok(CellSize::Ignore),
        _ => {}
    }
    let number = text.strip_suffix(variable.unit.as_str()).unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(size) if CellSize::is_countable(size) => Ok(CellSize::Size(size)),
        _ => {
            let (name, unit) = (&variable.name, &variable.unit);
            let help = format!("write it as {name}=0.1{unit}, or {name}=exact, or {name}=ignore");
            Err(Failure::input(format!("--merge: `{text}` is no cell size of `{name}`"), help))
        }
    }
}

/// A depth in the unit of the margin, which only the world knows: a number, with a word after it or not.
fn resolution(text: Option<&str>) -> Result<Option<f64>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let number = text.trim().trim_end_matches(|letter: char| letter.is_alphabetic() || letter == ' ' || letter == '/');
    match number.parse::<f64>() {
        Ok(depth) if depth.is_finite() && depth > 0.0 => Ok(Some(depth)),
        _ => {
            let help = "write a positive number in the unit of the world's margin, as in --resolution 0.01";
            Err(Failure::input(format!("--resolution: `{text}` is not a depth"), help))
        }
    }
}

/// The limits of the command line; memory has one in any case.
pub fn budget(verb: &Explore) -> Result<Budget, Failure> {
    budget_within(verb.budget.as_deref().unwrap_or(&[]))
}

fn budget_within(limits: &[Override]) -> Result<Budget, Failure> {
    let mut budget = Budget { memory_bytes: usual_memory_bytes(), ..Budget::default() };
    for (key, text) in limits {
        let refused = |_: QuantityError| {
            let help = "write limits such as time=10min,states=1000,memory=2GB";
            Failure::input(format!("--budget: `{key}={text}` is no limit"), help)
        };
        let positive = |value: f64| if value > 0.0 { Ok(value) } else { Err(refused(QuantityError::NotANumber)) };
        match key.as_str() {
            "time" => {
                let time_s = positive(parse_quantity(text, Dimension::Time).map_err(refused)?)?;
                budget.time_ns = Some((time_s * 1e9) as u64);
            }
            "memory" => {
                let bytes = positive(parse_quantity(text, Dimension::Memory).map_err(refused)?)?;
                budget.memory_bytes = Some(bytes as u64);
            }
            "states" => {
                let states = text.parse::<u64>().map_err(|_| refused(QuantityError::NotANumber))?;
                budget.states = Some(positive(states as f64).map(|_| states)?);
            }
            _ => return Err(refused(QuantityError::NotANumber)),
        }
    }
    Ok(budget)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cell_sizes_are_written_in_the_unit_of_the_world() {
        let check = |unit: &str, text: &str, expect: Option<CellSize>| {
            let variable = Variable::real("x", unit, 1.0);
            assert_eq!(cell(&variable, text).ok(), expect, "{text} in {unit}");
        };
        check("m", "0.05m", Some(CellSize::Size(0.05)));
        check("m", "0.05 m", Some(CellSize::Size(0.05)));
        check("pascal", "3 pascal", Some(CellSize::Size(3.0)));
        check("", "2", Some(CellSize::Size(2.0)));
        check("m", "exact", Some(CellSize::Exact));
        check("m", "ignore", Some(CellSize::Ignore));
        for bad in ["0.05 rad", "-1 m", "0 m", "m", "nan", "1e-310 m", "1e308 m"] {
            check("m", bad, None);
        }
    }

    #[test]
    fn budgets_have_units() {
        let pair = |key: &str, text: &str| [(key.to_owned(), text.to_owned())];
        assert_eq!(budget_within(&pair("time", "2 s")).unwrap().time_ns, Some(2_000_000_000));
        assert_eq!(budget_within(&pair("states", "10")).unwrap().states, Some(10));
        assert_eq!(budget_within(&pair("memory", "2 MB")).unwrap().memory_bytes, Some(2_000_000));
        for (key, text) in [("time", "2"), ("states", "0"), ("memory", "x"), ("people", "3")] {
            assert!(budget_within(&pair(key, text)).is_err(), "{key}={text}");
        }
    }
}
