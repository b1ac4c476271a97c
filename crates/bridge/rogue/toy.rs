//! A well-behaved driver and a well-behaved world, as small as they can be: what tests and benches talk with.

use std::collections::BTreeMap;

use anabranch_bridge::protocol::{KeyVariable, SiteCard};
use anabranch_bridge::{
    Answer, Card, Decision, Instance, Misbehaviour, Op, PROTOCOL, Role, Snapshot, Support, WorldCard, WorldSegment,
};

/// A point on a line between two walls, pushed by errors; a driver that steers against what it sees and counts its steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Branch {
    x: f64,
    v: f64,
    steps: u32,
}

/// Ticks of one segment.
const TICKS: u32 = 4;

/// Either of them, with all its branches and saved states.
#[derive(Debug)]
pub struct Toy {
    /// What it says of itself; altered by those who lie.
    pub card: Card,
    branches: BTreeMap<u32, Branch>,
    saved: BTreeMap<u32, Branch>,
}

fn variable(name: &str, unit: &str, cell: Option<f64>) -> KeyVariable {
    KeyVariable { name: name.to_owned(), unit: unit.to_owned(), cell }
}

fn card(role: Role, support: Support) -> Card {
    Card {
        protocol: PROTOCOL,
        role,
        name: "toy".to_owned(),
        version: "1".to_owned(),
        support,
        snapshot: if support == Support::Save { Snapshot::Copy } else { Snapshot::None },
        cycle_s: None,
        key: Vec::new(),
        saves_bytes: support == Support::Save,
        memoryless: false,
        wants: Vec::new(),
        code: None,
        world: None,
    }
}

impl Toy {
    /// A driver whose key is the number of its steps.
    pub fn driver(support: Support) -> Self {
        let mut card = card(Role::Driver, support);
        card.key = vec![variable("steps", "", None)];
        Self { card, branches: BTreeMap::new(), saved: BTreeMap::new() }
    }
    /// A world with one error site of three modes.
    pub fn world(support: Support) -> Self {
        let mut card = card(Role::World, support);
        card.world = Some(Box::new(WorldCard {
            sites: vec![SiteCard {
                name: "push".to_owned(),
                modes: ["none", "left", "right"].map(str::to_owned).to_vec(),
            }],
            merge: vec![variable("x", "m", Some(0.1)), variable("v", "m/s", Some(0.05))],
            requirements: vec!["wall".to_owned(), "slow".to_owned()],
            signals: vec![variable("x", "m", None), variable("v", "m/s", None)],
            tick_s: 0.25,
            segments_max: 8,
            ..WorldCard::default()
        }));
        Self { card, branches: BTreeMap::new(), saved: BTreeMap::new() }
    }
    fn step(&mut self, branch: u32, lateral: f64) -> Answer {
        let Some(state) = self.branches.get_mut(&branch) else { return unknown("branch", branch) };
        state.steps += 1;
        let steer = (-0.5 * lateral).clamp(-0.5, 0.5);
        Answer::Decision(Decision { steer, key: vec![f64::from(state.steps)], ..Decision::default() })
    }
    fn run(&mut self, branch: u32, mode: u16, record: bool) -> Answer {
        let Some(state) = self.branches.get_mut(&branch) else { return unknown("branch", branch) };
        let mut segment = WorldSegment::default();
        for _ in 0..TICKS {
            state.v += [0.0, -0.05, 0.05][usize::from(mode)] - 0.1 * state.v;
            state.x += 0.25 * state.v;
            if record {
                segment.frames.push(vec![state.x, state.v]);
            }
        }
        state.steps += 1;
        segment.values = vec![state.x, state.v];
        segment.danger = state.x.abs();
        segment.margin = Some(0.6 - state.x.abs());
        if state.x.abs() > 0.6 {
            segment.violated.push("wall".to_owned());
        }
        if state.v.abs() > 0.15 {
            segment.notes.push("slow".to_owned());
        }
        Answer::Segment(Box::new(segment))
    }
    fn answer(&mut self, op: &Op) -> Answer {
        match op {
            Op::Describe {} => Answer::Card(Box::new(self.card.clone())),
            Op::Reset { branch, .. } => {
                self.branches.insert(*branch, Branch::default());
                Answer::Done {}
            }
            Op::Load { token, branch } => {
                let Some(&state) = self.saved.get(token) else { return unknown("saved state", *token) };
                self.branches.insert(*branch, state);
                Answer::Done {}
            }
            Op::Step { branch, seen } => self.step(*branch, seen.path.lateral),
            Op::Move { .. } | Op::Ask(_) => Answer::Failed { text: "this is no part of a car".to_owned() },
            Op::Run { branch, modes, record } => match modes.first() {
                Some(&mode) if mode < 3 => self.run(*branch, mode, *record),
                _ => Answer::Failed { text: format!("no such modes: {modes:?}") },
            },
            Op::Save { branch, token } => {
                let Some(state) = self.branches.remove(branch) else { return unknown("branch", *branch) };
                self.saved.insert(*token, state);
                let bytes =
                    [state.x.to_le_bytes(), state.v.to_le_bytes(), u64::from(state.steps).to_le_bytes()].concat();
                Answer::Saved { bytes: self.card.saves_bytes.then(|| bytes.into()), attributes: None }
            }
            Op::Drop { tokens } => {
                tokens.iter().for_each(|token| {
                    self.saved.remove(token);
                });
                Answer::Done {}
            }
            Op::Bye {} => Answer::Done {},
        }
    }
}

fn unknown(what: &str, number: u32) -> Answer {
    Answer::Failed { text: format!("there is no {what} {number}") }
}

impl Instance for Toy {
    fn card(&self) -> &Card {
        &self.card
    }
    fn exchange(&mut self, ops: &[Op], answers: &mut Vec<Answer>) -> Result<(), Misbehaviour> {
        answers.extend(ops.iter().map(|op| self.answer(op)));
        Ok(())
    }
    fn seconds(&self) -> f64 {
        0.0
    }
}
