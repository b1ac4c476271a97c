//! An FMU that answers what is asked of a driver, of an actuator or of a plant.

use std::sync::Arc;

use super::canonical::bytes_are_canonical;
use super::keeper::{Ground, Keeper};
use super::mapping::FmuMapping;
use super::plan::Plan;
use super::signals::Told;
use crate::fmu::component::Fmu;
use crate::fmu::error::FmuError;
use crate::fmu::package::Package;
use crate::instance::Instance;
use crate::misbehaviour::Misbehaviour;
use crate::protocol::{Answer, Branch, Card, Op, PROTOCOL, Role, Snapshot, Support, TokenId};

/// An FMU as a driver or as a part of the car, in this process. The binary can end the process: serve it from one of its own.
pub struct FmuInstance {
    card: Card,
    plan: Arc<Plan>,
    keeper: Keeper,
    seconds: f64,
}

impl std::fmt::Debug for FmuInstance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FmuInstance").field("card", &self.card).finish_non_exhaustive()
    }
}

impl FmuInstance {
    /// Loads the binary of a package and instantiates it.
    ///
    /// # Errors
    /// When the mapping does not fit, the binary does not load, or the FMU refuses.
    pub fn new(package: Package, mapping: &FmuMapping) -> Result<Self, FmuError> {
        let plan = Arc::new(Plan::new(package.description(), mapping)?);
        let fmu = Fmu::load(package)?;
        let description = fmu.description();
        let capabilities = description.capabilities;
        let fixed_step_s = description.step_s.filter(|_| !capabilities.variable_step);
        let cycle_s = mapping.cycle_s.or(fixed_step_s);
        let asks_bytes = plan.key.is_empty() && !mapping.memoryless && capabilities.serialises_state;
        let (support, snapshot) = if capabilities.saves_state {
            (Support::Save, Snapshot::FmuState)
        } else {
            (Support::Replay, Snapshot::None)
        };
        let card = Card {
            protocol: PROTOCOL,
            role: mapping.role.role(),
            name: description.model_name.clone(),
            version: description.model_version.clone(),
            support,
            snapshot,
            cycle_s,
            key: plan.key.clone(),
            saves_bytes: capabilities.saves_state && asks_bytes && bytes_are_canonical(&fmu, &plan),
            memoryless: mapping.memoryless,
            wants: Vec::new(),
            code: None,
            world: None,
        };
        let keeper = Keeper::new(Ground { fmu: fmu.clone(), plan: plan.clone(), cycle_s })?;
        Ok(Self { card, plan, keeper, seconds: 0.0 })
    }

    fn answer(&mut self, op: &Op) -> Result<Answer, FmuError> {
        match op {
            Op::Describe {} => Ok(Answer::Card(Box::new(self.card.clone()))),
            Op::Reset { branch, begin } => self.keeper.reset(*branch, begin).map(|()| Answer::Done {}),
            Op::Step { branch, seen } if self.card.role == Role::Driver => {
                let outputs = self.step(*branch, Told::Seen(seen))?;
                self.plan.decision(&outputs).map(Answer::Decision).inspect_err(|_| self.keeper.failed(*branch))
            }
            Op::Move { branch, push } if self.card.role != Role::Driver => {
                let outputs = self.step(*branch, Told::Pushed(push))?;
                Ok(Answer::Moved(Box::new(self.plan.moved(&outputs))))
            }
            Op::Save { branch, token } => self.save(*branch, *token),
            Op::Load { token, branch } => match &mut self.keeper {
                Keeper::States(keeper) => keeper.load(*token, *branch).map(|()| Answer::Done {}),
                Keeper::Components(_) | Keeper::Inputs(_) => Err(no_states()),
            },
            Op::Drop { tokens } => {
                if let Keeper::States(keeper) = &mut self.keeper {
                    keeper.drop_tokens(tokens);
                }
                Ok(Answer::Done {})
            }
            Op::Run { .. } | Op::Step { .. } | Op::Move { .. } | Op::Ask(_) => {
                let text = format!("this FMU is a {} and is asked for something else", self.card.role.word());
                Err(FmuError::Order { text })
            }
            Op::Bye {} => Ok(Answer::Done {}),
        }
    }

    /// One step; what it left in the outputs.
    fn step(&mut self, branch: Branch, told: Told<'_>) -> Result<Vec<f64>, FmuError> {
        let inputs = self.plan.input_values(told);
        let stepped = self.try_step(branch, &inputs);
        match &stepped {
            Ok(_) => self.keeper.stepped(branch, inputs),
            Err(_) => self.keeper.failed(branch),
        }
        stepped
    }
    fn try_step(&mut self, branch: Branch, inputs: &[f64]) -> Result<Vec<f64>, FmuError> {
        let (component, clock) = self.keeper.enter(branch)?;
        component.write(&self.plan.inputs, inputs)?;
        component.step(clock.time_s(), clock.cycle_s)?;
        let mut outputs = vec![0.0; self.plan.outputs_count];
        component.read(&self.plan.outputs, &mut outputs)?;
        Ok(outputs)
    }
    fn save(&mut self, branch: Branch, token: TokenId) -> Result<Answer, FmuError> {
        let Keeper::States(keeper) = &mut self.keeper else { return Err(no_states()) };
        let state = keeper.save(branch, token)?;
        let bytes = if self.card.saves_bytes { keeper.component().serialise(&state)? } else { None };
        Ok(Answer::Saved { bytes: bytes.map(serde_bytes::ByteBuf::from), attributes: None })
    }
}

fn no_states() -> FmuError {
    FmuError::Order { text: "this FMU cannot save its state".to_owned() }
}

impl Instance for FmuInstance {
    fn card(&self) -> &Card {
        &self.card
    }
    fn exchange(&mut self, ops: &[Op], answers: &mut Vec<Answer>) -> Result<(), Misbehaviour> {
        let began = now();
        for op in ops {
            match self.answer(op) {
                Ok(answer) => answers.push(answer),
                Err(error) if error.is_fatal() => return Err(error.into_misbehaviour()),
                Err(error) => answers.push(Answer::Failed { text: error.to_string() }),
            }
        }
        self.seconds = began.elapsed().as_secs_f64();
        Ok(())
    }
    fn seconds(&self) -> f64 {
        self.seconds
    }
}

/// How long the FMU took is for people.
#[expect(
    clippy::disallowed_methods,
    reason = "how long the code from outside took is told to people and decides nothing"
)]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}
