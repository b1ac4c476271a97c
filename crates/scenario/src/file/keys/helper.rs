//! Keys of helper simulators.

use super::*;

pub(super) static HELPER: Section = Section {
    title: "[helper]",
    doc: "Simulators beside the main one, each with a clock of its own (S2-22). They are on roads only; `docs/helpers.md` tells more.",
    exactly_one: &[],
    keys: &[
        key("radio", Kind::Table(&RADIO), Need::Optional, "Messages of other cars: discrete events."),
        key("tyres", Kind::Table(&TYRES), Need::Optional, "Pressure of the tyres: discrete time."),
    ],
};

static RADIO: Section = Section {
    title: "[helper.radio]",
    doc: "Other cars tell by radio where they are, how fast, and whether they brake. The built-in driver brakes for a car ahead that \
          brakes hard or stands, seen or not.",
    exactly_one: &[],
    keys: &[
        key(
            "range",
            at_most(RANGE_MAX_M, positive(LENGTH)),
            Need::Default("300 m"),
            "Nobody farther than this is heard.",
        ),
        key("period", positive(TIME), Need::Default("100 ms"), "Every sender sends this often."),
        key("latency", not_negative(TIME), Need::Default("20 ms"), "A message is under way for so long."),
        key("jitter", not_negative(TIME), Need::Default("0 s"), "And by chance up to so much longer."),
        key("loss", not_negative(NUMBER), Need::Default("0"), "Share of messages that are lost by chance."),
        key("keep", positive(TIME), Need::Default("500 ms"), "Older messages are forgotten."),
        key("from", Kind::Texts, Need::Optional, "Objects that send; all cars and lorries if left out."),
    ],
};

static TYRES: Section = Section {
    title: "[helper.tyres]",
    doc: "How much air the tyres of the car under test have, and what that does to them: with less pressure they are softer aside, hold \
          less and roll worse. Needs `vehicle = { model = \"single-track\" }`.",
    exactly_one: &[],
    keys: &[
        key("period", positive(TIME), Need::Default("500 ms"), "Step of this simulation; it fits into a segment."),
        key("monitor", positive(TIME), Need::Default("1 s"), "The driver is told the pressures this often."),
        key("nominal", positive(PRESSURE), Need::Default("2.3 bar"), "What the tyres are made for."),
        key(
            "pressure",
            not_negative_several(PRESSURE),
            Need::Optional,
            "At the beginning: of all, or front left, front right, rear left, rear right; nominal if left out.",
        ),
        key(
            "warn",
            not_negative(NUMBER),
            Need::Default("0.75"),
            "Share of `nominal` below which the driver is warned.",
        ),
        key("flat_stiffness", positive(NUMBER), Need::Default("0.3"), "What a flat tyre keeps of its side stiffness."),
        key("flat_grip", positive(NUMBER), Need::Default("0.5"), "What a flat tyre keeps of its grip."),
        key(
            "drag",
            not_negative(NUMBER),
            Need::Default("0.01"),
            "Rolling resistance at `nominal`, as a share of the weight.",
        ),
    ],
};
