//! An extended Kalman filter for pose, speed and yaw rate: estimate and covariance (S4-8).

use anabranch_geometry::Pose;
use anabranch_kernel::{Visitor, maths};
use serde::{Deserialize, Serialize};

use crate::gaussian::{self, Square};

/// Numbers in the state of the filter: x, y, heading, speed, yaw rate.
pub const ESTIMATED: usize = 5;
/// Numbers in one half of its covariance.
const TRIANGLE: usize = ESTIMATED * (ESTIMATED + 1) / 2;

/// A component of the estimate; each can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Component {
    /// Metres east.
    East,
    /// Metres north.
    North,
    /// Radians.
    Heading,
    /// m/s along the heading, negative in reverse.
    Speed,
    /// rad/s.
    YawRate,
}

/// The truth a filter is after.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Moving {
    /// Where.
    pub pose: Pose,
    /// m/s along the heading, negative in reverse.
    pub speed_mps: f64,
    /// rad/s.
    pub yaw_rate_radps: f64,
}

impl Moving {
    fn numbers(&self) -> [f64; ESTIMATED] {
        [self.pose.x, self.pose.y, self.pose.heading, self.speed_mps, self.yaw_rate_radps]
    }
}

/// How fast what the filter believes becomes uncertain, per square root of a second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FilterSpec {
    /// Metres: what the motion model misses.
    pub position_walk: f64,
    /// Radians: the same for the heading.
    pub heading_walk: f64,
    /// m/s: accelerations it knows nothing of.
    pub speed_walk: f64,
    /// rad/s: the same for turning.
    pub yaw_rate_walk: f64,
}

impl FilterSpec {
    /// A car in town: half a m/s² and a tenth of a rad/s² for a second at a time.
    pub const CAR: Self = Self { position_walk: 0.02, heading_walk: 0.002, speed_walk: 0.5, yaw_rate_walk: 0.1 };
}

/// The filter. Behaviour only: what evolves is its [`Estimate`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filter {
    dt_s: f64,
    /// Variance that each component gains per step.
    walk: [f64; ESTIMATED],
}

/// What the filter believes: the numbers and how sure it is of them. State.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    mean: [f64; ESTIMATED],
    /// Upper triangle of the covariance, by rows.
    covariance: [f64; TRIANGLE],
}

/// Names, units and cell sizes of the estimate in keys: the paper's for the pose (S1-9).
const CELLS: [(&str, &str, f64); ESTIMATED] =
    [("x", "m", 0.1), ("y", "m", 0.1), ("heading", "rad", 0.02), ("speed", "m/s", 0.2), ("yaw_rate", "rad/s", 0.02)];
/// Cell size of a correlation of two components.
const CORRELATION_CELL: f64 = 0.25;

impl Filter {
    /// A filter for steps of one length.
    pub fn new(spec: FilterSpec, dt_s: f64) -> Self {
        let walks = [spec.position_walk, spec.position_walk, spec.heading_walk, spec.speed_walk, spec.yaw_rate_walk];
        Self { dt_s, walk: walks.map(|walk| walk * walk * dt_s) }
    }

    /// One step of the motion model: an arc of constant speed and yaw rate, its chord along the heading half-way.
    #[expect(clippy::needless_range_loop, reason = "formulas of matrices are read by their indices")]
    pub fn predict(&self, estimate: &mut Estimate) {
        let dt = self.dt_s;
        let [_, _, heading, speed, yaw_rate] = estimate.mean;
        let (sin, cos) = maths::sin_cos(heading + 0.5 * yaw_rate * dt);
        estimate.mean[0] += speed * cos * dt;
        estimate.mean[1] += speed * sin * dt;
        estimate.mean[2] = maths::wrap_angle(heading + yaw_rate * dt);

        // F P Fᵀ, where F is the identity but for these entries: derivatives by heading, speed and yaw rate.
        let by_x = [-speed * sin * dt, cos * dt, -0.5 * speed * sin * dt * dt];
        let by_y = [speed * cos * dt, sin * dt, 0.5 * speed * cos * dt * dt];
        let mut p: Square<ESTIMATED> = gaussian::square(&estimate.covariance);
        for column in 0..ESTIMATED {
            let [heading, speed, yaw_rate] = [p[2][column], p[3][column], p[4][column]];
            p[0][column] += by_x[0] * heading + by_x[1] * speed + by_x[2] * yaw_rate;
            p[1][column] += by_y[0] * heading + by_y[1] * speed + by_y[2] * yaw_rate;
            p[2][column] += dt * yaw_rate;
        }
        for row in &mut p {
            let [_, _, heading, speed, yaw_rate] = *row;
            row[0] += by_x[0] * heading + by_x[1] * speed + by_x[2] * yaw_rate;
            row[1] += by_y[0] * heading + by_y[1] * speed + by_y[2] * yaw_rate;
            row[2] += dt * yaw_rate;
        }
        gaussian::symmetrise(&mut p);
        (0..ESTIMATED).for_each(|i| p[i][i] += self.walk[i]);
        estimate.covariance = gaussian::triangle(&p);
    }
}

impl Estimate {
    /// An estimate at a place, with the standard deviation of each component and no correlations.
    pub fn new(at: &Moving, deviations: [f64; ESTIMATED]) -> Self {
        let mut covariance = [[0.0; ESTIMATED]; ESTIMATED];
        (0..ESTIMATED).for_each(|i| covariance[i][i] = deviations[i] * deviations[i]);
        Self { mean: at.numbers(), covariance: gaussian::triangle(&covariance) }
    }
    /// Takes in a measurement and returns its squared innovation in units of its variance, 1 on average if the noise is
    /// what the filter thinks.
    pub fn measure(&mut self, component: Component, value: f64, variance: f64) -> f64 {
        let index = component as usize;
        let difference = value - self.mean[index];
        let innovation = if component == Component::Heading { maths::wrap_angle(difference) } else { difference };
        let mut covariance: Square<ESTIMATED> = gaussian::square(&self.covariance);
        let normalised = gaussian::update(&mut self.mean, &mut covariance, index, innovation, variance);
        self.mean[2] = maths::wrap_angle(self.mean[2]);
        gaussian::symmetrise(&mut covariance);
        self.covariance = gaussian::triangle(&covariance);
        normalised
    }

    /// The estimated motion.
    pub fn moving(&self) -> Moving {
        let [x, y, heading, speed_mps, yaw_rate_radps] = self.mean;
        Moving { pose: Pose::new(x, y, heading), speed_mps, yaw_rate_radps }
    }
    /// Its covariance, in the order of [`Component`].
    pub fn covariance(&self) -> [[f64; ESTIMATED]; ESTIMATED] {
        gaussian::square(&self.covariance)
    }
    /// Standard deviation of a component.
    pub fn deviation(&self, component: Component) -> f64 {
        let index = component as usize;
        self.covariance()[index][index].sqrt()
    }
    /// The normalised estimation error squared, 5 on average for an honest filter; `None` if the covariance is not
    /// positive.
    pub fn error_squared(&self, truth: &Moving) -> Option<f64> {
        let truth = truth.numbers();
        let mut error: [f64; ESTIMATED] = std::array::from_fn(|i| self.mean[i] - truth[i]);
        error[2] = maths::wrap_angle(error[2]);
        gaussian::squared_distance(&self.covariance(), &error)
    }

    /// Names the numbers, their deviations and their correlations.
    pub fn visit<V: Visitor>(&self, v: &mut V) {
        let covariance = self.covariance();
        let deviations: [f64; ESTIMATED] = std::array::from_fn(|i| covariance[i][i].sqrt());
        for (i, (name, unit, cell)) in CELLS.into_iter().enumerate() {
            match i == Component::Heading as usize {
                true => v.angle(name, cell, self.mean[i]),
                false => v.real(name, unit, cell, self.mean[i]),
            }
        }
        for ((name, unit, cell), deviation) in CELLS.into_iter().zip(deviations) {
            v.real(format_args!("{name}_deviation"), unit, cell, deviation);
        }
        let correlations = v.continuous("correlation", "", CORRELATION_CELL);
        for row in 0..ESTIMATED {
            for column in row + 1..ESTIMATED {
                let product = deviations[row] * deviations[column];
                v.put(correlations, if product > 0.0 { covariance[row][column] / product } else { 0.0 });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use anabranch_kernel::{Declarations, Grid, KeyWriter, from_bytes, to_bytes};
    use std::f64::consts::PI;

    use super::*;

    const STILL: FilterSpec = FilterSpec { position_walk: 0.0, heading_walk: 0.0, speed_walk: 0.0, yaw_rate_walk: 0.0 };

    fn at(x: f64, y: f64, heading: f64, speed_mps: f64, yaw_rate_radps: f64) -> Moving {
        Moving { pose: Pose::new(x, y, heading), speed_mps, yaw_rate_radps }
    }

    #[test]
    fn the_motion_model_follows_a_circle() {
        // Once round a circle of radius 10 m at 2π m/s takes 10 s; the chord is shorter than the arc by (ω dt)²/24.
        let filter = Filter::new(STILL, 0.01);
        let mut estimate = Estimate::new(&at(0.0, 0.0, 0.0, 2.0 * PI, 0.2 * PI), [0.0; 5]);
        for step in 1..=1000 {
            filter.predict(&mut estimate);
            if step == 500 {
                let half = estimate.moving().pose;
                assert!((half.y - 20.0).abs() < 1e-4 && half.x.abs() < 1e-9, "{half:?}");
            }
        }
        let pose = estimate.moving().pose;
        assert!(pose.x.abs() < 1e-9 && pose.y.abs() < 1e-9 && pose.heading.abs() < 1e-9, "{pose:?}");
    }

    #[test]
    fn the_covariance_follows_the_derivatives_of_the_motion() {
        // Independent: derivatives by central differences, multiplied out.
        let (filter, start) = (Filter::new(STILL, 0.1), [3.0, -2.0, 0.7, 8.0, 0.4]);
        let moved = |numbers: [f64; 5]| {
            let [x, y, heading, speed, yaw] = numbers;
            let mut estimate = Estimate::new(&at(x, y, heading, speed, yaw), [0.0; 5]);
            filter.predict(&mut estimate);
            estimate.mean
        };
        let step = 1e-5;
        let derivative = |by: usize| {
            let (mut low, mut high) = (start, start);
            low[by] -= step;
            high[by] += step;
            let (low, high) = (moved(low), moved(high));
            let slope: [f64; 5] = std::array::from_fn(|i| (high[i] - low[i]) / (2.0 * step));
            slope
        };
        let slopes: [[f64; 5]; 5] = std::array::from_fn(derivative);
        let deviations = [0.5, 0.3, 0.1, 0.7, 0.2];
        let [x, y, heading, speed, yaw] = start;
        let mut estimate = Estimate::new(&at(x, y, heading, speed, yaw), deviations);
        filter.predict(&mut estimate);
        let found = estimate.covariance();
        for row in 0..5 {
            for column in 0..5 {
                let expect: f64 = (0..5).map(|k| slopes[k][row] * slopes[k][column] * deviations[k].powi(2)).sum();
                assert!((found[row][column] - expect).abs() < 1e-7, "{row} {column}");
            }
        }
    }

    #[test]
    fn a_heading_is_measured_the_short_way_round() {
        let mut estimate = Estimate::new(&at(0.0, 0.0, PI - 0.1, 0.0, 0.0), [1.0; 5]);
        estimate.measure(Component::Heading, -PI + 0.1, 1.0);
        let heading = estimate.moving().pose.heading;
        assert!((heading.abs() - PI).abs() < 1e-12, "{heading}");
        assert!(estimate.error_squared(&at(0.0, 0.0, -PI, 0.0, 0.0)).unwrap() < 1e-12);
    }

    #[test]
    fn without_measurements_the_filter_becomes_unsure() {
        let filter = Filter::new(FilterSpec::CAR, 0.1);
        let mut estimate = Estimate::new(&at(0.0, 0.0, 0.0, 10.0, 0.0), [0.1; 5]);
        let mut last = 0.0;
        for _ in 0..100 {
            filter.predict(&mut estimate);
            assert!(estimate.deviation(Component::East) > last);
            last = estimate.deviation(Component::East);
        }
        // By hand: after T = 10 s, x has 0.1² + (0.1 T)² + 0.02² T + 0.5² · 0.1 s · Σ (0.1 s · j)² for j below 100, which is
        // 0.01 + 1 + 0.004 + 82.0875 = 83.1015 m²; headings do not reach x while the car goes straight on.
        assert!((last * last - 83.1015).abs() < 1e-6, "{}", last * last);
    }

    #[test]
    fn equal_estimates_have_equal_keys_and_a_saved_one_goes_on_alike() {
        let still = Estimate::new(&at(0.0, 0.0, 0.0, 0.0, 0.0), [0.1; 5]);
        let grid = Grid::of(&Declarations::of(|v| still.visit(v)).variables);
        let key = |estimate: &Estimate| {
            let mut key = KeyWriter::new(&grid);
            estimate.visit(&mut key.visitor(&[]));
            key.finish().unwrap()
        };
        let filter = Filter::new(FilterSpec::CAR, 0.1);
        let mut estimate = Estimate::new(&at(0.0, 0.0, 0.0, 10.0, 0.1), [0.1; 5]);
        let first = key(&estimate);
        filter.predict(&mut estimate);
        let mut loaded: Estimate = from_bytes(&to_bytes(&estimate)).unwrap();
        assert_ne!(first, key(&estimate));
        filter.predict(&mut estimate);
        filter.predict(&mut loaded);
        assert_eq!((estimate, key(&estimate)), (loaded, key(&loaded)));
        let mut unsure = estimate;
        unsure.measure(Component::Speed, unsure.moving().speed_mps, 1e-6);
        assert_ne!(key(&unsure), key(&estimate), "what is believed more firmly is another state");
    }
}
