//! Extreme numbers in every numeric key of every shipped scenario: each ends with an error, or runs in bounded time and
//! memory.
//!
//! Every change looks at a sample; `cargo xtask soak extremes` looks at all of them. `ANABRANCH_EXTREMES_ONLY` names the
//! first letters of a case, to find one that ends the program.

use std::fmt::Write as _;
use std::sync::mpsc;
use std::time::Duration;

use anabranch_kernel::units::Dimension;
use anabranch_kernel::{Choice, Digest, Seed, SegmentEnd, System, Watch};
use anabranch_scenario::Drive;
use anabranch_scenario::file::keys::{Kind, ROOT, Section};
use anabranch_scenario::file::{Document, Hooks};
use toml_edit::{Item, TableLike};

/// No case takes longer, from the file to the end of a few segments.
const LONGEST: Duration = Duration::from_secs(10);
/// No case takes more memory than this beyond what the program has before the first one.
const BYTES_MAX: u64 = 500_000_000;
/// Segments that are run, the second of them with an error; longer ones are only checked and assembled.
const SEGMENTS: usize = 3;
const TICKS_MAX: u64 = 20_000;
/// One case of so many is looked at unless the environment says otherwise.
const EVERY: u64 = 7;

/// A value at a place of a scenario.
#[derive(Clone, Debug)]
struct Case {
    file: String,
    path: String,
    value: String,
}

/// What became of a case.
#[derive(Debug, PartialEq)]
enum Ended {
    Refused,
    Ran,
}

fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for (file, text) in crate::shipped::texts() {
        let text = String::from_utf8(text).unwrap();
        let document = toml_edit::Document::parse(text.as_str()).unwrap();
        let mut found = Vec::new();
        visit(document.as_table(), &ROOT, "", &mut found);
        all.extend(found.into_iter().map(|(path, value)| Case { file: file.clone(), path, value }));
    }
    all
}

/// Every numeric key that a table has or may have, with every extreme.
fn visit(table: &dyn TableLike, section: &'static Section, at: &str, found: &mut Vec<(String, String)>) {
    for key in section.keys {
        let path = if at.is_empty() { key.name.to_owned() } else { format!("{at}.{}", key.name) };
        let item = table.get(key.name);
        for value in extremes(&key.kind, item) {
            found.push((path.clone(), value));
        }
        let Some(inner) = key.kind.section() else { continue };
        for (path, table) in tables(item, &path) {
            visit(table, inner, &path, found);
        }
    }
}

/// The tables that an item holds, with their paths.
fn tables<'d>(item: Option<&'d Item>, path: &str) -> Vec<(String, &'d dyn TableLike)> {
    let Some(item) = item else { return Vec::new() };
    if let Some(table) = item.as_table_like() {
        return vec![(path.to_owned(), table)];
    }
    let mut all: Vec<(String, &dyn TableLike)> = Vec::new();
    if let Some(list) = item.as_array_of_tables() {
        all.extend(list.iter().enumerate().map(|(i, table)| (format!("{path}.{i}"), table as &dyn TableLike)));
    } else if let Some(list) = item.as_array() {
        let inline = |(i, value): (usize, &'d toml_edit::Value)| {
            Some((format!("{path}.{i}"), value.as_inline_table()? as &dyn TableLike))
        };
        all.extend(list.iter().enumerate().filter_map(inline));
    }
    all
}

fn extremes(kind: &Kind, item: Option<&Item>) -> Vec<String> {
    match kind {
        Kind::Quantity(quantity) => quantity.dimensions.iter().flat_map(|d| of_dimension(*d)).collect(),
        Kind::Count { min, max } => {
            let most = i128::from(*max);
            [0, -1, i128::from(*min), most, most + 1, i128::from(i64::MAX)].map(|n| n.to_string()).to_vec()
        }
        Kind::Points => {
            let Some(points) = item.and_then(Item::as_array) else { return Vec::new() };
            let with_first = |first: &String| {
                let mut text = String::from("[");
                for (i, point) in points.iter().enumerate() {
                    let Some(point) = point.as_array() else { continue };
                    let x = if i == 0 { format!("\"{first}\"") } else { point.get(0).unwrap().to_string() };
                    write!(text, "[{x}, {}], ", point.get(1).unwrap()).unwrap();
                }
                text + "]"
            };
            of_dimension(Dimension::Length).iter().map(with_first).collect()
        }
        Kind::Cells => {
            let Some(cells) = item.and_then(Item::as_table_like) else { return Vec::new() };
            let with = |name: &str, value: &str| format!("{{ {name} = \"{value}\" }}");
            cells.iter().take(1).flat_map(|(name, _)| of_dimension(Dimension::Length).map(|v| with(name, &v))).collect()
        }
        _ => Vec::new(),
    }
}

fn of_dimension(dimension: Dimension) -> [String; 12] {
    let unit = dimension.si();
    let most = dimension.largest();
    let numbers = ["0", "-1", "1e-300", "1e-9", "0.001", "1000", "1e17", "2e301", "nan", "1e999"];
    let written: [String; 12] = std::array::from_fn(|i| match i {
        10 => most.to_string(),
        11 => (-most).to_string(),
        i => numbers[i].to_owned(),
    });
    written.map(|number| if unit.is_empty() { number } else { format!("{number} {unit}") })
}

/// From the text to a few segments.
fn run(case: &Case) -> Result<Ended, String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let text = std::fs::read(folder.join(&case.file)).unwrap();
    let mut document = Document::parse(&case.file, &text).map_err(|e| e.to_string())?;
    if document.apply_override(&case.path, &case.value).is_err() {
        return Ok(Ended::Refused);
    }
    let Ok(spec) = document.read(&Hooks::default()) else { return Ok(Ended::Refused) };
    if document.check_placement(&spec).is_err() {
        return Ok(Ended::Refused);
    }
    let Ok(drive) = Drive::assemble(&spec) else { return Ok(Ended::Refused) };
    if drive.grid(&spec.explore.merge).is_err() {
        return Ok(Ended::Refused);
    }
    if u64::from(spec.world.ticks(spec.explore.segment_s.value)) * SEGMENTS as u64 > TICKS_MAX {
        return Ok(Ended::Ran);
    }
    let mut state = drive.start(Seed(0), &drive.space().all()[0]).map_err(|e| format!("start: {e}"))?;
    let last = drive.errors().len().saturating_sub(1) as u16;
    for segment in 0..SEGMENTS.min(drive.segments() as usize) {
        let choice = if segment == 1 { Choice(last) } else { Choice(0) };
        match drive.run(&mut state, choice, &mut Watch::off()) {
            Ok(SegmentEnd::Open) => {}
            Ok(_) => break,
            Err(fault) => return Err(format!("segment {segment}: {fault}")),
        }
    }
    Ok(Ended::Ran)
}

/// The most main memory this process has ever had.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).map_or(0, |kb| kb * 1024)
}

#[test]
fn extreme_numbers_end_with_an_error_or_a_bounded_run() {
    let every = std::env::var("ANABRANCH_EXTREMES_EVERY").ok().map_or(EVERY, |text| text.parse().unwrap());
    let all = cases();
    let only = std::env::var("ANABRANCH_EXTREMES_ONLY").unwrap_or_default();
    let sampled = |case: &&Case| {
        let name = format!("{} {} {}", case.file, case.path, case.value);
        name.starts_with(&only) && Digest::of(name.as_bytes()).0.is_multiple_of(u128::from(every))
    };
    let chosen: Vec<Case> = all.iter().filter(sampled).cloned().collect();
    let before = peak_bytes();
    let (mut wrong, mut refused, mut ran) = (Vec::new(), 0, 0);
    for case in chosen {
        let (sender, receiver) = mpsc::channel();
        let inner = case.clone();
        let thread = std::thread::spawn(move || {
            let _ = sender.send(run(&inner));
        });
        let what = format!("{} --set {}=\"{}\"", case.file, case.path, case.value);
        let answer = receiver.recv_timeout(LONGEST);
        if answer != Err(mpsc::RecvTimeoutError::Timeout) {
            let _ = thread.join();
        }
        match answer {
            Ok(Ok(Ended::Refused)) => refused += 1,
            Ok(Ok(Ended::Ran)) => ran += 1,
            Ok(Err(fault)) => wrong.push(format!("{what}: {fault}")),
            Err(mpsc::RecvTimeoutError::Timeout) => wrong.push(format!("{what}: longer than {LONGEST:?}")),
            Err(mpsc::RecvTimeoutError::Disconnected) => wrong.push(format!("{what}: panics")),
        }
        let peak = peak_bytes();
        if peak > before + BYTES_MAX {
            wrong.push(format!("{what}: {} MB", peak / 1_000_000));
            break;
        }
    }
    println!("{} cases: {refused} refused, {ran} ran", refused + ran + wrong.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), refused + ran + wrong.len(), wrong.join("\n"));
    assert!(!only.is_empty() || refused > 100 && ran > 20, "{refused} refused, {ran} ran");
}
