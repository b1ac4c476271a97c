//! The untouched traffic as the loop reads it: whole, or a window of it that moves along with whoever reads.

use std::ops::Deref;
use std::sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use anabranch_geometry::{Point, Pose};
use anabranch_roads::Network;
use anabranch_traffic::{Car, Id, Layout, Population, Settings, Timeline, Traffic};

use super::squares::Squares;

/// Up to so many cars times base cycles everything is computed at once: it takes less than a tenth of a second.
const AT_ONCE_MAX: u64 = 100_000;
/// From so many on only a window is ever kept: whole it would take more than half a gigabyte.
const WHOLE_MAX: u64 = 4_000_000;

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
///
/// Explorations go level by level and runs go forwards, so for those a window is enough. Whoever asks for an earlier tick makes
/// it whole; where that would take too much memory, the window is computed again from the start.
#[derive(Debug)]
pub(super) struct Clock {
    whole: OnceLock<Box<Whole>>,
    /// None where everything was computed at once.
    rolling: Option<Box<Rolling>>,
    until: u32,
}

/// All of the traffic.
#[derive(Debug)]
pub(super) struct Whole {
    timeline: Timeline,
    /// Cars in the plane, tick by tick, from west to east.
    placed: Vec<Vec<Placed>>,
}

/// A window of the traffic.
#[derive(Debug)]
struct Rolling {
    window: RwLock<Timeline>,
    start: Population,
    keep_ticks: usize,
    lanes: Squares,
    may_become_whole: bool,
}

/// The traffic while somebody reads it.
pub(super) enum Now<'a> {
    Whole(&'a Whole),
    Read(RwLockReadGuard<'a, Timeline>),
    Moved(RwLockWriteGuard<'a, Timeline>),
}

impl Deref for Now<'_> {
    type Target = Timeline;
    fn deref(&self) -> &Timeline {
        match self {
            Self::Whole(whole) => &whole.timeline,
            Self::Read(timeline) => timeline,
            Self::Moved(timeline) => timeline,
        }
    }
}

impl Clock {
    /// The traffic of a scenario; `keep_ticks` are enough for a segment and the one before it.
    pub(super) fn new(traffic: &Traffic, plane: &Plane<'_>, start: Population, until: u32, keep_ticks: usize) -> Self {
        let size = start.cars().count() as u64 * u64::from(until);
        if size <= AT_ONCE_MAX {
            return Self { whole: Whole::new(traffic, plane, start, until).into(), rolling: None, until };
        }
        Self::rolling(traffic, plane, start, (until, keep_ticks, size <= WHOLE_MAX))
    }

    fn rolling(
        traffic: &Traffic,
        plane: &Plane<'_>,
        start: Population,
        (until, keep_ticks, may_become_whole): (u32, usize, bool),
    ) -> Self {
        let lanes = Squares::of_lanes(traffic, plane);
        let window = RwLock::new(Timeline::new(traffic, start.clone(), 0));
        let rolling = Rolling { window, start, keep_ticks, lanes, may_become_whole };
        Self { whole: OnceLock::new(), rolling: Some(Box::new(rolling)), until }
    }

    /// The traffic at a tick and at the next one. Nobody asks again while he holds it.
    pub(super) fn at(&self, traffic: &Traffic, plane: &Plane<'_>, tick: u32) -> Now<'_> {
        match (self.whole.get(), &self.rolling) {
            (Some(whole), _) => Now::Whole(whole),
            (None, Some(rolling)) => rolling.at(traffic, tick).unwrap_or_else(|| {
                Now::Whole(self.whole.get_or_init(|| Whole::new(traffic, plane, rolling.start.clone(), self.until)))
            }),
            (None, None) => unreachable!("it is whole from the beginning, or it rolls"),
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
        match (now, &self.rolling) {
            (Now::Whole(whole), _) => {
                let cars = &whole.placed[tick as usize];
                let first = cars.partition_point(|car| car.pose.x <= about.x - reach_m);
                cars[first..].iter().take_while(|car| car.pose.x < about.x + reach_m).for_each(|car| found(*car));
            }
            (_, Some(rolling)) => rolling.lanes.near(about, reach_m, |lane| {
                now.at(tick).cars_in(lane).for_each(|car| found(plane.place(car)));
            }),
            (_, None) => unreachable!("only what rolls is lent by a window"),
        }
    }

    /// How many cars were moved by one tick so far.
    pub(super) fn updates(&self) -> u64 {
        let rolled = |rolling: &Rolling| rolling.window.read().unwrap_or_else(PoisonError::into_inner).updates();
        self.whole.get().map_or(0, |whole| whole.timeline.updates())
            + self.rolling.as_ref().map_or(0, |rolling| rolled(rolling))
    }
}

impl Whole {
    fn new(traffic: &Traffic, plane: &Plane<'_>, start: Population, until: u32) -> Box<Self> {
        let timeline = Timeline::new(traffic, start, until);
        let frame = |tick: u32| {
            let mut cars: Vec<Placed> = timeline.at(tick).cars().map(|car| plane.place(car)).collect();
            cars.sort_by(|a, b| a.pose.x.total_cmp(&b.pose.x).then(a.id.cmp(&b.id)));
            cars
        };
        let placed = (0..=timeline.horizon_ticks()).map(frame).collect();
        Box::new(Self { timeline, placed })
    }
}

impl Rolling {
    /// None if it should become whole instead.
    fn at(&self, traffic: &Traffic, tick: u32) -> Option<Now<'_>> {
        let has_both = |window: &Timeline| window.first_tick() <= tick && tick < window.horizon_ticks();
        let window = self.window.read().unwrap_or_else(PoisonError::into_inner);
        if has_both(&window) {
            return Some(Now::Read(window));
        }
        drop(window);
        let mut window = self.window.write().unwrap_or_else(PoisonError::into_inner);
        if tick < window.first_tick() {
            if self.may_become_whole {
                return None;
            }
            window.rewind(self.start.clone());
        }
        while !has_both(&window) {
            window.roll(traffic, self.keep_ticks);
        }
        Some(Now::Moved(window))
    }
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
        let whole = Clock::new(&traffic, &plane, start.clone(), 60, 8);
        let rolling = Clock::rolling(&traffic, &plane, start.clone(), (60, 8, false));
        let becoming = Clock::rolling(&traffic, &plane, start, (60, 8, true));
        let near = |clock: &Clock, tick: u32| {
            let mut found = Vec::new();
            let (now, about) = (clock.at(&traffic, &plane, tick), Point::new(-20.0, 0.0));
            clock.near(&now, &plane, (tick, about, 60.0), |car| {
                let (dx, dy) = (car.pose.x - about.x, car.pose.y - about.y);
                if dx.abs() < 60.0 && dy.abs() < 60.0 {
                    found.push((car.id, car.pose.x.to_bits(), car.pose.y.to_bits(), car.speed_mps.to_bits()));
                }
            });
            found.sort_unstable();
            found
        };
        let (mut met, mut went_back) = (0, false);
        for tick in (0..59).chain([50, 3, 40]) {
            assert_eq!(near(&whole, tick), near(&rolling, tick), "tick {tick}");
            assert_eq!(becoming.whole.get().is_some(), went_back, "tick {tick}");
            assert_eq!(near(&whole, tick), near(&becoming, tick), "tick {tick}");
            went_back |= becoming.whole.get().is_some();
            met += near(&whole, tick).len();
        }
        assert!(met > 100 && went_back, "{met}");
        assert!(whole.rolling.is_none());
        let window = rolling.rolling.as_ref().unwrap().window.read().unwrap();
        assert!(window.horizon_ticks() - window.first_tick() < 9);
    }
}
