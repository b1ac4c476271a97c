//! Air that is lost, what the monitor tells of it, and what it does to the car.

use anabranch_helpers::{ATMOSPHERE_PA, Around, Helper, Nearby, Tyres, TyresSpec, TyresState, Wheel, Wrong};
use anabranch_kernel::{Seed, maths};

const TICK_S: f64 = 0.05;

fn advance(tyres: &Tyres, state: &mut TyresState, ticks: std::ops::Range<u32>, speed_mps: f64, wrong: Wrong) {
    for tick in ticks {
        let car = Nearby { speed_mps, ..Nearby::default() };
        if tyres.due_tick(state, tick) <= tick {
            tyres.advance(state, &Around { tick, seed: Seed(0), car, others: &[], wrong });
        }
    }
}

fn leak(wheel: usize, pa_per_s: f64) -> Wrong {
    let mut wrong = Wrong::default();
    wrong.leak_pa_per_s[wheel] = pa_per_s;
    wrong
}

#[test]
fn at_nominal_pressure_nothing_changes_bit_by_bit() {
    let tyres = Tyres::new(TyresSpec::usual(TICK_S));
    let mut state = tyres.start();
    for from in [0, 1_000] {
        for axle in tyres.axles(&state) {
            assert!(axle.stiffness == 1.0 && axle.grip == 1.0, "{axle:?}");
        }
        assert!(tyres.drag_mps2(&state) == 0.0 && !tyres.warns(&state));
        advance(&tyres, &mut state, from..from + 1_000, 30.0, Wrong::default());
    }
}

#[test]
fn a_leak_loses_as_much_in_a_segment_as_it_says_and_only_on_its_wheel() {
    let tyres = Tyres::new(TyresSpec::usual(TICK_S));
    let mut state = tyres.start();
    // A segment of 1 s is 20 base cycles, and 2 steps of this helper.
    advance(&tyres, &mut state, 0..20, 0.0, leak(2, 5e4));
    assert!((state.cold_pa[2] - 1.8e5).abs() < 1e-6);
    assert_eq!([state.cold_pa[0], state.cold_pa[1], state.cold_pa[3]], [2.3e5; 3]);
    advance(&tyres, &mut state, 20..60, 0.0, Wrong::default());
    assert!((state.cold_pa[2] - 1.8e5).abs() < 1e-6);
    advance(&tyres, &mut state, 60..200, 0.0, leak(2, 5e4));
    assert_eq!((state.cold_pa[2], state.pressure_pa(2)), (0.0, 0.0));
}

#[test]
fn a_hole_stays_and_the_larger_of_two_counts() {
    let tyres = Tyres::new(TyresSpec::usual(TICK_S));
    let mut state = tyres.start();
    let hole = |pa_per_s: f64| Wrong { hole_pa_per_s: [pa_per_s, 0.0, 0.0, 0.0], ..Wrong::default() };
    advance(&tyres, &mut state, 0..20, 0.0, hole(1e4));
    advance(&tyres, &mut state, 20..60, 0.0, Wrong::default());
    assert!((state.cold_pa[0] - 2.0e5).abs() < 1e-6, "{:?}", state.cold_pa);
    advance(&tyres, &mut state, 60..80, 0.0, hole(2e4));
    advance(&tyres, &mut state, 80..100, 0.0, hole(1e4));
    assert!((state.cold_pa[0] - 1.6e5).abs() < 1e-6, "{:?}", state.cold_pa);
}

#[test]
fn warm_air_has_more_pressure_by_the_law_of_gases() {
    let tyres = Tyres::new(TyresSpec::usual(TICK_S));
    let mut state = tyres.start();
    advance(&tyres, &mut state, 0..72_000, 30.0, Wrong::default());
    // An hour at 30 m/s: 18 K warmer than outside.
    assert!((state.warmth_k - 18.0).abs() < 0.01, "{}", state.warmth_k);
    let expect_pa = (2.3e5 + ATMOSPHERE_PA) * (293.0 + state.warmth_k) / 293.0 - ATMOSPHERE_PA;
    assert!((state.pressure_pa(0) - expect_pa).abs() < 1e-6);
}

#[test]
fn a_soft_tyre_is_softer_holds_less_and_rolls_worse() {
    let tyres = Tyres::new(TyresSpec { start_pa: [2.3e5, 2.3e5, 1.15e5, 0.0], ..TyresSpec::usual(TICK_S) });
    let state = tyres.start();
    let [front, rear] = tyres.axles(&state);
    assert!(front.stiffness == 1.0 && front.grip == 1.0);
    // Half the pressure keeps 0.65 of the stiffness and 0.75 of the grip, no pressure 0.3 and 0.5.
    assert!((rear.stiffness - 0.5 * (0.65 + 0.3)).abs() < 1e-12 && (rear.grip - 0.5 * (0.75 + 0.5)).abs() < 1e-12);
    let more = |share: f64| maths::pow(share, -0.4) - 1.0;
    let expect = 0.25 * 0.01 * 9.81 * (more(0.5) + more(0.05));
    assert!((tyres.drag_mps2(&state) - expect).abs() < 1e-12 && expect > 0.05);
}

#[test]
fn the_monitor_tells_in_its_own_time_and_keeps_its_reading_while_it_is_lost() {
    let tyres = Tyres::new(TyresSpec::usual(TICK_S));
    let mut state = tyres.start();
    let lost = Wrong { monitor_lost: true, ..leak(1, 1e5) };
    advance(&tyres, &mut state, 0..20, 0.0, lost);
    assert!(state.told_pa[1] == 2.3e5 && !tyres.warns(&state) && state.cold_pa[1] < 1.4e5);
    advance(&tyres, &mut state, 20..21, 0.0, Wrong::default());
    assert!(state.told_pa[1] < 1.4e5 && tyres.warns(&state));
    let mut shown = [0.0; 6];
    tyres.show(&state, 21, &mut shown);
    assert_eq!((shown[1], shown[4]), (state.pressure_pa(1), state.told_pa[1]));
}

#[test]
fn wheels_are_found_by_their_names() {
    for wheel in Wheel::ALL {
        assert_eq!(Wheel::from_word(wheel.word()), Some(wheel));
    }
    assert_eq!(Wheel::from_word("left"), None);
}
