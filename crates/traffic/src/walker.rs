//! Pedestrians that see and react (S4-24), described by the five parameters of S2-32.
//!
//! A pedestrian goes to and fro between two points P0 and P1 on one side of a road, as a particle (S4-6). The five parameters are (1) the
//! distance per tick, (2) the side of the road, (3) the direction, (4) whether and where it crosses, (5) where it is. A careful one waits at
//! the kerb until every lane is free for as long as it needs, and stops before the next lane if a car comes that would not stop; a reckless
//! one just goes (S4-7). While it is on a lane, or waits at a zebra crossing, cars see it as somebody standing there (S4-17).

use anabranch_geometry::Point;
use anabranch_kernel::{Continuous, Discrete, Visitor};
use serde::{Deserialize, Serialize};

use crate::car::{Car, Id, Role, WALKERS_FROM};
use crate::decide::Scene;
use crate::streets::LaneNumber;

/// Side of the road (parameter 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Side {
    /// That of P0 and P1.
    Near,
    /// The other one.
    Far,
}

/// Direction of walking (parameter 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Direction {
    /// From P0 to P1.
    Forth,
    /// From P1 to P0.
    Back,
}

/// How a pedestrian crosses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Care {
    /// Looks, and gives way to cars.
    Looks,
    /// Looks, on a zebra crossing: cars give way to who waits there.
    Zebra,
    /// Does not look.
    Reckless,
}

/// A lane that the crossing leads over.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Crossed {
    /// The lane.
    pub lane: LaneNumber,
    /// Where along the lane.
    pub station_m: f64,
    /// Where the lane begins, metres from the near kerb.
    pub from_m: f64,
    /// Where it ends.
    pub to_m: f64,
}

/// A pedestrian as it is described; what of it evolves is a [`Walker`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WalkerSpec {
    /// P0.
    pub from: Point,
    /// P1.
    pub to: Point,
    /// Distance per tick (parameter 1).
    pub step_m: f64,
    /// Where on the way from P0 to P1 it crosses, if it does (parameter 4).
    pub crosses_at_m: Option<f64>,
    /// Width of the road, to the left of the way from P0 to P1; negative if it is to the right.
    pub road_m: f64,
    /// The lanes of the road there.
    pub crossed: Vec<Crossed>,
    /// How it crosses.
    pub care: Care,
    /// Side, direction and place at the beginning (parameters 2, 3 and 5).
    pub start: Walker,
}

/// What a pedestrian does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// Walks beside the road.
    Walks,
    /// Stands at the kerb and looks.
    Waits,
    /// Is on the road.
    Crosses,
}

/// What of a pedestrian evolves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Walker {
    /// Way from P0 (parameter 5).
    pub along_m: f64,
    /// Way from the near kerb across the road, never negative.
    pub across_m: f64,
    /// Side that it is on, or came from.
    pub side: Side,
    /// Direction along the road.
    pub direction: Direction,
    /// What it does.
    pub stage: Stage,
}

/// A car within this distance from the lane's edge sees the pedestrian as being in the lane.
const EDGE_M: f64 = 0.6;
/// Time that a careful pedestrian wants to have left.
const MARGIN_S: f64 = 1.0;
/// How far a pedestrian looks, metres.
const LOOKS_M: f64 = 120.0;
/// Slower cars count as waiting for the pedestrian.
const YIELDING_MPS: f64 = 0.5;

impl WalkerSpec {
    /// Where it is in the plane.
    pub fn point(&self, walker: &Walker) -> Point {
        let length_m = self.from.distance_m(self.to).max(f64::MIN_POSITIVE);
        let (x, y) = ((self.to.x - self.from.x) / length_m, (self.to.y - self.from.y) / length_m);
        let across_m = walker.across_m * self.road_m.signum();
        Point::new(self.from.x + x * walker.along_m - y * across_m, self.from.y + y * walker.along_m + x * across_m)
    }
    fn length_m(&self) -> f64 {
        self.from.distance_m(self.to)
    }
    /// Way still to go until the far end of a lane, and whether the lane is still ahead.
    fn way_through_m(&self, walker: &Walker, crossed: &Crossed) -> Option<f64> {
        let way_m = match walker.side {
            Side::Near => crossed.to_m - walker.across_m,
            Side::Far => walker.across_m - crossed.from_m,
        };
        (way_m > 0.0).then_some(way_m)
    }
    /// Whether a step leads into the lane from outside of it.
    fn enters(&self, walker: &Walker, crossed: &Crossed) -> bool {
        match walker.side {
            Side::Near => walker.across_m < crossed.from_m && walker.across_m + self.step_m >= crossed.from_m,
            Side::Far => walker.across_m > crossed.to_m && walker.across_m - self.step_m <= crossed.to_m,
        }
    }
}

impl Scene<'_> {
    /// One tick of a pedestrian.
    pub(crate) fn walk(&self, number: usize, walker: Walker) -> Walker {
        let (spec, trigger) = &self.traffic.walkers[number];
        let mut next = walker;
        if trigger.is_some_and(|trigger| !self.fired.has(trigger)) {
            return next;
        }
        match walker.stage {
            Stage::Walks => walk_beside(spec, &mut next),
            Stage::Waits if self.is_free_for(spec, &walker, |_| true) => next.stage = Stage::Crosses,
            Stage::Waits => {}
            Stage::Crosses => {
                if self.is_free_for(spec, &walker, |crossed| spec.enters(&walker, crossed)) {
                    cross(spec, &mut next);
                }
            }
        }
        next
    }
    /// Whether nobody comes in the lanes asked for before the pedestrian has left them.
    fn is_free_for(&self, spec: &WalkerSpec, walker: &Walker, asked: impl Fn(&Crossed) -> bool) -> bool {
        if spec.care == Care::Reckless {
            return true;
        }
        let speed_mps = spec.step_m / self.traffic.settings.step_s;
        spec.crossed.iter().filter(|crossed| asked(crossed)).all(|crossed| {
            let Some(way_m) = spec.way_through_m(walker, crossed) else { return true };
            self.arrival_s(crossed) > way_m / speed_mps + MARGIN_S
        })
    }
    /// When the next car that does not wait will be at the crossing.
    fn arrival_s(&self, crossed: &Crossed) -> f64 {
        let streets = &self.traffic.streets;
        let comes = |entries: &[Car], offset_m: f64| {
            let coming = entries.iter().rev().filter(|entry| entry.role != Role::Walker).map(|entry| {
                let way_m = offset_m - entry.station_m;
                let rear_m = way_m + self.ahead_of(entry, 0.0).length_m;
                let is_far = way_m > LOOKS_M || rear_m < 0.0 || entry.speed_mps < YIELDING_MPS && way_m > 0.0;
                if is_far { f64::INFINITY } else { way_m.max(0.0) / entry.speed_mps.max(YIELDING_MPS) }
            });
            coming.fold(f64::INFINITY, f64::min)
        };
        let mut arrival_s = comes(self.view.lane(crossed.lane), crossed.station_m);
        if crossed.station_m < LOOKS_M {
            for &lane in streets.prev(crossed.lane) {
                arrival_s = arrival_s.min(comes(self.view.lane(lane), crossed.station_m + streets.lane(lane).length_m));
            }
        }
        arrival_s
    }
    /// How cars see a pedestrian: an entry in every lane that it is in or is let over.
    pub(crate) fn entries_of_walker(&self, number: usize, walker: &Walker, mut add: impl FnMut(Car)) {
        let spec = &self.traffic.walkers[number].0;
        for crossed in &spec.crossed {
            let is_inside = (crossed.from_m - EDGE_M..=crossed.to_m + EDGE_M).contains(&walker.across_m);
            let is_seen = match walker.stage {
                Stage::Walks => false,
                Stage::Waits => spec.care == Care::Zebra,
                Stage::Crosses => {
                    is_inside || spec.care == Care::Zebra && spec.way_through_m(walker, crossed).is_some()
                }
            };
            if is_seen {
                let mut entry = Car::new(WALKERS_FROM + number as Id, crossed.lane);
                (entry.role, entry.station_m, entry.kind) = (Role::Walker, crossed.station_m, self.traffic.walker_kind);
                add(entry);
            }
        }
    }
}

fn walk_beside(spec: &WalkerSpec, walker: &mut Walker) {
    let before_m = walker.along_m;
    let length_m = spec.length_m();
    match walker.direction {
        Direction::Forth => walker.along_m = (before_m + spec.step_m).min(length_m),
        Direction::Back => walker.along_m = (before_m - spec.step_m).max(0.0),
    }
    if let Some(at_m) = spec.crosses_at_m {
        let passes = match walker.direction {
            Direction::Forth => before_m < at_m && walker.along_m >= at_m,
            Direction::Back => before_m > at_m && walker.along_m <= at_m,
        };
        if passes {
            (walker.along_m, walker.stage) = (at_m, Stage::Waits);
            return;
        }
    }
    if walker.along_m >= length_m {
        walker.direction = Direction::Back;
    } else if walker.along_m <= 0.0 {
        walker.direction = Direction::Forth;
    }
}

fn cross(spec: &WalkerSpec, walker: &mut Walker) {
    let width_m = spec.road_m.abs();
    match walker.side {
        Side::Near => walker.across_m = (walker.across_m + spec.step_m).min(width_m),
        Side::Far => walker.across_m = (walker.across_m - spec.step_m).max(0.0),
    }
    if walker.side == Side::Near && walker.across_m >= width_m {
        (walker.side, walker.stage) = (Side::Far, Stage::Walks);
    } else if walker.side == Side::Far && walker.across_m <= 0.0 {
        (walker.side, walker.stage) = (Side::Near, Stage::Walks);
    }
}

impl Walker {
    /// Values of every variable.
    pub fn put<V: Visitor>(&self, variables: &WalkerVariables, v: &mut V) {
        let doing = self.side as u64 | (self.direction as u64) << 8 | (self.stage as u64) << 16;
        v.put_exact(variables.doing, doing);
        v.put(variables.place, self.along_m);
        v.put(variables.place, self.across_m);
    }
}

/// The variables of pedestrians: a tenth of a second of walking is alike. All pedestrians share them.
#[derive(Clone, Copy, Debug)]
pub struct WalkerVariables {
    pub(crate) doing: Discrete,
    place: Continuous,
}

impl WalkerVariables {
    /// Declares them.
    pub fn declare<V: Visitor>(v: &mut V) -> Self {
        Self { doing: v.discrete("walker.doing"), place: v.continuous("walker.place", "m", 0.15) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::{Input, Population, Scratch};
    use crate::settings::Settings;
    use crate::streets::{LaneSpec, Streets};
    use crate::traffic::{Traffic, World};
    use crate::trigger::{Effect, Trigger, When};
    use anabranch_kernel::Seed;

    fn spec(care: Care, crosses_at_m: Option<f64>) -> WalkerSpec {
        WalkerSpec {
            from: Point::new(0.0, 0.0),
            to: Point::new(10.0, 0.0),
            step_m: 0.15,
            crosses_at_m,
            road_m: 3.5,
            crossed: vec![Crossed { lane: 0, station_m: 150.0, from_m: 0.0, to_m: 3.5 }],
            care,
            start: Walker {
                along_m: 0.0,
                across_m: 0.0,
                side: Side::Near,
                direction: Direction::Forth,
                stage: Stage::Walks,
            },
        }
    }

    fn road(walker: WalkerSpec, triggers: Vec<Trigger>) -> Traffic {
        let lane = LaneSpec { length_m: 600.0, limit_mps: 14.0, width_m: 3.5, ..LaneSpec::default() };
        let mut world = World::new(Streets::new(&[lane], &[]).unwrap(), Settings::new(0.1));
        world.walkers.push(walker);
        world.triggers = triggers;
        Traffic::new(world, Seed(1)).unwrap()
    }

    fn run(traffic: &Traffic, population: &mut Population, ticks: u32, mut seen: impl FnMut(&Population)) {
        let mut scratch = Scratch::default();
        for _ in 0..ticks {
            traffic.step(population, Input::default(), &mut scratch);
            seen(population);
        }
    }

    #[test]
    fn without_crossing_it_goes_to_and_fro_between_its_points() {
        let traffic = road(spec(Care::Looks, None), vec![]);
        let mut population = traffic.start(&[]);
        let mut turned = 0;
        let mut before = Direction::Forth;
        run(&traffic, &mut population, 270, |now| {
            turned += u32::from(now.walkers()[0].direction != before);
            before = now.walkers()[0].direction;
            assert_eq!(now.walkers()[0].across_m, 0.0);
        });
        // 10 m at 0.15 m per tick are 67 ticks: forth, back, forth, back.
        assert_eq!(turned, 4);
    }

    #[test]
    fn a_careful_one_lets_a_car_pass_and_then_crosses_to_the_other_side() {
        let traffic = road(spec(Care::Looks, Some(1.0)), vec![]);
        let mut population = traffic.start(&[traffic.car(0, 0, 110.0, 14.0)]);
        let mut waited = 0;
        run(&traffic, &mut population, 150, |now| {
            let (walker, car) = (now.walkers()[0], now.find(0));
            waited += u32::from(walker.stage == Stage::Waits);
            let is_passing = car.is_some_and(|car| (146.0..156.0).contains(&car.station_m));
            assert!(!(is_passing && walker.stage == Stage::Crosses && walker.across_m > 0.0), "tick {}", now.tick);
        });
        assert!(waited > 10, "{waited} ticks");
        assert_eq!(population.walkers()[0].side, Side::Far);
        let point = traffic.walker(0).point(&population.walkers()[0]);
        assert!((point.y - 3.5).abs() < 1e-12, "{point:?}");
    }

    #[test]
    fn cars_stop_for_a_reckless_one_and_for_one_at_a_zebra() {
        for care in [Care::Reckless, Care::Zebra] {
            let traffic = road(spec(care, Some(1.0)), vec![]);
            let mut population = traffic.start(&[traffic.car(0, 0, 100.0, 14.0)]);
            let mut slowest_mps = 14.0_f64;
            run(&traffic, &mut population, 300, |now| {
                let Some(car) = now.find(0) else { return };
                let is_on_lane = now.walkers()[0].stage == Stage::Crosses;
                assert!(!(is_on_lane && (149.0..152.0).contains(&car.station_m)), "{care:?}, tick {}", now.tick);
                slowest_mps = slowest_mps.min(car.speed_mps);
            });
            assert!(slowest_mps < 7.0, "{care:?}: {slowest_mps} m/s");
            assert!(population.find(0).is_none_or(|car| car.station_m > 160.0), "the car goes on");
        }
    }

    #[test]
    fn one_with_a_trigger_waits_for_it() {
        let effect = Effect::Start(0);
        let trigger = Trigger { name: "pedestrian starts".to_owned(), when: When::At(30), effect };
        let traffic = road(spec(Care::Reckless, Some(1.0)), vec![trigger]);
        let mut population = traffic.start(&[]);
        run(&traffic, &mut population, 30, |now| assert_eq!(now.walkers()[0].along_m, 0.0));
        run(&traffic, &mut population, 1, |now| assert_eq!(now.walkers()[0].along_m, 0.15));
    }
}
