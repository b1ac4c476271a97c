//! Collects what the picture of an exploration shows.

use anabranch_explore::{Drawn, Fate};

/// Segments that are collected; more cannot be told apart in a picture.
const SEGMENTS_MAX: usize = 200_000;
/// Segments and states that are drawn where the time budget is used up already.
const HURRIED_MAX: usize = 4_000;
/// Places of kept states that are remembered, 8 bytes each; what starts at later states is not drawn.
const NODES_MAX: usize = 4_000_000;

/// Saved states and the segments between them. When it grows too large every second segment is dropped, so that it
/// stays a fair picture of the whole exploration.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// Places of the kept states, by number.
    pub nodes: Vec<[f32; 2]>,
    /// From and to.
    pub segments: Vec<[[f32; 2]; 2]>,
    seen: u64,
    every: u64,
}

impl Default for Drawing {
    fn default() -> Self {
        Self { nodes: Vec::new(), segments: Vec::new(), seen: 0, every: 1 }
    }
}

impl Drawing {
    /// Whether more is wanted.
    pub fn has_room(&self) -> bool {
        self.nodes.len() < NODES_MAX
    }
    /// One of so many segments was collected.
    pub fn every(&self) -> u64 {
        self.every
    }
    /// A kept state; they come in the order of their numbers.
    pub fn kept(&mut self, node: u64, at: [f64; 3]) {
        if node as usize == self.nodes.len() && self.has_room() {
            self.nodes.push([at[0] as f32, at[1] as f32]);
        }
    }
    /// A segment.
    pub fn drawn(&mut self, drawn: &Drawn) {
        self.seen += 1;
        if drawn.fate == Fate::Fault || !(self.seen - 1).is_multiple_of(self.every) {
            return;
        }
        let Some(from) = self.nodes.get(drawn.parent as usize) else { return };
        self.segments.push([*from, [drawn.to[0] as f32, drawn.to[1] as f32]]);
        if self.segments.len() == SEGMENTS_MAX {
            self.thin_out();
        }
    }
    /// Leaves so little that it is drawn quickly. Nothing is added after that.
    pub fn hurry(&mut self) {
        while self.segments.len() > HURRIED_MAX {
            self.thin_out();
        }
        while self.nodes.len() > HURRIED_MAX {
            drop_every_second(&mut self.nodes);
        }
    }

    fn thin_out(&mut self) {
        drop_every_second(&mut self.segments);
        self.every *= 2;
    }
}

fn drop_every_second<T>(all: &mut Vec<T>) {
    let mut keep = false;
    all.retain(|_| {
        keep = !keep;
        keep
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_exploration_is_thinned_out_evenly() {
        let mut drawing = Drawing::default();
        drawing.kept(0, [0.0; 3]);
        let all = 5 * SEGMENTS_MAX;
        for x in 0..all {
            drawing.drawn(&Drawn { level: 0, parent: 0, to: [x as f64, 0.0, 0.0], fate: Fate::Merged });
        }
        assert!(drawing.segments.len() < SEGMENTS_MAX && drawing.segments.len() > SEGMENTS_MAX / 4);
        assert_eq!(drawing.segments.len() as u64, (all as u64).div_ceil(drawing.every()));
        assert!(drawing.segments.last().unwrap()[1][0] > 0.99 * all as f32);
        drawing.hurry();
        assert!((HURRIED_MAX / 2..=HURRIED_MAX).contains(&drawing.segments.len()), "{}", drawing.segments.len());
        assert!(drawing.segments.last().unwrap()[1][0] > 0.99 * all as f32);
    }
}
