//! The trait every error model implements, and the closed set of the shipped ones.

use std::fmt::Debug;
use std::sync::Arc;

use anabranch_kernel::{Mode, Site, Variable};

use crate::effects::Effects;
use crate::memory::Slot;
use crate::models;

/// A function that alters the transmitted data (S1-17). `RECIPE.md` of this crate tells how to add one.
pub trait ErrorModel: Debug + Send + Sync {
    /// Its id in the scenario and its modes; mode 0 is "none".
    fn site(&self) -> Site;

    /// Adds to the effects of a segment in which this mode is active, and updates what the model remembers.
    ///
    /// Mode 0 of a model without memory leaves everything as it is.
    fn begin(&self, mode: u8, slot: &mut Slot, effects: &mut Effects);

    /// What the model remembers between segments, at most [`crate::SLOT_MAX`] numbers with their cell sizes.
    fn variables(&self) -> Vec<Variable> {
        Vec::new()
    }

    /// Whether a mode would differ from every lower one, given what the model remembers.
    fn live(&self, slot: &Slot, mode: u8) -> bool {
        let outcome = |mode| {
            let (mut slot, mut effects) = (*slot, Effects::NONE);
            self.begin(mode, &mut slot, &mut effects);
            (slot, effects)
        };
        let own = outcome(mode);
        (0..mode).all(|lower| outcome(lower) != own)
    }

    /// The mode in which the error stays as it is, where that is a mode of its own; otherwise every mode stays by being
    /// repeated. Probabilities need to know: such a mode is never begun.
    fn stay_mode(&self) -> Option<u8> {
        None
    }

    /// What is wrong with the numbers of this model, if anything.
    fn problem(&self) -> Option<String> {
        None
    }
}

/// Mode 0 followed by the given ones.
pub(crate) fn site(id: &str, modes: impl IntoIterator<Item = (String, f64)>) -> Site {
    let none = Mode { name: "none".to_owned(), size: 0.0 };
    let modes = modes.into_iter().map(|(name, size)| Mode { name, size });
    Site { id: id.to_owned(), modes: std::iter::once(none).chain(modes).collect() }
}

macro_rules! models {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The shipped error models, one file each, and a door for those of a user (S1-29).
        #[derive(Clone, Debug)]
        pub enum Model {
            $($(#[$doc])* $name(models::$name),)*
            /// A model from outside of this crate.
            User(Arc<dyn ErrorModel>),
        }
        impl Model {
            /// The model behind the name.
            pub fn as_dyn(&self) -> &dyn ErrorModel {
                match self {
                    $(Self::$name(model) => model,)*
                    Self::User(model) => model.as_ref(),
                }
            }
        }
        $(impl From<models::$name> for Model {
            fn from(model: models::$name) -> Self {
                Self::$name(model)
            }
        })*
    };
}

models! {
    /// The estimated pose jumps.
    Jump,
    /// The estimated pose drifts away.
    Drift,
    /// Sensors tell old news.
    SensorDelay,
    /// Actuators follow old commands.
    ActuatorDelay,
    /// Another steering angle than commanded.
    Steering,
    /// Another acceleration than commanded.
    Acceleration,
    /// The road is more slippery than it was.
    Friction,
    /// Obstacles are recognised late.
    ObstacleLate,
    /// Obstacles are seen at a wrong place.
    ObstacleDisplaced,
    /// Obstacles are not seen.
    ObstacleMissed,
    /// Obstacles are seen that are not there.
    ObstacleGhost,
    /// Obstacles are seen the wrong way round.
    ObstacleFlipped,
    /// Sensors of the own motion tell nothing.
    SensorLost,
    /// Obstacles appear at a bad moment.
    Appears,
    /// Messages of other cars do not arrive.
    MessagesLost,
    /// Messages of other cars arrive late.
    MessagesLate,
    /// A tyre loses air.
    Leak,
    /// The monitor of the tyres tells nothing new.
    MonitorLost,
    /// One object sensor errs.
    OfSensor,
}
