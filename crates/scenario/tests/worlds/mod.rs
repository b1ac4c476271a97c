//! Small worlds with random numbers whose truth can be computed by running every error sequence.

use anabranch_kernel::{Chance, Seed};
use anabranch_scenario::Drive;
use anabranch_scenario::file::{Hooks, read_scenario};

/// Half the width of the car.
pub const HALF_WIDTH_M: f64 = 0.9;

/// A car reversing with random gains, lag, jump and start between walls so far from the middle; `None` if they stand in
/// the car.
pub fn world_with_walls(n: u64, wall_m: f64) -> Option<Drive> {
    let chance = Chance::new(Seed(2026), "truth").at(n);
    let between = |k: u64, low: f64, high: f64| low + (high - low) * chance.uniform(k);
    let text = format!(
        r#"
schema = "anabranch/1"
name = "truth-{n}"
[world]
step = "10 ms"
[[world.wall]]
line = [["-60 m", "{wall_m:.6} m"], ["20 m", "{wall_m:.6} m"]]
[[world.wall]]
line = [["-60 m", "-{wall_m:.6} m"], ["20 m", "-{wall_m:.6} m"]]
[ego]
vehicle = {{ base = "compact", steering_lag = "{lag:.3} s", steering_rate_max = "{rate:.3} rad/s" }}
start = {{ x = "0 m", y = "{y:.4} m", heading = "{heading:.4} rad" }}
goal = {{ x = "-30 m", y = "0 m", gear = "reverse" }}
driver = {{ kind = "path-follower", lateral_gain = "{k1:.3} 1/m^2", heading_gain = "{k2:.3} 1/m", cycle = "20 ms" }}
path = [{{ length = "-30 m" }}]
[[error]]
id = "jump"
on = "ego.localisation"
jump = {{ radius = "{radius:.3} m", directions = 2 }}
[explore]
segment = "1 s"
until = "8 s"
merge = {{ x = "0.1 m", y = "0.1 m", heading = "0.02 rad" }}
[[must]]
id = "no-contact"
never = "ego.clearance <= 0 m"
"#,
        lag = between(0, 0.05, 0.4),
        rate = between(1, 0.4, 0.9),
        y = between(2, -0.2, 0.2),
        heading = between(3, -0.04, 0.04),
        k1 = between(4, 0.3, 3.0),
        k2 = between(5, 0.8, 2.5),
        radius = between(6, 0.08, 0.2),
    );
    match read_scenario("truth.toml", text.as_bytes(), &Hooks::default()) {
        Ok((_, spec)) => Some(Drive::assemble(&spec).unwrap()),
        Err(problems) => {
            let problems = problems.to_string();
            assert!(problems.contains("the car touches"), "{problems}");
            None
        }
    }
}
