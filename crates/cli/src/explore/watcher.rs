//! The audience of an exploration: progress, status file, events and the picture.

use anabranch_explore::{Drawn, Edge, LevelReport, Node, Observer, Progress, Recording};
use anabranch_record::{Phase, RunFolder, Status};
use serde_json::json;

use super::drawing::Drawing;
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
    /// The whole graph, where somebody needs it.
    pub recording: Option<Recording>,
}

impl<'a> Watcher<'a> {
    /// A watcher that writes to the folder of the run.
    pub fn new(screen: &'a Screen, folder: &'a RunFolder, clock: WallClock, meter: Meter, pictures: Pictures) -> Self {
        let (status, written_s, drawing) = (Status::begin(), 0.0, Drawing::default());
        Self { screen, folder, clock, meter, pictures, status, written_s, drawing, recording: None }
    }

    /// Whether pictures will be drawn.
    pub fn wants_pictures(&self) -> bool {
        self.pictures == Pictures::Draw
    }

    /// Ends the progress and writes the last status.
    pub fn finish(&mut self, phase: Phase, findings: u64, message: &str) {
        self.meter.finish();
        (self.status.phase, self.status.findings, self.status.message) = (phase, findings, message.to_owned());
        self.write();
    }

    /// A status that cannot be written must not end an exploration; its folder will say so when results are saved.
    fn write(&mut self) {
        self.status.wall_s = self.clock.seconds();
        self.written_s = self.status.wall_s;
        if let Err(error) = self.folder.write_status(&self.status) {
            self.screen.warn(&error.to_string());
        }
    }
}

impl Observer for Watcher<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.meter.progress(progress);
        let status = &mut self.status;
        (status.states, status.segments) = (progress.states, progress.segments);
        (status.merged, status.findings) = (progress.merged, progress.findings);
        if self.clock.seconds() - self.written_s >= STATUS_EVERY_S {
            self.write();
        }
    }

    fn level(&mut self, report: &LevelReport) {
        self.status.levels = u64::from(report.level) + 1;
        self.screen.event(&json!({
            "event": "level",
            "level": report.level,
            "segments": report.segments,
            "kept": report.kept,
            "merged": report.merged,
            "goals": report.goals,
            "findings": report.findings,
            "worst_clearance_m": report.margin,
        }));
    }

    fn draws(&self) -> bool {
        self.pictures == Pictures::Draw && self.drawing.has_room()
    }
    fn drawn(&mut self, drawn: &Drawn) {
        self.drawing.drawn(drawn);
    }
    fn kept(&mut self, node: u64, at: [f64; 3]) {
        self.drawing.kept(node, at);
    }

    fn records(&self) -> bool {
        self.recording.as_ref().is_some_and(Observer::records)
    }
    fn edge(&mut self, edge: &Edge) {
        if let Some(recording) = &mut self.recording {
            recording.edge(edge);
        }
    }
    fn node(&mut self, node: &Node) {
        if let Some(recording) = &mut self.recording {
            recording.node(node);
        }
    }
}
