//! A system of one's own in 40 lines: something slides along a line and is pushed about. Which pushes drive it into a wall?

use anabranch::{
    Choice, Danger, ErrorSpace, Fault, KeyWriter, Params, Seed, SegmentEnd, Settings, System, Trouble, Variable, Watch,
    explore,
};

struct Slider {
    errors: ErrorSpace,
    variables: Vec<Variable>,
    requirements: Vec<String>,
}

impl System for Slider {
    /// Position and speed.
    type State = [f64; 2];

    fn errors(&self) -> &ErrorSpace {
        &self.errors
    }
    fn variables(&self) -> &[Variable] {
        &self.variables
    }
    fn requirements(&self) -> &[String] {
        &self.requirements
    }
    fn start(&self, _: Seed, _: &Params) -> Result<[f64; 2], Fault> {
        Ok([0.0, 0.0])
    }
    fn run(&self, s: &mut [f64; 2], choice: Choice, watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
        for tick in 0..10 {
            // A push, a weak spring towards the middle, some friction.
            s[1] += ([0.0, -0.15, 0.15][choice.index()] - 0.2 * s[0] - 0.1 * s[1]) * 0.1;
            s[0] += s[1] * 0.1;
            watch.margin = watch.margin.min(1.0 - s[0].abs());
            if s[0].abs() > 1.0 {
                return Ok(SegmentEnd::violated(0, tick));
            }
        }
        Ok(SegmentEnd::Open)
    }
    fn cell(&self, s: &[f64; 2], key: &mut KeyWriter<'_>) {
        key.real(0, s[0]);
        key.real(1, s[1]);
    }
    fn danger(&self, s: &[f64; 2]) -> Danger {
        Danger { worst: s[0].abs(), ..Danger::default() }
    }
}

fn main() -> Result<(), Trouble> {
    let slider = Slider {
        errors: ErrorSpace::of_one_site("push", &["none", "left", "right"]),
        variables: vec![Variable::real("x", "m", 0.05), Variable::real("v", "m/s", 0.05)],
        requirements: vec!["no-wall".to_owned()],
    };
    let settings = Settings { rollouts: 1000, ..Settings::new(&slider.variables, false) };
    let explored = explore(&slider, settings)?;
    let (progress, coverage) = (&explored.outcome.progress, &explored.outcome.coverage);
    println!("{} segments, {} states, {} merged", progress.segments, progress.states, progress.merged);
    println!(
        "{} findings; of {} random runs {} stayed inside",
        explored.findings.len(),
        coverage.rollouts,
        coverage.runs_inside
    );
    println!("constant errors that violate alone: {}", explored.outcome.constant_errors_violate.len());
    println!("shortest: {}", explored.findings[0]);
    Ok(())
}
