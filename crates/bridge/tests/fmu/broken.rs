//! FMUs that are broken, hostile, or do not fit: each is told by kind, with its place. What would end the process is
//! tested from outside, in the tests of the command line.

use anabranch_bridge::fmu::{ArchiveLimits, Fmu, FmuBlock, FmuError, FmuInstance, FmuMapping, KeyCell, Package};
use anabranch_bridge::protocol::PathSeen;
use anabranch_bridge::{Answer, Begin, Instance, Kind, Op, Seen, Support};

use crate::make::{Made, Recipe, pack};

const STATE: &str = "canGetAndSetFMUstate=\"true\" canGetAndSetFMUState=\"true\"";
const BYTES: &str = "canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\"";

fn open(made: &Made) -> Result<Package, FmuError> {
    Package::open(&made.path, &ArchiveLimits::default())
}

fn driver(recipe: &Recipe, mapping: &FmuMapping) -> Result<FmuInstance, FmuError> {
    FmuInstance::new(open(&recipe.make())?, mapping)
}

fn mode(mode: u8) -> FmuMapping {
    FmuMapping { parameters: [("mode".to_owned(), f64::from(mode))].into(), ..FmuMapping::default() }
}

fn ask(instance: &mut dyn Instance, ops: &[Op]) -> Vec<Answer> {
    let mut answers = Vec::new();
    instance.exchange(ops, &mut answers).expect("no misbehaviour of the whole instance");
    answers
}

fn reset(branch: u32) -> Op {
    Op::Reset { branch, begin: Box::new(Begin { cycle_s: 0.1, ..Begin::default() }) }
}

fn step(branch: u32) -> Op {
    let path = PathSeen { lateral: 0.5, ..PathSeen::default() };
    Op::Step { branch, seen: Box::new(Seen { path, speed: 1.0, ..Seen::default() }) }
}

#[track_caller]
fn check_refused(made: &Made, expect: &str) {
    let error = open(made).map(|_| ()).expect_err("refused");
    let told = error.to_string();
    assert!(told.contains(expect), "{told}");
    assert_eq!(error.into_misbehaviour().kind, Kind::NoStart);
}

#[test]
fn archives_that_are_no_fmus_are_refused_with_the_reason() {
    let recipe = Recipe::rogue(2, "");
    let description = recipe.description.as_bytes();
    check_refused(&pack(&[("readme.txt", b"hello")]), "there is no modelDescription.xml inside");
    check_refused(&pack(&[("modelDescription.xml", b"<fmi")]), "modelDescription.xml:1:");
    check_refused(&pack(&[("modelDescription.xml", description)]), "there is no binaries/linux64/rogue.so");
    let windows = pack(&[("modelDescription.xml", description), ("binaries/win64/rogue.dll", b"MZ")]);
    check_refused(&windows, "it has `win64`");
    let escape = pack(&[("modelDescription.xml", description), ("resources/../../escaped.txt", b"out")]);
    check_refused(&escape, "`resources/../../escaped.txt` leads out of the archive");
    check_refused(&pack(&[("/tmp/absolute", b"out")]), "leads out of the archive");
}

#[test]
fn a_small_file_that_unpacks_to_a_large_one_is_stopped_at_the_limit() {
    let zeros = vec![0_u8; 8 << 20];
    let description = Recipe::rogue(2, "").description;
    let bomb = pack(&[("modelDescription.xml", description.as_bytes()), ("resources/zeros", &zeros)]);
    assert!(std::fs::metadata(&bomb.path).expect("there").len() < 100_000);
    let limits = ArchiveLimits { bytes_max: 1 << 20, files_max: 10 };
    let told = Package::open(&bomb.path, &limits).expect_err("too large").to_string();
    assert!(told.contains("unpacks to more than 1 MB (at `resources/zeros`)"), "{told}");
    let names: Vec<String> = (0..11).map(|index| format!("sources/{index}.c")).collect();
    let many: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), b"".as_slice())).collect();
    let told = Package::open(&pack(&many).path, &limits).expect_err("too many").to_string();
    assert!(told.contains("11 files inside, more than 10"), "{told}");
}

#[test]
fn binaries_that_do_not_fit_the_description_are_refused_by_name() {
    let check = |recipe: Recipe, expect: &str| {
        let error = driver(&recipe, &FmuMapping::default()).expect_err("refused");
        let told = error.to_string();
        assert!(told.contains(expect), "{told}");
        assert_eq!(error.into_misbehaviour().kind, Kind::NoStart);
    };
    let broken = pack(&[
        ("modelDescription.xml", Recipe::rogue(2, "").description.as_bytes()),
        ("binaries/linux64/rogue.so", b"\x7fELF is all there is"),
    ]);
    let error = open(&broken).and_then(|package| Fmu::load(package).map(|_| ())).expect_err("refused");
    assert!(matches!(&error, FmuError::Library { .. }), "{error}");
    let flagged = |version, claims, flag| Recipe { flags: vec![flag], ..Recipe::rogue(version, claims) };
    check(flagged(2, "", "-DNO_STEP"), "the binary lacks `fmi2DoStep`");
    check(flagged(3, "", "-DNO_STEP"), "the binary lacks `fmi3DoStep`");
    check(flagged(2, STATE, "-DNO_STATE"), "lacks `fmi2GetFMUstate`, `fmi2SetFMUstate`, `fmi2FreeFMUstate`");
    check(flagged(2, BYTES, "-DNO_BYTES"), "lacks `fmi2SerializedFMUstateSize`, `fmi2SerializeFMUstate`");
    // What is not claimed may be missing.
    assert!(driver(&flagged(2, "", "-DNO_STATE"), &FmuMapping::default()).is_ok());
    let mut other = Recipe::rogue(2, "");
    other.description = other.description.replace("{anabranch-example}", "{other}");
    check(other, "refuses to be instantiated; it logged: the token is {other} instead of {anabranch-example}");
}

#[test]
fn variables_that_do_not_fit_are_told_with_their_line_and_what_there_is() {
    let check = |change: &dyn Fn(&mut Recipe, &mut FmuMapping), expect: &str| {
        let (mut recipe, mut mapping) = (Recipe::rogue(2, ""), FmuMapping::default());
        change(&mut recipe, &mut mapping);
        let told = driver(&recipe, &mapping).expect_err("does not fit").to_string();
        assert!(told.contains(expect), "{told}");
    };
    let rename = |from: &'static str, to: &'static str| {
        move |recipe: &mut Recipe, _: &mut FmuMapping| recipe.description = recipe.description.replace(from, to)
    };
    let unit = |unit: &'static str| {
        move |recipe: &mut Recipe, _: &mut FmuMapping| {
            let from = "valueReference=\"2\" causality=\"input\"><Real/>";
            let to = format!("valueReference=\"2\" causality=\"input\"><Real unit=\"{unit}\"/>");
            recipe.description = recipe.description.replace(from, &to);
        }
    };
    check(
        &rename("path.lateral", "e"),
        "modelDescription.xml:4: the input `e` gets nothing: a driver sees no `e`; it sees",
    );
    check(&rename("\"steer\"", "\"delta\""), "no output gives `steer`; the outputs of the FMU are `delta`, `accel`");
    check(&unit("furlong"), "`speed` has the unit `furlong`, which the FMU does not define");
    check(&unit("kg"), "`speed` has the unit `kg`, which");
    check(&unit("m"), "which measures a length, but a speed is wanted");
    check(&|_, mapping| mapping.add_input("speed=velocity").expect("good"), "a driver sees no `velocity`");
    check(
        &|_, mapping| mapping.add_input("steer=speed").expect("good"),
        "`steer` is no input of the FMU; its inputs are",
    );
    check(&|_, mapping| mapping.add_output("steer=wheel").expect("good"), "a driver decides no `wheel`");
    check(&|_, mapping| mapping.add_key("memory"), "the FMU has no variable `memory`; it has `path.lateral`");
}

#[test]
fn names_and_units_are_converted_by_mapping_and_definition() {
    let mut recipe = Recipe::rogue(2, "");
    let definition = "<UnitDefinitions><Unit name=\"kmh\"><BaseUnit m=\"1\" s=\"-1\" factor=\"0.27777777777777779\"/></Unit>\
                      </UnitDefinitions><ModelVariables>";
    recipe.description = recipe
        .description
        .replace("\"path.lateral\"", "\"e\"")
        .replace("\"steer\"", "\"delta\"")
        .replace("<ModelVariables>", definition)
        .replace(
            "valueReference=\"2\" causality=\"input\"><Real/>",
            "valueReference=\"2\" causality=\"input\"><Real unit=\"kmh\"/>",
        )
        .replace(
            "valueReference=\"11\" causality=\"output\"><Real/>",
            "valueReference=\"11\" causality=\"output\"><Real unit=\"deg\"/>",
        );
    let mut mapping = FmuMapping::default();
    mapping.add_input("e=path.lateral").expect("good");
    mapping.add_output("delta=steer").expect("good");
    mapping.key = vec![KeyCell { name: "sum".to_owned(), cell: Some(0.5) }];
    let mut instance = driver(&recipe, &mapping).expect("a driver");
    let answers = ask(&mut instance, &[reset(0), step(0)]);
    let Answer::Decision(decision) = &answers[1] else { panic!("{answers:?}") };
    // One step of 0.1 s half a metre beside the path: sum 0.05, steering 0.0005 degrees; 1 m/s is 3.6 km/h.
    assert!((decision.steer - 0.0005_f64.to_radians()).abs() < 1e-15, "{decision:?}");
    assert!((decision.accel + 3.6).abs() < 1e-12, "{decision:?}");
    assert!((decision.key[0] - 0.05).abs() < 1e-15);
    assert_eq!((instance.card().key[0].cell, instance.card().support), (Some(0.5), Support::Replay));
}

/// The answers to three steps and one more, of a driver that misbehaves in the third.
fn third_step(version: u8, claims: &str, number: u8) -> Vec<Answer> {
    let mut instance = driver(&Recipe::rogue(version, claims), &mode(number)).expect("a driver");
    ask(&mut instance, &[reset(0), step(0), step(0), step(0), reset(0), step(0)])
}

#[test]
fn a_step_that_fails_concerns_its_branch_and_no_other() {
    for version in [2, 3] {
        for claims in ["", STATE, "canBeInstantiatedOnlyOncePerProcess=\"true\""] {
            for (number, expect) in [
                (6, "returned discard"),
                (7, "returned error; it logged: mode 7 after 3 steps, so there"),
                (11, "the gear is 7; it must be 1, -1 or 0"),
                (18, "`completed` is not a number"),
            ] {
                let answers = third_step(version, claims, number);
                assert!(matches!(&answers[2], Answer::Decision(_)), "{answers:?}");
                assert!(matches!(&answers[3], Answer::Failed { text } if text.contains(expect)), "{answers:?}");
                assert!(matches!(&answers[5], Answer::Decision(_)), "goes on after a reset: {answers:?}");
            }
        }
        // Numbers that are none are left to the checks that every link shares.
        let answers = third_step(version, STATE, 5);
        assert!(matches!(&answers[3], Answer::Decision(decision) if decision.steer.is_nan()), "{answers:?}");
    }
}

#[test]
fn a_fatal_status_ends_the_instance() {
    for number in [8, 9] {
        let mut instance = driver(&Recipe::rogue(2, STATE), &mode(number)).expect("a driver");
        let wrong = instance.exchange(&[reset(0), step(0), step(0), step(0)], &mut Vec::new()).expect_err("fatal");
        assert_eq!(wrong.kind, Kind::Crash, "{wrong}");
        assert!(wrong.text.contains("fmi2DoStep from 0.2 s for 0.1 s returned"), "{wrong}");
    }
}

#[test]
fn states_that_are_promised_and_not_given_are_told_when_somebody_saves() {
    for (number, expect) in [(31, "claims to save states, but gives none"), (32, "taking the state out returned error")]
    {
        let mut instance = driver(&Recipe::rogue(2, STATE), &mode(number)).expect("a driver");
        let answers = ask(&mut instance, &[reset(0), step(0), Op::Save { branch: 0, token: 1 }]);
        assert!(matches!(&answers[1], Answer::Decision(_)), "{answers:?}");
        assert!(matches!(&answers[2], Answer::Failed { text } if text.contains(expect)), "{answers:?}");
    }
    let mut instance = driver(&Recipe::rogue(3, STATE), &mode(34)).expect("a driver");
    let answers = ask(&mut instance, &[reset(0), step(0)]);
    assert!(matches!(&answers[1], Answer::Failed { text } if text.contains("putting a state back")), "{answers:?}");
    let mut without = driver(&Recipe::rogue(2, ""), &mode(0)).expect("a driver");
    let answers = ask(&mut without, &[reset(0), Op::Save { branch: 0, token: 1 }, Op::Load { token: 1, branch: 0 }]);
    assert!(
        answers[1..].iter().all(|answer| matches!(answer, Answer::Failed { text } if text.contains("cannot save")))
    );
}

#[test]
fn a_state_that_is_not_the_whole_memory_shows_when_it_is_loaded_twice() {
    let mut instance = driver(&Recipe::rogue(2, STATE), &mode(16)).expect("a driver");
    ask(&mut instance, &[reset(0), step(0), step(0), step(0), Op::Save { branch: 0, token: 1 }]);
    let load = Op::Load { token: 1, branch: 0 };
    let answers = ask(&mut instance, &[load.clone(), step(0), load, step(0)]);
    assert_ne!(answers[1], answers[3]);
}

#[test]
fn bytes_of_states_are_used_only_where_they_mean_the_same_everywhere() {
    let mut instance = driver(&Recipe::rogue(2, BYTES), &mode(0)).expect("a driver");
    assert!(instance.card().saves_bytes);
    let save = |branch| Op::Save { branch, token: branch };
    let answers = ask(&mut instance, &[reset(0), step(0), save(0), reset(1), step(1), save(1), reset(2), save(2)]);
    assert_eq!(answers[2], answers[5]);
    assert_ne!(answers[2], answers[7]);
    let mut addresses = Recipe::rogue(2, BYTES);
    addresses.flags.push("-DMODEL_HAS_ADDRESS");
    assert!(!driver(&addresses, &mode(0)).expect("a driver").card().saves_bytes);
    let key = vec![KeyCell { name: "sum".to_owned(), cell: None }];
    let keyed = driver(&Recipe::rogue(2, BYTES), &FmuMapping { key, ..mode(0) }).expect("a driver");
    assert!(!keyed.card().saves_bytes, "a key says more than bytes");
}

#[test]
fn a_block_is_set_stepped_read_saved_and_loaded_by_hand() {
    for version in [2, 3] {
        let fmu = Fmu::load(open(&Recipe::rogue(version, STATE).make()).expect("an FMU")).expect("loaded");
        let mut block = FmuBlock::new(&fmu, &[("at", 100.0)]).expect("a block");
        block.set("path.lateral", 2.0).expect("set");
        block.step(0.5).expect("stepped");
        let saved = block.save().expect("saved");
        block.step(0.5).expect("stepped");
        assert_eq!((block.get("sum").expect("read"), block.time_s()), (2.0, 1.0));
        block.load(&saved).expect("loaded");
        assert_eq!((block.get("sum").expect("read"), block.time_s()), (1.0, 0.5));
        let told = block.get("summ").expect_err("unknown").to_string();
        assert!(told.contains("there is no variable `summ`"), "{told}");
    }
}
