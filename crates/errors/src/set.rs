//! All error models of a scenario together: which choices there are, which can matter, and what they do.

use anabranch_kernel::{Choice, Choices, ErrorSpace, ErrorSpaceError, Variable, Visitor};
use arrayvec::ArrayVec;

use crate::effects::{Effects, GROUPS_MAX, SENSORS_MAX};
use crate::memory::{LIMITED_MAX, Memory, SLOT_MAX, Slot, VALUES_MAX};
use crate::model::Model;

/// One error of a scenario.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The error model.
    pub model: Model,
    /// In how many segments of one run it may be in error; no limit if `None`.
    pub per_run: Option<u16>,
}

/// Limits over all errors of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many models may be in error in the same segment.
    pub at_once: usize,
    /// How many segments of one run may have any error; no limit if `None`.
    pub per_run: Option<u16>,
}

/// Errors that cannot be a set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ErrorSetError {
    /// The combinations cannot be numbered.
    #[error(transparent)]
    Space(#[from] ErrorSpaceError),
    /// Two errors share an id.
    #[error("two errors are called `{0}`; give each its own `id`")]
    Twice(String),
    /// The numbers of a model make no sense.
    #[error("the error `{id}` cannot work: {problem}")]
    Unsound {
        /// Id of the error.
        id: String,
        /// What is wrong.
        problem: String,
    },
    /// A mode does the same as another one.
    #[error("mode \"{mode}\" of the error `{id}` changes nothing that another mode does not change; leave it out")]
    Idle {
        /// Id of the error.
        id: String,
        /// Name of the mode.
        mode: String,
    },
    /// Too much to remember.
    #[error("the errors remember too much: at most {VALUES_MAX} numbers and {LIMITED_MAX} limits of their own")]
    Memory,
    /// Too many groups of late or displaced obstacles.
    #[error("at most {GROUPS_MAX} errors of late or of displaced obstacles can be active at once; lower `at_once`")]
    Groups,
}

/// How far back errors can reach, in base cycles: the sizes of delay lines and counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Reach {
    /// Longest sensor delay.
    pub sensor_delay_ticks: u16,
    /// Longest actuator delay.
    pub actuator_delay_ticks: u16,
    /// Longest time until an obstacle is recognised.
    pub late_ticks: u16,
    /// Longest delay of each object sensor.
    pub sensing_delay_ticks: [u16; SENSORS_MAX],
}

/// Where a model keeps its memory.
#[derive(Clone, Debug)]
struct Place {
    model: Model,
    modes: usize,
    first_value: usize,
    /// What it remembers, by full names.
    remembered: Vec<Variable>,
    /// Position of its counter and the limit.
    limit: Option<(usize, u16)>,
}

/// Modes of one model that can matter.
type ModeSet = [u64; 4];
/// A model whose live modes depend on memory, with those modes.
type Narrowed = ArrayVec<(usize, ModeSet), { VALUES_MAX + LIMITED_MAX }>;

/// All error models of a scenario. Behaviour only: what evolves is its [`Memory`].
#[derive(Clone, Debug)]
pub struct ErrorSet {
    places: Vec<Place>,
    space: ErrorSpace,
    at_once: usize,
    per_run: Option<u16>,
    reach: Reach,
}

impl ErrorSet {
    /// The set of the entries, in their order.
    ///
    /// # Errors
    /// When a model is unsound, a mode is idle or the limits of this crate are exceeded.
    pub fn new(entries: Vec<Entry>, limits: Limits) -> Result<Self, ErrorSetError> {
        let (mut places, mut sites) = (Vec::new(), Vec::new());
        let (mut values, mut limited) = (0, 0);
        for Entry { model, per_run } in entries {
            let site = model.as_dyn().site();
            let full_name = |v: Variable| Variable { name: format!("error.{}.{}", site.id, v.name), ..v };
            let remembered: Vec<Variable> = model.as_dyn().variables().into_iter().map(full_name).collect();
            let limit = per_run.map(|limit| (limited, limit));
            let (modes, first_value) = (site.modes.len(), values);
            values += remembered.len();
            limited += usize::from(per_run.is_some());
            if remembered.len() > SLOT_MAX || values > VALUES_MAX || limited > LIMITED_MAX {
                return Err(ErrorSetError::Memory);
            }
            places.push(Place { model, modes, first_value, remembered, limit });
            sites.push(site);
        }
        let space = ErrorSpace::new(sites, limits.at_once)?;
        let Limits { at_once, per_run } = limits;
        let mut set = Self { places, space, at_once, per_run, reach: Reach::default() };
        set.check()?;
        set.reach = set.longest_reach(limits.at_once)?;
        Ok(set)
    }

    /// A set in which nothing can go wrong.
    pub fn none() -> Self {
        let limits = Limits { at_once: 0, per_run: None };
        Self::new(Vec::new(), limits).expect("no entries, no problem")
    }

    fn check(&self) -> Result<(), ErrorSetError> {
        for (index, (place, site)) in self.places.iter().zip(self.space.sites()).enumerate() {
            let unsound = |problem| ErrorSetError::Unsound { id: site.id.clone(), problem };
            if self.space.sites()[..index].iter().any(|other| other.id == site.id) {
                return Err(ErrorSetError::Twice(site.id.clone()));
            }
            if let Some(problem) = place.model.as_dyn().problem() {
                return Err(unsound(problem));
            }
            for mode in 0..place.modes {
                let effects = place.effects(mode);
                if !effects.is_finite() {
                    return Err(unsound(format!("mode \"{}\" is not a finite number", site.modes[mode].name)));
                }
                let idle = !place.model.as_dyn().live(&Slot::default(), mode as u8);
                if place.values() == 0 && (idle || (mode == 0) != (effects == Effects::NONE)) {
                    return Err(ErrorSetError::Idle { id: site.id.clone(), mode: site.modes[mode].name.clone() });
                }
            }
        }
        Ok(())
    }

    fn longest_reach(&self, at_once: usize) -> Result<Reach, ErrorSetError> {
        let (mut reach, mut late_models, mut displaced_models) = (Reach::default(), 0, 0);
        for place in &self.places {
            let modes = || (0..place.modes).map(|mode| place.effects(mode));
            let longest = |ticks: fn(&Effects) -> u16| modes().map(|e| ticks(&e)).max().unwrap_or(0);
            let late_ticks = longest(|e| e.late.iter().map(|l| l.ticks).max().unwrap_or(0));
            // Delays of several models in a row add up, lateness is the latest of them.
            reach.sensor_delay_ticks = reach.sensor_delay_ticks.saturating_add(longest(|e| e.sensor_delay_ticks));
            reach.actuator_delay_ticks = reach.actuator_delay_ticks.saturating_add(longest(|e| e.actuator_delay_ticks));
            reach.late_ticks = reach.late_ticks.max(late_ticks);
            for (sensor, reach_ticks) in reach.sensing_delay_ticks.iter_mut().enumerate() {
                let own_ticks = modes().map(|e| e.sensing[sensor].delay_ticks).max().unwrap_or(0);
                *reach_ticks = reach_ticks.saturating_add(own_ticks);
            }
            late_models += modes().map(|e| e.late.iter().filter(|l| l.obstacles != 0).count()).max().unwrap_or(0);
            displaced_models +=
                modes().map(|e| e.displaced.iter().filter(|d| d.obstacles != 0).count()).max().unwrap_or(0);
        }
        let most = late_models.max(displaced_models).min(at_once);
        if most > GROUPS_MAX { Err(ErrorSetError::Groups) } else { Ok(reach) }
    }

    /// The error choices of this set.
    pub fn space(&self) -> &ErrorSpace {
        &self.space
    }
    /// How far back errors can reach.
    pub fn reach(&self) -> Reach {
        self.reach
    }
    /// Whether any model remembers numbers from segment to segment, so that equal choices can do different things.
    pub fn remembers(&self) -> bool {
        self.places.iter().any(|place| place.values() > 0)
    }
    /// Limits of a run that choices alone do not show: over all errors, and by the position of their own.
    pub(crate) fn run_limits(&self) -> (Option<u16>, Vec<(usize, u16)>) {
        let own = self.places.iter().enumerate().filter_map(|(at, place)| Some((at, place.limit?.1)));
        (self.per_run, own.collect())
    }
    /// The limits in words: error sequences beyond them are not part of the error model.
    pub fn limits_in_words(&self) -> Vec<String> {
        let plural = |n: usize, one: &str, more: &str| if n == 1 { format!("1 {one}") } else { format!("{n} {more}") };
        let mut words = Vec::new();
        if self.at_once < self.places.len() {
            words.push(format!("at most {} at once", plural(self.at_once, "error", "errors")));
        }
        let (per_run, own) = self.run_limits();
        let segments = |limit: u16| plural(usize::from(limit), "segment", "segments");
        words.extend(per_run.map(|limit| format!("errors in at most {} of a run", segments(limit))));
        let own = own.into_iter();
        words.extend(own.map(|(at, limit)| format!("`{}` in at most {}", self.space.sites()[at].id, segments(limit))));
        words
    }
    /// The memory at the start of a run.
    pub fn start(&self) -> Memory {
        Memory::default()
    }

    /// The choices that can matter: within the limits, and no two with the same outcome. Choice 0 comes first.
    pub fn live(&self, memory: &Memory, out: &mut Choices) {
        out.clear();
        out.push(Choice::NONE);
        if self.per_run.is_some_and(|limit| memory.erroneous_segments >= limit) {
            return;
        }
        let narrowed: Narrowed = self
            .places
            .iter()
            .enumerate()
            .filter(|(_, place)| place.values() > 0 || place.limit.is_some())
            .map(|(index, place)| (index, place.live_modes(memory)))
            .collect();
        let lives = |&choice: &Choice| {
            let modes = self.space.modes(choice);
            narrowed.iter().all(|(index, set)| contains(set, modes[*index]))
        };
        out.extend(self.space.choices().skip(1).filter(lives));
    }

    /// Begins a segment under a choice: what it does to the data, and what is remembered of it.
    pub fn begin(&self, choice: Choice, memory: &mut Memory) -> Effects {
        let mut effects = Effects::NONE;
        for (place, &mode) in self.places.iter().zip(self.space.modes(choice)) {
            if mode == 0 && place.values() == 0 {
                continue;
            }
            let mut slot = place.load(memory);
            place.model.as_dyn().begin(mode, &mut slot, &mut effects);
            place.store(&slot, memory);
            if let (Some((counter, limit)), true) = (place.limit, mode != 0) {
                memory.used[counter] = limit.min(memory.used[counter].saturating_add(1));
            }
        }
        if let (Some(limit), true) = (self.per_run, choice != Choice::NONE) {
            memory.erroneous_segments = limit.min(memory.erroneous_segments.saturating_add(1));
        }
        effects
    }

    /// Names everything that is remembered; places that no model of this set has do not change.
    pub fn visit<V: Visitor>(&self, memory: &Memory, v: &mut V) {
        let unused = "no error of this scenario needs it";
        for (place, site) in self.places.iter().zip(self.space.sites()) {
            for (one, value) in place.remembered.iter().zip(&memory.values[place.first_value..]) {
                let variable = v.described(&one.name, &one.unit, one.size);
                v.put(variable, *value);
            }
            if let Some((counter, _)) = place.limit {
                v.exact(format_args!("error.{}.used", site.id), u64::from(memory.used[counter]));
            }
        }
        match self.per_run {
            Some(_) => v.exact("errors.used", u64::from(memory.erroneous_segments)),
            None => v.constant("erroneous_segments", unused),
        }
        v.leaves(|v| {
            let values = self.places.iter().map(|place| place.first_value + place.values()).max().unwrap_or(0);
            let used = self.places.iter().filter(|place| place.limit.is_some()).count();
            (values..VALUES_MAX).for_each(|n| v.constant(format_args!("values.{n}"), unused));
            (used..LIMITED_MAX).for_each(|n| v.constant(format_args!("used.{n}"), unused));
        });
    }
}

fn contains(set: &ModeSet, mode: u8) -> bool {
    set[usize::from(mode / 64)] >> (mode % 64) & 1 == 1
}

impl Place {
    /// How many numbers it remembers.
    fn values(&self) -> usize {
        self.remembered.len()
    }
    fn load(&self, memory: &Memory) -> Slot {
        let mut slot = Slot::default();
        let values = self.values();
        slot.values[..values].copy_from_slice(&memory.values[self.first_value..self.first_value + values]);
        slot
    }
    fn store(&self, slot: &Slot, memory: &mut Memory) {
        let values = self.values();
        memory.values[self.first_value..self.first_value + values].copy_from_slice(&slot.values[..values]);
    }
    /// What a mode does at the start of a run.
    fn effects(&self, mode: usize) -> Effects {
        let mut effects = Effects::NONE;
        self.model.as_dyn().begin(mode as u8, &mut Slot::default(), &mut effects);
        effects
    }
    fn live_modes(&self, memory: &Memory) -> ModeSet {
        let mut set = [1, 0, 0, 0];
        if self.limit.is_some_and(|(counter, limit)| memory.used[counter] >= limit) {
            return set;
        }
        let slot = self.load(memory);
        for mode in 1..self.modes as u8 {
            // Modes of models without memory were found to differ when the set was built.
            if self.values() == 0 || self.model.as_dyn().live(&slot, mode) {
                set[usize::from(mode / 64)] |= 1 << (mode % 64);
            }
        }
        set
    }
}
