//! Actuators written in Rust: one method over everything the driver was told and everything it asked for (S2-37).

use anabranch_bridge::protocol::KeyVariable;
use anabranch_bridge::{Begin, Decision, Seen};
use anabranch_kernel::to_bytes;

use crate::driver::Driver;

/// What stands between a driver and its car: an engine whose force depends on the wanted acceleration and on the speed, a steering
/// that follows slowly. Cloning it saves its state. It works in every step of the driver; what the car itself does to a command
/// (limits, lags) comes after it.
pub trait Actuator: Clone + Send + Sync + 'static {
    /// Changes what the driver asks for, knowing all its inputs and outputs.
    fn act(&mut self, inputs: &Seen, outputs: &mut Decision);

    /// Begins a run.
    fn begin(&mut self, begin: &Begin) {
        let _ = begin;
    }
    /// What of its memory counts for merging, each with its value now.
    fn key(&self) -> Vec<(KeyVariable, f64)> {
        Vec::new()
    }
    /// Whether it has no memory at all.
    fn is_memoryless(&self) -> bool {
        false
    }
}

/// A driver with an actuator behind it: a driver again, so more can follow.
#[derive(Clone, Debug)]
pub struct Actuated<D, A> {
    driver: D,
    actuator: A,
}

impl<D: Driver, A: Actuator> Actuated<D, A> {
    /// The actuator changes what this driver asks for.
    pub fn new(driver: D, actuator: A) -> Self {
        Self { driver, actuator }
    }
    fn key_is_whole(&self) -> bool {
        let of_driver = self.driver.is_memoryless() || !self.driver.key().is_empty();
        of_driver && (self.actuator.is_memoryless() || !self.actuator.key().is_empty())
    }
}

impl<D: Driver, A: Actuator> Driver for Actuated<D, A> {
    fn step(&mut self, seen: &Seen) -> Decision {
        let mut decision = self.driver.step(seen);
        self.actuator.act(seen, &mut decision);
        if self.key_is_whole() {
            decision.key.extend(self.actuator.key().into_iter().map(|(_, value)| value));
        } else {
            decision.key.clear();
        }
        decision
    }
    fn begin(&mut self, begin: &Begin) {
        self.driver.begin(begin);
        self.actuator.begin(begin);
    }
    fn name(&self) -> String {
        self.driver.name()
    }
    /// That of both, if the memory of neither is hidden. Otherwise states with different pasts are not merged.
    fn key(&self) -> Vec<KeyVariable> {
        if !self.key_is_whole() {
            return Vec::new();
        }
        self.driver.key().into_iter().chain(self.actuator.key().into_iter().map(|(variable, _)| variable)).collect()
    }
    fn bytes(&self) -> Option<Vec<u8>> {
        let of_driver = if self.driver.is_memoryless() { Vec::new() } else { self.driver.bytes()? };
        self.actuator.is_memoryless().then(|| to_bytes(&of_driver))
    }
    fn is_memoryless(&self) -> bool {
        self.driver.is_memoryless() && self.actuator.is_memoryless()
    }
    fn cycle_s(&self) -> Option<f64> {
        self.driver.cycle_s()
    }
    fn wants(&self) -> Vec<String> {
        self.driver.wants()
    }
}
