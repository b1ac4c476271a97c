//! The `anabranch` command line: explores error combinations of driving software.

mod bug;
mod cli;
mod data;
mod errors_table;
mod escape;
mod exit;
mod explain;
mod explore;
mod failure;
mod family;
mod interrupt;
mod league;
mod load;
mod model;
mod numbers;
mod origin;
mod outside;
mod project;
mod report;
mod rows;
mod screen;
mod search;
mod simulate;
mod suite;
mod tolerance;
mod triage;
mod usage;
mod verbs;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use cli::Cli;
use exit::Exit;
use failure::Failure;
use screen::{Format, Screen, print_err};

fn main() -> ExitCode {
    bug::install();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage_error(&error),
    };
    let screen = Screen::new(&cli.global);
    if cli.global.allow_remote {
        outside::allow_remote();
    }
    let exit = enter(&cli).and_then(|()| verbs::run(&cli, &screen)).unwrap_or_else(|failure| {
        report(&screen, &failure);
        failure.exit()
    });
    exit.into()
}

fn enter(cli: &Cli) -> Result<(), Failure> {
    let Some(folder) = &cli.global.directory else { return Ok(()) };
    std::env::set_current_dir(folder).map_err(|e| Failure::file("enter", folder, &e))
}

fn report(screen: &Screen, failure: &Failure) {
    print_err(&failure.render(screen.err));
    if screen.format != Format::Human {
        screen.result(|_| String::new(), &failure.to_json());
    }
}

/// Help and version are results; everything else is bad input.
fn usage_error(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    let wanted = [ErrorKind::DisplayHelp, ErrorKind::DisplayVersion];
    let no_arguments = std::env::args_os().len() == 1;
    if wanted.contains(&error.kind()) || no_arguments { Exit::Done.into() } else { Exit::BadInput.into() }
}
