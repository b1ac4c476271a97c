//! What the loop is made of, cut so that a change of one gain leaves most segments as they were.
//!
//! Gains are read by the lateral law alone, and there only those of the direction that is driven. Which directions a
//! segment drives follows from the section of the path at its start and at its end, so nobody has to look at every tick.
//! Everything else counts as read by every segment.

use std::fmt::{self, Write as _};

use anabranch_driving::follow::{LateralGains, PathMode};
use anabranch_geometry::{EdgeSet, Path, Section};
use anabranch_kernel::{DigestWriter, Part, Parts, Reads, to_bytes};

use super::index::EdgeIndex;
use super::plan::Plan;
use super::state::{DriveState, DriverMemory};
use super::{Drive, Driver};

/// Names of the separate parts: gains forwards, gains backwards.
const NAMES: [&str; 2] = ["driver.forward", "driver.reverse"];
const FORWARD: usize = 0;
const REVERSE: usize = 1;
/// Stands where the gains were taken out.
const NO_GAINS: LateralGains = LateralGains { k_lateral_per_m2: 1.0, k_heading_per_m: 1.0 };

impl Driver {
    /// `None` for code from outside: what it reads, and whether it has changed, nobody here knows.
    fn gains(&self) -> Option<[LateralGains; 2]> {
        match self {
            Self::Path(follower) => Some(follower.gains()),
            Self::Trajectory(follower) => Some(follower.gains()),
            Self::Foreign(_) | Self::Model(_) | Self::Road => None,
        }
    }

    fn with_gains(&self, gains: [LateralGains; 2]) -> Self {
        match self {
            Self::Path(follower) => Self::Path(follower.with_gains(gains)),
            Self::Trajectory(follower) => Self::Trajectory(follower.with_gains(gains)),
            Self::Foreign(foreign) => Self::Foreign(foreign.clone()),
            Self::Model(model) => Self::Model(model.clone()),
            Self::Road => Self::Road,
        }
    }
}

impl Drive {
    /// The configuration of this loop.
    pub(super) fn cut_into_parts(&self) -> Parts {
        let gains = self.driver.gains().filter(|_| self.part.is_none() && self.behind.is_none());
        let Some(gains) = gains else { return Parts::default() };
        let part = |(name, gains): (&str, LateralGains)| {
            let mut digest = DigestWriter::new();
            digest.real(gains.k_lateral_per_m2);
            digest.real(gains.k_heading_per_m);
            Part { name: name.to_owned(), digest: digest.finish() }
        };
        let separate = NAMES.into_iter().zip(gains).map(part).collect();
        Parts { rest: Some(self.rest_digest()), separate }
    }

    /// Digest of all fields but those that no segment can tell: a field that is added later counts by itself.
    fn rest_digest(&self) -> anabranch_kernel::Digest {
        let mut rest = self.clone();
        rest.driver = self.driver.with_gains([NO_GAINS; 2]);
        rest.name.clear();
        rest.likelihood = None;
        // Equal bits either way.
        (rest.side_by_side, rest.wide) = (false, false);
        // Both are long; the first follows from walls, body, speed and segment length, paths follow from their arcs.
        rest.index = EdgeIndex::new(&EdgeSet::default(), &rest.body, 0.0);
        let plans = std::mem::take(&mut rest.plans);
        let mut text = DigestText(DigestWriter::new());
        write!(text, "{rest:?}").expect("a digest takes any text");
        for Plan { path, trajectory } in &plans {
            text.0.bytes(&to_bytes(path));
            write!(text, "{trajectory:?}").expect("a digest takes any text");
        }
        text.0.finish()
    }

    /// Which parts a segment has read that began with this memory of the driver and ended in this state.
    #[inline]
    pub(super) fn reads(&self, before: &DriverMemory, after: &DriveState) -> Reads {
        if self.replanning.is_some() {
            return Reads::ALL;
        }
        let plan = &self.plans[usize::from(after.start)];
        let sections = match (before, &after.driver, &plan.trajectory) {
            (DriverMemory::Path(from), DriverMemory::Path(to), _) => {
                between(&plan.path, section_of(from.mode), section_of(to.mode))
            }
            (DriverMemory::Trajectory(from), DriverMemory::Trajectory(to), Some(trajectory)) => {
                let section_at = |ticks: u32| Some(trajectory.section_at(ticks));
                between(&plan.path, section_at(from.ticks), section_at(to.ticks))
            }
            _ => return Reads::ALL,
        };
        if sections.is_empty() {
            return Reads::ALL;
        }
        let part = |section: &Section| Reads::of(if section.direction < 0.0 { REVERSE } else { FORWARD });
        sections.iter().fold(Reads::NONE, |all, section| all.and(part(section)))
    }
}

/// The section a mode belongs to; `None` is the last one.
fn section_of(mode: PathMode) -> Option<usize> {
    match mode {
        PathMode::Driving { section } | PathMode::ChangingGear { section, .. } => Some(section as usize),
        PathMode::Completed => None,
    }
}

/// The sections from one to another, both included.
fn between(path: &Path, from: Option<usize>, to: Option<usize>) -> &[Section] {
    let last = path.sections().len().saturating_sub(1);
    path.sections().get(from.unwrap_or(last)..=to.unwrap_or(last)).unwrap_or_default()
}

/// A digest that takes formatted text.
struct DigestText(DigestWriter);

impl fmt::Write for DigestText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.bytes(text.as_bytes());
        Ok(())
    }
}
