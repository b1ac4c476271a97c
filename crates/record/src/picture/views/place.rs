//! From where a picture is taken: a place that is free, and from which those whom it is about are seen.

use super::super::Point;
use super::camera::{Camera, SIZE};
use super::prism::{Prism, in_world};
use super::vector::Vector;
use super::{Mover, Sight, View};

const UP: Vector = [0.0, 0.0, 1.0];
/// The top view shows at least what is seen from this height, with this much around.
const TOP_M: f64 = 42.0;
const TOP_LENGTHS: f64 = 3.6;
/// How far the eye stays away from everything that stands.
const FREE_M: f64 = 0.6;
/// What is farther away stands between no eye and what it looks at.
const CLOSE_M: f64 = 40.0;
/// What counts against a place: a point that is hidden or outside of the picture, an eye on the road, one inside of something.
const HIDDEN: f64 = 1.0;
const OUTSIDE: f64 = 1.5;
const ON_ROAD: f64 = 1.2;
const INSIDE: f64 = 1000.0;
/// And every metre of height, so that the horizon is seen where nothing is hidden by that.
const PER_METRE: f64 = 0.25;
/// Pixels of the border that shall be free, and those at the bottom where the caption is.
const BORDER_PX: f64 = 12.0;
const CAPTION_PX: f64 = 34.0;

/// Takes a place for a view.
pub(super) fn camera(sight: &Sight, view: View, prisms: &[Prism]) -> Camera {
    match view {
        View::Top => top(sight),
        View::Chase => best(sight, prisms, chase(sight), 0.0),
        View::Kerb => best(sight, prisms, kerb(sight), ON_ROAD),
    }
}

/// Those whom a picture is about.
fn subjects(sight: &Sight) -> impl Iterator<Item = &Mover> {
    [&sight.own].into_iter().chain(&sight.drawn).chain(&sight.touched)
}

fn corners(mover: &Mover) -> [Point; 4] {
    let [x, y] = mover.half_m;
    [[x, y], [-x, y], [-x, -y], [x, -y]].map(|corner| in_world(mover.pose, corner))
}

/// The middle of everything the picture is about, and how far it reaches from there.
fn focus(sight: &Sight) -> (Point, f64) {
    let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    for corner in subjects(sight).flat_map(corners).chain(sight.contact) {
        for axis in 0..2 {
            low[axis] = low[axis].min(corner[axis]);
            high[axis] = high[axis].max(corner[axis]);
        }
    }
    let [width_m, depth_m] = [high[0] - low[0], high[1] - low[1]];
    let reach_m = 0.5 * (width_m * width_m + depth_m * depth_m).sqrt();
    ([0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1])], reach_m)
}

/// From above, north up as on the map.
fn top(sight: &Sight) -> Camera {
    let ([x, y], reach_m) = focus(sight);
    let height_m = (TOP_LENGTHS * reach_m).max(TOP_M);
    Camera::new([x, y, height_m], [x, y, 0.0], [0.0, 1.0, 0.0])
}

/// From behind and above, farther back if whoever was touched or is drawn is behind; aside if that is better.
fn chase(sight: &Sight) -> Vec<Camera> {
    let own = &sight.own;
    let [x, y, heading] = own.pose;
    let ahead_of = |point: Point| in_own(own, point)[0];
    let rear_m = subjects(sight).flat_map(corners).map(ahead_of).fold(-own.half_m[0], f64::min);
    let highest_m = subjects(sight).map(Mover::height_m).fold(0.0, f64::max);
    // What is looked at lies between the front of the car and what it is about.
    let front = in_world(own.pose, [own.half_m[0] + 2.0, 0.0]);
    let ([focus_x, focus_y], _) = focus(sight);
    let target = [0.5 * (front[0] + focus_x), 0.5 * (front[1] + focus_y), 0.7];
    let mut all = Vec::new();
    for (back_m, above_m) in [(6.5, 2.6), (8.0, 3.6), (10.0, 5.0), (13.0, 7.0), (16.0, 11.0)] {
        for aside_m in [0.0, 2.0, -2.0, 4.5, -4.5] {
            let [x, y] = in_world([x, y, heading], [rear_m - back_m, aside_m]);
            all.push(Camera::new([x, y, highest_m.min(3.0) + above_m], target, UP));
        }
    }
    all
}

/// A point in the frame of somebody.
fn in_own(own: &Mover, [x, y]: Point) -> Point {
    let [own_x, own_y, heading] = own.pose;
    in_world([0.0, 0.0, -heading], [x - own_x, y - own_y])
}

/// From the side of the road, at the height of a person and higher only if nothing is seen from there.
fn kerb(sight: &Sight) -> Vec<Camera> {
    let ([x, y], reach_m) = focus(sight);
    let target = [x, y, 0.8];
    let mut all = Vec::new();
    for height_m in [1.8, 2.6, 4.0, 7.0] {
        for away_m in [6.0, 9.0, 13.0, 18.0] {
            for degrees in [-60.0_f64, 60.0, -90.0, 90.0, -120.0, 120.0, -35.0, 35.0, -150.0, 150.0] {
                let pose = [x, y, sight.own.pose[2] + degrees.to_radians()];
                let [x, y] = in_world(pose, [1.1 * reach_m + away_m, 0.0]);
                all.push(Camera::new([x, y, height_m], target, UP));
            }
        }
    }
    all
}

/// The first of the places that nothing else is better than.
fn best(sight: &Sight, prisms: &[Prism], places: Vec<Camera>, on_road: f64) -> Camera {
    let points = points(sight);
    let (middle, reach_m) = focus(sight);
    let close: Vec<&Prism> = prisms.iter().filter(|prism| prism.is_within(middle, reach_m + CLOSE_M)).collect();
    let mut best: Option<(f64, Camera)> = None;
    for camera in places {
        let bad = badness(sight, &close, &points, &camera, on_road);
        if best.as_ref().is_none_or(|(least, _)| bad < *least - 1e-9) {
            best = Some((bad, camera));
        }
    }
    best.map_or_else(|| top(sight), |(_, camera)| camera)
}

/// Points that should be seen, a little above what they belong to, each with its weight.
fn points(sight: &Sight) -> Vec<(Vector, f64)> {
    let mut points = Vec::new();
    for mover in subjects(sight) {
        let height_m = mover.height_m();
        let [x, y, _] = mover.pose;
        points.push(([x, y, height_m + 0.05], 1.0));
        points.extend(corners(mover).map(|[x, y]| ([x, y, 0.6 * height_m], 0.4)));
    }
    // Where they touched counts less than who did: from behind it is often before the car, and it is marked.
    points.extend(sight.contact.map(|[x, y]| ([x, y, 0.9], 0.8)));
    points
}

fn badness(sight: &Sight, prisms: &[&Prism], points: &[(Vector, f64)], camera: &Camera, on_road: f64) -> f64 {
    let [x, y, height_m] = camera.eye;
    let mut bad = PER_METRE * height_m;
    if prisms.iter().any(|prism| prism.is_near(camera.eye, FREE_M)) {
        bad += INSIDE;
    }
    if on_road > 0.0 && sight.surfaces.iter().any(|surface| holds(surface, [x, y])) {
        bad += on_road;
    }
    for (point, weight) in points {
        let is_framed = camera.pixel(*point).is_some_and(|[x, y]| {
            (BORDER_PX..=SIZE[0] - BORDER_PX).contains(&x) && (BORDER_PX..=SIZE[1] - CAPTION_PX).contains(&y)
        });
        if !is_framed {
            bad += OUTSIDE * weight;
        }
        // What belongs to the subjects hides points of them from every side, so it counts alike for all.
        if prisms.iter().any(|prism| prism.cuts(camera.eye, *point)) {
            bad += HIDDEN * weight;
        }
    }
    bad
}

/// Whether a polygon holds a point.
fn holds(polygon: &[Point], [x, y]: Point) -> bool {
    let mut is_inside = false;
    for (i, a) in polygon.iter().enumerate() {
        let b = polygon[(i + 1) % polygon.len()];
        if (a[1] > y) != (b[1] > y) && x < a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0]) {
            is_inside = !is_inside;
        }
    }
    is_inside
}

#[cfg(test)]
mod tests {
    use super::super::tests::sight;
    use super::*;

    fn eye(sight: &Sight, view: View) -> Vector {
        camera(sight, view, &sight.prisms()).eye
    }

    #[test]
    fn the_chase_is_behind_the_car_unless_somebody_stands_there() {
        let free = sight();
        let before = eye(&free, View::Chase);
        assert!(before[0] < free.own.pose[0] - 6.0 && before[1].abs() < 1e-9, "{before:?}");
        let mut lorry = free.own.clone();
        (lorry.pose, lorry.half_m, lorry.shape) = ([-12.0, 0.0, 0.0], [6.0, 1.25], super::super::Shape::Lorry);
        let blocked = Sight { bystanders: vec![lorry], ..free };
        let after = eye(&blocked, View::Chase);
        assert!(after != before && blocked.prisms().iter().all(|prism| !prism.is_near(after, 0.5)), "{after:?}");
    }

    #[test]
    fn the_kerb_is_not_on_the_road_and_not_behind_a_lorry() {
        let free = sight();
        let before = eye(&free, View::Kerb);
        assert!(!free.surfaces.iter().any(|surface| holds(surface, [before[0], before[1]])), "{before:?}");
        // A row of lorries on that side: the other side is taken.
        let mut lorry = free.own.clone();
        (lorry.half_m, lorry.shape) = ([15.0, 1.25], super::super::Shape::Lorry);
        lorry.pose = [3.0, 4.0 * before[1].signum(), 0.0];
        let after = eye(&Sight { bystanders: vec![lorry], ..free }, View::Kerb);
        assert!(after[1] * before[1] < 0.0, "{before:?} {after:?}");
    }
}
