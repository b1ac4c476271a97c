//! `check`: parse, type-check and assemble scenarios and models; nothing is simulated.

use std::path::{Path, PathBuf};

use anabranch_kernel::System;
use anabranch_roads::codes;
use anabranch_scenario::file::{Code, Level, ScenarioSpec, codes_reference, schema_json};
use anabranch_scenario::simulation::{check_car, is_car, is_simulation};
use clap::Args;
use serde_json::{Value, json};

use crate::escape::escape;
use crate::exit::Exit;
use crate::failure::{Failure, diagnostics_json};
use crate::family;
use crate::load::{Assembled, load};
use crate::model;
use crate::model::files::is_text;
use crate::outside::{self, Tried};
use crate::screen::{Format, Paint, Screen, print_err, print_out};
use crate::verbs::convert::described;

/// How deep folders are searched.
const DEPTH_MAX: usize = 16;
/// How every scenario begins to be recognised in a folder: kept findings and other TOML files lie beside it.
const SCHEMA_KEY: &str = "anabranch/";
/// The same of maps.
const MAP_SCHEMA_KEY: &str = "anabranch-road/";

/// Parse and check scenarios and models without simulating.
#[derive(Args, Debug)]
pub struct Check {
    /// Scenario files, maps, models, folders with them, or programs (a driver or a world); this folder if left out.
    #[arg(value_name = "FILE|DIR")]
    pub files: Vec<PathBuf>,
    /// Print the JSON schema of scenario files, for editors.
    #[arg(long, conflicts_with_all = ["files", "explain", "codes"])]
    pub schema: bool,
    /// Explain a code such as E0104.
    #[arg(long, value_name = "CODE", conflicts_with_all = ["files", "codes"])]
    pub explain: Option<String>,
    /// List and explain all codes.
    #[arg(long, conflicts_with = "files")]
    pub codes: bool,
    /// Print the order in which the atomic components of a model run.
    #[arg(long, help_heading = "Models")]
    pub order: bool,
    /// What is for models.
    #[command(flatten)]
    pub given: model::Given,
}

/// What was found out about one file.
struct Checked {
    file: String,
    outcome: Result<Known, Failure>,
}

enum Known {
    Car(String),
    /// A map, and what it consists of.
    Map(String),
    Scenario(Fine),
    Program(Tried),
}

struct Fine {
    name: String,
    choices: usize,
    segments: u32,
    starts: usize,
    no_path: Option<String>,
    /// What a driver from outside says of itself.
    driver: Option<(String, Value)>,
    /// What it lacks for a verdict.
    warnings: Vec<String>,
}

impl Check {
    /// Checks, or prints what was asked for.
    pub fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        if self.schema {
            print_out(&format!("{:#}\n", schema_json()));
            return Ok(Exit::Done);
        }
        if self.codes {
            print_out(&codes_reference());
            let line = |code: &anabranch_language::Code| format!("| `{}` | {} |\n", code.text(), code.title());
            let lines: String = anabranch_language::Code::ALL.iter().map(line).collect();
            print_out(&format!("\n## Models\n\n| code | meaning |\n|---|---|\n{lines}"));
            return Ok(Exit::Done);
        }
        if let Some(text) = &self.explain {
            return explain(text, screen);
        }
        let models = self.models()?;
        let mut checked: Vec<Checked> = Vec::new();
        for file in select(&self.files)?.iter().filter(|file| !is_text(file)) {
            // Every member of a simulation; what keeps it from being read is told once.
            let found = family::each(file, |member| {
                checked.push(check_one(member));
                Ok(Exit::Done)
            });
            checked
                .extend(found.err().map(|failure| Checked { file: file.display().to_string(), outcome: Err(failure) }));
        }
        self.show(screen, &checked, &models);
        if models.is_empty() {
            return Ok(exit_of(&checked));
        }
        let mut exits: Vec<Exit> = models.iter().map(model::checks::Checked::exit).collect();
        exits.extend((!checked.is_empty()).then(|| exit_of(&checked)));
        Ok(Exit::of(&exits))
    }

    /// The models of what was named, checked.
    fn models(&self) -> Result<Vec<model::checks::Checked>, Failure> {
        let here = [PathBuf::from(".")];
        let named = if self.files.is_empty() { &here } else { self.files.as_slice() };
        if self.order && !named.iter().any(|path| model::is_model(path)) {
            return Err(Failure::input("--order needs a model", "name a file that ends in .emam"));
        }
        let mut checked = Vec::new();
        for path in named {
            checked.extend(model::checks::Checked::of(path, &self.given)?);
        }
        Ok(checked)
    }

    fn show(&self, screen: &Screen, checked: &[Checked], models: &[model::checks::Checked]) {
        if screen.format == Format::Human {
            for failure in checked.iter().filter_map(|c| c.outcome.as_ref().err()) {
                print_err(&failure.render(screen.err));
            }
            models.iter().for_each(|model| print_err(&model.complaints(screen)));
        }
        let mut files: Vec<Value> = checked.iter().map(to_json).collect();
        files.extend(models.iter().flat_map(|model| model.to_json(self.order)));
        let machine = json!({ "schema": "anabranch.check/1", "files": files });
        let human = |paint: &Paint| {
            let lines: String = models.iter().map(|model| model.human(paint, self.order)).collect();
            if checked.is_empty() && !models.is_empty() { lines } else { human(paint, checked) + &lines }
        };
        screen.result(human, &machine);
    }
}

fn exit_of(checked: &[Checked]) -> Exit {
    if checked.is_empty() {
        return Exit::Nothing;
    }
    let one = |checked: &Checked| match &checked.outcome {
        Err(failure) => failure.exit(),
        Ok(Known::Scenario(Fine { no_path: Some(_), .. })) => Exit::Findings,
        Ok(Known::Program(tried)) if !tried.is_kept() => Exit::Findings,
        Ok(_) => Exit::Done,
    };
    Exit::of(&checked.iter().map(one).collect::<Vec<_>>())
}

fn explain(text: &str, screen: &Screen) -> Result<Exit, Failure> {
    let of_scenarios = Code::find(text).map(|code| (code.text(), code.title(), code.explanation()));
    let of_maps = || codes::find(text).map(|code| (code.text, code.title, code.explanation));
    let of_models =
        || anabranch_language::Code::find(text).map(|code| (code.text(), "a mistake in a model", code.title()));
    let Some((code, title, explanation)) = of_scenarios.or_else(of_maps).or_else(of_models) else {
        return Err(Failure::input(format!("there is no code `{text}`"), "`anabranch check --codes` lists them"));
    };
    let machine = json!({ "schema": "anabranch.code/1", "code": code, "title": title, "explanation": explanation });
    screen.result(|paint| format!("{}: {title}\n\n{explanation}\n", paint.bold(code)), &machine);
    Ok(Exit::Done)
}

/// The files that were named, and the scenarios in folders that were named, in order.
pub fn select(named: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let here = [PathBuf::from(".")];
    let mut files = Vec::new();
    for path in if named.is_empty() { &here } else { named } {
        if path.is_dir() {
            search(path, DEPTH_MAX, &mut files)?;
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

fn search(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let refused = |e: std::io::Error| Failure::file("read", folder, &e);
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(refused)? {
        entries.push(entry.map_err(refused)?.path());
    }
    entries.sort();
    for path in entries {
        let hidden =
            path.file_name().is_none_or(|n| n.to_string_lossy().starts_with('.') || n == "runs" || n == "target");
        if path.is_dir() && !path.is_symlink() && !hidden && depth > 0 {
            search(&path, depth - 1, files)?;
        } else if is_simulation(&path)
            || is_car(&path)
            || path.extension().is_some_and(|e| e == "toml") && is_scenario(&path)
        {
            files.push(path.strip_prefix(".").unwrap_or(&path).to_owned());
        }
    }
    Ok(())
}

fn is_scenario(path: &Path) -> bool {
    has_schema(path, SCHEMA_KEY)
}

fn has_schema(path: &Path, key: &str) -> bool {
    let text = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let schema = text.lines().find_map(|line| line.trim().strip_prefix("schema"));
    schema.is_some_and(|value| value.contains(key))
}

fn check_one(path: &Path) -> Checked {
    let file = path.display().to_string();
    if is_car(path) {
        let read = std::fs::read(path).map_err(|e| Failure::file("read", path, &e));
        let outcome = read.and_then(|text| Ok(Known::Car(check_car(path, &String::from_utf8_lossy(&text))?)));
        return Checked { file, outcome };
    }
    if is_map(path) {
        return Checked { file, outcome: check_map(path).map(Known::Map) };
    }
    if outside::is_program(path) {
        return Checked { file, outcome: Tried::of(path).map(Known::Program) };
    }
    let outcome = load(path, &[]).and_then(|loaded| {
        let (choices, no_path, driver) = match loaded.assemble()? {
            Assembled::NoPath(why) => (0, Some(why), None),
            Assembled::Drive(drive) => {
                loaded.cells(&drive)?;
                let driver = drive.foreign().map(|driver| (outside::card_line(driver), outside::health_json(driver)));
                (drive.errors().len(), None, driver)
            }
        };
        let spec = &loaded.spec;
        let (segments, starts) = (spec.explore.segments(), spec.ego.start.count());
        let name = spec.name.value.clone();
        let warnings = warnings(spec);
        Ok(Known::Scenario(Fine { name, choices, segments, starts, no_path, driver, warnings }))
    });
    Checked { file, outcome }
}

/// What keeps a scenario that can be run from being explored to a verdict.
fn warnings(spec: &ScenarioSpec) -> Vec<String> {
    if spec.requirements.iter().any(|requirement| requirement.level == Level::Must) {
        return Vec::new();
    }
    let words = "there is no [[must]], so no run can violate anything and `explore` has nothing to judge; add one, as in \
                 [[must]] id = \"no-contact\", never = \"ego.clearance <= 0 m\"";
    vec![words.to_owned()]
}

/// Whether a file is a map, by its name or by its schema.
fn is_map(path: &Path) -> bool {
    let is_named = path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(".road.toml"));
    is_named || path.extension().is_some_and(|ending| ending == "toml") && has_schema(path, MAP_SCHEMA_KEY)
}

fn check_map(path: &Path) -> Result<String, Failure> {
    let refused = |e: std::io::Error| Failure::file("read", path, &e);
    let size = std::fs::metadata(path).map_err(refused)?.len();
    if size > anabranch_roads::file::FILE_BYTES_MAX as u64 {
        return Err(Failure::input(format!("`{}` has {size} bytes", path.display()), "is this a map?"));
    }
    let text = std::fs::read(path).map_err(refused)?;
    let read = anabranch_roads::file::read(&path.display().to_string(), &String::from_utf8_lossy(&text))?;
    Ok(described(&read.network))
}

fn to_json(checked: &Checked) -> Value {
    match &checked.outcome {
        Ok(Known::Map(size)) => json!({ "file": checked.file, "ok": true, "map": size, "diagnostics": [] }),
        Ok(Known::Program(tried)) => tried.to_json(&checked.file),
        Ok(Known::Car(name)) => json!({ "file": checked.file, "ok": true, "car": name, "diagnostics": [] }),
        Ok(Known::Scenario(fine)) => json!({
            "file": checked.file, "ok": fine.no_path.is_none(), "driver": fine.driver.as_ref().map(|(_, driver)| driver), "scenario": fine.name, "error_choices": fine.choices,
            "segments": fine.segments, "starts": fine.starts, "no_path": fine.no_path, "diagnostics": [], "warnings": fine.warnings,
        }),
        Err(Failure::Located(report)) => {
            json!({ "file": checked.file, "ok": false, "diagnostics": diagnostics_json(report), "left_out": report.left_out })
        }
        Err(other) => json!({ "file": checked.file, "ok": false, "diagnostics": [], "message": other.to_string() }),
    }
}

fn human(paint: &Paint, checked: &[Checked]) -> String {
    if checked.is_empty() {
        return "nothing to check: no scenario here; `anabranch new NAME` writes one\n".to_owned();
    }
    let line = |c: &Checked| {
        let file = escape(&c.file);
        match &c.outcome {
            Ok(Known::Program(tried)) => tried.human(paint, &file),
            Ok(Known::Map(size)) => format!("{} {file}: map, {}\n", paint.green("ok"), escape(size)),
            Ok(Known::Car(name)) => format!("{} {file}: car {}\n", paint.green("ok"), escape(name)),
            Ok(Known::Scenario(Fine { no_path: Some(why), .. })) => {
                format!("{} {file}: planner found no path: {}\n", paint.red("no path"), escape(why))
            }
            Ok(Known::Scenario(fine)) => {
                let starts = if fine.starts == 1 { String::new() } else { format!("{} starts, ", fine.starts) };
                let size = format!("{starts}{} choices in each of {} segments", fine.choices, fine.segments);
                let driver =
                    fine.driver.as_ref().map_or(String::new(), |(line, _)| format!("   driver: {}\n", escape(line)));
                let warn = |text: &String| format!("   {}: {}\n", paint.yellow("warning"), escape(text));
                let warnings: String = fine.warnings.iter().map(warn).collect();
                format!("{} {file}: {}, {size}\n{driver}{warnings}", paint.green("ok"), escape(&fine.name))
            }
            Err(_) => format!("{} {file}\n", paint.red("bad")),
        }
    };
    checked.iter().map(line).collect()
}
