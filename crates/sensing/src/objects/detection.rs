//! What an object sensor tells about one object, and readings on their way.

use anabranch_kernel::Visitor;
use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

/// Most detections in one reading; nearer ones go first.
pub const DETECTIONS_MAX: usize = 32;

/// An object as a sensor tells it, in the world as the car believes it to be.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Detection {
    /// Middle, metres east.
    pub x: f64,
    /// Middle, metres north.
    pub y: f64,
    /// Radians.
    pub heading: f64,
    /// Metres.
    pub length_m: f64,
    /// Metres.
    pub width_m: f64,
}

/// One reading.
pub type Detections = ArrayVec<Detection, DETECTIONS_MAX>;

/// Readings on their way: what was passed on so many sensor cycles ago. State; empty where nothing is delayed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadingLine {
    /// Where the next reading goes: the place of the oldest one.
    next: u16,
    /// Detections of one reading.
    width: u16,
    counts: Vec<u8>,
    /// `width` places per reading.
    detections: Vec<Detection>,
}

impl ReadingLine {
    /// A line that can look back so many readings of at most so many detections, and has seen nothing yet.
    ///
    /// # Panics
    /// With more than [`DETECTIONS_MAX`] detections per reading.
    pub fn new(depth: u16, detections_max: usize) -> Self {
        assert!(detections_max <= DETECTIONS_MAX, "at most {DETECTIONS_MAX} detections fit into a reading");
        let (readings, width) = (usize::from(depth), detections_max as u16);
        let detections = vec![Detection::default(); readings * detections_max];
        Self { next: 0, width, counts: vec![0; readings], detections }
    }
    /// Stores a reading and puts the one of `delay` readings ago in its place; 0 leaves it as it is.
    ///
    /// # Panics
    /// When it cannot look back so far.
    pub fn pass(&mut self, reading: &mut Detections, delay: u16) {
        let (depth, width) = (self.counts.len(), usize::from(self.width));
        assert!(usize::from(delay) <= depth, "the line looks back {depth} readings, not {delay}");
        if depth == 0 {
            return;
        }
        let next = usize::from(self.next);
        let told: Option<Detections> = (delay > 0).then(|| {
            let place = (next + depth - usize::from(delay)) % depth;
            let from = place * width;
            self.detections[from..from + usize::from(self.counts[place])].iter().copied().collect()
        });
        // Places that are not used stay as they were made, so that equal readings are equal bytes.
        let places = &mut self.detections[next * width..(next + 1) * width];
        places.fill(Detection::default());
        let kept = reading.len().min(width);
        places[..kept].copy_from_slice(&reading[..kept]);
        self.counts[next] = kept as u8;
        self.next = if next + 1 == depth { 0 } else { self.next + 1 };
        if let Some(told) = told {
            *reading = told;
        }
    }
    /// Names one variable per number of a detection, and one for how many there are; none for a line without depth. All readings
    /// are in the key, the oldest first.
    pub fn visit<V: Visitor>(&self, v: &mut V) {
        if self.counts.is_empty() {
            return v.constant("", "nothing can be delayed");
        }
        v.constant("width", "its size does not change");
        v.constant("counts#", "its size does not change");
        v.constant("detections#", "its size does not change");
        v.rounded("next", "readings are in the key in their order, wherever the ring begins");
        v.unread("detections", "places of a reading that has fewer detections");
        let (x, y) = (v.continuous("x", "m", 0.2), v.continuous("y", "m", 0.2));
        let heading = v.continuous("heading", "rad", 0.1);
        let (length, width) = (v.continuous("length", "m", 0.2), v.continuous("width", "m", 0.2));
        let count = v.discrete("count");
        let depth = self.counts.len();
        for age in 0..depth {
            let place = (usize::from(self.next) + age) % depth;
            v.put_exact(count, u64::from(self.counts[place]));
            let from = place * usize::from(self.width);
            for told in &self.detections[from..from + usize::from(self.counts[place])] {
                v.put(x, told.x);
                v.put(y, told.y);
                v.put_angle(heading, told.heading);
                v.put(length, told.length_m);
                v.put(width, told.width_m);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use anabranch_kernel::{Declarations, Grid, KeyWriter, from_bytes, to_bytes};

    use super::*;

    fn reading(xs: &[f64]) -> Detections {
        xs.iter().map(|&x| Detection { x, ..Detection::default() }).collect()
    }

    #[test]
    fn readings_arrive_as_many_cycles_later_as_they_are_told() {
        let mut line = ReadingLine::new(2, 4);
        let mut told = Vec::new();
        for (xs, delay) in [(&[1.0][..], 2), (&[2.0, 2.5], 2), (&[], 2), (&[4.0], 1), (&[5.0], 0), (&[6.0], 2)] {
            line = from_bytes(&to_bytes(&line)).unwrap();
            let mut now = reading(xs);
            line.pass(&mut now, delay);
            told.push(now.iter().map(|d| d.x).collect::<Vec<_>>());
        }
        assert_eq!(told, [vec![], vec![], vec![1.0], vec![], vec![5.0], vec![4.0]]);
    }

    #[test]
    fn the_key_sees_every_reading_and_not_where_the_ring_begins() {
        let line = |readings: &[&[f64]]| {
            let mut line = ReadingLine::new(2, 4);
            readings.iter().for_each(|xs| line.pass(&mut reading(xs), 0));
            line
        };
        let grid = Grid::of(&Declarations::of(|v| ReadingLine::new(2, 4).visit(v)).variables);
        let key = |line: &ReadingLine| {
            let mut key = KeyWriter::new(&grid);
            line.visit(&mut key.visitor(&[]));
            key.finish().unwrap()
        };
        let one = line(&[&[1.0], &[2.0]]);
        assert_eq!(key(&one), key(&line(&[&[9.0], &[1.0], &[2.0]])));
        for other in [line(&[&[2.0], &[1.0]]), line(&[&[1.0, 2.0], &[]]), line(&[&[1.0], &[2.5]])] {
            assert_ne!(key(&one), key(&other));
        }
        assert!(Declarations::of(|v| ReadingLine::new(0, 4).visit(v)).variables.is_empty());
    }
}
