//! Linear growth (S1-31): a long corridor costs segments in proportion to its length.

use anabranch_explore::Explorer;

use crate::scenario::narrow_passage;
use crate::{Figure, Goal};

const LENGTHS_S: [f64; 4] = [10.0, 20.0, 40.0, 80.0];

fn segments(length_s: f64) -> f64 {
    let until = format!("{length_s} s");
    let (drive, settings) = narrow_passage(&[
        ("world.wall.left.line", r#"[["-120 m", "1.6 m"], ["-1 m", "1.6 m"]]"#),
        ("world.wall.right.line", r#"[["-120 m", "-1.6 m"], ["-1 m", "-1.6 m"]]"#),
        ("ego.path", r#"[{ length = "-100 m" }]"#),
        ("ego.goal.x", "-100 m"),
        ("ego.driver.lateral_gain", "0.5 1/m^2"),
        ("ego.driver.heading_gain", "1.4 1/m"),
        ("error.estimate-jump.jump.directions", "2"),
        ("must.arrives.by", until.as_str()),
        ("explore.until", until.as_str()),
    ]);
    let outcome = Explorer::new(&drive).settings(settings).run().expect("it can be explored");
    outcome.progress.segments as f64
}

pub(crate) fn run() -> Vec<Figure> {
    let costs = LENGTHS_S.map(segments);
    // Least squares of segments = a + b · seconds.
    let n = LENGTHS_S.len() as f64;
    let (mean_x, mean_y) = (LENGTHS_S.iter().sum::<f64>() / n, costs.iter().sum::<f64>() / n);
    let pairs = || LENGTHS_S.iter().zip(&costs);
    let slope = pairs().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>()
        / LENGTHS_S.iter().map(|x| (x - mean_x).powi(2)).sum::<f64>();
    let offset = mean_y - slope * mean_x;
    let unexplained: f64 = pairs().map(|(x, y)| (y - offset - slope * x).powi(2)).sum();
    let spread: f64 = costs.iter().map(|y| (y - mean_y).powi(2)).sum();
    let mut figures: Vec<Figure> =
        pairs().map(|(x, y)| Figure::new(format!("segments for a corridor of {x} s"), *y, Goal::None)).collect();
    figures.push(Figure::new("segments per second of corridor (slope of the fit)", slope, Goal::None));
    figures.push(Figure::new(
        "share of the spread that a straight line explains (R²)",
        1.0 - unexplained / spread,
        Goal::AtLeast(0.99),
    ));
    figures.push(Figure::new("cost of 80 s / cost of 40 s", costs[3] / costs[2], Goal::AtMost(2.2)));
    figures
}
