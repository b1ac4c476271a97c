//! A run as an MCAP file that Foxglove, Lichtblick and the `mcap` tools open: something to look at, and every signal.
//!
//! | topic | schema | what |
//! |---|---|---|
//! | `/signals` | `anabranch.Signals` | every signal of every base cycle, by the parts of its name |
//! | `/ego/pose`, `/tf` | `foxglove.PoseInFrame`, `foxglove.FrameTransform` | where the car is, fifty times a second |
//! | `/scene` | `foxglove.SceneUpdate` | walls, obstacles, path and car; the contact when there is one |
//! | `/errors` | `foxglove.Log` | the error of every segment when it begins, and the verdict |
//!
//! Times are simulated, from 0, and the bytes depend on the run alone.

mod message;
mod schema;

use std::collections::BTreeMap;
use std::io::{self, Seek, Write};

use ::mcap::records::MessageHeader;
use ::mcap::{McapError, WriteOptions, Writer};
use anabranch_kernel::{Recorder, Signal};
use serde_json::Value;

use crate::picture::Point;
use message::{Level, Place};

/// Nanoseconds between two poses: enough for the eye, a fifth of the file.
const POSE_EVERY_NS: u64 = 20_000_000;

/// What stands around the car; lengths in metres.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceWorld {
    /// Walls.
    pub walls: Vec<Vec<Point>>,
    /// Obstacles.
    pub obstacles: Vec<Vec<Point>>,
    /// The path that was to be followed.
    pub path: Vec<Point>,
    /// Outline of the car in its own frame (x forwards).
    pub outline: Vec<Point>,
}

/// The error of one segment.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceError {
    /// When it begins, seconds.
    pub from_s: f64,
    /// In words; `none` for no error.
    pub text: String,
}

/// Writes one run.
///
/// Recording never disturbs a run: what the writer says is kept and reported by [`finish`](Self::finish).
pub struct McapTrace<W: Write + Seek> {
    writer: Writer<W>,
    channels: Channels,
    cycle_s: f64,
    names: Vec<Vec<String>>,
    /// Positions of x, y and heading among the signals.
    pose_at: Option<[usize; 3]>,
    /// Errors that have not begun yet, the next one last.
    errors: Vec<TraceError>,
    next_pose_ns: u64,
    last: Option<(u64, [f64; 3])>,
    sequence: u32,
    failed: Option<McapError>,
}

impl<W: Write + Seek> std::fmt::Debug for McapTrace<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("McapTrace").field("signals", &self.names.len()).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug)]
struct Channels {
    signals: u16,
    pose: u16,
    tf: u16,
    scene: u16,
    errors: u16,
}

impl<W: Write + Seek> McapTrace<W> {
    /// Begins with the scene; `cycle_s` is the length of a base cycle, `errors` are in the order of time.
    ///
    /// # Errors
    /// When the writer refuses.
    pub fn new(
        out: W,
        signals: &[Signal],
        cycle_s: f64,
        world: &TraceWorld,
        errors: Vec<TraceError>,
    ) -> io::Result<Self> {
        let options = WriteOptions::new().compression(None).library("anabranch");
        let mut writer = options.create(out).map_err(io::Error::other)?;
        let channels = Channels::add(&mut writer, signals).map_err(io::Error::other)?;
        let position = |name: &str| signals.iter().position(|signal| signal.name == name);
        let pose_at = match ["ego.x", "ego.y", "ego.heading"].map(position) {
            [Some(x), Some(y), Some(heading)] => Some([x, y, heading]),
            _ => None,
        };
        let names = signals.iter().map(|signal| signal.name.split('.').map(str::to_owned).collect()).collect();
        let errors = errors.into_iter().rev().collect();
        let mut trace = Self {
            writer,
            channels,
            cycle_s,
            names,
            pose_at,
            errors,
            next_pose_ns: 0,
            last: None,
            sequence: 0,
            failed: None,
        };
        trace.put(channels.scene, 0, &message::scene(world));
        Ok(trace)
    }

    /// Says how the run ended, and where the contact was.
    pub fn verdict(&mut self, tick: u64, text: &str, contact: Option<Point>) {
        let at_ns = self.time_ns(tick);
        self.put(self.channels.errors, at_ns, &message::log(at_ns, Level::Error, text));
        if let Some(contact) = contact {
            self.put(self.channels.scene, at_ns, &message::contact(at_ns, contact, text));
        }
    }

    /// Ends the file and gives the writer back.
    ///
    /// # Errors
    /// With the first thing the writer refused.
    pub fn finish(mut self) -> io::Result<W> {
        if let Some((at_ns, pose)) = self.last.take() {
            self.put_pose(at_ns, pose);
        }
        if let Some(error) = self.failed.take() {
            return Err(io::Error::other(error));
        }
        self.writer.finish().map_err(io::Error::other)?;
        let mut out = self.writer.into_inner();
        out.flush().map(|()| out)
    }

    fn time_ns(&self, tick: u64) -> u64 {
        (tick as f64 * self.cycle_s * 1e9).round() as u64
    }

    fn put(&mut self, channel_id: u16, at_ns: u64, value: &Value) {
        if self.failed.is_some() {
            return;
        }
        let header = MessageHeader { channel_id, sequence: self.sequence, log_time: at_ns, publish_time: at_ns };
        self.sequence += 1;
        self.failed = self.writer.write_to_known_channel(&header, value.to_string().as_bytes()).err();
    }

    fn put_pose(&mut self, at_ns: u64, pose: [f64; 3]) {
        let place = Place::of(pose);
        self.put(self.channels.tf, at_ns, &message::frame_transform(at_ns, &place));
        self.put(self.channels.pose, at_ns, &message::pose_in_frame(at_ns, &place));
    }
}

impl<W: Write + Seek> Recorder for McapTrace<W> {
    fn frame(&mut self, tick: u64, values: &[f64]) {
        assert_eq!(values.len(), self.names.len(), "a frame has one value per signal");
        let at_ns = self.time_ns(tick);
        while let Some(error) = self.errors.pop_if(|error| (error.from_s * 1e9).round() as u64 <= at_ns) {
            let level = if error.text == "none" { Level::Info } else { Level::Warning };
            let begins_ns = (error.from_s * 1e9).round() as u64;
            self.put(self.channels.errors, begins_ns, &message::log(begins_ns, level, &error.text));
        }
        if let Some(pose) = self.pose_at.map(|at| at.map(|index| values[index])) {
            self.last = Some((at_ns, pose));
            if at_ns >= self.next_pose_ns {
                self.next_pose_ns = at_ns + POSE_EVERY_NS;
                self.put_pose(at_ns, pose);
                self.last = None;
            }
        }
        let signals = message::signals(tick, at_ns, &self.names, values);
        self.put(self.channels.signals, at_ns, &signals);
    }
}

impl Channels {
    fn add<W: Write + Seek>(writer: &mut Writer<W>, signals: &[Signal]) -> Result<Self, McapError> {
        let mut channel = |topic: &str, name: &str, schema: &Value| {
            let schema = writer.add_schema(name, "jsonschema", schema.to_string().as_bytes())?;
            writer.add_channel(schema, topic, "json", &BTreeMap::new())
        };
        Ok(Self {
            scene: channel("/scene", "foxglove.SceneUpdate", &schema::scene_update())?,
            tf: channel("/tf", "foxglove.FrameTransform", &schema::frame_transform())?,
            pose: channel("/ego/pose", "foxglove.PoseInFrame", &schema::pose_in_frame())?,
            errors: channel("/errors", "foxglove.Log", &schema::log())?,
            signals: channel("/signals", "anabranch.Signals", &schema::signals(signals))?,
        })
    }
}

#[cfg(test)]
mod tests;
