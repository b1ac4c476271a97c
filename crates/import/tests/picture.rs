//! Pictures of obstacles.

use anabranch_geometry::Point;
use anabranch_geometry::tiles::{Canvas, Cell, Cells, Grid, TooWide};
use anabranch_import::picture::{PictureError, Placement, draw_png};

fn png(width: u32, height: u32, colour: png::ColorType, pixels: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(colour);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header().unwrap().write_image_data(pixels).unwrap();
    bytes
}

fn draw(png: &[u8], pixel_m: f64) -> Result<Vec<(i64, i64)>, PictureError> {
    let mut canvas = Canvas::new(Grid { origin: Point::new(0.0, 0.0), cell_m: 0.2 });
    draw_png(&mut canvas, png, Placement { corner: Point::new(1.0, 2.0), pixel_m, dark_below: 128 })?;
    let mut occupied = Vec::new();
    for row in 0..30 {
        for column in 0..30 {
            let cell = Cell { column, row };
            let (c, r) = cell.within();
            if canvas.tile(cell.tile()).unwrap().get(c, r) {
                occupied.push((column, row));
            }
        }
    }
    Ok(occupied)
}

#[test]
fn dark_pixels_become_cells_with_the_first_row_at_the_top() {
    // Two rows of three: black at the top left, dark grey at the bottom right.
    let bytes = png(3, 2, png::ColorType::Grayscale, &[0, 255, 200, 255, 255, 100]);
    // The corner is cell (5, 10); pixels as large as cells.
    assert_eq!(draw(&bytes, 0.2).unwrap(), [(7, 10), (5, 11)]);
    // Pixels of 0.4 m are four cells each.
    assert_eq!(draw(&bytes, 0.4).unwrap().len(), 8);
    // Pixels smaller than a cell mark each cell they reach into.
    assert_eq!(draw(&bytes, 0.05).unwrap(), [(5, 10)]);
}

#[test]
fn transparent_pixels_are_free_and_colours_count_by_their_brightness() {
    let pixels = [0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 255, 250, 250, 0, 255];
    let bytes = png(4, 1, png::ColorType::Rgba, &pixels);
    assert_eq!(draw(&bytes, 0.2).unwrap(), [(6, 10), (7, 10)]);
}

#[test]
fn what_is_no_picture_is_refused_with_the_reason() {
    assert!(draw(b"GIF89a", 0.2).unwrap_err().to_string().contains("cannot be read"));
    let bytes = png(1, 1, png::ColorType::Grayscale, &[0]);
    assert!(matches!(draw(&bytes, 0.0), Err(PictureError::BadPixel(_))));
    assert!(draw(&bytes[..40], 0.2).is_err());
}

#[test]
fn pixels_that_would_explode_or_vanish_are_refused() {
    let bytes = png(2, 2, png::ColorType::Grayscale, &[0; 4]);
    // Between two cells nothing would be left of a picture of nanometres.
    assert!(matches!(draw(&bytes, 1e-9), Err(PictureError::SmallPixel { .. })));
    // One pixel of a kilometre is 25 million cells of 0.2 m; a thousand of them beside each other do not fit anywhere.
    let wide = png(1000, 1000, png::ColorType::Grayscale, &vec![255; 1_000_000]);
    assert!(matches!(draw(&wide, 500.0), Err(PictureError::TooWide(TooWide::Tiles { .. }))));
    for pixel_m in [1e6, 1e17, 1e300] {
        assert!(matches!(draw(&bytes, pixel_m), Err(PictureError::TooWide(TooWide::Far))), "{pixel_m}");
    }
}

/// The same picture, said to be interlaced.
fn interlaced(mut png: Vec<u8>) -> Vec<u8> {
    // Signature, then the header: length, type, 13 bytes of which the last is the interlacing, and a checksum of type and bytes.
    png[28] = 1;
    let checksum = png[12..29].iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg()))
    });
    png[29..33].copy_from_slice(&(!checksum).to_be_bytes());
    png
}

#[test]
fn interlaced_pictures_are_refused() {
    let bytes = interlaced(png(2, 2, png::ColorType::Grayscale, &[0; 4]));
    assert!(matches!(draw(&bytes, 0.2), Err(PictureError::Interlaced)));
}
