//! Progress for people: a line that redraws on a terminal, a line every ten seconds elsewhere.

use std::io::IsTerminal;

use anabranch_explore::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::numbers::{count, duration};
use crate::screen::{Screen, Talk, print_err};
use crate::usage::WallClock;

/// Redraws on a terminal per second.
const REDRAWS_HZ: u8 = 10;
/// Seconds between two lines elsewhere.
const LINES_EVERY_S: f64 = 10.0;
/// Steps of the bar in one level.
const STEPS: u64 = 100;

/// Shows progress, or does not.
#[derive(Debug)]
pub struct Meter {
    kind: Kind,
    clock: WallClock,
    last_s: f64,
    levels: u32,
    segment_s: f64,
}

#[derive(Debug)]
enum Kind {
    Silent,
    Bar(ProgressBar),
    Lines,
}

impl Meter {
    /// A meter for so many levels, each of so many simulated seconds.
    pub fn new(screen: &Screen, clock: WallClock, levels: u32, segment_s: f64) -> Self {
        let kind = if screen.talk == Talk::Quiet {
            Kind::Silent
        } else if std::io::stderr().is_terminal() {
            let target = ProgressDrawTarget::stderr_with_hz(REDRAWS_HZ);
            let bar = ProgressBar::with_draw_target(Some(u64::from(levels) * STEPS), target);
            bar.set_style(ProgressStyle::with_template("{bar:24} {msg}").expect("a sound template"));
            Kind::Bar(bar)
        } else {
            Kind::Lines
        };
        Self { kind, clock, last_s: 0.0, levels, segment_s }
    }

    /// Called often; does little most times.
    pub fn progress(&mut self, progress: &Progress) {
        let now_s = self.clock.seconds();
        let pause_s = match self.kind {
            Kind::Silent => return,
            Kind::Bar(_) => 1.0 / f64::from(REDRAWS_HZ),
            Kind::Lines => LINES_EVERY_S,
        };
        if now_s - self.last_s < pause_s {
            return;
        }
        self.last_s = now_s;
        let text = self.text(progress, now_s);
        match &self.kind {
            Kind::Bar(bar) => {
                bar.set_position((self.done(progress) * STEPS as f64) as u64);
                bar.set_message(text);
            }
            Kind::Lines => print_err(&format!("{text}\n")),
            Kind::Silent => {}
        }
    }

    /// Clears the line.
    pub fn finish(&self) {
        if let Kind::Bar(bar) = &self.kind {
            bar.finish_and_clear();
        }
    }

    /// Levels that are done, with the part of the one in hand.
    fn done(&self, progress: &Progress) -> f64 {
        f64::from(progress.level) + (progress.expanded as f64 / progress.waiting.max(1) as f64).min(1.0)
    }

    fn text(&self, progress: &Progress, now_s: f64) -> String {
        let findings = match progress.findings {
            0 => "nothing found".to_owned(),
            1 => "1 finding".to_owned(),
            n => format!("{} findings", count(n as f64)),
        };
        format!(
            "level {}/{} · {} states · {} merged · {findings} · {} s simulated instead of {} s · {}",
            progress.level + 1,
            self.levels,
            count(progress.states as f64),
            count(progress.merged as f64),
            count(progress.segments as f64 * self.segment_s),
            count(progress.segments_from_start as f64 * self.segment_s),
            // Levels grow and shrink, so the time that is left cannot be told from the time that went by.
            duration(now_s),
        )
    }
}
