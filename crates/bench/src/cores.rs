//! Two cores against one, on an exploration of more than a million segments.

use anabranch_explore::Explorer;

use crate::scenario::narrow_passage;
use crate::timing::wall_s;
use crate::{Figure, Goal};

pub(crate) fn run() -> Vec<Figure> {
    let (drive, settings) = narrow_passage(&[]);
    let mut segments = 0;
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..3 {
        for threads in [1, 2] {
            let before = wall_s();
            let explorer = Explorer::new(&drive).settings(settings.clone()).threads(threads);
            segments = explorer.run().expect("it can be explored").progress.segments;
            times[threads - 1].push(wall_s() - before);
        }
    }
    // The shortest run is the least disturbed one.
    let [one_s, two_s] = times.map(|t| t.into_iter().fold(f64::INFINITY, f64::min));
    vec![
        Figure::new("segments explored", segments as f64, Goal::AtLeast(1e6)),
        Figure::new("segments per wall second, two threads", segments as f64 / two_s, Goal::None),
        Figure::new("speed-up on two cores", one_s / two_s, Goal::AtLeast(1.8)),
    ]
}
