//! What people touch first: help, flags, colours, `check`, `new`, generated texts.

use crate::common::{PULL, Project};

#[test]
fn version_and_help_are_results() {
    let project = Project::new();
    let version = project.run(&["--version"]);
    assert_eq!((version.code, version.out.as_str()), (0, concat!("anabranch ", env!("CARGO_PKG_VERSION"), "\n")));
    let help = project.run(&[]);
    assert_eq!(help.code, 0, "{help:?}");
    let text = help.out + &help.err;
    for verb in ["new", "check", "run", "explore", "replay"] {
        assert!(text.contains(&format!("\n  {verb} ")), "{verb} in {text}");
    }
}

#[test]
fn unknown_flags_verbs_and_words_get_a_suggestion() {
    let project = Project::new();
    for (arguments, hint) in [
        (vec!["explore", "pull.toml", "--untill", "3 s"], "--until"),
        (vec!["exlpore", "pull.toml"], "explore"),
        (vec!["explore", "pull.toml", "--keep", "wurst"], "worst"),
        (vec!["explore", "pull.toml", "--merge", "q=1m"], "state variable"),
        (vec!["explore", "pull.toml", "--set", "explore.untill=3 s"], "until"),
    ] {
        let ran = project.run(&arguments);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains(hint), "{hint} in {ran:?}");
        assert!(!project.file("runs").exists(), "nothing was begun: {arguments:?}");
    }
}

#[test]
fn a_broken_file_is_located() {
    let project = Project::new();
    project.write("broken.toml", &PULL.replace("step = \"10 ms\"", "step = 10"));
    for verb in ["check", "run", "explore"] {
        let ran = project.run(&[verb, "broken.toml"]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains("broken.toml:6:8") && ran.err.contains("E0104"), "{ran:?}");
    }
    let (code, checked) = project.json(&["check", "broken.toml", "pull.toml"]);
    assert_eq!(code, 2);
    assert_eq!(checked["files"][0]["diagnostics"][0]["line"], 6);
    assert_eq!(checked["files"][1]["ok"], true);
    let missing = project.run(&["run", "nothing.toml"]);
    assert!(missing.code == 2 && missing.err.contains("nothing.toml"), "{missing:?}");
}

#[test]
fn check_selects_scenarios_and_says_if_there_are_none() {
    let project = Project::new();
    project.write("other.toml", "schema = \"something-else/1\"\n");
    let all = project.run(&["check"]);
    assert_eq!((all.code, all.out.lines().count()), (0, 1), "{all:?}");
    std::fs::create_dir(project.file("empty")).unwrap();
    assert_eq!(project.run(&["check", "empty"]).code, 4);
    assert!(project.run(&["check", "--schema"]).out.contains("\"properties\""));
    assert!(project.run(&["check", "--explain", "E0104"]).out.contains("unit"));
    assert!(project.run(&["check", "--explain", "E0611"]).out.contains("a curve tighter than the lane is wide"));
    assert!(project.run(&["check", "--explain", "E0705"]).out.contains("a count that does not agree"));
    assert!(project.run(&["check", "--codes"]).out.contains("E0501"));
    assert_eq!(project.run(&["check", "--explain", "E9999"]).code, 2);
}

#[test]
fn no_path_is_an_outcome() {
    let project = Project::new();
    let walled = PULL.replace("path    = [{ length = \"10 m\" }]\n", "").replace(
        "y = \"1.5 m\", length = \"1 m\", width = \"1 m\"",
        "y = \"1.5 m\", length = \"1 m\", width = \"0.5 m\"",
    );
    let walls = "[[world.wall]]\nline = [[\"-6 m\", \"-6 m\"], [\"5 m\", \"-6 m\"], [\"5 m\", \"6 m\"], [\"-6 m\", \"6 m\"], [\"-6 m\", \"-6 m\"]]\n[ego]\n";
    project.write("walled.toml", &walled.replace("[ego]\n", walls));
    let (code, result) = project.json(&["explore", "walled.toml"]);
    assert_eq!((code, &result["verdict"]), (1, &"no path".into()), "{result}");
    let ran = project.run(&["explore", "walled.toml"]);
    assert!(ran.code == 1 && ran.err.contains("planner found no path"), "{ran:?}");
}

#[test]
fn colours_follow_the_flag_and_no_color() {
    let project = Project::new();
    let coloured = |arguments: &[&str], no_color: &str| {
        let output = project.command(arguments).env("NO_COLOR", no_color).output().unwrap();
        output.stdout.contains(&0x1b) || output.stderr.contains(&0x1b)
    };
    assert!(coloured(&["run", "pull.toml", "--color", "always"], ""));
    assert!(!coloured(&["run", "pull.toml"], "1"));
    assert!(!coloured(&["run", "pull.toml", "--color", "never"], ""));
}

#[test]
fn control_characters_of_files_do_not_reach_the_terminal() {
    let project = Project::new();
    project.write("evil.toml", &PULL.replace("name   = \"pull\"", "name   = \"a\\u001b[31mb\""));
    let ran = project.run(&["run", "evil.toml"]);
    assert!(!ran.out.contains('\x1b') && !ran.err.contains('\x1b'), "{ran:?}");
}

#[test]
fn new_writes_a_project_once() {
    let project = Project::new();
    let list = project.run(&["new", "--list"]);
    assert!(list.code == 0 && list.out.contains("narrow-passage") && list.out.contains("first-steps"), "{list:?}");
    assert_eq!(project.run(&["new", "mine", "--template", "first-steps"]).code, 0);
    assert!(project.read("mine/.gitignore").contains("runs"));
    assert!(project.read("mine/README.md").contains("anabranch explore first-steps.toml"));
    assert_eq!(project.run(&["-C", "mine", "check"]).code, 0);
    let again = project.run(&["new", "mine"]);
    assert!(again.code == 2 && again.err.contains("already exists"), "{again:?}");
    assert_eq!(project.run(&["new", "other", "--template", "narow-passage"]).code, 2);
}

#[test]
fn completions_and_manual_are_generated() {
    let project = Project::new();
    assert!(project.run(&["completions", "bash"]).out.contains("--rollouts"));
    assert!(project.run(&["man"]).out.contains(".TH anabranch"));
    assert!(project.run(&["man", "explore"]).out.contains("rollouts"));
}

#[test]
fn a_bug_of_ours_leaves_a_bundle() {
    let project = Project::new();
    let ran = project.run(&["bug"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let bundle = ran.err.split('`').find(|part| part.starts_with("./anabranch-bug-")).expect("a path");
    let bundle = project.read(bundle);
    assert!(bundle.contains("$ anabranch bug") && bundle.contains(env!("CARGO_PKG_VERSION")), "{bundle}");
}
