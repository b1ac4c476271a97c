//! Wall-clock mode: steps are asked when their time has come, for hardware that cannot wait.
//!
//! What is answered is taken however late it is, and counted; nothing is dropped, so a run says the same as in lock-step
//! unless the hardware itself depends on the time.

use std::time::{Duration, Instant};

use crate::protocol::Op;

/// When a step is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Pace {
    /// As soon as the one before is answered.
    #[default]
    Lockstep,
    /// When its time has come. One run at a time.
    RealTime,
}

/// The clock of a run that goes on.
#[derive(Clone, Copy, Debug)]
struct Run {
    began: Instant,
    /// Time of its last step.
    last_s: f64,
}

/// When the steps of one instance are due.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timetable(Option<Run>);

/// How a step is on time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// In so long.
    In(Duration),
    /// The answer before it came too late.
    Passed,
}

impl Timetable {
    /// When the first step of a message is due; without a step, now. A step that is not after the last one is that of
    /// another run, which begins now.
    pub(super) fn due(&mut self, ops: &[Op], here: Instant) -> Due {
        let time = ops.iter().find_map(|op| if let Op::Step { seen, .. } = op { Some(seen.time) } else { None });
        time.map_or(Due::In(Duration::ZERO), |time_s| self.due_at(time_s, here))
    }

    fn due_at(&mut self, time_s: f64, here: Instant) -> Due {
        let Ok(since) = Duration::try_from_secs_f64(time_s) else { return Due::In(Duration::ZERO) };
        let began = match self.0 {
            Some(run) if time_s > run.last_s => run.began,
            _ => here.checked_sub(since).unwrap_or(here),
        };
        self.0 = Some(Run { began, last_s: time_s });
        (began + since).checked_duration_since(here).map_or(Due::Passed, Due::In)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::now;

    #[test]
    fn a_step_waits_for_its_time_and_late_ones_are_asked_at_once() {
        let mut table = Timetable::default();
        let ms = Duration::from_millis;
        // A minute from now, so that a run can have begun before.
        let start = now() + ms(60_000);
        assert_eq!(table.due_at(5.0, start), Due::In(ms(0)), "the first one sets the clock");
        assert_eq!(table.due_at(5.02, start + ms(5)), Due::In(ms(15)));
        assert_eq!(table.due_at(5.04, start + ms(70)), Due::Passed);
        assert_eq!(table.due_at(5.1, start + ms(70)), Due::In(ms(30)), "and no later than needed");
        assert_eq!(table.due_at(0.0, start + ms(90)), Due::In(ms(0)), "another run");
        assert_eq!(table.due_at(0.02, start + ms(91)), Due::In(ms(19)));
        assert_eq!(table.due(&[Op::Bye {}], start), Due::In(ms(0)));
    }
}
