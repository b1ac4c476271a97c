//! Keys for `anabranch search`.

use super::*;

pub(super) static SEARCH: Section = Section {
    title: "[search]",
    doc: "What `anabranch search` may vary to find the most dangerous instance of the scenario. Starts with several values vary \
          by themselves, and so do errors; `--vary` adds to it.",
    exactly_one: &[],
    keys: &[
        key(
            "vary",
            Kind::Ranges,
            Need::Optional,
            "Any value of this file by its path: a range such as `object.crosser.speed = \"5 m/s .. 15 m/s\"`, one with a \
             `step`, or a list of alternatives. `objects = \"0 .. 3\"` is how many of the `[[object]]` are there. The path \
             of an error takes a signal over time: `error.pull = { range = \"-2 deg .. 2 deg\", points = 4, shape = \
             \"linear\" }` (S3-10 to S3-12).",
        ),
        key(
            "require",
            Kind::Texts,
            Need::Optional,
            "What points must keep to, as in `[\"object.b.station - object.a.station > 10 m\"]`; others are not simulated.",
        ),
        key(
            "objective",
            Kind::Texts,
            Need::Optional,
            "What is made small: `clearance`, `distance`, `ttc`, `rss`, or a formula over the signals of requirements whose margin counts; parts between `;` are added. The \
             first leads, several give a front. `clearance` if left out (S3-13, S3-14).",
        ),
        key(
            "error_points",
            Kind::Count { min: 0, max: 1000 },
            Need::Optional,
            "Each error may change this often in a run, evenly spread; every segment, but at most 8 times, if left out; 0: no errors.",
        ),
        key("budget", Kind::Count { min: 1, max: 1_000_000_000 }, Need::Default("300"), "Most simulations."),
    ],
};
