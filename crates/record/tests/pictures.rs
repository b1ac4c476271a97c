//! Pictures are well-formed, name their units and keep every failing path.
//! Their PNGs are left in the target folder for people to look at.

use std::collections::BTreeSet;
use std::path::Path;

use anabranch_record::picture::{
    Crop, FailingPath, Inset, LabelledPose, LevelRow, Levels, Marking, Moment, Paint, Profile, Savings, SavingsRow,
    Scene, Share, level_plot, png, profile_bars, savings_plot, scene_picture,
};

/// A small car with cut corners.
fn outline() -> Vec<[f64; 2]> {
    vec![[3.6, 0.5], [3.4, 0.85], [-0.6, 0.9], [-0.85, 0.6], [-0.85, -0.6], [-0.6, -0.9], [3.4, -0.85], [3.6, -0.5]]
}

/// One second backwards: the car closes half of the gap to where it believes the lane is.
fn second([x, y, heading]: [f64; 3], offset_m: f64) -> Vec<[f64; 3]> {
    let goal = -offset_m * 3.0;
    (1..=5)
        .map(|k| {
            let s = f64::from(k) / 5.0;
            let eased = s * s * (3.0 - 2.0 * s);
            let turn = (y - goal) * 0.26;
            [x - s, y + (goal - y) * 0.42 * eased, heading + (turn - heading) * eased]
        })
        .collect()
}

fn passage() -> Scene {
    let offsets = [0.0, 0.1, -0.1];
    let (mut nodes, mut segments) = (vec![[0.0, 0.0]], Vec::new());
    let mut level = vec![[0.0, 0.0, 0.0]];
    for _ in 0..17 {
        let mut cells = BTreeSet::new();
        let mut next = Vec::new();
        for state in &level {
            for offset in offsets {
                let path = second(*state, offset);
                let end = path[4];
                segments.push([&[*state][..], &path].concat().iter().map(|p| [p[0] as f32, p[1] as f32]).collect());
                if cells.insert(((end[1] / 0.02).round() as i64, (end[2] / 0.01).round() as i64)) {
                    nodes.push([end[0] as f32, end[1] as f32]);
                    next.push(end);
                }
            }
        }
        level = next;
    }
    let mut poses = vec![[0.0, 0.0, 0.0]];
    for offset in [0.0, 0.0, 0.0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, -0.1, -0.1] {
        let last = *poses.last().unwrap();
        poses.extend(second(last, offset));
    }
    Scene {
        title: "Narrow passage (made-up data)".into(),
        subtitle:
            "Reversing into a 2.3 m wide passage; the position estimate may be off by 0.1 m and jump at any second."
                .into(),
        surfaces: Vec::new(),
        markings: Vec::new(),
        polylines: vec![vec![[-30.0, 1.15], [-1.0, 1.15]], vec![[-30.0, -1.15], [-1.0, -1.15]]],
        polygons: vec![],
        outline: outline(),
        planned: vec![[0.0, 0.0], [-17.0, 0.0]],
        poses: vec![LabelledPose { pose: [0.0, 0.0, 0.0], label: "start".into() }],
        nodes,
        segments,
        failing: vec![FailingPath { contact: Some([-13.47, 1.13]), poses, ..FailingPath::default() }],
        inset: Inset::Auto,
        crop: Crop::Whole,
    }
}

fn parking() -> Scene {
    let curve = |lateral: f64| -> Vec<[f64; 3]> {
        (0..=40)
            .map(|k| {
                let angle = f64::from(k) / 40.0 * 1.5;
                let radius = 6.0 + lateral * f64::from(k) / 40.0;
                let (sin, cos) = (
                    angle - angle.powi(3) / 6.0 + angle.powi(5) / 120.0,
                    1.0 - angle.powi(2) / 2.0 + angle.powi(4) / 24.0 - angle.powi(6) / 720.0,
                );
                [-radius * sin, -radius * (1.0 - cos), angle]
            })
            .collect()
    };
    let flat = |path: &[[f64; 3]]| path.iter().map(|p| [p[0] as f32, p[1] as f32]).collect::<Vec<_>>();
    let paths: Vec<Vec<[f64; 3]>> = (-12..=12).map(|k| curve(f64::from(k) * 0.035)).collect();
    let failing = curve(0.44);
    Scene {
        title: "Curved parking (made-up data)".into(),
        subtitle: "Reversing into a bay between two parked cars.".into(),
        surfaces: Vec::new(),
        markings: Vec::new(),
        polylines: vec![vec![[-14.0, 2.6], [8.0, 2.6]]],
        polygons: vec![
            vec![[-10.4, -11.0], [-7.5, -11.0], [-7.5, -5.2], [-10.4, -5.2]],
            vec![[-4.6, -11.0], [-1.8, -11.0], [-1.8, -5.2], [-4.6, -5.2]],
        ],
        outline: outline(),
        planned: vec![],
        poses: vec![
            LabelledPose { pose: [0.0, 0.0, 0.0], label: "start".into() },
            LabelledPose { pose: [-6.05, -7.6, std::f64::consts::FRAC_PI_2], label: "goal".into() },
        ],
        nodes: paths.iter().flat_map(|path| path.iter().step_by(10).map(|p| [p[0] as f32, p[1] as f32])).collect(),
        segments: paths.iter().map(|path| flat(path)).collect(),
        failing: vec![FailingPath { contact: Some([-7.4, -6.4]), poses: failing, ..FailingPath::default() }],
        inset: Inset::Auto,
        crop: Crop::Whole,
    }
}

fn savings() -> Savings {
    let rows = (1..=22).map(f64::from).map(|n| SavingsRow {
        n_s: n,
        saved_s: (9.0 * n * n).min(220.0 * n - 420.0).max(9.0 * n),
        replayed_s: 9.0 * n + 110.0 * n * n * (n / 22.0),
    });
    Savings { title: "What saved states save (made-up data)".into(), rows: rows.collect(), unmerged_s: 2.2e16 }
}

fn profile() -> Profile {
    let share = |name: &str, cpu_s| Share { name: name.into(), cpu_s };
    let shares = [("simulate", 41.2), ("save + restore", 1.3), ("key + merge", 0.9), ("danger", 0.4), ("other", 1.7)];
    Profile {
        title: "CPU profile of the exploration (made-up data)".into(),
        shares: shares.map(|(n, s)| share(n, s)).to_vec(),
    }
}

fn levels() -> Levels {
    let row = |level: u32| LevelRow {
        level,
        states: u64::from(9_u32.pow(level.min(3)).min(620 - 9 * level)),
        merged: u64::from(if level < 2 { 0 } else { 9 * (620 - 9 * level) - 40 * level }),
        worst_clearance_m: if level == 0 { f64::INFINITY } else { 0.46 - 0.0021 * f64::from(level * level).min(260.0) },
    };
    Levels { title: "Levels (made-up data)".into(), rows: (0..=20).map(row).collect() }
}

fn texts(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).expect("well-formed XML");
    document.descendants().filter(|n| n.has_tag_name("text")).filter_map(|n| n.text()).map(str::to_owned).collect()
}

fn check(name: &str, svg: &str, expected_texts: &[&str]) {
    let texts = texts(svg);
    for expected in expected_texts {
        assert!(texts.iter().any(|text| text.contains(expected)), "{name}: no text with `{expected}` in {texts:?}");
    }
    let bytes = png(svg, 1.5).unwrap();
    assert!(bytes.starts_with(b"\x89PNG"));
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png")), bytes).unwrap();
}

#[test]
fn the_passage_has_axes_scale_bar_legend_and_inset() {
    let svg = scene_picture(&passage());
    check("passage", &svg, &["x [m]", "y [m]", "saved state", "planned path", "failing path", "contact at (", "start"]);
}

#[test]
fn the_parking_scene_puts_the_inset_beside_the_map() {
    check("parking", &scene_picture(&parking()), &["x [m]", "obstacle", "goal"]);
}

/// A car on a road of 1 200 m that has driven 60 m of it and meets another one.
fn road() -> Scene {
    let rectangle =
        |x: f64, y: f64| vec![[x + 2.2, y + 0.9], [x - 2.2, y + 0.9], [x - 2.2, y - 0.9], [x + 2.2, y - 0.9]];
    let line = |y: f64, paint| Marking { points: vec![[0.0, y], [1_200.0, y]], paint };
    let moment = |second: u32| {
        let s = f64::from(second);
        Moment {
            label: format!("{second} s"),
            pose: [100.0 + 20.0 * s, 0.0, 0.0],
            others: vec![rectangle(126.0 + 13.0 * s, 0.0)],
        }
    };
    Scene {
        title: "Cut in (made-up data)".into(),
        surfaces: vec![vec![[0.0, -1.75], [1_200.0, -1.75], [1_200.0, 5.25], [0.0, 5.25]]],
        markings: vec![line(-1.75, Paint::Solid), line(1.75, Paint::Broken), line(5.25, Paint::None)],
        polylines: vec![],
        planned: vec![[0.0, 0.0], [1_200.0, 0.0]],
        poses: vec![
            LabelledPose { pose: [100.0, 0.0, 0.0], label: "start".into() },
            LabelledPose { pose: [1_150.0, 0.0, 0.0], label: "goal".into() },
        ],
        nodes: vec![],
        segments: vec![],
        failing: vec![FailingPath {
            poses: (0..=60).map(|m| [100.0 + f64::from(m), 0.0, 0.0]).collect(),
            contact: Some([163.5, 0.0]),
            with: Some("car `cutter`".into()),
            moments: (0..3).map(moment).collect(),
            others: vec![rectangle(150.0, 3.5), rectangle(900.0, 3.5)],
            touched: Some(rectangle(165.7, 0.0)),
        }],
        crop: Crop::Driven,
        ..passage()
    }
}

#[test]
fn a_road_shows_what_was_driven_and_everybody_who_was_there() {
    let svg = scene_picture(&road());
    let expected = ["contact with car `cutter` at (163.50, 0.00) m", "car `cutter`, when touched", "others at the end"];
    check("road", &svg, &[&expected[..], &["lane", "1 s", "2 s"]].concat());
    let texts = texts(&svg);
    assert!(!texts.iter().any(|text| text == "1000" || text == "500"), "the goal is far beyond: {texts:?}");
    let dashed = |dash: &str| svg.matches(&format!("stroke-dasharray=\"{dash}\"")).count();
    assert!(dashed("9 9") >= 2, "broken lines on the map and in the legend");
    let whole = scene_picture(&Scene { crop: Crop::Whole, ..road() });
    roxmltree::Document::parse(&whole).unwrap();
    let texts = self::texts(&whole);
    assert!(texts.iter().any(|text| text.contains("1000") || text.contains("1\u{a0}000")), "{texts:?}");
}

#[test]
fn plots_have_units_and_values() {
    check(
        "savings",
        &savings_plot(&savings()),
        &["length n of a simulation sequence [s]", "2.2\u{a0}×\u{a0}10¹⁶\u{a0}s"],
    );
    check("profile", &profile_bars(&profile()), &["share of CPU time [%]", "save + restore", "2.9\u{a0}%"]);
    check("levels", &level_plot(&levels()), &["worst clearance [m]", "level [segments since the start]", "merged"]);
}

#[test]
fn bundles_are_thinned_out_and_failing_paths_never() {
    let mut scene = passage();
    scene.inset = Inset::Off;
    scene.segments =
        (0..90_000).map(|k| vec![[-(k % 17) as f32, 0.0], [-(k % 17) as f32 - 1.0, k as f32 * 1e-6]]).collect();
    scene.failing = (0..3_000).map(|_| scene.failing[0].clone()).collect();
    let svg = scene_picture(&scene);
    let document = roxmltree::Document::parse(&svg).unwrap();
    let drawn = |colour: &str, width: &str| {
        let of_style = |n: &roxmltree::Node<'_, '_>| {
            n.attribute("stroke") == Some(colour) && n.attribute("stroke-width") == Some(width)
        };
        let paths = document.descendants().filter(of_style).filter_map(|n| n.attribute("d"));
        paths.map(|d| d.matches('M').count()).sum::<usize>()
    };
    assert!((10_000..=20_002).contains(&drawn("#0072b2", "0.9")));
    // And once more in the legend.
    assert_eq!(drawn("#c4211a", "2.6"), 3_001);
    assert!(texts(&svg).iter().any(|text| text.contains("(1 of 5 drawn)")));
}

#[test]
fn empty_and_broken_inputs_still_give_a_picture() {
    let mut scene = passage();
    (scene.nodes, scene.segments, scene.failing, scene.poses, scene.polylines) = Default::default();
    check("empty", &scene_picture(&scene), &["x [m]", "Nothing to show"]);
    scene.title = "<b>&\"\u{1b}[31m".into();
    scene.nodes = vec![[f32::NAN, 0.0], [f32::INFINITY, 1.0], [1.0, 1.0]];
    roxmltree::Document::parse(&scene_picture(&scene)).unwrap();
    let none = Savings { rows: vec![], ..savings() };
    roxmltree::Document::parse(&savings_plot(&none)).unwrap();
    roxmltree::Document::parse(&level_plot(&Levels { rows: vec![], ..levels() })).unwrap();
    roxmltree::Document::parse(&profile_bars(&Profile { shares: vec![], ..profile() })).unwrap();
    assert!(png("not a picture", 1.0).is_err());
}
