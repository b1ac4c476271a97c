//! A branch over a shared timeline equals the full simulation, bit for bit.

use anabranch_geometry::Point;
use anabranch_kernel::{Chance, Seed, from_bytes, to_bytes};
use anabranch_traffic::band::Standing;
use anabranch_traffic::towns::{City, Control, Motorway, lane_drop};
use anabranch_traffic::{
    Branch, BranchScratch, Care, Colour, Crossed, Direction, Effect, Flow, Input, Outside, Scratch, Settings, Side,
    Stage, Thing, Timeline, Traffic, Trigger, Walker, WalkerSpec, When, World, spread,
};
use proptest::prelude::*;

const TICKS: u32 = 200;

/// An ego that drives about without sense: speeds up, brakes hard, jumps lanes, takes links by chance.
struct Wild {
    ego: Outside,
    chance: Chance,
}

impl Wild {
    fn step(&mut self, traffic: &Traffic, tick: u32) {
        let now = self.chance.at(u64::from(tick));
        let accel = [2.0, 0.0, 0.0, -8.0][now.below(0, 4) as usize];
        let held = if tick % 20 < 10 { accel } else { 0.5 };
        self.ego.speed_mps = (self.ego.speed_mps + held * traffic.settings().step_s).clamp(0.0, 25.0);
        self.ego.station_m += self.ego.speed_mps * traffic.settings().step_s;
        let next = traffic.streets().next(self.ego.lane);
        let length_m = traffic.streets().length_m(self.ego.lane);
        if self.ego.station_m > length_m && !next.is_empty() {
            self.ego.station_m -= length_m;
            self.ego.lane = next[now.below(1, next.len() as u64) as usize];
        }
        if now.uniform(2) < 0.02 {
            let lanes = traffic.streets().count() as u64;
            self.ego.lane = now.below(3, lanes) as u32;
            self.ego.station_m = now.uniform(4) * traffic.streets().length_m(self.ego.lane);
        }
    }
}

struct Seen {
    touched: usize,
    cars: usize,
}

/// Runs both ways from the same start, compares the bytes of every tick, and says how many were touched in the end.
fn check(traffic: &Traffic, per_km: f64, seed: u64, fire_at: Option<u32>) -> Seen {
    let mix = Chance::new(Seed(seed), "mix");
    let mut cars = spread(traffic, per_km, 9.0);
    for car in &mut cars {
        let now = mix.at(u64::from(car.id));
        *car = traffic.with(*car, u8::from(now.uniform(0) < 0.3), 0);
        car.speed_mps *= 0.5 + now.uniform(1);
    }
    let start = traffic.start(&cars);
    let timeline = Timeline::new(traffic, start.clone(), TICKS);
    let (mut full, mut branch) = (start, traffic.branch());
    let (mut scratch, mut branch_scratch) = (Scratch::default(), BranchScratch::default());
    // Just ahead of somebody.
    let (lane, station_m) = cars.first().map_or((0, 20.0), |car| (car.lane, car.station_m + 15.0));
    let ego = Outside { lane, station_m, lateral_m: 0.0, speed_mps: 9.0, kind: 0 };
    let mut wild = Wild { ego, chance: Chance::new(Seed(seed), "wild") };
    for tick in 0..TICKS {
        wild.step(traffic, tick);
        let fire: &[usize] = if fire_at == Some(tick) { &[0] } else { &[] };
        let input = Input { outside: &[wild.ego], fire, ..Input::default() };
        traffic.step(&mut full, input, &mut scratch);
        traffic.step_branch(&timeline, &mut branch, input, &mut branch_scratch);
        let whole = traffic.whole(&timeline, &branch);
        if to_bytes(&whole) != to_bytes(&full) {
            let other = full.cars().find(|car| whole.find(car.id) != Some(car));
            let here = other.map(|car| whole.find(car.id));
            panic!("seed {seed}, tick {tick}, ego {:?}:\nfull {other:?}\nhere {here:?}", wild.ego);
        }
        if tick % 40 == 39 {
            branch = from_bytes::<Branch>(&to_bytes(&branch)).unwrap();
            branch_scratch = BranchScratch::default();
        }
    }
    Seen { touched: branch.touched().len(), cars: full.cars().count() }
}

fn motorway() -> Traffic {
    let motorway = Motorway { lanes: 3, pieces: 25, piece_m: 60.0, limit_mps: 25.0 };
    Traffic::new(World::new(motorway.streets(), Settings::new(0.1)), Seed(3)).unwrap()
}

fn city(control: Control, seed: u64) -> Traffic {
    let city = City { side: 5, street_m: 120.0, lanes: 2, limit_mps: 14.0, control };
    let mut world = World::new(city.streets(), Settings::new(0.1));
    let crossed = |lane, station_m, from_m| Crossed { lane, station_m, from_m, to_m: from_m + 3.5 };
    let start =
        Walker { along_m: 0.0, across_m: 0.0, side: Side::Near, direction: Direction::Forth, stage: Stage::Walks };
    for (number, care) in [Care::Looks, Care::Zebra, Care::Reckless].into_iter().enumerate() {
        let n = number as u32;
        world.walkers.push(WalkerSpec {
            from: Point::new(0.0, 0.0),
            to: Point::new(40.0, 0.0),
            step_m: 0.15,
            crosses_at_m: Some(3.0),
            road_m: 7.0,
            crossed: vec![crossed(city.street(n, 0, 0, 0), 60.0, 0.0), crossed(city.street(n, 0, 0, 1), 60.0, 3.5)],
            care,
            start,
        });
    }
    let standing = |left_m| Standing { from_m: 80.0, to_m: 84.0, right_m: -1.7, left_m };
    world.things.push(Thing { lane: city.street(0, 0, 0, 0), standing: standing(-0.9) });
    world.things.push(Thing { lane: city.street(1, 1, 1, 0), standing: standing(1.0) });
    let mut effects = vec![Effect::Start(2), Effect::Appear(0), Effect::Appear(1)];
    effects.push(Effect::Brake { car: 7, brake_mps2: 6.0, ticks: 20 });
    if control != Control::Priority {
        effects.push(Effect::Light { light: 5, colour: Colour::Red, ticks: 60 });
    }
    for (number, effect) in effects.into_iter().enumerate() {
        let when = match number {
            3 => When::At(30),
            1 => When::Faster(11.0),
            2 => When::Slower(4.0),
            _ => When::Asked,
        };
        world.triggers.push(Trigger { name: format!("t{number}"), when, effect });
    }
    // So that the one fired by hand is another one from case to case.
    let count = world.triggers.len();
    world.triggers.rotate_left(seed as usize % count);
    Traffic::new(world, Seed(seed)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn on_a_motorway(seed in any::<u64>(), per_km in 5.0..30.0) {
        check(&motorway(), per_km, seed, None);
    }
    #[test]
    fn in_a_city_with_lights_walkers_and_triggers(seed in any::<u64>(), per_km in 5.0..25.0, fire_at in 0..TICKS) {
        check(&city(Control::Lights { green_s: 6.0 }, seed), per_km, seed, Some(fire_at));
    }
    #[test]
    fn in_a_city_with_priority(seed in any::<u64>(), per_km in 5.0..25.0) {
        check(&city(Control::Priority, seed), per_km, seed, Some(10));
    }
    #[test]
    fn where_cars_come_in_and_leave(seed in any::<u64>(), per_hour in 200.0..2500.0) {
        let mut world = World::new(lane_drop(250.0, 20.0), Settings::new(0.1));
        for lane in [0, 1] {
            world.flows.push(Flow { lane, per_hour, speed_mps: 15.0, kind: lane as u8, route: 0 });
        }
        check(&Traffic::new(world, Seed(seed)).unwrap(), 10.0, seed, None);
    }
}

#[test]
fn far_away_from_the_ego_nobody_is_touched() {
    let city = City { side: 12, street_m: 200.0, lanes: 1, limit_mps: 14.0, control: Control::Priority };
    let traffic = Traffic::new(World::new(city.streets(), Settings::new(0.1)), Seed(5)).unwrap();
    let seen = check(&traffic, 10.0, 4, None);
    assert!(seen.touched > 0 && seen.touched * 4 < seen.cars, "{} of {}", seen.touched, seen.cars);
}

#[test]
fn without_an_ego_nothing_is_ever_touched() {
    let traffic = city(Control::Lights { green_s: 6.0 }, 0);
    let timeline = Timeline::new(&traffic, traffic.start(&spread(&traffic, 15.0, 9.0)), 100);
    let (mut branch, mut scratch) = (traffic.branch(), BranchScratch::default());
    for _ in 0..100 {
        traffic.step_branch(&timeline, &mut branch, Input::default(), &mut scratch);
        assert!(branch.touched().is_empty());
    }
    assert_eq!(traffic.whole(&timeline, &branch), *timeline.at(100));
}
