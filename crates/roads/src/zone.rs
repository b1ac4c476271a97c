//! Areas with a property of their own: ice, no satellites, a parking lot.

use anabranch_geometry::Point;

/// What is special inside of a zone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ZoneKind {
    /// Friction between tyre and road, as a coefficient: 0.9 dry asphalt, 0.5 wet, 0.1 ice (S2-34).
    Friction(f64),
    /// No satellite navigation.
    GpsLoss,
    /// Houses reflect the signals of satellites: position noise is this many times its usual deviation (S4-8).
    UrbanCanyon(f64),
    /// An area without lanes in which cars drive freely (S4-22).
    Open,
    /// A place to park in.
    Spot,
    /// From here one sees only so far into a crossing lane, in metres (S3-19).
    BlindCorner(f64),
}

/// A polygon with a property.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone {
    /// Its id.
    pub name: String,
    /// What is special there.
    pub kind: ZoneKind,
    /// Corners of a simple polygon, in either direction.
    pub corners: Vec<Point>,
}

impl Zone {
    /// Whether a point lies inside, by counting the edges to its right. Points on an edge belong to one side only, so zones
    /// that share an edge share no point.
    pub fn contains(&self, point: Point) -> bool {
        let n = self.corners.len();
        let crosses = |i: &usize| {
            let (a, b) = (self.corners[*i], self.corners[(*i + 1) % n]);
            (a.y > point.y) != (b.y > point.y) && point.x < a.x + (point.y - a.y) / (b.y - a.y) * (b.x - a.x)
        };
        (0..n).filter(crosses).count() % 2 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(corners: &[(f64, f64)]) -> Zone {
        let corners = corners.iter().map(|(x, y)| Point::new(*x, *y)).collect();
        Zone { name: "ice".into(), kind: ZoneKind::Friction(0.1), corners }
    }

    #[test]
    fn the_inside_of_a_concave_polygon_is_told_from_its_notch() {
        let shape = zone(&[(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (2.0, 1.0), (0.0, 4.0)]);
        for (x, y, inside) in
            [(2.0, 0.5, true), (2.0, 2.0, false), (0.5, 3.0, true), (3.7, 3.0, true), (5.0, 1.0, false)]
        {
            assert_eq!(shape.contains(Point::new(x, y)), inside, "{x} {y}");
        }
    }

    #[test]
    fn zones_that_share_an_edge_share_no_point() {
        let left = zone(&[(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]);
        let right = zone(&[(1.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 1.0)]);
        let edge = Point::new(1.0, 0.5);
        assert!(left.contains(edge) != right.contains(edge));
    }
}
