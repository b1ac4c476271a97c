//! Share of saving, restoring, keying and merging in an exploration (the paper: 7 %, S1-45).

use anabranch_explore::Explorer;

use crate::scenario::narrow_passage;
use crate::timing::WallClock;
use crate::{Figure, Goal};

pub(crate) fn run() -> Vec<Figure> {
    let (drive, settings) = narrow_passage(&[("explore.until", "14 s"), ("must.arrives.by", "14 s")]);
    let mut shares: Vec<f64> = (0..3)
        .map(|_| {
            let explorer = Explorer::new(&drive).settings(settings.clone()).threads(1).clock(&WallClock);
            explorer.run().expect("it can be explored").profile.save_load_share()
        })
        .collect();
    shares.sort_by(f64::total_cmp);
    vec![Figure::new("saving + restoring + keying + merging, share of CPU", shares[1], Goal::AtMost(0.05))]
}
