//! Paths that are run a second time from the start in a new instance: memory that branches share, and that a second run from
//! the same saved state in the same instance would share as well, comes out otherwise there.

use std::collections::BTreeMap;

use anabranch_bridge::{Kind, Seat, Support};
use anabranch_kernel::{Choice, Twice};

use super::super::Drive;
use super::super::state::DriveState;
use super::memory::{Live, path_digest};
use super::{AvFault, DOUBLED_MIN, ForeignDriver};

/// Paths that have an instance of their own, before others share one.
const ALONE: usize = 8;
/// Paths that share an instance, side by side.
const TOGETHER: usize = 32;
/// Differences after which nothing more can be learned.
const DIFFERENCES: usize = 8;

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Anew {
    /// Segments that were run again.
    segments: u64,
    /// How much was asked for last, and whether that was done.
    asked: Option<(Twice, bool)>,
    /// By number of segments, start and choices.
    differences: BTreeMap<(usize, usize, Vec<Choice>), String>,
}

impl ForeignDriver {
    /// A state was reached; its path may be run again.
    pub(super) fn reached(&self, state: &DriveState) {
        let Some(memory) = state.foreign() else { return };
        self.sample.offer(path_digest(state.start, memory.seed, memory.way()).0, || {
            let mut state = state.clone();
            // A handle would keep the saved state alive outside.
            super::lockstep::memory_of(&mut state).live = Live::default();
            state
        });
    }
    /// Segments that were run again from the start in a new instance.
    pub fn run_anew(&self) -> u64 {
        self.log().anew.segments
    }
    /// Paths that came out otherwise from the start in a new instance: start, choices and what differed.
    pub fn differences(&self) -> Vec<(usize, Vec<Choice>, String)> {
        let one = |((_, start, choices), text): (&(usize, usize, Vec<Choice>), &String)| {
            (*start, choices.clone(), text.clone())
        };
        self.log().anew.differences.iter().map(one).collect()
    }
    /// Why *safe* must not be said as far as running twice goes.
    pub(in super::super) fn doubts(&self) -> Option<String> {
        let word = self.word();
        if let Some((.., text)) = self.differences().into_iter().next() {
            return Some(format!("the {word} is not reproducible: {text}"));
        }
        // One after the other: each holds the log while it looks.
        let segments = self.run_anew();
        let asked = self.log().anew.asked;
        match asked {
            None => Some(format!("no path of the {word} was run again in a new instance")),
            Some((Twice::Whole, true)) => None,
            Some(_) => Some(format!("only {segments} segments of the {word} could be run again in a new instance")),
        }
    }
    fn note_difference(&self, state: &DriveState, text: &str) {
        let Some(memory) = state.foreign() else { return };
        let (start, choices) = (usize::from(state.start), memory.way().to_vec());
        let text = format!("{text}; in a new instance (does it keep memory in globals? snapshot = \"fork\")");
        let mut log = self.log();
        let address = (choices.len(), start, choices.clone());
        log.anew.differences.entry(address).or_insert_with(|| text.clone());
        let (kind, tick) = (Kind::Nondeterministic, u64::from(state.tick));
        log.keep(AvFault { kind, start, choices, tick, text, output: None, asked: Vec::new() });
    }
}

/// Addresses of all beginnings of a path, the path itself last.
fn beginnings(state: &DriveState) -> Vec<u128> {
    let Some(memory) = state.foreign() else { return Vec::new() };
    let way = memory.way();
    (1..=way.len()).map(|end| path_digest(state.start, memory.seed, &way[..end]).0).collect()
}

impl Drive {
    /// Runs paths of the driver again and compares where they lead.
    pub(in super::super) fn run_paths_anew(
        &self,
        driver: &ForeignDriver,
        how_much: Twice,
        goes_on: &(dyn Fn() -> bool + Sync),
    ) {
        if driver.double <= 0.0 {
            return;
        }
        let share = (driver.double * driver.sample.seen() as f64).max(DOUBLED_MIN as f64);
        let plan = driver.sample.plan_up_to(how_much, share as u64, beginnings);
        let together = if driver.card().support == Support::None { 1 } else { TOGETHER };
        let (alone, others) = plan.split_at(plan.len().min(ALONE));
        let mut done = 0;
        for unit in alone.chunks(1).chain(others.chunks(together)) {
            let is_enough = driver.log().anew.differences.len() >= DIFFERENCES;
            if is_enough || !goes_on() || driver.gone().is_some() {
                break;
            }
            let mut seat = driver.fleet.seat(0);
            if !self.run_unit_anew(driver, &mut seat, unit) {
                break;
            }
            done += unit.len();
        }
        driver.log().anew.asked = Some((how_much, done == plan.len()));
    }

    /// Runs some paths again in a new instance; says whether it started.
    fn run_unit_anew(&self, driver: &ForeignDriver, seat: &mut Seat<'_>, unit: &[DriveState]) -> bool {
        seat.renew();
        // Whatever branch was left open is gone with the instance.
        driver.log().open = None;
        let wrongs = match self.differ_from_start(driver, seat, unit) {
            Ok(wrongs) => wrongs,
            Err(broken) if broken.what.kind == Kind::NoStart => return false,
            Err(broken) => match unit {
                [state] => {
                    // A peer that is gone answers nobody any more, and that is no difference.
                    seat.renew();
                    let again = self.differ_from_start(driver, seat, unit);
                    if matches!(again, Err(again) if again.what.kind == Kind::NoStart) {
                        return false;
                    }
                    driver.note_difference(state, &broken.what.to_string());
                    return true;
                }
                // Whoever breaks it must be alone to be blamed.
                _ => return unit.iter().all(|state| self.run_unit_anew(driver, seat, std::slice::from_ref(state))),
            },
        };
        let segments: usize = unit.iter().map(|state| beginnings(state).len()).sum();
        driver.log().anew.segments += segments as u64;
        for (state, wrong) in unit.iter().zip(wrongs) {
            if let Some(wrong) = wrong {
                driver.note_difference(state, &wrong.text);
            }
        }
        true
    }
}
