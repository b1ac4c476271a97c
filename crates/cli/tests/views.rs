//! Every accident on a road is seen from three places (S3-18).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::Project;

/// A car drives into a lorry that starts from a standstill, unless it sees it.
const STANDING: &str = r#"
schema = "anabranch/1"
name = "standing"
about = "A lorry starts from a standstill and may not be seen."
[world]
step = "50 ms"
[road]
kind = "straight"
length = "200 m"
lanes = 2
[[object]]
id = "broken-down"
kind = "lorry"
lane = "main.1"
station = "90 m"
speed = "0 m/s"
[[object]]
id = "walker"
kind = "pedestrian"
lane = "main.1"
station = "120 m"
speed = "1 m/s"
waits = true
[ego]
driver = "road"
start = { lane = "main.1", station = "40 m", speed = "15 m/s" }
goal = { lane = "main.1", station = "180 m", tolerance = "1 m" }
[[error]]
id = "unseen"
on = "broken-down"
missed = {}
[explore]
segment = "1 s"
until = "5 s"
[[must]]
id = "no-contact"
never = "ego.contact"
"#;
const QUICK: [&str; 6] = ["--rollouts", "0", "--refine", "0", "--graph", "none"];

/// Pictures of the first finding by name.
fn pictures(project: &Project) -> BTreeMap<String, String> {
    let mut folders: Vec<_> =
        fs::read_dir(project.file("runs/last/findings")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let files = fs::read_dir(&folders[0]).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    files
        .filter(|path| path.extension().is_some_and(|ending| ending == "svg"))
        .map(|path| (name(&path), fs::read_to_string(&path).unwrap()))
        .collect()
}

fn names(pictures: &BTreeMap<String, String>) -> Vec<&str> {
    pictures.keys().map(String::as_str).collect()
}

#[test]
fn a_finding_on_roads_is_seen_from_three_places() {
    let project = Project::new();
    project.write("standing.toml", STANDING);
    let explore = [&["explore", "standing.toml", "-q"], &QUICK[..]].concat();
    assert_eq!(project.run(&explore).code, 1);
    let found = pictures(&project);
    assert_eq!(names(&found), ["chase.svg", "kerb.svg", "map.svg", "timeline.svg", "top.svg"]);
    for view in ["top", "chase", "kerb"] {
        let svg = &found[&format!("{view}.svg")];
        assert!(svg.contains(">lorry `broken-down` ") && svg.contains(">car under test "), "{view}: {svg}");
        assert!(
            svg.contains("<title>standing: no-contact ") && svg.contains(" at lorry `broken-down`, from "),
            "{svg}"
        );
        // The cab of the lorry: a side of it, or its top.
        assert!(["#d87219", "#934d11", "#b15e14"].iter().any(|orange| svg.contains(orange)), "{view}: {svg}");
        assert!(svg.len() < 60_000, "{view}: {}", svg.len());
    }
    let page = project.read("runs/last/report.html");
    let at = |words: &str| page.find(words).unwrap_or_else(|| panic!("{words}"));
    assert!(at("The failing path on the map.") < at("Its last moment from above."));
    assert!(at("<div class=\"views\">") < at("The same from the kerb.") && !page.contains("<script"));
    assert!(page.contains("<h2 id=\"left-out\">Left out of this page</h2>\n<p>Nothing.</p>"), "all of them fit");
    // The same run gives the same bytes.
    assert_eq!(project.run(&explore).code, 1);
    assert_eq!(found, pictures(&project));
    // In the evening it is darker.
    let evening = ["--set", "world.time_of_day=1170 min"];
    assert_eq!(project.run(&[&explore[..], &evening].concat()).code, 1);
    assert!(found["top.svg"].contains("#729359") && !pictures(&project)["top.svg"].contains("#729359"));
    assert_eq!(project.run(&[&explore[..], &["--no-pictures"]].concat()).code, 1);
    assert_eq!(names(&pictures(&project)), Vec::<&str>::new());
}

#[test]
fn off_the_road_there_is_a_map_and_no_view() {
    let project = Project::new();
    assert_eq!(project.run(&["explore", "pull.toml", "-q", "--rollouts", "0"]).code, 1);
    assert_eq!(names(&pictures(&project)), ["map.svg", "timeline.svg"]);
}

#[test]
fn accidents_of_a_search_are_drawn_like_those_of_an_exploration() {
    let project = Project::new();
    project.write("standing.toml", STANDING);
    let search = ["search", "standing.toml", "--budget", "20", "--stop-on-first", "--no-baseline", "-q"];
    assert_eq!(project.run(&search).code, 1);
    let found = pictures(&project);
    assert_eq!(names(&found), ["chase.svg", "kerb.svg", "map.svg", "timeline.svg", "top.svg"]);
    let page = project.read("runs/last/report.html");
    assert!(page.contains("The same from behind the car under test.") && page.contains("The failing path on the map."));
}

#[test]
fn a_trailer_is_drawn_behind_its_truck_and_a_fence_beside_it() {
    let project = Project::new();
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/truck-with-trailer.toml");
    assert_eq!(project.run(&[&["explore", scenario, "-q"], &QUICK[..]].concat()).code, 1);
    let found = pictures(&project);
    let top = &found["top.svg"];
    assert!(top.contains("#7ca3e0") && top.contains("#2666cc"), "the roofs of the trailer and of the truck: {top}");
    assert!(top.contains("#999389"), "the fence that was touched: {top}");
    assert!(top.contains(" at wall `fence`"), "what was touched is told: {top}");
}
