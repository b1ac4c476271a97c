//! Modules to test with: written as text, or compiled from C.

use std::path::{Path, PathBuf};
use std::process::Command;

use anabranch_bridge::wasm::{WasmFactory, WasmInstance, WasmLimits};
use anabranch_bridge::{Answer, Begin, Decision, Instance, Misbehaviour, Op, Seen};

/// The parts of a module as text; what is not said is that of a driver that does nothing.
#[derive(Clone)]
pub struct Wat {
    /// Comes first, as imports must.
    pub imports: &'static str,
    /// Smallest and largest number of pages of 64 KiB.
    pub memory: &'static str,
    pub version: &'static str,
    pub card: &'static str,
    /// Low half: address, high half: bytes. Here: 4 KiB at 1 KiB.
    pub room: &'static str,
    /// Globals and functions of its own.
    pub extra: &'static str,
    pub reset: &'static str,
    /// `$seen` and `$out` are the addresses.
    pub step: &'static str,
}

impl Default for Wat {
    fn default() -> Self {
        Self {
            imports: "",
            memory: "16 64",
            version: "1",
            card: "{\\22name\\22: \\22test\\22}",
            room: "0x0000100000000400",
            extra: "",
            reset: "",
            step: "",
        }
    }
}

impl Wat {
    /// As text.
    pub fn text(&self) -> String {
        let Self { imports, memory, version, card, room, extra, reset, step } = self;
        format!(
            r#"(module
              {imports}
              (memory (export "memory") {memory})
              (data (i32.const 16) "{card}\00")
              {extra}
              (func (export "anabranch_version") (result i32) (i32.const {version}))
              (func (export "anabranch_card") (result i32) (i32.const 16))
              (func (export "anabranch_room") (result i64) (i64.const {room}))
              (func (export "anabranch_reset") (param $begin i32) (result i32) {reset} (i32.const 0))
              (func (export "anabranch_step") (param $seen i32) (param $out i32) (result i32) {step} (i32.const 0)))"#
        )
    }
    /// As bytes.
    pub fn bytes(&self) -> Vec<u8> {
        wat::parse_str(self.text()).unwrap_or_else(|error| panic!("{error}"))
    }
    /// As a factory that must work.
    pub fn factory(&self) -> WasmFactory {
        WasmFactory::new(&self.bytes(), WasmLimits::default()).unwrap()
    }
}

/// The folder of the whole project.
pub fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compiles C or C++ as `docs/wasm-drivers.md` says.
pub fn compile(source: &Path, name: &str) -> Vec<u8> {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.wasm"));
    let status = Command::new("clang")
        .args([
            "--target=wasm32",
            "-O2",
            "-ffp-contract=off",
            "-nostdlib",
            "-mbulk-memory",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
        ])
        .arg("-I")
        .arg(project().join("c"))
        .args(["-Wl,--no-entry", "-o"])
        .args([&out, source])
        .status()
        .unwrap_or_else(|error| panic!("clang: {error}; install clang and lld, as `cargo xtask test` does"));
    assert!(status.success(), "clang ended with {status}");
    std::fs::read(out).unwrap()
}

/// A branch begins.
pub fn reset(branch: u32) -> Op {
    Op::Reset { branch, begin: Box::default() }
}

/// A branch begins with this.
pub fn reset_with(branch: u32, begin: &Begin) -> Op {
    Op::Reset { branch, begin: Box::new(begin.clone()) }
}

/// A step in which the car is told to be so far beside its path.
pub fn step(branch: u32, lateral: f64) -> Op {
    let mut seen = Seen::default();
    seen.path.lateral = lateral;
    Op::Step { branch, seen: Box::new(seen) }
}

/// Does operations that must work.
pub fn answers(instance: &mut WasmInstance, ops: &[Op]) -> Vec<Answer> {
    let mut answers = Vec::new();
    instance.exchange(ops, &mut answers).unwrap_or_else(|fault| panic!("{fault}"));
    answers
}

/// Does operations that must not.
pub fn fault(instance: &mut WasmInstance, ops: &[Op]) -> Misbehaviour {
    instance.exchange(ops, &mut Vec::new()).unwrap_err()
}

/// One step that must be answered by a decision.
pub fn decide(instance: &mut WasmInstance, branch: u32, lateral: f64) -> Decision {
    match answers(instance, &[step(branch, lateral)]).remove(0) {
        Answer::Decision(decision) => decision,
        other => panic!("{other:?}"),
    }
}

/// Saves a branch; the canonical bytes.
pub fn save(instance: &mut WasmInstance, branch: u32, token: u32) -> Vec<u8> {
    match answers(instance, &[Op::Save { branch, token }]).remove(0) {
        Answer::Saved { bytes: Some(bytes), .. } => bytes.into_vec(),
        other => panic!("{other:?}"),
    }
}

/// Numbers that look random, from a seed that is printed where it matters.
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
    /// In [−half, half).
    pub fn about(&mut self, half: f64) -> f64 {
        ((self.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0) * half
    }
}
