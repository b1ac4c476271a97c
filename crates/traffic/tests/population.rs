//! What a whole population does.

use anabranch_kernel::{Seed, from_bytes, to_bytes};
use anabranch_traffic::towns::{City, Control, Motorway};
use anabranch_traffic::{Car, Input, Population, Role, Scratch, Settings, Traffic, World, spread};

fn city(control: Control) -> Traffic {
    let city = City { side: 4, street_m: 150.0, lanes: 2, limit_mps: 14.0, control };
    Traffic::new(World::new(city.streets(), Settings::new(0.1)), Seed(1)).unwrap()
}

fn overlaps(traffic: &Traffic, population: &Population) -> usize {
    (0..traffic.streets().count() as u32)
        .map(|lane| {
            let mains: Vec<&Car> = population.in_lane(lane).iter().filter(|car| car.role == Role::Car).collect();
            mains.windows(2).filter(|pair| pair[1].station_m - 4.6 < pair[0].station_m).count()
        })
        .sum()
}

#[test]
fn a_city_flows_and_nobody_drives_into_anybody() {
    for control in [Control::Priority, Control::Lights { green_s: 15.0 }] {
        let traffic = city(control);
        let mut population = traffic.start(&spread(&traffic, 20.0, 10.0));
        let (count, mut scratch) = (population.cars().count(), Scratch::default());
        let (mut way_m, mut late_m) = (0.0, 0.0);
        for tick in 0..6000 {
            traffic.step(&mut population, Input::default(), &mut scratch);
            assert_eq!(overlaps(&traffic, &population), 0, "{control:?} at tick {tick}");
            let moved: f64 = population.cars().map(|car| car.speed_mps * 0.1).sum();
            way_m += moved;
            late_m += if tick >= 5000 { moved } else { 0.0 };
        }
        assert_eq!(population.cars().count(), count);
        let (mean, late) = (way_m / (count as f64 * 600.0), late_m / (count as f64 * 100.0));
        println!("{control:?}: {count} cars, mean {mean:.2} m/s, late {late:.2} m/s");
        assert!(mean > 3.0 && late > 2.0, "{control:?}: {mean} {late}");
    }
}

#[test]
fn a_motorway_changes_lanes_and_stays_apart() {
    let motorway = Motorway { lanes: 3, pieces: 4, piece_m: 500.0, limit_mps: 33.0 };
    let traffic = Traffic::new(World::new(motorway.streets(), Settings::new(0.1)), Seed(1)).unwrap();
    let mut cars = spread(&traffic, 15.0, 20.0);
    for car in &mut cars {
        if car.lane % 3 == 0 && car.id % 2 == 0 {
            *car = traffic.with(*car, 1, 0);
        }
    }
    let mut population = traffic.start(&cars);
    let mut scratch = Scratch::default();
    let mut changes = 0;
    for tick in 0..3000 {
        let before: Vec<(u32, u32)> = population.cars().map(|car| (car.id, car.lane % 3)).collect();
        traffic.step(&mut population, Input::default(), &mut scratch);
        for (id, lane) in before {
            changes += usize::from(population.find(id).unwrap().lane % 3 != lane);
        }
        assert_eq!(overlaps(&traffic, &population), 0, "tick {tick}");
    }
    assert!(changes > 20, "{changes} lane changes");
}

#[test]
fn saving_and_loading_changes_no_byte() {
    let traffic = city(Control::Priority);
    let mut population = traffic.start(&spread(&traffic, 20.0, 10.0));
    let mut scratch = Scratch::default();
    for _ in 0..50 {
        let bytes = to_bytes(&population);
        let mut loaded: Population = from_bytes(&bytes).unwrap();
        assert_eq!(to_bytes(&loaded), bytes);
        for _ in 0..10 {
            traffic.step(&mut population, Input::default(), &mut scratch);
            traffic.step(&mut loaded, Input::default(), &mut Scratch::default());
        }
        assert_eq!(to_bytes(&loaded), to_bytes(&population));
    }
}
