//! What drivers do: making room, following, stopping, giving way, swerving.

use anabranch_kernel::Seed;
use anabranch_traffic::band::Standing;
use anabranch_traffic::gap::GapControl;
use anabranch_traffic::towns::{Motorway, lane_drop};
use anabranch_traffic::{
    Car, Colour, Effect, Input, LaneSpec, Light, Manners, Outside, Population, Scratch, Script, Settings, Streets,
    Thing, Traffic, Trigger, When, World,
};

fn run(
    traffic: &Traffic,
    population: &mut Population,
    ticks: u32,
    outside: &[Outside],
    mut seen: impl FnMut(&Population),
) {
    let mut scratch = Scratch::default();
    for _ in 0..ticks {
        traffic.step(population, Input { outside, ..Input::default() }, &mut scratch);
        seen(population);
    }
}

fn road(length_m: f64, limit_mps: f64) -> Streets {
    let lane = LaneSpec { length_m, limit_mps, width_m: 3.5, ..LaneSpec::default() };
    Streets::new(&[lane], &[]).unwrap()
}

/// Hardest braking of the 19 followers of a platoon of 20 at 20 m/s after somebody came in behind the first car, and whether he came in.
fn platoon(manners: Manners) -> (f64, bool) {
    let settings = Settings { manners, ..Settings::new(0.1) };
    let spacing_m = 4.6 + settings.standstill_m + settings.gap.time_gap_s * 20.0;
    let traffic = Traffic::new(World::new(lane_drop(1400.0, 20.0), settings), Seed(1)).unwrap();
    let mut cars: Vec<Car> = (0..20).map(|i| traffic.car(i, 1, 1000.0 - f64::from(i) * spacing_m, 20.0)).collect();
    cars.push(traffic.car(99, 0, 1000.0 - 0.5 * spacing_m, 20.0));
    let mut population = traffic.start(&cars);
    let mut speeds = [20.0; 20];
    let mut hardest = 0.0_f64;
    run(&traffic, &mut population, 450, &[], |now| {
        for car in now.cars().filter(|car| (1..20).contains(&car.id)) {
            hardest = hardest.max((speeds[car.id as usize] - car.speed_mps) / 0.1);
            speeds[car.id as usize] = car.speed_mps;
        }
    });
    (hardest, population.find(99).is_none_or(|car| car.lane > 0))
}

#[test]
fn a_cooperative_merge_makes_no_wave_of_braking() {
    let (naive, naive_in) = platoon(Manners::Naive);
    let (cooperative, cooperative_in) = platoon(Manners::Cooperative);
    assert!(naive_in && cooperative_in, "both must get in");
    println!("hardest braking of a follower: naive {naive:.2} m/s², cooperative {cooperative:.2} m/s²");
    assert!(naive > 2.0, "{naive}");
    assert!(cooperative <= 0.5 * naive, "{cooperative} against {naive}");
}

#[test]
fn traffic_answers_to_an_ego_that_it_could_not_foresee() {
    // S4-21, flexible traffic: a car on a fixed course would drive through an ego that stops in its lane.
    let traffic = Traffic::new(World::new(road(2000.0, 20.0), Settings::new(0.1)), Seed(1)).unwrap();
    let mut population = traffic.start(&[traffic.car(0, 0, 100.0, 20.0), traffic.car(1, 0, 50.0, 20.0)]);
    let mut free = population.clone();
    let ego = Outside { lane: 0, station_m: 300.0, lateral_m: 0.0, speed_mps: 0.0, kind: 0 };
    let mut closest_m = f64::INFINITY;
    run(&traffic, &mut population, 400, &[ego], |now| {
        closest_m = closest_m.min(300.0 - 4.6 - now.find(0).unwrap().station_m);
        assert!(now.find(0).unwrap().station_m - 4.6 > now.find(1).unwrap().station_m);
    });
    run(&traffic, &mut free, 400, &[], |_| {});
    assert!(free.find(0).unwrap().station_m > 800.0, "on its fixed course it would be far beyond the ego");
    assert!(closest_m > 0.5 && closest_m < 4.0, "it stops behind the ego, {closest_m} m");
    assert!(population.find(0).unwrap().speed_mps < 0.1);
}

#[test]
fn a_car_in_a_platoon_follows_the_trajectory_of_equation_3() {
    // Independent reference: Eq. (3) integrated here, for a leader that goes from 20 to 15 m/s within 5 s.
    let gap = GapControl::ATTENTIVE;
    let script = Script { car: 0, profile: vec![(0.0, 20.0), (5.0, 15.0)] };
    let mut world = World::new(road(3000.0, 30.0), Settings::new(0.1));
    world.scripts.push(script);
    let traffic = Traffic::new(world, Seed(1)).unwrap();
    let spacing_m = 6.6 + gap.time_gap_s * 20.0;
    let mut population = traffic.start(&[traffic.car(0, 0, 500.0, 20.0), traffic.car(1, 0, 500.0 - spacing_m, 20.0)]);
    let (mut lead, mut host) = ((500.0, 20.0), (500.0 - spacing_m, 20.0));
    let mut tick = 0;
    run(&traffic, &mut population, 300, &[], |now| {
        let delta = 6.6 + gap.time_gap_s * host.1 - (lead.0 - host.0);
        let accel = -(1.0 / gap.response_s) * (-(lead.1 - host.1) + gap.closing_per_s * delta);
        tick += 1;
        lead.1 = (20.0 - f64::from(tick) * 0.1).max(15.0);
        lead.0 += lead.1 * 0.1;
        host.1 += accel * 0.1;
        host.0 += host.1 * 0.1;
        let car = now.find(1).unwrap();
        assert!((car.station_m - host.0).abs() < 1e-6, "tick {tick}: {} is not {}", car.station_m, host.0);
    });
    assert!((population.find(1).unwrap().speed_mps - 15.0).abs() < 1e-3);
}

#[test]
fn cars_swerve_around_what_leaves_room_and_stop_before_what_does_not() {
    let standing = |left_m| Standing { from_m: 200.0, to_m: 204.0, right_m: -1.75, left_m };
    for (left_m, passes) in [(-0.9, true), (0.3, false)] {
        let mut world = World::new(road(1000.0, 14.0), Settings::new(0.1));
        world.things.push(Thing { lane: 0, standing: standing(left_m) });
        let traffic = Traffic::new(world, Seed(1)).unwrap();
        let mut population = traffic.start(&[traffic.car(0, 0, 100.0, 14.0), traffic.car(1, 0, 60.0, 14.0)]);
        let mut clearance_m = f64::INFINITY;
        run(&traffic, &mut population, 300, &[], |now| {
            for car in now.cars().filter(|car| car.station_m > 200.0 && car.station_m < 208.6) {
                clearance_m = clearance_m.min(car.lateral_m - 0.9 - left_m);
            }
        });
        let first = population.find(0).unwrap();
        if passes {
            assert!(clearance_m > 0.15, "{clearance_m}");
            assert!(first.station_m > 300.0 && first.lateral_m.abs() < 0.05, "{first:?}");
        } else {
            assert!((195.0..200.0).contains(&first.station_m) && first.speed_mps < 0.1, "{first:?}");
        }
    }
}

fn crossroads(minor: &LaneSpec, lights: &[Light]) -> Streets {
    // Lane 0 → way 1 → lane 2 is the main road; lane 3 → way 4 → lane 5 crosses it.
    let lane = |length_m, next: &[(u32, f64)]| LaneSpec {
        length_m,
        limit_mps: 14.0,
        width_m: 3.5,
        next: next.to_vec(),
        ..LaneSpec::default()
    };
    let way = LaneSpec { next: vec![(5, 1.0)], length_m: 12.0, limit_mps: 14.0, width_m: 3.5, ..minor.clone() };
    let specs = [
        lane(200.0, &[(1, 1.0)]),
        lane(12.0, &[(2, 1.0)]),
        lane(300.0, &[]),
        lane(200.0, &[(4, 1.0)]),
        way,
        lane(300.0, &[]),
    ];
    Streets::new(&specs, lights).unwrap()
}

#[test]
fn who_must_give_way_waits_for_the_main_road_and_then_goes() {
    let minor = LaneSpec { gives_way_to: vec![1], ..LaneSpec::default() };
    let traffic = Traffic::new(World::new(crossroads(&minor, &[]), Settings::new(0.1)), Seed(1)).unwrap();
    let main: Vec<Car> = (0..4).map(|i| traffic.car(i, 0, 150.0 - 35.0 * f64::from(i), 14.0)).collect();
    let mut cars = main;
    cars.push(traffic.car(9, 3, 150.0, 14.0));
    let mut population = traffic.start(&cars);
    let mut entered_at = None;
    run(&traffic, &mut population, 400, &[], |now| {
        let is_inside = now.in_lane(4).iter().any(|car| car.id == 9);
        if is_inside {
            assert!(now.in_lane(1).is_empty(), "tick {}: both are in the junction", now.tick);
            entered_at.get_or_insert(now.tick);
        }
    });
    // Four cars at 14 m/s and 35 m: the last one passes after about 11 s.
    assert!((90..160).contains(&entered_at.unwrap()), "{entered_at:?}");
}

#[test]
fn a_stop_sign_is_a_stop_even_if_nobody_comes() {
    let minor = LaneSpec { gives_way_to: vec![1], stop_sign: true, ..LaneSpec::default() };
    let traffic = Traffic::new(World::new(crossroads(&minor, &[]), Settings::new(0.1)), Seed(1)).unwrap();
    let mut population = traffic.start(&[traffic.car(9, 3, 100.0, 14.0)]);
    let mut stood = 0;
    run(&traffic, &mut population, 500, &[], |now| {
        stood += usize::from(now.in_lane(3).iter().any(|car| car.speed_mps < 0.1 && car.station_m > 195.0));
    });
    assert!((10..20).contains(&stood), "{stood} ticks");
    assert!(population.find(9).is_none_or(|car| car.lane == 5), "it has gone on");
}

#[test]
fn a_red_light_holds_and_a_trigger_can_turn_it() {
    let minor = LaneSpec { light: Some(0), ..LaneSpec::default() };
    let light = Light::cycle(10.0, 3.0, 17.0, 13.0);
    let mut world = World::new(crossroads(&minor, &[light]), Settings::new(0.1));
    let effect = Effect::Light { light: 0, colour: Colour::Red, ticks: 300 };
    world.triggers.push(Trigger { name: "light stays red".to_owned(), when: When::Asked, effect });
    let traffic = Traffic::new(world, Seed(1)).unwrap();
    for fire in [&[][..], &[0]] {
        let mut population = traffic.start(&[traffic.car(9, 3, 60.0, 14.0)]);
        let mut scratch = Scratch::default();
        let mut crossed_at = None;
        for tick in 0..400 {
            traffic.step(
                &mut population,
                Input { outside: &[], fire: if tick == 5 { fire } else { &[] }, ..Input::default() },
                &mut scratch,
            );
            if population.find(9).is_none_or(|car| car.lane != 3) {
                crossed_at.get_or_insert(tick);
            }
        }
        // Red until tick 170, then green; held red until 305 the light is in the red of its next round, green again from 470 on.
        if fire.is_empty() {
            assert!((170..215).contains(&crossed_at.unwrap()), "{crossed_at:?}");
        } else {
            assert_eq!(crossed_at, None);
        }
    }
}

#[test]
fn a_car_brakes_when_its_trigger_says_so() {
    let mut world = World::new(road(1000.0, 20.0), Settings::new(0.1));
    let effect = Effect::Brake { car: 0, brake_mps2: 5.0, ticks: 20 };
    world.triggers.push(Trigger { name: "car brakes".to_owned(), when: When::At(50), effect });
    let traffic = Traffic::new(world, Seed(1)).unwrap();
    let mut population = traffic.start(&[traffic.car(0, 0, 0.0, 20.0)]);
    run(&traffic, &mut population, 50, &[], |now| assert_eq!(now.find(0).unwrap().speed_mps, 20.0));
    run(&traffic, &mut population, 20, &[], |_| {});
    // 20 m/s less 5 m/s² for 2 s.
    assert!((population.find(0).unwrap().speed_mps - 10.0).abs() < 1e-9);
    run(&traffic, &mut population, 150, &[], |_| {});
    assert!(population.find(0).unwrap().speed_mps > 19.0);
}

#[test]
fn a_slow_car_is_overtaken_and_the_change_takes_the_way_of_the_quintic() {
    let motorway = Motorway { lanes: 2, pieces: 2, piece_m: 2000.0, limit_mps: 30.0 };
    let traffic = Traffic::new(World::new(motorway.streets(), Settings::new(0.1)), Seed(1)).unwrap();
    let lorry = traffic.with(traffic.car(0, 0, 300.0, 24.0), 1, 0);
    let mut population = traffic.start(&[lorry, traffic.car(1, 0, 200.0, 30.0)]);
    let mut largest_m = 0.0_f64;
    let mut off_m = 0.0_f64;
    run(&traffic, &mut population, 300, &[], |now| {
        let car = now.find(1).unwrap();
        largest_m = largest_m.max(car.lateral_m.abs());
        if car.is_changing() {
            let u = ((car.station_m - car.change_from_m) / car.change_length_m).clamp(0.0, 1.0);
            let path_m = car.change_offset_m * (1.0 - u * u * u * (10.0 - 15.0 * u + 6.0 * u * u));
            off_m = off_m.max((car.lateral_m - path_m).abs());
        }
    });
    let car = population.find(1).unwrap();
    assert_eq!(car.lane % 2, 1, "it has changed to the left");
    assert!((largest_m - 3.5).abs() < 0.2, "it began one lane aside, {largest_m}");
    assert!(off_m < 0.35, "the tracker follows the path within {off_m} m");
    assert!(car.lateral_m == 0.0 && !car.is_changing());
}
