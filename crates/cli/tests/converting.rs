//! `convert`: maps and tiles from files of other tools.

use crate::common::Project;

const TOWN: &str = include_str!("../../import/tests/town.rndf");

#[test]
fn an_rndf_becomes_a_map_file_and_says_what_is_missing() {
    let project = Project::new();
    project.write("town.rndf", TOWN);
    let refused = project.run(&["convert", "town.rndf", "town.road.toml"]);
    assert!(refused.code == 2 && refused.err.contains("--lossy"), "{refused:?}");
    assert!(!project.file("town.road.toml").exists());
    let done = project.run(&["convert", "town.rndf", "town.road.toml", "--lossy"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.out.contains("7 lane(s), 9 turn(s) in 1 junction(s), 2 zone(s)"), "{done:?}");
    assert!(done.out.contains("left out      2 exit(s) into or out of zones"), "{done:?}");
    let text = std::fs::read_to_string(project.file("town.road.toml")).unwrap();
    assert!(text.starts_with("schema = \"anabranch-road/1\""));
}

#[test]
fn mistakes_of_a_map_are_located_for_people_and_machines() {
    let project = Project::new();
    project.write("town.rndf", &TOWN.replace("exit\t1.1.3\t2.1.1", "exit\t1.1.3\t2.9.1"));
    let ran = project.run(&["convert", "town.rndf", "town.road.toml"]);
    assert!(ran.code == 2 && ran.err.contains("--> town.rndf:16:1"), "{ran:?}");
    let (code, error) = project.json(&["convert", "town.rndf", "town.road.toml"]);
    assert_eq!(
        (code, &error["diagnostics"][0]["line"], &error["diagnostics"][0]["code"]),
        (2, &16.into(), &"E0707".into())
    );
}

#[test]
fn barriers_and_pictures_become_tiles() {
    let project = Project::new();
    let map = "schema = \"anabranch-road/1\"\n[make]\nkind = \"city\"\ncolumns = 1\nrows = 1\nkerbs = \"0.5 m\"\n";
    project.write("city.road.toml", map);
    let done = project.run(&["convert", "city.road.toml", "kerbs.tiles", "--cell", "0.25 m"]);
    assert!(done.code == 0 && done.out.contains("8 barrier(s) in") && done.out.contains("of 64 m"), "{done:?}");
    assert!(std::fs::read(project.file("kerbs.tiles")).unwrap().starts_with(b"ANBTILE1"));
    project.write("fence.png", "no picture");
    for (arguments, part) in [
        (vec!["convert", "fence.png", "fence.tiles"], "how large is a pixel"),
        (vec!["convert", "fence.png", "fence.tiles", "--pixel", "0.1 m"], "cannot be read"),
        (vec!["convert", "fence.png", "fence.road.toml"], "nobody turns"),
        (vec!["convert", "city.road.toml", "x.tiles", "--cell", "0.2"], "with its unit"),
        (vec!["convert", "city.road.toml", "x.tiles", "--cell", "1e-12 m"], "0.001 m to 100 m"),
        (vec!["convert", "city.road.toml", "x.tiles", "--cell", "1 mm"], "use larger cells"),
        (vec!["convert", "fence.png", "fence.tiles", "--pixel", "1e300 m"], "0.001 m to 100 m"),
    ] {
        let ran = project.run(&arguments);
        assert!(ran.code == 2 && ran.err.contains(part), "{part} in {ran:?}");
    }
}
