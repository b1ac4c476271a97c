//! The shipped scenario that figures are measured on.

use anabranch_explore::{Keep, Merge, Settings};
use anabranch_kernel::System;
use anabranch_scenario::Drive;
use anabranch_scenario::file::{Document, Hooks};

const NARROW_PASSAGE: &str = include_str!("../../../scenarios/narrow-passage.toml");

/// `narrow-passage` with some values changed, and the settings its file asks for.
pub(crate) fn narrow_passage(overrides: &[(&str, &str)]) -> (Drive, Settings) {
    let mut document = Document::parse("narrow-passage.toml", NARROW_PASSAGE.as_bytes()).expect("a shipped scenario");
    for (key, value) in overrides {
        document.apply_override(key, value).unwrap_or_else(|report| panic!("{report}"));
    }
    let spec = document.read(&Hooks::default()).unwrap_or_else(|report| panic!("{report}"));
    let drive = Drive::assemble(&spec).expect("a shipped scenario can be assembled");
    let mut settings = Settings::new(drive.variables(), drive.time_matters());
    settings.keep = Keep::Extremes;
    settings.merge = drive.grid(&spec.explore.merge).ok().flatten().map_or(Merge::None, Merge::Grid);
    (drive, settings)
}
