//! A finding as a small file of *values*: start values, the error of every segment by name, and the verdict.
//!
//! It holds no number of a choice, so it survives a scenario whose errors were reordered or extended; an error that
//! no longer exists is reported with its line.
//!
//! ```
//! use anabranch_kernel::{Choice, Digest, ErrorSpace};
//! use anabranch_record::{Finding, ErrorRun};
//!
//! let space = ErrorSpace::of_one_site("jump", &["none", "left 0.1 m", "right 0.1 m"]);
//! let choices = [0, 0, 1, 2, 2].map(Choice);
//! let mut finding = Finding::new("narrow-passage", Digest::of(b"text"), 1.0);
//! finding.errors = ErrorRun::group(&space, &choices, &[]);
//! let again = Finding::from_toml(&finding.to_toml()).unwrap();
//! assert_eq!(again.choices(&space).unwrap(), choices);
//! ```

mod keep;
mod names;
mod read;
mod write;

pub use keep::{Kept, keep};

use anabranch_kernel::{Axis, Choice, Digest, ErrorSpace, ParamSpace, Params, Place};

/// A start parameter of a finding.
#[derive(Clone, Debug, PartialEq)]
pub struct StartValue {
    /// Key in the scenario: `ego.start.y`.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Unit of the value; empty for plain numbers.
    pub unit: String,
}

/// The same error during one or more segments in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorRun {
    /// How many segments.
    pub segments: u32,
    /// Erroneous sites with the name of their mode; empty for "none".
    pub modes: Vec<(String, String)>,
    /// Whether the violation needs this error; `None` if nobody has asked yet.
    pub matters: Option<bool>,
    /// Line in the file it was read from; 0 if it was not read.
    pub line: usize,
}

/// Where the contact was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// In the frame of the system under test, metres.
    pub on_ego_m: [f64; 2],
    /// In the world, metres.
    pub in_world_m: [f64; 2],
    /// Number of the other participant or obstacle.
    pub other: u32,
}

impl From<Place> for Contact {
    fn from(place: Place) -> Self {
        Self { on_ego_m: place.on_ego, in_world_m: place.in_world, other: place.other }
    }
}

/// One way in which a requirement is violated.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Name of the scenario.
    pub scenario: String,
    /// Its file, relative to the project; empty if unknown.
    pub scenario_file: String,
    /// Digest of the scenario text it was found with, and of what was changed in it.
    pub scenario_hash: Digest,
    /// What was changed in the scenario on the command line, in order: key and value.
    pub set: Vec<(String, String)>,
    /// Seed of all chance in the scenario.
    pub seed: u64,
    /// Start values, in the order of the scenario.
    pub start: Vec<StartValue>,
    /// Seconds of one segment.
    pub segment_s: f64,
    /// The errors from the start to the verdict.
    pub errors: Vec<ErrorRun>,
    /// Name of the violated requirement.
    pub requirement: String,
    /// Base cycle of the verdict.
    pub tick: u64,
    /// Seconds since the start at the verdict.
    pub time_s: f64,
    /// Where the contact was, if there was one.
    pub contact: Option<Contact>,
    /// Findings of one group are the same mishap for a person: `no-contact left-rear`.
    pub group: String,
}

/// A finding file that cannot be read or no longer fits its scenario.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {kind}")]
pub struct FindingError {
    /// Line in the file, from 1; 0 where the whole file is meant.
    pub line: usize,
    /// What is wrong.
    pub kind: FindingErrorKind,
}

/// What is wrong with a finding file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindingErrorKind {
    /// Not TOML, or not the keys of a finding.
    #[error("{0}")]
    Syntax(String),
    /// Written by another generation of the tool.
    #[error("schema `{0}` is not understood; this version reads `{expected}`", expected = Finding::SCHEMA)]
    Schema(String),
    /// A value of another form.
    #[error("`{text}` is not {expected}")]
    Value {
        /// As written.
        text: String,
        /// What is needed, with an example.
        expected: &'static str,
    },
    /// Segments overlap, leave a gap or are no whole number of segments.
    #[error(
        "the error lasts {text}, but must begin at {expected_from_s} s and last a whole number of segments of {segment_s} s"
    )]
    Times {
        /// As written.
        text: String,
        /// End of the error before.
        expected_from_s: String,
        /// Length of a segment.
        segment_s: String,
    },
    /// The scenario has no such error any more.
    #[error("the scenario has no error `{site}`; it has {known}")]
    NoSuchSite {
        /// Id of the error.
        site: String,
        /// Those there are.
        known: String,
    },
    /// The error has no such mode any more.
    #[error("the error `{site}` has no mode `{mode}`; it has {known}")]
    NoSuchMode {
        /// Id of the error.
        site: String,
        /// Name of the mode.
        mode: String,
        /// Those there are.
        known: String,
    },
    /// The scenario does not allow these errors at the same time.
    #[error("the scenario does not allow {0} at the same time; see `at_once`")]
    NotTogether(String),
    /// Start values of the file and of the scenario differ.
    #[error("the start values do not fit the scenario: {0}")]
    Start(String),
}

impl FindingErrorKind {
    fn at(self, line: usize) -> FindingError {
        FindingError { line, kind: self }
    }
}

impl Finding {
    /// Schema of `finding.toml`.
    pub const SCHEMA: &'static str = "anabranch.finding/1";

    /// A finding of a scenario with everything else empty.
    pub fn new(scenario: &str, scenario_hash: Digest, segment_s: f64) -> Self {
        Self {
            scenario: scenario.to_owned(),
            scenario_file: String::new(),
            scenario_hash,
            set: Vec::new(),
            seed: 0,
            start: Vec::new(),
            segment_s,
            errors: Vec::new(),
            requirement: String::new(),
            tick: 0,
            time_s: 0.0,
            contact: None,
            group: String::new(),
        }
    }

    /// The file.
    pub fn to_toml(&self) -> String {
        write::to_toml(self)
    }

    /// The finding behind a file.
    ///
    /// # Errors
    /// When the text is not a finding, with its line.
    pub fn from_toml(text: &str) -> Result<Self, FindingError> {
        read::from_toml(text)
    }

    /// The choice of every segment in today's scenario.
    ///
    /// # Errors
    /// When an error, a mode or a combination no longer exists, with its line.
    pub fn choices(&self, space: &ErrorSpace) -> Result<Vec<Choice>, FindingError> {
        names::choices(&self.errors, space)
    }

    /// The start values in today's scenario.
    ///
    /// # Errors
    /// When the scenario has other start parameters.
    pub fn params(&self, space: &ParamSpace) -> Result<Params, FindingError> {
        names::params(&self.start, space)
    }
}

impl StartValue {
    /// Names the values of a start.
    ///
    /// # Panics
    /// When there are fewer values than axes.
    pub fn of(space: &ParamSpace, params: &Params) -> Vec<Self> {
        let value =
            |(axis, value): (&Axis, &f64)| Self { name: axis.name.clone(), value: *value, unit: axis.unit.clone() };
        assert_eq!(space.axes.len(), params.0.len(), "one value per axis");
        space.axes.iter().zip(&params.0).map(value).collect()
    }
}

impl ErrorRun {
    /// Groups equal choices in a row. `matters` has one entry per choice or is empty.
    ///
    /// # Panics
    /// When a choice is not in the space.
    pub fn group(space: &ErrorSpace, choices: &[Choice], matters: &[bool]) -> Vec<Self> {
        names::group(space, choices, matters)
    }

    /// Groups the choices of a smallest counterexample: every error in it is needed, and "no error" is not asked.
    ///
    /// # Panics
    /// When a choice is not in the space.
    pub fn group_needed(space: &ErrorSpace, choices: &[Choice]) -> Vec<Self> {
        let mut runs = names::group(space, choices, &[]);
        runs.iter_mut().filter(|run| !run.modes.is_empty()).for_each(|run| run.matters = Some(true));
        runs
    }
}
