//! What a scenario says about helper simulators.

use anabranch_helpers::{Helpers, Radio, RadioSpec, Senders, Tyres, TyresSpec};
use anabranch_monitors::{LOW_SPEED_SIGNALS, ROAD_SIGNALS, SignalKind, low_speed, road};

use super::span::{Located, Span};
use super::spec::{ScenarioSpec, WorldSpec};

/// Helper simulators; none of them if empty.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct HelperSpec {
    /// Messages of other cars.
    pub radio: Option<RadioGiven>,
    /// Pressure of the tyres.
    pub tyres: Option<TyresGiven>,
}

/// Messages of other cars.
#[derive(Clone, Debug, PartialEq)]
pub struct RadioGiven {
    /// Nobody farther is heard.
    pub range_m: f64,
    /// Between two messages of a sender.
    pub period_s: Located<f64>,
    /// A message is under way for so long.
    pub latency_s: f64,
    /// And by chance up to so much longer.
    pub jitter_s: f64,
    /// Share that is lost by chance.
    pub loss: f64,
    /// Older ones are forgotten.
    pub keep_s: Located<f64>,
    /// Numbers of the objects that send; all cars and lorries if `None`.
    pub from: Option<Vec<usize>>,
    /// The whole table.
    pub span: Span,
}

/// Pressure of the tyres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TyresGiven {
    /// Step.
    pub period_s: Located<f64>,
    /// Between two readings of the monitor.
    pub monitor_s: Located<f64>,
    /// What tyres are made for.
    pub nominal_pa: f64,
    /// At the beginning, by wheel.
    pub start_pa: [f64; 4],
    /// Share of it below which the driver is warned.
    pub warn_share: f64,
    /// What a flat tyre keeps of its side stiffness.
    pub flat_stiffness: f64,
    /// What it keeps of its grip.
    pub flat_grip: f64,
    /// Rolling resistance at nominal pressure.
    pub drag: f64,
    /// The whole table.
    pub span: Span,
}

impl HelperSpec {
    /// The simulators.
    pub fn simulators(&self, world: &WorldSpec) -> Helpers {
        let tick_s = world.step_s.value;
        let radio = self.radio.as_ref().map(|given| {
            let senders = given.from.as_ref().map(|from| {
                let mut numbers: Vec<u32> = from.iter().map(|number| *number as u32).collect();
                numbers.sort_unstable();
                Senders::Named(numbers)
            });
            Radio::new(RadioSpec {
                tick_s,
                range_m: given.range_m,
                period_ticks: world.ticks(given.period_s.value),
                latency_s: given.latency_s,
                jitter_s: given.jitter_s,
                loss: given.loss,
                keep_ticks: world.ticks(given.keep_s.value),
                senders: senders.unwrap_or(Senders::All),
            })
        });
        let tyres = self.tyres.as_ref().map(|given| {
            Tyres::new(TyresSpec {
                tick_s,
                period_ticks: world.ticks(given.period_s.value),
                monitor_ticks: world.ticks(given.monitor_s.value),
                nominal_pa: given.nominal_pa,
                start_pa: given.start_pa,
                warn_share: given.warn_share,
                flat_stiffness: given.flat_stiffness,
                flat_grip: given.flat_grip,
                drag: given.drag,
            })
        });
        Helpers { radio, tyres }
    }
}

impl ScenarioSpec {
    /// The signals that requirements can be about: those of the loop, of its helpers, and the measures behind them.
    pub fn signal_table(&self) -> Vec<(&'static str, SignalKind)> {
        let (own, of_frame) =
            if self.road.is_some() { (ROAD_SIGNALS, road::COUNT) } else { (LOW_SPEED_SIGNALS, low_speed::COUNT) };
        let (frame, measures) = own.split_at(of_frame);
        let helpers = self.helpers.simulators(&self.world).signals();
        let helpers = helpers.into_iter().map(|(name, measures)| (name, SignalKind::Real(measures)));
        frame.iter().copied().chain(helpers).chain(measures.iter().copied()).collect()
    }
}
