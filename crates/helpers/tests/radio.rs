//! Messages arrive when they should, in one order, from those who are near enough, as often as chance says.

use anabranch_helpers::{Around, Helper, Message, Nearby, OnItsWay, Radio, RadioSpec, RadioState, Senders, Wrong};
use anabranch_kernel::{CellKey, Declarations, Grid, KeyWriter, Seed, from_bytes, to_bytes};
use proptest::prelude::*;

const TICK_S: f64 = 0.05;

fn other(number: u32, x_m: f64, speed_mps: f64) -> Nearby {
    Nearby { number, x_m, speed_mps, half_length_m: 2.3, drives: true, ..Nearby::default() }
}

fn step(radio: &Radio, state: &mut RadioState, tick: u32, others: &[Nearby], wrong: Wrong) {
    let around = Around { tick, seed: Seed(7), car: Nearby::default(), others, wrong };
    if radio.due_tick(state, tick) <= tick {
        radio.advance(state, &around);
    }
}

fn spec() -> RadioSpec {
    RadioSpec { period_ticks: 4, keep_ticks: 1_000, latency_s: 0.0, ..RadioSpec::usual(TICK_S) }
}

fn key(radio: &Radio, state: &RadioState) -> CellKey {
    let grid = Grid::of(&Declarations::of(|v| radio.visit(state, v)).variables);
    let mut key = KeyWriter::new(&grid);
    radio.visit(state, &mut key.visitor(&[]));
    key.finish().expect("every number is finite")
}

/// When the message that was sent at tick 0 is heard.
fn heard_at(latency_s: f64, late_ticks: u16) -> u32 {
    let radio = Radio::new(RadioSpec { latency_s, period_ticks: 1_000, ..spec() });
    let mut state = radio.start();
    (0..1_000)
        .find(|tick| {
            step(&radio, &mut state, *tick, &[other(1, 50.0, 20.0)], Wrong { late_ticks, ..Wrong::default() });
            !state.heard.is_empty()
        })
        .expect("it is heard some time")
}

#[test]
fn a_message_is_heard_in_the_first_base_cycle_that_is_not_before_its_time() {
    let cases = [(0.0, 0), (0.01, 1), (0.05, 1), (0.051, 2), (0.1, 2), (0.15, 3), (0.3, 6), (1.0, 20), (1.0001, 21)];
    for (latency_s, tick) in cases {
        assert_eq!(heard_at(latency_s, 0), tick, "{latency_s}");
        assert_eq!(heard_at(latency_s, 7), tick + 7, "{latency_s}");
    }
}

#[test]
fn the_edge_of_the_range_still_hears() {
    let radio = Radio::new(RadioSpec { range_m: 100.0, ..spec() });
    let heard = |x_m: f64, y_m: f64| {
        let mut state = radio.start();
        step(&radio, &mut state, 0, &[Nearby { y_m, ..other(1, x_m, 0.0) }], Wrong::default());
        !state.heard.is_empty()
    };
    assert!(heard(100.0, 0.0) && heard(-60.0, 80.0) && heard(0.0, 0.0));
    assert!(!heard(100.0 + 1e-9, 0.0) && !heard(-60.0, 80.0 + 1e-9));
}

#[test]
fn it_is_the_sender_that_tells_how_hard_it_brakes_since_its_last_message() {
    let radio = Radio::new(spec());
    let mut state = radio.start();
    for tick in 0..9 {
        let speed_mps = 20.0 - 6.0 * f64::from(tick) * TICK_S;
        step(&radio, &mut state, tick, &[other(1, 50.0, speed_mps)], Wrong::default());
        let accel_mps2 = state.heard[0].accel_mps2;
        let expect = if tick < 4 { 0.0 } else { -6.0 };
        assert!((accel_mps2 - expect).abs() < 1e-9, "{tick} {accel_mps2}");
    }
    let mut shown = [0.0; 4];
    radio.show(&state, 10, &mut shown);
    assert!((shown[3] - 6.0).abs() < 1e-9 && (shown[2] - 0.1).abs() < 1e-9 && shown[0] == 1.0);
}

#[test]
fn only_who_is_named_or_drives_sends() {
    let walker = Nearby { drives: false, ..other(2, 10.0, 1.0) };
    let all = Radio::new(spec());
    let named = Radio::new(RadioSpec { senders: Senders::Named(vec![3]), ..spec() });
    let heard = |radio: &Radio, wrong: Wrong| {
        let mut state = radio.start();
        step(radio, &mut state, 0, &[other(1, 10.0, 1.0), walker, other(3, 20.0, 2.0)], wrong);
        state.heard.iter().map(|message| message.sender).collect::<Vec<_>>()
    };
    assert_eq!(heard(&all, Wrong::default()), [1, 3]);
    assert_eq!(heard(&named, Wrong::default()), [3]);
    assert_eq!(heard(&all, Wrong { silent: 1 << 3, ..Wrong::default() }), [1]);
    assert_eq!(heard(&all, Wrong { all_silent: true, ..Wrong::default() }), []);
}

#[test]
fn what_is_lost_by_chance_is_as_often_as_it_should_be_and_the_same_for_the_same_seed() {
    let (loss, count) = (0.3, 20_000_u32);
    let radio = Radio::new(RadioSpec { loss, period_ticks: 1, keep_ticks: 0, ..spec() });
    let lost = |seed: u64| {
        let mut state = radio.start();
        let lost = (0..count).filter(|tick| {
            let around = Around {
                tick: *tick,
                seed: Seed(seed),
                car: Nearby::default(),
                others: &[other(1, 50.0, 20.0)],
                wrong: Wrong::default(),
            };
            radio.advance(&mut state, &around);
            state.heard.is_empty()
        });
        lost.count() as f64
    };
    let (n, first) = (f64::from(count), lost(1));
    // Five standard deviations of a binomial distribution.
    assert!((first - n * loss).abs() < 5.0 * (n * loss * (1.0 - loss)).sqrt(), "{first}");
    assert_eq!(first, lost(1));
    assert_ne!(first, lost(2));
}

#[test]
fn messages_are_forgotten_when_they_are_too_old() {
    let radio = Radio::new(RadioSpec { keep_ticks: 5, period_ticks: 1_000, ..spec() });
    let mut state = radio.start();
    let known: Vec<bool> = (0..8)
        .map(|tick| {
            step(&radio, &mut state, tick, &[other(1, 50.0, 20.0)], Wrong::default());
            !state.heard.is_empty()
        })
        .collect();
    assert_eq!(known, [true, true, true, true, true, true, false, false]);
}

#[test]
fn an_old_message_that_was_overtaken_is_thrown_away() {
    let radio = Radio::new(RadioSpec { period_ticks: 2, ..spec() });
    let mut state = radio.start();
    let send = |state: &mut RadioState, tick: u32, late_ticks: u16| {
        step(&radio, state, tick, &[other(1, f64::from(tick), 1.0)], Wrong { late_ticks, ..Wrong::default() });
    };
    send(&mut state, 0, 6);
    send(&mut state, 2, 0);
    assert_eq!(state.heard[0].sent_tick, 2);
    for tick in 3..=6 {
        send(&mut state, tick, 20);
    }
    assert_eq!((state.heard[0].sent_tick, state.heard[0].x_m), (2, 2.0));
}

fn message(sender: u32, sent_tick: u32) -> Message {
    let (heading_rad, speed_mps, accel_mps2) = (0.0, 10.0, 0.0);
    Message { sender, sent_tick, x_m: 0.0, y_m: 0.0, heading_rad, speed_mps, accel_mps2, half_length_m: 2.0 }
}

proptest! {
    /// Whatever the delays, what is heard in the end is the newest of each sender, and saving in between changes nothing.
    #[test]
    fn the_newest_message_wins_whatever_the_delays(delays in proptest::collection::vec(0_u16..12, 1..20), cut in 0_u32..30) {
        let radio = Radio::new(RadioSpec { period_ticks: 1, jitter_s: 0.2, loss: 0.2, ..spec() });
        let others = [other(1, 30.0, 5.0), other(9, 40.0, 6.0)];
        let (mut one, mut two) = (radio.start(), radio.start());
        for tick in 0..40 {
            let late_ticks = delays[tick as usize % delays.len()];
            let wrong = Wrong { late_ticks, all_silent: tick >= 25, ..Wrong::default() };
            step(&radio, &mut one, tick, &others, wrong);
            step(&radio, &mut two, tick, &others, wrong);
            if tick == cut {
                two = from_bytes(&to_bytes(&two)).unwrap();
            }
            prop_assert_eq!(&one, &two);
            prop_assert!(one.on_their_way.iter().all(|late| late.due_tick > tick));
            prop_assert!(one.on_their_way.windows(2).all(|pair| pair[0].due_tick <= pair[1].due_tick));
            prop_assert!(one.heard.windows(2).all(|pair| pair[0].sender < pair[1].sender));
            prop_assert_eq!(key(&radio, &one), key(&radio, &two));
        }
    }
}

#[test]
fn states_that_differ_in_any_message_have_other_keys() {
    let radio = Radio::new(spec());
    let none = radio.start();
    let heard = RadioState { heard: vec![message(1, 4)], ..radio.start() };
    let coming = RadioState { on_their_way: vec![OnItsWay { due_tick: 9, message: message(1, 4) }], ..radio.start() };
    let later = RadioState { on_their_way: vec![OnItsWay { due_tick: 10, message: message(1, 4) }], ..radio.start() };
    let sent = RadioState { sent_mps: vec![(1, 10.0)], ..radio.start() };
    let moved = RadioState { heard: vec![Message { x_m: 3.0, ..message(1, 4) }], ..radio.start() };
    let braked = RadioState { heard: vec![Message { accel_mps2: -6.0, ..message(1, 4) }], ..radio.start() };
    let all = [none, heard, coming, later, sent, moved, braked].map(|state| key(&radio, &state));
    for (number, one) in all.iter().enumerate() {
        assert!(all[..number].iter().all(|known| known != one), "{number}");
    }
}
