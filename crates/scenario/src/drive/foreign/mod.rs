//! A driver from outside in the loop: what it is told, what it says, and how many of its branches run in lockstep.
//!
//! The driver itself lives behind an [`anabranch_bridge::Fleet`]. A [`DriveState`](super::DriveState) has its path, what the driver
//! reported of its memory, and a handle on the saved state outside, which is a cache: where it is gone the path is run
//! again from the start and must lead to the same bits.

mod anew;
mod batch;
mod check;
mod faults;
mod lockstep;
mod memory;
mod moves;
mod native;
mod occupancy;
mod revive;
mod seen;
mod track;
mod twice;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anabranch_bridge::attributes::{self, Remembered};
use anabranch_bridge::doubling::Sample;
use anabranch_bridge::protocol::Begin;
use anabranch_bridge::{Card, Factory, Fleet, FleetLimits, Kind, Latency, Misbehaviour, Pace, Role, Support, Times};
use anabranch_driving::follow::{LateralLaw, SpeedGains};
use anabranch_kernel::{Params, Visitor};

use super::state::DriveState;
pub use faults::AvFault;
use faults::FaultLog;
pub use memory::ForeignMemory;
pub(crate) use moves::Part;
pub use native::{Sensor, Sensors, TrueCar, World};
pub(super) use seen::objects as objects_seen;

/// What merging does about memory that a driver does not report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Hidden {
    /// States with different pasts are never alike.
    #[default]
    Refuse,
    /// As if there were none; the verdict names it.
    Ignore,
}

/// A driver from outside, before it is started.
#[derive(Debug)]
pub struct Outside {
    /// Starts its instances.
    pub factory: Box<dyn Factory>,
    /// Instances side by side.
    pub instances: usize,
    /// Memory that it does not report.
    pub hidden: Hidden,
    /// Share of segments that are run twice: 1 is all of them, 0 is none. Between them at least [`DOUBLED_MIN`] are.
    pub double: f64,
    /// Slower steps than this are counted.
    pub latency_budget_s: f64,
    /// When a step is asked. In real time nothing is run twice.
    pub pace: Pace,
    /// Sensors in Rust that the driver is told the readings of.
    pub sensors: Sensors,
}

impl Outside {
    /// One instance with the usual settings.
    pub fn new(factory: Box<dyn Factory>) -> Self {
        let (hidden, double, latency_budget_s) = (Hidden::Refuse, DOUBLE_SHARE, LATENCY_BUDGET_S);
        let sensors = Sensors::default();
        Self { factory, instances: 1, hidden, double, latency_budget_s, pace: Pace::Lockstep, sensors }
    }
}

/// Share of segments that are run twice where a scenario does not say.
pub const DOUBLE_SHARE: f64 = 0.02;
/// At least so many segments are run twice, if there are that many and any shall be: a small exploration is looked at
/// as closely as a large one.
pub const DOUBLED_MIN: u64 = 200;
/// Time for one step where a scenario does not say (S3-5).
pub const LATENCY_BUDGET_S: f64 = 0.1;

/// How the memory of a driver counts when states are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merging {
    /// By the variables it names.
    Key,
    /// By the bytes of its saved state, exactly.
    Bytes,
    /// It says that it has none.
    Memoryless,
    /// It is hidden, so that states with different pasts are never alike.
    Off,
    /// It is hidden, and somebody asked to ignore that.
    Ignored,
}

impl Merging {
    /// For machines.
    pub fn word(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Bytes => "bytes",
            Self::Memoryless => "memoryless",
            Self::Off => "off",
            Self::Ignored => "ignored",
        }
    }
}

/// A driver from outside, running.
#[derive(Debug)]
pub struct ForeignDriver {
    fleet: Fleet,
    hidden: Hidden,
    double: f64,
    latency_budget_s: f64,
    lateral: LateralLaw,
    speed: SpeedGains,
    /// Of the told pose: x, y, heading, row by row.
    covariance: [f64; 9],
    wants_occupancy: bool,
    sensors: Sensors,
    /// What a run begins with, for every start.
    begins: Vec<Begin>,
    starts: Vec<Params>,
    /// Position of the first requirement about the driver itself.
    requirement: u16,
    faults: Mutex<FaultLog>,
    /// What it remembers apart from the variables it names.
    hidden_attributes: Remembered,
    /// States whose paths may be run again.
    sample: Sample<DriveState>,
}

/// How the host sees path and speed for a driver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Laws {
    pub(super) lateral: LateralLaw,
    pub(super) speed: SpeedGains,
    pub(super) covariance: [f64; 9],
}

impl ForeignDriver {
    /// Starts the first instance and looks at its card.
    ///
    /// # Errors
    /// When it does not start, or is no driver.
    pub(super) fn start(outside: Outside, laws: Laws, role: Role) -> Result<Self, Misbehaviour> {
        // A clock on the wall knows one run.
        let (instances, double) = match outside.pace {
            Pace::Lockstep => (outside.instances, outside.double),
            Pace::RealTime => (1, 0.0),
        };
        let limits = FleetLimits { instances, ..FleetLimits::default() };
        let budget = Latency::Counted(Duration::from_secs_f64(outside.latency_budget_s));
        let fleet = Fleet::new(outside.factory, limits)?.with_latency(budget).with_pace(outside.pace);
        if fleet.card().role != role {
            let (name, is) = (&fleet.card().name, fleet.card().role.word());
            let text = format!("`{name}` says that it is a {is}; the scenario needs a {} here", role.word());
            return Err(Misbehaviour::new(Kind::NoStart, text));
        }
        Ok(Self {
            hidden: outside.hidden,
            double,
            latency_budget_s: outside.latency_budget_s,
            lateral: laws.lateral,
            speed: laws.speed,
            covariance: laws.covariance,
            sensors: outside.sensors,
            wants_occupancy: wants(fleet.card(), "occupancy"),
            begins: Vec::new(),
            starts: Vec::new(),
            requirement: 0,
            faults: Mutex::default(),
            hidden_attributes: Remembered::default(),
            sample: Sample::default(),
            fleet,
        })
    }
    /// Completes it with what is known once paths are planned and requirements are numbered.
    pub(super) fn prepare(&mut self, begins: Vec<Begin>, starts: Vec<Params>, requirement: u16) {
        (self.begins, self.starts, self.requirement) = (begins, starts, requirement);
    }

    /// What it says of itself.
    pub fn card(&self) -> &Card {
        self.fleet.card()
    }
    /// Instances side by side.
    pub fn instances(&self) -> usize {
        self.fleet.instances()
    }
    /// How much time it took so far.
    pub fn times(&self) -> Times {
        self.fleet.times()
    }
    /// Time for one step; more is late.
    pub fn latency_budget_s(&self) -> f64 {
        self.latency_budget_s
    }
    /// Share of segments that are run twice.
    pub fn double(&self) -> f64 {
        self.double
    }
    /// Segments that were run twice so far.
    pub fn doubled(&self) -> u64 {
        self.log().doubled
    }
    /// What it did wrong so far, by kind and path; of each kind the shortest paths.
    pub fn faults(&self) -> Vec<AvFault> {
        self.log().all()
    }
    /// What it did wrong on a path.
    pub fn fault_on(&self, start: usize, choices: &[anabranch_kernel::Choice]) -> Option<AvFault> {
        self.log().on(start, choices)
    }
    /// Names of the requirements about it itself, in the order of [`Kind::ALL`].
    pub fn requirement_ids(&self) -> Vec<String> {
        let role = self.word();
        Kind::ALL.into_iter().map(|kind| format!("{role}.{}", kind.name())).collect()
    }
    /// What it is, in a word: driver, actuator or plant.
    pub fn word(&self) -> &'static str {
        self.card().role.word()
    }
    /// The kind of misbehaviour that a requirement is about.
    pub fn kind_of(&self, requirement: u16) -> Option<Kind> {
        Kind::ALL.get(usize::from(requirement.checked_sub(self.requirement)?)).copied()
    }
    fn requirement_of(&self, kind: Kind) -> u16 {
        self.requirement + kind as u16
    }

    /// How its memory counts when states are compared.
    pub fn merging(&self) -> Merging {
        let card = self.card();
        if !card.key.is_empty() {
            Merging::Key
        } else if card.memoryless {
            Merging::Memoryless
        } else if card.saves_bytes && card.support == Support::Save {
            Merging::Bytes
        } else if self.hidden == Hidden::Ignore {
            Merging::Ignored
        } else {
            Merging::Off
        }
    }
    /// How it keeps states, in words.
    pub fn support_words(&self) -> &'static str {
        self.card().support_words()
    }
    /// How its memory counts, in words.
    pub fn merging_words(&self) -> String {
        let named = || self.card().key.iter().map(|key| key.name.as_str()).collect::<Vec<_>>().join(", ");
        match self.merging() {
            Merging::Key => format!("memory counts by {}", named()),
            Merging::Bytes => "memory counts by its saved bytes, exactly".to_owned(),
            Merging::Memoryless if self.card().role == Role::Driver => "it has no memory".to_owned(),
            Merging::Memoryless => "it remembers nothing but what it gives".to_owned(),
            Merging::Off => "memory is hidden, so nothing merges".to_owned(),
            Merging::Ignored => "memory is hidden and ignored".to_owned(),
        }
    }

    /// What is not compared when states are merged, in words; nothing where everything is.
    pub fn not_compared(&self) -> Option<String> {
        match self.merging() {
            Merging::Key => attributes::words(self.hidden_attributes.varying(), self.word()),
            Merging::Bytes | Merging::Memoryless | Merging::Off | Merging::Ignored => None,
        }
    }

    /// Names what of its memory is not in the key on its own.
    pub(super) fn visit_leaves<V: Visitor>(&self, v: &mut V) {
        let outside = "what it says of the memory outside is in the key as the card wants it";
        let rounded: &[&str] = match self.merging() {
            Merging::Key => &["way", "bytes", "values#"],
            Merging::Bytes => &["way", "values"],
            Merging::Off | Merging::Ignored => &["bytes", "values"],
            Merging::Memoryless => &["way", "bytes", "values"],
        };
        rounded.iter().for_each(|name| v.rounded(name, outside));
        v.constant("seed", "the same in every state of an exploration");
    }

    fn log(&self) -> MutexGuard<'_, FaultLog> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a driver asks for an optional part.
pub(super) fn wants(card: &Card, part: &str) -> bool {
    card.wants.iter().any(|wanted| wanted == part)
}
