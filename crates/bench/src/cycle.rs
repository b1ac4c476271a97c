//! One base cycle of the whole loop against a minimal hand-written one, and side by side against one by one.

use std::hint::black_box;

use anabranch_kernel::{Choices, Job, Seed, SegmentEnd, System};
use anabranch_scenario::{Drive, DriveState};

use crate::scenario::narrow_passage;
use crate::timing::medians_cpu_s;
use crate::{Figure, Goal};

const TICKS: u32 = 100;
const SEGMENTS: usize = 4_000;

/// The least that still is a car in a passage: bicycle, path law, two walls against four corners. No errors, requirements,
/// multi-rate parts, gear, path, sweep or saved state; the platform's own trigonometry.
#[expect(clippy::disallowed_methods, reason = "the minimal loop is what somebody would write without this product")]
fn minimal_segment(state: &mut [f64; 5], offset_m: f64) -> bool {
    const DT: f64 = 0.01;
    const WHEELBASE: f64 = 3.65;
    let [x, y, heading, speed, steering] = state;
    let mut hit = false;
    for _ in 0..TICKS {
        let curvature = -1.5 * (*y + offset_m) + 2.0 * *heading;
        let wanted = (WHEELBASE * curvature).atan().clamp(-0.62, 0.62);
        *steering += ((wanted - *steering) * 0.06).clamp(-0.005, 0.005);
        *speed += (2.5 * (-1.0 - *speed)).clamp(-1.0, 1.0) * DT;
        *heading += *speed * DT * steering.tan() / WHEELBASE;
        let (sin, cos) = heading.sin_cos();
        *x += *speed * DT * cos;
        *y += *speed * DT * sin;
        for (ahead, left) in [(4.6, 1.0), (4.6, -1.0), (-1.3, 1.0), (-1.3, -1.0)] {
            hit |= (*y + sin * ahead + cos * left).abs() > 1.6;
        }
    }
    hit
}

/// Segments from the middle of the passage, with every choice.
pub(crate) fn jobs(drive: &Drive) -> Vec<Job<DriveState>> {
    let mut choices = Choices::new();
    let start = drive.start(Seed(0), &drive.space().all()[0]).expect("it starts");
    let mut level = vec![start];
    for _ in 0..5 {
        let mut jobs = Vec::new();
        for state in &level {
            drive.live(state, &mut choices);
            jobs.extend(choices.iter().map(|&choice| Job::new(state.clone(), choice)));
        }
        drive.run_many(&mut jobs);
        level = jobs.into_iter().filter(|job| job.end == Ok(SegmentEnd::Open)).map(|job| job.state).collect();
        level.truncate(SEGMENTS / choices.len() + 1);
    }
    let all = level.iter().flat_map(|state| choices.iter().map(|&choice| Job::new(state.clone(), choice)));
    all.take(SEGMENTS).collect()
}

pub(crate) fn run() -> Vec<Figure> {
    let (wide, _) = narrow_passage(&[]);
    let mut narrow = wide.clone();
    narrow.set_side_by_side(false);
    let jobs = jobs(&wide);
    let run = |drive: &Drive| {
        for batch in jobs.chunks(63) {
            let mut batch = batch.to_vec();
            drive.run_many(&mut batch);
            black_box(&batch);
        }
    };
    let mut minimal = || {
        for n in 0..SEGMENTS {
            let mut state = [0.0, 0.001 * (n % 100) as f64, 0.0, -1.0, 0.0];
            black_box(minimal_segment(black_box(&mut state), 0.1 * (n % 3) as f64 - 0.1));
        }
    };
    let [minimal_s, one_s, wide_s] = medians_cpu_s(9, [&mut minimal, &mut || run(&narrow), &mut || run(&wide)]);
    let per_s = |seconds: f64, count: usize| count as f64 / seconds;
    vec![
        Figure::new("segments per CPU second, minimal hand-written loop", per_s(minimal_s, SEGMENTS), Goal::None),
        Figure::new("segments per CPU second, one by one", per_s(one_s, jobs.len()), Goal::AtLeast(50_000.0)),
        Figure::new("segments per CPU second, side by side", per_s(wide_s, jobs.len()), Goal::None),
        Figure::new(
            "one by one / minimal loop (time)",
            one_s / minimal_s * SEGMENTS as f64 / jobs.len() as f64,
            Goal::AtMost(3.0),
        ),
        Figure::new("one by one / side by side (time)", one_s / wide_s, Goal::AtLeast(2.0)),
    ]
}
