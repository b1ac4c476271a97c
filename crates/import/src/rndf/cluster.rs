//! Which exits belong to one junction.

use anabranch_geometry::Point;

/// Turns whose straight lines come this close belong to one junction: two cars would touch.
const CLOSE_M: f64 = 3.0;
/// Entries and exits this far apart are roads of their own, not turns.
const TURN_MAX_M: f64 = 80.0;

/// Number of the junction of each turn, given as lines from exit to entry; none for turns that meet no other.
pub(crate) fn junctions(turns: &[[Point; 2]]) -> Vec<Option<usize>> {
    let mut parents: Vec<usize> = (0..turns.len()).collect();
    // Sorted from west to east, only turns whose ranges overlap are compared.
    let low = |i: usize| turns[i][0].x.min(turns[i][1].x) - CLOSE_M;
    let high = |i: usize| turns[i][0].x.max(turns[i][1].x) + CLOSE_M;
    let short = |i: &usize| turns[*i][0].distance_m(turns[*i][1]) <= TURN_MAX_M;
    let mut order: Vec<usize> = (0..turns.len()).filter(short).collect();
    order.sort_by(|a, b| low(*a).total_cmp(&low(*b)).then(a.cmp(b)));
    for (k, i) in order.iter().enumerate() {
        for j in order[k + 1..].iter().take_while(|j| low(**j) <= high(*i)) {
            if distance_m(turns[*i], turns[*j]) < CLOSE_M {
                let (a, b) = (root(&mut parents, *i), root(&mut parents, *j));
                parents[a.max(b)] = a.min(b);
            }
        }
    }
    let roots: Vec<usize> = (0..turns.len()).map(|i| root(&mut parents, i)).collect();
    let mut numbers = vec![None; turns.len()];
    let mut next = 0;
    for i in 0..turns.len() {
        let members = roots.iter().filter(|root| **root == roots[i]).count();
        if members > 1 && roots[i] == i {
            numbers[i] = Some(next);
            next += 1;
        } else if members > 1 {
            numbers[i] = numbers[roots[i]];
        }
    }
    numbers
}

fn root(parents: &mut [usize], mut i: usize) -> usize {
    while parents[i] != i {
        parents[i] = parents[parents[i]];
        i = parents[i];
    }
    i
}

/// Distance of two edges.
fn distance_m(a: [Point; 2], b: [Point; 2]) -> f64 {
    let cross = |o: Point, p: Point, q: Point| (p.x - o.x) * (q.y - o.y) - (p.y - o.y) * (q.x - o.x);
    let apart = |e: [Point; 2], f: [Point; 2]| cross(e[0], e[1], f[0]) * cross(e[0], e[1], f[1]) < 0.0;
    if apart(a, b) && apart(b, a) {
        return 0.0;
    }
    let ends = [to_edge_m(a[0], b), to_edge_m(a[1], b), to_edge_m(b[0], a), to_edge_m(b[1], a)];
    ends.into_iter().fold(f64::INFINITY, f64::min)
}

fn to_edge_m(point: Point, edge: [Point; 2]) -> f64 {
    let (ex, ey) = (edge[1].x - edge[0].x, edge[1].y - edge[0].y);
    let (px, py) = (point.x - edge[0].x, point.y - edge[0].y);
    let length2 = ex * ex + ey * ey;
    let share = if length2 > 0.0 { ((px * ex + py * ey) / length2).clamp(0.0, 1.0) } else { 0.0 };
    Point::new(px, py).distance_m(Point::new(share * ex, share * ey))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(a: (f64, f64), b: (f64, f64)) -> [Point; 2] {
        [Point::new(a.0, a.1), Point::new(b.0, b.1)]
    }

    #[test]
    fn turns_that_cross_or_share_an_end_make_one_junction() {
        let turns = [
            edge((0.0, 0.0), (20.0, 0.0)),
            edge((500.0, 0.0), (510.0, 10.0)),
            edge((10.0, -10.0), (10.0, 10.0)),
            edge((510.0, 10.0), (520.0, 0.0)),
            edge((900.0, 0.0), (905.0, 0.0)),
        ];
        assert_eq!(junctions(&turns), [Some(0), Some(1), Some(0), Some(1), None]);
    }
}
