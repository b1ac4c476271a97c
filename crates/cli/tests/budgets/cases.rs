//! The combinations: what is explored, how slow it is, which limit strikes and what the program is doing then.

use std::fmt;

/// What is explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A scenario with the built-in driver.
    BuiltIn,
    /// The same scenario with a driver in Python.
    Driver,
    /// A world in Python.
    World,
}

/// How slow it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// As quick as it can be.
    Quick,
    /// So many milliseconds for each step.
    StepMs(u32),
    /// Quick until the phase begins, then so many milliseconds for each step.
    SlowsToMs(u32),
    /// Quick until the phase begins, then it hangs for 5 s in each step.
    Hangs,
}

/// What ends the exploration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// Seconds.
    Time(f64),
    /// Kept states.
    States(u64),
    /// Main memory.
    MemoryMb(u64),
    /// A person.
    CtrlC,
}

/// A kind of limit by its name, and whether a limit is of it.
type LimitKind = (&'static str, fn(&Limit) -> bool);

impl Limit {
    /// Kinds of limit, each with its test.
    pub const KINDS: [LimitKind; 4] = [
        ("time [s]", |limit| matches!(limit, Self::Time(_))),
        ("states", |limit| matches!(limit, Self::States(_))),
        ("memory [MB]", |limit| matches!(limit, Self::MemoryMb(_))),
        ("Ctrl-C [s]", |limit| matches!(limit, Self::CtrlC)),
    ];

    /// For `--budget`.
    pub fn budget(&self) -> Option<String> {
        match self {
            Self::Time(s) => Some(format!("time={s}s")),
            Self::States(count) => Some(format!("states={count}")),
            Self::MemoryMb(count) => Some(format!("memory={count}MB")),
            Self::CtrlC => None,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.budget().unwrap_or_else(|| "Ctrl-C".to_owned()))
    }
}

/// What the program is doing when the driver becomes slow, or when Ctrl-C is pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Nothing is waited for.
    Any,
    /// The code from outside is being started.
    Starting,
    /// The claims of a world are being tried.
    Claims,
    Pilot,
    Resuming,
    Exploring,
    Covering,
    Searching,
    Exhausting,
    Holding,
    Repeating,
    Confirming,
    Causes,
    Writing,
    Explaining,
    Pictures,
}

impl Phase {
    /// How the line on the screen begins.
    pub fn line(self) -> Option<&'static str> {
        Some(match self {
            Self::Any | Self::Starting => return None,
            Self::Claims => "trying what the world claims",
            Self::Pilot => "a few random runs",
            Self::Resuming => "computing the waiting states again",
            Self::Exploring => "exploring",
            Self::Covering => "random runs that measure",
            Self::Searching => "searching without merging",
            Self::Exhausting => "running every sequence",
            Self::Holding => "holding every error",
            Self::Repeating => "running segments a second time",
            Self::Confirming => "confirming",
            Self::Causes => "looking for causes",
            Self::Writing => "writing findings",
            Self::Explaining => "explaining causes",
            Self::Pictures => "drawing pictures",
        })
    }
    /// Phases that are reached only where nothing was found.
    pub fn needs_calm(self) -> bool {
        matches!(self, Self::Searching | Self::Exhausting)
    }
}

/// Whether a combination is part of every test run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quickly {
    Too,
    No,
}

/// One combination.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub subject: Subject,
    pub pace: Pace,
    pub limit: Limit,
    pub phase: Phase,
    pub quickly: Quickly,
    /// Arguments that the phase needs in addition.
    pub more: &'static [&'static str],
}

const fn case(subject: Subject, pace: Pace, limit: Limit, phase: Phase) -> Case {
    Case { subject, pace, limit, phase, quickly: Quickly::No, more: &[] }
}

impl Case {
    const fn quickly(self) -> Self {
        Self { quickly: Quickly::Too, ..self }
    }
    const fn with(self, more: &'static [&'static str]) -> Self {
        Self { more, ..self }
    }
}

use Limit::{CtrlC, MemoryMb, States, Time};
use Pace::{Hangs, Quick, SlowsToMs, StepMs};
use Phase::{
    Any, Causes, Claims, Confirming, Covering, Exhausting, Explaining, Exploring, Holding, Pictures, Pilot, Repeating,
    Resuming, Searching, Starting, Writing,
};
use Subject::{BuiltIn, Driver, World};

/// Nothing is merged, so there is always more to explore.
const ENDLESS: &[&str] = &["--merge", "none"];
/// So many random runs that they last.
const MANY_RUNS: &[&str] = &["--until", "8 s", "--rollouts", "3000000"];
/// A limit of states is not one of time: what follows is kept short.
const FEW_RUNS: &[&str] = &["--rollouts", "20"];

pub const CASES: &[Case] = &[
    // Drivers of a constant pace.
    case(BuiltIn, Quick, Time(2.0), Any).with(ENDLESS).quickly(),
    case(BuiltIn, Quick, Time(5.0), Any).with(ENDLESS),
    case(BuiltIn, Quick, Time(5.0), Covering).with(MANY_RUNS),
    case(Driver, Quick, Time(2.0), Any),
    case(Driver, Quick, Time(5.0), Any),
    case(Driver, StepMs(1), Time(2.0), Any).quickly(),
    case(Driver, StepMs(1), Time(5.0), Any),
    case(Driver, StepMs(1), Time(30.0), Any),
    case(Driver, StepMs(20), Time(2.0), Any),
    case(Driver, StepMs(20), Time(5.0), Any),
    case(World, Quick, Time(2.0), Any),
    case(World, Quick, Time(5.0), Any),
    case(World, StepMs(1), Time(2.0), Any),
    case(World, StepMs(1), Time(5.0), Any),
    case(World, StepMs(20), Time(2.0), Any),
    case(World, StepMs(20), Time(5.0), Any),
    // Drivers that become slow in one phase.
    case(Driver, SlowsToMs(20), Time(5.0), Pilot),
    case(Driver, SlowsToMs(20), Time(5.0), Exploring),
    case(Driver, SlowsToMs(20), Time(5.0), Covering),
    case(Driver, SlowsToMs(20), Time(10.0), Searching),
    case(Driver, SlowsToMs(20), Time(10.0), Exhausting),
    case(Driver, SlowsToMs(20), Time(10.0), Holding),
    case(Driver, SlowsToMs(20), Time(10.0), Repeating),
    case(Driver, SlowsToMs(20), Time(10.0), Confirming),
    case(Driver, SlowsToMs(20), Time(10.0), Causes),
    case(Driver, SlowsToMs(20), Time(5.0), Resuming),
    case(World, SlowsToMs(20), Time(5.0), Exploring),
    case(World, SlowsToMs(20), Time(5.0), Exhausting),
    case(World, SlowsToMs(20), Time(10.0), Confirming),
    // Drivers that hang.
    case(Driver, Hangs, Time(2.0), Starting),
    case(Driver, Hangs, Time(5.0), Pilot),
    case(Driver, Hangs, Time(5.0), Exploring),
    case(Driver, Hangs, Time(5.0), Covering),
    case(Driver, Hangs, Time(10.0), Searching),
    case(Driver, Hangs, Time(10.0), Exhausting),
    case(Driver, Hangs, Time(10.0), Repeating),
    case(Driver, Hangs, Time(10.0), Confirming),
    case(Driver, Hangs, Time(10.0), Causes),
    case(Driver, Hangs, Time(20.0), Pictures),
    case(Driver, Hangs, Time(5.0), Resuming),
    case(World, Hangs, Time(2.0), Starting).quickly(),
    case(World, Hangs, Time(5.0), Claims).quickly(),
    case(World, Hangs, Time(5.0), Exploring),
    case(World, Hangs, Time(10.0), Confirming),
    // Ctrl-C while everything is quick.
    case(BuiltIn, Quick, CtrlC, Exploring).with(ENDLESS).quickly(),
    case(BuiltIn, Quick, CtrlC, Covering).with(MANY_RUNS),
    case(BuiltIn, Quick, CtrlC, Confirming),
    case(BuiltIn, Quick, CtrlC, Causes),
    case(BuiltIn, Quick, CtrlC, Explaining),
    case(BuiltIn, Quick, CtrlC, Pictures),
    case(BuiltIn, Quick, CtrlC, Resuming).with(ENDLESS),
    // Ctrl-C while a driver is slow or hangs.
    case(Driver, SlowsToMs(20), CtrlC, Exploring),
    case(Driver, SlowsToMs(20), CtrlC, Confirming),
    case(Driver, Hangs, CtrlC, Starting),
    case(Driver, Hangs, CtrlC, Pilot),
    case(Driver, Hangs, CtrlC, Resuming),
    case(Driver, Hangs, CtrlC, Exploring),
    case(Driver, Hangs, CtrlC, Covering),
    case(Driver, Hangs, CtrlC, Searching),
    case(Driver, Hangs, CtrlC, Exhausting),
    case(Driver, Hangs, CtrlC, Holding),
    case(Driver, Hangs, CtrlC, Repeating),
    case(Driver, Hangs, CtrlC, Confirming).quickly(),
    case(Driver, Hangs, CtrlC, Causes),
    case(Driver, Hangs, CtrlC, Writing),
    case(Driver, Hangs, CtrlC, Pictures),
    case(World, StepMs(20), CtrlC, Exploring),
    case(World, Hangs, CtrlC, Starting),
    case(World, Hangs, CtrlC, Claims),
    case(World, Hangs, CtrlC, Exploring).quickly(),
    case(World, Hangs, CtrlC, Covering),
    case(World, Hangs, CtrlC, Searching),
    case(World, Hangs, CtrlC, Exhausting),
    case(World, Hangs, CtrlC, Repeating),
    case(World, Hangs, CtrlC, Confirming),
    case(World, Hangs, CtrlC, Causes),
    // States.
    case(BuiltIn, Quick, States(1_000), Any).quickly(),
    case(BuiltIn, Quick, States(50_000), Any).with(ENDLESS),
    case(Driver, Quick, States(100), Any),
    case(Driver, StepMs(1), States(100), Any).with(&["--rollouts", "20", "--until", "5 s"]),
    case(World, Quick, States(100), Any).quickly(),
    case(World, StepMs(1), States(100), Any).with(FEW_RUNS),
    // Memory.
    case(BuiltIn, Quick, MemoryMb(160), Any).with(ENDLESS).quickly(),
    case(BuiltIn, Quick, MemoryMb(200), Any).with(ENDLESS),
    case(BuiltIn, Quick, MemoryMb(150), Any),
    case(BuiltIn, Quick, MemoryMb(500), Any).with(ENDLESS),
    case(BuiltIn, Quick, MemoryMb(300), Any).with(&["--merge", "0.001", "--order", "danger"]),
];
