//! Walls and polygons that make sense.

use anabranch_geometry::Point;

use super::super::codes::Code;
use super::super::problems::Problems;
use super::super::span::{Located, Span};

/// Twice the signed area of a triangle; positive if it turns left. Exact enough for coordinates people write.
fn turn(a: Point, b: Point, c: Point) -> f64 {
    (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
}

fn within_box(a: Point, b: Point, p: Point) -> bool {
    p.x >= a.x.min(b.x) && p.x <= a.x.max(b.x) && p.y >= a.y.min(b.y) && p.y <= a.y.max(b.y)
}

/// Whether two edges have a point in common.
fn meet((a, b): (Point, Point), (c, d): (Point, Point)) -> bool {
    let [abc, abd, cda, cdb] = [turn(a, b, c), turn(a, b, d), turn(c, d, a), turn(c, d, b)];
    let opposite = |p: f64, q: f64| (p > 0.0 && q < 0.0) || (p < 0.0 && q > 0.0);
    (opposite(abc, abd) && opposite(cda, cdb))
        || (abc == 0.0 && within_box(a, b, c))
        || (abd == 0.0 && within_box(a, b, d))
        || (cda == 0.0 && within_box(c, d, a))
        || (cdb == 0.0 && within_box(c, d, b))
}

pub(in super::super) fn check_wall(problems: &mut Problems<'_>, span: Span, points: &[Located<Point>]) {
    if points.len() < 2 {
        let help = "write line = [[\"0 m\", \"0 m\"], [\"1 m\", \"0 m\"]]";
        return problems.add(Code::ShortWall, span, "a wall needs at least two points", help);
    }
    check_neighbours(problems, points.windows(2).map(|pair| (&pair[0], &pair[1])));
}

pub(in super::super) fn check_polygon(problems: &mut Problems<'_>, span: Span, points: &[Located<Point>]) {
    if points.len() < 3 {
        let help = "add corners, or use a [[world.wall]] for a line";
        return problems.add(Code::FewCorners, span, "a polygon needs at least three corners", help);
    }
    let closing = std::iter::once((&points[0], &points[points.len() - 1]));
    if check_neighbours(problems, points.windows(2).map(|pair| (&pair[0], &pair[1])).chain(closing)) {
        return;
    }
    let corners: Vec<Point> = points.iter().map(|point| point.value).collect();
    if let Some(index) = first_crossing(&corners) {
        let help = "give the corners in order around the obstacle";
        let message = "the polygon crosses or touches itself at the edge that begins here";
        problems.add(Code::CrossingPolygon, points[index].span, message, help);
    }
}

/// Complains about neighbours at the same place, at the second of them, and says whether there were any.
fn check_neighbours<'p>(
    problems: &mut Problems<'_>,
    pairs: impl Iterator<Item = (&'p Located<Point>, &'p Located<Point>)>,
) -> bool {
    let mut found = false;
    for (_, second) in pairs.filter(|(first, second)| first.value == second.value) {
        let message = "this point is at the same place as its neighbour";
        problems.add(Code::ZeroLength, second.span, message, "remove one of the two; polygons close by themselves");
        found = true;
    }
    found
}

/// The first edge that meets one it should not; edges are numbered by their first corner.
fn first_crossing(corners: &[Point]) -> Option<usize> {
    let n = corners.len();
    let edge = |i: usize| (corners[i], corners[(i + 1) % n]);
    // Neighbours share a corner; they only overlap where the polygon turns back on itself.
    let folds = |i: usize| {
        let (a, b, c) = (corners[i], corners[(i + 1) % n], corners[(i + 2) % n]);
        turn(a, b, c) == 0.0 && (b.x - a.x) * (c.x - b.x) + (b.y - a.y) * (c.y - b.y) < 0.0
    };
    let are_apart = |i: usize, j: usize| j > i + 1 && (j + 1) % n != i;
    (0..n).find(|&i| folds(i) || (0..n).any(|j| are_apart(i, j) && meet(edge(i), edge(j))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(corners: &[(f64, f64)], expect: Option<usize>) {
        let corners: Vec<Point> = corners.iter().map(|(x, y)| Point::new(*x, *y)).collect();
        assert_eq!(first_crossing(&corners), expect, "{corners:?}");
    }

    #[test]
    fn polygons_that_cross_touch_or_fold_are_found() {
        check(&[(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)], None);
        check(&[(0.0, 0.0), (1.0, 1.0), (1.0, 0.0), (0.0, 1.0)], Some(0));
        check(&[(0.0, 0.0), (2.0, 0.0), (1.0, 0.0)], Some(0));
        check(&[(0.0, 0.0), (4.0, 0.0), (4.0, 2.0), (2.0, 0.0), (0.0, 2.0)], Some(0));
        check(&[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (1.0, 1.0)], None);
    }
}
