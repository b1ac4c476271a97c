//! Drivers from outside on the command line, as far as it goes without one: what is wrong is said where it is written.

use crate::common::Project;

#[test]
fn a_driver_that_is_not_there_is_a_mistake_with_its_place() {
    let project = Project::new();
    let run = project.run(&["run", "pull.toml", "--driver", "missing.py"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.err.contains("E0125") && run.err.contains("missing.py"), "{run:?}");
}

#[test]
fn a_driver_that_does_not_start_is_bad_input_and_says_why() {
    let project = Project::new();
    let ours = "driver = { command = [\"false\"] }";
    project.write("false.toml", &project.read("pull.toml").replace("driver  = \"path-follower\"", ours));
    for verb in ["run", "explore", "check"] {
        let run = project.run(&[verb, "false.toml"]);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.err.contains("the driver cannot be used: no-start"), "{run:?}");
    }
}

#[test]
fn a_built_in_driver_can_take_the_place_of_the_scenarios_own() {
    let project = Project::new();
    let (code, run) = project.json(&["run", "pull.toml", "--driver", "eager"]);
    assert_eq!((code, &run["completed"]), (0, &true.into()), "{run}");
    let (_, usual) = project.json(&["run", "pull.toml"]);
    assert_ne!(run["state_digest"], usual["state_digest"]);
    assert!(run.get("driver").is_none(), "only drivers from outside are told about");
}

#[test]
fn a_grid_comes_in_a_frame_of_its_own_and_channels_are_sampled_as_the_scenario_says() {
    let project = Project::new();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text =
        project.read("pull.toml").replace("driver  = \"path-follower\"", "driver = { file = \"grid.py\", double = 0 }");
    project.write("grid.toml", &text.replace("path    =", "localisation = { cycle = \"1 s\" }\npath    ="));
    project.write(
        "grid.py",
        "import anabranch\n\n\nclass Grid(anabranch.Driver):\n    wants = [\"occupancy\"]\n\n    def reset(self, begin):\n        \
         assert (begin.periods.pose_s, begin.periods.speed_s) == (1.0, 0.01), begin.periods\n        self.poses = []\n\n    \
         def step(self, seen):\n        grid = seen.occupancy\n        assert len(grid.cells) == grid.columns * grid.rows > 0\n        \
         if seen.pose.x not in self.poses:\n            self.poses.append(seen.pose.x)\n        \
         assert len(self.poses) == 1 + seen.tick // 100, (seen.tick, self.poses)\n        \
         return anabranch.Command(accel=1.0 - seen.speed)\n",
    );
    for snapshot in ["copy", "fork"] {
        let mut command = project.command(&["run", "grid.toml", "--format", "json", "--set", "explore.until=\"5 s\""]);
        command.env("ANABRANCH_PYTHON", root.join("target/python-venv/bin/python")).env("ANABRANCH_SNAPSHOT", snapshot);
        let ran = crate::common::Ran::of(command.output().expect("the program starts"));
        let value: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
        assert_eq!((ran.code, &value["driver"]["faults"]), (0, &0.into()), "{snapshot}: {value}");
        assert!(
            value["driver"]["steps"].as_u64() >= Some(500),
            "those of the run, and some to check its promises: {value}"
        );
    }
}

/// Explores a shipped scenario on roads with a driver in Python.
fn on_roads(project: &Project, scenario: &str, until: &str, driver: &std::path::Path) -> (i32, serde_json::Value) {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (file, driver) = (root.join("scenarios").join(scenario).display().to_string(), driver.display().to_string());
    let quick = ["--until", until, "--rollouts", "0", "--refine", "0", "--no-pictures", "--format", "json"];
    let mut command = project.command(&[&["explore", &file, "--driver", &driver], &quick[..]].concat());
    command.env("ANABRANCH_PYTHON", root.join("target/python-venv/bin/python"));
    let ran = crate::common::Ran::of(command.output().expect("the program starts"));
    (ran.code, serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:?}")))
}

#[test]
fn the_lane_keeper_of_the_examples_drives_among_others() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let driver = root.join("examples/lane_keeper.py");
    // With the sudden braking of who cuts in, late sight and weak brakes together its distance is too small.
    let (code, value) = on_roads(&Project::new(), "highway-cut-in.toml", "3 s", &driver);
    assert_eq!((code, &value["driver"]["faults"]), (1, &0.into()), "{value}");
    let groups = value["groups"].as_array().unwrap_or_else(|| panic!("{value}"));
    assert!(groups.iter().all(|group| group["contact"]["other"] == "car `cutter`"), "{value}");
    let (code, value) = on_roads(&Project::new(), "signalised-crossing.toml", "2 s", &driver);
    // There are no random runs, and every sequence of two seconds is run instead.
    assert_eq!((code, &value["findings"], &value["driver"]["faults"]), (0, &0.into(), &0.into()), "{value}");
    assert_eq!((&value["verdict"], &value["soundness"]["kind"]), (&"safe".into(), &"exhaustive".into()), "{value}");
    assert!(value["segments"].as_u64() > Some(10), "{value}");
}

#[test]
fn a_driver_on_roads_is_told_its_route_and_how_often_others_are_looked_for() {
    let project = Project::new();
    project.write(
        "asks.py",
        "import anabranch\n\n\nclass Asks(anabranch.Driver):\n    memoryless = True\n\n    def reset(self, begin):\n        \
         assert begin.periods.objects_s == 0.1, begin.periods\n        \
         assert [leg.lane for leg in begin.route] == [\"main.1\"], begin.route\n        \
         assert begin.route[0].then == \"arrive\"\n\n    def step(self, seen):\n        \
         assert seen.road.lane == \"main.1\" and seen.road.ahead[0].speed_limit > 30.0\n        \
         assert all(abs(thing.vx) < 60.0 for thing in seen.objects)\n        \
         return anabranch.Command(accel=-0.1)\n",
    );
    let (code, value) = on_roads(&project, "highway-cut-in.toml", "1 s", &project.file("asks.py"));
    assert_eq!(value["driver"]["faults"], 0, "{code}: {value}");
}

#[test]
fn nothing_beyond_this_machine_is_connected_to() {
    let project = Project::new();
    let run = project.run(&["run", "pull.toml", "--driver", "tcp://192.0.2.1:5555"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.err.contains("cannot be reached"), "{run:?}");
}
