//! What is said on the link, as `docs/bridge-protocol.md` tells it to people who write the other side.
//!
//! A request is a list of operations, a reply a list with one answer for each, in order. So one message serves one
//! branch or a thousand. Bodies are MessagePack maps with names; a verb is a map with one entry: `{"step": {..}}`.

mod ask;
mod begin;
mod card;
mod moves;
mod seen;

pub use ask::{Ask, DimensionFacts, SearchFacts, ToldPoint};
pub use begin::{Begin, CarFacts, GoalFacts, LegFacts, PathFacts, PeriodFacts, SectionFacts, StartFacts};
pub use card::{Card, ChoiceName, KeyVariable, Role, SiteCard, Snapshot, Support, WorldCard};
pub use moves::{CarNow, Moved, Push};
pub use seen::{
    BesideSeen, GoalSeen, HeardSeen, LineSeen, ObjectSeen, Occupancy, PathSeen, PlainSeen, PoseSeen, RoadSeen, Seen,
    TyresSeen, then_number,
};

use serde::{Deserialize, Serialize};

/// Version of the messages; both sides must agree.
pub const PROTOCOL: u16 = 1;
/// Largest body of a message. More is noise on the line, not a message.
pub const BODY_BYTES_MAX: usize = 64 << 20;

/// Number of a branch that is being run; chosen by the host.
pub type Branch = u32;
/// Number of a saved state; chosen by the host.
pub type TokenId = u32;

/// Digests of what code remembers apart from the variables it names, by the names of its attributes. No digest: the content
/// cannot be told. An instance that cannot look into itself leaves them out.
pub type Attributes = std::collections::BTreeMap<String, Option<u64>>;

/// From host to instance: everything that is asked at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Must equal [`PROTOCOL`].
    pub anabranch: u16,
    /// Number of this request; the reply repeats it.
    pub seq: u64,
    /// What to do, in order.
    pub ops: Vec<Op>,
}

/// From instance to host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// Must equal [`PROTOCOL`].
    pub anabranch: u16,
    /// Number of the request.
    pub seq: u64,
    /// One for each operation, in order.
    pub answers: Vec<Answer>,
    /// Seconds the instance itself spent; `None` where it does not measure.
    #[serde(default)]
    pub seconds: Option<f64>,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Op {
    /// Say what you are: [`Answer::Card`].
    Describe {},
    /// The branch begins at time zero; a branch of that number is replaced: [`Answer::Done`].
    Reset {
        /// The branch.
        branch: Branch,
        /// What it begins with.
        begin: Box<Begin>,
    },
    /// The branch begins as a copy of a saved state, which stays: [`Answer::Done`].
    Load {
        /// The saved state.
        token: TokenId,
        /// The branch.
        branch: Branch,
    },
    /// Decide once (role driver): [`Answer::Decision`].
    Step {
        /// The branch.
        branch: Branch,
        /// What the sensors say.
        seen: Box<Seen>,
    },
    /// Move for one base cycle (roles actuator and plant): [`Answer::Moved`].
    Move {
        /// The branch.
        branch: Branch,
        /// What reaches it.
        push: Box<Push>,
    },
    /// Run one segment (role world): [`Answer::Segment`].
    Run {
        /// The branch.
        branch: Branch,
        /// One mode per error site; 0 is "no error".
        modes: Vec<u16>,
        /// Whether the signals of every tick are wanted.
        record: bool,
    },
    /// The branch becomes a saved state; the branch is gone: [`Answer::Saved`].
    Save {
        /// The branch.
        branch: Branch,
        /// The saved state.
        token: TokenId,
    },
    /// These saved states are not needed any more: [`Answer::Done`].
    Drop {
        /// The saved states; unknown ones are no error.
        tokens: Vec<TokenId>,
    },
    /// Propose points (role optimiser): [`Answer::Points`].
    Ask(Box<Ask>),
    /// End: [`Answer::Done`], then the instance ends.
    Bye {},
}

/// What came of one operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// To [`Op::Describe`].
    Card(Box<Card>),
    /// Done, and nothing to say.
    Done {},
    /// To [`Op::Step`].
    Decision(Decision),
    /// To [`Op::Move`].
    Moved(Box<Moved>),
    /// To [`Op::Run`].
    Segment(Box<WorldSegment>),
    /// To [`Op::Save`].
    Saved {
        /// The whole memory in canonical form, where the instance can tell: equal bytes, equal future.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes: Option<serde_bytes::ByteBuf>,
        /// Digests of attributes that count for merging by nothing in [`Card::key`]; see [`Attributes`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attributes: Option<Attributes>,
    },
    /// To [`Op::Ask`].
    Points {
        /// Points of the unit cube.
        points: Vec<Vec<f64>>,
    },
    /// The code under test failed in this operation (an exception, say); the instance itself goes on.
    Failed {
        /// What it said.
        text: String,
    },
}

/// What a driver wants its car to do.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Decision {
    /// Angle of the front wheels (rad, left positive).
    pub steer: f64,
    /// Acceleration along the gear (m/s²): positive drives, negative brakes.
    pub accel: f64,
    /// +1 forwards, −1 backwards; `None` takes the direction of the path.
    pub gear: Option<i8>,
    /// "Manoeuvre completed."
    pub completed: bool,
    /// A trajectory to be tracked instead of `steer` and `accel`; empty where there is none.
    pub trajectory: Vec<TrajectoryPoint>,
    /// The values of [`Card::key`], in its order.
    pub key: Vec<f64>,
}

/// One point of a trajectory.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct TrajectoryPoint {
    /// Seconds since the start of the run.
    pub time_s: f64,
    /// Rear axle.
    pub x_m: f64,
    /// Rear axle.
    pub y_m: f64,
    /// Heading of the car.
    pub heading_rad: f64,
    /// Negative backwards.
    pub speed_mps: f64,
}

/// What came of one segment of a foreign simulator.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WorldSegment {
    /// The values of [`WorldCard::merge`], in its order.
    pub values: Vec<f64>,
    /// Names of violated *must* requirements; the run ends with the first.
    pub violated: Vec<String>,
    /// Names of violated *should* requirements.
    pub notes: Vec<String>,
    /// Whether the run has ended well.
    pub done: bool,
    /// How bad the state looks; larger is worse.
    pub danger: f64,
    /// Smallest margin on the way, where there is one.
    pub margin: Option<f64>,
    /// Values of [`WorldCard::signals`] for every tick of the segment, if they were asked for.
    pub frames: Vec<Vec<f64>>,
    /// Digests of attributes that count for merging by nothing in [`WorldCard::merge`]; see [`Attributes`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Attributes>,
}
