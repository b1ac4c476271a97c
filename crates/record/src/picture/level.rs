//! How an exploration grew: kept and merged states, and the worst margin, per level.

use super::axis::{Axis, Scale, fixed};
use super::chart::{self, Marker, Series};
use super::colour;
use super::svg::{Anchor, Style, Svg};

/// One level of an exploration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelRow {
    /// Segments since the start.
    pub level: u32,
    /// States kept.
    pub states: u64,
    /// States merged into others.
    pub merged: u64,
    /// Smallest clearance seen, metres; infinite if there is none.
    pub worst_clearance_m: f64,
}

/// The levels of an exploration.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    /// Title of the figure.
    pub title: String,
    /// One row per level, increasing.
    pub rows: Vec<LevelRow>,
}

/// Two panels over the level, states and worst clearance, as SVG.
pub fn level_plot(levels: &Levels) -> String {
    let (width, height) = (960.0, 700.0);
    let mut svg = Svg::new(width, height, &levels.title);
    let kept: u64 = levels.rows.iter().map(|row| row.states).sum();
    let merged: u64 = levels.rows.iter().map(|row| row.merged).sum();
    let (kept, merged) = (super::axis::grouped(kept as f64), super::axis::grouped(merged as f64));
    chart::title(&mut svg, &levels.title, &format!("{kept} states kept, {merged} merged into one of them."));
    let x = Axis::around(levels.rows.iter().map(|row| f64::from(row.level)), Scale::Linear, [118.0, width - 40.0]);
    put_states(&mut svg, &levels.rows, &x);
    put_clearance(&mut svg, &levels.rows, &x, height - 70.0);
    svg.finish()
}

fn put_states(svg: &mut Svg, rows: &[LevelRow], x: &Axis) {
    let points =
        |value: fn(&LevelRow) -> u64| rows.iter().map(|row| [f64::from(row.level), value(row) as f64]).collect();
    let kept = Series {
        points: points(|row| row.states),
        style: Style::line(colour::BLUE, 2.4),
        marker: Marker::Circle,
        label: "kept",
    };
    let merged = Series {
        points: points(|row| row.merged),
        style: Style::line(colour::ORANGE, 2.2).dash("9 4"),
        marker: Marker::Square,
        label: "merged",
    };
    let y =
        Axis::around(rows.iter().flat_map(|r| [r.states as f64, r.merged as f64]), Scale::LogIfWide, [350.0, 112.0]);
    chart::key(svg, [118.0, 94.0], &[&kept, &merged]);
    chart::panel(svg, x, &y, "", "states per level");
    chart::series(svg, x, &y, &merged);
    chart::series(svg, x, &y, &kept);
}

fn put_clearance(svg: &mut Svg, rows: &[LevelRow], x: &Axis, bottom: f64) {
    let clearance = Series {
        points: rows.iter().map(|row| [f64::from(row.level), row.worst_clearance_m]).collect(),
        style: Style::line(colour::PURPLE, 2.4),
        marker: Marker::Triangle,
        label: "worst clearance",
    };
    let y = Axis::around(rows.iter().map(|row| row.worst_clearance_m), Scale::Linear, [bottom, 400.0]);
    chart::panel(svg, x, &y, "level [segments since the start]", "worst clearance [m]");
    let zero = y.map(0.0);
    svg.line([x.px_from, zero], [x.px_to, zero], Style::line(colour::RED, 1.6).dash("6 4"));
    svg.text([x.px_to - 8.0, zero - 7.0], chart::TEXT_PX, Anchor::End, colour::RED, "contact at 0 m");
    chart::series(svg, x, &y, &clearance);
    let finite = rows.iter().filter(|row| row.worst_clearance_m.is_finite());
    if let Some(worst) = finite.min_by(|a, b| a.worst_clearance_m.total_cmp(&b.worst_clearance_m)) {
        let at = [x.map(f64::from(worst.level)), y.map(worst.worst_clearance_m)];
        let label = format!("{} m at level {}", fixed(worst.worst_clearance_m, 3), worst.level);
        let anchor = if at[0] > 0.7 * x.px_to { Anchor::End } else { Anchor::Start };
        // Below the lowest point there is room, except at the bottom.
        let y_px = if at[1] + 28.0 < bottom { at[1] + 22.0 } else { at[1] - 12.0 };
        svg.text([at[0], y_px], chart::TEXT_PX, anchor, colour::INK, &label);
    }
}
