//! The audience of an exploration: progress, status file, events and the picture.

use anabranch_explore::{Drawn, Edge, LevelReport, Node, Observer, Progress, Recording, Stage};
use anabranch_record::{Phase, RecordError, RunFolder, Status};
use serde_json::json;

use super::drawing::Drawing;
use super::facts::level_json;
use super::graph::GraphRecorder;
use super::meter::Meter;
use crate::screen::Screen;
use crate::usage::WallClock;

/// Seconds between two writings of the status file.
const STATUS_EVERY_S: f64 = 1.0;

/// Whether pictures will be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pictures {
    /// They will.
    Draw,
    /// They will not.
    Leave,
}

/// Watches one exploration.
#[derive(Debug)]
pub struct Watcher<'a> {
    screen: &'a Screen,
    folder: &'a RunFolder,
    clock: WallClock,
    meter: Meter,
    pictures: Pictures,
    status: Status,
    written_s: f64,
    /// For the picture.
    pub drawing: Drawing,
    /// For the tables.
    pub graph: Option<GraphRecorder>,
    /// The whole graph, where somebody needs it.
    pub recording: Option<Recording>,
}

impl<'a> Watcher<'a> {
    /// A watcher that writes to the folder of the run.
    pub fn new(screen: &'a Screen, folder: &'a RunFolder, clock: WallClock, meter: Meter, pictures: Pictures) -> Self {
        let (status, written_s, drawing) = (Status::begin(), 0.0, Drawing::default());
        Self { screen, folder, clock, meter, pictures, status, written_s, drawing, graph: None, recording: None }
    }

    /// Whether pictures will be drawn.
    pub fn wants_pictures(&self) -> bool {
        self.pictures == Pictures::Draw
    }

    fn fills_drawing(&self) -> bool {
        self.pictures == Pictures::Draw && self.drawing.has_room()
    }

    /// Ends the progress and writes the last status. Who polls it would wait for ever if it did not appear.
    pub fn finish(&mut self, phase: Phase, findings: u64, message: &str) -> Result<(), RecordError> {
        self.meter.finish();
        (self.status.phase, self.status.findings, self.status.message) = (phase, findings, message.to_owned());
        self.write()
    }

    fn write(&mut self) -> Result<(), RecordError> {
        self.status.wall_s = self.clock.seconds();
        self.written_s = self.status.wall_s;
        self.folder.write_status(&self.status)
    }
}

impl Observer for Watcher<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.meter.progress(progress);
        let status = &mut self.status;
        (status.states, status.segments) = (progress.states, progress.segments);
        (status.merged, status.findings) = (progress.merged, progress.findings);
        if self.clock.seconds() - self.written_s >= STATUS_EVERY_S {
            // A status that cannot be written on the way must not end an exploration; the last one must be there.
            let written = self.write();
            written.unwrap_or_else(|error| self.screen.warn(&error.to_string()));
        }
    }

    fn stage(&mut self, stage: Stage) {
        self.screen.detail(stage.words());
    }

    fn level(&mut self, report: &LevelReport) {
        self.status.levels = u64::from(report.level) + 1;
        let mut event = level_json(report);
        event["event"] = json!("level");
        self.screen.event(&event);
    }

    fn draws(&self) -> bool {
        self.fills_drawing() || self.graph.is_some()
    }
    fn drawn(&mut self, drawn: &Drawn) {
        if self.fills_drawing() {
            self.drawing.drawn(drawn);
        }
    }
    fn kept(&mut self, node: u64, at: [f64; 3]) {
        if self.fills_drawing() {
            self.drawing.kept(node, at);
        }
        if let Some(graph) = &mut self.graph {
            graph.kept(at);
        }
    }

    fn records(&self) -> bool {
        self.graph.is_some() || self.recording.as_ref().is_some_and(Observer::records)
    }
    fn edge(&mut self, edge: &Edge) {
        self.graph.iter_mut().for_each(|graph| graph.edge(edge));
        self.recording.iter_mut().for_each(|recording| recording.edge(edge));
    }
    fn node(&mut self, node: &Node) {
        self.graph.iter_mut().for_each(|graph| graph.node(node));
        self.recording.iter_mut().for_each(|recording| recording.node(node));
    }
}
