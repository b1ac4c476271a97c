//! What there is to see at the junction at a moment, as plain numbers for whoever draws it (S3-18).

use anabranch_kernel::maths;

use super::world::{HEDGE_END_M, HEDGE_X_M, Pose};
use super::{Junction, JunctionState};

/// Half the length and half the width of both cars (m).
const HALF_M: [f64; 2] = [2.5, 1.0];
/// The post of the stop sign, beside the car's road (m).
const SIGN_M: [f64; 2] = [2.6, -5.0];
/// Base cycles between two places of a way: a quarter of a second.
const WAY_EVERY: usize = 5;
/// Ends of the main road and of the side road (m).
const MAIN_M: [f64; 2] = [-150.0, 90.0];
const SIDE_END_M: f64 = -70.0;

/// The junction at the end of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct JunctionSight {
    /// The car under test.
    pub own: JunctionCar,
    /// The car on the main road.
    pub other: JunctionCar,
    /// Half the length and half the width of both (m).
    pub half_m: [f64; 2],
    /// When (s).
    pub time_s: f64,
    /// The light of the day, from 0 to 1.
    pub light: f64,
    /// Roads, counter-clockwise (m).
    pub roads: Vec<Vec<[f64; 2]>>,
    /// White lines, counter-clockwise (m).
    pub lines: Vec<Vec<[f64; 2]>>,
    /// Corners of the hedge, counter-clockwise (m).
    pub hedge: Vec<[f64; 2]>,
    /// The stop sign, with the direction in which those drive who read it: x, y (m), heading (rad).
    pub sign: [f64; 3],
}

/// A car at the junction.
#[derive(Clone, Debug, PartialEq)]
pub struct JunctionCar {
    /// Its middle (m), and its heading (rad).
    pub pose: [f64; 3],
    /// Its speed.
    pub speed_mps: f64,
    /// Where it came by, every quarter of a second (m).
    pub way: Vec<[f64; 2]>,
}

fn pose(at: Pose) -> [f64; 3] {
    [at.x, at.y, maths::atan2(at.ahead[1], at.ahead[0])]
}

fn rectangle(x: [f64; 2], y: [f64; 2]) -> Vec<[f64; 2]> {
    vec![[x[0], y[0]], [x[1], y[0]], [x[1], y[1]], [x[0], y[1]]]
}

impl Junction {
    /// What there is to see in the last of the states of a run; nothing if there is none.
    pub fn sight(&self, states: &[JunctionState]) -> Option<JunctionSight> {
        let state = states.last()?;
        let way = |place: &dyn Fn(&JunctionState) -> Pose| -> Vec<[f64; 2]> {
            states.iter().step_by(WAY_EVERY).map(place).map(|at| [at.x, at.y]).collect()
        };
        let own =
            JunctionCar { pose: pose(self.car(state)), speed_mps: state.speed_mps, way: way(&|state| self.car(state)) };
        let other = JunctionCar {
            pose: pose(self.other(state)),
            speed_mps: state.other_mps,
            way: way(&|state| self.other(state)),
        };
        // The stop line, and the middle of the main road.
        let mut lines = vec![rectangle([-1.6, 1.6], [-6.2, -5.8])];
        lines.extend((0..40).map(|i| {
            let x = MAIN_M[0] + 6.0 * f64::from(i);
            rectangle([x, x + 3.0], [1.68, 1.82])
        }));
        Some(JunctionSight {
            own,
            other,
            half_m: HALF_M,
            time_s: state.time_s(),
            light: self.instance().light(),
            roads: vec![rectangle(MAIN_M, [-1.75, 5.25]), rectangle([-2.75, 1.75], [SIDE_END_M, -1.75])],
            lines,
            hedge: rectangle([HEDGE_X_M.0, HEDGE_X_M.1], [HEDGE_END_M, -self.instance().hedge_m]),
            sign: [SIGN_M[0], SIGN_M[1], std::f64::consts::FRAC_PI_2],
        })
    }
}
