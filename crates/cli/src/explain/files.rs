//! What an explanation leaves beside its finding: `minimal.toml`, `why.json` and the picture.

use std::path::{Path, PathBuf};

use anabranch_kernel::System;
use anabranch_record::picture::{Why, png, why_plot};
use anabranch_record::{Contact, ErrorRun, Finding, StartValue, publish};
use serde_json::Value;

use super::{Case, Story};
use crate::explore::contact;
use crate::failure::Failure;
use crate::project;

/// Pixels per pixel of the SVG.
const SCALE: f32 = 1.5;

/// The files beside a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The smallest counterexample, a finding of its own.
    pub minimal: PathBuf,
    /// The machine output.
    pub why: PathBuf,
    /// The picture.
    pub svg: PathBuf,
    /// The picture.
    pub png: PathBuf,
}

impl Files {
    /// Plain names in the folder of a finding; in a folder of kept findings they begin with the name of theirs.
    pub fn beside(finding: &Path) -> Self {
        let stem = finding.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let before = if ["finding", "minimal"].contains(&stem.as_str()) { String::new() } else { format!("{stem}.") };
        let file = |name: &str| finding.with_file_name(format!("{before}{name}"));
        Self { minimal: file("minimal.toml"), why: file("why.json"), svg: file("why.svg"), png: file("why.png") }
    }

    /// Names for the result.
    pub fn names(&self) -> [(&'static str, String); 4] {
        let of = |path: &PathBuf| project::relative(path);
        [("minimal", of(&self.minimal)), ("why", of(&self.why)), ("svg", of(&self.svg)), ("png", of(&self.png))]
    }
}

/// Writes all of them; each appears whole or not at all.
pub fn write(files: &Files, story: &Story<'_>, machine: &Value, why: &Why) -> Result<(), Failure> {
    let svg = why_plot(why);
    publish(&files.minimal, minimal(story).to_toml().as_bytes())?;
    publish(&files.why, format!("{machine:#}\n").as_bytes())?;
    publish(&files.svg, svg.as_bytes())?;
    publish(&files.png, &png(&svg, SCALE)?)?;
    Ok(())
}

/// The smallest counterexample as a finding that `replay` accepts.
fn minimal(story: &Story<'_>) -> Finding {
    let (case, verdict) = (story.case, &story.why.verdict);
    let Case { drive, .. } = case;
    let mut finding = Finding::new(drive.name(), case.loaded().hash, drive.segment_seconds());
    finding.seed = case.seed.0;
    finding.start = StartValue::of(drive.space(), &case.params);
    finding.errors = ErrorRun::group_needed(drive.errors(), &story.why.minimal.choices);
    finding.requirement = case.requirement_id().to_owned();
    finding.tick = verdict.tick;
    finding.time_s = verdict.tick as f64 * drive.step_s();
    finding.contact = verdict.place.map(Contact::from);
    let sector = verdict.place.as_ref().map(|place| contact::sector(drive, place).word());
    finding.group = sector.map_or_else(|| finding.requirement.clone(), |s| format!("{} {s}", finding.requirement));
    finding
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_findings_do_not_overwrite_each_other() {
        let name = |finding: &str| Files::beside(Path::new(finding)).minimal.display().to_string();
        assert_eq!(
            name("runs/x/findings/0001-no-contact/finding.toml"),
            "runs/x/findings/0001-no-contact/minimal.toml"
        );
        assert_eq!(name("findings/pull-0001.toml"), "findings/pull-0001.minimal.toml");
        assert_eq!(
            name("runs/x/findings/0001-no-contact/minimal.toml"),
            "runs/x/findings/0001-no-contact/minimal.toml"
        );
    }
}
