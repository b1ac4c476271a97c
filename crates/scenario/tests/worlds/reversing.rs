//! The text of a small world: a car reversing between two walls, with an estimate that jumps to either side.

use anabranch_kernel::{Chance, Seed};

/// Between which numbers those of a world are drawn.
pub struct Ranges {
    pub seed: Seed,
    pub name: &'static str,
    pub lag_s: [f64; 2],
    pub rate_radps: [f64; 2],
    pub y_m: [f64; 2],
    pub heading_rad: [f64; 2],
    pub lateral_gain: [f64; 2],
    pub heading_gain: [f64; 2],
    pub radius_m: [f64; 2],
    /// Cells of the scenario.
    pub merge: &'static str,
}

impl Ranges {
    /// World number `n`, with walls so far from the middle.
    pub fn text(&self, n: u64, wall_m: f64) -> String {
        let chance = Chance::new(self.seed, self.name).at(n);
        let drawn = |k: u64, [low, high]: [f64; 2]| low + (high - low) * chance.uniform(k);
        format!(
            r#"
schema = "anabranch/1"
name = "{name}-{n}"
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
merge = {{ {merge} }}
[[must]]
id = "no-contact"
never = "ego.clearance <= 0 m"
"#,
            name = self.name,
            merge = self.merge,
            lag = drawn(0, self.lag_s),
            rate = drawn(1, self.rate_radps),
            y = drawn(2, self.y_m),
            heading = drawn(3, self.heading_rad),
            k1 = drawn(4, self.lateral_gain),
            k2 = drawn(5, self.heading_gain),
            radius = drawn(6, self.radius_m),
        )
    }
}
