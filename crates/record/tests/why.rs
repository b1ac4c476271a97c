//! The picture of an explanation is well-formed, names its units, and shows every error and every end.
//! Its PNG is left in the target folder for people to look at.

use std::path::Path;

use anabranch_kernel::{Choice, Digest, ErrorSpace};
use anabranch_record::picture::{Why, WhyError, WhyRun, png, why_plot};
use anabranch_record::{ErrorRun, Finding};

fn run(label: &str, errors: &[(f64, &str, bool)], end_s: f64, violated_s: Option<f64>) -> WhyRun {
    let error = |&(from_s, label, matters): &(f64, &str, bool)| WhyError {
        from_s,
        to_s: from_s + 1.0,
        label: label.to_owned(),
        matters,
    };
    let ticks = (end_s * 100.0) as u32;
    let margin = |tick: u32| {
        let share = f64::from(tick) / f64::from(ticks);
        let low = if violated_s.is_some() { 0.0 } else { 0.3 };
        [f64::from(tick) * 0.01, 0.6 - (0.6 - low) * share * share]
    };
    WhyRun {
        label: label.to_owned(),
        margin: (0..=ticks).map(margin).collect(),
        errors: errors.iter().map(error).collect(),
        violated_s,
    }
}

fn why() -> Why {
    let found = [(0.0, "rear-right 0.1 m", false), (1.0, "left 0.1 m", true), (4.0, "<right> & 0.1 m", true)];
    Why {
        title: "made up: why `no-contact` is violated".to_owned(),
        subtitle: "2 erroneous segments are enough.".to_owned(),
        margin_title: "clearance [m]".to_owned(),
        runs: vec![
            run("found", &found, 6.0, Some(6.0)),
            run("smallest", &[(2.0, "left 0.1 m", true), (4.0, "right 0.1 m", true)], 7.0, Some(7.0)),
            run("nearest that passes", &[(2.0, "left 0.1 m", true)], 9.5, None),
        ],
        no_return_s: Some(4.0),
    }
}

#[test]
fn every_run_and_the_point_of_no_return_are_in_the_picture() {
    let svg = why_plot(&why());
    let document = roxmltree::Document::parse(&svg).expect("well-formed");
    let texts: Vec<String> = document.descendants().filter_map(|n| n.text().map(str::to_owned)).collect();
    for text in ["found", "smallest", "nearest that passes", "point of no return", "clearance [m]", "time [s]"] {
        assert!(texts.iter().any(|t| t == text), "{text} in {texts:?}");
    }
    // Two runs end with a cross in the plot and one in their lane.
    let crosses = |red: &str| {
        let of = |n: &roxmltree::Node<'_, '_>| n.attribute("d").is_some_and(|d| d.matches('M').count() == 2);
        document.descendants().filter(of).filter(|n| n.attribute("stroke") == Some(red)).count()
    };
    assert_eq!([crosses("#b35c00"), crosses("#c4211a"), crosses("#0072b2")], [2, 2, 0]);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("why.png");
    std::fs::write(&file, png(&svg, 1.5).unwrap()).unwrap();
}

#[test]
fn nothing_to_draw_is_no_reason_to_fail() {
    let empty = Why { runs: Vec::new(), no_return_s: None, ..why() };
    assert!(why_plot(&empty).starts_with("<svg"));
    let mut unbounded = why();
    unbounded.runs[0].margin = vec![[0.0, f64::INFINITY], [1.0, f64::INFINITY]];
    let svg = why_plot(&unbounded);
    assert!(!svg.contains("inf") && !svg.contains("NaN"), "{svg}");
    png(&svg, 1.0).unwrap();
}

#[test]
fn the_errors_of_a_smallest_counterexample_are_marked_as_needed() {
    let space = ErrorSpace::of_one_site("jump", &["none", "left", "right"]);
    let choices = [0, 1, 1, 0, 2].map(Choice);
    let mut finding = Finding::new("made-up", Digest::of(b"text"), 1.0);
    finding.errors = ErrorRun::group_needed(&space, &choices);
    let marks: Vec<Option<bool>> = finding.errors.iter().map(|run| run.matters).collect();
    assert_eq!(marks, [None, Some(true), None, Some(true)]);
    let again = Finding::from_toml(&finding.to_toml()).unwrap();
    assert_eq!(again.choices(&space).unwrap(), choices);
    assert_eq!(again.errors[1].matters, Some(true));
}
