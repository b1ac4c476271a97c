//! Models with branches, families of simulations, and simulations and cars in an editor.

use serde_json::{Value, json};

use crate::common::Project;
use crate::models::Session;

/// Two branches of heavy blocks after one input, which meet again.
const WIDE: &str = "component Wide {
    ports in Q x, out Q y;
    component Filter {
        ports in Q u, out Q v;
        implementation Math {
            static Q^{20,20} p = 0.01 * eye(20);
            Q^{20,20} f = 0.5 * eye(20);
            f(1,2) = 0.1 * saturate(u, -1, 1);
            p = f * p * f' + 0.01 * eye(20);
            v = u + p(1,1) + p(1,2);
        }
    }
    component Meet {
        ports in Q a, in Q b, out Q y;
        implementation Math { y = a - 2 * b; }
    }
    instance Filter a1, a2, b1, b2;
    instance Meet meet;
    connect x -> a1.u, b1.u;
    connect a1.v -> a2.u;
    connect b1.v -> b2.u;
    connect a2.v -> meet.a;
    connect b2.v -> meet.b;
    connect meet.y -> y;
}
";

#[test]
fn branches_of_a_model_run_side_by_side_and_give_the_same_bytes() {
    let project = Project::new();
    project.write("Wide.emam", WIDE);
    let rows: String = (0..1000).map(|tick| format!("{}\n", f64::from(tick % 13) * 0.1)).collect();
    project.write("in.csv", &format!("x\n{rows}"));
    let mut outputs = Vec::new();
    for (jobs, branches) in [("1", 1), ("2", 2), ("3", 2)] {
        let file = format!("out{jobs}.csv");
        let arguments = ["run", "Wide.emam", "--inputs", "in.csv", "--outputs", &file, "--jobs", jobs];
        let (code, value) = project.json(&arguments);
        assert_eq!(code, 0, "{value}");
        let expected = json!({ "as": "machine code", "branches": branches, "threads": branches });
        assert_eq!(value["executed"], expected, "{value}");
        outputs.push(project.read(&file));
    }
    // A short table is interpreted.
    project
        .write("short.csv", &format!("x\n{}", rows.lines().take(5).map(|row| format!("{row}\n")).collect::<String>()));
    let ran = project.run(&["run", "Wide.emam", "--inputs", "short.csv", "--verbose"]);
    assert!(ran.code == 0 && ran.err.contains("interpreted: too few ticks"), "{ran:?}");
    assert!(outputs.iter().all(|output| *output == outputs[0]) && outputs[0].starts_with(&ran.out));
}

/// Columns of a cube are those that its indices name, in tables and in FMUs; what no piece or step of a range has is told.
#[test]
fn cubes_pieces_and_steps_are_told_as_they_are_written() {
    let project = Project::new();
    let cube = "component Cube { port in Q^{2,2,2} c, out Q y, out Q^{2,3,4} d; \
                implementation Math { y = c(1,2,2); d(1,2,3) = y; } }";
    project.write("Cube.emam", cube);
    let names: Vec<String> = (0..8).map(|i| format!("\"c[{},{},{}]\"", i / 4 + 1, i / 2 % 2 + 1, i % 2 + 1)).collect();
    let cells: Vec<&str> = names.iter().map(|name| if name.contains("1,2,2") { "7" } else { "0" }).collect();
    project.write("cube.csv", &format!("{}\n{}\n", names.join(","), cells.join(",")));
    let (code, value) = project.json(&["run", "Cube.emam", "--inputs", "cube.csv"]);
    assert_eq!(code, 0, "{value}");
    let sevens: Vec<&Value> = value["columns"]
        .as_array()
        .unwrap()
        .iter()
        .zip(value["rows"][0].as_array().unwrap())
        .filter(|(_, value)| value.as_f64() == Some(7.0))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(sevens, [&json!("y"), &json!("d[1,2,3]")], "{value}");

    let ranges = "component Ranges { port in [ (0 m:1 m) (5 m:6 m) ] a, in Q(1:1:5) b, out Q y; \
                  implementation Math { y = 1; } }";
    project.write("Ranges.emam", ranges);
    project.write("ranges.csv", "a,b\n0.5,2\n5.5,5\n3,2.5\n");
    let ran = project.run(&["run", "Ranges.emam", "--inputs", "ranges.csv"]);
    assert!(ran.err.contains("`a` is 3 at tick 3, outside of its range [(0 : 1) (5 : 6)]\n"), "{ran:?}");
    assert!(ran.err.contains("`b` is 2.5 at tick 3, outside of its range (1 : 1 : 5)\n"), "{ran:?}");
}

/// The shipped simulation with its cars, its street and its models, as a family of two.
fn street() -> Project {
    let project = Project::new();
    let from = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/models");
    std::fs::create_dir_all(project.file("lane")).unwrap();
    for folder in ["", "lane"] {
        for entry in std::fs::read_dir(from.join(folder)).unwrap().flatten().filter(|entry| entry.path().is_file()) {
            std::fs::copy(entry.path(), project.file(folder).join(entry.file_name())).unwrap();
        }
    }
    let text = project.read("TwoCars.sim").replacen("duration = 12s", "duration = 2s, 3s", 1);
    project.write("TwoCars.sim", &text);
    project
}

#[test]
fn a_member_of_a_family_is_addressed_in_the_path() {
    let project = street();
    let seconds = |arguments: &[&str]| {
        let (code, value) = project.json(arguments);
        assert_eq!(code, 0, "{value}");
        value["time_s"].as_f64().unwrap()
    };
    assert!((seconds(&["run", "TwoCars.sim#1"]) - 2.0).abs() < 1e-9);
    assert!((seconds(&["run", "TwoCars.sim#2"]) - 3.0).abs() < 1e-9);
    let ran = project.run(&["run", "TwoCars.sim"]);
    assert!(ran.err.contains("1 of 2: duration = 2s") && ran.err.contains("2 of 2: duration = 3s"), "{ran:?}");
    let ran = project.run(&["run", "TwoCars.sim#3"]);
    assert!(ran.code == 2 && ran.err.contains("has no member 3") && ran.err.contains("its family has 2"), "{ran:?}");
    let ran = project.run(&["run", "Nowhere.sim#1"]);
    assert!(ran.code == 2 && ran.err.contains("Nowhere.sim`"), "{ran:?}");
}

#[test]
fn an_editor_is_told_about_simulations_and_cars() {
    let project = street();
    let root = std::fs::canonicalize(project.path()).unwrap().display().to_string();
    let address = |file: &str| format!("file://{root}/{file}");
    let mut session = Session::start(&project);
    session.ask("initialize", json!({ "rootUri": address(""), "capabilities": {} }));
    let open = |session: &mut Session, file: &str, text: &str| -> Vec<Value> {
        session.tell("textDocument/didOpen", json!({ "textDocument": { "uri": address(file), "text": text } }));
        let told = session.receive();
        assert_eq!(told["params"]["uri"], address(file), "{told}");
        told["params"]["diagnostics"].as_array().unwrap().clone()
    };
    let car = project.read("AC-SE001.car");
    assert_eq!(open(&mut session, "AC-SE001.car", &car), Vec::<Value>::new());
    // A port that the controller does not have; a unit that measures something else.
    let wrong = car.replace("=> speed", "=> sped");
    let told = open(&mut session, "AC-SE001.car", &wrong);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((&told[0]["code"], &told[0]["range"]["start"]["line"]), (&json!("L203"), &json!(6)));
    assert!(told[0]["message"].as_str().unwrap().contains("did you mean `speed`?"), "{told:?}");
    let told = open(&mut session, "AC-SE001.car", &car.replace("1'655 kg", "1'655 m"));
    assert!(told[0]["message"].as_str().unwrap().contains("is no mass"), "{told:?}");
    open(&mut session, "AC-SE001.car", &car);

    let place = |text: &str, file: &str, wanted: &str, inside: usize| {
        let at = text.find(wanted).unwrap() + inside;
        let line = text[..at].matches('\n').count();
        let column = text[..at].rsplit('\n').next().unwrap().encode_utf16().count();
        json!({ "textDocument": { "uri": address(file) }, "position": { "line": line, "character": column } })
    };
    let in_car = |wanted: &str, inside: usize| place(&car, "AC-SE001.car", wanted, inside);
    let mut hover = |at: Value| -> String {
        session.ask("textDocument/hover", at)["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    assert!(hover(in_car("weight =", 2)).contains("the mass"));
    assert!(hover(in_car("1'655", 1)).contains("1655 kg"), "{}", hover(in_car("1'655", 1)));
    assert!(hover(in_car("LaneKeeping", 3)).contains("component LaneKeeping"));
    assert!(hover(in_car("SpeedSensor", 3)).contains("tells speed"));
    assert!(hover(in_car("=> d;", 3)).contains("in Q(-20 m : 20 m) d"), "{}", hover(in_car("=> d;", 3)));
    assert!(hover(in_car("SteeringFir4", 3)).contains("component SteeringFir4"));
    let there = session.ask("textDocument/definition", in_car("LaneKeeping", 3));
    assert_eq!(there["uri"], address("lane/LaneKeeping.emam"));
    let names = |answer: &Value| -> Vec<String> {
        answer.as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect()
    };
    let mut complete = |at: Value| names(&session.ask("textDocument/completion", at));
    assert!(complete(in_car("weight", 0)).contains(&"wheelbase".to_owned()));
    assert!(complete(in_car("SpeedSensor", 0)).contains(&"Compass".to_owned()));
    let ports = complete(in_car("=> speed", 3));
    assert!(ports.contains(&"d".to_owned()) && !ports.contains(&"s".to_owned()), "{ports:?}");
    assert!(complete(in_car("LaneKeeping", 0)).contains(&"SteeringFir4".to_owned()));

    let simulation = project.read("TwoCars.sim");
    let in_simulation = |wanted: &str, inside: usize| place(&simulation, "TwoCars.sim", wanted, inside);
    assert_eq!(open(&mut session, "TwoCars.sim", &simulation), Vec::<Value>::new());
    let told = open(&mut session, "TwoCars.sim", &simulation.replace("50ms", "50kg"));
    assert!(told[0]["message"].as_str().unwrap().contains("`50kg` is no time"), "{told:?}");
    let told = open(&mut session, "TwoCars.sim", &simulation.replace("M-SE003", "M-SE004"));
    assert!(told[0]["message"].as_str().unwrap().contains("there is no car model `M-SE004.car`"), "{told:?}");
    // A mistake of a car that is not open is told where the simulation names it.
    project.write("M-SE003.car", "car M-SE003 {\n    dimension = 4.1m, 1.8m;\n}\n");
    let told = open(&mut session, "TwoCars.sim", &simulation);
    assert!(told[0]["message"].as_str().unwrap().starts_with("M-SE003.car, line 2: "), "{told:?}");
    assert!(hover_text(&mut session, in_simulation("deltaT", 2)).contains("the step of time"));
    let there = session.ask("textDocument/definition", in_simulation("AC-SE001:", 2));
    assert_eq!(there["uri"], address("AC-SE001.car"));
    let plates = names(&session.ask("textDocument/completion", in_simulation("AC-SE001:", 0)));
    assert_eq!(plates, ["AC-SE001", "M-SE003", "Taxi"]);
    ends(session);
}

/// The same check is behind the editor and behind `check`: each port that is not there, at its entry (E14).
#[test]
fn a_car_with_ports_that_are_not_there_is_bad_alone_and_in_its_simulation() {
    let project = street();
    let car = project.read("AC-SE001.car").replace("=> speed", "=> velocity").replace("=> d;", "=> direction;");
    project.write("AC-SE001.car", &car.replace("s => SteeringFir4", "s => LaneKeeping"));
    for file in ["AC-SE001.car", "TwoCars.sim"] {
        let ran = project.run(&["check", file]);
        for told in ["no input `velocity`", "no input `direction`", "`LaneKeeping` has no input `wanted`", ".car:7:24"]
        {
            assert!(ran.code == 2 && ran.err.contains(told), "{file}, {told}: {ran:?}");
        }
    }
}

#[test]
fn an_argument_that_does_not_fit_is_named() {
    let project = Project::new();
    let model = "component interface I { ports in Q x; }\n\
                 component A(Q(0 m:5 m) n = 1 m) { ports in Q x, out Q y; implementation Math { y = x; } }\n";
    project.write("A.emam", model);
    project.write("in.csv", "x\n1\n");
    for verb in [&["check", "A.emam"][..], &["run", "A.emam", "--inputs", "in.csv"]] {
        let ran = project.run(&[verb, &["--arg", "n=9"]].concat());
        assert!(ran.code == 2 && ran.err.contains("--arg n=9: 9 is outside of Q(0 : 5) in m"), "{ran:?}");
        assert!(ran.err.contains("A.emam:2:24"), "{ran:?}");
    }
    let ran = project.run(&["run", "A.emam", "--inputs", "in.csv", "--arg", "n=1,2"]);
    assert!(ran.code == 2 && ran.err.contains("--arg n=1,2: Q^{1,2} cannot become"), "{ran:?}");
}

#[test]
fn a_table_of_one_column_has_empty_rows_and_quotes_are_closed() {
    let project = Project::new();
    project.write("A.emam", "component A { ports in Q x, out Q y; implementation Math { y = 1 / x; } }");
    let run = |table: &str| {
        project.write("in.csv", table);
        project.run(&["run", "A.emam", "--inputs", "in.csv"])
    };
    assert_eq!(run("x\n1\n\n2\n").out, "y\n1\n1\n0.5\n");
    let ran = run("x\n1\n\"2\n");
    assert!(ran.code == 2 && ran.err.contains("in.csv:3:1") && ran.err.contains("never closed"), "{ran:?}");
    // Where the model stops, what came before is told all the same.
    let ran = run("x\n1\n0\n2\n");
    assert_eq!((ran.code, ran.out.as_str()), (2, "y\n1\n"), "{ran:?}");
}

/// Two projects side by side, with components of the same name: each car has its own.
#[test]
fn an_editor_looks_for_components_below_the_folder_of_the_car() {
    let project = Project::new();
    let component = |port: &str| {
        format!(
            "package lane;\ncomponent Keep {{\n    ports in Q {port}, out Q s; implementation Math {{ Q(0 m:5 m) way = 1; \
             static Q^{{2,2}} mm = [1 2;3 4]; Q k = 2;\n    s = {port} + k + way;\n    }}\n}}\n"
        )
    };
    let car = "car C {\n    controller = Keep;\n    sensors {\n        SpeedSensor => speed;\n    }\n}\n";
    for (folder, port) in [("p1", "pace"), ("p2", "speed")] {
        std::fs::create_dir_all(project.file(folder).join("lane")).unwrap();
        project.write(&format!("{folder}/lane/Keep.emam"), &component(port));
        project.write(&format!("{folder}/C.car"), car);
    }
    let root = std::fs::canonicalize(project.path()).unwrap().display().to_string();
    let address = |file: &str| format!("file://{root}/{file}");
    let mut session = Session::start(&project);
    session.ask("initialize", json!({ "rootUri": address(""), "capabilities": {} }));
    let open = |session: &mut Session, file: &str, text: &str| {
        session.tell("textDocument/didOpen", json!({ "textDocument": { "uri": address(file), "text": text } }));
        session.receive()["params"]["diagnostics"].as_array().unwrap().len()
    };
    assert_eq!(open(&mut session, "p2/C.car", car), 0);
    assert_eq!(open(&mut session, "p1/C.car", car), 1);
    let at = |file: &str, line: u32, character: u32| json!({ "textDocument": { "uri": address(file) }, "position": { "line": line, "character": character } });
    let there = session.ask("textDocument/definition", at("p2/C.car", 1, 19));
    assert_eq!(there["uri"], address("p2/lane/Keep.emam"));
    // What an editor has not saved yet counts.
    open(&mut session, "p1/lane/Keep.emam", &component("speed"));
    assert_eq!(open(&mut session, "p1/C.car", car), 0);
    // One declaration is shown, however many stand on the line; completion knows the variables before.
    let text = component("speed");
    let line = text.lines().nth(2).unwrap();
    for (name, told) in
        [("way", "variable Q(0 m:5 m) way"), ("mm", "variable static Q^{2,2} mm"), ("k =", "variable Q k")]
    {
        let column = u32::try_from(line.find(&format!(" {name}")).unwrap() + 1).unwrap();
        let shown = hover_text(&mut session, at("p1/lane/Keep.emam", 2, column));
        assert!(shown.contains(&format!("\n{told}\n")), "{shown}");
    }
    let offered = session.ask("textDocument/completion", at("p1/lane/Keep.emam", 3, 8)).to_string();
    assert!(["\"way\"", "\"mm\"", "\"k\""].iter().all(|name| offered.contains(name)), "{offered}");
    ends(session);
}

fn ends(mut session: Session) {
    session.ask("shutdown", Value::Null);
    session.tell("exit", Value::Null);
    assert!(session.child.wait().unwrap().success());
}

fn hover_text(session: &mut Session, at: Value) -> String {
    session.ask("textDocument/hover", at)["contents"]["value"].as_str().unwrap_or_default().to_owned()
}
