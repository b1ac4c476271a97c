//! Models without a scenario: over tables, by their streams, checked, laid out, exported, served to editors.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::common::Project;

const LIMIT: &str = "package cars;
component Limit(Q(0 km/h : 300 km/h) top = 90 km/h) {
    ports in Q(-oo m/s : oo m/s) wish, in B on, in Q^{2} v, out Q(-oo m/s : oo m/s) speed, out B limited;
    implementation Math {
        speed = wish;
        limited = false;
        if on && wish > top
            speed = top;
            limited = true;
        end
    }
}
";

const STREAM: &str = "package cars;
stream LimitTest for Limit {
    wish: 10 m/s tick 180 km/h tick 20 m/s;
    on: true tick true tick false;
    v: [0 0] tick [0 0] tick [0 0];
    speed: 10 m/s tick 25 m/s +/- 0.001 m/s tick 20 m/s;
    limited: false tick true tick false;
}
";

/// A folder with a model and its stream.
fn models() -> Project {
    let project = Project::new();
    std::fs::create_dir_all(project.file("models/cars")).unwrap();
    project.write("models/cars/Limit.emam", LIMIT);
    project.write("models/cars/LimitTest.stream", STREAM);
    project
}

#[test]
fn a_model_runs_over_a_table() {
    let project = models();
    project
        .write("in.csv", "in:wish,in:on,v[1],v[2],out:speed\n10,1,0,0,10\n50,true,0,0,25\n50,,0,0,25\n50,0,0,0,50\n");
    let arguments = ["run", "models/cars/Limit.emam", "--inputs", "in.csv", "--outputs", "out.csv"];
    let ran = project.run(&arguments);
    assert_eq!(ran.code, 0, "{ran:?}");
    // An empty cell keeps the last value.
    assert_eq!(project.read("out.csv"), "speed,limited\n10,0\n25,1\n25,1\n50,0\n");
    assert!(ran.out.contains("4 ticks") && ran.out.contains("no difference"), "{ran:?}");
    let (code, value) = project.json(&arguments[..4]);
    assert_eq!(code, 0);
    assert_eq!(value["rows"], json!([[10.0, 0.0], [25.0, 1.0], [25.0, 1.0], [50.0, 0.0]]));
    // Another parameter, and outputs that are not as expected.
    let slower = [&arguments[..], &["--arg", "top=20", "--tolerance", "1e-9"]].concat();
    let (code, value) = project.json(&slower);
    assert_eq!(code, 1, "{value}");
    let first = json!({ "tick": 2, "port": "speed", "expected": 25.0, "got": 20.0 });
    assert_eq!(value["compared"]["first_difference"], first);
}

#[test]
fn a_table_that_does_not_fit_is_located() {
    let project = models();
    for (table, place, hint) in [
        ("whish,on,v[1],v[2]\n", "in.csv:1:1", "did you mean `wish`?"),
        ("wish,on,v[1]\n1,1,1\n", "in.csv:1:1", "no column for the in-port `v[2]`"),
        ("wish,on,v,v[2]\n", "in.csv:1:9", "it has several numbers: `v[1]`"),
        ("wish,on,v[1],v[2]\n1,1,0,0\n1,x,0,0\n", "in.csv:3:3", "true, false, 1 or 0"),
        ("wish,on,v[1],v[2]\n1,1,0\n", "in.csv:2:1", "3 cells in a table of 4 columns"),
        ("wish,out:on,v[1],v[2]\n", "in.csv:1:6", "`on` is an in-port"),
    ] {
        project.write("in.csv", table);
        let ran = project.run(&["run", "models/cars/Limit.emam", "--inputs", "in.csv"]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains(place) && ran.err.contains(hint), "{place} {hint} in {ran:?}");
    }
    for (arguments, hint) in [
        (vec!["run", "models/cars/Limit.emam"], "wish,on,v[1],v[2]"),
        (vec!["run", "models/cars/Limit.emam", "--trace", "a.csv"], "--trace is about scenarios"),
        (vec!["run", "pull.toml", "--inputs", "in.csv"], "are about models"),
        (vec!["run", "models/cars/Nothing.emam", "--inputs", "in.csv"], "Nothing.emam"),
        (vec!["run", "models/cars/Limit.emam", "--inputs", "in.csv", "--arg", "bottom=1"], "no parameter `bottom`"),
    ] {
        let ran = project.run(&arguments);
        assert!(ran.code == 2 && ran.err.contains(hint), "{hint} in {ran:?}");
    }
}

#[test]
fn stream_tests_of_a_tree_are_run_and_told() {
    let project = models();
    let (code, value) = project.json(&["test", "models"]);
    assert_eq!(code, 0, "{value}");
    let stream = &value["streams"][0];
    assert_eq!((&stream["stream"], &stream["component"]), (&json!("LimitTest"), &json!("cars.Limit")));
    assert_eq!((&stream["passed"], &stream["checks"], &stream["tick"]), (&json!(true), &json!(6), &Value::Null));
    assert_eq!(stream["component_file"], "models/cars/Limit.emam");
    assert_eq!(value["coverage"]["components"]["tested"], 1);
    assert_eq!(value["coverage"]["branches"]["seen"], value["coverage"]["branches"]["all"]);
    // One that fails, one that names a port that is not there, one whose component is missing.
    let bad = STREAM.replace("limited: false tick true", "limited: false tick false").replace("LimitTest", "Wrong");
    project.write("models/cars/Wrong.stream", &bad);
    project.write("models/cars/Name.stream", &STREAM.replace("limited:", "limitted:").replace("LimitTest", "Name"));
    project.write("models/cars/Nobody.stream", &STREAM.replace("for Limit", "for Limt").replace("LimitTest", "Nobody"));
    let (code, value) = project.json(&["test", "models", "--junit", "junit.xml"]);
    assert_eq!((code, &value["failing_components"]), (2, &json!(["Limt", "cars.Limit"])), "{value}");
    let of = |name: &str| {
        let all = value["streams"].as_array().unwrap();
        all.iter().find(|stream| stream["stream"] == name).unwrap_or_else(|| panic!("{name} in {value}"))
    };
    let wrong = of("Wrong");
    assert_eq!((&wrong["passed"], &wrong["tick"], &wrong["port"]), (&json!(false), &json!(2), &json!("limited")));
    assert_eq!(of("Name")["diagnostics"][0]["code"], "L502");
    assert!(of("Nobody")["reason"].as_str().unwrap().contains("no component `Limt`"), "{value}");
    let junit = project.read("junit.xml");
    assert!(junit.contains("name=\"streams\" tests=\"4\"") && junit.contains("failures=\"1\" errors=\"2\""), "{junit}");
    // Only the one that fails.
    let ran = project.run(&["test", "models/cars/Wrong.stream"]);
    assert!(ran.code == 1 && ran.out.contains("tick 2 limited: expected 0, got 1"), "{ran:?}");
    assert!(ran.out.contains("failing components: cars.Limit"), "{ran:?}");
    assert_eq!(project.run(&["test", "models", "--filter", "nobody-has-this"]).code, 4);
}

#[test]
fn the_gain_that_a_recording_leaves_open_is_taken_from_its_first_tick() {
    let project = models();
    let gain = "package cars; component Gain<T> { port in T in1, out T out1; }";
    project.write("models/cars/Gain.ema", gain);
    project.write(
        "models/cars/Gain.stream",
        "package cars; stream Gain { in1: 0 tick 2 tick 5; out1: 0 tick 8 tick 20; }",
    );
    let (code, value) = project.json(&["test", "models", "--filter", "Gain"]);
    assert_eq!(code, 0, "{value}");
    assert!(value["streams"][0]["notes"][0]["message"].as_str().unwrap().contains("4 is what"), "{value}");
    let ran = project.run(&["test", "models", "--filter", "Gain"]);
    assert!(ran.out.contains("3 checks; L504: `gain` is given nowhere; 4 is what"), "{ran:?}");
    let (code, value) = project.json(&["test", "models", "--filter", "Gain", "--arg", "gain=3"]);
    assert_eq!((code, &value["streams"][0]["tick"]), (1, &json!(2)), "{value}");
}

#[test]
fn a_tree_of_models_is_checked_at_once() {
    let project = models();
    assert_eq!(project.run(&["check", "models"]).code, 0);
    project.write(
        "models/cars/Mass.emam",
        "package cars; component Mass { ports out Q(0 kg : 9 kg) m; implementation Math { m = 1 kg; } }",
    );
    let both = "package cars; component Both {
        ports in Q x, out Q y;
        instance Mass mass;
        instance Limit limit;
        connect mass.m -> limit.wish;
        connect x -> limit.onn;
        connect limit.speed -> y;
    }";
    project.write("models/cars/Both.emam", both);
    let ran = project.run(&["check", "models"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    for told in ["models/cars/Both.emam:5:17", "L302", "models/cars/Both.emam:6:28", "L203", "2 errors"] {
        assert!(ran.err.contains(told), "{told} in {ran:?}");
    }
    let (code, value) = project.json(&["check", "models/cars/Both.emam"]);
    let told = value["files"][0]["diagnostics"].as_array().unwrap();
    let errors: Vec<&Value> = told.iter().filter(|d| d["severity"] == "error").map(|d| &d["code"]).collect();
    assert_eq!((code, errors), (2, vec![&json!("L302"), &json!("L203")]));
    assert!(project.run(&["check", "--explain", "L302"]).out.contains("Two units that do not go together"));
}

#[test]
fn the_order_of_execution_is_printed_and_cycles_are_errors_when_asked() {
    let project = models();
    let add = "package cars; component Plus { ports in Q a, in Q b, out Q c; implementation Math { c = a + b; } }";
    let ring = "package cars; component Ring { ports in Q x, out Q y;
        instance Plus one, two;
        connect x -> one.a; connect two.c -> one.b, y; connect one.c -> two.a; connect 1 -> two.b; }";
    project.write("models/cars/Plus.emam", add);
    project.write("models/cars/Ring.emam", ring);
    let ran = project.run(&["check", "models/cars/Ring.emam", "--order"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("0:0    'cars.ring.one' (Plus, tid=0)\n  0:1    'cars.ring.two'"), "{ran:?}");
    assert!(ran.err.contains("cars.ring.one -> cars.ring.two -> cars.ring.one"), "{ran:?}");
    let strict = project.run(&["check", "models/cars/Ring.emam", "--strict"]);
    assert!(strict.code == 2 && strict.err.contains("L401"), "{strict:?}");
    assert_eq!(project.run(&["check", "models", "--order"]).code, 2);
}

#[test]
fn models_are_laid_out_and_exported() {
    let project = models();
    assert_eq!(project.run(&["fmt", "--check", "models"]).code, 0);
    project.write("models/cars/Limit.emam", &LIMIT.replace("        speed = wish;", "speed=wish;"));
    assert_eq!(project.run(&["fmt", "--check", "models"]).code, 1);
    let ran = project.run(&["fmt", "models"]);
    assert!(ran.code == 0 && ran.out.contains("1 of 2 files changed"), "{ran:?}");
    assert_eq!(project.read("models/cars/Limit.emam"), LIMIT);
    assert_eq!(project.run(&["fmt", "pull.toml"]).code, 2);
    for (file, word) in [("limit.c", "int limit_tick(double *m"), ("limit.rs", "pub fn limit_tick(m: &mut [f64]")] {
        let ran = project.run(&["convert", "models/cars/Limit.emam", file]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(project.read(file).contains(word));
    }
}

/// A session with the language server, as an editor has it.
pub(crate) struct Session {
    pub(crate) child: std::process::Child,
    input: std::process::ChildStdin,
    output: BufReader<std::process::ChildStdout>,
    asked: u64,
}

impl Session {
    pub(crate) fn start(project: &Project) -> Self {
        let mut child =
            project.command(&["lsp"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output, asked: 0 }
    }
    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    }
    pub(crate) fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }
    pub(crate) fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).unwrap();
            match line.trim_end().split_once(": ") {
                Some((_, value)) => length = value.parse().unwrap(),
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params }));
        let answer = self.receive();
        assert_eq!(answer["id"], self.asked, "{answer}");
        answer["result"].clone()
    }
}

#[test]
fn an_editor_is_told_mistakes_types_definitions_and_names() {
    let project = models();
    let root = std::fs::canonicalize(project.path()).unwrap().display().to_string();
    let address = |file: &str| format!("file://{root}/{file}");
    let mut session = Session::start(&project);
    let can = session.ask("initialize", json!({ "rootUri": address("models"), "capabilities": {} }));
    assert_eq!(can["capabilities"]["hoverProvider"], true);
    session.tell("initialized", json!({}));
    let use_it = "package cars;\ncomponent Use {\n    ports in Q(0 m/s : 9 m/s) x, out Q y;\n    instance Limit limit;\n    connect x -> limit.wish;\n    connect limit.sped -> y;\n}\n";
    let file = address("models/cars/Use.emam");
    session.tell("textDocument/didOpen", json!({ "textDocument": { "uri": file, "text": use_it } }));
    let told = session.receive();
    assert_eq!((&told["method"], &told["params"]["uri"]), (&json!("textDocument/publishDiagnostics"), &json!(file)));
    let all = told["params"]["diagnostics"].as_array().unwrap();
    let wrong = all.iter().find(|d| d["severity"] == 1).unwrap();
    assert_eq!((&wrong["code"], &wrong["range"]["start"]), (&json!("L203"), &json!({ "line": 5, "character": 18 })));
    assert!(wrong["message"].as_str().unwrap().contains("did you mean `speed`?"), "{told}");
    // Mended: the mistake goes.
    let mended = use_it.replace("sped", "speed");
    let change = json!({ "textDocument": { "uri": file }, "contentChanges": [{ "text": mended }] });
    session.tell("textDocument/didChange", change);
    let told = session.receive();
    assert!(told["params"]["diagnostics"].as_array().unwrap().iter().all(|d| d["severity"] != 1), "{told}");
    let at = |line: u32, character: u32| json!({ "textDocument": { "uri": file }, "position": { "line": line, "character": character } });
    // The port of an instance: its type and unit, and where it is declared.
    let hover = session.ask("textDocument/hover", at(4, 24));
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(text.contains("in Q(-oo m/s : oo m/s) wish") && text.contains("in SI: Q in m"), "{text}");
    let there = session.ask("textDocument/definition", at(4, 24));
    assert_eq!(there["uri"], address("models/cars/Limit.emam"));
    assert_eq!(there["range"]["start"], json!({ "line": 2, "character": 33 }));
    // The type of an instance.
    let there = session.ask("textDocument/definition", at(3, 15));
    assert_eq!(there["range"]["start"], json!({ "line": 1, "character": 10 }));
    let names = |answer: &Value| -> Vec<String> {
        answer.as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect()
    };
    let ports = session.ask("textDocument/completion", at(4, 23));
    assert_eq!(names(&ports), ["limited", "on", "speed", "v", "wish"]);
    let all = names(&session.ask("textDocument/completion", at(4, 12)));
    assert!(
        ["x", "y", "limit", "Limit", "connect", "sqrt"].iter().all(|name| all.contains(&(*name).to_owned())),
        "{all:?}"
    );
    assert_eq!(session.ask("shutdown", Value::Null), Value::Null);
    session.tell("exit", Value::Null);
    assert!(session.child.wait().unwrap().success());
}

/// A comparison that compares nothing, or with anything, must not look like a pass.
#[test]
fn a_comparison_needs_something_to_compare_and_says_what_it_found() {
    let project = models();
    project.write("in.csv", "wish,on,v[1],v[2]\n10,1,0,0\n");
    let run = |more: &[&str]| project.run(&[&["run", "models/cars/Limit.emam", "--inputs", "in.csv"], more].concat());
    let ran = run(&["--tolerance", "1e-9"]);
    assert!(ran.code == 2 && ran.err.contains("--tolerance compares nothing"), "{ran:?}");
    for tolerance in ["nan", "inf", "-1"] {
        let ran = run(&[&format!("--tolerance={tolerance}")]);
        assert!(ran.code == 2 && ran.err.contains("write a number from 0 on"), "{ran:?}");
    }
    project.write("in.csv", "wish,on,v[1],v[2],out:speed\n10,1,0,0,11\n");
    let ran = run(&["--tolerance", "1e-9"]);
    assert!(ran.code == 1 && ran.err.contains("first at tick 1, speed: expected 11, got 10"), "{ran:?}");
}

#[test]
fn values_outside_of_their_range_are_told_and_what_was_computed_is_kept() {
    let project = Project::new();
    project.write(
        "A.emam",
        "component A { ports in Q(0:10) x, in Q^{2,2} m, out Q(0:1) y; implementation Math { y = m(2,1)/x; } }",
    );
    project.write("in.csv", "x,m[1,1],m[1,2],m[2][1],m(2,2)\n2,0,0,1,0\n20,0,0,40,0\n0,0,0,1,0\n");
    let ran = project.run(&["run", "A.emam", "--inputs", "in.csv", "--outputs", "out.csv"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert_eq!(project.read("out.csv"), "y\n0.5\n2\n");
    for told in [
        "`x` is 20 at tick 2, outside of its range 0 to 10",
        "`y` is 2 at tick 2",
        "tick 3: ./A.emam:1:11: a: y is not a finite",
    ] {
        assert!(ran.err.contains(told), "{told}: {ran:?}");
    }
}

#[test]
fn a_stream_file_without_a_stream_is_no_pass() {
    let project = models();
    project.write("models/cars/Empty.stream", "");
    project.write("models/cars/Bare.stream", "wish: 1; speed: 1;");
    let (code, value) = project.json(&["test", "models"]);
    assert_eq!((code, value["errors"].as_u64(), value["passed"].as_u64()), (2, Some(2), Some(1)), "{value}");
    assert_eq!(value["streams"][0]["file"], "models/cars/Bare.stream", "{value}");
    assert_eq!(value["streams"][0]["diagnostics"][0]["code"], "L101", "{value}");
}

#[test]
fn a_car_is_checked_alone_and_is_no_scenario() {
    let project = models();
    project.write("models/C.car", "car C { dimension = 4.1m, 1.8m, 1.5m; controller = Limit; }");
    let ran = project.run(&["check", "models/C.car"]);
    assert!(ran.code == 0 && ran.out.contains("models/C.car: car C"), "{ran:?}");
    project.write("models/C.car", "car C { dimension = 4.1kg, 1.8m, 1.5m; controller = Limit; }");
    let ran = project.run(&["check", "models"]);
    assert!(ran.code == 2 && ran.err.contains("`4.1kg` is no length") && ran.err.contains("C.car:1:21"), "{ran:?}");
    let ran = project.run(&["run", "models/C.car"]);
    assert!(ran.code == 2 && ran.err.contains("is a car, not a scenario"), "{ran:?}");
}

#[test]
fn a_simulation_has_all_its_mistakes_told_at_once() {
    let project = Project::new();
    project.write("T.sim", "simulation T { map = M.osm; deltaT = 5kg; duration = -3s; weather = hail; }");
    let ran = project.run(&["check", "T.sim"]);
    for told in ["`5kg` is no time", "`-3s` is no time", "`hail` is no weather", "the simulation has no `cars`"] {
        assert!(ran.code == 2 && ran.err.contains(told), "{told}: {ran:?}");
    }
    project
        .write("T.sim", "sim T {\n  sim_duration 4h;\n  map_name Town.osm;\n  car1(6.04,50.77,0)->(6.05,50.78,0);\n}");
    let ran = project.run(&["check", "T.sim"]);
    assert!(ran.code == 2 && ran.err.contains("no road file `Town.road.toml`"), "{ran:?}");
    assert!(ran.err.contains("T.sim:3:12"), "{ran:?}");
}

/// A project with everything that the shipped simulations name, and the text of one of them.
fn with_simulation(name: &str) -> (Project, String) {
    let project = Project::new();
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/models");
    std::fs::create_dir_all(project.file("sims/lane")).unwrap();
    for entry in std::fs::read_dir(&examples).unwrap().chain(std::fs::read_dir(examples.join("lane")).unwrap()) {
        let path = entry.unwrap().path();
        let below = path.strip_prefix(&examples).unwrap();
        if path.is_file() && path.extension().is_some_and(|ending| ending != "sim") {
            std::fs::copy(&path, project.file("sims").join(below)).unwrap();
        }
    }
    (project, std::fs::read_to_string(examples.join(name)).unwrap())
}

#[test]
fn what_the_scenario_complains_about_is_told_in_the_simulation() {
    let (project, sim) = with_simulation("RainyEvening.sim");
    project.write("sims/Rain.sim", &sim);
    let ran = project.run(&["check", "sims/Rain.sim"]);
    assert!(ran.code == 0 && ran.out.contains("sims/Rain.sim#2"), "{ran:?}");
    project.write("sims/Rain.sim", &sim.replace("transfer_rate 10Hz", "transfer_rate 7Hz"));
    let line = 1 + sim.lines().position(|line| line.contains("transfer_rate")).unwrap();
    let ran = project.run(&["run", "sims/Rain.sim#2"]);
    let place = format!("sims/Rain.sim:{line}:23");
    assert!(ran.code == 2 && ran.err.contains(&place) && ran.err.contains("whole multiple"), "{ran:?}");
    let ran = project.run(&["run", "sims/Rain.sim#1", "--set", "world.friction=\"wet\""]);
    assert!(ran.code == 2 && !ran.err.contains("Rain.sim:1:"), "what the command line says is told of it: {ran:?}");
}

/// A family is tested whole; one member that passes says nothing about the others.
#[test]
fn every_member_of_a_simulation_is_tested() {
    let (project, sim) = with_simulation("TwoCars.sim");
    project.write("sims/Two.sim", &sim.replace("duration = 12s", "duration = 1s, 2s"));
    let (code, value) = project.json(&["test", "sims"]);
    let names: Vec<&str> =
        value["scenarios"].as_array().unwrap().iter().filter_map(|case| case["name"].as_str()).collect();
    assert_eq!((code, names), (0, vec!["sims/Two.sim#1", "sims/Two.sim#2"]), "{value}");
}

/// What a component calls is looked up wherever it is checked, also where nobody has given its parameters values.
#[test]
fn a_call_of_an_unknown_function_is_refused_with_and_without_values_for_parameters() {
    let project = models();
    let body = "{ ports in Q x, out Q y; implementation Math { y = frobnicate(x); } }";
    for head in ["component Odd", "component Odd(Q k)", "component Odd<N1 n>"] {
        project.write("models/cars/Odd.emam", &format!("package cars; {head} {body}"));
        for file in ["models", "models/cars/Odd.emam"] {
            let ran = project.run(&["check", file]);
            assert!(ran.code == 2 && ran.err.contains("frobnicate"), "{head}: {ran:?}");
            assert!(ran.err.contains("error[L205]") && ran.err.contains("models/cars/Odd.emam:1:"), "{head}: {ran:?}");
        }
    }
    project.write(
        "models/cars/Odd.emam",
        &format!("package cars; component Odd(Q k) {}", body.replace("frobnicate", "sqrt")),
    );
    assert_eq!(project.run(&["check", "models"]).code, 0);
}
