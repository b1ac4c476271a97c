//! A model as an FMU for co-simulation (FMI 2.0): its C text, the functions of the standard around it, the binary for this
//! machine and the description, in one file.

mod description;
mod wrapper;

use std::io::{Cursor, Write};
use std::path::Path;
use std::process::Command;

use anabranch_kernel::Digest;
use anabranch_language::Model;
use anabranch_language::table::columns;
use description::Facts;
use zip::write::SimpleFileOptions;
use zip::{DateTime, ZipWriter};

use crate::failure::Failure;

/// The length of a tick unless somebody says otherwise: the base cycle of most scenarios.
pub const STEP_S: f64 = 0.01;

/// The folder of binaries for this machine, if the standard has a name for it that is tried here.
const PLATFORM: Option<&str> =
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) { Some("linux64") } else { None };

/// Without a fused multiplication, which rounds differently, and with the functions of the standard as the only names.
const FLAGS: [&str; 6] = ["-std=c99", "-O2", "-ffp-contract=off", "-fPIC", "-shared", "-fvisibility=hidden"];

/// The bytes of the FMU: the same for the same model, step, version of Anabranch and compiler.
pub fn packed(model: &Model, identifier: &str, source: &str, step_s: f64) -> Result<Vec<u8>, Failure> {
    let Some(platform) = PLATFORM else {
        let message = "FMUs are exported on x86-64 Linux only";
        let help = "export there, or export C (`convert Model.emam model.c`) and compile it where it runs";
        return Err(Failure::input(message, help));
    };
    let columns = columns(model);
    let with = |token: &str| {
        let facts = Facts { identifier, token, step_s };
        (wrapper::written(model, &columns, &facts), description::written(model, &columns, &facts))
    };
    // The token says that description and binary belong together, so it is made of all they are made of.
    let (functions, described) = with("");
    let token = format!("{{{}}}", Digest::of(format!("{source}\n{functions}\n{described}").as_bytes()));
    let (functions, described) = with(&token);
    let named = format!("{identifier}.c");
    let binary = compiled(identifier, &[(&named, source), (wrapper::FILE, &functions)])?;
    zipped(&[
        ("modelDescription.xml", described.as_bytes()),
        (&format!("binaries/{platform}/{identifier}.so"), &binary),
        (&format!("sources/{named}"), source.as_bytes()),
        (&format!("sources/{}", wrapper::FILE), functions.as_bytes()),
    ])
    .map_err(|e| Failure::input(format!("the FMU could not be packed: {e}"), ""))
}

/// The library that the machine's C compiler makes of the sources; the last of them includes the others.
fn compiled(identifier: &str, sources: &[(&str, &str)]) -> Result<Vec<u8>, Failure> {
    let folder = tempfile::tempdir().map_err(|e| Failure::file("make", &std::env::temp_dir(), &e))?;
    for (name, text) in sources {
        let path = folder.path().join(name);
        std::fs::write(&path, text).map_err(|e| Failure::file("write", &path, &e))?;
    }
    let library = format!("{identifier}.so");
    // As `make` does, `CC` may have arguments of its own.
    let named = std::env::var("CC").ok().filter(|named| !named.trim().is_empty()).unwrap_or_else(|| "cc".to_owned());
    let mut words = named.split_whitespace();
    let output = Command::new(words.next().unwrap_or("cc"))
        .args(words)
        .args(FLAGS)
        .args(["-o", &library, wrapper::FILE, "-lm"])
        // Names without folders, so that the folder leaves no trace in the binary.
        .current_dir(folder.path())
        .output()
        .map_err(|e| {
            let help = "an FMU needs a C compiler: install one as `cc`, or name it in the variable CC";
            Failure::input(format!("the C compiler `{named}` does not start: {e}"), help)
        })?;
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr);
        let first = told.lines().find(|line| line.contains("error")).or(told.lines().next()).unwrap_or_default();
        let message = format!("the C compiler `{named}` did not make a library ({}): {first}", output.status);
        return Err(Failure::input(
            message,
            "name another compiler in the variable CC; `convert` to .c shows its input",
        ));
    }
    let path = folder.path().join(Path::new(&library));
    std::fs::read(&path).map_err(|e| Failure::file("read", &path, &e))
}

/// Files in one archive, all with the time that zip files begin with.
fn zipped(files: &[(&str, &[u8])]) -> zip::result::ZipResult<Vec<u8>> {
    let options = SimpleFileOptions::default().last_modified_time(DateTime::default()).unix_permissions(0o644);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, options)?;
        zip.write_all(bytes)?;
    }
    Ok(zip.finish()?.into_inner())
}
