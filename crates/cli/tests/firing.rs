//! Triggers fired by hand, and maps that `check` does not take.

use crate::common::Project;

/// A pedestrian who waits for somebody to fire the trigger, beside the way of the car.
const WALKER: &str = r#"schema = "anabranch/1"
name = "by-hand"

[world]
step = "50 ms"

[road]
kind = "straight"
length = "200 m"

[ego]
start = { lane = "main.1", station = "5 m", speed = "8 m/s" }
goal = { lane = "main.1", station = "120 m", tolerance = "1 m" }
driver = "road"
sensor = { range = "4 m" }

[[object]]
id = "walker"
kind = "pedestrian"
lane = "main.1"
station = "60 m"
speed = "1.5 m/s"
care = "reckless"
waits = true

[[trigger]]
id = "steps-out"
object = "walker"

[explore]
segment = "1 s"
until = "20 s"

[[must]]
id = "no-contact"
never = "ego.contact"
"#;

#[test]
fn a_trigger_is_fired_by_hand_at_a_moment() {
    let project = Project::new();
    project.write("walker.toml", WALKER);
    let quiet = project.run(&["run", "walker.toml"]);
    assert_eq!(quiet.code, 0, "{quiet:?}");
    // The sensor sees 4 m: who steps out in time is hit, and who does so when the car has passed is not.
    let codes: Vec<i32> = ["0.5s", "3.2s", "3.5 s", "4s", "18s"]
        .iter()
        .map(|at| project.run(&["run", "walker.toml", "--fire", &format!("steps-out@{at}")]).code)
        .collect();
    assert!(codes.contains(&1) && codes[4] == 0, "{codes:?}");
    let hit = ["3.2s", "3.5 s", "4s"][codes[1..4].iter().position(|code| *code == 1).unwrap_or_default()];
    let (code, result) = project.json(&["run", "walker.toml", "--fire", &format!("steps-out@{hit}")]);
    assert_eq!((code, result["fired"][0]["name"].as_str()), (1, Some("steps-out")), "{result}");
    let ran = project.run(&["run", "walker.toml", "--fire", &format!("steps-out@{hit}")]);
    assert!(ran.out.contains("fired by hand    steps-out at"), "{}", ran.out);
    // The object has the same trigger, and a scenario may say so itself.
    let (_, by_object) = project.json(&["run", "walker.toml", "--fire", &format!("walker@{hit}")]);
    assert_eq!((&by_object["tick"], &by_object["digest"]), (&result["tick"], &result["digest"]));
    let spaced = hit.trim_end_matches('s').trim();
    let set = format!("trigger.steps-out.fired={spaced} s");
    let (_, by_file) = project.json(&["run", "walker.toml", "--set", &set]);
    assert_eq!(by_file["digest"], result["digest"]);
}

#[test]
fn what_cannot_be_fired_is_bad_input() {
    let project = Project::new();
    project.write("walker.toml", WALKER);
    for (fire, part) in [
        ("nobody@3s", "steps-out"),
        ("steps-out@3", "3.2s"),
        ("steps-out", "3.2s"),
        ("steps-out@3 m", "steps-out.fired"),
        ("steps-out@0.07s", "world.step"),
    ] {
        let ran = project.run(&["run", "walker.toml", "--fire", fire]);
        assert!(ran.code == 2 && ran.err.contains(part), "{fire}: {ran:?}");
    }
}

const MAIN: &str = "[[road]]\nid = \"main\"\nline = [[\"0 m\", \"0 m\"], [\"200 m\", \"0 m\"]]\n";

/// Every bad map of the list is pointed at in the map itself, by its line, when a scenario is checked.
#[test]
fn bad_maps_are_located_by_check() {
    let project = Project::new();
    let scenario = WALKER.replace("kind = \"straight\"\nlength = \"200 m\"", "map = \"town.road.toml\"");
    project.write("drive.toml", &scenario);
    let schema = "schema = \"anabranch-road/1\"\n\n";
    project.write("town.road.toml", &format!("{schema}{MAIN}"));
    let good = project.run(&["check", "drive.toml"]);
    assert_eq!(good.code, 0, "{good:?}");
    let bow = "[[road]]\nid = \"main\"\nline = [[\"0 m\", \"0 m\"], [\"60 m\", \"0 m\"], [\"60 m\", \"60 m\"], [\"30 m\", \"60 m\"], [\"30 m\", \"-60 m\"]]\n";
    for (what, map) in [
        ("a dangling exit", format!("{MAIN}[[link]]\nfrom = \"main.1\"\nto = \"mian.1\"\n")),
        ("no width", MAIN.replace("line =", "width = \"0 m\"\nline =")),
        ("a lane that crosses itself", bow.to_owned()),
        ("not a number", MAIN.replace("\"200 m\"", "\"nan m\"")),
        ("the same id twice", format!("{MAIN}{MAIN}")),
    ] {
        project.write("town.road.toml", &format!("{schema}{map}"));
        let ran = project.run(&["check", "drive.toml"]);
        assert!(ran.code == 2 && ran.err.contains("--> town.road.toml:"), "{what}: {ran:?}");
        let (code, told) = project.json(&["check", "drive.toml"]);
        assert_eq!(code, 2, "{what}");
        assert!(told.to_string().contains("\"line\":"), "{what}: {told}");
    }
    // The goal is on a road that nothing leads to: located in the scenario.
    let apart = "[[road]]\nid = \"apart\"\nline = [[\"0 m\", \"50 m\"], [\"200 m\", \"50 m\"]]\n";
    project.write("town.road.toml", &format!("{schema}{MAIN}{apart}"));
    project.write("drive.toml", &scenario.replace("goal = { lane = \"main.1\"", "goal = { lane = \"apart.1\""));
    let ran = project.run(&["check", "drive.toml"]);
    assert!(ran.code == 2 && ran.err.contains("E0803") && ran.err.contains("drive.toml:12"), "{ran:?}");
}
