//! From a finding to its cause, as a person asks for it.

use crate::common::{PULL, Project};
use serde_json::Value;

/// A folder with findings of `pull.toml`, and the folder of the first.
fn explored() -> (Project, String) {
    let project = Project::new();
    let (code, result) = project.json(&["explore", "pull.toml", "--no-pictures"]);
    assert_eq!(code, 1, "{result}");
    let file = result["groups"][0]["finding"].as_str().unwrap().to_owned();
    let folder = file.strip_suffix("/finding.toml").unwrap().to_owned();
    (project, folder)
}

#[test]
fn a_finding_is_explained_and_its_smallest_errors_replay() {
    let (project, folder) = explored();
    let (code, why) = project.json(&["explain", "last#1"]);
    assert_eq!((code, &why["schema"], &why["requirement"]), (0, &"anabranch.explain/1".into(), &"no-contact".into()));
    for name in ["minimal.toml", "why.json", "why.svg", "why.png"] {
        assert!(project.file(&format!("{folder}/{name}")).is_file(), "{name}");
    }
    assert_eq!(serde_json::from_str::<Value>(&project.read(&format!("{folder}/why.json"))).unwrap(), why);
    let minimal = project.read(&format!("{folder}/minimal.toml"));
    assert!(minimal.contains("matters = true"), "{minimal}");
    let (code, replayed) = project.json(&["replay", &format!("{folder}/minimal.toml"), "--twice"]);
    assert_eq!((code, &replayed["same_as_found"], &replayed["twice"]["equal"]), (1, &true.into(), &true.into()));
    assert_eq!(replayed["tick"], why["minimal"]["tick"]);
    assert_eq!(replayed["errors"], why["minimal"]["errors"]);
}

#[test]
fn without_any_one_of_its_errors_it_passes() {
    let (project, folder) = explored();
    let (_, why) = project.json(&["explain", "last#1"]);
    let minimal = project.read(&format!("{folder}/minimal.toml"));
    let segments = why["blame"]["segments"].as_array().unwrap();
    assert_eq!(segments.len() as u64, why["minimal"]["erroneous_segments"].as_u64().unwrap());
    for segment in segments {
        // The same file, segment by segment, with this one error left out.
        let left_out = segment["segment"].as_u64().unwrap();
        let head = minimal.split("\n[[segment]]").next().unwrap().to_owned();
        let errors = why["minimal"]["errors"].as_array().unwrap();
        let mut file = head;
        for n in 0..why["minimal"]["segments"].as_u64().unwrap() {
            let run = errors.iter().find(|run| run["to_s"].as_f64().unwrap() > n as f64).unwrap();
            let error = match run["error"].as_str().unwrap().split_once(": ") {
                Some((site, mode)) if n != left_out => format!("{{ {site} = \"{mode}\" }}"),
                _ => "\"none\"".to_owned(),
            };
            file += &format!("\n[[segment]]\nfrom = \"{n} s\"\nto = \"{} s\"\nerror = {error}\n", n + 1);
        }
        project.write("fewer.toml", &file);
        let (code, run) = project.json(&["run", "pull.toml", "--errors", "fewer.toml"]);
        assert_eq!((code, &run["verdict"]), (0, &"completed".into()), "without {segment}: {run}");
        assert_eq!(run["worst_clearance_m"], segment["clearance_without_m"]);
    }
}

#[test]
fn the_story_names_what_an_engineer_needs() {
    let (project, _) = explored();
    let told = project.run(&["explain", "last#1"]);
    assert_eq!(told.code, 0, "{told:?}");
    for part in [
        "pull: violated `no-contact`",
        "clearance without it",
        "steering-pulls: ",
        "too late ",
        "enough ",
        "still violates at ",
        "(Shapley), exact",
        "anabranch replay runs/",
    ] {
        assert!(told.out.contains(part), "{part} in {}", told.out);
    }
    assert!(told.err.is_empty(), "{told:?}");
    assert!(project.run(&["--help"]).out.contains("\n  explain "));
}

#[test]
fn the_size_at_which_it_begins_to_do_harm_is_right() {
    let (project, folder) = explored();
    let (_, why) = project.json(&["explain", "last#1"]);
    let size = &why["thresholds"][0];
    assert_eq!((&size["key"], &size["unit"]), (&"error.steering-pulls.offset.by".into(), &"°".into()));
    let (violates, passes) = (size["violates_at"].as_f64().unwrap(), size["passes_at"].as_f64().unwrap());
    assert!(passes < violates && violates < 6.0 && violates - passes < 0.01, "{size}");
    // The same errors with the size written into the scenario, and its name into the finding.
    let minimal = project.read(&format!("{folder}/minimal.toml"));
    for (degrees, code) in [(violates + 0.002, 1), (passes - 0.002, 0)] {
        let degrees = format!("{degrees:.4}");
        project.write("other.toml", &PULL.replace("6 deg", &format!("{degrees} deg")));
        project.write("errors.toml", &minimal.replace("6°", &format!("{}°", degrees.trim_end_matches('0'))));
        let run = project.run(&["run", "other.toml", "--errors", "errors.toml"]);
        assert_eq!(run.code, code, "{degrees}: {run:?}");
    }
}

#[test]
fn another_driver_is_compared_on_the_same_errors() {
    let (project, _) = explored();
    project.write("weak.toml", "[ego.driver]\nlateral_gain = \"0.1 1/m^2\"\n");
    project.write("same.toml", "[ego.driver]\nkind = \"path-follower\"\n");
    project.write("far.toml", &PULL.replace("y = \"1.5 m\"", "y = \"4 m\""));
    let against = |file: &str| project.json(&["explain", "last#1", "--against", file]).1["against"].clone();
    let same = against("same.toml");
    for run in same["runs"].as_array().unwrap() {
        assert_eq!((&run["survives"], &run["first_difference"]), (&false.into(), &Value::Null), "{run}");
        assert_eq!(run["own_clearance_m"], run["other_clearance_m"]);
    }
    let weak = against("weak.toml");
    let difference = &weak["runs"][1]["first_difference"];
    assert!(difference["tick"].as_u64().unwrap() > 0 && difference["own"] != difference["other"], "{difference}");
    let far = against("far.toml");
    assert_eq!((&far["runs"][0]["survives"], &far["runs"][0]["completed"]), (&true.into(), &true.into()), "{far}");
    assert_eq!(far["runs"][0]["first_difference"]["tick"], 0);
    assert!(project.run(&["explain", "last#1", "--against", "far.toml"]).out.contains("survived and completed"));
    project.write("empty.toml", "");
    for (file, hint) in [("empty.toml", "changes nothing"), ("nothing.toml", "nothing.toml")] {
        let ran = project.run(&["explain", "last#1", "--against", file]);
        assert!(ran.code == 2 && ran.err.contains(hint), "{ran:?}");
    }
    project.write("wrong.toml", "[ego.driver]\nlateral_gian = 3\n");
    let wrong = project.run(&["explain", "last#1", "--against", "wrong.toml"]);
    assert!(wrong.code == 2 && wrong.err.contains("lateral_gain"), "{wrong:?}");
}

#[test]
fn kept_findings_are_explained_beside_themselves() {
    let (project, folder) = explored();
    assert_eq!(project.run(&["replay", "last#1", "--keep"]).code, 1);
    let kept = std::fs::read_dir(project.file("findings")).unwrap().next().unwrap().unwrap().path();
    let stem = kept.file_stem().unwrap().to_string_lossy().into_owned();
    let (code, why) = project.json(&["explain", &format!("findings/{stem}.toml")]);
    assert_eq!((code, &why["files"]["minimal"]), (0, &format!("findings/{stem}.minimal.toml").into()));
    assert!(!project.file(&format!("{folder}/minimal.toml")).exists(), "the run is left alone");
    let again = project.run(&["replay", &format!("findings/{stem}.minimal.toml")]);
    assert!(again.code == 1 && again.out.contains("the same verdict on the same tick"), "{again:?}");
}

#[test]
fn a_changed_scenario_is_explained_but_leaves_no_file() {
    let (project, folder) = explored();
    let (code, why) = project.json(&["explain", "last#1", "--set", "ego.start.y=0.02 m"]);
    assert_eq!((code, &why["files"]), (2, &Value::Null), "the finding starts elsewhere: {why}");
    let (code, why) = project.json(&["explain", "last#1", "--set", "world.obstacle.box.box.y=1.49 m"]);
    assert_eq!((code, &why["files"]), (0, &Value::Null), "{why}");
    assert!(!project.file(&format!("{folder}/minimal.toml")).exists());
}

#[test]
fn what_does_not_reproduce_is_said_so_and_bad_references_are_bad_input() {
    let (project, folder) = explored();
    let gone = project.run(&["explain", "last#1", "--set", "world.obstacle.box.box.y=4 m"]);
    assert!(gone.code == 6 && gone.err.contains("does not reproduce"), "{gone:?}");
    assert!(!project.file(&format!("{folder}/minimal.toml")).exists());
    for reference in ["last#99", "last", "nothing#2", "no.toml"] {
        let ran = project.run(&["explain", reference]);
        assert!(ran.code == 2 && ran.err.starts_with("error: "), "{ran:?}");
    }
    assert_eq!(project.run(&["explain", "last#1", "--samples", "1"]).code, 2);
    let file = format!("{folder}/finding.toml");
    let text = project.read(&file);
    let tick = text.lines().find_map(|line| line.strip_prefix("tick = ")).unwrap().parse::<u64>().unwrap();
    project.write(&file, &text.replace(&format!("tick = {tick}"), &format!("tick = {}", tick - 1)));
    let forged = project.run(&["explain", "last#1"]);
    assert!(forged.code == 6 && forged.err.contains("does not reproduce"), "{forged:?}");
    project.write(&file, &text);
    let (code, error) = project.json(&["explain", "last#1", "--set", "world.obstacle.box.box.y=4 m"]);
    assert_eq!((code, &error["schema"], &error["exit"]), (6, &"anabranch.error/1".into(), &Value::from(6)));
}

#[test]
fn any_number_of_threads_tells_the_same_story() {
    let (project, _) = explored();
    let (one, three) =
        (project.json(&["explain", "last#1", "-j", "1"]), project.json(&["explain", "last#1", "-j", "3"]));
    assert_eq!(one, three);
}

/// A second box on the other side: contact with either is the same requirement, and another accident.
fn between_two_boxes() -> Project {
    let project = Project::new();
    let second = "[[world.obstacle]]\nid  = \"other\"\nbox = { x = \"8 m\", y = \"-1.5 m\", length = \"1 m\", width = \"1 m\" }\n\n[ego]\n";
    project.write("two.toml", &PULL.replacen("[ego]\n", second, 1));
    project
}

#[test]
fn every_group_is_explained_as_the_same_accident_and_mirror_images_are_one_cause() {
    let project = between_two_boxes();
    let (code, result) = project.json(&["explore", "two.toml", "--no-pictures"]);
    assert_eq!(code, 1, "{result}");
    let groups = result["groups"].as_array().unwrap();
    let causes = result["causes"].as_array().unwrap();
    let counts = |key: &str, of: &[Value]| of.iter().map(|one| one[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!(counts("count", groups), result["findings"].as_u64().unwrap());
    assert_eq!(counts("sequences", causes), result["findings"].as_u64().unwrap(), "every finding has a cause");
    assert_eq!((&result["findings_without_cause"], &causes[0]["mirrored"]), (&0.into(), &true.into()), "{causes:?}");
    assert!(causes.len() < groups.len(), "{causes:?}");
    for (at, group) in groups.iter().enumerate() {
        let (code, why) = project.json(&["explain", &format!("last#{}", at + 1)]);
        assert_eq!((code, &why["requirement"]), (0, &group["requirement"]), "{why}");
        let (then, now) = (&group["contact"], &why["minimal"]["contact"]);
        assert_eq!((&then["other"], &then["sector"]), (&now["other"], &now["sector"]), "#{}: {why}", at + 1);
        assert_eq!(why["minimal"]["each_error_is_needed"], true, "{why}");
        let errors = |of: &Value| of["single_errors"].as_u64();
        let any = project.json(&["explain", &format!("last#{}", at + 1), "--any"]).1;
        assert_eq!((&any["minimal"]["same"], &why["minimal"]["same"]), (&"requirement".into(), &"accident".into()));
        assert!(errors(&any["minimal"]) <= errors(&why["minimal"]), "more may be chosen from: {any}");
    }
}

#[test]
fn the_report_tells_what_explain_would_say_in_short() {
    let project = between_two_boxes();
    let ran = project.run(&["explore", "two.toml"]);
    assert!(ran.code == 1 && ran.out.contains("each error is needed; cause: steering-pulls: "), "{ran:?}");
    assert!(ran.out.contains("   mirror image: #"), "{ran:?}");
    let page = project.read("runs/last/report.html");
    let parts =
        [" causes", "The minimal sequence of this cause", "it does not happen", "it is too late", "The failing path"];
    for part in parts {
        assert!(page.contains(part), "{part}");
    }
}
