//! Exploring again after a change: segments of an earlier run that the change cannot reach are not run.
//!
//! `--remember` leaves them in the folder of a run, `--since RUN` takes them from there. Nothing is taken over unless the
//! program is the very same and everything that every segment reads is unchanged. Levels, closer looks, random runs and
//! constant errors use what is known; findings are confirmed, and proofs made, without it.

mod difference;

use std::path::Path;

use anabranch_explore::{Memory, SegmentSink, Since, Trail};
use anabranch_kernel::{Digest, Parts, Reads, Seed, System, from_bytes, to_bytes};
use anabranch_record::{MEMO_FILE, Memo, MemoWriter, RecordError, RunFolder, RunReference, read_memo};
use anabranch_scenario::Drive;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::escape::escape;
use crate::failure::Failure;
use crate::numbers::{grouped, short};
use crate::project::RUNS;
use crate::screen::Screen;
pub use difference::Difference;

/// Whose segments a file holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    /// Digest of the program that ran them: another build may compute otherwise.
    program: Digest,
    /// What it ran.
    parts: Parts,
}

impl Head {
    fn now(drive: &Drive) -> Result<Self, Failure> {
        let refused = |e: std::io::Error| Failure::input(format!("cannot read the running program: {e}"), "");
        let program = std::fs::read(std::env::current_exe().map_err(refused)?).map_err(refused)?;
        Ok(Self { program: Digest::of(&program), parts: drive.parts() })
    }
}

/// An earlier run whose segments may be taken over.
#[derive(Debug)]
pub struct Before {
    folder: RunFolder,
    /// What is known, and what has changed; or why nothing can be taken over.
    known: Result<Known, String>,
}

#[derive(Debug)]
struct Known {
    memory: Memory,
    changed: Reads,
    changed_parts: Vec<String>,
    parts: Parts,
}

impl Before {
    /// Reads what a run has left. That it left nothing, or that too much has changed, is told and is no mistake.
    pub fn read(reference: &str, drive: &Drive, screen: &Screen) -> Result<Self, Failure> {
        let folder = reference.parse::<RunReference>()?.resolve(Path::new(RUNS))?.run;
        let known = match read_memo(&folder.path().join(MEMO_FILE)) {
            Ok(Some(memo)) => Known::of(memo, &Head::now(drive)?, screen),
            Ok(None) => Err("it kept no segments; explore it with --remember first".to_owned()),
            Err(damage @ RecordError::Damaged { .. }) => Err(damage.to_string()),
            Err(other) => return Err(other.into()),
        };
        if let Err(why) = &known {
            screen.warn(&format!("nothing of the run `{}` can be taken over: {why}. Everything is run", folder.name()));
        }
        Ok(Self { folder, known })
    }

    /// What the exploration takes over.
    pub fn since(&self) -> Option<Since<'_>> {
        self.known.as_ref().ok().map(|known| Since { memory: &known.memory, changed: known.changed })
    }

    /// What came of it.
    ///
    /// # Errors
    /// When the first difference cannot be run again.
    pub fn spared(
        &self,
        drive: &Drive,
        seed: Seed,
        progress: &anabranch_explore::Progress,
        trail: &dyn Trail,
    ) -> Result<Spared, Failure> {
        let (changed_parts, unusable) = match &self.known {
            Ok(known) => (known.changed_parts.clone(), None),
            Err(why) => (Vec::new(), Some(why.clone())),
        };
        let first_difference = match (&self.known, progress.first_difference) {
            (Ok(known), Some(at)) => Some(difference::find(&self.folder, &known.parts, drive, seed, at, trail)?),
            _ => None,
        };
        let (segments, reused, checked) = (progress.segments, progress.reused, progress.checked);
        let run = self.folder.name().to_owned();
        Ok(Spared { run, segments, reused, checked, changed_parts, unusable, first_difference })
    }
}

impl Known {
    fn of(memo: Memo, now: &Head, screen: &Screen) -> Result<Self, String> {
        let unreadable = |_| "its segments were written by another version of this program".to_owned();
        let then: Head = from_bytes(&memo.head).map_err(unreadable)?;
        if then.program != now.program {
            return Err("its segments were run by another build of this program".to_owned());
        }
        let Some(changed) = now.parts.unlike(&then.parts) else {
            let apart: Vec<&str> = now.parts.separate.iter().map(|part| part.name.as_str()).collect();
            return Err(format!("something has changed that every segment may read, not {} alone", apart.join(" or ")));
        };
        let mut memory = Memory::new();
        let mut damage = memo.damage;
        for chunk in memo.chunks {
            if let Err(error) = memory.add(chunk) {
                damage.get_or_insert(error.to_string());
            }
        }
        if let Some(damage) = damage {
            screen.warn(&format!("{damage}; those segments are run again"));
        }
        let parts = now.parts.separate.iter().enumerate();
        let changed_parts =
            parts.filter(|(at, _)| changed.touches(Reads::of(*at))).map(|(_, part)| part.name.clone()).collect();
        Ok(Self { memory, changed, changed_parts, parts: then.parts })
    }
}

/// Keeps the segments of this run for a later one.
#[derive(Debug)]
pub struct Keeper(MemoWriter);

impl Keeper {
    /// In the folder of the run; one that is resumed goes on where it was.
    pub fn open(folder: &RunFolder, drive: &Drive) -> Result<Self, Failure> {
        Ok(Self(MemoWriter::open(&folder.path().join(MEMO_FILE), &to_bytes(&Head::now(drive)?))?))
    }
    /// Writes what is left; returns the size of the file.
    pub fn finish(self) -> Result<u64, Failure> {
        Ok(self.0.finish()?)
    }
}

impl SegmentSink for Keeper {
    fn keep(&self, segments: &[u8]) {
        self.0.keep(segments);
    }
}

/// What an exploration was spared by an earlier one.
#[derive(Clone, Debug)]
pub struct Spared {
    run: String,
    segments: u64,
    reused: u64,
    checked: u64,
    changed_parts: Vec<String>,
    unusable: Option<String>,
    first_difference: Option<Difference>,
}

impl Spared {
    /// Segments that were run, those that were run to check included.
    fn simulated(&self) -> u64 {
        self.segments - self.reused + self.checked
    }

    /// Rows of the summary for people.
    pub fn rows(&self, drive: &Drive) -> Vec<(&'static str, String)> {
        let run = escape(&self.run);
        if let Some(why) = &self.unusable {
            return vec![("since", format!("{run}: nothing reused, everything was run: {why}"))];
        }
        let changed = match self.changed_parts.as_slice() {
            [] => "nothing changed that a segment reads".to_owned(),
            parts => format!("changed: {}", parts.join(", ")),
        };
        let percent = short(100.0 * self.reused as f64 / self.segments.max(1) as f64, 1);
        let reused = format!(
            "{run}: {changed}; {} of {} segments reused ({percent} %), {} run, {} of these to check",
            grouped(self.reused),
            grouped(self.segments),
            grouped(self.simulated()),
            grouped(self.checked),
        );
        let differs = match &self.first_difference {
            Some(difference) => difference.sentence(drive),
            None => "nowhere: every segment that both runs know ends alike".to_owned(),
        };
        vec![("since", reused), ("differs", differs)]
    }

    /// For machines: joins the object of the exploration.
    pub fn add_to(&self, object: &mut Value, drive: &Drive) {
        object["since"] = json!(self.run);
        object["since_unusable"] = json!(self.unusable);
        object["reused_segments"] = json!(self.reused);
        object["simulated_segments"] = json!(self.simulated());
        object["checked_segments"] = json!(self.checked);
        object["changed_parts"] = json!(self.changed_parts);
        object["first_difference"] = json!(self.first_difference.as_ref().map(|first| first.to_json(drive)));
    }
}
