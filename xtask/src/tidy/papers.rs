//! The page about the papers: every item has one row, and *done* has a test that exists.

use std::collections::BTreeMap;

use super::{Notes, Source};

/// The page.
pub const PAPERS: &str = "docs/papers.md";
/// The table of frameworks (S2-19).
pub const FRAMEWORKS: &str = "docs/frameworks.md";
/// Frameworks of the paper, and their requirements.
const FRAMEWORK_ROWS: usize = 13;
const REQUIREMENTS: usize = 7;
/// How many items each paper has: S1, S2, S3, S4.
const ITEMS: [usize; 4] = [56, 54, 32, 24];
const STATUS: [&str; 4] = ["done", "part", "in work", "planned"];
/// Columns of the rows that name a place and a test: id, what, where, test, paper's figure, ours, status.
const COLUMNS: usize = 7;

/// All rules for the page. `sources` is where tests are looked for.
pub fn check(notes: &mut Notes<'_>, sources: &[Source], exists: &dyn Fn(&str) -> bool) {
    let mut rows = BTreeMap::new();
    for (at, line) in notes.source.text.lines().enumerate().filter(|(_, line)| line.starts_with("| S")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let Some(id) = cells[0].strip_prefix('S').and_then(|id| id.split_once('-')) else { continue };
        if rows.insert((id.0.to_owned(), id.1.to_owned()), at).is_some() {
            notes.add(at, format!("{} has a second row", cells[0]));
        }
        let status = cells[cells.len() - 1];
        if !STATUS.iter().any(|known| status.starts_with(known)) {
            notes.add(at, format!("the status `{status}` is none of: {}", STATUS.join(", ")));
        }
        if cells.len() == COLUMNS && status.starts_with("done") {
            check_done(notes, at, &cells, sources, exists);
        }
    }
    for (paper, items) in ITEMS.iter().enumerate() {
        for item in 1..=*items {
            if !rows.contains_key(&((paper + 1).to_string(), item.to_string())) {
                notes.add(0, format!("S{}-{item} has no row", paper + 1));
            }
        }
    }
}

/// The table of frameworks has all of them, and our own row among them.
pub fn check_frameworks(notes: &mut Notes<'_>) {
    let text = notes.source.text.clone();
    let rows = text.lines().enumerate().skip_while(|(_, line)| !line.starts_with("| framework |")).skip(2);
    let rows: Vec<(usize, &str)> = rows.take_while(|(_, line)| line.starts_with('|')).collect();
    let own = rows.iter().filter(|(_, line)| line.contains("**Anabranch**")).count();
    if own != 1 || rows.len() != FRAMEWORK_ROWS + 1 {
        let message = format!("the table has {} frameworks and {own} rows of ours, not 13 and 1", rows.len() - own);
        notes.add(rows.first().map_or(0, |(at, _)| *at), message);
    }
    for (at, line) in rows {
        let cells = line.trim_matches('|').split('|').map(str::trim).filter(|cell| !cell.is_empty()).count();
        if cells != REQUIREMENTS + 1 {
            notes.add(at, format!("this framework has {} of {REQUIREMENTS} answers", cells.saturating_sub(1)));
        }
    }
}

fn check_done(notes: &mut Notes<'_>, at: usize, cells: &[&str], sources: &[Source], exists: &dyn Fn(&str) -> bool) {
    for path in quoted(cells[2]).filter(|path| path.contains('/') && !exists(path)) {
        notes.add(at, format!("{} lives in `{path}`, which does not exist", cells[0]));
    }
    let tests: Vec<&str> = quoted(cells[3]).collect();
    if tests.is_empty() {
        notes.add(at, format!("{} is done, but no test shows it: name one, or call it `part`", cells[0]));
    }
    for test in tests {
        let name = test.rsplit("::").next().unwrap_or(test);
        let found = exists(test) || sources.iter().any(|source| source.text.contains(&format!("fn {name}(")));
        if !found {
            notes.add(at, format!("{} names the test `{test}`, which does not exist", cells[0]));
        }
    }
}

fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page in which every item is planned, with the row of S1-2 replaced.
    fn page(row: &str) -> String {
        let mut page = String::new();
        for (paper, items) in ITEMS.iter().enumerate() {
            for item in 1..=*items {
                if (paper, item) == (0, 2) {
                    page += row;
                } else {
                    page += &format!("| S{}-{item} | what | planned |\n", paper + 1);
                }
            }
        }
        page
    }

    fn check_row(row: &str, expect: &[&str]) {
        let source = Source { path: PAPERS.to_owned(), text: page(row) };
        let code = Source { path: "a.rs".to_owned(), text: "fn paths_are_counted() {}\n".to_owned() };
        let mut notes = Notes { source: &source, complaints: Vec::new() };
        check(&mut notes, &[code], &|path| path == "crates/explore");
        let found: Vec<&str> = notes.complaints.iter().map(|complaint| complaint.message.as_str()).collect();
        let alike = found.len() == expect.len() && found.iter().zip(expect).all(|(found, part)| found.contains(part));
        assert!(alike, "found {found:#?}\nexpected {expect:#?}");
    }

    #[test]
    fn the_table_of_frameworks_has_every_row_and_column() {
        let row = |name: &str| format!("| {name} | – | – | – | – | – | – | – |\n");
        let table = |names: &[&str], last: &str| {
            let rows: String = names.iter().map(|name| row(name)).collect();
            format!("| framework | a |\n|---|---|\n{rows}{last}\n")
        };
        let complaints = |text: String| {
            let source = Source { path: FRAMEWORKS.to_owned(), text };
            let mut notes = Notes { source: &source, complaints: Vec::new() };
            check_frameworks(&mut notes);
            notes.complaints.into_iter().map(|complaint| complaint.message).collect::<Vec<_>>()
        };
        let mut names = vec!["**Anabranch**"];
        names.extend(["x"; 12]);
        assert_eq!(complaints(table(&names, &row("y"))), Vec::<String>::new());
        assert_eq!(complaints(table(&names, "")), ["the table has 12 frameworks and 1 rows of ours, not 13 and 1"]);
        assert_eq!(complaints(table(&names, "| y | – |\n")), ["this framework has 1 of 7 answers"]);
    }

    #[test]
    fn every_item_has_one_row_with_a_known_status() {
        check_row("| S1-2 | what | part: something |\n", &[]);
        check_row("", &["S1-2 has no row"]);
        check_row("| S1-2 | a | planned |\n| S1-2 | b | planned |\n", &["S1-2 has a second row"]);
        check_row("| S1-2 | what | perhaps |\n", &["`perhaps` is none of"]);
    }

    #[test]
    fn done_names_a_place_and_a_test_that_exist() {
        check_row("| S1-2 | a | `crates/explore` | `tests::paths_are_counted` | 3 | 3 | done |\n", &[]);
        check_row("| S1-2 | a | `crates/explore` | | 3 | 3 | done |\n", &["no test shows it"]);
        check_row("| S1-2 | a | `crates/other` | `nobody` | | | done |\n", &["`crates/other`", "the test `nobody`"]);
        check_row("| S1-2 | a | `crates/other` | `nobody` | | | in work |\n", &[]);
    }
}
