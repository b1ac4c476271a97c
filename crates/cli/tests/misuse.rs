//! Mistakes are told where a person made them, names cannot pass for results, and a run has one process.

use std::net::TcpListener;

use crate::common::{PULL, Project};

#[track_caller]
fn check_told(project: &Project, arguments: &[&str], place: &str, part: &str) {
    let ran = project.run(arguments);
    assert!(ran.code == 2 && ran.err.contains(place) && ran.err.contains(part), "{place} and {part} in {ran:?}");
    assert!(!ran.err.contains("--set:"), "{ran:?}");
}

#[test]
fn mistakes_in_flags_are_told_at_the_flag() {
    let project = Project::new();
    let explore = |more: [&'static str; 2]| [&["explore", "pull.toml"][..], &more].concat();
    check_told(&project, &explore(["--budget", "time=2x"]), "--> --budget:1:6", "`x`");
    check_told(&project, &explore(["--budget", "tiem=2s"]), "--> --budget:1:1", "did you mean `time`?");
    check_told(&project, &explore(["--merge", "x=3s"]), "--> --merge:1:3", "another unit");
    check_told(&project, &explore(["--merge", "nowhere=1m"]), "--> --merge:1:1", "`nowhere` is no state variable");
    check_told(&project, &explore(["--driver", "nowhere.py"]), "--> --driver:1:1", "nowhere.py");
    let error = "[[error]]\nid = \"late\"\non = \"bin\"\nmissed = {}\n";
    project.write("errors.toml", error);
    check_told(&project, &explore(["--with", "errors.toml"]), "--> --with errors.toml:1:", "bin");
}

#[test]
fn a_map_is_checked_as_a_map() {
    let project = Project::new();
    project.write("town.road.toml", "schema = \"anabranch-road/1\"\n[make]\nkind = \"crossing\"\n");
    let ran = project.run(&["check", "town.road.toml"]);
    assert!(ran.code == 0 && ran.out.contains("ok town.road.toml: map, 8 lane(s), 12 turn(s)"), "{ran:?}");
    let (code, value) = project.json(&["check", "town.road.toml"]);
    assert_eq!((code, &value["files"][0]["ok"]), (0, &true.into()), "{value}");
    project.write("bad.road.toml", "schema = \"anabranch-road/1\"\n[make]\nkind = \"straight\"\nlength = \"1e17 m\"\n");
    let ran = project.run(&["check", "bad.road.toml"]);
    assert!(ran.code == 2 && ran.err.contains("error[E0119]") && ran.err.contains("bad.road.toml:4:10"), "{ran:?}");
}

#[test]
fn fitted_errors_are_taken_by_scenarios_that_have_errors_of_their_own() {
    let project = Project::new();
    let log = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/logs/localisation.csv");
    std::fs::copy(log, project.file("log.csv")).unwrap();
    assert_eq!(project.run(&["data", "fit-errors", "log.csv", "--out", "errors.toml"]).code, 0);
    let ran = project.run(&["explore", "pull.toml", "--with", "errors.toml", "--until", "1 s", "--no-pictures"]);
    assert!(matches!(ran.code, 0 | 1) && ran.err.contains("only some of the errors have a probability"), "{ran:?}");
    // In one file it is a mistake still.
    let table = project.read("errors.toml");
    project.write("both.toml", &PULL.replace("[explore]", &format!("{table}\n[explore]")));
    assert!(project.run(&["check", "both.toml"]).err.contains("error[E0213]"));
}

#[test]
fn a_log_without_errors_gives_no_table() {
    let project = Project::new();
    let mut log = "time [s],truth.x [m],estimate.x [m]\n".to_owned();
    for row in 0..200 {
        let x = 0.001 * f64::from(row * row);
        log += &format!("{},{x},{x}\n", 0.1 * f64::from(row));
    }
    project.write("log.csv", &log);
    let ran = project.run(&["data", "fit-errors", "log.csv", "--out", "errors.toml"]);
    assert!(ran.code == 4 && ran.err.contains("no table was written"), "{ran:?}");
    assert!(!project.file("errors.toml").exists());
}

#[cfg(unix)]
#[test]
fn a_name_with_a_line_break_is_one_line_of_the_result() {
    let project = Project::new();
    let name = "a\nok b.toml: b, 3 choices\u{202E}.toml";
    project.write(name, PULL);
    let ran = project.run(&["check", name]);
    assert_eq!((ran.code, ran.out.lines().count()), (0, 1), "{ran:?}");
    assert!(ran.out.starts_with("ok a⏎ok b.toml: b, 3 choices\u{FFFD}.toml: pull"), "{ran:?}");
    let ran = project.run(&["check", "nowhere\nok b.toml"]);
    assert!(ran.code == 2 && !ran.out.contains("\nok") && !ran.err.contains("\nok"), "{ran:?}");
}

#[test]
fn a_trace_has_one_column_of_time() {
    let project = Project::new();
    project.write("timed.toml", &PULL.replace("never = \"ego.clearance < 0.05 m\"", "always = \"time < 100 s\""));
    let ran = project.run(&["run", "timed.toml", "--trace", "trace.csv"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let trace = project.read("trace.csv");
    let header = trace.lines().next().unwrap();
    assert_eq!(header.matches("time [s]").count(), 1, "{header}");
    assert!(trace.lines().all(|line| line.split(',').count() == header.split(',').count()));
}

#[test]
fn a_run_has_one_process() {
    let project = Project::new();
    let file = format!("{}/../../scenarios/narrow-passage.toml", env!("CARGO_MANIFEST_DIR"));
    let mut first = project.command(&["explore", &file, "--no-pictures", "-q", "-j", "1"]).spawn().unwrap();
    while !project.file("runs/last/scenario.json").exists() {
        assert!(first.try_wait().unwrap().is_none(), "it ended before it began");
        std::thread::yield_now();
    }
    let second = project.run(&["explore", "--resume", "-q"]);
    assert!(second.code == 2 && second.err.contains("another process is working on the run"), "{second:?}");
    first.kill().unwrap();
    first.wait().unwrap();
    // A process that is dead holds nothing.
    let third = project.run(&["explore", "--resume", "-q", "--budget", "states=1"]);
    assert!(matches!(third.code, 1 | 5), "{third:?}");
}

#[test]
fn a_driver_that_hangs_up_leaves_the_run_incomplete() {
    let project = Project::new();
    // As if somebody else had said goodbye to it while it held our connection.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || drop(listener.accept().unwrap()));
    let driver = format!("ego.driver={{ zmq = \"{address}\", cycle = \"20 ms\" }}");
    let ran = project.run(&["run", "pull.toml", "--set", &driver]);
    server.join().unwrap();
    assert_eq!(ran.code, 5, "{ran:?}");
    // Nobody there at all is a mistake of the input.
    let ran = project.run(&["run", "pull.toml", "--set", &driver]);
    assert_eq!(ran.code, 2, "{ran:?}");
}
