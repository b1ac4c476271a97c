//! Models as FMUs: what comes out is what `run` computes, bit for bit; a saved state goes on as it did; and the FMU drives or
//! moves the car of a scenario.

use std::path::Path;
use std::sync::Arc;

use anabranch_bridge::fmu::{ArchiveLimits, BlockState, Fmu, FmuBlock, Package};
use serde_json::json;

use super::make::root;
use crate::common::{Project, Ran};

/// Every kind of number, with a memory of its own and the time between two ticks.
const MIXED: &str = "component Mixed(Q(0 s : 1 s) cycle_s) {
    ports in Q(-oo m/s : oo m/s) wish,
        in Z n,
        in B on,
        in Mode mode,
        in Q(-oo m : oo m)^{3} v,
        in Q p[2],
        out Q(-oo m/s^2 : oo m/s^2) accel,
        out Q^{2,2} m,
        out Z count,
        out B late,
        out Mode chosen;
    implementation Math {
        static Q(-oo m/s : oo m/s) last = 0 m/s;
        static Z ticks = 0;
        static Q total = 0;
        accel = (wish - last) / cycle_s;
        last = wish;
        ticks = ticks + 1;
        total = 0.9 * total + v * v' / 3 + n / 7;
        if on
            total = total - sqrt(abs(p(1)) + 0.1);
        end
        count = ticks + n;
        late = ticks > 5;
        chosen = mode;
        m = [v(1) v(2); p(2) total];
    }
}
";
const MODE: &str = "enum Mode {\n    OFF | SLOW | FAST\n}\n";
const INPUTS: [&str; 9] = ["wish", "n", "on", "mode", "v[1]", "v[2]", "v[3]", "p[1]", "p[2]"];
const OUTPUTS: [&str; 8] = ["accel", "m[1,1]", "m[1,2]", "m[2,1]", "m[2,2]", "count", "late", "chosen"];
const STEP_S: f64 = 0.02;

/// What goes in at a tick: numbers with long fractions, and every choice.
fn inputs(tick: u32) -> [f64; 9] {
    let x = f64::from(tick);
    [
        x / 7.0,
        x - 9.0,
        f64::from(tick % 2),
        f64::from(tick % 3),
        x * 0.1,
        1.0 / (x + 1.0),
        -x / 3.0,
        x * x / 11.0,
        0.3 - x,
    ]
}

fn project() -> Project {
    let project = Project::new();
    project.write("Mixed.emam", MIXED);
    project.write("Mode.enum", MODE);
    project
}

fn convert(project: &Project, arguments: &[&str]) -> Ran {
    project.run(&[&["convert"], arguments].concat())
}

fn loaded(file: &Path) -> Arc<Fmu> {
    Fmu::load(Package::open(file, &ArchiveLimits::default()).expect("an FMU")).expect("loads")
}

/// One tick: all inputs, a step, all outputs as bits.
fn tick(block: &mut FmuBlock, number: u32) -> Vec<u64> {
    for (name, value) in INPUTS.iter().zip(inputs(number)) {
        block.set(name, value).expect("an input");
    }
    block.step(STEP_S).expect("a step");
    OUTPUTS.iter().map(|name| block.get(name).expect("an output").to_bits()).collect()
}

#[test]
fn an_exported_model_computes_what_run_computes_bit_for_bit() {
    let project = project();
    let rows = (0..40).map(|tick| inputs(tick).map(|value| value.to_string()).join(","));
    project.write("in.csv", &format!("{}\n{}\n", INPUTS.join(","), rows.collect::<Vec<_>>().join("\n")));
    let ran =
        project.run(&["run", "Mixed.emam", "--inputs", "in.csv", "--outputs", "out.csv", "--arg", "cycle_s=0.02"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = convert(&project, &["Mixed.emam", "mixed.fmu", "--step", "20 ms"]);
    assert!(ran.code == 0 && ran.out.contains("a step of 0.02 s"), "{ran:?}");
    let fmu = loaded(&project.file("mixed.fmu"));
    let mut block = FmuBlock::new(&fmu, &[]).expect("starts");
    let table = project.read("out.csv").replace("OFF", "0").replace("SLOW", "1").replace("FAST", "2");
    assert!(table.starts_with("accel,\"m[1,1]\",\"m[1,2]\",\"m[2,1]\",\"m[2,2]\",count,late,chosen\n"), "{table}");
    for (number, row) in (0..40).zip(table.lines().skip(1)) {
        let expected: Vec<u64> = row.split(',').map(|cell| cell.parse::<f64>().expect("a number").to_bits()).collect();
        assert_eq!(tick(&mut block, number), expected, "tick {number}: {row}");
    }
    assert_eq!(table.lines().count(), 41);
    // The description says what the ports measure, and the second export has the same bytes.
    let unit = |name: &str| fmu.description().variable(name).expect("a variable").unit.clone();
    assert_eq!((unit("v[3]").as_deref(), unit("accel").as_deref(), unit("p[1]")), (Some("m"), Some("m/s^2"), None));
    assert_eq!(convert(&project, &["Mixed.emam", "again.fmu", "--step", "20 ms"]).code, 0);
    assert!(std::fs::read(project.file("mixed.fmu")).unwrap() == std::fs::read(project.file("again.fmu")).unwrap());
}

#[test]
fn a_saved_state_of_an_exported_model_goes_on_as_it_did() {
    let project = project();
    assert_eq!(convert(&project, &["Mixed.emam", "mixed.fmu", "--step", "20 ms"]).code, 0);
    let fmu = loaded(&project.file("mixed.fmu"));
    let mut block = FmuBlock::new(&fmu, &[]).expect("starts");
    let mut twin = FmuBlock::new(&fmu, &[]).expect("starts again");
    (0..5).for_each(|number| assert_eq!(tick(&mut block, number), tick(&mut twin, number)));
    let bytes = |block: &FmuBlock, state: &BlockState| block.bytes(state).expect("bytes").expect("claimed");
    let state = block.save().expect("a state");
    assert_eq!(bytes(&block, &state), bytes(&twin, &twin.save().expect("a state")));
    let first: Vec<_> = (5..12).map(|number| tick(&mut block, number)).collect();
    assert_ne!(bytes(&block, &state), bytes(&block, &block.save().expect("a state")));
    block.load(&state).expect("goes back");
    // What goes in is part of the state, so that outputs and inputs are those of that moment.
    assert_eq!(block.get("wish").expect("an input").to_bits(), inputs(4)[0].to_bits());
    let second: Vec<_> = (5..12).map(|number| tick(&mut block, number)).collect();
    assert_eq!(first, second);
    // What is asked for and cannot be is told by the FMU, with names.
    for (told, part) in [
        (block.step(0.01).unwrap_err(), "exported for steps of 0.02 s"),
        (block.set("count", 1.0).unwrap_err(), "count is an output"),
        (block.set("mode", 3.0).unwrap_err(), "mode has 3 choices, numbered from 0: there is no 3"),
    ] {
        assert!(told.to_string().contains(part), "{part} in {told}");
    }
}

#[test]
fn an_exported_model_drives_and_moves_the_car_of_a_scenario() {
    let project = Project::new();
    let examples = root().join("examples");
    let follow = examples.join("models/passage/Follow.emam");
    let ran = convert(&project, &[follow.to_str().expect("a path"), "follow.fmu", "--step", "20 ms"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let text = std::fs::read_to_string(examples.join("passage.toml")).expect("the example is there");
    let (before, after) = ("file = \"models/passage/Follow.emam\"", follow.display().to_string());
    project.write("model.toml", &text.replace(before, &format!("file = {after:?}")));
    project.write("fmu.toml", &text.replace(before, "file = \"follow.fmu\""));
    let ((code, by_model), (_, by_fmu)) = (project.json(&["run", "model.toml"]), project.json(&["run", "fmu.toml"]));
    assert_eq!((code, &by_fmu["verdict"]), (0, &json!("completed")), "{by_model} {by_fmu}");
    for name in ["tick", "worst_clearance_m"] {
        assert_eq!(by_model[name], by_fmu[name], "{name}");
    }
    // Its bytes mean the same in every process, so states merge without a key.
    assert_eq!((&by_fmu["driver"]["support"], &by_fmu["driver"]["merging"]), (&json!("save"), &json!("bytes")));
    project.write("Servo.emam", SERVO);
    assert_eq!(convert(&project, &["Servo.emam", "servo.fmu"]).code, 0);
    let line = "driver = \"path-follower\"\nactuator = { file = \"servo.fmu\", memoryless = true }";
    let lines = text.lines().map(|old| if old.starts_with("driver ") { line } else { old });
    project.write("servo.toml", &lines.collect::<Vec<_>>().join("\n"));
    let (code, by_servo) = project.json(&["run", "servo.toml"]);
    assert_eq!((code, &by_servo["verdict"]), (0, &json!("completed")), "{by_servo}");
}

/// A steering that turns by at most half a radian in a second. Nobody gives the cycle: the step of the FMU is taken.
const SERVO: &str = "component Servo(Q(0 s : 1 s) cycle_s) {
    ports in Q(-90° : 90°) command_steer,
        in Q(-oo m/s^2 : oo m/s^2) command_accel,
        in Q(-90° : 90°) car_steer,
        out Q(-90° : 90°) steer,
        out Q(-10 m/s^2 : 10 m/s^2) accel;
    implementation Math {
        Q(-oo 1/s : oo 1/s) rate = saturate((command_steer - car_steer) / cycle_s, -0.5, 0.5);
        steer = car_steer + rate * cycle_s;
        accel = saturate(command_accel, -7, 2);
    }
}
";

#[test]
fn what_cannot_be_exported_is_refused_by_name_and_place() {
    let project = project();
    project.write(
        "Nearest.emam",
        "// The nearest point of a line.\ncomponent Nearest {\n    ports in Q p, out Q x;\n    implementation Math {\n        \
         minimize Q(0:2) z;\n        in Q d = (z - p)^2;\n        subject to\n            z <= 1;\n        end\n        x = z;\n    }\n}\n",
    );
    let (code, error) = project.json(&["convert", "Nearest.emam", "nearest.fmu"]);
    let told = &error["diagnostics"][0];
    assert_eq!(
        (code, &told["code"], &told["line"], &told["column"]),
        (2, &json!("L307"), &json!(2), &json!(11)),
        "{error}"
    );
    assert_eq!(told["message"], "step nearest uses an optimisation, which is not exported");
    let refused = [
        (convert(&project, &["Mixed.emam", "mixed.c", "--step", "20 ms"]), "--step is for .fmu files"),
        (convert(&project, &["Mixed.emam", "mixed.fmu", "--step", "20"]), "a time with its unit"),
        (
            Ran::of(project.command(&["convert", "Mixed.emam", "mixed.fmu"]).env("CC", "no-such-cc").output().unwrap()),
            "install one",
        ),
    ];
    for (ran, part) in refused {
        assert!(ran.code == 2 && ran.err.contains(part), "{part} in {ran:?}");
    }
    assert!(!project.file("mixed.fmu").exists() && !project.file("nearest.fmu").exists());
}
