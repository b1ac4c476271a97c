//! One point as a scenario: overrides, a start and the errors of every segment.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use anabranch_kernel::{Choice, Choices, Params, System};
use anabranch_scenario::file::{Document, Hooks, Report, ScenarioSpec};
use anabranch_scenario::{Drive, DriveState};

use super::space::ErrorSignal;
use crate::failure::Failure;
use crate::load::{Assembled, Loaded, Override, beside};

/// Signals are written with about this many steps of their range, so that names of modes can be told apart.
const SIGNAL_STEPS: f64 = 4096.0;

/// What a point of the space means in the scenario.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    /// Values that are changed, in order.
    pub set: Vec<Override>,
    /// Axis and number of the value, for starts with several.
    pub starts: Vec<(usize, usize)>,
    /// Per site: its mode in each stretch of the run.
    pub modes: Vec<(usize, Vec<u8>)>,
    /// Signals with their control points.
    pub signals: Vec<(ErrorSignal, Vec<f64>)>,
}

/// The name of the mode each signal has in each segment; nothing for no error.
type Named = Vec<(String, Vec<Option<String>>)>;

/// Which error each segment has.
#[derive(Debug)]
pub struct Script {
    /// Mode per site, for each segment.
    modes: Vec<Vec<u8>>,
}

/// Why a point cannot be simulated.
#[derive(Debug)]
pub enum Unbuilt {
    /// The car does not fit there, or there is no path: such a point is no instance of the scenario.
    Refused(String),
    /// The scenario does not allow it.
    Wrong(Report),
    /// Something else.
    Failed(Failure),
}

/// A point ready to run.
#[derive(Debug)]
pub struct Built<'a> {
    drive: Cow<'a>,
    /// The start.
    pub params: Params,
    /// The errors.
    pub script: Script,
}

#[derive(Debug)]
enum Cow<'a> {
    Shared(&'a Drive),
    Own(Box<Drive>),
}

impl Built<'_> {
    /// The loop.
    pub fn drive(&self) -> &Drive {
        match &self.drive {
            Cow::Shared(drive) => drive,
            Cow::Own(drive) => drive,
        }
    }
}

/// Makes scenarios from points.
#[derive(Debug)]
pub struct Workshop<'a> {
    loaded: &'a Loaded,
    /// Files that the scenario names are read once.
    files: Mutex<BTreeMap<String, Option<String>>>,
}

impl<'a> Workshop<'a> {
    /// A workshop for a scenario.
    pub fn new(loaded: &'a Loaded) -> Self {
        Self { loaded, files: Mutex::new(BTreeMap::new()) }
    }

    fn folder(&self) -> &Path {
        self.loaded.path.parent().unwrap_or(Path::new(""))
    }

    /// The scenario with changes, without looking whether the car fits.
    ///
    /// # Errors
    /// With what the scenario does not allow.
    pub fn reads(&self, set: &[Override]) -> Result<(Document, ScenarioSpec), Report> {
        let mut document = self.loaded.document.clone();
        for (key, value) in set {
            document.apply_override(key, value)?;
        }
        let read_file = |name: &str| {
            let mut files = self.files.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let read = || std::fs::read_to_string(self.folder().join(name)).ok();
            files.entry(name.to_owned()).or_insert_with(read).clone()
        };
        let spec = beside(self.folder(), |hooks| document.read(&Hooks { read_file: &read_file, ..*hooks }))?;
        Ok((document, spec))
    }

    /// A point as a loop. `base` is the loop of the scenario as it is.
    ///
    /// # Errors
    /// When there is no such instance.
    pub fn build<'d>(&self, base: &'d Drive, instance: &Instance) -> Result<Built<'d>, Unbuilt> {
        let (set, named) = instance.overrides(base);
        let drive = if set.is_empty() {
            Cow::Shared(base)
        } else if base.has_all_measures() {
            Cow::Own(Box::new(self.drive(&set)?.with_all_measures()))
        } else {
            Cow::Own(self.drive(&set)?)
        };
        let mut built = Built { drive, params: Params::default(), script: Script { modes: Vec::new() } };
        built.params = instance.params(built.drive());
        built.script = instance.script(built.drive(), &named);
        Ok(built)
    }

    fn drive(&self, set: &[Override]) -> Result<Box<Drive>, Unbuilt> {
        let (document, spec) = self.reads(set).map_err(Unbuilt::Wrong)?;
        document.check_placement(&spec).map_err(|report| Unbuilt::Refused(first_line(&report)))?;
        let loaded = Loaded {
            path: self.loaded.path.clone(),
            text: String::new(),
            hash: self.loaded.hash,
            overrides: Vec::new(),
            document,
            spec,
            patience: self.loaded.patience,
            origins: self.loaded.origins.clone(),
        };
        match loaded.assemble().map_err(Unbuilt::Failed)? {
            Assembled::Drive(drive) => Ok(drive),
            Assembled::NoPath(why) => Err(Unbuilt::Refused(format!("no path: {why}"))),
        }
    }
}

fn first_line(report: &Report) -> String {
    report.diagnostics.first().map_or_else(String::new, |d| d.message.clone())
}

/// A power of ten: how finely a signal of this width is written.
fn steps_per_unit(width: f64) -> f64 {
    let mut per_unit = 1.0;
    while per_unit * width < SIGNAL_STEPS && per_unit < 1e12 {
        per_unit *= 10.0;
    }
    per_unit
}

impl Instance {
    /// Changes of the scenario, those of signals included, and the names of the modes that signals take.
    pub fn overrides(&self, base: &Drive) -> (Vec<Override>, Named) {
        let (mut set, mut named) = (self.set.clone(), Vec::new());
        for (signal, points) in &self.signals {
            let per_unit = steps_per_unit(signal.range.hi - signal.range.lo);
            let at = |segment: u32| {
                // The middle of the segment stands for all of it.
                let time_s = (f64::from(segment) + 0.5) * base.segment_seconds();
                let value = (signal.signal.at(points, time_s) * per_unit).round() / per_unit;
                value.clamp(signal.range.lo, signal.range.hi) + 0.0
            };
            let values: Vec<f64> = (0..base.segments()).map(at).collect();
            let idle = if signal.kind == "gain" { 1.0 } else { 0.0 };
            let mut sizes: Vec<f64> = values.iter().filter(|value| **value != idle).map(|value| value.abs()).collect();
            sizes.sort_by(f64::total_cmp);
            sizes.dedup();
            let mode = |value: f64| {
                let at = sizes.iter().position(|size| *size == value.abs()).filter(|_| value != idle)?;
                let at = match (signal.kind, value < 0.0) {
                    ("gain", _) => at,
                    (_, false) => 2 * at,
                    (_, true) => 2 * at + 1,
                };
                Some((at + 1).to_string())
            };
            named.push((signal.id.clone(), values.iter().map(|value| mode(*value)).collect()));
            if !sizes.is_empty() {
                let texts: Vec<String> = sizes.iter().map(|size| signal.range.text(*size)).collect();
                set.push((format!("error.{}.{}.by", signal.id, signal.kind), format!("[{}]", texts.join(", "))));
            }
        }
        (set, named)
    }

    /// An object that is not there has no values to be changed.
    pub fn drop_absent(&mut self, document: &Document) {
        let Some((_, list)) = self.set.first().filter(|(key, _)| key == "object").cloned() else { return };
        let all = document.first_objects(document.object_count());
        let id = |key: &str| key.strip_prefix("object.").and_then(|rest| rest.split('.').next()).map(str::to_owned);
        let names = |text: &str, id: &str| text.contains(&format!("id = \"{id}\""));
        self.set.retain(|(key, _)| id(key).is_none_or(|id| names(&list, &id) || !names(&all, &id)));
    }

    fn params(&self, drive: &Drive) -> Params {
        let axes = &drive.space().axes;
        let mut params: Vec<f64> = axes.iter().map(|axis| axis.values.first().copied().unwrap_or(0.0)).collect();
        for (axis, number) in &self.starts {
            let value = axes.get(*axis).and_then(|axis| axis.values.get(*number));
            if let (Some(place), Some(value)) = (params.get_mut(*axis), value) {
                *place = *value;
            }
        }
        Params(params)
    }

    fn script(&self, drive: &Drive, named: &Named) -> Script {
        let (sites, segments) = (drive.errors().sites(), drive.segments() as usize);
        let mut modes = vec![vec![0_u8; sites.len()]; segments];
        for (site, stretches) in &self.modes {
            for (segment, modes) in modes.iter_mut().enumerate() {
                let stretch = segment * stretches.len() / segments.max(1);
                if let (Some(mode), Some(place)) = (stretches.get(stretch), modes.get_mut(*site)) {
                    *place = *mode;
                }
            }
        }
        for (id, numbers) in named {
            let Some(site) = sites.iter().position(|site| site.id == *id) else { continue };
            for (modes, number) in modes.iter_mut().zip(numbers) {
                let mode: usize = number.as_ref().and_then(|number| number.parse().ok()).unwrap_or(0);
                // A finding names its modes; of two that a name cannot tell apart it means the first.
                let name = sites[site].modes.get(mode).map(|mode| &mode.name);
                let first = sites[site].modes.iter().position(|other| Some(&other.name) == name);
                modes[site] = first.unwrap_or(0) as u8;
            }
        }
        Script { modes }
    }
}

impl Script {
    /// The choice of a segment from a state: what the limits of the scenario do not allow there is left out.
    pub fn choice(&self, drive: &Drive, state: &DriveState, segment: usize, live: &mut Choices) -> Choice {
        let Some(modes) = self.modes.get(segment) else { return Choice::NONE };
        let mut modes = modes.clone();
        if modes.iter().all(|mode| *mode == 0) {
            return Choice::NONE;
        }
        drive.live(state, live);
        for site in (0..modes.len()).rev() {
            if let Some(choice) = drive.errors().find(&modes).filter(|choice| live.contains(choice)) {
                return choice;
            }
            modes[site] = 0;
        }
        Choice::NONE
    }
}
