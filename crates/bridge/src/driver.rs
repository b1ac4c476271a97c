//! The child's side: what a driver offers, and the loop that answers the host over stdin and stdout.

use std::process::ExitCode;
use std::sync::mpsc;

use anabranch_kernel::{Choice, Params, Seed};

use crate::protocol::{Description, Observation, Reply, Request, Segment, decode, read_body, write_frame};

/// Last argument of a child that answers over stdin and stdout.
pub const PIPES_ARGUMENT: &str = "--anabranch=pipes";
/// Last argument of a child that forks (Unix).
pub const FORKS_ARGUMENT: &str = "--anabranch=forks";

/// A closed loop that cannot be copied from outside: it can only begin, run on and be looked at.
pub trait Driver {
    /// What it is.
    fn description(&self) -> Description;
    /// Goes to time zero.
    ///
    /// # Errors
    /// With the reason, when there is no such start.
    fn reset(&mut self, seed: Seed, params: &Params) -> Result<(), String>;
    /// Runs one segment.
    ///
    /// # Errors
    /// With the reason, when the segment could not be computed.
    fn run(&mut self, choice: Choice) -> Result<Segment, String>;
    /// The state it is in.
    fn observe(&self) -> Observation;
}

/// Answers one request.
pub fn answer(driver: &mut impl Driver, request: Request) -> Reply {
    let reply = match request {
        Request::Describe => Ok(Reply::Description(driver.description())),
        Request::Replay(path) => driver
            .reset(path.seed, &path.params)
            .and_then(|()| path.choices.iter().try_for_each(|&choice| driver.run(choice).map(drop)))
            .map(|()| Reply::Observed(driver.observe())),
        Request::Run(choice) => driver.run(choice).map(Reply::Ran),
        Request::Branch => Err("this child cannot fork; use replay".to_owned()),
    };
    reply.unwrap_or_else(Reply::Refused)
}

/// Serves the host in the way the last argument asks for; the whole `main` of a child.
pub fn serve(driver: impl Driver) -> ExitCode {
    let way = std::env::args().next_back().unwrap_or_default();
    match way.as_str() {
        PIPES_ARGUMENT => serve_pipes(driver),
        #[cfg(unix)]
        FORKS_ARGUMENT => crate::fork::child::serve_forks(driver),
        _ => {
            eprintln!("a child of Anabranch: its last argument must be {PIPES_ARGUMENT} or, on Unix, {FORKS_ARGUMENT}");
            ExitCode::FAILURE
        }
    }
}

/// A second thread reads, so that the child ends with its host even while a segment hangs.
fn serve_pipes(mut driver: impl Driver) -> ExitCode {
    let (sender, requests) = mpsc::channel();
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        while let Ok(body) = read_body(&mut input) {
            let _ = sender.send(body);
        }
        std::process::exit(0);
    });
    let mut output = std::io::stdout().lock();
    for body in requests {
        let reply = match decode(&body) {
            Ok(request) => answer(&mut driver, request),
            Err(error) => Reply::Refused(format!("request not understood: {error}")),
        };
        if write_frame(&mut output, &reply).is_err() {
            break;
        }
    }
    ExitCode::SUCCESS
}
