//! `completions` and `man`: texts that are generated from the flags themselves.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::print_out;

/// Print completions for a shell.
#[derive(Args, Debug)]
pub struct Completions {
    /// Which shell.
    pub shell: Shell,
}

impl Completions {
    /// Prints them.
    pub fn run(&self) -> Result<Exit, Failure> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "anabranch", &mut text);
        print_out(&String::from_utf8_lossy(&text));
        Ok(Exit::Done)
    }
}

/// Print the manual page.
#[derive(Args, Debug)]
pub struct Man {
    /// The page of one verb; of the whole program if left out.
    pub verb: Option<String>,
}

impl Man {
    /// Prints it.
    pub fn run(&self) -> Result<Exit, Failure> {
        let mut command = Cli::command();
        command.build();
        let command = match &self.verb {
            None => command,
            Some(name) => match command.find_subcommand(name) {
                Some(verb) => verb.clone(),
                None => {
                    return Err(Failure::input(format!("there is no verb `{name}`"), "`anabranch help` lists them"));
                }
            },
        };
        let mut text = Vec::new();
        let rendered = clap_mangen::Man::new(command).render(&mut text);
        rendered.map_err(|e| Failure::input(format!("the page cannot be written: {e}"), ""))?;
        print_out(&String::from_utf8_lossy(&text));
        Ok(Exit::Done)
    }
}
