//! Where the branches of an FMU live.
//!
//! The standard lets a state go back only into the component it came from. So an FMU with states has **one component**, and
//! branches and saved states are states of it. One without has **a component for every branch**. And one without that
//! can be instantiated only once per process has one component that is **run again** with the inputs of a branch when
//! another one had it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::plan::Plan;
use crate::fmu::component::{Component, Fmu, State};
use crate::fmu::error::FmuError;
use crate::protocol::{Begin, Branch, TokenId};

/// Start states that are remembered; a scenario has few starts.
const STARTS_MAX: usize = 16;

/// Where in its run a branch is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Steps done.
    pub steps: u64,
    /// Seconds of a step.
    pub cycle_s: f64,
}

impl Clock {
    /// Seconds since the start.
    pub fn time_s(&self) -> f64 {
        self.steps as f64 * self.cycle_s
    }
}

/// The branches of one FMU.
pub enum Keeper {
    /// As states of one component.
    States(StateKeeper),
    /// As components.
    Components(ComponentKeeper),
    /// As inputs to be given again.
    Inputs(InputKeeper),
}

/// What all keepers need.
#[derive(Clone, Debug)]
pub struct Ground {
    pub fmu: Arc<Fmu>,
    pub plan: Arc<Plan>,
    /// Seconds of a step, if it cannot take those of the scenario.
    pub cycle_s: Option<f64>,
}

impl Ground {
    fn clock(&self, begin: &Begin) -> Result<Clock, FmuError> {
        let cycle_s = self.cycle_s.unwrap_or(begin.cycle_s);
        if cycle_s.is_finite() && cycle_s > 0.0 {
            return Ok(Clock { steps: 0, cycle_s });
        }
        Err(FmuError::Order { text: format!("a cycle of {cycle_s} s; it must be longer than none") })
    }
    fn initialise(&self, component: &Component, begin: &Begin) -> Result<(), FmuError> {
        component.initialise(&self.plan.parameters, &self.plan.parameter_values(begin))
    }
}

fn no_branch(branch: Branch) -> FmuError {
    FmuError::Order { text: format!("there is no branch {branch}") }
}

impl Keeper {
    /// The right one for this FMU.
    ///
    /// # Errors
    /// When the FMU refuses to be instantiated.
    pub fn new(ground: Ground) -> Result<Self, FmuError> {
        let capabilities = ground.fmu.description().capabilities;
        let component = Component::new(&ground.fmu)?;
        Ok(if capabilities.saves_state {
            Self::States(StateKeeper {
                ground,
                component,
                is_fresh: true,
                current: None,
                branches: BTreeMap::new(),
                lost: BTreeMap::new(),
                tokens: BTreeMap::new(),
                starts: Vec::new(),
            })
        } else if capabilities.only_once {
            Self::Inputs(InputKeeper { ground, component, is_fresh: true, current: None, branches: BTreeMap::new() })
        } else {
            Self::Components(ComponentKeeper { ground, spare: Some(component), branches: BTreeMap::new() })
        })
    }
    /// The branch begins at time zero.
    ///
    /// # Errors
    /// When the FMU fails.
    pub fn reset(&mut self, branch: Branch, begin: &Begin) -> Result<(), FmuError> {
        match self {
            Self::States(keeper) => keeper.reset(branch, begin),
            Self::Components(keeper) => keeper.reset(branch, begin),
            Self::Inputs(keeper) => keeper.reset(branch, begin),
        }
    }
    /// The component, in the state of the branch, and its clock.
    ///
    /// # Errors
    /// When there is no such branch or the FMU fails.
    pub fn enter(&mut self, branch: Branch) -> Result<(&Component, Clock), FmuError> {
        match self {
            Self::States(keeper) => keeper.enter(branch),
            Self::Components(keeper) => keeper.enter(branch),
            Self::Inputs(keeper) => keeper.enter(branch),
        }
    }
    /// The component has been stepped.
    pub fn stepped(&mut self, branch: Branch, inputs: Vec<f64>) {
        match self {
            Self::States(keeper) => {
                if let Some(position) = keeper.branches.get_mut(&branch) {
                    position.clock.steps += 1;
                    position.state = None;
                }
            }
            Self::Components(keeper) => {
                if let Some((_, clock)) = keeper.branches.get_mut(&branch) {
                    clock.steps += 1;
                }
            }
            Self::Inputs(keeper) => {
                if let Some(log) = keeper.branches.get_mut(&branch) {
                    log.clock.steps += 1;
                    log.inputs.push(inputs);
                }
            }
        }
    }
    /// The component has failed in this branch, which is gone.
    pub fn failed(&mut self, branch: Branch) {
        match self {
            Self::States(keeper) => {
                keeper.branches.remove(&branch);
                keeper.current = None;
            }
            Self::Components(keeper) => drop(keeper.branches.remove(&branch)),
            Self::Inputs(keeper) => {
                keeper.branches.remove(&branch);
                keeper.current = None;
            }
        }
    }
}

/// Branches as states of one component.
pub struct StateKeeper {
    ground: Ground,
    component: Component,
    /// Whether it was never initialised.
    is_fresh: bool,
    current: Option<Branch>,
    branches: BTreeMap<Branch, Position>,
    /// Branches whose state could not be taken out when another one needed the component, with the reason.
    lost: BTreeMap<Branch, FmuError>,
    tokens: BTreeMap<TokenId, (Arc<State>, Clock)>,
    starts: Vec<(Begin, Arc<State>)>,
}

/// A branch; its state is in the component if it is not here.
struct Position {
    state: Option<Arc<State>>,
    clock: Clock,
}

impl StateKeeper {
    fn reset(&mut self, branch: Branch, begin: &Begin) -> Result<(), FmuError> {
        self.forget(branch);
        let clock = self.ground.clock(begin)?;
        let state = match self.starts.iter().find(|(known, _)| known == begin) {
            Some((_, state)) => Some(state.clone()),
            None => self.start(begin)?,
        };
        if state.is_none() {
            self.current = Some(branch);
        }
        self.branches.insert(branch, Position { state, clock });
        Ok(())
    }
    /// Initialises the component once more. Where the state cannot be taken out the branch has the component, and
    /// the promise is broken when somebody wants to save.
    fn start(&mut self, begin: &Begin) -> Result<Option<Arc<State>>, FmuError> {
        self.put_away()?;
        if !self.is_fresh {
            self.component.reset()?;
        }
        self.is_fresh = false;
        self.ground.initialise(&self.component, begin)?;
        let state = match self.component.save() {
            Ok(state) => Arc::new(state),
            Err(error) if error.is_fatal() => return Err(error),
            Err(_) => return Ok(None),
        };
        if self.starts.len() == STARTS_MAX {
            self.starts.remove(0);
        }
        self.starts.push((begin.clone(), state.clone()));
        Ok(Some(state))
    }
    /// Takes the state out for the branch that has the component. If that fails, it fails for that branch alone.
    fn put_away(&mut self) -> Result<(), FmuError> {
        let Some(branch) = self.current.take() else { return Ok(()) };
        let Some(position) = self.branches.get_mut(&branch).filter(|position| position.state.is_none()) else {
            return Ok(());
        };
        match self.component.save() {
            Ok(state) => position.state = Some(Arc::new(state)),
            Err(error) if error.is_fatal() => return Err(error),
            Err(error) => {
                self.branches.remove(&branch);
                self.lost.insert(branch, error);
            }
        }
        Ok(())
    }
    fn missing(&self, branch: Branch) -> FmuError {
        self.lost.get(&branch).cloned().unwrap_or_else(|| no_branch(branch))
    }
    fn enter(&mut self, branch: Branch) -> Result<(&Component, Clock), FmuError> {
        if self.current != Some(branch) {
            self.put_away()?;
            let position = self.branches.get(&branch).ok_or_else(|| self.missing(branch))?;
            if let Some(state) = &position.state {
                self.component.load(state)?;
            }
            self.current = Some(branch);
        }
        let clock = self.branches.get(&branch).ok_or_else(|| no_branch(branch))?.clock;
        Ok((&self.component, clock))
    }
    fn forget(&mut self, branch: Branch) {
        self.branches.remove(&branch);
        self.lost.remove(&branch);
        if self.current == Some(branch) {
            self.current = None;
        }
    }
    /// The branch becomes a saved state; it is given back, to be shown.
    ///
    /// # Errors
    /// When there is no such branch or the FMU fails.
    pub fn save(&mut self, branch: Branch, token: TokenId) -> Result<Arc<State>, FmuError> {
        if self.current == Some(branch) {
            self.put_away()?;
        }
        let position = self.branches.remove(&branch).ok_or_else(|| self.missing(branch))?;
        let state = position.state.ok_or_else(|| self.missing(branch))?;
        self.tokens.insert(token, (state.clone(), position.clock));
        Ok(state)
    }
    /// The branch begins as a copy of a saved state.
    ///
    /// # Errors
    /// When there is no such state.
    pub fn load(&mut self, token: TokenId, branch: Branch) -> Result<(), FmuError> {
        let (state, clock) = self
            .tokens
            .get(&token)
            .cloned()
            .ok_or_else(|| FmuError::Order { text: format!("there is no saved state {token}") })?;
        self.forget(branch);
        self.branches.insert(branch, Position { state: Some(state), clock });
        Ok(())
    }
    /// Saved states that are not needed any more.
    pub fn drop_tokens(&mut self, tokens: &[TokenId]) {
        for token in tokens {
            self.tokens.remove(token);
        }
    }
    /// The component, to write a state as bytes.
    pub fn component(&self) -> &Component {
        &self.component
    }
}

/// Branches as components.
pub struct ComponentKeeper {
    ground: Ground,
    /// The first one, which showed that it can be instantiated.
    spare: Option<Component>,
    branches: BTreeMap<Branch, (Component, Clock)>,
}

impl ComponentKeeper {
    fn reset(&mut self, branch: Branch, begin: &Begin) -> Result<(), FmuError> {
        // A new component instead of a reset one: what the old one forgot to reset does not matter.
        self.branches.remove(&branch);
        let clock = self.ground.clock(begin)?;
        let component = self.spare.take().map_or_else(|| Component::new(&self.ground.fmu), Ok)?;
        self.ground.initialise(&component, begin)?;
        self.branches.insert(branch, (component, clock));
        Ok(())
    }
    fn enter(&mut self, branch: Branch) -> Result<(&Component, Clock), FmuError> {
        let (component, clock) = self.branches.get(&branch).ok_or_else(|| no_branch(branch))?;
        Ok((component, *clock))
    }
}

/// Branches as inputs to be given again.
pub struct InputKeeper {
    ground: Ground,
    component: Component,
    is_fresh: bool,
    current: Option<Branch>,
    branches: BTreeMap<Branch, Log>,
}

struct Log {
    begin: Begin,
    clock: Clock,
    inputs: Vec<Vec<f64>>,
}

impl InputKeeper {
    fn reset(&mut self, branch: Branch, begin: &Begin) -> Result<(), FmuError> {
        let clock = self.ground.clock(begin)?;
        self.branches.insert(branch, Log { begin: begin.clone(), clock, inputs: Vec::new() });
        self.current = None;
        Ok(())
    }
    fn enter(&mut self, branch: Branch) -> Result<(&Component, Clock), FmuError> {
        let log = self.branches.get(&branch).ok_or_else(|| no_branch(branch))?;
        if self.current != Some(branch) {
            self.current = None;
            if !self.is_fresh {
                self.component.reset()?;
            }
            self.is_fresh = false;
            self.ground.initialise(&self.component, &log.begin)?;
            for (steps, inputs) in log.inputs.iter().enumerate() {
                let clock = Clock { steps: steps as u64, ..log.clock };
                self.component.write(&self.ground.plan.inputs, inputs)?;
                self.component.step(clock.time_s(), clock.cycle_s)?;
            }
            self.current = Some(branch);
        }
        Ok((&self.component, log.clock))
    }
}
