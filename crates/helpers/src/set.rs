//! All helpers of a scenario together.

use anabranch_kernel::Visitor;
use serde::{Deserialize, Serialize};

use crate::helper::{Around, Helper, SignalFact};
use crate::radio::{Radio, RadioState};
use crate::tyres::{Tyres, TyresState};

/// The helpers of a scenario. Behaviour only: what evolves is [`HelpersState`].
#[derive(Clone, Debug, Default)]
pub struct Helpers {
    /// Messages between cars.
    pub radio: Option<Radio>,
    /// Pressure of the tyres.
    pub tyres: Option<Tyres>,
}

/// What of helpers evolves.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct HelpersState {
    /// Messages between cars.
    pub radio: Option<RadioState>,
    /// Pressure of the tyres.
    pub tyres: Option<TyresState>,
}

/// A helper that may not be there.
fn advance<H: Helper>(helper: Option<&H>, state: &mut Option<H::State>, around: &Around<'_>) {
    if let (Some(helper), Some(state)) = (helper, state)
        && helper.due_tick(state, around.tick) <= around.tick
    {
        helper.advance(state, around);
    }
}

fn is_due<H: Helper>(helper: Option<&H>, state: Option<&H::State>, tick: u32) -> bool {
    helper.zip(state).is_some_and(|(helper, state)| helper.due_tick(state, tick) <= tick)
}

fn show<'o, H: Helper>(helper: Option<&H>, state: Option<&H::State>, tick: u32, out: &'o mut [f64]) -> &'o mut [f64] {
    let Some((helper, state)) = helper.zip(state) else { return out };
    let (own, rest) = out.split_at_mut(helper.signals().len());
    helper.show(state, tick, own);
    rest
}

impl Helpers {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.radio.is_none() && self.tyres.is_none()
    }
    /// Before the first base cycle.
    pub fn start(&self) -> HelpersState {
        HelpersState { radio: self.radio.as_ref().map(Helper::start), tyres: self.tyres.as_ref().map(Helper::start) }
    }
    /// Whether anything is due in a base cycle, so that somebody has to look around for it.
    pub fn is_due(&self, state: &HelpersState, tick: u32) -> bool {
        is_due(self.radio.as_ref(), state.radio.as_ref(), tick)
            || is_due(self.tyres.as_ref(), state.tyres.as_ref(), tick)
    }
    /// Lets everybody advance who is due.
    pub fn advance(&self, state: &mut HelpersState, around: &Around<'_>) {
        advance(self.radio.as_ref(), &mut state.radio, around);
        advance(self.tyres.as_ref(), &mut state.tyres, around);
    }
    /// Names their variables.
    pub fn visit<V: Visitor>(&self, state: &HelpersState, v: &mut V) {
        let absent = "there is no such simulator";
        match (&self.radio, &state.radio) {
            (Some(radio), Some(state)) => radio.visit(state, v),
            _ => v.constant("radio", absent),
        }
        match (&self.tyres, &state.tyres) {
            (Some(tyres), Some(state)) => tyres.visit(state, v),
            _ => v.constant("tyres", absent),
        }
    }
    /// What frames show of them, in order.
    pub fn signals(&self) -> Vec<SignalFact> {
        let radio = self.radio.as_ref().map_or(&[][..], Helper::signals);
        radio.iter().chain(self.tyres.as_ref().map_or(&[][..], Helper::signals)).copied().collect()
    }
    /// The values of those signals in a base cycle.
    pub fn show(&self, state: &HelpersState, tick: u32, out: &mut [f64]) {
        let out = show(self.radio.as_ref(), state.radio.as_ref(), tick, out);
        show(self.tyres.as_ref(), state.tyres.as_ref(), tick, out);
    }
}
