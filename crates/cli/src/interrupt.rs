//! Ctrl-C: once to stop and save, twice to stop now.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::print_err;

static ASKED: AtomicBool = AtomicBool::new(false);

/// Begins to listen; the answer is set once somebody asks to stop.
pub fn listen() -> Result<&'static AtomicBool, Failure> {
    let handler = || {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(Exit::Interrupted.code()));
        }
        print_err("\nstopping and saving; once more to stop now\n");
    };
    ctrlc::set_handler(handler).map_err(|e| Failure::input(format!("cannot listen to Ctrl-C: {e}"), ""))?;
    Ok(&ASKED)
}
