//! A bug of ours ends the program with code 3 and leaves a bundle to send us.

use std::panic::PanicHookInfo;
use std::path::{Path, PathBuf};

use anabranch_record::tidy_command;

use crate::escape::{escape, escape_lines};
use crate::exit::Exit;
use crate::screen::print_err;

/// From now on a panic in any thread writes a bundle, says where, and ends the program.
pub fn install() {
    std::panic::set_hook(Box::new(|info| {
        let text = bundle_text(info);
        let help = match write_bundle(&text) {
            Some(path) => format!("please send us `{}` and, if you may, the scenario", path.display()),
            None => format!("please send us these lines and, if you may, the scenario\n    {}", escape_lines(&text)),
        };
        let message = escape(&message(info));
        print_err(&format!("error: a bug of ours, not of your files: {message}\n  help: {help}\n"));
        std::process::exit(i32::from(Exit::Bug.code()));
    }));
}

fn message(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let place = info.location().map_or_else(String::new, |l| format!(" ({}:{})", l.file(), l.line()));
    format!("{}{place}", text.unwrap_or("no message"))
}

fn bundle_text(info: &PanicHookInfo<'_>) -> String {
    let command = tidy_command(std::env::args()).join(" ");
    let system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    format!("anabranch {}\n{system}\n$ {command}\n{}\n", env!("CARGO_PKG_VERSION"), message(info))
}

/// In the folder of runs if there is one, else here.
fn write_bundle(text: &str) -> Option<PathBuf> {
    let folder = if Path::new("runs").is_dir() { Path::new("runs") } else { Path::new(".") };
    let path = folder.join(format!("anabranch-bug-{}.txt", std::process::id()));
    std::fs::write(&path, text).ok()?;
    Some(path)
}
