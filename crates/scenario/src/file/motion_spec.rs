//! What a scenario says about how the car moves, on what ground, and how it finds its place.

use anabranch_geometry::Point;
use anabranch_sensing::NoiseModel;
use anabranch_vehicle::{SingleTrackSpec, TrailerSpec};

use super::span::{Located, Span};

/// What moves the car.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VehicleModel {
    /// It rolls without slip: the paper's car (S4-11), or with the data for it the bare bicycle.
    Rolling,
    /// Its tyres slip.
    Tyres(SingleTrackSpec),
    /// It draws a trailer.
    Trailer(TrailerSpec),
}

/// A part of the world with a property of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct ZoneSpec {
    /// Its name, given or made up.
    pub id: Located<String>,
    /// Corners of a polygon.
    pub corners: Vec<Point>,
    /// What is special there.
    pub effect: ZoneEffect,
    /// From and until when it is there; always if `None`.
    pub during_s: Option<[f64; 2]>,
    /// Where the property is written.
    pub span: Span,
}

/// What is special in a zone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ZoneEffect {
    /// Friction coefficient.
    Friction(f64),
    /// Satellites tell the position with so many times the usual noise.
    GpsNoise(f64),
    /// No satellites.
    GpsLost,
}

/// Sensors of the own motion and the filter behind them.
#[derive(Clone, Debug, PartialEq)]
pub struct FilterSpec {
    /// Position.
    pub gps: MotionSensorGiven,
    /// Heading.
    pub compass: MotionSensorGiven,
    /// Speed.
    pub wheels: MotionSensorGiven,
    /// Yaw rate.
    pub gyro: MotionSensorGiven,
    /// Where it is asked for.
    pub span: Span,
}

/// A sensor of the own motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MotionSensorGiven {
    /// Between readings; the usual one if `None`.
    pub cycle_s: Option<Located<f64>>,
    /// Whether the car has it.
    pub present: bool,
    /// Its noise.
    pub noise: NoiseModel,
    /// Standard deviation that the filter counts with; that of the noise if `None`.
    pub assumed: Option<f64>,
}

/// Plain sensors that a driver may listen to.
#[derive(Clone, Debug, PartialEq)]
pub struct PlainSpec {
    /// In the order of [`anabranch_sensing::Plain::ALL`].
    pub gauges: [GaugeGiven; 7],
    /// Where they are asked for.
    pub span: Span,
}

/// One plain sensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaugeGiven {
    /// Between readings; every base cycle if `None`.
    pub cycle_s: Option<Located<f64>>,
    /// Readings are whole multiples of this; 0 is any number.
    pub quantum: f64,
    /// Its noise.
    pub noise: NoiseModel,
}
