//! One thing that is other than it was, as an edit of the scenario, and the same accident run again with it.

use anabranch_kernel::{Choice, Seed, SegmentEnd, System, Watch};
use anabranch_scenario::Drive;
use anabranch_scenario::file::{
    DriverKind, DriverSpec, ErrorKind, Located, Manner, ScenarioSpec, SensorSpec, SteeringLaw,
};

use crate::explore::candidates::Candidate;
use crate::failure::Failure;
use crate::load::Loaded;

/// One thing that is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// Sensors and signs reach as far as by day.
    Daylight,
    /// Rays go through walls, hedges and others.
    NothingHides,
    /// Sensors miss nothing, are never late and have no noise; nor have they errors.
    PerfectSensor,
    /// Signs and lights are known from the map.
    SignsKnown,
    /// The built-in driver in its calm manner instead of the one under test.
    CarefulDriver,
    /// An error of the finding does not happen, by the number of its site.
    ErrorOff(usize),
}

impl Change {
    /// What is asked alone, in the order in which it is told.
    pub const ALONE: [Self; 4] = [Self::Daylight, Self::NothingHides, Self::PerfectSensor, Self::SignsKnown];
    /// Perfect sight.
    pub const SEES_ALL: [Self; 4] = Self::ALONE;

    /// For machines.
    pub fn key(self) -> &'static str {
        match self {
            Self::Daylight => "daylight",
            Self::NothingHides => "nothing_hides",
            Self::PerfectSensor => "perfect_sensor",
            Self::SignsKnown => "signs_known",
            Self::CarefulDriver => "careful_driver",
            Self::ErrorOff(_) => "error_off",
        }
    }
    /// In words: what prevents it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Daylight => "daylight",
            Self::NothingHides => "a view that nothing hides",
            Self::PerfectSensor => "a perfect sensor",
            Self::SignsKnown => "a map with the signs",
            Self::CarefulDriver => "a careful driver",
            Self::ErrorOff(_) => "one error less",
        }
    }

    /// Whether the scenario is another one with it. What nothing can hide is still asked: others hide each other.
    pub fn matters(self, spec: &ScenarioSpec) -> bool {
        match self {
            Self::Daylight => spec.road.as_ref().is_some_and(|road| road.light < 1.0),
            Self::SignsKnown => spec.ego.sign_range_m.is_some(),
            _ => true,
        }
    }

    /// Edits the scenario. Errors are left in it, so that their numbers stay; [`Again`] leaves out those that do not happen.
    fn apply(self, spec: &mut ScenarioSpec) {
        let Some(road) = &mut spec.road else { return };
        match self {
            Self::Daylight => road.light = 1.0,
            Self::NothingHides => road.sees_through = true,
            Self::PerfectSensor => road.sensors.iter_mut().for_each(SensorSpec::make_perfect),
            Self::SignsKnown => spec.ego.sign_range_m = None,
            Self::CarefulDriver => spec.ego.driver = careful(&spec.ego.driver),
            Self::ErrorOff(_) => {}
        }
    }

    /// Whether an error does not happen any more.
    fn takes_away(self, spec: &ScenarioSpec, site: usize, id: &str) -> bool {
        match self {
            Self::ErrorOff(off) => off == site,
            Self::PerfectSensor => spec.errors.iter().find(|error| error.id.value == id).is_some_and(|error| {
                let of_objects = matches!(
                    error.kind.value,
                    ErrorKind::Late { .. }
                        | ErrorKind::Displaced { .. }
                        | ErrorKind::Flipped { .. }
                        | ErrorKind::Missed { .. }
                        | ErrorKind::Ghost { .. }
                );
                of_objects || error.sensor.is_some()
            }),
            _ => false,
        }
    }
}

/// The built-in driver, calm, that decides as often as the one under test.
fn careful(driver: &DriverSpec) -> DriverSpec {
    DriverSpec {
        kind: Located::new(DriverKind::Road, driver.kind.span),
        manner: Manner::Calm,
        steering: SteeringLaw::Lqr,
        outside: None,
        model: None,
        behind: None,
        lateral_gain_per_m2: None,
        heading_gain_per_m: None,
        reverse_lateral_gain_per_m2: None,
        reverse_heading_gain_per_m: None,
        cruise_mps: None,
        comfort_decel_mps2: None,
        replan_s: None,
        cycle_s: driver.cycle_s,
    }
}

/// An accident that is run again and again.
pub struct Again<'a> {
    pub loaded: &'a Loaded,
    pub drive: &'a Drive,
    pub seed: Seed,
    pub candidate: &'a Candidate,
}

impl Again<'_> {
    /// Sites of the errors that occur in the finding.
    pub fn sites_used(&self) -> Vec<usize> {
        let errors = self.drive.errors();
        let is_used = |site: &usize| self.candidate.choices.iter().any(|choice| errors.modes(*choice)[*site] != 0);
        (0..errors.sites().len()).filter(is_used).collect()
    }

    /// Whether the requirement holds with some things changed. Other requirements are not asked.
    pub fn ends_well(&self, changes: &[Change]) -> Result<bool, Failure> {
        let mut spec = self.loaded.spec.clone();
        changes.iter().for_each(|change| change.apply(&mut spec));
        let violated = &self.drive.requirements()[usize::from(self.candidate.verdict.requirement)];
        spec.requirements.retain(|requirement| requirement.id.value == *violated);
        let loaded = Loaded {
            path: self.loaded.path.clone(),
            text: String::new(),
            hash: self.loaded.hash,
            overrides: Vec::new(),
            document: self.loaded.document.clone(),
            spec,
            patience: self.loaded.patience,
            origins: self.loaded.origins.clone(),
        };
        let drive = loaded.drive()?;
        let mut state = drive.start(self.seed, &drive.space().all()[self.candidate.start])?;
        for segment in 0..drive.segments() as usize {
            let choice = self.choice(&drive, segment, changes);
            match drive.run(&mut state, choice, &mut Watch::off())? {
                SegmentEnd::Open => {}
                SegmentEnd::Violated(_) => return Ok(false),
                SegmentEnd::Goal | SegmentEnd::TimedOut => break,
            }
        }
        Ok(true)
    }

    /// The errors of a segment of the finding without those that are taken away; none after its end.
    fn choice(&self, drive: &Drive, segment: usize, changes: &[Change]) -> Choice {
        let Some(choice) = self.candidate.choices.get(segment) else { return Choice::NONE };
        let mut modes = self.drive.errors().modes(*choice).to_vec();
        for (number, mode) in modes.iter_mut().enumerate() {
            let id = &self.drive.errors().sites()[number].id;
            if changes.iter().any(|change| change.takes_away(&self.loaded.spec, number, id)) {
                *mode = 0;
            }
        }
        drive.errors().find(&modes).unwrap_or(Choice::NONE)
    }
}
