//! Which variable keeps states apart, and a wider cell for it.

use anabranch_explore::{Merge, Separator};
use anabranch_kernel::{CellSize, Grid, Variable};

use super::{Asked, Attempt, CellsFrom, Hint};
use crate::explore::facts::Facts;
use crate::explore::subject::Subject;
use crate::numbers::short;

/// The variable that keeps most states apart, if there is one and wider cells for it can be written.
pub fn hint<S: Subject>(facts: &Facts<'_, S>, asked: &Asked) -> Option<Hint> {
    let (separator, Merge::Grid(grid)) = (facts.outcome.separator.as_ref()?, &facts.settings.merge) else {
        return None;
    };
    let variable = &facts.drive.variables()[separator.variable];
    let kept = percent(kept_share(facts)?);
    let left = percent(separator.left);
    if let Some(key) = facts.drive.whole_memory().filter(|key| key.variable == variable.name) {
        return Some(Hint {
            why: format!("{kept} of all ends were kept: the {}'s memory counts bit by bit", key.whose),
            attempt: Attempt::Key(key.example.to_owned()),
            effect: Some(format!("names the attributes that count, with cells; leaves at least {left} of the states")),
        });
    }
    let size = separator.size.map(rounded);
    let cell = size.map_or(CellSize::Ignore, CellSize::Size);
    let others = if asked.typed.has("--merge") { Others::AsTheyAre } else { Others::of(asked.cells) };
    let sizes = written(grid, (separator.variable, cell), facts.drive.variables(), others);
    let wide = size.map(|size| in_unit(size, &variable.unit, " "));
    let name = &variable.name;
    let effect = match wide {
        Some(wide) => format!("cells of {wide} leave about {left} of the states of a level"),
        None => format!(
            "leaves about {left} of the states of a level; states that differ only in `{name}` then count as one"
        ),
    };
    Some(Hint {
        why: format!("{kept} of all ends were kept: `{name}` keeps states apart"),
        attempt: Attempt::Command(asked.typed.clone().without("--preset").with("--merge", &sizes)),
        effect: Some(effect),
    })
}

/// Which share of the ends of segments was kept, not merged.
pub fn kept_share<S: Subject>(facts: &Facts<'_, S>) -> Option<f64> {
    let progress = &facts.outcome.progress;
    let ends = progress.states + progress.merged;
    (ends > 0).then(|| progress.states as f64 / ends as f64)
}

/// Whether wider cells of a variable cost nothing but detail: it is not left out altogether.
pub fn is_wider(separator: &Separator) -> bool {
    separator.size.is_some()
}

/// Which cells of the other variables are written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Others {
    /// None: they are those of the file.
    OfFile,
    /// Those that are not as declared: the file has none, and they were measured.
    Measured,
    /// All: the command line changed them.
    AsTheyAre,
}

impl Others {
    fn of(cells: CellsFrom) -> Self {
        match cells {
            CellsFrom::Measuring => Self::Measured,
            CellsFrom::Writing => Self::OfFile,
        }
    }
}

/// The value of `--merge` that changes the cell of one variable and none other.
fn written(grid: &Grid, (changed, cell): (usize, CellSize), variables: &[Variable], others: Others) -> String {
    let size = |(at, (variable, own)): (usize, (&Variable, &CellSize))| {
        let (size, is_declared) = (if at == changed { cell } else { *own }, *own == variable.size);
        let is_written = match others {
            Others::OfFile => at == changed,
            Others::Measured => at == changed || !is_declared,
            Others::AsTheyAre => at == changed || !is_declared || *own != CellSize::Exact,
        };
        is_written.then(|| format!("{}={}", variable.name, word(size, &variable.unit)))
    };
    variables.iter().zip(grid.sizes()).enumerate().filter_map(size).collect::<Vec<_>>().join(",")
}

fn word(size: CellSize, unit: &str) -> String {
    match size {
        CellSize::Ignore => "ignore".to_owned(),
        CellSize::Exact => "exact".to_owned(),
        // A unit that begins with a digit would run into the number.
        CellSize::Size(size) => in_unit(size, unit, if unit.starts_with(char::is_alphabetic) { "" } else { " " }),
    }
}

fn in_unit(size: f64, unit: &str, between: &str) -> String {
    if unit.is_empty() { format!("{size}") } else { format!("{size}{between}{unit}") }
}

/// Three digits are enough for a cell.
fn rounded(size: f64) -> f64 {
    format!("{size:.2e}").parse().unwrap_or(size)
}

fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    format!("{} %", short(percent, if percent < 10.0 { 1 } else { 0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_cell_is_changed_and_measured_ones_are_written_too() {
        let variables = [Variable::real("x", "m", 0.1), Variable::real("v", "m/s", 0.5), Variable::exact("gear")];
        let grid = Grid::from_sizes(vec![CellSize::Size(0.05), CellSize::Size(0.5), CellSize::Exact]);
        let check = |changed, cell, others, expect: &str| {
            assert_eq!(written(&grid, (changed, cell), &variables, others), expect);
        };
        check(1, CellSize::Size(2.0), Others::OfFile, "v=2m/s");
        check(1, CellSize::Size(2.0), Others::Measured, "x=0.05m,v=2m/s");
        check(0, CellSize::Size(2.0), Others::Measured, "x=2m");
        check(0, CellSize::Size(2.0), Others::AsTheyAre, "x=2m,v=0.5m/s");
        check(2, CellSize::Ignore, Others::OfFile, "gear=ignore");
        assert_eq!(word(CellSize::Size(0.5), "1/m"), "0.5 1/m");
        assert_eq!(word(CellSize::Size(0.5), ""), "0.5");
        assert_eq!(rounded(4.0 * 0.123_456), 0.494);
        assert_eq!([percent(0.256), percent(0.0256)], ["26 %", "2.6 %"]);
    }
}
