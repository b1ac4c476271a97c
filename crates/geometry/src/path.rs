//! Drivable paths: arcs of constant curvature, driven forwards and backwards, sampled evenly for fast look-up.

use anabranch_kernel::maths;
use serde::{Deserialize, Serialize};

use crate::pose::Pose;

/// Largest distance between two samples of a path.
pub const SAMPLE_SPACING_M: f64 = 0.05;

/// A piece of constant curvature.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arc {
    /// Change of heading per metre driven forwards; positive turns left.
    pub curvature_per_m: f64,
    /// Signed length: negative is driven backwards.
    pub length_m: f64,
}

/// A point of a path, ready for look-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathSample {
    /// Position of the rear axle.
    pub x: f64,
    /// Position of the rear axle.
    pub y: f64,
    /// Heading of the car (not of its motion), unwrapped along the path.
    pub heading: f64,
    /// Cosine of the heading.
    pub cos: f64,
    /// Sine of the heading.
    pub sin: f64,
    /// Curvature per metre driven forwards.
    pub curvature_per_m: f64,
}

/// A part of a path driven in one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Section {
    /// First sample.
    pub first: usize,
    /// Last sample; the next section begins with a sample of its own at the same place.
    pub last: usize,
    /// +1 forwards, −1 backwards.
    pub direction: f64,
    /// Station (driven metres, always increasing) of the first sample.
    pub start_m: f64,
    /// Station of the last sample.
    pub end_m: f64,
    /// Distance between two samples.
    pub spacing_m: f64,
}

/// What a path is made of; its samples follow from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct PathCode {
    start: Pose,
    arcs: Vec<Arc>,
}

/// A drivable path. Saved as its arcs; the samples are rebuilt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "PathCode", into = "PathCode")]
pub struct Path {
    start: Pose,
    arcs: Vec<Arc>,
    samples: Vec<PathSample>,
    sections: Vec<Section>,
}

impl From<PathCode> for Path {
    fn from(code: PathCode) -> Self {
        Self::new(code.start, code.arcs)
    }
}
impl From<Path> for PathCode {
    fn from(path: Path) -> Self {
        Self { start: path.start, arcs: path.arcs }
    }
}

/// The pose after driving `length_m` (signed) along a curvature, exactly.
pub fn along_arc(from: Pose, curvature_per_m: f64, length_m: f64) -> Pose {
    let heading = from.heading + curvature_per_m * length_m;
    let (s0, c0) = maths::sin_cos(from.heading);
    if (curvature_per_m * length_m).abs() < 1e-9 {
        return Pose::new(from.x + c0 * length_m, from.y + s0 * length_m, heading);
    }
    let (s1, c1) = maths::sin_cos(heading);
    Pose::new(from.x + (s1 - s0) / curvature_per_m, from.y - (c1 - c0) / curvature_per_m, heading)
}

impl Path {
    /// The path that starts at a pose and drives the arcs one after another; arcs of no length are left out.
    pub fn new(start: Pose, arcs: Vec<Arc>) -> Self {
        let arcs: Vec<Arc> = arcs.into_iter().filter(|arc| arc.length_m.abs() > 1e-9).collect();
        let mut path = Self { start, samples: Vec::new(), sections: Vec::new(), arcs };
        let (mut pose, mut station_m) = (start, 0.0);
        let arcs = path.arcs.clone();
        for run in arcs.chunk_by(|a, b| (a.length_m > 0.0) == (b.length_m > 0.0)) {
            (pose, station_m) = path.add_section(run, pose, station_m);
        }
        path
    }

    fn add_section(&mut self, run: &[Arc], from: Pose, start_m: f64) -> (Pose, f64) {
        let length_m: f64 = run.iter().map(|arc| arc.length_m.abs()).sum();
        let steps = (length_m / SAMPLE_SPACING_M).ceil().max(1.0);
        let spacing_m = length_m / steps;
        let first = self.samples.len();
        let (mut index, mut pose, mut done_m) = (0, from, 0.0);
        for step in 0..=(steps as usize) {
            let here_m = spacing_m * step as f64;
            while index + 1 < run.len() && here_m > done_m + run[index].length_m.abs() {
                done_m += run[index].length_m.abs();
                pose = along_arc(pose, run[index].curvature_per_m, run[index].length_m);
                index += 1;
            }
            let into_m = (here_m - done_m).min(run[index].length_m.abs()) * run[index].length_m.signum();
            let at = along_arc(pose, run[index].curvature_per_m, into_m);
            let (sin, cos) = maths::sin_cos(at.heading);
            let curvature_per_m = run[index].curvature_per_m;
            self.samples.push(PathSample { x: at.x, y: at.y, heading: at.heading, cos, sin, curvature_per_m });
        }
        let end = run[index..].iter().fold(pose, |p, arc| along_arc(p, arc.curvature_per_m, arc.length_m));
        let (last, end_m) = (self.samples.len() - 1, start_m + length_m);
        let direction = run[0].length_m.signum();
        self.sections.push(Section { first, last, direction, start_m, end_m, spacing_m });
        (end, end_m)
    }

    /// Where it starts.
    pub fn start(&self) -> Pose {
        self.start
    }
    /// Where it ends.
    pub fn end(&self) -> Pose {
        self.samples.last().map_or(self.start, |s| Pose::new(s.x, s.y, s.heading))
    }
    /// What it is made of.
    pub fn arcs(&self) -> &[Arc] {
        &self.arcs
    }
    /// Its parts, each driven in one direction.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }
    /// All samples; a section names its own by index.
    pub fn samples(&self) -> &[PathSample] {
        &self.samples
    }
    /// Driven metres from start to end.
    pub fn length_m(&self) -> f64 {
        self.sections.last().map_or(0.0, |s| s.end_m)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_sampled_by_direction_and_ends_where_its_arcs_end() {
        let arcs = [(0.2, 2.03), (0.0, 1.0), (-0.1, -3.0), (0.0, 0.0)]
            .map(|(curvature_per_m, length_m)| Arc { curvature_per_m, length_m });
        let path = Path::new(Pose::new(1.0, 2.0, 0.3), arcs.to_vec());
        assert_eq!(path.sections().len(), 2);
        assert_eq!(path.sections()[1].direction, -1.0);
        assert!((path.length_m() - 6.03).abs() < 1e-12);
        let end = arcs.iter().fold(path.start(), |p, a| along_arc(p, a.curvature_per_m, a.length_m));
        assert!(path.end().point().distance_m(end.point()) < 1e-9);
        for section in path.sections() {
            for pair in path.samples()[section.first..=section.last].windows(2) {
                let d = (pair[0].x - pair[1].x).powi(2) + (pair[0].y - pair[1].y).powi(2);
                assert!((d.sqrt() - section.spacing_m).abs() < 1e-4);
            }
        }
    }

    #[test]
    fn a_saved_path_is_rebuilt_to_the_same_samples() {
        let arcs = vec![Arc { curvature_per_m: 0.15, length_m: -4.2 }, Arc { curvature_per_m: -0.1, length_m: 2.0 }];
        let path = Path::new(Pose::new(0.0, -1.0, 2.0), arcs);
        let bytes = anabranch_kernel::to_bytes(&path);
        assert_eq!(anabranch_kernel::from_bytes::<Path>(&bytes).unwrap(), path);
    }
}
