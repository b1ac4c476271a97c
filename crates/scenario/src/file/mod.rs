//! Scenario files: text in, a typed [`ScenarioSpec`] in SI units out, or a [`Report`] that points at every mistake.
//!
//! ```
//! use anabranch_scenario::file::{Document, Hooks};
//!
//! let text = r#"
//! schema = "anabranch/1"
//! name = "first"
//! [world]
//! step = "10 ms"
//! [ego]
//! start = { x = "0 m", y = "0 m" }
//! goal = { x = "5 m", y = "0 m" }
//! [explore]
//! until = 20
//! "#;
//! let mut document = Document::parse("first.toml", text.as_bytes()).unwrap();
//! let report = document.read(&Hooks::default()).unwrap_err();
//! assert_eq!(report.diagnostics[0].code, "E0104");
//! assert!(report.to_string().contains("help: write \"20 s\""));
//!
//! document.apply_override("explore.until", "20 s").unwrap();
//! assert_eq!(document.read(&Hooks::default()).unwrap().explore.segments(), 20);
//! ```

mod build;
pub(crate) use build::{script, sensor, way};
mod check;
mod codes;
mod error_spec;
mod helper_spec;
mod inline;
pub mod keys;
mod model_spec;
mod motion_spec;
mod outside;
mod overrides;
mod problems;
mod reference;
mod road_spec;
mod search_spec;
mod shape;
mod short;
mod sizes;
mod span;
mod spec;
mod tree;
mod values;
mod varying;
mod view;
mod words;

use std::fmt;

pub use anabranch_geometry::tiles::AnyBytes;
pub use anabranch_roads::report::{Colour, DIAGNOSTICS_MAX, Diagnostic, Report};
pub use codes::Code;
pub use error_spec::{DriftSize, ErrorKind, ErrorSpec, LimitsSpec, ModeWeights, ProbabilitySpec};
pub use helper_spec::{HelperSpec, RadioGiven, TyresGiven};
pub use inline::{error_file, variation_file};
pub use model_spec::{CommandSlots, ModelCell, ModelInput, ModelSource, ModelSpec, StageSpec, is_model};
pub use motion_spec::{FilterSpec, GaugeGiven, MotionSensorGiven, PlainSpec, VehicleModel, ZoneEffect, ZoneSpec};
pub use outside::{MappingSpec, OutsideSpec, PartKind, PartSpec, Program};
pub use reference::{codes_reference, format_reference, schema_json};
pub use road_spec::{
    ActAt, FlowSpec, ObjectSpec, PoseAt, RoadSpec, ScriptSpec, SensorSpec, StrollSpec, TrafficSpec, TriggerSpec,
    TriggerWhat, TriggerWhen,
};
pub use search_spec::{Over, Range, SearchSpec, VarySpec};
pub use span::{Located, Place, Source, Span};
pub use spec::{
    BudgetSpec, DoorSpec, DriverSpec, EgoSpec, ExploreSpec, GivenSpec, GoalSpec, Level, MergeCell, MergeSize,
    MergeSpec, ObstacleSensorSpec, ObstacleSpec, RequirementSpec, ScenarioSpec, Start, StartSpec, TilesSpec,
    VehicleSpec, WallSpec, WorldSpec,
};
pub use tree::{Document, FILE_BYTES_MAX};
pub use words::{
    Care, DriverKind, ErrorPlace, Expect, Form, Frame, Gear, HiddenMemory, JunctionControl, Keep, LightColour, Manner,
    ObjectKind, Order, RoadShape, RoadSide, Scope, SteeringLaw, VehicleKind, Walking,
};

use problems::Problems;

/// Where and why an expression of a requirement cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// First byte in the expression.
    pub offset: usize,
    /// Bytes, at least 1.
    pub length: usize,
    /// What happened.
    pub message: String,
    /// How to go on; may be empty.
    pub help: String,
}

/// Checks an expression of a requirement.
pub type CheckExpression<'h> = &'h dyn Fn(&str) -> Result<(), ExpressionError>;

/// What the reader asks others for.
#[derive(Clone, Copy)]
pub struct Hooks<'h> {
    /// Whether an expression can be understood.
    pub check_expression: CheckExpression<'h>,
    /// Whether there is a file of this name, as written in the scenario.
    pub has_file: &'h dyn Fn(&str) -> bool,
    /// The text of a map file of this name, as written in the scenario.
    pub read_file: &'h dyn Fn(&str) -> Option<String>,
    /// A file of tiles of this name, open.
    pub open_tiles: &'h dyn Fn(&str) -> Option<AnyBytes>,
    /// The component models that belong to a file of this name, as written in the scenario.
    pub read_models: ReadModels<'h>,
}

/// Opens a file that is read piece by piece.
pub fn open_bytes(path: &std::path::Path) -> Option<AnyBytes> {
    let is_file = path.is_file();
    std::fs::File::open(path).ok().filter(|_| is_file).map(|file| AnyBytes::new(std::sync::Mutex::new(file)))
}

/// Reads component models: all that a file can use, and the full names of the components in it, the usual one first.
pub type ReadModels<'h> = &'h dyn Fn(&str) -> std::io::Result<(anabranch_language::Library, Vec<String>)>;

impl Default for Hooks<'_> {
    /// Expressions are those of the monitors, about the signals of a car at low speed; files are looked for from where
    /// the program runs.
    fn default() -> Self {
        Self {
            check_expression: &check_with_monitors,
            has_file: &|name| std::path::Path::new(name).is_file(),
            read_file: &|name| std::fs::read_to_string(name).ok(),
            open_tiles: &|name| open_bytes(std::path::Path::new(name)),
            read_models: &|name| anabranch_language::Library::around(std::path::Path::new(name)),
        }
    }
}

fn check_with_monitors(text: &str) -> Result<(), ExpressionError> {
    check_against(text, anabranch_monitors::LOW_SPEED_SIGNALS)
}

fn check_against(text: &str, table: &[(&str, anabranch_monitors::SignalKind)]) -> Result<(), ExpressionError> {
    check_as(anabranch_monitors::Rule::Always, text, table)
}

fn check_as(
    rule: anabranch_monitors::Rule,
    text: &str,
    table: &[(&str, anabranch_monitors::SignalKind)],
) -> Result<(), ExpressionError> {
    let compiled = anabranch_monitors::Requirement::new("", anabranch_monitors::Level::Must, rule, text, table);
    compiled.map(|_| ()).map_err(|error| ExpressionError {
        offset: error.at.offset,
        length: error.at.length,
        message: error.message,
        help: error.suggestion.unwrap_or_default(),
    })
}

impl fmt::Debug for Hooks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hooks")
    }
}

impl Document {
    /// The scenario with all checks but those of [`Self::check_placement`].
    ///
    /// # Errors
    /// With every mistake of the first pass (keys, types, units), or if there is none, of the second (meaning).
    pub fn read(&self, hooks: &Hooks<'_>) -> Result<ScenarioSpec, Report> {
        let mut problems = Problems::new(self);
        shape::check_root(&mut problems);
        if !problems.is_empty() {
            return Err(problems.into_report());
        }
        let spec = build::build(&mut problems, hooks);
        if let Some(spec) = &spec {
            check::timing::check(&mut problems, spec);
            check::probability::check(&mut problems, spec);
            check::given::check(&mut problems, spec);
            check_expressions(&mut problems, spec, hooks);
            check_files(&mut problems, spec, hooks);
        }
        if !problems.is_empty() {
            return Err(problems.into_report());
        }
        Ok(spec.expect("what the first pass lets through is either built or complained about"))
    }

    /// Whether the car fits where it starts and where it shall stop.
    ///
    /// # Errors
    /// With the first start, and the goal, at which it touches something.
    pub fn check_placement(&self, spec: &ScenarioSpec) -> Result<(), Report> {
        let mut problems = Problems::new(self);
        check::placement::check(&mut problems, spec);
        if problems.is_empty() { Ok(()) } else { Err(problems.into_report()) }
    }
}

/// Parses, reads and checks everything about a scenario file.
///
/// # Errors
/// With located mistakes.
pub fn read_scenario(file_name: &str, bytes: &[u8], hooks: &Hooks<'_>) -> Result<(Document, ScenarioSpec), Report> {
    let document = Document::parse(file_name, bytes)?;
    let spec = document.read(hooks)?;
    document.check_placement(&spec)?;
    Ok((document, spec))
}

fn check_files(problems: &mut Problems<'_>, spec: &ScenarioSpec, hooks: &Hooks<'_>) {
    let part = spec.ego.part.as_ref().map(|part| &part.outside);
    for OutsideSpec { program, .. } in spec.ego.driver.outside.iter().chain(part) {
        if let Program::File(name) = &program.value
            && !(hooks.has_file)(name)
        {
            let message = format!("there is no file `{}`", problems::excerpt(name));
            let help = "names of files are relative to the folder of the scenario";
            problems.add(Code::NoSuchFile, program.span, message, help);
        }
    }
}

fn check_expressions(problems: &mut Problems<'_>, spec: &ScenarioSpec, hooks: &Hooks<'_>) {
    let table = spec.signal_table();
    let check_on_roads = |text: &str| check_against(text, &table);
    let check = if spec.road.is_some() { &check_on_roads } else { hooks.check_expression };
    for requirement in &spec.requirements {
        let Located { value, span } = &requirement.expression;
        let checked = check(value).and_then(|()| match requirement.form.value {
            Form::AtFinish => check_as(anabranch_monitors::Rule::AtFinish, value, &table),
            _ => Ok(()),
        });
        if let Err(error) = checked {
            let part = problems.document.part_of_text(*span, value, error.offset, error.length.max(1));
            problems.add(Code::Expression, part, error.message, error.help);
        }
    }
}
