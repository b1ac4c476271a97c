//! A component model as the driver: its state is part of the state of the run, flat, and so it branches like everything.
//!
//! In each cycle of the driver its inputs are filled in by name, its components are computed one after the other, and
//! what its outputs say is the command (S2-41). What it does wrong (no number, no car can do that, a broken invariant) is
//! a finding about the driver.

mod decide;
mod lanes;

use std::sync::Arc;

use anabranch_bridge::fmu::{FmuRole, Signal};
use anabranch_driving::follow::{LateralLaw, SpeedGains};
use anabranch_geometry::{Path, Point};
use anabranch_kernel::{Chance, Seed, Variable, Visitor};
use anabranch_program::{Executor, Fault, FaultKind, Memory, Now};
use anabranch_sensing::{Noise, Reception, Wander, Zones};
use anabranch_vehicle::CarModel;
use serde::{Deserialize, Serialize};

use crate::file::{CommandSlots, ModelSource, ModelSpec};
use crate::models::{Otherwise, PLAIN, Plain, markers};

pub(super) use lanes::ModelLanes;

/// What a model and the host's place on the path remember from cycle to cycle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelMemory {
    /// Seed of the run.
    pub seed: u64,
    /// Where on the path it believes to be, in driven metres.
    pub station_m: f64,
    /// Section of the path.
    pub section: u32,
    /// "Manoeuvre completed."
    pub completed: bool,
    /// What its components remember, one after the other, and then the wandering parts of its noise.
    pub values: Box<[f64]>,
}

/// What models do wrong, in the order of their requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// It cannot be computed: an index, a loop without end, a broken invariant.
    Exception,
    /// An output or a part of the memory is no finite number.
    NotANumber,
    /// No car can do what it asks for.
    OutOfRange,
}

impl Wrong {
    /// Names of the requirements about it.
    pub(crate) const REQUIREMENTS: [&'static str; 3] =
        ["driver.exception", "driver.not-a-number", "driver.out-of-range"];
}

/// No car turns its wheels further.
const STEER_MAX_RAD: f64 = 1.5;
/// No car accelerates or brakes harder.
const ACCEL_MAX_MPS2: f64 = 50.0;

/// A number that goes into a component.
#[derive(Debug)]
enum Source {
    Constant(f64),
    Plain(usize),
    Otherwise(usize, Otherwise),
    Seen(Signal),
    Marker(markers::Marker),
    /// What the built-in driver commands.
    Driven(usize),
    Output(usize, usize),
    Input(usize, usize),
}

impl Source {
    fn of(from: &ModelSource) -> Self {
        match from {
            ModelSource::Constant(value) => Self::Constant(*value),
            ModelSource::Plain(plain) => Self::Plain(*plain as usize),
            ModelSource::Otherwise(otherwise) => Self::Otherwise(otherwise.plain() as usize, *otherwise),
            ModelSource::Driven(number) => Self::Driven(*number),
            ModelSource::Output(stage, output) => Self::Output(*stage, *output),
            ModelSource::Input(stage, input) => Self::Input(*stage, *input),
            ModelSource::Seen(name) => match markers::named(name) {
                Some(marker) => Self::Marker(marker),
                None => Self::Seen(Signal::named(FmuRole::Driver, name).expect("the name was looked up").0),
            },
        }
    }
}

#[derive(Debug)]
struct Stage {
    code: Executor,
    inputs: Vec<Source>,
    /// Where its memory is among all values.
    saved: std::ops::Range<usize>,
    /// Where its outputs are in its memory.
    outputs: usize,
}

/// Noise of one input.
#[derive(Debug)]
struct Hiss {
    stage: usize,
    input: usize,
    noise: Noise,
}

/// What of the memory counts for merging.
#[derive(Debug)]
struct Cell {
    saved: std::ops::Range<usize>,
    variable: Variable,
}

/// A controller and the actuators behind it, ready to run.
#[derive(Debug)]
pub(crate) struct ModelDriver {
    name: String,
    stages: Vec<Stage>,
    command: CommandSlots,
    noise: Vec<Hiss>,
    cells: Vec<Cell>,
    start: Box<[f64]>,
    lateral: LateralLaw,
    speed: SpeedGains,
    /// Position of the first requirement about it.
    requirement: u16,
    /// Plain signals that it is told, by bits.
    wanted: u32,
    /// Objects or roads are among what it is told.
    sees: bool,
    /// Its future depends on the time, whatever its memory is.
    knows_time: bool,
    wheelbase_m: f64,
    width_m: f64,
    /// Where its noise is larger.
    zones: Zones,
}

/// What it works with during a segment and nobody saves.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    memories: Vec<Memory>,
    wanders: Vec<Wander>,
}

/// What it decided.
#[derive(Clone, Copy, Debug)]
struct Decided {
    steer: f64,
    accel: f64,
    gear: Option<f64>,
    completed: bool,
}

/// A decision: when, how much larger the noise is here, and what a built-in driver commands.
#[derive(Clone, Copy, Debug)]
struct Moment {
    now: Now,
    scale: f64,
    driven: [f64; 3],
}

impl Moment {
    /// A decision of a model that drives by itself.
    fn of_driver(now: Now, scale: f64) -> Self {
        Self { now, scale, driven: [0.0; 3] }
    }
}

/// What it is told beside plain numbers.
type Sight<'a> = Option<&'a anabranch_bridge::Seen>;

/// Name of the chance behind the noise of its sensors.
const CHANCE: &str = "ego.driver.sensors";

impl ModelDriver {
    /// Compiles it for a car; `cycle_s` is the time between two decisions.
    pub(super) fn new(
        spec: &ModelSpec,
        (lateral, speed): (LateralLaw, SpeedGains),
        model: &CarModel,
        cycle_s: f64,
    ) -> Self {
        let (mut stages, mut noise, mut cells) = (Vec::new(), Vec::new(), Vec::new());
        let (mut wanted, mut sees, mut knows_time) = (0_u32, false, false);
        let mut start = Vec::new();
        for (number, stage) in spec.stages.iter().enumerate() {
            let first = start.len();
            start.extend_from_slice(stage.program.memory().saved());
            let inputs: Vec<Source> = stage.inputs.iter().map(|input| Source::of(&input.from)).collect();
            for source in &inputs {
                match source {
                    Source::Plain(plain) | Source::Otherwise(plain, _) => wanted |= 1 << plain,
                    Source::Seen(_) | Source::Marker(_) => sees = true,
                    Source::Constant(_) | Source::Driven(_) | Source::Output(..) | Source::Input(..) => {}
                }
            }
            let of_input = |(input, model)| Hiss { stage: number, input, noise: Noise::new(model, cycle_s) };
            noise
                .extend(stage.inputs.iter().enumerate().filter_map(|(i, input)| Some((i, input.noise?))).map(of_input));
            let own = |cell: &crate::file::ModelCell| Cell {
                saved: first + cell.saved.start..first + cell.saved.end,
                variable: cell.variable.clone(),
            };
            cells.extend(stage.cells.iter().map(own));
            knows_time |= stage.program.depends_on_tick();
            let outputs = stage.program.layout().range(anabranch_program::Region::Output).start;
            let code = Executor::new(stage.program.clone());
            stages.push(Stage { code, inputs, saved: first..start.len(), outputs });
        }
        let time = 1 << Plain::Time as u32 | 1 << Plain::Tick as u32;
        for hiss in noise.iter().filter(|hiss| hiss.noise.model().wander != 0.0) {
            let size = 0.25 * hiss.noise.model().wander;
            let name = format!("driver.noise.{}", spec.stages[hiss.stage].inputs[hiss.input].name);
            let at = start.len();
            cells.push(Cell { saved: at..at + 1, variable: Variable::real(&name, "", size) });
            start.push(0.0);
        }
        knows_time |= wanted & time != 0 || !noise.is_empty();
        let outline = &model.spec.outline;
        Self {
            name: spec.stages[0].name.clone(),
            stages,
            command: spec.command,
            noise,
            cells,
            start: start.into(),
            lateral,
            speed,
            requirement: 0,
            wanted,
            sees,
            knows_time,
            wheelbase_m: model.spec.wheelbase_m,
            width_m: 2.0 * outline.half_width_m,
            zones: Zones::default(),
        }
    }

    /// The same with places where its noise is larger.
    pub(super) fn in_zones(self, zones: Zones) -> Self {
        Self { zones, ..self }
    }
    /// How much larger the noise is at a place.
    #[inline]
    fn noise_scale(&self, x: f64, y: f64) -> f64 {
        match self.zones.at(Point::new(x, y)) {
            Reception::Scaled(scale) => scale,
            // Refused when the scenario was put together.
            Reception::Lost => 1.0,
        }
    }

    /// Full name of the controller.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
    /// Whether its future depends on the time.
    pub(super) fn knows_time(&self) -> bool {
        self.knows_time
    }
    /// Tells it where the requirements about it begin.
    pub(super) fn number(self: &mut Arc<Self>, first: u16) {
        Arc::get_mut(self).expect("nobody else has it yet").requirement = first;
    }
    /// The requirement about something that it did wrong.
    fn requirement(&self, wrong: Wrong) -> u16 {
        self.requirement + wrong as u16
    }
    /// The memory at the start of a path.
    pub(super) fn memory(&self, seed: Seed, path: &Path) -> ModelMemory {
        let station_m = path.sections().first().map_or(0.0, |first| first.start_m);
        let mut values = self.start.clone();
        let wandering = self.wandering();
        let first = values.len() - wandering.clone().count();
        let chance = Chance::new(seed, CHANCE);
        for (place, (channel, hiss)) in values[first..].iter_mut().zip(wandering) {
            *place = hiss.noise.start(&chance, channel as u64).0;
        }
        ModelMemory { seed: seed.0, station_m, section: 0, completed: path.sections().is_empty(), values }
    }
    fn wandering(&self) -> impl Iterator<Item = (usize, &Hiss)> + Clone {
        self.noise.iter().enumerate().filter(|(_, hiss)| hiss.noise.model().wander != 0.0)
    }
    /// Names the variables of a driver.
    pub(super) fn visit<V: Visitor>(&self, memory: &ModelMemory, v: &mut V) {
        v.real("driver_station", "m", 0.5, memory.station_m);
        v.exact("driver_completed", u64::from(memory.completed));
        v.exact("driver_section", u64::from(memory.section));
        self.visit_cells(memory, v);
    }
    /// Names what its components remember.
    pub(super) fn visit_cells<V: Visitor>(&self, memory: &ModelMemory, v: &mut V) {
        v.constant("seed", "the same in every state of an exploration");
        v.constant("values#", "the size of its memory does not change");
        v.unread("", "what does not last is computed anew in every cycle");
        for Cell { variable, saved } in &self.cells {
            let values = &memory.values[saved.clone()];
            let variable = v.described(&variable.name, &variable.unit, variable.size);
            values.iter().for_each(|value| v.put(variable, *value));
        }
    }

    /// What a segment works with.
    pub(super) fn work(&self) -> Work {
        Work {
            memories: self.stages.iter().map(|stage| stage.code.program().memory()).collect(),
            wanders: vec![Wander::default(); self.noise.len()],
        }
    }
    fn load(&self, values: &[f64], work: &mut Work) {
        for (stage, memory) in self.stages.iter().zip(&mut work.memories) {
            let fits = memory.restore_from(&values[stage.saved.clone()]);
            debug_assert!(fits, "a state belongs to one driver");
        }
        let first = self.stages.last().map_or(0, |stage| stage.saved.end);
        for (value, (channel, _)) in values[first..].iter().zip(self.wandering()) {
            work.wanders[channel] = Wander(*value);
        }
    }
    fn store(&self, work: &Work, values: &mut [f64]) {
        for (stage, memory) in self.stages.iter().zip(&work.memories) {
            values[stage.saved.clone()].copy_from_slice(memory.saved());
        }
        let first = self.stages.last().map_or(0, |stage| stage.saved.end);
        for (value, (channel, _)) in values[first..].iter_mut().zip(self.wandering()) {
            *value = work.wanders[channel].0;
        }
    }

    /// Computes all components once.
    #[inline]
    fn tick(&self, work: &mut Work, plain: &[f64; PLAIN], sight: Sight<'_>, moment: Moment) -> Result<Decided, Wrong> {
        for number in 0..self.stages.len() {
            let (before, rest) = work.memories.split_at_mut(number);
            let memory = &mut rest[0];
            let stage = &self.stages[number];
            for (place, source) in memory.inputs().iter_mut().zip(&stage.inputs) {
                *place = match source {
                    Source::Plain(plain_number) => plain[*plain_number],
                    Source::Otherwise(plain_number, otherwise) => otherwise.of(plain[*plain_number]),
                    Source::Driven(number) => moment.driven[*number],
                    source => self.number_of(source, before, sight),
                };
            }
            if !self.noise.is_empty() {
                self.hiss(number, memory, &mut work.wanders, moment);
            }
            stage.code.tick(memory, moment.now).map_err(wrong)?;
        }
        self.decided(work)
    }

    fn number_of(&self, source: &Source, before: &mut [Memory], sight: Sight<'_>) -> f64 {
        match source {
            Source::Constant(value) => *value,
            Source::Output(stage, output) => before[*stage].outputs()[*output],
            Source::Input(stage, input) => before[*stage].inputs()[*input],
            Source::Plain(_) | Source::Otherwise(..) | Source::Driven(_) => 0.0,
            Source::Seen(signal) => sight.map_or(0.0, |seen| signal.value(anabranch_bridge::fmu::Told::Seen(seen))),
            Source::Marker(marker) => {
                let road = sight.and_then(|seen| seen.road.as_deref());
                road.map_or(0.0, |road| marker.distance_m(road, self.wheelbase_m, self.width_m))
            }
        }
    }

    /// What the sensors of a component add to what they tell.
    fn hiss(&self, stage: usize, memory: &mut Memory, wanders: &mut [Wander], Moment { now, scale, .. }: Moment) {
        let chance = Chance::new(now.seed, CHANCE).at(now.tick);
        for (channel, hiss) in self.noise.iter().enumerate().filter(|(_, hiss)| hiss.stage == stage) {
            memory.inputs()[hiss.input] += hiss.noise.draw(&mut wanders[channel], &chance, channel as u64, scale);
        }
    }

    #[inline]
    fn decided(&self, work: &Work) -> Result<Decided, Wrong> {
        let output =
            |(stage, output): (usize, usize)| work.memories[stage].saved()[self.stages[stage].outputs + output];
        let steer = f64::from(self.command.steer_sign) * output(self.command.steer);
        let accel = output(self.command.accel) - self.command.brake.map_or(0.0, output);
        if steer.abs() > STEER_MAX_RAD || accel.abs() > ACCEL_MAX_MPS2 {
            return Err(Wrong::OutOfRange);
        }
        let gear = self.command.gear.map(output).filter(|gear| *gear != 0.0);
        if gear.is_some_and(|gear| gear.abs() != 1.0) {
            return Err(Wrong::OutOfRange);
        }
        let completed = self.command.completed.is_some_and(|slot| output(slot) != 0.0);
        Ok(Decided { steer, accel, gear, completed })
    }
}

fn wrong(fault: Fault) -> Wrong {
    match fault.kind {
        FaultKind::NotFinite { .. } => Wrong::NotANumber,
        _ => Wrong::Exception,
    }
}
