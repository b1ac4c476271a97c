//! A controller as a component model against the same law built in: segments of the narrow passage.

use std::hint::black_box;
use std::path::Path;

use anabranch_scenario::Drive;
use anabranch_scenario::file::{Document, Hooks};
use anabranch_scenario::models::Library;

use crate::cycle::jobs;
use crate::scenario::narrow_passage;
use crate::timing::medians_cpu_s;
use crate::{Figure, Goal};

const PASSAGE: &str = include_str!("../../../examples/passage.toml");

/// `examples/passage.toml`: the world of `narrow-passage`, with a model that drives.
fn passage() -> Drive {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let read_models = |name: &str| Library::around(&folder.join(name));
    let hooks = Hooks { read_models: &read_models, ..Hooks::default() };
    let document = Document::parse("passage.toml", PASSAGE.as_bytes()).expect("a shipped example");
    let spec = document.read(&hooks).unwrap_or_else(|report| panic!("{report}"));
    Drive::assemble(&spec).expect("a shipped example can be assembled")
}

pub(crate) fn run() -> Vec<Figure> {
    let (law, _) = narrow_passage(&[]);
    let model = passage();
    let mut alone = model.clone();
    alone.set_side_by_side(false);
    let run = |drive: &Drive| {
        for batch in jobs(drive).chunks(63) {
            let mut batch = batch.to_vec();
            drive.run_many(&mut batch);
            black_box(&batch);
        }
    };
    let count = jobs(&model).len() as f64;
    let [law_s, model_s, alone_s] = medians_cpu_s(9, [&mut || run(&law), &mut || run(&model), &mut || run(&alone)]);
    vec![
        Figure::new("segments per CPU second, built-in law side by side", count / law_s, Goal::None),
        Figure::new("segments per CPU second, component model side by side", count / model_s, Goal::None),
        Figure::new("segments per CPU second, component model one by one", count / alone_s, Goal::None),
        Figure::new("component model / built-in law (speed)", law_s / model_s, Goal::AtLeast(0.3)),
    ]
}
