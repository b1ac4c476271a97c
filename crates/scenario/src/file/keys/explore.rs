//! Keys of exploration and requirements.

use super::*;
use crate::file::words::{Form, Keep, Order, Scope};

pub(super) static EXPLORE: Section = Section {
    title: "[explore]",
    doc: "How error combinations are explored.",
    exactly_one: &[],
    keys: &[
        key("segment", positive(TIME), Need::Default("1 s"), "Errors change only between segments (S1-3)."),
        key("until", positive(TIME), Need::Required, "A run ends after this time."),
        key(
            "merge",
            Kind::Cells,
            Need::Optional,
            "When states are alike: cell sizes by variable, or `\"none\"`; measured from the resolution if left out.",
        ),
        key(
            "merge_every",
            Kind::Count { min: 1, max: 1_000_000 },
            Need::Default("1"),
            "Merges after every so many segments.",
        ),
        key(
            "scope",
            Kind::Word(Scope::WORDS),
            Need::Default("auto"),
            "With which states a new one is compared: of the same time, all, or those still waiting (S1-8).",
        ),
        key(
            "keep",
            Kind::Word(Keep::WORDS),
            Need::Default("extremes"),
            "Which states of a cell are continued: the first (S1-11), the most dangerous, or the extreme ones.",
        ),
        key("order", Kind::Word(Order::WORDS), Need::Default("breadth"), "Which state is continued next."),
        key("budget", Kind::Table(&BUDGET), Need::Optional, "When to stop before all is done."),
        key(
            "rollouts",
            Kind::Count { min: 0, max: 1_000_000_000 },
            Need::Default("500"),
            "Unmerged random runs that measure what merging missed.",
        ),
        key(
            "refine",
            Kind::Count { min: 0, max: 12 },
            Need::Default("3"),
            "How often cells that could hide a contact are halved and looked at again; 0 = never.",
        ),
        key(
            "resolution",
            positive(LENGTH),
            Need::Optional,
            "Search until no violation deeper than this is expected. Default: 1/128 of the range of clearances in random runs.",
        ),
    ],
};

static BUDGET: Section = Section {
    title: "budget = { .. }",
    doc: "An exploration that hits a limit is reported as incomplete, never as a pass.",
    exactly_one: &[],
    keys: &[
        key("time", positive(TIME), Need::Optional, "Wall-clock time."),
        key("states", Kind::Count { min: 1, max: 1_000_000_000_000 }, Need::Optional, "Visited states."),
        key("memory", positive(MEMORY), Need::Optional, "Main memory."),
    ],
};

const FORMS: &[&str] = Form::WORDS;
const KEYS: &[Key] = &[
    key("id", Kind::Id, Need::Required, "Name in findings and reports."),
    key("never", Kind::Expression, Need::Optional, "Violated as soon as this holds."),
    key("always", Kind::Expression, Need::Optional, "Violated as soon as this does not hold."),
    key("eventually", Kind::Expression, Need::Optional, "Violated if this did not hold once in time."),
    key(
        "at_start",
        Kind::Expression,
        Need::Optional,
        "Violated if this does not hold before the first base cycle (S2-52).",
    ),
    key(
        "at_finish",
        Kind::Expression,
        Need::Optional,
        "Violated if this does not hold when the run ends: the driver says it is done, or `until` is over (S2-52).",
    ),
    key("by", positive(TIME), Need::Optional, "Deadline of `eventually`; the end of the run if left out."),
    key(
        "given",
        Kind::ErrorSizes,
        Need::Optional,
        "Judged only as long as these errors stay within these sizes, as in `{ estimate-jump = \"0.05 m\" }` (S1-55). \
         Other errors may have any size. The size of a drift is its step, that of a gain its distance from 1; \
         `\"0 m\"` is not at all.",
    ),
];

pub(super) static MUST: Section = Section {
    title: "[[must]]",
    doc: "A requirement. It is checked every base cycle (S1-5); a violation is a finding. What expressions can say, also about \
          what was before and comes after, is in [requirements.md](requirements.md).",
    exactly_one: FORMS,
    keys: KEYS,
};

pub(super) static SHOULD: Section = Section {
    title: "[[should]]",
    doc: "A wish. It is checked and reported like a requirement and never changes the exit code.",
    exactly_one: FORMS,
    keys: KEYS,
};
