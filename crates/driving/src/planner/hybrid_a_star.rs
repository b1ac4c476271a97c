//! Search over a lattice of arcs that shoots at the goal from every pose it visits.
//!
//! Dolgov et al., "Practical search techniques in path planning for autonomous driving" (2008): poses stay exact, the
//! lattice only decides which of them are alike. The estimate is the larger of the cheapest path without obstacles
//! (Reeds–Shepp) and the way of a disc around the obstacles.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::f64::consts::PI;

use anabranch_geometry::{Arc, Pose, along_arc};
use anabranch_kernel::maths::{hypot, wrap_angle};

use super::corner::for_each_corner;
use super::guide::Guide;
use super::reeds_shepp::{Word, for_each_word};
use super::surroundings::{Bounds, Surroundings};
use super::tiles::Tiles;
use super::{End, Gear, PlanError, PlanRequest, allowed};

/// Side of the lattice's tiles.
const TILE_M: f64 = 0.2;
/// Headings of the lattice: every 5 degrees.
const HEADINGS: usize = 72;
/// Length of the lattice's arcs: more than the diagonal of a tile.
const STEP_M: f64 = 0.5;
/// Curvatures of the lattice's arcs, in parts of the largest.
const CURVATURES: [f64; 5] = [0.0, 0.5, -0.5, 1.0, -1.0];
/// Words tried per shot at the goal, cheapest first.
const SHOTS_MAX: usize = 8;
/// One shot per this many metres of estimated way: far from the goal shots rarely hit.
const SHOT_EVERY_M: f64 = 4.0;
/// A path is taken at once when no other can be cheaper by more than this share.
const GOOD_ENOUGH: f64 = 0.97;
/// Poses still tried after the first path was found, in search of a cheaper one.
const AFTERTHOUGHT: u32 = 2_000;
/// Marks a pose of the lattice that was not reached.
const NOBODY: u32 = u32::MAX;

struct Node {
    pose: Pose,
    cost: f64,
    parent: u32,
    /// The arc that led here; of no length at the start.
    arc: Arc,
    closed: bool,
}

/// A node to expand, the cheapest estimate first; of equals the one reached first.
#[derive(PartialEq)]
struct Open {
    total: f64,
    node: u32,
    /// Whether the estimate regards how the car turns.
    refined: bool,
}
impl Eq for Open {}
impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        other.total.total_cmp(&self.total).then(other.node.cmp(&self.node))
    }
}
impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A way to the goal: up to a node along the lattice, then a word.
struct Found {
    cost: f64,
    node: u32,
    word: Word,
    at: u32,
}

/// One search; its memory is dropped with it.
pub(super) struct Search<'a> {
    request: &'a PlanRequest<'a>,
    surroundings: &'a Surroundings<'a>,
    guide: Guide,
    /// The node that holds each heading and gear of a tile; empty where nothing was reached.
    lattice: Tiles<Vec<u32>>,
    nodes: Vec<Node>,
    open: BinaryHeap<Open>,
    found: Option<Found>,
    expanded: u32,
}

impl<'a> Search<'a> {
    /// `None` if preparing it takes too much time.
    pub(super) fn new(request: &'a PlanRequest<'a>, surroundings: &'a Surroundings<'a>) -> Option<Self> {
        let outline = request.outline;
        let size_m = hypot(outline.front_m + outline.rear_m, 2.0 * outline.half_width_m);
        let margin_m = 2.0 * request.turning_radius_m + size_m + request.safety_distance_m;
        let ends = request.edges.iter().flat_map(|edge| [edge.a, edge.b]);
        let points = ends.chain([request.start.point(), request.goal.point()]);
        let bounds = Bounds::of(points).expect("start and goal are points").grown(margin_m);
        let guide = Guide::new(request, surroundings, bounds)?;
        let lattice = Tiles::new(bounds, TILE_M, Vec::new());
        let open = BinaryHeap::new();
        Some(Self { request, surroundings, guide, lattice, nodes: Vec::new(), open, found: None, expanded: 0 })
    }

    /// The arcs from start to goal.
    pub(super) fn run(mut self) -> Result<Vec<Arc>, PlanError> {
        let standing = Arc { curvature_per_m: 0.0, length_m: 0.0 };
        self.reach(Node { pose: self.request.start, cost: 0.0, parent: NOBODY, arc: standing, closed: false });
        let mut ended = PlanError::NoPath { expanded: 0 };
        while let Some(open) = self.open.pop() {
            if self.is_settled(&open) {
                break;
            }
            if self.nodes[open.node as usize].closed || !self.refine(&open) {
                continue;
            }
            if self.expanded == self.request.expansions_max {
                ended = PlanError::LimitReached { expanded: self.expanded };
                break;
            }
            self.expand(&open);
        }
        if let PlanError::NoPath { expanded } = &mut ended {
            *expanded = self.expanded;
        }
        self.found.as_ref().map(|found| self.arcs_of(found)).ok_or(ended)
    }

    /// Whether searching on is not worth it.
    fn is_settled(&self, open: &Open) -> bool {
        self.found
            .as_ref()
            .is_some_and(|found| open.total >= GOOD_ENOUGH * found.cost || self.expanded >= found.at + AFTERTHOUGHT)
    }

    /// Replaces a rough estimate by the better one; `false` if another node is now cheaper.
    fn refine(&mut self, open: &Open) -> bool {
        if open.refined {
            return true;
        }
        let node = &self.nodes[open.node as usize];
        let (before, pose) = (self.before(open.node), node.pose);
        let mut least = f64::INFINITY;
        self.for_each_shot(pose, before, |cost, _| least = least.min(cost));
        let total = if least.is_finite() { open.total.max(node.cost + least) } else { open.total };
        let better = self.open.peek().is_none_or(|next| next.total >= total);
        if !better {
            self.open.push(Open { total, node: open.node, refined: true });
        }
        better
    }

    fn expand(&mut self, open: &Open) {
        self.nodes[open.node as usize].closed = true;
        let Node { pose, cost, .. } = self.nodes[open.node as usize];
        let rest = open.total - cost;
        if self.expanded.is_multiple_of(1 + (rest / SHOT_EVERY_M) as u32) {
            self.shoot(open.node);
        }
        self.expanded += 1;
        let before = self.before(open.node);
        for length_m in [STEP_M, -STEP_M] {
            for share in CURVATURES {
                let arc = Arc { curvature_per_m: share / self.request.turning_radius_m, length_m };
                if self.request.gears.allow(Gear::of(arc)) {
                    let cost = cost + self.request.costs.arc(before, arc, self.request.turning_radius_m);
                    self.try_arc(pose, cost, open.node, arc);
                }
            }
        }
    }

    /// Drives an arc of the lattice and keeps where it ends, if it may be driven and no cheaper way led there.
    fn try_arc(&mut self, from: Pose, cost: f64, parent: u32, arc: Arc) {
        let mut pose = along_arc(from, arc.curvature_per_m, arc.length_m);
        pose.heading = wrap_angle(pose.heading);
        let Some(&mut holder) = self.holder(pose, arc) else { return };
        let known = self.nodes.get(holder as usize);
        if known.is_some_and(|known| known.closed || known.cost <= cost) {
            return;
        }
        let Some(closeness_m) = self.surroundings.closeness_m(from, arc) else { return };
        let cost = cost + closeness_m * self.request.costs.closeness_factor;
        if known.is_none_or(|known| cost < known.cost) {
            self.reach(Node { pose, cost, parent, arc, closed: false });
        }
    }

    /// Adds a node, if the guide knows a way from it.
    fn reach(&mut self, node: Node) {
        let way_m = self.guide.distance_m(self.surroundings.middle(node.pose));
        let number = u32::try_from(self.nodes.len()).expect("the limit keeps nodes countable");
        let Some(holder) = self.holder(node.pose, node.arc).filter(|_| way_m.is_finite()) else { return };
        let replaced = std::mem::replace(holder, number);
        if let Some(replaced) = self.nodes.get_mut(replaced as usize) {
            replaced.closed = true;
        }
        let per_metre = match self.request.gears {
            super::Gears::Forward => 1.0,
            super::Gears::Reverse => self.request.costs.reverse_factor,
            super::Gears::Both => self.request.costs.reverse_factor.min(1.0),
        };
        self.open.push(Open { total: node.cost + way_m * per_metre, node: number, refined: false });
        self.nodes.push(node);
    }

    /// Who holds the place of a pose in the lattice; `None` out of bounds.
    fn holder(&mut self, pose: Pose, arc: Arc) -> Option<&mut u32> {
        let tile = self.lattice.index(pose.point())?;
        let slots = self.lattice.get_mut(tile);
        if slots.is_empty() {
            slots.resize(2 * HEADINGS, NOBODY);
        }
        let turn = (wrap_angle(pose.heading) / (2.0 * PI) + 0.5) * HEADINGS as f64;
        let heading = (turn.floor().max(0.0) as usize).min(HEADINGS - 1);
        Some(&mut slots[2 * heading + usize::from(Gear::of(arc) == Gear::Reverse)])
    }

    /// The arc that led to a node, if it is not the start.
    fn before(&self, node: u32) -> Option<Arc> {
        let node = &self.nodes[node as usize];
        (node.parent != NOBODY).then_some(node.arc)
    }

    /// Visits the words from a pose to the goal that use the right gears, with their cost but for closeness.
    fn for_each_shot(&self, pose: Pose, before: Option<Arc>, mut visit: impl FnMut(f64, Word)) {
        let radius_m = self.request.turning_radius_m;
        let mut consider = |word: Word| {
            if allowed(self.request, before, word.arcs(), End::Goal) {
                visit(self.request.costs.arcs(before, word.arcs(), radius_m), word);
            }
        };
        for_each_word(pose, self.request.goal, radius_m, &mut consider);
        for_each_corner(pose, self.request.goal, radius_m, &mut consider);
    }

    /// Tries to end the path by a word from a node.
    fn shoot(&mut self, node: u32) {
        let Node { pose, cost, .. } = self.nodes[node as usize];
        let mut shots = Vec::new();
        self.for_each_shot(pose, self.before(node), |price, word| shots.push((price, word)));
        shots.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (price, word) in shots.into_iter().take(SHOTS_MAX) {
            if self.found.as_ref().is_some_and(|found| found.cost <= cost + price) {
                return;
            }
            let Some(closeness_m) = closeness_m(self.surroundings, pose, word.arcs()) else { continue };
            let cost = cost + price + closeness_m * self.request.costs.closeness_factor;
            if self.found.as_ref().is_none_or(|found| cost < found.cost) {
                let at = self.found.as_ref().map_or(self.expanded, |found| found.at);
                self.found = Some(Found { cost, node, word, at });
            }
        }
    }

    fn arcs_of(&self, found: &Found) -> Vec<Arc> {
        let mut arcs = Vec::new();
        let mut number = found.node;
        while let Some(arc) = self.before(number) {
            arcs.push(arc);
            number = self.nodes[number as usize].parent;
        }
        arcs.reverse();
        arcs.extend_from_slice(found.word.arcs());
        arcs
    }
}

/// Weighted metres close to obstacles along arcs; `None` if they come closer than the safety distance.
pub(super) fn closeness_m(surroundings: &Surroundings<'_>, from: Pose, arcs: &[Arc]) -> Option<f64> {
    let mut pose = from;
    arcs.iter().try_fold(0.0, |sum_m, &arc| {
        let closeness_m = surroundings.closeness_m(pose, arc)?;
        pose = along_arc(pose, arc.curvature_per_m, arc.length_m);
        Some(sum_m + closeness_m)
    })
}
