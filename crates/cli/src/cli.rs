//! Everything that can be typed after `anabranch`.

use clap::{Parser, Subcommand};

use crate::screen::Global;
use crate::verbs;

const AFTER: &str = "\
Exit codes: 0 nothing found · 1 findings · 2 bad input · 3 a bug of ours · 4 nothing selected ·
5 incomplete · 6 not reproducible · 130 interrupted, saved.

First steps:  anabranch new first-steps && cd first-steps && anabranch explore narrow-passage.toml";

/// Finds the combination of errors that makes driving software fail.
///
/// Simulates in short segments, saves the state after each one, branches with every error and merges states that have
/// become alike, so that all error sequences are covered.
#[derive(Parser, Debug)]
#[command(name = "anabranch", version, arg_required_else_help = true, after_help = AFTER)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// Options of every verb.
    #[command(flatten)]
    pub global: Global,
}

/// The verbs.
#[derive(Subcommand, Debug)]
pub enum Verb {
    /// Write a ready project from a template.
    New(verbs::new::New),
    /// Parse and check scenarios and models without simulating.
    Check(verbs::check::Check),
    /// Run one simulation, or a model over a table.
    Run(verbs::run::Run),
    /// Run every error combination, with saved states.
    Explore(Box<verbs::explore::Explore>),
    /// Optimise continuous parameters towards danger.
    Search(Box<verbs::search::Search>),
    /// Test a project: kept findings first, then stream tests of models, then scenarios.
    Test(verbs::test::Test),
    /// Run a finding again, exactly.
    Replay(verbs::replay::Replay),
    /// Write one HTML file of a run, or a comparison of several.
    Report(verbs::report::Report),
    /// Minimise a finding, and say which error at which moment mattered.
    Explain(verbs::explain::Explain),
    /// Turn maps of other tools into map files, pictures or barriers into tiles, and models into C or Rust.
    Convert(verbs::convert::Convert),
    /// Look into recorded data: fit error models to logs.
    Data(verbs::data::Data),
    /// Lay out models alike.
    Fmt(verbs::fmt::Fmt),
    /// Serve editors: the language server for models.
    Lsp(verbs::lsp::Lsp),
    /// Print completions for a shell.
    Completions(verbs::generate::Completions),
    /// Print the manual page.
    Man(verbs::generate::Man),
    /// Serve an FMU from a process of its own.
    #[command(hide = true)]
    ServeFmu(verbs::serve_fmu::ServeFmu),
    /// Show what happens at a bug of ours.
    #[command(hide = true)]
    Bug,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
