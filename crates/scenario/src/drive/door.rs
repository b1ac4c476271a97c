//! How far the front doors of a car can be opened where it stands (S2-53).
//!
//! A door is a line from its hinge back along the side of the car. Opened by an angle θ, its edge is `length · sin θ` away from the
//! side. The room of a door is that distance at the largest angle, up to a right angle, at which the door has touched nothing on its way.
//! Beside a wall along the car it is the gap; a post near the hinge leaves more room than its gap.

use anabranch_geometry::{Point, Pose, WallEdge};

use crate::file::DoorSpec;

/// The two front doors of a car at a pose, and the room that is left of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doors {
    pose: Pose,
    hinge_m: f64,
    half_width_m: f64,
    length_m: f64,
    /// Left and right.
    room_m: [f64; 2],
}

impl Doors {
    /// With nothing in the way.
    pub(super) fn new(door: &DoorSpec, half_width_m: f64, pose: Pose) -> Self {
        let DoorSpec { hinge_m, length_m } = *door;
        Self { pose, hinge_m, half_width_m, length_m, room_m: [length_m; 2] }
    }
    /// Left and right.
    pub(super) fn room_m(&self) -> [f64; 2] {
        self.room_m
    }
    /// How long they are.
    pub(super) fn length_m(&self) -> f64 {
        self.length_m
    }
    /// The hinges in the world.
    pub(super) fn hinges(&self) -> [Point; 2] {
        [1.0, -1.0].map(|side| self.pose.world_from_local(Point::new(self.hinge_m, side * self.half_width_m)))
    }

    /// Edges that stand there, in the frame of somebody.
    pub(super) fn meet(&mut self, edges: &[WallEdge], frame: Pose) {
        for edge in edges {
            let end = |side: f64| {
                let m = side * edge.half_m;
                frame.world_from_local(Point::new(edge.middle.x + m * edge.along.x, edge.middle.y + m * edge.along.y))
            };
            self.meet_line(end(-1.0), end(1.0));
        }
    }

    /// A line in the world that stands in the way of the doors, or not.
    pub(super) fn meet_line(&mut self, a: Point, b: Point) {
        let [a, b] = [a, b].map(|end| self.pose.local_from_world(end));
        for (side, room_m) in [1.0, -1.0].into_iter().zip(&mut self.room_m) {
            // Backwards along the closed door, and away from the car.
            let from_hinge = |end: Point| [self.hinge_m - end.x, side * end.y - self.half_width_m];
            *room_m = room_m.min(room_before_m(from_hinge(a), from_hinge(b), self.length_m));
        }
    }
}

/// How far a door of this length can be opened before it meets a line; the hinge is the origin, the closed door lies along the first
/// axis. On a line the angle rises or falls all the way, so the first angle is at an end of the part within reach.
fn room_before_m(a: [f64; 2], b: [f64; 2], length_m: f64) -> f64 {
    let d = [b[0] - a[0], b[1] - a[1]];
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    // Within the quarter between the side of the car and across it.
    for axis in 0..2 {
        if d[axis] == 0.0 {
            if a[axis] < 0.0 {
                return length_m;
            }
        } else {
            let at = -a[axis] / d[axis];
            if d[axis] > 0.0 { from = from.max(at) } else { to = to.min(at) }
        }
    }
    // Within reach: |a + t d| ≤ length.
    let (dd, ad, aa) = (d[0] * d[0] + d[1] * d[1], a[0] * d[0] + a[1] * d[1], a[0] * a[0] + a[1] * a[1]);
    let beyond = aa - length_m * length_m;
    if dd == 0.0 {
        if beyond > 0.0 {
            return length_m;
        }
    } else {
        let root = ad * ad - dd * beyond;
        if root < 0.0 {
            return length_m;
        }
        let root = root.sqrt();
        (from, to) = (from.max((-ad - root) / dd), to.min((-ad + root) / dd));
    }
    if from > to {
        return length_m;
    }
    let room_m = |t: f64| {
        let [u, v] = [a[0] + t * d[0], a[1] + t * d[1]];
        let far_m = (u * u + v * v).sqrt();
        if far_m > 0.0 { (length_m * v / far_m).clamp(0.0, length_m) } else { 0.0 }
    };
    room_m(from).min(room_m(to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_geometry::EdgeSet;

    const DOOR: DoorSpec = DoorSpec { hinge_m: 2.0, length_m: 1.1 };

    fn room(pose: Pose, lines: &[[(f64, f64); 2]]) -> [f64; 2] {
        let mut edges = EdgeSet::default();
        for [a, b] in lines {
            edges.add_wall(0, &[Point::new(a.0, a.1), Point::new(b.0, b.1)]);
        }
        let mut doors = Doors::new(&DOOR, 0.9, pose);
        doors.meet(edges.edges(), Pose::default());
        doors.room_m()
    }

    fn check(lines: &[[(f64, f64); 2]], expect: [f64; 2]) {
        let found = room(Pose::default(), lines);
        assert!((0..2).all(|side| (found[side] - expect[side]).abs() < 1e-9), "{lines:?}: {found:?}, not {expect:?}");
    }

    #[test]
    fn beside_a_wall_the_room_is_the_gap() {
        check(&[], [1.1, 1.1]);
        check(&[[(-5.0, 1.3), (5.0, 1.3)]], [0.4, 1.1]);
        check(&[[(5.0, -1.6), (-5.0, -1.6)]], [1.1, 0.7]);
        // Beyond the door, before its hinge and behind its edge, nothing is in the way.
        check(&[[(-5.0, 2.1), (5.0, 2.1)], [(2.1, 1.0), (5.0, 1.0)], [(-5.0, 1.0), (0.5, 1.0)]], [1.1, 1.1]);
    }

    #[test]
    fn a_post_near_the_hinge_leaves_more_room_than_its_gap() {
        // 0.4 m back and 0.3 m out: the door may turn by the angle whose sine is 3/5.
        check(&[[(1.6, 1.2), (1.6, 1.2)]], [1.1 * 0.6, 1.1]);
        // The same gap at the edge of the door: its edge cannot go farther than the post.
        check(&[[(2.0 - 1.04, 1.2), (2.0 - 1.04, 1.2)]], [1.1 * 0.3 / (1.04_f64 * 1.04 + 0.09).sqrt(), 1.1]);
        // A wall that ends in the swing, across the car: its end is met first, seen from the hinge.
        check(&[[(1.4, 3.0), (1.4, 1.7)]], [1.1 * 0.8, 1.1]);
        check(&[[(1.4, 0.9), (1.4, 0.9)]], [0.0, 1.1]);
    }

    #[test]
    fn the_room_turns_with_the_car() {
        let pose = Pose::new(3.0, -2.0, 0.7);
        let [a, b] = [(-5.0, 1.3), (5.0, 1.3)].map(|(x, y)| pose.world_from_local(Point::new(x, y)));
        let found = room(pose, &[[(a.x, a.y), (b.x, b.y)]]);
        assert!((found[0] - 0.4).abs() < 1e-9 && found[1] == 1.1, "{found:?}");
    }
}
