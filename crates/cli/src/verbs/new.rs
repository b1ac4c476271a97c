//! `new`: a ready project from a template.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use crate::escape::escape;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

/// A scenario that ships with the program.
struct Template {
    name: &'static str,
    text: &'static str,
}

macro_rules! templates {
    ($($name:literal),* $(,)?) => {
        &[$(Template { name: $name, text: include_str!(concat!("../../../../scenarios/", $name, ".toml")) }),*]
    };
}

/// The first is what people get who do not choose.
const TEMPLATES: &[Template] = templates![
    "narrow-passage",
    "first-steps",
    "room-for-the-door",
    "curved-parking",
    "small-obstacle",
    "late-obstacle",
    "sudden-obstacle",
    "weak-brakes",
    "narrow-passage-calm",
    "narrow-passage-eager",
    "narrow-passage-drift",
    "narrow-passage-actuator-delay",
    "narrow-passage-starts",
    "narrow-passage-timetable",
    "replanning-garage",
    "pass-and-reverse",
];

/// Write a ready project from a template.
#[derive(Args, Debug)]
pub struct New {
    /// Folder of the project; it must not exist yet, or be empty.
    #[arg(required_unless_present = "list")]
    pub name: Option<PathBuf>,
    /// Scenario to begin with.
    #[arg(long, value_name = "TEMPLATE", default_value = "narrow-passage", value_parser = names())]
    pub template: String,
    /// List the templates.
    #[arg(long, conflicts_with = "name")]
    pub list: bool,
}

fn names() -> clap::builder::PossibleValuesParser {
    TEMPLATES.iter().map(|template| template.name).collect::<Vec<_>>().into()
}

impl Template {
    /// The sentence that the scenario says about itself.
    fn about(&self) -> String {
        let line = self.text.lines().find_map(|line| line.strip_prefix("about"));
        let quoted = line.and_then(|line| line.split_once('"')).and_then(|(_, rest)| rest.rsplit_once('"'));
        quoted.map_or_else(String::new, |(about, _)| about.to_owned())
    }
}

impl New {
    /// Writes the project, or lists the templates.
    pub fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        let Some(folder) = &self.name else { return list(screen) };
        let template = TEMPLATES.iter().find(|template| template.name == self.template).expect("clap knows the names");
        refuse_taken(folder)?;
        let file = format!("{}.toml", template.name);
        let files = [
            (file.as_str(), template.text.to_owned()),
            ("README.md", readme(template)),
            (".gitignore", "/runs/\n".into()),
        ];
        fs::create_dir_all(folder).map_err(|e| Failure::file("make", folder, &e))?;
        for (name, text) in &files {
            let path = folder.join(name);
            fs::write(&path, text).map_err(|e| Failure::file("write", &path, &e))?;
        }
        let shown = folder.display().to_string();
        let machine = json!({
            "schema": "anabranch.new/1",
            "template": template.name,
            "folder": shown,
            "files": files.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        });
        let human = |paint: &crate::screen::Paint| {
            let command = |text: &str| format!("  {}\n", paint.cyan(&escape(text)));
            format!("{} has {file}, README.md and .gitignore. Go on with\n", escape(&shown))
                + &command(&format!("cd {shown}"))
                + &command(&format!("anabranch run {file}"))
                + &command(&format!("anabranch explore {file}"))
        };
        screen.result(human, &machine);
        Ok(Exit::Done)
    }
}

fn refuse_taken(folder: &Path) -> Result<(), Failure> {
    let taken = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_some(),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => false,
        Err(_) => true,
    };
    if taken {
        let message = format!("`{}` already exists; nothing was written", folder.display());
        return Err(Failure::input(message, "choose another name, or remove it first"));
    }
    Ok(())
}

fn list(screen: &Screen) -> Result<Exit, Failure> {
    let rows: Vec<_> = TEMPLATES.iter().map(|t| json!({ "name": t.name, "about": t.about() })).collect();
    let machine = json!({ "schema": "anabranch.templates/1", "templates": rows });
    let human = |paint: &crate::screen::Paint| {
        TEMPLATES.iter().map(|t| format!("{:<30} {}\n", paint.bold(t.name), t.about())).collect()
    };
    screen.result(human, &machine);
    Ok(Exit::Done)
}

fn readme(template: &Template) -> String {
    let file = format!("{}.toml", template.name);
    format!(
        "# {}\n\n{}\n\n\
         ```console\n\
         $ anabranch check {file}      # does the file make sense?\n\
         $ anabranch run {file}        # one simulation without errors\n\
         $ anabranch explore {file}    # every error combination\n\
         $ anabranch replay last#1     # the first finding again\n\
         ```\n\n\
         Results are in `runs/`, which is not committed. A finding worth keeping: `anabranch replay last#1 --keep` copies it\n\
         to `findings/`, which is.\n",
        template.name,
        template.about()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_says_what_it_is_about_and_names_itself() {
        for template in TEMPLATES {
            assert!(template.about().len() > 20, "{}", template.name);
            assert!(template.text.contains(&format!("name   = \"{}\"", template.name)), "{}", template.name);
        }
    }
}
