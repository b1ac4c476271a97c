//! One moment in space, seen from three places (S3-18): a small projector from prisms to SVG.
//!
//! The inputs are plain numbers: ground, what stands on it, and who moves. Prisms are drawn from the farthest to the nearest, by
//! planes between them and not by their middles, so that a small car before a long wall is not painted over.

mod camera;
mod order;
mod place;
mod prism;
mod shapes;
mod vector;

pub use prism::Prism;
pub use shapes::Shape;
pub use vector::Vector;

use super::Point;
use super::svg::{Anchor, Style, Svg, text_width};
use camera::{Camera, SIZE};
use prism::circle;

/// Red, green and blue from 0 to 1.
pub type Rgb = [f64; 3];

/// From where a picture is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// From high above.
    Top,
    /// From behind and above the one whom it is about.
    Chase,
    /// From the side of the road.
    Kerb,
}

impl View {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Top, Self::Chase, Self::Kerb];

    /// Name of a file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Top => "top",
            Self::Chase => "chase",
            Self::Kerb => "kerb",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Top => "from above, north up",
            Self::Chase => "from behind the car",
            Self::Kerb => "from the kerb",
        }
    }
}

/// A flat polygon with its colour.
#[derive(Clone, Debug, PartialEq)]
pub struct Face {
    /// Its corners.
    pub corners: Vec<Vector>,
    /// Its colour by day.
    pub colour: Rgb,
}

impl Face {
    /// On the ground.
    pub fn ground(corners: &[Point], colour: Rgb) -> Self {
        Self { corners: corners.iter().map(|[x, y]| [*x, *y, 0.0]).collect(), colour }
    }
}

/// Somebody who moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Mover {
    /// Its name, for the caption.
    pub name: String,
    /// Its middle, and its heading in radians.
    pub pose: [f64; 3],
    /// Half its length and half its width.
    pub half_m: Point,
    /// What it looks like.
    pub shape: Shape,
    /// Its colour by day.
    pub colour: Rgb,
    /// Speed; not told if none.
    pub speed_mps: Option<f64>,
    /// Where it came by, as dots.
    pub way: Vec<Point>,
}

/// One moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Sight {
    /// What happened, for those who cannot see.
    pub title: String,
    /// When.
    pub time_s: f64,
    /// Brightness from 0 to 1.
    pub light: f64,
    /// Outlines of roads.
    pub surfaces: Vec<Vec<Point>>,
    /// What is painted on the ground, in this order.
    pub paint: Vec<Face>,
    /// What stands.
    pub standing: Vec<Prism>,
    /// Whom the pictures are about.
    pub own: Mover,
    /// What it draws.
    pub drawn: Vec<Mover>,
    /// Who was touched.
    pub touched: Option<Mover>,
    /// Where they touched.
    pub contact: Option<Point>,
    /// Everybody else.
    pub bystanders: Vec<Mover>,
}

const SKY: Rgb = [0.62, 0.75, 0.9];
const GRASS: Rgb = [0.45, 0.58, 0.35];
const ASPHALT: Rgb = [0.36, 0.36, 0.38];
/// The ground reaches so far.
const GROUND_M: f64 = 800.0;
/// Dots of ways.
const DOT_M: f64 = 0.16;
/// Mark of a contact.
const MARK: Style = Style::line("#d61a10", 2.2);
const MARK_BELOW: Style = Style::line("#fffdf5", 4.4).opacity(0.8);
const MARK_PX: f64 = 8.0;
/// Height of a contact above the ground, as it is drawn.
const MARK_M: f64 = 0.6;
const CAPTION_PX: f64 = 14.0;
/// Longest name in a caption.
const NAME_CHARS: usize = 24;

impl Sight {
    /// Everything that stands or moves.
    fn prisms(&self) -> Vec<Prism> {
        let movers = [&self.own].into_iter().chain(&self.drawn).chain(&self.touched).chain(&self.bystanders);
        movers.flat_map(Mover::prisms).chain(self.standing.iter().cloned()).collect()
    }

    /// The three pictures of this moment.
    pub fn pictures(&self) -> [(View, String); 3] {
        let prisms = self.prisms();
        View::ALL.map(|view| (view, self.picture(view, &prisms)))
    }

    fn picture(&self, view: View, prisms: &[Prism]) -> String {
        let camera = place::camera(self, view, prisms);
        let mut svg = Svg::new(SIZE[0], SIZE[1], &format!("{}, {}", self.title, view.words()));
        let mut canvas = Canvas { svg: &mut svg, camera, light: self.light, waiting: Vec::new(), fill: String::new() };
        canvas.sky();
        let [x, y, _] = camera.eye;
        let square = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
        canvas.put(&Face::ground(&square.map(|[a, b]| [x + GROUND_M * a, y + GROUND_M * b]), GRASS));
        self.surfaces.iter().for_each(|surface| canvas.put(&Face::ground(surface, ASPHALT)));
        self.paint.iter().for_each(|face| canvas.put(face));
        for mover in [Some(&self.own), self.touched.as_ref()].into_iter().flatten() {
            // Brighter than what moves, so that they are seen on dark roads.
            let colour = mover.colour.map(|c| 0.35 + 0.65 * c);
            mover.way.iter().for_each(|at| canvas.put(&Face::ground(&circle(*at, DOT_M, 6), colour)));
        }
        for number in order::far_first(prisms, &camera) {
            prisms[number].faces(camera.eye).iter().for_each(|face| canvas.put(face));
        }
        canvas.flush();
        if let Some(pixel) = self.contact.and_then(|[x, y]| camera.pixel([x, y, MARK_M])) {
            svg.circle(pixel, MARK_PX, MARK_BELOW);
            svg.circle(pixel, MARK_PX, MARK);
        }
        self.put_caption(&mut svg, view);
        svg.finish()
    }

    /// One line on a dark bar: from where, when, and how fast both were.
    fn put_caption(&self, svg: &mut Svg, view: View) {
        const INK: &str = "#f7f7f5";
        let y = SIZE[1] - 10.0;
        svg.rect([0.0, SIZE[1] - 28.0], [SIZE[0], 28.0], Style::area("#10151b").fill("#10151b", 0.78));
        let text = format!("{}  ·  {:.2} s", view.name(), self.time_s);
        svg.text([10.0, y], CAPTION_PX, Anchor::Start, INK, &text);
        let mut x = 10.0 + text_width(&text, CAPTION_PX) + 26.0;
        for mover in [Some(&self.own), self.touched.as_ref()].into_iter().flatten() {
            svg.areas(
                &[vec![[x, y - 10.0], [x + 11.0, y - 10.0], [x + 11.0, y + 1.0], [x, y + 1.0]]],
                &hex(mover.colour),
            );
            let name: String = match mover.name.char_indices().nth(NAME_CHARS) {
                Some((end, _)) => format!("{}…", &mover.name[..end]),
                None => mover.name.clone(),
            };
            let text = mover.speed_mps.map_or_else(|| name.clone(), |speed| format!("{name} {speed:.1} m/s"));
            svg.text([x + 17.0, y], CAPTION_PX, Anchor::Start, INK, &text);
            x += 17.0 + text_width(&text, CAPTION_PX) + 26.0;
        }
    }
}

/// Collects polygons of one colour, so that they become one path.
struct Canvas<'a> {
    svg: &'a mut Svg,
    camera: Camera,
    light: f64,
    waiting: Vec<Vec<Point>>,
    fill: String,
}

impl Canvas<'_> {
    fn sky(&mut self) {
        self.svg.areas(&[vec![[0.0; 2], [SIZE[0], 0.0], SIZE, [0.0, SIZE[1]]]], &hex(SKY.map(|c| c * self.light)));
    }

    fn put(&mut self, face: &Face) {
        let mut outline = self.camera.outline(&face.corners);
        if outline.len() < 3 {
            return;
        }
        let fill = hex(face.colour.map(|c| c * self.light));
        // All the same way around: overlapping areas of one path would cut holes into each other.
        if is_clockwise(&outline) {
            outline.reverse();
        }
        if fill != self.fill {
            self.flush();
            self.fill = fill;
        }
        self.waiting.push(outline);
    }

    fn flush(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        if !waiting.is_empty() {
            self.svg.areas(&waiting, &self.fill);
        }
    }
}

/// Whether a polygon goes around clockwise on the picture, whose y points down.
fn is_clockwise(outline: &[Point]) -> bool {
    let next = |i: usize| outline[(i + 1) % outline.len()];
    (0..outline.len()).map(|i| outline[i][0] * next(i)[1] - next(i)[0] * outline[i][1]).sum::<f64>() > 0.0
}

fn hex(colour: Rgb) -> String {
    let [r, g, b] = colour.map(|x| (255.0 * x.clamp(0.0, 1.0)) as u8);
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A car that has driven into another one on a straight road.
    pub(super) fn sight() -> Sight {
        let car = |name: &str, x: f64, colour: Rgb| Mover {
            name: name.to_owned(),
            pose: [x, 0.0, 0.0],
            half_m: [2.2, 0.9],
            shape: Shape::Car,
            colour,
            speed_mps: Some(12.34),
            way: (1..6).map(|i| [x - 3.0 * f64::from(i), 0.0]).collect(),
        };
        Sight {
            title: "no-contact front at <first>".to_owned(),
            time_s: 3.25,
            light: 1.0,
            surfaces: vec![vec![[-100.0, -2.0], [100.0, -2.0], [100.0, 6.0], [-100.0, 6.0]]],
            paint: vec![Face::ground(&[[-100.0, 1.9], [100.0, 1.9], [100.0, 2.1], [-100.0, 2.1]], [0.95; 3])],
            standing: vec![Prism::pillar([10.0, -3.0], 0.1, [0.0, 2.0], [0.6; 3])],
            own: car("car", 0.0, [0.15, 0.4, 0.8]),
            drawn: Vec::new(),
            touched: Some(car("first & <last> with a name that is much too long", 4.4, [0.85, 0.45, 0.1])),
            contact: Some([2.2, 0.0]),
            bystanders: Vec::new(),
        }
    }

    #[test]
    fn a_moment_is_drawn_from_three_places_with_both_cars_and_their_speeds() {
        let pictures = sight().pictures();
        for (view, svg) in &pictures {
            assert!(svg.starts_with("<svg") && svg.contains(&format!(">{}  ·  3.25 s<", view.name())), "{svg}");
            // Cars are seen by their colours: the top of a body, or a side.
            let [own, touched] = [[0.15, 0.4, 0.8], [0.85, 0.45, 0.1]];
            let shades = |colour: Rgb| [1.0, 0.68, 0.68 + 0.14].map(|shade| hex(colour.map(|c| c * shade)));
            assert!(shades(own).iter().any(|fill| svg.contains(fill.as_str())), "{}: the car", view.name());
            assert!(shades(touched).iter().any(|fill| svg.contains(fill.as_str())), "{}: the other", view.name());
            assert!(svg.contains("first &amp; &lt;last&gt;") && svg.contains("12.3 m/s"), "{svg}");
            assert!(svg.contains("<circle"), "the place of the contact");
            assert!(!svg.contains("NaN") && !svg.contains("inf") && svg.len() < 20_000, "{}", svg.len());
        }
        assert_eq!(pictures, sight().pictures(), "the same bytes again");
    }

    #[test]
    fn evening_is_darker_than_day() {
        let dim = Sight { light: 0.6, ..sight() };
        let fill = |sight: &Sight| sight.pictures()[0].1.contains(&hex(GRASS));
        assert!(fill(&sight()) && !fill(&dim));
    }

    #[test]
    fn what_is_far_outside_takes_no_bytes() {
        let mut far = sight();
        far.bystanders =
            (1..200).map(|i| Mover { pose: [300.0 + 10.0 * f64::from(i), 90.0, 0.0], ..far.own.clone() }).collect();
        let ([(_, few), ..], [(_, many), ..]) = (sight().pictures(), far.pictures());
        assert_eq!(few, many);
    }
}
