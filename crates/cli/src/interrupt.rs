//! Ctrl-C: once to stop and save, twice to stop now.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::print_err;

static ASKED: AtomicBool = AtomicBool::new(false);
static LISTENING: OnceLock<Result<(), String>> = OnceLock::new();

/// Begins to listen, or goes on listening; the answer is set once somebody asks to stop.
pub fn listen() -> Result<&'static AtomicBool, Failure> {
    let handler = || {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(Exit::Interrupted.code()));
        }
        print_err("\nstopping and saving; once more to stop now\n");
    };
    let listening = LISTENING.get_or_init(|| ctrlc::set_handler(handler).map_err(|e| e.to_string()));
    listening.clone().map_err(|e| Failure::input(format!("cannot listen to Ctrl-C: {e}"), ""))?;
    Ok(&ASKED)
}

/// Whether somebody has asked to stop.
pub fn is_asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
