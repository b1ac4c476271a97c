//! The pages that are written from tables of the program are those of today.

use std::path::PathBuf;

use anabranch_scenario::file::{codes_reference, format_reference};

/// Set to write the pages instead of comparing them.
const UPDATE: &str = "UPDATE";

#[track_caller]
fn check(page: &str, today: &str) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(&file, today).unwrap_or_else(|e| panic!("docs/{page}: {e}"));
        return;
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    let differs = written.lines().zip(today.lines()).position(|(old, new)| old != new);
    let line = differs.unwrap_or(written.lines().count().min(today.lines().count())) + 1;
    assert!(
        written == today,
        "docs/{page} is not what the program says, from line {line} on; write it again with\n  \
         {UPDATE}=1 cargo test -p anabranch-scenario reference::"
    );
}

#[test]
fn the_page_of_the_scenario_format_is_up_to_date() {
    check("scenario-format.md", &format_reference());
}

#[test]
fn the_page_of_error_codes_is_up_to_date() {
    check("error-codes.md", &codes_reference());
}
