//! The closed sets of words in scenario files.

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
        }
        impl $name {
            /// Every word, as written in scenarios.
            pub const WORDS: &'static [&'static str] = &[$($word,)*];
            /// As written in scenarios.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
            /// The meaning of a word.
            pub fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

words! {
    /// Driving software that is built in.
    DriverKind {
        /// Follows a path, unaware of time.
        PathFollower = "path-follower",
        /// A path follower with small gains.
        Calm = "calm",
        /// A path follower with large gains.
        Eager = "eager",
        /// Follows a path on a timetable (S1-50).
        TrajectoryFollower = "trajectory-follower",
        /// Drives on roads, with others.
        Road = "road",
    }
}

words! {
    /// What merging does about memory that a driver does not report.
    HiddenMemory {
        /// States with different pasts are never alike.
        Refuse = "refuse",
        /// As if there were none; the verdict names it.
        Ignore = "ignore",
    }
}

words! {
    /// Gear in which the goal is reached.
    Gear {
        /// Forwards.
        Forward = "forward",
        /// Backwards.
        Reverse = "reverse",
    }
}

words! {
    /// To what directions of errors are relative.
    Frame {
        /// To the car: the first direction is straight ahead.
        Car = "car",
        /// To the world: the first direction is east.
        World = "world",
    }
}

words! {
    /// With which states a new one is compared (S1-8).
    Scope {
        /// The same time where time matters, else all.
        Auto = "auto",
        /// States of the same time.
        Level = "level",
        /// All states.
        Visited = "visited",
        /// States still waiting, as in the paper.
        Frontier = "frontier",
    }
}

words! {
    /// Which states of a cell are continued.
    Keep {
        /// The first, as in the paper (S1-11).
        First = "first",
        /// The most dangerous.
        Worst = "worst",
        /// The extreme ones.
        Extremes = "extremes",
    }
}

words! {
    /// Which state is continued next.
    Order {
        /// The oldest.
        Breadth = "breadth",
        /// The most dangerous.
        Danger = "danger",
    }
}

words! {
    /// What a requirement says about its expression.
    Form {
        /// It must not hold.
        Never = "never",
        /// It must hold.
        Always = "always",
        /// It must hold at least once.
        Eventually = "eventually",
        /// It must hold before the first base cycle.
        AtStart = "at_start",
        /// It must hold when the run ends.
        AtFinish = "at_finish",
    }
}

words! {
    /// The verdict that a test expects.
    Expect {
        /// A requirement can be violated.
        Violated = "violated",
        /// The code under test can fail: it raises an exception, hangs or crashes.
        DriverFault = "driver fault",
        /// No violation was found, or there is proof that there is none.
        NotFound = "not found",
        /// There is proof that no requirement can be violated.
        Safe = "safe",
        /// The planner finds no path (S1-36).
        NoPath = "no path",
    }
}

words! {
    /// Where errors happen, besides single obstacles.
    ErrorPlace {
        /// The position estimate.
        Localisation = "ego.localisation",
        /// The steering actuator.
        Steering = "ego.steering",
        /// Drive and brake.
        Acceleration = "ego.acceleration",
        /// Steering, drive and brake together.
        Actuators = "ego.actuators",
        /// The perception of obstacles, or the obstacles themselves.
        Obstacles = "ego.obstacles",
        /// The road below the tyres.
        Friction = "world.friction",
        /// One object sensor.
        Sensor = "sensor",
        /// Messages of other cars.
        Radio = "helper.radio",
        /// Pressure of the tyres.
        Tyres = "helper.tyres",
    }
}

words! {
    /// What moves a vehicle.
    VehicleKind {
        /// Rolls without slip, with lags of steering and drive (S4-11).
        Car = "car",
        /// Rolls without slip and does at once what it is told (S4-6).
        Kinematic = "kinematic",
        /// Its tyres slip (S4-21).
        SingleTrack = "single-track",
        /// Rolls without slip and draws a trailer (S4-23).
        Trailer = "trailer",
    }
}

words! {
    /// How the driver on roads drives.
    Manner {
        /// Smooth, with a good distance.
        Calm = "calm",
        /// Brisk and close.
        Eager = "eager",
    }
}

words! {
    /// How the driver on roads steers (S4-10).
    SteeringLaw {
        /// Optimal feedback of offset and heading.
        Lqr = "lqr",
        /// An arc to a point ahead.
        PurePursuit = "pure-pursuit",
        /// Heading and offset at the front axle.
        Stanley = "stanley",
    }
}

words! {
    /// Road networks that are laid by a few numbers.
    RoadShape {
        /// `main`, eastwards; the middle of lane 1 is the x axis.
        Straight = "straight",
        /// `main`, with one curvature.
        Arc = "arc",
        /// `north` and `south`, counter-clockwise.
        Ring = "ring",
        /// `before`, `merge` with an acceleration lane, `after`, and `ramp`.
        OnRamp = "on-ramp",
        /// `before` and `after`, which has one lane less.
        LaneDrop = "lane-drop",
        /// `east`, `north`, `west`, `south`.
        Crossing = "crossing",
        /// `east`, `west` and the side road `south`.
        TJunction = "t-junction",
        /// Arms around a ring.
        Roundabout = "roundabout",
        /// Blocks.
        City = "city",
    }
}

words! {
    /// Who goes first at junctions.
    JunctionControl {
        /// The rule of the right.
        Nothing = "nothing",
        /// Stop signs everywhere.
        AllWayStop = "all-way-stop",
        /// Stop signs at side roads.
        StopAtSide = "stop-at-side",
        /// Lights.
        Lights = "lights",
    }
}

words! {
    /// What is met on roads.
    ObjectKind {
        /// Drives by itself.
        Car = "car",
        /// Long and slow.
        Lorry = "lorry",
        /// Narrow and slower.
        Cyclist = "cyclist",
        /// Crosses the road.
        Pedestrian = "pedestrian",
        /// Stands there.
        Thing = "thing",
    }
}

words! {
    /// How a pedestrian crosses.
    Care {
        /// Waits for a gap.
        Looks = "looks",
        /// On a zebra crossing: cars give way.
        Zebra = "zebra",
        /// Does not look.
        Reckless = "reckless",
    }
}

words! {
    /// Side of the road that a pedestrian is on, along the lane (S2-32).
    RoadSide {
        /// On the right.
        Right = "right",
        /// On the left.
        Left = "left",
    }
}

words! {
    /// Direction in which a pedestrian walks (S2-32).
    Walking {
        /// Along the lane.
        Forth = "forth",
        /// Against it.
        Back = "back",
    }
}

words! {
    /// What a trigger makes a light show.
    LightColour {
        /// Stop.
        Red = "red",
        /// Stop if that can be done in comfort.
        Amber = "amber",
        /// Go.
        Green = "green",
    }
}
