//! Where satellites are seen badly or not at all: urban canyons, tunnels (S4-8).

use anabranch_geometry::Point;
use anabranch_roads::{Network, ZoneKind};
use serde::{Deserialize, Serialize};

/// How well a place is served.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reception {
    /// Noise that obeys situations is multiplied by this.
    Scaled(f64),
    /// Nothing is received.
    Lost,
}

impl Reception {
    /// As good as in the open.
    pub const OPEN: Self = Self::Scaled(1.0);

    /// Both at once: lost stays lost, scales multiply.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Scaled(a), Self::Scaled(b)) => Self::Scaled(a * b),
            _ => Self::Lost,
        }
    }
}

/// A part of the world with its own reception.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Zone {
    /// What the scenario calls it.
    pub name: String,
    /// Corners of a polygon in order; need not be convex.
    pub corners: Vec<Point>,
    /// What holds inside.
    pub reception: Reception,
}

impl Zone {
    /// What is wrong with the zone, if anything.
    pub fn fault(&self) -> Option<&'static str> {
        if self.corners.len() < 3 {
            return Some("a zone needs three corners or more");
        }
        if !self.corners.iter().all(|c| c.x.is_finite() && c.y.is_finite()) {
            return Some("a corner of the zone is not finite");
        }
        match self.reception {
            Reception::Scaled(scale) if !(scale.is_finite() && scale >= 0.0) => {
                Some("the scale of a zone must be a number of 0 or more")
            }
            _ => None,
        }
    }
    fn holds(&self, point: Point) -> bool {
        let mut inside = false;
        let mut a = self.corners[self.corners.len() - 1];
        for &b in &self.corners {
            // An edge counts when it crosses the height of the point to its right; half-open, so that a corner counts once.
            if (a.y > point.y) != (b.y > point.y) && point.x < a.x + (point.y - a.y) / (b.y - a.y) * (b.x - a.x) {
                inside = !inside;
            }
            a = b;
        }
        inside
    }
}

/// All zones of a world, with a box around each so that most are passed over quickly.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Zones {
    zones: Vec<(Bounds, Zone)>,
}

/// Least and greatest corner.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bounds {
    low: Point,
    high: Point,
}

impl Zones {
    /// Prepares zones.
    ///
    /// # Panics
    /// If [`Zone::fault`] finds one; scenarios ask before.
    pub fn new(zones: Vec<Zone>) -> Self {
        let bounded = |zone: Zone| {
            assert_eq!(zone.fault(), None, "zones must be checked when they are loaded");
            let fold = |pick: fn(f64, f64) -> f64| {
                let both = |all: Point, c: &Point| Point::new(pick(all.x, c.x), pick(all.y, c.y));
                zone.corners.iter().fold(zone.corners[0], both)
            };
            (Bounds { low: fold(f64::min), high: fold(f64::max) }, zone)
        };
        Self { zones: zones.into_iter().map(bounded).collect() }
    }
    /// These zones and others.
    #[must_use]
    pub fn and(mut self, more: Vec<Zone>) -> Self {
        self.zones.extend(Self::new(more).zones);
        self
    }
    /// The zones of a road map that act on satellites.
    pub fn of_network(network: &Network) -> Self {
        let zone = |zone: &anabranch_roads::Zone| {
            let reception = match zone.kind {
                ZoneKind::GpsLoss => Reception::Lost,
                ZoneKind::UrbanCanyon(scale) => Reception::Scaled(scale),
                ZoneKind::Friction(_) | ZoneKind::Open | ZoneKind::Spot | ZoneKind::BlindCorner(_) => return None,
            };
            Some(Zone { name: zone.name.clone(), corners: zone.corners.clone(), reception })
        };
        Self::new(network.zones().iter().filter_map(zone).collect())
    }
    /// Whether nothing is received somewhere.
    pub fn any_lost(&self) -> bool {
        self.zones.iter().any(|(_, zone)| zone.reception == Reception::Lost)
    }
    /// The reception at a place: that of all zones there together.
    pub fn at(&self, point: Point) -> Reception {
        let near = |b: &Bounds| b.low.x <= point.x && point.x <= b.high.x && b.low.y <= point.y && point.y <= b.high.y;
        let here = self.zones.iter().filter(|(bounds, zone)| near(bounds) && zone.holds(point));
        here.fold(Reception::OPEN, |all, (_, zone)| all.and(zone.reception))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(corners: &[(f64, f64)], reception: Reception) -> Zone {
        let corners = corners.iter().map(|&(x, y)| Point::new(x, y)).collect();
        Zone { name: "zone".into(), corners, reception }
    }

    #[test]
    fn overlapping_zones_act_together_and_lost_wins() {
        let canyon = zone(&[(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0)], Reception::Scaled(3.0));
        let trees = zone(&[(5.0, 0.0), (15.0, 0.0), (15.0, 10.0), (5.0, 10.0)], Reception::Scaled(2.0));
        let tunnel = zone(&[(8.0, 0.0), (9.0, 0.0), (9.0, 10.0), (8.0, 10.0)], Reception::Lost);
        let zones = Zones::new(vec![canyon, trees, tunnel]);
        let at = |x, y| zones.at(Point::new(x, y));
        assert_eq!(at(2.0, 5.0), Reception::Scaled(3.0));
        assert_eq!(at(6.0, 5.0), Reception::Scaled(6.0));
        assert_eq!(at(8.5, 5.0), Reception::Lost);
        assert_eq!(at(12.0, 5.0), Reception::Scaled(2.0));
        assert_eq!(at(20.0, 5.0), Reception::OPEN);
    }

    #[test]
    fn a_zone_need_not_be_convex() {
        // An L: its inner corner is outside.
        let corners = [(0.0, 0.0), (4.0, 0.0), (4.0, 1.0), (1.0, 1.0), (1.0, 4.0), (0.0, 4.0)];
        let zones = Zones::new(vec![zone(&corners, Reception::Lost)]);
        assert_eq!(zones.at(Point::new(3.0, 0.5)), Reception::Lost);
        assert_eq!(zones.at(Point::new(0.5, 3.0)), Reception::Lost);
        assert_eq!(zones.at(Point::new(3.0, 3.0)), Reception::OPEN);
    }

    #[test]
    fn zones_of_a_road_map_that_act_on_satellites_are_taken_over() {
        let mut map = anabranch_roads::make::straight(100.0, 1);
        let corners = |x: f64| [(x, -5.0), (x + 10.0, -5.0), (x + 10.0, 5.0), (x, 5.0)].map(|(x, y)| Point::new(x, y));
        let kinds = [(0.0, ZoneKind::GpsLoss), (20.0, ZoneKind::UrbanCanyon(4.0)), (40.0, ZoneKind::Friction(0.1))];
        for (x, kind) in kinds {
            map.zones.push(anabranch_roads::Zone { name: format!("at {x}"), kind, corners: corners(x).to_vec() });
        }
        let zones = Zones::of_network(&Network::new(&map).unwrap());
        let at = |x| zones.at(Point::new(x, 0.0));
        assert_eq!([at(5.0), at(25.0), at(45.0)], [Reception::Lost, Reception::Scaled(4.0), Reception::OPEN]);
    }

    #[test]
    fn senseless_zones_are_told() {
        assert!(zone(&[(0.0, 0.0), (1.0, 0.0)], Reception::Lost).fault().is_some());
        assert!(zone(&[(0.0, 0.0), (1.0, 0.0), (f64::NAN, 1.0)], Reception::Lost).fault().is_some());
        assert!(zone(&[(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)], Reception::Scaled(-1.0)).fault().is_some());
    }
}
