//! From latitude and longitude to metres on a plane that touches the earth.

use anabranch_geometry::Point;
use anabranch_kernel::maths;

/// Equatorial radius of the WGS 84 ellipsoid.
const EQUATOR_M: f64 = 6_378_137.0;
/// Square of its eccentricity: f (2 − f) with f = 1 / 298.257223563.
const ECCENTRICITY2: f64 = 6.694_379_990_141_317e-3;

/// Where the plane touches, with metres per degree there.
///
/// Valid for some kilometres: 5 km north and 5 km east of the origin, at 35° north, it is off by about 3 m and 0.05 %,
/// which shifts a whole map and bends nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Origin {
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east.
    pub longitude: f64,
    /// Metres per degree of latitude.
    pub north_m: f64,
    /// Metres per degree of longitude.
    pub east_m: f64,
}

impl Origin {
    /// The plane at a place given in degrees.
    pub fn new(latitude: f64, longitude: f64) -> Self {
        let degree = std::f64::consts::PI / 180.0;
        let (sin, cos) = maths::sin_cos(latitude * degree);
        // Radii of curvature along the meridian and across it.
        let w2 = 1.0 - ECCENTRICITY2 * sin * sin;
        let across_m = EQUATOR_M / w2.sqrt();
        let along_m = across_m * (1.0 - ECCENTRICITY2) / w2;
        Self { latitude, longitude, north_m: along_m * degree, east_m: across_m * cos * degree }
    }
    /// Metres east and north of the origin.
    pub fn point(&self, latitude: f64, longitude: f64) -> Point {
        Point::new((longitude - self.longitude) * self.east_m, (latitude - self.latitude) * self.north_m)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_degree_has_the_length_that_is_published_for_its_latitude() {
        // Lengths of a degree on WGS 84 as tabulated, for example on Wikipedia ("Geographic coordinate system").
        for (latitude, north_km, east_km) in
            [(0.0, 110.574, 111.320), (30.0, 110.852, 96.486), (45.0, 111.132, 78.847), (60.0, 111.412, 55.800)]
        {
            let origin = Origin::new(latitude, 0.0);
            assert!((origin.north_m / 1000.0 - north_km).abs() < 6e-4, "{latitude} {}", origin.north_m);
            assert!((origin.east_m / 1000.0 - east_km).abs() < 6e-4, "{latitude} {}", origin.east_m);
        }
    }

    #[test]
    fn east_is_x_and_north_is_y() {
        let origin = Origin::new(34.59, -117.37);
        let point = origin.point(34.60, -117.36);
        assert!(point.x > 900.0 && point.x < 930.0 && point.y > 1108.0 && point.y < 1111.0, "{point:?}");
    }
}
