//! Keys for `anabranch test`.

use super::*;
use crate::file::words::Expect;

pub(super) static TEST: Section = Section {
    title: "[test]",
    doc: "What `anabranch test` expects. A [verdict](verdicts.md) of *incomplete*, *not covered* or *nothing to judge* never passes.",
    exactly_one: &[],
    keys: &[key(
        "expect",
        Kind::Word(Expect::WORDS),
        Need::Default("not found"),
        "The verdict that passes; *safe* is as good as *not found*. *violated* asks for a violated requirement: a driver that \
         raises an exception, hangs or crashes is a *driver fault*.",
    )],
};
