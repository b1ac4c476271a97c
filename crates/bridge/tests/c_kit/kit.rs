//! What the tests of the C kit share: building programs with `cc`, and the asking side of the link, by hand, so that it
//! can also say what no honest host would.

use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use anabranch_bridge::protocol::{Answer, Begin, CarFacts, Op, PathSeen, Reply, Request, Seen};
use anabranch_bridge::{Card, PROTOCOL};

/// How long a healthy program may take for one message on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Flags under which a wrong access, undefined behaviour or a leak ends the program with an error.
pub const SANITISED: [&str; 3] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"];

/// The folder of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Builds a program from one source file; `flags` make another program of it. Tests run side by side, so it appears whole.
pub fn build(source: &str, flags: &[&str]) -> PathBuf {
    let cpp = Path::new(source).extension().is_some_and(|ending| ending == "cpp");
    let (compiler, standard) = if cpp { ("c++", "-std=c++11") } else { ("cc", "-std=c99") };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let stem = Path::new(source).file_stem().unwrap().to_str().unwrap().to_owned();
    let name = format!("{stem}{}", flags.join("")).replace(['/', '=', ','], "-");
    let (finished, growing) = (folder.join(&name), folder.join(format!("{name}-{}", std::process::id())));
    let changed = |path: &Path| std::fs::metadata(path).and_then(|facts| facts.modified()).ok();
    if changed(&finished) > changed(&root().join(source)).max(changed(&root().join("c/anabranch.h"))) {
        return finished;
    }
    let output = Command::new(compiler)
        .args([standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-ffp-contract=off"])
        .args(flags)
        .arg("-I")
        .arg(root().join("c"))
        .arg(root().join(source))
        .arg("-o")
        .arg(&growing)
        .arg("-lm")
        .output()
        .expect("a C compiler is installed");
    assert!(output.status.success(), "{source}: {}", String::from_utf8_lossy(&output.stderr));
    std::fs::rename(growing, &finished).unwrap();
    finished
}

/// A short path for a socket; the names of sockets end at about a hundred bytes.
pub fn socket_path(word: &str) -> PathBuf {
    std::env::temp_dir().join(format!("anabranch-{word}-{}.socket", std::process::id()))
}

/// The asking side of a link.
pub struct Asker {
    pub stream: UnixStream,
    seq: u64,
}

impl Asker {
    /// Greets as a REQ socket does.
    pub fn greet(mut stream: UnixStream) -> io::Result<Self> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut greeting = [0_u8; 64];
        (greeting[0], greeting[9], greeting[10]) = (0xff, 0x7f, 3);
        greeting[12..16].copy_from_slice(b"NULL");
        stream.write_all(&greeting)?;
        stream.write_all(b"\x04\x19\x05READY\x0bSocket-Type\0\0\0\x03REQ")?;
        let mut theirs = [0_u8; 64 + 27];
        stream.read_exact(&mut theirs)?;
        assert_eq!(&theirs[64..], b"\x04\x19\x05READY\x0bSocket-Type\0\0\0\x03REP");
        Ok(Self { stream, seq: 0 })
    }
    /// Sends a body as it is and takes the body of the reply.
    pub fn raw(&mut self, body: &[u8]) -> io::Result<Vec<u8>> {
        let mut message = vec![1, 0, 2];
        message.extend_from_slice(&(body.len() as u64).to_be_bytes());
        message.extend_from_slice(body);
        self.stream.write_all(&message)?;
        let mut head = [0_u8; 4];
        self.stream.read_exact(&mut head)?;
        assert_eq!(&head[..2], &[1, 0], "the empty frame before the answer");
        let mut size = u64::from(head[3]);
        if head[2] == 2 {
            let mut rest = [0_u8; 7];
            self.stream.read_exact(&mut rest)?;
            size = rest.iter().fold(size, |size, byte| size << 8 | u64::from(*byte));
        }
        let mut reply = vec![0; usize::try_from(size).unwrap()];
        self.stream.read_exact(&mut reply)?;
        Ok(reply)
    }
    /// Asks properly.
    pub fn ask(&mut self, ops: &[Op]) -> Vec<Answer> {
        self.try_ask(ops).expect("the program answers")
    }
    /// Asks properly; an error is the end of the link.
    pub fn try_ask(&mut self, ops: &[Op]) -> io::Result<Vec<Answer>> {
        self.seq += 1;
        let request = Request { anabranch: PROTOCOL, seq: self.seq, ops: ops.to_vec() };
        let bytes = self.raw(&rmp_serde::to_vec_named(&request).unwrap())?;
        let reply: Reply = rmp_serde::from_slice(&bytes).expect("a reply of this protocol");
        assert_eq!((reply.anabranch, reply.seq, reply.answers.len()), (PROTOCOL, self.seq, ops.len()));
        assert!(reply.seconds.is_some_and(|seconds| seconds >= 0.0));
        Ok(reply.answers)
    }
    pub fn card(&mut self) -> Card {
        match self.ask(&[Op::Describe {}]).remove(0) {
            Answer::Card(card) => *card,
            other => panic!("{other:?}"),
        }
    }
}

/// A program that was started, and the link to it.
pub struct Started {
    pub child: Child,
    pub asker: Asker,
}

impl Started {
    /// Starts a program as Anabranch does and waits until it has connected.
    pub fn new(program: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = socket_path(&number.to_string());
        let listener = UnixListener::bind(&path).unwrap();
        let child = Command::new(program)
            .args(arguments)
            .env("ANABRANCH_ENDPOINT", format!("ipc://{}", path.display()))
            .envs(environment.iter().copied())
            .spawn()
            .unwrap();
        let (stream, _) = listener.accept().unwrap();
        std::fs::remove_file(path).unwrap();
        Self { child, asker: Asker::greet(stream).unwrap() }
    }
    /// Says goodbye; the program must end well (under a sanitiser: without a leak).
    pub fn bye(mut self) {
        assert_eq!(self.asker.ask(&[Op::Bye {}]), [Answer::Done {}]);
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}");
    }
}

/// A fixed sequence of numbers in [0, 1): xorshift, the same on every machine.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    pub fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
    pub fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.share()
    }
    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }
}

/// Something that can be seen on the way.
pub fn random_seen(numbers: &mut Numbers) -> Seen {
    // Every eighth one is about to arrive.
    let near = numbers.below(8) == 0;
    let remaining = if near { numbers.within(-0.1, 0.1) } else { numbers.within(0.0, 3.0) };
    let path = PathSeen {
        station: numbers.within(0.0, 17.0),
        lateral: numbers.within(-2.0, 2.0),
        heading: numbers.within(-1.0, 1.0),
        curvature: numbers.within(-1.5, 1.5),
        remaining,
        speed_max: numbers.within(0.1, 3.0),
        direction: if numbers.below(2) == 0 { 1 } else { -1 },
        section: 0,
        sections_left: u32::from(numbers.below(4) == 0),
        // Sometimes an obstacle asks to stand before the end.
        to_end: if numbers.below(4) == 0 { remaining + 1.0 } else { remaining },
    };
    let speed = if near { numbers.within(-0.1, 0.1) } else { numbers.within(-1.5, 1.5) };
    Seen { time: numbers.within(0.0, 20.0), tick: numbers.bits() % 2000, speed, gear: 1, path, ..Seen::default() }
}

/// The beginning of a run with a van.
pub fn begin() -> Box<Begin> {
    let car = CarFacts { wheelbase_m: 3.6, steering_max_rad: 0.6, ..CarFacts::default() };
    Box::new(Begin { seed: 7, scenario: "test".to_owned(), cycle_s: 0.02, car, ..Begin::default() })
}

pub fn reset(branch: u32) -> Op {
    Op::Reset { branch, begin: begin() }
}
pub fn step(branch: u32, seen: &Seen) -> Op {
    Op::Step { branch, seen: Box::new(seen.clone()) }
}
