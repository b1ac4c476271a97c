//! A car that comes to a crosswalk while a pedestrian steps out: the scenario of adaptive stress testing.
//!
//! M. Koren, S. Alsaif, R. Lee, M. Kochenderfer, "Adaptive stress testing for autonomous vehicles", 2018. The car follows
//! the intelligent driver model behind a tracker of the pedestrian; the pedestrian's accelerations and the noise of the
//! measurement are the errors, and their likelihood is the cost.

use anabranch_kernel::{
    Choice, Danger, Declarations, ErrorSpace, Fault, KeyWriter, Leaf, Mode, Params, Seed, SegmentEnd, Signal, Site,
    System, Variable, Visitor, Watch,
};
use serde::{Deserialize, Serialize};

/// Seconds of one step.
const STEP_S: f64 = 0.1;
/// Steps of a run.
pub const CROSSWALK_STEPS: usize = 50;
/// Numbers of one step: accelerations of the pedestrian (x, y) and noise (speed x, y, place x, y).
pub const CROSSWALK_ACTION: usize = 6;
/// Largest size of each number of a step.
pub const CROSSWALK_LIMITS: [f64; CROSSWALK_ACTION] = [1.0, 1.0, 3.0, 3.0, 3.0, 3.0];
/// Variance of each number of a step, for its likelihood.
const VARIANCES: [f64; CROSSWALK_ACTION] = [0.1, 0.01, 0.1, 0.1, 0.1, 0.1];

const DESIRED_MPS: f64 = 11.17;
const HEADWAY_S: f64 = 1.5;
const ACCELERATION_MAX: f64 = 3.0;
const DECELERATION_MAX: f64 = 9.0;
const DECELERATION_COMFORTABLE: f64 = 2.0;
const GAP_MIN_M: f64 = 4.0;
/// Gains of the tracker for places and speeds.
const ALPHA: f64 = 0.85;
const BETA: f64 = 0.005;
/// A pedestrian is not faster than this, along each axis.
const PEDESTRIAN_MPS_MAX: f64 = 4.5;
/// Where the pedestrian is in the way of the car.
const ROAD_M: (f64, f64) = (-1.5, 4.5);

/// Everything that evolves: the car drives along x, the pedestrian crosses along y.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrosswalkState {
    /// Steps since the start.
    pub step: u32,
    /// Place, speed and acceleration of the car.
    pub car: [f64; 3],
    /// Place and speed of the pedestrian: x, y, then along x, y.
    pub pedestrian: [f64; 4],
    /// What the tracker believes of the pedestrian, in the same order.
    pub track: [f64; 4],
    /// Smallest distance so far.
    pub distance_min_m: f64,
    /// Sum of Mahalanobis distances of all steps so far.
    pub cost: f64,
    /// Whether they met.
    pub has_hit: bool,
}

/// The scenario. As a system its choices are a few accelerations and noises; [`Crosswalk::step`] takes any.
///
/// Step for step as in the simulator that its authors publish with their toolbox, down to a car that may roll back and numbers of
/// noise on speeds that nobody reads. Their figures put the pedestrian 4 m from the lane's centre: he then enters the road when the
/// car can no longer stop, and is hit without any error, at step 30 here as there. [`Crosswalk::starting_at`] lets him begin
/// nearer: from 3.5 m on it takes an error.
#[derive(Clone, Debug)]
pub struct Crosswalk {
    pedestrian_y_m: f64,
    errors: ErrorSpace,
    declared: Declarations,
    requirements: Vec<String>,
    signals: Vec<Signal>,
}

impl Default for Crosswalk {
    fn default() -> Self {
        Self::starting_at(-4.0)
    }
}

impl Crosswalk {
    /// The scenario with a pedestrian who begins at this place across the road; the car drives at 0.
    pub fn starting_at(pedestrian_y_m: f64) -> Self {
        let site = |id: &str, modes: &[(&str, f64)]| Site {
            id: id.to_owned(),
            modes: modes.iter().map(|&(name, size)| Mode { name: name.to_owned(), size }).collect(),
        };
        let sites = vec![
            site("pedestrian-along", &[("none", 0.0), ("towards the car", -1.0), ("away from the car", 1.0)]),
            site("pedestrian-across", &[("none", 0.0), ("slower", -1.0), ("faster", 1.0)]),
            site("measured-across", &[("none", 0.0), ("behind", -3.0), ("ahead", 3.0)]),
        ];
        let errors = ErrorSpace::new(sites, 3).unwrap_or_else(|_| ErrorSpace::none());
        let signals =
            vec![Signal::new("car.x", "m"), Signal::new("car.speed", "m/s"), Signal::new("pedestrian.y", "m")];
        let (declared, requirements) = (Declarations::default(), vec!["no-hit".to_owned()]);
        let mut crosswalk = Self { pedestrian_y_m, errors, declared, requirements, signals };
        crosswalk.declared = Declarations::of(|v| crosswalk.begin().visit(v));
        crosswalk
    }

    /// The state at time zero.
    pub fn begin(&self) -> CrosswalkState {
        let (car, pedestrian) = ([-35.0, DESIRED_MPS, 0.0], [0.0, self.pedestrian_y_m, 0.0, 1.0]);
        let mut state = CrosswalkState {
            step: 0,
            car,
            pedestrian,
            track: pedestrian,
            distance_min_m: 0.0,
            cost: 0.0,
            has_hit: false,
        };
        state.distance_min_m = state.distance_m();
        state
    }

    /// One step under accelerations and noise. Numbers beyond their limits count as the limit.
    pub fn step(&self, state: &mut CrosswalkState, action: &[f64; CROSSWALK_ACTION]) {
        let action: [f64; CROSSWALK_ACTION] =
            std::array::from_fn(|i| action[i].clamp(-CROSSWALK_LIMITS[i], CROSSWALK_LIMITS[i]));
        state.cost += mahalanobis(&action);
        state.pedestrian = moved(state.pedestrian, [action[0], action[1]]);
        state.car[0] += state.car[1] * STEP_S;
        state.car[1] += state.car[2] * STEP_S;
        if state.step == 0 {
            // The tracker starts with what is true after the first step, and predicts it once more: as in the original.
            state.track = state.pedestrian;
        }
        state.see([action[4], action[5]]);
        state.car[2] = state.drive();
        state.step += 1;
        state.distance_min_m = state.distance_min_m.min(state.distance_m());
        state.has_hit |= state.is_hit();
    }

    /// Runs a whole input: six numbers for each step. Fewer steps are continued without accelerations and noise.
    pub fn run_all(&self, input: &[f64]) -> CrosswalkState {
        let mut state = self.begin();
        for step in 0..CROSSWALK_STEPS {
            let action = std::array::from_fn(|i| input.get(step * CROSSWALK_ACTION + i).copied().unwrap_or(0.0));
            self.step(&mut state, &action);
            if state.has_hit {
                break;
            }
        }
        state
    }

    /// The smallest distance of a run, negative after a hit: by how unlikely it was, the likelier the lower.
    pub fn evaluate(&self, input: &[f64]) -> f64 {
        let state = self.run_all(input);
        if state.has_hit { -1.0 / (1.0 + state.cost) } else { state.distance_min_m }
    }
}

/// How unlikely the numbers of a step are.
fn mahalanobis(action: &[f64; CROSSWALK_ACTION]) -> f64 {
    action.iter().zip(&VARIANCES).map(|(x, variance)| x * x / variance).sum::<f64>().sqrt()
}

fn moved([x, y, u, v]: [f64; 4], [a, b]: [f64; 2]) -> [f64; 4] {
    let half = 0.5 * STEP_S * STEP_S;
    let speed = |mps: f64| mps.clamp(-PEDESTRIAN_MPS_MAX, PEDESTRIAN_MPS_MAX);
    [x + u * STEP_S + a * half, y + v * STEP_S + b * half, speed(u + a * STEP_S), speed(v + b * STEP_S)]
}

impl CrosswalkState {
    fn distance_m(&self) -> f64 {
        anabranch_kernel::maths::hypot(self.pedestrian[0] - self.car[0], self.pedestrian[1])
    }
    fn is_hit(&self) -> bool {
        (self.pedestrian[0] - self.car[0]).abs() <= 2.5 && self.pedestrian[1].abs() <= 1.4 && self.car[1] > 0.5
    }

    /// The intelligent driver model towards the pedestrian, if the tracker believes him in the road.
    fn drive(&self) -> f64 {
        let [place_m, speed, _] = self.car;
        let [x_m, y_m, u, _] = self.track;
        if !(y_m > ROAD_M.0 && y_m < ROAD_M.1) {
            return (DESIRED_MPS - speed).clamp(-DECELERATION_MAX, ACCELERATION_MAX);
        }
        let gap_m = (x_m - place_m).abs().max(1e-6);
        let share = speed / DESIRED_MPS;
        let braking = 2.0 * (ACCELERATION_MAX * DECELERATION_COMFORTABLE).sqrt();
        let desired_m = GAP_MIN_M + speed * HEADWAY_S - speed * (u - speed) / braking;
        let wanted = 1.0 - share * share * share * share - (desired_m / gap_m) * (desired_m / gap_m);
        (ACCELERATION_MAX * wanted).clamp(-DECELERATION_MAX, ACCELERATION_MAX)
    }

    /// Measures the place with noise and tracks: speeds are believed only as far as places tell them.
    fn see(&mut self, noise_m: [f64; 2]) {
        for (axis, noise_m) in noise_m.into_iter().enumerate() {
            let predicted = self.track[axis] + self.track[axis + 2] * STEP_S;
            let error = self.pedestrian[axis] + noise_m - predicted;
            self.track[axis] = predicted + ALPHA * error;
            self.track[axis + 2] += BETA / STEP_S * error;
        }
    }
}

impl CrosswalkState {
    /// Names its variables.
    fn visit<V: Visitor>(&self, v: &mut V) {
        v.time("step");
        v.real("car.x", "m", 0.1, self.car[0]);
        v.real("car.speed", "m/s", 0.1, self.car[1]);
        v.real("car.acceleration", "m/s^2", 0.1, self.car[2]);
        let mut walker = |name: &str, cell: f64, numbers: &[f64; 4]| {
            v.within(name, |v| {
                v.real("x", "m", cell, numbers[0]);
                v.real("y", "m", cell, numbers[1]);
                v.real("speed-x", "m/s", cell, numbers[2]);
                v.real("speed-y", "m/s", cell, numbers[3]);
            });
        };
        walker("pedestrian", 0.05, &self.pedestrian);
        walker("track", 0.1, &self.track);
        v.real("distance-min", "m", 0.1, self.distance_min_m);
        v.real("cost", "", 1.0, self.cost);
        v.exact("has-hit", u64::from(self.has_hit));
    }
}

impl System for Crosswalk {
    type State = CrosswalkState;

    fn errors(&self) -> &ErrorSpace {
        &self.errors
    }
    fn variables(&self) -> &[Variable] {
        &self.declared.variables
    }
    fn start(&self, _seed: Seed, _params: &Params) -> Result<CrosswalkState, Fault> {
        Ok(self.begin())
    }
    fn run(&self, state: &mut CrosswalkState, choice: Choice, watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
        let modes = self.errors.modes(choice);
        let size = |site: usize| self.errors.sites()[site].modes[usize::from(modes[site])].size;
        self.step(state, &[size(0), size(1), 0.0, 0.0, 0.0, size(2)]);
        watch.see_margin(state.distance_m());
        watch.frame(u64::from(state.step), &[state.car[0], state.car[1], state.pedestrian[1]]);
        Ok(if state.has_hit {
            SegmentEnd::violated(0, u64::from(state.step))
        } else if state.step as usize >= CROSSWALK_STEPS {
            SegmentEnd::TimedOut
        } else {
            SegmentEnd::Open
        })
    }
    fn cell(&self, state: &CrosswalkState, key: &mut KeyWriter<'_>) {
        state.visit(&mut key.visitor(&self.declared.sections));
    }
    fn danger(&self, state: &CrosswalkState) -> Danger {
        Danger { worst: -state.distance_min_m, ..Danger::default() }
    }
    fn leaves(&self) -> Vec<Leaf> {
        self.declared.leaves.clone()
    }
    fn time_matters(&self) -> bool {
        true
    }
    fn requirements(&self) -> &[String] {
        &self.requirements
    }
    fn signals(&self) -> &[Signal] {
        &self.signals
    }
    fn segment_seconds(&self) -> f64 {
        STEP_S
    }
}
