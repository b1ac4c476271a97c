//! What a decision will read is asked for a few decisions earlier.
//!
//! Cars lie in the order of their lanes, but each looks into the lanes it will take next, which lie elsewhere: in a large city
//! most of the time of a tick would be waiting for them, one after another. Here the next few cars are looked through ahead of
//! their turn, in stages, since where to look further stands in what was fetched before. Only hints: no result depends on them.

use crate::decide::Scene;
use crate::streets::{LaneNumber, NO_LANE};

/// Cars between a stage and the decision. Each decision takes about a tenth of a microsecond, as does the memory.
const LANE_BEFORE: usize = 12;
const NEXT_BEFORE: usize = 9;
const BEYOND_BEFORE: usize = 6;
const LEADER_BEFORE: usize = 3;

/// Asks the processor for an element that will be read soon.
#[inline(always)]
pub(crate) fn prefetch<T>(all: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = all.get(at) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the pointer is that of an element; the instruction changes nothing that a program can see and cannot fault.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (all, at);
}

impl Scene<'_> {
    /// Fetches for the cars that decide soon after the one at a place of the snapshot.
    #[inline(always)]
    pub(crate) fn fetch_after(&self, place: usize) {
        let (cars, starts) = (self.view.cars, self.view.starts);
        if let Some(car) = cars.get(place + LANE_BEFORE) {
            self.traffic.streets.fetch(car.lane);
        }
        if let Some(next) = self.looks_into(place + NEXT_BEFORE) {
            self.traffic.streets.fetch(next);
            prefetch(starts, next as usize);
        }
        if let Some(next) = self.looks_into(place + BEYOND_BEFORE) {
            prefetch(cars, starts[next as usize] as usize);
            let beyond = self.traffic.streets.lane(next).only_next;
            if beyond != NO_LANE {
                self.traffic.streets.fetch(beyond);
                prefetch(starts, beyond as usize);
            }
        }
        if let Some(next) = self.looks_into(place + LEADER_BEFORE) {
            let beyond = self.traffic.streets.lane(next).only_next;
            if beyond != NO_LANE {
                prefetch(cars, starts[beyond as usize] as usize);
            }
        }
    }
    /// The next lane of a car that sees beyond the end of its own.
    #[inline(always)]
    fn looks_into(&self, place: usize) -> Option<LaneNumber> {
        let car = self.view.cars.get(place)?;
        let left_m = self.traffic.streets.lane(car.lane).length_m - car.station_m;
        (car.next != NO_LANE && left_m < self.traffic.sight_m(car.speed_mps)).then_some(car.next)
    }
}
