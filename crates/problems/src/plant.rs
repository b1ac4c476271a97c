//! The plants, run from a saved moment to a later one.

use anabranch_kernel::units::Dimension;
use anabranch_logic::{SignalKind, TIME_TOLERANCE_S};
use serde::{Deserialize, Serialize};

use crate::cars_plant::{Convoy, Stretch};
use crate::transmission_plant::{CHART_S, Gearbox, Pedals};

/// Seconds between samples of the cars; moments at which a car changes its mode are sampled too.
const CARS_STEP_S: f64 = 0.1;
/// Times closer than this are the same.
const SAME_S: f64 = 1e-9;
/// Samples are at least this far apart. Monitors take samples within twice their tolerance for the same one and refuse them.
const SAMPLES_APART_S: f64 = 4.0 * TIME_TOLERANCE_S;

/// Which system is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plant {
    /// Five cars in a row (J. Hu, J. Lygeros, S. Sastry, "Towards a theory of stochastic hybrid systems", 2000).
    ChasingCars,
    /// Engine and gears (B. Hoxha, H. Abbas, G. Fainekos, ARCH 2014).
    AutomaticTransmission,
}

/// Everything that evolves in a plant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Body {
    Convoy(Convoy),
    Gearbox(Gearbox),
}

/// A plant at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Moment {
    /// Whole steps since the start.
    pub(crate) step: u32,
    /// Seconds since the last whole step.
    pub(crate) part_s: f64,
    pub(crate) body: Body,
}

impl Plant {
    /// Names and kinds of the signals.
    pub fn signals(self) -> &'static [(&'static str, SignalKind)] {
        const NUMBER: SignalKind = SignalKind::Real(Dimension::Number);
        match self {
            Self::ChasingCars => &[("y1", NUMBER), ("y2", NUMBER), ("y3", NUMBER), ("y4", NUMBER), ("y5", NUMBER)],
            Self::AutomaticTransmission => &[("speed", NUMBER), ("rpm", NUMBER), ("gear", SignalKind::Whole)],
        }
    }
    /// Ranges of the inputs: throttle and brake.
    pub fn ranges(self) -> [(f64, f64); 2] {
        match self {
            Self::ChasingCars => [(0.0, 1.0), (0.0, 1.0)],
            Self::AutomaticTransmission => [(0.0, 100.0), (0.0, 325.0)],
        }
    }
    /// Seconds between samples.
    pub fn step_s(self) -> f64 {
        match self {
            Self::ChasingCars => CARS_STEP_S,
            Self::AutomaticTransmission => CHART_S,
        }
    }
    /// The signals at time zero.
    pub(crate) fn first_sample(self) -> &'static [f64] {
        match self {
            Self::ChasingCars => &[0.0, 10.0, 20.0, 30.0, 40.0],
            Self::AutomaticTransmission => &[0.0, 1000.0, 1.0],
        }
    }
    pub(crate) fn start(self) -> Moment {
        let body = match self {
            Self::ChasingCars => Body::Convoy(Convoy::START),
            Self::AutomaticTransmission => Body::Gearbox(Gearbox::START),
        };
        Moment { step: 0, part_s: 0.0, body }
    }
}

impl Moment {
    pub(crate) fn time_s(&self, plant: Plant) -> f64 {
        f64::from(self.step) * plant.step_s() + self.part_s
    }

    /// Runs to a later time under constant inputs and shows every sample.
    pub(crate) fn run_until(&mut self, end_s: f64, inputs: [f64; 2], mut show: impl FnMut(f64, &[f64])) {
        match &mut self.body {
            Body::Convoy(convoy) => {
                let whole = Stretch::new(inputs[0], inputs[1], CARS_STEP_S);
                stepwise(&mut self.step, &mut self.part_s, CARS_STEP_S, end_s, |from_s, time_s, is_begin, is_end| {
                    let part;
                    let stretch = if is_begin && is_end {
                        &whole
                    } else {
                        part = Stretch::new(inputs[0], inputs[1], time_s);
                        &part
                    };
                    let mut last_s = from_s;
                    convoy.advance(stretch, |since_s, convoy| {
                        // Changes in the same moment are one sample, and one at an end of the step is that of the end.
                        if from_s + since_s > last_s + SAMPLES_APART_S && since_s < time_s - SAMPLES_APART_S {
                            last_s = from_s + since_s;
                            show(last_s, &convoy.place);
                        }
                    });
                    if is_end {
                        show(from_s + time_s, &convoy.place);
                    }
                });
            }
            Body::Gearbox(gearbox) => {
                let pedals = Pedals::new(inputs[0], inputs[1]);
                stepwise(&mut self.step, &mut self.part_s, CHART_S, end_s, |from_s, time_s, is_begin, is_end| {
                    if is_begin {
                        gearbox.shift(&pedals);
                    }
                    gearbox.integrate(&pedals, time_s);
                    if is_end {
                        let gear = f64::from(gearbox.gear) + 1.0;
                        show(from_s + time_s, &[gearbox.speed_mph(), gearbox.engine_rpm, gear]);
                    }
                });
            }
        }
    }
}

/// Cuts the way to `end_s` at whole steps: beginning, length, whether it begins and whether it ends with a whole step.
#[inline(always)]
fn stepwise(step: &mut u32, part_s: &mut f64, step_s: f64, end_s: f64, mut run: impl FnMut(f64, f64, bool, bool)) {
    loop {
        let from_s = f64::from(*step) * step_s + *part_s;
        let left_s = end_s - from_s;
        if left_s < SAME_S {
            return;
        }
        let is_begin = *part_s == 0.0;
        let to_go_s = step_s - *part_s;
        if left_s < to_go_s - SAME_S {
            run(from_s, left_s, is_begin, false);
            *part_s += left_s;
            return;
        }
        run(from_s, to_go_s, is_begin, true);
        *step += 1;
        *part_s = 0.0;
    }
}
