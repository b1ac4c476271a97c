//! Saving, loading and telling states apart.

use anabranch_bridge::wasm::{WasmFactory, WasmInstance, WasmLimits};
use anabranch_bridge::{Answer, Op};

use crate::support::{Dice, Wat, answers, decide, reset, save, step};

/// Remembers in memory and in globals of every type; none is exported. Steers by their sum.
fn hidden() -> Wat {
    Wat {
        extra: "(global $a (mut i32) (i32.const 0)) (global $b (mut i64) (i64.const 0)) (global $c (mut f32) (f32.const 0))
                (global $d (mut f64) (f64.const 0)) (global $e (mut v128) (v128.const i64x2 0 0)) (global $f i32 (i32.const 5))",
        step: "(global.set $a (i32.add (global.get $a) (i32.const 1)))
               (global.set $b (i64.add (global.get $b) (i64.const 10)))
               (global.set $c (f32.add (global.get $c) (f32.const 100)))
               (global.set $d (f64.add (global.get $d) (f64.const 1000)))
               (global.set $e (f64x2.add (global.get $e) (f64x2.splat (f64.const 10000))))
               (f64.store (i32.const 70000) (f64.add (f64.load (i32.const 70000)) (f64.const 100000)))
               (f64.store (local.get $out)
                 (f64.add (f64.add (f64.convert_i32_s (global.get $a)) (f64.convert_i64_s (global.get $b)))
                 (f64.add (f64.add (f64.promote_f32 (global.get $c)) (global.get $d))
                 (f64.add (f64x2.extract_lane 1 (global.get $e)) (f64.load (i32.const 70000))))))",
        ..Wat::default()
    }
}

/// Writes where it is told: `lateral` is an address, times 256, plus a value. Steers by a sum over all memory pages.
fn scribbler() -> Wat {
    Wat {
        memory: "16 64",
        extra: "(data (i32.const 65536) \"fresh memory is not empty\")",
        step: "(local $at i32) (local $sum i32)
               (local.set $at (i32.trunc_f64_u (f64.load offset=144 (local.get $seen))))
               (if (i32.ge_u (i32.shr_u (local.get $at) (i32.const 8)) (i32.mul (memory.size) (i32.const 65536)))
                 (then (drop (memory.grow (i32.const 1))))
                 (else (i32.store8 (i32.shr_u (local.get $at) (i32.const 8)) (local.get $at))))
               (local.set $at (i32.mul (memory.size) (i32.const 65536)))
               (loop
                 (local.set $at (i32.sub (local.get $at) (i32.const 512)))
                 (local.set $sum (i32.add (i32.mul (local.get $sum) (i32.const 31)) (i32.load8_u (local.get $at))))
                 (br_if 0 (local.get $at)))
               (f64.store (local.get $out) (f64.convert_i32_s (local.get $sum)))",
        ..Wat::default()
    }
}

/// What to tell the scribbler.
fn write(address: u32, value: u8) -> f64 {
    f64::from(address) * 256.0 + f64::from(value)
}

#[test]
fn globals_that_nobody_exports_are_saved_too() {
    let mut instance = hidden().factory().instance();
    answers(&mut instance, &[reset(0)]);
    assert_eq!(decide(&mut instance, 0, 0.0).steer, 111_111.0);
    assert_eq!(decide(&mut instance, 0, 0.0).steer, 222_222.0);
    save(&mut instance, 0, 1);
    for branch in [0, 1, 0] {
        answers(&mut instance, &[Op::Load { token: 1, branch }]);
        assert_eq!(decide(&mut instance, branch, 0.0).steer, 333_333.0);
        assert_eq!(decide(&mut instance, branch, 0.0).steer, 444_444.0);
    }
    answers(&mut instance, &[reset(1)]);
    assert_eq!(decide(&mut instance, 1, 0.0).steer, 111_111.0, "a reset forgets everything");
    assert_eq!(decide(&mut instance, 0, 0.0).steer, 555_555.0, "and concerns no other branch");
}

#[test]
fn equal_states_have_equal_bytes_whatever_the_way_there() {
    let mut instance = scribbler().factory().instance();
    let state = |instance: &mut WasmInstance, writes: &[f64]| {
        answers(instance, &[reset(0)]);
        for &lateral in writes {
            decide(instance, 0, lateral);
        }
        save(instance, 0, 9)
    };
    let ab = state(&mut instance, &[write(9000, 1), write(500_000, 2)]);
    let ba = state(&mut instance, &[write(500_000, 2), write(9000, 1)]);
    let detour = state(&mut instance, &[write(700_000, 3), write(9000, 1), write(500_000, 2), write(700_000, 0)]);
    let other = state(&mut instance, &[write(9000, 1), write(500_000, 3)]);
    let elsewhere = state(&mut instance, &[write(9001, 1), write(500_000, 2)]);
    assert_eq!((&ab, &ab), (&ba, &detour));
    assert_ne!(ab, other);
    assert_ne!(ab, elsewhere);
    assert_eq!(state(&mut instance, &[]), state(&mut instance, &[write(8000, 0)]), "a zero on zero changes nothing");
}

#[test]
fn memory_that_grew_shrinks_again_when_an_older_state_is_loaded() {
    let mut instance = scribbler().factory().instance();
    answers(&mut instance, &[reset(0)]);
    let small = decide(&mut instance, 0, write(9216, 1)).steer;
    save(&mut instance, 0, 1);
    answers(&mut instance, &[Op::Load { token: 1, branch: 0 }]);
    decide(&mut instance, 0, write(16 << 16, 0));
    let large = decide(&mut instance, 0, write(16 << 16, 77)).steer;
    save(&mut instance, 0, 2);
    assert_ne!(small, large);
    for _ in 0..2 {
        answers(&mut instance, &[Op::Load { token: 1, branch: 0 }]);
        assert_eq!(decide(&mut instance, 0, write(9216, 1)).steer, small);
        answers(&mut instance, &[Op::Load { token: 2, branch: 0 }]);
        assert_eq!(decide(&mut instance, 0, write(16 << 16, 77)).steer, large);
    }
}

/// Branches as lists of what was written, done anew from the start: the slow truth.
fn replayed(writes: &[f64], instance: &mut WasmInstance) -> f64 {
    answers(instance, &[reset(0)]);
    writes.iter().map(|&lateral| decide(instance, 0, lateral).steer).last().unwrap_or(0.0)
}

#[test]
fn random_branching_equals_running_every_path_from_the_start() {
    let factory = scribbler().factory();
    let (mut quick, mut truth) = (factory.instance(), factory.instance());
    let mut dice = Dice(7);
    let mut saved: Vec<Vec<f64>> = vec![Vec::new()];
    answers(&mut quick, &[reset(0), Op::Save { branch: 0, token: 0 }]);
    for token in 1..250_u32 {
        let parent = dice.below(saved.len().min(40)) + saved.len().saturating_sub(40);
        let branch = dice.below(5) as u32;
        let mut path = saved[parent].clone();
        let mut ops = vec![Op::Load { token: parent as u32, branch }];
        for _ in 0..dice.below(4) {
            // One in sixteen is beyond memory and makes it grow.
            let address = dice.below(17 << 16) as u32 & !0x1ff;
            let lateral = write(if address < 8192 { 8192 } else { address }, dice.below(3) as u8);
            path.push(lateral);
            ops.push(step(branch, lateral));
        }
        ops.push(Op::Save { branch, token });
        let given = answers(&mut quick, &ops);
        if let Some(Answer::Decision(decision)) = given.iter().rev().nth(1) {
            assert_eq!(decision.steer, replayed(&path, &mut truth), "token {token}: {path:?}");
        }
        saved.push(path);
    }
}

#[test]
fn saved_states_share_what_they_have_in_common() {
    let mut instance = scribbler().factory().instance();
    answers(&mut instance, &[reset(0)]);
    for page in 0..100 {
        decide(&mut instance, 0, write(100_000 + page * 4096, 1));
    }
    save(&mut instance, 0, 0);
    let first = instance.saved_bytes();
    assert!((400_000..500_000).contains(&first), "a hundred pages: {first}");
    for token in 1..=100 {
        answers(&mut instance, &[Op::Load { token: token - 1, branch: 0 }]);
        decide(&mut instance, 0, write(100_000 + token, 2));
        save(&mut instance, 0, token);
    }
    let added = instance.saved_bytes() - first;
    assert!(added <= 100 * 4096, "each of a hundred states of 1 MiB adds the page that changed: {added}");
    answers(&mut instance, &[Op::Drop { tokens: (0..100).collect() }]);
    assert!(instance.saved_bytes() <= first, "what nobody needs is gone");
}

#[test]
fn what_is_said_to_be_scratch_does_not_tell_states_apart() {
    let scratch = r#"(func (export "anabranch_scratch") (result i64) (i64.const 0x00080064_00020010))"#;
    let wat = |extra| Wat { extra, ..scribbler() }.factory().instance();
    let state = |instance: &mut WasmInstance, lateral| {
        answers(instance, &[reset(0)]);
        decide(instance, 0, lateral);
        save(instance, 0, 0)
    };
    let (low, high) = (0x0002_0010, 0x0008_0064);
    let mut claims = wat(scratch);
    let fresh = state(&mut claims, write(low, 0));
    assert_eq!(fresh, state(&mut claims, write(low, 1)));
    assert_eq!(fresh, state(&mut claims, write(0x0004_5678, 1)));
    assert_eq!(fresh, state(&mut claims, write(high - 1, 1)));
    assert_ne!(fresh, state(&mut claims, write(low - 1, 1)));
    assert_ne!(fresh, state(&mut claims, write(high, 1)));
    let mut does_not = wat("");
    assert_ne!(state(&mut does_not, write(low, 1)), state(&mut does_not, write(low, 0)));
}

#[test]
fn bulk_instructions_do_what_they_did() {
    let step = "(memory.init $d (i32.const 20000) (i32.const 1) (i32.const 3))
                (memory.copy (i32.const 20002) (i32.const 20000) (i32.const 3))
                (memory.fill (i32.const 20005) (i32.const 200) (i32.const 300))
                (if (i32.eqz (i32.load8_u (i32.const 20304))) (then unreachable))
                (if (i32.load8_u (i32.const 20305)) (then unreachable))
                (f64.store (local.get $out) (f64.convert_i64_u (i64.load (i32.const 20000))))";
    let mut instance = Wat { extra: r#"(data $d "\01\02\03\04\05")"#, step, ..Wat::default() }.factory().instance();
    answers(&mut instance, &[reset(0)]);
    let expected = u64::from_le_bytes([2, 3, 2, 3, 4, 200, 200, 200]) as f64;
    assert_eq!(decide(&mut instance, 0, 0.0).steer, expected);
    answers(&mut instance, &[reset(0)]);
    assert_eq!(decide(&mut instance, 0, 0.0).steer, expected, "passive segments are still there after a reset");
}

#[test]
fn numbers_that_are_none_have_one_form() {
    // The processor's own 0/0 has its sign set on x86 and not on ARM; the module sees the same bits on both.
    let step = "(f64.store (local.get $out) (f64.convert_i64_u (i64.shr_u (i64.reinterpret_f64
                  (f64.div (f64.load offset=144 (local.get $seen)) (f64.load offset=144 (local.get $seen)))) (i64.const 48))))";
    let mut instance = Wat { step, ..Wat::default() }.factory().instance();
    answers(&mut instance, &[reset(0)]);
    assert_eq!(decide(&mut instance, 0, 0.0).steer, f64::from(0x7ff8));
    assert_eq!(decide(&mut instance, 0, -0.0).steer, f64::from(0x7ff8));
}

/// A module that stores in this way where it is told to be beside its path, and always steers by what lies there.
fn storing(store: &str) -> WasmFactory {
    let step = format!(
        "(if (f64.gt (f64.load offset=144 (local.get $seen)) (f64.const 0)) (then {store}))
         (f64.store (local.get $out) (f64.convert_i64_u (i64.add
           (i64.mul (i64.load (i32.const 69624)) (i64.const 31)) (i64.load (i32.const 69632)))))"
    );
    let extra = "(data $d \"segment\") (global $lanes v128 (v128.const i64x2 77 88))";
    let text = Wat { extra, step: "STEP", ..Wat::default() }.text().replace("STEP", &step);
    WasmFactory::new(&wat::parse_str(text).unwrap(), WasmLimits::default()).unwrap()
}

#[test]
fn every_kind_of_store_is_noticed_even_across_pages() {
    // Two bytes before the end of a page.
    let at = "offset=4094 (i32.const 65536)";
    let mut stores = vec![
        "(memory.fill (i32.const 69630) (i32.const 9) (i32.const 4))".to_owned(),
        "(memory.copy (i32.const 69630) (i32.const 16) (i32.const 4))".to_owned(),
        "(memory.init $d (i32.const 69630) (i32.const 0) (i32.const 4))".to_owned(),
        format!("(f32.store {at} (f32.const 1.5))"),
        format!("(f64.store {at} (f64.const 1.7))"),
        format!("(v128.store {at} (global.get $lanes))"),
        "(i32.store (i32.const 69630) (i32.const -5))".to_owned(),
    ];
    stores
        .extend(["i32.store", "i32.store8", "i32.store16"].map(|name| format!("({name} {at} (i32.const 0x1234567))")));
    let wide = ["i64.store", "i64.store8", "i64.store16", "i64.store32"];
    stores.extend(wide.map(|name| format!("({name} {at} (i64.const 0x123456789))")));
    let lanes = ["v128.store8_lane", "v128.store16_lane", "v128.store32_lane", "v128.store64_lane"];
    stores.extend(lanes.map(|name| format!("({name} offset=4094 0 (i32.const 65536) (global.get $lanes))")));
    assert_eq!(stores.len(), 18);
    for store in stores {
        let mut instance = storing(&store).instance();
        answers(&mut instance, &[reset(0), Op::Save { branch: 0, token: 0 }, Op::Load { token: 0, branch: 0 }]);
        let written = decide(&mut instance, 0, 1.0).steer;
        assert_ne!(written, 0.0, "{store}");
        save(&mut instance, 0, 1);
        for (token, expected) in [(0, 0.0), (1, written), (0, 0.0)] {
            answers(&mut instance, &[Op::Load { token, branch: 0 }]);
            assert_eq!(decide(&mut instance, 0, 0.0).steer, expected, "{store}");
        }
    }
}

#[test]
fn a_thousand_branches_step_in_one_message() {
    let mut instance = hidden().factory().instance();
    answers(&mut instance, &[reset(0), step(0, 0.0), Op::Save { branch: 0, token: 0 }]);
    let mut ops: Vec<Op> = (0..1000).map(|branch| Op::Load { token: 0, branch }).collect();
    for _ in 0..2 {
        ops.extend((0..1000).map(|branch| step(branch, 0.0)));
    }
    ops.extend((0..1000).map(|branch| Op::Save { branch, token: branch + 1 }));
    let all = answers(&mut instance, &ops);
    let steers = |answers: &[Answer]| {
        let steer = |answer: &Answer| matches!(answer, Answer::Decision(decision) if decision.steer == 333_333.0);
        answers.iter().filter(|answer| steer(answer)).count()
    };
    assert_eq!((steers(&all[1000..2000]), steers(&all[2000..3000])), (0, 1000));
    assert!(all[3000..].iter().all(|answer| *answer == all[3000]), "they all have the same canonical bytes");
}
