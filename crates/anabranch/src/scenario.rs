//! Scenario files, and drivers of one's own in them.

use std::path::Path;

use anabranch_explore::{self as engine, Merge, Outcome, Settings};
use anabranch_kernel::System;
use anabranch_scenario::drive::foreign::{Outside, Sensors};
use anabranch_scenario::file::{self, Document, FILE_BYTES_MAX, Hooks, Report, ScenarioSpec};
use anabranch_scenario::{AssembleError, Cells, Drive};
use anabranch_study::Musts;

use crate::driver::{Driver, DriverFactory};
use crate::findings::{Explored, Known, Trouble, explore_known};

/// Why there is no verdict without requirement.
const NO_MUST: &str = "the scenario has no [[must]], so no run can violate anything";

/// A scenario that cannot be read, or not be run.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioTrouble {
    /// The file cannot be read.
    #[error("{path}: {error}")]
    File {
        /// Which.
        path: String,
        /// Why.
        error: std::io::Error,
    },
    /// It has mistakes, each with its place and the way out.
    #[error("{0}")]
    Mistakes(#[from] Report),
    /// It can be read but not run.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
    /// A cell size that does not fit.
    #[error("{message}: {help}")]
    Setting {
        /// What is wrong.
        message: String,
        /// How to go on.
        help: String,
    },
    /// The exploration gave no result.
    #[error(transparent)]
    Explore(#[from] Trouble),
}

/// A scenario that was read and checked.
#[derive(Debug)]
pub struct Scenario {
    document: Document,
    spec: ScenarioSpec,
}

impl Scenario {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, and with all located mistakes.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ScenarioTrouble> {
        let path = path.as_ref();
        let trouble = |error| ScenarioTrouble::File { path: path.display().to_string(), error };
        if std::fs::metadata(path).map_err(trouble)?.len() > FILE_BYTES_MAX as u64 {
            return Err(trouble(std::io::Error::other(format!("more than {FILE_BYTES_MAX} bytes"))));
        }
        let bytes = std::fs::read(path).map_err(trouble)?;
        Self::checked(Document::parse(&path.display().to_string(), &bytes)?)
    }
    /// Reads a text; the name is for messages.
    ///
    /// # Errors
    /// With all located mistakes.
    pub fn from_text(name: &str, text: &str) -> Result<Self, ScenarioTrouble> {
        Self::checked(Document::parse(name, text.as_bytes())?)
    }
    /// The same scenario with other values: `[("explore.until", "8 s")]`.
    ///
    /// # Errors
    /// When there is no such key, or the values do not fit.
    pub fn with(mut self, values: &[(&str, &str)]) -> Result<Self, ScenarioTrouble> {
        for (key, value) in values {
            let key = self.document.full_path(key)?;
            self.document.apply_override(&key, value)?;
        }
        Self::checked(self.document)
    }
    fn checked(document: Document) -> Result<Self, ScenarioTrouble> {
        let spec = document.read(&Hooks::default())?;
        document.check_placement(&spec)?;
        Ok(Self { document, spec })
    }

    /// What it says.
    pub fn spec(&self) -> &ScenarioSpec {
        &self.spec
    }
    /// The closed loop with the driver that the scenario names, which must be a built-in one.
    ///
    /// # Errors
    /// When there is no path, or the parts do not fit together.
    pub fn drive(&self) -> Result<Drive, ScenarioTrouble> {
        Ok(Drive::assemble(&self.spec)?)
    }
    /// The closed loop with a driver of one's own.
    ///
    /// # Errors
    /// As [`drive`](Self::drive).
    pub fn drive_with(&self, driver: impl Driver) -> Result<Drive, ScenarioTrouble> {
        self.drive_outside(Outside::new(Box::new(DriverFactory(driver))))
    }
    /// The closed loop with a driver of one's own that is told what these sensors read.
    ///
    /// # Errors
    /// As [`drive`](Self::drive).
    pub fn drive_with_sensors(&self, driver: impl Driver, sensors: Sensors) -> Result<Drive, ScenarioTrouble> {
        self.drive_outside(Outside { sensors, ..Outside::new(Box::new(DriverFactory(driver))) })
    }
    /// The closed loop with any driver from outside: another process, for example.
    ///
    /// # Errors
    /// As [`drive`](Self::drive), and when the driver does not start.
    pub fn drive_outside(&self, outside: Outside) -> Result<Drive, ScenarioTrouble> {
        Ok(Drive::assemble_with(&self.spec, Some(outside))?)
    }
    /// How its `[explore]` asks to explore it.
    ///
    /// # Errors
    /// When a cell size does not fit the loop.
    pub fn settings(&self, drive: &Drive) -> Result<Settings, ScenarioTrouble> {
        let spec = &self.spec.explore;
        let cells = drive.cells(&spec.merge);
        let cells = cells.map_err(|error| ScenarioTrouble::Setting { message: error.message, help: error.help })?;
        let budget = engine::Budget {
            time_ns: spec.budget.time_s.map(|time| (time.value * 1e9) as u64),
            states: spec.budget.states.map(|states| states.value),
            memory_bytes: spec.budget.memory_bytes.map(|bytes| bytes.value),
        };
        Ok(Settings {
            scope: match spec.scope.value {
                file::Scope::Auto if drive.time_matters() => engine::Scope::Level,
                file::Scope::Auto | file::Scope::Visited => engine::Scope::Visited,
                file::Scope::Level => engine::Scope::Level,
                file::Scope::Frontier => engine::Scope::Frontier,
            },
            keep: match spec.keep.value {
                file::Keep::First => engine::Keep::First,
                file::Keep::Worst => engine::Keep::Worst,
                file::Keep::Extremes => engine::Keep::Extremes,
            },
            order: match spec.order.value {
                file::Order::Breadth => engine::Order::Breadth,
                file::Order::Danger => engine::Order::Danger,
            },
            merge: match cells {
                Cells::None => Merge::None,
                Cells::Measured => Merge::MEASURED,
                Cells::Given(grid) => Merge::Grid(grid),
            },
            merge_every: spec.merge_every.value,
            budget,
            rollouts: spec.rollouts.value,
            refine: engine::Refine::of_passes(spec.refine.value),
            cover: Some(engine::Cover::USUAL),
            resolve: Some(engine::Resolve {
                asked: spec.resolution_m.map(|depth| depth.value),
                ..engine::Resolve::USUAL
            }),
            ..Settings::new(drive.variables(), drive.time_matters())
        })
    }
}

/// Explores a scenario with the driver that it names.
///
/// # Errors
/// When the scenario cannot be run or explored.
pub fn explore_scenario(scenario: &Scenario) -> Result<Explored, ScenarioTrouble> {
    explore_drive(scenario, &scenario.drive()?)
}

/// Explores a scenario with a driver of one's own, in this process.
///
/// # Errors
/// When the scenario cannot be run or explored. What the driver does wrong is a finding, not an error.
pub fn explore_driver(scenario: &Scenario, driver: impl Driver) -> Result<Explored, ScenarioTrouble> {
    explore_drive(scenario, &scenario.drive_with(driver)?)
}

/// Explores a scenario whose closed loop is at hand already.
///
/// # Errors
/// When the scenario cannot be explored.
pub fn explore_drive(scenario: &Scenario, drive: &Drive) -> Result<Explored, ScenarioTrouble> {
    let known = |_: &Outcome| Known {
        musts: (!drive.requirement_list().has_must()).then(|| Musts::Missing(NO_MUST.to_owned())),
        gone: drive.foreign().and_then(|driver| driver.gone()).map(|fault| fault.to_string()),
        limits: drive.error_limits(),
        first_fault: Some(drive.requirement_list().list().len() as u16),
    };
    Ok(explore_known(drive, scenario.settings(drive)?, known)?)
}
