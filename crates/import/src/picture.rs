//! Pictures of obstacles: what is dark is occupied.

use anabranch_geometry::Point;
use anabranch_geometry::tiles::{Canvas, Cells as _, TooWide};
use thiserror::Error;

/// Largest picture, in pixels along a side: 10 km at 0.2 m and some more.
const SIDE_MAX: u32 = 65_536;
/// Most bytes that decoding may take.
const BYTES_MAX: usize = 1 << 28;
/// Smallest pixel, in parts of a cell: what is below a millionth of one may fall between two cells.
const PIXEL_MIN: f64 = 1e-3;

/// How a picture lies in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Where its lower left corner is.
    pub corner: Point,
    /// Side of a pixel.
    pub pixel_m: f64,
    /// Grey values below this are obstacles: 0 is black, 255 is white.
    pub dark_below: u8,
}

/// Why a picture cannot be used.
#[derive(Debug, Error)]
pub enum PictureError {
    /// It is not a PNG that can be read.
    #[error("the picture cannot be read: {0}")]
    Unreadable(#[from] png::DecodingError),
    /// It is too large.
    #[error("the picture has {width} × {height} pixels; at most {SIDE_MAX} along a side are read")]
    TooLarge {
        /// Columns.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// Pixels without size.
    #[error("a pixel of {0} m is no pixel; give its side in metres")]
    BadPixel(f64),
    /// Pixels so small that borders of cells would swallow them.
    #[error(
        "a pixel of {pixel_m} m is less than a thousandth of a cell of {cell_m} m; use larger pixels or smaller cells"
    )]
    SmallPixel {
        /// Side of a pixel.
        pixel_m: f64,
        /// Side of a cell.
        cell_m: f64,
    },
    /// More than can be held.
    #[error(transparent)]
    TooWide(#[from] TooWide),
    /// Its rows are not in their order.
    #[error("the picture is interlaced; save it without interlacing")]
    Interlaced,
}

/// Draws the dark pixels of a PNG as obstacles. Transparent pixels are free.
///
/// # Errors
/// When the bytes are no PNG, or it is too large.
pub fn draw_png(canvas: &mut Canvas, png: &[u8], placement: Placement) -> Result<usize, PictureError> {
    if !(placement.pixel_m.is_finite() && placement.pixel_m > 0.0) {
        return Err(PictureError::BadPixel(placement.pixel_m));
    }
    let mut decoder = png::Decoder::new_with_limits(std::io::Cursor::new(png), png::Limits { bytes: BYTES_MAX });
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info()?;
    let (width, height) = (reader.info().width, reader.info().height);
    if width > SIDE_MAX || height > SIDE_MAX {
        return Err(PictureError::TooLarge { width, height });
    }
    if reader.info().interlaced {
        return Err(PictureError::Interlaced);
    }
    let Placement { corner, pixel_m, .. } = placement;
    let cell_m = canvas.grid().cell_m;
    if pixel_m < PIXEL_MIN * cell_m {
        return Err(PictureError::SmallPixel { pixel_m, cell_m });
    }
    let far = Point::new(corner.x + f64::from(width) * pixel_m, corner.y + f64::from(height) * pixel_m);
    canvas.check_extent(corner, far)?;
    let channels = reader.output_color_type().0.samples();
    let mut dark = 0;
    let mut row = 0;
    while let Some(line) = reader.next_row()? {
        let is_dark: Vec<bool> =
            line.data().chunks_exact(channels).map(|pixel| grey(pixel) < u32::from(placement.dark_below)).collect();
        let above_m = f64::from(height - row) * placement.pixel_m;
        dark += draw_row(canvas, &is_dark, above_m, placement);
        row += 1;
    }
    Ok(dark)
}

/// Brightness of a pixel of one to four channels; transparent ones are bright.
fn grey(pixel: &[u8]) -> u32 {
    let sum = |colours: &[u8]| colours.iter().map(|value| u32::from(*value)).sum::<u32>() / colours.len() as u32;
    match pixel {
        [_, 0] | [_, _, _, 0] => 256,
        [grey] | [grey, _] => u32::from(*grey),
        colours => sum(&colours[..3]),
    }
}

/// Draws each run of dark pixels of a row as one box, and counts them.
fn draw_row(canvas: &mut Canvas, is_dark: &[bool], above_m: f64, placement: Placement) -> usize {
    let mut begin = None;
    for (column, dark) in is_dark.iter().copied().chain([false]).enumerate() {
        match (begin, dark) {
            (None, true) => begin = Some(column),
            (Some(first), false) => {
                let x = |column: usize| placement.corner.x + column as f64 * placement.pixel_m;
                let (low, high) = (placement.corner.y + above_m - placement.pixel_m, placement.corner.y + above_m);
                canvas.fill_box(Point::new(x(first), low), Point::new(x(column), high));
                begin = None;
            }
            _ => {}
        }
    }
    is_dark.iter().filter(|dark| **dark).count()
}
