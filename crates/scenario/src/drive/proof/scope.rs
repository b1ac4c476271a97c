//! Which loops can be bounded at all, and what their requirements ask of clearance.

use anabranch_kernel::{CellSize, NoProof};
use anabranch_monitors::Level;

use super::super::margin::asks_m;
use super::super::state::Section;
use super::super::{Drive, Driver};
use super::segment::{Follows, Line, REALS};

impl Drive {
    /// Where the variables of `reals` stand in the key.
    pub(crate) fn real_positions(&self) -> [usize; REALS] {
        [0, 1, 2, 3, 4, 5, self.layout.declared.sections[Section::Driver as usize]]
    }

    /// The driver whose runs can be bounded, and the clearance that every run must exceed at the ticks.
    pub(super) fn provable(&self) -> Result<(Follows<'_>, f64), NoProof> {
        let follower = match &self.driver {
            Driver::Path(follower) => follower,
            Driver::Trajectory(_) => {
                return Err(NoProof::because("the driver follows a timetable, which proofs do not cover yet"));
            }
            Driver::Foreign(_) => return Err(NoProof::because("nothing is known about a driver from outside")),
            Driver::Model(_) => {
                return Err(NoProof::because("the driver is a component model, which proofs do not cover"));
            }
            Driver::Road => return Err(NoProof::because("others on the road react, which proofs do not cover")),
        };
        let reach = self.errors.reach();
        let obstacles = [
            (self.part.is_some(), "nothing is known about a part of the car from outside"),
            (self.behind.is_some(), "an actuator is a component model, which proofs do not cover"),
            (self.eyes.is_some(), "the driver reacts to obstacles that it may recognise or not"),
            (self.replanning.is_some(), "the driver plans again on the way"),
            (reach.sensor_delay_ticks > 0, "what is on its way in a delayed sensor is not bounded"),
            (reach.actuator_delay_ticks > 0, "what is on its way to a delayed actuator is not bounded"),
            (self.errors.remembers(), "what the errors remember is not bounded"),
            (self.plans.len() != 1, "there are several starts"),
            (!self.segment_ticks.is_multiple_of(self.control_ticks), "segments end between two cycles of the driver"),
            (
                !self.segment_ticks.is_multiple_of(self.localisation.cycle_ticks),
                "segments end between two cycles of localisation",
            ),
        ];
        if let Some((_, what)) = obstacles.iter().find(|(there, _)| *there) {
            return Err(NoProof::because(*what));
        }
        let path = &self.plans[0].path;
        if path.sections().is_empty() {
            return Err(NoProof::because("there is no way to go"));
        }
        let line =
            Line::of(path).ok_or_else(|| NoProof::because("the path is curved, which proofs do not cover yet"))?;
        let covered = self.real_positions();
        let known =
            |index: &usize| covered.contains(index) || self.layout.declared.variables[*index].size == CellSize::Exact;
        if let Some(index) = (0..self.layout.declared.variables.len()).find(|index| !known(index)) {
            let name = &self.layout.declared.variables[index].name;
            return Err(NoProof::because(format!("differences of `{name}` are not bounded")));
        }
        Ok((Follows { follower, path, line }, self.clearance_asked_m()?))
    }

    /// The largest clearance that a *must* forbids; each of them must be about clearance or contact alone.
    fn clearance_asked_m(&self) -> Result<f64, NoProof> {
        let musts = || self.requirements.list().iter().filter(|r| r.level == Level::Must);
        if musts().next().is_none() {
            return Err(NoProof::because("there is no `must` that could be violated"));
        }
        let mut asked_m = 0.0_f64;
        for must in musts() {
            let Some(least_m) = asks_m(must) else {
                return Err(NoProof::because(format!("the requirement `{}` is not about clearance alone", must.id)));
            };
            asked_m = asked_m.max(least_m);
        }
        Ok(asked_m)
    }
}
