//! Modules that misbehave: each is told by its kind, none harms its host.

use anabranch_bridge::wasm::{WasmFactory, WasmLimits, factory};
use anabranch_bridge::{Answer, Begin, Instance, Kind, Misbehaviour, Op, Seen};

use crate::support::{Wat, answers, decide, fault, reset, reset_with, step};

const LOG: &str = r#"(import "anabranch" "log" (func $log (param i32 i32)))"#;

fn limits() -> WasmLimits {
    WasmLimits {
        fuel_per_call: 1_000_000,
        fuel_to_start: 1_000_000,
        memory_bytes_max: 8 << 20,
        ..WasmLimits::default()
    }
}

/// A module that does not even start; `says` is part of the text.
#[track_caller]
fn check_start(wat: &Wat, kind: Kind, says: &str) {
    check_bytes(&wat.bytes(), kind, says);
}

#[track_caller]
fn check_bytes(bytes: &[u8], kind: Kind, says: &str) {
    let fault = WasmFactory::new(bytes, limits()).expect_err("it must be refused");
    assert_eq!(fault.kind, kind, "{fault}");
    assert!(fault.text.contains(says), "{says:?} is not in {:?}", fault.text);
}

/// A module that misbehaves in its first step.
#[track_caller]
fn check_step(wat: &Wat, kind: Kind, says: &str) -> Misbehaviour {
    let factory = WasmFactory::new(&wat.bytes(), limits()).unwrap_or_else(|fault| panic!("{fault}"));
    let mut instance = factory.instance();
    answers(&mut instance, &[reset(0)]);
    let first = fault(&mut instance, &[step(0, 1.0)]);
    assert_eq!(first.kind, kind, "{first}");
    assert!(first.text.contains(says), "{says:?} is not in {:?}", first.text);
    let mut again = factory.instance();
    answers(&mut again, &[reset(0)]);
    assert_eq!(fault(&mut again, &[step(0, 1.0)]), first, "a new instance does the same");
    first
}

fn stepping(step: &'static str) -> Wat {
    Wat { step, ..Wat::default() }
}

fn with(extra: &'static str) -> Wat {
    Wat { extra, ..Wat::default() }
}

#[test]
fn a_trap_is_a_crash_with_the_stack_of_the_module() {
    let wat = Wat { extra: "(func $deep unreachable)", step: "(call $deep)", ..Wat::default() };
    check_step(&wat, Kind::Crash, "unreachable");
    check_step(&wat, Kind::Crash, "!deep");
    check_step(&stepping("(drop (i32.div_u (i32.const 1) (i32.const 0)))"), Kind::Crash, "divide by zero");
    check_step(&stepping("(drop (i32.trunc_f64_s (f64.const nan)))"), Kind::Crash, "conversion");
    check_step(&stepping("(drop (i32.load (i32.const -4)))"), Kind::Crash, "out of bounds");
    check_step(&stepping("(f64.store (i32.const 0x0fff_0000) (f64.const 1))"), Kind::Crash, "out of bounds");
}

#[test]
fn a_stack_without_end_is_a_crash() {
    let wat = Wat {
        extra: "(func $f (param i32) (result i32) (i32.add (i32.const 1) (call $f (local.get 0))))",
        step: "(drop (call $f (i32.const 1)))",
        ..Wat::default()
    };
    let factory = WasmFactory::new(&wat.bytes(), WasmLimits::default()).unwrap();
    let mut instance = factory.instance();
    answers(&mut instance, &[reset(0)]);
    let fault = fault(&mut instance, &[step(0, 1.0)]);
    assert_eq!((fault.kind, fault.text.contains("call stack exhausted")), (Kind::Crash, true), "{fault}");
    assert!(fault.text.len() < 10_000, "of a long stack the beginning is told");
}

#[test]
fn an_endless_loop_is_a_hang() {
    check_step(&stepping("(loop (br 0))"), Kind::Hang, "fuel");
    let wat = Wat { reset: "(loop (br 0))", ..Wat::default() };
    let mut instance = WasmFactory::new(&wat.bytes(), limits()).unwrap().instance();
    assert_eq!(fault(&mut instance, &[reset(0)]).kind, Kind::Hang);
}

#[test]
fn work_on_many_bytes_costs_as_many_units() {
    let filling = stepping("(loop (memory.fill (i32.const 8192) (i32.const 7) (i32.const 1000000)) (br 0))");
    check_step(&filling, Kind::Hang, "fuel");
    let copying = stepping("(loop (memory.copy (i32.const 8192) (i32.const 9000) (i32.const 1000000)) (br 0))");
    check_step(&copying, Kind::Hang, "fuel");
}

#[test]
fn a_memory_that_grows_without_end_is_told_as_memory() {
    let bomb = stepping("(loop (drop (memory.grow (i32.const 16))) (br 0))");
    check_step(&Wat { memory: "16", ..bomb.clone() }, Kind::Memory, "8388608");
    check_step(
        &Wat { memory: "16", step: "(drop (memory.grow (i32.const -1)))", ..bomb.clone() },
        Kind::Memory,
        "memory",
    );
    // Beyond its own maximum a module gets its own "no", as the language has it; then it loops.
    check_step(&bomb, Kind::Hang, "fuel");
}

#[test]
fn too_much_memory_or_too_large_a_table_is_refused_at_the_start() {
    check_start(&Wat { memory: "1000", ..Wat::default() }, Kind::Memory, "65536000");
    check_start(&with("(table 10000000 funcref)"), Kind::Memory, "10000000");
}

#[test]
fn pointers_that_lead_nowhere_are_malformed() {
    let trajectory = "(i32.store offset=40 (local.get $out) (i32.const -64))
                      (i32.store offset=44 (local.get $out) (i32.const 3))";
    check_step(&stepping(trajectory), Kind::Malformed, "trajectory");
    let long = "(i32.store offset=44 (local.get $out) (i32.const 100000000))";
    check_step(&stepping(long), Kind::Oversized, "100000000");
    check_start(&Wat { room: "0x0000100000ffff00", ..Wat::default() }, Kind::Malformed, "anabranch_room");
    check_start(&Wat { room: "0x0000100000000401", ..Wat::default() }, Kind::Malformed, "anabranch_room");
    check_start(&with(r#"(func (export "anabranch_scratch") (result i64) (i64.const 8))"#), Kind::Malformed, "scratch");
    let wat = Wat { imports: LOG, ..stepping("(call $log (i32.const -1) (i32.const 100))") };
    check_step(&wat, Kind::Malformed, "100 bytes at address 4294967295");
    let text = Wat::default().text().replace("(i32.const 16))\n", "(i32.const -16))\n");
    check_bytes(&wat::parse_str(text).unwrap(), Kind::Malformed, "address 4294967280");
}

#[test]
fn odd_values_are_out_of_range() {
    check_step(&stepping("(f64.store offset=16 (local.get $out) (f64.const 7))"), Kind::OutOfRange, "gear");
    check_step(&stepping("(f64.store offset=24 (local.get $out) (f64.const 0.5))"), Kind::OutOfRange, "completed");
    check_step(&stepping("(f64.store offset=24 (local.get $out) (f64.const nan))"), Kind::NotANumber, "completed");
}

#[test]
fn a_flood_of_output_is_told_with_its_end() {
    let wat = Wat { imports: LOG, step: "(loop (call $log (i32.const 16) (i32.const 4)) (br 0))", ..Wat::default() };
    let fault = check_step(&wat, Kind::Flood, "output");
    let output = fault.output.unwrap();
    assert!(output.contains("{\"na") && output.len() <= 64 << 10, "{} bytes", output.len());
    let silent = Wat { step: "(loop (call $log (i32.const 16) (i32.const 0)) (br 0))", ..wat };
    check_step(&silent, Kind::Flood, "output");
}

#[test]
fn imports_other_than_ours_are_refused_by_name() {
    let wat = |imports| Wat { imports, ..Wat::default() };
    check_start(
        &wat(r#"(import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))"#),
        Kind::NoStart,
        "`wasi_snapshot_preview1.fd_write`",
    );
    check_start(&wat(r#"(import "env" "clock" (func (result f64)))"#), Kind::NoStart, "`env.clock`");
    check_start(&wat(r#"(import "anabranch" "log" (func (param i64)))"#), Kind::NoStart, "`anabranch.log`");
    check_start(&wat(r#"(import "env" "counter" (global (mut i32)))"#), Kind::NoStart, "`env.counter`");
    check_start(&wat(r#"(import "env" "table" (table 1 funcref))"#), Kind::NoStart, "`env.table`");
}

#[test]
fn functions_that_are_missing_or_others_are_named() {
    let without = |name: &str| wat::parse_str(Wat::default().text().replace(name, "something_else")).unwrap();
    for name in ["anabranch_version", "anabranch_card", "anabranch_room", "anabranch_reset", "anabranch_step"] {
        check_bytes(&without(name), Kind::NoStart, name);
    }
    check_bytes(b"#!/usr/bin/env python3\n", Kind::Malformed, "no valid module");
    let text = Wat::default().text().replace("(export \"memory\")", "(export \"storage\")");
    check_bytes(&wat::parse_str(text).unwrap(), Kind::NoStart, "`memory`");
    let text =
        Wat::default().text().replace("(param $seen i32) (param $out i32)", "(param $seen i32) (param $out f64)");
    check_bytes(&wat::parse_str(text).unwrap(), Kind::NoStart, "`anabranch_step`");
}

#[test]
fn another_version_is_refused() {
    check_start(&Wat { version: "2", ..Wat::default() }, Kind::WrongVersion, "version 2");
}

#[test]
fn a_card_that_makes_no_sense_is_malformed() {
    let wat = |card| Wat { card, ..Wat::default() };
    check_start(&wat("name = test"), Kind::Malformed, "the card");
    check_start(&wat(""), Kind::Malformed, "the card");
    check_start(&wat("{\\22name\\22: \\22x\\22, \\22nmae\\22: 1}"), Kind::Malformed, "nmae");
    check_start(&wat("{\\22name\\22: \\22x\\22, \\22wants\\22: [\\22money\\22]}"), Kind::Malformed, "money");
    check_start(&wat("{\\22name\\22: \\22x\\22, \\22cycle_s\\22: -1}"), Kind::OutOfRange, "cycle_s");
}

#[test]
fn a_start_function_that_loops_or_traps_is_told() {
    check_start(&with("(func $s (loop (br 0))) (start $s)"), Kind::Hang, "starting the module");
    check_start(&with("(func $s unreachable) (start $s)"), Kind::Crash, "starting the module");
    check_start(&with("(data (i32.const 0x7fffffff) \"beyond\")"), Kind::Crash, "out of bounds");
}

#[test]
fn state_that_could_not_be_saved_is_refused() {
    let table = "(table $t 4 4 funcref) (elem declare func $f) (func $f)";
    let wat = |extra: String, step: &'static str| {
        let text = Wat { step, ..Wat::default() }.text().replace("(data (i32", &format!("{extra} (data (i32"));
        wat::parse_str(text).unwrap_or_else(|error| panic!("{error}"))
    };
    let table = |step| wat(table.to_owned(), step);
    check_bytes(&table("(table.set $t (i32.const 0) (ref.func $f))"), Kind::NoStart, "`table.set` at byte");
    check_bytes(&table("(table.fill $t (i32.const 0) (ref.func $f) (i32.const 2))"), Kind::NoStart, "`table.fill`");
    check_bytes(&table("(table.copy (i32.const 0) (i32.const 1) (i32.const 2))"), Kind::NoStart, "`table.copy`");
    check_bytes(&table("(drop (table.grow $t (ref.null func) (i32.const 0)))"), Kind::NoStart, "`table.grow`");
    let passive = "(data $d \"passive\")".to_owned();
    check_bytes(&wat(passive, "(data.drop $d)"), Kind::NoStart, "`data.drop`");
    let global = "(global $g (mut funcref) (ref.null func))".to_owned();
    check_bytes(&wat(global, ""), Kind::NoStart, "global 0 holds a reference");
    check_start(&with("(memory $second 1)"), Kind::NoStart, "2 memories");
}

#[test]
fn what_the_language_leaves_open_is_refused() {
    let relaxed = "(drop (f32x4.relaxed_madd (v128.const i64x2 0 0) (v128.const i64x2 0 0) (v128.const i64x2 0 0)))";
    check_start(&stepping(relaxed), Kind::Malformed, "relaxed");
    check_start(&Wat { memory: "1 2 shared", ..Wat::default() }, Kind::Malformed, "thread");
}

#[test]
fn a_driver_may_say_itself_that_it_failed() {
    let wat =
        Wat { imports: LOG, step: "(call $log (i32.const 18) (i32.const 4)) (return (i32.const 3))", ..Wat::default() };
    let mut instance = wat.factory().instance();
    let all = answers(&mut instance, &[reset(0), step(0, 0.0), step(0, 0.0)]);
    let text = "anabranch_step returned 3: name".to_owned();
    assert_eq!(all, [Answer::Done {}, Answer::Failed { text: text.clone() }, Answer::Failed { text }]);
}

#[test]
fn what_does_not_fit_into_the_room_is_told_with_the_way_out() {
    let mut instance = Wat::default().factory().instance();
    let begin = Begin { walls: vec![[0.0; 4]; 1000], ..Begin::default() };
    let fault = fault(&mut instance, &[reset_with(0, &begin)]);
    assert_eq!(fault.kind, Kind::BrokenPromise);
    assert!(fault.text.contains("ANABRANCH_ROOM_BYTES") && fault.text.contains("32"), "{fault}");
}

#[test]
fn questions_about_branches_that_are_not_there_are_answered() {
    let mut instance = Wat::default().factory().instance();
    let ops = [
        Op::Step { branch: 3, seen: Box::new(Seen::default()) },
        Op::Load { token: 8, branch: 0 },
        Op::Save { branch: 1, token: 1 },
        Op::Run { branch: 0, modes: vec![0], record: false },
        Op::Drop { tokens: vec![1, 2, 3] },
        Op::Describe {},
        Op::Bye {},
    ];
    let all = answers(&mut instance, &ops);
    assert!(all[..4].iter().all(|answer| matches!(answer, Answer::Failed { .. })), "{all:?}");
    assert!(matches!(&all[5], Answer::Card(card) if **card == *instance.card()));
}

#[test]
fn a_file_that_is_not_there_or_too_large_is_told() {
    let nowhere = std::path::Path::new("nowhere/av.wasm");
    let fault = factory(nowhere, limits()).unwrap_err();
    assert_eq!(fault.kind, Kind::NoStart);
    assert!(fault.text.starts_with("nowhere/av.wasm: "), "{fault}");
    let limits = WasmLimits { module_bytes_max: 100, ..limits() };
    assert_eq!(WasmFactory::new(&Wat::default().bytes(), limits).unwrap_err().kind, Kind::Oversized);
}

#[test]
fn a_key_that_is_not_set_is_no_number() {
    let card = "{\\22name\\22: \\22x\\22, \\22key\\22: [{\\22name\\22: \\22a\\22}, {\\22name\\22: \\22b\\22}]}";
    let wat = Wat { card, step: "(f64.store (i32.load offset=32 (local.get $out)) (f64.const 4))", ..Wat::default() };
    let mut instance = wat.factory().instance();
    answers(&mut instance, &[reset(0)]);
    let decision = decide(&mut instance, 0, 0.0);
    assert_eq!(decision.key[0], 4.0);
    assert!(decision.key[1].is_nan());
}
