//! The line a tracker follows.

use anabranch_geometry::{Path, Point, Pose};
use anabranch_kernel::maths;

/// Newton steps towards the foot of a point; from a neighbouring station three are exact to a micrometre.
const FOOT_STEPS: usize = 4;
/// Near the centre of a curve the foot is undefined; its speed is held within this.
const STRETCH_MIN: f64 = 0.3;

/// A line at one station.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineSample {
    /// Along the line.
    pub station_m: f64,
    /// Position and direction.
    pub pose: Pose,
    /// Positive to the left.
    pub curvature_per_m: f64,
}

impl LineSample {
    /// A sample of a straight line.
    pub fn straight(station_m: f64, pose: Pose) -> Self {
        Self { station_m, pose, curvature_per_m: 0.0 }
    }
    /// Metres left of the line and heading relative to it, of a pose beside this sample.
    pub fn errors(&self, pose: Pose) -> (f64, f64) {
        let (sin, cos) = maths::sin_cos(self.pose.heading);
        let lateral_m = cos * (pose.y - self.pose.y) - sin * (pose.x - self.pose.x);
        (lateral_m, maths::wrap_angle(pose.heading - self.pose.heading))
    }
}

/// Something with a position, a direction and a curvature at every station; straight on beyond its ends.
pub trait Line {
    /// The line at a station.
    fn at(&self, station_m: f64) -> LineSample;

    /// Station of the foot of a point, found downhill from a station nearby, and the line there.
    fn foot_sample(&self, point: Point, near_m: f64) -> LineSample {
        let mut sample = self.at(near_m);
        for _ in 0..FOOT_STEPS {
            let (sin, cos) = maths::sin_cos(sample.pose.heading);
            let (dx, dy) = (point.x - sample.pose.x, point.y - sample.pose.y);
            let along = cos * dx + sin * dy;
            let stretch = (1.0 - sample.curvature_per_m * (cos * dy - sin * dx)).max(STRETCH_MIN);
            sample = self.at(sample.station_m + along / stretch);
        }
        sample
    }
    /// Station of the foot of a point.
    fn foot(&self, point: Point, near_m: f64) -> f64 {
        self.foot_sample(point, near_m).station_m
    }
}

/// A line by samples: cubic between them in position, so that direction is continuous; linear in curvature.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledLine {
    samples: Vec<LineSample>,
}

impl SampledLine {
    /// A line through samples of increasing station.
    ///
    /// # Panics
    /// With fewer than two samples or stations that do not increase.
    pub fn new(samples: Vec<LineSample>) -> Self {
        assert!(samples.len() >= 2, "a line has two ends");
        assert!(samples.windows(2).all(|pair| pair[0].station_m < pair[1].station_m), "stations increase");
        Self { samples }
    }
    /// The first section of a planned path, which must be driven forwards.
    ///
    /// # Panics
    /// If the path has no section or begins backwards.
    pub fn of_path(path: &Path) -> Self {
        let section = path.sections()[0];
        assert!(section.direction > 0.0, "trackers drive forwards");
        let sample = |index: usize| {
            let sample = path.samples()[index];
            LineSample {
                station_m: section.start_m + section.spacing_m * (index - section.first) as f64,
                pose: Pose::new(sample.x, sample.y, sample.heading),
                curvature_per_m: sample.curvature_per_m,
            }
        };
        Self::new((section.first..=section.last).map(sample).collect())
    }
    /// The samples.
    pub fn samples(&self) -> &[LineSample] {
        &self.samples
    }
    /// Station of its last sample.
    pub fn end_m(&self) -> f64 {
        self.samples[self.samples.len() - 1].station_m
    }
}

impl Line for SampledLine {
    fn at(&self, station_m: f64) -> LineSample {
        let after = self.samples.partition_point(|sample| sample.station_m <= station_m);
        if after == 0 || after == self.samples.len() {
            let end = self.samples[after.saturating_sub(1)];
            let beyond = end.pose.world_from_local(Point::new(station_m - end.station_m, 0.0));
            let curvature_per_m = if station_m == end.station_m { end.curvature_per_m } else { 0.0 };
            return LineSample { station_m, pose: Pose::new(beyond.x, beyond.y, end.pose.heading), curvature_per_m };
        }
        let (from, to) = (self.samples[after - 1], self.samples[after]);
        let spacing = to.station_m - from.station_m;
        let share = (station_m - from.station_m) / spacing;
        let turn = maths::wrap_angle(to.pose.heading - from.pose.heading);
        let (from_sin, from_cos) = maths::sin_cos(from.pose.heading);
        let (to_sin, to_cos) = maths::sin_cos(to.pose.heading);
        let hermite = |from: f64, to: f64, from_slope: f64, to_slope: f64| {
            let (u, w) = (share, 1.0 - share);
            w * w * ((1.0 + 2.0 * u) * from + u * spacing * from_slope)
                + u * u * ((1.0 + 2.0 * w) * to - w * spacing * to_slope)
        };
        let x = hermite(from.pose.x, to.pose.x, from_cos, to_cos);
        let y = hermite(from.pose.y, to.pose.y, from_sin, to_sin);
        LineSample {
            station_m,
            pose: Pose::new(x, y, from.pose.heading + share * turn),
            curvature_per_m: from.curvature_per_m + share * (to.curvature_per_m - from.curvature_per_m),
        }
    }
}
