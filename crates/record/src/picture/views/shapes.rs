//! What those who move look like: a few prisms of their true length and width. Heights are usual ones.

use super::super::Point;
use super::prism::{Prism, in_world};
use super::{Mover, Rgb};

/// What somebody looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// With a cabin.
    Car,
    /// A cab in front of a high box.
    Lorry,
    /// A cab in front of a low frame that a trailer lies on.
    Tractor,
    /// A high box that lies on a tractor or follows a car.
    Trailer,
    /// Somebody on a bicycle.
    Cyclist,
    /// Somebody on foot.
    Person,
    /// A box.
    Thing,
}

const GLASS: Rgb = [0.22, 0.27, 0.34];
const DARK: Rgb = [0.14, 0.14, 0.15];
const SKIN: Rgb = [0.86, 0.7, 0.58];
const HEADLIGHT: Rgb = [1.0, 0.97, 0.78];
const TAIL_LIGHT: Rgb = [0.8, 0.08, 0.06];
/// Length of the cab of a lorry.
const CAB_M: f64 = 2.3;
/// How far lights stand out, so that they are seen.
const LAMP_M: f64 = 0.02;

impl Mover {
    /// Height of its highest part.
    pub(super) fn height_m(&self) -> f64 {
        match self.shape {
            Shape::Car => 1.5,
            Shape::Lorry => 3.3,
            Shape::Tractor => 3.0,
            Shape::Trailer => 3.5,
            Shape::Cyclist | Shape::Person => 1.75,
            Shape::Thing => (1.8 * self.half_m[1]).clamp(0.5, 2.0),
        }
    }

    /// Its prisms.
    pub(super) fn prisms(&self) -> Vec<Prism> {
        match self.shape {
            Shape::Car => self.car(),
            Shape::Lorry => self.with_cab([0.75, self.height_m()], self.colour.map(|c| 0.4 + 0.6 * c)),
            Shape::Tractor => self.with_cab([0.6, 0.95], DARK),
            Shape::Trailer => self.trailer(),
            Shape::Cyclist => self.cyclist(),
            Shape::Person => self.person(),
            Shape::Thing => {
                vec![Prism::block(self.pose, self.half_m, [0.0, self.height_m()], self.colour)]
            }
        }
    }

    /// A part: where its middle is and half its size, as parts of the half length and half width.
    fn part(&self, ahead: f64, half: Point, heights_m: [f64; 2], colour: Rgb) -> Prism {
        let [length_m, width_m] = self.half_m;
        let [x, y] = in_world(self.pose, [ahead * length_m, 0.0]);
        Prism::block([x, y, self.pose[2]], [half[0] * length_m, half[1] * width_m], heights_m, colour)
    }

    /// Two lamps at the front and two at the rear, which tell where it points.
    fn lamps(&self, heights_m: [f64; 2]) -> impl Iterator<Item = Prism> + '_ {
        let ends = [(1.0, HEADLIGHT), (-1.0, TAIL_LIGHT)];
        ends.into_iter().flat_map(move |(end, colour)| {
            [-0.7, 0.7].map(|side| {
                let [x, y] = in_world(self.pose, [end * (self.half_m[0] + LAMP_M), side * self.half_m[1]]);
                Prism::block([x, y, self.pose[2]], [LAMP_M, 0.2 * self.half_m[1]], heights_m, colour)
            })
        })
    }

    fn car(&self) -> Vec<Prism> {
        let mut prisms = vec![
            self.part(0.0, [0.92, 0.9], [0.04, 0.3], DARK),
            self.part(0.0, [1.0, 1.0], [0.3, 0.85], self.colour),
            self.part(-0.12, [0.56, 0.86], [0.85, 1.42], GLASS),
            self.part(-0.14, [0.44, 0.8], [1.42, 1.5], self.colour),
        ];
        prisms.extend(self.lamps([0.52, 0.7]));
        prisms
    }

    /// A cab, and behind it what it carries.
    fn with_cab(&self, load_m: [f64; 2], load_colour: Rgb) -> Vec<Prism> {
        let half = (0.5 * CAB_M / self.half_m[0]).min(0.5);
        let cab = 1.0 - half;
        let mut prisms = vec![
            self.part(0.0, [0.96, 0.9], [0.08, 0.6], DARK),
            self.part(cab, [half, 1.0], [0.6, 3.0], self.colour),
            self.part(-half, [0.97 - half, 1.0], load_m, load_colour),
        ];
        let windscreen = in_world(self.pose, [self.half_m[0] + LAMP_M, 0.0]);
        let at = [windscreen[0], windscreen[1], self.pose[2]];
        prisms.push(Prism::block(at, [LAMP_M, 0.85 * self.half_m[1]], [1.6, 2.6], GLASS));
        prisms.extend(self.lamps([0.62, 0.82]));
        prisms
    }

    fn trailer(&self) -> Vec<Prism> {
        let colour = self.colour.map(|c| 0.4 + 0.6 * c);
        let mut prisms = vec![
            self.part(0.0, [1.0, 1.0], [1.0, self.height_m()], colour),
            // Its axles are at the rear.
            self.part(-0.6, [0.3, 0.9], [0.0, 1.0], DARK),
        ];
        prisms.extend(self.lamps([1.05, 1.25]).skip(2));
        prisms
    }

    fn cyclist(&self) -> Vec<Prism> {
        let [x, y, _] = self.pose;
        vec![
            self.part(0.0, [1.0, 0.2], [0.05, 0.75], DARK),
            self.part(0.3, [0.06, 1.0], [0.95, 1.02], DARK),
            self.part(-0.05, [0.22, 0.6], [0.75, 1.45], self.colour),
            Prism::pillar([x, y], 0.13, [1.47, 1.75], SKIN),
        ]
    }

    fn person(&self) -> Vec<Prism> {
        let [x, y, _] = self.pose;
        let radius_m = self.half_m[1];
        vec![
            Prism::pillar([x, y], 0.6 * radius_m, [0.0, 0.8], DARK),
            Prism::pillar([x, y], radius_m, [0.8, 1.42], self.colour),
            Prism::pillar([x, y], 0.13, [1.46, 1.75], SKIN),
        ]
    }
}
