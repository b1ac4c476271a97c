//! What of the state is not in the key, and why; everything else is ([`System::leaves`](anabranch_kernel::System::leaves)).

use anabranch_errors::DelayLine;
use anabranch_kernel::{Leaf, LeafRole};
use anabranch_monitors::Measured;

use super::state::DriveState;
use super::{Drive, Driver};

impl Drive {
    /// Values that are not in the key.
    pub(super) fn left_out(&self) -> Vec<Leaf> {
        let mut all = vec![Leaf::time("tick")];
        let layout = &self.layout;
        all.extend(layout.start.is_none().then(|| Leaf::constant("start", "there is one start")));
        all.extend(
            layout.held_command.is_none().then(|| Leaf::unread("command", "every segment begins with a new one")),
        );
        all.extend(
            layout.held_reading.is_none().then(|| Leaf::unread("reading", "every segment begins with a new one")),
        );
        match &self.driver {
            Driver::Road => all.push(Leaf::constant("driver", "a run ends when it is completed")),
            Driver::Model(_) => all.extend(model("driver.Model")),
            Driver::Path(_) | Driver::Trajectory(_) | Driver::Foreign(_) => {}
        }
        all.extend(self.errors.leaves("errors"));
        all.extend(self.requirements.leaves("monitors", "extras.histories"));
        if !self.needs_extras() {
            all.push(Leaf::constant("extras", "nothing of this scenario needs them"));
            return all;
        }
        self.left_out_of_extras(&mut all);
        if self.foreign().is_some() {
            // A state of code from outside is reached along its path alone, so another value cannot be tried.
            let unread = all.iter_mut().filter(|leaf| leaf.role == LeafRole::Unread);
            unread.for_each(|leaf| leaf.role = LeafRole::Rounded);
        }
        all
    }

    fn left_out_of_extras(&self, all: &mut Vec<Leaf>) {
        let absent = |name: &str| Leaf::constant(&format!("extras.{name}"), "this scenario has no such part");
        let reach = self.errors.reach();
        all.extend(DelayLine::<4>::leaves(reach.sensor_delay_ticks, "extras.told_line"));
        all.extend(DelayLine::<2>::leaves(reach.actuator_delay_ticks, "extras.command_line"));
        if self.eyes.is_none() {
            all.extend([absent("sensed"), absent("stand_at_m")]);
        }
        match &self.replanning {
            None => all.push(absent("own_path")),
            Some(_) => all.push(Leaf::rounded("extras.own_path.arcs#", "a path is in the key by where it leads")),
        }
        match &self.behind {
            None => all.push(absent("behind")),
            Some(_) => all.extend(model("extras.behind")),
        }
        match self.measuring.remembered() {
            0 => all.push(absent("measured")),
            kept => all.extend(Measured::leaves(kept, "extras.measured")),
        }
        match self.foreign() {
            None => all.push(absent("foreign")),
            Some(foreign) => all.extend(foreign.leaves("extras.foreign")),
        }
        match &self.street {
            None => all.push(absent("street")),
            Some(street) => all.extend(street.leaves("extras.street", matches!(self.driver, Driver::Road))),
        }
    }

    /// Computes again what follows from other values.
    pub(super) fn derive_rest(&self, state: &mut DriveState) {
        let (tick, steering_rad) = (state.tick, state.car.car.steering);
        let Some(extras) = state.extras.as_deref_mut() else { return };
        if let Some(measured) = extras.measured.as_deref_mut() {
            measured.derive(tick, steering_rad);
        }
        if let Some(street) = extras.street.as_deref_mut() {
            street.branch.tick = tick;
        }
    }
}

/// Of a component model whose memory is called `at`.
fn model(at: &str) -> [Leaf; 3] {
    [
        Leaf::constant(&format!("{at}.seed"), "the same in every state of an exploration"),
        Leaf::constant(&format!("{at}.values#"), "the size of its memory does not change"),
        Leaf::unread(at, "what does not last is computed anew in every cycle"),
    ]
}
