//! Pictures of the junction at a moment, from three places (S3-18): a small projector from boxes to SVG.

use std::fmt::Write as _;

use anabranch_kernel::maths;

use super::world::{HEDGE_END_M, HEDGE_X_M, Pose};
use super::{Junction, JunctionState};

/// From where a picture is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// From high above.
    Top,
    /// From behind and above the car under test.
    Chase,
    /// From the kerb on the other side of the main road.
    Kerb,
}

impl View {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Top, Self::Chase, Self::Kerb];
    /// Name of a file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Top => "top",
            Self::Chase => "chase",
            Self::Kerb => "kerb",
        }
    }
}

type Vector = [f64; 3];

/// Size of a picture in pixels, and its focal length in widths.
const SIZE: [f64; 2] = [640.0, 400.0];
const FOCAL: f64 = 0.8;
/// Nothing nearer than this is drawn (m).
const NEAR_M: f64 = 0.2;
/// Half length, half width and height of a car (m).
const CAR_M: Vector = [2.5, 1.0, 1.5];
const HEDGE_HEIGHT_M: f64 = 1.8;
const SIGN_M: [f64; 2] = [2.6, -5.0];

struct Camera {
    eye: Vector,
    /// Unit vectors to the right, down and ahead.
    axes: [Vector; 3],
}

fn minus(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|i| a[i] - b[i])
}
fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
fn unit(a: Vector) -> Vector {
    let length = dot(a, a).sqrt().max(1e-9);
    a.map(|x| x / length)
}

impl Camera {
    /// Looks from one place to another; `up` is what shall be up in the picture.
    fn new(eye: Vector, target: Vector, up: Vector) -> Self {
        let ahead = unit(minus(target, eye));
        let right = unit(cross(ahead, up));
        Self { eye, axes: [right, cross(ahead, right), ahead] }
    }
    fn seen(&self, point: Vector) -> Vector {
        let relative = minus(point, self.eye);
        self.axes.map(|axis| dot(axis, relative))
    }
    /// The outline on the picture of a flat polygon: what lies behind is cut off.
    fn outline(&self, corners: &[Vector]) -> Vec<[f64; 2]> {
        let seen: Vec<Vector> = corners.iter().map(|corner| self.seen(*corner)).collect();
        let mut kept: Vec<Vector> = Vec::with_capacity(seen.len() + 2);
        for (i, &a) in seen.iter().enumerate() {
            let b = seen[(i + 1) % seen.len()];
            if a[2] >= NEAR_M {
                kept.push(a);
            }
            if (a[2] >= NEAR_M) != (b[2] >= NEAR_M) {
                let share = (NEAR_M - a[2]) / (b[2] - a[2]);
                kept.push(std::array::from_fn(|n| a[n] + share * (b[n] - a[n])));
            }
        }
        let scale = FOCAL * SIZE[0];
        kept.iter().map(|p| [0.5 * SIZE[0] + scale * p[0] / p[2], 0.5 * SIZE[1] + scale * p[1] / p[2]]).collect()
    }
}

/// A flat polygon with its colour.
struct Face {
    corners: Vec<Vector>,
    colour: [f64; 3],
}

fn ground(x: [f64; 2], y: [f64; 2], colour: [f64; 3]) -> Face {
    Face { corners: vec![[x[0], y[0], 0.0], [x[1], y[0], 0.0], [x[1], y[1], 0.0], [x[0], y[1], 0.0]], colour }
}

/// Five faces of a box that stands on `low_m`; sides are darker than the top.
fn solid(pose: &Pose, half: [f64; 2], low_m: f64, high_m: f64, colour: [f64; 3]) -> Vec<Face> {
    let [c, s] = pose.ahead;
    let corner = |along: f64, aside: f64, z: f64| -> Vector {
        [pose.x + c * along * half[0] - s * aside * half[1], pose.y + s * along * half[0] + c * aside * half[1], z]
    };
    let ring = [(1.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (-1.0, 1.0)];
    let mut faces: Vec<Face> = (0..4)
        .map(|i| {
            let ((a, b), (d, e)) = (ring[i], ring[(i + 1) % 4]);
            let corners = vec![corner(a, b, low_m), corner(d, e, low_m), corner(d, e, high_m), corner(a, b, high_m)];
            Face { corners, colour: colour.map(|x| x * if i % 2 == 0 { 0.7 } else { 0.8 }) }
        })
        .collect();
    faces.push(Face { corners: ring.iter().map(|(a, b)| corner(*a, *b, high_m)).collect(), colour });
    faces
}

fn car(pose: &Pose, colour: [f64; 3]) -> Vec<Face> {
    let mut faces = solid(pose, [CAR_M[0], CAR_M[1]], 0.25, 0.85, colour);
    let cabin = Pose { x: pose.x - 0.3 * pose.ahead[0], y: pose.y - 0.3 * pose.ahead[1], ..*pose };
    faces.extend(solid(&cabin, [0.55 * CAR_M[0], 0.85 * CAR_M[1]], 0.85, CAR_M[2], [0.25, 0.3, 0.38]));
    faces
}

impl Junction {
    /// The junction at a moment as an SVG picture. `states` are those of the run so far; the last one is drawn.
    pub fn picture(&self, states: &[JunctionState], view: View) -> String {
        let Some(state) = states.last() else { return String::new() };
        let (own, other) = (self.car(state), self.other(state));
        let camera = match view {
            View::Top => Camera::new([own.x - 8.0, -2.0, 48.0], [own.x - 8.0, -2.0, 0.0], [0.0, 1.0, 0.0]),
            View::Chase => {
                let back = |m: f64| [own.x - m * own.ahead[0], own.y - m * own.ahead[1]];
                let eye = back(9.0);
                Camera::new([eye[0], eye[1], 4.5], [own.x - 2.0, own.y + 1.0, 0.8], [0.0, 0.0, 1.0])
            }
            View::Kerb => {
                let middle = [0.5 * (own.x + other.x), 0.5 * (own.y + other.y)];
                Camera::new([middle[0] + 8.0, 8.0, 1.8], [middle[0], middle[1], 0.7], [0.0, 0.0, 1.0])
            }
        };
        let light = 0.6 + 0.4 * self.instance().light();
        let mut faces: Vec<Face> = Vec::new();
        let side = Pose {
            x: 0.5 * (HEDGE_X_M.0 + HEDGE_X_M.1),
            y: 0.5 * (HEDGE_END_M - self.instance().hedge_m),
            ahead: [1.0, 0.0],
        };
        let half = [0.5 * (HEDGE_X_M.1 - HEDGE_X_M.0), 0.5 * (-self.instance().hedge_m - HEDGE_END_M)];
        faces.extend(solid(&side, half, 0.0, HEDGE_HEIGHT_M, [0.2, 0.45, 0.2]));
        let post = Pose { x: SIGN_M[0], y: SIGN_M[1], ahead: [1.0, 0.0] };
        faces.extend(solid(&post, [0.05, 0.05], 0.0, 2.0, [0.6, 0.6, 0.6]));
        faces.extend(solid(&post, [0.4, 0.04], 2.0, 2.8, [0.8, 0.1, 0.1]));
        faces.extend(car(&own, [0.15, 0.4, 0.8]));
        faces.extend(car(&other, [0.85, 0.45, 0.1]));
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = write!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\"><title>{} view</title>\
             <rect width=\"100%\" height=\"100%\" fill=\"{}\"/>",
            SIZE[0],
            SIZE[1],
            view.name(),
            hex([0.62, 0.75, 0.9].map(|x| x * light))
        );
        for face in self.ground() {
            draw(&mut out, &camera, &face, light);
        }
        let ways = [(false, [0.15, 0.4, 0.8]), (true, [0.85, 0.45, 0.1])];
        ways.into_iter().for_each(|(is_other, colour)| self.draw_way(&mut out, &camera, states, is_other, colour));
        // Far things first.
        let far = |face: &Face| {
            let n = face.corners.len() as f64;
            let middle =
                face.corners.iter().fold([0.0; 3], |sum: Vector, p| std::array::from_fn(|i| sum[i] + p[i] / n));
            let relative = minus(middle, camera.eye);
            dot(relative, relative)
        };
        faces.sort_by(|a, b| far(b).total_cmp(&far(a)));
        faces.iter().for_each(|face| draw(&mut out, &camera, face, light));
        let _ = write!(
            out,
            "<rect x=\"4\" y=\"6\" width=\"250\" height=\"20\" fill=\"#000\" fill-opacity=\"0.5\"/><text x=\"10\" y=\"20\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#fff\">{}, {:.2} s, {:.1} and {:.1} m/s</text></svg>",
            view.name(),
            state.time_s(),
            state.speed_mps,
            state.other_mps
        );
        out
    }

    fn ground(&self) -> Vec<Face> {
        let asphalt = [0.36, 0.36, 0.38];
        let mut faces = vec![
            ground([-150.0, 90.0], [-70.0, 40.0], [0.45, 0.58, 0.35]),
            ground([-150.0, 90.0], [-1.75, 5.25], asphalt),
            ground([-2.75, 1.75], [-70.0, -1.75], asphalt),
            // The stop line.
            ground([-1.6, 1.6], [-6.2, -5.8], [0.95, 0.95, 0.95]),
        ];
        faces.extend((0..40).map(|i| {
            let x = -150.0 + 6.0 * f64::from(i);
            ground([x, x + 3.0], [1.68, 1.82], [0.95, 0.95, 0.95])
        }));
        faces
    }

    /// Where a car came from, as dots every quarter of a second.
    fn draw_way(&self, out: &mut String, camera: &Camera, states: &[JunctionState], is_other: bool, colour: [f64; 3]) {
        for state in states.iter().step_by(5) {
            let pose = if is_other { self.other(state) } else { self.car(state) };
            let dot = Face {
                corners: (0..6)
                    .map(|i| {
                        let (sin, cos) = maths::sin_cos(f64::from(i) * std::f64::consts::FRAC_PI_3);
                        [pose.x + 0.15 * cos, pose.y + 0.15 * sin, 0.01]
                    })
                    .collect(),
                colour,
            };
            draw(out, camera, &dot, 1.0);
        }
    }
}

fn hex(colour: [f64; 3]) -> String {
    let [r, g, b] = colour.map(|x| (255.0 * x.clamp(0.0, 1.0)) as u8);
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn draw(out: &mut String, camera: &Camera, face: &Face, light: f64) {
    let outline = camera.outline(&face.corners);
    if outline.len() < 3 {
        return;
    }
    let corners: Vec<String> = outline.iter().map(|[x, y]| format!("{x:.1} {y:.1}")).collect();
    let fill = hex(face.colour.map(|x| x * light));
    let _ = write!(out, "<path d=\"M{}Z\" fill=\"{fill}\"/>", corners.join("L"));
}
