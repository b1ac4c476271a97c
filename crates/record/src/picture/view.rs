//! A window onto the world: metres to pixels with equal scales.

use super::Point;
use super::axis::{Axis, fixed, step_125};
use super::chart::TEXT_PX;
use super::colour;
use super::svg::{Anchor, Style, Svg, text_width};

/// A rectangle in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    pub low: Point,
    pub high: Point,
}

impl Bounds {
    pub const NOTHING: Self = Self { low: [f64::INFINITY; 2], high: [f64::NEG_INFINITY; 2] };

    pub fn add(&mut self, point: Point) {
        if point.iter().all(|v| v.is_finite()) {
            self.low = [self.low[0].min(point[0]), self.low[1].min(point[1])];
            self.high = [self.high[0].max(point[0]), self.high[1].max(point[1])];
        }
    }
    pub fn is_nothing(&self) -> bool {
        self.low[0] > self.high[0]
    }
    pub fn size(&self) -> Point {
        [self.high[0] - self.low[0], self.high[1] - self.low[1]]
    }
    pub fn grow(&mut self, by: f64) {
        for axis in 0..2 {
            self.low[axis] -= by;
            self.high[axis] += by;
        }
    }
    /// Grown around its middle to a ratio of width to height.
    pub fn with_ratio(mut self, ratio: f64) -> Self {
        let [width, height] = self.size();
        let wanted = if width < height * ratio { [height * ratio, height] } else { [width, width / ratio] };
        let more = [0.5 * (wanted[0] - width), 0.5 * (wanted[1] - height)];
        self.low = [self.low[0] - more[0], self.low[1] - more[1]];
        self.high = [self.high[0] + more[0], self.high[1] + more[1]];
        self
    }
    /// Whether a line with this box may be seen.
    pub fn touches(&self, other: &Self) -> bool {
        (0..2).all(|axis| self.low[axis] <= other.high[axis] && self.high[axis] >= other.low[axis])
    }
    pub fn holds(&self, point: Point) -> bool {
        (0..2).all(|axis| (self.low[axis]..=self.high[axis]).contains(&point[axis]))
    }
}

/// Part of the world and where it is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct View {
    pub world: Bounds,
    /// Upper left corner, pixels.
    pub at: Point,
    /// Width and height, pixels.
    pub size: Point,
}

impl View {
    /// Shows at least `world`; more of it where the window is wider or higher.
    pub fn new(world: Bounds, at: Point, size: Point) -> Self {
        Self { world: world.with_ratio(size[0] / size[1]), at, size }
    }
    pub fn px_per_m(&self) -> f64 {
        self.size[0] / self.world.size()[0]
    }
    pub fn map(&self, [x, y]: Point) -> Point {
        let scale = self.px_per_m();
        [self.at[0] + (x - self.world.low[0]) * scale, self.at[1] + (self.world.high[1] - y) * scale]
    }

    /// Frame, ticks and titles.
    pub fn put_frame(&self, svg: &mut Svg) {
        let ([left, top], [width, height]) = (self.at, self.size);
        let (bottom, right) = (top + height, left + width);
        svg.rect(self.at, self.size, Style::line(colour::FRAME, 1.0));
        let tick = Style::line(colour::FRAME, 1.0);
        // Lines to the enlarged part pass below the labels.
        let ground = Style::area(colour::PAPER).fill(colour::PAPER, 0.9);
        let x = Axis { from: self.world.low[0], to: self.world.high[0], log: false, px_from: left, px_to: right };
        for (value, label) in x.ticks(84.0) {
            svg.line([x.map(value), bottom], [x.map(value), bottom + 5.0], tick);
            let half = 0.5 * text_width(&label, TEXT_PX);
            svg.rect([x.map(value) - half, bottom + 8.0], [2.0 * half, 15.0], ground);
            svg.text([x.map(value), bottom + 20.0], TEXT_PX, Anchor::Middle, colour::INK, &label);
        }
        let y = Axis { from: self.world.low[1], to: self.world.high[1], log: false, px_from: bottom, px_to: top };
        for (value, label) in y.ticks(34.0) {
            svg.line([left - 5.0, y.map(value)], [left, y.map(value)], tick);
            let width = text_width(&label, TEXT_PX) + 4.0;
            svg.rect([left - 9.0 - width, y.map(value) - 7.0], [width, 14.0], ground);
            svg.text([left - 9.0, y.map(value) + 5.0], TEXT_PX, Anchor::End, colour::INK, &label);
        }
        svg.text([0.5 * (left + right), bottom + 40.0], TEXT_PX, Anchor::Middle, colour::INK, "x [m]");
        svg.text_upwards([left - 56.0, 0.5 * (top + bottom)], TEXT_PX, colour::INK, "y [m]");
    }

    /// A bar of a round length in the lower right corner.
    pub fn put_scale_bar(&self, svg: &mut Svg) {
        let length_m = step_125(self.world.size()[0] / 14.0);
        let length_px = length_m * self.px_per_m();
        let (right, y) = (self.at[0] + self.size[0] - 16.0, self.at[1] + self.size[1] - 14.0);
        let left = right - length_px;
        svg.rect([left - 8.0, y - 24.0], [length_px + 16.0, 32.0], Style::area(colour::PLOT).fill(colour::PLOT, 0.85));
        let ends = [[[left, y - 4.0], [left, y + 4.0]], [[left, y], [right, y]], [[right, y - 4.0], [right, y + 4.0]]];
        svg.lines(ends, Style::line(colour::INK, 1.8));
        let decimals = (-length_m.log10().floor()).max(0.0) as usize;
        let label = format!("{}\u{a0}m", fixed(length_m, decimals));
        svg.text([0.5 * (left + right), y - 8.0], TEXT_PX, Anchor::Middle, colour::INK, &label);
    }
}
