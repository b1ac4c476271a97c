//! Values on their way: what was passed on so many base cycles ago.

use anabranch_kernel::{Continuous, Visitor};
use serde::{Deserialize, Serialize};

/// One of the values of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Channel {
    /// Name of the variable.
    pub name: &'static str,
    /// Unit of the values; `rad` is written to the key as an angle.
    pub unit: &'static str,
    /// Cell size of every sample.
    pub cell: f64,
}

/// The last samples of `W` values each. Part of the saved state; empty and free of allocation where nothing can be delayed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DelayLine<const W: usize> {
    /// Where the next sample goes: the place of the oldest one.
    next: u16,
    /// Earlier samples, one after another.
    values: Vec<f64>,
}

impl<const W: usize> DelayLine<W> {
    /// A line that can look back `depth_ticks` samples and has only ever seen `rest`.
    pub fn new(depth_ticks: u16, rest: [f64; W]) -> Self {
        Self { next: 0, values: rest.repeat(usize::from(depth_ticks)) }
    }
    /// How far it can look back.
    pub fn depth_ticks(&self) -> usize {
        self.values.len() / W
    }
    /// Stores the sample of this base cycle and returns the one of `delay_ticks` cycles ago; 0 is the sample itself.
    ///
    /// # Panics
    /// When it cannot look back so far.
    #[inline]
    pub fn pass(&mut self, sample: [f64; W], delay_ticks: u16) -> [f64; W] {
        if self.values.is_empty() {
            assert_eq!(delay_ticks, 0, "this line was built without depth");
            return sample;
        }
        let (depth, delay, next) = (self.depth_ticks(), usize::from(delay_ticks), usize::from(self.next));
        assert!(delay <= depth, "the line looks back {depth} base cycles, not {delay}");
        let told = if delay == 0 { sample } else { self.at((next + depth - delay) % depth) };
        self.values[next * W..(next + 1) * W].copy_from_slice(&sample);
        self.next = if next + 1 == depth { 0 } else { self.next + 1 };
        told
    }
    fn at(&self, place: usize) -> [f64; W] {
        std::array::from_fn(|i| self.values[place * W + i])
    }

    /// Names one variable per channel, none for a line without depth. Every stored sample is in the key with the cell of its
    /// channel, the oldest first.
    pub fn visit<V: Visitor>(&self, channels: &[Channel; W], v: &mut V) {
        if self.values.is_empty() {
            return v.constant("", "nothing can be delayed");
        }
        v.constant("values#", "its depth does not change");
        v.rounded("next", "samples are in the key in their order, wherever the ring begins");
        let variables: [Continuous; W] = channels.map(|c| v.continuous(c.name, c.unit, c.cell));
        let (older, newer) = (&self.values[usize::from(self.next) * W..], &self.values[..usize::from(self.next) * W]);
        for sample in older.chunks_exact(W).chain(newer.chunks_exact(W)) {
            for (i, value) in sample.iter().enumerate() {
                match channels[i].unit {
                    "rad" => v.put_angle(variables[i], *value),
                    _ => v.put(variables[i], *value),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_kernel::{Declarations, Grid, KeyWriter, from_bytes, to_bytes};

    const CHANNELS: [Channel; 2] =
        [Channel { name: "x", unit: "m", cell: 0.1 }, Channel { name: "heading", unit: "rad", cell: 0.1 }];

    #[test]
    fn a_line_tells_what_was_so_many_ticks_ago() {
        let mut line = DelayLine::new(3, [-1.0, 0.0]);
        let told = |line: &mut DelayLine<2>, n: f64, delay| line.pass([n, 0.0], delay)[0];
        let seen: Vec<f64> =
            [3, 3, 3, 3, 0, 1, 2, 3].iter().enumerate().map(|(n, &d)| told(&mut line, n as f64, d)).collect();
        assert_eq!(seen, [-1.0, -1.0, -1.0, 0.0, 4.0, 4.0, 4.0, 4.0]);
    }

    #[test]
    fn a_line_without_depth_is_a_wire() {
        let mut line = DelayLine::new(0, [0.0; 2]);
        assert_eq!(line.pass([1.0, 2.0], 0), [1.0, 2.0]);
        assert!(Declarations::of(|v| line.visit(&CHANNELS, v)).variables.is_empty());
        assert_eq!(to_bytes(&line).len(), 2);
    }

    #[test]
    fn the_key_sees_every_sample_and_not_where_the_ring_begins() {
        let grid = Grid::of(&Declarations::of(|v| DelayLine::new(3, [0.0; 2]).visit(&CHANNELS, v)).variables);
        let key = |line: &DelayLine<2>| {
            let mut key = KeyWriter::new(&grid);
            line.visit(&CHANNELS, &mut key.visitor(&[]));
            key.finish().unwrap()
        };
        let fill = |samples: &[f64]| {
            let mut line = DelayLine::new(3, [0.0; 2]);
            samples.iter().for_each(|&x| {
                line.pass([x, 0.0], 0);
            });
            line
        };
        assert_eq!(key(&fill(&[1.0, 2.0, 3.0])), key(&fill(&[9.0, 1.0, 2.0, 3.0])));
        for other in [[0.0, 2.0, 3.0], [1.0, 0.0, 3.0], [1.0, 2.0, 0.0], [2.0, 1.0, 3.0]] {
            assert_ne!(key(&fill(&[1.0, 2.0, 3.0])), key(&fill(&other)));
        }
    }

    #[test]
    fn a_saved_line_goes_on_as_if_nothing_had_happened() {
        let mut line = DelayLine::new(4, [0.5, 0.1]);
        (0..7).for_each(|n| {
            line.pass([f64::from(n), 0.0], 2);
        });
        let mut loaded: DelayLine<2> = from_bytes(&to_bytes(&line)).unwrap();
        for n in 0..9 {
            assert_eq!(line.pass([f64::from(n), 1.0], n % 5), loaded.pass([f64::from(n), 1.0], n % 5));
        }
    }
}
