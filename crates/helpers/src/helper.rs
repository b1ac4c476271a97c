//! What every helper simulator is.

use std::fmt::Debug;

use anabranch_kernel::units::Dimension;
use anabranch_kernel::{Seed, Visitor};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Somebody on the road as helpers see him: truly, not as sensors tell.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Nearby {
    /// Who it is, the same all along a run. Objects with a name count from 0.
    pub number: u32,
    /// Middle, east.
    pub x_m: f64,
    /// Middle, north.
    pub y_m: f64,
    /// Counter-clockwise from east.
    pub heading_rad: f64,
    /// Along its heading.
    pub speed_mps: f64,
    /// Half its length.
    pub half_length_m: f64,
    /// Whether it has an engine or a rider and so may have a radio; people on foot and things have none.
    pub drives: bool,
}

/// What is wrong with helpers during a segment.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Wrong {
    /// Messages that named senders send are lost, one bit each.
    pub silent: u32,
    /// Messages of everybody are lost.
    pub all_silent: bool,
    /// Messages take so much longer.
    pub late_ticks: u16,
    /// Pressure that wheels lose while the segment lasts, per second.
    pub leak_pa_per_s: [f64; 4],
    /// Holes that stay: pressure that wheels lose from now on, per second.
    pub hole_pa_per_s: [f64; 4],
    /// The monitor of the tyres tells nothing new.
    pub monitor_lost: bool,
}

/// The world as it is in one base cycle.
#[derive(Clone, Copy, Debug)]
pub struct Around<'a> {
    /// Base cycles since the start.
    pub tick: u32,
    /// Of all chance.
    pub seed: Seed,
    /// The car under test.
    pub car: Nearby,
    /// Everybody near it, by rising numbers.
    pub others: &'a [Nearby],
    /// What is wrong in this segment.
    pub wrong: Wrong,
}

/// A signal of a helper: its name and what it measures.
pub type SignalFact = (&'static str, Dimension);

/// A simulator beside the main one. Behaviour only: what evolves is its state.
///
/// The loop calls `advance` in each base cycle in which something is due, before the driver decides, and never in another one. Where
/// a segment begins or ends makes no difference to it.
pub trait Helper {
    /// What evolves: plain data, finite numbers.
    type State: Clone + Debug + PartialEq + Serialize + DeserializeOwned;

    /// Before the first base cycle.
    fn start(&self) -> Self::State;
    /// The first base cycle, not before `tick`, in which something is due.
    fn due_tick(&self, state: &Self::State, tick: u32) -> u32;
    /// Does everything that is due in this base cycle.
    fn advance(&self, state: &mut Self::State, around: &Around<'_>);
    /// Names every variable of the state, with its cell size and its value.
    fn visit<V: Visitor>(&self, state: &Self::State, v: &mut V);
    /// What frames show of it.
    fn signals(&self) -> &'static [SignalFact];
    /// Their values in a base cycle, in the same order.
    fn show(&self, state: &Self::State, tick: u32, out: &mut [f64]);
}

/// The first multiple of a period that is not before a tick.
pub(crate) fn next_multiple(period_ticks: u32, tick: u32) -> u32 {
    tick.div_ceil(period_ticks).saturating_mul(period_ticks)
}
