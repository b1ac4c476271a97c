//! How roads lie in the memory of a module: `ab_leg` and `ab_road` of `c/anabranch_wasm.h`.

use super::layout::Block;
use crate::protocol::{BesideSeen, LegFacts, RoadSeen, then_number};

impl Block {
    /// The legs of a route, and their names after them.
    pub(super) fn route(&mut self, pointer: usize, route: &[LegFacts]) {
        self.points_here(pointer);
        let mut names = Vec::with_capacity(route.len());
        for leg in route {
            names.push(self.pointer());
            self.words([leg.lane.len() as u32]);
            self.reals(&[leg.from_m, leg.to_m, f64::from(then_number(&leg.then))]);
        }
        for (pointer, leg) in names.into_iter().zip(route) {
            self.points_here(pointer);
            self.text(&leg.lane);
        }
    }

    /// The car on its road: the fixed part, then its lists and names.
    pub(super) fn road(&mut self, pointer: usize, road: &RoadSeen) {
        self.points_here(pointer);
        self.reals(&[road.station, road.lateral, road.heading, road.width, road.speed_limit]);
        self.reals(&[f64::from(then_number(&road.then)), road.then_in, road.route_left, road.step]);
        let ahead = self.pointer();
        self.words([road.ahead.len() as u32]);
        let lines = self.pointer();
        self.words([road.lines.len() as u32]);
        let lane = self.pointer();
        self.words([road.lane.len() as u32]);
        let left = self.beside(road.left.as_ref());
        let right = self.beside(road.right.as_ref());
        self.points_here(ahead);
        road.ahead.iter().for_each(|row| self.reals(row));
        self.points_here(lines);
        for line in &road.lines {
            self.reals(&[line.ahead, f64::from(line.sign_number()), f64::from(line.light_number())]);
        }
        let names = [(lane, Some(&road.lane)), (left, road.left.as_ref().map(|beside| &beside.lane))];
        for (pointer, name) in names.into_iter().chain([(right, road.right.as_ref().map(|beside| &beside.lane))]) {
            if let Some(name) = name {
                self.points_here(pointer);
                self.text(name);
            }
        }
    }

    /// A lane beside, whose name comes later; all zero where there is none.
    fn beside(&mut self, beside: Option<&BesideSeen>) -> usize {
        let pointer = self.pointer();
        self.words([beside.map_or(0, |beside| beside.lane.len() as u32)]);
        let (apart, may_change) = beside.map_or((0.0, false), |beside| (beside.apart, beside.may_change));
        self.reals(&[apart, f64::from(u8::from(may_change))]);
        pointer
    }
}
