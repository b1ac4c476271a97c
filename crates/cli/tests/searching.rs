//! `search`: what it finds replays, whatever the number of threads and however often it was killed.

#![cfg(unix)]

use std::process::Stdio;
use std::time::Duration;

use crate::common::{Project, Ran};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

const Y: &str = "ego.start.y=-0.3 m .. 0.3 m";

fn search<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["search", "pull.toml", "-q", "--vary", Y][..], more].concat()
}

#[test]
fn what_a_search_finds_replays_exactly() {
    let project = Project::new();
    let (code, found) = project.json(&search(&["--budget", "60", "--seed", "3"]));
    assert_eq!((code, &found["verdict"]), (1, &"violated".into()), "{found}");
    assert_eq!((&found["schema"], &found["evaluations"]), (&"anabranch.search/1".into(), &60.into()));
    assert!(found["best"]["value"].as_f64().unwrap() < 0.0 && found["baseline"]["simulations"] == 60, "{found}");
    let statement = found["baseline"]["statement"].as_str().unwrap();
    assert!(statement.contains("95 % confidence"), "{statement}");
    assert!(!found["importance"].as_array().unwrap().is_empty());
    for number in 1..=found["findings"].as_u64().unwrap() {
        let (code, again) = project.json(&["replay", &format!("last#{number}"), "--twice"]);
        assert_eq!((code, &again["same_as_found"], &again["twice"]["equal"]), (1, &true.into(), &true.into()));
        assert_eq!(again["tick"], found["groups"][number as usize - 1]["tick"]);
    }
    // A kept finding replays without the run folder.
    assert_eq!(project.run(&["replay", "last#1", "--keep"]).code, 1);
    std::fs::remove_dir_all(project.file("runs")).unwrap();
    let kept = std::fs::read_dir(project.file("findings")).unwrap().next().unwrap().unwrap().path();
    let (code, again) = project.json(&["replay", kept.to_str().unwrap()]);
    assert_eq!((code, &again["same_as_found"]), (1, &true.into()), "{again}");
}

#[test]
fn evaluations_do_not_depend_on_threads() {
    let digest = |threads: &str, method: &str| {
        let project = Project::new();
        let (_, found) = project.json(&search(&["--budget", "40", "-j", threads, "--method", method, "--no-baseline"]));
        (found["digest"].as_str().unwrap().to_owned(), found["groups"].as_array().unwrap().len())
    };
    for method in ["auto", "cmaes"] {
        let one = digest("1", method);
        assert_eq!(one, digest("3", method), "{method}");
    }
}

#[test]
fn every_method_searches_and_a_wrong_one_is_told() {
    let project = Project::new();
    for method in ["annealing", "cross-entropy", "nelder-mead", "bayes", "halton", "sobol", "random", "signal-descent"]
    {
        let ran = search(&["--budget", "16", "--method", method, "--no-baseline", "--error-points", "2"]);
        let (code, found) = project.json(&ran);
        assert!(code <= 1, "{method}: {found}");
        assert_eq!((&found["evaluations"], &found["method"]), (&16.into(), &method.into()));
    }
    for (method, budget, score) in [("tree", "8", "tree"), ("hybrid", "3", "graph")] {
        let (code, found) = project.json(&search(&["--budget", budget, "--method", method]));
        assert_eq!((code, &found["score"]), (1, &score.into()), "{method}: {found}");
        let (code, again) = project.json(&["replay", "last#1"]);
        assert_eq!((code, &again["same_as_found"]), (1, &true.into()), "{method}: {again}");
    }
    let ran = project.run(&search(&["--method", "anealing"]));
    assert!(ran.code == 2 && ran.err.contains("annealing"), "{ran:?}");
}

#[test]
fn a_killed_search_goes_on_to_the_same_evaluations() {
    let project = Project::new();
    let arguments = search(&["--budget", "1500", "--no-baseline", "--seed", "5", "--method", "annealing"]);
    let (_, whole) = project.json(&arguments);
    let mut kills = 0;
    let mut child = project.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    for _ in 0..3 {
        let (_keep, timer) = std::sync::mpsc::channel::<()>();
        // Until there is a checkpoint of this run, or it has ended.
        for _ in 0..2000 {
            let last = std::fs::read_link(project.file("runs/last")).ok();
            let is_new = last.is_some_and(|last| !whole["run"].as_str().unwrap().ends_with(last.to_str().unwrap()));
            if child.try_wait().unwrap().is_some() || (is_new && project.file("runs/last/progress.bin").is_file()) {
                break;
            }
            let _ = timer.recv_timeout(Duration::from_millis(2));
        }
        let _ = timer.recv_timeout(Duration::from_millis(60));
        if child.try_wait().unwrap().is_none() {
            kill(Pid::from_raw(child.id() as i32), Signal::SIGKILL).unwrap();
            kills += 1;
        }
        child.wait().unwrap();
        let resumed =
            project.command(&["search", "--resume", "-q"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        child = resumed.unwrap();
    }
    assert!(kills > 0, "it was too quick to be killed");
    child.wait().unwrap();
    let again: Value = serde_json::from_str(&project.read("runs/last/result.json")).unwrap();
    for key in ["digest", "evaluations", "verdict", "findings", "best", "violations", "groups"] {
        let (mut then, mut now) = (whole[key].clone(), again[key].clone());
        for list in [&mut then, &mut now].into_iter().filter_map(Value::as_array_mut).flatten() {
            // The folder has its own name.
            list.as_object_mut().map(|group| group.remove("finding"));
        }
        assert_eq!(then, now, "{key}");
    }
}

#[test]
fn bad_ranges_are_told_with_their_place() {
    let project = Project::new();
    for (vary, expect) in [
        ("ego.start.y=0.3 m .. -0.3 m", "backwards"),
        ("ego.start.y=0 m .. 1 s", "E0113"),
        ("ego.start.y=0 m .. inf m", "E0113"),
        ("ego.start.y=0.3 m", "does not vary"),
        ("ego.start.yy=0 m .. 1 m", "no key `yy`"),
        ("ego.start.y=0 kg .. 1 kg", "kg"),
        ("ego.vehicle.length=-1 m .. 4 m", "E0113"),
        ("ego.driver=[\"calm\", \"wild\"]", "wild"),
        ("ego.driver=[]", "nothing to choose"),
        ("objects=0 .. 3", "0 objects"),
        ("error.steering-pulls={ range = \"0 deg .. 2 deg\", points = 0 }", "points"),
        ("error.nobody={ range = \"0 deg .. 2 deg\", points = 3 }", "no error"),
    ] {
        let ran = project.run(&["search", "pull.toml", "-q", "--budget", "5", "--vary", vary]);
        assert!(ran.code == 2 && ran.err.contains(expect), "{vary}: {ran:?}");
    }
    let none = project.read("pull.toml").replace(
        "[[error]]\nid     = \"steering-pulls\"\non     = \"ego.steering\"\noffset = { by = \"6 deg\" }\n",
        "",
    );
    project.write("none.toml", &none);
    let ran = project.run(&["search", "none.toml", "-q"]);
    assert!(ran.code == 2 && ran.err.contains("nothing varies"), "{ran:?}");
    assert!(!project.file("runs").exists(), "nothing was run");
}

#[test]
fn signals_rules_alternatives_and_several_objectives_work_together() {
    let project = Project::new();
    let table = "\n[search]\nobjective = [\"clearance\", \"always ego.speed < 2 m/s\"]\nrequire = [\"ego.start.y + world.obstacle.box.box.y > 1.4 m\"]\n\
                 budget = 40\n[search.vary]\nego.start.y = \"-0.3 m .. 0.3 m\"\nworld.obstacle.box.box.y = \"1.4 m .. 2 m step 0.1 m\"\n\
                 ego.driver = [\"calm\", \"eager\"]\nerror.steering-pulls = { range = \"-6 deg .. 6 deg\", points = 3, shape = \"linear\" }\n";
    project.write("wide.toml", &(project.read("pull.toml") + table));
    let (code, found) = project.json(&["search", "wide.toml", "-q", "--seed", "2"]);
    assert!(code <= 1, "{found}");
    let kinds: Vec<&str> =
        found["dimensions"].as_array().unwrap().iter().map(|d| d["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["real", "one of", "whole", "real", "real", "real"]);
    assert_eq!(found["best"]["objectives"].as_array().unwrap().len(), 2);
    assert!(!found["front"].as_array().unwrap().is_empty());
    assert!(found["rejected"][0]["points"].as_u64().unwrap() > 0, "{}", found["rejected"]);
    if code == 1 {
        let (code, again) = project.json(&["replay", "last#1"]);
        assert_eq!((code, &again["same_as_found"]), (1, &true.into()), "{again}");
    }
    let page = project.read("runs/last/report.html");
    for part in ["convergence", "what matters", "dangerous cases", "Most dangerous cases", "Front"] {
        assert!(page.contains(part), "{part}");
    }
    let table = project.read("runs/last/evaluations.csv");
    assert_eq!(table.lines().count(), 1 + found["evaluations"].as_u64().unwrap() as usize);
}

#[test]
fn many_seeds_say_how_reliable_a_method_is() {
    let project = Project::new();
    let (code, told) = project.json(&search(&["--budget", "12", "--repeats", "6", "--method", "annealing"]));
    assert_eq!((code, &told["repeats"]), (1, &6.into()), "{told}");
    assert!(told["random"]["successes"].is_u64() && told["statement"].is_string(), "{told}");
    // Each of them is the search that its seed makes on its own.
    let firsts = told["ours"]["to_first"].as_array().unwrap();
    for (n, first) in firsts.iter().enumerate() {
        let words = ["--budget", "12", "--method", "annealing", "--stop-on-first", "--no-baseline"];
        let seed = (told["seed"].as_u64().unwrap() + n as u64).to_string();
        let (_, alone) = project.json(&[&["--seed", &seed], &search(&words)[..]].concat());
        assert_eq!(&alone["first_violation_evaluation"], first, "seed {seed}");
    }
    // Without the baseline nothing is simulated for it, and nothing is said about it.
    let (_, alone) =
        project.json(&search(&["--budget", "12", "--repeats", "6", "--method", "annealing", "--no-baseline"]));
    assert_eq!((&alone["ours"], &alone["random"], &alone["statement"]), (&told["ours"], &Value::Null, &Value::Null));
    assert_eq!(told["ours"]["to_first"].as_array().unwrap().len(), 6);
    assert!(told["statement"].as_str().unwrap().contains("Fisher"), "{told}");
}

#[test]
fn published_inputs_have_their_published_robustness() {
    let project = Project::new();
    for (bench, input, expect, within) in [
        ("at-speed120", "0 100 0; 15 50 0", -0.5512, 0.002),
        ("at-speed120", "0 100 0", -17.9802, 0.002),
        ("cc1", "0 .5 0; 50 1 1", -44.1251, 0.15),
        ("cc2", "0 0 1; 50 .5 0", -5.0, 0.02),
    ] {
        let (code, found) = project.json(&["search", "--bench", bench, "--input", input]);
        assert_eq!((code, &found["violated"]), (0, &true.into()), "{found}");
        assert!((found["robustness"].as_f64().unwrap() - expect).abs() < within, "{found}");
    }
    let ran = project.run(&["search", "--bench", "cc1", "--input", "0 2 0"]);
    assert!(ran.code == 2 && ran.err.contains("between 0 and 1"), "{ran:?}");
    assert_eq!(project.run(&["search", "--bench", "cc9"]).code, 2);
    let ran = ["search", "--bench", "arch", "--row", "at1", "--repeats", "2", "--budget", "40"];
    let (code, table) = project.json(&ran);
    assert_eq!((code, &table["rows"][0]["row"]), (0, &"at1".into()), "{table}");
    assert_eq!(table["rows"][0]["published"][0]["successes"], 50);
}

#[test]
fn the_accident_at_the_t_junction_is_found_explained_and_drawn() {
    let project = Project::new();
    let search = ["search", "--bench", "t-junction", "-q", "--seed", "4", "--batch", "4", "--budget", "300", "-j"];
    let (code, found) = project.json(&[&search[..], &["2"]].concat());
    assert_eq!((code, &found["verdict"], &found["evaluations"]), (1, &"violated".into(), &300.into()));
    assert_eq!(found["baseline"]["simulations"], 300);
    let accidents = found["groups"].as_array().unwrap();
    assert!(accidents.len() >= 2, "{}", found["groups"]);
    for accident in accidents {
        let folder = accident["folder"].as_str().unwrap();
        for view in ["top", "chase", "kerb"] {
            assert!(project.read(&format!("{folder}/{view}.svg")).contains("</svg>"), "{view}");
        }
        let is_hidden = accident["triage"]["prevented_by"]["no_hedge"] == true;
        let has_note = project.file(&format!("{folder}/blind-corner.toml")).is_file();
        assert!(is_hidden || !has_note, "{accident}");
        assert_eq!(has_note, accident["blind_corner"].is_string());
        // The command below an accident gives the same accident.
        let input = accident["command"].as_str().unwrap().split('"').nth(1).unwrap();
        let (code, again) = project.json(&["search", "--bench", "t-junction", "--input", input]);
        assert_eq!((code, &again["violated"]), (0, &true.into()), "{again}");
        for key in ["distance_m", "rss_reserve_m", "triage", "blind_corner", "time_s"] {
            assert_eq!(again["result"][key], accident[key], "{key}");
        }
    }
    let kinds: std::collections::BTreeSet<String> = accidents.iter().map(|a| a["triage"].to_string()).collect();
    assert_eq!(kinds.len(), accidents.len(), "each is different");
    let page = project.read("runs/last/report.html");
    for part in ["convergence", "--input", "Mechanism:", "from above", "from the kerb"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(page.contains("anabranch replay"), "an accident is run again like a finding");
    let (code, again) = project.json(&["replay", "last#1", "--twice"]);
    assert_eq!((code, &again["same_as_found"], &again["violated"]), (1, &true.into(), &true.into()), "{again}");
    let ran = project.run(&["replay", "last#1", "--keep"]);
    assert!(ran.code == 2 && ran.err.contains("accident of the benchmark t-junction"), "{ran:?}");
    let ran = project.run(&["explain", "last#1"]);
    assert!(ran.code == 2 && ran.err.contains("`replay` runs it again"), "{ran:?}");
    let (_, one) = project.json(&[&search[..], &["1", "--no-baseline"]].concat());
    assert_eq!(one["digest"], found["digest"]);
    let ran = project.run(&["search", "--resume"]);
    assert!(ran.code == 2 && ran.err.contains("benchmark, which is not resumed"), "{ran:?}");
}

#[test]
fn the_protocol_of_the_t_junction_stands_beside_chance() {
    let project = Project::new();
    let ran = ["search", "--bench", "t-junction", "--repeats", "4", "--method", "annealing", "--budget", "60"];
    let (code, told) = project.json(&ran);
    assert_eq!((code, &told["schema"]), (1, &"anabranch.contest/1".into()), "{told}");
    for (row, method) in [("ours", "annealing"), ("beside", "auto"), ("random", "random")] {
        assert_eq!(told[row]["method"], method);
        assert_eq!(told[row]["to_first"].as_array().unwrap().len(), 4, "{told}");
    }
    assert!(!project.file("runs").exists(), "a protocol has no folder");
    // A bright noon with a far and slow other car.
    let (code, noon) = project.json(&["search", "--bench", "t-junction", "--input", "fog=0"]);
    assert_eq!((code, &noon["violated"], &noon["result"]["triage"]), (0, &false.into(), &Value::Null), "{noon}");
    for (input, expect) in [
        ("1 2 3", "3 numbers"),
        ("fogg=1", "no `fogg`"),
        ("fog=2", "between 0 and 1"),
        ("fog=nan", "between 0 and 1"),
        ("fog=x", "no number"),
        ("fog=0 fog=1", "twice"),
        ("fog=0 1", "no name"),
    ] {
        let ran = project.run(&["search", "--bench", "t-junction", "--input", input]);
        assert!(ran.code == 2 && ran.err.contains(expect), "{input}: {ran:?}");
    }
    for wrong in [["--method", "tree"], ["--method", "mine.py"], ["--objective", "ttc"], ["--row", "cc1"]] {
        let ran = project.run(&[&["search", "--bench", "t-junction"], &wrong[..]].concat());
        assert!(ran.code == 2 && ran.err.contains("--"), "{wrong:?}: {ran:?}");
    }
}

#[test]
fn an_optimiser_in_python_is_asked_and_told() {
    let project = Project::new();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::copy(root.join("examples/hill_climb.py"), project.file("hill_climb.py")).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = project.command(arguments);
        command.env("ANABRANCH_PYTHON", root.join("target/python-venv/bin/python"));
        Ran::of(command.output().expect("the program starts"))
    };
    let arguments = search(&["--method", "hill_climb.py", "--budget", "80", "--no-baseline", "--format", "json"]);
    let (first, second) = (run(&arguments), run(&arguments));
    let value = |ran: &Ran| -> Value { serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:?}")) };
    let (first, second) = (value(&first), value(&second));
    assert_eq!((&first["method"], &first["evaluations"]), (&"hill_climb.py".into(), &80.into()));
    assert_eq!(first["digest"], second["digest"], "the same seed gives the same points");
    project.write("bad.py", "import anabranch\n\n\nclass Bad(anabranch.Optimiser):\n    def ask(self, at_most):\n        return [[float('nan')]]\n");
    let ran = run(&search(&["--method", "bad.py", "--budget", "8"]));
    assert!(ran.code == 5 && ran.err.contains("no number"), "{ran:?}");
    project.write("driver.py", "import anabranch\n\n\nclass Av(anabranch.Driver):\n    pass\n");
    let ran = run(&search(&["--method", "driver.py", "--budget", "8"]));
    assert!(ran.code == 2 && ran.err.contains("no optimiser"), "{ran:?}");
}

/// A measure of the whole run is an objective, though no requirement names it.
#[test]
fn a_measure_of_the_run_is_an_objective() {
    let project = Project::new();
    let objective = "always ego.deviation_per_metre < 2";
    let (_, found) =
        project.json(&search(&["--budget", "8", "--seed", "3", "--no-baseline", "--objective", objective]));
    let values: Vec<f64> =
        found["convergence"].as_array().unwrap().iter().map(|row| row[1].as_f64().unwrap()).collect();
    // Whoever hits the box violates more than any measure. The others are pulled off their line, by far less than two metres
    // for each metre driven.
    let (hit, kept): (Vec<f64>, Vec<f64>) = values.iter().partition(|value| **value < 0.0);
    assert!(!hit.is_empty() && kept.iter().all(|margin| (1.5..1.999).contains(margin)), "{values:?}");
    assert!(kept.len() >= 3, "{values:?}");
}

/// What is asked for in vain is told, whatever was asked for.
#[test]
fn a_search_that_cannot_do_what_is_asked_says_so() {
    let project = Project::new();
    let run = |more: &[&str]| project.run(&[&["search"], more].concat());
    let few = |more: &[&str]| run(&[&["pull.toml", "--budget", "8", "--no-baseline"], more].concat());
    for (more, expect) in [
        (&["--input", "0 1 2"][..], "--input belongs to --bench"),
        (&["--row", "cc1"], "--row belongs to --bench"),
        (&["--objective", "always 1e308 * ego.speed * 1e10 > 0 m/s"], "no finite value"),
        // A car that stands in the box is no instance: nothing was simulated, so nothing was "not found".
        (
            &["--vary", "ego.start.x=7.9 m .. 8 m", "--vary", "ego.start.y=1.4 m .. 1.5 m"],
            "none of 8 points is an instance",
        ),
    ] {
        let ran = few(more);
        assert!(ran.code == 2 && ran.err.contains(expect), "{more:?}: {ran:?}");
    }
    let ran = few(&["--method", "random", "--seed", "5"]);
    assert!(ran.code <= 1, "{ran:?}");
    std::fs::copy(project.file("pull.toml"), project.file("other.toml")).unwrap();
    for (more, expect) in [
        (&["--seed", "6"][..], "seed 5, not 6"),
        (&["--method", "annealing"], "--method random, not annealing"),
        (&["other.toml"], "the scenario pull.toml, not other.toml"),
    ] {
        let ran = run(&[&["--resume"], more].concat());
        assert!(ran.code == 2 && ran.err.contains(expect), "{more:?}: {ran:?}");
    }
    for (more, expect) in [
        (&["--bench", "arch", "--input", "0 1 2"][..], "`arch` is a whole table"),
        (&["--bench", "at1", "--corners", "--repeats", "1"], "--corners has no effect"),
        (&["--bench", "at1", "--input", "-1 100 0"], "times begin with 0"),
    ] {
        let ran = run(more);
        assert!(ran.code == 2 && ran.err.contains(expect), "{more:?}: {ran:?}");
    }
    // As papers write them, with rows on lines of their own.
    let (_, small) = project.json(&["search", "--bench", "at1", "--input", "0 100 0; 15 50 0"]);
    let (code, large) = project.json(&["search", "--bench", "AT1", "--input", "0 100 0\n15 50 0\n"]);
    assert_eq!((code, &large["robustness"]), (0, &small["robustness"]), "{large}");
}

/// A slower car cuts in; it may be seen late, brake hard, and the own brakes may be weak.
const CUT_IN: &str = r#"
schema = "anabranch/1"
name = "cut-in"
[world]
step = "50 ms"
[road]
kind = "straight"
length = "600 m"
lanes = 2
[[object]]
id = "cutter"
lane = "main.2"
station = "145 m"
speed = "20 m/s"
to = "main.1"
[[trigger]]
id = "cutter-brakes"
object = "cutter"
brake = "6 m/s^2"
for = "2 s"
[ego]
start = { lane = "main.1", station = "100 m", speed = "30 m/s" }
goal = { lane = "main.1", station = "500 m" }
driver = { kind = "road", manner = "calm" }
[[error]]
id = "seen-late"
on = "cutter"
late = { by = ["0.5 s", "1 s"] }
[[error]]
id = "weak-brakes"
on = "ego.acceleration"
gain = { by = [0.5] }
[[error]]
id = "emergency"
on = "cutter-brakes"
appears = {}
[errors]
at_once = 2
per_run = 3
[explore]
segment = "1 s"
until = "8 s"
[[must]]
id = "no-contact"
never = "ego.contact"
"#;

#[test]
fn the_reserve_of_responsibility_sensitive_safety_finds_a_cut_in() {
    let project = Project::new();
    project.write("cut-in.toml", CUT_IN);
    let search = |objective: &str| {
        let words = ["search", "cut-in.toml", "-q", "--objective", objective, "--budget", "100", "--stop-on-first"];
        project.json(&[&words[..], &["--no-baseline", "--seed", "1"]].concat())
    };
    let (code, found) = search("rss");
    assert_eq!((code, &found["verdict"]), (1, &"violated".into()), "{found}");
    // At the contact the distance is nothing, and what two at these speeds should have kept is missing.
    assert!(found["best"]["value"].as_f64().unwrap() < -10.0, "{found}");
    assert_eq!(found["groups"][0]["contact"]["other"], "car `cutter`", "{found}");
    // The same as a formula takes the same way.
    let (_, formula) = search("always ego.rss_reserve > 0 m");
    assert_eq!(formula["best"]["value"], found["best"]["value"]);
    let (_, distance) = search("distance");
    assert_eq!(
        (&distance["verdict"], &distance["groups"][0]["contact"]),
        (&found["verdict"], &found["groups"][0]["contact"])
    );
    let ran = project.run(&["search", "pull.toml", "--objective", "rss"]);
    assert!(ran.code == 2 && ran.err.contains("reserve by responsibility-sensitive safety on roads only"), "{ran:?}");
}

/// The values of the first objective of a search over the cut-in, random points, one of them a line.
fn values_of(project: &Project, objective: &str) -> Vec<f64> {
    let words = ["search", "cut-in.toml", "-q", "--objective", objective, "--method", "random", "--budget", "12"];
    let ran = project.run(&[&words[..], &["--no-baseline", "--seed", "1"]].concat());
    assert!(ran.code <= 1, "{ran:?}");
    let table = project.read("runs/last/evaluations.csv");
    let last = |line: &str| line.rsplit(',').next().unwrap().parse::<f64>().unwrap();
    table.lines().skip(1).map(last).collect()
}

#[test]
fn objectives_can_be_added_with_weights() {
    let project = Project::new();
    project.write("cut-in.toml", CUT_IN);
    let braking = "always ego.deceleration < 20 m/s^2";
    let (distance, margin) = (values_of(&project, "distance"), values_of(&project, braking));
    let both = values_of(&project, &format!("distance; 0.5 times {braking}"));
    let mut added = 0;
    for ((distance, margin), both) in distance.iter().zip(&margin).zip(&both) {
        // What violates a requirement is told by the sign alone.
        if *distance > 0.0 {
            assert!((distance + 0.5 * margin - both).abs() < 1e-9, "{distance} + 0.5 * {margin} is not {both}");
            added += 1;
        }
    }
    assert!(added >= 3 && both.len() == 12, "{both:?}");
    let ran = project.run(&["search", "cut-in.toml", "--objective", "distance; 2 times always ego.sped < 1 m/s"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("in `always ego.sped < 1 m/s`: the signal `ego.sped` is not known"), "{ran:?}");
    assert!(ran.err.contains("did you mean `ego.speed`?"), "{ran:?}");
}
