//! Finding the models that a command names.

use std::path::{Path, PathBuf};

use anabranch_language::library::{ENDINGS, FileId};
use anabranch_language::syntax::ast::Component;
use anabranch_language::{Diagnostic, Library, Model, Options, Units};
use clap::Args;

use super::told;
use crate::failure::Failure;

/// Endings of files with a component.
const COMPONENTS: [&str; 3] = ["emam", "ema", "emadl"];

/// The parameter that is told the seconds between two ticks.
const CYCLE: &str = "cycle_s";

/// What verbs about models have in common.
#[derive(Args, Clone, Debug, Default)]
pub struct Given {
    /// Another folder that models are looked for in; may be repeated.
    #[arg(long, value_name = "DIR", help_heading = "Models")]
    pub models: Vec<PathBuf>,
    /// A parameter of the model, as in gain=4 or h=0.2,0.8; in SI; may be repeated.
    #[arg(long = "arg", value_name = "NAME=VALUE", value_parser = parse_argument, help_heading = "Models")]
    pub args: Vec<Argument>,
    /// Take cycles without a delay as errors, and units that do not go together.
    #[arg(long, help_heading = "Models")]
    pub strict: bool,
}

/// A parameter with its numbers.
pub type Argument = (String, Numbers);

/// The numbers of a parameter, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers(pub Vec<f64>);

fn parse_argument(text: &str) -> Result<Argument, String> {
    let wrong = || "write a name and numbers, as in gain=4 or h=0.2,0.8".to_owned();
    let (name, values) = text.split_once('=').ok_or_else(wrong)?;
    let number = |word: &str| match word.trim() {
        "true" => Some(1.0),
        "false" => Some(0.0),
        word => word.parse().ok().filter(|value: &f64| value.is_finite()),
    };
    let numbers: Option<Vec<f64>> = values.split(',').map(number).collect();
    Ok((name.trim().to_owned(), Numbers(numbers.ok_or_else(wrong)?)))
}

impl Given {
    /// How models are built, where units that do not go together are treated so.
    pub fn options(&self, units: Units) -> Options {
        let args = self.args.iter().map(|(name, Numbers(values))| (name.clone(), values.clone())).collect();
        Options { args, strict: self.strict, units: if self.strict { Units::Strict } else { units } }
    }

    /// The library around a path: a folder with everything below it, or the folder in which the package of a file begins.
    pub fn open(&self, path: &Path) -> Result<Library, Failure> {
        let refused = |e: std::io::Error| Failure::file("read", path, &e);
        let root = if path.is_dir() {
            path.to_owned()
        } else {
            let bytes = std::fs::read(path).map_err(refused)?;
            Library::root_of(path, &String::from_utf8_lossy(&bytes))
        };
        let root = if root.as_os_str().is_empty() { PathBuf::from(".") } else { root };
        let folders: Vec<&Path> = std::iter::once(&root).chain(&self.models).map(PathBuf::as_path).collect();
        let missing = folders.iter().find(|folder| !folder.is_dir());
        if let Some(missing) = missing {
            return Err(Failure::input(
                format!("there is no folder `{}`", missing.display()),
                "--models names folders",
            ));
        }
        Library::open_all(&folders).map_err(refused)
    }

    /// One file with the library around it.
    pub fn open_file(&self, path: &Path) -> Result<(Library, FileId), Failure> {
        let library = self.open(path)?;
        let same = |a: &Path| std::fs::canonicalize(a).ok();
        let wanted = same(path);
        let found = library.file_at(path).or_else(|| {
            let mut files = library.files();
            files.find(|(_, file)| wanted.is_some() && same(&file.path) == wanted).map(|(id, _)| id)
        });
        match found {
            Some(file) => Ok((library, file)),
            None => Err(Failure::input(
                format!("`{}` is no model", path.display()),
                format!("names of models end in .{}", ENDINGS.join(", .")),
            )),
        }
    }

    /// As [`Self::build`], for a tick of this length: a parameter `cycle_s` that nobody gives is that, as in a scenario.
    pub fn build_for_cycle(&self, path: &Path, units: Units, cycle_s: f64) -> Result<(Library, Model), Failure> {
        let (library, file) = self.open_file(path)?;
        let takes = |component: &Component| component.params.iter().any(|param| param.name.text == CYCLE);
        let mut given = self.clone();
        if library.component_in(file).is_some_and(takes) && !self.args.iter().any(|(name, _)| name == CYCLE) {
            given.args.push((CYCLE.to_owned(), Numbers(vec![cycle_s])));
        }
        let (library, file) = given.open_file(path)?;
        given.built(library, file, units, &self.args)
    }

    /// The model of a file, ready to run; what may not be meant is returned beside it.
    pub fn build(&self, path: &Path, units: Units) -> Result<(Library, Model), Failure> {
        let (library, file) = self.open_file(path)?;
        self.built(library, file, units, &self.args)
    }

    fn built(
        &self,
        library: Library,
        file: FileId,
        units: Units,
        flags: &[Argument],
    ) -> Result<(Library, Model), Failure> {
        let options = self.options(units);
        match Model::of_file(&library, file, &options) {
            Ok(model) => Ok((library, model)),
            Err(mut told) => {
                blame(&library, &options, flags, &mut told);
                Err(Failure::Located(told::report(&library, &told)))
            }
        }
    }
}

/// Names the flag that gives a parameter a value which does not fit.
pub fn blame(library: &Library, options: &Options, flags: &[Argument], told: &mut [Diagnostic]) {
    for wrong in told {
        let Some(name) = options.blamed(library, wrong) else { continue };
        let given = flags.iter().find(|(flag, _)| flag == name);
        let by = given.map_or_else(
            || format!("the parameter `{name}`, the seconds of a tick"),
            |(_, Numbers(values))| {
                let values: Vec<String> = values.iter().map(f64::to_string).collect();
                format!("--arg {name}={}", values.join(","))
            },
        );
        wrong.message = format!("{by}: {}", wrong.message);
    }
}

/// A path as it was named, written alike on every system.
pub fn shown(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/").trim_start_matches("./").to_owned()
}

/// Whether a path names a file with a component.
pub fn is_model(path: &Path) -> bool {
    ends_in(path, &COMPONENTS)
}

/// Whether a path names any file of the language.
pub fn is_text(path: &Path) -> bool {
    ends_in(path, &ENDINGS)
}

fn ends_in(path: &Path, endings: &[&str]) -> bool {
    path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| endings.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_names_and_numbers() {
        assert_eq!(parse_argument("gain=4"), Ok(("gain".to_owned(), Numbers(vec![4.0]))));
        assert_eq!(parse_argument("h = 0.5, true"), Ok(("h".to_owned(), Numbers(vec![0.5, 1.0]))));
        assert!(
            parse_argument("gain").is_err() && parse_argument("gain=inf").is_err() && parse_argument("g=").is_err()
        );
    }
}
