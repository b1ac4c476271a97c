//! What everybody sees at the beginning of a tick: one snapshot, with a few lanes replaced.
//!
//! All decide from the same snapshot. Outsiders, and in a branch the cars that differ from the shared timeline, are put into copies of the
//! few lanes they are in; all other lanes are read where they lie.

use crate::car::{Car, Id};
use crate::streets::LaneNumber;

/// Copies of lanes that differ from the snapshot. Scratch, never saved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patches {
    /// 1 + number in `lanes`, or 0, per lane of the network.
    slot: Vec<u32>,
    lanes: Vec<(LaneNumber, u32, u32)>,
    cars: Vec<Car>,
}

impl Patches {
    /// Forgets all copies.
    pub(crate) fn clear(&mut self, lane_count: usize) {
        for &(lane, _, _) in &self.lanes {
            self.slot[lane as usize] = 0;
        }
        self.slot.resize(lane_count, 0);
        self.lanes.clear();
        self.cars.clear();
    }
    /// Copies a lane: what lies there without the `hidden`, and with what is `added` to this lane. Both are sorted.
    pub(crate) fn add(&mut self, lane: LaneNumber, lying: &[Car], hidden: &[Id], added: &[Car]) {
        if self.slot[lane as usize] != 0 {
            return;
        }
        let from = self.cars.len() as u32;
        let first = added.partition_point(|car| car.lane < lane);
        let mut added = added[first..].iter().take_while(|car| car.lane == lane).peekable();
        for car in lying.iter().filter(|car| hidden.binary_search(&car.id).is_err()) {
            while let Some(early) = added.next_if(|other| other.is_before(car)) {
                self.cars.push(*early);
            }
            self.cars.push(*car);
        }
        self.cars.extend(added);
        self.lanes.push((lane, from, self.cars.len() as u32));
        self.slot[lane as usize] = self.lanes.len() as u32;
    }
}

/// One snapshot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    /// Entries sorted by lane and station.
    pub cars: &'a [Car],
    /// Where each lane begins in `cars`, and where the last one ends.
    pub starts: &'a [u32],
    /// Lanes that look otherwise.
    pub patches: &'a Patches,
}

impl<'a> View<'a> {
    /// The entries of a lane, along it.
    #[inline(always)]
    pub(crate) fn lane(&self, lane: LaneNumber) -> &'a [Car] {
        if !self.patches.lanes.is_empty() {
            let slot = self.patches.slot[lane as usize];
            if slot != 0 {
                let (_, from, to) = self.patches.lanes[slot as usize - 1];
                return &self.patches.cars[from as usize..to as usize];
            }
        }
        self.unpatched(lane)
    }
    /// The entries of a lane as they lie in the snapshot.
    #[inline(always)]
    pub(crate) fn unpatched(&self, lane: LaneNumber) -> &'a [Car] {
        &self.cars[self.starts[lane as usize] as usize..self.starts[lane as usize + 1] as usize]
    }
    /// The first entry at or beyond a station, as a number in the lane.
    pub(crate) fn first_from(&self, lane: LaneNumber, station_m: f64) -> usize {
        self.lane(lane).partition_point(|car| car.station_m < station_m)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patched_lane_hides_and_adds_and_stays_sorted() {
        let at = |id, lane, station_m| Car { station_m, ..Car::new(id, lane) };
        let cars = [at(1, 0, 5.0), at(2, 1, 10.0), at(3, 1, 20.0), at(4, 1, 30.0), at(5, 2, 1.0)];
        let starts = [0, 1, 4, 5];
        let mut patches = Patches::default();
        patches.clear(3);
        patches.add(1, &cars[1..4], &[3], &[at(9, 0, 1.0), at(7, 1, 15.0), at(8, 1, 40.0), at(9, 2, 3.0)]);
        let view = View { cars: &cars, starts: &starts, patches: &patches };
        let names = |lane| view.lane(lane).iter().map(|car| car.id).collect::<Vec<_>>();
        assert_eq!(names(0), [1]);
        assert_eq!(names(1), [2, 7, 4, 8]);
        assert_eq!(names(2), [5]);
        assert_eq!(view.first_from(1, 15.0), 1);
        patches.clear(3);
        let view = View { cars: &cars, starts: &starts, patches: &patches };
        assert_eq!(view.lane(1).len(), 3);
    }
}
