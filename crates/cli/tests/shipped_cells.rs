//! No shipped scenario depends on cells that somebody chose by hand.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::common::Project;

/// Explored in every test run; `ANABRANCH_SHIPPED_CELLS=1` asks for all, which takes minutes.
const QUICK: [&str; 8] = [
    "first-steps",
    "late-obstacle",
    "narrow-passage-eager",
    "small-obstacle",
    "steady-corridor",
    "sudden-obstacle",
    "truck-with-trailer",
    "weak-brakes",
];
/// Scenarios that may stay without a verdict, and those that may take more than three times the segments, among all of them.
const OPEN_MAX: usize = 3;
const DEARER_MAX: usize = 9;

/// A scenario, explored with its own cells and with those that the program measures.
struct Explored {
    verdicts: [String; 2],
    segments: [f64; 2],
}

fn scenarios() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let is_all = std::env::var("ANABRANCH_SHIPPED_CELLS").is_ok();
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let named = files.filter(|path| path.extension().is_some_and(|end| end == "toml")).map(|path| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, std::fs::read_to_string(path).unwrap())
    });
    named.filter(|(name, _)| is_all || QUICK.contains(&name.as_str())).collect()
}

/// The file without its key `merge`, which is a line of its own wherever it is.
fn without_cells(file: &str) -> String {
    file.lines().filter(|line| !line.starts_with("merge")).map(|line| format!("{line}\n")).collect()
}

fn explore(project: &Project, name: &str, file: &str) -> (String, f64) {
    let path = format!("{name}.toml");
    project.write(&path, file);
    let (_, found): (i32, Value) = project.json(&["explore", &path, "--no-pictures", "-q"]);
    let verdict = found["conclusion"]["kind"].as_str().unwrap_or_else(|| panic!("{name}: {found}"));
    (verdict.to_owned(), found["segments"].as_f64().unwrap())
}

#[test]
fn verdicts_of_shipped_scenarios_do_not_depend_on_their_cells() {
    let project = Project::new();
    let mut explored = BTreeMap::new();
    for (name, file) in scenarios() {
        let (own, measured) = (explore(&project, &name, &file), explore(&project, &name, &without_cells(&file)));
        println!("{name}: {own:?} with its own cells, {measured:?} with measured ones");
        explored.insert(name, Explored { verdicts: [own.0, measured.0], segments: [own.1, measured.1] });
    }
    assert!(explored.len() >= QUICK.len());
    let open = explored.values().filter(|e| !["violated", "safe", "not found"].contains(&e.verdicts[0].as_str()));
    assert!(open.count() <= OPEN_MAX);
    let differ = explored.iter().filter(|(_, e)| e.verdicts[0] != e.verdicts[1]).map(|(name, _)| name);
    assert_eq!(differ.collect::<Vec<_>>(), Vec::<&String>::new(), "their verdict depends on their cells");
    let dearer = explored.values().filter(|e| e.segments[1] > 3.0 * e.segments[0]).count();
    assert!(dearer <= DEARER_MAX, "{dearer} take more than three times the segments");
}
