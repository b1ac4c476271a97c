//! A trail comes back as it was written, or not at all.

use std::fs;
use std::path::{Path, PathBuf};

use anabranch_kernel::Chance;
use anabranch_kernel::Seed;
use anabranch_record::{Node, RecordError, TrailReader, TrailWriter};

fn level_file(folder: &Path, level: usize) -> PathBuf {
    folder.join(format!("{level:04}.lvl"))
}

/// Three small levels with a note.
fn small(folder: &Path) {
    let mut trail = TrailWriter::create(folder).unwrap();
    let starts = [trail.push_start(0), trail.push_start(7)];
    trail.end_level().unwrap();
    let ids = [trail.push(starts[0], 3), trail.push(starts[1], 4), trail.push(starts[1], 5)];
    trail.end_level_with(b"note").unwrap();
    trail.push(ids[2], 65_534);
    trail.end_level().unwrap();
}

fn read_all(folder: &Path) -> Result<Vec<Node>, RecordError> {
    let reader = TrailReader::open(folder)?;
    reader.verify()?;
    (0..reader.len()).map(|id| reader.node(id)).collect()
}

#[test]
fn a_path_leads_from_its_start() {
    let folder = tempfile::tempdir().unwrap();
    small(folder.path());
    let reader = TrailReader::open(folder.path()).unwrap();
    let trail = reader.path_to(5).unwrap();
    assert_eq!((trail.start, trail.choices), (7, vec![5, 65_534]));
    assert_eq!((reader.levels(), reader.len(), reader.ids(1)), (3, 6, 2..5));
    assert_eq!(reader.note(1).unwrap(), b"note");
    assert_eq!(reader.note(2).unwrap(), b"");
    assert!(matches!(reader.node(6), Err(RecordError::NotFound(_))));
}

#[test]
fn every_flipped_bit_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    small(folder.path());
    let before = read_all(folder.path()).unwrap();
    for level in 0..3 {
        let path = level_file(folder.path(), level);
        let good = fs::read(&path).unwrap();
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, &bad).unwrap();
            assert!(read_all(folder.path()).is_err(), "level {level}, bit {bit}");
            assert!(TrailWriter::resume(folder.path()).is_err(), "level {level}, bit {bit}");
        }
        fs::write(&path, &good).unwrap();
    }
    assert_eq!(read_all(folder.path()).unwrap(), before);
}

#[test]
fn every_truncation_and_every_addition_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    small(folder.path());
    for level in 0..3 {
        let path = level_file(folder.path(), level);
        let good = fs::read(&path).unwrap();
        for length in 0..good.len() {
            fs::write(&path, &good[..length]).unwrap();
            assert!(read_all(folder.path()).is_err(), "level {level}, {length} bytes");
        }
        fs::write(&path, [&good[..], &[0]].concat()).unwrap();
        assert!(read_all(folder.path()).is_err());
        fs::write(&path, &good).unwrap();
    }
}

#[test]
fn a_missing_or_foreign_level_is_noticed() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    small(folder.path());
    let mut foreign = TrailWriter::create(other.path()).unwrap();
    foreign.push_start(1);
    foreign.push_start(7);
    foreign.end_level().unwrap();
    fs::copy(level_file(other.path(), 0), level_file(folder.path(), 0)).unwrap();
    assert!(read_all(folder.path()).is_err());
    fs::remove_file(level_file(folder.path(), 0)).unwrap();
    let message = read_all(folder.path()).unwrap_err().to_string();
    assert!(message.contains("0000.lvl` is damaged: it is missing"), "{message}");
}

/// Pushes levels of random nodes; the same for the same seed.
fn grow(trail: &mut TrailWriter, expect: &mut Vec<Node>, level: u64, count: u64) {
    let chance = Chance::new(Seed(1), "trail").at(level);
    let known = trail.next_id();
    for n in 0..count {
        let node = Node::Step { parent: chance.below(2 * n, known), choice: chance.below(2 * n + 1, 9) as u16 };
        let Node::Step { parent, choice } = node else { unreachable!() };
        assert_eq!(trail.push(parent, choice), expect.len() as u64);
        expect.push(node);
    }
}

#[test]
fn a_resumed_trail_equals_an_uninterrupted_one() {
    let (whole, cut) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let sizes = [1, 2_047, 2_048, 2_049, 0, 10_000];
    let mut digests = Vec::new();
    for (folder, interrupt) in [(&whole, false), (&cut, true)] {
        let mut expect = vec![Node::Start { index: 0 }];
        let mut trail = TrailWriter::create(folder.path()).unwrap();
        trail.push_start(0);
        trail.end_level().unwrap();
        for (level, size) in sizes.into_iter().enumerate() {
            if interrupt {
                // What a killed process leaves: half a level, unpublished.
                trail.push(0, 1);
                fs::write(folder.path().join(".part-x"), "half").unwrap();
                trail = TrailWriter::resume(folder.path()).unwrap();
            }
            grow(&mut trail, &mut expect, level as u64, size);
            // Nodes of the level in hand can be asked for too.
            for id in [0, expect.len() / 2, expect.len() - 1] {
                assert_eq!(trail.node(id as u64).unwrap(), expect[id]);
            }
            trail.end_level().unwrap();
        }
        assert_eq!(read_all(folder.path()).unwrap(), expect);
        let last = expect.len() as u64 - 1;
        assert_eq!(trail.path_to(last).unwrap(), TrailReader::open(folder.path()).unwrap().path_to(last).unwrap());
        digests.push(trail.digest());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 7);
    }
    assert_eq!(digests[0], digests[1]);
    assert!(TrailWriter::create(cut.path()).is_err(), "an old trail is never overwritten");
}

#[test]
fn a_refusing_disk_is_reported_at_the_end_of_the_level() {
    let folder = tempfile::tempdir().unwrap();
    let mut trail = TrailWriter::create(folder.path()).unwrap();
    fs::remove_dir(folder.path()).unwrap();
    let start = trail.push_start(0);
    trail.push(start, 1);
    assert!(matches!(trail.end_level(), Err(RecordError::Io { .. })));
}
