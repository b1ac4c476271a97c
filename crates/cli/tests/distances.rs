//! How far apart merged states were, in the tables of a run, held against both states.

use std::collections::BTreeMap;

use anabranch_kernel::{Choice, KeyReader, Reading, Seed, SegmentEnd, System, Watch};
use anabranch_record::graph_diff::{ErrorSequence, Graph};
use anabranch_record::table::{SegmentFate, SegmentRow, read_variables};
use anabranch_scenario::Drive;
use anabranch_scenario::file::{Hooks, read_scenario};

use crate::common::Project;

/// Distances are stored in 1/256 of a cell; the rest is rounding.
const STEP: f64 = 1.001 / 256.0;

/// The estimated position may jump to any of eight sides every second: many similar states.
const SCENARIO: &str = include_str!("../../../scenarios/narrow-passage.toml");
const EXPLORE: [&str; 8] =
    ["explore", "scenario.toml", "--until", "4 s", "--set", "must.arrives.by=\"4 s\"", "--no-pictures", "-q"];

fn drive(text: &str) -> Drive {
    let (_, spec) = read_scenario("scenario.toml", text.as_bytes(), &Hooks::default()).unwrap();
    Drive::assemble(&spec).unwrap()
}

/// The continuous variables where a path ends, run from the start without merging.
fn values(drive: &Drive, path: &ErrorSequence) -> BTreeMap<usize, f64> {
    let start = &drive.space().all()[usize::from(path.start)];
    let mut state = drive.start(Seed(0), start).unwrap();
    for &choice in &path.choices {
        let end = drive.run(&mut state, Choice(choice), &mut Watch::off()).unwrap();
        assert_eq!(end, SegmentEnd::Open, "{path:?}");
    }
    let read = KeyReader::new(drive.variables().len()).read(|writer| drive.cell(&state, writer));
    let real = |(variable, reading)| match reading {
        Reading::Real(value) => Some((variable, value)),
        Reading::Exact(_) => None,
    };
    read.into_iter().filter_map(real).collect()
}

fn path_of(graph: &Graph, row: &SegmentRow) -> ErrorSequence {
    let mut path = graph.sequence_to(row.parent).unwrap();
    path.choices.push(row.choice);
    path
}

/// The path to the first member of every cell.
fn first_members(graph: &Graph) -> BTreeMap<u32, ErrorSequence> {
    let mut firsts = BTreeMap::new();
    for state in graph.states.iter().filter(|state| state.parent.is_none()) {
        firsts.entry(state.cell.unwrap()).or_insert_with(|| graph.sequence_to(state.node).unwrap());
    }
    for row in graph.segments.iter().filter(|row| row.fate == SegmentFate::Kept) {
        firsts.entry(row.cell.unwrap()).or_insert_with(|| path_of(graph, row));
    }
    firsts
}

#[test]
fn the_distance_of_merged_states_is_what_running_both_shows() {
    let project = Project::new();
    project.write("scenario.toml", SCENARIO);
    let ran = project.run(&EXPLORE);
    assert!(matches!(ran.code, 0 | 1 | 5), "{ran:?}");
    let folder = project.file("runs/last");
    let (graph, drive) = (Graph::read(&folder).unwrap(), drive(SCENARIO));
    let variables = read_variables(&folder.join("segments.parquet")).unwrap();
    let names: Vec<&str> = variables.iter().map(|variable| &variable.name[..]).collect();
    assert_eq!(names, drive.variables().iter().map(|variable| &variable.name[..]).collect::<Vec<_>>());
    let firsts = first_members(&graph);
    let merged: Vec<&SegmentRow> = graph.segments.iter().filter(|row| row.fate == SegmentFate::Merged).collect();
    assert!(merged.len() > 50 && merged.iter().all(|row| row.apart.is_some()), "{} merged", merged.len());
    let mut shares = Vec::new();
    for row in merged.iter().step_by(merged.len() / 50) {
        let apart = row.apart.unwrap();
        let (here, first) = (values(&drive, &path_of(&graph, row)), values(&drive, &firsts[&row.cell.unwrap()]));
        let differences = here.iter().filter_map(|(variable, value)| {
            let cell = variables[*variable].cell?;
            Some((*variable, (value - first[variable]).abs() / cell))
        });
        let differences: BTreeMap<usize, f64> = differences.collect();
        let named = differences[&usize::from(apart.variable)];
        assert!((named - apart.share).abs() < STEP, "{row:?}: {named} cells");
        assert!(differences.values().all(|difference| *difference < apart.share + STEP), "{row:?}: {differences:?}");
        shares.push(apart.share);
    }
    assert!(shares.iter().any(|share| *share > 0.1) && shares.iter().all(|share| *share < 1.0), "{shares:?}");
    // Whoever opened a cell has nothing to be compared with.
    let opened = graph.segments.iter().filter(|row| row.fate == SegmentFate::Kept && row.apart.is_none()).count();
    assert_eq!(opened + 1, firsts.len());
    assert!(graph.segments.iter().all(|row| row.cell.is_some() || row.apart.is_none()));
}
