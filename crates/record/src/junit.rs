//! JUnit XML, the one form of test results that every CI reads.

use std::time::Duration;

use anabranch_study::Tone;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// As it should.
    Passed,
    /// Otherwise than it should.
    Failed,
    /// It could not be told: bad input, a spent budget.
    Error,
    /// It was not run.
    Skipped,
}

impl From<Tone> for Ending {
    /// Of a verdict that nobody expected otherwise. What is neither a pass nor a failure must not look like a pass.
    fn from(tone: Tone) -> Self {
        match tone {
            Tone::Good => Self::Passed,
            Tone::Bad => Self::Failed,
            Tone::Open => Self::Error,
        }
    }
}

/// One case.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Its name: a file.
    pub name: String,
    /// How it ended.
    pub ending: Ending,
    /// One word for machines: `violated`, `incomplete`.
    pub word: String,
    /// One sentence.
    pub message: String,
    /// More lines for people; may be empty.
    pub text: String,
    /// How long it took.
    pub seconds: f64,
}

/// Cases that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// In the order they were run.
    pub cases: Vec<Case>,
}

/// The file. Text from outside is escaped, and what XML cannot hold is left out.
///
/// # Panics
/// Never: nothing that was cleaned is refused, and memory takes every byte.
pub fn to_xml(suites: &[Suite]) -> Vec<u8> {
    let mut report = Report::new("anabranch");
    let seconds = |s: f64| Duration::try_from_secs_f64(s).unwrap_or_default();
    report.set_time(seconds(suites.iter().flat_map(|suite| &suite.cases).map(|case| case.seconds).sum()));
    for suite in suites {
        let mut tests = TestSuite::new(name(&suite.name));
        tests.set_time(seconds(suite.cases.iter().map(|case| case.seconds).sum()));
        for case in &suite.cases {
            let mut test = TestCase::new(name(&case.name), status(case));
            test.set_classname(name(&suite.name)).set_time(seconds(case.seconds));
            if case.ending == Ending::Passed {
                test.set_system_out(clean(&case.message));
            }
            tests.add_test_case(test);
        }
        report.add_test_suite(tests);
    }
    let mut xml = Vec::new();
    report.serialize(&mut xml).expect("writing clean text to memory");
    without_skipped_of_all(xml, report.skipped)
}

/// The element of all suites has no attribute `skipped` in JUnit; readers that check the schema refuse the file with it.
fn without_skipped_of_all(mut xml: Vec<u8>, skipped: usize) -> Vec<u8> {
    let attribute = format!(" skipped=\"{skipped}\"");
    // It comes before the first suite, and the name before it is ours.
    if let Some(at) = xml.windows(attribute.len()).position(|part| part == attribute.as_bytes()) {
        xml.drain(at..at + attribute.len());
    }
    xml
}

fn status(case: &Case) -> TestCaseStatus {
    let mut status = match case.ending {
        Ending::Passed => return TestCaseStatus::success(),
        Ending::Failed => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Ending::Error => TestCaseStatus::non_success(NonSuccessKind::Error),
        Ending::Skipped => TestCaseStatus::skipped(),
    };
    status.set_message(clean(&case.message)).set_type(clean(&case.word));
    if !case.text.is_empty() {
        status.set_description(clean(&case.text));
    }
    status
}

/// On one line: readers show names as lines of a list.
fn name(text: &str) -> String {
    clean(&text.replace(['\n', '\r', '\t'], " "))
}

/// Without control characters: XML 1.0 has no way to write them, not even escaped. Marks that reorder text go too.
fn clean(text: &str) -> String {
    let kept = |c: &char| {
        let marks =
            matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
        let reorders = marks || matches!(c, '\u{FFFE}' | '\u{FFFF}');
        matches!(c, '\n' | '\t') || !(c.is_control() || reorders)
    };
    text.chars().filter(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str, ending: Ending, message: &str) -> Case {
        let (word, text) = ("violated".to_owned(), message.to_owned());
        Case { name: name.to_owned(), ending, word, message: message.to_owned(), text, seconds: 0.25 }
    }

    #[test]
    fn hostile_text_stays_text() {
        let hostile = "<a>&\"'\u{1b}[31m]]>\u{0}\u{7}\u{9b}\u{202E}end\nb passed";
        let cases = vec![case(hostile, Ending::Failed, hostile), case("b", Ending::Passed, hostile)];
        let xml = String::from_utf8(to_xml(&[Suite { name: hostile.to_owned(), cases }])).unwrap();
        let document = roxmltree::Document::parse(&xml).unwrap();
        let name = document.descendants().find(|n| n.has_tag_name("testcase")).unwrap().attribute("name").unwrap();
        assert_eq!(name, "<a>&\"'[31m]]>end b passed");
        assert!(!xml.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{xml:?}");
    }

    #[test]
    fn counts_and_times_add_up() {
        let endings = [Ending::Passed, Ending::Failed, Ending::Error, Ending::Skipped];
        let cases = endings.map(|ending| case("x", ending, "incomplete: the time budget was used up")).to_vec();
        let xml = String::from_utf8(to_xml(&[Suite { name: "scenarios".to_owned(), cases }])).unwrap();
        let document = roxmltree::Document::parse(&xml).unwrap();
        let suite = document.descendants().find(|n| n.has_tag_name("testsuite")).unwrap();
        let counts = ["tests", "failures", "errors", "skipped"].map(|name| suite.attribute(name).unwrap().to_owned());
        assert_eq!(counts, ["4", "1", "1", "1"]);
        assert_eq!(suite.attribute("time"), Some("1.000"));
        let all: Vec<&str> = document.root_element().attributes().map(|attribute| attribute.name()).collect();
        assert_eq!(all, ["name", "tests", "failures", "errors", "time"], "JUnit knows no other of <testsuites>");
        let error = document.descendants().find(|n| n.has_tag_name("error")).unwrap();
        assert!(error.attribute("message").unwrap().starts_with("incomplete"));
    }
}
