//! An object tracker between sensor and planner: detections become tracks that keep their number, have a velocity, and
//! live through readings in which nothing was seen.
//!
//! Each track is a Kalman filter of constant velocity. Noise is the same in every direction, so east and north share one
//! covariance of position and velocity.

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::{Continuous, Discrete, Visitor, maths};
use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use super::assignment::{self, Costs, NEVER};
use super::detection::{DETECTIONS_MAX, Detection};
use crate::gaussian;

/// Most tracks at a time.
pub const TRACKS_MAX: usize = 32;
/// Most sensors whose readings are taken in at once.
const LOOKS_MAX: usize = 8;
/// Speed from which on the direction of motion says where the front is.
const MOVING_MPS: f64 = 1.0;
/// A speed is never known better than this, for the key.
const SPEED_DEVIATION_MIN_MPS: f64 = 1e-3;
/// Weight of a new heading or size against the one believed so far.
const NEW_WEIGHT: f64 = 0.5;

/// How tracks are born, live and die.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrackerSpec {
    /// Time between two readings.
    pub period_s: f64,
    /// Standard deviation of a detected position, metres.
    pub position_m: f64,
    /// How much objects accelerate: m/s per square root of a second.
    pub speed_walk: f64,
    /// Standard deviation of the speed of an object that has just been found, m/s.
    pub speed_birth_mps: f64,
    /// Squared distance, in deviations, beyond which a detection cannot belong to a track; 13.8 leaves out one in 1 000.
    pub gate: f64,
    /// Detections that confirm a track.
    pub confirm_hits: u8,
    /// Readings without detection that a track lives through before it is confirmed.
    pub tentative_misses: u8,
    /// Readings without detection that a confirmed track lives through.
    pub coast_misses: u8,
    /// Readings that are counted for the age, so that it does not keep states apart for ever.
    pub age_max: u16,
    /// Most tracks, at most [`TRACKS_MAX`].
    pub tracks_max: usize,
}

impl TrackerSpec {
    /// For cars and people at ten readings a second.
    pub const TRAFFIC: Self = Self {
        period_s: 0.1,
        position_m: 0.3,
        speed_walk: 2.0,
        speed_birth_mps: 10.0,
        gate: 13.8,
        confirm_hits: 3,
        tentative_misses: 0,
        coast_misses: 10,
        age_max: 20,
        tracks_max: TRACKS_MAX,
    };
}

/// How far a track is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trust {
    /// Seen too few times; planners look away.
    Tentative,
    /// Seen often enough.
    Confirmed,
}

/// An object as the tracker believes it to be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Track {
    /// Its number, the lowest that was free at its birth: so that a ghost leaves nothing behind when it is gone.
    pub id: u8,
    /// How far it is believed.
    pub trust: Trust,
    /// Detections so far, counted up to confirmation.
    hits: u8,
    /// Readings since the last detection; more than 0 is coasting.
    pub misses: u8,
    /// Readings since birth, counted up to a limit.
    pub age: u16,
    /// Metres east and north.
    pub position_m: [f64; 2],
    /// Metres per second east and north.
    pub velocity_mps: [f64; 2],
    /// Variances per direction: of the position, of position with velocity, of the velocity.
    covariance: [f64; 3],
    /// Radians.
    pub heading: f64,
    /// Metres.
    pub length_m: f64,
    /// Metres.
    pub width_m: f64,
}

/// Everything the tracker believes, by track number. State.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct TrackerState {
    tracks: Vec<Track>,
}

/// Behaviour only: what evolves is its [`TrackerState`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tracker {
    spec: TrackerSpec,
}

/// The variables of all tracks: how many there are, and the numbers of each of them.
#[derive(Clone, Copy, Debug)]
pub struct TrackVariables {
    count: Discrete,
    id: Discrete,
    seen: Discrete,
    at: [Continuous; 2],
    velocity: [Continuous; 2],
    position_deviation: Continuous,
    speed_deviation: Continuous,
    heading: Continuous,
    length: Continuous,
    width: Continuous,
    shared_deviation: Continuous,
}

impl TrackVariables {
    fn declare<V: Visitor>(v: &mut V) -> Self {
        v.unread("tracks[].age", "it is for people and decides nothing");
        Self {
            count: v.discrete("count"),
            id: v.discrete("id"),
            seen: v.discrete("seen"),
            at: ["x", "y"].map(|name| v.continuous(name, "m", 0.2)),
            velocity: ["speed_x", "speed_y"].map(|name| v.continuous(name, "m/s", 0.5)),
            position_deviation: v.continuous("position_deviation", "m", 0.1),
            speed_deviation: v.continuous("speed_deviation", "m/s", 0.5),
            heading: v.continuous("heading", "rad", 0.1),
            length: v.continuous("length", "m", 0.2),
            width: v.continuous("width", "m", 0.2),
            shared_deviation: v.continuous("shared_deviation", "m", 0.1),
        }
    }
}

/// What one sensor tells in one step.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// What it detected.
    pub detections: &'a [Detection],
    /// Standard deviation of a position, metres.
    pub position_m: f64,
    /// How much older its detections are than those of the quickest sensor; only differences in latency can be made up for.
    pub behind_s: f64,
}

impl<'a> Look<'a> {
    fn detections(&self) -> &'a [Detection] {
        &self.detections[..self.detections.len().min(DETECTIONS_MAX)]
    }
}

impl Track {
    fn born(id: u8, seen: &Detection, look: &Look<'_>, spec: &TrackerSpec) -> Self {
        let trust = if spec.confirm_hits <= 1 { Trust::Confirmed } else { Trust::Tentative };
        let mut born = Self {
            id,
            trust,
            hits: 1,
            misses: 0,
            age: 0,
            position_m: [seen.x, seen.y],
            velocity_mps: [0.0; 2],
            covariance: [look.position_m * look.position_m, 0.0, spec.speed_birth_mps * spec.speed_birth_mps],
            heading: seen.heading,
            length_m: seen.length_m,
            width_m: seen.width_m,
        };
        born.shift(look.behind_s);
        born
    }
    /// The same belief at another time, some seconds later or (negative) earlier, as if nobody accelerated in between.
    fn shift(&mut self, seconds: f64) {
        if seconds == 0.0 {
            return;
        }
        let [position, both, velocity] = self.covariance;
        for i in 0..2 {
            self.position_m[i] += self.velocity_mps[i] * seconds;
        }
        self.covariance =
            [position + 2.0 * seconds * both + seconds * seconds * velocity, both + seconds * velocity, velocity];
    }
    /// Where it will be if it goes on like this: for planners between readings, and against latency.
    pub fn after(&self, seconds: f64) -> Point {
        let [x, y] = std::array::from_fn(|i| self.position_m[i] + self.velocity_mps[i] * seconds);
        Point::new(x, y)
    }
    /// Covariance of (position, velocity), the same for east and north.
    pub fn covariance(&self) -> [[f64; 2]; 2] {
        gaussian::square(&self.covariance)
    }
    /// Metres per second.
    pub fn speed_mps(&self) -> f64 {
        maths::hypot(self.velocity_mps[0], self.velocity_mps[1])
    }

    fn predict(&mut self, spec: &TrackerSpec) {
        let dt = spec.period_s;
        let walk = spec.speed_walk * spec.speed_walk;
        let [position, both, velocity] = self.covariance;
        for i in 0..2 {
            self.position_m[i] += self.velocity_mps[i] * dt;
        }
        // White acceleration over dt: walk · dt³/3, dt²/2, dt.
        self.covariance = [
            position + 2.0 * dt * both + dt * dt * velocity + walk * dt * dt * dt / 3.0,
            both + dt * velocity + 0.5 * walk * dt * dt,
            velocity + walk * dt,
        ];
        self.age = spec.age_max.min(self.age.saturating_add(1));
    }
    /// Takes in a detection. One that is older than the belief is compared with where the object was then.
    fn seen(&mut self, seen: &Detection, look: &Look<'_>, spec: &TrackerSpec) {
        self.shift(-look.behind_s);
        let variance = look.position_m * look.position_m;
        let mut updated = [[0.0; 2]; 2];
        for (i, value) in [seen.x, seen.y].into_iter().enumerate() {
            updated = self.covariance();
            let mut mean = [self.position_m[i], self.velocity_mps[i]];
            gaussian::update(&mut mean, &mut updated, 0, value - self.position_m[i], variance);
            [self.position_m[i], self.velocity_mps[i]] = mean;
        }
        gaussian::symmetrise(&mut updated);
        self.covariance = gaussian::triangle(&updated);
        self.shift(look.behind_s);
        self.turn(seen.heading);
        self.length_m += NEW_WEIGHT * (seen.length_m - self.length_m);
        self.width_m += NEW_WEIGHT * (seen.width_m - self.width_m);
        // Whoever was seen by another sensor in this very step has had his hit.
        let is_first = std::mem::replace(&mut self.misses, 0) > 0;
        if !is_first {
            return;
        }
        self.hits = spec.confirm_hits.min(self.hits.saturating_add(1));
        if self.hits >= spec.confirm_hits {
            self.trust = Trust::Confirmed;
        }
    }
    /// Takes in a heading that may be told the wrong way round: things that move do so forwards.
    fn turn(&mut self, told: f64) {
        let front = if self.speed_mps() > MOVING_MPS {
            maths::atan2(self.velocity_mps[1], self.velocity_mps[0])
        } else {
            self.heading
        };
        let forwards = |angle: f64| {
            let off = maths::wrap_angle(angle - front);
            if off.abs() > std::f64::consts::FRAC_PI_2 { angle + std::f64::consts::PI } else { angle }
        };
        let (old, new) = (forwards(self.heading), forwards(told));
        self.heading = maths::wrap_angle(old + NEW_WEIGHT * maths::wrap_angle(new - old));
    }
    /// Squared distance of a detection in deviations; more than the gate is `NEVER`.
    fn cost(&self, seen: &Detection, look: &Look<'_>, spec: &TrackerSpec) -> f64 {
        let mut then = *self;
        then.shift(-look.behind_s);
        let spread = then.covariance[0] + look.position_m * look.position_m;
        let (dx, dy) = (seen.x - then.position_m[0], seen.y - then.position_m[1]);
        let squared = (dx * dx + dy * dy) / spread;
        // Of two tracks as far away in deviations, the surer one is the better guess: the likelihood says by how much.
        if squared > spec.gate { NEVER } else { squared + 2.0 * maths::ln(spread) }
    }
}

impl Tracker {
    /// A tracker.
    ///
    /// # Panics
    /// With more than [`TRACKS_MAX`] tracks.
    pub fn new(spec: TrackerSpec) -> Self {
        assert!(spec.tracks_max <= TRACKS_MAX, "at most {TRACKS_MAX} tracks");
        Self { spec }
    }

    /// One reading of the only sensor. Detections beyond [`DETECTIONS_MAX`] are ignored.
    pub fn step(&self, state: &mut TrackerState, detections: &[Detection]) {
        self.fuse(state, &[Look { detections, position_m: self.spec.position_m, behind_s: 0.0 }]);
    }

    /// One step with what several sensors tell, one after another: what they see together is one track, and what only one
    /// of them sees is a track as well. A step in which somebody was seen by any of them is no miss. At most eight sensors tell.
    pub fn fuse(&self, state: &mut TrackerState, looks: &[Look<'_>]) {
        for track in &mut state.tracks {
            track.predict(&self.spec);
            track.misses = track.misses.saturating_add(1);
        }
        // What each look has that belongs to nobody known, one bit per detection.
        let mut left: ArrayVec<u32, LOOKS_MAX> = ArrayVec::new();
        for look in looks.iter().take(LOOKS_MAX) {
            let mut taken = 0_u32;
            // Confirmed tracks choose first, so that no ghost takes away what they have been following.
            for trust in [Trust::Confirmed, Trust::Tentative] {
                taken |= self.pair(state, look, taken, |track| track.trust == trust);
            }
            left.push(!taken);
        }
        let spec = &self.spec;
        state.tracks.retain(|track| match track.trust {
            Trust::Confirmed => track.misses <= spec.coast_misses,
            Trust::Tentative => track.misses <= spec.tentative_misses,
        });
        let mut born = 0_u32;
        for (look, left) in looks.iter().zip(left) {
            let mut taken = !left;
            if born != 0 {
                taken |= self.pair(state, look, taken, |track| born >> track.id & 1 == 1);
            }
            for (_, seen) in look.detections().iter().enumerate().filter(|(index, _)| taken >> index & 1 == 0) {
                born |= self.bear(state, seen, look);
            }
        }
    }
    /// Pairs some of the tracks with detections that are not taken; returns those that are now.
    fn pair(&self, state: &mut TrackerState, look: &Look<'_>, taken: u32, some: impl Fn(&Track) -> bool) -> u32 {
        let mut costs: Costs = [[NEVER; DETECTIONS_MAX]; TRACKS_MAX];
        let (mut rows, detections) = (0, look.detections());
        for track in state.tracks.iter().filter(|track| some(track)) {
            for (column, seen) in detections.iter().enumerate().filter(|(column, _)| taken >> column & 1 == 0) {
                costs[rows][column] = track.cost(seen, look, &self.spec);
            }
            rows += 1;
        }
        let found = assignment::assign(&costs, rows, detections.len());
        let mut now = 0;
        for (row, track) in state.tracks.iter_mut().filter(|track| some(track)).enumerate() {
            if let Some(column) = found[row] {
                track.seen(&detections[usize::from(column)], look, &self.spec);
                now |= 1 << column;
            }
        }
        now
    }
    /// Begins a track; returns its bit, or none if there is no room.
    fn bear(&self, state: &mut TrackerState, seen: &Detection, look: &Look<'_>) -> u32 {
        if state.tracks.len() >= self.spec.tracks_max {
            return 0;
        }
        // Tracks are in the order of their numbers: the first gap is the lowest free number.
        let gap = state.tracks.iter().zip(0_u8..).position(|(track, number)| track.id != number);
        let place = gap.unwrap_or(state.tracks.len());
        state.tracks.insert(place, Track::born(place as u8, seen, look, &self.spec));
        1 << place
    }
}

impl TrackerState {
    /// All tracks, by number.
    pub fn tracks(&self) -> &[Track] {
        &self.tracks
    }
    /// Tracks that have been seen often enough, by number.
    pub fn confirmed(&self) -> impl Iterator<Item = &Track> {
        self.tracks.iter().filter(|track| track.trust == Trust::Confirmed)
    }
    /// Names all tracks.
    pub fn visit<V: Visitor>(&self, v: &mut V) {
        let variables = TrackVariables::declare(v);
        v.put_exact(variables.count, self.tracks.len() as u64);
        for track in &self.tracks {
            v.put_exact(variables.id, u64::from(track.id));
            track.put(None, 0.0, &variables, v);
        }
    }
    /// Declares the variables for [`Self::put_about`].
    pub fn declare_about<V: Visitor>(v: &mut V) -> TrackVariables {
        v.rounded("tracks[].id", "tracks are in the key in the order of what they follow");
        TrackVariables::declare(v)
    }
    /// Values of all tracks with cells that are centred about what was tracked: what it truly is must be in the key already. A track that follows its
    /// object well is then the same wherever the object is, and hair's breadths do not keep states apart. Numbers of tracks are
    /// left out, for those to whom they say nothing; tracks are written in the order of their objects.
    ///
    /// `lag_s` is how old the last reading is; `truth` finds the object at the place of a track.
    pub fn put_about<V: Visitor>(
        &self,
        lag_s: f64,
        truth: impl Fn(Point) -> Option<Tracked>,
        variables: &TrackVariables,
        v: &mut V,
    ) {
        v.put_exact(variables.count, self.tracks.len() as u64);
        let found = self.tracks.iter().map(|track| (truth(track.after(lag_s)), track));
        let mut found: ArrayVec<(Option<Tracked>, &Track), TRACKS_MAX> = found.collect();
        found.sort_by_key(|(truth, track)| (truth.map_or(u32::MAX, |truth| truth.number), track.id));
        for (truth, track) in &found {
            v.put_exact(variables.id, truth.map_or(u64::MAX, |truth| u64::from(truth.number)));
            track.put(truth.as_ref(), lag_s, variables, v);
        }
    }
}

/// What a track follows, as it truly is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tracked {
    /// Its number among all objects.
    pub number: u32,
    /// Its middle and direction.
    pub pose: Pose,
    /// Metres per second east and north.
    pub velocity_mps: [f64; 2],
    /// Metres.
    pub length_m: f64,
    /// Metres.
    pub width_m: f64,
}

impl Track {
    /// Everything but its number.
    fn put<V: Visitor>(&self, about: Option<&Tracked>, lag_s: f64, variables: &TrackVariables, v: &mut V) {
        const NOTHING: Tracked = Tracked {
            number: 0,
            pose: Pose { x: 0.0, y: 0.0, heading: 0.0 },
            velocity_mps: [0.0; 2],
            length_m: 0.0,
            width_m: 0.0,
        };
        let about = about.unwrap_or(&NOTHING);
        v.put_exact(variables.seen, u64::from(self.hits) << 16 | u64::from(self.misses) << 8 | self.trust as u64);
        let at = self.after(lag_s);
        v.put(variables.at[0], at.x - about.pose.x);
        v.put(variables.at[1], at.y - about.pose.y);
        v.put(variables.velocity[0], self.velocity_mps[0] - about.velocity_mps[0]);
        v.put(variables.velocity[1], self.velocity_mps[1] - about.velocity_mps[1]);
        v.put(variables.position_deviation, self.covariance[0].sqrt());
        v.put(variables.speed_deviation, self.covariance[2].sqrt());
        v.put_angle(variables.heading, self.heading - about.pose.heading);
        v.put(variables.length, self.length_m - about.length_m);
        v.put(variables.width, self.width_m - about.width_m);
        // How far off it believes the place to be for each deviation of the speed: with the two above the whole covariance.
        let shared = self.covariance[1] / self.covariance[2].sqrt().max(SPEED_DEVIATION_MIN_MPS);
        v.put(variables.shared_deviation, shared);
    }
}
