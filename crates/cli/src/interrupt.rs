//! Ctrl-C: once to stop and save, twice to stop now. An exploration ends within two seconds of the first.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anabranch_bridge::Cutoff;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::print_err;
use crate::usage::WallClock;

/// So long after Ctrl-C code from outside may still answer, so that what it is doing can be used.
const ANSWERS_WITHIN: Duration = Duration::from_millis(900);
/// So long after Ctrl-C an exploration may still save. Whole levels are saved on the way, so nothing is lost then.
const SAVES_WITHIN: Duration = Duration::from_millis(1_800);

static ASKED: AtomicBool = AtomicBool::new(false);
static ASKED_AT: OnceLock<WallClock> = OnceLock::new();
static LISTENING: OnceLock<Result<(), String>> = OnceLock::new();
static IS_HURRIED: AtomicBool = AtomicBool::new(false);
static CUTOFF: Cutoff = Cutoff::never();

/// Begins to listen, or goes on listening; the answer is set once somebody asks to stop.
pub fn listen() -> Result<&'static AtomicBool, Failure> {
    let handler = || {
        ASKED_AT.get_or_init(WallClock::start);
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(Exit::Interrupted.code()));
        }
        print_err("\nstopping and saving; once more to stop now\n");
        if IS_HURRIED.load(Ordering::SeqCst) {
            CUTOFF.come_within(ANSWERS_WITHIN);
            std::thread::spawn(end_in_time);
        }
    };
    let listening = LISTENING.get_or_init(|| ctrlc::set_handler(handler).map_err(|e| e.to_string()));
    listening.clone().map_err(|e| Failure::input(format!("cannot listen to Ctrl-C: {e}"), ""))?;
    Ok(&ASKED)
}

/// Whether somebody has asked to stop.
pub fn is_asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// Seconds since somebody asked to stop.
pub fn asked_for_s() -> Option<f64> {
    is_asked().then(|| ASKED_AT.get().map_or(0.0, WallClock::seconds))
}

/// After this nobody waits for code from outside.
pub fn cutoff() -> &'static Cutoff {
    &CUTOFF
}

/// The failure of a start, unless the reason is Ctrl-C or the end of the time budget.
pub fn or_stopped(failure: Failure) -> Failure {
    let (exit, message, help) = if is_asked() {
        (Exit::Interrupted, "stopped before the exploration began", "")
    } else if CUTOFF.has_come() {
        let help = "nothing was explored; the code from outside needs more time to start";
        (Exit::Incomplete, "incomplete: the time budget was used up before the exploration began", help)
    } else {
        return failure;
    };
    Failure::Plain { exit, message: message.to_owned(), help: help.to_owned() }
}

/// As long as this lives, Ctrl-C does not wait for code from outside, and ends the program when saving takes too long.
#[derive(Debug)]
pub struct Hurry(());

/// An exploration begins.
pub fn hurry() -> Result<Hurry, Failure> {
    listen()?;
    IS_HURRIED.store(true, Ordering::SeqCst);
    if is_asked() {
        CUTOFF.come_within(ANSWERS_WITHIN);
    }
    Ok(Hurry(()))
}

impl Drop for Hurry {
    fn drop(&mut self) {
        IS_HURRIED.store(false, Ordering::SeqCst);
        CUTOFF.forget();
    }
}

fn end_in_time() {
    std::thread::sleep(SAVES_WITHIN);
    if IS_HURRIED.load(Ordering::SeqCst) {
        print_err("stopped before the result was saved; `explore --resume` goes on after the last whole level\n");
        std::process::exit(i32::from(Exit::Interrupted.code()));
    }
}
