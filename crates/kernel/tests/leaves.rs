//! A part that forgets one value in its key is caught, whatever the kind of the value; one that forgets none is not.

use anabranch_kernel::contract::{Dose, Fate, LeafReport, check_contract, check_leaves};
use anabranch_kernel::{Choice, ErrorSpace, Fault, KeyWriter, Leaf, Params, Seed, SegmentEnd, System, Variable, Watch};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Mode {
    Driving,
    Waiting { ticks: u16 },
    Done,
}

/// One of each kind of value.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Everything {
    tick: u32,
    speed: f64,
    heading: f64,
    mode: Mode,
    seen: Option<f64>,
    line: Vec<f64>,
    gear: i8,
    lit: bool,
    /// Twice the speed.
    twice: f64,
    /// Written at the beginning of every segment.
    scratch: f64,
    label: (u64, String),
}

/// What its key leaves out, or what else is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    None,
    Speed,
    Heading,
    Tag,
    Payload,
    Presence,
    Content,
    Length,
    Item,
    Gear,
    Lit,
    Text,
    /// `derive` does not compute what follows.
    Derived,
    /// What is declared as unread is read.
    Read,
    /// What is declared as constant changes.
    Changes,
    /// Nothing is declared.
    Undeclared,
}

struct Part {
    flaw: Flaw,
    errors: ErrorSpace,
    variables: Vec<Variable>,
}

impl Part {
    fn new(flaw: Flaw) -> Self {
        let reals = ["speed", "heading", "seen", "line"].map(|name| Variable::real(name, "", 0.1));
        let exact = ["mode", "ticks", "presence", "length", "gear", "lit", "label", "text"].map(Variable::exact);
        let errors = ErrorSpace::of_one_site("push", &["none", "left", "right"]);
        Self { flaw, errors, variables: reals.into_iter().chain(exact).collect() }
    }
    fn writes(&self, of: Flaw) -> bool {
        self.flaw != of
    }
}

impl System for Part {
    type State = Everything;
    fn errors(&self) -> &ErrorSpace {
        &self.errors
    }
    fn variables(&self) -> &[Variable] {
        &self.variables
    }
    fn start(&self, _: Seed, _: &Params) -> Result<Everything, Fault> {
        Ok(Everything {
            tick: 0,
            speed: 1.0,
            heading: 0.3,
            mode: Mode::Driving,
            seen: None,
            line: Vec::new(),
            gear: 1,
            lit: false,
            twice: 2.0,
            scratch: 0.0,
            label: (3, "a".to_owned()),
        })
    }
    fn run(&self, s: &mut Everything, choice: Choice, watch: &mut Watch<'_>) -> Result<SegmentEnd, Fault> {
        if self.flaw == Flaw::Read {
            s.speed += s.scratch;
        }
        s.scratch = s.speed;
        if self.flaw == Flaw::Changes {
            s.label.0 += 1;
        }
        s.tick += 1;
        s.speed += [0.0, -0.25, 0.25][choice.index()];
        s.twice = 2.0 * s.speed;
        s.heading = anabranch_kernel::maths::wrap_angle(s.heading + s.speed);
        s.mode = match (s.tick % 3, choice.index()) {
            (0, _) => Mode::Waiting { ticks: choice.index() as u16 },
            (1, 2) => Mode::Done,
            _ => Mode::Driving,
        };
        s.seen = (choice.index() != 1).then_some(s.speed);
        s.line.push(s.heading);
        s.lit = !s.lit;
        watch.margin = watch.margin.min(s.speed);
        Ok(SegmentEnd::Open)
    }
    fn cell(&self, s: &Everything, key: &mut KeyWriter<'_>) {
        if self.writes(Flaw::Speed) {
            key.real(0, s.speed);
        }
        if self.writes(Flaw::Heading) {
            key.angle(1, s.heading);
        }
        let (tag, ticks) = match s.mode {
            Mode::Driving => (0, 0),
            Mode::Waiting { ticks } => (1, ticks),
            Mode::Done => (2, 0),
        };
        if self.writes(Flaw::Tag) {
            key.exact(4, tag);
        }
        if self.writes(Flaw::Payload) {
            key.exact(5, u64::from(ticks));
        }
        if self.writes(Flaw::Presence) {
            key.exact(6, u64::from(s.seen.is_some()));
        }
        if self.writes(Flaw::Content) {
            key.real(2, s.seen.unwrap_or(0.0));
        }
        if self.writes(Flaw::Length) {
            key.exact(7, s.line.len() as u64);
        }
        if self.writes(Flaw::Item) {
            // Without a length, items that are zero are not seen.
            key.real(3, s.line.iter().enumerate().map(|(at, x)| (at + 1) as f64 * x).sum());
        }
        if self.writes(Flaw::Gear) {
            key.exact(8, s.gear as u64);
        }
        if self.writes(Flaw::Lit) {
            key.exact(9, u64::from(s.lit));
        }
        if self.writes(Flaw::Text) {
            key.exact(11, s.label.1.len() as u64);
        }
    }
    fn leaves(&self) -> Vec<Leaf> {
        if self.flaw == Flaw::Undeclared {
            return Vec::new();
        }
        vec![
            Leaf::constant("label.0", "nothing writes it"),
            Leaf::time("tick"),
            Leaf::unread("scratch", "written at the beginning of every segment"),
        ]
    }
    fn derive(&self, s: &mut Everything) {
        if self.flaw != Flaw::Derived {
            s.twice = 2.0 * s.speed;
        }
    }
    fn time_matters(&self) -> bool {
        true
    }
}

const DOSE: Dose = Dose { runs: 6, length: 8, states: 4, alike: 2 };

fn check(flaw: Flaw) -> Result<LeafReport, String> {
    check_leaves(&Part::new(flaw), DOSE)
}

#[test]
fn a_part_whose_key_is_whole_passes() {
    let report = check(Flaw::None).unwrap();
    assert_eq!(report.with(Fate::Derived), ["twice"]);
    assert_eq!(report.with(Fate::Time), ["tick"]);
    assert_eq!(report.with(Fate::Constant), ["label.0"]);
    assert_eq!(report.with(Fate::Unread), ["scratch"]);
    assert_eq!(report.with(Fate::Unchangeable), [""; 0]);
    assert!(report.skipped > 0, "there are not as many variants as are tried");
    check_contract(&Part::new(Flaw::None), 4, 6).unwrap();
}

#[test]
fn a_part_that_forgets_one_value_is_caught_whatever_its_kind() {
    let forgets = |flaw: Flaw, path: &str| {
        let caught = check(flaw).unwrap_err();
        assert!(caught.contains(&format!("`{path}`")), "{flaw:?}: {caught}");
        assert!(check_contract(&Part::new(flaw), 6, 8).is_err(), "{flaw:?}");
    };
    forgets(Flaw::Speed, "speed");
    forgets(Flaw::Heading, "heading");
    forgets(Flaw::Tag, "mode");
    forgets(Flaw::Payload, "mode.Waiting.ticks");
    forgets(Flaw::Presence, "seen");
    forgets(Flaw::Content, "seen");
    forgets(Flaw::Length, "line");
    forgets(Flaw::Item, "line[]");
    forgets(Flaw::Gear, "gear");
    forgets(Flaw::Lit, "lit");
    forgets(Flaw::Text, "label.1");
}

#[test]
fn what_is_declared_is_tried() {
    let derived = check(Flaw::Derived).unwrap_err();
    assert!(derived.contains("`twice`"), "{derived}");
    let read = check(Flaw::Read).unwrap_err();
    assert!(read.contains("`scratch`") && read.contains("declared as unread, but"), "{read}");
    let changes = check(Flaw::Changes).unwrap_err();
    assert!(changes.contains("`label.0` is declared as constant, but it changes"), "{changes}");
    let undeclared = check(Flaw::Undeclared).unwrap_err();
    assert!(undeclared.contains("`scratch`") && undeclared.contains("`tick`"), "{undeclared}");
}

/// A declaration speaks about the value it names and those below, not about names that begin alike.
#[test]
fn declarations_name_whole_values() {
    let leaf = Leaf::unread("extras.line", "");
    for (path, expect) in [
        ("extras.line", true),
        ("extras.line.x", true),
        ("extras.line[].x", true),
        ("extras.lines", false),
        ("extras", false),
        ("line", false),
    ] {
        assert_eq!(leaf.names(path), expect, "{path}");
    }
    let length = Leaf::constant("line#", "");
    assert!(length.names("line") && !length.names("line[]") && !length.names("line.x"));
}
