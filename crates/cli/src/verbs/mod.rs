//! One file per verb: its flags and what it does.

pub mod check;
pub mod convert;
pub mod data;
pub mod explain;
pub mod explore;
pub mod fmt;
pub mod generate;
pub mod lsp;
pub mod new;
pub mod replay;
pub mod report;
pub mod run;
pub mod search;
pub mod serve_fmu;
pub mod test;

use crate::cli::{Cli, Verb};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::family;
use crate::screen::Screen;

/// Does what was asked for.
pub fn run(cli: &Cli, screen: &Screen) -> Result<Exit, Failure> {
    let global = &cli.global;
    match &cli.verb {
        Verb::New(verb) => verb.run(screen),
        Verb::Check(verb) => verb.run(screen),
        Verb::Run(verb) => family::each(&verb.scenario, |member| {
            run::Run { scenario: member.to_owned(), ..(*verb).clone() }.run(global, screen)
        }),
        // Several scenarios are a table, in which each member has its row.
        Verb::Explore(verb) if !verb.more.is_empty() => verb.run(global, screen),
        Verb::Explore(verb) => family::each(&verb.scenario, |member| {
            explore::Explore { scenario: member.to_owned(), ..(**verb).clone() }.run(global, screen)
        }),
        Verb::Search(verb) => family::each(&verb.scenario, |member| {
            search::Search { scenario: member.to_owned(), ..(**verb).clone() }.run(global, screen)
        }),
        Verb::Test(verb) => verb.run(global, screen),
        Verb::Replay(verb) => verb.run(global, screen),
        Verb::Report(verb) => verb.run(screen),
        Verb::Explain(verb) => verb.run(global, screen),
        Verb::Convert(verb) => verb.run(screen),
        Verb::Data(verb) => verb.run(screen),
        Verb::Fmt(verb) => verb.run(screen),
        Verb::Lsp(verb) => verb.run(),
        Verb::Completions(verb) => verb.run(),
        Verb::Man(verb) => verb.run(),
        Verb::ServeFmu(verb) => verb.run(),
        Verb::Bug => panic!("this is no bug; somebody asked for `anabranch bug`"),
    }
}
