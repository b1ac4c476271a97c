//! Damaged models: reading, formatting and building end with an answer, whatever the text.

use std::path::{Path, PathBuf};

use anabranch_language::syntax::{parse, tokens};
use anabranch_language::{Library, Options, check_library, format};

/// A small generator of its own: one seed, one run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

const PIECES: [&str; 40] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ";",
    ",",
    ":",
    ".",
    "=",
    "->",
    "tick",
    "end",
    "if ",
    "for ",
    "static ",
    "Q",
    "Z^{2,2}",
    "'",
    "+/-",
    "-",
    "1e308",
    "0",
    "oo",
    "km/h",
    "°",
    "component A ",
    "ports in Q x,",
    "connect ",
    "instance ",
    "implementation Math {",
    "\"",
    "/*",
    "*/",
    "//",
    "é",
    "\u{0}",
];

fn damage(text: &str, chance: &mut Chance) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..=chance.below(4) {
        let at = chance.below(text.len() + 1);
        let to = (at + chance.below(12)).min(text.len());
        match chance.below(4) {
            0 => drop(text.drain(at..to)),
            1 => text.splice(at..at, PIECES[chance.below(PIECES.len())].chars()).for_each(drop),
            2 => {
                let copied: Vec<char> = text[at..to].to_vec();
                let there = chance.below(text.len() + 1);
                text.splice(there..there, copied).for_each(drop);
            }
            _ => {
                let from = chance.below(text.len() + 1);
                let repeated: Vec<char> = text[from..(from + 3).min(text.len())].repeat(chance.below(60));
                text.splice(at..at, repeated).for_each(drop);
            }
        }
    }
    text.into_iter().collect()
}

fn models() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models");
    Library::open(&folder).unwrap().files().map(|(_, f)| (f.path.clone(), f.text.clone())).collect()
}

fn rounds(usual: usize) -> usize {
    std::env::var("ANABRANCH_FUZZ_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// Reads, lays out and reads again what became of one model. Returns how many bytes it had.
fn read_damaged(models: &[(PathBuf, String)], chance: &mut Chance) -> usize {
    let text = damage(&models[chance.below(models.len())].1, chance);
    let all: String = tokens(&text).iter().map(|t| &text[t.span.range()]).collect();
    assert_eq!(all, text);
    let parsed = parse(&text);
    assert!(parsed.problems.iter().all(|p| p.span.start <= p.span.end && p.span.end as usize <= text.len()), "{text}");
    let formatted = format(&text);
    assert_eq!(format(&formatted), formatted, "{text}");
    text.len()
}

/// Many rounds are shared by all cores; each part has a seed of its own, so that a failure can be had again.
#[test]
fn reading_and_formatting_damaged_models_ends_with_an_answer() {
    const PER_PART: usize = 8_000;
    let (models, rounds) = (models(), rounds(8_000));
    let parts = rounds.div_ceil(PER_PART);
    let next = std::sync::atomic::AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(1, Into::into);
    std::thread::scope(|scope| {
        for _ in 0..cores.min(parts) {
            scope.spawn(|| {
                loop {
                    let part = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    if part >= parts {
                        return;
                    }
                    let mut chance = Chance(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(2 * part as u64 + 1));
                    let bytes: usize = (0..PER_PART).map(|_| read_damaged(&models, &mut chance)).sum();
                    assert!(bytes > 0);
                    if part % 100 == 99 {
                        eprintln!("{} texts read", (part + 1) * PER_PART);
                    }
                }
            });
        }
    });
}

/// A text that nests without end is answered in the time and memory of its length, on a small stack.
#[test]
fn endless_nesting_is_refused_by_name() {
    const DEPTH: usize = 50_000;
    let math = |inside: String| format!("component A {{ ports out Q y; implementation Math {{ {inside} }} }}");
    let texts = [
        math(format!("y = {}1;", "(".repeat(DEPTH))),
        math(format!("y = {}1;", "-".repeat(DEPTH))),
        math(format!("y = {}1;", "[".repeat(DEPTH))),
        math(format!("y = {}1;", "f(".repeat(DEPTH))),
        math(format!("y = 1{};", "^2".repeat(DEPTH))),
        math(format!("y = 1{};", " + 1".repeat(DEPTH))),
        math("if true ".repeat(DEPTH)),
        math("for i = 1:2 ".repeat(DEPTH)),
        "component A { ".repeat(DEPTH),
        format!("component A {{ ports in {}Q x; }}", "A<".repeat(DEPTH)),
        format!("component A {{ ports in Q({} x; }}", "(".repeat(DEPTH)),
        format!("stream A {{ x: {}1; }}", "[".repeat(DEPTH)),
        format!("stream A {{ x{}: 1; }}", ".x".repeat(DEPTH)),
        format!("struct A {{ {} }}", "Q x; ".repeat(DEPTH)),
    ];
    let worker = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        for text in texts {
            let told = check_library(&Library::of([(PathBuf::from("A.emam"), text.clone())]), &Options::default());
            assert!(told.len() < 2 * DEPTH, "{} mistakes: {}", told.len(), &text[..60]);
            assert!(!format(&text).is_empty());
        }
    });
    worker.unwrap().join().unwrap();
}

#[test]
fn building_damaged_models_ends_with_an_answer() {
    let (models, mut chance) = (models(), Chance(0x2545_f491_4f6c_dd1d));
    for _ in 0..rounds(8_000) / 20 {
        let mut damaged = models.clone();
        let at = chance.below(damaged.len());
        damaged[at].1 = damage(&damaged[at].1, &mut chance);
        let package = damaged[at].0.parent().map(Path::to_owned);
        damaged.retain(|(path, _)| path.parent().map(Path::to_owned) == package);
        for diagnostic in check_library(&Library::of(damaged), &Options::default()) {
            assert!(diagnostic.line > 0 && diagnostic.column > 0, "{diagnostic}");
        }
    }
}

/// Simulations and cars of both spellings, whole, cut off anywhere, and damaged.
#[test]
fn damaged_simulations_and_cars_end_with_an_answer() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/models");
    let names = ["TwoCars.sim", "RainyEvening.sim", "AC-SE001.car", "Taxi.car"];
    let mut texts = names.map(|name| std::fs::read_to_string(folder.join(name)).unwrap()).to_vec();
    texts.push(
        "package a.b;\nimport a.*;\nsim S {\n  weather [fixed { sight [2m, (3m:1m:5m)]; }, random 5s];\n  vehicle 3;\n  \
         pedestrian(1,2)->(3,4);\n  <v>(1,2,3)->(4,5,6) 7;\n  T vehicle { path (0,0)->(9,9); goals [always speed lt 1m/s]; \
         platoon { size 5; }; };\n  fixed channel L { transfer_rate 1Mbit/s; area global; };\n}\n"
            .to_owned(),
    );
    let read = |text: &str| {
        let (_, problems) = anabranch_language::syntax::assembly::parse(text);
        let inside = |span: anabranch_language::syntax::Span| text.get(span.range()).is_some();
        assert!(problems.iter().all(|problem| inside(problem.span)), "{problems:?}\n{text}");
    };
    for text in &texts {
        (0..text.len()).filter_map(|end| text.get(..end)).for_each(read);
        (0..text.len()).filter_map(|start| text.get(start..)).for_each(read);
    }
    let mut chance = Chance(0x0bad_5eed_1234_5678);
    for _ in 0..rounds(8_000) {
        read(&damage(&texts[chance.below(texts.len())], &mut chance));
    }
}
