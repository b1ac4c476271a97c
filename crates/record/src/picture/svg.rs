//! A small writer of SVG.

use std::fmt::Write as _;

use super::{Point, colour};

/// Where a text stands relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// It is centred there.
    Middle,
    /// It ends there.
    End,
}

/// How a shape looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// Colour inside; `none` for nothing.
    pub fill: &'static str,
    /// Opacity of the inside.
    pub fill_opacity: f64,
    /// Colour of the line; `none` for nothing.
    pub stroke: &'static str,
    /// Width of the line, pixels.
    pub width: f64,
    /// Dashes in the notation of SVG; empty for a solid line.
    pub dash: &'static str,
    /// Opacity of the line.
    pub opacity: f64,
}

impl Style {
    /// A line.
    pub const fn line(stroke: &'static str, width: f64) -> Self {
        Self { fill: "none", fill_opacity: 1.0, stroke, width, dash: "", opacity: 1.0 }
    }
    /// An area without a border.
    pub const fn area(fill: &'static str) -> Self {
        Self { fill, fill_opacity: 1.0, stroke: "none", width: 0.0, dash: "", opacity: 1.0 }
    }
    /// Dashed.
    pub const fn dash(mut self, dash: &'static str) -> Self {
        self.dash = dash;
        self
    }
    /// With a translucent line.
    pub const fn opacity(mut self, opacity: f64) -> Self {
        self.opacity = opacity;
        self
    }
    /// Filled.
    pub const fn fill(mut self, fill: &'static str, opacity: f64) -> Self {
        self.fill = fill;
        self.fill_opacity = opacity;
        self
    }
}

/// A picture being drawn; pixels, y downwards.
#[derive(Clone, Debug)]
pub struct Svg {
    width: f64,
    height: f64,
    title: String,
    body: String,
    clips: usize,
}

impl Svg {
    /// An empty picture on light paper. The title is what a screen reader says.
    pub fn new(width: f64, height: f64, title: &str) -> Self {
        let mut svg = Self { width, height, title: title.to_owned(), body: String::new(), clips: 0 };
        svg.rect([0.0, 0.0], [width, height], Style::area(colour::PAPER));
        svg
    }

    /// A rectangle from its upper left corner.
    pub fn rect(&mut self, [x, y]: Point, [width, height]: Point, style: Style) {
        let (x, y, w, h) = (num(x), num(y), num(width.max(0.0)), num(height.max(0.0)));
        self.shape(&format!("rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\""), style);
    }

    /// A circle.
    pub fn circle(&mut self, [x, y]: Point, radius: f64, style: Style) {
        self.shape(&format!("circle cx=\"{}\" cy=\"{}\" r=\"{}\"", num(x), num(y), num(radius)), style);
    }

    /// A straight line.
    pub fn line(&mut self, from: Point, to: Point, style: Style) {
        self.lines([[from, to]], style);
    }

    /// Many lines as one shape, which keeps large bundles small.
    pub fn lines<L: IntoIterator<Item = Point>>(&mut self, lines: impl IntoIterator<Item = L>, style: Style) {
        let mut path = String::new();
        for line in lines {
            put_line(&mut path, line);
        }
        if !path.is_empty() {
            self.shape(&format!("path d=\"{path}\" stroke-linejoin=\"round\" stroke-linecap=\"round\""), style);
        }
    }

    /// A closed shape.
    pub fn polygon(&mut self, points: impl IntoIterator<Item = Point>, style: Style) {
        let mut path = String::new();
        put_line(&mut path, points);
        if !path.is_empty() {
            self.shape(&format!("path d=\"{path}Z\" stroke-linejoin=\"round\""), style);
        }
    }

    /// A text with its baseline at the point.
    pub fn text(&mut self, at: Point, size: f64, anchor: Anchor, fill: &str, text: &str) {
        self.put_text(at, size, anchor, fill, text, "");
    }

    /// Areas of one colour as one path, to a tenth of a pixel: there may be thousands of them.
    pub(super) fn areas(&mut self, areas: &[Vec<Point>], fill: &str) {
        let mut path = String::new();
        for area in areas {
            put_line(&mut path, area.iter().map(|point| point.map(|value| (10.0 * value).round() / 10.0)));
            path.push('Z');
        }
        writeln!(self.body, "<path d=\"{path}\" fill=\"{fill}\"/>").expect("writing to a string");
    }

    /// A text read from below to above, centred at the point.
    pub fn text_upwards(&mut self, at: Point, size: f64, fill: &str, text: &str) {
        let turn = format!(" transform=\"rotate(-90 {} {})\"", num(at[0]), num(at[1]));
        self.put_text(at, size, Anchor::Middle, fill, text, &turn);
    }

    /// Draws only inside of a rectangle until [`end_clip`](Self::end_clip).
    pub fn begin_clip(&mut self, [x, y]: Point, [width, height]: Point) {
        self.clips += 1;
        let (id, x, y, w, h) = (self.clips, num(x), num(y), num(width), num(height));
        let rect = format!("<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"/>");
        writeln!(self.body, "<clipPath id=\"clip{id}\">{rect}</clipPath><g clip-path=\"url(#clip{id})\">")
            .expect("writing to a string");
    }

    /// Ends the last [`begin_clip`](Self::begin_clip).
    pub fn end_clip(&mut self) {
        self.body.push_str("</g>\n");
    }

    /// The file.
    pub fn finish(self) -> String {
        let (width, height) = (num(self.width), num(self.height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             role=\"img\" font-family=\"{FONTS}\">\n<title>{}</title>\n{}</svg>\n",
            escape(&self.title),
            self.body
        )
    }

    fn put_text(&mut self, [x, y]: Point, size: f64, anchor: Anchor, fill: &str, text: &str, more: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (x, y, size, text) = (num(x), num(y), num(size), escape(text));
        writeln!(
            self.body,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"{fill}\"{more}>{text}</text>"
        )
        .expect("writing to a string");
    }

    fn shape(&mut self, shape: &str, style: Style) {
        write!(self.body, "<{shape} fill=\"{}\"", style.fill).expect("writing to a string");
        let mut attribute =
            |name: &str, value: &str| write!(self.body, " {name}=\"{value}\"").expect("writing to a string");
        if style.fill != "none" && style.fill_opacity < 1.0 {
            attribute("fill-opacity", &num(style.fill_opacity));
        }
        if style.stroke != "none" {
            attribute("stroke", style.stroke);
            attribute("stroke-width", &num(style.width));
            if style.opacity < 1.0 {
                attribute("stroke-opacity", &num(style.opacity));
            }
            if !style.dash.is_empty() {
                attribute("stroke-dasharray", style.dash);
            }
        }
        self.body.push_str("/>\n");
    }
}

/// A light, open text face first; browsers without it take theirs.
const FONTS: &str = "Ubuntu, 'Ubuntu Light', 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif";

/// Width of a text in pixels, good enough to lay out a legend.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.48
}

fn put_line(path: &mut String, points: impl IntoIterator<Item = Point>) {
    for (at, [x, y]) in points.into_iter().enumerate() {
        path.push(if at == 0 { 'M' } else { 'L' });
        path.push_str(&num(x));
        path.push(' ');
        path.push_str(&num(y));
    }
}

/// Two decimals at most; what is not finite is drawn at the corner instead of breaking the file.
fn num(value: f64) -> String {
    let value = if value.is_finite() { value.clamp(-1e6, 1e6) } else { 0.0 };
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Text of others as XML text: markup is escaped, characters that XML forbids become a replacement.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            // Forbidden in XML, or marks that reorder text so that it reads as something else.
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
