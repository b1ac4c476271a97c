//! Map files: what is wrong is pointed at, what is right reads back the same.

use anabranch_roads::file::{read, write};
use anabranch_roads::make::{self, City, Control, Strip};
use anabranch_roads::*;
use proptest::prelude::*;

const HEAD: &str = "schema = \"anabranch-road/1\"\nname = \"t\"\n";
const MAIN: &str = "[[road]]\nid = \"main\"\nline = [[\"0 m\", \"0 m\"], [\"100 m\", \"0 m\"]]\n";

/// Reads a broken map and compares its message of this code: line, column and a part of the text.
fn check(body: &str, code: &str, (line, column): (usize, usize), part: &str) {
    let text = format!("{HEAD}{body}");
    let report = read("t.road.toml", &text).expect_err(body);
    let found = report.diagnostics.iter().find(|diagnostic| diagnostic.code == code);
    let first = found.unwrap_or_else(|| panic!("no {code}: {report}"));
    let message = format!("{} {}", first.message, first.help);
    assert!((first.line, first.column) == (line, column) && message.contains(part), "{line}:{column} {part}\n{report}");
}

#[test]
fn each_bad_map_of_the_list_is_pointed_at() {
    let with_link = format!("{MAIN}[[link]]\nfrom = \"main.1\"\nto = \"mian.1\"\n");
    check(&with_link, "E0608", (6, 1), "did you mean `main.1`");
    check(
        "[[road]]\nid = \"a\"\n[[road.lane]]\nid = \"1\"\npoints = [[\"0 m\", \"0 m\", \"0 m\"], [\"9 m\", \"0 m\"]]\n",
        "E0605",
        (7, 11),
        "lane width is 0",
    );
    let bow = "[[road]]\nid = \"a\"\nwidth = \"2 m\"\nline = [[\"0 m\", \"0 m\"], [\"50 m\", \"0 m\"], [\"50 m\", \"40 m\"], [\"20 m\", \"-40 m\"]]\n";
    check(bow, "E0610", (3, 1), "crosses itself");
    check("[[road]]\nid = \"a\"\nline = [[\"nan m\", \"0 m\"], [\"9 m\", \"0 m\"]]\n", "E0111", (5, 10), "not finite");
    check("[[road]]\nid = \"a\"\nline = [[nan, \"0 m\"], [\"9 m\", \"0 m\"]]\n", "E0111", (5, 10), "not finite");
    check(&format!("{MAIN}{MAIN}"), "E0607", (6, 1), "another road `main`");
    let route = "[[road]]\nid = \"b\"\nline = [[\"0 m\", \"50 m\"], [\"100 m\", \"50 m\"]]\n[[route]]\nid = \"r\"\nfrom = \"main.1\"\nto = \"b.1\"\nto_station = \"50 m\"\n";
    check(&format!("{MAIN}{route}"), "E0617", (9, 1), "nothing leads to `b.1`");
}

#[test]
fn other_mistakes_are_pointed_at_too() {
    check("[[road]]\nid = \"a\"\nline = [[\"0 m\", \"0 m\"]]\n", "E0602", (3, 1), "at least two");
    check(
        "[[road]]\nid = \"a\"\nline = [[\"0 m\", \"0 m\"], [\"0 m\", \"0 m\"]]\n",
        "E0603",
        (5, 25),
        "from the one before",
    );
    check("[[road]]\nid = \"a\"\nline = [[0, \"0 m\"], [\"9 m\", \"0 m\"]]\n", "E0104", (5, 10), "write \"0 m\"");
    check("[[road]]\nid = \"a\"\nlien = [[\"0 m\", \"0 m\"]]\n", "E0105", (5, 1), "did you mean `line`");
    check("[[road]]\nid = \"a\"\n", "E0106", (3, 1), "no lane");
    check(&format!("{MAIN}limit = \"50 s\"\n"), "E0109", (6, 9), "km/h");
    check(&format!("{MAIN}limit = \"900 km/h\"\n"), "E0606", (5, 9), "speed limit");
    check(&format!("{MAIN}[road.limit]\n"), "E0107", (6, 7), "is a value");
    check(
        &format!("{MAIN}[[link]]\nfrom = \"main.1\"\nto = \"main.1\"\nexit = 7\n"),
        "E0609",
        (6, 1),
        "way-points 0 to 1",
    );
    check(&format!("{MAIN}[[link]]\nfrom = \"main.1\"\nto = \"main.1\"\nentry = 1\n"), "E0612", (6, 1), "to itself");
    check(&format!("{MAIN}[[junction]]\nid = \"j\"\n"), "E0615", (6, 1), "no link belongs");
    check(&format!("{MAIN}[[zone]]\nid = \"z\"\nkind = \"ice\"\ncorners = []\n"), "E0114", (8, 8), "friction");
    check(
        &format!("{MAIN}[[zone]]\nid = \"z\"\nkind = \"open\"\ncorners = [[\"0 m\", \"0 m\"]]\n"),
        "E0613",
        (6, 1),
        "polygon",
    );
    let program = "[[program]]\nid = \"p\"\ngroups = [\"a\"]\nphases = [[\"3 s\", \"gg\"]]\n";
    check(&format!("{MAIN}{program}"), "E0614", (6, 1), "2 lights");
    check(
        "[[road]]\nid = \"a b\"\nline = [[\"0 m\", \"0 m\"], [\"9 m\", \"0 m\"]]\n",
        "E0122",
        (4, 6),
        "cannot be an id",
    );
    check("x = [\n", "E0103", (3, 6), "TOML");
    check("[make]\nkind = \"roundabout\"\nlanes = 2\n", "E0105", (5, 1), "nobody reads the key `lanes`");
    check("[make]\nkind = \"roundabout\"\narms = 8\n", "E0118", (3, 2), "no room");
    check("[make]\nkind = \"citty\"\n", "E0114", (4, 8), "city");
    check("[make]\nkind = \"city\"\nblock = \"20 m\"\n", "E0118", (3, 2), "at least");
    check(
        "[[road]]\nid = \"a\"\nline = [[\"0 m\", \"0 m\"], [\"10 m\", \"0 m\"], [\"5 m\", \"0 m\"]]\n",
        "E0611",
        (3, 1),
        "radius",
    );
}

#[test]
fn many_mistakes_come_in_one_go_and_in_order() {
    let body = format!("{MAIN}limit = 50\n[[link]]\nfrom = \"main\"\n[[road]]\nid = \"\"\n");
    let report = read("t.road.toml", &format!("{HEAD}{body}")).unwrap_err();
    let lines: Vec<usize> = report.diagnostics.iter().map(|diagnostic| diagnostic.line).collect();
    assert_eq!(lines, [6, 7, 8, 10], "{report}");
}

#[test]
fn a_file_without_schema_is_refused_with_the_line_to_add() {
    let report = read("t.road.toml", MAIN).unwrap_err().to_string();
    assert!(report.contains("begin with `schema = \"anabranch-road/1\"`"), "{report}");
}

#[test]
fn every_generated_map_reads_back_as_itself() {
    let lanes = Strip { forward: 2, backward: 2, ..Strip::TWO_WAY };
    for map in [
        make::arc(50.0, 1.5, 3),
        make::on_ramp(2, 200.0),
        make::roundabout(20.0, 4, 40.0),
        make::t_junction(50.0, Control::StopAtSide),
        make::city(City { columns: 1, rows: 2, block_m: 90.0, lanes, control: Control::Lights }),
    ] {
        let text = write(&map);
        let again = read("again.road.toml", &text).unwrap_or_else(|report| panic!("{report}"));
        assert_eq!(again.map, map);
        assert_eq!(again.network, Network::new(&map).unwrap());
    }
}

/// Every block and key at least once.
const EVERYTHING: &str = r#"
[[road]]
id = "bend"
[[road.lane]]
id = "1"
width_goes = "cubic"
limit_goes = "cubic"
first_heading = "0 deg"
last_heading = "90 deg"
left_line = "solid"
right_line = "solid"
points = [["100 m", "20 m"], ["120 m", "25 m", "4 m", "8 m/s"], ["130 m", "40 m", "3 m"]]
[[link]]
from = "main.2"
to = "bend.1"
exit = 1
entry = 0
limit = "20 km/h"
through = [["101 m", "5 m"], ["97 m", "15 m"]]
junction = "j"
[[junction]]
id = "j"
program = "p"
[[junction.approach]]
lane = "main.2"
sign = "yield"
stop_before = "2 m"
group = "a"
turn = [{ to = "bend.1", group = "b" }]
[[junction.yields]]
turn = ["main.2", "bend.1"]
to = ["main.1", "bend.1"]
[[program]]
id = "p"
groups = ["a", "b"]
offset = "1500 ms"
phases = [["20 s", "gr"], ["3 s", "ad"], ["2.5 s", "ug"]]
[[crosswalk]]
id = "zebra"
from = ["50 m", "-10 m"]
to = ["50 m", "10 m"]
width = "3 m"
program = "p"
group = "a"
[[zone]]
id = "ice"
kind = "friction"
value = 0.1
corners = [["0 m", "0 m"], ["1 m", "0 m"], ["1 m", "1 m"]]
[[zone]]
id = "houses"
kind = "urban-canyon"
value = 3
corners = [["0 m", "0 m"], ["1 m", "0 m"], ["1 m", "1 m"]]
[[zone]]
id = "hedge"
kind = "blind-corner"
value = 22.5
corners = [["0 m", "0 m"], ["1 m", "0 m"], ["1 m", "1 m"]]
[[route]]
id = "there"
from = "main.1"
to = "main.1"
to_station = "90 m"
[[barrier]]
id = "fence"
line = [["0 m", "9 m"], ["9 m", "9 m"]]
width = "0.3 m"
[[barrier]]
id = "house"
area = [["0 m", "20 m"], ["9 m", "20 m"], ["9 m", "30 m"]]
"#;

#[test]
fn everything_a_file_can_say_reads_back_as_itself() {
    let text = format!(
        "{HEAD}[make]\nkind = \"t-junction\"\narm = \"60 m\"\n{MAIN}forward = 2\nbackward = 1\nlimit = \"30 km/h\"\n{}",
        EVERYTHING
    );
    let first = read("t.road.toml", &text).unwrap_or_else(|report| panic!("{report}"));
    let again = read("again.road.toml", &write(&first.map)).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(again.map, first.map);
    assert_eq!(again.network, first.network);
    assert_eq!(first.network.named_route("there").unwrap().length_m, 90.0);
    assert_eq!(first.network.zones().len(), 3);
    assert_eq!(first.map.programs.last().unwrap().offset_us, 1_500_000);
}

proptest! {
    #[test]
    fn no_broken_file_makes_the_reader_fail_otherwise_than_by_a_report(
        cut in 0..1200_usize,
        length in 0..12_usize,
        insert in "[\\[\\]{}\"=.,#a-z0-9 -]{0,8}",
    ) {
        let map = make::t_junction(50.0, Control::Lights);
        let mut text = write(&map);
        let (start, end) = (cut.min(text.len()), (cut + length).min(text.len()));
        text.replace_range(start..end, &insert);
        if let Err(report) = read("t.road.toml", &text) {
            prop_assert!(!report.diagnostics.is_empty());
        }
    }
}

#[test]
fn the_examples_of_the_page_about_maps_are_read() {
    let page = include_str!("../../../docs/map-format.md");
    let examples: Vec<&str> = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(examples.len() >= 5);
    for example in examples {
        read("example.road.toml", example).unwrap_or_else(|report| panic!("{report}"));
    }
}

#[test]
fn the_page_about_maps_names_every_kind_that_can_be_made() {
    let page = include_str!("../../../docs/map-format.md");
    let refused = read("t.road.toml", "schema = \"anabranch-road/1\"\n[make]\nkind = \"?\"\n").unwrap_err();
    let known = refused.diagnostics[0].help.trim_start_matches("write one of: ").to_owned();
    for kind in known.split(", ") {
        assert!(page.contains(&format!("| `{kind}` |")), "{kind}");
        let made = read("t.road.toml", &format!("schema = \"anabranch-road/1\"\n[make]\nkind = \"{kind}\"\n"));
        assert!(made.is_ok(), "{kind}");
    }
}
