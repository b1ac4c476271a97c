//! A module in a fleet: found by path, started again after a crash.

use anabranch_bridge::wasm::{WasmLimits, factory};
use anabranch_bridge::{Answer, Fleet, FleetLimits, Kind, Op, Probe, Snapshot, Support, check_claims};

use crate::support::{Wat, reset, step};

#[test]
fn a_fleet_of_modules_goes_on_after_a_crash() {
    // Crashes where it is told to be far to the left of its path.
    let wat = Wat {
        step: "(if (f64.gt (f64.load offset=144 (local.get $seen)) (f64.const 1)) (then unreachable))
               (f64.store (local.get $out) (f64.load offset=144 (local.get $seen)))",
        ..Wat::default()
    };
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("crashes.wasm");
    std::fs::write(&path, wat.bytes()).unwrap();
    let factory = factory(&path, WasmLimits::default()).unwrap();
    let fleet = Fleet::new(Box::new(factory), FleetLimits { instances: 2, tokens_max: 10 }).unwrap();
    assert_eq!((fleet.card().support, fleet.card().snapshot), (Support::Save, Snapshot::Memory));
    assert!(fleet.card().saves_bytes);

    let mut answers = Vec::new();
    let mut seat = fleet.seat(0);
    let id = seat.next_token();
    seat.exchange(&[reset(0), step(0, 0.5), Op::Save { branch: 0, token: id }], &mut answers).unwrap();
    let token = seat.saved(id);
    assert!(seat.holds(&token));
    let crash = seat.exchange(&[Op::Load { token: id, branch: 0 }, step(0, 2.0)], &mut answers).unwrap_err();
    assert_eq!(crash.kind, Kind::Crash);
    assert!(!seat.holds(&token), "what lived in it is gone");
    seat.exchange(&[reset(0), step(0, 0.25)], &mut answers).unwrap();
    assert!(matches!(&answers[1], Answer::Decision(decision) if decision.steer == 0.25));
    drop(seat);
    assert_eq!(fleet.times().restarts, 1);
}

#[test]
fn instances_on_several_threads_do_not_meet() {
    let step_text = "(i32.store (i32.const 9000) (i32.add (i32.load (i32.const 9000)) (i32.const 1)))
                     (f64.store (local.get $out) (f64.convert_i32_s (i32.load (i32.const 9000))))";
    let factory = Wat { step: step_text, ..Wat::default() }.factory();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut instance = factory.instance();
                for round in 0..20 {
                    let ops: Vec<Op> = (0..8).flat_map(|branch| [reset(branch), step(branch, 0.0)]).collect();
                    for answer in crate::support::answers(&mut instance, &ops) {
                        if let Answer::Decision(decision) = answer {
                            assert_eq!(decision.steer, 1.0, "round {round}");
                        }
                    }
                }
            });
        }
    });
}

#[test]
fn what_a_card_claims_is_kept() {
    // Adds up where it is told to be, in memory and in a global that is not exported.
    let sums = Wat {
        extra: "(global $sum (mut f64) (f64.const 0))",
        step: "(global.set $sum (f64.add (global.get $sum) (f64.load offset=144 (local.get $seen))))
               (f64.store (i32.const 9000) (f64.add (f64.load (i32.const 9000)) (f64.const 0.01)))
               (f64.store (local.get $out) (f64.mul (global.get $sum) (f64.load (i32.const 9000))))",
        ..Wat::default()
    };
    for factory in [crate::law::factory(), sums.factory()] {
        let fleet = Fleet::new(Box::new(factory), FleetLimits::default()).unwrap();
        let probe = Probe::of(fleet.card());
        let claims = check_claims(&fleet, &probe).unwrap();
        assert!(claims.len() >= 7, "{claims:?}");
        for claim in claims {
            assert!(claim.broken.is_none(), "{}: {claim}", fleet.card().name);
        }
    }
}

#[test]
fn numbers_a_car_cannot_mean_concern_only_their_branch() {
    // Steers as far as it is told to be beside its path; says itself that it failed beyond 100 m.
    let wat = Wat {
        step: "(local $lateral f64) (local.set $lateral (f64.load offset=144 (local.get $seen)))
               (if (f64.gt (local.get $lateral) (f64.const 100)) (then (return (i32.const 5))))
               (f64.store (local.get $out) (local.get $lateral))",
        ..Wat::default()
    };
    let fleet = Fleet::new(Box::new(wat.factory()), FleetLimits::default()).unwrap();
    let mut seat = fleet.seat(0);
    let ops = [reset(0), step(0, 0.5), step(0, f64::NAN), step(0, -9.0), step(0, 101.0), step(0, 0.25)];
    let answers = seat.ask(&ops).unwrap();
    let kinds: Vec<_> = answers.iter().map(|answer| answer.as_ref().err().map(|fault| fault.kind)).collect();
    let (nan, range, own) = (Some(Kind::NotANumber), Some(Kind::OutOfRange), Some(Kind::Exception));
    assert_eq!(kinds, [None, None, nan, range, own, None]);
    drop(seat);
    assert_eq!(fleet.times().restarts, 0);
}
