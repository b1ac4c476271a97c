//! Every code that only maps have, with its long explanation. Codes below these mean what they mean in scenario files.

/// A code of a message about a map: those of our own map files, and those of RNDF and MDF files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapCode {
    /// As printed: `E0601`.
    pub text: &'static str,
    /// One line about it.
    pub title: &'static str,
    /// What it means, why it is an error, and what to do.
    pub explanation: &'static str,
}

const fn code(text: &'static str, title: &'static str, explanation: &'static str) -> MapCode {
    MapCode { text, title, explanation }
}

/// All of them in their order.
pub const ALL: &[MapCode] = &[
    code("E0601", "a map without a lane", "A map has at least one `[[road]]` with a lane that cars may use."),
    code(
        "E0602",
        "a line of fewer than two points",
        "A lane, a barrier or a crosswalk follows a line, and a line goes through at least two points.",
    ),
    code(
        "E0603",
        "two way-points at the same place",
        "Between them the lane has no direction. Way-points are at least 0.01 m apart; remove one of the two.",
    ),
    code(
        "E0604",
        "a number in a map that is not finite",
        "Not-a-number, infinity and numbers too large for a double describe no place. Write an ordinary number.",
    ),
    code(
        "E0605",
        "a number in a map that must be positive",
        "Widths, speed limits and durations are positive. Leave the key out for its default.",
    ),
    code(
        "E0606",
        "a number beyond all roads",
        "The value is larger than that of any road; mostly its unit is another one than was meant.",
    ),
    code(
        "E0607",
        "the same id twice in a map",
        "Roads, junctions, programs, crosswalks, zones, barriers and routes are named by their ids, so each id is the only one of its kind.",
    ),
    code(
        "E0608",
        "a name that nothing in the map has",
        "The map names a lane, junction, program, group or road that it does not have. The message says the most similar name there is.",
    ),
    code(
        "E0609",
        "a way-point that the lane does not have",
        "Way-points are counted from 0. Leave the number out for the end of the lane.",
    ),
    code(
        "E0610",
        "a lane that crosses itself",
        "A station on such a lane would not say where it is. Make it two lanes with a link; often only the way-points are in the wrong order.",
    ),
    code(
        "E0611",
        "a curve tighter than the lane is wide",
        "The inner edge of the lane would run backwards there. Move the way-points apart, or make the lane narrower.",
    ),
    code(
        "E0612",
        "a link from a lane to itself",
        "A link leaves a lane and enters another one, or the same one further back: the entry lies before the exit.",
    ),
    code(
        "E0613",
        "a polygon without an inside",
        "A zone or an area has at least three corners in order around it, without crossing itself; the first corner is not repeated.",
    ),
    code(
        "E0614",
        "a program of lights that cannot be",
        "A program has phases; each phase has a duration and one letter per group: `r`, `u`, `g`, `a` or `d`.",
    ),
    code(
        "E0615",
        "a junction without turns",
        "The turns of a junction are the links that name it: `junction = \"...\"`. Without one of them nobody crosses there.",
    ),
    code(
        "E0616",
        "a crosswalk over no lane",
        "The line of a crosswalk goes from kerb to kerb, across at least one lane.",
    ),
    code(
        "E0617",
        "a route that cannot be driven",
        "No lanes and links lead from its beginning to its end. The message says how far they lead.",
    ),
    code(
        "E0701",
        "a word that does not belong there",
        "RNDF and MDF files have a fixed set of words, each in its place. The message lists those that are known there.",
    ),
    code(
        "E0702",
        "a line with another number of values",
        "Each kind of line of an RNDF or MDF file has so many values. Compare it with the other lines of its kind.",
    ),
    code(
        "E0703",
        "not the kind of number that is needed",
        "The value is no whole number, no number, or no id. Ids are numbers with points, such as `1.2.3`.",
    ),
    code(
        "E0704",
        "an id out of its place",
        "In an RNDF file the id of a lane begins with the number of its segment, that of a way-point with that of its lane, and they are counted from 1 in order.",
    ),
    code(
        "E0705",
        "a count that does not agree",
        "RNDF and MDF files say how many segments, lanes, way-points or entries follow, and there are more or fewer. Something may be missing.",
    ),
    code(
        "E0706",
        "an end that is missing",
        "A block, or the file, ends without the word that closes it. The file may have been cut off.",
    ),
    code(
        "E0707",
        "an exit or entry to nowhere",
        "The RNDF file names a way-point that it does not have. Way-points are counted from 1.",
    ),
    code(
        "E0708",
        "the same number twice",
        "Two segments, lanes, way-points or checkpoints of an RNDF file have one number. Give one of them another.",
    ),
    code(
        "E0709",
        "a value out of its range",
        "Latitudes, longitudes, widths and speeds have limits that no road exceeds. The message says them.",
    ),
    code(
        "E0710",
        "a checkpoint or segment that the network does not have",
        "The MDF file belongs to another RNDF file, or one of the two was changed.",
    ),
];

/// The code with this text.
pub fn find(text: &str) -> Option<&'static MapCode> {
    ALL.iter().find(|code| code.text == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_ordered_and_explained_in_sentences() {
        assert!(ALL.windows(2).all(|pair| pair[0].text < pair[1].text));
        assert!(ALL.iter().all(|code| code.explanation.ends_with('.') && find(code.text) == Some(code)));
        assert!(find("E0104").is_none() && find("E0618").is_none());
    }
}
