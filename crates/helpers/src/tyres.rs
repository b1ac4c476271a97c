//! Pressure of the tyres: a discrete-time simulation with a slow period of its own.
//!
//! Air is lost through leaks; what is left gets warm as the car drives, and warm air has more pressure (Gay-Lussac). What a tyre can do
//! falls with its pressure: side stiffness and grip fall in a straight line to what is left of them when it is flat, and its rolling
//! resistance rises with a power of the pressure, the form in which SAE J2452 fits it. More than the nominal pressure changes nothing. The
//! numbers are ours: they are of the size that measurements of passenger car tyres have, and a scenario may give others.
//!
//! A monitor reads the pressures with a period of its own and tells them to the driver; it keeps its last reading where it is lost.

use anabranch_kernel::units::Dimension;
use anabranch_kernel::{Visitor, maths};
use serde::{Deserialize, Serialize};

use crate::helper::{Around, Helper, SignalFact, next_multiple};

/// Of the air outside.
pub const ATMOSPHERE_PA: f64 = 101_325.0;
/// Temperature outside.
const OUTSIDE_K: f64 = 293.0;
/// A tyre is in the end so much warmer than the air outside, per speed.
const WARMTH_K_PER_MPS: f64 = 0.6;
/// Time in which it comes two thirds of the way there.
const WARMING_S: f64 = 400.0;
/// Rolling resistance goes with this power of the pressure.
const DRAG_POWER: f64 = -0.4;
/// Below this share of the nominal pressure rolling resistance does not grow any more: the tyre rolls on its rim.
const RIM_SHARE: f64 = 0.05;
const GRAVITY_MPS2: f64 = 9.81;

/// A wheel; its number is its place in lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wheel {
    /// Front left.
    FrontLeft,
    /// Front right.
    FrontRight,
    /// Rear left.
    RearLeft,
    /// Rear right.
    RearRight,
}

impl Wheel {
    /// All of them, in order.
    pub const ALL: [Self; 4] = [Self::FrontLeft, Self::FrontRight, Self::RearLeft, Self::RearRight];
    /// As scenarios and signals write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::FrontLeft => "fl",
            Self::FrontRight => "fr",
            Self::RearLeft => "rl",
            Self::RearRight => "rr",
        }
    }
    /// The one of this name.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|wheel| wheel.word() == word)
    }
}

/// Tyres and what becomes of them without air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TyresSpec {
    /// Length of a base cycle.
    pub tick_s: f64,
    /// Base cycles between two steps, at least 1.
    pub period_ticks: u32,
    /// Base cycles between two readings of the monitor, at least 1.
    pub monitor_ticks: u32,
    /// Pressure above that of the air outside that tyres are made for.
    pub nominal_pa: f64,
    /// Pressure at the beginning, by wheel.
    pub start_pa: [f64; 4],
    /// The driver is warned below this share of the nominal pressure.
    pub warn_share: f64,
    /// What is left of the side stiffness of a flat tyre.
    pub flat_stiffness: f64,
    /// What is left of its grip.
    pub flat_grip: f64,
    /// Rolling resistance at nominal pressure, as a share of the weight.
    pub drag: f64,
}

impl TyresSpec {
    /// 2.3 bar, a step every half a second, a monitor that tells once a second and warns below three quarters.
    pub fn usual(tick_s: f64) -> Self {
        let ticks = |seconds: f64| (seconds / tick_s).round().max(1.0) as u32;
        Self {
            tick_s,
            period_ticks: ticks(0.5),
            monitor_ticks: ticks(1.0),
            nominal_pa: 2.3e5,
            start_pa: [2.3e5; 4],
            warn_share: 0.75,
            flat_stiffness: 0.3,
            flat_grip: 0.5,
            drag: 0.01,
        }
    }
}

/// What of the tyres evolves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TyresState {
    /// Pressure above that of the air outside, as it would be if the air in the tyre were as cold as that outside.
    pub cold_pa: [f64; 4],
    /// How much warmer the tyres are than the air outside.
    pub warmth_k: f64,
    /// What holes let out, per second.
    pub hole_pa_per_s: [f64; 4],
    /// What the monitor has told last.
    pub told_pa: [f64; 4],
}

impl TyresState {
    /// Pressure above that of the air outside.
    pub fn pressure_pa(&self, wheel: usize) -> f64 {
        let inside_pa = (self.cold_pa[wheel] + ATMOSPHERE_PA) * (1.0 + self.warmth_k / OUTSIDE_K);
        // What is flat has nothing to get warm.
        if self.cold_pa[wheel] <= 0.0 { 0.0 } else { inside_pa - ATMOSPHERE_PA }
    }
}

/// What an axle can do with its tyres, compared with what it can do at nominal pressure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AxleShare {
    /// Side stiffness, in (0, 1].
    pub stiffness: f64,
    /// Grip, in (0, 1].
    pub grip: f64,
}

/// Pressure of the tyres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tyres {
    spec: TyresSpec,
}

impl Tyres {
    /// Takes its numbers as they are; scenarios check them.
    pub fn new(spec: TyresSpec) -> Self {
        let (period_ticks, monitor_ticks) = (spec.period_ticks.max(1), spec.monitor_ticks.max(1));
        Self { spec: TyresSpec { period_ticks, monitor_ticks, ..spec } }
    }
    /// Its numbers.
    pub fn spec(&self) -> &TyresSpec {
        &self.spec
    }
    /// Share of the nominal pressure, at most 1.
    fn share(&self, state: &TyresState, wheel: usize) -> f64 {
        (state.pressure_pa(wheel) / self.spec.nominal_pa).clamp(0.0, 1.0)
    }
    /// What front and rear axle can do: the mean of their wheels.
    pub fn axles(&self, state: &TyresState) -> [AxleShare; 2] {
        let left = |flat: f64, share: f64| if share >= 1.0 { 1.0 } else { flat + (1.0 - flat) * share };
        [[0, 1], [2, 3]].map(|wheels: [usize; 2]| {
            let mean = |flat: f64| 0.5 * wheels.iter().map(|wheel| left(flat, self.share(state, *wheel))).sum::<f64>();
            AxleShare { stiffness: mean(self.spec.flat_stiffness), grip: mean(self.spec.flat_grip) }
        })
    }
    /// Deceleration by rolling resistance beyond that at nominal pressure; each wheel bears a quarter of the car.
    pub fn drag_mps2(&self, state: &TyresState) -> f64 {
        let more = |wheel: usize| match self.share(state, wheel) {
            share if share >= 1.0 => 0.0,
            share => maths::pow(share.max(RIM_SHARE), DRAG_POWER) - 1.0,
        };
        0.25 * self.spec.drag * GRAVITY_MPS2 * (0..4).map(more).sum::<f64>()
    }
    /// What the monitor tells, as shares of the nominal pressure.
    pub fn told_shares(&self, state: &TyresState) -> [f64; 4] {
        state.told_pa.map(|told_pa| told_pa / self.spec.nominal_pa)
    }
    /// Whether the monitor has told of a tyre with too little pressure.
    pub fn warns(&self, state: &TyresState) -> bool {
        self.told_shares(state).iter().any(|share| *share < self.spec.warn_share)
    }

    fn step(&self, state: &mut TyresState, around: &Around<'_>) {
        let seconds = f64::from(self.spec.period_ticks) * self.spec.tick_s;
        let wrong = &around.wrong;
        for wheel in 0..4 {
            state.hole_pa_per_s[wheel] = state.hole_pa_per_s[wheel].max(wrong.hole_pa_per_s[wheel]);
            let lost_pa = (wrong.leak_pa_per_s[wheel] + state.hole_pa_per_s[wheel]) * seconds;
            state.cold_pa[wheel] = (state.cold_pa[wheel] - lost_pa).max(0.0);
        }
        let towards_k = WARMTH_K_PER_MPS * around.car.speed_mps.abs() - state.warmth_k;
        state.warmth_k += towards_k * (1.0 - maths::exp(-seconds / WARMING_S));
    }
}

impl Helper for Tyres {
    type State = TyresState;

    fn start(&self) -> TyresState {
        let cold_pa = self.spec.start_pa;
        TyresState { cold_pa, warmth_k: 0.0, hole_pa_per_s: [0.0; 4], told_pa: cold_pa }
    }
    fn due_tick(&self, _state: &TyresState, tick: u32) -> u32 {
        next_multiple(self.spec.period_ticks, tick).min(next_multiple(self.spec.monitor_ticks, tick))
    }
    fn advance(&self, state: &mut TyresState, around: &Around<'_>) {
        // A step is taken at the beginning of the period that it covers, so that errors of a segment act on its periods.
        if around.tick.is_multiple_of(self.spec.period_ticks) {
            self.step(state, around);
        }
        if around.tick.is_multiple_of(self.spec.monitor_ticks) && !around.wrong.monitor_lost {
            state.told_pa = std::array::from_fn(|wheel| state.pressure_pa(wheel));
        }
    }
    fn visit<V: Visitor>(&self, state: &TyresState, v: &mut V) {
        v.within("tyres", |v| {
            let each = |name: &str, cell_pa: f64, v: &mut V| {
                Wheel::ALL.map(|wheel| v.continuous(format_args!("{name}.{}", wheel.word()), "Pa", cell_pa))
            };
            let air = each("air", 5_000.0, v);
            let warmth = v.continuous("warmth", "K", 2.0);
            let (hole, told) = (each("hole", 500.0, v), each("told", 5_000.0, v));
            for (variables, values) in [(air, state.cold_pa), (hole, state.hole_pa_per_s), (told, state.told_pa)] {
                variables.into_iter().zip(values).for_each(|(variable, value)| v.put(variable, value));
            }
            v.put(warmth, state.warmth_k);
        });
    }
    fn signals(&self) -> &'static [SignalFact] {
        &[
            ("tyres.pressure.fl", Dimension::Pressure),
            ("tyres.pressure.fr", Dimension::Pressure),
            ("tyres.pressure.rl", Dimension::Pressure),
            ("tyres.pressure.rr", Dimension::Pressure),
            ("tyres.told_lowest", Dimension::Pressure),
            ("tyres.drag", Dimension::Acceleration),
        ]
    }
    fn show(&self, state: &TyresState, _tick: u32, out: &mut [f64]) {
        let pressure = |wheel: usize| state.pressure_pa(wheel);
        let lowest_pa = state.told_pa.iter().copied().fold(f64::INFINITY, f64::min);
        let values = [pressure(0), pressure(1), pressure(2), pressure(3), lowest_pa, self.drag_mps2(state)];
        out.iter_mut().zip(values).for_each(|(place, value)| *place = value);
    }
}
