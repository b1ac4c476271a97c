//! Segments on roads: the car among others that react, rays, tracks and a driver that plans.

use std::hint::black_box;

use anabranch_kernel::{Choices, Job, Seed, SegmentEnd, System};
use anabranch_scenario::file::{Document, Hooks};
use anabranch_scenario::{Drive, DriveState};

use crate::timing::medians_cpu_s;
use crate::{Figure, Goal};

const HIGHWAY: &str = include_str!("../../../scenarios/highway-cut-in.toml");
const SEGMENTS: usize = 200;

fn drive(overrides: &[(&str, &str)]) -> Drive {
    let mut document = Document::parse("highway-cut-in.toml", HIGHWAY.as_bytes()).expect("a shipped scenario");
    for (key, value) in overrides {
        document.apply_override(key, value).unwrap_or_else(|report| panic!("{report}"));
    }
    let spec = document.read(&Hooks::default()).unwrap_or_else(|report| panic!("{report}"));
    Drive::assemble(&spec).expect("a shipped scenario can be assembled")
}

/// Segments of the second second, when the traffic has begun to react.
fn jobs(drive: &Drive) -> Vec<Job<DriveState>> {
    let mut choices = Choices::new();
    let start = drive.start(Seed(0), &drive.space().all()[0]).expect("it starts");
    drive.live(&start, &mut choices);
    let mut first: Vec<Job<DriveState>> = choices.iter().map(|&choice| Job::new(start.clone(), choice)).collect();
    drive.run_many(&mut first);
    let open = first.into_iter().filter(|job| job.end == Ok(SegmentEnd::Open)).map(|job| job.state);
    let level: Vec<DriveState> = open.collect();
    let all = level.iter().cycle().zip(choices.iter().cycle());
    all.take(SEGMENTS).map(|(state, &choice)| Job::new(state.clone(), choice)).collect()
}

pub(crate) fn run() -> Vec<Figure> {
    // About 20 others within sight, and three times as many.
    let few = drive(&[("traffic.per_km", "5")]);
    let many = drive(&[]);
    let (few_jobs, many_jobs) = (jobs(&few), jobs(&many));
    let [few_s, many_s] = medians_cpu_s(
        7,
        [&mut || few.run_many(black_box(&mut few_jobs.clone())), &mut || {
            many.run_many(black_box(&mut many_jobs.clone()))
        }],
    );
    let rate = |seconds: f64| SEGMENTS as f64 / seconds;
    let cars = |drive: &Drive| drive.traffic_at(20);
    vec![
        Figure::new(
            format!("segments of 1 s per CPU second, car + {}", cars(&few)),
            rate(few_s),
            Goal::AtLeast(2_000.0),
        ),
        Figure::new(format!("segments of 1 s per CPU second, car + {}", cars(&many)), rate(many_s), Goal::None),
    ]
}
