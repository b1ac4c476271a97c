//! `convert`: maps of other tools become map files, pictures and barriers become tiles, models become C, Rust or FMUs.

use std::path::{Path, PathBuf};

use anabranch_geometry::Point;
use anabranch_geometry::tiles::{Canvas, Grid, to_file};
use anabranch_import::picture::{Placement, draw_png};
use anabranch_import::rndf::{self, Remark};
use anabranch_kernel::units::{Dimension, parse_quantity};
use anabranch_language::{Library, Model, Units};
use anabranch_program::export::{ExportError, Language, export};
use anabranch_roads::{Barrier, Network, file};
use clap::Args;
use serde_json::json;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::model::{self, fmu, told};
use crate::screen::Screen;

/// Grey values below this are obstacles unless somebody says otherwise: the darker half.
const DARK_BELOW: u8 = 128;

/// Smallest and largest side of a cell or pixel: finer is nothing that is built, coarser hides whole roads.
const SIDE_MIN_M: f64 = 0.001;
const SIDE_MAX_M: f64 = 100.0;

/// Turn maps of other tools into map files, pictures or barriers into tiles, and models into C, Rust or FMUs.
///
/// What is done follows from the names: `town.rndf` to `town.road.toml`, `town.road.toml` to `fences.tiles` (its barriers),
/// `fences.png` to `fences.tiles` (its dark pixels), `Lane.emam` to `lane.c` or `lane.rs` (text that stands alone)
/// or to `lane.fmu` (FMI 2.0 co-simulation, made with the C compiler of this machine).
#[derive(Args, Debug)]
pub struct Convert {
    /// What is read: .rndf, .road.toml, .png or a model.
    #[arg(value_name = "FROM")]
    pub from: PathBuf,
    /// What is written: .road.toml, .tiles, .c, .rs or .fmu.
    #[arg(value_name = "TO")]
    pub to: PathBuf,
    /// The MDF that belongs to an RNDF: speed limits and checkpoints.
    #[arg(long, value_name = "FILE")]
    pub mission: Option<PathBuf>,
    /// Go on although something of the original will be missing; what, is said.
    #[arg(long)]
    pub lossy: bool,
    /// Side of a cell of the tiles.
    #[arg(long, value_name = "LENGTH", default_value = "0.2 m", value_parser = length)]
    pub cell: f64,
    /// Side of a pixel of the picture.
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    pub pixel: Option<f64>,
    /// Where the lower left corner of the picture lies: "10 m, -5 m".
    #[arg(long, value_name = "X, Y", default_value = "0 m, 0 m", value_parser = corner, allow_hyphen_values = true)]
    pub corner: Point,
    /// How long a tick of an FMU is: the only step it takes; 10 ms if left out.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub step: Option<f64>,
    /// What is for models.
    #[command(flatten)]
    pub given: model::Given,
}

fn length(text: &str) -> Result<f64, String> {
    let value = parse_quantity(text, Dimension::Length).ok().filter(|value| *value > 0.0);
    let value = value.ok_or_else(|| "write a length with its unit, such as \"0.2 m\"".to_owned())?;
    let fits = (SIDE_MIN_M..=SIDE_MAX_M).contains(&value);
    fits.then_some(value).ok_or_else(|| format!("a side is {SIDE_MIN_M} m to {SIDE_MAX_M} m long; is the unit right?"))
}

fn time(text: &str) -> Result<f64, String> {
    let value = parse_quantity(text, Dimension::Time).ok().filter(|value| *value > 0.0 && value.is_finite());
    value.ok_or_else(|| "write a time with its unit, such as \"10 ms\"".to_owned())
}

fn corner(text: &str) -> Result<Point, String> {
    let read = |text: &str| parse_quantity(text, Dimension::Length).ok();
    let point = text.split_once(',').and_then(|(x, y)| Some(Point::new(read(x)?, read(y)?)));
    point.ok_or_else(|| "write two lengths, such as \"10 m, -5 m\"".to_owned())
}

/// What a conversion did, for people.
struct Done {
    what: String,
    remarks: Vec<Remark>,
}

impl Convert {
    /// Converts one file.
    pub fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        if self.step.is_some() && !matches!(ending(&self.to), Some(Ending::Fmu)) {
            let message = format!("`{}` has no step", self.to.display());
            return Err(Failure::input(message, "--step is for .fmu files; leave it out"));
        }
        let done = match (ending(&self.from), ending(&self.to)) {
            (Some(Ending::Rndf), Some(Ending::Map)) => self.rndf_to_map()?,
            (Some(Ending::Map), Some(Ending::Tiles)) => self.map_to_tiles()?,
            (Some(Ending::Picture), Some(Ending::Tiles)) => self.picture_to_tiles()?,
            (Some(Ending::Model), Some(Ending::Source(language))) => self.model_to_source(language)?,
            (Some(Ending::Model), Some(Ending::Fmu)) => self.model_to_fmu()?,
            _ => {
                let message = format!("nobody turns `{}` into `{}`", self.from.display(), self.to.display());
                let help = ".rndf becomes .road.toml; .road.toml and .png become .tiles; .emam becomes .c, .rs or .fmu";
                return Err(Failure::input(message, help));
            }
        };
        let text = |remark: &Remark| match remark {
            Remark::Approximated(what) => ("approximated", what.clone()),
            Remark::LeftOut(what) => ("left out", what.clone()),
        };
        let remarks: Vec<(&str, String)> = done.remarks.iter().map(text).collect();
        let machine = json!({
            "schema": "anabranch.convert/1",
            "from": self.from.display().to_string(),
            "to": self.to.display().to_string(),
            "taken": done.what,
            "remarks": remarks.iter().map(|(kind, what)| json!({ "kind": kind, "what": what })).collect::<Vec<_>>(),
        });
        let lines: String = remarks.iter().map(|(kind, what)| format!("  {kind:<12}  {what}\n")).collect();
        let to = self.to.display();
        screen.result(|_| format!("{to}\n  {:<12}  {}\n{lines}", "taken", done.what), &machine);
        Ok(Exit::Done)
    }

    fn rndf_to_map(&self) -> Result<Done, Failure> {
        let text = read_text(&self.from)?;
        let named = |path: &PathBuf| read_text(path).map(|text| (path.display().to_string(), text));
        let mission = self.mission.as_ref().map(named).transpose()?;
        let mission = mission.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
        let read = rndf::read(&self.from.display().to_string(), &text, mission)?;
        let lost = read.remarks.iter().filter_map(|remark| match remark {
            Remark::LeftOut(what) => Some(what.as_str()),
            Remark::Approximated(_) => None,
        });
        let lost: Vec<&str> = lost.collect();
        if !lost.is_empty() && !self.lossy {
            let message = format!("the map cannot say everything: {} would be left out", lost.join(", "));
            return Err(Failure::input(message, "pass --lossy to go on without it"));
        }
        write_file(&self.to, file::write(&read.map).as_bytes())?;
        Ok(Done { what: described(&read.network), remarks: read.remarks })
    }

    fn map_to_tiles(&self) -> Result<Done, Failure> {
        let read = file::read(&self.from.display().to_string(), &read_text(&self.from)?)?;
        if read.network.barriers().is_empty() {
            let message = format!("`{}` has no barriers", self.from.display());
            return Err(Failure::input(message, "add a [[barrier]], or `kerbs = \"0.5 m\"` under [make]"));
        }
        let mut canvas = self.canvas();
        let [mut low, mut high] = read.network.barriers()[0].ends();
        for [from, to] in read.network.barriers().iter().map(Barrier::ends) {
            low = Point::new(low.x.min(from.x), low.y.min(from.y));
            high = Point::new(high.x.max(to.x), high.y.max(to.y));
        }
        canvas
            .check_extent(low, high)
            .map_err(|e| Failure::input(format!("`{}`: {e}", self.from.display()), "say so: --cell \"1 m\""))?;
        read.network.barriers().iter().for_each(|barrier| barrier.draw(&mut canvas));
        let what = format!("{} barrier(s)", read.network.barriers().len());
        self.write_tiles(&canvas, what)
    }

    fn picture_to_tiles(&self) -> Result<Done, Failure> {
        let Some(pixel_m) = self.pixel else {
            return Err(Failure::input("how large is a pixel of the picture?", "say so: --pixel \"0.1 m\""));
        };
        let bytes = std::fs::read(&self.from).map_err(|e| Failure::file("read", &self.from, &e))?;
        let mut canvas = self.canvas();
        let placement = Placement { corner: self.corner, pixel_m, dark_below: DARK_BELOW };
        let dark = draw_png(&mut canvas, &bytes, placement)
            .map_err(|e| Failure::input(format!("`{}`: {e}", self.from.display()), ""))?;
        self.write_tiles(&canvas, format!("{dark} dark pixel(s)"))
    }

    fn model_to_source(&self, language: Language) -> Result<Done, Failure> {
        let (library, model) = self.given.build(&self.from, Units::Strict)?;
        let (short, text) = self.source(&library, &model, language)?;
        write_file(&self.to, text.as_bytes())?;
        let steps = model.order().len();
        Ok(Done {
            what: format!("{short}: {steps} atomic component(s) in {short}_start and {short}_tick"),
            remarks: Vec::new(),
        })
    }

    fn model_to_fmu(&self) -> Result<Done, Failure> {
        let step_s = self.step.unwrap_or(fmu::STEP_S);
        let (library, model) = self.given.build_for_cycle(&self.from, Units::Strict, step_s)?;
        let (short, text) = self.source(&library, &model, Language::C)?;
        write_file(&self.to, &fmu::packed(&model, &short, &text, step_s)?)?;
        let steps = model.order().len();
        Ok(Done { what: format!("{short}: {steps} atomic component(s), a step of {step_s} s"), remarks: Vec::new() })
    }

    /// The name that functions of a model begin with, and its text. What has no text is told where it stands.
    fn source(&self, library: &Library, model: &Model, language: Language) -> Result<(String, String), Failure> {
        const HELP: &str = "such a model runs here only";
        let short = model.name().rsplit('.').next().unwrap_or("model").to_ascii_lowercase();
        let told = |error: ExportError| {
            let at = match &error {
                ExportError::Unsupported { step, .. } => model.complaint(library, step, error.to_string(), HELP),
                ExportError::Prefix(_) => None,
            };
            match at {
                Some(at) => Failure::Located(told::report(library, &[at])),
                None => Failure::input(format!("`{}`: {error}", self.from.display()), HELP),
            }
        };
        let text = export(model.program(), language, &short).map_err(told)?;
        Ok((short, text))
    }

    fn canvas(&self) -> Canvas {
        Canvas::new(Grid { origin: Point::default(), cell_m: self.cell })
    }

    fn write_tiles(&self, canvas: &Canvas, what: String) -> Result<Done, Failure> {
        write_file(&self.to, &to_file(canvas))?;
        let what = format!("{what} in {} tile(s) of {} m", canvas.tiles().len(), canvas_tile_m(self.cell));
        Ok(Done { what, remarks: Vec::new() })
    }
}

fn canvas_tile_m(cell_m: f64) -> f64 {
    Grid { origin: Point::default(), cell_m }.tile_m()
}

/// What a network consists of.
pub fn described(network: &Network) -> String {
    let turns = network.lanes().iter().filter(|lane| lane.junction().is_some()).count();
    let (lanes, junctions, zones) = (network.lanes().len() - turns, network.junctions().len(), network.zones().len());
    format!("{lanes} lane(s), {turns} turn(s) in {junctions} junction(s), {zones} zone(s)")
}

/// The kinds of files that are known by their names.
enum Ending {
    Rndf,
    Map,
    Tiles,
    Picture,
    Model,
    Source(Language),
    Fmu,
}

fn ending(path: &Path) -> Option<Ending> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    match path.extension().and_then(|ending| ending.to_str()) {
        _ if model::is_model(path) => return Some(Ending::Model),
        Some("c") => return Some(Ending::Source(Language::C)),
        Some("rs") => return Some(Ending::Source(Language::Rust)),
        Some("fmu") => return Some(Ending::Fmu),
        _ => {}
    }
    let known =
        [(".rndf", Ending::Rndf), (".road.toml", Ending::Map), (".tiles", Ending::Tiles), (".png", Ending::Picture)];
    known.into_iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, kind)| kind)
}

fn read_text(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|e| Failure::file("read", path, &e))
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes).map_err(|e| Failure::file("write", path, &e))
}
