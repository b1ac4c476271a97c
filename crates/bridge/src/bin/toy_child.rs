//! The toy driver as a child process, and a few ways to be a bad child: `hangs`, `aborts`, `drifts`, `babbles`.

use std::io::Write;
use std::process::ExitCode;

use anabranch_bridge::toy::Toy;
use anabranch_bridge::{Description, Driver, Observation, Segment, serve};
use anabranch_kernel::{Choice, Params, Seed};

#[derive(Clone, Copy, PartialEq)]
enum Flaw {
    None,
    /// Never returns from a segment with the flawed choice.
    Hangs,
    /// Dies in a segment with the flawed choice.
    Aborts,
    /// Depends on something that is no input: how often it was reset.
    Drifts,
    /// Reports something that is not a number after the flawed choice.
    Babbles,
}

/// The choice that brings out the flaw.
const FLAWED: Choice = Choice(3);

struct Child {
    toy: Toy,
    flaw: Flaw,
    resets: u32,
    babbling: bool,
}

impl Driver for Child {
    fn description(&self) -> Description {
        self.toy.description()
    }
    fn reset(&mut self, seed: Seed, params: &Params) -> Result<(), String> {
        self.resets += 1;
        self.babbling = false;
        self.toy.reset(seed, params)
    }
    fn run(&mut self, choice: Choice) -> Result<Segment, String> {
        match self.flaw {
            Flaw::Hangs if choice == FLAWED => {
                // In one piece, because several children may share this stream.
                let _ = std::io::stderr().write_all(format!("hangs: {}\n", std::process::id()).as_bytes());
                loop {
                    std::thread::park();
                }
            }
            Flaw::Aborts if choice == FLAWED => std::process::exit(3),
            Flaw::Babbles => self.babbling |= choice == FLAWED,
            _ => {}
        }
        let segment = self.toy.run(choice)?;
        Ok(Segment { observation: self.observe(), ..segment })
    }
    fn observe(&self) -> Observation {
        let mut observation = self.toy.observe();
        if self.flaw == Flaw::Drifts {
            observation.values[0] += f64::from(self.resets);
        }
        if self.babbling {
            observation.values[1] = f64::NAN;
        }
        observation
    }
}

fn main() -> ExitCode {
    let flaw = match std::env::args().nth(1).as_deref() {
        Some("hangs") => Flaw::Hangs,
        Some("aborts") => Flaw::Aborts,
        Some("drifts") => Flaw::Drifts,
        Some("babbles") => Flaw::Babbles,
        _ => Flaw::None,
    };
    serve(Child { toy: Toy::default(), flaw, resets: 0, babbling: false })
}
