//! Exported text, compiled by the compiler of its language, computes the same bits.

mod common;

use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

use anabranch_program::export::{ExportError, Language, export};
use anabranch_program::{ArrayOp, Builder, Draw, Expr, FaultKind, Now, Program, Stmt, Unary};
use common::{Dice, Without, program};

const TICKS: u64 = 3;

/// What the interpreter computes: for each tick the kind of fault, then all numbers.
fn expected(seed: u64, program: &Program) -> String {
    let mut dice = Dice(!seed);
    let mut memory = program.memory();
    let mut text = String::new();
    for tick in 0..TICKS {
        memory.inputs().fill_with(|| dice.number());
        let result = program.tick(&mut memory, Now { tick, ..Now::default() });
        let kind = match result {
            Ok(()) => 0,
            Err(fault) => match fault.kind {
                FaultKind::Index { .. } => 1,
                FaultKind::LoopBounds => 2,
                FaultKind::TooManyRounds => 3,
                FaultKind::Required { .. } => 4,
                FaultKind::NotFinite { .. } => 8,
                other => panic!("{other:?} is not exported"),
            },
        };
        write!(text, "{kind}").unwrap();
        for value in memory.all() {
            let bits = if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() };
            write!(text, " {bits:x}").unwrap();
        }
        text.push('\n');
        if kind != 0 {
            break;
        }
    }
    text
}

/// The inputs of all ticks, as bits in a list.
fn inputs(seed: u64, program: &Program) -> (String, usize) {
    let mut dice = Dice(!seed);
    let count = program.memory().inputs().len();
    let list: Vec<String> = (0..TICKS as usize * count).map(|_| format!("0x{:x}", dice.number().to_bits())).collect();
    (list.join(", "), count)
}

fn first_input(program: &Program) -> usize {
    program.layout().range(anabranch_program::Region::Input).start
}

/// A C function that prints what a program computes.
fn c_test(seed: u64, program: &Program) -> String {
    let (list, count) = inputs(seed, program);
    let text = export(program, Language::C, &format!("p{seed}")).unwrap();
    format!(
        "{text}
static void test{seed}(void) {{
    static double m[P{seed}_SLOTS];
    static const unsigned long long inputs[] = {{{list}}};
    p{seed}_fault fault;
    p{seed}_start(m);
    for (int tick = 0; tick < {TICKS}; tick++) {{
        memcpy(m + {first}, inputs + tick * {count}, {count} * sizeof(double));
        int kind = p{seed}_tick(m, tick, &fault);
        show(kind, m, {total});
        if (kind != 0) {{ break; }}
    }}
}}
",
        first = first_input(program),
        total = program.layout().total(),
    )
}

const C_OPENING: &str = r#"#include <stdio.h>
#include <string.h>
#include <math.h>
static void show(int kind, const double *m, int count) {
    printf("%d", kind);
    for (int k = 0; k < count; k++) {
        unsigned long long bits = 0x7ff8000000000000ULL;
        if (!isnan(m[k])) { memcpy(&bits, m + k, 8); }
        printf(" %llx", bits);
    }
    printf("\n");
}
"#;

fn rust_test(seed: u64, program: &Program) -> String {
    let (list, count) = inputs(seed, program);
    let text = export(program, Language::Rust, &format!("p{seed}")).unwrap();
    format!(
        "{text}
fn test{seed}() {{
    let mut m = vec![0.0_f64; P{seed}_SLOTS];
    let inputs: [u64; {all}] = [{list}];
    p{seed}_start(&mut m);
    for tick in 0..{TICKS}_usize {{
        for k in 0..{count} {{ m[{first} + k] = f64::from_bits(inputs[tick * {count} + k]); }}
        let kind = p{seed}_tick(&mut m, tick as f64).map_or_else(|fault| fault[0], |()| 0);
        show(kind, &m);
        if kind != 0 {{ break; }}
    }}
}}
",
        all = TICKS as usize * count,
        first = first_input(program),
    )
}

const RUST_OPENING: &str = r#"fn show(kind: u32, m: &[f64]) {
    print!("{kind}");
    for x in m { print!(" {:x}", if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }); }
    println!();
}
"#;

/// Compiles a text and runs it. Nothing if the compiler is not installed.
fn run(compiler: &str, options: &[&str], file: &str, text: &str) -> Option<String> {
    if Command::new(compiler).arg("--version").output().is_err() {
        eprintln!("{compiler} is not installed: its language is not checked");
        return None;
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let source = folder.join(file);
    let binary = source.with_extension("bin");
    std::fs::write(&source, text).unwrap();
    let output = Command::new(compiler).args(options).arg("-o").arg(&binary).arg(&source).args(link(compiler)).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = Command::new(&binary).output().unwrap();
    assert!(output.status.success());
    Some(String::from_utf8(output.stdout).unwrap())
}

fn link(compiler: &str) -> &'static [&'static str] {
    if compiler == "cc" { &["-lm"] } else { &[] }
}

fn check(seeds: std::ops::Range<u64>, language: Language, run: impl Fn(&str) -> Option<String>) {
    let without = Without { library_functions: true, linear_algebra: true };
    let mut text = String::from(if language == Language::C { C_OPENING } else { RUST_OPENING });
    let mut wanted = String::new();
    for seed in seeds.clone() {
        let program = program(seed, without);
        wanted.push_str(&expected(seed, &program));
        text.push_str(&if language == Language::C { c_test(seed, &program) } else { rust_test(seed, &program) });
    }
    let calls: String = seeds.map(|seed| format!("test{seed}();\n")).collect();
    text.push_str(&match language {
        Language::C => format!("int main(void) {{ {calls} return 0; }}"),
        Language::Rust => format!("fn main() {{ {calls} }}"),
    });
    let Some(seen) = run(&text) else { return };
    for (number, (seen, wanted)) in seen.lines().zip(wanted.lines()).enumerate() {
        assert_eq!(seen, wanted, "line {number}");
    }
    assert_eq!(seen.lines().count(), wanted.lines().count());
}

#[test]
fn exported_c_computes_the_same_bits() {
    let options = ["-std=c99", "-O1", "-ffp-contract=off"];
    check(0..60, Language::C, |text| run("cc", &options, "random.c", text));
}

#[test]
fn exported_rust_computes_the_same_bits() {
    check(100..115, Language::Rust, |text| run("rustc", &["--edition=2021", "--cap-lints=allow"], "random.rs", text));
}

#[test]
fn functions_of_the_library_agree_closely() {
    let functions: Vec<Unary> = Unary::ALL.into_iter().filter(|&f| f != Unary::Acosh).collect();
    let mut builder = Builder::new("functions");
    let input = builder.input("u", &[0.7]).start;
    let outputs = builder.output("y", &vec![0.0; functions.len()]);
    let body = functions.iter().enumerate();
    let body = body.map(|(k, &f)| Stmt::set(outputs.at(k as u32), Expr::unary(f, input))).collect();
    builder.step("all", body);
    let program = builder.finish().unwrap();
    let mut memory = program.memory();
    program.tick(&mut memory, Now::default()).unwrap();
    let first = program.layout().range(anabranch_program::Region::Output).start;
    let text = format!(
        "{}#include <stdio.h>\nint main(void) {{ double m[F_SLOTS]; f_fault fault; f_start(m); f_tick(m, 0, &fault);
        for (int k = 0; k < {}; k++) {{ printf(\"%.17g\\n\", m[{first} + k]); }} return 0; }}",
        export(&program, Language::C, "f").unwrap(),
        functions.len()
    );
    let Some(seen) = run("cc", &["-std=c99", "-ffp-contract=off"], "functions.c", &text) else { return };
    for ((line, value), function) in seen.lines().zip(memory.outputs()).zip(&functions) {
        let seen: f64 = line.parse().unwrap();
        assert!((seen - value).abs() <= 4.0 * f64::EPSILON * value.abs().max(1.0), "{function:?}: {seen} and {value}");
    }
    assert_eq!(seen.lines().count(), functions.len());
}

#[test]
fn what_has_no_text_is_refused_by_name() {
    let mut builder = Builder::new("test");
    let x = builder.state("x", &[1.0; 4]);
    builder.step("noise", vec![Stmt::set(x.start, Expr::Draw(Draw::Normal))]);
    builder.step("turn", vec![ArrayOp::Inverse { to: x.matrix(2, 2), from: x.matrix(2, 2) }.into()]);
    let program = builder.finish().unwrap();
    let error = export(&program, Language::C, "p").unwrap_err();
    assert_eq!(error.to_string(), "step noise uses random numbers, which is not exported");
    assert_eq!(export(&program, Language::C, "1p"), Err(ExportError::Prefix("1p".to_owned())));
}
