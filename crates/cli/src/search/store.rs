//! Evaluations and progress of a search on disk: an append-only log, and a checkpoint that is replaced as a whole.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};

use anabranch_kernel::{Digest, from_bytes, to_bytes};
use anabranch_record::{RunFolder, Status};
use anabranch_search::{Edge, Evaluation, Progress};
use serde_json::{Value, json};

use super::outside::Broken;
use super::space::Varied;
use crate::failure::Failure;
use crate::screen::{Format, Screen, Talk, print_err};
use crate::usage::WallClock;

/// Every evaluation, in order.
const LOG: &str = "evaluations.log";
/// Where the search stands.
const PROGRESS: &str = "progress.bin";
/// Seconds between two checkpoints; what lies between is computed again.
const SAVE_EVERY_S: f64 = 0.5;
/// Seconds between two lines of progress.
const LINES_EVERY_S: f64 = 10.0;
/// Bytes before a record: its length and the beginning of its digest.
const HEAD_BYTES: usize = 12;

/// Saves a search as it goes, tells about it, and hears Ctrl-C.
#[derive(Debug)]
pub struct Store<'a> {
    folder: &'a RunFolder,
    varied: &'a Varied,
    screen: &'a Screen,
    log: File,
    asked: &'a AtomicBool,
    broken: &'a Broken,
    clock: WallClock,
    saved_s: f64,
    told_s: f64,
    budget: u64,
    best: f64,
    is_first: bool,
    /// Whether the optimiser's state of the batch at hand was asked for.
    is_wanted: bool,
}

/// What an earlier process left.
#[derive(Debug)]
pub struct Saved {
    /// Evaluations that belong to the progress.
    pub evaluations: Vec<Evaluation>,
    /// Where it stood.
    pub progress: Progress,
}

impl<'a> Store<'a> {
    /// Begins or goes on in the folder of a run. What is behind the last checkpoint is computed again.
    ///
    /// # Errors
    /// When the log cannot be written.
    pub fn open(
        folder: &'a RunFolder,
        varied: &'a Varied,
        (screen, clock): (&'a Screen, WallClock),
        (asked, broken): (&'a AtomicBool, &'a Broken),
        budget: u64,
    ) -> Result<(Self, Option<Saved>), Failure> {
        let path = folder.path().join(LOG);
        let saved = read(folder.path())?;
        let refused = |e: std::io::Error| Failure::file("write", &path, &e);
        let mut bytes = Vec::new();
        for evaluation in saved.iter().flat_map(|saved| &saved.evaluations) {
            put(evaluation, &mut bytes);
        }
        let mut log = OpenOptions::new().create(true).write(true).truncate(false).open(&path).map_err(refused)?;
        log.set_len(bytes.len() as u64).map_err(refused)?;
        log.write_all(&bytes).map_err(refused)?;
        let store = Self {
            folder,
            varied,
            screen,
            log,
            asked,
            broken,
            clock,
            saved_s: f64::NEG_INFINITY,
            told_s: 0.0,
            budget,
            best: f64::INFINITY,
            is_first: true,
            is_wanted: false,
        };
        Ok((store, saved))
    }

    fn tell(&mut self, new: &[Evaluation], progress: &Progress) {
        for evaluation in new {
            self.best = self.best.min(evaluation.value());
            if self.screen.format == Format::Jsonl {
                self.screen.event(&event(evaluation, self.varied));
            }
        }
        let now_s = self.clock.seconds();
        if self.screen.talk != Talk::Quiet && now_s - self.told_s >= LINES_EVERY_S {
            self.told_s = now_s;
            let (done, accidents) = (progress.evaluations, progress.accidents.len());
            let line =
                format!("{done} of {} simulations, lowest value {:.4}, {accidents} accidents", self.budget, self.best);
            print_err(&format!("{line}\n"));
        }
    }
}

impl Edge for Store<'_> {
    fn batch_done(&mut self, new: &[Evaluation], progress: &Progress) -> Result<(), String> {
        let mut bytes = Vec::new();
        new.iter().for_each(|evaluation| put(evaluation, &mut bytes));
        self.log.write_all(&bytes).map_err(|e| format!("{LOG}: {e}"))?;
        self.tell(new, progress);
        if std::mem::take(&mut self.is_wanted) {
            self.saved_s = self.clock.seconds();
            self.is_first = false;
            self.log.sync_data().map_err(|e| format!("{LOG}: {e}"))?;
            self.folder.publish(PROGRESS, &sealed(progress)).map_err(|e| e.to_string())?;
            let status =
                Status { findings: progress.accidents.len() as u64, segments: progress.evaluations, ..Status::begin() };
            self.folder.write_status(&status).map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    fn wants_progress(&mut self) -> bool {
        let now = self.clock.seconds() - self.saved_s >= SAVE_EVERY_S;
        self.is_wanted = self.is_first || self.asked.load(Ordering::SeqCst) || now;
        self.is_wanted
    }

    fn goes_on(&mut self) -> bool {
        let is_broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        !is_broken && !self.asked.load(Ordering::SeqCst)
    }
}

/// A checkpoint with its digest before it.
fn sealed(progress: &Progress) -> Vec<u8> {
    let bytes = to_bytes(progress);
    let mut all = Digest::of(&bytes).0.to_le_bytes().to_vec();
    all.extend(bytes);
    all
}

fn put(evaluation: &Evaluation, out: &mut Vec<u8>) {
    let bytes = to_bytes(evaluation);
    out.extend((bytes.len() as u32).to_le_bytes());
    out.extend((Digest::of(&bytes).0 as u64).to_le_bytes());
    out.extend(bytes);
}

/// What an earlier process left; nothing if it did not come to its first checkpoint.
fn read(folder: &Path) -> Result<Option<Saved>, Failure> {
    let path = folder.join(PROGRESS);
    let Some(bytes) = bytes_of(&path)? else { return Ok(None) };
    let damaged = |path: &PathBuf| Failure::input(format!("`{}` is damaged", path.display()), "search anew");
    let (head, body) = bytes.split_at_checked(16).ok_or_else(|| damaged(&path))?;
    if Digest::of(body).0.to_le_bytes() != head {
        return Err(damaged(&path));
    }
    let progress: Progress = from_bytes(body).map_err(|_| damaged(&path))?;
    let log = folder.join(LOG);
    let evaluations = records(&bytes_of(&log)?.unwrap_or_default(), progress.evaluations);
    if (evaluations.len() as u64) < progress.evaluations {
        return Err(damaged(&log));
    }
    Ok(Some(Saved { evaluations, progress }))
}

fn bytes_of(path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    let mut bytes = Vec::new();
    match File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)) {
        Ok(_) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::file("read", path, &error)),
    }
}

/// Whole records from the beginning, at most so many.
fn records(mut bytes: &[u8], at_most: u64) -> Vec<Evaluation> {
    let mut all = Vec::new();
    while (all.len() as u64) < at_most {
        let Some((head, rest)) = bytes.split_at_checked(HEAD_BYTES) else { break };
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let Some((body, rest)) = rest.split_at_checked(length) else { break };
        if (Digest::of(body).0 as u64).to_le_bytes() != head[4..] {
            break;
        }
        let Ok(evaluation) = from_bytes(body) else { break };
        all.push(evaluation);
        bytes = rest;
    }
    all
}

/// One evaluation for machines.
pub fn event(evaluation: &Evaluation, varied: &Varied) -> Value {
    let mut object = json!({
        "event": "evaluation",
        "evaluation": evaluation.number,
        "value": evaluation.value(),
        "values": values_json(varied, &evaluation.values),
    });
    match &evaluation.result {
        Ok(outcome) => object["objectives"] = json!(outcome.robustness),
        Err(trouble) => object["trouble"] = json!(trouble.to_string()),
    }
    object
}

/// Values of a point by their names; alternatives by their words.
pub fn values_json(varied: &Varied, values: &[f64]) -> Value {
    let plain = varied.plain(values);
    let pair = |(dimension, value): (&anabranch_search::Dimension, &f64)| {
        let value = match &dimension.domain {
            anabranch_search::Domain::OneOf(labels) => json!(labels.get(*value as usize)),
            anabranch_search::Domain::Whole { .. } if value.fract() == 0.0 => json!(*value as i64),
            anabranch_search::Domain::Whole { .. } => json!(value),
            anabranch_search::Domain::Real { .. } => json!(value),
        };
        (dimension.name.clone(), value)
    };
    Value::Object(varied.space.dimensions().iter().zip(&plain).map(pair).collect())
}

/// Every evaluation as a table that any tool reads.
pub fn csv(evaluations: &[Evaluation], varied: &Varied, objectives: usize) -> String {
    let space = &varied.space;
    let quoted = |text: &str| anabranch_record::cell(text);
    let mut header = vec!["evaluation".to_owned()];
    header.extend(space.dimensions().iter().map(|dimension| match dimension.unit.as_str() {
        "" => quoted(&dimension.name),
        unit => quoted(&format!("{} [{unit}]", dimension.name)),
    }));
    header.extend((0..objectives).map(|n| format!("objective_{}", n + 1)));
    let mut out = header.join(",") + "\n";
    for evaluation in evaluations {
        let mut row = vec![evaluation.number.to_string()];
        for (dimension, value) in space.dimensions().iter().zip(&varied.plain(&evaluation.values)) {
            row.push(match &dimension.domain {
                anabranch_search::Domain::OneOf(labels) => {
                    quoted(labels.get(*value as usize).map_or("", String::as_str))
                }
                _ => value.to_string(),
            });
        }
        match &evaluation.result {
            Ok(outcome) => row.extend(outcome.robustness.iter().map(f64::to_string)),
            Err(_) => row.extend((0..objectives).map(|_| String::new())),
        }
        out += &(row.join(",") + "\n");
    }
    out
}
