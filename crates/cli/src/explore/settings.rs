//! From flags and scenario to the settings of an exploration.

use anabranch_explore::{self as engine, Merge, Settings};
use anabranch_kernel::units::{Dimension, parse_quantity};
use anabranch_kernel::{CellSize, Grid, System, Variable};
use anabranch_scenario::file::{self, ExploreSpec};
use anabranch_scenario::{Cells, Drive};

use crate::failure::Failure;
use crate::load::{Loaded, Override};
use crate::numbers::short;
use crate::usage::usual_memory_bytes;

/// `--merge` as a person writes it.
#[derive(Clone, Debug, PartialEq)]
pub enum MergeFlag {
    /// Every error sequence is run.
    None,
    /// Sizes that the scenario does not give are those that its parts declare: they do not change with what is explored,
    /// so explorations can be compared cell by cell.
    Declared,
    /// All cell sizes of the scenario times this.
    Scale(f64),
    /// Sizes by variable, on top of those of the scenario.
    Sizes(Vec<Override>),
}

/// Reads `none`, `declared`, a factor such as `0.5`, or `x=0.05m,heading=0.01rad`.
pub fn parse_merge(text: &str) -> Result<MergeFlag, String> {
    if text == "none" {
        return Ok(MergeFlag::None);
    }
    if text == "declared" {
        return Ok(MergeFlag::Declared);
    }
    if let Ok(factor) = text.parse::<f64>() {
        let sound = CellSize::is_countable(factor);
        let why = "the factor must be positive, and cells of that size must be countable; write for example 0.5";
        return if sound { Ok(MergeFlag::Scale(factor)) } else { Err(why.to_owned()) };
    }
    let pairs =
        parse_pairs(text).ok_or("write none, declared, a factor such as 0.5, or sizes such as x=0.05m,y=0.05m")?;
    Ok(MergeFlag::Sizes(pairs))
}

/// Reads `time=10min,states=1000,memory=2GB`.
pub fn parse_budget(text: &str) -> Result<Vec<Override>, String> {
    parse_pairs(text).ok_or_else(|| "write limits such as time=10min,states=1000,memory=2GB".to_owned())
}

/// Clap clones values, and takes lists apart unless they are wrapped.
pub type Pairs = Vec<Override>;

fn parse_pairs(text: &str) -> Option<Pairs> {
    let pair = |part: &str| {
        let (key, value) = part.split_once('=')?;
        (!key.trim().is_empty() && !value.trim().is_empty()).then(|| (key.trim().to_owned(), value.trim().to_owned()))
    };
    text.split(',').map(pair).collect()
}

/// Flags that say how to explore, as values of `[explore]`.
#[derive(Clone, Debug, Default)]
pub struct Flags<'a> {
    /// `--merge`.
    pub merge: Option<&'a MergeFlag>,
    /// `--keep`, `--order`, `--scope`, `--rollouts`, `--refine`, `--resolution` by their key.
    pub words: Vec<(&'static str, String)>,
    /// `--budget`.
    pub budget: &'a [Override],
}

impl Flags<'_> {
    /// As overrides of the scenario.
    pub fn overrides(&self) -> Vec<Override> {
        let mut all: Vec<Override> =
            self.words.iter().map(|(key, value)| (format!("explore.{key}"), value.clone())).collect();
        all.extend(self.budget.iter().map(|(key, value)| (format!("explore.budget.{key}"), value.clone())));
        match self.merge {
            Some(MergeFlag::None) => all.push(("explore.merge".to_owned(), "none".to_owned())),
            Some(MergeFlag::Sizes(sizes)) => {
                all.extend(sizes.iter().map(|(name, size)| (format!("explore.merge.{name}"), size.clone())));
            }
            Some(MergeFlag::Declared | MergeFlag::Scale(_)) | None => {}
        }
        all
    }
}

/// `--until` against the scenario's own end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Horizon {
    /// Segments of a run.
    pub levels: u32,
    /// Whether it ends before the scenario does, so that later requirements are not judged.
    pub is_shortened: bool,
}

/// How far to explore: `--until` may end before the scenario does, not after.
pub fn horizon(until: Option<&str>, explore: &ExploreSpec) -> Result<Horizon, Failure> {
    let longer = |text: &str| {
        let help = format!("for a longer run: --set explore.until=\"{text}\"");
        Failure::input(format!("--until: the scenario ends after {} s", short(explore.until_s.value, 6)), help)
    };
    horizon_within(until, explore.segment_s.value, explore.segments(), longer)
}

/// As [`horizon`], of anything with so many segments of this length; `longer` refuses more.
pub fn horizon_within(
    until: Option<&str>,
    segment_s: f64,
    whole: u32,
    longer: impl Fn(&str) -> Failure,
) -> Result<Horizon, Failure> {
    let Some(text) = until else { return Ok(Horizon { levels: whole, is_shortened: false }) };
    let until_s = parse_quantity(text, Dimension::Time).map_err(|_| {
        Failure::input(format!("--until: `{text}` is not a time"), "write it with its unit, as in \"10 s\"")
    })?;
    let levels = until_s / segment_s;
    if levels < 0.5 || (levels - levels.round()).abs() > 1e-6 {
        let help = format!("a segment has {} s", short(segment_s, 6));
        return Err(Failure::input(format!("--until: `{text}` is not a whole number of segments"), help));
    }
    if levels.round() > f64::from(whole) {
        return Err(longer(text));
    }
    let levels = levels.round() as u32;
    Ok(Horizon { levels, is_shortened: levels < whole })
}

/// Everything that decides the result.
pub fn build(loaded: &Loaded, drive: &Drive, merge: Option<&MergeFlag>, horizon: Horizon) -> Result<Settings, Failure> {
    let spec = &loaded.spec.explore;
    let scale = if let Some(MergeFlag::Scale(factor)) = merge { *factor } else { 1.0 };
    let merge = match loaded.cells(drive)? {
        Cells::None => Merge::None,
        Cells::Measured if merge == Some(&MergeFlag::Declared) => Merge::Grid(Grid::of(drive.variables())),
        Cells::Measured => Merge::Measured { scale },
        Cells::Given(grid) => Merge::Grid(grid.scaled(scale)),
    };
    let budget = engine::Budget {
        time_ns: spec.budget.time_s.map(|time| (time.value * 1e9) as u64),
        states: spec.budget.states.map(|states| states.value),
        memory_bytes: spec.budget.memory_bytes.map(|bytes| bytes.value).or_else(usual_memory_bytes),
    };
    Ok(Settings {
        scope: scope(spec.scope.value, drive),
        keep: keep(spec.keep.value),
        order: order(spec.order.value),
        merge,
        merge_every: spec.merge_every.value,
        levels_max: if horizon.is_shortened { horizon.levels } else { u32::MAX },
        budget,
        rollouts: spec.rollouts.value,
        refine: engine::Refine::of_passes(spec.refine.value),
        cover: Some(engine::Cover::USUAL),
        resolve: Some(engine::Resolve { asked: spec.resolution_m.map(|depth| depth.value), ..engine::Resolve::USUAL }),
        ..Settings::new(drive.variables(), drive.time_matters())
    })
}

/// Which of a cell are continued.
pub fn keep(asked: file::Keep) -> engine::Keep {
    match asked {
        file::Keep::First => engine::Keep::First,
        file::Keep::Worst => engine::Keep::Worst,
        file::Keep::Extremes => engine::Keep::Extremes,
    }
}

/// Which state is continued next.
pub fn order(asked: file::Order) -> engine::Order {
    match asked {
        file::Order::Breadth => engine::Order::Breadth,
        file::Order::Danger => engine::Order::Danger,
    }
}

/// With which states a new one is compared.
pub fn scope<S: System>(asked: file::Scope, system: &S) -> engine::Scope {
    match asked {
        file::Scope::Auto if system.time_matters() => engine::Scope::Level,
        file::Scope::Auto | file::Scope::Visited => engine::Scope::Visited,
        file::Scope::Level => engine::Scope::Level,
        file::Scope::Frontier => engine::Scope::Frontier,
    }
}

/// The settings in the words of scenario files.
#[derive(Clone, Debug)]
pub struct Words {
    /// Scope.
    pub scope: &'static str,
    /// Keep.
    pub keep: &'static str,
    /// Order.
    pub order: &'static str,
    /// Cell sizes by variable, with units.
    pub cells: Vec<String>,
    /// Variables left out of the key.
    pub ignored: Vec<String>,
}

impl Words {
    /// Names what was decided.
    pub fn of(settings: &Settings, variables: &[Variable]) -> Self {
        let (mut cells, mut ignored) = (Vec::new(), Vec::new());
        if let Merge::Grid(grid) = &settings.merge {
            for (variable, size) in variables.iter().zip(grid.sizes()) {
                match size {
                    CellSize::Ignore => ignored.push(variable.name.clone()),
                    CellSize::Exact => cells.push(format!("{} exact", variable.name)),
                    CellSize::Size(size) => {
                        cells.push(format!("{} {} {}", variable.name, short(*size, 6), variable.unit))
                    }
                }
            }
        }
        Self {
            scope: match settings.scope {
                engine::Scope::Level => "level",
                engine::Scope::Visited => "visited",
                engine::Scope::Frontier => "frontier",
            },
            keep: match settings.keep {
                engine::Keep::First => "first",
                engine::Keep::Worst => "worst",
                engine::Keep::Extremes => "extremes",
            },
            order: match settings.order {
                engine::Order::Breadth => "breadth",
                engine::Order::Danger => "danger",
            },
            cells,
            ignored,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merge_is_none_a_factor_or_sizes() {
        assert_eq!(parse_merge("none"), Ok(MergeFlag::None));
        assert_eq!(parse_merge("declared"), Ok(MergeFlag::Declared));
        assert_eq!(parse_merge("0.5"), Ok(MergeFlag::Scale(0.5)));
        let sizes = vec![("x".to_owned(), "0.05m".to_owned()), ("gear".to_owned(), "ignore".to_owned())];
        assert_eq!(parse_merge("x=0.05m, gear=ignore"), Ok(MergeFlag::Sizes(sizes)));
        for bad in ["-1", "0", "inf", "1e-310", "1e308", "x", "x=", "=1", ""] {
            assert!(parse_merge(bad).is_err(), "{bad}");
        }
    }
}
