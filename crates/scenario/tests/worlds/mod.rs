//! Small worlds with random numbers whose truth can be computed by running every error sequence.

pub mod reversing;

use anabranch_kernel::Seed;
use anabranch_scenario::Drive;
use anabranch_scenario::file::{Hooks, read_scenario};

use reversing::Ranges;

/// From calm to wild.
const TRUTH: Ranges = Ranges {
    seed: Seed(2026),
    name: "truth",
    lag_s: [0.05, 0.4],
    rate_radps: [0.4, 0.9],
    y_m: [-0.2, 0.2],
    heading_rad: [-0.04, 0.04],
    lateral_gain: [0.3, 3.0],
    heading_gain: [0.8, 2.5],
    radius_m: [0.08, 0.2],
    merge: r#"x = "0.1 m", y = "0.1 m", heading = "0.02 rad""#,
};

/// Half the width of the car.
pub const HALF_WIDTH_M: f64 = 0.9;

/// A car reversing with random gains, lag, jump and start between walls so far from the middle; `None` if they stand in
/// the car.
pub fn world_with_walls(n: u64, wall_m: f64) -> Option<Drive> {
    let text = TRUTH.text(n, wall_m);
    match read_scenario("truth.toml", text.as_bytes(), &Hooks::default()) {
        Ok((_, spec)) => Some(Drive::assemble(&spec).unwrap()),
        Err(problems) => {
            let problems = problems.to_string();
            assert!(problems.contains("the car touches"), "{problems}");
            None
        }
    }
}
