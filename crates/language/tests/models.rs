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

/// What comes out of `z` of a model `A` with an in-port `x`, tick by tick, and what is told of it.
#[track_caller]
fn out(text: &str, inputs: &[f64]) -> (Vec<f64>, Vec<String>) {
    let library = Library::of([("A.emam".into(), text.to_owned())]);
    let model = match Model::build(&library, "A", &Options::default()) {
        Ok(model) => model,
        Err(told) => panic!("{}", told.iter().map(|d| format!("{d}\n")).collect::<String>()),
    };
    let program = model.program();
    let mut memory = program.memory();
    let (x, z) = (model.port("x").unwrap().slots.start, model.port("z").unwrap().slots.start);
    let tick = |(tick, value): (usize, &f64)| {
        memory.set(x, *value);
        program.tick(&mut memory, Now { tick: tick as u64, ..Now::default() }).unwrap();
        memory.get(z)
    };
    let values = inputs.iter().enumerate().map(tick).collect();
    (values, model.warnings().iter().map(|d| d.code.text().to_owned()).collect())
}

/// A component that gives what comes in, if it is positive.
const HOLD: &str = "component D { port in Q p, out Q q; implementation Math { if p > 0 q = p; end } }";

#[test]
fn a_first_value_is_seen_until_another_comes() {
    let direct = format!(
        "component A {{ port in Q x, out Q z; instance D{{q(t=0)=7}} d; connect x -> d.p; connect d.q -> z; {HOLD} }}"
    );
    assert_eq!(out(&direct, &[0.0, 1.0, 5.0]), (vec![7.0, 1.0, 5.0], vec![]));
    // The user of a composed component has the last word.
    let composed = format!(
        "component A {{ port in Q x, out Q z; instance W{{q(t=0)=7}} w; connect x -> w.p; connect w.q -> z; \
         component W {{ port in Q p, out Q q; instance D{{q(t=0)=3}} d; connect p -> d.p; connect d.q -> q; {HOLD} }} }}"
    );
    assert_eq!(out(&composed, &[0.0, 2.0]), (vec![7.0, 2.0], vec![]));
}

#[test]
fn an_unconnected_in_port_keeps_its_first_value() {
    let text = "component A { port in Q x, out Q z; instance S{p(t=0)=7} s; connect x -> s.o; connect s.q -> z; \
        component S { port in Q p, in Q o, out Q q; implementation Math { q = p + o; } } }";
    assert_eq!(out(text, &[0.0, 1.0]), (vec![7.0, 8.0], vec![]));
}

#[test]
fn one_element_of_an_array_of_ports_has_a_first_value() {
    let text = "component A { port in Q x, out Q z; instance D{q[2](t=0) ~= 7} d; connect x -> d.p; connect d.q[1] -> s.a; \
        connect d.q[2] -> s.b; instance S s; connect s.c -> z; \
        component D { port in Q p, out Q q[2]; implementation Math { if p > 0 q(1) = p; q(2) = p; end } } \
        component S { port in Q a, in Q b, out Q c; implementation Math { c = 10*a + b; } } }";
    assert_eq!(out(text, &[0.0, 2.0]), (vec![7.0, 22.0], vec![]));
}

#[test]
fn an_out_port_that_nothing_is_connected_to_is_told() {
    let text = "component A { port in Q x, out Q z, out Q w; connect x -> z; }";
    assert_eq!(out(text, &[3.0]), (vec![3.0], vec!["L222".to_owned()]));
    let text = "component A { port in Q x, out Q z, out Q w; connect x -> z; connect # -> w; }";
    assert_eq!(out(text, &[3.0]), (vec![3.0], vec![]));
}

#[test]
fn what_a_connector_loses_is_told_and_nothing_else() {
    let check = |from: &str, to: &str, expect: (f64, &[&str])| {
        let text = format!("component A {{ port in {from} x, out {to} z; connect x -> z; }}");
        let (values, told) = out(&text, &[2.75]);
        assert_eq!(
            (values, told),
            (vec![expect.0], expect.1.iter().map(|code| (*code).to_owned()).collect()),
            "{text}"
        );
    };
    check("Q", "Z", (2.0, &["L301"]));
    check("Q", "B", (1.0, &["L301"]));
    check("Z", "B", (1.0, &["L301"]));
    check("Q(0:0.5:9)", "Z", (2.0, &["L301"]));
    check("Q(0:1:9)", "Z", (2.0, &[]));
    check("Q", "Q", (2.75, &[]));
    check("Z", "Q", (2.75, &[]));
}

#[test]
fn a_chain_of_very_many_arms_is_no_nesting() {
    let arms: String = (1..2000).map(|i| format!("elseif x == {i} z = {}; ", 2 * i)).collect();
    let text = |last: &str| {
        format!("component A {{ port in Q x, out Q z; implementation Math {{ if x == 0 z = 1; {arms} {last} end }} }}")
    };
    let inputs = [0.0, 1.0, 24.0, 25.0, 26.0, 1999.0, 2000.0];
    let expected = vec![1.0, 2.0, 48.0, 50.0, 52.0, 3998.0];
    assert_eq!(out(&text("else z = -1;"), &inputs).0, [expected.clone(), vec![-1.0]].concat());
    assert_eq!(out(&text(""), &inputs).0, [expected, vec![3998.0]].concat());
}

#[test]
fn the_best_value_is_held_as_its_type_says() {
    let text = "component A { port in Q x, out Z z; implementation Math { \
        minimize Q(0:9) a; in Z best = (a - x)^2 + 1.5; end z = best; } }";
    assert_eq!(out(text, &[3.0]).0, [1.0]);
}

#[test]
fn values_of_an_enum_are_compared_with_their_own_and_handed_on() {
    let sources = [
        ("Col.enum", "enum Col { R | G | B }"),
        ("Ball.enum", "enum Ball { B | X }"),
        (
            "A.emam",
            "component A(Col first = Col.G) { ports in Q x, in Ball ball, in Col c, out Q z, out Col d, out Col^{1,2} both; implementation Math { \
             Col local = first; local = B; d = c; if c == local && c != B && B != c && ball == B z = 2; else z = 1; end both = [c first]; d = both(2); } }",
        ),
    ];
    let library = Library::of(sources.map(|(name, text)| (name.into(), text.to_owned())));
    let told = check_library(&library, &Options::default());
    assert!(told.is_empty(), "{told:#?}");
    let given = |value| Options { args: vec![("first".to_owned(), vec![value])], ..Options::default() };
    assert!(Model::build(&library, "A", &given(2.0)).is_ok());
    assert_eq!(Model::build(&library, "A", &given(3.0)).unwrap_err()[0].message, "3 is no value of Col");
}

#[test]
fn arguments_of_a_stream_are_told_where_they_stand() {
    let component =
        format!("{}component G(Q k) {{ port in Q x, out Q y; implementation Math {{ y = k*x; }} }}", "\n".repeat(12));
    let at = |head: &str| {
        let stream = format!("stream T for {head} {{ x: 2; y: 4; }}");
        let library = Library::of([("G.emam".into(), component.clone()), ("T.stream".into(), stream.clone())]);
        match anabranch_language::stream::run_all(&library).remove(0).outcome {
            Outcome::CannotRun(told) => {
                let first = &told[0];
                format!("{} {} {}: {}", first.file.display(), first.code, &stream[first.span.range()], first.message)
            }
            other => format!("{other:?}"),
        }
    };
    assert_eq!(at("G(2)"), "Passed");
    assert_eq!(at("G(1, 2)"), "T.stream L215 1, 2: `G` takes 1 arguments, not 2");
    assert_eq!(at("G(k = 2, k = 3)"), "T.stream L215 k: `k` is given twice");
    assert_eq!(at("G"), "T.stream L215 G: `G` needs a value for `k`");
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
