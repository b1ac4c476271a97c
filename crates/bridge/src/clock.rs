//! Waiting for somebody else is the edge of the program: deadlines need a clock, results never see it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What time it is, for deadlines and for people.
#[expect(
    clippy::disallowed_methods,
    reason = "how long the code from outside takes is told to people; it never reaches a state"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Nobody waits longer than this without looking whether waiting has been cut off.
const LOOK: Duration = Duration::from_millis(50);

/// A moment after which nobody waits for code from outside any more, whatever its own deadlines are: what is under way
/// ends, and nothing is started again. It can be set while somebody waits.
#[derive(Debug)]
pub struct Cutoff {
    began: OnceLock<Instant>,
    /// Milliseconds after it began; the largest number is never.
    at_ms: AtomicU64,
}

impl Cutoff {
    /// One that never comes unless somebody sets it.
    pub const fn never() -> Self {
        Self { began: OnceLock::new(), at_ms: AtomicU64::new(u64::MAX) }
    }
    /// It comes after this time, or earlier if that was set before.
    pub fn come_within(&self, time: Duration) {
        let at = self.began().elapsed().saturating_add(time);
        self.at_ms.fetch_min(u64::try_from(at.as_millis()).unwrap_or(u64::MAX), Ordering::SeqCst);
    }
    /// It does not come any more.
    pub fn forget(&self) {
        self.at_ms.store(u64::MAX, Ordering::SeqCst);
    }
    /// Whether it has come.
    pub fn has_come(&self) -> bool {
        let at_ms = self.at_ms.load(Ordering::Relaxed);
        at_ms != u64::MAX && self.began().elapsed().as_millis() >= u128::from(at_ms)
    }
    fn began(&self) -> Instant {
        *self.began.get_or_init(now)
    }
}

/// For those that nobody cuts off.
pub(crate) static NEVER: Cutoff = Cutoff::never();

impl PartialEq for Cutoff {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}
impl Eq for Cutoff {}

/// A moment after which nobody waits any more; `None` inside waits for ever (a person holds a debugger).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    limit: Option<Duration>,
    began: Option<Instant>,
    cutoff: &'static Cutoff,
}

impl Deadline {
    /// So long from the first time somebody asks what is left. The first wait of an exchange thus needs no clock.
    pub(crate) fn after(limit: Option<Duration>, cutoff: &'static Cutoff) -> Self {
        Self { limit, began: None, cutoff }
    }
    /// So long from now.
    pub(crate) fn from_now(limit: Option<Duration>, cutoff: &'static Cutoff) -> Self {
        Self { limit, began: Some(now()), cutoff }
    }
    /// What is left.
    ///
    /// # Errors
    /// When nothing is left.
    pub(crate) fn left(&mut self) -> Result<Option<Duration>, Passed> {
        if self.cutoff.has_come() {
            return Err(Passed::CutOff);
        }
        let Some(limit) = self.limit else { return Ok(None) };
        let Some(began) = self.began else {
            self.began = Some(now());
            return Ok(Some(limit));
        };
        match limit.checked_sub(began.elapsed()) {
            // Sockets know no shorter wait, and zero would mean "for ever" to them.
            Some(left) if left >= Duration::from_micros(1) => Ok(Some(left)),
            _ => Err(Passed::Limit(limit)),
        }
    }
    /// How long to wait until this is asked again: not longer than what is left.
    ///
    /// # Errors
    /// When nothing is left.
    pub(crate) fn wait(&mut self) -> Result<Duration, Passed> {
        self.left().map(|left| left.map_or(LOOK, |left| left.min(LOOK)))
    }
}

/// Why nobody waits any more.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Passed {
    /// The deadline has passed.
    Limit(Duration),
    /// All waiting was cut off.
    CutOff,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_waits_looks_often_and_is_cut_off_whatever_the_limit() {
        static CUTOFF: Cutoff = Cutoff::never();
        let mut endless = Deadline::after(None, &CUTOFF);
        let mut long = Deadline::after(Some(Duration::from_secs(3600)), &CUTOFF);
        assert_eq!((endless.wait().ok(), long.wait().ok()), (Some(LOOK), Some(LOOK)));
        assert!(matches!(Deadline::after(Some(LOOK / 2), &CUTOFF).wait(), Ok(wait) if wait == LOOK / 2));
        CUTOFF.come_within(Duration::ZERO);
        CUTOFF.come_within(Duration::from_secs(3600));
        assert!(matches!((endless.wait(), long.wait()), (Err(Passed::CutOff), Err(Passed::CutOff))));
        CUTOFF.forget();
        assert!(endless.wait().is_ok() && long.wait().is_ok());
    }
}
