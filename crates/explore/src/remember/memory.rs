//! The segments of an earlier run, found by where they begin and under which choice.

use anabranch_kernel::{
    CellKey, Choice, Digest, Job, Reads, SegmentEnd, State, Verdicts, from_bytes, to_bytes, write_bytes,
};

use crate::table::Table;

/// Bytes before the outcome of a segment: its key, what it read, and the length of the outcome.
const HEAD_BYTES: usize = 16 + 8 + 4;
/// Bytes of an outcome before its words: the margin, and the length of the words.
const OUTCOME_HEAD_BYTES: usize = 8 + 4;
/// Longest outcome: a state with a path of its own has some kilobytes.
const OUTCOME_BYTES_MAX: usize = 1 << 24;

/// Remembered segments that are not what was once written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// Bytes that are no segments.
    #[error("remembered segments cannot be read: byte {at} begins none")]
    CutOff {
        /// Where it begins to make no sense.
        at: usize,
    },
    /// Two segments begin alike and end otherwise.
    #[error("a segment is remembered twice with different ends")]
    Contradiction,
}

/// Where a segment begins and under which choice, as a number that nothing else has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(pub(super) u128);

impl Key {
    /// The key of a segment that has not run; `scratch` saves an allocation.
    pub(super) fn of<S: State>(start: &S, choice: Choice, scratch: &mut Vec<u8>) -> Self {
        scratch.clear();
        write_bytes(start, scratch);
        scratch.extend_from_slice(&choice.0.to_le_bytes());
        Self(Digest::of(scratch).0)
    }
}

/// How a remembered segment went on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Remembered<'m> {
    pub(super) reads: Reads,
    /// Margin, end, notes and end state: equal outcomes have equal bytes.
    pub(super) outcome: &'m [u8],
}

impl Remembered<'_> {
    /// Puts the outcome into a job; `None` if the bytes describe none, and then the job is as it was.
    pub(super) fn put_into<S: State>(&self, job: &mut Job<S>) -> Option<()> {
        let (margin, rest) = self.outcome.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let (words, state) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let (end, notes): (SegmentEnd, Verdicts) = from_bytes(words).ok()?;
        job.state = from_bytes(state).ok()?;
        (job.end, job.notes) = (Ok(end), notes);
        (job.margin, job.reads) = (f64::from_le_bytes(*margin), self.reads);
        Some(())
    }
}

/// Writes the outcome of a job that was run; nothing if it could not be computed.
pub(super) fn write_outcome<S: State>(job: &Job<S>, out: &mut Vec<u8>) -> Option<()> {
    let end = job.end.as_ref().ok()?;
    out.extend_from_slice(&job.margin.to_le_bytes());
    let words = to_bytes(&(end.clone(), job.notes.clone()));
    out.extend_from_slice(&(words.len() as u32).to_le_bytes());
    out.extend_from_slice(&words);
    write_bytes(&job.state, out);
    Some(())
}

/// Writes a whole segment, as [`Memory::add`] reads it.
pub(super) fn write_segment(key: Key, segment: Remembered<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(&key.0.to_le_bytes());
    out.extend_from_slice(&segment.reads.0.to_le_bytes());
    out.extend_from_slice(&(segment.outcome.len() as u32).to_le_bytes());
    out.extend_from_slice(segment.outcome);
}

/// All remembered segments of an earlier run, in memory.
#[derive(Default)]
pub struct Memory {
    table: Option<Table>,
    /// Chunk and first byte of each segment, by its number in the table.
    places: Vec<(u32, u32)>,
    chunks: Vec<Vec<u8>>,
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory").field("segments", &self.len()).finish_non_exhaustive()
    }
}

impl Memory {
    /// A memory of nothing.
    pub fn new() -> Self {
        Self::default()
    }
    /// How many segments are remembered.
    pub fn len(&self) -> usize {
        self.places.len()
    }
    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes in bytes that a [`super::SegmentSink`] was given, in any order.
    ///
    /// # Errors
    /// When they are no whole segments; those before the first that is none stay.
    pub fn add(&mut self, chunk: Vec<u8>) -> Result<(), MemoryError> {
        let (number, mut at) = (self.chunks.len() as u32, 0);
        self.chunks.push(chunk);
        while at < self.chunks[number as usize].len() {
            at = self.enter(number, at)?;
        }
        Ok(())
    }

    /// Enters the segment at a place and returns where it ends.
    fn enter(&mut self, chunk: u32, at: usize) -> Result<usize, MemoryError> {
        let cut_off = MemoryError::CutOff { at };
        let bytes = self.chunks[chunk as usize].get(at..).unwrap_or_default();
        let (key, segment) = read_segment(bytes).ok_or(cut_off.clone())?;
        let (outcome_bytes, reads) = (segment.outcome.len(), segment.reads);
        let at_place = u32::try_from(at).map_err(|_| cut_off)?;
        let (cell, is_new) = self.table.get_or_insert_with(Table::new).insert(CellKey(key.0));
        if is_new {
            self.places.push((chunk, at_place));
        } else {
            let known = self.at(cell);
            let bytes = &self.chunks[chunk as usize][at + HEAD_BYTES..][..outcome_bytes];
            if (known.outcome, known.reads) != (bytes, reads) {
                return Err(MemoryError::Contradiction);
            }
        }
        Ok(at + HEAD_BYTES + outcome_bytes)
    }

    /// The segment with this key.
    pub(super) fn get(&self, key: Key) -> Option<Remembered<'_>> {
        self.table.as_ref()?.get(CellKey(key.0)).map(|cell| self.at(cell))
    }

    fn at(&self, cell: u32) -> Remembered<'_> {
        let (chunk, at) = self.places[cell as usize];
        let bytes = &self.chunks[chunk as usize][at as usize..];
        read_segment(bytes).expect("it was read before").1
    }
}

/// The segment that begins here, if one does.
fn read_segment(bytes: &[u8]) -> Option<(Key, Remembered<'_>)> {
    let (key, rest) = bytes.split_first_chunk()?;
    let (reads, rest) = rest.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let length = u32::from_le_bytes(*length) as usize;
    let fits = (OUTCOME_HEAD_BYTES..=OUTCOME_BYTES_MAX).contains(&length);
    let outcome = rest.get(..length).filter(|_| fits)?;
    Some((Key(u128::from_le_bytes(*key)), Remembered { reads: Reads(u64::from_le_bytes(*reads)), outcome }))
}

#[cfg(test)]
mod tests {
    use anabranch_kernel::Verdict;
    use proptest::prelude::*;

    use super::*;

    type Row = (i64, u16, f64, bool);

    fn job(row: &Row) -> Job<i64> {
        let mut job = Job::new(row.0 * 3, Choice(row.1));
        (job.margin, job.reads) = (row.2, Reads(7));
        if row.3 {
            job.end = Ok(SegmentEnd::violated(1, 40));
            job.notes = vec![Verdict { requirement: 2, tick: 3, place: None }];
        }
        job
    }

    fn bytes_of(rows: &[Row]) -> Vec<u8> {
        let (mut all, mut scratch) = (Vec::new(), Vec::new());
        for row in rows {
            let mut outcome = Vec::new();
            write_outcome(&job(row), &mut outcome).unwrap();
            let key = Key::of(&row.0, Choice(row.1), &mut scratch);
            write_segment(key, Remembered { reads: Reads(7), outcome: &outcome }, &mut all);
        }
        all
    }

    proptest! {
        #[test]
        fn what_was_written_is_found(rows in proptest::collection::btree_map((any::<i64>().prop_map(|x| x / 4), any::<u16>()), (-1e9_f64..1e9, any::<bool>()), 1..60)) {
            let rows: Vec<Row> = rows.into_iter().map(|((x, choice), (margin, ends))| (x, choice, margin, ends)).collect();
            let mut memory = Memory::new();
            memory.add(bytes_of(&rows)).unwrap();
            memory.add(bytes_of(&rows)).unwrap();
            prop_assert_eq!(memory.len(), rows.len());
            for row in &rows {
                let key = Key::of(&row.0, Choice(row.1), &mut Vec::new());
                let mut found = Job::new(row.0, Choice(row.1));
                memory.get(key).unwrap().put_into(&mut found).unwrap();
                let expected = job(row);
                prop_assert_eq!((found.state, found.margin, found.notes, found.end, found.reads), (expected.state, expected.margin, expected.notes, expected.end, expected.reads));
            }
        }

        #[test]
        fn cut_off_bytes_are_refused_and_never_panic(cut in 0_usize..200, noise in proptest::collection::vec(any::<u8>(), 0..80)) {
            let whole = bytes_of(&[(1, 2, 0.5, false), (2, 2, 0.5, true), (3, 1, 0.25, false)]);
            let part = [&whole[..cut.min(whole.len() - 1)], &noise].concat();
            let _ = Memory::new().add(part);
            let cut = &whole[..whole.len() - 1 - cut.min(40)];
            let refused = matches!(Memory::new().add(cut.to_vec()), Err(MemoryError::CutOff { .. }));
            prop_assert!(refused);
        }
    }

    #[test]
    fn a_segment_with_two_ends_is_a_contradiction() {
        let mut memory = Memory::new();
        memory.add(bytes_of(&[(1, 2, 0.5, false)])).unwrap();
        assert_eq!(memory.add(bytes_of(&[(1, 2, 0.25, false)])), Err(MemoryError::Contradiction));
    }
}
