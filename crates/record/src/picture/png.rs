//! SVG to PNG with the fonts inside of this program, so that it works on machines without any.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use crate::error::RecordError;

static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(epaint_default_fonts::UBUNTU_LIGHT.to_vec());
    // Has the signs that the first does not.
    fonts.load_font_data(epaint_default_fonts::HACK_REGULAR.to_vec());
    fonts.set_sans_serif_family("Ubuntu");
    Arc::new(fonts)
});

/// Largest side of a picture in pixels.
const SIDE_PX_MAX: f32 = 16_384.0;

/// Draws an SVG as PNG; `scale` 2 gives two pixels for each of the SVG.
///
/// # Errors
/// When the text is not SVG or the picture would be too large.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, RecordError> {
    let failed = |why: String| RecordError::Picture(why);
    let options = Options {
        fontdb: Arc::clone(&FONTS),
        font_family: "Ubuntu".to_owned(),
        // The face is a light one; a hairline around the letters gives it the weight of ordinary text.
        style_sheet: Some(
            super::colour::TEXT
                .map(|ink| format!("text[fill=\"{ink}\"] {{ stroke: {ink}; stroke-width: 0.3 }}\n"))
                .concat(),
        ),
        ..Options::default()
    };
    let tree = Tree::from_str(svg, &options).map_err(|e| failed(e.to_string()))?;
    let (width, height) = ((tree.size().width() * scale).ceil(), (tree.size().height() * scale).ceil());
    if !(width >= 1.0 && height >= 1.0 && width <= SIDE_PX_MAX && height <= SIDE_PX_MAX) {
        return Err(failed(format!("{width} × {height} pixels are not within 1 … {SIDE_PX_MAX}")));
    }
    let mut pixels = Pixmap::new(width as u32, height as u32).ok_or_else(|| failed("not enough memory".to_owned()))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|e| failed(e.to_string()))
}
