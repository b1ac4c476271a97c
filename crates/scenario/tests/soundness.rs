use std::path::PathBuf;
use anabranch_explore::{Explorer, Keep, Merge, Outcome, Scope, Settings};
use anabranch_kernel::System;
use anabranch_scenario::Drive;
use anabranch_scenario::file::{Document, Hooks};

fn load(name: &str, changes: &[(&str, &str)]) -> (Drive, Settings) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{name}.toml"));
    let mut document = Document::parse(name, &std::fs::read(file).unwrap()).unwrap();
    for (key, value) in changes { document.apply_override(key, value).unwrap(); }
    let spec = document.read(&Hooks::default()).unwrap_or_else(|e| panic!("{e}"));
    let drive = Drive::assemble(&spec).unwrap();
    let merge = drive.grid(&spec.explore.merge).unwrap();
    let settings = Settings { scope: Scope::Level, keep: Keep::Extremes, merge: merge.map_or(Merge::None, Merge::Grid),
        ..Settings::new(drive.variables(), true) };
    (drive, settings)
}
fn explore(name: &str, changes: &[(&str, &str)]) -> Outcome {
    let (drive, settings) = load(name, changes);
    let t = std::time::Instant::now();
    let o = Explorer::new(&drive).settings(settings.clone()).run().unwrap();
    let t1 = t.elapsed();
    let t = std::time::Instant::now();
    let o2 = Explorer::new(&drive).settings(settings).prove().run().unwrap();
    println!("{:?} {:?} {:?} {:?}", o.progress, t1, t.elapsed(), o2.soundness);
    o2
}
#[test]
fn try_it() {
    explore("steady-corridor", &[]);
}
