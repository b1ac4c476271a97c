//! The models of this folder: every stream test passes, nothing is wrong with them, formatting keeps their meaning.

use std::path::{Path, PathBuf};

use anabranch_language::syntax::{Kind, parse, tokens};
use anabranch_language::{Code, Library, Model, Options, Outcome, check_library, format, run_stream_tests};
use anabranch_program::Now;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models")
}

#[test]
fn every_stream_test_passes() {
    let results = run_stream_tests(&folder()).unwrap();
    assert!(results.len() >= 9, "{}", results.len());
    for result in &results {
        let said = match &result.outcome {
            Outcome::CannotRun(told) => told.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
            other => format!("{other:?}"),
        };
        assert!(result.passed(), "{}: {said}", result.stream);
        assert!(result.checks > 0 && !result.used.is_empty(), "{}", result.stream);
    }
}

#[test]
fn only_the_cycle_is_told() {
    let told = check_library(&Library::open(&folder()).unwrap(), &Options::default());
    let codes: Vec<Code> = told.iter().map(|d| d.code).collect();
    assert!(
        codes.iter().all(|code| matches!(code, Code::AlgebraicLoop | Code::FileName | Code::OutOfRange)),
        "{told:#?}"
    );
    let cycle = told.iter().find(|d| d.code == Code::AlgebraicLoop).unwrap();
    assert!(cycle.message.contains("loop.half -> delays.loop.pass -> delays.loop.half"), "{}", cycle.message);
    let options = Options { strict: true, ..Options::default() };
    let library = Library::open(&folder()).unwrap();
    let errors = Model::build(&library, "delays.Loop", &options).unwrap_err();
    assert!(errors.iter().any(|d| d.code == Code::AlgebraicLoop && d.is_error()));
}

#[test]
fn a_stream_that_expects_something_else_fails_at_its_tick_and_port() {
    let mut sources: Vec<(PathBuf, String)> =
        Library::open(&folder()).unwrap().files().map(|(_, f)| (f.path.clone(), f.text.clone())).collect();
    for (_, text) in &mut sources {
        *text = text.replace("count: 11 tick 13 tick 16", "count: 11 tick 13 tick 17").replace("asin(", "atan(");
    }
    let results = anabranch_language::stream::run_all(&Library::of(sources));
    let failed: Vec<String> = results
        .iter()
        .filter_map(|result| match &result.outcome {
            Outcome::Failed(failure) => Some(format!("{} {} {}", result.stream, failure.tick, failure.port)),
            _ => None,
        })
        .collect();
    // E9: with the arc tangent the angle of the paper's figure is 14.93°, outside of 15.45° +/- 0.05°.
    assert_eq!(failed, ["CounterTest 3 count", "SteeringAngleTest 2 phi"]);
}

#[test]
fn the_order_is_that_of_connectors_and_delays_come_first() {
    let library = Library::open(&folder()).unwrap();
    let model = Model::build(&library, "delays.Counter", &Options::default()).unwrap();
    let names: Vec<&str> = model.order().iter().map(|executed| executed.name.as_str()).collect();
    assert_eq!(names, ["delays.counter.delay", "delays.counter.add"]);
    assert!(model.slist().contains("0:1    'delays.counter.add' (Add, tid=0)"), "{}", model.slist());
}

#[test]
fn a_saved_state_goes_on_as_if_it_had_never_stopped() {
    let library = Library::open(&folder()).unwrap();
    let options = Options { args: vec![("deviation".to_owned(), vec![0.01])], ..Options::default() };
    let model = Model::build(&library, "lane.Steering", &options).unwrap();
    let (program, wanted) = (model.program(), model.port("wanted").unwrap().slots.start);
    let mut memory = program.memory();
    let run = |memory: &mut anabranch_program::Memory, from: u64| -> Vec<u64> {
        let tick = |tick| {
            memory.set(wanted, 0.1);
            program.tick(memory, Now { tick, ..Now::default() }).unwrap();
            memory.outputs()[0].to_bits()
        };
        (from..from + 5).map(tick).collect()
    };
    run(&mut memory, 0);
    let saved = memory.save();
    let once = run(&mut memory, 5);
    assert!(memory.restore(&saved));
    assert_eq!(run(&mut memory, 5), once);
}

#[test]
fn wrong_coefficients_violate_the_invariant() {
    let library = Library::open(&folder()).unwrap();
    let options = Options { args: vec![("h".to_owned(), vec![0.5, 0.4, 0.0, 0.0, 0.0])], ..Options::default() };
    let told = Model::build(&library, "lane.Steering", &options).unwrap_err();
    assert_eq!(told[0].code, Code::Invariant);
    assert_eq!((told[0].line, told[0].column), (6, 27), "{}", told[0]);
}

#[test]
fn formatting_changes_blanks_only() {
    let words = |text: &str| -> Vec<String> {
        let kept = tokens(text).into_iter().filter(|t| t.kind != Kind::Space);
        kept.map(|t| text[t.span.range()].to_owned()).collect()
    };
    for (_, file) in Library::open(&folder()).unwrap().files() {
        let formatted = format(&file.text);
        assert_eq!(formatted, file.text, "{} is laid out as the formatter does it", file.path.display());
        let squeezed: String = file.text.lines().map(|line| format!("{}\n", line.trim())).collect();
        assert_eq!(format(&squeezed), formatted, "{}", file.path.display());
        assert_eq!(words(&formatted), words(&file.text));
        assert!(parse(&formatted).problems.is_empty());
    }
}

/// A stream test of a component that hands its input on.
#[track_caller]
fn stream(body: &str, expect: &str) {
    let model = "component A { ports in Q(0 m : 10 m) x, in Q r[2], out Q(0 m : 10 m) y; implementation Math { y = x + r(1); } }";
    let library =
        Library::of([("A.emam".into(), model.to_owned()), ("T.stream".into(), format!("stream T for A {{ {body} }}"))]);
    let result = anabranch_language::stream::run_all(&library).remove(0);
    let said = match &result.outcome {
        Outcome::Passed => "passed".to_owned(),
        Outcome::Failed(failure) => format!("tick {}: {}", failure.tick, failure.message),
        Outcome::CannotRun(told) => told.iter().filter(|d| d.is_error()).map(|d| d.message.clone()).collect(),
    };
    assert_eq!(said, expect, "{body}");
}

#[test]
fn bounds_of_a_tolerance_count_as_inside() {
    stream("x: 1; y: 1.1 +/- 0.1;", "passed");
    stream("x: 1.2; y: 1.1 +/- 0.1;", "passed");
    stream("x: 1; y: 1.2 +/- 0.1;", "tick 1: expected 1.2 +/- 0.1, got 1");
}

#[test]
fn conditions_name_ports_at_this_tick_at_another_or_over_several() {
    stream("x: 1 tick 2; y: 0 < y tick y(2) > y(1);", "passed");
    stream("x: 1 tick 2; y: 0 < y < 5 m tick y >= 200 cm && y != 3;", "passed");
    stream("x: 1 tick 2; y: y > 0 tick y > 3 || y < 1;", "tick 2: 2 > 3 does not hold; 2 < 1 does not hold");
    stream("x: 1 tick 2 tick 3; y: - tick - tick y(1:3) <= 2.5;", "tick 3: 3 <= 2.5 does not hold");
    stream("x: 1; y: 0 < y < 1;", "tick 1: 1 < 1 does not hold");
    stream("x: 1; y: y > 1 s;", "m is compared with s");
    stream("x: 1; y: r > 1;", "`r` has several numbers; a condition takes one");
}

#[test]
fn two_lines_about_one_port_are_a_mistake() {
    stream("x: 1; r[1]: 0; r[2]: 1; y: 1;", "passed");
    stream("x: 1; r: [0 1]; r[2]: 1; y: 1;", "two lines are about `r[2]`");
}

#[test]
fn an_inner_component_may_be_an_instance_at_once() {
    let text = "component A { ports in Q x, out Q y; component I i { ports in Q a, out Q b; implementation Math { b = 0x10*a; } } \
        connect x -> i.a; connect i.b -> y; }";
    let library = Library::of([("A.emam".into(), text.to_owned())]);
    let model = Model::build(&library, "A", &Options::default()).unwrap();
    assert_eq!(model.order().len(), 1);
    assert_eq!(model.order()[0].name, "a.i");
}

#[test]
fn very_many_components_inside_one_another_are_no_recursion() {
    let one = |i: usize| {
        format!(
            "component C{i} {{ ports in Q x, out Q y; instance C{} c; connect x -> c.x; connect c.y -> y; }}\n",
            i + 1
        )
    };
    let text: String = (0..80).map(one).collect();
    let text = text + "component C80 { ports in Q x, out Q y; implementation Math { y = x; } }";
    let library = Library::of([("C0.emam".into(), text)]);
    let told = Model::build(&library, "C0", &Options::default()).unwrap_err();
    assert_eq!(
        (told[0].code, told[0].message.as_str()),
        (Code::TooLarge, "more than 60 components inside one another")
    );
}

#[cfg(unix)]
#[test]
fn what_cannot_be_read_is_told() {
    let folder = std::env::temp_dir().join(format!("anabranch-unread-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::os::unix::fs::symlink("nowhere.emam", folder.join("A.emam")).unwrap();
    let told = check_library(&Library::open(&folder).unwrap(), &Options::default());
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(told.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::Unreadable], "{told:?}");
}
