//! Drivers from outside on the command line, as far as it goes without one: what is wrong is said where it is written.

use crate::common::Project;

#[test]
fn a_driver_that_is_not_there_is_a_mistake_with_its_place() {
    let project = Project::new();
    let run = project.run(&["run", "pull.toml", "--driver", "missing.py"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.err.contains("E0125") && run.err.contains("missing.py"), "{run:?}");
}

#[test]
fn a_driver_that_does_not_start_is_bad_input_and_says_why() {
    let project = Project::new();
    let ours = "driver = { command = [\"false\"] }";
    project.write("false.toml", &project.read("pull.toml").replace("driver  = \"path-follower\"", ours));
    for verb in ["run", "explore", "check"] {
        let run = project.run(&[verb, "false.toml"]);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.err.contains("the driver cannot be used: no-start"), "{run:?}");
    }
}

#[test]
fn a_built_in_driver_can_take_the_place_of_the_scenarios_own() {
    let project = Project::new();
    let (code, run) = project.json(&["run", "pull.toml", "--driver", "eager"]);
    assert_eq!((code, &run["completed"]), (0, &true.into()), "{run}");
    let (_, usual) = project.json(&["run", "pull.toml"]);
    assert_ne!(run["state_digest"], usual["state_digest"]);
    assert!(run.get("driver").is_none(), "only drivers from outside are told about");
}

#[test]
fn nothing_beyond_this_machine_is_connected_to() {
    let project = Project::new();
    let run = project.run(&["run", "pull.toml", "--driver", "tcp://192.0.2.1:5555"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.err.contains("cannot be reached"), "{run:?}");
}
