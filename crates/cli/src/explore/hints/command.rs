//! The command of a run, with other options than those that were typed.

use anabranch_record::{Finding, quoted, tidy_command};
use clap::Parser as _;

use crate::cli::{Cli, Verb};
use crate::load::Override;
use crate::verbs::explore::Explore;

/// A command that can be pasted.
#[derive(Clone, Debug, PartialEq)]
pub struct Typed {
    /// Variables of the environment, as in `NAME=value`.
    environment: Vec<String>,
    /// Everything that follows the name of the program.
    words: Vec<String>,
    /// What was typed as `--budget`.
    budget: Vec<Override>,
}

impl Typed {
    /// The command that explores what a run explored: what was typed, if that was one exploration; `source` has its file and
    /// what was changed in it.
    pub fn of(command: &[String], source: &Finding) -> Self {
        let typed = Cli::try_parse_from(command).ok().and_then(|typed| match typed.verb {
            Verb::Explore(verb) => Some(verb),
            _ => None,
        });
        let is_one =
            |verb: &Explore| verb.resume.is_none() && verb.whole.league.is_empty() && verb.whole.tolerance.is_empty();
        let Some(verb) = typed.filter(|verb| is_one(verb)) else { return Self::plain(source) };
        let named: Vec<String> =
            std::iter::once(&verb.scenario).chain(&verb.more).map(|path| path.display().to_string()).collect();
        let (mut words, mut is_named) = (Vec::new(), false);
        for word in &command[1..] {
            if !named.contains(word) {
                words.push(word.clone());
            } else if !is_named {
                is_named = true;
                words.push(source.scenario_file.clone());
            }
        }
        let typed = Self { environment: Vec::new(), words, budget: verb.budget.unwrap_or_default() };
        // How it is shown and kept is not part of what is asked.
        ["--format", "--name"].into_iter().fold(typed, |typed, flag| typed.without(flag))
    }

    /// What was explored, without any option.
    fn plain(source: &Finding) -> Self {
        let mut words = vec!["explore".to_owned(), source.scenario_file.clone()];
        words.extend(source.set.iter().flat_map(|(key, value)| ["--set".to_owned(), format!("{key}={value}")]));
        Self { environment: Vec::new(), words: tidy_command(words), budget: Vec::new() }
    }

    /// Going on with a run.
    pub fn resuming(run: &str) -> Self {
        let words = vec!["explore".to_owned(), format!("--resume={run}")];
        Self { environment: Vec::new(), words, budget: Vec::new() }
    }

    /// Whether an option was typed.
    pub fn has(&self, flag: &str) -> bool {
        let with_value = format!("{flag}=");
        self.words.iter().any(|word| word == flag || word.starts_with(&with_value))
    }

    /// Without an option that has a value.
    #[must_use]
    pub fn without(self, flag: &str) -> Self {
        let with_value = format!("{flag}=");
        let (mut words, mut is_value) = (Vec::with_capacity(self.words.len()), false);
        for word in self.words {
            let is_flag = !is_value && word == flag;
            if !is_value && !is_flag && !word.starts_with(&with_value) {
                words.push(word);
            }
            is_value = is_flag;
        }
        Self { words, ..self }
    }

    /// With an option instead of what was typed for it.
    #[must_use]
    pub fn with(self, flag: &str, value: &str) -> Self {
        let mut typed = self.without(flag);
        typed.words.extend([flag.to_owned(), value.to_owned()]);
        typed
    }

    /// With an option that has no value.
    #[must_use]
    pub fn switched(mut self, flag: &str) -> Self {
        if !self.has(flag) {
            self.words.push(flag.to_owned());
        }
        self
    }

    /// With another value of the scenario.
    #[must_use]
    pub fn set(mut self, key: &str, value: &str) -> Self {
        self.words.extend(["--set".to_owned(), format!("{key}={value}")]);
        self
    }

    /// With other limits; those that were typed and are not named stay.
    #[must_use]
    pub fn with_budget(self, limits: &[Override]) -> Self {
        if limits.is_empty() {
            return self;
        }
        let others = self.budget.iter().filter(|(key, _)| limits.iter().all(|(other, _)| other != key));
        let all: Vec<String> = others.chain(limits).map(|(key, value)| format!("{key}={value}")).collect();
        self.with("--budget", &all.join(","))
    }

    /// With a variable of the environment.
    #[must_use]
    pub fn within(mut self, name: &str, value: &str) -> Self {
        self.environment.push(format!("{name}={value}"));
        self
    }

    /// On one line, for a shell.
    pub fn text(&self) -> String {
        self.parts().join(" ")
    }

    /// For a shell on lines of this width; a line that goes on ends with `\`.
    pub fn lines(&self, width: usize) -> Vec<String> {
        let mut lines = vec![String::new()];
        for part in self.parts().iter().flat_map(|part| pieces(part, width)) {
            let last = lines.last_mut().expect("there is a first line");
            let length = last.chars().count();
            // A list goes on after a comma without a blank.
            let goes_on = last.ends_with(',');
            if length == 0 {
                *last = part;
            } else if !goes_on && length + 1 + part.chars().count() + 2 <= width {
                *last += &format!(" {part}");
            } else {
                *last += if goes_on { "\\" } else { " \\" };
                lines.push(format!("  {part}"));
            }
        }
        lines
    }

    /// What stays on one line: an option and its value, or a word.
    fn parts(&self) -> Vec<String> {
        let mut parts: Vec<String> = self.environment.iter().cloned().chain(["anabranch".to_owned()]).collect();
        let mut takes_value = false;
        for word in &self.words {
            let is_option = word.starts_with('-');
            match parts.last_mut().filter(|_| takes_value && !is_option) {
                Some(option) => *option += &format!(" {}", quoted(word)),
                None => parts.push(quoted(word)),
            }
            takes_value = is_option && !word.contains('=');
        }
        parts
    }
}

/// A part that fits a line, or one with a long list in pieces: within double quotes, a shell drops the end of a line after `\`,
/// and blanks before the items of a list say nothing.
fn pieces(part: &str, width: usize) -> Vec<String> {
    let whole = || vec![part.to_owned()];
    let Some((option, list)) = part.split_once(' ').filter(|_| part.chars().count() + 4 > width) else {
        return whole();
    };
    let list = list.trim_matches('\'');
    if list.contains(['"', '$', '`', '\\', '!', '\'']) || !list.contains(',') {
        return whole();
    }
    let mut pieces = vec![format!("{option} \"")];
    for item in list.split_inclusive(',') {
        let last = pieces.last_mut().expect("there is a first piece");
        if last.ends_with(',') && last.chars().count() + item.chars().count() + 4 > width {
            pieces.push(item.to_owned());
        } else {
            last.push_str(item);
        }
    }
    pieces.last_mut().expect("there is a first piece").push('"');
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(line: &str, file: &str) -> Typed {
        let command: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let mut source = Finding::new("one", anabranch_kernel::Digest(0), 1.0);
        source.scenario_file = file.to_owned();
        source.set = vec![("errors.at_once".to_owned(), "1".to_owned())];
        Typed::of(&command, &source)
    }

    #[test]
    fn options_are_replaced_and_those_about_showing_are_dropped() {
        let own = typed(
            "anabranch explore a/one.toml -j 2 --merge 0.5 --format json --budget=states=9,memory=1GB",
            "a/one.toml",
        );
        assert_eq!(own.text(), "anabranch explore a/one.toml -j 2 --merge 0.5 --budget=states=9,memory=1GB");
        assert!(own.has("--merge") && own.has("--budget") && !own.has("--format"));
        let budget = own.clone().with_budget(&[("states".to_owned(), "50".to_owned())]).text();
        assert_eq!(budget, "anabranch explore a/one.toml -j 2 --merge 0.5 --budget memory=1GB,states=50");
        assert_eq!(own.clone().with_budget(&[]), own);
        let merged = own.with("--merge", "none").switched("--stop-on-first").set("ego.start.y", "0.1 m");
        assert_eq!(
            merged.text(),
            "anabranch explore a/one.toml -j 2 --budget=states=9,memory=1GB --merge none --stop-on-first --set 'ego.start.y=0.1 m'"
        );
    }

    #[test]
    fn of_several_scenarios_the_one_is_named_and_other_verbs_become_explore() {
        let of_folder = typed("anabranch explore scenarios --no-pictures", "scenarios/one.toml");
        assert_eq!(of_folder.text(), "anabranch explore scenarios/one.toml --no-pictures");
        let of_two = typed("anabranch explore one.toml two.toml", "two.toml");
        assert_eq!(of_two.text(), "anabranch explore two.toml");
        let of_test = typed("anabranch test", "scenarios/one.toml");
        assert_eq!(of_test.text(), "anabranch explore scenarios/one.toml --set errors.at_once=1");
    }

    #[test]
    fn long_commands_go_on_after_a_backslash() {
        let long = typed("anabranch explore one.toml", "one.toml").with("--merge", "x=1m").with("--until", "7 s");
        assert_eq!(long.lines(80), ["anabranch explore one.toml --merge x=1m --until '7 s'"]);
        assert_eq!(long.lines(40), ["anabranch explore one.toml \\", "  --merge x=1m --until '7 s'"]);
        let listed =
            typed("anabranch explore one.toml", "one.toml").with("--merge", "x=1m,accel=0.5m/s^2,steering=2rad");
        let lines = ["anabranch explore one.toml \\", "  --merge \"x=1m,accel=0.5m/s^2,\\", "  steering=2rad\""];
        assert_eq!(listed.lines(34), lines);
        assert_eq!(long.within("A", "b").text(), "A=b anabranch explore one.toml --merge x=1m --until '7 s'");
    }
}
