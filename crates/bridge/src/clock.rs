//! Waiting for somebody else is the edge of the program: deadlines need a clock, results never see it.

use std::time::{Duration, Instant};

/// What time it is, for deadlines and for people.
#[expect(clippy::disallowed_methods, reason = "how long the code from outside takes is told to people; it never reaches a state")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// A moment after which nobody waits any more; `None` inside waits for ever (a person holds a debugger).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    limit: Option<Duration>,
    began: Option<Instant>,
}

impl Deadline {
    /// So long from the first time somebody asks what is left. The first wait of an exchange thus needs no clock.
    pub(crate) fn after(limit: Option<Duration>) -> Self {
        Self { limit, began: None }
    }
    /// So long from now.
    pub(crate) fn from_now(limit: Option<Duration>) -> Self {
        Self { limit, began: Some(now()) }
    }
    /// What is left: `Ok(None)` is for ever.
    ///
    /// # Errors
    /// When nothing is left.
    pub(crate) fn left(&mut self) -> Result<Option<Duration>, Passed> {
        let Some(limit) = self.limit else { return Ok(None) };
        let Some(began) = self.began else {
            self.began = Some(now());
            return Ok(Some(limit));
        };
        match limit.checked_sub(began.elapsed()) {
            // Sockets know no shorter wait, and zero would mean "for ever" to them.
            Some(left) if left >= Duration::from_micros(1) => Ok(Some(left)),
            _ => Err(Passed(limit)),
        }
    }
}

/// The deadline has passed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passed(pub(crate) Duration);
