//! The link on tape: every question and answer in a file, and a stand-in that answers from it.
//!
//! A tape is kept per instance. Each record has its length and its checksum, so a tape of a killed run is whole up to
//! its last record. Played back, it answers the questions it was asked, in order, and says where one differs first.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use anabranch_kernel::Digest;
use serde::{Deserialize, Serialize};

use crate::body;
use crate::checks::op_name;
use crate::differs::first_difference;
use crate::instance::{Factory, Instance};
use crate::misbehaviour::{Kind, Misbehaviour};
use crate::protocol::{Answer, BODY_BYTES_MAX, Card, Op};

/// First line of a tape.
const HEADER: &[u8] = b"anabranch link 1\n";
/// Length and checksum before each record.
const HEAD_BYTES: usize = 4 + 8;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Record {
    Card(Box<Card>),
    Exchange { ops: Vec<Op>, answers: Vec<Answer>, seconds: f64 },
    Misbehaved { ops: Vec<Op>, kind: Kind, text: String },
}

fn tape_path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:04}.link"))
}

fn checksum(bytes: &[u8]) -> u64 {
    Digest::of(bytes).0 as u64
}

/// Records what the instances of another factory are asked and answer.
#[derive(Debug)]
pub struct RecordingFactory {
    inner: Box<dyn Factory>,
    folder: PathBuf,
    started: AtomicU64,
}

impl RecordingFactory {
    /// Tapes go into the folder, which must exist: `0001.link` is the first instance.
    pub fn new(inner: Box<dyn Factory>, folder: impl Into<PathBuf>) -> Self {
        Self { inner, folder: folder.into(), started: AtomicU64::new(0) }
    }
}

fn not_written(error: &io::Error) -> Misbehaviour {
    Misbehaviour::new(Kind::NoStart, format!("the recording of the link cannot be written: {error}"))
}

impl Factory for RecordingFactory {
    fn start(&self) -> Result<Box<dyn Instance>, Misbehaviour> {
        let inner = self.inner.start()?;
        let number = self.started.fetch_add(1, Ordering::Relaxed) + 1;
        let mut file = File::create(tape_path(&self.folder, number)).map_err(|error| not_written(&error))?;
        file.write_all(HEADER).map_err(|error| not_written(&error))?;
        let mut recorder = Recorder { inner, file, buffer: Vec::new() };
        recorder.write(&Record::Card(Box::new(recorder.inner.card().clone())))?;
        Ok(Box::new(recorder))
    }
}

struct Recorder {
    inner: Box<dyn Instance>,
    file: File,
    buffer: Vec<u8>,
}

impl Recorder {
    fn write(&mut self, record: &Record) -> Result<(), Misbehaviour> {
        let mut payload = std::mem::take(&mut self.buffer);
        body::encode(record, &mut payload);
        let mut bytes = Vec::with_capacity(HEAD_BYTES + payload.len());
        bytes.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&checksum(&payload).to_le_bytes());
        bytes.extend_from_slice(&payload);
        self.buffer = payload;
        // One write per record: a killed run leaves whole records, and at most one that the checksum refuses.
        self.file.write_all(&bytes).map_err(|error| not_written(&error))
    }
}

impl Instance for Recorder {
    fn card(&self) -> &Card {
        self.inner.card()
    }
    fn seconds(&self) -> f64 {
        self.inner.seconds()
    }
    fn expect(&mut self, step_s: f64) {
        self.inner.expect(step_s);
    }
    fn exchange(&mut self, ops: &[Op], answers: &mut Vec<Answer>) -> Result<(), Misbehaviour> {
        let result = self.inner.exchange(ops, answers);
        let ops = ops.to_vec();
        self.write(&match &result {
            Ok(()) => Record::Exchange { ops, answers: answers.clone(), seconds: self.inner.seconds() },
            Err(wrong) => Record::Misbehaved { ops, kind: wrong.kind, text: wrong.text.clone() },
        })?;
        result
    }
}

/// Plays tapes instead of starting anything: the first instance plays the first tape.
#[derive(Debug)]
pub struct ReplayFactory {
    folder: PathBuf,
    started: AtomicU64,
}

impl ReplayFactory {
    /// Plays the tapes of this folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), started: AtomicU64::new(0) }
    }
}

impl Factory for ReplayFactory {
    fn start(&self) -> Result<Box<dyn Instance>, Misbehaviour> {
        let number = self.started.fetch_add(1, Ordering::Relaxed) + 1;
        let path = tape_path(&self.folder, number);
        let no_start = |text: String| Misbehaviour::new(Kind::NoStart, format!("{}: {text}", path.display()));
        let mut file = BufReader::new(File::open(&path).map_err(|error| no_start(error.to_string()))?);
        let mut header = [0; HEADER.len()];
        if file.read_exact(&mut header).is_err() || header != HEADER {
            return Err(no_start("not a recording of a link".to_owned()));
        }
        let mut tape = Tape { file, at_byte: HEADER.len() as u64, records: 0 };
        let Some(Record::Card(card)) = tape.next()? else {
            return Err(no_start("the recording has no card".to_owned()));
        };
        Ok(Box::new(Player { tape, card: *card, seconds: 0.0 }))
    }
}

struct Tape {
    file: BufReader<File>,
    at_byte: u64,
    records: u64,
}

impl Tape {
    /// The next record; `None` at the end.
    fn next(&mut self) -> Result<Option<Record>, Misbehaviour> {
        let damaged = |what: &str, tape: &Self| {
            let text = format!("record {} at byte {} of the recording {what}", tape.records, tape.at_byte);
            Misbehaviour::new(Kind::NoStart, text)
        };
        let mut head = [0; HEAD_BYTES];
        match self.file.read_exact(&mut head) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(damaged(&format!("cannot be read: {error}"), self)),
            Ok(()) => {}
        }
        let length = u32::from_le_bytes(head[..4].try_into().expect("four bytes")) as usize;
        // A request and a reply, each as large as a message may be.
        if length > 2 * BODY_BYTES_MAX + 1024 {
            return Err(damaged("is damaged: its length is beyond any message", self));
        }
        let mut payload = Vec::new();
        let read = (&mut self.file).take(length as u64).read_to_end(&mut payload);
        if read.is_err() || payload.len() != length {
            return Err(damaged("is cut off", self));
        }
        if checksum(&payload).to_le_bytes() != head[4..] {
            return Err(damaged("is damaged: its checksum differs", self));
        }
        let record = body::decode(&payload).map_err(|wrong| damaged(&format!("cannot be read: {wrong}"), self))?;
        (self.at_byte, self.records) = (self.at_byte + (HEAD_BYTES + length) as u64, self.records + 1);
        Ok(Some(record))
    }
}

/// Answers from a tape.
struct Player {
    tape: Tape,
    card: Card,
    seconds: f64,
}

impl Player {
    /// The first operation that is not the recorded one.
    fn compare(&self, recorded: &[Op], asked: &[Op]) -> Result<(), Misbehaviour> {
        if recorded == asked {
            return Ok(());
        }
        let message = self.tape.records - 1;
        let text = match recorded.iter().zip(asked).position(|(recorded, asked)| recorded != asked) {
            Some(n) => {
                let place = first_difference(&recorded[n], &asked[n]);
                format!("message {message}, operation {n} (`{}`) is not the recorded one: {place}", op_name(&asked[n]))
            }
            None => {
                format!("message {message} has {} operations instead of the {} recorded", asked.len(), recorded.len())
            }
        };
        Err(Misbehaviour::new(Kind::Nondeterministic, text))
    }
}

impl Instance for Player {
    fn card(&self) -> &Card {
        &self.card
    }
    fn seconds(&self) -> f64 {
        self.seconds
    }
    fn exchange(&mut self, asked: &[Op], answers: &mut Vec<Answer>) -> Result<(), Misbehaviour> {
        match self.tape.next()? {
            Some(Record::Exchange { ops, answers: recorded, seconds }) => {
                self.compare(&ops, asked)?;
                self.seconds = seconds;
                *answers = recorded;
                Ok(())
            }
            Some(Record::Misbehaved { ops, kind, text }) => {
                self.compare(&ops, asked)?;
                Err(Misbehaviour::new(kind, text))
            }
            Some(Record::Card(_)) | None => {
                let text = format!("the recording ends after {} messages", self.tape.records - 1);
                Err(Misbehaviour::new(Kind::NoStart, text))
            }
        }
    }
}
