//! The untouched traffic as the loop reads it: whole, or a window of it that moves along with whoever reads.

use std::ops::Deref;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use anabranch_geometry::{Point, Pose};
use anabranch_roads::Network;
use anabranch_traffic::{Car, Id, LaneNumber, Layout, Population, Settings, Timeline, Traffic};

/// From so many cars times base cycles on only a window is kept: whole it would take more than half a gigabyte.
const WHOLE_MAX: u64 = 4_000_000;
/// Lanes are cut into boxes by places this far apart, and cars are at most so far from their places.
const BOX_STEP_M: f64 = 10.0;
const BESIDE_M: f64 = 20.0;

/// A car of the timeline, in the plane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub id: Id,
    pub pose: Pose,
    pub speed_mps: f64,
    pub kind: u8,
}

/// Where cars are in the plane.
pub(super) struct Plane<'a> {
    pub network: &'a Network,
    pub layout: &'a Layout,
    pub settings: &'a Settings,
}

impl Plane<'_> {
    pub(super) fn place(&self, car: &Car) -> Placed {
        let pose = self.layout.middle(self.network, self.settings, car);
        Placed { id: car.id, pose, speed_mps: car.speed_mps, kind: car.kind }
    }
}

/// The untouched traffic, tick by tick.
#[derive(Debug)]
pub(super) enum Clock {
    /// All of it.
    Whole {
        timeline: Box<Timeline>,
        /// Cars in the plane, tick by tick, from west to east.
        placed: Vec<Vec<Placed>>,
    },
    /// Some ticks of it. Explorations go level by level and runs go forwards, so a window is enough; whoever asks for an
    /// earlier tick has it computed again from the start.
    Rolling(Box<Rolling>),
}

/// A window of the traffic.
#[derive(Debug)]
pub(super) struct Rolling {
    window: RwLock<Timeline>,
    start: Population,
    keep_ticks: usize,
    /// West, east, south and north end of each lane.
    boxes: Vec<[f64; 4]>,
}

/// The traffic while somebody reads it.
pub(super) enum Now<'a> {
    Whole(&'a Timeline),
    Read(RwLockReadGuard<'a, Timeline>),
    Moved(RwLockWriteGuard<'a, Timeline>),
}

impl Deref for Now<'_> {
    type Target = Timeline;
    fn deref(&self) -> &Timeline {
        match self {
            Self::Whole(timeline) => timeline,
            Self::Read(timeline) => timeline,
            Self::Moved(timeline) => timeline,
        }
    }
}

impl Clock {
    /// The traffic of a scenario; `keep_ticks` are enough for a segment and the one before it.
    pub(super) fn new(traffic: &Traffic, plane: &Plane<'_>, start: Population, until: u32, keep_ticks: usize) -> Self {
        if start.cars().count() as u64 * u64::from(until) > WHOLE_MAX {
            return Self::rolling(traffic, plane, start, keep_ticks);
        }
        Self::whole(traffic, plane, start, until)
    }

    fn rolling(traffic: &Traffic, plane: &Plane<'_>, start: Population, keep_ticks: usize) -> Self {
        let boxes = (0..traffic.streets().count() as LaneNumber).map(|lane| lane_box(traffic, plane, lane)).collect();
        let window = RwLock::new(Timeline::new(traffic, start.clone(), 0));
        Self::Rolling(Box::new(Rolling { window, start, keep_ticks, boxes }))
    }

    fn whole(traffic: &Traffic, plane: &Plane<'_>, start: Population, until: u32) -> Self {
        let timeline = Box::new(Timeline::new(traffic, start, until));
        let frame = |tick: u32| {
            let mut cars: Vec<Placed> = timeline.at(tick).cars().map(|car| plane.place(car)).collect();
            cars.sort_by(|a, b| a.pose.x.total_cmp(&b.pose.x).then(a.id.cmp(&b.id)));
            cars
        };
        let placed = (0..=timeline.horizon_ticks()).map(frame).collect();
        Self::Whole { timeline, placed }
    }

    /// The traffic at a tick and at the next one. Nobody asks again while he holds it.
    pub(super) fn at(&self, traffic: &Traffic, tick: u32) -> Now<'_> {
        match self {
            Self::Whole { timeline, .. } => Now::Whole(timeline),
            Self::Rolling(rolling) => rolling.at(traffic, tick),
        }
    }

    /// Cars near a place at a tick of the traffic in hand.
    pub(super) fn near(
        &self,
        now: &Now<'_>,
        plane: &Plane<'_>,
        (tick, about, reach_m): (u32, Point, f64),
        mut found: impl FnMut(Placed),
    ) {
        match self {
            Self::Whole { placed, .. } => {
                let cars = &placed[tick as usize];
                let first = cars.partition_point(|car| car.pose.x <= about.x - reach_m);
                cars[first..].iter().take_while(|car| car.pose.x < about.x + reach_m).for_each(|car| found(*car));
            }
            Self::Rolling(rolling) => {
                let overlap = |from_m: f64, to_m: f64, at_m: f64| from_m < at_m + reach_m && to_m > at_m - reach_m;
                let is_near =
                    |ends: &[f64; 4]| overlap(ends[0], ends[1], about.x) && overlap(ends[2], ends[3], about.y);
                let lanes = rolling.boxes.iter().enumerate().filter(|(_, ends)| is_near(ends));
                for (lane, _) in lanes {
                    now.at(tick).cars_in(lane as LaneNumber).for_each(|car| found(plane.place(car)));
                }
            }
        }
    }

    /// How many cars were moved by one tick so far.
    pub(super) fn updates(&self) -> u64 {
        match self {
            Self::Whole { timeline, .. } => timeline.updates(),
            Self::Rolling(rolling) => rolling.window.read().unwrap_or_else(PoisonError::into_inner).updates(),
        }
    }
}

impl Rolling {
    fn at(&self, traffic: &Traffic, tick: u32) -> Now<'_> {
        let has_both = |window: &Timeline| window.first_tick() <= tick && tick < window.horizon_ticks();
        let window = self.window.read().unwrap_or_else(PoisonError::into_inner);
        if has_both(&window) {
            return Now::Read(window);
        }
        drop(window);
        let mut window = self.window.write().unwrap_or_else(PoisonError::into_inner);
        if tick < window.first_tick() {
            window.rewind(self.start.clone());
        }
        while !has_both(&window) {
            window.roll(traffic, self.keep_ticks);
        }
        Now::Moved(window)
    }
}

fn lane_box(traffic: &Traffic, plane: &Plane<'_>, lane: LaneNumber) -> [f64; 4] {
    let length_m = traffic.streets().length_m(lane);
    let steps = (length_m / BOX_STEP_M).ceil().max(1.0);
    let mut ends = [f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, f64::NEG_INFINITY];
    for step in 0..=steps as u32 {
        let (id, station_m) = plane.layout.station(lane, length_m * f64::from(step) / steps);
        let at = plane.network.lane(id).position(station_m);
        ends = [ends[0].min(at.x), ends[1].max(at.x), ends[2].min(at.y), ends[3].max(at.y)];
    }
    [ends[0] - BESIDE_M, ends[1] + BESIDE_M, ends[2] - BESIDE_M, ends[3] + BESIDE_M]
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_kernel::Seed;
    use anabranch_roads::make::{self, Control};
    use anabranch_traffic::{World, spread};

    /// A window finds whom the whole finds, forwards and after going back.
    #[test]
    fn a_window_has_the_cars_of_the_whole() {
        let network = Network::new(&make::t_junction(150.0, Control::StopAtSide)).unwrap();
        let (streets, layout) = Layout::new(&network).unwrap();
        let traffic = Traffic::new(World::new(streets, Settings::new(0.1)), Seed(3)).unwrap();
        let start = traffic.start(&spread(&traffic, 25.0, 9.0));
        let plane = Plane { network: &network, layout: &layout, settings: traffic.settings() };
        let whole = Clock::whole(&traffic, &plane, start.clone(), 60);
        let rolling = Clock::rolling(&traffic, &plane, start, 8);
        let near = |clock: &Clock, tick: u32| {
            let mut found = Vec::new();
            let (now, about) = (clock.at(&traffic, tick), Point::new(-20.0, 0.0));
            clock.near(&now, &plane, (tick, about, 60.0), |car| {
                let (dx, dy) = (car.pose.x - about.x, car.pose.y - about.y);
                if dx.abs() < 60.0 && dy.abs() < 60.0 {
                    found.push((car.id, car.pose.x.to_bits(), car.pose.y.to_bits(), car.speed_mps.to_bits()));
                }
            });
            found.sort_unstable();
            found
        };
        let mut met = 0;
        for tick in (0..59).chain([50, 3, 40]) {
            assert_eq!(near(&whole, tick), near(&rolling, tick), "tick {tick}");
            met += near(&whole, tick).len();
        }
        assert!(met > 100, "{met}");
        let Clock::Rolling(rolling) = &rolling else { unreachable!() };
        assert!(rolling.window.read().unwrap().horizon_ticks() - rolling.window.read().unwrap().first_tick() < 9);
    }
}
