//! Every code a scenario diagnostic can carry, with its long explanation.

use std::fmt;

/// What [`Code::ALL`] knows about a code.
#[derive(Clone, Copy, Debug)]
struct Entry {
    text: &'static str,
    title: &'static str,
    explanation: &'static str,
}

macro_rules! codes {
    ($($name:ident $text:literal $title:literal $explanation:literal;)*) => {
        /// The kind of a diagnostic. Codes are stable; their messages are not.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code {
            $(#[doc = concat!($text, ": ", $title, ".")] $name,)*
        }
        impl Code {
            /// Every code in its order.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];
            fn entry(self) -> Entry {
                match self {
                    $(Self::$name => Entry { text: $text, title: $title, explanation: $explanation },)*
                }
            }
        }
    };
}

codes! {
    NotUtf8 "E0101" "the file is not UTF-8"
        "Scenario files are TOML, and TOML is UTF-8. The mark shows the line of the first byte that is not. Save the file as UTF-8 in your editor.";
    TooLarge "E0102" "the file is too large"
        "Scenario files are written by people; more than 4 MB is a mistake (a trace or a map given instead of a scenario).";
    Syntax "E0103" "the file is not valid TOML"
        "The text could not be taken apart into keys and values, so nothing else was checked. Usual causes: a missing quote, a missing comma between the items of a list, the same key twice.";
    BareNumber "E0104" "a number without its unit"
        "Every value with a dimension is a text with its unit, such as \"0.1 m\" or \"2 deg\", so that nobody has to guess. Put the number and its unit in quotes.";
    UnknownKey "E0105" "a key nobody reads"
        "A key that is not read would silently change nothing, so it is an error. Usual causes: a typing mistake, or a key that belongs into another table.";
    MissingKey "E0106" "a key is missing"
        "The table needs this key and has no sensible default for it.";
    WrongType "E0107" "a value of the wrong type"
        "The key wants another TOML type: text in quotes, a whole number, true or false, a list in brackets, or a table in braces.";
    UnknownUnit "E0108" "a unit nobody knows"
        "The units are listed in the format reference. They are case-sensitive: `m` is metres and `M` is nothing.";
    WrongUnit "E0109" "a unit of another dimension"
        "The unit exists but measures something else, for example seconds where a length is wanted.";
    NotANumber "E0110" "a quantity without a number"
        "A quantity is a number followed by its unit: \"0.1 m\", \"-17 m\", \"1e-3 s\". The decimal sign is a point.";
    NotFinite "E0111" "a number that is not finite"
        "Not-a-number, infinity and numbers too large for a double make every result meaningless.";
    OneValue "E0112" "several values where one is needed"
        "Lists and ranges work for the start of the ego car and for the sizes of errors, because those are varied. Elsewhere a scenario has exactly one value; write several scenario files or use `--set`.";
    BadRange "E0113" "a range that is not one"
        "A range is \"from .. to step width\" with one unit each, such as \"0.5 m .. 2 m step 0.5 m\". The width is positive, the end is not before the beginning, and there are at most 1000 values.";
    UnknownWord "E0114" "a word that is not one of the choices"
        "The key takes one of a few words. The message lists them.";
    Empty "E0115" "an empty list or text"
        "An empty list or text selects nothing. Leave the key out if nothing is meant.";
    NoSchema "E0116" "the schema line is missing"
        "A scenario file begins with `schema = \"anabranch/1\"`, so that later versions know how to read it.";
    UnknownSchema "E0117" "a schema this version cannot read"
        "This version reads `anabranch/1`. A file with a higher number was written for a newer version of Anabranch.";
    NotPositive "E0118" "a value that must be positive, or must not be negative"
        "Sizes, times and cells are positive; distances and tolerances may be zero but not negative.";
    OutOfRange "E0119" "a number out of its range"
        "The message says from where to where the number may go. Every dimension has a largest value (the table of units in the format reference has them all: 1000 km, 500 m/s ..), and what must be positive is at least 1e-9 of its unit: beyond, numbers lose their digits and grids over the world cannot be counted. Some values have narrower limits for the effort they cost. Usual cause: a wrong unit or a slip of the exponent.";
    Exclusive "E0120" "keys that exclude each other"
        "The keys say the same thing in two ways, or contradict each other. Keep one of them. An `[[error]]` describes exactly one kind of error; write one block for each.";
    NoneOf "E0121" "one of several keys is needed"
        "The table needs exactly one of the keys that the message lists.";
    BadId "E0122" "an id with characters that ids do not have"
        "Ids and names consist of letters, digits, `-` and `_`, because they become parts of file names, expressions and of `--set` paths. They have at most 64 characters.";
    TooMany "E0123" "more items than can be handled"
        "There is a limit on the number of items of this list, or on the number of combinations of start values.";
    BadOverride "E0124" "an override that leads nowhere"
        "`--set` takes a path of keys with points, such as `ego.start.y` or `error.jump-left.jump.radius`; items of lists are named by their id or their number from 0.";
    NoSuchFile "E0125" "a file that does not exist"
        "The scenario names a file that is not there. Names are relative to the folder of the scenario file, or absolute.";
    DuplicateId "E0201" "the same id twice"
        "Ids name walls and obstacles, errors, and requirements in reports and findings; each must be the only one of its group. Obstacles and walls share one group, `must` and `should` as well.";
    UnknownObstacle "E0202" "an obstacle that does not exist"
        "The error names an obstacle that no `[[world.obstacle]]` has as its id.";
    WrongPlace "E0203" "a kind of error that cannot occur there"
        "Jumps and drifts happen to the localisation, offsets and gains to steering or acceleration, gains also to the friction of the road, `lost` to the localisation, delays to localisation or actuators; `late`, `displaced`, `flipped`, `missed`, `ghost` and `appears` to obstacles.";
    UnknownPlace "E0204" "a place for errors that does not exist"
        "`on` names what is wrong: `ego.localisation`, `ego.steering`, `ego.acceleration`, `ego.actuators`, `ego.obstacles`, `world.friction`, or the id of an obstacle.";
    EmptyError "E0205" "an error that changes nothing"
        "An error whose size is zero, or whose limit is smaller than its step, has no mode besides \"none\": exploring it would look like a proof and be none.";
    WrongOffset "E0206" "an offset of the wrong dimension"
        "An offset of the steering is an angle, an offset of the acceleration is an acceleration.";
    WrongObstacle "E0207" "an error that does not fit its obstacle"
        "`ghost` needs an obstacle with `ghost = true`, `appears` one with `present = false`, and `late` and `missed` one with `known = false`: what the planner knows from the start cannot be seen late.";
    Expression "E0208" "a requirement that cannot be understood"
        "The expression of a requirement compares signals with quantities, such as `ego.clearance <= 0 m`. The mark shows where reading stopped.";
    NeedsEventually "E0209" "a deadline without `eventually`"
        "`by` says until when something must have happened; `never` and `always` hold for the whole run.";
    NotAProbability "E0210" "a probability outside of 0 to 1"
        "A probability is a number from 0 (never) to 1 (always), per segment. One percent is 0.01.";
    DoesNotAddUp "E0211" "probabilities that do not add up"
        "After an error exactly one thing follows: it stays, it changes or grows, or it ends. So `stay` and `change` together, or `stay` and `grow`, are at most 1, and what is left over ends the error. A drift may say `decay` for what is left over; then the three are exactly 1.";
    WrongWeight "E0212" "weights that do not fit the modes"
        "`modes` says how an error chooses its mode. Names are those of findings, such as `left 0.1 m`; a list has one weight for each mode besides \"none\" (and besides \"stay\" of a drift, which is never begun). At least one weight is more than zero.";
    SomeProbabilities "E0213" "an error without probability beside errors with one"
        "How likely a failure is follows from how likely every error is. Give each `[[error]]` a `probability`, or none.";
    UnknownError "E0214" "an error that does not exist"
        "`given` limits a requirement to errors up to some size. It names them by the `id` of an `[[error]]` of the same file.";
    WrongMapping "E0215" "a variable of an FMU or a port of a model that fits nothing"
        "Variables of an FMU and ports of a component model are found by their names; what has another name is mapped: `inputs = [\"e = path.lateral\"]`, `outputs = [\"delta = steer\"]`, `parameters = [\"K_p = 1.5\"]`. The page about FMUs lists what there is to map to.";
    WrongModel "E0216" "a component model that cannot be used"
        "The file of the driver holds a model of components and connectors. Either there is no component of the name that was asked for, or it cannot be instantiated; `component` names another one.";
    NotAMultiple "E0301" "a time that is not a whole multiple of the base cycle"
        "There is one clock, `world.step`. Cycles, segments, delays and deadlines are whole multiples of it (S1-4), so that every run meets them on the same tick.";
    NotSegments "E0302" "an end that is not a whole number of segments"
        "Exploration proceeds by whole segments, so `until` is a whole multiple of `segment`.";
    AfterEnd "E0303" "a deadline after the end"
        "No run reaches a deadline that lies after `explore.until`, so the requirement would never be judged.";
    TooManySteps "E0304" "more steps than a run can have"
        "A run has at most 100 million base cycles. Make `world.step` longer or the time shorter.";
    FewCorners "E0401" "a polygon with fewer than three corners"
        "Two points make a line: use a `[[world.wall]]` for it. The polygon is closed by itself; do not repeat its first corner.";
    CrossingPolygon "E0402" "a polygon that crosses itself or has no area"
        "Inside and outside of such a polygon are not defined. Usual cause: corners in the wrong order.";
    ShortWall "E0403" "a wall with fewer than two points"
        "A wall is a line through at least two points.";
    ZeroLength "E0404" "two neighbouring points at the same place"
        "An edge without length has no direction. Remove one of the points. The first corner of a polygon is not repeated at its end.";
    CornerRadius "E0405" "corners rounder than the car is wide"
        "The corner radius is at most half the width and half the length of the outline.";
    Measures "E0406" "vehicle measures that contradict each other"
        "The length of a vehicle is its front overhang, wheelbase and rear overhang together. Give all but one of the four and the last follows, or give four that agree.";
    Steering "E0407" "a steering angle no car has"
        "The largest steering angle is below 90 degrees; at 90 degrees the car would turn on the spot around its rear axle.";
    StartContact "E0408" "the car touches something at its start"
        "Every run would begin with a collision. The outline of the car at this start is closer than 0 m to the wall or obstacle that the message names.";
    GoalContact "E0409" "the car touches something at its goal"
        "The goal cannot be reached without a collision. The outline of the car at the goal is closer than 0 m to the wall or obstacle that the message names.";
    EmptyPath "E0410" "a path piece without length"
        "Each piece of a path drives a distance: a positive one forwards, a negative one backwards.";
    CellSize "E0501" "a cell size that is not positive"
        "States merge when they fall into the same cell, so a cell has a positive size. Use \"exact\" to merge only equal values and \"ignore\" to leave the variable out of the comparison.";
    BadRoad "E0801" "a road network that cannot be"
        "The numbers of `[road]`, or the map file that it names, describe no road network. What is wrong inside of a map file has codes of its own, with the place in the map.";
    NoLane "E0802" "a place on a lane that does not exist"
        "Lanes are named by road and lane, as in `main.1`; stations go from 0 m to the length of the lane.";
    NoRoute "E0803" "no way leads to the goal"
        "The driver on roads follows lanes and links from its start to its goal. The message says how far they lead.";
    NotOnRoads "E0804" "something that does not go together with roads"
        "The driver `road` needs a `[road]`, and a `[road]` needs that driver; obstacles that must be sensed are written as `[[object]]` there. Tyres, trailers, zones and the filter of the localisation are for roads.";
    NothingActs "E0805" "something that nothing in this scenario can feel"
        "Friction acts in the tyres of `model = \"single-track\"`, and only there; zones without satellites and lost sensors act on a localisation with `filter = \"ekf\"`. Without them an exploration would look like a proof and be none.";
}

impl Code {
    /// As printed: `E0104`.
    pub fn text(self) -> &'static str {
        self.entry().text
    }
    /// One line about it.
    pub fn title(self) -> &'static str {
        self.entry().title
    }
    /// What it means, why it is an error, and what to do.
    pub fn explanation(self) -> &'static str {
        self.entry().explanation
    }
    /// The code with this text.
    pub fn find(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.text() == text)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_ordered_and_found_by_their_text() {
        assert!(Code::ALL.windows(2).all(|pair| pair[0].text() < pair[1].text()));
        assert!(Code::ALL.iter().all(|code| Code::find(code.text()) == Some(*code)));
        assert!(Code::ALL.iter().all(|code| code.explanation().ends_with('.')));
    }
}
