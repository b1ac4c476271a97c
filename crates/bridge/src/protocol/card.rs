//! What an instance says of itself.

use serde::{Deserialize, Serialize};

/// What kind of thing it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Gets what the sensors say, returns commands.
    Driver,
    /// A simulator with everything inside: gets the error choice, runs a segment.
    World,
    /// What is between a command and the car: gets commands, returns what the wheels and the drive make of them.
    Actuator,
    /// The car itself: gets commands, returns where it is.
    Plant,
    /// Proposes points of a search and hears what became of them.
    Optimiser,
}

impl Role {
    /// In names and sentences.
    pub fn word(self) -> &'static str {
        match self {
            Self::Driver => "driver",
            Self::World => "world",
            Self::Actuator => "actuator",
            Self::Plant => "plant",
            Self::Optimiser => "optimiser",
        }
    }
}

/// What it promises about saved states; checked by a contract test and shown to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Support {
    /// `save` and `load` work.
    Save,
    /// `reset` works, so a state is rebuilt by running its path again.
    Replay,
    /// Not even `reset`: the process is started anew for every run.
    None,
}

/// How saved states are kept; for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Snapshot {
    /// The code's own `save` and `load`.
    Own,
    /// A deep copy of the object.
    Copy,
    /// A forked process.
    Fork,
    /// An image of the module's memory.
    Memory,
    /// The state of an FMU.
    FmuState,
    /// Not at all.
    None,
}

/// The card of an instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// Must equal [`super::PROTOCOL`].
    pub protocol: u16,
    /// Driver or world.
    pub role: Role,
    /// Name for people.
    pub name: String,
    /// Version for people; empty if it has none.
    #[serde(default)]
    pub version: String,
    /// What saved states it can have.
    pub support: Support,
    /// How it keeps them.
    pub snapshot: Snapshot,
    /// Seconds between two steps (role driver); `None` takes the cycle of the scenario.
    #[serde(default)]
    pub cycle_s: Option<f64>,
    /// Variables of its memory that count for merging.
    #[serde(default)]
    pub key: Vec<KeyVariable>,
    /// Whether [`super::Answer::Saved`] brings canonical bytes.
    #[serde(default)]
    pub saves_bytes: bool,
    /// Whether it has no memory at all: the answer depends on what it sees, and on nothing else.
    #[serde(default)]
    pub memoryless: bool,
    /// Optional parts of [`super::Seen`] and [`super::Begin`] it wants: `walls`, `occupancy`, `samples`.
    #[serde(default)]
    pub wants: Vec<String>,
    /// Digest of its code with everything that it imports, if it reports one; runs with other code are other runs.
    #[serde(default)]
    pub code: Option<String>,
    /// Role world only.
    #[serde(default)]
    pub world: Option<Box<WorldCard>>,
}

impl Card {
    /// How states are kept, in words.
    pub fn support_words(&self) -> &'static str {
        match (self.support, self.snapshot) {
            (Support::None, _) => "started anew for every segment",
            (Support::Replay, _) => "run again from the start for every segment",
            (Support::Save, Snapshot::Own) => "saved by its own code",
            (Support::Save, Snapshot::Copy) => "saved by deep copy",
            (Support::Save, Snapshot::Fork) => "saved by fork",
            (Support::Save, Snapshot::Memory) => "saved as memory image",
            (Support::Save, Snapshot::FmuState) => "saved as FMU state",
            (Support::Save, Snapshot::None) => "saved",
        }
    }
    /// Name and version, for people.
    pub fn title(&self) -> String {
        if self.version.is_empty() { self.name.clone() } else { format!("{} {}", self.name, self.version) }
    }
}

/// A variable that counts for merging.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeyVariable {
    /// Name for people and for `merge` in scenarios.
    pub name: String,
    /// Unit; empty for plain numbers.
    #[serde(default)]
    pub unit: String,
    /// Cell size; `None` or 0 counts exactly.
    #[serde(default)]
    pub cell: Option<f64>,
}

/// One way of being wrong.
pub type ChoiceName = String;

/// A place where errors enter a foreign simulator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteCard {
    /// Name of the place.
    pub name: String,
    /// Names of the modes; the first is "no error".
    pub modes: Vec<ChoiceName>,
}

/// What a foreign simulator adds to its card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorldCard {
    /// Where errors enter.
    pub sites: Vec<SiteCard>,
    /// Most sites in error at the same time; `None` for all.
    pub at_once: Option<u16>,
    /// Every variable that counts for merging.
    pub merge: Vec<KeyVariable>,
    /// Names of *must* and *should* requirements that segments may refer to.
    pub requirements: Vec<String>,
    /// How many of them, the first ones, are *must*; `None`: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub musts: Option<u32>,
    /// Numbers it can show for every tick.
    pub signals: Vec<KeyVariable>,
    /// Whether equal states at different times may differ in their future.
    pub time_matters: bool,
    /// Simulated seconds of one segment.
    pub segment_s: f64,
    /// Simulated seconds of one tick of `signals`.
    pub tick_s: f64,
    /// Segments until the run is over.
    pub segments_max: u32,
}

impl WorldCard {
    /// Why no run of it can violate anything, if none can.
    pub fn nothing_to_judge(&self) -> Option<&'static str> {
        if self.requirements.is_empty() {
            return Some("the world names no requirement, so no run can violate anything");
        }
        let is_missing = self.musts == Some(0);
        is_missing.then_some("the world has only *should* requirements, no *must*, so no run can violate anything")
    }
}

impl Default for WorldCard {
    fn default() -> Self {
        Self {
            sites: Vec::new(),
            at_once: None,
            merge: Vec::new(),
            requirements: Vec::new(),
            musts: None,
            signals: Vec::new(),
            time_matters: false,
            segment_s: 1.0,
            tick_s: 1.0,
            segments_max: 20,
        }
    }
}
