//! Corners of a space: every signal and every other dimension at one of its bounds.

use crate::space::{Group, Layout};

/// Most corners that are tried.
pub const CORNERS_MAX: usize = 16;

/// The corners: with few things that vary all of them, otherwise all low, all high and each one against the others.
pub fn corners(layout: &Layout) -> Vec<Vec<f64>> {
    let inside = |n: usize| layout.groups.iter().any(|g| (g.start..g.start + g.len).contains(&n));
    let single = (0..layout.len()).filter(|n| !inside(*n)).map(|start| Group { start, len: 1 });
    let things: Vec<Group> = layout.groups.iter().copied().chain(single).collect();
    let corner = |high: &dyn Fn(usize) -> bool| {
        let mut point = vec![0.0; layout.len()];
        for (n, thing) in things.iter().enumerate() {
            point[thing.start..thing.start + thing.len].fill(if high(n) { 1.0 } else { 0.0 });
        }
        point
    };
    if things.len() < usize::BITS as usize && 1_usize << things.len() <= CORNERS_MAX {
        return (0..1_usize << things.len()).map(|bits| corner(&|n| bits >> n & 1 == 1)).collect();
    }
    let mut found = vec![corner(&|_| false), corner(&|_| true)];
    for one in 0..things.len() {
        found.push(corner(&|n| n == one));
        found.push(corner(&|n| n != one));
    }
    found.truncate(CORNERS_MAX);
    found
}
