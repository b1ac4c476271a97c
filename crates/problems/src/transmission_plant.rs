//! Engine, torque converter, gears and vehicle of the automatic transmission.

use serde::{Deserialize, Serialize};

use crate::transmission_tables as tables;

/// Seconds between two looks of the gear logic.
pub(crate) const CHART_S: f64 = 0.04;
/// Looks that a condition for shifting has to last.
const SHIFT_WAIT: u8 = 2;
const RPM_MIN: f64 = 600.0;
const RPM_MAX: f64 = 6000.0;
/// Miles per hour for one revolution per minute of a wheel with a radius of one foot.
const MPH_PER_WHEEL_RPM: f64 = 2.0 * std::f64::consts::PI * 60.0 / 5280.0;
/// Integration steps between two looks of the gear logic while the engine changes its speed quickly.
const STEPS_QUICK: usize = 4;
/// What counts as quickly, in revolutions per minute per second.
const QUICK_RPM_PER_S: f64 = 500.0;

/// What the gear logic is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Shifting {
    /// Nothing.
    Steady,
    /// The speed is above the limit, for that many looks.
    Up(u8),
    /// The speed is below the limit, for that many looks.
    Down(u8),
}

/// Everything that evolves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Gearbox {
    pub(crate) engine_rpm: f64,
    pub(crate) wheel_rpm: f64,
    /// 0 to 3.
    pub(crate) gear: u8,
    pub(crate) shifting: Shifting,
}

/// What depends on the pedals alone, made once for a stretch of constant input.
pub(crate) struct Pedals {
    brake_ftlb: f64,
    torque: [f64; 11],
    up_mph: [f64; 4],
    down_mph: [f64; 4],
}

impl Pedals {
    pub(crate) fn new(throttle: f64, brake_ftlb: f64) -> Self {
        Self {
            brake_ftlb,
            torque: row(&tables::TORQUE_THROTTLE, &tables::TORQUE_FTLB, throttle),
            up_mph: row(&tables::UP_THROTTLE, &tables::UP_MPH, throttle),
            down_mph: row(&tables::DOWN_THROTTLE, &tables::DOWN_MPH, throttle),
        }
    }
    /// Between the columns of the torque table; beyond it along its last edge.
    #[inline(always)]
    fn torque_ftlb(&self, rpm: f64) -> f64 {
        let place = (rpm - tables::TORQUE_RPM_FIRST) * (1.0 / tables::TORQUE_RPM_STEP);
        let column = (place.max(0.0) as usize).min(9);
        self.torque[column] + (self.torque[column + 1] - self.torque[column]) * (place - column as f64)
    }
}

/// The row of a table at a place between its rows; beyond it along its last edge.
fn row<const N: usize>(places: &[f64], rows: &[[f64; N]], at: f64) -> [f64; N] {
    let i = places.partition_point(|&place| place <= at).clamp(1, places.len() - 1) - 1;
    let share = (at - places[i]) / (places[i + 1] - places[i]);
    std::array::from_fn(|n| rows[i][n] + (rows[i + 1][n] - rows[i][n]) * share)
}

/// Capacity and torque ratio of the converter.
#[inline(always)]
fn converter(ratio: f64) -> (f64, f64) {
    // The first places are a tenth apart, those between 0.8 and 0.9 a hundredth, the last ones two.
    let i = if ratio < 0.8 {
        ((ratio * 10.0).max(0.0) as usize).min(7)
    } else if ratio < 0.9 {
        8 + (((ratio - 0.8) * 100.0) as usize).min(9)
    } else if ratio < 0.92 {
        18
    } else {
        19
    };
    let per_place = if i < 8 {
        10.0
    } else if i < 18 {
        100.0
    } else {
        50.0
    };
    let share = (ratio - tables::SPEED_RATIO[i]) * per_place;
    let between = |table: &[f64; 21]| table[i] + (table[i + 1] - table[i]) * share;
    (between(&tables::CAPACITY), between(&tables::TORQUE_RATIO))
}

impl Gearbox {
    pub(crate) const START: Self = Self { engine_rpm: 1000.0, wheel_rpm: 0.0, gear: 0, shifting: Shifting::Steady };

    pub(crate) fn speed_mph(&self) -> f64 {
        self.wheel_rpm * MPH_PER_WHEEL_RPM
    }

    /// Change of engine and wheel speed.
    #[inline(always)]
    fn slope(engine_rpm: f64, wheel_rpm: f64, gear_ratio: f64, pedals: &Pedals) -> (f64, f64) {
        let mph = wheel_rpm * MPH_PER_WHEEL_RPM;
        let (capacity, torque_ratio) = converter(gear_ratio * tables::FINAL_DRIVE * wheel_rpm / engine_rpm);
        let impeller = (engine_rpm / capacity) * (engine_rpm / capacity);
        let output = gear_ratio * torque_ratio * impeller;
        let load = pedals.brake_ftlb + 0.02 * mph * mph + 40.0;
        let direction = if mph > 0.0 {
            1.0
        } else if mph < 0.0 {
            -1.0
        } else {
            0.0
        };
        let engine = (pedals.torque_ftlb(engine_rpm) - impeller) * (1.0 / tables::ENGINE_INERTIA);
        let is_held = (engine_rpm <= RPM_MIN && engine < 0.0) || (engine_rpm >= RPM_MAX && engine > 0.0);
        let wheel = (tables::FINAL_DRIVE * output - direction * load) * (1.0 / tables::VEHICLE_INERTIA);
        (if is_held { 0.0 } else { engine }, wheel)
    }

    /// Runge–Kutta of fourth order, with smaller steps while the engine changes its speed quickly. `time_s` is at most
    /// the time between two looks of the gear logic.
    pub(crate) fn integrate(&mut self, pedals: &Pedals, time_s: f64) {
        let ratio = tables::GEAR_RATIO[usize::from(self.gear)];
        let clamp = |rpm: f64| rpm.clamp(RPM_MIN, RPM_MAX);
        let is_quick = Self::slope(self.engine_rpm, self.wheel_rpm, ratio, pedals).0.abs() > QUICK_RPM_PER_S;
        let steps = if is_quick { STEPS_QUICK } else { 1 };
        let h = time_s / steps as f64;
        for _ in 0..steps {
            let (n, w) = (self.engine_rpm, self.wheel_rpm);
            let (n1, w1) = Self::slope(n, w, ratio, pedals);
            let (n2, w2) = Self::slope(clamp(n + 0.5 * h * n1), w + 0.5 * h * w1, ratio, pedals);
            let (n3, w3) = Self::slope(clamp(n + 0.5 * h * n2), w + 0.5 * h * w2, ratio, pedals);
            let (n4, w4) = Self::slope(clamp(n + h * n3), w + h * w3, ratio, pedals);
            self.engine_rpm = clamp(n + h * (1.0 / 6.0) * (n1 + 2.0 * (n2 + n3) + n4));
            self.wheel_rpm = w + h * (1.0 / 6.0) * (w1 + 2.0 * (w2 + w3) + w4);
        }
    }

    /// One look of the gear logic.
    pub(crate) fn shift(&mut self, pedals: &Pedals) {
        let (speed, gear) = (self.speed_mph(), usize::from(self.gear));
        let (above, below) = (speed > pedals.up_mph[gear], speed < pedals.down_mph[gear]);
        self.shifting = match self.shifting {
            Shifting::Steady if above => Shifting::Up(0),
            Shifting::Steady if below => Shifting::Down(0),
            Shifting::Up(waited) if above && waited + 1 >= SHIFT_WAIT => {
                self.gear = (self.gear + 1).min(3);
                Shifting::Steady
            }
            Shifting::Down(waited) if below && waited + 1 >= SHIFT_WAIT => {
                self.gear = self.gear.saturating_sub(1);
                Shifting::Steady
            }
            Shifting::Up(waited) if above => Shifting::Up(waited + 1),
            Shifting::Down(waited) if below => Shifting::Down(waited + 1),
            _ => Shifting::Steady,
        };
    }
}
