//! The toy driver: a car that keeps its lane by a noisy, saturated feedback and is told wrong positions.

use anabranch_kernel::{
    Axis, Chance, Choice, Mode, ParamSpace, Params, Seed, SegmentEnd, Site, Variable, Verdicts, maths,
};

use crate::driver::Driver;
use crate::protocol::{Description, Observation, PROTOCOL, Segment};

const TICK_SECONDS: f64 = 0.02;
const TICKS_PER_SEGMENT: u64 = 25;
const SEGMENTS_MAX: u64 = 60;
const LANE_HALF_M: f64 = 0.6;
/// Error of the measured lateral position per choice.
const MEASURED_OFFSETS_M: [f64; 4] = [0.0, 0.9, -0.9, 0.3];

/// Lateral motion, controller memory and time; all of it is observed.
#[derive(Clone, Debug, Default)]
pub struct Toy {
    seed: Seed,
    tick: u64,
    offset_m: f64,
    speed_mps: f64,
    integral_ms: f64,
}

impl Toy {
    fn step(&mut self, error_m: f64) {
        let noise_m = 0.02 * Chance::new(self.seed, "toy").at(self.tick).normal(0);
        let measured_m = self.offset_m + error_m + noise_m;
        self.integral_ms += measured_m * TICK_SECONDS;
        let wanted = 1.6 * measured_m + 1.1 * self.speed_mps + 0.2 * self.integral_ms;
        self.speed_mps -= 2.0 * maths::atan2(wanted, 1.0) * TICK_SECONDS;
        self.offset_m += self.speed_mps * TICK_SECONDS;
        self.tick += 1;
    }
}

impl Driver for Toy {
    fn description(&self) -> Description {
        let mode = |size: &f64| Mode { name: format!("{size} m"), size: *size };
        let modes = MEASURED_OFFSETS_M.iter().map(mode).collect();
        Description {
            protocol: PROTOCOL,
            sites: vec![Site { id: "measured-offset".to_owned(), modes }],
            at_once: 1,
            variables: vec![
                Variable::real("offset", "m", 0.01),
                Variable::real("speed", "m/s", 0.01),
                Variable::real("integral", "m·s", 0.01),
            ],
            space: ParamSpace {
                axes: vec![Axis { name: "start.offset".into(), unit: "m".into(), values: vec![-0.2, 0.0, 0.2] }],
            },
            requirements: vec!["stay in the lane".to_owned()],
            time_matters: true,
            segment_seconds: TICK_SECONDS * TICKS_PER_SEGMENT as f64,
        }
    }
    fn reset(&mut self, seed: Seed, params: &Params) -> Result<(), String> {
        let [offset_m] = params.0[..] else { return Err(format!("one start parameter is needed, not {params:?}")) };
        *self = Self { seed, offset_m, ..Self::default() };
        Ok(())
    }
    fn run(&mut self, choice: Choice) -> Result<Segment, String> {
        let error_m = MEASURED_OFFSETS_M.get(choice.index()).ok_or_else(|| format!("no choice {}", choice.0))?;
        let mut margin = f64::INFINITY;
        let mut end = SegmentEnd::Open;
        for _ in 0..TICKS_PER_SEGMENT {
            self.step(*error_m);
            margin = margin.min(LANE_HALF_M - self.offset_m.abs());
            if margin < 0.0 {
                end = SegmentEnd::violated(0, self.tick);
                break;
            }
        }
        if end == SegmentEnd::Open && self.tick >= SEGMENTS_MAX * TICKS_PER_SEGMENT {
            end = SegmentEnd::TimedOut;
        }
        Ok(Segment { observation: self.observe(), end, notes: Verdicts::new(), margin })
    }
    fn observe(&self) -> Observation {
        Observation { tick: self.tick, values: vec![self.offset_m, self.speed_mps, self.integral_ms] }
    }
}
