//! The text of an RNDF as its parts, each with its place.

use std::collections::BTreeSet;

use anabranch_roads::report::{Notes, Span};

use crate::lines::{Line, Word, lines};

/// `segment.lane.waypoint`, or `zone.spot.waypoint`; perimeters of zones are spot 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id(pub [usize; 3]);

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.0[0], self.0[1], self.0[2])
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Rndf {
    pub name: String,
    pub segments: Vec<Segment>,
    pub zones: Vec<ZonePart>,
}

#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub number: usize,
    pub span: Span,
    pub lanes: Vec<Strand>,
}

#[derive(Clone, Debug)]
pub(crate) struct ZonePart {
    pub number: usize,
    pub perimeter: Option<Strand>,
    pub spots: Vec<Strand>,
}

/// A lane, a perimeter or a spot: way-points with what belongs to them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strand {
    /// Segment and lane, or zone and spot.
    pub id: [usize; 2],
    pub span: Span,
    pub width_ft: Option<f64>,
    pub left_solid: bool,
    pub right_solid: bool,
    pub points: Vec<Place>,
    pub exits: Vec<Exit>,
    pub stops: Vec<(Id, Span)>,
    pub checkpoints: Vec<(Id, usize, Span)>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub latitude: f64,
    pub longitude: f64,
    pub span: Span,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Exit {
    pub from: Id,
    pub to: Id,
    pub span: Span,
}

impl Rndf {
    /// Lanes of all segments.
    pub fn lanes(&self) -> impl Iterator<Item = &Strand> {
        self.segments.iter().flat_map(|segment| &segment.lanes)
    }
    /// Everything with way-points.
    pub fn strands(&self) -> impl Iterator<Item = &Strand> {
        self.lanes().chain(self.zones.iter().flat_map(|zone| zone.perimeter.iter().chain(&zone.spots)))
    }
}

/// Widest lane or spot, in feet.
const WIDTH_MAX_FT: f64 = 300.0;

struct Reader<'t, 'n, 'r> {
    lines: std::vec::IntoIter<Line<'t>>,
    notes: &'r mut Notes<'n>,
    end: Span,
    /// Ids of lanes, perimeters and spots so far.
    seen: BTreeSet<[usize; 2]>,
}

/// Reads all of a file; what is wrong is in the notes.
pub(crate) fn parse(text: &str, notes: &mut Notes<'_>) -> Rndf {
    let end = Span { start: text.len(), end: text.len() };
    let mut reader = Reader { lines: lines(text).into_iter(), notes, end, seen: BTreeSet::new() };
    let mut file = Rndf::default();
    let (mut segments, mut zones) = (None, None);
    while let Some(line) = reader.lines.next() {
        match line.key() {
            "RNDF_name" => file.name = line.words[1..].iter().map(|word| word.text).collect::<Vec<_>>().join("_"),
            "num_segments" => segments = reader.number(&line),
            "num_zones" => zones = reader.number(&line),
            "format_version" | "creation_date" => {}
            "segment" => file.segments.push(reader.segment(&line)),
            "zone" => file.zones.push(reader.zone(&line)),
            "end_file" => {
                reader.agree("segments", segments, file.segments.len(), line.span());
                reader.agree("zones", zones, file.zones.len(), line.span());
                return file;
            }
            _ => reader.unknown(&line, "RNDF_name, num_segments, num_zones, segment, zone, end_file"),
        }
    }
    reader.missing("end_file");
    file
}

impl<'t> Reader<'t, '_, '_> {
    fn segment(&mut self, head: &Line<'t>) -> Segment {
        let number = self.number(head).unwrap_or(0);
        let mut segment = Segment { number, span: head.span(), lanes: Vec::new() };
        let mut lanes = None;
        while let Some(line) = self.lines.next() {
            match line.key() {
                "num_lanes" => lanes = self.number(&line),
                "segment_name" => {}
                "lane" => segment.lanes.push(self.strand(&line, &LANE, number)),
                "end_segment" => {
                    self.agree("lanes", lanes, segment.lanes.len(), line.span());
                    return segment;
                }
                _ => self.unknown(&line, "num_lanes, segment_name, lane, end_segment"),
            }
        }
        self.missing("end_segment");
        segment
    }

    fn zone(&mut self, head: &Line<'t>) -> ZonePart {
        let number = self.number(head).unwrap_or(0);
        let mut zone = ZonePart { number, perimeter: None, spots: Vec::new() };
        let mut spots = None;
        while let Some(line) = self.lines.next() {
            match line.key() {
                "num_spots" => spots = self.number(&line),
                "zone_name" => {}
                "perimeter" => zone.perimeter = Some(self.strand(&line, &PERIMETER, number)),
                "spot" => zone.spots.push(self.strand(&line, &SPOT, number)),
                "end_zone" => {
                    self.agree("spots", spots, zone.spots.len(), line.span());
                    return zone;
                }
                _ => self.unknown(&line, "num_spots, zone_name, perimeter, spot, end_zone"),
            }
        }
        self.missing("end_zone");
        zone
    }

    fn strand(&mut self, head: &Line<'t>, words: &Words, parent: usize) -> Strand {
        let id = head.values::<1>(self.notes).and_then(|[word]| self.pair(word)).unwrap_or([parent, 0]);
        if id[0] != parent {
            let message = format!("`{}.{}` stands in segment or zone {parent}", id[0], id[1]);
            self.notes.add("E0704", head.span(), message, "its id begins with the number of what it stands in");
        }
        if !self.seen.insert(id) {
            let message = format!("there is another `{}.{}`", id[0], id[1]);
            self.notes.add("E0708", head.span(), message, "give one of them another number");
        }
        let mut strand = Strand { id, span: head.span(), ..Strand::default() };
        let mut count = None;
        while let Some(line) = self.lines.next() {
            let key = line.key();
            match key {
                _ if key == words.count => count = self.number(&line),
                _ if key == words.width => {
                    let width = line.values::<1>(self.notes);
                    strand.width_ft = width.and_then(|[word]| word.real(0.0, WIDTH_MAX_FT, self.notes));
                }
                "left_boundary" => strand.left_solid = self.is_solid(&line),
                "right_boundary" => strand.right_solid = self.is_solid(&line),
                "exit" => strand.exits.extend(self.exit(&line, id)),
                "stop" => {
                    let stop = line.values::<1>(self.notes).and_then(|[word]| self.own_point(word, id));
                    strand.stops.extend(stop.map(|stop| (stop, line.span())));
                }
                "checkpoint" => strand.checkpoints.extend(self.checkpoint(&line, id)),
                _ if key == words.end => {
                    self.agree("way-points", count, strand.points.len(), line.span());
                    return strand;
                }
                _ if key.starts_with(|c: char| c.is_ascii_digit()) => {
                    let next = Id([id[0], id[1], strand.points.len() + 1]);
                    strand.points.extend(self.place(&line, next));
                }
                _ => self.unknown(&line, words.known),
            }
        }
        self.missing(words.end);
        strand
    }

    /// Whether a boundary must not be crossed.
    fn is_solid(&mut self, line: &Line<'t>) -> bool {
        let Some([word]) = line.values::<1>(self.notes) else { return false };
        match word.text {
            "broken_white" => false,
            "double_yellow" | "solid_yellow" | "solid_white" => true,
            _ => {
                let known = "broken_white, solid_white, solid_yellow, double_yellow";
                let help = format!("write one of: {known}");
                self.notes.add("E0701", word.span, format!("there is no boundary `{}`", word.text), help);
                false
            }
        }
    }

    fn exit(&mut self, line: &Line<'t>, own: [usize; 2]) -> Option<Exit> {
        let [from, to] = line.values::<2>(self.notes)?;
        let (from, to) = (self.own_point(from, own), self.triple(to));
        Some(Exit { from: from?, to: to?, span: line.span() })
    }

    fn checkpoint(&mut self, line: &Line<'t>, own: [usize; 2]) -> Option<(Id, usize, Span)> {
        let [at, number] = line.values::<2>(self.notes)?;
        let (at, number) = (self.own_point(at, own), number.count(self.notes));
        Some((at?, number?, line.span()))
    }

    fn place(&mut self, line: &Line<'t>, expected: Id) -> Option<Place> {
        let id = self.triple(line.words[0])?;
        if id != expected {
            let help = "way-points are numbered from 1, in the order of driving";
            let message = format!("this is way-point `{id}`, but `{expected}` comes next");
            self.notes.add("E0704", line.words[0].span, message, help);
        }
        let [latitude, longitude] = line.values::<2>(self.notes)?;
        let latitude = latitude.real(-89.0, 89.0, self.notes);
        let longitude = longitude.real(-180.0, 180.0, self.notes);
        Some(Place { latitude: latitude?, longitude: longitude?, span: line.span() })
    }

    fn number(&mut self, line: &Line<'t>) -> Option<usize> {
        line.values::<1>(self.notes).and_then(|[word]| word.count(self.notes))
    }

    /// A way-point that belongs to the lane it is written in.
    fn own_point(&mut self, word: Word<'t>, own: [usize; 2]) -> Option<Id> {
        let id = self.triple(word)?;
        if id.0[..2] != own {
            let message = format!("`{id}` is not a way-point of {}.{}", own[0], own[1]);
            self.notes.add("E0704", word.span, message, "write it where its way-point is written");
            return None;
        }
        Some(id)
    }

    fn triple(&mut self, word: Word<'t>) -> Option<Id> {
        self.numbers::<3>(word, "segment.lane.waypoint").map(Id)
    }
    fn pair(&mut self, word: Word<'t>) -> Option<[usize; 2]> {
        self.numbers::<2>(word, "segment.lane")
    }
    fn numbers<const N: usize>(&mut self, word: Word<'t>, form: &str) -> Option<[usize; N]> {
        let parts: Vec<Option<usize>> =
            word.text.split('.').map(|part| part.parse::<u32>().ok().map(|number| number as usize)).collect();
        let numbers: Option<Vec<usize>> = parts.into_iter().collect();
        let numbers = numbers.and_then(|numbers| <[usize; N]>::try_from(numbers).ok());
        if numbers.is_none() {
            self.notes.add("E0703", word.span, format!("`{}` is not an id", word.text), format!("ids are {form}"));
        }
        numbers
    }

    fn agree(&mut self, what: &str, said: Option<usize>, found: usize, span: Span) {
        if let Some(said) = said.filter(|said| *said != found) {
            let message = format!("{said} {what} were announced, but there are {found}");
            self.notes.add("E0705", span, message, "correct the number, or look for what is missing");
        }
    }
    fn unknown(&mut self, line: &Line<'t>, known: &str) {
        let message = format!("`{}` does not belong here", line.key());
        self.notes.add("E0701", line.words[0].span, message, format!("known here: {known}"));
    }
    fn missing(&mut self, word: &str) {
        let help = "the file may have been cut off";
        self.notes.add("E0706", self.end, format!("the file ends without `{word}`"), help);
    }
}

/// The words with which lanes, perimeters and spots say the same things.
struct Words {
    count: &'static str,
    width: &'static str,
    end: &'static str,
    known: &'static str,
}

const LANE: Words = Words {
    count: "num_waypoints",
    width: "lane_width",
    end: "end_lane",
    known: "num_waypoints, lane_width, left_boundary, right_boundary, exit, stop, checkpoint, way-points, end_lane",
};
const PERIMETER: Words = Words {
    count: "num_perimeterpoints",
    width: "",
    end: "end_perimeter",
    known: "num_perimeterpoints, exit, way-points, end_perimeter",
};
const SPOT: Words = Words {
    count: "num_waypoints",
    width: "spot_width",
    end: "end_spot",
    known: "spot_width, checkpoint, way-points, end_spot",
};
