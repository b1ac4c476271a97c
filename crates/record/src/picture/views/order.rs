//! Painter's order: what can be hidden is drawn before what hides it.

use super::super::Point;
use super::camera::{Camera, SIZE};
use super::prism::Prism;
use super::vector::{dot, minus};

/// The part of the picture in which a prism is: low and high corner.
type Window = [Point; 2];

/// Numbers of prisms, the hidden ones first. Two prisms have an order where a side of one of them lies between them; of the rest
/// the farther one is first, also in the rare ring of three that hide each other.
pub(super) fn far_first(prisms: &[Prism], camera: &Camera) -> Vec<usize> {
    let windows: Vec<Option<Window>> = prisms.iter().map(|prism| window(prism, camera)).collect();
    let far: Vec<f64> = prisms
        .iter()
        .map(|prism| {
            let relative = minus(prism.middle(), camera.eye);
            dot(relative, relative)
        })
        .collect();
    let seen: Vec<usize> = (0..prisms.len()).filter(|i| windows[*i].is_some()).collect();
    let mut waits_for = vec![0_u32; prisms.len()];
    let mut hides: Vec<Vec<usize>> = vec![Vec::new(); prisms.len()];
    for (n, &a) in seen.iter().enumerate() {
        for &b in &seen[n + 1..] {
            if !overlap(windows[a].as_ref(), windows[b].as_ref()) {
                continue;
            }
            let a_first = prisms[a].is_behind(&prisms[b], camera.eye).unwrap_or(far[a] > far[b]);
            let (first, later) = if a_first { (a, b) } else { (b, a) };
            hides[first].push(later);
            waits_for[later] += 1;
        }
    }
    let mut left = seen;
    let mut order = Vec::with_capacity(left.len());
    while !left.is_empty() {
        // Who waits for nobody, else who waits for the fewest; the farthest of them.
        let rank = |at: &usize| (waits_for[*at], -far[*at]);
        let next = (0..left.len()).min_by(|a, b| {
            let (a, b) = (rank(&left[*a]), rank(&left[*b]));
            a.0.cmp(&b.0).then_with(|| a.1.total_cmp(&b.1))
        });
        let Some(next) = next else { break };
        let next = left.remove(next);
        for later in &hides[next] {
            waits_for[*later] = waits_for[*later].saturating_sub(1);
        }
        order.push(next);
    }
    order
}

/// Where it is in the picture; none if nothing of it is seen.
fn window(prism: &Prism, camera: &Camera) -> Option<Window> {
    let mut window = [[f64::INFINITY; 2], [f64::NEG_INFINITY; 2]];
    let mut behind = 0;
    for corner in prism.corners() {
        match camera.pixel(corner) {
            None => behind += 1,
            Some(pixel) => {
                for axis in 0..2 {
                    window[0][axis] = window[0][axis].min(pixel[axis]);
                    window[1][axis] = window[1][axis].max(pixel[axis]);
                }
            }
        }
    }
    if behind > 0 {
        // Partly behind: it may be anywhere at the border.
        return window[0][0].is_finite().then_some([[0.0; 2], SIZE]);
    }
    overlap(Some(&window), Some(&[[0.0; 2], SIZE])).then_some(window)
}

fn overlap(a: Option<&Window>, b: Option<&Window>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return false };
    (0..2).all(|axis| a[0][axis] < b[1][axis] && b[0][axis] < a[1][axis])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_thing_before_a_long_wall_is_drawn_after_it() {
        let camera = Camera::new([20.0, 0.0, 2.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]);
        let wall = Prism::wall([-15.0, 3.0], [19.0, 3.0], 0.2, [0.0, 1.0], [1.0; 3]);
        let post = Prism::pillar([-3.0, 2.0], 0.1, [0.0, 1.0], [1.0; 3]);
        let behind = Prism::pillar([40.0, 0.0], 1.0, [0.0, 1.0], [1.0; 3]);
        assert_eq!(far_first(&[post, wall, behind], &camera), [1, 0], "what is behind the eye is not drawn");
    }

    #[test]
    fn three_that_hide_each_other_are_drawn_once_each() {
        let camera = Camera::new([0.0, 0.0, 30.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
        let bar = |turn: f64| {
            let pose = [0.1 * turn, 0.0, turn];
            Prism::block(pose, [5.0, 0.3], [0.0, 1.0], [1.0; 3])
        };
        let mut order = far_first(&[bar(0.0), bar(1.0), bar(2.0)], &camera);
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2]);
    }
}
