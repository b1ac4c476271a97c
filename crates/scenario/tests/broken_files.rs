//! Every file in `broken/` says in its first line what must be found in it: `# expect: E0104 12:10`. A second line
//! `# set: ego.start.y=0.1 m` applies an override; `--set` as the place then means the override itself.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anabranch_scenario::file::{Code, Diagnostic, Document, Hooks, Report, read_scenario};

fn broken_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn read(name: &str, bytes: &[u8]) -> Result<(), Report> {
    let text = String::from_utf8_lossy(bytes);
    let set = text.lines().nth(1).and_then(|line| line.strip_prefix("# set: ")?.split_once('='));
    let hooks = Hooks::default();
    let Some((path, value)) = set else { return read_scenario(name, bytes, &hooks).map(|_| ()) };
    let mut document = Document::parse(name, bytes)?;
    document.apply_override(path, value)?;
    let spec = document.read(&hooks)?;
    document.check_placement(&spec)
}

fn summary(found: &Diagnostic) -> String {
    let file = if found.file == "--set" { "--set " } else { "" };
    format!("{} {file}{}:{}", found.code, found.line, found.column)
}

#[test]
fn every_broken_file_is_reported_where_it_says() {
    let mut mismatches = Vec::new();
    for path in broken_files() {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let first = String::from_utf8_lossy(&bytes).lines().next().unwrap_or_default().to_owned();
        let expect = first.strip_prefix("# expect: ").unwrap_or("a line `# expect: E0104 12:10`").to_owned();
        let found = match read(&name, &bytes) {
            Ok(()) => "nothing".to_owned(),
            Err(report) => report.diagnostics.iter().map(summary).collect::<Vec<_>>().join(", "),
        };
        if found != expect {
            mismatches.push(format!("{name}: expected {expect}, found {found}"));
        }
    }
    assert!(mismatches.is_empty(), "{} mismatches:\n{}", mismatches.len(), mismatches.join("\n"));
}

#[test]
fn every_code_has_a_broken_file() {
    let files = broken_files();
    assert!(files.len() >= 70, "{} files", files.len());
    let mut shown = BTreeSet::new();
    for path in files {
        let bytes = std::fs::read(path).unwrap();
        shown.extend(read("broken.toml", &bytes).unwrap_err().diagnostics.iter().map(|found| found.code));
    }
    // A file of more than 4 MB is made up below instead of being kept.
    shown.insert(Code::TooLarge.text());
    let missing: Vec<&Code> = Code::ALL.iter().filter(|code| !shown.contains(code.text())).collect();
    assert!(missing.is_empty(), "no file for {missing:?}");
}

#[test]
fn a_file_that_is_too_large_is_refused() {
    let report = Document::parse("large.toml", &vec![b'#'; (4 << 20) + 1]).unwrap_err();
    assert_eq!(summary(&report.diagnostics[0]), "E0102 1:1");
}

#[test]
fn more_walls_than_can_be_handled_are_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken");
    let text = std::fs::read_to_string(folder.join("wall-beyond-the-world.toml")).unwrap();
    let line = text.lines().find(|line| line.starts_with("line = ")).unwrap();
    let found = |walls: String| {
        let text = text.replace(line, &walls);
        let report = read_scenario("walls.toml", text.as_bytes(), &Hooks::default()).unwrap_err();
        report.diagnostics.iter().map(|one| one.code).collect::<Vec<_>>()
    };
    let points = |y: usize| {
        let point = |x: usize| format!("[\"{} m\", \"{} m\"]", 100 + x, 100 + y);
        (0..500).map(point).collect::<Vec<_>>().join(", ")
    };
    let many: Vec<String> = (0..50).map(|y| format!("line = [{}]\n", points(y))).collect();
    assert_eq!(found(many.join("[[world.wall]]\n")), ["E0123"]);
    let long = "line = [[\"-1e6 m\", \"9 m\"], [\"1e6 m\", \"9 m\"]]\n[[world.wall]]\n".repeat(8);
    assert_eq!(found(format!("{long}line = [[\"0 m\", \"9 m\"], [\"1 m\", \"9 m\"]]")), ["E0119"]);
}

#[test]
fn more_requirements_than_can_be_judged_are_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken");
    let text = std::fs::read_to_string(folder.join("goal-too-far-to-plan.toml")).unwrap();
    let wishes = |count: usize| -> String {
        (0..count).map(|i| format!("\n[[should]]\nid = \"wish-{i}\"\nnever = \"ego.clearance < 0.{i} m\"\n")).collect()
    };
    let text = text.replace("-1000 km", "-17 m");
    // It has two of its own.
    for (more, expect) in [(30, Ok(())), (31, Err("E0123"))] {
        let read = read_scenario("many.toml", (text.clone() + &wishes(more)).as_bytes(), &Hooks::default());
        assert_eq!(read.map(|_| ()).map_err(|report| report.diagnostics[0].code), expect, "{more}");
    }
}

#[test]
fn mistakes_of_a_map_are_shown_where_they_are_in_the_map() {
    let map = "schema = \"anabranch-road/1\"\n\n[[road]]\nid = \"main\"\nline = [[\"0 m\", \"0 m\"], [\"0 m\", \"0 m\"]]\nwidht = 3\n";
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken");
    let text = std::fs::read_to_string(folder.join("road-of-a-tight-arc.toml")).unwrap();
    let (before, after) = text.split_once("[road]\n").unwrap();
    let after = &after[after.find("\n[").unwrap()..];
    let text = format!("{before}[road]\nmap = \"town.road.toml\"\n{after}");
    let hooks = Hooks { read_file: &|name| (name == "town.road.toml").then(|| map.to_owned()), ..Hooks::default() };
    let report = read_scenario("cases/drive.toml", text.as_bytes(), &hooks).unwrap_err();
    let found: Vec<String> = report.diagnostics.iter().map(|one| format!("{} {}", one.file, summary(one))).collect();
    assert_eq!(found, ["cases/town.road.toml E0105 6:1"]);
    let map = map.replace("widht = 3\n", "");
    let hooks = Hooks { read_file: &|_| Some(map.clone()), ..Hooks::default() };
    let report = read_scenario("drive.toml", text.as_bytes(), &hooks).unwrap_err();
    let found: Vec<String> = report.diagnostics.iter().map(|one| format!("{} {}", one.file, summary(one))).collect();
    assert_eq!(found, ["town.road.toml E0603 5:25"]);
    assert!(report.to_string().contains("--> town.road.toml:5:"), "{report}");
}

#[test]
fn twenty_mistakes_are_shown_and_the_rest_is_counted() {
    let text: String = (0..50).map(|i| format!("key{i} = 1\n")).collect();
    let report = read_scenario("many.toml", text.as_bytes(), &Hooks::default()).unwrap_err();
    assert_eq!((report.diagnostics.len(), report.left_out), (20, 35));
}
