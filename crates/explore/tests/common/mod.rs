//! A small system whose truth can be computed.

use anabranch_explore::Settings;
use anabranch_kernel::{
    Choice, Danger, ErrorSpace, Fault, KeyWriter, Leaf, Params, Seed, SegmentEnd, System, Variable, Watch,
};
use serde::{Deserialize, Serialize};

/// A point that is pushed sideways and pulled back: lateral offset and speed, ten steps per segment.
pub struct Pushed {
    pub errors: ErrorSpace,
    pub variables: Vec<Variable>,
    pub pull: f64,
    pub damping: f64,
    pub push: f64,
    pub wall: f64,
    pub levels: u32,
    pub time_matters: bool,
    /// How dangerous a state is.
    pub danger: fn(&PushedState) -> Danger,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PushedState {
    pub y: f64,
    pub v: f64,
    pub level: u32,
}

impl Pushed {
    pub fn new(pull: f64, damping: f64, wall: f64, levels: u32) -> Self {
        Self {
            errors: ErrorSpace::of_one_site("push", &["none", "left", "right"]),
            variables: vec![Variable::real("y", "m", 0.05), Variable::real("v", "m/s", 0.05)],
            pull,
            damping,
            push: 0.3,
            wall,
            levels,
            time_matters: true,
            danger: offset_and_speed,
        }
    }
}

fn offset_and_speed(s: &PushedState) -> Danger {
    let axes = [s.y, -s.y, s.v, -s.v].into_iter().collect();
    Danger { worst: (s.y + 0.5 * s.v).abs(), axes }
}

impl System for Pushed {
    type State = PushedState;
    fn errors(&self) -> &ErrorSpace {
        &self.errors
    }
    fn variables(&self) -> &[Variable] {
        &self.variables
    }
    fn start(&self, _seed: Seed, _params: &Params) -> Result<PushedState, Fault> {
        Ok(PushedState { y: 0.0, v: 0.0, level: 0 })
    }
    fn run(&self, s: &mut PushedState, choice: Choice, watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
        let push = [0.0, -self.push, self.push][choice.index()];
        for tick in 0..10 {
            s.v += 0.1 * (-self.pull * (s.y - push) - self.damping * s.v);
            s.y += 0.1 * s.v;
            watch.see_margin(self.wall - s.y.abs());
            if s.y.abs() > self.wall {
                return Ok(SegmentEnd::violated(0, u64::from(s.level) * 10 + tick));
            }
        }
        s.level += 1;
        Ok(if s.level == self.levels { SegmentEnd::TimedOut } else { SegmentEnd::Open })
    }
    fn cell(&self, s: &PushedState, key: &mut KeyWriter<'_>) {
        key.real(0, s.y);
        key.real(1, s.v);
    }
    fn danger(&self, s: &PushedState) -> Danger {
        (self.danger)(s)
    }
    fn leaves(&self) -> Vec<Leaf> {
        vec![Leaf::time("level")]
    }
    fn time_matters(&self) -> bool {
        self.time_matters
    }
    fn requirements(&self) -> &[String] {
        static NAMES: std::sync::LazyLock<Vec<String>> = std::sync::LazyLock::new(|| vec!["no-contact".into()]);
        &NAMES
    }
}

/// The defaults.
pub fn settings(system: &Pushed) -> Settings {
    Settings::new(system.variables(), system.time_matters())
}
