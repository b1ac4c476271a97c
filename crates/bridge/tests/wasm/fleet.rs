//! A module in a fleet: found by path, started again after a crash.

use anabranch_bridge::wasm::{WasmLimits, factory};
use anabranch_bridge::{Answer, Fleet, FleetLimits, Kind, Op, Snapshot, Support};

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
