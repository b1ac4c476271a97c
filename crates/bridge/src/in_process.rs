//! A driver that can be cloned needs no other process; also the reference the others are compared with.

use anabranch_kernel::{Choice, Fault};

use crate::driver::{Driver, answer};
use crate::protocol::{Description, Observation, Path, Reply, Request, Segment};
use crate::restore::{Restore, Saved, same_as_saved, unexpected};

/// Keeps a copy of the driver with every state.
#[derive(Clone, Debug)]
pub struct InProcess<D> {
    pristine: D,
    description: Description,
}

impl<D: Driver> InProcess<D> {
    /// From a driver that has not run.
    pub fn new(pristine: D) -> Self {
        Self { description: pristine.description(), pristine }
    }
}

impl<D: Driver + Clone + Send + Sync + 'static> InProcess<D> {
    fn at(&self, path: &Path) -> Result<(D, Observation), Fault> {
        let mut driver = self.pristine.clone();
        match answer(&mut driver, Request::Replay(path.clone())) {
            Reply::Observed(observation) => Ok((driver, observation)),
            other => Err(unexpected(&other).into()),
        }
    }
}

impl<D: Driver + Clone + Send + Sync + 'static> Restore for InProcess<D> {
    type Handle = D;

    fn description(&self) -> &Description {
        &self.description
    }
    fn start(&self, path: &Path) -> Result<(Observation, Option<D>), Fault> {
        self.at(path).map(|(driver, observation)| (observation, Some(driver)))
    }
    fn run(&self, saved: Saved<'_, D>, choice: Choice) -> Result<(Segment, Option<D>), Fault> {
        let mut driver = match saved.handle {
            Some(driver) => driver,
            None => {
                let (driver, observation) = self.at(saved.path)?;
                same_as_saved(saved.observation, &observation)?;
                driver
            }
        };
        let segment = driver.run(choice).map_err(Fault::External)?;
        Ok((segment, Some(driver)))
    }
}
