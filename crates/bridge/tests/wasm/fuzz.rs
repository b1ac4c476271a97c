//! Bytes that once were a module: refused or run, but never to the harm of the host.

use std::collections::BTreeMap;

use anabranch_bridge::Instance;
use anabranch_bridge::wasm::{WasmFactory, WasmLimits};

use crate::support::{Dice, Wat, reset, step};

const CASES: u64 = 12_000;

fn originals() -> Vec<Vec<u8>> {
    let busy = Wat {
        imports: r#"(import "anabranch" "log" (func $log (param i32 i32)))"#,
        extra: r#"(global $g (mut i32) (i32.const 4)) (table 2 funcref) (elem (i32.const 0) $f $f) (data $d "text")
                  (type $t (func (param i32) (result i32)))
                  (func $f (type $t) (i32.mul (local.get 0) (global.get $g)))
                  (func (export "anabranch_scratch") (result i64) (i64.const 0x0002000000010000))"#,
        step: "(call $log (i32.const 16) (i32.const 4))
               (memory.fill (i32.const 9000) (i32.const 1) (i32.const 100))
               (memory.copy (i32.const 9050) (i32.const 9000) (i32.const 100))
               (memory.init $d (i32.const 9500) (i32.const 0) (i32.const 4))
               (global.set $g (call_indirect (type $t) (global.get $g) (i32.const 1)))
               (if (i32.gt_u (global.get $g) (i32.const 1000)) (then (drop (memory.grow (i32.const 1)))))
               (f64.store (local.get $out) (f64.div (f64.const 1) (f64.load offset=144 (local.get $seen))))",
        ..Wat::default()
    };
    vec![Wat::default().bytes(), busy.bytes()]
}

/// A few bytes changed, taken out, doubled or put in from elsewhere.
fn mutated(original: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..=dice.below(3) {
        let at = dice.below(bytes.len());
        match dice.below(6) {
            0..=2 => bytes[at] = dice.next() as u8,
            3 => bytes[at] ^= 1 << dice.below(8),
            4 => drop(bytes.remove(at)),
            _ => bytes.insert(at, original[dice.below(original.len())]),
        }
    }
    bytes
}

#[test]
fn twelve_thousand_damaged_modules_harm_nobody() {
    let limits = WasmLimits {
        fuel_per_call: 20_000,
        fuel_to_start: 20_000,
        memory_bytes_max: 4 << 20,
        log_bytes_max: 1000,
        ..WasmLimits::default()
    };
    let originals = originals();
    let mut ends: BTreeMap<String, u32> = BTreeMap::new();
    for seed in 0..CASES {
        let mut dice = Dice(seed);
        let bytes = mutated(&originals[dice.below(originals.len())], &mut dice);
        let end = match WasmFactory::new(&bytes, limits) {
            Err(fault) => format!("not started: {}", fault.kind.name()),
            Ok(factory) => {
                let ops = [reset(0), step(0, 0.0), step(0, 1.0)];
                match factory.instance().exchange(&ops, &mut Vec::new()) {
                    Err(fault) => format!("run: {}", fault.kind.name()),
                    Ok(()) => "run: whole".to_owned(),
                }
            }
        };
        *ends.entry(end).or_default() += 1;
    }
    assert_eq!(ends.values().sum::<u32>(), CASES as u32);
    for end in ["not started: malformed", "not started: no-start", "run: crash", "run: hang", "run: whole"] {
        assert!(ends.contains_key(end), "{end} was tried too: {ends:?}");
    }
}
