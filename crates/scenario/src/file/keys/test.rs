//! Keys for `anabranch test`.

use super::*;
use crate::file::words::Expect;

pub(super) static TEST: Section = Section {
    title: "[test]",
    doc: "What `anabranch test` expects. An exploration that ended early is *incomplete*, whatever was expected.",
    exactly_one: &[],
    keys: &[key(
        "expect",
        Kind::Word(Expect::WORDS),
        Need::Default("not found"),
        "The verdict that passes; *safe* is as good as *not found*.",
    )],
};
