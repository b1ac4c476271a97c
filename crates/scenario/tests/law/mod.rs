//! The built-in path follower as a driver from outside, well-behaved or not: what the bridge is tried with.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use anabranch_bridge::protocol::{Branch, KeyVariable, TokenId};
use anabranch_bridge::{
    Answer, Begin, Card, Decision, Factory, Instance, Kind, Misbehaviour, Op, PROTOCOL, Role, Seen, Snapshot, Support,
};
use anabranch_driving::follow::{Deviation, LateralGains, LateralLaw, PathFollowerSpec, STANDSTILL_MPS, SpeedGains};
use anabranch_explore::{Explorer, Keep, Merge, Outcome, Scope, Settings};
use anabranch_kernel::{Chance, Seed, System};
use anabranch_scenario::Drive;
use anabranch_scenario::drive::foreign::Outside;
use anabranch_scenario::file::{Document, Hooks, ScenarioSpec};
use anabranch_vehicle::CarSpec;

/// A loop with a driver from outside, and everything that driver is told.
pub fn listening(spec: &ScenarioSpec) -> (Drive, Arc<Mutex<Vec<Seen>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let law = Law { heard: Some(heard.clone()), ..Law::new(Support::Save) };
    let outside = Outside { instances: 1, double: 0.0, ..Outside::new(law.boxed()) };
    (Drive::assemble_with(spec, Some(outside)).unwrap_or_else(|error| panic!("{error}")), heard)
}

/// What a driver does besides driving.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trick {
    /// Nothing.
    None,
    /// The process ends when the car is this far off its path.
    CrashBeyond(f64),
    /// It raises an error of its own there.
    RaiseBeyond(f64),
    /// It says something there that is no number.
    NanBeyond(f64),
    /// It does not answer there.
    HangBeyond(f64),
    /// In one of so many segments, by chance, it steers a little differently.
    FlipOneIn(u64),
    /// A message with more steps than this takes too long.
    SlowBeyond(usize),
    /// It crashes when the car is this far off its path, and then cannot be started any more.
    DiesBeyond(f64),
    /// Saved states cannot be loaded.
    CannotLoad,
    /// It remembers how often it was asked, and steers by that.
    Counts,
    /// It hands out a trajectory along the path instead of commands.
    Trajectory,
}

/// How a driver is made.
#[derive(Clone, Debug)]
pub struct Law {
    pub support: Support,
    pub key: bool,
    pub bytes: bool,
    pub memoryless: bool,
    pub trick: Trick,
    pub gains: LateralGains,
    /// Steps of all instances.
    pub steps: Arc<AtomicU64>,
    /// Instances that were started.
    pub started: Arc<AtomicU64>,
    /// Segments that were begun.
    pub segments: Arc<AtomicU64>,
    /// Whether it is gone for good.
    pub died: Arc<AtomicBool>,
    /// What it was told, for those who ask.
    pub heard: Option<Arc<Mutex<Vec<Seen>>>>,
}

impl Law {
    /// The driver of `narrow-passage.toml`.
    pub fn new(support: Support) -> Self {
        let gains = LateralGains { k_lateral_per_m2: 1.5, k_heading_per_m: 2.0 };
        let (steps, started, segments, died) = (Arc::default(), Arc::default(), Arc::default(), Arc::default());
        let (key, bytes, memoryless, trick) = (true, false, false, Trick::None);
        Self { support, key, bytes, memoryless, trick, gains, steps, started, segments, died, heard: None }
    }
    pub fn boxed(&self) -> Box<dyn Factory> {
        Box::new(self.clone())
    }
    /// Whether the segment that begins now will be one of those that are different, by a chance that is fixed.
    fn flips(&self) -> bool {
        let segment = self.segments.fetch_add(1, Ordering::Relaxed);
        matches!(self.trick, Trick::FlipOneIn(n) if Chance::new(Seed(4600), "flip").below(segment, n) == 0)
    }
    fn card(&self) -> Card {
        let completed = KeyVariable { name: "completed".to_owned(), unit: String::new(), cell: None };
        Card {
            protocol: PROTOCOL,
            role: Role::Driver,
            name: "law".to_owned(),
            version: "1".to_owned(),
            support: self.support,
            snapshot: if self.support == Support::Save { Snapshot::Copy } else { Snapshot::None },
            cycle_s: None,
            key: if self.key { vec![completed] } else { Vec::new() },
            saves_bytes: self.bytes,
            memoryless: self.memoryless,
            wants: Vec::new(),
            code: None,
            world: None,
        }
    }
}

impl Factory for Law {
    fn start(&self) -> Result<Box<dyn Instance>, Misbehaviour> {
        if self.died.load(Ordering::Relaxed) {
            return Err(Misbehaviour::new(Kind::NoStart, "it is gone"));
        }
        self.started.fetch_add(1, Ordering::Relaxed);
        let car = CarSpec::named("van").unwrap();
        let speed = PathFollowerSpec::CALM.speed;
        let lateral = LateralLaw::new(self.gains, self.gains, &car, speed.brake_way_m());
        let (branches, saved) = (BTreeMap::new(), BTreeMap::new());
        Ok(Box::new(Running { card: self.card(), law: self.clone(), lateral, speed, branches, saved, resets: 0 }))
    }
}

#[derive(Clone, Debug, Default)]
struct Memory {
    begin: Begin,
    completed: bool,
    asked: u64,
    flips: bool,
}

struct Running {
    card: Card,
    law: Law,
    lateral: LateralLaw,
    speed: SpeedGains,
    branches: BTreeMap<Branch, Memory>,
    saved: BTreeMap<TokenId, Memory>,
    resets: u64,
}

impl Running {
    fn step(&mut self, branch: Branch, seen: &Seen) -> Result<Answer, Misbehaviour> {
        self.law.steps.fetch_add(1, Ordering::Relaxed);
        if let Some(heard) = &self.law.heard {
            heard.lock().unwrap().push(seen.clone());
        }
        let memory = self.branches.get_mut(&branch).expect("the host steps branches that exist");
        memory.asked += 1;
        let path = &seen.path;
        let direction = f64::from(path.direction);
        let deviation = Deviation { lateral_m: path.lateral, heading: path.heading };
        let mut steer = self.lateral.steering(path.curvature, &deviation, direction);
        let driven = self.speed.accel(seen.speed * direction, path.remaining, path.speed_max);
        let accel = if memory.completed { self.speed.hold() } else { driven };
        let stands = path.sections_left == 0 && self.speed.reached(path.to_end) && seen.speed.abs() < STANDSTILL_MPS;
        memory.completed |= stands;
        match self.law.trick {
            Trick::CrashBeyond(m) if path.lateral > m => {
                return Err(Misbehaviour {
                    output: Some("oh dear".into()),
                    ..Misbehaviour::new(Kind::Crash, "signal 11")
                });
            }
            Trick::HangBeyond(m) if path.lateral > m => {
                return Err(Misbehaviour::new(Kind::Hang, "no answer within 10 s"));
            }
            Trick::RaiseBeyond(m) if path.lateral > m => {
                return Ok(Answer::Failed { text: "ValueError: \u{1b}[31mtoo far\n".to_owned() });
            }
            Trick::NanBeyond(m) if path.lateral > m => steer = f64::NAN,
            Trick::FlipOneIn(_) if std::mem::take(&mut memory.flips) => steer += 1e-9,
            Trick::DiesBeyond(m) if path.lateral > m => {
                self.law.died.store(true, Ordering::Relaxed);
                return Err(Misbehaviour::new(Kind::Crash, "signal 9"));
            }
            Trick::Counts => steer += 1e-3 * (memory.asked % 7) as f64,
            _ => {}
        }
        let key = if self.law.key { vec![f64::from(u8::from(memory.completed))] } else { Vec::new() };
        let trajectory = if self.law.trick == Trick::Trajectory { backwards(&memory.begin, seen) } else { Vec::new() };
        Ok(Answer::Decision(Decision { steer, accel, gear: None, completed: memory.completed, trajectory, key }))
    }
}

/// Straight back at half a metre per second, from the start of the path.
fn backwards(begin: &Begin, seen: &Seen) -> Vec<anabranch_bridge::TrajectoryPoint> {
    let point = |n: u32| {
        let time_s = f64::from(n);
        let x_m = begin.start.x - 0.5 * time_s;
        anabranch_bridge::TrajectoryPoint { time_s, x_m, y_m: begin.start.y, heading_rad: 0.0, speed_mps: -0.5 }
    };
    let from = seen.time.floor() as u32;
    (from..from + 4).map(point).collect()
}

impl Instance for Running {
    fn card(&self) -> &Card {
        &self.card
    }
    fn exchange(&mut self, ops: &[Op], answers: &mut Vec<Answer>) -> Result<(), Misbehaviour> {
        let steps = ops.iter().filter(|op| matches!(op, Op::Step { .. })).count();
        if matches!(self.law.trick, Trick::SlowBeyond(most) if steps > most) {
            return Err(Misbehaviour::new(Kind::Hang, "no answer within 10 s"));
        }
        for op in ops {
            let answer = match op {
                Op::Reset { branch, begin } => {
                    self.resets += 1;
                    assert!(self.law.support != Support::None || self.resets == 1, "this one cannot be reset");
                    let flips = self.law.flips();
                    self.branches.insert(*branch, Memory { begin: (**begin).clone(), flips, ..Memory::default() });
                    Answer::Done {}
                }
                Op::Load { .. } if self.law.trick == Trick::CannotLoad => Answer::Failed { text: "no".to_owned() },
                Op::Load { token, branch } => {
                    let mut memory = self.saved.get(token).expect("the host loads what it saved").clone();
                    memory.flips = self.law.flips();
                    self.branches.insert(*branch, memory);
                    Answer::Done {}
                }
                Op::Save { branch, token } => {
                    assert_eq!(self.law.support, Support::Save, "the host saves only where that is possible");
                    let memory = self.branches.remove(branch).expect("the host saves branches that exist");
                    let bytes = self.law.bytes.then(|| {
                        // What was asked counts only where it matters.
                        let asked = if self.law.trick == Trick::Counts { memory.asked % 7 } else { 0 };
                        serde_bytes::ByteBuf::from(vec![u8::from(memory.completed), asked as u8])
                    });
                    self.saved.insert(*token, memory);
                    Answer::Saved { bytes, attributes: None }
                }
                Op::Drop { tokens } => {
                    tokens.iter().for_each(|token| drop(self.saved.remove(token)));
                    Answer::Done {}
                }
                // A branch that could not be opened cannot be stepped.
                Op::Step { branch, .. } if !self.branches.contains_key(branch) => {
                    Answer::Failed { text: "no such branch".to_owned() }
                }
                Op::Step { branch, seen } => self.step(*branch, seen)?,
                Op::Describe {} | Op::Run { .. } | Op::Move { .. } | Op::Ask(_) | Op::Bye {} => Answer::Done {},
            };
            answers.push(answer);
        }
        Ok(())
    }
    fn seconds(&self) -> f64 {
        0.0
    }
}

/// A shipped scenario, with some values changed.
pub fn scenario(name: &str, changes: &[(&str, &str)]) -> ScenarioSpec {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{name}.toml"));
    let mut document = Document::parse(name, &std::fs::read(file).unwrap()).unwrap();
    changes.iter().for_each(|(key, value)| document.apply_override(key, value).unwrap());
    document.read(&Hooks::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// Explores some levels of a scenario as `explore` does.
pub fn explore(drive: &Drive, spec: &ScenarioSpec, levels_max: u32, threads: usize) -> Outcome {
    let merge = drive.grid(&spec.explore.merge).unwrap().map_or(Merge::None, Merge::Grid);
    let defaults = Settings::new(drive.variables(), drive.time_matters());
    let settings = Settings { keep: Keep::Extremes, scope: Scope::Level, merge, levels_max, ..defaults };
    Explorer::new(drive).settings(settings).threads(threads).run().unwrap()
}
