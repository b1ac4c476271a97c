//! `data`: what recorded data say.

use std::path::PathBuf;

use anabranch_errors::fit::{Rhythm, fit};
use anabranch_kernel::units::{Dimension, parse_quantity};
use anabranch_record::publish;
use clap::{Args, Subcommand};

use crate::data::{fit_report, log_file};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::project;
use crate::screen::Screen;

/// Look into recorded data.
#[derive(Args, Debug)]
pub struct Data {
    /// What to do with them.
    #[command(subcommand)]
    pub job: Job,
}

/// Jobs on data.
#[derive(Subcommand, Debug)]
pub enum Job {
    /// Fit error models to a log of truth and estimate, and write an error table for a scenario.
    FitErrors(FitErrors),
}

/// Fit error models to a log of truth and estimate, and write an error table for a scenario.
///
/// The log is a CSV file with a column of time and pairs of columns `truth.NAME [unit]` and `estimate.NAME [unit]`, such as
/// `truth.x [m]` and `estimate.x [m]`; an empty cell says that nothing was told. Or it is an MCAP file with JSON messages on
/// topics such as `/truth` and `/estimate`.
#[derive(Args, Debug)]
pub struct FitErrors {
    /// The log.
    #[arg(value_name = "LOG.csv|LOG.mcap")]
    pub log: PathBuf,
    /// Column of the time in a CSV file; `time` or `t` with its unit if left out.
    #[arg(long, value_name = "COLUMN")]
    pub time: Option<String>,
    /// A pair of columns by their names; may be given several times. All pairs truth.NAME and estimate.NAME if left out.
    #[arg(long = "pair", value_name = "TRUTH=ESTIMATE")]
    pub pairs: Vec<String>,
    /// Length of a segment of the scenario: probabilities are per segment.
    #[arg(long, value_name = "TIME", default_value = "1 s")]
    pub segment: String,
    /// Base cycle of the scenario: delays are whole multiples of it.
    #[arg(long, value_name = "TIME", default_value = "10 ms")]
    pub step: String,
    /// Write the error table into this file instead of printing it.
    #[arg(long, value_name = "FILE.toml")]
    pub out: Option<PathBuf>,
}

impl Data {
    /// Does the job.
    pub fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        match &self.job {
            Job::FitErrors(job) => job.run(screen),
        }
    }
}

impl FitErrors {
    fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        let rhythm = Rhythm { segment_s: time("--segment", &self.segment)?, step_s: time("--step", &self.step)? };
        let log = log_file::read(&self.log, self.time.as_deref(), &self.pairs)?;
        let name = self.log.display();
        let found = fit(&log).map_err(|refused| Failure::input(format!("`{name}`: {refused}"), ""))?;
        let table = found.error_table(&rhythm);
        if let Some(path) = &self.out {
            if !table.contains("[[error]]") {
                let message = "the log shows no errors of a position or heading, so no table was written".to_owned();
                return Err(Failure::Plain { exit: Exit::Nothing, message, help: String::new() });
            }
            publish(path, table.as_bytes())?;
        }
        let place = self.out.as_deref().map(project::relative);
        let machine = fit_report::machine(&found, &project::relative(&self.log), &table, place.as_deref());
        screen.result(
            |paint| fit_report::human(paint, &found, &project::relative(&self.log), &table, place.as_deref()),
            &machine,
        );
        Ok(Exit::Done)
    }
}

/// A positive time with its unit.
fn time(flag: &str, text: &str) -> Result<f64, Failure> {
    let seconds = parse_quantity(text, Dimension::Time).ok().filter(|seconds| *seconds > 0.0 && seconds.is_finite());
    let refused =
        || Failure::input(format!("{flag}: `{text}` is no positive time"), format!("for example {flag} \"1 s\""));
    seconds.ok_or_else(refused)
}
